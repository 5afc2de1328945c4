-- SPDX-License-Identifier: Apache-2.0
-- Sentences about a site at a glance: the command line, the report and Grafana take their words from here.

create or replace function fleetprof_data.number_words(value double precision)
returns text
language sql immutable parallel safe
return case
    when value is null then '–'
    when abs(value) >= 99.95 then to_char(value, 'FM999,999,999,999,990')
    when abs(value) >= 9.995 then to_char(value, 'FM9990.0')
    when value = 0 then '0'
    when abs(value) >= 0.01 then to_char(value, 'FM9990.00')
    when value is not null then '< 0.01'
end;

comment on function fleetprof_data.number_words is 'Returns a number as people read it, with three digits or more.';

create or replace function fleetprof_data.counted_words(value bigint, noun text)
returns text
language sql immutable parallel safe
return to_char(value, 'FM999,999,999,999,999,990') || ' ' || noun || case when value = 1 then '' else 's' end;

comment on function fleetprof_data.counted_words is 'Returns a number of things, in words.';

create or replace function fleetprof_data.percent_words(share double precision)
returns text
language sql immutable parallel safe
return fleetprof_data.number_words(100 * share) || ' %';

comment on function fleetprof_data.percent_words is 'Returns a share in percent, in words.';

create or replace function fleetprof_data.change_words(change double precision)
returns text
language sql immutable parallel safe
return case
    when change > 999 then '> 1,000 times'
    when change >= 8.995 then to_char(1 + change, 'FM9990') || ' times'
    else to_char(100 * change, 'FMSG9990') || ' %'
end;

comment on function fleetprof_data.change_words is 'Returns a relative change, in words.';

create or replace function fleetprof_data.time_words(moment timestamptz)
returns text
language sql stable parallel safe
return to_char(moment at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC';

comment on function fleetprof_data.time_words is 'Returns a time to the minute, in words.';

create or replace function fleetprof_data.vital_words(vital text, value double precision)
returns text
language sql immutable parallel safe
return case
    when value is null then '–'
    when case vital
        -- {{each vital: when '$name' then '$unit'}}
    end = 'ms' then fleetprof_data.number_words(value) || ' ms'
    else fleetprof_data.number_words(value / 1000)
end;

comment on function fleetprof_data.vital_words is 'Returns a value of a web vital, in words.';

create or replace function fleetprof_data.vital_rating(vital text, value double precision)
returns text
language sql immutable parallel safe
return case
    when value is null then null
    when 1000 * value <= fleetprof_data.vital_good_us(vital) then 'good'
    when 1000 * value <= fleetprof_data.vital_poor_us(vital) then 'needs improvement'
    else 'poor'
end;

comment on function fleetprof_data.vital_rating is 'Returns the rating of a value of a web vital, which is in its unit.';

create or replace function fleetprof_data.overview_of_release(
    -- {{filters}},
    with_rows boolean default true
)
returns table (
    part           text,
    name           text,
    verdict        text,
    sentence       text,
    value          double precision,
    unit           text,
    change         double precision,
    before_release text,
    after_release  text
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- {{given}}
    most constant integer := 5;
    names record;
    found record;
    since_when text;
    before_name text;
    after_name text;
    found_verdict text;
begin
    -- Releases of several sites do not follow each other, and some releases alone are not those that are compared.
    if overview_of_release.release <> '%' or overview_of_release.exclude_release is not null
        or (select count(distinct site) from segment where matches(site, given.site)) <> 1 then
        return;
    end if;
    names := latest_releases(
        site => overview_of_release.site,
        -- {{each but release: $name => overview_of_release.$name, exclude_$name => overview_of_release.exclude_$name,}}
        release => null);
    if names.previous is null then
        return query select
            'release', names.latest, 'not comparable', 'No release has one before it, so nothing says what a release changed.',
            null::double precision, null, null::double precision, null, names.latest;
        return;
    end if;
    select * into found
    from fleetprof.compare_summary(
        site => overview_of_release.site,
        -- {{each but release: $name => overview_of_release.$name, exclude_$name => overview_of_release.exclude_$name,}}
        before => literal_filter(names.previous), after => literal_filter(names.latest));
    before_name := coalesce(nullif(left(names.previous, 60), ''), '(none)');
    after_name := left(names.latest, 60);
    since_when := coalesce(', since ' || time_words(lower(found.after_hours)), '');
    found_verdict := case
        when found.before_uploads > 0 and found.after_uploads > 0 then
            case
                when found.slower > 0 then 'slower'
                when found.obstacle is not null then found.obstacle
                when found.faster > 0 then 'faster'
                else 'no change seen'
            end
        else 'early'
    end;
    return query select
        'release', names.latest, found_verdict,
        case
            when (found.before_uploads > 0 and found.after_uploads > 0) is not true
                then format('There is nothing to compare between %s and %s.', after_name, before_name)
            when found_verdict = 'slower'
                then format('%s made %s slower%s', after_name, counted_words(found.slower, 'function'), since_when)
            when found_verdict = 'early' then format('It is too early to judge %s against %s.', after_name, before_name)
            when found.obstacle is not null
                then format('%s and %s cannot be compared: %s.', after_name, before_name, found.obstacle)
            else format('%s made no function slower than %s%s%s', after_name, before_name,
                case when found.faster > 0 then format(', and %s faster', counted_words(found.faster, 'function')) else '' end,
                since_when)
        end,
        null::double precision, null, null::double precision, names.previous, names.latest;
    if not with_rows then
        return;
    end if;
    return query
    select
        'function', function, verdict,
        format('%s %s, %s → %s ms per page load (%s)', left(function, 80), verdict, number_words(before_self_ms),
            number_words(after_self_ms), change_words(own_change)),
        after_self_ms, 'ms', own_change, names.previous, names.latest
    from fleetprof.compare_releases(
        site => overview_of_release.site,
        -- {{each but release: $name => overview_of_release.$name, exclude_$name => overview_of_release.exclude_$name,}}
        before => literal_filter(names.previous), after => literal_filter(names.latest))
    where verdict = found_verdict and found_verdict in ('slower', 'faster') and not is_agent
    limit most;
    return query
    select
        'visitors', name, verdict,
        format('%s p75 %s, %s → %s', name, verdict, vital_words(name, before_value), vital_words(name, after_value))
            || case when verdict = 'no change seen' then '' else format(' (%s)', change_words(change)) end,
        after_value, unit, change, names.previous, names.latest
    from fleetprof.compare_vitals(
        site => overview_of_release.site,
        -- {{each but release: $name => overview_of_release.$name, exclude_$name => overview_of_release.exclude_$name,}}
        before => literal_filter(names.previous), after => literal_filter(names.latest))
    where percentile = 75 and verdict in ('slower', 'faster', 'no change seen');
end
$$;

comment on function fleetprof_data.overview_of_release is
    'Returns what fleetprof.overview says about the latest release; with_rows: also about its functions, and what visitors felt.';

create or replace function fleetprof_data.overview_of_needs(
    -- {{filters}}
)
returns table (name text, verdict text, sentence text, value double precision)
language plpgsql stable parallel safe rows 8
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    most_functions constant integer := 50;
    stale_after constant interval := '3 hours';
begin
    return query
    with covered as materialized (
        select *
        from fleetprof.coverage(
            -- {{arguments}}
        )
    ),
    refused as (
        select sum(records)::bigint as records, (array_agg(reason order by records desc, reason))[1] as reason
        from fleetprof.refusals(
            -- {{arguments}}
        )
    ),
    hung as (
        select sum(count)::bigint as documents
        from fleetprof.hangs(
            -- {{arguments}}
        )
    ),
    hour as materialized (
        select *
        from fleetprof.summary(
            -- {{arguments}}
        )
    ),
    total as (
        select
            sum(profiled_ms) as profiled_ms, sum(unseen_ms) as unseen_ms, sum(unattributed_ms) as unattributed_ms,
            max(bucket + hours * interval '1 hour') as newest
        from hour
    ),
    exceeded as (
        select count(*) as budgets, count(*) filter (where is_over) as over, min(name) filter (where is_over and number = 1) as first
        from (
            select name, verdict = 'over' as is_over, row_number() over (partition by verdict = 'over' order by ordinality) as number
            from fleetprof.budgets(
                -- {{arguments}}
            ) with ordinality
        ) as budget
    ),
    -- Nobody names a function with two letters far right in a line by hand.
    named as (
        select
            count(*) as functions,
            count(*) filter (
                where kind = 'function' and resource = generated_resource and column_number > 1
                    and function ~ '^[[:alnum:]_$]{1,2}$') as short
        from fleetprof.hotspots(
            -- {{arguments}},
            top => most_functions)
    ),
    line (place, name, is_fine, sentence, value) as (
        select
            1, 'coverage',
            case when no_policy > 0 then false when sampled > 0 then delivered >= 0.9 * sampled else loads is not null end,
            case
                when loads is null then 'No page load says whether it was profiled'
                when no_policy > 0 then counted_words(no_policy, 'sampled page load') || ' got no Document-Policy header'
                when sampled > 0 then percent_words(delivered / sampled::double precision) || ' of sampled page loads arrived'
                else format('%s of %s are profiled', to_char(profiled, 'FM999,999,999,999,999,990'), counted_words(loads, 'page load'))
            end,
            case when no_policy > 0 then no_policy when sampled > 0 then delivered / sampled::double precision else profiled end
        from (values (1)) as always
        left join covered on true
        union all
        select
            2, 'refusals', records is null,
            coalesce(counted_words(records, 'record') || ' refused: ' || left(reason, 60), 'No record was refused'),
            coalesce(records, 0)
        from refused
        union all
        select 3, 'hangs', false, counted_words(documents, 'document') || ' hung or crashed', documents
        from hung
        where documents > 0
        union all
        select
            4, 'unseen', unseen_ms / (profiled_ms + unseen_ms) < 0.2,
            percent_words(unseen_ms / (profiled_ms + unseen_ms)) || ' of the watched time is unseen',
            unseen_ms / (profiled_ms + unseen_ms)
        from total
        where profiled_ms + unseen_ms > 0
        union all
        select
            5, 'unattributed', true,
            percent_words(unattributed_ms / profiled_ms) || ' of the profiled time is idle or has no visible stack',
            unattributed_ms / profiled_ms
        from total
        where profiled_ms > 0
        union all
        select
            6, 'newest', newest >= now() - stale_after, 'Newest data: ' || time_words(newest - interval '1 hour'),
            null
        from total
        -- An earlier end leaves out newer data.
        where newest is not null and overview_of_needs.until >= now()
        union all
        select
            7, 'minified', false,
            format('%s of the %s costliest functions have minified names: add a function table', short, functions), short
        from named
        where short > 0
        union all
        select
            8, 'budgets', over = 0,
            case when over = 0 then 'No budget is exceeded' else counted_words(over, 'budget') || ' exceeded: ' || left(first, 80) end, over
        from exceeded
        where budgets > 0
    )
    select name, case when is_fine then 'fine' else 'wrong' end, sentence, value
    from line
    order by place;
end
$$;

comment on function fleetprof_data.overview_of_needs is
    'Returns what fleetprof.overview says to who runs the site. value: the number that was judged; null of newest.';

create or replace function fleetprof.overview(
    -- {{filters}},
    of_part text default null
)
returns table (
    part           text,
    name           text,
    verdict        text,
    sentence       text,
    value          double precision,
    unit           text,
    change         double precision,
    before_release text,
    after_release  text
)
language plpgsql stable parallel safe rows 30
-- {{settings}}
as $$
#variable_conflict use_column
declare
    parts constant text[] := '{release,function,visitors,vital,scripts,fix_first,third_party,need}';
    release_parts constant text[] := '{release,function,visitors}';
    most constant integer := 5;
    wanted constant text := overview.of_part;
    found record;
    changes jsonb := '{}';
    loads double precision;
    script_ms double precision;
begin
    if wanted <> all(parts) then
        raise invalid_parameter_value using
            message = format('there is no part "%s" of the overview', wanted),
            hint = format('of_part is one of %s; null is all.', array_to_string(parts, ', '));
    end if;
    if wanted is null or wanted = any(release_parts || '{vital}') then
        for found in
            select *
            from overview_of_release(
                -- {{arguments}},
                with_rows => wanted is distinct from 'release')
        loop
            if found.part = 'visitors' and found.verdict in ('slower', 'faster') then
                changes := changes || jsonb_build_object(found.name, found.change);
            end if;
            continue when wanted <> found.part or found.part = 'visitors' and found.name not in ('INP', 'LCP');
            return query select
                found.part, found.name, found.verdict, found.sentence, found.value, found.unit, found.change,
                found.before_release, found.after_release;
        end loop;
    end if;
    if wanted is null or wanted = 'vital' then
        return query
        select
            'vital', name, vital_rating(name, p75),
            format('%s p75 %s: %s', name, vital_words(name, p75), vital_rating(name, p75))
                || coalesce(', ' || change_words((changes ->> name)::double precision) || ' since the release before', ''),
            p75, unit, (changes ->> name)::double precision, null, null
        from fleetprof.vitals(
            -- {{arguments}}
        );
    end if;
    if wanted is null or wanted in ('scripts', 'third_party') then
        select sum(loads), sum(summary.script_ms) into loads, script_ms
        from fleetprof.summary(
            -- {{arguments}}
        );
    end if;
    if (wanted is null or wanted = 'scripts') and loads > 0 then
        return query select
            'scripts', null, null, format('Scripts take %s ms per page load', number_words(script_ms / loads)), script_ms / loads, 'ms',
            null::double precision, null, null;
    end if;
    if wanted is null or wanted = 'fix_first' then
        return query
        select
            'fix_first', name, null,
            format('%s: %s %s → %s ms', left(name, 80), vital, number_words(p75_ms), number_words(p75_ms - gain_ms))
                || case when party = 'third' then ', third party' else '' end || coalesce(', on ' || left(routes, 80), '')
                || coalesce(', since ' || time_words(begins), '') || coalesce(' with ' || left(nullif(nearest_release, ''), 60), ''),
            gain_ms, 'ms', null::double precision, null, null
        from fleetprof.fix_first(
            -- {{arguments}},
            top => 2 * most)
        -- Nobody can do without the site's own scripts.
        where kind <> 'host' or party is distinct from 'first'
        limit most;
    end if;
    if wanted is null or wanted = 'third_party' then
        return query
        select
            'third_party', host, null,
            left(host, 80) || case when self_ms is null then ': no function seen' else format(': %s ms per page load', number_words(self_ms / loads)) end
                || case when opaque_share > 0.5 then ', loading time unknown: no Timing-Allow-Origin' else '' end,
            self_ms / loads, 'ms', null::double precision, null, null
        from fleetprof.third_parties(
            -- {{arguments}}
        )
        where party = 'third' and loads > 0
        limit most;
    end if;
    if wanted is null or wanted = 'need' then
        return query
        select
            'need', name, verdict, sentence, value, null, null::double precision, null, null
        from overview_of_needs(
            -- {{arguments}}
        );
    end if;
end
$$;

comment on function fleetprof.overview is
    -- {{comment of overview}};

create or replace function fleetprof.overview_of_sites(
    of_site text default null,
    since   timestamptz default null,
    until   timestamptz default null
)
returns table (
    site      text,
    verdict   text,
    sentence  text,
    lcp_ms    double precision,
    inp_ms    double precision,
    cls       double precision,
    busy_ms   double precision,
    wrong     bigint,
    loads     bigint,
    last_hour timestamptz,
    worst     double precision
)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    judged_by constant text[] := '{LCP,INP,CLS}';
begin
    return query
    select
        one.site, found.verdict, found.sentence, found.lcp, found.inp, found.cls / 1000, found.busy_ms, found.wrong, one.loads,
        one.last_hour, found.worst
    from fleetprof.sites() as one
    cross join lateral (
        select
            max(verdict) filter (where part = 'release') as verdict,
            max(sentence) filter (where part = 'release') as sentence,
            max(value) filter (where part = 'vital' and name = 'LCP') as lcp,
            max(value) filter (where part = 'vital' and name = 'INP') as inp,
            max(value) filter (where part = 'vital' and name = 'CLS') as cls,
            max(value) filter (where part = 'scripts') as busy_ms,
            count(*) filter (where part = 'need' and verdict = 'wrong') as wrong,
            -- A slower release comes before a slow site.
            coalesce(max(10) filter (where part = 'release' and verdict = 'slower'), 0)
                + coalesce(max(1000 * value / vital_poor_us(name)) filter (where part = 'vital' and name = any(judged_by)), 0) as worst
        from unnest('{release,vital,scripts,need}'::text[]) as asked
        cross join lateral fleetprof.overview(
            literal_filter(one.site), coalesce(overview_of_sites.since, now() - interval '1 day'),
            coalesce(overview_of_sites.until, now()), of_part => asked)
    ) as found
    where matches(one.site, coalesce(overview_of_sites.of_site, '%'))
    order by worst desc, one.loads desc, one.site;
end
$$;

comment on function fleetprof.overview_of_sites is
    -- {{comment of overview_of_sites}};

revoke execute on function
    fleetprof_data.number_words, fleetprof_data.counted_words, fleetprof_data.percent_words, fleetprof_data.change_words,
    fleetprof_data.time_words, fleetprof_data.vital_words, fleetprof_data.vital_rating, fleetprof_data.overview_of_release,
    fleetprof_data.overview_of_needs, fleetprof.overview, fleetprof.overview_of_sites
from public;
grant execute on function
    fleetprof_data.number_words, fleetprof_data.counted_words, fleetprof_data.percent_words, fleetprof_data.change_words,
    fleetprof_data.time_words, fleetprof_data.vital_words, fleetprof_data.vital_rating, fleetprof_data.overview_of_release,
    fleetprof_data.overview_of_needs, fleetprof.overview, fleetprof.overview_of_sites
to fleetprof_reader;
