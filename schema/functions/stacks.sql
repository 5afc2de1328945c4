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
as $$
#variable_conflict use_column
declare
    missing bigint[];
    visited integer[];
    node integer;
    parent integer;
begin
    select * into stack_ids, self_sums, sample_sums from sampled_stacks(stack_sums.selected, stack_sums.markers);
    if stack_ids is null then
        return;
    end if;
    -- The whole, which is every stack's last caller.
    stack_ids := null::bigint || stack_ids;
    self_sums := 0 || self_sums;
    sample_sums := 0 || sample_sums;
    -- Statements of their own: the planner knows how long the arrays are.
    for attempt in 1..2 loop
        select
            array_agg(coalesce(parent_place, 1)), array_agg(level), array_agg(frame_id),
            array_agg(distinct parent_id) filter (where parent_place is null and parent_id is not null)
        into parents, levels, frame_ids, missing
        from (
            select
                case when node.place = 1 then 0 else level end as level,
                frame_id, parent_id, parent.place::integer as parent_place
            from unnest(stack_ids) with ordinality as node (stack_id, place)
            left join stack using (stack_id)
            left join unnest(stack_ids) with ordinality as parent (stack_id, place) on parent.stack_id = parent_id
            order by node.place
        ) as node;
        exit when missing is null or attempt = 2;

        -- Callers that have no samples of their own.
        with recursive ancestor (stack_id, parent_id) as (
            select stack_id, parent_id from stack where stack_id = any(missing)
            union
            select parent.stack_id, parent.parent_id
            from ancestor
            join stack as parent on parent.stack_id = ancestor.parent_id
            where (ancestor.parent_id = any(stack_ids)) is not true
        )
        select array_agg(stack_id) into missing from ancestor;
        stack_ids := stack_ids || missing;
        self_sums := self_sums || array_fill(0::bigint, array[cardinality(missing)]);
        sample_sums := sample_sums || array_fill(0::bigint, array[cardinality(missing)]);
    end loop;

    visited := array(
        select place::integer from unnest(levels) with ordinality as node (level, place) where level > 0 order by level desc);
    total_sums := self_sums;
    foreach node in array visited loop
        parent := parents[node];
        total_sums[parent] := total_sums[parent] + total_sums[node];
        sample_sums[parent] := sample_sums[parent] + sample_sums[node];
    end loop;
end
$$;

comment on function fleetprof_data.stack_sums is
    'Returns every stack of a selection and all stacks below it in parallel arrays, by place; parents: the place of a stack''s caller. self_sums: microseconds in exactly this stack; total_sums: in this stack or one on top of it; sample_sums: samples, as total_sums. The first element, with level 0 and no stack, is the whole. Null if nothing is selected.';

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
    least_us bigint;
    -- By place, as stack_sums returns them.
    stack_ids bigint[];
    parents integer[];
    levels integer[];
    frame_ids bigint[];
    self_sums bigint[];
    total_sums bigint[];
    sample_sums bigint[];
    sizes integer[]; -- nodes of the subtree; 0: left out
    rests integer[]; -- the same, with the subtrees of smaller siblings and the parent
    ordinals integer[];
    ranked integer[]; -- places, each after its parent and its greater siblings
    node integer;
    parent integer;
begin
    select * into stack_ids, parents, levels, frame_ids, self_sums, total_sums, sample_sums
    from stack_sums(call_tree.selected, call_tree.markers);
    if stack_ids is null then
        return;
    end if;

    sizes := array_fill(1, array[cardinality(parents)]);
    if call_tree.min_share > 0 then
        least_us := ceil(call_tree.min_share * (selected_totals(call_tree.selected)).profiled_us);
        sizes := array_fill(0, array[cardinality(parents)]);
        sizes[1] := 1;
        -- A stack may cost more than its caller, since own times of events may be negative. It is left out with it.
        foreach node in array array(
            select place
            from unnest(levels, total_sums) with ordinality as node (level, total_us, place)
            where level > 0 and (total_us < least_us) is not true
            order by level)
        loop
            sizes[node] := sizes[parents[node]];
        end loop;
    end if;

    ranked := array(
        with named as (
            select frame_id, rank() over (order by function collate "C", resource collate "C", line, column_number) as name
            from named_frame
            where frame_id = any(frame_ids)
        )
        select place
        from unnest(levels, total_sums, frame_ids, stack_ids, sizes) with ordinality
            as node (level, total_us, frame_id, stack_id, size, place)
        left join named using (frame_id)
        where level > 0 and size > 0
        order by level, total_us desc, name, stack_id);

    -- Depth first: a node comes right after its parent and the subtrees of its greater siblings.
    rests := sizes;
    for rank in reverse cardinality(ranked)..1 loop
        node := ranked[rank];
        parent := parents[node];
        rests[node] := sizes[parent] + sizes[node];
        sizes[parent] := rests[node];
    end loop;
    ordinals := array_fill(0, array[cardinality(parents)]);
    ordinals[1] := 1;
    foreach node in array ranked loop
        parent := parents[node];
        ordinals[node] := ordinals[parent] + sizes[parent] - rests[node] + 1;
    end loop;

    return query
    select ordinal, level, frame_id, self_us, total_us, samples
    from unnest(ordinals, levels, frame_ids, self_sums, total_sums, sample_sums)
        as node (ordinal, level, frame_id, self_us, total_us, samples)
    where ordinal > 0
    order by ordinal;
end
$$;

comment on function fleetprof_data.call_tree is
    'Returns a selection''s stacks as a tree, depth first, siblings by descending time; microseconds. Level 0, with no frame, is the whole; nodes below min_share of the profiled time are left out.';

revoke execute on function fleetprof_data.sampled_stacks, fleetprof_data.stack_sums, fleetprof_data.call_tree from public;
grant execute on function fleetprof_data.sampled_stacks, fleetprof_data.stack_sums, fleetprof_data.call_tree to fleetprof_reader;
