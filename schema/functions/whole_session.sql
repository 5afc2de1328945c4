-- SPDX-License-Identifier: Apache-2.0
-- A session as a whole: kept uploads that are parts of one long session, or of one page load, read like one upload.

create or replace function fleetprof_data.parts_of(session_id bigint)
returns table (
    segment_id       bigint,
    bucket           timestamptz,
    kept_id          bigint,
    part             integer,
    received         timestamptz,
    format           text,
    is_detached      boolean,
    events           bigint,
    events_before    bigint,
    timelines_before bigint
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    events_max constant bigint := 1000000;
    of_load uuid;
    of_site text;
    of_format text;
    of_source bigint;
    -- By part.
    segment_ids bigint[];
    buckets timestamptz[];
    kept_ids bigint[];
    numbers integer[];
    times timestamptz[];
    detached boolean[];
    timeline_ids bigint[];
    timeline_events bigint[];
    timeline_counts bigint[];
    one record;
begin
    -- Citus has no plan for an outer join with nothing.
    if parts_of.session_id is null then
        return;
    end if;
    select load_id, site, format, source_id
    into of_load, of_site, of_format, of_source
    from session
    left join segment using (segment_id)
    where session_id = parts_of.session_id;
    if of_format not in ('speed-tracer', 'opera-scope') then
        of_load := null; -- a kept trace has no events
    end if;
    select
        array_agg(segment_id), array_agg(bucket), array_agg(session_id), array_agg(part), array_agg(received),
        array_agg(is_detached)
    into segment_ids, buckets, kept_ids, numbers, times, detached
    from (
        select segment_id, bucket, session_id, part, received, is_detached
        from session
        where session_id = parts_of.session_id
        union all
        select segment_id, bucket, session_id, part, received, is_detached
        from session
        join segment using (segment_id)
        where load_id = of_load and format = of_format and site = of_site and source_id is not distinct from of_source
            and session_id <> parts_of.session_id
    ) as kept;
    -- One query for all parts: there may be many. Ids of sessions are hashes, unique in all segments.
    select array_agg(session_id), array_agg(events), array_agg(timelines)
    into timeline_ids, timeline_events, timeline_counts
    from (
        select session_id, sum(events)::bigint as events, max(timeline) as timelines
        from timeline
        where session_id = any(kept_ids)
        group by session_id
    ) as counted;
    parts_of.events_before := 0;
    parts_of.timelines_before := 0;
    for one in
        select kept.*, coalesce(events, 0) as events, coalesce(timelines, 0) as timelines
        from unnest(segment_ids, buckets, kept_ids, numbers, times, detached)
            as kept (segment_id, bucket, session_id, part, received, is_detached)
        left join unnest(timeline_ids, timeline_events, timeline_counts) as counted (session_id, events, timelines)
            using (session_id)
        order by part, received, session_id
    loop
        parts_of.segment_id := one.segment_id;
        parts_of.bucket := one.bucket;
        parts_of.kept_id := one.session_id;
        parts_of.part := one.part;
        parts_of.received := one.received;
        parts_of.format := of_format;
        parts_of.is_detached := one.is_detached;
        parts_of.events := one.events;
        if parts_of.events_before + parts_of.events > events_max then
            raise program_limit_exceeded using
                message = format('session %s has more than %s events in all its parts', parts_of.session_id, events_max),
                hint = 'fleetprof session export gives each part back as it came.';
        end if;
        return next;
        parts_of.events_before := parts_of.events_before + parts_of.events;
        parts_of.timelines_before := parts_of.timelines_before + one.timelines;
    end loop;
end
$$;

comment on function fleetprof_data.parts_of is
    'Returns the kept uploads that belong to the same session as this one, itself included, in the order of part: those of the same site, load, format and session in the browser. events_before and timelines_before: how many events and timelines the parts before it have. Nothing for an unknown session.';

create or replace function fleetprof_data.session_timelines(session_id bigint)
returns setof fleetprof_data.timeline
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    kept_ids bigint[];
    earlier_counts bigint[]; -- by part: timelines of the parts before
begin
    select array_agg(kept_id), array_agg(timelines_before)
    into kept_ids, earlier_counts
    from parts_of(session_timelines.session_id);
    -- One query for all parts: there may be many. Citus has no query that joins an array with a distributed table.
    return query
    with kept as materialized (
        select *
        from timeline
        where session_id = any(kept_ids)
    )
    select segment_id, bucket, session_id, timeline + timelines_before, timeline_id, frame_id, mode, events
    from unnest(kept_ids, earlier_counts) with ordinality as part (session_id, timelines_before, place)
    join kept using (session_id)
    order by place, timeline;
end
$$;

comment on function fleetprof_data.session_timelines is
    'Returns the timelines of a session with all its parts; timeline counts on through all parts.';

create or replace function fleetprof_data.listed_events(
    session_id bigint,
    types      text[] default null,
    has_detail boolean default true
)
returns setof fleetprof_data.event
language plpgsql stable parallel safe rows 5000
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
set plan_cache_mode = force_custom_plan
set enable_nestloop = off -- the planner cannot know how long arrays are
set enable_seqscan = off -- nor how few events of a day they select
as $$
#variable_conflict use_column
declare
    is_dump boolean;
    -- By part.
    bucket_times timestamptz[];
    kept_ids bigint[];
    parts integer[];
    events_before bigint[];
    timelines_before bigint[];
begin
    select
        bool_or(format = 'speed-tracer'), array_agg(bucket), array_agg(kept_id), array_agg(part), array_agg(part.events_before),
        array_agg(part.timelines_before)
    into is_dump, bucket_times, kept_ids, parts, events_before, timelines_before
    from parts_of(listed_events.session_id) as part;
    -- One query for all parts: there may be many. Citus has no query that joins an array with a distributed table.
    return query
    with kept as materialized (
        select *
        from event
        where bucket = any(bucket_times) and session_id = any(kept_ids)
            and (listed_events.types is null or type = any(listed_events.types)
                or listed_events.has_detail and type = 'TIMER_INSTALLED' and 'TIMER_FIRED' = any(listed_events.types))
    ),
    part as materialized (
        select *, lag(part) over (order by place) is not distinct from part - 1 as follows
        from unnest(kept_ids, parts, events_before, timelines_before) with ordinality
            as part (session_id, part, events_before, timelines_before, place)
    ),
    timer as (
        select place, event, type, detail ->> 'timerId' as timer_id, detail
        from kept
        join part using (session_id)
        where is_dump and listed_events.has_detail and type in ('TIMER_INSTALLED', 'TIMER_FIRED') and detail ->> 'timerId' is not null
    ),
    -- A timer that fires has the attributes of its last start in an earlier part.
    fired as materialized (
        select place, event, max(start_place) over earlier as start_place, timer_id
        from (
            select place, event, type, timer_id, case type when 'TIMER_INSTALLED' then place end as start_place
            from timer
        ) as every
        window earlier as (partition by timer_id order by place groups between unbounded preceding and 1 preceding)
    ),
    started as materialized (
        select distinct on (timer_id, place)
            timer_id, place as start_place,
            jsonb_strip_nulls(jsonb_build_object('timeout', detail -> 'timeout', 'singleShot', detail -> 'singleShot')) as said
        from timer
        where type = 'TIMER_INSTALLED'
        order by timer_id, place, event desc
    ),
    said as materialized (
        select place, event, said
        from fired
        join started using (timer_id, start_place)
    )
    select
        segment_id,
        bucket,
        session_id,
        event + part.events_before,
        timeline + part.timelines_before,
        parent + part.events_before,
        -- The decoder numbers the events of a dump. Opera's service numbers events itself, through all of its lists.
        case when is_dump then event_id + part.events_before else event_id end,
        type,
        type_number,
        start_us,
        duration_us,
        self_us,
        overhead_us,
        total_us,
        total_overhead_us,
        hits,
        child_count,
        resource,
        line,
        case
            when not listed_events.has_detail then null
            -- The profiled event, by its id. 0 and below count back from the end of the part before.
            when type = 'PROFILE_DATA' and is_dump and jsonb_typeof(detail -> 'profileOf') = 'number'
                then case
                    when (detail ->> 'profileOf')::bigint > 0 or follows
                        then jsonb_set(detail, '{profileOf}', to_jsonb((detail ->> 'profileOf')::bigint + part.events_before))
                    else detail - 'profileOf'
                end
            when type = 'TIMER_FIRED' and said is not null then said || detail
            else detail
        end,
        parent_id
    from kept
    join part using (session_id)
    left join said using (place, event)
    where listed_events.types is null or type = any(listed_events.types);
end
$$;

comment on function fleetprof_data.listed_events is
    'Returns the events of a session with all its parts, as the parts list them, of these types (null: all); has_detail false: without details; event, timeline and parent count on through all parts. A timer that fires has the attributes of its start in an earlier part.';

create or replace function fleetprof_data.session_events(session_id bigint, has_detail boolean default true)
returns setof fleetprof_data.event
language plpgsql stable parallel safe rows 5000
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
set enable_nestloop = off -- the planner cannot know how many events the functions return
as $$
#variable_conflict use_column
declare
    parts bigint;
    first_part integer;
    of_format text;
    of_segment bigint;
    of_bucket timestamptz;
begin
    select count(*), min(part), min(format), min(segment_id), min(bucket)
    into parts, first_part, of_format, of_segment, of_bucket
    from parts_of(session_events.session_id);
    if parts = 1 and (first_part = 0 or of_format <> 'speed-tracer') then
        return query
        select *
        from event
        where segment_id = of_segment and bucket = of_bucket and session_id = session_events.session_id;
        return;
    elsif of_format = 'speed-tracer' then
        return query select * from listed_events(session_events.session_id, null, session_events.has_detail);
        return;
    end if;
    -- An event that several parts list counts once, as its first part has it. A parent may be in another part.
    return query
    with listed as materialized (
        select e.*, timeline_id, mode
        from listed_events(session_events.session_id, null, session_events.has_detail) as e
        join (select timeline, timeline_id, mode from session_timelines(session_events.session_id)) as t using (timeline)
    ),
    known as materialized (
        select timeline_id, event_id, min(event) as first
        from listed
        where mode = 'all' and event_id is not null
        group by timeline_id, event_id
    ),
    around as materialized (
        select event, first
        from listed
        join known using (timeline_id, event_id)
        where mode = 'all' and first <> event
    )
    select
        segment_id, bucket, session_id, listed.event, timeline,
        coalesce(elsewhere.first, around.first, listed.parent),
        listed.event_id, type, type_number, start_us, duration_us, self_us, overhead_us, total_us, total_overhead_us, hits, child_count,
        resource, line, detail, listed.parent_id
    from listed
    left join known on mode = 'all' and known.timeline_id = listed.timeline_id and known.event_id = listed.event_id
    left join around on around.event = listed.parent
    left join known as elsewhere
        on mode = 'all' and elsewhere.timeline_id = listed.timeline_id and elsewhere.event_id = listed.parent_id
    where coalesce(known.first, listed.event) = listed.event;
end
$$;

comment on function fleetprof_data.session_events is
    'Returns the events of a session with all its parts, each once; event, timeline and parent count on through all parts. Nothing for an unknown session. has_detail false: details may be null.';

create or replace function fleetprof_data.parts_elsewhere(session_id bigint)
returns int8multirange
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- A session ends after an hour without a part.
    pause constant interval := '1 hour';
    of_load uuid;
    of_site text;
    of_format text;
    of_source bigint;
    first_received timestamptz;
    last_received timestamptz;
    kept_parts integer[];
    other_parts integer[];
begin
    select load_id, site, format, source_id
    into of_load, of_site, of_format, of_source
    from session
    left join segment using (segment_id)
    where session_id = parts_elsewhere.session_id;
    if of_load is null or of_format not in ('speed-tracer', 'opera-scope') then
        return '{(,)}';
    end if;
    select
        min(received) - pause, max(received) + pause,
        array_agg(part) filter (where site = of_site and (format <> of_format or source_id is distinct from of_source))
    into first_received, last_received, kept_parts
    from session
    join segment using (segment_id)
    where load_id = of_load;
    -- Buckets select partitions; a bucket is at most an hour off.
    select array_agg(part)
    into other_parts
    from upload
    join segment using (segment_id)
    where load_id = of_load and site = of_site and format <> of_format
        and received between first_received and last_received
        and bucket between first_received - 2 * pause and last_received + pause;
    return coalesce((
        select range_agg(int8range(part, part + 1::bigint))
        from unnest(kept_parts || other_parts) as part), '{}');
end
$$;

comment on function fleetprof_data.parts_elsewhere is
    'Returns the numbers of parts that a session cannot miss: those of its load that arrived in another format, as the upload log still says, or that belong to another session in the browser. All numbers if the upload is a session by itself.';

create or replace function fleetprof.session_parts(session_id bigint)
returns table (
    part        integer,
    last_part   integer,
    part_id     bigint,
    received    timestamptz,
    events      bigint,
    is_missing  boolean,
    is_detached boolean
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    one record;
    next_part bigint := 0;
    elsewhere int8multirange;
begin
    for one in select * from parts_of(session_parts.session_id) loop
        if one.part > next_part then
            elsewhere := coalesce(elsewhere, parts_elsewhere(session_parts.session_id));
            return query
            select lower(gap)::integer, (upper(gap) - 1)::integer, null::bigint, null::timestamptz, null::bigint, true, null::boolean
            from unnest(int8multirange(int8range(next_part, one.part)) - elsewhere) as gap;
        end if;
        return query select one.part, one.part, one.kept_id, one.received, one.events, false, one.is_detached;
        next_part := one.part + 1::bigint;
    end loop;
    if next_part = 0 then
        raise no_data_found using
            message = format('session %s is not kept', coalesce(session_parts.session_id::text, 'null')),
            hint = 'The view fleetprof.sessions lists those that are.';
    end if;
end
$$;

comment on function fleetprof.session_parts is
    -- {{comment of session_parts}};

revoke execute on function
    fleetprof_data.parts_of,
    fleetprof_data.session_timelines,
    fleetprof_data.listed_events,
    fleetprof_data.session_events,
    fleetprof_data.parts_elsewhere,
    fleetprof.session_parts
from public;
grant execute on function
    fleetprof_data.parts_of,
    fleetprof_data.session_timelines,
    fleetprof_data.listed_events,
    fleetprof_data.session_events,
    fleetprof_data.parts_elsewhere,
    fleetprof.session_parts
to fleetprof_reader;
