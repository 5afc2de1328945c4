-- SPDX-License-Identifier: Apache-2.0
-- Findings of Speed Tracer's rules in a session.

create or replace function fleetprof.hints(session_id bigint)
returns table (
    rule        text,
    severity    integer,
    at_ms       double precision,
    description text,
    event_id    bigint
)
language plpgsql stable parallel safe rows 50
set search_path = fleetprof_data, pg_temp
set standard_conforming_strings = on
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    month_s constant double precision := 30 * 86400;
    records_max constant bigint := 10000; -- of requests
    findings_max constant bigint := 1000; -- of a rule with a severity
    examined_ids text[];
    more_requests bigint;
begin
    select request_ids, more into examined_ids, more_requests from first_requests(hints.session_id, records_max);
    return query
    with every as materialized (
        select event, parent, event_id, type, type_number, start_us, duration_us, self_us
        from speed_tracer_events(hints.session_id, has_detail => false)
    ),
    layouts as (
        select top.event_id, top.start_us, count(*) as layouts, sum(inner_one.self_us) as self_us
        from every as inner_one
        join (
            select *
            from speed_tracer_tops(hints.session_id)
            where (select exists (select from every where type = 'LAYOUT' and parent is not null))
        ) as inside using (event)
        join every as top on top.event = inside.top
        where inner_one.type = 'LAYOUT'
            and inner_one.type_number >= 0
            and inner_one.parent is not null
            and top.duration_us is not null
        group by top.event_id, top.start_us
    ),
    request as materialized (
        select
            response.*,
            -- How many pages were shown before.
            width_bucket(start_ms * 1000, array(
                select start_us::double precision from every where type = 'TAB_CHANGED' and type_number >= 0 order by start_us
            )) as page
        from cached_responses(hints.session_id, coalesce(examined_ids, '{}')) as response
    ),
    response as (
        select * from request where is_answered
    ),
    -- The loader of a GWT application and its code, on the same page.
    application as materialized (
        select
            page,
            min(start_ms) filter (where url like '%.nocache.js') as first_loader_ms,
            max(start_ms) filter (where url like '%.cache.html' and url ~ '/[0-9A-Fa-f]{32}\.cache\.html$') as last_code_ms
        from response
        group by page
    ),
    -- Responses that caches should keep.
    cacheable as (
        select *
        from response
        where kind in ('stylesheet', 'script', 'image', 'media', 'favicon') and not is_uncached
    ),
    missing as (
        select string_agg(
            case when part = last_part then part::text else format('%s to %s', part, last_part) end, ', ' order by part) as parts
        from (
            select part, last_part from fleetprof.session_parts(hints.session_id) where is_missing order by part limit 20
        ) as first
    ),
    -- Composes the texts of hints last, and only for those that are listed.
    hint (rule, severity, at_ms, wording, about, figure, event_id) as (
        select 'Missing Parts', 1, null::double precision, 'parts %s of the session are missing', parts, null::text, null::bigint
        from missing
        where parts is not null
        union all
        (
            select 'Missing Parts', 1, null,
                'part %s was decoded without what the part before it left: its JavaScript profile may lack code, or count twice', part::text,
                null, null
            from fleetprof.session_parts(hints.session_id)
            where is_detached
            order by part
            limit 20
        )
        union all
        select 'Unexamined Requests', 1, null, 'requests at the end that the rules about requests did not look at: %s', more_requests::text, null, null
        where more_requests > 0
        union all
        select 'Long Duration Events', case when duration_us > 2000000 then 2 else 3 end, start_us / 1000::double precision,
            'Event lasted: %s ms. Exceeded threshold: %s ms', round(duration_us / 1000.0, 3)::text,
            case when duration_us > 2000000 then '2000' else '100' end, event_id
        from every
        where parent is null and duration_us > 100000
        union all
        select 'Frequent Layout activity', 2, start_us / 1000::double precision, '%s layouts took %s ms in one event',
            layouts::text, round(self_us / 1000.0, 3)::text, event_id
        from layouts
        where layouts >= 3 and self_us >= 70000
        union all
        select 'Total Bytes Downloaded', case when bytes > 1000000 then 2 else 3 end, start_ms,
            '%2$s bytes downloaded for %1$s', url, bytes::text, null
        from request
        where bytes > 500000
        union all
        select 'Uncompressed Resource', 3, start_ms, '%s was not compressed (%s bytes)', url, bytes::text, null
        from response
        where bytes >= 150 and kind in ('document', 'script', 'stylesheet') and not is_compressed
        union all
        select 'Static Resource served from domains with cookies', 3, start_ms, '%s was served with cookies', url, null, null
        from response
        where kind in ('stylesheet', 'script', 'image', 'media') and has_cookie
        union all
        select 'GWT Application Detection', 1, start_ms, '%s selects the application''s code and must not be cacheable', url, null, null
        from response
        join application using (page)
        where url like '%.nocache.js' and not is_uncached and start_ms <= last_code_ms
        union all
        select 'GWT Application Detection',
            case when bytes > 1000000 then 1 when bytes > 500000 then 2 else 3 end, start_ms,
            'the application''s code %s is %s bytes', url, bytes::text, null
        from response
        join application using (page)
        where url like '%.cache.html' and url ~ '/[0-9A-Fa-f]{32}\.cache\.html$' and bytes > 250000 and start_ms >= first_loader_ms
        union all
        select 'Resource Caching', 1, start_ms, '%s has no expiration', url, null, null
        from cacheable
        where fresh_s is null and not has_query and status in (200, 203, 206, 300, 301, 304, 410)
        union all
        select 'Resource Caching', 1, start_ms, '%s has a Vary that keeps caches from it: %s', url, vary, null
        from cacheable
        where vary is not null
            and exists (
                select from string_to_table(vary, ',') as field
                where btrim(field, E' \t') not in ('', 'accept-encoding', 'user-agent'))
        union all
        select 'Resource Caching', case when fresh_s < month_s then 2 else 3 end, start_ms,
            '%s may be cached for %s days only', url, floor(fresh_s / 86400)::text, null
        from cacheable
        where kind <> 'favicon' and fresh_s < 11 * month_s
        union all
        select 'Resource Caching', 2, start_ms, 'the favicon %s may be cached for less than a month', url, null, null
        from cacheable
        where kind = 'favicon' and fresh_s < month_s
        union all
        select 'Resource Caching', 2, start_ms, '%s is publicly cacheable but has a query, which many proxies don''t cache', url, null, null
        from cacheable
        where is_public and has_query
        union all
        select 'Resource Caching', 2, start_ms, '%s is compressed and publicly cacheable without Vary: Accept-Encoding', url, null, null
        from cacheable
        where is_public and is_compressed and coalesce(vary, '') not like '%accept-encoding%'
        union all
        select 'Resource Caching', 3, start_ms, '%s could be publicly cacheable', url, null, null
        from cacheable
        where not is_public and not sets_cookie and fresh_s > 0
        union all
        select 'Resource Caching', 1, start_ms, '%s is publicly cacheable and sets a cookie', url, null, null
        from cacheable
        where is_public and sets_cookie
    ),
    ranked as materialized (
        select
            hint.*,
            row_number() over (partition by rule, severity order by at_ms, wording collate "C", about collate "C", figure collate "C", event_id) as place,
            count(*) over (partition by rule, severity) as findings
        from hint
    ),
    listed (rule, severity, at_ms, description, event_id) as (
        select rule, severity, at_ms, format(wording, about, figure), event_id
        from ranked
        where place <= findings_max
        union all
        select rule, severity, null, format('further findings of this rule and severity, not listed: %s', findings - findings_max), null
        from ranked
        where place = findings_max and findings > findings_max
    )
    select *
    from listed
    order by severity, rule not in ('Missing Parts', 'Unexamined Requests'), at_ms, rule collate "C", description collate "C", event_id;
end
$$;

comment on function fleetprof.hints is
    -- {{comment of hints}};

revoke execute on function fleetprof.hints from public;
grant execute on function fleetprof.hints to fleetprof_reader;
