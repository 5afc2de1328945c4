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
    root        bigint default null,
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
set work_mem = '64MB'
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    tree record;
    packages text[];
    frame_ids bigint[];
    -- Depth first; the first node is the whole.
    levels integer[];
    frames integer[]; -- places in frame_ids from 0
    self_sums bigint[];
    total_sums bigint[];
    sample_sums bigint[];
    is_shown boolean[];
    cut_level integer; -- of a node that is left out: what stands on it is, too
    whole_us bigint;
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
        select_markers(flamegraph_columns.marker, flamegraph_columns.exclude_marker), 0, flamegraph_columns.fold,
        flamegraph_columns.root);
    packages := tree.packages;
    frame_ids := array(select distinct frame_id from unnest(tree.frame_ids) as frame_id where frame_id is not null);
    select array_agg(level), array_agg(coalesce(frame, -1)), array_agg(self_us), array_agg(total_us), array_agg(samples)
    into levels, frames, self_sums, total_sums, sample_sums
    from (
        select level, frame, self_us, total_us, samples
        from (
            select
                unnest(tree.ordinals) as ordinal, unnest(tree.levels) as level, unnest(tree.frame_ids) as frame_id,
                unnest(tree.self_sums) as self_us, unnest(tree.total_sums) as total_us, unnest(tree.sample_sums) as samples
        ) as node
        left join (
            select unnest(frame_ids) as frame_id, generate_subscripts(frame_ids, 1) - 1 as frame
        ) as listed using (frame_id)
        order by ordinal
    ) as node;

    whole_us := total_sums[1];
    if cardinality(levels) > flamegraph_columns.max_nodes then
        is_shown := array(
            select rank <= flamegraph_columns.max_nodes
            from (
                select place, row_number() over (order by level > 0, total_us desc, place) as rank
                from (
                    select unnest(levels) as level, unnest(total_sums) as total_us, generate_subscripts(levels, 1) as place
                ) as node
            ) as ranked
            order by place);
        for place in 1..cardinality(levels) loop
            if levels[place] > cut_level then
                is_shown[place] := false;
            elsif is_shown[place] then
                cut_level := null;
            else
                cut_level := levels[place];
            end if;
        end loop;
        select array_agg(level), array_agg(frame), array_agg(self_us), array_agg(total_us), array_agg(samples)
        into levels, frames, self_sums, total_sums, sample_sums
        from (
            select
                unnest(is_shown) as is_shown, unnest(levels) as level, unnest(frames) as frame,
                unnest(self_sums) as self_us, unnest(total_sums) as total_us, unnest(sample_sums) as samples
        ) as node
        where is_shown;
    end if;

    return (
        select json_build_object(
            'frames', json_build_object(
                'function', coalesce(array_agg(function), '{}'), 'resource', coalesce(array_agg(resource), '{}'),
                'line', coalesce(array_agg(line), '{}'), 'column_number', coalesce(array_agg(column_number), '{}'),
                'kind', coalesce(array_agg(kind), '{}'), 'function_key', coalesce(array_agg(function_key), '{}'),
                'generated_resource', coalesce(array_agg(generated_resource), '{}'),
                'generated_line', coalesce(array_agg(generated_line), '{}'),
                'generated_column', coalesce(array_agg(generated_column), '{}')),
            'level', coalesce(levels, '{}'),
            'frame', coalesce(frames, '{}'),
            'self', coalesce(self_sums, '{}'),
            'total', coalesce(total_sums, '{}'),
            'samples', coalesce(sample_sums, '{}'),
            'omitted_us', coalesce(whole_us, 0) - coalesce((select sum(self_us) from unnest(self_sums) as self_us), 0))
        from (
            select
                coalesce(function, package_label(frame_id, packages)) as function, resource, line, column_number,
                coalesce(kind, 'function') as kind,
                coalesce(function_key, package_key(frame_id, packages))::text as function_key, generated_resource,
                generated_line, generated_column
            from (select unnest(frame_ids) as frame_id, generate_subscripts(frame_ids, 1) as place) as listed
            left join named_frames(frame_ids) as named using (frame_id)
            order by place
        ) as frame
    );
end
$$;

comment on function fleetprof.flamegraph_columns is
    'Returns the tree of fleetprof.flamegraph as one JSON object of columns: level, frame, self, total and samples have an element per node, depth first; self and total are whole microseconds. frames has columns, too: function, resource, line, column_number, kind, function_key, generated_resource, generated_line, generated_column; frame is a place in them from 0, and -1 for the first node, the whole. max_nodes: the greatest nodes are returned, each with all that it stands on; omitted_us: self time of the others. root: a stack_id of stack_hourly: only samples with this stack, or with one that begins with it; the second node is it. fold: as in flamegraph.';

revoke execute on function fleetprof.flamegraph_columns from public;
grant execute on function fleetprof.flamegraph_columns to fleetprof_reader;
