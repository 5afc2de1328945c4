-- SPDX-License-Identifier: Apache-2.0
-- The change point: the hour from which a function, a timing or a group has another level.
--
-- Each hour's value is compared with the other hours of the same time of day, working days and weekends apart. Of all hours
-- that could begin a new level, the one that explains most is taken, if chance hardly explains as much.

create or replace function fleetprof_data.season_step(
    level_values double precision[],
    weights      double precision[],
    seasons      integer[],
    place        integer
)
returns double precision
language sql immutable parallel safe
return (
    select sum(weight * (value - season_mean)) filter (where number >= place)
    from (
        select number, value, weight, sum(weight * value) over alike / nullif(sum(weight) over alike, 0) as season_mean
        from unnest(level_values, weights, seasons) with ordinality as hour (value, weight, season, number)
        window alike as (partition by season)
    ) as hour);

comment on function fleetprof_data.season_step is
    'Returns the weighted sum of how far the hours from a place on are above their season''s mean. level_values, weights and seasons are parallel.';

create or replace function fleetprof_data.level_shift(
    buckets         timestamptz[],
    level_values    double precision[],
    weights         double precision[],
    zone            text,
    out place       integer,
    out low_place   integer,
    out high_place  integer,
    out change      double precision,
    out change_low  double precision,
    out change_high double precision,
    out p           double precision
)
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    hours constant integer := cardinality(level_shift.buckets);
    -- The fewest hours of a level.
    least_side constant integer := 12;
    least_hours constant integer := 72;
    -- Hours further away than so many deviations are clipped: an outage of two hours is not a level.
    most_deviations constant double precision := 3;
    -- The likelihood ratio that bounds the begin of a level with a probability of 95 % (Eo and Morley).
    sure_ratio constant double precision := 7.35;
    season integer[]; -- 1 to 48
    weight double precision[];
    season_weight double precision[] := array_fill(0::double precision, array[48]);
    season_sum double precision[] := array_fill(0::double precision, array[48]);
    after_weight double precision[];
    mean double precision;
    scale double precision;
    as_seen double precision[]; -- shares of the mean
    x double precision[]; -- the same, outliers drawn near
    score double precision := 0; -- of all hours from here on
    information double precision := 0;
    each_score double precision[];
    each_information double precision[];
    best double precision := 0;
    step double precision;
    s integer;
    block integer;
    ratio double precision;
    spread double precision := 1; -- how much more sums of hours vary than sums of independent hours
    residual double precision[];
    seen double precision;
    df double precision;
    z double precision;
    share double precision;
    level double precision; -- before the step
begin
    if hours < least_hours then
        return;
    end if;
    season := array(
        select (extract(hour from local) + case when extract(isodow from local) > 5 then 25 else 1 end)::integer
        from unnest(level_shift.buckets) with ordinality as hour (bucket, number)
        cross join lateral (select bucket at time zone level_shift.zone as local) as clock
        order by number);
    mean := (select sum(value * weight) / nullif(sum(weight), 0) from unnest(level_shift.level_values, level_shift.weights) as hour (value, weight));
    if coalesce(mean, 0) <= 0 then
        return;
    end if;
    weight := array(select weight * hours / sum(weight) over () from unnest(level_shift.weights) with ordinality as hour (weight, number) order by number);

    -- Takes the season twice: clips hours far from the first one, then takes it again.
    as_seen := array(select value / mean from unnest(level_shift.level_values) with ordinality as hour (value, number) order by number);
    x := as_seen;
    for round in 1..2 loop
        select array_agg(coalesce(season_mean, 0) order by number), array_agg(coalesce(total, 0) order by number)
        into season_sum, season_weight
        from generate_series(1, 48) as number
        left join (
            select season, sum(weight * value) / nullif(sum(weight), 0) as season_mean, sum(weight) as total
            from unnest(season, x, weight) as hour (season, value, weight)
            group by season
        ) as mean on season = number;
        scale := 1.4826 * (
            select percentile_cont(0.5) within group (order by abs(sqrt(weight) * (value - season_sum[season])))
            from unnest(season, x, weight) as hour (season, value, weight)
            where weight > 0 and season_weight[season] > weight);
        if coalesce(scale, 0) = 0 then
            scale := 1e-3;
        end if;
        if round = 1 then
            x := array(
                select case when weight > 0 then season_sum[season] + greatest(least(value - season_sum[season], most_deviations * scale / sqrt(weight)), -most_deviations * scale / sqrt(weight)) else season_sum[season] end
                from unnest(season, x, weight) with ordinality as hour (season, value, weight, number)
                order by number);
        end if;
    end loop;
    x := array(
        select value - season_sum[season]
        from unnest(season, x) with ordinality as hour (season, value, number)
        order by number);

    -- How much a new level from each hour on explains, after the season is subtracted.
    after_weight := array_fill(0::double precision, array[48]);
    each_score := array_fill(0::double precision, array[hours]);
    each_information := array_fill(0::double precision, array[hours]);
    for number in reverse hours..2 loop
        s := season[number];
        if season_weight[s] > 0 then
            information := information - after_weight[s] * (1 - after_weight[s] / season_weight[s]);
            after_weight[s] := after_weight[s] + weight[number];
            information := information + greatest(0, after_weight[s] * (1 - after_weight[s] / season_weight[s]));
        end if;
        score := score + weight[number] * x[number];
        each_score[number] := score;
        each_information[number] := information;
        if number > least_side and number <= hours - least_side + 1 and information > 0.02 * hours
            and score ^ 2 / information > best then
            best := score ^ 2 / information;
            place := number;
        end if;
    end loop;
    if place is null then
        return;
    end if;
    step := each_score[place] / each_information[place];

    -- The residuals, and the variance of their sums over blocks of hours.
    select array_agg(value - step * (case when number >= place then 1 else 0 end - later / nullif(all_weight, 0)) order by number)
    into residual
    from (
        select
            number, value, sum(weight) over (partition by season) as all_weight,
            sum(case when number >= place then weight else 0 end) over (partition by season) as later
        from unnest(season, x, weight) with ordinality as hour (season, value, weight, number)
    ) as hour;
    seen := (
        select sum(weight * value ^ 2) / greatest(count(*) - (select count(*) from unnest(season_weight) as each_weight where each_weight > 0) - 1, 1)
        from unnest(residual, weight) as hour (value, weight)
        where weight > 0);
    foreach block in array '{3,6,12,24,48}'::integer[] loop
        continue when hours / block < 6;
        ratio := (
            select avg(total ^ 2 / nullif(variance, 0))
            from (
                select sum(weight * value) as total, sum(weight) * seen as variance
                from unnest(residual, weight) with ordinality as hour (value, weight, number)
                group by (number - 1) / block
            ) as sums);
        -- A block contributed to the levels and seasons that were subtracted.
        spread := greatest(spread, ratio / (1 - 2.0 * block / hours));
    end loop;
    seen := greatest(seen * spread, 1e-8);
    -- Few blocks estimate the variance of hours badly: a third of a day is one degree of freedom.
    df := hours / 8.0;
    z := (8 * df + 1) / (8 * df + 3) * sqrt(df * ln(1 + best / seen / df));
    -- The probability of a maximum over many hours (James, James and Siegmund).
    share := greatest(0.01, least_side::double precision / hours);
    p := case
        when z < 2 then 1
        else least(1, z * exp(-(least(z, 37) ^ 2) / 2) / sqrt(2 * pi()) * ((1 - 1 / z ^ 2) * ln(((1 - share) / share) ^ 2) + 4 / z ^ 2))
    end;
    select min(number), max(number)
    into low_place, high_place
    from unnest(each_score, each_information) with ordinality as hour (score, information, number)
    where information > 0 and (best - score ^ 2 / information) / seen <= sure_ratio;

    -- The step of what was seen; then that of hours clipped around both levels. What is clipped around one level only, as
    -- above, draws a level of few hours near, but not as far as its season.
    step := fleetprof_data.season_step(as_seen, weight, season, place) / each_information[place];
    as_seen := array(
        select value - case when number >= place then step else 0 end
        from unnest(as_seen) with ordinality as hour (value, number)
        order by number);
    x := array(
        select middle + greatest(least(value - middle, most_deviations * scale / sqrt(weight)), -most_deviations * scale / sqrt(weight))
        from (
            select number, season, value, nullif(weight, 0) as weight
            from unnest(as_seen, weight, season) with ordinality as hour (value, weight, season, number)
        ) as hour
        left join (
            select season, percentile_cont(0.5) within group (order by value) as middle
            from unnest(as_seen, weight, season) as hour (value, weight, season)
            where weight > 0
            group by season
        ) as usual using (season)
        order by number);
    step := step + fleetprof_data.season_step(x, weight, season, place) / each_information[place];
    -- Nothing but rounding may be left of a level of 0.
    level := (
        select case when sum(weight * value) / sum(weight) > 1e-9 then sum(weight * value) / sum(weight) end
        from unnest(x, weight) as hour (value, weight)
        where weight > 0);
    change := step / level;
    change_low := (step - 2 * sqrt(seen / each_information[place])) / level;
    change_high := (step + 2 * sqrt(seen / each_information[place])) / level;
end
$$;

comment on function fleetprof_data.level_shift is
    'Returns the hour (its place) from which values have another level, the range of hours that contains it with 95 %, the change as a share with its interval, and the probability of such a change by chance; nulls if there are too few values. buckets: hours in order, with their values and weights; zone: the time zone of days and weekends.';

create or replace function fleetprof_data.dated_shifts(
    side         fleetprof_data.compared_side,
    zone         text,
    numbers      integer[],
    buckets      timestamptz[],
    level_values double precision[],
    weights      double precision[]
)
returns table (
    number          integer,
    begins          timestamptz,
    begins_from     timestamptz,
    begins_until    timestamptz,
    change          double precision,
    change_low      double precision,
    change_high     double precision,
    p               double precision,
    nearest_release text,
    release_began   timestamptz
)
language plpgsql stable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- The limit is strict, because people look at many trends.
    most_p constant double precision := 0.01;
begin
    return query
    with shift as materialized (
        select number, series.buckets, shift.*
        from (
            select
                number,
                array_agg(bucket order by bucket) as buckets,
                array_agg(level_value order by bucket) as level_values,
                array_agg(weight order by bucket) as weights
            from unnest(dated_shifts.numbers, dated_shifts.buckets, dated_shifts.level_values, dated_shifts.weights)
                as hour (number, bucket, level_value, weight)
            group by number
        ) as series
        cross join lateral level_shift(series.buckets, series.level_values, series.weights, dated_shifts.zone) as shift
        where shift.p <= most_p
    ),
    -- A release seen in the first hour may have begun earlier.
    began as materialized (
        select release, first_hour
        from (select *, min(first_hour) over () as first_of_all from (
            select release, rollout_begin(array_agg(bucket), array_agg(uploads)) as first_hour
            from (
                select group_id as segment_id, bucket, unnest(uploads) as uploads
                from total_packed
                where is_selected((dated_shifts.side).segment_hours, sealed, group_id, bucket, span)
            ) as entry
            join segment using (segment_id)
            where uploads > 0
            group by release
        ) as life) as life
        where first_hour > first_of_all
    )
    select
        number, buckets[place], buckets[low_place], buckets[high_place], change, change_low, change_high, p, nearest.release,
        nearest.first_hour
    from shift
    left join lateral (
        select *
        from began
        where first_hour between buckets[low_place] - interval '1 hour' and buckets[high_place] + interval '1 hour'
        order by abs(extract(epoch from first_hour - buckets[place])), release
        limit 1
    ) as nearest on true;
end
$$;

comment on function fleetprof_data.dated_shifts is
    'Returns since when values have another level, and the release that began nearest to it; no row if chance explains it, or there are too few hours. numbers: which series an hour is of; parallel to buckets, level_values and weights. side: what the hours select.';

create or replace function fleetprof.change_point(
    by  text,
    key text,
    -- {{filters and vitals}}
)
returns table (
    begins        timestamptz,
    begins_from   timestamptz,
    begins_until  timestamptz,
    change        double precision,
    change_low    double precision,
    change_high   double precision,
    p             double precision,
    nearest_release text,
    release_began timestamptz
)
language plpgsql stable parallel safe rows 1
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    hours_from constant timestamptz := (select hours_from from horizon);
    side constant compared_side := compared_side(
        given, given.wanted[array_position(dimensions(), 'release')], given.since, given.until);
begin
    return query
    with load as (
        select bucket, sum(loads)::double precision as loads
        from (
            select bucket, unnest(loads) as loads
            from total_packed
            where is_selected(side.hours, sealed, group_id, bucket, span)
        ) as entry
        group by bucket
    ),
    hour as (
        select
            bucket, coalesce(value_ms, 0) as value_ms,
            coalesce(
                case when is_dimension(change_point.by) or change_point.by = any('{mark,measure,vital}') then trend.uploads else load.loads end,
                0)::double precision as weight
        from fleetprof.trend(change_point.by, change_point.key, 'hour',
            -- {{arguments}}
        ) as trend
        left join load using (bucket)
        where bucket >= hours_from
    ),
    series as (
        select
            array_agg(1) as numbers, array_agg(bucket) as buckets, array_agg(value_ms) as level_values, array_agg(weight) as weights
        from hour
    )
    select begins, begins_from, begins_until, change, change_low, change_high, p, nearest_release, release_began
    from series
    cross join lateral dated_shifts(side, fleetprof.timezone_of(change_point.site), numbers, buckets, level_values, weights);
end
$$;

comment on function fleetprof.change_point is
    -- {{comment of change_point}};

revoke execute on function fleetprof_data.season_step, fleetprof_data.level_shift, fleetprof_data.dated_shifts, fleetprof.change_point from public;
grant execute on function fleetprof_data.season_step, fleetprof_data.level_shift, fleetprof_data.dated_shifts, fleetprof.change_point to fleetprof_reader;
