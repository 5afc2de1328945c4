-- SPDX-License-Identifier: Apache-2.0
-- Chunks: script files that page loads load, and seldom run.

create or replace function fleetprof_data.binomial_high(successes double precision, trials double precision)
returns double precision
language plpgsql immutable strict parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    exact_up_to constant integer := 100;
    -- The quantile of 95 % on one side.
    z constant double precision := 1.6449;
    share constant double precision := binomial_high.successes / nullif(binomial_high.trials, 0);
    low double precision := share;
    high double precision := 1;
    middle double precision;
    term double precision;
    up_to double precision;
begin
    if share is null or share >= 1 then
        return share;
    end if;
    if binomial_high.successes = 0 then
        return 1 - 0.05 ^ (1 / binomial_high.trials);
    end if;
    -- Wilson's bound with a correction for continuity.
    middle := (binomial_high.successes + 0.5) / binomial_high.trials;
    if binomial_high.successes > exact_up_to or binomial_high.trials - binomial_high.successes < 1 then
        return least(1, (
            middle + z ^ 2 / (2 * binomial_high.trials)
            + z * sqrt(greatest(0, middle * (1 - middle)) / binomial_high.trials + (z / (2 * binomial_high.trials)) ^ 2))
            / (1 + z ^ 2 / binomial_high.trials));
    end if;
    -- Clopper and Pearson's bound, by halving.
    for step in 1..40 loop
        middle := (low + high) / 2;
        up_to := 0;
        -- The logarithm of each term: the term itself may be too small for a number.
        term := binomial_high.trials * ln(1 - middle);
        for number in 0..binomial_high.successes::integer loop
            up_to := up_to + case when term > -700 then exp(term) else 0 end;
            term := term + ln((binomial_high.trials - number) / (number + 1)) + ln(middle) - ln(1 - middle);
            exit when number + 1 >= binomial_high.trials;
        end loop;
        if up_to > 0.05 then
            low := middle;
        else
            high := middle;
        end if;
    end loop;
    return high;
end
$$;

comment on function fleetprof_data.binomial_high is
    'Returns below which share the true one of so many successes in independent trials lies with a probability of 95 %: exact up to 100 successes, with none the rule of three; then Wilson''s bound. Null without trials.';

create or replace function fleetprof.chunks(
    -- {{filters}},
    top integer default 20
)
returns table (
    script         text,
    load_share     double precision,
    ran_share      double precision,
    ran_share_high double precision,
    free_share     double precision,
    bytes          bigint,
    loads          bigint,
    ran_loads      bigint,
    page_loads     bigint,
    profiled_loads bigint
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(kept_apart(given, dimension_of('release')));
    page_hosts text[];
begin
    if chunks.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', chunks.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;
    page_hosts := array(select name from timing_values(selected, '{page_host}'));
    -- A script of another host shows its functions only if the page may read it.
    page_hosts := page_hosts || array(
        select distinct host_of(url) from resource where site = any(selected.sites) and url ~ '^https?:.*js$');
    return query
    with listed as (
        select member as release, kind, name, source as url, count, sum_us as bytes
        from timing_values(selected, '{script_loaded,script_ran}', dimension => 'release')
    ),
    whole as (
        select
            coalesce(sum(count) filter (where kind = 'script_loaded'), 0)::double precision as page_loads,
            coalesce(sum(count) filter (where kind = 'script_ran'), 0)::double precision as profiled_loads
        from listed
        where name = '' and url = ''
    ),
    named as (
        select url, script_name(url, patterns, replacements) as script
        from (select distinct url from listed where url <> '') as known
        left join lateral (
            select patterns, replacements from script_template where selected.sites = array[site]
        ) as template on true
    ),
    -- Bundlers also give several chunks of one build names that differ in their hashes only.
    ambiguous as (
        select distinct script
        from (
            select release, script
            from listed
            join named using (url)
            where kind = 'script_loaded'
            group by release, script
            having count(distinct url) > 1
        ) as several
    ),
    chunk as (
        select
            case when name <> '' then name when script in (select script from ambiguous) then url else script end as script,
            min(host_of(url)) as host,
            coalesce(sum(count) filter (where kind = 'script_loaded'), 0)::double precision as loads,
            coalesce(sum(count) filter (where kind = 'script_ran'), 0)::double precision as ran_loads,
            sum(bytes) filter (where kind = 'script_loaded') as bytes
        from listed
        left join named using (url)
        where name <> '' or url <> ''
        group by 1
        having sum(count) filter (where kind = 'script_loaded') > 0
    ),
    judged as (
        select
            script, loads, ran_loads, bytes, page_loads, profiled_loads, loads / page_loads as load_share,
            ran_loads / nullif(profiled_loads, 0) as ran_share,
            case
                when script <> '(overflow)' and (ran_loads > 0 or host = any(page_hosts))
                then binomial_high(least(ran_loads, profiled_loads), profiled_loads)
            end as ran_share_high
        from chunk
        cross join whole
    ),
    weighed as (
        -- greatest() passes over null.
        select *, case when ran_share_high is not null then greatest(0, load_share - ran_share_high) end as free_share
        from judged
    )
    select
        script, load_share, ran_share, ran_share_high, free_share, nullif(least(bytes, 2::double precision ^ 62), 0)::bigint,
        loads::bigint, ran_loads::bigint, page_loads::bigint, profiled_loads::bigint
    from weighed
    order by bytes * free_share / load_share desc nulls last, free_share desc nulls last, loads desc, script collate "C"
    limit chunks.top;
end
$$;

comment on function fleetprof.chunks is
    -- {{comment of chunks}};

revoke execute on function fleetprof_data.binomial_high, fleetprof.chunks from public;
grant execute on function fleetprof_data.binomial_high, fleetprof.chunks to fleetprof_reader;
