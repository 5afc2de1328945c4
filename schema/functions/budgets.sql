-- SPDX-License-Identifier: Apache-2.0
-- Performance budgets: what visitors wait, against what they may wait.

create or replace function fleetprof_data.listed_budgets(budgets jsonb)
returns table (
    site       text,
    place      integer,
    name       text,
    kind       text,
    what       text,
    percentile integer,
    limit_us   double precision,
    route      text
)
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        key, number::integer, item ->> 'name', item ->> 'kind', item ->> 'what',
        nullif((item ->> 'percentile')::integer, 0), (item ->> 'limit_us')::double precision,
        replace(literal_filter(nullif(item ->> 'route', '')), '*', '%')
    from jsonb_each(listed_budgets.budgets)
    cross join lateral jsonb_array_elements(value) with ordinality as listed (item, number);
end
$$;

comment on function fleetprof_data.listed_budgets is
    'Returns performance budgets as rows of performance_budget. budgets: as in keep_budgets.';

create or replace function fleetprof_data.keep_budgets(budgets jsonb)
returns void
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    changed text[];
begin
    -- Takes no lock if nothing changes.
    select array_agg(distinct site)
    into changed
    from (
        (select * from listed_budgets(keep_budgets.budgets) except select * from performance_budget)
        union all
        (select * from performance_budget where keep_budgets.budgets ? site
         except select * from listed_budgets(keep_budgets.budgets))
    ) as difference;
    if changed is null then
        return;
    end if;
    delete from performance_budget where site = any(changed);
    insert into performance_budget (site, place, name, kind, what, percentile, limit_us, route)
    select * from listed_budgets(keep_budgets.budgets) where site = any(changed)
    -- Two collectors may write the same.
    on conflict (site, place) do nothing;
end
$$;

comment on function fleetprof_data.keep_budgets is
    'Replaces the performance budgets of these sites: an object of lists by site, of {"name", "kind", "what", "percentile", 0 for the mean, "limit_us", "route", in which * is any text, empty for all}.';

create or replace function fleetprof_data.budget_steps(
    budget      fleetprof_data.performance_budget,
    selected    fleetprof_data.selection,
    navigations text[]
)
returns table (bucket timestamptz, spent double precision, loads double precision)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    kind constant text := (budget_steps.budget).kind;
    what constant text := (budget_steps.budget).what;
    limit_us constant double precision := (budget_steps.budget).limit_us;
    markers constant smallint[] := script_markers();
    wanted bigint[];
begin
    -- Citus has no plan for the joins below if nothing is selected.
    if (budget_steps.selected).segment_ids is null then
        return;
    end if;
    if (budget_steps.budget).percentile is not null then
        wanted := budget_timings(budget_steps.budget, budget_steps.navigations);
        return query
        with extreme as (
            select bucket, min(min_us) as min_us, max(max_us) as max_us
            from (
                select bucket, unnest(timing_id) as timing_id, unnest(min_us) as min_us, unnest(max_us) as max_us
                from timing_packed
                where is_selected(budget_steps.selected, sealed, group_id, bucket, span)
            ) as entry
            where timing_id = any(wanted)
            group by bucket
        ),
        histogram as (
            select bucket, bin, sum(count)::double precision as count
            from (
                select bucket, unnest(timing_id) as timing_id, unnest(bin) as bin, unnest(count) as count
                from timing_bin_packed
                where is_selected(budget_steps.selected, sealed, group_id, bucket, span)
            ) as entry
            where timing_id = any(wanted)
            group by bucket, bin
        )
        select
            bucket,
            -- A bin that has the limit inside counts in proportion to its microseconds above.
            sum(count * greatest(0, least(1, (last_us - limit_us) / (last_us - first_us + 1)))),
            sum(count)
        from (
            select bucket, count, greatest(bin_start_us(bin), min_us) as first_us, least(bin_end_us(bin), max_us) as last_us
            from histogram
            join extreme using (bucket)
        ) as bin
        group by bucket;
        return;
    end if;
    if kind = 'third_party' then
        wanted := array(
            select frame_id
            from frame_groups(
                'host',
                array(
                    select distinct frame_id
                    from (
                        select unnest(frame_id) as frame_id
                        from frame_packed
                        where is_selected(budget_steps.selected, sealed, group_id, bucket, span)
                    ) as entry),
                null)
            where is_within(name, array[what]));
    end if;
    return query
    with total as materialized (
        select
            bucket, sum(loads)::double precision as loads,
            coalesce(sum(self_us) filter (where marker = any(markers)), 0)::double precision as us
        from (
            select bucket, unnest(marker) as marker, unnest(loads) as loads, unnest(self_us) as self_us
            from total_packed
            where is_selected(budget_steps.selected, sealed, group_id, bucket, span)
        ) as entry
        group by bucket
    ),
    script as (
        select bucket, sum(self_us)::double precision as us
        from (
            select bucket, unnest(frame_id) as frame_id, unnest(self_us) as self_us
            from frame_packed
            where kind = 'third_party' and is_selected(budget_steps.selected, sealed, group_id, bucket, span)
        ) as entry
        where frame_id = any(wanted)
        group by bucket
    )
    select
        bucket,
        case
            when kind = 'js' then total.us
            -- Zero says that it did not run; browsers may hide a host's functions.
            when cardinality(wanted) > 0 then coalesce(script.us, 0)
        end,
        loads
    from total
    left join script using (bucket);
end
$$;

comment on function fleetprof_data.budget_steps is
    'Returns by block what a budget of a percentile counts: values above the limit (spent) and all values (loads); of a mean, microseconds (spent; null if no function of the third party was seen) and profiled page loads (loads).';

create or replace function fleetprof_data.budget_timings(budget fleetprof_data.performance_budget, navigations text[])
returns bigint[]
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return array(
        select timing_id
        from timing
        where kind::text = (budget_timings.budget).kind and name = (budget_timings.budget).what
            and (kind <> 'vital' or navigation = any(budget_timings.navigations)));
end
$$;

comment on function fleetprof_data.budget_timings is 'Returns the ids of the timings that a budget of a percentile is of.';

create or replace function fleetprof_data.budget_percentile(
    budget        fleetprof_data.performance_budget,
    selected      fleetprof_data.selection,
    navigations   text[],
    out value_us  double precision,
    out low_us    double precision,
    out high_us   double precision,
    out counted   bigint
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    wanted constant bigint[] := budget_timings(budget_percentile.budget, budget_percentile.navigations);
    share constant double precision := (budget_percentile.budget).percentile / 100.0;
begin
    counted := 0;
    if (budget_percentile.selected).segment_ids is null then
        return;
    end if;
    -- A value may lie anywhere in its bin, between the extremes, so the interval does not end inside a bin.
    select
        greatest(min(min_us), least(max(max_us), min(bin_middle_us(bin)) filter (where up_to >= share * whole))),
        greatest(min(min_us), min(bin_start_us(bin)) filter (where up_to >= low_rank(share, whole))),
        case when max(up_to) >= high_rank(share, max(whole)) then
            least(max(max_us), min(bin_end_us(bin)) filter (where up_to >= high_rank(share, whole))) end,
        coalesce(max(whole), 0)
    into value_us, low_us, high_us, counted
    from (
        select
            bin, sum(count) over (order by bin) as up_to, sum(count) over ()::double precision as whole
        from (
            select bin, sum(count) as count
            from (
                select unnest(timing_id) as timing_id, unnest(bin) as bin, unnest(count) as count
                from timing_bin_packed
                where is_selected(budget_percentile.selected, sealed, group_id, bucket, span)
            ) as entry
            where timing_id = any(wanted)
            group by bin
        ) as histogram
    ) as cumulative
    cross join (
        select min(min_us) as min_us, max(max_us) as max_us
        from (
            select unnest(timing_id) as timing_id, unnest(min_us) as min_us, unnest(max_us) as max_us
            from timing_packed
            where is_selected(budget_percentile.selected, sealed, group_id, bucket, span)
        ) as entry
        where timing_id = any(wanted)
    ) as extreme;
end
$$;

comment on function fleetprof_data.budget_percentile is
    'Returns the percentile of a budget, where it lies with a probability of 95 % (the upper end is null where too few values are above), and how many values it is of.';

create or replace function fleetprof_data.budget_mean(spent double precision[], loads double precision[])
returns table (value_us double precision, low_us double precision, high_us double precision, counted bigint)
language plpgsql immutable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        mean, case when hours >= (least_evidence()).effective_hours then greatest(0, mean - error) end,
        case when hours >= (least_evidence()).effective_hours then mean + error end, whole::bigint
    from (
        select
            mean, whole, count(*) as hours,
            -- Student's t for 95 %, to 1 % from 5 degrees of freedom on.
            (1.96 + 2.37 / greatest(count(*) - 1, 1) + 2.82 / greatest(count(*) - 1, 1) ^ 2)
                * sqrt(sum((each.spent - mean * each.loads) ^ 2) * count(*) / greatest(count(*) - 1, 1)) / whole as error
        from unnest(budget_mean.spent, budget_mean.loads) as each (spent, loads)
        cross join (
            select sum(sums.spent) / sum(sums.loads) as mean, sum(sums.loads) as whole
            from unnest(budget_mean.spent, budget_mean.loads) as sums (spent, loads)
            having sum(sums.loads) > 0
        ) as whole
        where each.loads > 0
        group by mean, whole
    ) as estimate;
end
$$;

comment on function fleetprof_data.budget_mean is
    'Returns the mean per page load over hours (spent, loads: in parallel) and its 95 % interval, from the scatter of the hours; an interval of nulls for too few hours.';

create or replace function fleetprof_data.budget_over_since(
    budget      fleetprof_data.performance_budget,
    given       fleetprof_data.filters,
    navigations text[],
    allowed     double precision
)
returns timestamptz
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    given.since := given.until - interval '13 days';
    return (
        with day as (
            select date_bin('24 hours', bucket, 'epoch') as day, sum(spent) > sum(loads) * budget_over_since.allowed as is_over
            from budget_steps(
                budget_over_since.budget, trend_blocks(select_segments(given), true), budget_over_since.navigations)
            group by 1
            having sum(loads) > 0
        )
        select min(day) from day where is_over and day > coalesce((select max(day) from day where not is_over), '-infinity'));
end
$$;

comment on function fleetprof_data.budget_over_since is
    'Returns the first of the UTC days up to the latest on each of which a budget was exceeded, of the last fortnight; null if it was not on the latest day.';

create or replace function fleetprof_data.judge_budget(
    budget          fleetprof_data.performance_budget,
    given           fleetprof_data.filters,
    navigations     text[],
    out value_us    double precision,
    out low_us      double precision,
    out high_us     double precision,
    out counted     bigint,
    out burn_rates  double precision[],
    out over_since  timestamptz
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    windows constant interval[] := '{1 hour,6 hours,24 hours,3 days}';
    -- The share of values, or the microseconds, that a page load may spend on average.
    allowed constant double precision := coalesce(1 - (judge_budget.budget).percentile / 100.0, (judge_budget.budget).limit_us);
    place constant integer := array_position(dimensions(), 'route');
    since timestamptz;
    hours selection;
    buckets timestamptz[];
    spent double precision[];
    loads double precision[];
begin
    given.site := literal_filter((judge_budget.budget).site);
    given.until := coalesce(given.until, now());
    given.wanted[place] := coalesce((judge_budget.budget).route, given.wanted[place]);
    since := given.since;
    if (judge_budget.budget).percentile is not null then
        select * into value_us, low_us, high_us, counted
        from budget_percentile(judge_budget.budget, select_segments(given), judge_budget.navigations);
        given.since := given.until - windows[4];
    else
        given.since := least(given.since, given.until - windows[4]);
    end if;
    hours := trend_blocks(select_segments(given), false);
    select array_agg(bucket), array_agg(step.spent), array_agg(step.loads)
    into buckets, spent, loads
    from budget_steps(judge_budget.budget, hours, judge_budget.navigations) as step;
    burn_rates := array(
        select sum(step.spent) / nullif(sum(step.loads), 0) / allowed
        from unnest(windows) with ordinality as burned (length, number)
        left join unnest(buckets, spent, loads) as step (bucket, spent, loads)
            on step.bucket >= date_bin('1 hour', given.until - length, 'epoch')
        group by number
        order by number);
    if (judge_budget.budget).percentile is null then
        select * into value_us, low_us, high_us, counted
        from budget_mean(
            array(select step.spent from unnest(buckets, spent) as step (bucket, spent) where step.bucket >= date_bin('1 hour', since, 'epoch')),
            array(select step.loads from unnest(buckets, loads) as step (bucket, loads) where step.bucket >= date_bin('1 hour', since, 'epoch')));
        if (judge_budget.budget).kind = 'third_party' and coalesce(value_us, 0) = 0 then
            value_us := null;
            low_us := null;
            high_us := null;
        end if;
    end if;
    counted := coalesce(counted, 0);
    over_since := budget_over_since(judge_budget.budget, given, judge_budget.navigations, allowed);
end
$$;

comment on function fleetprof_data.judge_budget is
    'Returns what fleetprof.budgets says of one budget, times in microseconds. burn_rates: over 1 hour, 6 hours, 24 hours and 3 days.';

create or replace function fleetprof.budgets(
    -- {{filters and vitals}}
)
returns table (
    of_site     text,
    name        text,
    unit        text,
    limit_value double precision,
    value       double precision,
    value_low   double precision,
    value_high  double precision,
    verdict     text,
    burn_1h     double precision,
    burn_6h     double precision,
    burn_24h    double precision,
    burn_3d     double precision,
    over_since  timestamptz,
    count       bigint
)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    navigations constant text[] := select_navigations(budgets.navigation, budgets.exclude_navigation);
    budget performance_budget;
    judged record;
begin
    -- Raises an error for filters that are not valid, even without a budget.
    perform select_segments(given);
    -- On Citus, a query over the table has rows of the type of a shard.
    for budget in
        select * from performance_budget where matches(site, budgets.site) order by site collate "C", place
    loop
        judged := judge_budget(budget, given, navigations);
        of_site := budget.site;
        name := budget.name;
        unit := case when budget.kind <> 'vital' then 'ms' else case budget.what
            -- {{each vital: when '$name' then '$unit'}}
        end end;
        limit_value := budget.limit_us / 1000;
        value := judged.value_us / 1000;
        value_low := judged.low_us / 1000;
        value_high := judged.high_us / 1000;
        verdict := case
            when judged.counted < (least_evidence()).few_uploads or judged.low_us is null then 'too few'
            when judged.low_us > budget.limit_us then 'over'
            when judged.high_us <= budget.limit_us then 'within'
            when judged.high_us is null then 'too few'
            else 'unsure'
        end;
        burn_1h := judged.burn_rates[1];
        burn_6h := judged.burn_rates[2];
        burn_24h := judged.burn_rates[3];
        burn_3d := judged.burn_rates[4];
        over_since := judged.over_since;
        count := judged.counted;
        return next;
    end loop;
end
$$;

comment on function fleetprof.budgets is
    -- {{comment of budgets}};

revoke execute on function
    fleetprof_data.listed_budgets, fleetprof_data.keep_budgets, fleetprof_data.budget_steps, fleetprof_data.budget_timings, fleetprof_data.budget_percentile,
    fleetprof_data.budget_mean, fleetprof_data.budget_over_since, fleetprof_data.judge_budget, fleetprof.budgets
from public;
grant execute on function
    fleetprof_data.budget_steps, fleetprof_data.budget_timings, fleetprof_data.budget_percentile,
    fleetprof_data.budget_mean, fleetprof_data.budget_over_since, fleetprof_data.judge_budget, fleetprof.budgets
to fleetprof_reader;
grant execute on function
    fleetprof_data.listed_budgets, fleetprof_data.keep_budgets, fleetprof_data.literal_filter
to fleetprof_writer;
