-- The tree of stacks in columns, for programs that draw it.

create or replace function fleetprof.flamegraph_columns(
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
    max_nodes   integer default 50000,
    fold        text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null, exclude_marker text default null
)
returns json
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    tree record; -- depth first, in arrays; the first node is the whole
    is_shown boolean[];
    levels integer[];
    cut_level integer; -- of a node that is left out: what stands on it is, too
    frame_ids bigint[];
    packages text[];
begin
    if (flamegraph_columns.max_nodes >= 1) is not true then
        raise invalid_parameter_value using
            message = format('max_nodes is %s', coalesce(flamegraph_columns.max_nodes::text, 'null')),
            hint = 'max_nodes is how many nodes to return at most, 1 or more.';
    end if;
    tree := call_tree(
        select_segments(
            flamegraph_columns.site, flamegraph_columns.since, flamegraph_columns.until, flamegraph_columns.route,
            flamegraph_columns.release, flamegraph_columns.environment, flamegraph_columns.variant,
            flamegraph_columns.browser, flamegraph_columns.os, flamegraph_columns.device, flamegraph_columns.thread,
        exclude => array[
            flamegraph_columns.exclude_route, flamegraph_columns.exclude_release,
            flamegraph_columns.exclude_environment, flamegraph_columns.exclude_variant,
            flamegraph_columns.exclude_browser, flamegraph_columns.exclude_os, flamegraph_columns.exclude_device,
            flamegraph_columns.exclude_thread]),
        select_markers(flamegraph_columns.marker, flamegraph_columns.exclude_marker), 0, flamegraph_columns.fold);
    packages := tree.packages;
    select
        array_agg(level) as levels, array_agg(frame_id) as frame_ids, array_agg(self_us) as self_sums,
        array_agg(total_us) as total_sums, array_agg(samples) as sample_sums
    into tree
    from (
        select
            unnest(tree.ordinals) as ordinal, unnest(tree.levels) as level, unnest(tree.frame_ids) as frame_id,
            unnest(tree.self_sums) as self_us, unnest(tree.total_sums) as total_us, unnest(tree.sample_sums) as samples
        order by ordinal
    ) as node;

    if cardinality(tree.levels) > flamegraph_columns.max_nodes then
        is_shown := array(
            select rank <= flamegraph_columns.max_nodes
            from (
                select place, row_number() over (order by level > 0, total_us desc, place) as rank
                from unnest(tree.levels, tree.total_sums) with ordinality as node (level, total_us, place)
            ) as ranked
            order by place);
        levels := tree.levels;
        for place in 1..cardinality(levels) loop
            if cut_level is not null and levels[place] > cut_level then
                is_shown[place] := false;
            elsif is_shown[place] then
                cut_level := null;
            else
                cut_level := levels[place];
            end if;
        end loop;
    end if;

    frame_ids := array(select distinct frame_id from unnest(tree.frame_ids) as frame_id where frame_id is not null);
    return (
        with frame as materialized (
            select
                place, function, resource, line, column_number, kind, function_key::text as function_key,
                generated_resource, generated_line, generated_column
            from unnest(frame_ids) with ordinality as listed (frame_id, place)
            join named_frames(frame_ids) as named using (frame_id)
            union all
            select
                place, package_label(frame_id, packages), null, null, null, 'function', package_key(frame_id, packages)::text,
                null, null, null
            from unnest(frame_ids) with ordinality as listed (frame_id, place)
            where package_label(frame_id, packages) is not null
        ),
        node as (
            select level, coalesce(listed.place - 1, -1) as frame, self_us, total_us, samples, node.place
            from unnest(tree.levels, tree.frame_ids, tree.self_sums, tree.total_sums, tree.sample_sums, is_shown) with ordinality
                as node (level, frame_id, self_us, total_us, samples, is_shown, place)
            left join unnest(frame_ids) with ordinality as listed (frame_id, place) using (frame_id)
            where coalesce(is_shown, true)
            order by node.place
        )
        select json_build_object(
            'frames', (
                select json_build_object(
                    'function', array_agg(function order by place), 'resource', array_agg(resource order by place),
                    'line', array_agg(line order by place), 'column_number', array_agg(column_number order by place),
                    'kind', array_agg(kind order by place), 'function_key', array_agg(function_key order by place),
                    'generated_resource', array_agg(generated_resource order by place),
                    'generated_line', array_agg(generated_line order by place),
                    'generated_column', array_agg(generated_column order by place))
                from frame),
            'level', coalesce(array_agg(level), '{}'),
            'frame', coalesce(array_agg(frame), '{}'),
            'self', coalesce(array_agg(self_us), '{}'),
            'total', coalesce(array_agg(total_us), '{}'),
            'samples', coalesce(array_agg(samples), '{}'),
            'omitted_us', coalesce(tree.total_sums[1], 0) - coalesce(sum(self_us), 0))
        from node
    );
end
$$;

comment on function fleetprof.flamegraph_columns is
    'Returns the tree of fleetprof.flamegraph as one JSON object of columns: level, frame, self, total and samples have an element per node, depth first; self and total are whole microseconds. frames has columns, too: function, resource, line, column_number, kind, function_key, generated_resource, generated_line, generated_column; frame is a place in them from 0, and -1 for the first node, the whole. max_nodes: the greatest nodes are returned, each with all that it stands on; omitted_us: self time of the others. fold: as in flamegraph.';

revoke execute on function fleetprof.flamegraph_columns from public;
grant execute on function fleetprof.flamegraph_columns to fleetprof_reader;
