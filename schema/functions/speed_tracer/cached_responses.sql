-- SPDX-License-Identifier: Apache-2.0
-- Requests and their responses as the hint rules see them.

-- Not a cast: a cast accepts words such as infinity, and its errors cannot be caught in a parallel query.
create or replace function fleetprof_data.http_time(value text)
returns timestamptz
language plpgsql stable strict parallel safe
set search_path = fleetprof_data, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_column
declare
    clock constant text := '((?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d)';
    -- Year, month, day and clock.
    part text[];
    month_at integer;
begin
    -- Most dates have this form. A regular expression without groups is several times faster.
    if http_time.value collate "C" ~ '^[A-Za-z]{3}, \d\d [A-Za-z]{3} (?:19|20)\d\d (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d' then
        part := array[
            substr(http_time.value, 13, 4), substr(http_time.value, 9, 3), substr(http_time.value, 6, 2), substr(http_time.value, 18, 8)];
    else
        part := regexp_match(http_time.value collate "C", '^[A-Za-z]+,? (\d{1,2})[- ]([A-Za-z]{3})[- ]((?:19|20)?\d\d) ' || clock);
        part := array[part[3], part[2], part[1], part[4]];
    end if;
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

create or replace function fleetprof_data.header_of(headers jsonb, usual text, lower_case text)
returns text
language sql immutable parallel safe
return coalesce(
    (headers ->> usual) || ', ' || (headers ->> lower_case),
    headers ->> usual,
    headers ->> lower_case);

comment on function fleetprof_data.header_of is
    'Returns the value of a header whose name has one of two spellings: both values if both are present, null if neither is.';

create or replace function fleetprof_data.cached_responses(session_id bigint, request_ids text[] default null)
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
    status        integer
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set standard_conforming_strings = on
set work_mem = '64MB'
set enable_memoize = off -- headers are long keys
as $$
#variable_conflict use_column
declare
    seen timestamptz;
begin
    -- Citus has no query that joins a function with a distributed table.
    select coalesce(started, received) into seen from session where session_id = cached_responses.session_id;
    -- Reads all headers at once and keeps only small values, because there may be many requests. No value depends on a
    -- language, so the fast collation is right.
    return query
    with request as (
        select start_ms, url, bytes, has_query, status, request_headers as asked, response_headers as answered
        from merged_requests(cached_responses.session_id, cached_responses.request_ids)
    ),
    stated as materialized (
        select
            start_ms, url, bytes, has_query, status,
            answered is not null as is_answered,
            asked is not null and exists (
                select from (select jsonb_object_keys(asked) as name) as header
                where octet_length(name) = 6 and lower(name collate "C") = 'cookie'
            ) as has_cookie,
            lower(header_of(named, 'Content-Type', 'content-type') collate "C") as content_type,
            lower(header_of(named, 'Content-Encoding', 'content-encoding') collate "C") as encoding,
            lower(header_of(named, 'Cache-Control', 'cache-control') collate "C") as cache_control,
            lower(header_of(named, 'Pragma', 'pragma') collate "C") as pragma,
            lower(header_of(named, 'Vary', 'vary') collate "C") as vary,
            named ?| '{Set-Cookie, set-cookie}' as sets_cookie,
            header_of(named, 'Expires', 'expires') as expires,
            header_of(named, 'Date', 'date') as dated
        from request
        -- Most senders use one of two spellings, which are fast lookups in an object. Other spellings take a join.
        cross join lateral (
            select case when not exists (
                select
                from (select jsonb_object_keys(answered) as name) as header
                where octet_length(name) in (4, 6, 7, 10, 12, 13, 16) -- the lengths of the names below
                    and name not in (
                        'Content-Type', 'Content-Encoding', 'Cache-Control', 'Pragma', 'Vary', 'Set-Cookie', 'Expires', 'Date',
                        'content-type', 'content-encoding', 'cache-control', 'pragma', 'vary', 'set-cookie', 'expires', 'date')
                    and lower(name collate "C") in (
                        'content-type', 'content-encoding', 'cache-control', 'pragma', 'vary', 'set-cookie', 'expires', 'date')
            ) then answered else (
                select jsonb_object_agg(name, value)
                from (
                    select lower(spelled collate "C") as name, string_agg(answered ->> spelled, ', ' order by spelled collate "C") as value
                    from (select jsonb_object_keys(answered) as spelled) as header
                    where octet_length(spelled) in (4, 6, 7, 10, 12, 13, 16)
                    group by 1
                ) as joined
            ) end as named
            offset 0
        ) as usual
    )
    select
        is_answered,
        start_ms,
        url,
        case
            when content_type ^@ 'text/html' or content_type ^@ 'text/xml' or content_type ^@ 'text/plain'
                or content_type ^@ 'application/xhtml' then 'document'
            when content_type like '%css%' then 'stylesheet'
            when content_type like '%javascript%' or content_type like '%ecmascript%' then 'script'
            when content_type like 'image/vnd.microsoft.icon%' or url like '%/favicon.ico' and content_type is not null then 'favicon'
            when content_type like 'image/%' then 'image'
            when content_type ^@ 'audio/' or content_type ^@ 'video/' or content_type like '%flash%' then 'media'
            else 'other'
        end,
        bytes,
        coalesce(encoding like any (array['%compress%', '%deflate%', '%gzip%', '%bzip2%', '%sdch%']), false),
        coalesce(cache_control like '%public%' and cache_control ~ '\mpublic\M', false),
        coalesce(
            cache_control like any (array['%no-cache%', '%no-store%', '%must-revalidate%'])
                and cache_control ~ '\m(no-cache|no-store|must-revalidate)\M'
            or pragma like '%no-cache%' or lifetime.fresh_s <= 0,
            false),
        coalesce(sets_cookie, false) or has_cookie,
        coalesce(sets_cookie, false),
        vary,
        lifetime.fresh_s,
        has_query,
        status
    from stated
    cross join lateral (
        -- HTTP: a max-age that is not a number, or an Expires that is not a date, such as 0, is in the past. A regular
        -- expression without a group is several times faster, so the text before the number is trimmed afterwards.
        select coalesce(
            case when cache_control like '%max-age%' then ltrim(
                substring(cache_control from '\mmax-age\s*=\s*"?\d{1,12}'), E'max-ge=" \t\n\v\f\r')::double precision end,
            case
                when cache_control like '%max-age%' and cache_control ~ '\mmax-age\M' then 0
                when expires is not null
                    then coalesce(extract(epoch from http_time(expires) - coalesce(http_time(dated), seen))::double precision, 0)
            end) as fresh_s
        offset 0
    ) as lifetime;
end
$$;

comment on function fleetprof_data.cached_responses is
    'Returns the data that the rules about requests need, for these ids (null: all). is_answered: the headers of the response are known; all columns except start, URL, bytes and query come from these headers. kind follows from Content-Type, other without one; fresh_s: for how many seconds caches may use the response, null if it does not say; is_uncached: the response asks caches not to keep it.';

revoke execute on function
    fleetprof_data.http_time,
    fleetprof_data.header_of,
    fleetprof_data.cached_responses
from public;
grant execute on function
    fleetprof_data.http_time,
    fleetprof_data.header_of,
    fleetprof_data.cached_responses
to fleetprof_reader;
