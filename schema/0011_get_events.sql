-- get_events: intervals are met to the microsecond, errors name what is null, and many events cost no more each
-- than few. session_content: its error says where to look.

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
    -- Events that nobody reduced can be reduced here, and this row stands for all lists of them that the timeline
    -- has; else a list that came reduced as asked will do.
    select t.*
    into list
    from session as s
    join timeline as t using (segment_id, bucket, session_id)
    where s.session_id = kept_timeline.session_id
        and t.timeline_id = kept_timeline.timeline_id
        and t.mode in ('all', kept_timeline.mode)
    order by t.mode = 'all' desc, events desc, timeline
    limit 1;
    if found then
        return list;
    end if;
    select string_agg(format('%s (%s)', t.timeline_id, t.mode), ', ' order by t.timeline)
    into listed
    from session as s
    join timeline as t using (segment_id, bucket, session_id)
    where s.session_id = kept_timeline.session_id;
    raise no_data_found using
        message = format('session %s has no timeline %s that can give mode %s',
            coalesce(kept_timeline.session_id::text, 'null'), coalesce(kept_timeline.timeline_id::text, 'null'),
            kept_timeline.mode),
        hint = case
            when listed is not null then format('It has %s.', listed)
            when exists (select from session as s where s.session_id = kept_timeline.session_id)
                then 'It has no events; fleetprof session export gives it back as it came.'
            else 'There is no such session; the view fleetprof.sessions lists those that are kept.'
        end;
end
$$;

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
    one record;
    depths integer[]; -- below the root by event; 0: not there. Parents stand before their children
    lists bigint[] := array(
        select t.timeline
        from timeline as t
        where t.segment_id = (select_events.list).segment_id
            and t.bucket = (select_events.list).bucket
            and t.session_id = (select_events.list).session_id
            and t.timeline_id = (select_events.list).timeline_id
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
    if select_events.event_id is not null then
        select event
        into root
        from event
        where segment_id = (select_events.list).segment_id
            and bucket = (select_events.list).bucket
            and session_id = (select_events.list).session_id
            and timeline = any(lists)
            and event_id = select_events.event_id;
        if not found then
            raise no_data_found using
                message = format('timeline %s has no event %s',
                    (select_events.list).timeline_id, select_events.event_id);
        end if;
    end if;
    -- Not by a recursive query: how many events a level has is nothing that the planner knows.
    if select_events.event_id is not null or select_events.max_depth is not null then
        for one in
            select event, parent
            from event
            where segment_id = (select_events.list).segment_id
                and bucket = (select_events.list).bucket
                and session_id = (select_events.list).session_id
                and timeline = any(lists)
            order by event
        loop
            depths[one.event] := case
                when one.parent is not distinct from root then 1
                when depths[one.parent] > 0 then depths[one.parent] + 1
                else 0
            end;
        end loop;
    end if;
    return query
    select e.*
    from event as e
    where segment_id = (select_events.list).segment_id
        and bucket = (select_events.list).bucket
        and session_id = (select_events.list).session_id
        and timeline = any(lists)
        and (depths is null or depths[event] between 1 and coalesce(select_events.max_depth, 2147483647))
        and (select_events.types is null or cardinality(select_events.types) = 0 or type = any(select_events.types))
        -- In milliseconds as get_events gives them, which times 1000 are not always what they were.
        and (select_events.from_ms is null
            or (start_us + coalesce(duration_us, 0)) / 1000::double precision >= select_events.from_ms)
        and (select_events.to_ms is null or start_us / 1000::double precision <= select_events.to_ms);
end
$$;

create or replace function fleetprof.session_content(session_id bigint)
returns table (
    format        text,
    is_raw        boolean,
    content_bytes integer,
    content       bytea
)
language plpgsql stable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select format, is_raw, content_bytes, content
    from session
    where session_id = session_content.session_id;
    if not found then
        raise no_data_found using
            message = format('session %s is not kept', session_content.session_id),
            hint = 'The view fleetprof.sessions lists those that are.';
    end if;
end
$$;
