-- SPDX-License-Identifier: Apache-2.0
-- Events of Speed Tracer and Opera Scope by type.

create or replace function fleetprof.event_breakdown(
    -- {{filters of samples}}
)
returns table (
    event_type text,
    count      bigint,
    self_ms    double precision,
    total_ms   double precision
)
language plpgsql stable parallel safe rows 30
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    markers smallint[] := select_markers(event_breakdown.marker, event_breakdown.exclude_marker);
    -- Stacks of events, each after its parent; parent 0 means none. Types are numbered.
    parents integer[];
    types integer[];
    names text[];
    self_sums bigint[];
    total_sums bigint[];
    sample_sums bigint[];
    node_count integer;
    first_inside integer[];
    next_beside integer[];
    around integer[]; -- by type: how many of the current stack and those around it have the type
    outermost boolean[];
    node integer;
    tree record;
begin
    -- A separate statement, so that the planner knows the lengths of the arrays.
    select * into tree from stack_sums(selected, markers);
    with every as materialized (
        select
            stack_id, parent_id, function as name, sums.self_us, sums.total_us, sums.samples,
            row_number() over (order by level)::integer as place,
            dense_rank() over (order by function)::integer as type
        from unnest(
            tree.parents, tree.levels, tree.frame_ids, tree.self_sums, tree.total_sums, tree.sample_sums
        ) with ordinality as sums (parent_id, level, frame_id, self_us, total_us, samples, stack_id)
        join frame using (frame_id)
        where kind = 'event'
    )
    select
        array_agg(parent_place), array_agg(type), array_agg(name),
        array_agg(self_us), array_agg(total_us), array_agg(samples)
    into parents, types, names, self_sums, total_sums, sample_sums
    from (
        select own.*, coalesce(parent.place, 0) as parent_place
        from every as own
        left join every as parent on parent.stack_id = own.parent_id
        order by own.place
    ) as node;

    node_count := coalesce(cardinality(parents), 0);
    first_inside := array_fill(0, array[node_count + 1], array[0]);
    next_beside := array_fill(0, array[node_count]);
    around := array_fill(0, array[node_count]);
    outermost := array_fill(false, array[node_count]);
    for child in reverse node_count..1 loop
        next_beside[child] := first_inside[parents[child]];
        first_inside[parents[child]] := child;
    end loop;
    -- Walks the tree depth first and counts the enclosing stacks of each type.
    node := first_inside[0];
    while node > 0 loop
        around[types[node]] := around[types[node]] + 1;
        outermost[node] := around[types[node]] = 1;
        if first_inside[node] > 0 then
            node := first_inside[node];
            continue;
        end if;
        loop
            around[types[node]] := around[types[node]] - 1;
            exit when next_beside[node] > 0 or parents[node] = 0;
            node := parents[node];
        end loop;
        node := next_beside[node];
    end loop;

    return query
    with every as (
        select *
        from unnest(parents, names, self_sums, total_sums, sample_sums, outermost) with ordinality
            as node (parent, name, self_us, total_us, samples, is_outermost, place)
    ),
    inside as (
        select parent as place, sum(samples) as samples
        from every
        group by parent
    )
    select
        name,
        sum(every.samples - coalesce(inside.samples, 0))::bigint,
        (sum(self_us) / 1000)::double precision,
        (coalesce(sum(total_us) filter (where is_outermost), 0) / 1000)::double precision
    from every
    left join inside using (place)
    where name <> '(not listed)' -- time outside all events of the upload
    group by name
    order by 3 desc, 2 desc, name collate "C";
end
$$;

comment on function fleetprof.event_breakdown is
    -- {{comment of event_breakdown}};

revoke execute on function fleetprof.event_breakdown from public;
grant execute on function fleetprof.event_breakdown to fleetprof_reader;
