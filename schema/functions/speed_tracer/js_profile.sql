-- The JavaScript profile of a session: V8's ticks by function.

create or replace function fleetprof_data.js_profile_stacks(
    session_id bigint,
    event_id   bigint,
    state      text,
    -- By number of a function.
    out names        text[],
    out urls         text[],
    out lines        integer[],
    -- By number of a stack; parents have lower numbers, 0 is none.
    out functions    integer[],
    out parents      integer[],
    out is_recursive boolean[],
    out ticks        bigint[],
    out unattributed bigint
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    states constant text[] := array['js', 'gc', 'compiler', 'other', 'external', 'unknown'];
    state_number constant integer := array_position(states, js_profile_stacks.state) - 1;
    same integer[]; -- by number of a function: the first that is equal; null: none is
    recursive_stacks integer[];
    -- By run of equal ticks; stack 0 is no known code.
    run_stacks integer[];
    run_ticks integer[];
begin
    if js_profile_stacks.state is not null and state_number is null then
        raise invalid_parameter_value using
            message = format('no state of the engine is named %s', quote_literal(js_profile_stacks.state)),
            hint = format('States are %s.', array_to_string(states, ', '));
    end if;
    if js_profile_stacks.event_id is not null and not exists (
        select from speed_tracer_events(js_profile_stacks.session_id, has_detail => false) where event_id = js_profile_stacks.event_id)
    then
        raise no_data_found using
            message = format('session %s has no event %s', js_profile_stacks.session_id, js_profile_stacks.event_id);
    end if;
    -- Each profile lists the functions and stacks that no profile before it in its part of the session has. In the order of
    -- profiles these lists are arrays by number: nothing is sorted or joined by stack, of which there may be many.
    with profile as materialized (
        select
            session_id as part,
            coalesce(js_profile_stacks.event_id in (event_id, (profile_of #>> '{}')::bigint), js_profile_stacks.event_id is null)
                as is_selected,
            member.*
        from speed_tracer_events(js_profile_stacks.session_id, '{PROFILE_DATA}')
        cross join lateral jsonb_to_record(detail) as kept (profile jsonb, "profileOf" jsonb)
        cross join lateral (select "profileOf" as profile_of) as renamed
        cross join lateral jsonb_to_record(case when jsonb_typeof(profile) = 'object' then profile end) as member (
            "firstFunction" integer, names jsonb, urls jsonb, lines integer[],
            "firstStack" integer, functions integer[], parents integer[], recursive integer[],
            stacks integer[], states integer[], ticks integer[])
        where type_number >= 0 and member.names is not null
        order by event
    ),
    -- Numbers begin at 1 and go on through all parts.
    part as materialized (
        select
            part,
            (sum(functions) over parts - functions + 1)::integer as first_function,
            (sum(stacks) over parts - stacks + 1)::integer as first_stack
        from (
            select
                part, min(number) as number, max("firstFunction" + cardinality(lines)) as functions,
                max("firstStack" + cardinality(profile.functions)) as stacks
            from (select *, row_number() over () as number from profile) as profile
            group by part
        ) as counted
        window parts as (order by number)
    ),
    function as materialized (
        select row_number() over () as number, name, url, nullif(line, -1) as line
        from profile
        cross join lateral rows from (
            jsonb_array_elements_text(names), jsonb_array_elements_text(urls), unnest(lines)
        ) as listed (name, url, line)
    ),
    functions_listed as (
        select
            array_agg(name) as names, array_agg(url) as urls, array_agg(line) as lines,
            -- Two may have become equal when their URLs lost their queries. Few dumps have such: to count is cheaper than to sort.
            case when count(*) > (
                select count(*) from (select distinct name collate "C", url collate "C", line from function) as different
            ) then (
                select array_agg(same order by number)
                from (
                    select number, min(number) over (partition by name collate "C", url collate "C", line)::integer as same
                    from function
                ) as compared
            ) end as same
        from (select * from function order by number) as known
    ),
    stacks_listed as (
        select
            array_agg(first_function + function) as functions,
            array_agg(case when parent >= 0 then first_stack + parent else 0 end) as parents
        from profile
        join part using (part)
        cross join lateral unnest(functions, parents) as stack (function, parent)
    ),
    recursive_listed as (
        select array_agg(first_stack + stack) as stacks
        from profile
        join part using (part)
        cross join lateral unnest(recursive) as stack
    ),
    runs_listed as (
        select array_agg(case when stack >= 0 then first_stack + stack else 0 end) as stacks, array_agg(run.ticks) as ticks
        from profile
        join part using (part)
        cross join lateral unnest(stacks, states, ticks) as run (stack, state, ticks)
        where is_selected and (state_number is null or state = state_number)
    )
    select f.names, f.urls, f.lines, f.same, s.functions, s.parents, c.stacks, r.stacks, r.ticks
    into
        js_profile_stacks.names, js_profile_stacks.urls, js_profile_stacks.lines, same,
        js_profile_stacks.functions, js_profile_stacks.parents, recursive_stacks, run_stacks, run_ticks
    from functions_listed as f, stacks_listed as s, recursive_listed as c, runs_listed as r;

    js_profile_stacks.is_recursive := array_fill(false, array[coalesce(cardinality(js_profile_stacks.functions), 0)]);
    js_profile_stacks.ticks := array_fill(0::bigint, array[cardinality(js_profile_stacks.is_recursive)]);
    js_profile_stacks.unattributed := 0;
    if same is not null then
        for stack in 1..cardinality(js_profile_stacks.ticks) loop
            js_profile_stacks.functions[stack] := same[js_profile_stacks.functions[stack]];
        end loop;
    end if;
    for at in 1..coalesce(cardinality(recursive_stacks), 0) loop
        js_profile_stacks.is_recursive[recursive_stacks[at]] := true;
    end loop;
    for at in 1..coalesce(cardinality(run_stacks), 0) loop
        if run_stacks[at] = 0 then
            js_profile_stacks.unattributed := js_profile_stacks.unattributed + run_ticks[at];
        else
            js_profile_stacks.ticks[run_stacks[at]] := js_profile_stacks.ticks[run_stacks[at]] + run_ticks[at];
        end if;
    end loop;
end
$$;

comment on function fleetprof_data.js_profile_stacks is
    'Returns the stacks of the V8 profiles of a session as columns, with the ticks of each under which it ends: of the profiles that belong to an event, or are it (null: all), in a state of the engine (null: any). unattributed: ticks outside all known code.';

create or replace function fleetprof.js_profile(
    session_id bigint,
    event_id   bigint default null,
    state      text default null
)
returns table (
    function    text,
    resource    text,
    line        integer,
    self_ticks  bigint,
    total_ticks bigint,
    self_share  double precision,
    total_share double precision
)
language plpgsql stable parallel safe rows 200
set search_path = fleetprof_data, pg_temp
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    function_names text[];
    function_urls text[];
    function_lines integer[];
    stack_functions integer[];
    stack_parents integer[];
    stack_recursive boolean[];
    stack_ticks bigint[];
    below bigint[]; -- by stack: its ticks and those of all stacks inside
    outside bigint; -- ticks outside all known code
    around integer; -- the stack around one
    -- By function.
    selves bigint[];
    totals bigint[];
    at integer;
begin
    select names, urls, lines, functions, parents, is_recursive, ticks, unattributed
    into function_names, function_urls, function_lines, stack_functions, stack_parents, stack_recursive, stack_ticks, outside
    from js_profile_stacks(js_profile.session_id, js_profile.event_id, js_profile.state);
    below := stack_ticks;
    selves := array_fill(0::bigint, array[coalesce(cardinality(function_names), 0)]);
    totals := selves;
    for stack in reverse cardinality(below)..1 loop
        continue when below[stack] = 0;
        around := stack_parents[stack];
        if around > 0 then
            below[around] := below[around] + below[stack];
        end if;
        at := stack_functions[stack];
        selves[at] := selves[at] + stack_ticks[stack];
        if not stack_recursive[stack] then
            totals[at] := totals[at] + below[stack];
        end if;
    end loop;
    return query
    with sums as (
        select *
        from unnest(function_names, function_urls, function_lines, selves, totals) as known (name, url, line, self, total)
        where total > 0
        union all
        select null, null, null, outside, outside
        where outside > 0
    ),
    every as (
        select sum(self) as ticks from sums
    )
    select
        shown,
        nullif(url, ''),
        line,
        self::bigint,
        total::bigint,
        (self / ticks)::double precision,
        (total / ticks)::double precision
    from sums
    cross join every
    cross join lateral (
        select case when name is null then '(unattributed)' else coalesce(nullif(name, ''), '(anonymous)') end as shown
    ) as shown_as
    order by self desc, total desc, shown collate "C", url collate "C", line;
end
$$;

comment on function fleetprof.js_profile is
    'Returns the ticks of the V8 profiles of a session by function, as Speed Tracer''s flat profile: self_ticks with the function on top, total_ticks with it anywhere on the stack, once per tick; ticks outside all known code are (unattributed). event_id: only the profiles of this event (null: all). state: only ticks in this state of the engine (null: all). Shares are of the selected ticks.';

create or replace function fleetprof.js_profile_bottom_up(
    session_id bigint,
    event_id   bigint default null,
    state      text default null,
    min_share  double precision default 0.001
)
returns table (
    ordinal  bigint,
    level    integer,
    function text,
    resource text,
    line     integer,
    ticks    bigint,
    share    double precision
)
language plpgsql stable parallel safe rows 200
set search_path = fleetprof_data, pg_temp
set jit = off
set work_mem = '64MB'
set enable_nestloop = off -- the planner cannot know how long arrays are
as $$
#variable_conflict use_column
declare
    nodes_max constant integer := 100000;
    steps_max constant bigint := 1000000; -- about two seconds
    steps bigint := 0; -- from a function to its caller, so far
    function_names text[];
    function_urls text[];
    function_lines integer[];
    stack_functions integer[];
    stack_parents integer[];
    outside bigint;
    every bigint; -- ticks
    least_ticks double precision;
    -- The nodes of the tree so far: a level after the other, siblings by ticks. Node 0 is around the first level.
    node_functions integer[] := '{}';
    node_parents integer[] := '{}';
    node_levels integer[] := '{}';
    node_ticks bigint[] := '{}';
    -- The ticks of the last level: by node, and by where on its stack each is.
    at_nodes integer[];
    at_stacks integer[];
    at_ticks bigint[];
    -- The nodes of the next level.
    next_functions integer[];
    next_parents integer[];
    next_ticks bigint[];
    level_now integer := 0;
    sizes integer[]; -- by node: how many nodes its tree has
    ordinals bigint[];
    frees bigint[]; -- by node: the ordinal of its next child
    first_free bigint := 1;
begin
    if js_profile_bottom_up.min_share is null or not js_profile_bottom_up.min_share between 0 and 1 then
        raise invalid_parameter_value using
            message = format('min_share is %s', coalesce(js_profile_bottom_up.min_share::text, 'null')),
            hint = 'min_share is a share of the ticks, 0 to 1.';
    end if;
    select names, urls, lines, functions, parents, ticks, unattributed
    into function_names, function_urls, function_lines, stack_functions, stack_parents, at_ticks, outside
    from js_profile_stacks(js_profile_bottom_up.session_id, js_profile_bottom_up.event_id, js_profile_bottom_up.state);
    select sum(ticks) into every from unnest(at_ticks || outside) as ticks;
    least_ticks := greatest(js_profile_bottom_up.min_share * every, 1);
    select array_agg(0), array_agg(stack::integer), array_agg(ticks)
    into at_nodes, at_stacks, at_ticks
    from unnest(at_ticks) with ordinality as listed (ticks, stack)
    where ticks > 0;
    -- Level by level: the planner cannot estimate a recursive query.
    loop
        select
            array_agg(function order by parent, ticks desc, function),
            array_agg(parent order by parent, ticks desc, function),
            array_agg(ticks order by parent, ticks desc, function)
        into next_functions, next_parents, next_ticks
        from (
            select node as parent, stack_functions[stack] as function, sum(ticks)::bigint as ticks
            from unnest(at_nodes, at_stacks, at_ticks) as inside (node, stack, ticks)
            group by 1, 2
        ) as summed
        where ticks >= least_ticks;
        exit when next_functions is null;
        level_now := level_now + 1;
        steps := steps + cardinality(at_nodes);
        if steps > steps_max then
            raise program_limit_exceeded using
                message = format('the ticks have more than %s callers to follow', steps_max),
                hint = 'Give an event_id, a state, or a greater min_share.';
        end if;
        if cardinality(node_functions) + cardinality(next_functions) > nodes_max then
            raise program_limit_exceeded using
                message = format('the tree has more than %s nodes', nodes_max),
                hint = 'Give a greater min_share.';
        end if;
        select array_agg(node), array_agg(stack), array_agg(ticks)
        into at_nodes, at_stacks, at_ticks
        from (
            select
                cardinality(node_functions) + place::integer as node, stack_parents[stack] as stack,
                sum(ticks)::bigint as ticks
            from unnest(at_nodes, at_stacks, at_ticks) as inside (node, stack, ticks)
            join unnest(next_parents, next_functions) with ordinality as next (parent, function, place)
                on parent = inside.node and function = stack_functions[inside.stack]
            where stack_parents[stack] > 0
            group by 1, 2
        ) as summed;
        node_functions := node_functions || next_functions;
        node_parents := node_parents || next_parents;
        node_ticks := node_ticks || next_ticks;
        node_levels := node_levels || array_fill(level_now, array[cardinality(next_functions)]);
    end loop;
    -- Depth first: a node comes before its children, and these before its next sibling.
    sizes := array_fill(1, array[cardinality(node_functions)]);
    for node in reverse cardinality(node_functions)..1 loop
        if node_parents[node] > 0 then
            sizes[node_parents[node]] := sizes[node_parents[node]] + sizes[node];
        end if;
    end loop;
    for node in 1..cardinality(node_functions) loop
        if node_parents[node] = 0 then
            ordinals[node] := first_free;
            first_free := first_free + sizes[node];
        else
            ordinals[node] := frees[node_parents[node]];
            frees[node_parents[node]] := ordinals[node] + sizes[node];
        end if;
        frees[node] := ordinals[node] + 1;
    end loop;
    return query
    select
        ordinal,
        level,
        case when function is null then '(unattributed)' else coalesce(nullif(name, ''), '(anonymous)') end,
        nullif(url, ''),
        line,
        ticks,
        ticks::double precision / every
    from (
        select ordinal, level, function, ticks
        from unnest(ordinals, node_levels, node_functions, node_ticks) as node (ordinal, level, function, ticks)
        union all
        select first_free, 1, null, outside
        where outside >= least_ticks
    ) as node
    left join unnest(function_names, function_urls, function_lines) with ordinality as named (name, url, line, function)
        using (function)
    order by ordinal;
end
$$;

comment on function fleetprof.js_profile_bottom_up is
    'Returns the ticks of the V8 profiles of a session as a tree from the function on top of the stack (level 1) to its callers, as Speed Tracer''s bottom-up profile: depth first, most ticks first; at last the ticks outside all known code, (unattributed). ticks: those that end in this chain of calls. event_id and state: as in js_profile. Nodes below min_share of the ticks are left out. Raises an error for more than 100,000 nodes, and for ticks in many deep stacks, whose callers would take more than 1,000,000 steps to follow.';

revoke execute on function
    fleetprof_data.js_profile_stacks, fleetprof.js_profile, fleetprof.js_profile_bottom_up
from public;
grant execute on function
    fleetprof_data.js_profile_stacks, fleetprof.js_profile, fleetprof.js_profile_bottom_up
to fleetprof_reader;
