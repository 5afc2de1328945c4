-- SPDX-License-Identifier: Apache-2.0
-- The cost of profiling: the web server draws page loads at random, so that those which it drew to be profiled
-- and those which it did not are the two arms of an experiment.

create or replace function fleetprof_data.bounded_exp(exponent double precision)
returns double precision
language sql immutable strict parallel safe
return exp(greatest(-300, least(300, exponent)));

comment on function fleetprof_data.bounded_exp is
    'Returns exp(exponent), of one beyond ±300 that of ±300, so that its square is also a number.';

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
    hours       bigint,
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
            is_drawn, segment_id, bucket as block, case when bucket < hours_from then 24 else 1 end as hours,
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
        -- Each document has one time to first byte.
        where kind = 'blocking' or kind = 'vital' and name = 'TTFB' and navigation = any(blocking_cost.navigations)
        group by 1, 2, 3, 4
    ),
    part as materialized (
        select
            stratum, block, hours, coalesce(sum(loads) filter (where not is_drawn), 0) as other_loads,
            coalesce(sum(loads) filter (where is_drawn), 0) as drawn_loads, coalesce(sum(us) filter (where not is_drawn), 0) as other_us,
            coalesce(sum(us) filter (where is_drawn), 0) as drawn_us
        from (
            select
                sums.*, dense_rank() over (order by
                    site,
                    -- {{each stratum: $name,}}
                    -- The rate may change with a release or with the day, and all else as well.
                    os, release, date_bin('24 hours', block, 'epoch')) as stratum
            from sums
            join segment using (segment_id)
        ) as sums
        group by stratum, block, hours
    ),
    whole as materialized (
        select
            stratum, sum(other_loads) as other_loads, sum(drawn_loads) as drawn_loads, sum(other_us) as other_us,
            sum(drawn_us) as drawn_us, sum(other_loads) * sum(drawn_loads) / (sum(other_loads) + sum(drawn_loads)) as weight
        from part
        group by stratum
        having sum(other_loads) > 0 and sum(drawn_loads) > 0
    ),
    total as materialized (
        select
            sum(weight) as weight, sum(weight * other_us / other_loads) as other_us, sum(weight * drawn_us / drawn_loads) as drawn_us,
            sum(other_loads) as other_loads, sum(drawn_loads) as drawn_loads
        from whole
    ),
    -- A block is left out on both sides, and with it the stratum that has nothing else on one of them.
    remainder as (
        select
            block, hours, weight, weight * whole_other_us / whole_other_loads as other_us,
            weight * whole_drawn_us / whole_drawn_loads as drawn_us,
            left_other_loads * left_drawn_loads / nullif(left_other_loads + left_drawn_loads, 0) as left_weight,
            left_drawn_loads * left_other_us / nullif(left_other_loads + left_drawn_loads, 0) as left_other_us,
            left_other_loads * left_drawn_us / nullif(left_other_loads + left_drawn_loads, 0) as left_drawn_us
        from (
            select
                block, hours, weight, whole.other_loads as whole_other_loads, whole.drawn_loads as whole_drawn_loads,
                whole.other_us as whole_other_us, whole.drawn_us as whole_drawn_us,
                whole.other_loads - part.other_loads as left_other_loads, whole.drawn_loads - part.drawn_loads as left_drawn_loads,
                whole.other_us - part.other_us as left_other_us, whole.drawn_us - part.drawn_us as left_drawn_us
            from part
            join whole using (stratum)
        ) as part
    ),
    without_block as (
        select
            block, hours,
            (total.drawn_us - sum(remainder.drawn_us) + coalesce(sum(left_drawn_us) filter (where left_weight > 0), 0))
                / nullif(total.other_us - sum(remainder.other_us) + coalesce(sum(left_other_us) filter (where left_weight > 0), 0), 0) as ratio
        from remainder
        cross join total
        group by block, hours, total.drawn_us, total.other_us
    ),
    jackknife as (
        select count(*) as blocks, sum(hours) as hours, var_pop(ln(ratio)) as variance
        from without_block
        where ratio > 0
    )
    select
        total.other_us / weight, total.drawn_us / weight, total.drawn_us / total.other_us - 1,
        sqrt((blocks - 1) * variance), blocks, hours, other_loads::bigint, drawn_loads::bigint
    from total
    cross join jackknife
    where total.other_us > 0 and total.drawn_us > 0;
end
$$;

comment on function fleetprof_data.blocking_cost is
    'Compares the blocking time of long animation frames per document of two sides, in strata that both have; no row without long frames or documents. navigations: the kinds that load a document. error: standard error of the logarithm of drawn_us / other_us, from leaving out each hour (or day, where hours are gone) on both sides; blocks, hours: their number.';

create or replace function fleetprof_data.drawn_timings(
    other_side  fleetprof_data.compared_side,
    drawn_side  fleetprof_data.compared_side,
    navigations text[]
)
returns table (
    name        text,
    percentile  integer,
    other_us    double precision,
    drawn_us    double precision,
    change      double precision,
    change_low  double precision,
    change_high double precision,
    visible     double precision,
    p           double precision,
    verdict     text,
    other_loads bigint,
    drawn_loads bigint
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
set enable_sort = off
set enable_nestloop = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    needed record;
    -- As in compared_timings: people look again and again; with few uploads, p must be smaller.
    false_share constant double precision := 0.006;
    few_factor constant double precision := 20;
    ids bigint[];
    numbers integer[];
    -- Vitals by their number.
    names text[];
    other_uploads bigint[];
    drawn_uploads bigint[];
begin
    select * into needed from least_evidence();
    with used as (
        select timing_id, sum(other_uploads) as other_uploads, sum(drawn_uploads) as drawn_uploads
        from (
            select unnest(timing_id) as timing_id, unnest(uploads) as other_uploads, 0 as drawn_uploads
            from timing_packed
            where is_selected((drawn_timings.other_side).whole, sealed, group_id, bucket, span)
            union all
            select unnest(timing_id), 0, unnest(uploads)
            from timing_packed
            where is_selected((drawn_timings.drawn_side).whole, sealed, group_id, bucket, span)
        ) as entry
        group by timing_id
    ),
    listed as materialized (
        select
            name, array_agg(timing_id) as ids, sum(other_uploads)::bigint as other_uploads,
            sum(drawn_uploads)::bigint as drawn_uploads, row_number() over (order by name)::integer as number
        from used
        join timing using (timing_id)
        where kind = 'vital' and navigation = any(drawn_timings.navigations)
        group by name
    )
    select
        array_agg(id), array_agg(number),
        (select array_agg(name order by number) from listed),
        (select array_agg(other_uploads order by number) from listed),
        (select array_agg(drawn_uploads order by number) from listed)
    into ids, numbers, names, other_uploads, drawn_uploads
    from listed
    cross join unnest(listed.ids) as id;
    if ids is null then
        return;
    end if;

    return query
    with member as materialized (
        select segment_id, traffic = 'repeated' as is_repeated, dense_rank() over (order by
            site,
            -- {{each stratum: $name,}}
            os, release) as number
        from segment
        where segment_id = any((drawn_timings.other_side).segment_hours.segment_ids || (drawn_timings.drawn_side).segment_hours.segment_ids)
    ),
    -- The rate may change with a release or with the day, and all else as well.
    value as materialized (
        select
            is_after as is_drawn, member.number * 100000 + extract(epoch from bucket)::bigint / 86400 as stratum, is_repeated, bucket,
            entry.number, bin, count
        from timing_histograms(
            (drawn_timings.other_side).segment_hours, (drawn_timings.drawn_side).segment_hours, ids, numbers) as entry
        join member using (segment_id)
        where count <> 0
    ),
    daily as materialized (
        select is_drawn, stratum, is_repeated, number, bin, sum(count) as count
        from value
        group by is_drawn, stratum, is_repeated, number, bin
    ),
    -- Repeated page loads come from one client.
    mostly as materialized (
        select 2 * sum(count) filter (where is_repeated) > sum(count) as repeated
        from daily
    ),
    layer as materialized (
        select
            *, other_count > 0 and drawn_count > 0 as is_common,
            case when other_count > 0 and drawn_count > 0 then other_count * drawn_count / (other_count + drawn_count)
                / sum(other_count * drawn_count / (other_count + drawn_count)) over (partition by number)
            end as weight
        from (
            select
                number, stratum, coalesce(sum(count) filter (where not is_drawn), 0) as other_count,
                coalesce(sum(count) filter (where is_drawn), 0) as drawn_count
            from daily
            where not is_repeated or (select repeated from mostly)
            group by number, stratum
        ) as counted
    ),
    -- Shares of values up to each bin, for each side and for both, with the same mix of strata.
    distribution as materialized (
        select
            number, array_agg(bin order by bin) as bins, array_agg(other_share order by bin) as other_shares,
            array_agg(drawn_share order by bin) as drawn_shares, array_agg(share order by bin) as shares
        from (
            select
                number, bin, sum(other_part) over up_to as other_share, sum(drawn_part) over up_to as drawn_share,
                sum(part) over up_to as share
            from (
                select
                    number, bin,
                    coalesce(sum(weight * count / other_count) filter (where not is_drawn), 0) as other_part,
                    coalesce(sum(weight * count / drawn_count) filter (where is_drawn), 0) as drawn_part,
                    sum(weight * count / (other_count + drawn_count)) as part
                from daily
                join layer using (number, stratum)
                where is_common
                group by number, bin
            ) as part
            window up_to as (partition by number order by bin)
        ) as cumulative
        group by number
    ),
    -- The bin whose end is nearest to the percentile.
    cut as materialized (
        select distinct on (number, percentile) number, percentile, bin as cut_bin, share as cut_share
        from distribution
        cross join (values (50), (75)) as wanted (percentile)
        cross join unnest(bins, shares) as value (bin, share)
        where share < 1 - 1e-9
        order by number, percentile, abs(share - percentile / 100.0), bin
    ),
    -- Hours (or days, where hours are gone).
    block as materialized (
        select number, percentile, stratum, bucket, other_count, drawn_count, other_below, drawn_below
        from (
            select
                number, stratum, bucket, coalesce(sum(count) filter (where not is_drawn), 0) as other_count,
                coalesce(sum(count) filter (where is_drawn), 0) as drawn_count,
                coalesce(sum(count) filter (where not is_drawn and bin <= median), 0) as other_median,
                coalesce(sum(count) filter (where is_drawn and bin <= median), 0) as drawn_median,
                coalesce(sum(count) filter (where not is_drawn and bin <= quartile), 0) as other_quartile,
                coalesce(sum(count) filter (where is_drawn and bin <= quartile), 0) as drawn_quartile
            from value
            join layer using (number, stratum)
            join (
                select number, max(cut_bin) filter (where percentile = 50) as median, max(cut_bin) filter (where percentile = 75) as quartile
                from cut
                group by number
            ) as cut using (number)
            where is_common
            group by number, stratum, bucket
        ) as counted
        cross join lateral (values (50, other_median, drawn_median), (75, other_quartile, drawn_quartile))
            as below (percentile, other_below, drawn_below)
    ),
    part as materialized (
        select
            number, percentile, stratum, sum(other_count) as other_count, sum(drawn_count) as drawn_count,
            sum(other_below) as other_below, sum(drawn_below) as drawn_below
        from block
        group by number, percentile, stratum
    ),
    estimate as materialized (
        select
            number, percentile, sum(weight) as weight, sum(weight * difference) / sum(weight) as difference,
            -- Both sides have the same share in a stratum, as if profiling cost nothing.
            sum(weight ^ 2 * variance / other_count) / sum(weight) ^ 2 as other_variance,
            sum(weight ^ 2 * variance / drawn_count) / sum(weight) ^ 2 as drawn_variance
        from (
            select
                *, other_count * drawn_count / (other_count + drawn_count) as weight,
                other_below / other_count - drawn_below / drawn_count as difference,
                (other_below + drawn_below) * (other_count + drawn_count - other_below - drawn_below)
                    / (other_count + drawn_count) / (other_count + drawn_count - 1) as variance
            from part
        ) as part
        group by number, percentile
    ),
    -- Values of one page load are alike, and a page load is drawn or not as a whole: each block is left out on both sides.
    without_block as (
        select
            number, percentile, bucket,
            (estimate.weight * estimate.difference - sum(part_weight * part_difference)
                + coalesce(sum(left_weight * left_difference), 0))
                / nullif(estimate.weight - sum(part_weight) + coalesce(sum(left_weight), 0), 0) as difference
        from (
            select
                number, percentile, bucket,
                whole.other_count * whole.drawn_count / (whole.other_count + whole.drawn_count) as part_weight,
                whole.other_below / whole.other_count - whole.drawn_below / whole.drawn_count as part_difference,
                (whole.other_count - block.other_count) * (whole.drawn_count - block.drawn_count)
                    / nullif(whole.other_count + whole.drawn_count - block.other_count - block.drawn_count, 0) as left_weight,
                (whole.other_below - block.other_below) / nullif(whole.other_count - block.other_count, 0)
                    - (whole.drawn_below - block.drawn_below) / nullif(whole.drawn_count - block.drawn_count, 0) as left_difference
            from block
            join part as whole using (number, percentile, stratum)
        ) as part
        join estimate using (number, percentile)
        group by number, percentile, bucket, estimate.weight, estimate.difference
    ),
    jackknife as (
        select
            number, percentile, count(*) as blocks, (count(*) - 1) * var_pop(difference) as variance,
            min(difference) as least_difference, max(difference) as greatest_difference
        from without_block
        where difference is not null
        group by number, percentile
    ),
    side_hours as materialized (
        select
            coalesce(sum(hours) filter (where not is_drawn), 0) as other, coalesce(sum(hours) filter (where is_drawn), 0) as drawn
        from (
            select is_drawn, bucket, case when bucket < min(hours_from) then 24 else 1 end as hours
            from value
            cross join horizon
            group by is_drawn, bucket
        ) as block
    ),
    counted as (
        select
            number, least(sum(other_count), other_uploads[number]) as other_loads,
            least(sum(drawn_count), drawn_uploads[number]) as drawn_loads,
            sum(drawn_count) filter (where is_common) / nullif(sum(drawn_count), 0) as share
        from layer
        group by number
        having sum(other_count) > 0 and sum(drawn_count) > 0
    ),
    known as (
        select
            number, wanted.percentile, other_loads, drawn_loads, difference, cut_share, blocks - 1 as df,
            sqrt(greatest(other_variance + drawn_variance, variance)) as error,
            sqrt(other_variance * greatest(1, variance / nullif(other_variance + drawn_variance, 0))) as other_error,
            sqrt(drawn_variance * greatest(1, variance / nullif(other_variance + drawn_variance, 0))) as drawn_error,
            case when difference > 0 then least_difference else -greatest_difference end as least_left,
            case
                when least(side_hours.other, side_hours.drawn) < needed.hours then 'early'
                when least(other_loads, drawn_loads) < needed.few_uploads then 'too few'
                when coalesce(share, 0) < needed.share then 'not comparable'
                when cut_share is not null and coalesce(blocks, 0) < 3 then 'early'
            end as obstacle,
            least(other_loads, drawn_loads) < needed.uploads as is_few
        from counted
        cross join (values (50), (75)) as wanted (percentile)
        cross join side_hours
        left join cut using (number, percentile)
        left join estimate using (number, percentile)
        left join jackknife using (number, percentile)
    ),
    judged as (
        -- Benjamini and Hochberg.
        select
            *, judged_p <= max(judged_p) filter (where judged_p <= false_share * place / nullif(rows, 0)) over () as is_changed
        from (
            select *, row_number() over (order by judged_p) as place, count(judged_p) over () as rows
            from (
                select *, p * case when is_few then few_factor else 1 end as judged_p
                from (
                    select *, case when obstacle is null and error > 0 then p_of_t(abs(difference) / error, df) end as p
                    from known
                ) as tested
            ) as tested
        ) as ranked
    ),
    measured as (
        select
            judged.*,
            share_value_us(bins, other_shares, percentile / 100.0) as other_us,
            share_value_us(bins, drawn_shares, percentile / 100.0) as drawn_us,
            share_value_us(bins, other_shares, percentile / 100.0 - t * other_error) as other_low,
            share_value_us(bins, other_shares, percentile / 100.0 + t * other_error) as other_high,
            share_value_us(bins, drawn_shares, percentile / 100.0 - t * drawn_error) as drawn_low,
            share_value_us(bins, drawn_shares, percentile / 100.0 + t * drawn_error) as drawn_high,
            case when obstacle is null and percentile / 100.0 - z * error / 2 > 0 and percentile / 100.0 + z * error / 2 < 1
                then share_value_us(bins, shares, percentile / 100.0 + z * error / 2)
                    / nullif(share_value_us(bins, shares, percentile / 100.0 - z * error / 2), 0) - 1
            end as visible
        from (
            select
                *, t_of_z(1.96, df) as t, t_of_z(case when is_few then needed.few_visible_z else needed.visible_z end - 1.28, df) + 1.28 as z
            from judged
        ) as judged
        left join distribution using (number)
    ),
    changed as (
        select
            *, case when other_us > 0 then drawn_us / other_us - 1 end as change,
            -- On the scale of logarithms; the squares of both sides' errors add up.
            case when least(other_us, other_low, drawn_us, drawn_low) > 0 then
                exp(ln(drawn_us / other_us) - sqrt(ln(drawn_us / drawn_low) ^ 2 + ln(other_high / other_us) ^ 2)) - 1 end as change_low,
            case when least(other_us, other_low, drawn_us, drawn_low) > 0 then
                exp(ln(drawn_us / other_us) + sqrt(ln(drawn_high / drawn_us) ^ 2 + ln(other_us / other_low) ^ 2)) - 1 end as change_high,
            is_changed and other_us <> drawn_us
                -- In a lump of equal values the shares differ long before the percentile moves.
                and (abs(cut_share - percentile / 100.0) <= 0.05 or other_us = 0 or abs(drawn_us / other_us - 1) > 1.0 / 32) as has_moved
        from measured
    )
    select
        names[number], percentile, other_us, drawn_us, change, change_low, change_high, visible, p,
        case
            when obstacle is not null then obstacle
            when has_moved and least_left / error < needed.z_left then 'too few'
            when has_moved then case when difference > 0 then 'slower' else 'faster' end
            when is_few then 'too few'
            else 'no change seen'
        end,
        other_loads::bigint, drawn_loads::bigint
    from changed;
end
$$;

comment on function fleetprof_data.drawn_timings is
    'Compares the medians and 75th percentiles of vitals, of these kinds of navigation, of page loads that the server drew with those that it did not, in strata that both have: those of comparisons, operating system, release and day. Values in microseconds, in the same mix of strata; change and the others as in fleetprof.compare_timings. Errors are at least what leaving out each hour (or day, where hours are gone) on both sides shows. other_loads, drawn_loads: page loads with a value.';

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
    -- Long animation frames do not say of which kind of navigation they are. They count for the document, so these do not.
    same_document constant text[] := '{soft,back-forward-cache}';
    documents constant text[] := array(select kind from unnest(navigations()) as kind where kind <> all(same_document));
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
        least(ceil(drawn_count * ((change_high - change_low) / 0.02) ^ 2), 2::double precision ^ 62)::bigint
    from (
        select
            name,
            case name
                -- {{each vital: when '$name' then '$unit'}}
            end as unit,
            percentile, other_us / 1000 as other_value, drawn_us / 1000 as drawn_value, change, change_low, change_high,
            visible as smallest_visible, p, verdict, other_loads as other_count, drawn_loads as drawn_count,
            array_position(vital_names(), name) as vital
        from drawn_timings(other_side, drawn_side, navigations)
        union all
        select
            'blocking', 'ms', null, other_us / 1000, drawn_us / 1000, change, bounded_exp(ln(1 + change) - t * error) - 1,
            bounded_exp(ln(1 + change) + t * error) - 1, bounded_exp((t_of_z((least_evidence()).visible_z - 1.28, blocks - 1) + 1.28) * error) - 1,
            probability,
            case
                when hours < (least_evidence()).hours or blocks < 3 then 'early'
                when least(other_count, drawn_count) < (least_evidence()).uploads then 'too few'
                when probability >= 0.006 then 'no change seen'
                when change > 0 then 'slower'
                else 'faster'
            end,
            other_count, drawn_count, null
        from (
            select
                *, case when error > 0 and blocks > 1 then p_of_t(abs(ln(1 + change)) / error, blocks - 1) end as probability,
                t_of_z(1.96, blocks - 1) as t
            from blocking_cost(other_side, drawn_side, documents)
            where num_nonnulls(profiling_cost.navigation, profiling_cost.exclude_navigation) = 0
        ) as blocking
    ) as row
    order by vital nulls last, percentile;
end
$$;

comment on function fleetprof.profiling_cost is
    -- {{comment of profiling_cost}};

revoke execute on function
    fleetprof_data.bounded_exp, fleetprof_data.blocking_cost, fleetprof_data.drawn_timings, fleetprof.profiling_cost from public;
grant execute on function
    fleetprof_data.bounded_exp, fleetprof_data.blocking_cost, fleetprof_data.drawn_timings, fleetprof.profiling_cost to fleetprof_reader;
