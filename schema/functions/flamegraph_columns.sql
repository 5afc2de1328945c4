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
    max_nodes   integer default 50000
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
    frame_ids bigint[];
    -- Depth first; the first node is the whole.
    levels integer[];
    frames integer[]; -- places in frame_ids from 0
    self_sums bigint[];
    total_sums bigint[];
    sample_sums bigint[];
    is_shown boolean[];
    cut_level integer; -- of a node that is left out: what stands on it is, too
    least_us bigint; -- of nodes that are not too many
    equals integer; -- how many of exactly least_us are not too many
    is_counted boolean;
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
            flamegraph_columns.browser, flamegraph_columns.os, flamegraph_columns.device, flamegraph_columns.thread),
        select_markers(flamegraph_columns.marker), 0);
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
        -- The whole, and the greatest others; of equal ones the first.
        least_us := (
            select total_us
            from (select unnest(total_sums[2:]) as total_us) as node
            order by total_us desc
            offset greatest(flamegraph_columns.max_nodes - 2, 0)
            limit 1);
        equals := flamegraph_columns.max_nodes - 1
            - (select count(*) from (select unnest(total_sums[2:]) as total_us) as node where total_us > least_us);
        is_shown := array_fill(true, array[cardinality(levels)]);
        for place in 2..cardinality(levels) loop
            if total_sums[place] > least_us then
                is_counted := true;
            else
                is_counted := total_sums[place] = least_us and equals > 0;
                equals := equals - is_counted::integer;
            end if;
            if levels[place] > cut_level then
                is_shown[place] := false;
            elsif is_counted then
                cut_level := null;
            else
                is_shown[place] := false;
                cut_level := levels[place];
            end if;
        end loop;
        select array_agg(level), array_agg(frame), array_agg(self_us), array_agg(total_us), array_agg(samples)
        into levels, frames, self_sums, total_sums, sample_sums
        from (
            select level, frame, self_us, total_us, samples
            from (
                select
                    unnest(is_shown) as is_shown, unnest(levels) as level, unnest(frames) as frame,
                    unnest(self_sums) as self_us, unnest(total_sums) as total_us, unnest(sample_sums) as samples,
                    generate_subscripts(levels, 1) as place
            ) as node
            where is_shown
            order by place
        ) as node;
    end if;

    return (
        select json_build_object(
            'frames', json_build_object(
                'function', array_agg(function), 'resource', array_agg(resource), 'line', array_agg(line),
                'column_number', array_agg(column_number), 'kind', array_agg(kind), 'function_key', array_agg(function_key),
                'generated_resource', array_agg(generated_resource), 'generated_line', array_agg(generated_line),
                'generated_column', array_agg(generated_column)),
            'level', coalesce(levels, '{}'),
            'frame', coalesce(frames, '{}'),
            'self', coalesce(self_sums, '{}'),
            'total', coalesce(total_sums, '{}'),
            'samples', coalesce(sample_sums, '{}'),
            'omitted_us', coalesce(whole_us, 0) - coalesce((select sum(self_us) from unnest(self_sums) as self_us), 0))
        from (
            select named.*
            from (select unnest(frame_ids) as frame_id, generate_subscripts(frame_ids, 1) as place) as listed
            join (
                select
                    frame_id, function, resource, line, column_number, kind, function_key::text as function_key,
                    generated_resource, generated_line, generated_column
                from named_frames(frame_ids)
            ) as named using (frame_id)
            order by place
        ) as frame
    );
end
$$;

comment on function fleetprof.flamegraph_columns is
    'Returns the tree of fleetprof.flamegraph as one JSON object of columns: level, frame, self, total and samples have an element per node, depth first; self and total are whole microseconds. frames has columns, too: function, resource, line, column_number, kind, function_key, generated_resource, generated_line, generated_column; frame is a place in them from 0, and -1 for the first node, the whole. max_nodes: the greatest nodes are returned, each with all that it stands on; omitted_us: self time of the others.';

revoke execute on function fleetprof.flamegraph_columns from public;
grant execute on function fleetprof.flamegraph_columns to fleetprof_reader;
