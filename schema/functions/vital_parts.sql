-- SPDX-License-Identifier: Apache-2.0
-- Parts and elements of web vitals: the times that add up to a value, and the element that it belongs to.

create or replace function fleetprof_data.vital_part_values(
    selected    fleetprof_data.selection,
    navigations text[],
    dimension   text default null
)
returns table (
    member  text,
    name    text,
    part    text,
    count   bigint,
    mean_ms double precision,
    share   double precision
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        member,
        name,
        source,
        count,
        sum_us / count / 1000,
        sum_us / nullif(sum(sum_us) over (partition by member, name), 0)
    from timing_values(vital_part_values.selected, '{vital_part}', dimension => vital_part_values.dimension,
        navigations => vital_part_values.navigations)
    where count > 0;
end
$$;

comment on function fleetprof_data.vital_part_values is
    'Returns the rows of fleetprof.vital_parts, in any order. With a dimension, also by its values; the selection must then keep that dimension.';

create or replace function fleetprof_data.part_names(vital text)
returns text[]
language sql immutable parallel safe
return case vital
    -- {{each vital: when '$name' then '{$parts}'::text[]}}
end;

comment on function fleetprof_data.part_names is 'Returns the names of the parts of a vital, in the order of time.';

create or replace function fleetprof.vital_parts(
    -- {{filters and vitals}}
)
returns table (
    name    text,
    part    text,
    count   bigint,
    mean_ms double precision,
    share   double precision
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    navigations text[] := select_navigations(vital_parts.navigation, vital_parts.exclude_navigation);
    selected selection := select_segments(given);
begin
    return query
    select name, part, count, mean_ms, share
    from vital_part_values(selected, navigations)
    order by array_position(vital_names(), name), array_position(part_names(name), part);
end
$$;

comment on function fleetprof.vital_parts is
    -- {{comment of vital_parts}};

create or replace function fleetprof.vital_parts_by(
    dimension text,
    -- {{filters and vitals}}
)
returns table (
    value   text,
    name    text,
    part    text,
    count   bigint,
    mean_ms double precision,
    share   double precision
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    navigations text[] := select_navigations(vital_parts_by.navigation, vital_parts_by.exclude_navigation, vital_parts_by.dimension);
    selected selection := select_segments(kept_apart(given, dimension_of(vital_parts_by.dimension, of_vitals => true)));
begin
    return query
    select member, name, part, count, mean_ms, share
    from vital_part_values(selected, navigations, vital_parts_by.dimension)
    order by array_position(vital_names(), name), count desc, member collate "C", array_position(part_names(name), part);
end
$$;

comment on function fleetprof.vital_parts_by is
    -- {{comment of vital_parts_by}};

create or replace function fleetprof.vital_elements(
    vital text,
    -- {{filters and vitals}},
    top   integer default 100
)
returns table (
    element text,
    url     text,
    unit    text,
    count   bigint,
    share   double precision,
    p50     double precision,
    p75     double precision,
    p95     double precision
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    navigations text[] := select_navigations(vital_elements.navigation, vital_elements.exclude_navigation);
    selected selection := select_segments(given);
begin
    if vital_elements.vital is null or vital_elements.vital <> all(vital_names()) then
        raise invalid_parameter_value using
            message = coalesce('no vital is named "' || vital_elements.vital || '"', 'vital is null'),
            hint = format('Vitals are %s.', array_to_string(vital_names(), ', '));
    end if;
    return query
    select
        nullif(source, ''),
        nullif(function, ''),
        case name
            -- {{each vital: when '$name' then '$unit'}}
        end,
        count,
        count / sum(count) over ()::double precision,
        p50_us / 1000,
        p75_us / 1000,
        p95_us / 1000
    from timing_values(selected, '{vital_element}', navigations => navigations)
    where name = vital_elements.vital and count > 0
    order by count desc, source collate "C", function collate "C"
    limit vital_elements.top;
end
$$;

comment on function fleetprof.vital_elements is
    -- {{comment of vital_elements}};

revoke execute on function
    fleetprof_data.vital_part_values,
    fleetprof_data.part_names,
    fleetprof.vital_parts,
    fleetprof.vital_parts_by,
    fleetprof.vital_elements
from public;
grant execute on function
    fleetprof_data.vital_part_values,
    fleetprof_data.part_names,
    fleetprof.vital_parts,
    fleetprof.vital_parts_by,
    fleetprof.vital_elements
to fleetprof_reader;
