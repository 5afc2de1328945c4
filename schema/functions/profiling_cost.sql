-- SPDX-License-Identifier: Apache-2.0
-- The cost of profiling: the web server draws page loads at random, so that those which it drew to be profiled
-- and those which it did not are the two arms of an experiment.

create or replace function fleetprof_data.blocking_cost(
    other_side  fleetprof_data.compared_side,
    drawn_side  fleetprof_data.compared_side,
    navigations text[]
)
returns table (
    other_us    double precision,
    drawn_us    double precision,
    change      double precision,
    error       double precision,
    blocks      bigint,
    other_count bigint,
    drawn_count bigint
)
language plpgsql stable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with sums as (
        select
            is_drawn, segment_id, case when bucket < hours_from then bucket else date_bin('3 hours', bucket, 'epoch') end as block,
            coalesce(sum(count) filter (where kind = 'vital'), 0)::double precision as loads,
            coalesce(sum(sum_us) filter (where kind = 'blocking'), 0) as us
        from (
            select
                false as is_drawn, group_id as segment_id, bucket, unnest(timing_id) as timing_id, unnest(count) as count,
                unnest(sum_us) as sum_us
            from timing_packed
            where is_selected((blocking_cost.other_side).segment_hours, sealed, group_id, bucket, span)
            union all
            select true, group_id, bucket, unnest(timing_id), unnest(count), unnest(sum_us)
            from timing_packed
            where is_selected((blocking_cost.drawn_side).segment_hours, sealed, group_id, bucket, span)
        ) as entry
        join timing using (timing_id)
        cross join horizon
        -- Each page load has one time to first byte.
        where kind = 'blocking' or kind = 'vital' and name = 'TTFB' and navigation = any(blocking_cost.navigations)
        group by 1, 2, 3
    ),
    part as materialized (
        select is_drawn, stratum, block, sum(loads) as loads, sum(us) as us
        from (
            select
                sums.*, dense_rank() over (order by
                    site,
                    -- {{each stratum: $name,}}
                    os) as stratum
            from sums
            join segment using (segment_id)
        ) as sums
        group by is_drawn, stratum, block
    ),
    -- Each block of three hours (or day, where hours are gone), and null.
    block as (select distinct block from part union all select null),
    side as (
        select
            block.block, stratum, sum(loads) filter (where not is_drawn) as other_loads,
            sum(loads) filter (where is_drawn) as drawn_loads, sum(us) filter (where not is_drawn) as other_us,
            sum(us) filter (where is_drawn) as drawn_us
        from block
        join part on part.block is distinct from block.block
        group by block.block, stratum
    ),
    -- Means per page load without a block; without null: of all.
    mean as (
        select
            block, sum(weight * other_us / other_loads) / sum(weight) as other_us,
            sum(weight * drawn_us / drawn_loads) / sum(weight) as drawn_us, sum(other_loads) as other_loads,
            sum(drawn_loads) as drawn_loads
        from (
            select *, other_loads * drawn_loads / (other_loads + drawn_loads) as weight
            from side
            where other_loads > 0 and drawn_loads > 0
        ) as side
        group by block
    )
    select
        mean.other_us, mean.drawn_us, mean.drawn_us / mean.other_us - 1,
        sqrt((jackknife.blocks - 1) * jackknife.variance), jackknife.blocks, mean.other_loads::bigint, mean.drawn_loads::bigint
    from mean
    cross join (
        select count(*) as blocks, var_pop(ln(drawn_us / other_us)) as variance
        from mean
        where block is not null and drawn_us > 0 and other_us > 0
    ) as jackknife
    where mean.block is null and mean.other_us > 0 and mean.drawn_us > 0;
end
$$;

comment on function fleetprof_data.blocking_cost is
    'Compares the blocking time of long animation frames per page load of two sides, in strata that both have; no row without long frames or page loads. error: standard error of the logarithm of drawn_us / other_us, from leaving out each block of three hours; blocks: their number.';

create or replace function fleetprof.profiling_cost(
    -- {{filters and vitals}}
)
returns table (
    name                text,
    unit                text,
    percentile          integer,
    other_value         double precision,
    drawn_value         double precision,
    change              double precision,
    change_low          double precision,
    change_high         double precision,
    smallest_visible    double precision,
    p                   double precision,
    verdict             text,
    other_count         bigint,
    drawn_count         bigint,
    loads_for_1_percent bigint
)
language plpgsql stable parallel safe rows 11
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    -- Pages out of the back/forward cache and prerendered ones are other page loads than those that the server draws.
    navigations constant text[] := case
        when num_nonnulls(profiling_cost.navigation, profiling_cost.exclude_navigation) = 0 then '{hard,reload,back-forward}'
        else select_navigations(profiling_cost.navigation, profiling_cost.exclude_navigation)
    end;
    release constant text := given.wanted[array_position(dimensions(), 'release')];
    place constant integer := array_position(dimensions(), 'drawn');
    other_side compared_side;
    drawn_side compared_side;
begin
    if given.wanted[place] is not null or given.excluded[place] is not null then
        raise invalid_parameter_value using
            message = 'drawn is what profiling_cost compares',
            hint = 'Leave drawn and exclude_drawn out.';
    end if;
    given.wanted[place] := 'no';
    other_side := compared_side(given, release, given.since, given.until, '{drawn}');
    given.wanted[place] := 'yes';
    drawn_side := compared_side(given, release, given.since, given.until, '{drawn}');

    return query
    select
        name, unit, percentile, other_value, drawn_value, change, change_low, change_high, smallest_visible, p, verdict,
        other_count, drawn_count,
        -- The interval shrinks with the root of the page loads.
        ceil(drawn_count * ((change_high - change_low) / 0.02) ^ 2)::bigint
    from (
        select
            name,
            case name
                -- {{each vital: when '$name' then '$unit'}}
            end as unit,
            percentile, before_us / 1000 as other_value, after_us / 1000 as drawn_value, change, change_low, change_high,
            smallest_visible, p, verdict, before_count as other_count, after_count as drawn_count,
            array_position(vital_names(), name) as vital
        from compared_timings(other_side, drawn_side, '{vital}', navigations)
        union all
        select
            'blocking', 'ms', null, other_us / 1000, drawn_us / 1000, change, exp(ln(1 + change) - 2 * error) - 1,
            exp(ln(1 + change) + 2 * error) - 1, exp((least_evidence()).visible_z * error) - 1, probability,
            case
                when blocks < (least_evidence()).hours / 3 then 'early'
                when least(other_count, drawn_count) < (least_evidence()).uploads then 'too few'
                when probability >= 0.006 then 'no change seen'
                when change > 0 then 'slower'
                else 'faster'
            end,
            other_count, drawn_count, null
        from (
            select *, case when error > 0 and blocks > 1 then p_of_t(abs(ln(1 + change)) / error, blocks - 1) end as probability
            from blocking_cost(other_side, drawn_side, navigations)
            -- Long animation frames do not say of which kind of navigation they are.
            where num_nonnulls(profiling_cost.navigation, profiling_cost.exclude_navigation) = 0
        ) as blocking
    ) as row
    order by vital nulls last, percentile;
end
$$;

comment on function fleetprof.profiling_cost is
    -- {{comment of profiling_cost}};

revoke execute on function fleetprof_data.blocking_cost, fleetprof.profiling_cost from public;
grant execute on function fleetprof_data.blocking_cost, fleetprof.profiling_cost to fleetprof_reader;
