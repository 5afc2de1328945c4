-- SPDX-License-Identifier: Apache-2.0
-- Data that agents did not send, because it was past a limit of theirs.

create or replace function fleetprof.left_out(
    -- {{filters}}
)
returns table (
    what      text,
    loads     bigint,
    all_loads bigint,
    share     double precision,
    count     bigint
)
language plpgsql stable parallel safe rows 5
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    profiled record := selected_totals(selected);
begin
    return query
    with value as materialized (
        select kind, name, count, sum_us
        from timing_values(selected, '{coverage,left_out}')
        where source = ''
    ),
    every as (
        -- Some senders do not say whether a page load was profiled, and a load may have begun on another route.
        select greatest(
            coalesce(profiled.loads, 0) + coalesce(sum(count) filter (where kind = 'coverage' and name <> 'overload'), 0),
            max(count) filter (where kind = 'left_out'))::bigint as loads
        from value
    )
    select name, found, loads, found / nullif(loads, 0)::double precision, missing
    from (
        select
            name,
            -- A page load counts in the row that first reported any omission of it, which may be an omission of another
            -- kind.
            case name when '(any)' then max(count) over () else count end as found,
            nullif(sum_us, 0)::bigint as missing
        from value
        where kind = 'left_out'
    ) as row
    cross join every
    order by name <> '(any)', found desc, name collate "C";
end
$$;

comment on function fleetprof.left_out is
    -- {{comment of left_out}};

revoke execute on function fleetprof.left_out from public;
grant execute on function fleetprof.left_out to fleetprof_reader;
