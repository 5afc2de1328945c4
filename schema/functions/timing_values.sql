-- SPDX-License-Identifier: Apache-2.0
-- Values of timings by name; timings, vitals and related functions share them.

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

create or replace function fleetprof_data.low_rank(share double precision, count double precision)
returns double precision
language sql immutable strict parallel safe
return greatest(1, floor(share * count - 1.96 * sqrt(share * (1 - share) * count)));

comment on function fleetprof_data.low_rank is
    'Returns the rank, from 1, of the value above which a percentile (share) of so many values lies with a probability of 97.5 %, if values are independent: the standard deviation of a rank grows with the square root of the count.';

create or replace function fleetprof_data.high_rank(share double precision, count double precision)
returns double precision
language sql immutable strict parallel safe
return ceil(share * count + 1.96 * sqrt(share * (1 - share) * count)) + 1;

comment on function fleetprof_data.high_rank is
    'Returns the rank of the value below which a percentile lies, with the same probability as in low_rank. It exceeds the count where too few values are above the percentile to say.';

create or replace function fleetprof_data.timing_values(
    selected    fleetprof_data.selection,
    kinds       fleetprof_data.timing_kind[],
    by_source   boolean default true,
    dimension   text default null,
    navigations text[] default null
)
returns table (
    member      text,
    kind        fleetprof_data.timing_kind,
    name        text,
    source      text,
    function    text,
    count       bigint,
    sum_us      double precision,
    min_us      bigint,
    max_us      bigint,
    p50_us      double precision,
    p75_us      double precision,
    p95_us      double precision,
    p98_us      double precision,
    p99_us      double precision,
    p75_low_us  double precision,
    p75_high_us double precision
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- If only a few names are wanted, filtering all entries before they are summed is faster.
    few constant integer := 1000;
    timing_ids bigint[] := array(
        select timing_id
        from timing
        where kind = any(timing_values.kinds)
            and (timing_values.navigations is null or navigation = any(timing_values.navigations))
        limit few + 1);
begin
    -- Citus has no plan for the joins below if nothing is selected.
    if (timing_values.selected).segment_ids is null then
        return;
    end if;
    if cardinality(timing_ids) > few then
        timing_ids := null;
    end if;
    -- The planner expects far fewer entries than there are. So sums are joined by their ids alone, which have indexes,
    -- and combined by grouping.
    return query
    with total as (
        select
            case timing_values.dimension
                -- {{each: when '$name' then coalesce(segment.$name, cohort.$name)}}
                when 'navigation' then timing.navigation
                else custom_value(coalesce(segment.custom, cohort.custom), timing_values.dimension)
            end as member,
            kind,
            name,
            case when timing_values.by_source then source else '' end as source,
            case when timing_values.by_source then function else '' end as function,
            sum(count) as count,
            sum(sum_us) as sum_us,
            min(min_us) as min_us,
            max(max_us) as max_us
        from (
            select
                part_id,
                timing_id,
                sum(count) as count,
                sum(sum_us) as sum_us,
                min(min_us) as min_us,
                max(max_us) as max_us
            from (
                select
                    case when timing_values.dimension is null then 0 else group_id end as part_id,
                    unnest(timing_id) as timing_id,
                    unnest(count) as count,
                    unnest(sum_us) as sum_us,
                    unnest(min_us) as min_us,
                    unnest(max_us) as max_us
                from timing_packed
                where is_selected(timing_values.selected, sealed, group_id, bucket, span)
            ) as entry
            where timing_ids is null or timing_id = any(timing_ids)
            group by part_id, timing_id
        ) as timing_sum
        join timing using (timing_id)
        -- The planner removes these joins if the caller asks for no dimension.
        left join segment on segment_id = part_id
        left join cohort on cohort.group_id = part_id
        where kind = any(timing_values.kinds)
            and (timing_values.navigations is null or navigation = any(timing_values.navigations))
        group by 1, 2, 3, 4, 5
    ),
    histogram as (
        select
            case timing_values.dimension
                -- {{each: when '$name' then coalesce(segment.$name, cohort.$name)}}
                when 'navigation' then timing.navigation
                else custom_value(coalesce(segment.custom, cohort.custom), timing_values.dimension)
            end as member,
            kind,
            name,
            case when timing_values.by_source then source else '' end as source,
            case when timing_values.by_source then function else '' end as function,
            bin,
            sum(count) as count
        from (
            select part_id, timing_id, bin, sum(count) as count
            from (
                select
                    case when timing_values.dimension is null then 0 else group_id end as part_id,
                    unnest(timing_id) as timing_id,
                    unnest(bin) as bin,
                    unnest(count) as count
                from timing_bin_packed
                where is_selected(timing_values.selected, sealed, group_id, bucket, span)
            ) as entry
            where timing_ids is null or timing_id = any(timing_ids)
            group by part_id, timing_id, bin
        ) as timing_bin
        join timing using (timing_id)
        -- The planner removes these joins if the caller asks for no dimension.
        left join segment on segment_id = part_id
        left join cohort on cohort.group_id = part_id
        where kind = any(timing_values.kinds)
            and (timing_values.navigations is null or navigation = any(timing_values.navigations))
        group by 1, 2, 3, 4, 5, 6
    ),
    cumulative as (
        select
            member,
            kind,
            name,
            source,
            function,
            bin_middle_us(bin) as value_us,
            sum(count) over up_to as up_to,
            sum(count) over whole as binned
        from histogram
        window
            whole as (partition by member, kind, name, source, function),
            up_to as (whole order by bin)
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
            min(value_us) filter (where up_to >= 0.99 * binned) as p99_us,
            min(value_us) filter (where up_to >= low_rank(0.75, binned::double precision)) as p75_low_us,
            -- Null if too few values are above.
            min(value_us) filter (where up_to >= high_rank(0.75, binned::double precision)) as p75_high_us
        from cumulative
        group by member, kind, name, source, function
    ),
    whole as (
        select
            member,
            kind,
            name,
            source,
            function,
            max(count)::bigint as count,
            max(sum_us) as sum_us,
            max(min_us) as min_us,
            max(max_us) as max_us,
            max(p50_us) as p50_us,
            max(p75_us) as p75_us,
            max(p95_us) as p95_us,
            max(p98_us) as p98_us,
            max(p99_us) as p99_us,
            max(p75_low_us) as p75_low_us,
            max(p75_high_us) as p75_high_us
        from (
            select member, kind, name, source, function, null as count, null as sum_us, null as min_us, null as max_us,
                p50_us, p75_us, p95_us, p98_us, p99_us, p75_low_us, p75_high_us
            from quantile
            union all
            select *, null, null, null, null, null, null, null
            from total
        ) as half
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
        -- The middle of a bin may lie beyond all of its values. Null stays null.
        case when p50_us is not null then least(greatest(p50_us, min_us), max_us) end,
        case when p75_us is not null then least(greatest(p75_us, min_us), max_us) end,
        case when p95_us is not null then least(greatest(p95_us, min_us), max_us) end,
        case when p98_us is not null then least(greatest(p98_us, min_us), max_us) end,
        case when p99_us is not null then least(greatest(p99_us, min_us), max_us) end,
        case when p75_low_us is not null then least(greatest(p75_low_us, min_us), max_us) end,
        case when p75_high_us is not null then least(greatest(p75_high_us, min_us), max_us) end
    from whole;
end
$$;

comment on function fleetprof_data.timing_values is
    'Returns count, sum, extremes and nearest-rank percentiles (microseconds, at most 1.6 % off; null for kinds without a histogram, and where all values are negative) of the timings of some kinds, by kind, name, source and function; without by_source by kind and name. p75_low_us and p75_high_us: where the 75th percentile lies with a probability of 95 %, if values are independent; the upper one is null where too few values are above it. dimension: also by this dimension, whose value is member; the selection must keep it apart. Without it member is empty. navigations: only timings of these kinds of navigation; null: all.';

revoke execute on function
    fleetprof_data.bin_middle_us,
    fleetprof_data.low_rank,
    fleetprof_data.high_rank,
    fleetprof_data.timing_values
from public;
grant execute on function
    fleetprof_data.bin_middle_us,
    fleetprof_data.low_rank,
    fleetprof_data.high_rank,
    fleetprof_data.timing_values
to fleetprof_reader;
