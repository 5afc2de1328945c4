-- Flame graphs as rows, and as Grafana reads them.

create or replace function fleetprof.flamegraph(
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
    marker      text default null,
    min_share   double precision default 0.001,
    fold        text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null, exclude_marker text default null
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
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
set work_mem = '64MB'
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        flamegraph.site, flamegraph.since, flamegraph.until, flamegraph.route, flamegraph.release,
        flamegraph.environment, flamegraph.variant, flamegraph.browser, flamegraph.os, flamegraph.device,
        flamegraph.thread,
        exclude => array[
            flamegraph.exclude_route, flamegraph.exclude_release, flamegraph.exclude_environment,
            flamegraph.exclude_variant, flamegraph.exclude_browser, flamegraph.exclude_os, flamegraph.exclude_device,
            flamegraph.exclude_thread]);
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
            -- The call alone costs more than all else of a row.
            generated_resource like '%fleetprof%' and fleetprof.is_agent(generated_resource) as is_agent
        from unnest(frame_ids) as frame_id
        left join named_frames(frame_ids) using (frame_id)
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
    'Returns stacks as a tree, depth first in order of ordinal, siblings by descending total_ms. Level 0 is the one row (all): all attributed samples; unattributed time is not in it. A function in several builds of a script is one node. self_ms: milliseconds in exactly this stack; total_ms: in this stack or one on top of it; samples: as total_ms. self_ms_per_load, total_ms_per_load, busy_share, is_agent, function_key, generated_resource, generated_line, generated_column: as in fleetprof.hotspots. min_share: share of the profiled time, unattributed included, below which a row is left out, 0 to 1. fold => package: neighbouring frames of one npm package are one node, such as (react-dom); fold => caller: they are a part of the function that called them.';

create or replace function fleetprof.flamegraph_grafana(
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
    marker      text default null,
    min_share   double precision default 0.001,
    fold        text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null, exclude_marker text default null
)
returns table (level integer, value double precision, label text, self double precision)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    select level, total_ms, frame_label(function, resource, line, column_number), self_ms
    from fleetprof.flamegraph(
        flamegraph_grafana.site, flamegraph_grafana.since, flamegraph_grafana.until, flamegraph_grafana.route,
        flamegraph_grafana.release, flamegraph_grafana.environment, flamegraph_grafana.variant,
        flamegraph_grafana.browser, flamegraph_grafana.os, flamegraph_grafana.device, flamegraph_grafana.thread,
        flamegraph_grafana.marker, flamegraph_grafana.min_share, flamegraph_grafana.fold,
        flamegraph_grafana.exclude_route, flamegraph_grafana.exclude_release, flamegraph_grafana.exclude_environment,
        flamegraph_grafana.exclude_variant, flamegraph_grafana.exclude_browser, flamegraph_grafana.exclude_os,
        flamegraph_grafana.exclude_device, flamegraph_grafana.exclude_thread, flamegraph_grafana.exclude_marker)
    order by ordinal;
end
$$;

comment on function fleetprof.flamegraph_grafana is
    'Returns fleetprof.flamegraph as Grafana''s flame graph panel reads it: level, value (total, milliseconds), label (function, with its place when anonymous), self (milliseconds), depth first. fold: as in flamegraph.';

revoke execute on function fleetprof.flamegraph, fleetprof.flamegraph_grafana from public;
grant execute on function fleetprof.flamegraph, fleetprof.flamegraph_grafana to fleetprof_reader;
