-- Callers of a function, and what it calls.

create or replace function fleetprof_data.call_edges(
    selected      fleetprof_data.selection,
    markers       smallint[],
    function_name text,
    key           text,
    of_callers    boolean,
    out total_us  bigint,
    out frame_ids bigint[],
    out sums      bigint[],
    out samples   bigint[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- Stacks by place; the first one is the whole, frame 0: in an array with nulls, elements are slow to find.
    parents integer[];
    frames bigint[];
    own_sums bigint[];
    totals bigint[];
    counts bigint[];
    inward integer[]; -- places, each before its caller's
    wanted bigint[]; -- frames of the function
    is_wanted boolean[];
    calls integer[]; -- how often the function is on the stack
    node integer;
    caller integer;
    lower integer;
    other bigint; -- the neighbour of the function
    is_counted boolean;
begin
    total_us := 0;
    frame_ids := '{}';
    sums := '{}';
    samples := '{}';
    select stack_sums.parents, array_replace(stack_sums.frame_ids, null, 0), self_sums, total_sums, sample_sums, stack_sums.inward
    into parents, frames, own_sums, totals, counts, inward
    from stack_sums(call_edges.selected, call_edges.markers);
    wanted := array(select distinct frame_id from unnest(frames) as frame_id);
    wanted := array(
        select frame_id
        from original_frame
        where frame_id = any(wanted) and matches(function, call_edges.function_name));
    if call_edges.key is not null then
        wanted := array(select frame_id from named_frames(wanted) where function_key::text = call_edges.key);
    end if;
    if cardinality(wanted) = 0 then
        return;
    end if;
    is_wanted := array(select frame_id = any(wanted) from unnest(frames) as frame_id);
    calls := array_fill(0, array[cardinality(parents)]);
    for index in reverse cardinality(inward)..1 loop
        node := inward[index];
        calls[node] := calls[parents[node]] + is_wanted[node]::integer;
    end loop;

    foreach node in array inward loop
        caller := parents[node];
        if is_wanted[node] then
            if calls[node] = 1 then
                total_us := total_us + totals[node];
            end if;
            if not call_edges.of_callers and own_sums[node] <> 0 then
                frame_ids := frame_ids || null::bigint;
                sums := sums || own_sums[node];
                samples := samples || null::bigint;
            end if;
        end if;
        if call_edges.of_callers then
            continue when not is_wanted[node];
            other := nullif(frames[caller], 0);
        else
            continue when not is_wanted[caller];
            other := frames[node];
        end if;
        -- A sample counts once, however often the same call is on its stack.
        is_counted := false;
        lower := caller;
        while not is_counted and calls[lower] > 0 loop
            caller := parents[lower];
            is_counted := case
                when call_edges.of_callers then is_wanted[lower] and nullif(frames[caller], 0) is not distinct from other
                else is_wanted[caller] and frames[lower] = other
            end;
            lower := caller;
        end loop;
        if not is_counted then
            frame_ids := frame_ids || other;
            sums := sums || totals[node];
            samples := samples || counts[node];
        end if;
    end loop;
end
$$;

comment on function fleetprof_data.call_edges is
    'Returns the calls of a function, or from it, in parallel arrays: the frame on the other side, time in microseconds and samples with this call on the stack; a frame may come several times. total_us: time with the function anywhere on the stack. Null stands for no caller, or for the function''s own time, which has no samples.';

create or replace function fleetprof_data.call_rows(
    selected      fleetprof_data.selection,
    markers       smallint[],
    function_name text,
    key           text,
    of_callers    boolean
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
        call_rows.selected, call_rows.markers, call_rows.function_name, call_rows.key, call_rows.of_callers);

    return query
    with edge as materialized (
        select frame_id, sum(sum_us) as sum_us, sum(samples) as samples
        from unnest(edges.frame_ids, edges.sums, edges.samples) as edge (frame_id, sum_us, samples)
        group by frame_id
    ),
    merged as materialized (
        select merged.*
        from (select array_agg(frame_id) as frame_ids, array_agg(sum_us::double precision) as weights from edge) as given
        cross join lateral merged_frames(given.frame_ids, weights) as merged
    ),
    neighbour as (
        select shown_id as frame_id, sum(sum_us) as sum_us, sum(samples) as samples
        from edge
        left join merged using (frame_id)
        group by shown_id
    )
    select
        function_key::text,
        coalesce(function, nobody),
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
    left join merged using (frame_id)
    order by sum_us desc, coalesce(function, nobody) collate "C", resource collate "C", line, column_number;
end
$$;

comment on function fleetprof_data.call_rows is
    'Returns the rows of fleetprof.callers, or of fleetprof.callees.';

create or replace function fleetprof.callers(
    function_name text,
    site          text,
    since         timestamptz default now() - interval '1 day',
    until         timestamptz default now(),
    route         text default null,
    release       text default null,
    environment   text default null,
    variant       text default null,
    browser       text default null,
    os            text default null,
    device        text default null,
    thread        text default null,
    marker        text default null,
    key           text default null
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
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    select *
    from call_rows(
        select_segments(
            callers.site, callers.since, callers.until, callers.route, callers.release, callers.environment,
            callers.variant, callers.browser, callers.os, callers.device, callers.thread),
        select_markers(callers.marker), callers.function_name, callers.key, of_callers => true);
end
$$;

comment on function fleetprof.callers is
    'Returns what calls a function: the frames right below it on stacks. total_ms: milliseconds of samples with this call on the stack; share: of the time with the function anywhere on the stack, 0 to 1; samples: with this call. (root): nothing called it. Where it calls itself a sample may count for several callers, but once for each. function_name: of which only % is a wildcard; null with key, the function_key of one function. generated_resource, generated_line, generated_column: as in hotspots.';

create or replace function fleetprof.callees(
    function_name text,
    site          text,
    since         timestamptz default now() - interval '1 day',
    until         timestamptz default now(),
    route         text default null,
    release       text default null,
    environment   text default null,
    variant       text default null,
    browser       text default null,
    os            text default null,
    device        text default null,
    thread        text default null,
    marker        text default null,
    key           text default null
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
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    select *
    from call_rows(
        select_segments(
            callees.site, callees.since, callees.until, callees.route, callees.release, callees.environment,
            callees.variant, callees.browser, callees.os, callees.device, callees.thread),
        select_markers(callees.marker), callees.function_name, callees.key, of_callers => false);
end
$$;

comment on function fleetprof.callees is
    'Returns what a function calls: the frames right on top of it on stacks. total_ms: milliseconds of samples with this call on the stack; share: of the time with the function anywhere on the stack, 0 to 1; samples: with this call. (self): its own time, without samples. Without recursion all rows add up to 1. function_name: of which only % is a wildcard; null with key, the function_key of one function. generated_resource, generated_line, generated_column: as in hotspots.';

revoke execute on function fleetprof_data.call_edges, fleetprof_data.call_rows, fleetprof.callers, fleetprof.callees from public;
grant execute on function fleetprof_data.call_edges, fleetprof_data.call_rows, fleetprof.callers, fleetprof.callees to fleetprof_reader;
