-- SPDX-License-Identifier: Apache-2.0
-- Work of servers for the requests of a session.

create or replace function fleetprof.server_events(session_id bigint)
returns table (
    request_id  text,
    attempt     bigint,
    url         text,
    trace_url   text,
    event_id    bigint,
    parent_id   bigint,
    event_type  text,
    label       text,
    start_ms    double precision,
    duration_ms double precision,
    self_ms     double precision
)
language plpgsql stable parallel safe rows 50
set search_path = fleetprof_data, pg_temp
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
begin
    return query
    with every as materialized (
        select event, parent, event_id, type, type_number, start_us, duration_us, self_us, detail
        from speed_tracer_events(server_events.session_id)
    ),
    root as materialized (
        select event, start_us / 1000::double precision as start_ms, detail ->> 'traceUrl' as trace_url
        from every
        where type = 'SERVER_EVENT' and type_number >= 0 and parent is null
    ),
    -- A response names its trace by a path or by a whole URL.
    traced as materialized (
        select request_id, attempt, url, start_ms, answer.trace_url
        from merged_requests(server_events.session_id)
        cross join lateral (
            select value
            from jsonb_each_text(response_headers) as header (name, value)
            where octet_length(name) = 10 and lower(name collate "C") = 'x-traceurl'
            limit 1
        ) as header
        cross join lateral (
            select case when value ~ '^/' then substring(url from '^[a-z]+://[^/]*') || value else value end as trace_url
        ) as answer
        where exists (select from root)
    ),
    numbered as materialized (
        select *, row_number() over (partition by trace_url order by start_ms nulls first, request_id, attempt) as number
        from traced
    ),
    -- If several requests share a trace, takes the last one that began before the server did, or else the last. This is
    -- not a join by time, because one trace may have many requests and many server events.
    found as (
        select event, trace_url, coalesce(max(number) over before, max(number) over (partition by trace_url)) as number
        from (
            select event, trace_url, start_ms, null::bigint as number from root
            union all
            select null, trace_url, start_ms, number from numbered
        ) as either
        window before as (partition by trace_url order by start_ms, number nulls last rows unbounded preceding)
    ),
    matched as (
        select found.event, request_id, attempt, url, found.trace_url
        from found
        left join numbered using (trace_url, number)
        where found.event is not null
    )
    select
        matched.request_id,
        matched.attempt,
        matched.url,
        matched.trace_url,
        every.event_id,
        around.event_id,
        every.type,
        every.detail ->> 'label',
        every.start_us / 1000::double precision,
        every.duration_us / 1000::double precision,
        every.self_us / 1000::double precision
    from speed_tracer_tops(server_events.session_id) as inside
    join matched on matched.event = inside.top
    join every on every.event = inside.event
    left join every as around on around.event = every.parent
    order by every.event;
end
$$;

comment on function fleetprof.server_events is
    -- {{comment of server_events}};

revoke execute on function fleetprof.server_events from public;
grant execute on function fleetprof.server_events to fleetprof_reader;
