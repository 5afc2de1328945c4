-- SPDX-License-Identifier: Apache-2.0
-- Requests of a session.

create or replace function fleetprof_data.span_ms(begin_ms double precision, end_ms double precision)
returns double precision
language sql immutable parallel safe
return case when begin_ms >= 0 and end_ms >= 0 then end_ms - begin_ms end;

comment on function fleetprof_data.span_ms is
    'Returns a phase of a request in milliseconds, from its begin and end; null: there was none.';

create or replace function fleetprof_data.number(value jsonb)
returns double precision
language sql immutable parallel safe
return case when jsonb_typeof(value) = 'number' and abs(value::numeric) <= 1e13 then value::double precision end;

comment on function fleetprof_data.number is 'Returns a JSON number; null for anything else, and for numbers above 1e13.';

create or replace function fleetprof_data.status_of(value jsonb)
returns integer
language sql immutable parallel safe
return case when value between '0' and '999' then value::integer end; -- no other JSON is between two numbers

comment on function fleetprof_data.status_of is 'Returns an HTTP status; null for anything else.';

create or replace function fleetprof_data.request_headers_of(type text, detail jsonb)
returns jsonb
language sql immutable parallel safe
return case type
    when 'NETWORK_RESOURCE_START' then detail -> 'headers'
    when 'NETWORK_REQUEST_WILL_BE_SENT' then detail -> 'request' -> 'headers'
    when 'NETWORK_RESOURCE_UPDATE' then detail -> 'requestHeaders'
end;

comment on function fleetprof_data.request_headers_of is 'Returns the headers of the request in a record; null: it has none.';

create or replace function fleetprof_data.response_headers_of(type text, detail jsonb)
returns jsonb
language sql immutable parallel safe
return case type
    when 'NETWORK_RESOURCE_RESPONSE' then detail -> 'headers'
    when 'NETWORK_RESPONSE_RECEIVED' then detail -> 'response' -> 'headers'
    when 'NETWORK_RESOURCE_UPDATE' then detail -> 'responseHeaders'
end;

comment on function fleetprof_data.response_headers_of is 'Returns the headers of the response in a record; null: it has none.';

create or replace function fleetprof_data.timing_of(type text, detail jsonb)
returns jsonb
language sql immutable parallel safe
return case type
    when 'NETWORK_RESPONSE_RECEIVED' then detail -> 'response' -> 'timing'
    when 'NETWORK_RESOURCE_UPDATE' then detail -> 'timing'
end;

comment on function fleetprof_data.timing_of is 'Returns the phases of the request in a record; null: it has none.';

create or replace function fleetprof_data.network_types()
returns text[]
language sql immutable parallel safe
return array[
    'NETWORK_RESOURCE_START', 'NETWORK_RESOURCE_RESPONSE', 'NETWORK_RESOURCE_FINISH', 'NETWORK_RESOURCE_UPDATE',
    'NETWORK_REQUEST_WILL_BE_SENT', 'NETWORK_RESPONSE_RECEIVED', 'NETWORK_DATA_RECEIVED', 'NETWORK_LOADING_FINISHED'];

comment on function fleetprof_data.network_types is 'Returns the types of the records of requests.';

create or replace function fleetprof_data.first_requests(
    session_id      bigint,
    records_max     bigint,
    out request_ids text[],
    out more        bigint
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    select array_agg(request_id) filter (where records <= first_requests.records_max), count(*) filter (where records > first_requests.records_max)
    into first_requests.request_ids, first_requests.more
    from (
        select request_id, sum(count(*)) over (order by min(event)) as records
        from (
            select event, detail ->> 'requestId' collate "C" as request_id
            from speed_tracer_events(first_requests.session_id, network_types())
            where type_number >= 0
        ) as record
        where request_id is not null
        group by request_id
    ) as request;
end
$$;

comment on function fleetprof_data.first_requests is
    'Returns the ids of the first requests of a session that have at most so many records together, in the order of their first records; more: how many requests follow.';

create or replace function fleetprof_data.merged_requests(
    session_id  bigint,
    request_ids text[] default null,
    has_headers boolean default true
)
returns table (
    request_id       text,
    attempt          bigint,
    url              text,
    method           text,
    status           integer,
    mime_type        text,
    from_cache       boolean,
    failed           boolean,
    redirected       boolean,
    bytes            bigint,
    start_ms         double precision,
    response_ms      double precision,
    end_ms           double precision,
    has_query        boolean,
    timing           jsonb,
    request_headers  jsonb,
    response_headers jsonb
)
language plpgsql stable parallel safe rows 5000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with every as (
        select
            event, type, start_us, resource,
            case when merged_requests.has_headers then detail end as detail,
            detail || '{}' as unpacked -- unpacks a compressed detail once for all members
        from speed_tracer_events(merged_requests.session_id, network_types())
        where type_number >= 0
            and (merged_requests.request_ids is null or detail ->> 'requestId' in (select unnest(merged_requests.request_ids)))
        offset 0
    ),
    -- Headers and timing, which may be large, stay in the compressed details until requests are merged.
    recorded as (
        select
            event, type, detail, resource as url,
            unpacked ->> 'requestId' collate "C" as request_id,
            unpacked -> 'hasQuery' = 'true' as has_query,
            case type
                when 'NETWORK_RESOURCE_START' then unpacked ->> 'requestMethod'
                when 'NETWORK_RESOURCE_UPDATE' then nullif(unpacked ->> 'requestMethod', '')
                when 'NETWORK_REQUEST_WILL_BE_SENT' then coalesce(unpacked -> 'request' ->> 'requestMethod', unpacked -> 'request' ->> 'method')
            end as method,
            status_of(case type when 'NETWORK_RESPONSE_RECEIVED' then unpacked -> 'response' -> 'status' else unpacked -> 'statusCode' end) as status,
            coalesce(unpacked ->> 'mimeType', unpacked -> 'response' ->> 'mimeType') as mime_type,
            case type when 'NETWORK_RESPONSE_RECEIVED' then unpacked -> 'response' -> 'fromDiskCache' else nullif(unpacked -> 'fromDiskCache', 'null') end = 'true' as from_cache,
            coalesce(nullif(unpacked -> 'didFail', 'null'), nullif(unpacked -> 'failed', 'null')) = 'true' as failed,
            case type when 'NETWORK_DATA_RECEIVED' then number(unpacked -> 'dataLength') end as chunk,
            case type when 'NETWORK_RESOURCE_UPDATE' then number(unpacked -> 'resourceSize') end as size,
            -- Times that the timeline recorded.
            case when type = 'NETWORK_RESOURCE_START' then start_us / 1000::double precision end as start_ms,
            case when type = 'NETWORK_RESOURCE_RESPONSE' then start_us / 1000::double precision end as response_ms,
            case when type = 'NETWORK_RESOURCE_FINISH' then start_us / 1000::double precision end as end_ms,
            -- Times that the browser's network stack recorded, if it did.
            case type
                when 'NETWORK_RESOURCE_UPDATE' then nullif(number(unpacked -> 'startTime'), 0)
                when 'NETWORK_REQUEST_WILL_BE_SENT' then nullif(start_us, 0) / 1000::double precision
            end as stack_start_ms,
            case type
                when 'NETWORK_RESOURCE_UPDATE' then nullif(number(unpacked -> 'responseReceivedTime'), 0)
                when 'NETWORK_RESPONSE_RECEIVED' then nullif(start_us, 0) / 1000::double precision
            end as stack_response_ms,
            case type
                when 'NETWORK_RESOURCE_UPDATE' then nullif(number(unpacked -> 'endTime'), 0)
                when 'NETWORK_LOADING_FINISHED' then nullif(start_us, 0) / 1000::double precision
            end as stack_end_ms,
            jsonb_typeof(timing_of(type, unpacked)) = 'object' as has_timing,
            jsonb_typeof(request_headers_of(type, unpacked)) = 'object' as has_request_headers,
            jsonb_typeof(response_headers_of(type, unpacked)) = 'object' as has_response_headers,
            jsonb_typeof(redirect) = 'object' as is_redirect,
            status_of(redirect -> 'status') as redirect_status,
            redirect ->> 'mimeType' as redirect_mime_type,
            redirect -> 'fromDiskCache' = 'true' as redirect_from_cache,
            jsonb_typeof(redirect -> 'timing') = 'object' as redirect_has_timing,
            jsonb_typeof(redirect -> 'headers') = 'object' as redirect_has_headers
        from (
            select *, case type when 'NETWORK_REQUEST_WILL_BE_SENT' then unpacked -> 'redirectResponse' end as redirect
            from every
            offset 0
        ) as redirecting
        where unpacked ->> 'requestId' is not null
        offset 0
    ),
    numbered as (
        select
            *,
            count(*) filter (where type = 'NETWORK_RESOURCE_START') over records as starts,
            count(*) filter (where type = 'NETWORK_REQUEST_WILL_BE_SENT') over records as announcements
        from recorded
        window records as (partition by request_id order by event)
    ),
    -- A second start with the same id is the request that follows a redirect. Two kinds of record announce it, in
    -- either order.
    attempted as (
        select
            *,
            greatest(1, case type
                when 'NETWORK_RESOURCE_START' then starts
                when 'NETWORK_REQUEST_WILL_BE_SENT' then announcements
                else greatest(starts, announcements)
            end) as attempt
        from numbered
    ),
    -- If several records have a field, the last wins.
    last_said as (
        select
            request_id,
            attempt,
            (array_agg(url) filter (where url is not null))[1] as url,
            coalesce(bool_or(has_query), false) as has_query,
            (array_agg(method) filter (where method is not null))[count(method)] as method,
            (array_agg(status) filter (where status is not null))[count(status)] as status,
            (array_agg(mime_type) filter (where mime_type is not null))[count(mime_type)] as mime_type,
            bool_or(from_cache) as from_cache,
            bool_or(failed) as failed,
            coalesce(sum(chunk), (array_agg(size) filter (where size is not null))[count(size)])::bigint as bytes,
            coalesce(min(start_ms), min(stack_start_ms)) as start_ms,
            coalesce(min(response_ms), min(stack_response_ms)) as response_ms,
            coalesce(max(end_ms), max(stack_end_ms)) as end_ms,
            (array_agg(timing_of(type, detail)) filter (where has_timing))[count(*) filter (where has_timing)] as timing,
            (array_agg(request_headers_of(type, detail)) filter (where has_request_headers))[count(*) filter (where has_request_headers)] as request_headers,
            (array_agg(response_headers_of(type, detail)) filter (where has_response_headers))[count(*) filter (where has_response_headers)] as response_headers,
            -- At most one record of an attempt has a redirect.
            min(redirect_status) filter (where is_redirect) as redirect_status,
            min(redirect_mime_type) filter (where is_redirect) as redirect_mime_type,
            bool_or(redirect_from_cache) filter (where is_redirect) as redirect_from_cache,
            (array_agg(detail -> 'redirectResponse' -> 'timing') filter (where redirect_has_timing))[1] as redirect_timing,
            (array_agg(detail -> 'redirectResponse' -> 'headers') filter (where redirect_has_headers))[1] as redirect_headers
        -- Sorted before, not in each aggregate: a sort per group is slow.
        from (select * from attempted order by request_id, attempt, event) as sorted
        group by request_id, attempt
    )
    select
        request_id,
        attempt,
        url,
        method,
        -- A redirect is the response to the attempt before; its time is unknown.
        coalesce(lead(redirect_status) over attempts, status),
        coalesce(lead(redirect_mime_type) over attempts, mime_type),
        greatest(lead(redirect_from_cache) over attempts, from_cache),
        failed,
        lead(attempt) over attempts is not null,
        bytes,
        start_ms,
        response_ms,
        coalesce(end_ms, lead(start_ms) over attempts),
        has_query,
        coalesce(lead(redirect_timing) over attempts, timing),
        request_headers,
        coalesce(lead(redirect_headers) over attempts, response_headers)
    from last_said
    window attempts as (partition by request_id order by attempt);
end
$$;

comment on function fleetprof_data.merged_requests is
    'Returns the requests of a session with these ids (null: all), each merged from all its records. has_headers false: without headers and timing, which may be large.';

create or replace function fleetprof.network_resources(session_id bigint)
returns table (
    request_id       text,
    attempt          bigint,
    url              text,
    method           text,
    status           integer,
    mime_type        text,
    from_cache       boolean,
    failed           boolean,
    redirected       boolean,
    bytes            bigint,
    start_ms         double precision,
    response_ms      double precision,
    end_ms           double precision,
    request_time_ms  double precision,
    response_time_ms double precision,
    total_ms         double precision,
    blocked_ms       double precision,
    proxy_ms         double precision,
    dns_ms           double precision,
    connect_ms       double precision,
    ssl_ms           double precision,
    send_ms          double precision,
    request_headers  jsonb,
    response_headers jsonb,
    has_query        boolean
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
begin
    return query
    with request as (
        select
            *,
            number(timing -> 'proxyStart') as proxy_begin, number(timing -> 'proxyEnd') as proxy_end,
            number(timing -> 'dnsStart') as dns_begin, number(timing -> 'dnsEnd') as dns_end,
            number(timing -> 'connectStart') as connect_begin, number(timing -> 'connectEnd') as connect_end,
            number(timing -> 'sslStart') as ssl_begin, number(timing -> 'sslEnd') as ssl_end,
            number(timing -> 'sendStart') as send_begin, number(timing -> 'sendEnd') as send_end
        from merged_requests(network_resources.session_id)
        order by start_ms, request_id, attempt
        offset 0
    )
    select
        request_id,
        attempt,
        url,
        method,
        status,
        mime_type,
        from_cache,
        failed,
        redirected,
        bytes,
        start_ms,
        response_ms,
        end_ms,
        response_ms - start_ms,
        end_ms - response_ms,
        end_ms - start_ms,
        least(
            case when proxy_begin >= 0 then proxy_begin end, case when dns_begin >= 0 then dns_begin end,
            case when connect_begin >= 0 then connect_begin end, case when send_begin >= 0 then send_begin end),
        span_ms(proxy_begin, proxy_end),
        span_ms(dns_begin, dns_end),
        -- The connect phase includes the DNS lookup.
        span_ms(connect_begin, connect_end) - coalesce(span_ms(dns_begin, dns_end), 0),
        span_ms(ssl_begin, ssl_end),
        span_ms(send_begin, send_end),
        request_headers,
        response_headers,
        has_query
    from request;
end
$$;

comment on function fleetprof.network_resources is
    -- {{comment of network_resources}};

revoke execute on function
    fleetprof_data.span_ms,
    fleetprof_data.number,
    fleetprof_data.status_of,
    fleetprof_data.request_headers_of,
    fleetprof_data.response_headers_of,
    fleetprof_data.timing_of,
    fleetprof_data.network_types,
    fleetprof_data.first_requests,
    fleetprof_data.merged_requests,
    fleetprof.network_resources
from public;
grant execute on function
    fleetprof_data.span_ms,
    fleetprof_data.number,
    fleetprof_data.status_of,
    fleetprof_data.request_headers_of,
    fleetprof_data.response_headers_of,
    fleetprof_data.timing_of,
    fleetprof_data.network_types,
    fleetprof_data.first_requests,
    fleetprof_data.merged_requests,
    fleetprof.network_resources
to fleetprof_reader;
