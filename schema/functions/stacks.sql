-- SPDX-License-Identifier: Apache-2.0
-- The tree of stacks.
--
-- Only a stack's own samples are stored. Its total, which includes its descendants, is added up here: in one pass
-- over the selected stacks and their ancestors, from the deepest to the outermost.

create or replace function fleetprof_data.sampled_stacks(
    selected        fleetprof_data.selection,
    markers         smallint[],
    wanted          bigint[],
    out stack_ids   bigint[],
    out self_sums   bigint[],
    out sample_sums bigint[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
-- The planner expects far fewer entries than there are.
set enable_sort = off
as $$
#variable_conflict use_column
declare
    -- Ids, then the sums of each column.
    native bigint[];
    count integer;
begin
    if are_all(sampled_stacks.markers) and sampled_stacks.wanted is null and has_native() then
        select fleetprof_native.sum_stacks(stack_id, samples, self_us)
        into native
        from stack_packed
        where is_selected(sampled_stacks.selected, sealed, group_id, bucket, span);
        -- Null: too many for its memory.
        if native is not null then
            count := nullif(cardinality(native), 0) / 3;
            stack_ids := native[1:count];
            sample_sums := native[count + 1:2 * count];
            self_sums := native[2 * count + 1:];
            return;
        end if;
    end if;
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
            where sampled_stacks.wanted is null or stack_id = any(sampled_stacks.wanted)
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
                and (sampled_stacks.wanted is null or stack_id = any(sampled_stacks.wanted))
            group by stack_id
        ) as sums;
    end if;
end
$$;

comment on function fleetprof_data.sampled_stacks is
    'Returns the stacks of a selection that have samples of their own, with their time (microseconds) and samples, in parallel arrays. wanted: only these stacks; null for all. Null if there are none.';

create or replace function fleetprof_data.stacks_on(root bigint)
returns bigint[]
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
-- Each stack is found by index; see stacks_above.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
    return array(
        with recursive above (stack_id) as (
            select stack_id from stack where stack_id = stacks_on.root
            union
            select child.stack_id
            from above
            join stack as child on child.parent_id = above.stack_id
        )
        select stack_id from above);
end
$$;

comment on function fleetprof_data.stacks_on is
    'Returns a stack and its descendants; empty if there is no such stack.';

create or replace function fleetprof_data.stack_sums(
    selected        fleetprof_data.selection,
    markers         smallint[],
    root            bigint default null,
    out stack_ids   bigint[],
    out parents     integer[],
    out levels      integer[],
    out frame_ids   bigint[],
    out self_sums   bigint[],
    out total_sums  bigint[],
    out sample_sums bigint[],
    out inward      integer[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
-- The arrays below need this much memory. With less, each step writes a temporary file.
set work_mem = '64MB'
-- Joins are of thousands of rows, whatever the planner expects: it does not know the values of arrays, nor the rows of
-- a dictionary that has grown since it was analyzed.
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    -- Stacks whose callers have no samples of their own: places, and the callers.
    orphans integer[];
    callers bigint[];
    missing bigint[];
    missing_levels integer[];
    missing_frames bigint[];
    missing_callers bigint[];
    caller_places integer[];
    node integer;
    -- The level of the root's caller.
    base integer := coalesce((select level - 1 from stack where stack_id = stack_sums.root), 0);
begin
    select * into stack_ids, self_sums, sample_sums
    from sampled_stacks(
        stack_sums.selected, stack_sums.markers, case when stack_sums.root is not null then stacks_on(stack_sums.root) end);
    if stack_ids is null then
        return;
    end if;
    -- The root, which is every stack's outermost caller.
    stack_ids := null::bigint || stack_ids;
    self_sums := 0 || self_sums;
    sample_sums := 0 || sample_sums;
    -- Separate statements, so that the planner knows the lengths of the arrays.
    select
        array_agg(coalesce(parent_place, 1)), array_agg(level), array_agg(frame_id),
        array_agg(place) filter (where parent_place is null and parent_id is not null),
        array_agg(parent_id) filter (where parent_place is null and parent_id is not null)
    into parents, levels, frame_ids, orphans, callers
    from (
        select
            node.place, case node.place when 1 then 0 else level - base end as level, frame_id, parent_id,
            parent.place as parent_place
        from (select unnest(stack_ids) as stack_id, generate_subscripts(stack_ids, 1) as place) as node
        left join (
            select stack_id, case when stack_id is distinct from stack_sums.root then parent_id end as parent_id, frame_id, level
            from stack
        ) as stack using (stack_id)
        left join (
            select unnest(stack_ids) as stack_id, generate_subscripts(stack_ids, 1) as place
        ) as parent on parent.stack_id = parent_id
        order by node.place
    ) as node;
    if orphans is not null then
        missing := array(select distinct caller from unnest(callers) as caller);
        with recursive ancestor (stack_id, parent_id, frame_id, level) as (
            select stack_id, parent_id, frame_id, level from stack where stack_id = any(missing)
            union
            select parent.stack_id, parent.parent_id, parent.frame_id, parent.level
            from ancestor
            join stack as parent on parent.stack_id = ancestor.parent_id
            where (ancestor.parent_id = any(stack_ids)) is not true and ancestor.stack_id is distinct from stack_sums.root
        )
        select
            coalesce(array_agg(stack_id), '{}'), coalesce(array_agg(level - base), '{}'), coalesce(array_agg(frame_id), '{}'),
            array_agg(case when stack_id is distinct from stack_sums.root then parent_id end)
        into missing, missing_levels, missing_frames, missing_callers
        from ancestor;
        orphans := orphans || array(select generate_series(cardinality(parents) + 1, cardinality(parents) + cardinality(missing)));
        callers := callers || missing_callers;
        stack_ids := stack_ids || missing;
        levels := levels || missing_levels;
        frame_ids := frame_ids || missing_frames;
        parents := parents || array_fill(1, array[cardinality(missing)]);
        self_sums := self_sums || array_fill(0::bigint, array[cardinality(missing)]);
        sample_sums := sample_sums || array_fill(0::bigint, array[cardinality(missing)]);
        select array_agg(orphan.place), array_agg(caller.place)
        into orphans, caller_places
        from (select unnest(orphans) as place, unnest(callers) as stack_id) as orphan
        join (select unnest(stack_ids) as stack_id, generate_subscripts(stack_ids, 1) as place) as caller using (stack_id);
        for rank in 1..coalesce(cardinality(orphans), 0) loop
            parents[orphans[rank]] := caller_places[rank];
        end loop;
    end if;

    inward := array(
        select place
        from (select unnest(levels) as level, generate_subscripts(levels, 1) as place) as node
        where level > 0
        order by level desc);
    total_sums := self_sums;
    foreach node in array inward loop
        total_sums[parents[node]] := total_sums[parents[node]] + total_sums[node];
        sample_sums[parents[node]] := sample_sums[parents[node]] + sample_sums[node];
    end loop;
end
$$;

comment on function fleetprof_data.stack_sums is
    'Returns every stack of a selection and all stacks below it in parallel arrays, by place; parents: the place of a stack''s caller. self_sums: microseconds in exactly this stack; total_sums: in this stack or one on top of it; sample_sums: samples, as total_sums. The first element, with level 0 and no stack, is the whole. inward: the places of the others, each before its caller''s. root: only this stack, at level 1, and its descendants; null for all. Null if nothing is selected.';

create or replace function fleetprof_data.stacks_above(frame_ids bigint[], most integer)
returns table (stack_id bigint, parent_id bigint, frame_id bigint, level integer, is_above boolean)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
-- Each stack is found by index. The planner would choose by the dictionary's size when it was last analyzed.
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
begin
    return query
    with recursive above (stack_id, parent_id, frame_id, level) as (
        select stack_id, parent_id, frame_id, level from stack where frame_id = any(stacks_above.frame_ids)
        union
        select child.stack_id, child.parent_id, child.frame_id, child.level
        from above
        join stack as child on child.parent_id = above.stack_id
    ),
    found as materialized (
        select * from above limit stacks_above.most
    )
    select *, true
    from found
    union all
    select stack_id, parent_id, frame_id, level, false
    from stack
    where stack_id = any(array(select parent_id from found except select stack_id from found));
end
$$;

comment on function fleetprof_data.stacks_above is
    'Returns the stacks that contain one of these frames, and the callers right below them (not is_above). most: how many stacks at most, callers not counted.';

create or replace function fleetprof_data.stack_sums_above(
    selected        fleetprof_data.selection,
    markers         smallint[],
    wanted          bigint[],
    -- The dictionary has stacks of all releases. Past this many, starting from the selection's stacks is faster.
    most            integer default 20000,
    out parents     integer[],
    out frame_ids   bigint[],
    out self_sums   bigint[],
    out total_sums  bigint[],
    out sample_sums bigint[],
    out inward      integer[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    stack_ids bigint[];
    parent_ids bigint[];
    sampled record;
    node integer;
    parent integer;
begin
    select
        null::bigint || array_agg(stack_id), null::bigint || array_agg(case when is_above then parent_id end),
        null::bigint || array_agg(frame_id)
    into stack_ids, parent_ids, frame_ids
    from (select * from stacks_above(stack_sums_above.wanted, stack_sums_above.most) order by level) as stack;
    if cardinality(stack_ids) > stack_sums_above.most then
        select parents, frame_ids, self_sums, total_sums, sample_sums, inward
        into parents, frame_ids, self_sums, total_sums, sample_sums, inward
        from stack_sums(stack_sums_above.selected, stack_sums_above.markers);
        return;
    end if;
    sampled := sampled_stacks(stack_sums_above.selected, stack_sums_above.markers, stack_ids);
    select array_agg(coalesce(parent_place, 1)), array_agg(self_us), array_agg(samples)
    into parents, self_sums, sample_sums
    from (
        select parent.place as parent_place, self_us, samples
        from (
            select unnest(stack_ids) as stack_id, unnest(parent_ids) as parent_id, generate_subscripts(stack_ids, 1) as place
        ) as node
        left join (
            select unnest(stack_ids) as parent_id, generate_subscripts(stack_ids, 1) as place
        ) as parent using (parent_id)
        left join (
            select unnest(sampled.stack_ids) as stack_id, unnest(sampled.self_sums) as self_us,
                unnest(sampled.sample_sums) as samples
        ) as sampled using (stack_id)
        order by node.place
    ) as node;

    inward := array(select generate_series(cardinality(parents), 2, -1));
    total_sums := self_sums;
    foreach node in array inward loop
        continue when total_sums[node] is null;
        parent := parents[node];
        total_sums[parent] := coalesce(total_sums[parent], 0) + total_sums[node];
        sample_sums[parent] := coalesce(sample_sums[parent], 0) + sample_sums[node];
    end loop;
end
$$;

comment on function fleetprof_data.stack_sums_above is
    'Returns the stacks that contain one of the wanted frames, and the callers right below them, in parallel arrays, as stack_sums does. Sums are null for stacks that the selection does not have; those of callers are not whole. Where the dictionary has more such stacks than most, all stacks of the selection.';

create or replace function fleetprof_data.shown_frames(
    frame_ids     bigint[],
    self_sums     bigint[],
    out shown_ids bigint[],
    out names     fleetprof_data.shown_frame[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    used bigint[];
    weights double precision[];
    merged_ids bigint[];
    merged_into bigint[];
begin
    select array_agg(frame_id), array_agg(self_us)
    into used, weights
    from (
        select frame_id, sum(self_us)::double precision as self_us
        from (
            select unnest(shown_frames.frame_ids) as frame_id, unnest(shown_frames.self_sums) as self_us
        ) as node
        where frame_id is not null
        group by frame_id
    ) as used;
    select
        array_agg(frame_id) filter (where shown_id <> frame_id),
        array_agg(shown_id) filter (where shown_id <> frame_id),
        array_agg(row(
            frame_id, function, resource, line, column_number, kind, function_key, generated_resource, generated_line,
            generated_column)::shown_frame) filter (where shown_id = frame_id)
    into merged_ids, merged_into, names
    from merged_frames(used, weights);
    if merged_ids is null then
        return;
    end if;
    shown_ids := array(
        select coalesce(shown_id, frame_id)
        from (
            select unnest(shown_frames.frame_ids) as frame_id, generate_subscripts(shown_frames.frame_ids, 1) as place
        ) as node
        left join (
            select unnest(merged_ids) as frame_id, unnest(merged_into) as shown_id
        ) as merged using (frame_id)
        order by place);
end
$$;

comment on function fleetprof_data.shown_frames is
    'Returns the frames of a tree by place (shown_ids), each replaced by the one that stands for its function, as merged_frames finds it. Null where each frame stands for itself. names: of the frames that stand for functions.';

create or replace function fleetprof_data.merged_tree(
    in out parents     integer[],
    in out levels      integer[],
    frame_ids          bigint[],
    in out self_sums   bigint[],
    in out total_sums  bigint[],
    in out sample_sums bigint[],
    in out inward      integer[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    -- By place: a hash of the path.
    paths bigint[] := array_fill(0::bigint, array[cardinality(parents)]);
    merged integer[];
    merged_into integer[];
    children integer[];
    new_parents integer[];
    node integer;
    other integer;
begin
    for rank in reverse cardinality(inward)..1 loop
        node := inward[rank];
        paths[node] := hashint8extended(merged_tree.frame_ids[node], paths[parents[node]]);
    end loop;
    select array_agg(node.place), array_agg(same.place)
    into merged, merged_into
    from (select unnest(paths) as path, generate_subscripts(paths, 1) as place) as node
    join (
        select path, min(place) as place
        from (select unnest(paths) as path, generate_subscripts(paths, 1) as place) as node
        group by path
        having count(*) > 1
    ) as same on same.path = node.path and same.place <> node.place;
    if merged is null then
        return;
    end if;
    for rank in 1..cardinality(merged) loop
        node := merged[rank];
        other := merged_into[rank];
        self_sums[other] := self_sums[other] + self_sums[node];
        total_sums[other] := total_sums[other] + total_sums[node];
        sample_sums[other] := sample_sums[other] + sample_sums[node];
        levels[node] := -1;
    end loop;
    select array_agg(child.place), array_agg(into_place)
    into children, new_parents
    from (select unnest(parents) as parent, generate_subscripts(parents, 1) as place) as child
    join (select unnest(merged) as parent, unnest(merged_into) as into_place) as pair using (parent);
    for rank in 1..coalesce(cardinality(children), 0) loop
        parents[children[rank]] := new_parents[rank];
    end loop;
    inward := array(
        select place
        from (select unnest(levels) as level, generate_subscripts(levels, 1) as place) as node
        where level > 0
        order by level desc);
end
$$;

comment on function fleetprof_data.merged_tree is
    'Returns a tree of stack_sums in which nodes with the same path are one. The others have level -1: they do not count as nodes.';

create or replace function fleetprof_data.call_tree(
    selected        fleetprof_data.selection,
    markers         smallint[],
    min_share       double precision,
    fold            text,
    root            bigint default null,
    max_nodes       integer default null,
    out ordinals    integer[],
    out levels      integer[],
    out frame_ids   bigint[],
    out self_sums   bigint[],
    out total_sums  bigint[],
    out sample_sums bigint[],
    out packages    text[],
    out names       fleetprof_data.shown_frame[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
set enable_material = off
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    least_us bigint; -- of a node that gets a place; null: any
    enough_us bigint; -- of the last of max_nodes nodes
    stack_ids bigint[];
    parents integer[];
    inward integer[];
    sizes integer[]; -- nodes of the subtree
    frames bigint[];
    -- Places, each after its parent, and how many nodes lie between a node and its parent.
    ranked integer[];
    distances integer[];
    node integer;
    shown_ids bigint[];
begin
    select * into stack_ids, parents, levels, frame_ids, self_sums, total_sums, sample_sums, inward
    from stack_sums(call_tree.selected, call_tree.markers, call_tree.root);
    if stack_ids is null then
        return;
    end if;
    -- The same function in several builds of a script counts as one, as in hotspots.
    select * into shown_ids, names from shown_frames(frame_ids, self_sums);
    frame_ids := coalesce(shown_ids, frame_ids);
    if call_tree.fold is null and shown_ids is not null then
        select * into parents, levels, self_sums, total_sums, sample_sums, inward
        from merged_tree(parents, levels, frame_ids, self_sums, total_sums, sample_sums, inward);
    elsif call_tree.fold is not null then
        select * into stack_ids, parents, levels, frame_ids, self_sums, total_sums, sample_sums, inward, packages
        from folded_tree(
            call_tree.fold, stack_ids, parents, levels, frame_ids, self_sums, total_sums, sample_sums, inward);
    end if;

    if call_tree.min_share > 0 then
        least_us := ceil(call_tree.min_share * (selected_totals(call_tree.selected)).profiled_us);
    end if;
    if cardinality(levels) > call_tree.max_nodes then
        enough_us := (
            select total_us
            from (select unnest(levels) as level, unnest(total_sums) as total_us) as node
            where level >= 0
            order by level > 0, total_us desc
            limit 1 offset call_tree.max_nodes - 1);
        -- Where a stack costs more than its caller, which of them are left out depends on the order of all.
        least_us := case
            when not exists (
                select
                from (
                    select unnest(levels) as level, unnest(total_sums) as total_us, unnest(parents) as parent
                ) as node
                where level > 1 and total_us >= enough_us and total_sums[parent] < enough_us)
                then greatest(least_us, enough_us)
            else least_us
        end;
    end if;
    if least_us is not null then
        inward := array(
            select place
            from (
                select unnest(levels) as level, unnest(total_sums) as total_us, generate_subscripts(levels, 1) as place
            ) as node
            where level > 0 and (total_us < least_us) is not true
            order by level desc);
    end if;
    sizes := array_fill(1, array[cardinality(parents)]);
    foreach node in array inward loop
        sizes[parents[node]] := sizes[parents[node]] + sizes[node];
    end loop;

    -- Depth first: a node comes right after its parent and the subtrees of its greater siblings.
    frames := array(
        select distinct frame_id
        from (select unnest(frame_ids) as frame_id, unnest(total_sums) as total_us) as node
        where (total_us < least_us) is not true);
    select array_agg(place), array_agg(distance)
    into ranked, distances
    from (
        select
            place,
            (1 - size + sum(size) over (
                partition by caller order by total_us desc, name, stack_id rows unbounded preceding))::integer as distance
        from (
            select level * 4294967296 + parent as caller, total_us, frame_id, stack_id, size, place
            from (
                select
                    unnest(levels) as level, unnest(parents) as parent, unnest(total_sums) as total_us,
                    unnest(frame_ids) as frame_id, unnest(stack_ids) as stack_id, unnest(sizes) as size,
                    generate_subscripts(levels, 1) as place
            ) as node
            where level > 0 and (total_us < least_us) is not true
        ) as node
        left join (
            select frame_id, rank() over (order by function collate "C", resource collate "C", line, column_number) as name
            from unnest(frames) as frame_id
            join unnest(names) using (frame_id)
        ) as named using (frame_id)
        order by caller, total_us desc, name, stack_id
    ) as node;
    -- A stack may cost more than its caller, since own times of events may be negative. It is left out with its caller.
    ordinals := array_fill(null::integer, array[cardinality(parents)]);
    ordinals[1] := 1;
    for rank in 1..coalesce(cardinality(ranked), 0) loop
        ordinals[ranked[rank]] := ordinals[parents[ranked[rank]]] + distances[rank];
    end loop;
end
$$;

comment on function fleetprof_data.call_tree is
    'Returns a selection''s stacks as a tree in parallel arrays; ordinals: each node''s number from 1, depth first, siblings by descending time, null for nodes below min_share of the profiled time and for their descendants; microseconds. Level 0, with no frame, is the whole. A function in several builds of a script is one frame. max_nodes: where there are more, also null for nodes that are surely not among those with the most time. names: as in shown_frames. fold, packages: as in folded_tree. root: as in stack_sums. Null if nothing is selected.';

revoke execute on function
    fleetprof_data.sampled_stacks, fleetprof_data.stacks_on, fleetprof_data.stack_sums, fleetprof_data.stacks_above,
    fleetprof_data.stack_sums_above, fleetprof_data.shown_frames, fleetprof_data.merged_tree, fleetprof_data.call_tree
from public;
grant execute on function
    fleetprof_data.sampled_stacks, fleetprof_data.stacks_on, fleetprof_data.stack_sums, fleetprof_data.stacks_above,
    fleetprof_data.stack_sums_above, fleetprof_data.shown_frames, fleetprof_data.merged_tree, fleetprof_data.call_tree
to fleetprof_reader;
