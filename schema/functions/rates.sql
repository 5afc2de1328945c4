-- SPDX-License-Identifier: Apache-2.0
-- Rates: how many page loads of each route to sample, so that profiles teach most. A page load counts as 1 / its rate,
-- so rates may differ by route and hour without a bias.

create or replace function fleetprof_data.route_spreads(selected fleetprof_data.selection, routes text[])
returns table (route text, worst double precision, spread_us double precision)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set enable_nestloop = off
as $$
#variable_conflict use_column
declare
    functions constant integer := 20;
    -- Frames of several releases are one function.
    frames constant integer := 200;
begin
    return query
    with uploads as (
        select route, sum(uploads)::double precision as uploads
        from (
            select group_id, unnest(uploads) as uploads
            from total_packed
            where is_selected(route_spreads.selected, sealed, group_id, bucket, span)
        ) as entry
        join segment on segment_id = group_id
        where route = any(route_spreads.routes)
        group by route
    ),
    frame_sum as (
        select route, frame_id, sum(self_us) as self_us, sum(self_us2) as self_us2
        from (
            select group_id, frame_id, sum(self_us)::double precision as self_us, sum(self_us2) as self_us2
            from (
                select
                    group_id, unnest(frame_id) as frame_id, unnest(self_us) as self_us,
                    unnest(self_us2)::double precision as self_us2
                from frame_packed
                where is_selected(route_spreads.selected, sealed, group_id, bucket, span)
            ) as entry
            group by group_id, frame_id
        ) as entry
        join segment on segment_id = group_id
        where route = any(route_spreads.routes)
        group by route, frame_id
    ),
    costly as materialized (
        select *
        from (
            select *, row_number() over (partition by route order by self_us desc, frame_id) as place
            from frame_sum
            where self_us > 0
        ) as ranked
        where place <= frames
    ),
    script as materialized (
        select resource_id, url, script, patterns, replacements
        from named_resource
        where resource_id in (select resource_id from costly join frame using (frame_id))
    ),
    named as (
        select
            costly.*,
            function_key(
                function, coalesce(source, url), coalesce(source_name(source, patterns, replacements), script), line,
                column_number, kind, is_stable) as function_key
        from costly
        join original_frame using (frame_id)
        left join script using (resource_id)
        where not coalesce(fleetprof.is_agent(url), false)
    ),
    top as (
        select
            *, row_number() over (partition by route order by self_us desc, function_key) as place
        from (
            select route, function_key, sum(self_us) as self_us, sum(self_us2) as self_us2
            from named
            group by route, function_key
        ) as function
    )
    select
        route,
        sqrt(max(greatest(0, uploads * self_us2 / self_us ^ 2 - 1))),
        sqrt(sum(greatest(0, self_us2 / uploads - (self_us / uploads) ^ 2)))
    from top
    join uploads using (route)
    where place <= functions
    group by route;
end
$$;

comment on function fleetprof_data.route_spreads is
    'Returns how much the self time of the 20 costliest functions of each route varies from upload to upload. worst: the largest standard deviation of a function as a multiple of its mean; spread_us: the root of the sum of their variances, microseconds.';

create or replace function fleetprof_data.allotted(
    wanted    double precision[],
    fewest    double precision[],
    weights   double precision[],
    available double precision
)
returns double precision[]
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    low double precision := 0;
    high double precision := 1;
    middle double precision;
    total double precision;
begin
    if (select coalesce(sum(number), 0) from unnest(allotted.wanted) as number) <= allotted.available then
        return allotted.wanted;
    end if;
    total := (select sum(number) from unnest(allotted.fewest) as number);
    if total >= allotted.available then
        return array(
            select number * allotted.available / total
            from unnest(allotted.fewest) with ordinality as part (number, place)
            order by place);
    end if;
    -- From where on each part has what it wants; then the largest factor that fits.
    high := (
        select max(number / weight)
        from unnest(allotted.wanted, allotted.weights) as part (number, weight)
        where weight > 0);
    for step in 1..60 loop
        middle := (low + high) / 2;
        total := (
            select sum(least(most, greatest(least_number, middle * weight)))
            from unnest(allotted.wanted, allotted.fewest, allotted.weights) as part (most, least_number, weight));
        if total > allotted.available then
            high := middle;
        else
            low := middle;
        end if;
    end loop;
    return array(
        select least(most, greatest(least_number, low * weight))
        from unnest(allotted.wanted, allotted.fewest, allotted.weights) with ordinality as part (most, least_number, weight, place)
        order by place);
end
$$;

comment on function fleetprof_data.allotted is
    'Divides what is available in proportion to weights, at most wanted and at least least each (Neyman''s allocation, bounded); if the least are too many, in proportion to them.';

create or replace function fleetprof.rates(
    -- {{filters}},
    target        double precision default 0.1,
    least_rate    double precision default 0.0005,
    most_rate     double precision default 0.05,
    most_profiles double precision default 10000,
    top           integer default 100
)
returns table (
    page_route                text,
    loads_per_day             double precision,
    profiles_per_day          double precision,
    rate                      double precision,
    proposed_rate             double precision,
    proposed_profiles_per_day double precision,
    expected_interval         double precision,
    bound                     text
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    this_hour constant timestamptz := date_bin('1 hour', now(), 'epoch');
    -- Standard errors on each side of an interval of 95 %.
    z constant double precision := 1.96;
    -- With fewer profiles, the spread is not known.
    few constant double precision := (least_evidence()).uploads;
    selected selection;
    days double precision;
    delivered double precision;
    rows jsonb; -- routes
begin
    if (rates.target > 0 and rates.target < 1) is not true then
        raise invalid_parameter_value using
            message = format('target is %s', rates.target), hint = 'target is half an interval as a share of the value, such as 0.1 for 10 % each way.';
    elsif (rates.least_rate > 0 and rates.least_rate <= rates.most_rate and rates.most_rate <= 1) is not true then
        raise invalid_parameter_value using
            message = format('least_rate is %s and most_rate is %s', rates.least_rate, rates.most_rate),
            hint = 'Rates are above 0 and at most 1, such as 0.01 for 1 %, and least_rate is not above most_rate.';
    elsif (rates.most_profiles >= 1 and rates.most_profiles < 'infinity') is not true then
        raise invalid_parameter_value using
            message = format('most_profiles is %s', rates.most_profiles), hint = 'most_profiles is how many profiles a day the site may have, 1 or more.';
    elsif (rates.top between 1 and 1000) is not true then
        raise invalid_parameter_value using
            message = format('top is %s', rates.top), hint = 'top is how many routes get a rate of their own, from 1 to 1000.';
    end if;
    -- Whole hours only, so that rates do not depend on what the current hour has shown so far.
    given.until := least(given.until, this_hour);
    if given.since >= given.until then
        return;
    end if;
    selected := select_segments(given, by_segment => true);
    if cardinality(selected.sites) > 1 then
        raise invalid_parameter_value using
            message = format('rates are those of one site, not of %s', cardinality(selected.sites)), hint = 'Name one site.';
    end if;

    select
        jsonb_agg(row), sum(profiled) / nullif(sum(sampled), 0),
        extract(epoch from least(selected.before, this_hour) - greatest(selected.after + interval '1 hour', min(first_bucket))) / 86400
    into rows, delivered, days
    from (
        select route, sum(sampled) as sampled, sum(profiled) as profiled, sum(sampled * 1e6 / rate_ppm) as loads, min(bucket) as first_bucket
        from (
            select group_id, bucket, unnest(loads)::double precision as sampled, unnest(loads)::double precision as profiled
            from total_packed
            where is_selected(selected, sealed, group_id, bucket, span)
            union all
            select group_id, bucket, count, 0
            from (
                select group_id, bucket, unnest(timing_id) as timing_id, unnest(count)::double precision as count
                from timing_packed
                where is_selected(selected, sealed, group_id, bucket, span)
            ) as entry
            -- Page loads that stopped early have a profile.
            where timing_id = any(array(select timing_id from timing where kind = 'coverage' and name <> 'overload'))
        ) as entry
        join segment on segment_id = group_id
        where rate_ppm > 0
        group by route
    ) as row;
    if coalesce(delivered, 0) = 0 then
        return;
    end if;

    return query
    with observed as materialized (
        select
            case when place <= rates.top then route end as route, sum(sampled) as sampled, sum(profiled) as profiled,
            sum(loads) as loads
        from (
            select *, row_number() over (order by loads desc, route collate "C") as place
            from jsonb_to_recordset(rows) as row (route text, sampled double precision, profiled double precision, loads double precision)
        ) as row
        group by 1
        -- All other routes, also those that nobody has seen yet.
        union all
        select null, 0, 0, 0
    ),
    route as materialized (
        select
            route, sum(loads) / days as loads, sum(profiled) / days as profiles, sum(profiled) as profiled,
            coalesce(sum(sampled) / nullif(sum(loads), 0), (select sum(sampled) / sum(loads) from observed)) as rate
        from observed
        group by route
    ),
    known as materialized (
        select
            route.*, worst, spread_us,
            coalesce(nullif(spread_us, 0), nullif(avg(spread_us) over (), 0), 1) as weight,
            case
                when route is null then rate * loads * delivered
                when worst is null or profiled < few then few
                else (z * worst / rates.target) ^ 2
            end as needed
        from route
        left join route_spreads(selected, array(select route from route)) using (route)
    ),
    bounded as materialized (
        select
            *,
            row_number() over () as place,
            least(greatest(needed, loads * delivered * rates.least_rate), loads * delivered * rates.most_rate) as wanted,
            loads * delivered * rates.least_rate as fewest
        from known
    ),
    given_out as materialized (
        select number, place
        from unnest(allotted(
            array(select wanted from bounded order by place), array(select fewest from bounded order by place),
            array(select loads * weight from bounded order by place), rates.most_profiles)) with ordinality as part (number, place)
    )
    select
        route, loads, profiles, rate, proposed,
        loads * delivered * proposed,
        case when profiled >= few then z * worst / sqrt(nullif(loads * delivered * proposed, 0)) end,
        case
            when number < wanted * 0.999999 then case when number <= fewest * 1.000001 and number >= fewest * 0.999999 then 'least rate' else 'profiles' end
            when route is null then 'as now'
            when needed > wanted * 1.000001 then 'most rate'
            when needed < wanted * 0.999999 then 'least rate'
            when profiled < few or worst is null then 'few profiles'
            else 'target'
        end
    from (
        select
            *,
            -- As the modules round: to parts per million.
            greatest(1e-6, round(case
                when loads > 0 then number / (loads * delivered)
                else least(greatest(rate, rates.least_rate), rates.most_rate)
            end * 1e6) / 1e6) as proposed
        from bounded
        join given_out using (place)
    ) as row
    order by route is null, loads desc, route collate "C";
end
$$;

comment on function fleetprof.rates is
    -- {{comment of rates}};

revoke execute on function fleetprof_data.route_spreads, fleetprof_data.allotted, fleetprof.rates from public;
grant execute on function fleetprof_data.route_spreads, fleetprof_data.allotted, fleetprof.rates to fleetprof_reader;
