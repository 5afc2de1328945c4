-- Speed Tracer's reports: requests have the times that the browser's network stack tells, the two files of a GWT
-- application are of one page, custom types, whose numbers lie below zero, may bear the names of others, and the edges of
-- a window are checked. Each report takes as long as a session has events, however they lie.

create or replace function fleetprof_data.speed_tracer_events(session_id bigint)
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
            message = format('session %s is not kept', coalesce(speed_tracer_events.session_id::text, 'null')),
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

create function fleetprof_data.check_window(from_ms double precision, to_ms double precision)
returns void
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    furthest_ms constant double precision := 9007199254740.992; -- 2^53 us, as far as times go
    edge double precision;
begin
    foreach edge in array array[check_window.from_ms, check_window.to_ms] loop
        if abs(edge) > furthest_ms then
            raise invalid_parameter_value using
                message = format('%s ms is no time of a session', edge),
                hint = 'from_ms and to_ms are milliseconds since the session began; null is its own edge.';
        end if;
    end loop;
    if check_window.from_ms > check_window.to_ms then
        raise invalid_parameter_value using
            message = 'from_ms is later than to_ms',
            hint = 'Both are milliseconds since the session began; null is its own edge.';
    end if;
end
$$;

comment on function fleetprof_data.check_window is 'An error with a hint for edges of a window that cannot be meant.';

create or replace function fleetprof.ui_thread_use(
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
    perform check_window(ui_thread_use.from_ms, ui_thread_use.to_ms);
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

    -- A window begins every step. What events take of it is what they took until its end, less what until its begin:
    -- until any moment each has taken the time since its begin, but for the time since its end.
    return query
    with moment (at_us, running, begin_us, is_end) as (
        select begin_us - first_us + case when is_end then width_us else 0 end, 0, begin_us, is_end
        from generate_series(first_us, last_us, step_us) as begin_us
        cross join (values (false), (true)) as edge (is_end)
        union all
        select unnest(array[greatest(start_us, first_us), least(start_us + duration_us, last_us + width_us)]) - first_us,
            unnest(array[1, -1]), null, null
        from speed_tracer_events(ui_thread_use.session_id)
        where parent is null and start_us + duration_us > first_us and start_us < last_us + width_us
    ),
    taken as (
        select begin_us, is_end, at_us * sum(running) over moments - sum(running * at_us) over moments as until_us
        from moment
        window moments as (order by at_us)
    ),
    every as (
        select
            begin_us,
            least(sum(case when is_end then until_us else -until_us end) / width_us::double precision, 1) as busy
        from taken
        where begin_us is not null
        group by begin_us
    )
    select
        begin_us / 1000::double precision,
        busy,
        0.7 * busy + 0.2 * coalesce(lag(busy, 1) over windows, 0) + 0.1 * coalesce(lag(busy, 2) over windows, 0)
    from every
    window windows as (order by begin_us)
    order by begin_us;
end
$$;

comment on function fleetprof.ui_thread_use is
    'How busy the UI thread was: the share (0 to 1) of windows of 75 ms, one every 35 ms, that events at the top level took, and the same smoothed (0.7 of it, 0.2 of the one before, 0.1 of that before; nothing is before the first).';

create or replace function fleetprof.event_summary(
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
    perform check_window(event_summary.from_ms, event_summary.to_ms);
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

create or replace function fleetprof.log_messages(session_id bigint)
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
        select event, parent, event_id, type, type_number, start_us, detail
        from speed_tracer_events(log_messages.session_id)
    ),
    climb as (
        select event, event as at, parent
        from every
        where type = 'LOG_MESSAGE' and type_number >= 0
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

create or replace function fleetprof.page_transitions(session_id bigint)
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
    with every as materialized (
        select event, type, start_us, resource, detail
        from speed_tracer_events(page_transitions.session_id)
        where type in ('TAB_CHANGED', 'MARK_DOM_CONTENT', 'MARK_LOAD_EVENT') and type_number >= 0
    ),
    page as (
        select row_number() over (order by start_us, event) as page, start_us, resource, detail
        from every
        where type = 'TAB_CHANGED'
    ),
    -- A mark is of the last page that was shown until then.
    mark as (
        select
            width_bucket(start_us, array(select start_us from page order by page)) as page,
            min(start_us) filter (where type = 'MARK_DOM_CONTENT') as dom_content_us,
            min(start_us) filter (where type = 'MARK_LOAD_EVENT') as load_us
        from every
        where type <> 'TAB_CHANGED'
        group by 1
    )
    select
        start_us / 1000::double precision,
        resource,
        -- What is kept of a URL does not tell: its query is dropped.
        coalesce(detail -> 'isRefresh' = 'true', false),
        (dom_content_us - start_us) / 1000::double precision,
        (load_us - start_us) / 1000::double precision
    from page
    left join mark using (page)
    order by page;
end
$$;

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
            and type_number >= 0
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
        -- The redirect is what the attempt before was answered with; nobody says when.
        select request_id, attempt - 1, event, 'NETWORK_RESPONSE_RECEIVED', 0, null,
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
            coalesce(detail ->> 'mimeType', detail #>> '{response,mimeType}') as mime_type,
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
            -- When the browser's network stack told of it, which may not be said.
            case
                when type in ('NETWORK_REQUEST_WILL_BE_SENT', 'NETWORK_RESPONSE_RECEIVED', 'NETWORK_LOADING_FINISHED')
                    then nullif(start_us, 0) / 1000::double precision
            end as told_ms,
            type,
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
            coalesce(min(start_ms), min(told_ms) filter (where type = 'NETWORK_REQUEST_WILL_BE_SENT')) as start_ms,
            coalesce(min(response_ms), min(told_ms) filter (where type = 'NETWORK_RESPONSE_RECEIVED')) as response_ms,
            coalesce(max(end_ms), max(told_ms) filter (where type = 'NETWORK_LOADING_FINISHED')) as end_ms,
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

drop function fleetprof_data.cached_responses;

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
    has_query     boolean,
    page          integer
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
        has_query,
        width_bucket(start_ms * 1000, array(
            select start_us::double precision
            from speed_tracer_events(cached_responses.session_id)
            where type = 'TAB_CHANGED' and type_number >= 0
            order by start_us
        ))
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
    'What the rules about caching look at of each response whose headers are known. kind follows from Content-Type; fresh_s: for how many seconds caches may use it, null when it does not say; page: how many were shown before.';

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
as $$
#variable_conflict use_column
declare
    month_s constant double precision := 30 * 86400;
begin
    return query
    with recursive every as materialized (
        select event, parent, event_id, type, type_number, start_us, duration_us, self_us
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
        where type = 'LAYOUT' and type_number >= 0
        group by top.event_id, top.start_us
    ),
    response as materialized (
        select * from cached_responses(hints.session_id)
    ),
    -- The loader of a GWT application and its code, which are of one page.
    application as materialized (
        select
            page,
            min(start_ms) filter (where url ~ '\.nocache\.js$') as first_loader_ms,
            max(start_ms) filter (where url ~ '/[0-9A-Fa-f]{32}\.cache\.html$') as last_code_ms
        from response
        group by page
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
        join application using (page)
        where url ~ '\.nocache\.js$' and not is_uncached and start_ms <= last_code_ms
        union all
        select 'GWT Application Detection',
            case when bytes > 1000000 then 1 when bytes > 500000 then 2 else 3 end, start_ms,
            format('the application''s code %s is %s bytes', url, bytes), null
        from response
        join application using (page)
        where url ~ '/[0-9A-Fa-f]{32}\.cache\.html$' and bytes > 250000 and start_ms >= first_loader_ms
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

revoke execute on function fleetprof_data.check_window, fleetprof_data.cached_responses from public;
grant execute on function fleetprof_data.check_window, fleetprof_data.cached_responses to fleetprof_reader;
