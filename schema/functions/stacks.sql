-- The tree of stacks.
--
-- Only a stack's own samples are stored. Its total, with the stacks that stand on it, is added up here: in one pass over
-- the selected stacks and their ancestors, from the deepest to the outermost.

create or replace function fleetprof_data.stack_sums(
    selected fleetprof_data.selection,
    markers  smallint[],
    least_us double precision
)
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
-- Far fewer entries are expected than there are.
set enable_sort = off
-- The arrays below take as much. With less, each step writes a temporary file.
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    every_marker boolean := are_all(stack_sums.markers);
    -- First the stacks with samples of their own, then all stacks, each after its parent.
    stack_ids bigint[];
    parent_ids bigint[];
    levels integer[];
    frame_ids bigint[];
    parents integer[]; -- places in these arrays; 0: none
    self_sums bigint[];
    total_sums bigint[];
    sample_sums bigint[];
    parent integer;
begin
    select array_agg(stack_id), array_agg(self_us), array_agg(samples)
    into stack_ids, self_sums, sample_sums
    from (
        select stack_id, sum(self_us)::bigint as self_us, sum(samples)::bigint as samples
        from (
            select
                unnest(stack_id) as stack_id,
                unnest(marker) as marker,
                unnest(samples) as samples,
                unnest(self_us) as self_us
            from stack_packed
            where is_selected(stack_sums.selected, sealed, group_id, bucket, span)
        ) as entry
        where every_marker or marker = any(stack_sums.markers)
        group by stack_id
    ) as sums;

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
            select stack_id, parent_id, frame_id, level, self_us, samples from sampled
            union all
            select stack_id, parent_id, frame_id, level, 0, 0
            from ancestor
            where not exists (select from sampled where sampled.stack_id = ancestor.stack_id)
        ) as every
    )
    select
        array_agg(stack_id), array_agg(parent_id), array_agg(level), array_agg(frame_id),
        array_agg(parent_place), array_agg(self_us), array_agg(samples)
    into stack_ids, parent_ids, levels, frame_ids, parents, self_sums, sample_sums
    from (
        select node.*, coalesce(parent.place, 0) as parent_place
        from node
        left join node as parent on parent.stack_id = node.parent_id
        order by node.place
    ) as node;

    total_sums := self_sums;
    for node in reverse coalesce(cardinality(parents), 0)..1 loop
        parent := parents[node];
        if parent > 0 then
            total_sums[parent] := total_sums[parent] + total_sums[node];
            sample_sums[parent] := sample_sums[parent] + sample_sums[node];
        end if;
    end loop;

    return query
    select null::bigint, null::bigint, 0, null::bigint, 0::bigint, sum(total_us)::bigint, sum(samples)::bigint
    from unnest(levels, total_sums, sample_sums) as node (level, total_us, samples)
    where level = 1
    having count(*) > 0;

    -- A stack may cost more than its caller, since own times of events may be negative. It is left out with it.
    for node in 1..coalesce(cardinality(parents), 0) loop
        parent := parents[node];
        if total_sums[node] < stack_sums.least_us or (parent > 0 and total_sums[parent] is null) then
            total_sums[node] := null;
        end if;
    end loop;
    return query
    select stack_id, parent_id, level, frame_id, self_us, total_us, samples
    from unnest(stack_ids, parent_ids, levels, frame_ids, self_sums, total_sums, sample_sums)
        as node (stack_id, parent_id, level, frame_id, self_us, total_us, samples)
    where total_us is not null;
end
$$;

comment on function fleetprof_data.stack_sums is
    'Returns every stack of a selection and all stacks below it, each after its parent: self (exactly this stack) and total (this stack or one on top of it) in microseconds, samples as total. Stacks whose total is less than least_us are left out, with what is on top of them. The first row, with level 0 and no stack, is the whole.';

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
as $$
#variable_conflict use_column
declare
    least_us double precision := case
        when call_tree.min_share > 0 then call_tree.min_share * (selected_totals(call_tree.selected)).profiled_us
        else '-infinity'
    end;
    -- Each node after its parent and its greater siblings. The first one is the whole tree.
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
    with node as materialized (
        select
            sums.*,
            row_number() over (
                order by
                    level, sums.total_us desc,
                    function collate "C", resource collate "C", line, column_number, stack_id
            )::integer as place
        from stack_sums(call_tree.selected, call_tree.markers, least_us) as sums
        left join named_frame using (frame_id)
    )
    select
        array_agg(parent_place), array_agg(level), array_agg(frame_id),
        array_agg(self_us), array_agg(total_us), array_agg(samples)
    into parents, levels, frame_ids, self_sums, total_sums, sample_sums
    from (
        select node.*, case node.level when 0 then 0 else coalesce(parent.place, 1) end as parent_place
        from node
        left join node as parent on parent.stack_id = node.parent_id
        order by node.place
    ) as node;

    -- Depth first: a node comes right after its parent and the subtrees of its greater siblings.
    node_count := coalesce(cardinality(parents), 0);
    sizes := array_fill(1, array[node_count + 1], array[0]);
    next_ordinals := array_fill(1, array[node_count + 1], array[0]);
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
