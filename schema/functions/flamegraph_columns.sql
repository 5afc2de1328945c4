-- SPDX-License-Identifier: Apache-2.0
-- The tree of stacks in columns, for programs that draw it.

create or replace function fleetprof.flamegraph_columns(
    -- {{filters of samples}},
    max_nodes integer default 50000,
    root      bigint default null,
    fold      text default null
)
returns json
language plpgsql stable parallel safe
-- {{settings}}
set work_mem = '64MB'
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    -- {{given}}
    tree record;
    packages text[];
    frame_ids bigint[];
    -- Depth first; the first node is the root.
    levels integer[];
    frames integer[]; -- places in frame_ids from 0
    self_sums bigint[];
    total_sums bigint[];
    sample_sums bigint[];
    is_shown boolean[];
    cut_level integer; -- of a node that is left out, with all nodes above it
    whole_us bigint;
begin
    if (flamegraph_columns.max_nodes >= 1) is not true then
        raise invalid_parameter_value using
            message = format('max_nodes is %s', coalesce(flamegraph_columns.max_nodes::text, 'null')),
            hint = 'max_nodes is how many nodes to return at most, 1 or more.';
    end if;
    tree := call_tree(
        select_segments(given),
        select_markers(flamegraph_columns.marker, flamegraph_columns.exclude_marker), 0, flamegraph_columns.fold,
        flamegraph_columns.root, flamegraph_columns.max_nodes);
    packages := tree.packages;
    frame_ids := array(
        select distinct frame_id
        from (select unnest(tree.ordinals) as ordinal, unnest(tree.frame_ids) as frame_id) as node
        where ordinal is not null and frame_id is not null);
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
        where ordinal is not null
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
            left join unnest(tree.names) as named using (frame_id)
            order by place
        ) as frame
    );
end
$$;

comment on function fleetprof.flamegraph_columns is
    -- {{comment of flamegraph_columns}};

revoke execute on function fleetprof.flamegraph_columns from public;
grant execute on function fleetprof.flamegraph_columns to fleetprof_reader;
