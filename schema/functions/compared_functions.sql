-- SPDX-License-Identifier: Apache-2.0
-- Compares functions: the steps of docs/comparison.md in order.

create or replace function fleetprof_data.compared_functions(
    before    fleetprof_data.compared_side,
    after     fleetprof_data.compared_side,
    one_sided boolean,
    by        text default null,
    own       text[] default null,
    machines  double precision[] default null
)
returns table (
    function_key     bigint,
    frame_id         bigint,
    before_self_ms   double precision,
    after_self_ms    double precision,
    before_total_ms  double precision,
    after_total_ms   double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_change       double precision,
    own_low          double precision,
    own_high         double precision,
    at_least         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint,
    samples          bigint,
    common_change    double precision,
    common_error     double precision,
    comparable_share double precision,
    by_time          boolean,
    decidable_in     double precision
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
set enable_nestloop = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    before_whole selection := (compared_functions.before).whole;
    after_whole selection := (compared_functions.after).whole;
    before_segments selection := (compared_functions.before).segments;
    after_segments selection := (compared_functions.after).segments;
    before_hours selection := (compared_functions.before).hours;
    after_hours selection := (compared_functions.after).hours;
    evidence record := compared_evidence(compared_functions.before, compared_functions.after);
    least_share constant double precision := (least_evidence()).share;
    least_effective constant double precision := (least_evidence()).effective;
    least_effective_hours constant double precision := (least_evidence()).effective_hours;
    least_z constant double precision := (least_evidence()).z_left;
    -- The most functions that are tested, and the most frames: those with the most self time.
    most_functions constant integer := 1000;
    most_frames constant integer := case when compared_functions.by is null then 2000 else 1000000 end;
    strata stratum[] := array(
        select stratum from compared_strata(before_segments, after_segments, (compared_functions.before).apart) as stratum);
    -- Sums and hours are read with repeated page loads, which strata leave out.
    left_out_ids bigint[] := array(
        select segment_id
        from segment
        where segment_id = any(before_segments.segment_ids || after_segments.segment_ids) and traffic = 'repeated'
            and segment_id <> all(array(select unnest(before_ids || after_ids) from unnest(strata))));
    before_left_out compared_side := narrowed(compared_functions.before, left_out_ids);
    after_left_out compared_side := narrowed(compared_functions.after, left_out_ids);
    whole record; -- totals of both sides
    frame_ids bigint[];
    numbers integer[];
    after_weight double precision; -- share of the later side in all uploads of common strata
    -- How much longer the later side's uploads are; beyond so many standard errors, functions are compared as if all
    -- uploads were equally long.
    longer_us double precision;
    by_length boolean;
    -- The change of uploads per page load (a logarithm), if it is sure. What runs once per page load then takes as much
    -- less per upload, and what runs all the time does not, so a change counts as far as it exceeds this one.
    parts_change double precision;
    -- Whether uploads of a side differ enough in length to show how time grows with length. If not, time is assumed to
    -- grow in proportion.
    shows_growth boolean;
    least_spread constant double precision := 0.05;
    sure_z constant double precision := 3;
    -- The least relative error of a cost.
    least_error constant double precision := 0.001;
    -- The hours before the earlier side, and how much they vary.
    reference compared_side;
    -- The most prior degrees of freedom: how much a function's widening is drawn to that of all. Functions of a group run
    -- together, so groups differ more.
    most_prior_df constant double precision := case when compared_functions.by is null then 46 else 2 end;
    -- A change that is worth waiting for, in a function that runs in this share of uploads.
    awaited constant double precision := ln(1.2);
    everywhere constant double precision := 0.8;
begin
    select
        sum(before_uploads) as before_uploads, sum(after_uploads) as after_uploads,
        sum(before_loads) as before_loads, sum(after_loads) as after_loads,
        sum(before_us) as before_us, sum(after_us) as after_us,
        sum(before_uploads) filter (where is_common) as common_before, sum(after_uploads) filter (where is_common) as common_after,
        sum(after_uploads) filter (where is_common) / nullif(sum(after_uploads), 0) as share,
        ln(sum(before_uploads) filter (where is_common) / nullif(sum(before_loads) filter (where is_common), 0)
            / nullif(sum(after_uploads) filter (where is_common) / nullif(sum(after_loads) filter (where is_common), 0), 0)) as parts,
        sqrt(1 / nullif(sum(before_loads) filter (where is_common), 0)
            + 1 / nullif(sum(after_loads) filter (where is_common), 0)) as parts_error,
        -- Profiled time per upload, for the same mix on both sides; its spread, and the variance of the difference.
        sum(weight * before_us / before_uploads) filter (where is_common) / sum(weight) filter (where is_common) as before_length,
        sum(weight * after_us / after_uploads) filter (where is_common) / sum(weight) filter (where is_common) as after_length,
        sum(length_squares) filter (where is_common) as length_squares,
        sum(weight * length_squares / (before_uploads + after_uploads - 2)) filter (where is_common)
            / (sum(weight) filter (where is_common)) ^ 2 as length_variance
    into whole
    from (
        select
            *,
            greatest(0, before_us2 - before_us ^ 2 / nullif(before_uploads, 0))
                + greatest(0, after_us2 - after_us ^ 2 / nullif(after_uploads, 0)) as length_squares
        from (
            select
                *, least(before_uploads, after_uploads) >= 2 and least(before_us, after_us) > 0 as is_common,
                before_uploads * after_uploads / (before_uploads + after_uploads) as weight
            from unnest(strata)
        ) as stratum
    ) as stratum;

    -- Both sides need uploads.
    if coalesce(least(whole.before_uploads, whole.after_uploads), 0) = 0 then
        return;
    end if;
    if evidence.takes_reference then
        reference := compared_reference(
            compared_functions.before, compared_functions.after, array(select unnest(before_ids) from unnest(strata)));
        evidence.is_enough := (compared_hours_span(reference.segment_hours)).length >= evidence.least_hours;
        evidence.takes_reference := evidence.is_enough;
    end if;
    after_weight := whole.common_after / (whole.common_before + whole.common_after);
    longer_us := whole.after_length - whole.before_length;
    by_length := coalesce(
        abs(ln(whole.after_length / whole.before_length)) > ln(1.05)
        and abs(longer_us) > sure_z * sqrt(whole.length_variance), false);
    parts_change := case when abs(whole.parts) > greatest(ln(1.05), sure_z * whole.parts_error) then abs(whole.parts) else 0 end;
    shows_growth := sqrt(whole.length_squares / (whole.common_before + whole.common_after))
        > least_spread * (whole.before_length + whole.after_length) / 2;

    return query
    with sums as materialized (
        select
            *,
            row_number() over (
                order by before_self_us / whole.before_uploads + after_self_us / whole.after_uploads desc, function_key
            )::integer as number,
            -- An upper bound: strata can only leave less.
            ((before_self_us + after_self_us) / nullif(sqrt(before_spread ^ 2 + after_spread ^ 2), 0)) ^ 2
                >= least_effective as may_do
        from (
            select
                function_key, found.is_stable, found.frame_id, found.frame_ids,
                sqrt(greatest(0, found.before_spread ^ 2 - coalesce(left_out.before_spread, 0) ^ 2)) as before_spread,
                sqrt(greatest(0, found.after_spread ^ 2 - coalesce(left_out.after_spread, 0) ^ 2)) as after_spread,
                found.before_uploads - coalesce(left_out.before_uploads, 0) as before_uploads,
                found.after_uploads - coalesce(left_out.after_uploads, 0) as after_uploads,
                found.samples - coalesce(left_out.samples, 0) as samples,
                found.before_self_us - coalesce(left_out.before_self_us, 0) as before_self_us,
                found.after_self_us - coalesce(left_out.after_self_us, 0) as after_self_us,
                found.before_total_us - coalesce(left_out.before_total_us, 0) as before_total_us,
                found.after_total_us - coalesce(left_out.after_total_us, 0) as after_total_us
            from compared_sums(before_whole, after_whole, compared_functions.by, compared_functions.own) as found
            left join (
                select repeated.*
                from (select 1 where left_out_ids <> '{}') as anything
                cross join lateral compared_sums(
                    (before_left_out).whole, (after_left_out).whole, compared_functions.by, compared_functions.own) as repeated
            ) as left_out using (function_key)
        ) as read
        where before_uploads > 0 or after_uploads > 0
    ),
    wanted as materialized (
        select array_agg(frame_id) as frame_ids, array_agg(number) as numbers
        from (
            select number, frame_ids, sum(cardinality(frame_ids)) over (order by number) as frames
            from sums
            where may_do
            order by number
            limit most_functions
        ) as candidate
        cross join unnest(frame_ids) as frame_id
        where frames <= most_frames
    ),
    layer as materialized (
        select
            *,
            before_uploads * after_uploads / (before_uploads + after_uploads)
                / sum(before_uploads * after_uploads / (before_uploads + after_uploads)) filter (where is_common) over () as weight
        from (
            select
                stratum::integer, device, before_uploads, after_uploads, before_us as before_profiled_us,
                after_us as after_profiled_us, least(before_uploads, after_uploads) >= 2 and least(before_us, after_us) > 0 as is_common
            from unnest(strata) with ordinality as stratum (
                before_ids, after_ids, device, before_uploads, after_uploads, before_loads, after_loads, before_us,
                after_us, before_us2, after_us2, stratum)
        ) as stratum
    ),
    part as materialized (
        select false as is_after, part.*
        from wanted
        cross join lateral compared_parts(false, before_segments, strata, frame_ids, numbers, compared_functions.by is not null) as part
        union all
        select true, part.*
        from wanted
        cross join lateral compared_parts(true, after_segments, strata, frame_ids, numbers, compared_functions.by is not null) as part
    ),
    paired as (
        select
            number, stratum,
            coalesce(sum(self_us) filter (where not is_after), 0) as before_us,
            coalesce(sum(self_us) filter (where is_after), 0) as after_us,
            coalesce(sum(spread ^ 2) filter (where not is_after), 0) as before_us2,
            coalesce(sum(spread ^ 2) filter (where is_after), 0) as after_us2,
            coalesce(sum(product) filter (where not is_after), 0) as before_product,
            coalesce(sum(product) filter (where is_after), 0) as after_product
        from part
        group by number, stratum
    ),
    cost as (
        select
            *,
            before_us / before_uploads as before_rate,
            after_us / after_uploads as after_rate,
            greatest(0, before_us2 - before_us ^ 2 / before_uploads) as before_squares,
            greatest(0, after_us2 - after_us ^ 2 / after_uploads) as after_squares,
            -- Variances and covariance of self time and profiled time.
            before_product - before_us * before_profiled_us / before_uploads
                + after_product - after_us * after_profiled_us / after_uploads as products
        from paired
        join layer using (stratum)
        where is_common
    ),
    as_observed as (
        select
            number,
            sum(weight * before_rate) as before_mean,
            sum(weight * after_rate) as after_mean,
            -- The null hypothesis: both sides have the same variance in a stratum.
            sum(weight ^ 2 * (before_squares + after_squares) / (before_uploads + after_uploads - 2)
                * (1 / before_uploads + 1 / after_uploads)) as variance,
            sum((weight / before_uploads) ^ 2 * before_squares * before_uploads / (before_uploads - 1)) as before_variance,
            sum((weight / after_uploads) ^ 2 * after_squares * after_uploads / (after_uploads - 1)) as after_variance,
            sum(weight ^ 2 * products / (before_uploads + after_uploads - 2)
                * (1 / before_uploads + 1 / after_uploads)) as covariance,
            sum(before_squares + after_squares) as squares,
            sum(products) as products,
            -- The effective number of uploads that cost comes from, and each side's expected part.
            sum(before_us + after_us) / sum(before_us2 + after_us2)
                * sum((before_us + after_us) * before_uploads / (before_uploads + after_uploads)) as before_effective,
            sum(before_us + after_us) / sum(before_us2 + after_us2)
                * sum((before_us + after_us) * after_uploads / (before_uploads + after_uploads)) as after_effective,
            least(
                sum(before_us) ^ 2 / nullif(sum(before_us2), 0), sum(after_us) ^ 2 / nullif(sum(after_us2), 0)) as least_observed
        from cost
        group by number
    ),
    -- growth: the share of a function's time that grows with an upload's length; 0 for functions that run at load only.
    growing as (
        select
            *,
            case
                when not by_length then 0
                when not shows_growth then 1
                else coalesce(greatest(0, least(1, products / whole.length_squares / nullif(proportional, 0))), 0)
            end as growth
        from (
            select *, (before_mean + after_mean) / (whole.before_length + whole.after_length) as proportional
            from as_observed
        ) as observed
    ),
    sloped as (
        select
            *,
            growth * proportional as slope,
            case when by_length and shows_growth
                then longer_us ^ 2 * greatest(0, squares - 2 * growth * proportional * products
                    + (growth * proportional) ^ 2 * whole.length_squares)
                    / (whole.common_before + whole.common_after) / whole.length_squares
                else 0
            end as slope_variance
        from growing
    ),
    -- Assumes that the uploads of both sides are equally long.
    estimate as (
        select
            number,
            before_mean * (1 + growth * longer_us * after_weight / whole.before_length) as before_mean,
            after_mean * (1 - growth * longer_us * (1 - after_weight) / whole.after_length) as after_mean,
            growth,
            greatest(0, variance - 2 * slope * covariance + slope ^ 2 * whole.length_variance) + slope_variance as variance,
            before_variance + slope_variance / 2 as before_variance,
            after_variance + slope_variance / 2 as after_variance,
            before_effective, after_effective, least_observed
        from sloped
    ),
    known as materialized (
        select
            *,
            (whole.common_before * before_mean + whole.common_after * after_mean)
                / (whole.common_before + whole.common_after) as mean
        from estimate
        where least(before_effective, after_effective) >= least_effective
    ),
    -- Hours as clusters: the ratio of the variance of hours' sums to that of independent uploads.
    stratum_hour as materialized (
        select
            false as is_after, stratum, device, bucket, hours as length, uploads
        from compared_hour_totals((compared_functions.before).segment_hours, false, strata)
        union all
        select true, stratum, device, bucket, hours, uploads
        from compared_hour_totals((compared_functions.after).segment_hours, true, strata)
    ),
    hour_total as materialized (
        select is_after, device, bucket, max(length) as length, sum(uploads) as uploads
        from stratum_hour
        group by is_after, device, bucket
    ),
    side_total as materialized (
        select is_after, sum(uploads) as uploads, count(distinct bucket) as hours from hour_total group by is_after
    ),
    obstacle as materialized (
        select case
            when not evidence.is_enough then evidence.undecided
            when coalesce(whole.share, 0) < least_share then 'not comparable'
        end as side_verdict,
        -- A single day, where hours are gone, does not show how much days differ.
        not evidence.takes_reference and (select min(hours) from side_total) < 2 as is_one_day
    ),
    class_total as materialized (
        select is_after, device, sum(uploads) as uploads
        from (
            select false as is_after, device, before_uploads as uploads from layer
            union all
            select true, device, after_uploads from layer
        ) as side
        group by is_after, device
        having sum(uploads) > 0
    ),
    class_cost as materialized (
        select
            number, is_after, device,
            us / uploads as rate,
            greatest(0, us2 - us ^ 2 / uploads) as squares
        from (
            select number, is_after, device, sum(self_us) as us, sum(spread ^ 2) as us2
            from part
            join layer using (stratum)
            where number in (select number from known)
            group by number, is_after, device
        ) as class
        join class_total using (is_after, device)
    ),
    function_hour as materialized (
        select is_after, number, bucket, sum(self_us) as self_us
        from (
            select false as is_after, part.*
            from wanted
            cross join lateral compared_hours(before_hours, frame_ids, numbers) as part
            union all
            select true, part.*
            from wanted
            cross join lateral compared_hours(after_hours, frame_ids, numbers) as part
            union all
            select false, number, bucket, -self_us
            from (select * from wanted where left_out_ids <> '{}') as wanted
            cross join lateral compared_hours((before_left_out).hours, frame_ids, numbers)
            union all
            select true, number, bucket, -self_us
            from (select * from wanted where left_out_ids <> '{}') as wanted
            cross join lateral compared_hours((after_left_out).hours, frame_ids, numbers)
        ) as part
        group by is_after, number, bucket
    ),
    -- Functions that one side lacks. A day counts as that many hours with equal costs.
    one_sided_hours as (
        select number, sum(self_us) ^ 2 / sum(self_us ^ 2 / length) as effective
        from function_hour
        join (select is_after, bucket, max(length) as length from hour_total group by is_after, bucket) as hour
            using (is_after, bucket)
        where self_us > 0 and number in (select number from sums where least(before_uploads, after_uploads) = 0)
        group by number
    ),
    hour_cost as (
        select number, is_after, bucket, sum(us) as residual
        from (
            select number, is_after, bucket, -rate * uploads as us
            from class_cost
            join hour_total using (is_after, device)
            union all
            select number, is_after, bucket, self_us
            from function_hour
        ) as hour
        group by number, is_after, bucket
    ),
    between_hours as (
        select number, is_after, sum((residual / uploads) ^ 2 * hours / (hours - 1)) as variance
        from hour_cost
        join side_total using (is_after)
        where hours > 1
        group by number, is_after
    ),
    -- The variance of independent uploads, if both sides had the same.
    within_hours as (
        select number, is_after, sum(squares / greatest(all_uploads - 2, 1) * class_total.uploads / side_total.uploads ^ 2) as variance
        from (select number, device, sum(squares) as squares from class_cost group by number, device) as class
        join (select device, sum(uploads) as all_uploads from class_total group by device) as device using (device)
        join class_total using (device)
        join side_total using (is_after)
        where hours > 1
        group by number, is_after
    ),
    -- Each side by itself: one side's hours may have few uploads of a function, the other side's many.
    side_hours as materialized (
        select
            number, is_after, hours, within_hours.variance as within_variance, coalesce(between_hours.variance, 0) as between_variance,
            per_hour / (per_hour + 35) * (hours - 1) as own_df
        from (
            select
                number, is_after, hours, case when is_after then after_uploads else before_uploads end / hours::double precision as per_hour
            from sums
            cross join side_total
        ) as side
        join within_hours using (number, is_after)
        left join between_hours using (number, is_after)
    ),
    clustered as (
        select
            known.*,
            coalesce(sums_of_hours.ratio, 1) as ratio,
            -- The ratio's growth with the variance of hours (of logarithms): great for what all uploads run.
            coalesce(mean ^ 2 * sums_of_hours.signal, 0) as signal,
            per_hour / (per_hour + 35) * ((select sum(hours) from side_total) - 2) as own_df
        from known
        join (
            select number, least(before_uploads, after_uploads) / nullif((select max(hours) from side_total), 0) as per_hour
            from (select number, before_uploads::double precision, after_uploads::double precision from sums) as sums
        ) as sums using (number)
        left join (
            select
                number, sum(between_variance) / nullif(sum(within_variance), 0) as ratio,
                sum(1 / hours::double precision) / nullif(sum(within_variance), 0) as signal
            from side_hours
            group by number
        ) as sums_of_hours using (number)
    ),
    mean_hours as materialized (
        select
            greatest(1, coalesce(sum(own_df * ratio) / nullif(sum(own_df), 0), 1)) as ratio,
            greatest(0, coalesce(
                sum(own_df * (ratio - 1) / nullif(usual + signal, 0)) / nullif(sum(own_df * signal / nullif(usual + signal, 0)), 0), 0)) as drift
        from clustered
        -- A function that hardly varies, whose signal is huge, counts as one of many.
        cross join (select percentile_cont(0.5) within group (order by signal) as usual from clustered) as signals
    ),
    -- The more functions differ from what is expected beyond chance, the fewer prior degrees of freedom: the variance of
    -- ln(ratio) is trigamma(own_df / 2) + trigamma(prior_df / 2) (Smyth). Squares are capped, so that a single function
    -- counts little.
    prior as materialized (
        select case
            when evidence.takes_reference or coalesce(beyond_chance, 0) <= 0 then most_prior_df
            else least(most_prior_df, (1 + sqrt(1 + 2 * beyond_chance)) / beyond_chance)
        end as prior_df
        from (
            select sum(own_df * (least((logarithm - mean) ^ 2, 9 * by_chance) - by_chance)) / nullif(sum(own_df), 0) as beyond_chance
            from (
                select *, sum(own_df * logarithm) over () / sum(own_df) over () as mean
                from (
                    select
                        own_df, 2 / own_df + 2 / own_df ^ 2 as by_chance,
                        ln(greatest(clustered.ratio, 0.01) / greatest(mean_hours.ratio, 1 + drift * signal)) + 1 / own_df as logarithm
                    from clustered
                    cross join mean_hours
                    where own_df >= 4
                ) as function
            ) as function
        ) as function
    ),
    widened as (
        select
            clustered.*,
            prior_df,
            greatest(1, coalesce(sides.widening, mean_hours.ratio)) as widening,
            greatest(1, coalesce(sides.before_widening, mean_hours.ratio)) as before_widening,
            greatest(1, coalesce(sides.after_widening, mean_hours.ratio)) as after_widening
        from clustered
        cross join mean_hours
        cross join prior
        left join (
            select
                number,
                sum(within_variance * widening) / nullif(sum(within_variance), 0) as widening,
                min(widening) filter (where not is_after) as before_widening,
                min(widening) filter (where is_after) as after_widening
            from (
                select
                    number, is_after, within_variance,
                    (prior_df / 2 * greatest(mean_hours.ratio, 1 + coalesce(drift * mean ^ 2 / hours / nullif(within_variance, 0), 0))
                        + own_df * coalesce(between_variance / nullif(within_variance, 0), 1)) / (prior_df / 2 + own_df) as widening
                from side_hours
                join known using (number)
                cross join mean_hours
                cross join prior
            ) as side
            group by number
        ) as sides using (number)
    ),
    -- A side of few hours does not show how much hours differ. The hours before do: the variance of their sums beyond
    -- that of independent uploads, each device by itself.
    reference_hour as materialized (
        select number, bucket, rate.us as expected, uploads, coalesce(self_us, 0) as self_us
        from (
            select number, bucket, sum(rate * uploads) as us, sum(uploads) as uploads
            from (
                select device, bucket, sum(uploads) as uploads
                from compared_hour_totals(reference.segment_hours, false, strata)
                where evidence.takes_reference
                group by device, bucket
            ) as hour
            join (select number, device, rate from class_cost where not is_after) as class using (device)
            group by number, bucket
        ) as rate
        left join (
            select part.*
            from wanted
            cross join lateral compared_hours(reference.hours, frame_ids, numbers) as part
            where evidence.takes_reference
        ) as cost using (number, bucket)
    ),
    -- The variance of one upload, each device by itself.
    square as (
        select number, sum(squares) / (select sum(uploads) - 2 from class_total) as square from class_cost group by number
    ),
    reference_ratio as (
        select
            number, hours,
            sum((self_us - scale * expected) ^ 2) * hours / (hours - 1) / sum(uploads)
                / nullif(max(square), 0) as ratio,
            sum(uploads) / hours / (sum(uploads) / hours + 35) * (hours - 1) as own_df
        from (
            select
                *, count(*) over function as hours, sum(self_us) over function / nullif(sum(expected) over function, 0) as scale
            from reference_hour
            window function as (partition by number)
        ) as hour
        join square using (number)
        where hours > 1
        group by number, hours
    ),
    reference_noise as (
        select
            number,
            -- The variance of one hour beyond that of independent uploads, as a variance of the logarithm.
            greatest(1, ratio, (most_prior_df * mean_ratio + own_df * ratio) / (most_prior_df + own_df)) as ratio,
            (hours * square
                / (select sum(uploads) from (select distinct bucket, uploads from reference_hour) as hour)) as within_variance
        from (select *, sum(own_df * ratio) over () / nullif(sum(own_df) over (), 0) as mean_ratio from reference_ratio) as function
        join square using (number)
    ),
    logarithm as (
        select
            number,
            own_df + prior_df as df,
            growth,
            -- A mean of 0 counts as half of the mean that one effective upload would give.
            ln(greatest(after_mean, mean / after_effective / 2) / greatest(before_mean, mean / before_effective / 2)) as difference,
            before_mean > 0 and after_mean > 0 as is_ratio,
            least_observed,
            -- A function that never varies would outweigh all others in the common change.
            greatest(sqrt(greatest(variance * widening, hourly_variance)) / mean, least_error) as error,
            -- For an interval: each side has its own variance, which few uploads underestimate.
            greatest(least_error, sqrt(greatest(
                before_widening * before_variance / nullif(before_mean, 0) ^ 2
                    + after_widening * after_variance / nullif(after_mean, 0) ^ 2,
                greatest(variance * widening, hourly_variance) / mean ^ 2))) as own_error
        from (
            select
                widened.*,
                -- Degrees of freedom from uploads or from hours, whichever varies more.
                coalesce(greatest(
                    variance * noise.ratio,
                    variance + (noise.ratio - 1) * within_variance * (1.0 / evidence.before_hours + 1.0 / evidence.after_hours)), 0)
                    as hourly_variance
            from widened
            left join reference_noise as noise using (number)
        ) as widened
        where mean > 0
    ),
    -- A function that only one side has is not tested: it is new or gone.
    tested as materialized (
        select logarithm.*
        from logarithm
        join sums using (number)
        where before_uploads > 0 and after_uploads > 0
    ),
    first_common as (
        select *
        from common_change((select array_agg(difference) from tested), (select array_agg(error) from tested))
        where compared_functions.machines is null
        union all
        select machines[1], machines[2] where compared_functions.machines is not null
    ),
    first_judged as materialized (
        select
            *,
            p <= coalesce(max(p) filter (where p <= 0.05 * place / functions) over (), -1) as is_changed
        from (
            select *, row_number() over (order by p) as place, count(*) over () as functions
            from (
                select
                    tested.*,
                    p_of_t(
                        judged_change(
                            beyond(difference - common, parts_change), after_weight, least_observed < least_effective)
                            / sqrt(error ^ 2 + common_error ^ 2), df) as p
                from tested
                cross join first_common
            ) as tested
        ) as tested
    ),
    -- Again, without functions that changed on their own.
    second_common as (
        select *
        from common_change(
            (select array_agg(difference) from first_judged where not is_changed),
            (select array_agg(error) from first_judged where not is_changed))
        where compared_functions.machines is null
        union all
        select machines[1], machines[2] where compared_functions.machines is not null
    ),
    -- Unrecorded causes, such as another browser, scatter functions that did not change.
    unchanged as materialized (
        select change_scatter(array_agg(beyond(difference - common, parts_change)), array_agg(error)) as scatter
        from first_judged
        cross join second_common
        where not is_changed
    ),
    judged as materialized (
        select
            *,
            tail <= coalesce(max(tail) filter (where tail <= evidence.false_share * place / functions) over (), -1) as is_changed,
            tail <= coalesce(max(tail) filter (where tail <= 0.05 * place / functions) over (), -1) as is_likely
        from (
            select *, row_number() over (order by tail) as place, count(*) over () as functions
            from (
                select
                    *,
                    case
                        when not compared_functions.one_sided then p
                        when difference > common then p / 2
                        else 1 - p / 2
                    end as tail
                from (
                    select
                        tested.*, p_of_t(t, df) as p
                    from (
                        select
                            tested.*, common, sqrt(common_error ^ 2 + scatter ^ 2) as reference_error,
                            judged_change(
                                beyond(difference - common, parts_change), after_weight, least_observed < least_effective)
                                / sqrt(error ^ 2 + common_error ^ 2 + scatter ^ 2) as t
                        from tested
                        cross join second_common
                        cross join unchanged
                    ) as tested
                ) as tested
            ) as tested
        ) as tested
    ),
    -- Each side's cost beyond the other side's mean, by hour. One visitor, or an outage, adds it in a few hours of one
    -- side.
    flagged as materialized (
        select number, is_after, common, growth
        from judged
        cross join (values (false), (true)) as side (is_after)
        where is_changed
    ),
    expected as (
        select
            number, is_after, stratum,
            -- A stratum that the other side lacks counts as without excess.
            case
                when not is_common then coalesce(own.us / nullif(case when is_after then after_uploads else before_uploads end, 0), 0)
                when is_after then coalesce(before_rate, 0) * exp(common) * (1 + growth * longer_us / whole.before_length)
                else coalesce(after_rate, 0) / exp(common) * (1 - growth * longer_us / whole.after_length)
            end as rate
        from flagged
        cross join layer
        left join (select number, stratum, before_rate, after_rate from cost) as cost using (number, stratum)
        left join (
            select number, is_after, stratum, sum(self_us) as us from part group by number, is_after, stratum
        ) as own using (number, is_after, stratum)
    ),
    excess as (
        select number, is_after, bucket, sum(us) as us
        from (
            select number, is_after, bucket, -sum(rate * uploads) as us
            from expected
            join stratum_hour using (is_after, stratum)
            group by number, is_after, bucket
            union all
            select number, is_after, bucket, self_us
            from function_hour
            join flagged using (number, is_after)
        ) as hour
        group by number, is_after, bucket
    ),
    -- For each side: the effective number of hours, and the difference that is left without any three hours in a row,
    -- in its standard errors. Independent uploads alone make hours unequal, so part of the inequality does not count.
    excess_hours as (
        select
            number, is_after,
            min((all_us - window_us) / nullif(all_us, 0) / nullif(sqrt(1 - window_uploads / all_uploads), 0)) as least_left,
            sum(us) ^ 2 / nullif(greatest(
                sum(us ^ 2 / length) - least(min(noise), sum(us ^ 2 / length) / 3), sum(us) ^ 2 / sum(length)), 0) as effective
        from (
            select
                number, is_after, us, length, sum(us) over side as all_us, sum(us) over three as window_us,
                sum(uploads) over side as all_uploads, sum(uploads) over three as window_uploads
            from excess
            join (
                select is_after, bucket, max(length) as length, sum(uploads) as uploads from hour_total group by is_after, bucket
            ) as hour using (is_after, bucket)
            window
                side as (partition by number, is_after),
                three as (
                    partition by number, is_after order by bucket range between current row and interval '2 hours' following)
        ) as hour
        join (
            select number, is_after, within_variance * uploads ^ 2 / (select max(length) from hour_total) as noise
            from side_hours
            join side_total using (is_after)
        ) as side using (number, is_after)
        group by number, is_after
    ),
    fewest_hours as (
        select number, min(effective) as effective, min(least_left) as least_left from excess_hours group by number
    ),
    -- The same without any one stratum, if hours are too few to leave some out: one visitor has one device and one
    -- page.
    excess_strata as (
        select number, min(least_left) as least_left
        from (
            select
                number, is_after,
                min((all_us - us) / nullif(all_us, 0) / nullif(sqrt(greatest(0, 1 - uploads / all_uploads)), 0)) as least_left
            from (
                select
                    *, sum(us) over side as all_us, sum(uploads) over side as all_uploads
                from (
                    select
                        number, is_after, stratum, coalesce(self_us, 0) - rate * uploads as us, uploads
                    from expected
                    join (
                        select is_after, stratum, sum(uploads) as uploads from stratum_hour group by is_after, stratum
                    ) as total using (is_after, stratum)
                    left join part using (number, is_after, stratum)
                ) as stratum
                window side as (partition by number, is_after)
            ) as stratum
            group by number, is_after
        ) as side
        group by number
        having count(least_left) = 2
    ),
    spread as (
        select
            number,
            fewest_hours.effective >= least_effective_hours and fewest_hours.least_left * abs(t) >= least_z
                or evidence.takes_reference and excess_strata.least_left * abs(t) >= least_z as is_spread
        from judged
        left join fewest_hours using (number)
        left join excess_strata using (number)
    ),
    -- How long to wait at this traffic: errors shrink with the square root of hours.
    awaiting as (
        select
            case
                when error is null or error <= awaited / evidence.visible_z and (evidence.undecided is null or evidence.is_enough) then null
                else greatest(0, least(
                    greatest(evidence.least_hours, evidence.after_hours * (error * evidence.later_visible_z / awaited) ^ 2),
                    case when evidence.undecided = 'early' and evidence.is_enough
                        then evidence.after_hours * (error * evidence.visible_z / awaited) ^ 2 end) - evidence.after_hours)
            end as hours
        from (
            select percentile_cont(0.5) within group (order by sqrt(error ^ 2 + reference_error ^ 2)) as error
            from judged
            join sums using (number)
            where before_uploads >= everywhere * whole.before_uploads and after_uploads >= everywhere * whole.after_uploads
        ) as function
    )
    select
        function_key,
        frame_id,
        before_self_us / 1000 / nullif(whole.before_loads, 0),
        after_self_us / 1000 / nullif(whole.after_loads, 0),
        before_total_us / 1000 / nullif(whole.before_loads, 0),
        after_total_us / 1000 / nullif(whole.after_loads, 0),
        case when is_ratio then exp(difference) - 1 end,
        case when is_ratio then exp(difference - 2 * own_error) - 1 end,
        case when is_ratio then exp(difference + 2 * own_error) - 1 end,
        case when is_ratio then exp(difference - common) - 1 end,
        case when is_ratio then exp(difference - common - 2 * sqrt(own_error ^ 2 + reference_error ^ 2)) - 1 end,
        case when is_ratio then exp(difference - common + 2 * sqrt(own_error ^ 2 + reference_error ^ 2)) - 1 end,
        case when is_ratio and is_likely and coalesce(side_verdict, evidence.undecided) in ('early', 'not enough data') then
            case
                when difference > common then nullif(greatest(0, exp(difference - common - 2 * sqrt(own_error ^ 2 + reference_error ^ 2)) - 1), 0)
                else nullif(least(0, exp(difference - common + 2 * sqrt(own_error ^ 2 + reference_error ^ 2)) - 1), 0)
            end
        end,
        case when side_verdict is null and not is_one_day then visible end,
        case when side_verdict is null then judged.p end,
        case
            when side_verdict is not null then side_verdict
            when least(before_uploads, after_uploads) = 0 and not is_stable then 'unmatched'
            when known.number is null then 'too few'
            when least(before_uploads, after_uploads) = 0
                and coalesce(one_sided_hours.effective, 0) < least_effective_hours then coalesce(evidence.undecided, 'too few')
            when before_uploads = 0 then 'new'
            when after_uploads = 0 then 'gone'
            when is_changed and not coalesce(is_spread, false) then coalesce(evidence.undecided, 'too few')
            when is_changed and difference > common then 'slower'
            when is_changed and not compared_functions.one_sided then 'faster'
            when visible > exp(awaited) - 1 then coalesce(evidence.undecided, 'no change seen')
            else 'no change seen'
        end,
        least(before_uploads, whole.before_uploads::bigint),
        least(after_uploads, whole.after_uploads::bigint),
        samples,
        (select exp(common) - 1 from second_common where common_error > 0),
        (select common_error from second_common),
        coalesce(whole.share, 0),
        by_length or parts_change > 0,
        (select hours from awaiting)
    from sums
    cross join obstacle
    left join known using (number)
    left join one_sided_hours using (number)
    left join (
        select *, exp(parts_change + evidence.visible_z * sqrt(error ^ 2 + reference_error ^ 2)) - 1 as visible from judged
    ) as judged using (number)
    left join spread using (number);
end
$$;

comment on function fleetprof_data.compared_functions is
    'Compares two sides; a row per function that either has. Columns as in fleetprof.compare_releases, and: frame_id, the frame to show; common_change and comparable_share as in compare_summary; common_error: standard error of common_change, as a logarithm; by_time: the uploads of the two sides differ in length, and functions were compared as if they did not. one_sided: looks for slower functions only. by, own: compares groups of functions, as frame_groups has them; frame_id is one of the group. machines: the common change (a logarithm) and its error to use, instead of those of the compared functions.';

create or replace function fleetprof_data.compared_machines(
    before        fleetprof_data.compared_side,
    after         fleetprof_data.compared_side,
    out change    double precision,
    out error     double precision,
    out is_median boolean
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    least_functions constant integer := 5;
begin
    with function as materialized (
        select common_change, common_error, ln(1 + change) as difference, ln((1 + change_high) / (1 + change_low)) / 4 as error
        from compared_functions(compared_machines.before, compared_machines.after, false)
        -- A change beyond all numbers is none.
        where least(change, change_low) > -1
    )
    select coalesce(known, few.common), case when known is null then few.common_error else known_error end, known is null
    into change, error, is_median
    from (select ln(1 + max(common_change)) as known, max(common_error) as known_error from function) as function
    cross join lateral common_change(
        (select array_agg(difference) from function where error > 0),
        (select array_agg(error) from function where error > 0), least_functions) as few
    where known is not null or few.common_error > 0;
end
$$;

comment on function fleetprof_data.compared_machines is
    'Returns what the functions of two sides changed by in common, as a logarithm, and its standard error; of 5 to 29 functions their median (is_median), which is too little to judge functions by; nulls of fewer.';

revoke execute on function fleetprof_data.compared_functions, fleetprof_data.compared_machines from public;
grant execute on function fleetprof_data.compared_functions, fleetprof_data.compared_machines to fleetprof_reader;
