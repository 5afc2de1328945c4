-- The comparison itself: the steps of docs/comparison.md, one after the other.

create or replace function fleetprof_data.p_of_t(t double precision, df double precision)
returns double precision
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    -- The normal deviate of the same probability (Wallace); past 37 exp() would underflow.
    z constant double precision := least(
        (8 * p_of_t.df + 1) / (8 * p_of_t.df + 3) * sqrt(p_of_t.df * ln(1 + p_of_t.t * p_of_t.t / p_of_t.df)), 37);
    x constant double precision := z / sqrt(2::double precision);
    u constant double precision := 1 / (1 + x / 2);
begin
    -- erfc, by a rational approximation that is 1.2e-7 off at most: above 1 for t = 0.
    return least(1, u * exp(-x * x - 1.26551223 + u * (1.00002368 + u * (0.37409196 + u * (0.09678418 + u * (-0.18628806
        + u * (0.27886807 + u * (-1.13520398 + u * (1.48851587 + u * (-0.82215223 + u * 0.17087277))))))))));
end
$$;

comment on function fleetprof_data.p_of_t is
    'Returns the two-sided probability of Student''s t with df degrees of freedom, for df from about 10 on; with fewer, too great where it is small.';

create or replace function fleetprof_data.common_change(
    differences      double precision[],
    errors           double precision[],
    out common       double precision,
    out common_error double precision
)
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    common := 0;
    common_error := 0;
    -- Of few functions it would be the change of some of them.
    if cardinality(common_change.differences) < 30 then
        return;
    end if;
    select coalesce(min(difference) filter (where up_to >= half), 0), sqrt(pi() / 2 / sum(error ^ -2))
    into common, common_error
    from (
        select
            difference, error, sum(1 / error) over (order by difference) as up_to, sum(1 / error) over () / 2 as half
        from unnest(common_change.differences, common_change.errors) as tested (difference, error)
    ) as ordered;
end
$$;

comment on function fleetprof_data.common_change is
    'Returns what functions changed by in common: the median of their changes (logarithms), weighted by precision, and its own error; 0 of less than 30 functions.';

create or replace function fleetprof_data.judged_change(
    difference   double precision,
    after_weight double precision,
    is_scarce    boolean
)
returns double precision
language sql immutable parallel safe
-- The logarithm of a mean of few uploads is skewed to the left. Where the side with less time has far fewer uploads, or
-- the function in few of them, the difference of the means, over their mean, is judged instead.
return case
    when is_scarce or (difference < 0 and after_weight < 1.0 / 3) or (difference > 0 and after_weight > 2.0 / 3)
        then (exp(difference) - 1) / (1 - after_weight + after_weight * exp(difference))
    else difference
end;

comment on function fleetprof_data.judged_change is
    'Returns a change (a logarithm) on the scale on which it is judged. after_weight: share of the later side in all uploads; is_scarce: a side has the function in few uploads.';

create or replace function fleetprof_data.compared_functions(
    before    fleetprof_data.compared_side,
    after     fleetprof_data.compared_side,
    one_sided boolean
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
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint,
    samples          bigint,
    common_change    double precision,
    comparable_share double precision,
    by_time          boolean
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
    -- How much evidence a verdict takes: uploads and hours of each side, the share of later uploads in strata that both
    -- sides have; of a function, the effective number of uploads that its cost comes from, on each side.
    least_uploads constant integer := 200;
    least_hours constant integer := 12;
    least_share constant double precision := 0.5;
    least_effective constant double precision := 10;
    -- Of a function that only one side has: the effective number of hours that its cost comes from.
    least_effective_hours constant double precision := 6;
    -- How many functions are tested at most, and of how many frames: those with the most self time.
    most_functions constant integer := 1000;
    most_frames constant integer := 2000;
    strata stratum[] := array(select stratum from compared_strata(before_segments, after_segments) as stratum);
    whole record; -- totals of both sides
    frame_ids bigint[];
    numbers integer[];
    after_weight double precision; -- share of the later side in all uploads of common strata
    -- No cost is taken for known better than this.
    least_error constant double precision := 0.001;
    -- A function's prior degrees of freedom: how much it takes the mean of all for its own widening.
    prior_df constant double precision := 46;
    -- Two-sided p of 0.001, about what Benjamini and Hochberg leave, found in nine of ten cases.
    visible_z constant double precision := 3.29 + 1.28;
begin
    select
        sum(before_uploads) as before_uploads, sum(after_uploads) as after_uploads,
        sum(before_loads) as before_loads, sum(after_loads) as after_loads,
        sum(before_us) as before_us, sum(after_us) as after_us,
        sum(before_uploads) filter (where is_common) as common_before, sum(after_uploads) filter (where is_common) as common_after,
        sum(after_uploads) filter (where is_common) / nullif(sum(after_uploads), 0) as share,
        -- Uploads per page load, or part length, changed: compare shares of profiled time.
        coalesce(abs(ln(
            nullif(sum(after_uploads) filter (where is_common) / nullif(sum(after_loads) filter (where is_common), 0), 0)
            / nullif(sum(before_uploads) filter (where is_common) / nullif(sum(before_loads) filter (where is_common), 0), 0)
        )) > ln(1.05), false) as by_time
    into whole
    from (select *, least(before_uploads, after_uploads) >= 2 as is_common from unnest(strata)) as stratum;

    -- A side without uploads is no side.
    if coalesce(least(whole.before_uploads, whole.after_uploads), 0) = 0 then
        return;
    end if;
    after_weight := whole.common_after / (whole.common_before + whole.common_after);

    return query
    with sums as materialized (
        select
            *,
            row_number() over (
                order by before_self_us / whole.before_uploads + after_self_us / whole.after_uploads desc, function_key
            )::integer as number,
            -- Under-estimates nothing that could be enough once strata are known.
            ((before_self_us + after_self_us) / nullif(sqrt(before_spread ^ 2 + after_spread ^ 2), 0)) ^ 2
                >= least_effective as may_do
        from compared_sums(before_whole, after_whole)
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
    -- Cost is per upload, or per profiled time: `amount` is how much there is of either.
    layer as materialized (
        select
            *,
            before_amount * after_amount / (before_amount + after_amount)
                / sum(before_amount * after_amount / (before_amount + after_amount)) filter (where is_common) over () as weight,
            (before_amount + after_amount) / (before_uploads + after_uploads) as amount_per_upload
        from (
            select
                stratum::integer, device, before_uploads, after_uploads,
                least(before_uploads, after_uploads) >= 2 and least(before_us, after_us) > 0 as is_common,
                case when whole.by_time then before_us else before_uploads end as before_amount,
                case when whole.by_time then after_us else after_uploads end as after_amount,
                case when whole.by_time then before_us2 else before_uploads end as before_amount2,
                case when whole.by_time then after_us2 else after_uploads end as after_amount2
            from unnest(strata) with ordinality as stratum (
                before_ids, after_ids, device, before_uploads, after_uploads, before_loads, after_loads, before_us,
                after_us, before_us2, after_us2, stratum)
        ) as stratum
        where before_amount + after_amount > 0
    ),
    part as materialized (
        select false as is_after, part.*
        from wanted
        cross join lateral compared_parts(false, before_segments, strata, frame_ids, numbers) as part
        union all
        select true, part.*
        from wanted
        cross join lateral compared_parts(true, after_segments, strata, frame_ids, numbers) as part
    ),
    paired as (
        select
            number, stratum,
            coalesce(sum(self_us) filter (where not is_after), 0) as before_us,
            coalesce(sum(self_us) filter (where is_after), 0) as after_us,
            coalesce(sum(spread ^ 2) filter (where not is_after), 0) as before_us2,
            coalesce(sum(spread ^ 2) filter (where is_after), 0) as after_us2,
            coalesce(sum(case when whole.by_time then product else self_us end) filter (where not is_after), 0) as before_product,
            coalesce(sum(case when whole.by_time then product else self_us end) filter (where is_after), 0) as after_product
        from part
        group by number, stratum
    ),
    cost as (
        select
            *,
            before_us / before_amount as before_rate,
            after_us / after_amount as after_rate,
            greatest(0, before_us2 - 2 * before_us / before_amount * before_product
                + (before_us / before_amount) ^ 2 * before_amount2) as before_squares,
            greatest(0, after_us2 - 2 * after_us / after_amount * after_product
                + (after_us / after_amount) ^ 2 * after_amount2) as after_squares
        from paired
        join layer using (stratum)
        where is_common
    ),
    estimate as (
        select
            number,
            sum(weight * before_rate) as before_mean,
            sum(weight * after_rate) as after_mean,
            -- As if nothing had changed: both sides have one variance in a stratum.
            sum((weight / amount_per_upload) ^ 2 * (before_squares + after_squares) / (before_uploads + after_uploads - 2)
                * (1 / before_uploads + 1 / after_uploads)) as variance,
            sum((weight / before_amount) ^ 2 * before_squares * before_uploads / (before_uploads - 1)) as before_variance,
            sum((weight / after_amount) ^ 2 * after_squares * after_uploads / (after_uploads - 1)) as after_variance,
            -- The effective number of uploads that cost comes from, and how much of it each side would have.
            sum(before_us + after_us) / sum(before_us2 + after_us2)
                * sum((before_us + after_us) * before_uploads / (before_uploads + after_uploads)) as before_effective,
            sum(before_us + after_us) / sum(before_us2 + after_us2)
                * sum((before_us + after_us) * after_uploads / (before_uploads + after_uploads)) as after_effective,
            least(
                sum(before_us) ^ 2 / nullif(sum(before_us2), 0), sum(after_us) ^ 2 / nullif(sum(after_us2), 0)) as least_observed
        from cost
        group by number
    ),
    known as materialized (
        select
            *,
            (whole.common_before * before_mean + whole.common_after * after_mean)
                / (whole.common_before + whole.common_after) as mean
        from estimate
        where least(before_effective, after_effective) >= least_effective
    ),
    -- Hours as clusters: how much more the sums of hours vary than sums of independent uploads would.
    hour_total as materialized (
        select
            false as is_after, device, bucket, hours as length, case when whole.by_time then us else uploads end as amount
        from compared_hour_totals((compared_functions.before).segment_hours)
        union all
        select true, device, bucket, hours, case when whole.by_time then us else uploads end
        from compared_hour_totals((compared_functions.after).segment_hours)
    ),
    obstacle as materialized (
        select
            case
                when least(whole.before_uploads, whole.after_uploads) < least_uploads
                    or count(*) filter (where hours >= least_hours) < 2 then 'early'
                when coalesce(whole.share, 0) < least_share then 'not comparable'
            end as side_verdict
        from (
            select sum(length) as hours
            from (select is_after, max(length) as length from hour_total group by is_after, bucket) as hour
            group by is_after
        ) as side
    ),
    side_total as materialized (
        select is_after, sum(amount) as amount, count(distinct bucket) as hours from hour_total group by is_after
    ),
    class_total as materialized (
        select is_after, device, sum(uploads) as uploads, sum(amount) as amount, sum(amount2) as amount2
        from (
            select false as is_after, device, before_uploads as uploads, before_amount as amount, before_amount2 as amount2 from layer
            union all
            select true, device, after_uploads, after_amount, after_amount2 from layer
        ) as side
        group by is_after, device
        having sum(amount) > 0
    ),
    class_cost as materialized (
        select
            number, is_after, device,
            us / amount as rate,
            greatest(0, us2 - 2 * us / amount * product + (us / amount) ^ 2 * amount2) / (amount / uploads) ^ 2 as squares
        from (
            select
                number, is_after, device, sum(self_us) as us, sum(spread ^ 2) as us2,
                sum(case when whole.by_time then product else self_us end) as product
            from part
            join layer using (stratum)
            where number in (select number from known)
            group by number, is_after, device
        ) as class
        join class_total using (is_after, device)
    ),
    function_hour as materialized (
        select false as is_after, part.*
        from wanted
        cross join lateral compared_hours(before_hours, frame_ids, numbers) as part
        union all
        select true, part.*
        from wanted
        cross join lateral compared_hours(after_hours, frame_ids, numbers) as part
    ),
    -- Of functions that one side lacks. A day counts as so many hours with equal costs.
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
            select number, is_after, bucket, -rate * amount as us
            from class_cost
            join hour_total using (is_after, device)
            union all
            select number, is_after, bucket, self_us
            from function_hour
        ) as hour
        group by number, is_after, bucket
    ),
    between_hours as (
        select number, is_after, sum(residual ^ 2 / amount ^ 2 * hours / (hours - 1)) as variance
        from hour_cost
        join side_total using (is_after)
        where hours > 1
        group by number, is_after
    ),
    -- What independent uploads would make of it, if both sides had one variance.
    within_hours as (
        select number, is_after, sum(squares / greatest(all_uploads - 2, 1) * class_total.uploads * (class_total.amount / class_total.uploads) ^ 2
            / side_total.amount ^ 2) as variance
        from (select number, device, sum(squares) as squares from class_cost group by number, device) as class
        join (select device, sum(uploads) as all_uploads from class_total group by device) as device using (device)
        join class_total using (device)
        join side_total using (is_after)
        where hours > 1
        group by number, is_after
    ),
    -- Each side by itself: hours with few uploads of a function show little, the other side's may show a lot.
    side_hours as materialized (
        select
            number, is_after, within_hours.variance as within_variance, coalesce(between_hours.variance, 0) as between_variance,
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
            per_hour / (per_hour + 35) * ((select sum(hours) from side_total) - 2) as own_df
        from known
        join (
            select number, least(before_uploads, after_uploads) / nullif((select max(hours) from side_total), 0) as per_hour
            from (select number, before_uploads::double precision, after_uploads::double precision from sums) as sums
        ) as sums using (number)
        left join (
            select number, sum(between_variance) / nullif(sum(within_variance), 0) as ratio from side_hours group by number
        ) as sums_of_hours using (number)
    ),
    mean_hours as materialized (
        select greatest(1, coalesce(sum(own_df * ratio) / nullif(sum(own_df), 0), 1)) as ratio from clustered
    ),
    widened as (
        select
            clustered.*,
            greatest(1, coalesce(sides.widening, mean_hours.ratio)) as widening,
            greatest(1, coalesce(sides.before_widening, mean_hours.ratio)) as before_widening,
            greatest(1, coalesce(sides.after_widening, mean_hours.ratio)) as after_widening
        from clustered
        cross join mean_hours
        left join (
            select
                number,
                sum(within_variance * widening) / nullif(sum(within_variance), 0) as widening,
                min(widening) filter (where not is_after) as before_widening,
                min(widening) filter (where is_after) as after_widening
            from (
                select
                    number, is_after, within_variance,
                    (prior_df / 2 * mean_hours.ratio + own_df * coalesce(between_variance / nullif(within_variance, 0), 1))
                        / (prior_df / 2 + own_df) as widening
                from side_hours
                cross join mean_hours
            ) as side
            group by number
        ) as sides using (number)
    ),
    logarithm as (
        select
            number,
            own_df + prior_df as df,
            -- A mean of nothing is taken for half of what one effective upload would make it.
            ln(greatest(after_mean, mean / after_effective / 2) / greatest(before_mean, mean / before_effective / 2)) as difference,
            before_mean > 0 and after_mean > 0 as is_ratio,
            least_observed,
            -- What never varies would outweigh all others in the common change.
            greatest(sqrt(variance * widening) / mean, least_error) as error,
            -- Of an interval: each side has its own variance, and few uploads show too little of it.
            sqrt(greatest(
                before_widening * before_variance / nullif(before_mean, 0) ^ 2
                    + after_widening * after_variance / nullif(after_mean, 0) ^ 2,
                widening * variance / mean ^ 2)) as own_error
        from widened
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
                        judged_change(difference - common, after_weight, least_observed < least_effective)
                            / sqrt(error ^ 2 + common_error ^ 2), df) as p
                from tested
                cross join first_common
            ) as tested
        ) as tested
    ),
    -- Again, without those that changed by themselves.
    second_common as (
        select *
        from common_change(
            (select array_agg(difference) from first_judged where not is_changed),
            (select array_agg(error) from first_judged where not is_changed))
    ),
    judged as materialized (
        select
            *,
            tail <= coalesce(max(tail) filter (where tail <= 0.05 * place / functions) over (), -1) as is_changed
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
                        tested.*, common,
                        p_of_t(
                            judged_change(difference - common, after_weight, least_observed < least_effective)
                                / sqrt(error ^ 2 + common_error ^ 2), df) as p
                    from tested
                    cross join second_common
                ) as tested
            ) as tested
        ) as tested
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
        case when side_verdict is null then exp(visible_z * sqrt(error ^ 2 + (select common_error from second_common) ^ 2)) - 1 end,
        case when side_verdict is null then judged.p end,
        case
            when side_verdict is not null then side_verdict
            when least(before_uploads, after_uploads) = 0 and not is_stable then 'unmatched'
            when known.number is null then 'too few'
            when least(before_uploads, after_uploads) = 0
                and coalesce(one_sided_hours.effective, 0) < least_effective_hours then 'too few'
            when before_uploads = 0 then 'new'
            when after_uploads = 0 then 'gone'
            when is_changed and difference > common then 'slower'
            when is_changed and not compared_functions.one_sided then 'faster'
            else 'no change seen'
        end,
        before_uploads,
        after_uploads,
        samples,
        exp((select common from second_common)) - 1,
        coalesce(whole.share, 0),
        whole.by_time
    from sums
    cross join obstacle
    left join known using (number)
    left join one_sided_hours using (number)
    left join judged using (number);
end
$$;

comment on function fleetprof_data.compared_functions is
    'Compares two sides; a row per function that either has. Columns as in fleetprof.compare_releases, and: frame_id, the frame to show; common_change and comparable_share as in compare_summary; by_time: cost was compared per profiled time, not per upload, since uploads per page load differ. one_sided: looks for slower functions only.';

revoke execute on function
    fleetprof_data.compared_side, fleetprof_data.compared_strata, fleetprof_data.compared_sums,
    fleetprof_data.compared_parts, fleetprof_data.compared_hours, fleetprof_data.compared_hour_totals,
    fleetprof_data.compared_hours_span, fleetprof_data.p_of_t, fleetprof_data.common_change,
    fleetprof_data.judged_change, fleetprof_data.compared_functions
from public;
grant execute on function
    fleetprof_data.compared_side, fleetprof_data.compared_strata, fleetprof_data.compared_sums,
    fleetprof_data.compared_parts, fleetprof_data.compared_hours, fleetprof_data.compared_hour_totals,
    fleetprof_data.compared_hours_span, fleetprof_data.p_of_t, fleetprof_data.common_change,
    fleetprof_data.judged_change, fleetprof_data.compared_functions
to fleetprof_reader;
