-- The tree of stacks.
--
-- Only a stack's own samples are stored. Its total, with the stacks that stand on it, is added up here: in one pass over
-- the selected stacks and their ancestors, from the deepest to the outermost.

create or replace function fleetprof_data.stack_sums(
    selected        fleetprof_data.selection,
    markers         smallint[],
    out stack_ids   bigint[],
    out parents     integer[],
    out levels      integer[],
    out frame_ids   bigint[],
    out self_sums   bigint[],
    out total_sums  bigint[],
    out sample_sums bigint[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
-- Far fewer entries are expected than there are.
set enable_sort = off
-- The arrays below take as much. With less, each step writes a temporary file.
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    parent integer;
begin
    -- Sums of floating point are exact up to 285 years, and faster than those of bigint.
    if are_all(stack_sums.markers) then
        select array_agg(stack_id), array_agg(self_us), array_agg(samples)
        into stack_ids, self_sums, sample_sums
        from (
            select stack_id, sum(self_us::float8)::bigint as self_us, sum(samples::float8)::bigint as samples
            from (
                select unnest(stack_id) as stack_id, unnest(samples) as samples, unnest(self_us) as self_us
                from stack_packed
                where is_selected(stack_sums.selected, sealed, group_id, bucket, span)
            ) as entry
            group by stack_id
        ) as sums;
    else
        select array_agg(stack_id), array_agg(self_us), array_agg(samples)
        into stack_ids, self_sums, sample_sums
        from (
            select stack_id, sum(self_us::float8)::bigint as self_us, sum(samples::float8)::bigint as samples
            from (
                select
                    unnest(stack_id) as stack_id,
                    unnest(marker) as marker,
                    unnest(samples) as samples,
                    unnest(self_us) as self_us
                from stack_packed
                where is_selected(stack_sums.selected, sealed, group_id, bucket, span)
            ) as entry
            where marker = any(stack_sums.markers)
            group by stack_id
        ) as sums;
    end if;
    if stack_ids is null then
        return;
    end if;

    -- A statement of its own: the planner knows how long the arrays are.
    with recursive sampled as materialized (
        select stack_id, parent_id, frame_id, level, self_us, samples
        from unnest(stack_ids, self_sums, sample_sums) as sums (stack_id, self_us, samples)
        join stack using (stack_id)
    ),
    ancestor (stack_id, parent_id, frame_id, level) as (
        select parent.stack_id, parent.parent_id, parent.frame_id, parent.level
        from sampled
        join stack as parent on parent.stack_id = sampled.parent_id
        where not exists (select from sampled as known where known.stack_id = sampled.parent_id)
        union
        select parent.stack_id, parent.parent_id, parent.frame_id, parent.level
        from ancestor
        join stack as parent on parent.stack_id = ancestor.parent_id
    ),
    node as materialized (
        select *, row_number() over (order by level)::integer as place
        from (
            select null::bigint as stack_id, null::bigint as parent_id, null::bigint as frame_id, 0 as level, 0 as self_us, 0 as samples
            union all
            select stack_id, parent_id, frame_id, level, self_us, samples from sampled
            union all
            select stack_id, parent_id, frame_id, level, 0, 0
            from ancestor
            where not exists (select from sampled where sampled.stack_id = ancestor.stack_id)
        ) as every
    )
    select
        array_agg(stack_id), array_agg(parent_place), array_agg(level), array_agg(frame_id),
        array_agg(self_us), array_agg(samples)
    into stack_ids, parents, levels, frame_ids, self_sums, sample_sums
    from (
        select node.*, coalesce(parent.place, 1) as parent_place
        from node
        left join node as parent on parent.stack_id = node.parent_id
        order by node.place
    ) as node;

    total_sums := self_sums;
    for node in reverse cardinality(parents)..2 loop
        parent := parents[node];
        total_sums[parent] := total_sums[parent] + total_sums[node];
        sample_sums[parent] := sample_sums[parent] + sample_sums[node];
    end loop;
end
$$;

comment on function fleetprof_data.stack_sums is
    'Returns every stack of a selection and all stacks below it in parallel arrays, each after its parent, whose place is in parents. self_sums: microseconds in exactly this stack; total_sums: in this stack or one on top of it; sample_sums: samples, as total_sums. The first element, with level 0 and no stack, is the whole. Null if nothing is selected.';

create or replace function fleetprof_data.call_tree(
    selected  fleetprof_data.selection,
    markers   smallint[],
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
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    tree record;
    least_us bigint;
    parents integer[];
    total_sums bigint[];
    -- The places of the nodes to return, each after its parent and its greater siblings.
    ranked integer[];
    -- By place: how many nodes a subtree has, and how many it and the subtrees beside it on its left have.
    sizes integer[];
    rests integer[];
    ordinals integer[];
    node integer;
    parent integer;
begin
    select * into tree from stack_sums(call_tree.selected, call_tree.markers);
    if tree.parents is null then
        return;
    end if;
    parents := tree.parents;
    total_sums := tree.total_sums;

    if call_tree.min_share > 0 then
        least_us := ceil(call_tree.min_share * (selected_totals(call_tree.selected)).profiled_us);
        -- A stack may cost more than its caller, since own times of events may be negative. It is left out with it.
        for node in 2..cardinality(parents) loop
            if total_sums[node] < least_us or total_sums[parents[node]] is null then
                total_sums[node] := null;
            end if;
        end loop;
    end if;

    select array_agg(place)
    into ranked
    from (
        select place::integer
        from unnest(tree.levels, total_sums, tree.frame_ids, tree.stack_ids) with ordinality
            as node (level, total_us, frame_id, stack_id, place)
        left join named_frame using (frame_id)
        where total_us is not null
        order by level, total_us desc, function collate "C", resource collate "C", line, column_number, stack_id
    ) as node;

    -- Depth first: a node comes right after its parent and the subtrees of its greater siblings.
    sizes := array_fill(1, array[cardinality(parents)]);
    rests := sizes;
    ordinals := array_fill(0, array[cardinality(parents)]);
    for rank in reverse cardinality(ranked)..2 loop
        node := ranked[rank];
        parent := parents[node];
        rests[node] := sizes[parent] + sizes[node];
        sizes[parent] := rests[node];
    end loop;
    ordinals[1] := 1;
    for rank in 2..cardinality(ranked) loop
        node := ranked[rank];
        parent := parents[node];
        ordinals[node] := ordinals[parent] + sizes[parent] - rests[node] + 1;
    end loop;

    return query
    select ordinal, level, frame_id, self_us, total_us, samples
    from unnest(ordinals, tree.levels, tree.frame_ids, tree.self_sums, total_sums, tree.sample_sums)
        as node (ordinal, level, frame_id, self_us, total_us, samples)
    where ordinal > 0
    order by ordinal;
end
$$;

comment on function fleetprof_data.call_tree is
    'Returns a selection''s stacks as a tree, depth first, siblings by descending time; microseconds. Level 0, with no frame, is the whole; nodes below min_share of the profiled time are left out.';

revoke execute on function fleetprof_data.stack_sums, fleetprof_data.call_tree from public;
grant execute on function fleetprof_data.stack_sums, fleetprof_data.call_tree to fleetprof_reader;
