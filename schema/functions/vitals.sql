-- Web vitals: percentiles, and shares of good and poor ones.

create or replace function fleetprof_data.vital_values(
    selected  fleetprof_data.selection,
    dimension text default null
)
returns table (
    member                  text,
    name                    text,
    unit                    text,
    count                   bigint,
    p50                     double precision,
    p75                     double precision,
    p95                     double precision,
    good_share              double precision,
    needs_improvement_share double precision,
    poor_share              double precision
)
language plpgsql stable parallel safe rows 5
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        member,
        name,
        case name when 'CLS' then 'score x 1000' else 'ms' end,
        count,
        p50_us / 1000,
        p75_us / 1000,
        p95_us / 1000,
        good / count::double precision,
        (count - good - poor) / count::double precision,
        poor / count::double precision
    from (
        -- One row per kind.
        select
            member,
            name,
            max(count) filter (where kind = 'vital') as count,
            coalesce(max(count) filter (where kind = 'vital_good'), 0) as good,
            coalesce(max(count) filter (where kind = 'vital_poor'), 0) as poor,
            max(p50_us) as p50_us,
            max(p75_us) as p75_us,
            max(p95_us) as p95_us
        from timing_values(vital_values.selected, '{vital,vital_good,vital_poor}', dimension => vital_values.dimension)
        group by member, name
    ) as vital
    where count > 0;
end
$$;

comment on function fleetprof_data.vital_values is
    'Returns the rows of fleetprof.vitals, in any order; with a dimension, by its values, too, and the selection must keep it apart.';

create or replace function fleetprof_data.vital_names()
returns text[]
language sql immutable parallel safe
return '{LCP,INP,CLS,FCP,TTFB}'::text[];

comment on function fleetprof_data.vital_names is 'Returns the names of web vitals, in the order in which they are listed.';

create or replace function fleetprof.vitals(
    site        text,
    since       timestamptz default now() - interval '1 day',
    until       timestamptz default now(),
    route       text default null,
    release     text default null,
    environment text default null,
    variant     text default null,
    browser     text default null,
    os          text default null,
    device      text default null,
    thread      text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null
)
returns table (
    name                    text,
    unit                    text,
    count                   bigint,
    p50                     double precision,
    p75                     double precision,
    p95                     double precision,
    good_share              double precision,
    needs_improvement_share double precision,
    poor_share              double precision
)
language plpgsql stable parallel safe rows 5
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        vitals.site, vitals.since, vitals.until, vitals.route, vitals.release, vitals.environment, vitals.variant,
        vitals.browser, vitals.os, vitals.device, vitals.thread,
        exclude => array[
            vitals.exclude_route, vitals.exclude_release, vitals.exclude_environment, vitals.exclude_variant,
            vitals.exclude_browser, vitals.exclude_os, vitals.exclude_device, vitals.exclude_thread]);
begin
    return query
    select name, unit, count, p50, p75, p95, good_share, needs_improvement_share, poor_share
    from vital_values(selected)
    order by array_position(vital_names(), name);
end
$$;

comment on function fleetprof.vitals is
    'Returns web vitals: LCP, INP, CLS, FCP and TTFB, as far as pages have sent them. count: values. p50, p75, p95: nearest-rank percentiles, at most 1.6 % off, in unit: milliseconds, or for CLS the score x 1000. good_share, needs_improvement_share, poor_share: of the values, 0 to 1, by the thresholds of web-vitals.';

create or replace function fleetprof.vitals_by(
    dimension   text,
    site        text,
    since       timestamptz default now() - interval '1 day',
    until       timestamptz default now(),
    route       text default null,
    release     text default null,
    environment text default null,
    variant     text default null,
    browser     text default null,
    os          text default null,
    device      text default null,
    thread      text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null
)
returns table (
    value                   text,
    name                    text,
    unit                    text,
    count                   bigint,
    p50                     double precision,
    p75                     double precision,
    p95                     double precision,
    good_share              double precision,
    needs_improvement_share double precision,
    poor_share              double precision
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    dimensions constant text[] := '{route,release,environment,variant,browser,os,device,thread}';
    filters text[] := array[
        vitals_by.route, vitals_by.release, vitals_by.environment, vitals_by.variant, vitals_by.browser, vitals_by.os,
        vitals_by.device, vitals_by.thread];
    kept integer := array_position(dimensions, vitals_by.dimension);
    selected selection;
begin
    if kept is null then
        raise invalid_parameter_value using
            message = coalesce('no dimension is named "' || vitals_by.dimension || '"', 'dimension is null'),
            hint = format('Dimensions are %s.', array_to_string(dimensions, ', '));
    end if;
    -- %% matches what % matches, but counts as a filter: so the groups of the selection keep the dimension apart.
    filters[kept] := coalesce(nullif(filters[kept], '%'), '%%');
    selected := select_segments(
        vitals_by.site, vitals_by.since, vitals_by.until, filters[1], filters[2], filters[3], filters[4], filters[5],
        filters[6], filters[7], filters[8],
        exclude => array[
            vitals_by.exclude_route, vitals_by.exclude_release, vitals_by.exclude_environment,
            vitals_by.exclude_variant, vitals_by.exclude_browser, vitals_by.exclude_os, vitals_by.exclude_device,
            vitals_by.exclude_thread]);
    return query
    select member, name, unit, count, p50, p75, p95, good_share, needs_improvement_share, poor_share
    from vital_values(selected, vitals_by.dimension)
    order by array_position(vital_names(), name), count desc, member collate "C";
end
$$;

comment on function fleetprof.vitals_by is
    'Returns web vitals as fleetprof.vitals does, for each value of a dimension: route, release, environment, variant, browser, os, device or thread. value: the dimension''s value; empty where it is absent. Values with the most counts come first.';

revoke execute on function
    fleetprof_data.vital_values,
    fleetprof_data.vital_names,
    fleetprof.vitals,
    fleetprof.vitals_by
from public;
grant execute on function
    fleetprof_data.vital_values,
    fleetprof_data.vital_names,
    fleetprof.vitals,
    fleetprof.vitals_by
to fleetprof_reader;
