-- SPDX-License-Identifier: Apache-2.0
-- How many requests were open.

create or replace function fleetprof.network_graph(session_id bigint)
returns table (
    at_ms         double precision,
    open_requests bigint
)
language plpgsql stable parallel safe rows 200
set search_path = fleetprof_data, pg_temp
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
begin
    -- A chain of redirects counts as one request: it opens with the first and closes with the last.
    return query
    with request as (
        select min(start_ms) as start_ms, (array_agg(end_ms))[count(*)] as end_ms
        -- Sorted before, not in the aggregate: a sort per group is slow.
        from (
            select request_id collate "C" as request_id, start_ms, end_ms
            from merged_requests(network_graph.session_id, has_headers => false)
            order by 1, attempt
        ) as sorted
        group by request_id
        having min(start_ms) is not null
    ),
    edge as (
        select start_ms as at_ms, 1 as step from request
        union all
        select greatest(start_ms, end_ms), -1 from request where end_ms is not null
    )
    select at_ms, sum(sum(step)) over (order by at_ms)::bigint
    from edge
    group by at_ms
    order by at_ms;
end
$$;

comment on function fleetprof.network_graph is
    -- {{comment of network_graph}};

revoke execute on function fleetprof.network_graph from public;
grant execute on function fleetprof.network_graph to fleetprof_reader;
