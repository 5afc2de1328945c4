-- SPDX-License-Identifier: Apache-2.0
-- Time to first byte: the server's share of it, by what the server's cache did.

create or replace function fleetprof_data.ttfb_values(
    selected  fleetprof_data.selection,
    dimension text default null
)
returns table (
    member       text,
    cache        text,
    count        bigint,
    p75_ms       double precision,
    mean_ms      double precision,
    server_ms    double precision,
    network_ms   double precision,
    server_share double precision
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        member,
        nullif(name, ''),
        count,
        p75_us / 1000,
        sum_us / count / 1000,
        server_us / count / 1000,
        (sum_us - server_us) / count / 1000,
        server_us / nullif(sum_us, 0)
    from (
        -- One row per kind.
        select
            member,
            name,
            max(count) filter (where kind = 'ttfb') as count,
            max(p75_us) filter (where kind = 'ttfb') as p75_us,
            max(sum_us) filter (where kind = 'ttfb') as sum_us,
            max(sum_us) filter (where kind = 'ttfb_server') as server_us
        from timing_values(ttfb_values.selected, '{ttfb,ttfb_server}', dimension => ttfb_values.dimension)
        group by member, name
    ) as kinds
    where count > 0;
end
$$;

comment on function fleetprof_data.ttfb_values is
    'Returns the rows of fleetprof.ttfb_parts, in any order. With a dimension, also by its values; the selection must then keep that dimension.';

create or replace function fleetprof.ttfb_parts(
    -- {{filters}}
)
returns table (
    cache        text,
    count        bigint,
    p75_ms       double precision,
    mean_ms      double precision,
    server_ms    double precision,
    network_ms   double precision,
    server_share double precision
)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
begin
    return query
    select cache, count, p75_ms, mean_ms, server_ms, network_ms, server_share
    from ttfb_values(selected)
    order by count desc, cache collate "C" nulls first;
end
$$;

comment on function fleetprof.ttfb_parts is
    -- {{comment of ttfb_parts}};

create or replace function fleetprof.ttfb_parts_by(
    dimension text,
    -- {{filters}}
)
returns table (
    value        text,
    cache        text,
    count        bigint,
    p75_ms       double precision,
    mean_ms      double precision,
    server_ms    double precision,
    network_ms   double precision,
    server_share double precision
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(kept_apart(given, dimension_of(ttfb_parts_by.dimension)));
begin
    return query
    select member, cache, count, p75_ms, mean_ms, server_ms, network_ms, server_share
    from ttfb_values(selected, ttfb_parts_by.dimension)
    order by count desc, member collate "C", cache collate "C" nulls first;
end
$$;

comment on function fleetprof.ttfb_parts_by is
    -- {{comment of ttfb_parts_by}};

revoke execute on function
    fleetprof_data.ttfb_values, fleetprof.ttfb_parts, fleetprof.ttfb_parts_by
from public;
grant execute on function
    fleetprof_data.ttfb_values, fleetprof.ttfb_parts, fleetprof.ttfb_parts_by
to fleetprof_reader;
