-- Speed Tracer's own reports, with its definitions, over a kept dump (docs/formats.md has the details they read).
--
-- UI events are records with a duration. Times are milliseconds since the session began.

create function fleetprof_data.speed_tracer_events(session_id bigint)
returns setof fleetprof_data.event
language plpgsql stable parallel safe rows 5000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    kept session;
begin
    select * into kept from session where session_id = speed_tracer_events.session_id;
    if not found then
        raise no_data_found using
            message = format('session %s is not kept', speed_tracer_events.session_id),
            hint = 'The view fleetprof.sessions lists those that are.';
    end if;
    if kept.format <> 'speed-tracer' then
        raise invalid_parameter_value using
            message = format('session %s is of %s, and this is a report of Speed Tracer',
                speed_tracer_events.session_id, kept.format);
    end if;
    return query
    select *
    from event
    where segment_id = kept.segment_id and bucket = kept.bucket and session_id = kept.session_id;
end
$$;

comment on function fleetprof_data.speed_tracer_events is
    'All events of a kept dump of Speed Tracer; an error for anything else.';

-- UI thread --------------------------------------------------------------------------------------------

create function fleetprof.ui_thread_use(
    session_id bigint,
    from_ms    double precision default null,
    to_ms      double precision default null
)
returns table (
    at_ms    double precision,
    busy     double precision,
    smoothed double precision
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    width_us constant bigint := 75000;
    step_us constant bigint := 35000;
    first_us bigint;
    last_us bigint;
begin
    select
        coalesce(ui_thread_use.from_ms * 1000, min(start_us)),
        coalesce(ui_thread_use.to_ms * 1000, max(start_us + duration_us))
    into first_us, last_us
    from speed_tracer_events(ui_thread_use.session_id)
    where parent is null and duration_us is not null;
    if last_us - first_us > 100000 * step_us then
        raise invalid_parameter_value using
            message = format('from %s to %s ms are more than 100000 windows', first_us / 1000, last_us / 1000),
            hint = 'Give from_ms and to_ms.';
    end if;

    -- A window begins every step; which ones an event is in follows from its begin and end.
    return query
    with share as (
        select
            step,
            sum(least(start_us + duration_us, first_us + step * step_us + width_us)
                - greatest(start_us, first_us + step * step_us)) / width_us::double precision as busy
        from speed_tracer_events(ui_thread_use.session_id)
        cross join lateral generate_series(
            greatest(0, (greatest(start_us, first_us) - first_us - width_us) / step_us),
            (least(start_us + duration_us, last_us) - first_us) / step_us) as step
        where parent is null
            and duration_us > 0
            and start_us < last_us
            and start_us + duration_us > first_us
            and start_us < first_us + step * step_us + width_us
            and start_us + duration_us > first_us + step * step_us
        group by step
    ),
    every as (
        select step, least(coalesce(busy, 0), 1) as busy
        from generate_series(0, (last_us - first_us) / step_us) as step
        left join share using (step)
    )
    select
        (first_us + step * step_us) / 1000::double precision,
        busy,
        0.7 * busy + 0.2 * coalesce(lag(busy, 1) over steps, 0) + 0.1 * coalesce(lag(busy, 2) over steps, 0)
    from every
    window steps as (order by step)
    order by step;
end
$$;

comment on function fleetprof.ui_thread_use is
    'How busy the UI thread was: the share (0 to 1) of windows of 75 ms, one every 35 ms, that events at the top level took, and the same smoothed (0.7 of it, 0.2 of the one before, 0.1 of that before).';

create function fleetprof.event_summary(
    session_id bigint,
    from_ms    double precision default null,
    to_ms      double precision default null
)
returns table (
    event_type text,
    self_ms    double precision,
    share      double precision
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    first_us bigint;
    last_us bigint;
begin
    select
        coalesce(event_summary.from_ms * 1000, min(start_us)),
        coalesce(event_summary.to_ms * 1000, max(start_us + duration_us))
    into first_us, last_us
    from speed_tracer_events(event_summary.session_id)
    where duration_us is not null;

    -- What is left of each event between the edges, less what is left of those inside it.
    return query
    with cut as materialized (
        select
            event, parent, type,
            greatest(least(start_us + duration_us, last_us) - greatest(start_us, first_us), 0) as left_us
        from speed_tracer_events(event_summary.session_id)
        where duration_us is not null
    ),
    inside as (
        select parent as event, sum(left_us) as left_us
        from cut
        group by parent
    ),
    own as (
        select type, sum(cut.left_us - coalesce(inside.left_us, 0)) as self_us
        from cut
        left join inside using (event)
        where cut.left_us > 0
        group by type
        union all
        select '(available)', last_us - first_us - coalesce(sum(left_us), 0)
        from cut
        where parent is null
    )
    select
        type,
        (self_us / 1000)::double precision,
        self_us::double precision / nullif(last_us - first_us, 0)
    from own
    where last_us > first_us
    order by type = '(available)' desc, self_us desc, type collate "C";
end
$$;

comment on function fleetprof.event_summary is
    'Own time by type between from_ms and to_ms (null: of the whole session), events that cross an edge cut there; first the time in which the UI thread was available. share: of the window. Milliseconds.';

-- Marks ------------------------------------------------------------------------------------------------

create function fleetprof.log_messages(session_id bigint)
returns table (
    at_ms    double precision,
    message  text,
    event_id bigint,
    top_id   bigint
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with recursive every as materialized (
        select event, parent, event_id, type, start_us, detail
        from speed_tracer_events(log_messages.session_id)
    ),
    climb as (
        select event, event as at, parent
        from every
        where type = 'LOG_MESSAGE'
        union all
        select climb.event, every.event, every.parent
        from climb
        join every on every.event = climb.parent
    )
    select every.start_us / 1000::double precision, every.detail ->> 'message', every.event_id, top.event_id
    from climb
    join every using (event)
    join every as top on top.event = climb.at
    where climb.parent is null
    order by every.start_us, every.event;
end
$$;

comment on function fleetprof.log_messages is
    'What pages logged (console.timeStamp): when, the text, its event, and the event at the top level in which it was logged. Milliseconds since the session began.';

create function fleetprof.page_transitions(session_id bigint)
returns table (
    at_ms          double precision,
    url            text,
    is_refresh     boolean,
    dom_content_ms double precision,
    load_ms        double precision
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with page as (
        select
            event,
            start_us,
            resource,
            -- What is kept of a URL does not tell: its query is dropped.
            coalesce(detail -> 'isRefresh' = 'true', false) as is_refresh,
            lead(start_us) over (order by start_us, event) as end_us
        from speed_tracer_events(page_transitions.session_id)
        where type = 'TAB_CHANGED'
    ),
    mark as materialized (
        select type, start_us
        from speed_tracer_events(page_transitions.session_id)
        where type in ('MARK_DOM_CONTENT', 'MARK_LOAD_EVENT')
    )
    select
        page.start_us / 1000::double precision,
        resource,
        is_refresh,
        (min(mark.start_us) filter (where type = 'MARK_DOM_CONTENT') - page.start_us) / 1000::double precision,
        (min(mark.start_us) filter (where type = 'MARK_LOAD_EVENT') - page.start_us) / 1000::double precision
    from page
    left join mark on mark.start_us >= page.start_us and (page.end_us is null or mark.start_us < page.end_us)
    group by page.event, page.start_us, resource, is_refresh
    order by page.start_us, page.event;
end
$$;

comment on function fleetprof.page_transitions is
    'Pages that were shown: when (milliseconds since the session began), their URL, whether it was the one before once more, and how long until DOMContentLoaded and load (milliseconds since then; null: not seen).';

-- Network ----------------------------------------------------------------------------------------------

create function fleetprof_data.span_ms(timing jsonb, phase text)
returns double precision
language sql immutable parallel safe
return case
    when (timing ->> (phase || 'Start'))::double precision >= 0 and (timing ->> (phase || 'End'))::double precision >= 0
        then (timing ->> (phase || 'End'))::double precision - (timing ->> (phase || 'Start'))::double precision
end;

comment on function fleetprof_data.span_ms is
    'A phase of a request in milliseconds, from its timing; null: there was none.';

create function fleetprof_data.number(value jsonb)
returns double precision
language sql immutable parallel safe
return case when jsonb_typeof(value) = 'number' and abs(value::numeric) <= 1e13 then value::double precision end;

comment on function fleetprof_data.number is 'A JSON number; null for anything else, and for numbers too large to reckon with.';

create function fleetprof_data.status_of(value jsonb)
returns integer
language sql immutable parallel safe
return case when fleetprof_data.number(value) between 0 and 999 then fleetprof_data.number(value)::integer end;

comment on function fleetprof_data.status_of is 'A status of HTTP; null for anything else.';

create function fleetprof_data.timing_of(value jsonb)
returns jsonb
language sql immutable parallel safe
return (
    select jsonb_object_agg(key, member)
    from jsonb_each(case when jsonb_typeof(value) = 'object' then value else '{}' end) as member_of (key, member)
    where fleetprof_data.number(member) is not null
);

comment on function fleetprof_data.timing_of is 'The numbers of a timing object; null when there are none.';

create function fleetprof.network_resources(session_id bigint)
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
as $$
#variable_conflict use_column
begin
    return query
    with numbered as (
        select
            detail ->> 'requestId' as request_id,
            count(*) filter (where type = 'NETWORK_RESOURCE_START') over records as starts,
            count(*) filter (where type = 'NETWORK_REQUEST_WILL_BE_SENT') over records as announcements,
            event, type, start_us, resource, detail
        from speed_tracer_events(network_resources.session_id)
        where type in (
                'NETWORK_RESOURCE_START', 'NETWORK_RESOURCE_RESPONSE', 'NETWORK_RESOURCE_FINISH',
                'NETWORK_RESOURCE_UPDATE', 'NETWORK_REQUEST_WILL_BE_SENT', 'NETWORK_RESPONSE_RECEIVED',
                'NETWORK_DATA_RECEIVED', 'NETWORK_LOADING_FINISHED')
            and detail ? 'requestId'
        window records as (partition by detail ->> 'requestId' order by event)
    ),
    -- A second start under the same id is the request that a redirect led to. Either of the two records that tell of
    -- it may come first.
    attempted as (
        select
            request_id,
            greatest(1, case type
                when 'NETWORK_RESOURCE_START' then starts
                when 'NETWORK_REQUEST_WILL_BE_SENT' then announcements
                else greatest(starts, announcements)
            end) as attempt,
            event, type, start_us, resource, detail
        from numbered
    ),
    step as (
        select * from attempted
        union all
        -- The redirect is what the attempt before was answered with.
        select request_id, attempt - 1, event, 'NETWORK_RESPONSE_RECEIVED', start_us, null,
            jsonb_build_object('response', detail -> 'redirectResponse')
        from attempted
        where type = 'NETWORK_REQUEST_WILL_BE_SENT' and attempt > 1 and jsonb_typeof(detail -> 'redirectResponse') = 'object'
    ),
    -- What each kind of record says, by the names of today; of several the last one.
    said as (
        select
            request_id,
            attempt,
            event,
            resource as url,
            detail -> 'hasQuery' = 'true' as has_query,
            case type
                when 'NETWORK_RESOURCE_START' then detail ->> 'requestMethod'
                when 'NETWORK_RESOURCE_UPDATE' then nullif(detail ->> 'requestMethod', '')
                when 'NETWORK_REQUEST_WILL_BE_SENT' then coalesce(detail #>> '{request,requestMethod}', detail #>> '{request,method}')
            end as method,
            status_of(case type
                when 'NETWORK_RESPONSE_RECEIVED' then detail #> '{response,status}'
                else detail -> 'statusCode'
            end) as status,
            detail ->> 'mimeType' as mime_type,
            case type
                when 'NETWORK_RESPONSE_RECEIVED' then detail #> '{response,fromDiskCache}'
                else detail -> 'fromDiskCache'
            end = 'true' as from_cache,
            coalesce(detail -> 'didFail', detail -> 'failed') = 'true' as failed,
            case type when 'NETWORK_DATA_RECEIVED' then number(detail -> 'dataLength') end as chunk,
            case type when 'NETWORK_RESOURCE_UPDATE' then number(detail -> 'resourceSize') end as size,
            case type
                when 'NETWORK_RESOURCE_START' then start_us / 1000::double precision
                when 'NETWORK_RESOURCE_UPDATE' then nullif(number(detail -> 'startTime'), 0)
            end as start_ms,
            case type
                when 'NETWORK_RESOURCE_RESPONSE' then start_us / 1000::double precision
                when 'NETWORK_RESOURCE_UPDATE' then nullif(number(detail -> 'responseReceivedTime'), 0)
            end as response_ms,
            case type
                when 'NETWORK_RESOURCE_FINISH' then start_us / 1000::double precision
                when 'NETWORK_RESOURCE_UPDATE' then nullif(number(detail -> 'endTime'), 0)
            end as end_ms,
            case type
                when 'NETWORK_RESPONSE_RECEIVED' then timing_of(detail #> '{response,timing}')
                when 'NETWORK_RESOURCE_UPDATE' then timing_of(detail -> 'timing')
            end as timing,
            case type
                when 'NETWORK_RESOURCE_START' then detail -> 'headers'
                when 'NETWORK_REQUEST_WILL_BE_SENT' then detail #> '{request,headers}'
                when 'NETWORK_RESOURCE_UPDATE' then detail -> 'requestHeaders'
            end as request_headers,
            case type
                when 'NETWORK_RESOURCE_RESPONSE' then detail -> 'headers'
                when 'NETWORK_RESPONSE_RECEIVED' then detail #> '{response,headers}'
                when 'NETWORK_RESOURCE_UPDATE' then detail -> 'responseHeaders'
            end as response_headers
        from step
    ),
    request as (
        select
            request_id,
            attempt,
            (array_agg(url order by event) filter (where url is not null))[1] as url,
            coalesce(bool_or(has_query), false) as has_query,
            (array_agg(method order by event desc) filter (where method is not null))[1] as method,
            (array_agg(status order by event desc) filter (where status is not null))[1] as status,
            (array_agg(mime_type order by event desc) filter (where mime_type is not null))[1] as mime_type,
            bool_or(from_cache) as from_cache,
            bool_or(failed) as failed,
            coalesce(sum(chunk), (array_agg(size order by event desc) filter (where size is not null))[1])::bigint as bytes,
            min(start_ms) as start_ms,
            min(response_ms) as response_ms,
            max(end_ms) as end_ms,
            (array_agg(timing order by event desc) filter (where timing is not null))[1] as timing,
            (array_agg(request_headers order by event desc) filter (where jsonb_typeof(request_headers) = 'object'))[1] as request_headers,
            (array_agg(response_headers order by event desc) filter (where jsonb_typeof(response_headers) = 'object'))[1] as response_headers
        from said
        group by request_id, attempt
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
        lead(attempt) over attempts is not null,
        bytes,
        start_ms,
        response_ms,
        coalesce(end_ms, lead(start_ms) over attempts),
        response_ms - start_ms,
        coalesce(end_ms, lead(start_ms) over attempts) - response_ms,
        coalesce(end_ms, lead(start_ms) over attempts) - start_ms,
        (
            select min(value::double precision)
            from jsonb_each(timing) as phase (key, value)
            where key in ('proxyStart', 'dnsStart', 'connectStart', 'sendStart') and value::double precision >= 0
        ),
        span_ms(timing, 'proxy'),
        span_ms(timing, 'dns'),
        -- Connecting has the time of the name look-up in it.
        span_ms(timing, 'connect') - coalesce(span_ms(timing, 'dns'), 0),
        span_ms(timing, 'ssl'),
        span_ms(timing, 'send'),
        request_headers,
        response_headers,
        has_query
    from request
    window attempts as (partition by request_id order by attempt)
    order by start_ms, request_id, attempt;
end
$$;

comment on function fleetprof.network_resources is
    'Requests of a session, each with what all records say of it. attempt counts the requests under one id, which redirects make several. request_time_ms is from start to response, response_time_ms from response to end; the phases are null where there was none (a reused connection, no TLS). Times are milliseconds since the session began, bytes are those of the body. has_query: the URL had one, whether it is kept or not.';

-- Hints ------------------------------------------------------------------------------------------------

create function fleetprof_data.header(headers jsonb, name text)
returns text
language sql immutable parallel safe
return (
    select string_agg(value, ', ')
    from jsonb_each_text(headers) as field (key, value)
    where lower(key) = lower(header.name)
);

comment on function fleetprof_data.header is 'The value of an HTTP header, whatever its case; null: it is not there.';

-- Not a cast: it takes words such as infinity, and its errors cannot be caught in a parallel query.
create function fleetprof_data.http_time(value text)
returns timestamptz
language sql stable parallel safe
return (
    select
        (make_date(
            year::integer + case when length(year) = 4 then 0 when year < '70' then 2000 else 1900 end,
            (month_at + 2) / 3, 1) + (day::integer - 1) + clock::time) at time zone 'UTC'
    from (
        select
            regexp_match(value, '^[A-Za-z]+,? (\d{1,2})[- ]([A-Za-z]{3})[- ]((?:19|20)?\d\d) ((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)') as usual,
            regexp_match(value, '^[A-Za-z]+ ([A-Za-z]{3}) +(\d{1,2}) ((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d) ((?:19|20)\d\d)') as old
    ) as form
    cross join lateral (
        values (usual[3], usual[2], usual[1], usual[4]), (old[4], old[1], old[2], old[3])
    ) as part (year, month, day, clock)
    cross join lateral position(lower(month) in 'janfebmaraprmayjunjulaugsepoctnovdec') as month_at
    where month_at % 3 = 1 and day::integer between 1 and 31
);

comment on function fleetprof_data.http_time is 'A date of an HTTP header; null when it is none.';

create function fleetprof_data.cached_responses(session_id bigint)
returns table (
    start_ms      double precision,
    url           text,
    kind          text,
    bytes         bigint,
    is_compressed boolean,
    is_public     boolean,
    is_uncached   boolean,
    has_cookie    boolean,
    sets_cookie   boolean,
    vary          text,
    fresh_s       double precision,
    has_query     boolean
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        start_ms,
        url,
        case
            when url ~ '/favicon\.ico$' then 'favicon'
            when content_type ~ '^text/(html|xml|plain)|^application/xhtml' then 'document'
            when content_type ~ 'css' then 'stylesheet'
            when content_type ~ 'javascript|ecmascript' then 'script'
            when content_type ~ '^image/' then 'image'
            when content_type ~ '^(audio|video)/|flash' then 'media'
            else 'other'
        end,
        bytes,
        coalesce(encoding ~ '(compress|deflate|gzip|pack200-gzip|bzip2|sdch)', false),
        coalesce(cache_control ~ '\mpublic\M', false),
        coalesce(cache_control ~ '\m(no-cache|no-store|must-revalidate)\M' or pragma ~ 'no-cache', false),
        sets_cookie is not null or has_cookie is not null,
        sets_cookie is not null,
        vary,
        coalesce(
            substring(cache_control from '\mmax-age\s*=\s*"?(\d{1,12})')::double precision,
            extract(epoch from expires - coalesce(dated, seen))::double precision),
        has_query
    from fleetprof.network_resources(cached_responses.session_id)
    cross join (
        select coalesce(started, received) as seen
        from session
        where session_id = cached_responses.session_id
    ) as kept
    cross join lateral (
        select
            lower(coalesce(header(response_headers, 'content-type'), mime_type, '')) as content_type,
            lower(header(response_headers, 'content-encoding')) as encoding,
            lower(header(response_headers, 'cache-control')) as cache_control,
            lower(header(response_headers, 'pragma')) as pragma,
            lower(header(response_headers, 'vary')) as vary,
            header(response_headers, 'set-cookie') as sets_cookie,
            header(request_headers, 'cookie') as has_cookie,
            http_time(header(response_headers, 'expires')) as expires,
            http_time(header(response_headers, 'date')) as dated
    ) as field
    where response_headers is not null;
end
$$;

comment on function fleetprof_data.cached_responses is
    'What the rules about caching look at of each response whose headers are known. kind follows from Content-Type; fresh_s: for how many seconds caches may use it, null when it does not say.';

create function fleetprof.hints(session_id bigint)
returns table (
    rule        text,
    severity    integer,
    at_ms       double precision,
    description text,
    event_id    bigint
)
language plpgsql stable parallel safe rows 50
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    month_s constant double precision := 30 * 86400;
begin
    return query
    with recursive every as materialized (
        select event, parent, event_id, type, start_us, duration_us, self_us
        from speed_tracer_events(hints.session_id)
    ),
    top as (
        select event, event as at, event_id, start_us
        from every
        where parent is null and duration_us is not null
    ),
    descent as (
        select event as top, event from every where parent is null and duration_us is not null
        union all
        select top, child.event
        from descent
        join every as child on child.parent = descent.event
    ),
    layouts as (
        select top.event_id, top.start_us, count(*) as layouts, sum(self_us) as self_us
        from descent
        join top on top.event = descent.top
        join every on every.event = descent.event and every.event <> descent.top
        where type = 'LAYOUT'
        group by top.event_id, top.start_us
    ),
    response as materialized (
        select * from cached_responses(hints.session_id)
    ),
    -- Those that caches should keep.
    cacheable as (
        select *
        from response
        where kind in ('stylesheet', 'script', 'image', 'media', 'favicon') and not is_uncached
    ),
    hint (rule, severity, at_ms, description, event_id) as (
        select 'Long Duration Events', case when duration_us > 2000000 then 2 else 3 end, start_us / 1000::double precision,
            format('Event lasted: %s ms. Exceeded threshold: %s ms', round(duration_us / 1000.0, 3),
                case when duration_us > 2000000 then 2000 else 100 end), event_id
        from every
        where parent is null and duration_us > 100000
        union all
        select 'Frequent Layout activity', 2, start_us / 1000::double precision,
            format('%s layouts took %s ms in one event', layouts, round(self_us / 1000.0, 3)), event_id
        from layouts
        where layouts >= 3 and self_us >= 70000
        union all
        select 'Total Bytes Downloaded', case when bytes > 1000000 then 2 else 3 end, start_ms,
            format('%s bytes downloaded for %s', bytes, url), null
        from fleetprof.network_resources(hints.session_id)
        where bytes > 500000
        union all
        select 'Uncompressed Resource', 3, start_ms, format('%s was not compressed (%s bytes)', url, bytes), null
        from response
        where bytes >= 150 and kind in ('document', 'script', 'stylesheet') and not is_compressed
        union all
        select 'Static Resource served from domains with cookies', 3, start_ms,
            format('%s was served with cookies', url), null
        from response
        where kind in ('stylesheet', 'script', 'image', 'media') and has_cookie
        union all
        select 'GWT Application Detection', 1, start_ms,
            format('%s selects the application''s code and must not be cacheable', url), null
        from response
        where url ~ '\.nocache\.js$' and not is_uncached
            and exists (
                select from response as code
                where code.url ~ '/[0-9A-Fa-f]{32}\.cache\.html$' and code.start_ms >= response.start_ms)
        union all
        select 'GWT Application Detection',
            case when bytes > 1000000 then 1 when bytes > 500000 then 2 else 3 end, start_ms,
            format('the application''s code %s is %s bytes', url, bytes), null
        from response
        where url ~ '/[0-9A-Fa-f]{32}\.cache\.html$' and bytes > 250000
            and exists (
                select from response as loader
                where loader.url ~ '\.nocache\.js$' and loader.start_ms <= response.start_ms)
        union all
        select 'Resource Caching', 1, start_ms, format('%s has no expiration', url), null
        from cacheable
        where fresh_s is null
        union all
        select 'Resource Caching', 1, start_ms, format('%s has a Vary that keeps caches from it: %s', url, vary), null
        from cacheable
        where vary is not null
            and exists (
                select from regexp_split_to_table(vary, '\s*,\s*') as field
                where field not in ('', 'accept-encoding', 'user-agent'))
        union all
        select 'Resource Caching', case when fresh_s < month_s then 2 else 3 end, start_ms,
            format('%s may be cached for %s days only', url, floor(greatest(fresh_s, 0) / 86400)), null
        from cacheable
        where kind <> 'favicon' and fresh_s < 11 * month_s
        union all
        select 'Resource Caching', 2, start_ms, format('the favicon %s may be cached for less than a month', url), null
        from cacheable
        where kind = 'favicon' and fresh_s < month_s
        union all
        select 'Resource Caching', 2, start_ms, format('%s is publicly cacheable but has a query, which many proxies don''t cache', url), null
        from cacheable
        where is_public and has_query
        union all
        select 'Resource Caching', 2, start_ms, format('%s is compressed and publicly cacheable without Vary: Accept-Encoding', url), null
        from cacheable
        where is_public and is_compressed and coalesce(vary, '') !~ 'accept-encoding'
        union all
        select 'Resource Caching', 3, start_ms, format('%s could be publicly cacheable', url), null
        from cacheable
        where not is_public and not sets_cookie and fresh_s > 0
        union all
        select 'Resource Caching', 1, start_ms, format('%s is publicly cacheable and sets a cookie', url), null
        from cacheable
        where is_public and sets_cookie
    )
    select *
    from hint
    order by severity, at_ms, rule, description collate "C";
end
$$;

comment on function fleetprof.hints is
    'What Speed Tracer''s rules find in a session: severity 1 critical, 2 warning, 3 information; when, in milliseconds since the session began; the event or, in the text, the resource. Rules about responses need their headers, and the type of a response is what Content-Type says.';

-- Rights -----------------------------------------------------------------------------------------------

revoke execute on function
    fleetprof_data.speed_tracer_events, fleetprof_data.span_ms, fleetprof_data.number, fleetprof_data.status_of,
    fleetprof_data.timing_of,
    fleetprof_data.header, fleetprof_data.http_time, fleetprof_data.cached_responses, fleetprof.ui_thread_use,
    fleetprof.event_summary, fleetprof.log_messages, fleetprof.page_transitions, fleetprof.network_resources,
    fleetprof.hints
from public;
grant execute on function
    fleetprof_data.speed_tracer_events, fleetprof_data.span_ms, fleetprof_data.number, fleetprof_data.status_of,
    fleetprof_data.timing_of,
    fleetprof_data.header, fleetprof_data.http_time, fleetprof_data.cached_responses, fleetprof.ui_thread_use,
    fleetprof.event_summary, fleetprof.log_messages, fleetprof.page_transitions, fleetprof.network_resources,
    fleetprof.hints
to fleetprof_reader;
