-- SPDX-License-Identifier: Apache-2.0
-- Events of a kept session's timeline.

create or replace function fleetprof_data.kept_timeline(session_id bigint, timeline_id bigint, mode text)
returns fleetprof_data.timeline
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    modes text[] := array['all', 'reduce_unique_types', 'reduce_unique_events', 'reduce_all'];
    list timeline;
    listed text;
begin
    if kept_timeline.mode is null or kept_timeline.mode <> all(modes) then
        raise invalid_parameter_value using
            message = format('no mode is named %s', coalesce(quote_literal(kept_timeline.mode), 'null')),
            hint = format('Modes are %s.', array_to_string(modes, ', '));
    end if;
    -- Unreduced events can be reduced here; then this row stands for all unreduced lists of the timeline. Otherwise a
    -- list that arrived reduced in the requested mode is used.
    select t.*
    into list
    from session_timelines(kept_timeline.session_id) as t
    where t.timeline_id = kept_timeline.timeline_id
        and t.mode in ('all', kept_timeline.mode)
    order by t.mode = 'all' desc, events desc, timeline
    limit 1;
    if found then
        return list;
    end if;
    select string_agg(case when place <= 20 then format('%s (%s)', timeline_id, mode) else 'others' end, ', ' order by place)
    into listed
    from (
        select t.timeline_id, t.mode, row_number() over (order by t.timeline) as place
        from session_timelines(kept_timeline.session_id) as t
        limit 21
    ) as first;
    raise no_data_found using
        message = format('session %s has no timeline %s that can give mode %s',
            coalesce(kept_timeline.session_id::text, 'null'), coalesce(kept_timeline.timeline_id::text, 'null'),
            kept_timeline.mode),
        hint = case
            when listed is not null then format('It has %s.', listed)
            when exists (select 1 from session as s where s.session_id = kept_timeline.session_id)
                then 'It has no events; fleetprof session export gives it back as it came.'
            else 'There is no such session; the view fleetprof.sessions lists those that are kept.'
        end;
end
$$;

comment on function fleetprof_data.kept_timeline is
    'Finds the list of a kept session that can answer for a timeline in a mode. The longest of several unreduced lists stands for all of them. Raises an error with a hint when there is none.';

create or replace function fleetprof_data.select_events(
    list      fleetprof_data.timeline,
    event_id  bigint,
    from_ms   double precision,
    to_ms     double precision,
    max_depth integer,
    types     text[]
)
returns setof fleetprof_data.event
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    root bigint;
    -- The events of the lists.
    numbers bigint[];
    ids bigint[];
    arounds bigint[];
    -- By event.
    parents bigint[];
    depths integer[]; -- below the root; 0: not there; -1: not known yet
    at bigint;
    inside bigint[]; -- events whose depth follows from that of the event they are in
    length integer;
    depth integer;
    lists bigint[] := array(
        select t.timeline
        from session_timelines((select_events.list).session_id) as t
        where t.timeline_id = (select_events.list).timeline_id
            and t.mode = (select_events.list).mode
            and (t.mode = 'all' or t.timeline = (select_events.list).timeline));
begin
    if (select_events.list).mode <> 'all'
        and num_nonnulls(select_events.event_id, select_events.from_ms, select_events.to_ms, select_events.max_depth) > 0
    then
        raise invalid_parameter_value using
            message = format('timeline %s came reduced (%s)', (select_events.list).timeline_id, (select_events.list).mode),
            hint = 'Of what was summed before it came, nothing but types can be selected.';
    end if;
    if select_events.from_ms > select_events.to_ms then
        raise invalid_parameter_value using
            message = 'from_ms is later than to_ms',
            hint = 'Both are milliseconds since the session began; null is open.';
    end if;
    if select_events.max_depth < 1 then
        raise invalid_parameter_value using
            message = format('max_depth is %s', select_events.max_depth),
            hint = 'max_depth is how many levels below the root to return, 1 or more; null returns all.';
    end if;
    -- Not a recursive query: the planner cannot estimate how many events a level has.
    if select_events.event_id is not null or select_events.max_depth is not null then
        select array_agg(event order by event), array_agg(event_id order by event), array_agg(parent order by event)
        into numbers, ids, arounds
        from session_events((select_events.list).session_id, has_detail => false)
        where timeline = any(lists);
        root := numbers[array_position(ids, select_events.event_id)];
        if select_events.event_id is not null and root is null then
            raise no_data_found using
                message = format('timeline %s has no event %s',
                    (select_events.list).timeline_id, select_events.event_id);
        end if;
        depths := array_fill(0, array[coalesce(numbers[cardinality(numbers)], 0)::integer]);
        for place in 1..coalesce(cardinality(numbers), 0) loop
            parents[numbers[place]] := arounds[place];
            depths[numbers[place]] := -1;
        end loop;
        -- Walks outwards to an event of known depth, and back. A parent in a later part of the session comes after its
        -- children, and bad parts may nest two events in each other: neither is then below the root.
        for place in 1..coalesce(cardinality(numbers), 0) loop
            at := numbers[place];
            length := 0;
            while depths[at] = -1 and at is distinct from root loop
                length := length + 1;
                inside[length] := at;
                depths[at] := 0;
                at := parents[at];
            end loop;
            depth := case when at is not distinct from root then 0 else nullif(depths[at], 0) end;
            for step in reverse length..1 loop
                depth := depth + 1;
                depths[inside[step]] := coalesce(depth, 0);
            end loop;
        end loop;
    end if;
    return query
    with every as materialized (
        select * from session_events((select_events.list).session_id)
    )
    select
        segment_id, bucket, session_id, e.event, timeline, parent, e.event_id, type, type_number, start_us, duration_us,
        self_us, overhead_us, total_us, total_overhead_us, hits, child_count, resource, line, detail,
        -- A parent need not be selected itself.
        around.event_id
    from every as e
    left join (select event, event_id from every) as around on around.event = e.parent
    where timeline = any(lists)
        and (depths is null or depths[e.event] between 1 and coalesce(select_events.max_depth, 2147483647))
        and (select_events.types is null or cardinality(select_events.types) = 0 or type = any(select_events.types))
        -- Compares milliseconds as get_events returns them: multiplied by 1000 they may differ from the stored time.
        and (select_events.from_ms is null
            or (start_us + coalesce(duration_us, 0)) / 1000::double precision >= select_events.from_ms)
        and (select_events.to_ms is null or start_us / 1000::double precision <= select_events.to_ms);
end
$$;

comment on function fleetprof_data.select_events is
    'Selects the events of a list below event_id (null: all), at most max_depth levels, whose interval overlaps [from_ms, to_ms], of these types (null or none: all). An unreduced list stands for all unreduced lists of its timeline. parent_id is the event_id of the enclosing event.';

-- A detail with nothing to remove stays as stored, perhaps compressed, because many large details are sorted.
create or replace function fleetprof_data.own_detail(detail jsonb)
returns jsonb
language sql immutable parallel safe
return nullif(
    case
        when own_detail.detail ?| array[
            'profile', 'vmStates', 'profileOf', 'aggregatedTime', 'aggregatedOverhead', 'sequence', 'usedHeapSize', 'totalHeapSize', 'stackTrace']
        then own_detail.detail - array[
            'profile', 'vmStates', 'profileOf', 'aggregatedTime', 'aggregatedOverhead', 'sequence', 'usedHeapSize', 'totalHeapSize', 'stackTrace']
        else own_detail.detail
    end,
    '{}');

comment on function fleetprof_data.own_detail is
    'Removes from an event''s detail what differs between events of one kind: sums, sequence numbers, heap sizes, stacks, V8 profiles. Null: nothing is left.';

-- Dragonfly requests events without the many selectors, and the selectors as sums.
create or replace function fleetprof_data.reduced_timeline(list fleetprof_data.timeline, mode text, types text[])
returns fleetprof_data.timeline
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    reduced timeline;
    its_session constant bigint := (reduced_timeline.list).session_id;
begin
    -- Most sessions have no such list, and then the function reads no events.
    if not exists (
        select
        from session_timelines(its_session) as t
        where t.timeline_id = (reduced_timeline.list).timeline_id
            and t.mode = reduced_timeline.mode)
    then
        return null;
    end if;
    with typed as (
        select distinct timeline
        from session_events(its_session, has_detail => false)
        where type = any(reduced_timeline.types)
    ),
    lists as materialized (
        select t.timeline, t.mode, exists (select from typed where typed.timeline = t.timeline) as has_types
        from session_timelines(its_session) as t
        where t.timeline_id = (reduced_timeline.list).timeline_id
            and t.mode in ('all', reduced_timeline.mode)
    )
    select t.*
    into reduced
    from session_timelines(its_session) as t
    where t.timeline in (select timeline from lists where mode <> 'all' and has_types)
        and not exists (select from lists where mode = 'all' and has_types)
    order by events desc, timeline
    limit 1;
    return reduced;
end
$$;

comment on function fleetprof_data.reduced_timeline is
    'Finds the longest list of the same timeline that arrived reduced in this mode and has events of these types, if the unreduced lists have none; otherwise null.';

create or replace function fleetprof.get_events(
    session_id  bigint,
    timeline_id bigint,
    mode        text default 'all',
    event_id    bigint default null,
    from_ms     double precision default null,
    to_ms       double precision default null,
    max_depth   integer default null,
    types       text[] default null
)
returns table (
    id                bigint,
    parent_id         bigint,
    type              text,
    time_ms           double precision,
    overhead_ms       double precision,
    hits              bigint,
    start_ms          double precision,
    end_ms            double precision,
    child_count       bigint,
    total_ms          double precision,
    total_overhead_ms double precision,
    resource          text,
    line              integer,
    detail            jsonb
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    list timeline := kept_timeline(get_events.session_id, get_events.timeline_id, get_events.mode);
    reduced timeline;
    is_scope boolean; -- aggregatedTime and aggregatedOverhead are the service's own sums
begin
    if get_events.mode <> list.mode
        and num_nonnulls(get_events.event_id, get_events.from_ms, get_events.to_ms, get_events.max_depth) = 0
    then
        reduced := reduced_timeline(list, get_events.mode, get_events.types);
        if reduced.mode is not null then
            list := reduced;
        end if;
    end if;
    if get_events.mode = list.mode then
        -- Citus has no query that joins a function with a distributed table.
        select format = 'opera-scope' into is_scope from session where session_id = get_events.session_id;
        return query
        select
            e.event_id,
            e.parent_id,
            type,
            self_us / 1000::double precision,
            overhead_us / 1000::double precision,
            hits,
            case when list.mode = 'all' or duration_us is not null then start_us / 1000::double precision end,
            (start_us + duration_us) / 1000::double precision,
            child_count,
            coalesce((sums ->> 'aggregatedTime')::double precision, total_us / 1000::double precision),
            coalesce((sums ->> 'aggregatedOverhead')::double precision, total_overhead_us / 1000::double precision),
            resource,
            line,
            -- js_profile reads the table of a V8 profile.
            case when type = 'PROFILE_DATA' then detail - 'profile' else detail end
        from select_events(list, get_events.event_id, get_events.from_ms, get_events.to_ms,
            get_events.max_depth, get_events.types) as e
        cross join lateral (select case when is_scope then detail end) as service (sums)
        order by start_us, e.event;
        return;
    end if;

    -- A virtual event stands for all equal events. It has their common members and the sum of their own times.
    -- Events of type PROCESS are left out: they are the operating system's view of the whole process.
    return query
    select
        null::bigint,
        null::bigint,
        same.type,
        sum(self_us) / 1000::double precision,
        sum(overhead_us) / 1000::double precision,
        sum(hits)::bigint,
        null::double precision,
        null::double precision,
        null::bigint,
        null::double precision,
        null::double precision,
        same.resource,
        same.line,
        same.detail
    from select_events(list, get_events.event_id, get_events.from_ms, get_events.to_ms,
        get_events.max_depth, get_events.types) as e
    cross join lateral (
        select
            case when get_events.mode = 'reduce_all' then 'GENERIC' else e.type end,
            case when get_events.mode = 'reduce_unique_events' then e.resource end,
            case when get_events.mode = 'reduce_unique_events' then e.line end,
            case when get_events.mode = 'reduce_unique_events' then own_detail(e.detail) end
    ) as same (type, resource, line, detail)
    where (e.type, e.type_number) <> ('PROCESS', 2)
    group by same.type, same.resource, same.line, same.detail
    -- Numbers equal events by the first of them, because comparing details may take long.
    order by 4 desc, same.type collate "C", same.resource collate "C", same.line, min(e.event);
end
$$;

comment on function fleetprof.get_events is
    -- {{comment of get_events}};

revoke execute on function
    fleetprof_data.kept_timeline,
    fleetprof_data.select_events,
    fleetprof_data.own_detail,
    fleetprof_data.reduced_timeline,
    fleetprof.get_events
from public;
grant execute on function
    fleetprof_data.kept_timeline,
    fleetprof_data.select_events,
    fleetprof_data.own_detail,
    fleetprof_data.reduced_timeline,
    fleetprof.get_events
to fleetprof_reader;
