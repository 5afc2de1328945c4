-- The tree of stacks.
--
-- Only a stack's own samples are stored. Its total, with the stacks that stand on it, is added up here, one
-- level after the other, from the deepest to the outermost: so each stack is read once.

create or replace function fleetprof_data.stack_sums(selected fleetprof_data.selection, markers fleetprof_data.marker[])
returns table (
    stack_id  bigint,
    parent_id bigint,
    level     integer,
    frame_id  bigint,
    self_us   bigint,
    total_us  bigint,
    samples   bigint
)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    own record;
    -- The current level; at the start of an iteration, the level below it.
    stack_ids bigint[];
    parent_ids bigint[];
    frame_ids bigint[];
    self_sums bigint[];
    total_sums bigint[];
    sample_sums bigint[];
begin
    for own in
        with sums as (
            select stack_id, sum(self_us)::bigint as self_us, sum(samples)::bigint as samples
            from stack_fact
            where segment_id = any((stack_sums.selected).segment_ids)
                and bucket > (stack_sums.selected).after
                and bucket < (stack_sums.selected).before
                and marker = any(stack_sums.markers)
            group by stack_id
        ),
        levels as (
            select
                level,
                array_agg(stack_id) as stack_ids,
                array_agg(self_us) as self_sums,
                array_agg(samples) as sample_sums
            from sums
            join stack using (stack_id)
            group by level
        )
        select level, stack_ids, self_sums, sample_sums
        from generate_series(1, (select max(level) from levels)) as level
        left join levels using (level)
        order by level desc
    loop
        select
            array_agg(stack_id),
            array_agg(parent_id),
            array_agg(frame_id),
            array_agg(self_us),
            array_agg(total_us),
            array_agg(samples)
        into stack_ids, parent_ids, frame_ids, self_sums, total_sums, sample_sums
        from (
            select
                stack_id,
                sum(self_us)::bigint as self_us,
                sum(total_us)::bigint as total_us,
                sum(samples)::bigint as samples
            from (
                select stack_id, self_us, self_us as total_us, samples
                from unnest(own.stack_ids, own.self_sums, own.sample_sums) as leaf (stack_id, self_us, samples)
                union all
                select parent_id, 0, total_us, samples
                from unnest(parent_ids, total_sums, sample_sums) as child (parent_id, total_us, samples)
            ) as part
            group by stack_id
        ) as node
        join stack using (stack_id);

        return query
        select stack_id, parent_id, own.level, frame_id, self_us, total_us, samples
        from unnest(stack_ids, parent_ids, frame_ids, self_sums, total_sums, sample_sums)
            as node (stack_id, parent_id, frame_id, self_us, total_us, samples);
    end loop;
end
$$;

comment on function fleetprof_data.stack_sums is
    'Returns every stack of a selection and all stacks below it: self (exactly this stack) and total (this stack or one on top of it) in microseconds, samples as total.';

create or replace function fleetprof_data.call_tree(
    selected  fleetprof_data.selection,
    markers   fleetprof_data.marker[],
    min_share double precision
)
returns table (
    ordinal  integer,
    level    integer,
    frame_id bigint,
    self_us  bigint,
    total_us bigint,
    samples  bigint
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    profiled double precision := (selected_totals(call_tree.selected)).profiled_us;
    -- The whole tree is node 0. The arrays hold the other nodes, each after its parent and its
    -- greater siblings.
    whole_us bigint;
    whole_samples bigint;
    parents integer[];
    levels integer[];
    frame_ids bigint[];
    self_sums bigint[];
    total_sums bigint[];
    sample_sums bigint[];
    node_count integer;
    sizes integer[];
    next_ordinals integer[];
    ordinals integer[];
begin
    with every as materialized (
        select stack_id, parent_id, level, frame_id, self_us, total_us, samples
        from stack_sums(call_tree.selected, call_tree.markers)
    ),
    whole as materialized (
        select sum(total_us)::bigint as total_us, sum(samples)::bigint as samples
        from every
        where level = 1
    ),
    kept as materialized (
        select
            every.*,
            row_number() over (
                order by
                    level, every.total_us desc,
                    function collate "C", resource collate "C", line, column_number, stack_id
            )::integer as place
        from every
        join named_frame using (frame_id)
        where every.total_us >= call_tree.min_share * profiled
    )
    select
        (select total_us from whole),
        (select samples from whole),
        array_agg(parent_place),
        array_agg(level),
        array_agg(frame_id),
        array_agg(self_us),
        array_agg(total_us),
        array_agg(samples)
    into whole_us, whole_samples, parents, levels, frame_ids, self_sums, total_sums, sample_sums
    from (
        select node.*, coalesce(parent.place, 0) as parent_place
        from kept as node
        left join kept as parent on parent.stack_id = node.parent_id
        order by node.place
    ) as node;

    if whole_us is null then
        return;
    end if;
    return query select 1, 0, null::bigint, 0::bigint, whole_us, whole_samples;

    -- Depth first: a node comes right after its parent and the subtrees of its greater siblings.
    node_count := coalesce(cardinality(parents), 0);
    sizes := array_fill(1, array[node_count + 1], array[0]);
    next_ordinals := array_fill(2, array[node_count + 1], array[0]);
    ordinals := array_fill(0, array[node_count]);
    for node in reverse node_count..1 loop
        sizes[parents[node]] := sizes[parents[node]] + sizes[node];
    end loop;
    for node in 1..node_count loop
        ordinals[node] := next_ordinals[parents[node]];
        next_ordinals[parents[node]] := ordinals[node] + sizes[node];
        next_ordinals[node] := ordinals[node] + 1;
    end loop;

    return query
    select ordinal, level, frame_id, self_us, total_us, samples
    from unnest(ordinals, levels, frame_ids, self_sums, total_sums, sample_sums)
        as node (ordinal, level, frame_id, self_us, total_us, samples)
    order by ordinal;
end
$$;

comment on function fleetprof_data.call_tree is
    'Returns a selection''s stacks as a tree, depth first, siblings by descending time; microseconds. Level 0, with no frame, is the whole; nodes below min_share of the profiled time are left out.';

revoke execute on function fleetprof_data.stack_sums, fleetprof_data.call_tree from public;
grant execute on function fleetprof_data.stack_sums, fleetprof_data.call_tree to fleetprof_reader;
