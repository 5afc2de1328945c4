-- SPDX-License-Identifier: Apache-2.0
-- Web vitals: percentiles, and shares of good and poor ones.

create or replace function fleetprof_data.vital_values(
    selected    fleetprof_data.selection,
    navigations text[],
    dimension   text default null
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
    poor_share              double precision,
    p75_low                 double precision,
    p75_high                double precision,
    flagged                 bigint
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
        case name
            -- {{each vital: when '$name' then '$unit'}}
        end,
        count,
        p50_us / 1000,
        p75_us / 1000,
        p95_us / 1000,
        good / nullif(count, 0)::double precision,
        (count - good - poor) / nullif(count, 0)::double precision,
        poor / nullif(count, 0)::double precision,
        p75_low_us / 1000,
        p75_high_us / 1000,
        flagged
    from (
        -- One row per kind.
        select
            member,
            name,
            coalesce(max(count) filter (where kind = 'vital'), 0) as count,
            coalesce(max(count) filter (where kind = 'vital_good'), 0) as good,
            coalesce(max(count) filter (where kind = 'vital_poor'), 0) as poor,
            coalesce(max(count) filter (where kind = 'vital_flagged'), 0) as flagged,
            max(p50_us) as p50_us,
            max(p75_us) as p75_us,
            max(p75_low_us) as p75_low_us,
            max(p75_high_us) as p75_high_us,
            max(p95_us) as p95_us
        from timing_values(
            vital_values.selected, '{vital,vital_good,vital_poor,vital_flagged}', dimension => vital_values.dimension,
            navigations => vital_values.navigations)
        group by member, name
    ) as vital
    where count > 0 or flagged > 0;
end
$$;

comment on function fleetprof_data.vital_values is
    'Returns the rows of fleetprof.vitals, in any order. With a dimension, also by its values; the selection must then keep that dimension.';

create or replace function fleetprof_data.vital_names()
returns text[]
language sql immutable parallel safe
return '{{{vitals}}}'::text[];

comment on function fleetprof_data.vital_names is 'Returns the names of web vitals, in the order in which they are listed.';

create or replace function fleetprof.vitals(
    -- {{filters and vitals}}
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
    poor_share              double precision,
    p75_low                 double precision,
    p75_high                double precision,
    flagged                 bigint
)
language plpgsql stable parallel safe rows 5
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    navigations text[] := select_navigations(vitals.navigation, vitals.exclude_navigation);
    selected selection := select_segments(given);
begin
    return query
    select name, unit, count, p50, p75, p95, good_share, needs_improvement_share, poor_share, p75_low, p75_high, flagged
    from vital_values(selected, navigations)
    order by array_position(vital_names(), name);
end
$$;

comment on function fleetprof.vitals is
    -- {{comment of vitals}};

create or replace function fleetprof.vitals_by(
    dimension text,
    -- {{filters and vitals}}
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
    poor_share              double precision,
    p75_low                 double precision,
    p75_high                double precision,
    flagged                 bigint
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    navigations text[] := select_navigations(vitals_by.navigation, vitals_by.exclude_navigation, vitals_by.dimension);
    selected selection := select_segments(kept_apart(given, dimension_of(vitals_by.dimension, of_vitals => true)));
begin
    return query
    select member, name, unit, count, p50, p75, p95, good_share, needs_improvement_share, poor_share, p75_low, p75_high, flagged
    from vital_values(selected, navigations, vitals_by.dimension)
    order by array_position(vital_names(), name), count desc, member collate "C";
end
$$;

comment on function fleetprof.vitals_by is
    -- {{comment of vitals_by}};

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
