-- SPDX-License-Identifier: Apache-2.0
-- Compares medians and 75th percentiles of timings and vitals of two releases or periods. -- docs/comparison.md
-- explains the method. In short: values are compared within strata that both sides have. Where the distribution of both
-- sides together reaches a percentile, the sides' shares of smaller values are compared (Cochran, Mantel and Haenszel),
-- with a variance no smaller than that between hours.

create or replace function fleetprof_data.bin_start_us(bin smallint)
returns double precision
language sql immutable strict parallel safe
return case when bin < 64 then bin else (2::double precision ^ (bin / 32 - 1)) * (32 + bin % 32) end;

comment on function fleetprof_data.bin_start_us is 'Returns the least value of a log-linear bin in microseconds.';

create or replace function fleetprof_data.bin_end_us(bin smallint)
returns double precision
language sql immutable strict parallel safe
return fleetprof_data.bin_start_us((bin + 1)::smallint) - 1;

comment on function fleetprof_data.bin_end_us is 'Returns the greatest value of a log-linear bin in whole microseconds.';

create or replace function fleetprof_data.share_value_us(
    bins   smallint[],
    shares double precision[],
    share  double precision
)
returns double precision
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    below double precision := 0;
    place integer := 1;
begin
    while place < cardinality(bins) and shares[place] < share_value_us.share loop
        below := shares[place];
        place := place + 1;
    end loop;
    -- In a bin of one microsecond the value is exact.
    return bin_start_us(bins[place]) + case
        when bins[place] < 64 then 0
        else least(1, greatest(0, (share_value_us.share - below) / nullif(shares[place] - below, 0)))
            * (bin_start_us((bins[place] + 1)::smallint) - bin_start_us(bins[place]))
    end;
end
$$;

comment on function fleetprof_data.share_value_us is
    'Returns the value, in microseconds, that this share of values does not exceed. bins ascend; shares: of values up to the end of each, in parallel. Within a bin, values are assumed to be evenly spread.';

create or replace function fleetprof_data.timing_histograms(
    before  fleetprof_data.selection,
    after   fleetprof_data.selection,
    ids     bigint[],
    numbers integer[]
)
returns table (is_after boolean, segment_id bigint, bucket timestamptz, number integer, bin smallint, count double precision)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
set enable_sort = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
begin
    return query
    select is_after, segment_id, bucket, number, bin, sum(count)::double precision
    from (
        select
            false as is_after, group_id as segment_id, bucket, unnest(timing_id) as timing_id, unnest(bin) as bin,
            unnest(count) as count
        from timing_bin_packed
        where is_selected(timing_histograms.before, sealed, group_id, bucket, span)
        union all
        select true, group_id, bucket, unnest(timing_id), unnest(bin), unnest(count)
        from timing_bin_packed
        where is_selected(timing_histograms.after, sealed, group_id, bucket, span)
    ) as entry
    join unnest(timing_histograms.ids, timing_histograms.numbers) as wanted (timing_id, number) using (timing_id)
    group by is_after, segment_id, bucket, number, bin;
end
$$;

comment on function fleetprof_data.timing_histograms is
    'Returns values of two sides by segment, block of time, timing and bin. ids and numbers are parallel arrays: the timings to read, and the number of each in the result.';

create or replace function fleetprof_data.compared_timings(
    before      fleetprof_data.compared_side,
    after       fleetprof_data.compared_side,
    kinds       fleetprof_data.timing_kind[],
    navigations text[]
)
returns table (
    name             text,
    kind             fleetprof_data.timing_kind,
    percentile       integer,
    before_us        double precision,
    after_us         double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_low          double precision,
    own_high         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_count     bigint,
    after_count      bigint,
    common_change    double precision,
    machines         double precision,
    machines_error   double precision
)
language plpgsql stable parallel safe rows 50
set search_path = fleetprof_data, pg_temp
set enable_nestloop = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    -- How much evidence a verdict takes: uploads with the timing and hours of each side, and the share of the later
    -- side's values in strata that both sides have.
    least_uploads constant double precision := (least_evidence()).uploads;
    least_hours constant integer := (least_evidence()).hours;
    least_share constant double precision := (least_evidence()).share;
    -- With few uploads, p must be smaller by this factor.
    few_uploads constant double precision := (least_evidence()).few_uploads;
    few_factor constant double precision := 20;
    -- The fewest hours (or days, where hours are gone) with the timing: fewer do not show the correlation of values.
    least_blocks constant integer := 3;
    least_effective_hours constant double precision := (least_evidence()).effective_hours;
    least_z constant double precision := (least_evidence()).z_left;
    -- Uploads in which the earlier side would have had a new timing, and the later side one that is gone.
    least_expected constant double precision := 10;
    -- How many timings are compared: those with the most values.
    most_timings constant integer := 500;
    -- Below the promised 5 %, because people may look every hour while a release grows, and hours show only most of the
    -- correlation of values.
    false_share constant double precision := 0.006;
    -- Standard errors by which a change must exceed the effect of machines alone: the usual number, and that for the
    -- median of few functions.
    guard_z constant double precision := 3;
    few_guard_z constant double precision := 2;
    visible_z constant double precision := (least_evidence()).visible_z;
    few_visible_z constant double precision := (least_evidence()).few_visible_z;
    ids bigint[];
    numbers integer[];
    -- Timings by their number.
    names text[];
    their_kinds timing_kind[];
    before_uploads bigint[];
    after_uploads bigint[];
    -- The count of the timing that most uploads have stands for a side's uploads.
    before_most double precision;
    after_most double precision;
begin
    with used as (
        select
            timing_id, sum(count) as count, coalesce(sum(uploads) filter (where not is_after), 0) as before_uploads,
            coalesce(sum(uploads) filter (where is_after), 0) as after_uploads
        from (
            select false as is_after, unnest(timing_id) as timing_id, unnest(count) as count, unnest(uploads) as uploads
            from timing_packed
            where is_selected((compared_timings.before).whole, sealed, group_id, bucket, span)
            union all
            select true, unnest(timing_id), unnest(count), unnest(uploads)
            from timing_packed
            where is_selected((compared_timings.after).whole, sealed, group_id, bucket, span)
        ) as entry
        group by timing_id
        -- Vitals that were replaced elsewhere have no count left.
        having sum(count) > 0
    ),
    listed as materialized (
        select
            name, kind, array_agg(timing_id) as ids, sum(before_uploads)::bigint as before_uploads,
            sum(after_uploads)::bigint as after_uploads,
            row_number() over (order by sum(count) desc, name collate "C", kind)::integer as number
        from used
        join timing using (timing_id)
        where kind = any(compared_timings.kinds)
            and (compared_timings.navigations is null or navigation = any(compared_timings.navigations))
        group by name, kind
    )
    select
        array_agg(id), array_agg(number),
        (select array_agg(name order by number) from listed), (select array_agg(kind order by number) from listed),
        (select array_agg(before_uploads order by number) from listed),
        (select array_agg(after_uploads order by number) from listed)
    into ids, numbers, names, their_kinds, before_uploads, after_uploads
    from listed
    cross join unnest(listed.ids) as id
    where number <= most_timings;
    if ids is null then
        return;
    end if;
    select nullif(max(before), 0), nullif(max(after), 0)
    into before_most, after_most
    from unnest(before_uploads, after_uploads) as uploads (before, after);

    return query
    with entry as materialized (
        select is_after, segment_id, number, bin, sum(count) as count
        from timing_histograms((compared_timings.before).segments, (compared_timings.after).segments, ids, numbers)
        group by is_after, segment_id, number, bin
        having sum(count) > 0
    ),
    -- Repeated page loads may come from one client on one side, and from another client on the other side.
    mostly as materialized (
        select 2 * sum(count) filter (where traffic = 'repeated') > sum(count) as repeated
        from entry
        join segment using (segment_id)
    ),
    -- Also divides strata by machine class, operating system and whether the page load is profiled (profiling costs
    -- time), if that leaves most values in strata that both sides have.
    grouped as (
        select
            with_os, with_machine, with_draw, array_agg(segment_id) as segment_ids,
            coalesce(sum(count) filter (where is_after), 0) as after_count, count(distinct is_after) = 2 as is_common
        from entry
        join segment using (segment_id)
        cross join (values (true), (false)) as os_choice (with_os)
        cross join (values (true), (false)) as machine_choice (with_machine)
        cross join (values (true), (false)) as draw_choice (with_draw)
        where traffic <> 'repeated' or (select repeated from mostly)
        group by
            with_os, with_machine, with_draw, site,
            -- {{each stratum: case when '$name' <> all((compared_timings.before).apart) then $name else '' end,}}
            case when with_os and 'os' <> all((compared_timings.before).apart) then os end,
            case when with_machine and 'machine' <> all((compared_timings.before).apart) then machine end,
            case when with_draw and 'drawn' <> all((compared_timings.before).apart) then rate_ppm > 0 or drawn = 'yes' end
    ),
    common as (
        select with_os, with_machine, with_draw, sum(after_count) filter (where is_common) as count
        from grouped
        group by with_os, with_machine, with_draw
    ),
    stratum as materialized (
        select unnest(segment_ids) as segment_id, number as stratum
        from (
            select segment_ids, row_number() over () as number
            from grouped
            join (
                select with_os, with_machine, with_draw
                from common
                where not with_os and not with_machine and not with_draw
                    or count >= 0.95 * (select count from common where not with_os and not with_machine and not with_draw)
                order by with_draw desc, with_machine desc, with_os desc
                limit 1
            ) as choice using (with_os, with_machine, with_draw)
        ) as chosen
    ),
    -- segment_ids repeat a segment for each of its entries.
    member as materialized (select distinct segment_id, stratum from stratum),
    layer as materialized (
        select
            *, before_count >= 2 and after_count >= 2 as is_common,
            case when before_count >= 2 and after_count >= 2 then before_count * after_count / (before_count + after_count)
                / sum(before_count * after_count / (before_count + after_count))
                    filter (where before_count >= 2 and after_count >= 2) over (partition by number)
            end as weight
        from (
            select
                number, stratum,
                coalesce(sum(count) filter (where not is_after), 0) as before_count,
                coalesce(sum(count) filter (where is_after), 0) as after_count
            from entry
            join member using (segment_id)
            group by number, stratum
        ) as counted
    ),
    -- Shares of values up to each bin, for each side and for both, with the same mix of strata.
    distribution as materialized (
        select
            number,
            array_agg(bin order by bin) as bins,
            array_agg(before_share order by bin) as before_shares,
            array_agg(after_share order by bin) as after_shares,
            array_agg(share order by bin) as shares
        from (
            select
                number, bin,
                sum(before_part) over up_to as before_share,
                sum(after_part) over up_to as after_share,
                sum(part) over up_to as share
            from (
                select
                    number, bin,
                    coalesce(sum(weight * count / before_count) filter (where not is_after), 0) as before_part,
                    coalesce(sum(weight * count / after_count) filter (where is_after), 0) as after_part,
                    sum(weight * count / (before_count + after_count)) as part
                from entry
                join member using (segment_id)
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
    hour as materialized (
        select
            is_after, bucket, number, percentile, stratum, sum(count) as count,
            coalesce(sum(count) filter (where bin <= cut_bin), 0) as below
        from timing_histograms((compared_timings.before).segment_hours, (compared_timings.after).segment_hours, ids, numbers)
        join member using (segment_id)
        left join cut using (number)
        group by is_after, bucket, number, percentile, stratum
        having sum(count) > 0
    ),
    part as materialized (
        select
            number, percentile, stratum, weight, before_count, after_count,
            coalesce(sum(below) filter (where not is_after), 0) as before_below,
            coalesce(sum(below) filter (where is_after), 0) as after_below
        from hour
        join layer using (number, stratum)
        where is_common
        group by number, percentile, stratum, weight, before_count, after_count
    ),
    estimate as (
        select
            number, percentile,
            sum(weight * (before_below / before_count - after_below / after_count)) as difference,
            -- The null hypothesis: both sides have the same share in a stratum.
            sum(weight ^ 2 * (before_below + after_below) * (before_count + after_count - before_below - after_below)
                / (before_count + after_count) / (before_count + after_count - 1)
                * (1 / before_count + 1 / after_count)) as variance,
            sum(weight ^ 2 * before_below * (before_count - before_below) / before_count ^ 2 / (before_count - 1)) as before_variance,
            sum(weight ^ 2 * after_below * (after_count - after_below) / after_count ^ 2 / (after_count - 1)) as after_variance
        from part
        group by number, percentile
    ),
    -- Values of one page load, visitor or hour are correlated: the variance of the hours' sums shows how much.
    residual as (
        select
            is_after, bucket, number, percentile,
            sum(weight * case
                when is_after then (below - after_below / after_count * count) / after_count
                else (below - before_below / before_count * count) / before_count
            end) as residual
        from hour
        join part using (number, percentile, stratum)
        group by is_after, bucket, number, percentile
    ),
    -- The effective number of hours in which a side differs from the other side's mean, and how much of the difference
    -- is left without any three hours, as in compared_functions.
    excess_hours as (
        select number, percentile, min(effective) as effective, min(least_left) as least_left
        from (
            select
                number, percentile, is_after,
                min((all_excess - window_excess) / nullif(all_excess, 0) / nullif(sqrt(1 - window_count / all_count), 0)) as least_left,
                sum(excess) ^ 2 / nullif(greatest(
                    sum(excess ^ 2 / hours) - least(
                        min(case when is_after then after_variance else before_variance end / hours), sum(excess ^ 2 / hours) / 3),
                    sum(excess) ^ 2 / sum(hours)), 0) as effective
            from (
                select
                    *, sum(excess) over side as all_excess, sum(excess) over three as window_excess,
                    sum(count) over side as all_count, sum(count) over three as window_count
                from (
                    select
                        is_after, bucket, number, percentile, case when bucket < min(hours_from) then 24 else 1 end as hours,
                        sum(count) as count,
                        sum(weight * case
                            when is_after then (below - before_below / before_count * count) / after_count
                            else (below - after_below / after_count * count) / before_count
                        end) as excess
                    from hour
                    join part using (number, percentile, stratum)
                    cross join horizon
                    group by is_after, bucket, number, percentile
                ) as hour
                window
                    side as (partition by number, percentile, is_after),
                    three as (
                        partition by number, percentile, is_after order by bucket
                        range between current row and interval '2 hours' following)
            ) as hour
            join estimate using (number, percentile)
            group by number, percentile, is_after
        ) as side
        group by number, percentile
    ),
    hourly as (
        select number, percentile, sum(blocks * squares / nullif(blocks - 1, 0)) as variance, sum(blocks) - 2 as df
        from (
            select number, percentile, is_after, count(*) as blocks, sum(residual ^ 2) as squares
            from residual
            group by number, percentile, is_after
        ) as side
        group by number, percentile
        having min(blocks) >= least_blocks
    ),
    -- One visitor's values move the mean with which that visitor's hours are compared. So each side is estimated again
    -- without each block of three hours (or days, where hours are gone).
    block as materialized (
        select
            is_after, case when bucket < hours_from then bucket else date_bin('3 hours', bucket, 'epoch') end as block, number,
            percentile, stratum, sum(count) as count, sum(below) as below
        from hour
        cross join horizon
        group by is_after, 2, number, percentile, stratum
    ),
    without_block as (
        select
            is_after, block, number, percentile,
            sum(before_count * after_count / (before_count + after_count)) as weight,
            sum(before_count * after_count / (before_count + after_count)
                * (before_below / before_count - after_below / after_count)) as difference,
            sum(left_before * left_after / (left_before + left_after)) as left_weight,
            sum(left_before * left_after / (left_before + left_after) * (
                (before_below - case when is_after then 0 else below end) / nullif(left_before, 0)
                - (after_below - case when is_after then below else 0 end) / nullif(left_after, 0))) as left_difference
        from (
            select
                *, before_count - case when is_after then 0 else count end as left_before,
                after_count - case when is_after then count else 0 end as left_after
            from block
            join part using (number, percentile, stratum)
        ) as part
        group by is_after, block, number, percentile
    ),
    jackknife as (
        select number, percentile, sum((blocks - 1) / blocks::double precision * squares) as variance
        from (
            select number, percentile, is_after, count(*) as blocks, var_pop(estimate) * count(*) as squares
            from (
                select
                    number, percentile, is_after,
                    (whole_difference - difference + coalesce(left_difference, 0)) / nullif(whole_weight - weight + left_weight, 0) as estimate
                from without_block
                join (
                    select
                        number, percentile,
                        sum(before_count * after_count / (before_count + after_count)) as whole_weight,
                        sum(before_count * after_count / (before_count + after_count)
                            * (before_below / before_count - after_below / after_count)) as whole_difference
                    from part
                    group by number, percentile
                ) as whole using (number, percentile)
            ) as estimate
            group by number, percentile, is_after
        ) as side
        group by number, percentile
    ),
    side_hours as materialized (
        select
            coalesce(sum(hours) filter (where not is_after), 0) as before, coalesce(sum(hours) filter (where is_after), 0) as after
        from (
            select distinct is_after, bucket, case when bucket < hours_from then 24 else 1 end as hours
            from hour
            cross join horizon
        ) as block
    ),
    -- Timings that one side lacks. A day counts as that many hours with equally many values.
    one_sided_hours as (
        select number, sum(count) ^ 2 / sum(count ^ 2 / hours) as effective
        from (
            select number, sum(count)::double precision as count, case when bucket < hours_from then 24 else 1 end as hours
            from hour
            cross join horizon
            -- These timings have no cut, so each value is here once.
            where least(before_uploads[number], after_uploads[number]) = 0
            group by number, bucket, hours_from
        ) as block
        group by number
    ),
    counted as (
        select
            number, sum(before_count) as before_count, sum(after_count) as after_count,
            sum(after_count) filter (where is_common) / nullif(sum(after_count), 0) as share
        from layer
        group by number
    ),
    observed as (
        select
            number, percentile,
            min(bin_middle_us(bin)) filter (where before_up_to >= percentile / 100.0 * before_all) as before_us,
            min(bin_middle_us(bin)) filter (where after_up_to >= percentile / 100.0 * after_all) as after_us
        from (
            select
                number, bin, nullif(sum(before) over whole, 0) as before_all, nullif(sum(after) over whole, 0) as after_all,
                sum(before) over up_to as before_up_to, sum(after) over up_to as after_up_to
            from (
                select
                    number, bin, coalesce(sum(count) filter (where not is_after), 0) as before,
                    coalesce(sum(count) filter (where is_after), 0) as after
                from entry
                group by number, bin
            ) as bin
            window whole as (partition by number), up_to as (partition by number order by bin)
        ) as cumulative
        cross join (values (50), (75)) as wanted (percentile)
        group by number, percentile
    ),
    known as (
        select
            observed.*, counted.before_count, counted.after_count, difference,
            sqrt(greatest(estimate.variance, hourly.variance, jackknife.variance)) as error,
            sqrt(before_variance * greatest(1, greatest(hourly.variance, jackknife.variance) / nullif(estimate.variance, 0))) as before_error,
            sqrt(after_variance * greatest(1, greatest(hourly.variance, jackknife.variance) / nullif(estimate.variance, 0))) as after_error,
            hourly.df, cut_share, excess_hours.effective as effective_hours, excess_hours.least_left,
            case
                when least(side_hours.before, side_hours.after) < least_hours
                    or one_sided_hours.effective < least_effective_hours then 'early'
                when before_uploads[number] = 0 and after_uploads[number] >= least_uploads
                    and after_uploads[number] * before_most / after_most >= least_expected then 'new'
                when after_uploads[number] = 0 and before_uploads[number] >= least_uploads
                    and before_uploads[number] * after_most / before_most >= least_expected then 'gone'
                when least(before_uploads[number], after_uploads[number]) < few_uploads then 'too few'
                when coalesce(counted.share, 0) < least_share then 'not comparable'
                when cut.number is not null and hourly.df is null then 'early'
            end as obstacle,
            least(before_uploads[number], after_uploads[number]) < least_uploads as is_few
        from observed
        join counted using (number)
        cross join side_hours
        left join estimate using (number, percentile)
        left join one_sided_hours using (number)
        left join hourly using (number, percentile)
        left join jackknife using (number, percentile)
        left join excess_hours using (number, percentile)
        left join cut using (number, percentile)
    ),
    tested as (
        select
            *,
            case when obstacle is null and error > 0 then p_of_t(abs(difference) / error, df) end as p
        from known
    ),
    judged as (
        -- Benjamini and Hochberg.
        select
            *, case when is_few then few_visible_z else visible_z end as z,
            judged_p <= max(judged_p) filter (where judged_p <= false_share * place / nullif(functions, 0)) over () as is_changed
        from (
            select *, row_number() over (order by judged_p) as place, count(judged_p) over () as functions
            from (select *, p * case when is_few then few_factor else 1 end as judged_p from tested) as tested
        ) as ranked
    ),
    measured as (
        select
            judged.*,
            share_value_us(bins, before_shares, percentile / 100.0) as before_value,
            share_value_us(bins, after_shares, percentile / 100.0) as after_value,
            share_value_us(bins, before_shares, percentile / 100.0 - 2 * before_error) as before_low,
            share_value_us(bins, before_shares, percentile / 100.0 + 2 * before_error) as before_high,
            share_value_us(bins, after_shares, percentile / 100.0 - 2 * after_error) as after_low,
            share_value_us(bins, after_shares, percentile / 100.0 + 2 * after_error) as after_high,
            case when obstacle is null and percentile / 100.0 - z * error / 2 > 0 and percentile / 100.0 + z * error / 2 < 1
                then share_value_us(bins, shares, percentile / 100.0 + z * error / 2)
                    / nullif(share_value_us(bins, shares, percentile / 100.0 - z * error / 2), 0) - 1
            end as visible
        from judged
        left join distribution using (number)
    ),
    changed as (
        select
            *,
            case when before_value > 0 then after_value / before_value - 1 end as change,
            -- On the scale of logarithms, where the error of a ratio is symmetric; the squares of both sides' errors
            -- add up.
            case when least(before_value, before_low, after_value, after_low) > 0 then
                exp(ln(after_value / before_value) - sqrt(ln(after_value / after_low) ^ 2 + ln(before_high / before_value) ^ 2)) - 1 end as change_low,
            case when least(before_value, before_low, after_value, after_low) > 0 then
                exp(ln(after_value / before_value) + sqrt(ln(after_high / after_value) ^ 2 + ln(before_value / before_low) ^ 2)) - 1 end as change_high,
            is_changed and before_value <> after_value
                -- In a lump of equal values the shares differ long before the percentile moves.
                and (abs(cut_share - percentile / 100.0) <= 0.05 or before_value = 0
                    or abs(after_value / before_value - 1) > 1.0 / 32) as has_moved
        from measured
    ),
    -- Faster or slower machines move all timings. As far as a timing moved like the functions, its cause is unknown.
    machines as materialized (
        select
            exp(change) - 1 as change, error,
            -- The median of few functions says little about machines, but more than nothing.
            case when is_median then few_guard_z when abs(change) > 2 * error then guard_z end as z
        from compared_machines(compared_timings.before, compared_timings.after)
        where change is not null
    ),
    guarded as (
        select
            *,
            case when has_moved and z_of_machines is not null then machines_change end as common_change,
            has_moved and z_of_machines is not null and low is not null
                and sign(log_change) * (log_change - machines) < z_of_machines * sqrt(((high - low) / 4) ^ 2 + machines_error ^ 2) as is_common,
            -- Machines moved this timing by between nothing and the common change of the functions.
            least(low, log_change - machines - sqrt((log_change - low) ^ 2 + 4 * machines_error ^ 2)) as own_low,
            greatest(high, log_change - machines + sqrt((high - log_change) ^ 2 + 4 * machines_error ^ 2)) as own_high
        from (
            select
                changed.*, machines.change as machines_change, ln(1 + machines.change) as machines, machines.error as machines_error,
                machines.z as z_of_machines, case when change_low > -1 then ln(1 + changed.change) end as log_change,
                case when change_low > -1 then ln(1 + change_low) end as low, case when change_low > -1 then ln(1 + change_high) end as high
            from changed
            left join machines on true
        ) as changed
    )
    select
        names[number],
        their_kinds[number],
        percentile,
        before_us,
        after_us,
        change,
        change_low,
        change_high,
        exp(own_low) - 1,
        exp(own_high) - 1,
        visible,
        p,
        case
            when obstacle is not null then obstacle
            when has_moved and (
                effective_hours < least_effective_hours or least_left * abs(difference) / error < least_z) then 'too few'
            when has_moved and not is_common then case when difference > 0 then 'slower' else 'faster' end
            when is_few then 'too few'
            else 'no change seen'
        end,
        before_count::bigint,
        after_count::bigint,
        common_change,
        case when z_of_machines is not null then machines end,
        machines_error
    from guarded
    where exists (select from entry where is_after) and exists (select from entry where not is_after);
end
$$;

comment on function fleetprof_data.compared_timings is
    'Compares the medians and 75th percentiles of timings of two sides, of these kinds of navigation (null: all); a row for each. Columns as in fleetprof.compare_timings, in microseconds, and: machines, what functions changed by in common (a logarithm), null if that is nothing; machines_error: its standard error.';

create or replace function fleetprof.compare_timings(
    site         text,
    before       text default null,
    after        text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    -- {{dimensions of each side}},
    before_since timestamptz default null,
    before_until timestamptz default null
)
returns table (
    name             text,
    kind             text,
    percentile       integer,
    before_ms        double precision,
    after_ms         double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_low          double precision,
    own_high         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_count     bigint,
    after_count      bigint,
    common_change    double precision,
    fleet_change     double precision
)
language plpgsql stable parallel safe rows 50
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    sides record := compared_sides(
        given, compare_timings.before, compare_timings.after, compare_timings.before_since, compare_timings.before_until, before_own, after_own);
begin
    return query
    select
        name, kind::text, percentile, before_us / 1000, after_us / 1000, change, change_low, change_high, own_low, own_high, smallest_visible, p,
        verdict, before_count, after_count, common_change, fleet_change
    from judged_timings(
        given, compare_timings.before, compare_timings.after, sides.before_side, sides.after_side, '{mark,measure}', null)
    order by array_position('{slower,new,faster,gone}', verdict) nulls last, greatest(before_count, after_count) desc, name collate "C",
        kind, percentile;
end
$$;

comment on function fleetprof.compare_timings is
    -- {{comment of compare_timings}};

create or replace function fleetprof.compare_vitals(
    site         text,
    before       text default null,
    after        text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    -- {{dimensions of each side and vitals}},
    before_since timestamptz default null,
    before_until timestamptz default null
)
returns table (
    name             text,
    unit             text,
    percentile       integer,
    before_value     double precision,
    after_value      double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_low          double precision,
    own_high         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_count     bigint,
    after_count      bigint,
    common_change    double precision,
    fleet_change     double precision
)
language plpgsql stable parallel safe rows 50
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    sides record := compared_sides(
        given, compare_vitals.before, compare_vitals.after, compare_vitals.before_since, compare_vitals.before_until, before_own, after_own);
begin
    return query
    select
        name,
        case name
            -- {{each vital: when '$name' then '$unit'}}
        end,
        percentile, before_us / 1000, after_us / 1000, change, change_low, change_high, own_low, own_high, smallest_visible, p, verdict, before_count, after_count, common_change,
        fleet_change
    from judged_timings(
        given, compare_vitals.before, compare_vitals.after, sides.before_side, sides.after_side, '{vital}',
        select_navigations(compare_vitals.navigation, compare_vitals.exclude_navigation))
    order by array_position(vital_names(), name), percentile;
end
$$;

comment on function fleetprof.compare_vitals is
    -- {{comment of compare_vitals}};

revoke execute on function
    fleetprof_data.bin_start_us, fleetprof_data.bin_end_us, fleetprof_data.share_value_us, fleetprof_data.timing_histograms,
    fleetprof_data.compared_timings, fleetprof.compare_timings, fleetprof.compare_vitals
from public;
grant execute on function
    fleetprof_data.bin_start_us, fleetprof_data.bin_end_us, fleetprof_data.share_value_us, fleetprof_data.timing_histograms,
    fleetprof_data.compared_timings, fleetprof.compare_timings, fleetprof.compare_vitals
to fleetprof_reader;
