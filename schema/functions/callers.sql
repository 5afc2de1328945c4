-- SPDX-License-Identifier: Apache-2.0
-- Callers of a function, and what it calls.

create or replace function fleetprof_data.call_edges(
    selected      fleetprof_data.selection,
    markers       smallint[],
    function_name text,
    key           text,
    of_callers    boolean,
    fold          text,
    out total_us  bigint,
    out frame_ids bigint[],
    out sums      bigint[],
    out samples   bigint[],
    out packages  text[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- The tree by place, as in stack_sums.
    stack_ids bigint[];
    parents integer[];
    levels integer[];
    frames bigint[];
    own_sums bigint[];
    totals bigint[];
    counts bigint[];
    inward integer[];
    used bigint[];
    wanted bigint[];
    -- By place: whether the function is on the stack, this place included.
    is_wanted boolean[];
    has_wanted boolean[];
    -- By place: the innermost place whose call counts, this place included, and the next one that encloses it; 0: none.
    -- No two of a chain are the same call, so chains stay short where functions recur.
    innermost integer[];
    enclosing integer[];
    node integer;
    parent integer;
    counted integer;
    other bigint;
begin
    total_us := 0;
    frame_ids := '{}';
    sums := '{}';
    samples := '{}';
    if call_edges.fold is null then
        -- The facts of frames are far fewer than the facts of stacks.
        used := array(
            select distinct frame_id
            from (
                select unnest(frame_id) as frame_id
                from frame_packed
                where is_selected(call_edges.selected, sealed, group_id, bucket, span)
            ) as entry);
    else
        select * into stack_ids, parents, levels, frames, own_sums, totals, counts, inward
        from stack_sums(call_edges.selected, call_edges.markers);
        if stack_ids is null then
            return;
        end if;
        select * into stack_ids, parents, levels, frames, own_sums, totals, counts, inward, packages
        from folded_tree(call_edges.fold, stack_ids, parents, levels, frames, own_sums, totals, counts, inward);
        used := array(select distinct frame_id from unnest(frames) as frame_id);
    end if;

    wanted := array(
        select frame_id
        from named_frames(used)
        where matches(function, call_edges.function_name)
            and (call_edges.key is null
                or call_edges.key = function_key::text)
        union all
        select frame_id
        from (select -number as frame_id from generate_series(1, cardinality(packages)) as number) as package
        where matches(package_label(frame_id, packages), call_edges.function_name)
            and (call_edges.key is null or call_edges.key = package_key(frame_id, packages)::text));
    if cardinality(wanted) = 0 then
        return;
    end if;
    if call_edges.fold is null then
        select * into parents, frames, own_sums, totals, counts, inward
        from stack_sums_above(call_edges.selected, call_edges.markers, wanted);
    end if;
    is_wanted := array(select coalesce(frame_id = any(wanted), false) from unnest(frames) as frame_id);
    has_wanted := is_wanted;
    innermost := array_fill(0, array[cardinality(parents)]);
    enclosing := innermost;

    for rank in reverse cardinality(inward)..1 loop
        node := inward[rank];
        parent := parents[node];
        has_wanted[node] := is_wanted[node] or has_wanted[parent];
        innermost[node] := innermost[parent];
        continue when totals[node] is null;
        -- A sample counts once, however often the function, or the same call, is on its stack.
        if is_wanted[node] and not has_wanted[parent] then
            total_us := total_us + totals[node];
        end if;
        if not call_edges.of_callers and is_wanted[node] and own_sums[node] <> 0 then
            frame_ids := frame_ids || null::bigint;
            sums := sums || own_sums[node];
            samples := samples || null::bigint;
        end if;
        continue when not is_wanted[case when call_edges.of_callers then node else parent end];
        other := frames[case when call_edges.of_callers then parent else node end];
        counted := innermost[node];
        while counted > 0
            and other is distinct from frames[case when call_edges.of_callers then parents[counted] else counted end] loop
            counted := enclosing[counted];
        end loop;
        continue when counted > 0;
        enclosing[node] := innermost[node];
        innermost[node] := node;
        frame_ids := frame_ids || other;
        sums := sums || totals[node];
        samples := samples || counts[node];
    end loop;
end
$$;

comment on function fleetprof_data.call_edges is
    'Returns the calls of a function, or from it, in parallel arrays: the frame on the other side, time in microseconds and samples with this call on the stack; a frame may come several times. total_us: time with the function anywhere on the stack. Null stands for no caller, or for the function''s own time, which has no samples. fold, packages: as in call_tree.';

create or replace function fleetprof_data.call_rows(
    selected      fleetprof_data.selection,
    markers       smallint[],
    function_name text,
    key           text,
    of_callers    boolean,
    fold          text
)
returns table (
    function_key       text,
    function           text,
    resource           text,
    line               integer,
    column_number      integer,
    total_ms           double precision,
    share              double precision,
    samples            bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    edges record;
    nobody text := case when call_rows.of_callers then '(root)' else '(self)' end;
begin
    if num_nonnulls(call_rows.function_name, call_rows.key) = 0 then
        raise invalid_parameter_value using
            message = 'function_name is null',
            hint = 'Name a function, or give its function_key as key.';
    end if;
    edges := call_edges(
        call_rows.selected, call_rows.markers, call_rows.function_name, call_rows.key, call_rows.of_callers, call_rows.fold);

    return query
    with edge as materialized (
        select frame_id, sum(sum_us) as sum_us, sum(samples) as samples
        from unnest(edges.frame_ids, edges.sums, edges.samples) as edge (frame_id, sum_us, samples)
        group by frame_id
    ),
    neighbour as (
        select coalesce(shown_id, frame_id) as frame_id, sum(sum_us) as sum_us, sum(samples) as samples
        from edge
        left join (
            select merged.*
            from (select array_agg(frame_id) as frame_ids, array_agg(sum_us::double precision) as weights from edge) as given
            cross join lateral merged_frames(given.frame_ids, weights) as merged
        ) as merged using (frame_id)
        group by 1
    )
    select
        coalesce(function_key, package_key(frame_id, edges.packages))::text,
        coalesce(function, package_label(frame_id, edges.packages), nobody),
        resource,
        line,
        column_number,
        (sum_us / 1000)::double precision,
        sum_us::double precision / nullif(edges.total_us, 0),
        samples::bigint,
        generated_resource,
        generated_line,
        generated_column
    from neighbour
    left join named_frame using (frame_id)
    order by sum_us desc, coalesce(function, package_label(frame_id, edges.packages), nobody) collate "C", resource collate "C", line, column_number;
end
$$;

comment on function fleetprof_data.call_rows is
    'Returns the rows of fleetprof.callers, or of fleetprof.callees.';

create or replace function fleetprof.callers(
    function_name text,
    -- {{filters of samples}},
    key           text default null,
    fold          text default null
)
returns table (
    function_key       text,
    function           text,
    resource           text,
    line               integer,
    column_number      integer,
    total_ms           double precision,
    share              double precision,
    samples            bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
begin
    return query
    select *
    from call_rows(
        select_segments(given),
        select_markers(callers.marker, callers.exclude_marker), callers.function_name, callers.key, of_callers => true,
        fold => callers.fold);
end
$$;

comment on function fleetprof.callers is
    -- {{comment of callers}};

create or replace function fleetprof.callees(
    function_name text,
    -- {{filters of samples}},
    key           text default null,
    fold          text default null
)
returns table (
    function_key       text,
    function           text,
    resource           text,
    line               integer,
    column_number      integer,
    total_ms           double precision,
    share              double precision,
    samples            bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
begin
    return query
    select *
    from call_rows(
        select_segments(given),
        select_markers(callees.marker, callees.exclude_marker), callees.function_name, callees.key, of_callers => false,
        fold => callees.fold);
end
$$;

comment on function fleetprof.callees is
    -- {{comment of callees}};

revoke execute on function fleetprof_data.call_edges, fleetprof_data.call_rows, fleetprof.callers, fleetprof.callees from public;
grant execute on function fleetprof_data.call_edges, fleetprof_data.call_rows, fleetprof.callers, fleetprof.callees to fleetprof_reader;
