-- Percentiles of User Timing marks and measures, from histograms.

create or replace function fleetprof_data.bin_middle_us(bin smallint)
returns double precision
language sql immutable strict parallel safe
return case
    when bin < 64 then bin
    -- Bin 64 + 32 (k - 6) + i starts at 2^(k - 5) (32 + i) and is 2^(k - 5) whole microseconds wide.
    else (2::double precision ^ (bin / 32 - 1)) * (32 + bin % 32)
        + (2::double precision ^ (bin / 32 - 1) - 1) / 2
end;

comment on function fleetprof_data.bin_middle_us is
    'Returns the middle of a log-linear bin in microseconds. It stands for all values of the bin, at most 1.6 % off.';

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
    thread      text default null
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
        timings.variant, timings.browser, timings.os, timings.device, timings.thread);
begin
    -- Grouped by name and kind: each site has timings of its own, and site may be a wildcard.
    return query
    with total as (
        select
            name,
            kind,
            sum(count) as count,
            sum(count - negative) as binned,
            sum(sum_us) as sum_us,
            min(min_us) as min_us,
            max(max_us) as max_us
        from (
            select
                unnest(timing_id) as timing_id,
                unnest(count) as count,
                unnest(negative) as negative,
                unnest(sum_us) as sum_us,
                unnest(min_us) as min_us,
                unnest(max_us) as max_us
            from timing_packed
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        join timing using (timing_id)
        where kind in ('mark', 'measure')
        group by name, kind
    ),
    histogram as (
        select name, kind, bin, sum(count) as count
        from (
            select timing_id, bin, sum(count) as count
            from (
                select unnest(timing_id) as timing_id, unnest(bin) as bin, unnest(count) as count
                from timing_bin_packed
                where is_selected(selected, sealed, group_id, bucket, span)
            ) as entry
            group by timing_id, bin
        ) as timing_bin
        join timing using (timing_id)
        where kind in ('mark', 'measure')
        group by name, kind, bin
    ),
    cumulative as (
        select
            name,
            kind,
            least(greatest(bin_middle_us(bin), min_us), max_us) / 1000 as value_ms,
            sum(histogram.count) over (partition by name, kind order by bin) as up_to,
            binned
        from histogram
        join total using (name, kind)
    ),
    quantile as (
        -- Nearest rank: the least value that at least this share of the values does not exceed.
        select
            name,
            kind,
            min(value_ms) filter (where up_to >= 0.50 * binned) as p50_ms,
            min(value_ms) filter (where up_to >= 0.75 * binned) as p75_ms,
            min(value_ms) filter (where up_to >= 0.95 * binned) as p95_ms,
            min(value_ms) filter (where up_to >= 0.99 * binned) as p99_ms
        from cumulative
        group by name, kind
    )
    select
        name,
        kind::text,
        count::bigint,
        p50_ms,
        p75_ms,
        p95_ms,
        p99_ms,
        min_us / 1000::double precision,
        max_us / 1000::double precision,
        (sum_us / count / 1000)::double precision
    from total
    left join quantile using (name, kind)
    order by name collate "C", kind;
end
$$;

comment on function fleetprof.timings is
    'Returns User Timing by name: a mark''s start time, a measure''s duration, in milliseconds. Percentiles are nearest-rank over log-linear bins, at most 1.6 % off; negative values are in count, min_ms, max_ms and mean_ms, but not in percentiles, which are null when there is nothing else.';

revoke execute on function fleetprof_data.bin_middle_us, fleetprof.timings from public;
grant execute on function fleetprof_data.bin_middle_us, fleetprof.timings to fleetprof_reader;
