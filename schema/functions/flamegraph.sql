-- SPDX-License-Identifier: Apache-2.0
-- Flame graphs as rows, and as Grafana reads them.

create or replace function fleetprof.flamegraph(
    -- {{filters of samples}},
    min_share double precision default 0.001,
    fold      text default null
)
returns table (
    ordinal           integer,
    level             integer,
    function          text,
    resource          text,
    line              integer,
    column_number     integer,
    self_ms           double precision,
    total_ms          double precision,
    samples           bigint,
    self_ms_per_load  double precision,
    total_ms_per_load double precision,
    busy_share        double precision,
    is_agent          boolean,
    function_key       text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 1000
-- {{settings}}
set work_mem = '64MB'
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    markers smallint[] := select_markers(flamegraph.marker, flamegraph.exclude_marker);
    whole record := selected_totals(selected);
    tree record;
    frame_ids bigint[];
begin
    if (flamegraph.min_share between 0 and 1) is not true then
        raise invalid_parameter_value using
            message = format('min_share is %s', coalesce(flamegraph.min_share::text, 'null')),
            hint = 'min_share is a share of the profiled time, from 0 (all stacks) to 1.';
    end if;

    tree := call_tree(selected, markers, flamegraph.min_share, flamegraph.fold);
    frame_ids := array(
        select distinct frame_id
        from (select unnest(tree.ordinals) as ordinal, unnest(tree.frame_ids) as frame_id) as node
        where ordinal is not null);
    return query
    with node as materialized (
        select *
        from (
            select
                unnest(tree.ordinals) as ordinal, unnest(tree.levels) as level, unnest(tree.frame_ids) as frame_id,
                unnest(tree.self_sums) as self_us, unnest(tree.total_sums) as total_us, unnest(tree.sample_sums) as samples
        ) as node
        where ordinal is not null
    ),
    named as materialized (
        select
            frame_id,
            coalesce(function, package_label(frame_id, tree.packages)) as function,
            resource,
            line,
            column_number,
            coalesce(function_key, package_key(frame_id, tree.packages))::text as function_key,
            generated_resource,
            generated_line,
            generated_column,
            -- The function call alone costs more than the rest of the row.
            generated_resource like '%fleetprof%' and fleetprof.is_agent(generated_resource) as is_agent
        from unnest(frame_ids) as frame_id
        left join unnest(tree.names) using (frame_id)
    )
    select
        ordinal,
        level,
        case level when 0 then '(all)' else function end,
        resource,
        line,
        column_number,
        self_us / 1000::double precision,
        total_us / 1000::double precision,
        samples,
        self_us::double precision / 1000 / whole.loads,
        total_us::double precision / 1000 / whole.loads,
        self_us::double precision / whole.attributed_us,
        coalesce(is_agent, false),
        function_key,
        generated_resource,
        generated_line,
        generated_column
    from node
    left join named using (frame_id)
    order by ordinal;
end
$$;

comment on function fleetprof.flamegraph is
    -- {{comment of flamegraph}};

create or replace function fleetprof.flamegraph_grafana(
    -- {{filters of samples}},
    min_share double precision default 0.001,
    fold      text default null
)
returns table (level integer, value double precision, label text, self double precision)
language plpgsql stable parallel safe rows 1000
-- {{settings}}
as $$
#variable_conflict use_column
begin
    return query
    select level, total_ms, frame_label(function, resource, line, column_number), self_ms
    from fleetprof.flamegraph(
        -- {{arguments}},
        min_share => flamegraph_grafana.min_share, fold => flamegraph_grafana.fold)
    order by ordinal;
end
$$;

comment on function fleetprof.flamegraph_grafana is
    -- {{comment of flamegraph_grafana}};

revoke execute on function fleetprof.flamegraph, fleetprof.flamegraph_grafana from public;
grant execute on function fleetprof.flamegraph, fleetprof.flamegraph_grafana to fleetprof_reader;
