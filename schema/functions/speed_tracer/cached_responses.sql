-- Requests and their responses as the hint rules see them.

-- Not a cast: a cast accepts words such as infinity, and its errors cannot be caught in a parallel query.
create or replace function fleetprof_data.http_time(value text)
returns timestamptz
language plpgsql stable strict parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    clock constant text := '((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)';
    -- Year, month, day and clock.
    part text[];
    month_at integer;
begin
    part := regexp_match(http_time.value collate "C", '^[A-Za-z]+,? (\d{1,2})[- ]([A-Za-z]{3})[- ]((?:19|20)?\d\d) ' || clock);
    part := array[part[3], part[2], part[1], part[4]];
    if part[1] is null then
        part := regexp_match(http_time.value collate "C", '^[A-Za-z]+ ([A-Za-z]{3}) +(\d{1,2}) ' || clock || ' ((?:19|20)\d\d)');
        part := array[part[4], part[1], part[2], part[3]];
    end if;
    month_at := position(lower(part[2] collate "C") in 'janfebmaraprmayjunjulaugsepoctnovdec');
    if month_at % 3 = 1 and part[3]::integer between 1 and 31 then
        return (make_date(
            part[1]::integer + case when length(part[1]) = 4 then 0 when part[1] < '70' then 2000 else 1900 end,
            (month_at + 2) / 3, 1) + (part[3]::integer - 1) + part[4]::time) at time zone 'UTC';
    end if;
    return null;
end
$$;

comment on function fleetprof_data.http_time is 'Parses a date of an HTTP header; null when it is not a date.';

create or replace function fleetprof_data.cached_responses(session_id bigint)
returns table (
    is_answered   boolean,
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
    status        integer,
    page          integer
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    seen timestamptz;
begin
    -- Citus has no query that joins a function with a distributed table.
    select coalesce(started, received) into seen from session where session_id = cached_responses.session_id;
    -- Reads all headers at once, and keeps of each event what is small: there may be many. Names have any case. Nothing
    -- depends on a language, so the fast collation serves.
    return query
    with request as materialized (
        select start_ms, url, bytes, has_query, status, request_event, response_event
        from merged_requests(cached_responses.session_id)
    ),
    headers as (
        select
            event,
            case when jsonb_typeof(asked) = 'object' then asked end as asked,
            case when jsonb_typeof(answered) = 'object' then answered end as answered
        from speed_tracer_events(cached_responses.session_id, array[
            'NETWORK_RESOURCE_START', 'NETWORK_RESOURCE_RESPONSE', 'NETWORK_RESOURCE_UPDATE', 'NETWORK_REQUEST_WILL_BE_SENT',
            'NETWORK_RESPONSE_RECEIVED'])
        cross join lateral (
            select request_headers_of(type, detail) as asked, response_headers_of(type, detail) as answered
            offset 0
        ) as found
    ),
    stated as materialized (
        select
            event,
            exists (
                select from (select jsonb_object_keys(asked) as name) as header
                where octet_length(name) = 6 and lower(name collate "C") = 'cookie'
            ) as has_cookie,
            field.*
        from headers
        cross join lateral (
            select
                lower(string_agg(value, ', ') filter (where name = 'content-type') collate "C") as content_type,
                lower(string_agg(value, ', ') filter (where name = 'content-encoding') collate "C") as encoding,
                lower(string_agg(value, ', ') filter (where name = 'cache-control') collate "C") as cache_control,
                lower(string_agg(value, ', ') filter (where name = 'pragma') collate "C") as pragma,
                lower(string_agg(value, ', ') filter (where name = 'vary') collate "C") as vary,
                bool_or(name = 'set-cookie') is true as sets_cookie,
                string_agg(value, ', ') filter (where name = 'expires') as expires,
                string_agg(value, ', ') filter (where name = 'date') as dated
            from (
                select lower(raw_name collate "C") as name, answered ->> raw_name as value
                from (select jsonb_object_keys(answered) as raw_name) as key
                -- The lengths of the names below.
                where octet_length(raw_name) in (4, 6, 7, 10, 12, 13, 16)
            ) as header
            where name in (
                'content-type', 'content-encoding', 'cache-control', 'pragma', 'vary', 'set-cookie', 'expires', 'date')
        ) as field
        where asked is not null or answered is not null
    ),
    asked as (
        select event as request_event, has_cookie
        from stated
    ),
    answered as (
        select event as response_event, content_type, encoding, cache_control, pragma, vary, sets_cookie, expires, dated
        from stated
    )
    select
        answered.response_event is not null,
        start_ms,
        url,
        case
            when content_type ~ '^text/(html|xml|plain)|^application/xhtml' then 'document'
            when content_type like '%css%' then 'stylesheet'
            when content_type like '%javascript%' or content_type like '%ecmascript%' then 'script'
            when content_type like 'image/vnd.microsoft.icon%' or url like '%/favicon.ico' and content_type is not null then 'favicon'
            when content_type like 'image/%' then 'image'
            when content_type ~ '^(audio|video)/|flash' then 'media'
            else 'other'
        end,
        bytes,
        coalesce(encoding ~ '(compress|deflate|gzip|pack200-gzip|bzip2|sdch)', false),
        coalesce(cache_control like '%public%' and cache_control ~ '\mpublic\M', false),
        coalesce(cache_control ~ '\m(no-cache|no-store|must-revalidate)\M' or pragma ~ 'no-cache' or lifetime.fresh_s <= 0, false),
        coalesce(sets_cookie, false) or coalesce(has_cookie, false),
        coalesce(sets_cookie, false),
        vary,
        lifetime.fresh_s,
        has_query,
        status,
        width_bucket(start_ms * 1000, array(
            select start_us::double precision
            from speed_tracer_events(cached_responses.session_id, '{TAB_CHANGED}', has_detail => false)
            where type_number >= 0
            order by start_us
        ))
    from request
    left join asked using (request_event)
    left join answered using (response_event)
    cross join lateral (
        -- HTTP: a max-age that is not a number, or an Expires that is not a date, such as 0, is in the past.
        select coalesce(
            substring(cache_control from '\mmax-age\s*=\s*"?(\d{1,12})')::double precision,
            case
                when cache_control like '%max-age%' and cache_control ~ '\mmax-age\M' then 0
                when expires is not null
                    then coalesce(extract(epoch from http_time(expires) - coalesce(http_time(dated), seen))::double precision, 0)
            end) as fresh_s
    ) as lifetime;
end
$$;

comment on function fleetprof_data.cached_responses is
    'Returns what the rules about requests need of each. is_answered: the headers of its response are known; the rest but start, URL, bytes, query and page is theirs. kind follows from Content-Type, other without one; fresh_s: for how many seconds caches may use it, null when it does not say; is_uncached: it asks caches not to keep it; page: how many pages were shown before.';

revoke execute on function fleetprof_data.http_time, fleetprof_data.cached_responses from public;
grant execute on function fleetprof_data.http_time, fleetprof_data.cached_responses to fleetprof_reader;
