-- SPDX-License-Identifier: Apache-2.0
-- Frames of packages, folded: into one node per package, or into the code that calls them.

create or replace function fleetprof_data.frame_packages(frame_ids bigint[])
returns table (frame_id bigint, package text, has_place boolean)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with script as materialized (
        select resource_id, url_package(url) as package, ignored, is_ignored
        from named_resource
        where resource_id in (select resource_id from frame where frame_id = any(frame_packages.frame_ids))
    )
    select
        frame_id,
        package_of(
            original.package, source, script.package,
            original.is_ignored or script.is_ignored or is_ignored_code(source, ignored)),
        resource_id is not null or kind not in ('function', 'builtin')
    from unnest(frame_packages.frame_ids) as frame_id
    join original_frame as original using (frame_id)
    left join script using (resource_id);
end
$$;

comment on function fleetprof_data.frame_packages is
    'Returns the package of each frame, (ignored) for other code that is not the site''s own, null for the site''s own. has_place: false for functions of the browser, which no script has.';

create or replace function fleetprof_data.folded_tree(
    fold              text,
    in out stack_ids   bigint[],
    in out parents     integer[],
    in out levels      integer[],
    in out frame_ids   bigint[],
    in out self_sums   bigint[],
    in out total_sums  bigint[],
    in out sample_sums bigint[],
    in out inward      integer[],
    out packages      text[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
set enable_sort = off
as $$
#variable_conflict use_column
declare
    node integer;
    parent integer;
    number integer;
    -- By place: the number of the frame's package (0: no package; -1: a function of the browser); true if the stack has
    -- code outside all packages.
    numbers integer[];
    has_own boolean[] := array_fill(false, array[cardinality(parents)]);
    -- By place: the node into which the place is folded, and that node's level. A hash of its path names a node.
    groups bigint[] := array_fill(0::bigint, array[cardinality(parents)]);
    depths integer[] := array_fill(0, array[cardinality(parents)]);
begin
    if folded_tree.fold not in ('package', 'caller') then
        raise invalid_parameter_value using
            message = format('nothing is folded into "%s"', folded_tree.fold),
            hint = 'fold is package or caller.';
    end if;
    if folded_tree.fold is null then
        numbers := array_fill(0, array[cardinality(parents)]);
    else
        with named as materialized (
            select frame_id, package, has_place
            from frame_packages(array(select distinct frame_id from unnest(frame_ids) as frame_id where frame_id is not null))
        ),
        listed as materialized (
            select package, row_number() over (order by package collate "C")::integer as number
            from named
            where package is not null
            group by package
        )
        select
            (select array_agg(case when package like '(%' then package else '(' || package || ')' end order by number) from listed),
            array_agg(case when has_place then coalesce(number, 0) else -1 end order by place)
        into packages, numbers
        from unnest(frame_ids) with ordinality as node (frame_id, place)
        left join named using (frame_id)
        left join listed using (package);
    end if;

    for rank in reverse cardinality(inward)..1 loop
        node := inward[rank];
        parent := parents[node];
        -- Time of the browser's functions counts for the package that calls them.
        if numbers[node] = -1 then
            numbers[node] := case when parent > 1 then numbers[parent] else 0 end;
        end if;
        number := numbers[node];
        has_own[node] := has_own[parent] or number = 0;
        if number > 0 and parent > 1
            and (number = numbers[parent] or folded_tree.fold = 'caller' and has_own[parent]) then
            groups[node] := groups[parent];
            depths[node] := depths[parent];
        else
            groups[node] := hashtextextended(
                case when number > 0 then -number else frame_ids[node] end::text, groups[parent]);
            depths[node] := depths[parent] + 1;
        end if;
    end loop;

    with member as materialized (
        select *, place = 1 or path <> groups[parent] as is_head, groups[parent] as parent_path
        from (
            select
                unnest(groups) as path, unnest(depths) as level, unnest(parents) as parent, unnest(self_sums) as self_us,
                unnest(total_sums) as total_us, unnest(sample_sums) as samples,
                unnest(frame_ids) as frame_id, unnest(numbers) as number, generate_subscripts(groups, 1) as place
        ) as node
    ),
    folded as materialized (
        select
            *, row_number() over (order by level, place)::integer as rank
        from (
            select
                path, level,
                min(place) as place,
                sum(self_us)::bigint as self_us,
                -- The total of a part already includes parts of the same node above it.
                sum(total_us) filter (where is_head)::bigint as total_us,
                sum(samples) filter (where is_head)::bigint as samples,
                min(parent_path) filter (where place > 1 and is_head) as parent_path,
                min(case when number > 0 then -number else frame_id end) filter (where is_head) as frame_id
            from member
            group by path, level
        ) as node
    )
    select
        array_agg(path), array_agg(parent), array_agg(level), array_agg(frame_id), array_agg(self_us), array_agg(total_us),
        array_agg(samples)
    into stack_ids, parents, levels, frame_ids, self_sums, total_sums, sample_sums
    from (
        select
            case when node.level > 0 then node.path end as path, coalesce(parent.rank, 1) as parent, node.level,
            node.frame_id, node.self_us, node.total_us, node.samples
        from folded as node
        left join folded as parent on parent.path = node.parent_path and node.level = parent.level + 1
        order by node.rank
    ) as node;
    inward := array(select generate_series(cardinality(levels), 2, -1));
end
$$;

comment on function fleetprof_data.folded_tree is
    'Returns the tree of stack_sums with frames of packages folded. fold => package: neighbours of one package become one node; caller: a frame of a package becomes a part of the nearest function on its stack that belongs to no package, if there is one. null: no package is folded. Nodes that then have the same path are one. packages: labels of nodes that stand for a package; the frame_id of the nth is -n. Self times add up to what they did.';

create or replace function fleetprof_data.package_label(frame_id bigint, packages text[])
returns text
language sql immutable parallel safe
return case when frame_id between -cardinality(packages) and -1 then packages[(-frame_id)::integer] end;

comment on function fleetprof_data.package_label is
    'Returns the label of a node that stands for a package; null for other nodes. packages: of call_tree.';

create or replace function fleetprof_data.package_key(frame_id bigint, packages text[])
returns bigint
language sql immutable parallel safe
return hashtextextended('package' || E'\n' || fleetprof_data.package_label(frame_id, packages), 0);

comment on function fleetprof_data.package_key is
    'Returns the function_key of a node that stands for a package; null for other nodes. packages: of call_tree.';

revoke execute on function
    fleetprof_data.frame_packages, fleetprof_data.folded_tree, fleetprof_data.package_label, fleetprof_data.package_key
from public;
grant execute on function
    fleetprof_data.frame_packages, fleetprof_data.folded_tree, fleetprof_data.package_label, fleetprof_data.package_key
to fleetprof_reader;
