-- Percentiles of User Timing marks and measures, from histograms.

create or replace function fleetprof.timings(
    site        text,
    since       timestamptz default now() - interval '1 day',
    until       timestamptz default now(),
    route       text default null,
    release     text default null,
    environment text default null,
    variant     text default null,
    browser     text default null,
    os          text default null,
    device      text default null,
    thread      text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null
)
returns table (
    name    text,
    kind    text,
    count   bigint,
    p50_ms  double precision,
    p75_ms  double precision,
    p95_ms  double precision,
    p99_ms  double precision,
    min_ms  double precision,
    max_ms  double precision,
    mean_ms double precision
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        timings.site, timings.since, timings.until, timings.route, timings.release, timings.environment,
        timings.variant, timings.browser, timings.os, timings.device, timings.thread,
        exclude => array[
            timings.exclude_route, timings.exclude_release, timings.exclude_environment, timings.exclude_variant,
            timings.exclude_browser, timings.exclude_os, timings.exclude_device, timings.exclude_thread]);
begin
    return query
    select
        name,
        kind::text,
        count,
        p50_us / 1000,
        p75_us / 1000,
        p95_us / 1000,
        p99_us / 1000,
        min_us / 1000::double precision,
        max_us / 1000::double precision,
        sum_us / count / 1000
    from timing_values(selected, '{mark,measure}')
    order by name collate "C", kind;
end
$$;

comment on function fleetprof.timings is
    'Returns User Timing by name: a mark''s start time, a measure''s duration, in milliseconds. Percentiles are nearest-rank over log-linear bins, at most 1.6 % off; negative values are in count, min_ms, max_ms and mean_ms, but not in percentiles, which are null when there is nothing else.';

revoke execute on function fleetprof.timings from public;
grant execute on function fleetprof.timings to fleetprof_reader;
