-- The tree of stacks.
--
-- Only a stack's own samples are stored. Its total, with the stacks that stand on it, is added up here: in one pass over
-- the selected stacks and their ancestors, from the deepest to the outermost.

create or replace function fleetprof_data.sampled_stacks(
    selected        fleetprof_data.selection,
    markers         smallint[],
    out stack_ids   bigint[],
    out self_sums   bigint[],
    out sample_sums bigint[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
-- Far fewer entries are expected than there are.
set enable_sort = off
as $$
#variable_conflict use_column
begin
    -- Sums of floating point are exact up to 285 years, and faster than those of bigint.
    if are_all(sampled_stacks.markers) then
        select array_agg(stack_id), array_agg(self_us), array_agg(samples)
        into stack_ids, self_sums, sample_sums
        from (
            select stack_id, sum(self_us::float8)::bigint as self_us, sum(samples::float8)::bigint as samples
            from (
                select unnest(stack_id) as stack_id, unnest(samples) as samples, unnest(self_us) as self_us
                from stack_packed
                where is_selected(sampled_stacks.selected, sealed, group_id, bucket, span)
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
                where is_selected(sampled_stacks.selected, sealed, group_id, bucket, span)
            ) as entry
            where marker = any(sampled_stacks.markers)
            group by stack_id
        ) as sums;
    end if;
end
$$;

comment on function fleetprof_data.sampled_stacks is
    'Returns the stacks of a selection that have samples of their own, with their time (microseconds) and samples, in parallel arrays. Null if there are none.';

create or replace function fleetprof_data.stack_callers(stack_ids bigint[], known bigint[])
returns table (stack_id bigint, parent_id bigint, level integer, frame_id bigint)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
-- Each row is found by key, whatever statistics say of a dictionary that has just grown.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
    return query
    with recursive caller as (
        select stack_id, parent_id, level, frame_id from stack where stack_id = any(stack_callers.stack_ids)
        union
        select parent.stack_id, parent.parent_id, parent.level, parent.frame_id
        from caller
        join stack as parent on parent.stack_id = caller.parent_id
        where (caller.parent_id = any(stack_callers.known)) is not true
    )
    select * from caller;
end
$$;

comment on function fleetprof_data.stack_callers is
    'Returns stacks and all below them, up to those that are known.';

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
-- The arrays below take as much. With less, each step writes a temporary file.
set work_mem = '64MB'
-- A dictionary that has just grown may have more rows than statistics say.
set enable_nestloop = off
as $$
#variable_conflict use_column
declare
    sampled record := sampled_stacks(stack_sums.selected, stack_sums.markers);
    parent_ids bigint[];
    callers record;
begin
    if sampled.stack_ids is null then
        return;
    end if;
    -- Statements of their own: the planner knows how long the arrays are.
    select
        array_agg(stack_id), array_agg(parent_id), array_agg(level), array_agg(frame_id), array_agg(self_us),
        array_agg(samples)
    into stack_ids, parent_ids, levels, frame_ids, self_sums, sample_sums
    from unnest(sampled.stack_ids, sampled.self_sums, sampled.sample_sums) as sum (stack_id, self_us, samples)
    join stack using (stack_id)
    where stack_id = any(sampled.stack_ids);

    -- Callers that have no samples of their own.
    select
        array_agg(stack_id) as stack_ids, array_agg(parent_id) as parent_ids, array_agg(level) as levels,
        array_agg(frame_id) as frame_ids, array_fill(0::bigint, array[count(*)::integer]) as zeros
    into callers
    from stack_callers(array(select distinct parent_id from unnest(parent_ids) as parent_id where parent_id <> all(stack_ids)), stack_ids);
    if callers.stack_ids is not null then
        stack_ids := stack_ids || callers.stack_ids;
        parent_ids := parent_ids || callers.parent_ids;
        levels := levels || callers.levels;
        frame_ids := frame_ids || callers.frame_ids;
        self_sums := self_sums || callers.zeros;
        sample_sums := sample_sums || callers.zeros;
    end if;

    -- A stack's place is after its caller's. The first one is the whole, every stack's last caller.
    with node as materialized (
        select *, 1 + row_number() over (order by level)::integer as place
        from unnest(stack_ids, parent_ids, levels, frame_ids, self_sums, sample_sums)
            as node (stack_id, parent_id, level, frame_id, self_us, samples)
    )
    select
        null::bigint || array_agg(stack_id), 1 || array_agg(parent_place), 0 || array_agg(level),
        null::bigint || array_agg(frame_id), 0 || array_agg(self_us), 0 || array_agg(samples)
    into stack_ids, parents, levels, frame_ids, self_sums, sample_sums
    from (
        select node.*, coalesce(parent.place, 1) as parent_place
        from node
        left join node as parent on parent.stack_id = node.parent_id
        order by node.place
    ) as node;

    total_sums := self_sums;
    for node in reverse cardinality(parents)..2 loop
        total_sums[parents[node]] := total_sums[parents[node]] + total_sums[node];
        sample_sums[parents[node]] := sample_sums[parents[node]] + sample_sums[node];
    end loop;
end
$$;

comment on function fleetprof_data.stack_sums is
    'Returns every stack of a selection and all stacks below it in parallel arrays, by place, each after its caller; parents: the place of a stack''s caller. self_sums: microseconds in exactly this stack; total_sums: in this stack or one on top of it; sample_sums: samples, as total_sums. The first element, with level 0 and no stack, is the whole. Null if nothing is selected.';

create or replace function fleetprof_data.call_tree(
    selected        fleetprof_data.selection,
    markers         smallint[],
    min_share       double precision,
    out levels      integer[],
    out frame_ids   bigint[],
    out self_sums   bigint[],
    out total_sums  bigint[],
    out sample_sums bigint[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    least_us bigint;
    tree record := stack_sums(call_tree.selected, call_tree.markers);
    -- By place, as stack_sums returns them.
    parents integer[] := tree.parents;
    totals bigint[] := tree.total_sums;
    sizes integer[]; -- nodes of the subtree
    ordinals integer[]; -- null: left out
    -- Places, each after its parent; and how many nodes lie between a node and its parent.
    ranked integer[];
    distances integer[];
begin
    if parents is null then
        return;
    end if;
    if call_tree.min_share > 0 then
        least_us := ceil(call_tree.min_share * (selected_totals(call_tree.selected)).profiled_us);
    end if;

    -- A stack may cost more than its caller, since own times of events may be negative. It is left out with it.
    sizes := array_fill(1, array[cardinality(parents)]);
    for node in reverse cardinality(parents)..2 loop
        if (totals[node] < least_us) is not true then
            sizes[parents[node]] := sizes[parents[node]] + sizes[node];
        end if;
    end loop;
    -- Depth first: a node comes right after its parent and the subtrees of its greater siblings.
    with named as (
        select frame_id, rank() over (order by function collate "C", resource collate "C", line, column_number) as name
        from named_frame
        where frame_id = any(tree.frame_ids)
    )
    select array_agg(place), array_agg(distance)
    into ranked, distances
    from (
        select
            place,
            (1 - size + sum(size) over (partition by parent order by total_us desc, name, stack_id rows unbounded preceding))::integer
                as distance
        from unnest(parents, totals, tree.frame_ids, tree.stack_ids, sizes) with ordinality
            as node (parent, total_us, frame_id, stack_id, size, place)
        left join named using (frame_id)
        where place > 1 and (total_us < least_us) is not true
        order by parent, total_us desc, name, stack_id
    ) as node;
    ordinals := array_fill(null::integer, array[cardinality(parents)]);
    ordinals[1] := 1;
    for rank in 1..coalesce(cardinality(ranked), 0) loop
        ordinals[ranked[rank]] := ordinals[parents[ranked[rank]]] + distances[rank];
    end loop;

    select array_agg(level), array_agg(frame_id), array_agg(self_us), array_agg(total_us), array_agg(samples)
    into levels, frame_ids, self_sums, total_sums, sample_sums
    from (
        select *
        from unnest(ordinals, tree.levels, tree.frame_ids, tree.self_sums, totals, tree.sample_sums)
            as node (ordinal, level, frame_id, self_us, total_us, samples)
        where ordinal is not null
        order by ordinal
    ) as node;
end
$$;

comment on function fleetprof_data.call_tree is
    'Returns a selection''s stacks as a tree in parallel arrays, depth first, siblings by descending time; microseconds. Level 0, with no frame, is the whole; nodes below min_share of the profiled time are left out. Null if nothing is selected.';

revoke execute on function fleetprof_data.sampled_stacks, fleetprof_data.stack_callers, fleetprof_data.stack_sums, fleetprof_data.call_tree from public;
grant execute on function fleetprof_data.sampled_stacks, fleetprof_data.stack_callers, fleetprof_data.stack_sums, fleetprof_data.call_tree to fleetprof_reader;
