-- Requests and their responses as the hint rules see them.

-- Not a cast: a cast accepts words such as infinity, and its errors cannot be caught in a parallel query.
create or replace function fleetprof_data.http_time(value text)
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
    return query
    select
        response_headers is not null,
        start_ms,
        url,
        case
            when content_type ~ '^text/(html|xml|plain)|^application/xhtml' then 'document'
            when content_type ~ 'css' then 'stylesheet'
            when content_type ~ 'javascript|ecmascript' then 'script'
            when content_type ~ '^image/vnd\.microsoft\.icon' or url ~ '/favicon\.ico$' and content_type is not null then 'favicon'
            when content_type ~ '^image/' then 'image'
            when content_type ~ '^(audio|video)/|flash' then 'media'
            else 'other'
        end,
        bytes,
        coalesce(encoding ~ '(compress|deflate|gzip|pack200-gzip|bzip2|sdch)', false),
        coalesce(cache_control ~ '\mpublic\M', false),
        coalesce(cache_control ~ '\m(no-cache|no-store|must-revalidate)\M' or pragma ~ 'no-cache' or lifetime.fresh_s <= 0, false),
        sets_cookie or has_cookie,
        sets_cookie,
        vary,
        lifetime.fresh_s,
        has_query,
        status,
        width_bucket(start_ms * 1000, array(
            select start_us::double precision
            from speed_tracer_events(cached_responses.session_id)
            where type = 'TAB_CHANGED' and type_number >= 0
            order by start_us
        ))
    from fleetprof.network_resources(cached_responses.session_id)
    -- Reads all headers at once: there may be many. Names have any case.
    cross join lateral (
        select
            lower(string_agg(value, ', ') filter (where name = 'content-type')) as content_type,
            lower(string_agg(value, ', ') filter (where name = 'content-encoding')) as encoding,
            lower(string_agg(value, ', ') filter (where name = 'cache-control')) as cache_control,
            lower(string_agg(value, ', ') filter (where name = 'pragma')) as pragma,
            lower(string_agg(value, ', ') filter (where name = 'vary')) as vary,
            bool_or(name = 'set-cookie') is true as sets_cookie,
            string_agg(value, ', ') filter (where name = 'expires') as expires,
            string_agg(value, ', ') filter (where name = 'date') as dated
        from jsonb_each_text(response_headers) as header (raw_name, value)
        cross join lateral lower(raw_name) as name
    ) as field
    cross join lateral (
        select bool_or(lower(name) = 'cookie') is true as has_cookie
        from jsonb_object_keys(request_headers) as name
    ) as asked
    cross join lateral (
        -- HTTP: an Expires that is not a date, such as 0, is in the past.
        select coalesce(
            substring(cache_control from '\mmax-age\s*=\s*"?(\d{1,12})')::double precision,
            case
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
