-- Values of timings by name: what timings, vitals and the functions beside them share.

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

create or replace function fleetprof_data.member_of(
    dimension   text,
    route       text,
    release     text,
    environment text,
    variant     text,
    browser     text,
    os          text,
    device      text,
    thread      text
)
returns text
language sql immutable parallel safe
return case dimension
    when 'route' then route
    when 'release' then release
    when 'environment' then environment
    when 'variant' then variant
    when 'browser' then browser
    when 'os' then os
    when 'device' then device
    when 'thread' then thread
    else ''
end;

comment on function fleetprof_data.member_of is
    'Returns a segment''s value of the dimension with this name; an empty text without a dimension. The planner inlines it.';

create or replace function fleetprof_data.timing_values(
    selected  fleetprof_data.selection,
    kinds     fleetprof_data.timing_kind[],
    by_source boolean default true,
    dimension text default null
)
returns table (
    member   text,
    kind     fleetprof_data.timing_kind,
    name     text,
    source   text,
    function text,
    count    bigint,
    sum_us   double precision,
    min_us   bigint,
    max_us   bigint,
    p50_us   double precision,
    p75_us   double precision,
    p95_us   double precision,
    p98_us   double precision,
    p99_us   double precision
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    timing_ids bigint[] := array(select timing_id from timing where kind = any(timing_values.kinds));
begin
    -- Grouped by name and kind: each site has timings of its own, and site may be a wildcard.
    return query
    with total as (
        select
            member,
            kind,
            name,
            case when timing_values.by_source then source else '' end as source,
            case when timing_values.by_source then function else '' end as function,
            sum(count)::bigint as count,
            sum(count - negative) as binned,
            sum(sum_us) as sum_us,
            min(min_us) as min_us,
            max(max_us) as max_us
        from (
            select
                member_of(
                    timing_values.dimension, route, release, environment, variant, browser, os, device,
                    thread) as member,
                unnest(timing_id) as timing_id,
                unnest(count) as count,
                unnest(negative) as negative,
                unnest(sum_us) as sum_us,
                unnest(min_us) as min_us,
                unnest(max_us) as max_us
            from timing_packed
            -- The planner removes this join where no dimension is asked for: a cohort is not a segment.
            left join segment on segment_id = group_id
            where is_selected(timing_values.selected, sealed, group_id, bucket, span)
        ) as entry
        join timing using (timing_id)
        where timing_id = any(timing_ids)
        group by 1, 2, 3, 4, 5
    ),
    histogram as (
        select
            member,
            kind,
            name,
            case when timing_values.by_source then source else '' end as source,
            case when timing_values.by_source then function else '' end as function,
            bin,
            sum(count) as count
        from (
            select member, timing_id, bin, sum(count) as count
            from (
                select
                    member_of(
                        timing_values.dimension, route, release, environment, variant, browser, os, device,
                        thread) as member,
                    unnest(timing_id) as timing_id,
                    unnest(bin) as bin,
                    unnest(count) as count
                from timing_bin_packed
                left join segment on segment_id = group_id
                where is_selected(timing_values.selected, sealed, group_id, bucket, span)
            ) as entry
            where timing_id = any(timing_ids)
            group by member, timing_id, bin
        ) as timing_bin
        join timing using (timing_id)
        group by 1, 2, 3, 4, 5, 6
    ),
    cumulative as (
        select
            member,
            kind,
            name,
            source,
            function,
            least(greatest(bin_middle_us(bin), min_us), max_us) as value_us,
            sum(histogram.count) over (partition by member, kind, name, source, function order by bin) as up_to,
            binned
        from histogram
        join total using (member, kind, name, source, function)
    ),
    quantile as (
        -- Nearest rank: the least value that at least this share of the values does not exceed.
        select
            member,
            kind,
            name,
            source,
            function,
            min(value_us) filter (where up_to >= 0.50 * binned) as p50_us,
            min(value_us) filter (where up_to >= 0.75 * binned) as p75_us,
            min(value_us) filter (where up_to >= 0.95 * binned) as p95_us,
            min(value_us) filter (where up_to >= 0.98 * binned) as p98_us,
            min(value_us) filter (where up_to >= 0.99 * binned) as p99_us
        from cumulative
        group by member, kind, name, source, function
    )
    select
        member,
        kind,
        name,
        source,
        function,
        count,
        sum_us,
        min_us,
        max_us,
        p50_us,
        p75_us,
        p95_us,
        p98_us,
        p99_us
    from total
    left join quantile using (member, kind, name, source, function);
end
$$;

comment on function fleetprof_data.timing_values is
    'Returns count, sum, extremes and nearest-rank percentiles (microseconds, at most 1.6 % off; null for kinds without a histogram, and where all values are negative) of the timings of some kinds, by kind, name, source and function; without by_source by kind and name. dimension: also by this dimension of segments, whose value is member; the selection is one by segment then. Without it member is empty.';

revoke execute on function
    fleetprof_data.bin_middle_us,
    fleetprof_data.member_of,
    fleetprof_data.timing_values
from public;
grant execute on function
    fleetprof_data.bin_middle_us,
    fleetprof_data.member_of,
    fleetprof_data.timing_values
to fleetprof_reader;
