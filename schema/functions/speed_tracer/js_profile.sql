-- SPDX-License-Identifier: Apache-2.0
-- The JavaScript profile of a session: V8's ticks by function.

create or replace function fleetprof_data.js_profile_stacks(
    session_id bigint,
    event_id   bigint,
    state      text,
    -- Functions and stacks are numbered from 0. By function:
    out names      text[],
    out urls       text[],
    out lines      integer[],
    -- By stack; parents have lower numbers, -1 is none.
    out functions  integer[],
    out parents    integer[],
    out recursive  integer[], -- stacks
    -- By run of equal ticks; stack -1 stands for unknown code.
    out run_stacks integer[],
    out run_ticks  integer[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
set jit = off
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    states constant text[] := array['js', 'gc', 'compiler', 'other', 'external', 'unknown'];
    state_number constant integer := array_position(states, js_profile_stacks.state) - 1;
    same integer[]; -- by function: the first that is equal
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
    -- Each profile lists only functions and stacks that no earlier profile in its part of the session has. Concatenated
    -- in the order of profiles, the lists are arrays by number. Their texts are joined, so that all lists are read as
    -- one.
    with profile as (
        select
            session_id as part,
            event,
            js_profile_stacks.event_id is null or event_id = js_profile_stacks.event_id
                or (detail ->> 'profileOf')::bigint = js_profile_stacks.event_id as is_selected,
            detail -> 'profile' as member
        from speed_tracer_events(js_profile_stacks.session_id, '{PROFILE_DATA}')
        where type_number >= 0
        order by session_id, event
        offset 0 -- unpacks each detail once
    ),
    listed as (
        select
            part, event, is_selected, member ->> 'names' as names, member ->> 'urls' as urls, member ->> 'lines' as lines,
            member ->> 'functions' as functions, member ->> 'parents' as parents, member ->> 'recursive' as recursive,
            member ->> 'stacks' as stacks, member ->> 'states' as states, member ->> 'ticks' as ticks
        from profile
        where jsonb_typeof(member) = 'object' and member ? 'names'
        offset 0
    ),
    joined as (
        select
            min(event) as first_event,
            string_agg(substr(names, 2, length(names) - 2), ',') filter (where names <> '[]') as names,
            string_agg(substr(urls, 2, length(urls) - 2), ',') filter (where urls <> '[]') as urls,
            string_agg(lines, '') filter (where lines <> '{}') as lines,
            string_agg(functions, '') filter (where functions <> '{}') as functions,
            string_agg(parents, '') filter (where parents <> '{}') as parents,
            string_agg(recursive, '') filter (where recursive <> '{}') as recursive,
            string_agg(stacks, '') filter (where is_selected) as stacks,
            string_agg(states, '') filter (where is_selected and state_number is not null) as states,
            string_agg(ticks, '') filter (where is_selected) as ticks
        from listed
        group by part
    ),
    read as (
        select
            first_event,
            ('[' || names || ']')::jsonb as names,
            ('[' || urls || ']')::jsonb as urls,
            replace(lines, '}{', ',')::integer[] as lines,
            replace(functions, '}{', ',')::integer[] as functions,
            replace(parents, '}{', ',')::integer[] as parents,
            replace(recursive, '}{', ',')::integer[] as recursive,
            replace(stacks, '}{', ',')::integer[] as stacks,
            replace(states, '}{', ',')::integer[] as states,
            replace(ticks, '}{', ',')::integer[] as ticks
        from joined
    ),
    -- Numbering continues through all parts.
    part as materialized (
        select
            *,
            coalesce(sum(cardinality(lines)) over before, 0)::integer as first_function,
            coalesce(sum(cardinality(functions)) over before, 0)::integer as first_stack
        from read
        window before as (order by first_event rows between unbounded preceding and 1 preceding)
    ),
    run as (
        select
            array_agg(case when stack >= 0 then first_stack + stack else -1 end) as stacks,
            array_agg(run.ticks) as ticks
        from part
        cross join lateral unnest(stacks, states, ticks) as run (stack, state, ticks)
        where state_number is null or state = state_number
    )
    -- Most sessions have one part, whose arrays are right as they are.
    select
        array(select name from part cross join lateral jsonb_array_elements_text(names) as listed (name)),
        array(select url from part cross join lateral jsonb_array_elements_text(urls) as listed (url)),
        array(select nullif(line, -1) from part cross join lateral unnest(lines) as listed (line)),
        case when parts > 1
            then array(select first_function + function from part cross join lateral unnest(functions) as listed (function))
            else (select functions from part)
        end,
        case when parts > 1
            then array(
                select case when parent >= 0 then first_stack + parent else -1 end
                from part
                cross join lateral unnest(parents) as listed (parent))
            else (select parents from part)
        end,
        array(select first_stack + stack from part cross join lateral unnest(recursive) as listed (stack)),
        case when parts > 1 or state_number is not null then (select stacks from run) else (select stacks from part) end,
        case when parts > 1 or state_number is not null then (select ticks from run) else (select ticks from part) end
    into
        js_profile_stacks.names, js_profile_stacks.urls, js_profile_stacks.lines, js_profile_stacks.functions,
        js_profile_stacks.parents, js_profile_stacks.recursive, js_profile_stacks.run_stacks, js_profile_stacks.run_ticks
    from (select count(*) as parts from part) as counted;

    -- Two functions may have become equal when their URLs lost their queries. Few dumps have any, and counting is
    -- cheaper than sorting.
    if cardinality(js_profile_stacks.names) > (
        select count(*)
        from (
            select distinct name collate "C", url collate "C", line
            from unnest(js_profile_stacks.names, js_profile_stacks.urls, js_profile_stacks.lines) as known (name, url, line)
        ) as different)
    then
        select array_agg(first order by number)
        into same
        from (
            select number, min(number) over (partition by name collate "C", url collate "C", line)::integer - 1 as first
            from unnest(js_profile_stacks.names, js_profile_stacks.urls, js_profile_stacks.lines) with ordinality
                as known (name, url, line, number)
        ) as compared;
        js_profile_stacks.functions := array(
            select same[function + 1] from unnest(js_profile_stacks.functions) as listed (function));
    end if;
end
$$;

comment on function fleetprof_data.js_profile_stacks is
    'Returns the functions and stacks of the V8 profiles of a session as columns, and the ticks by the stack under which they end: of the profiles that belong to an event, or are it (null: all), in a state of the engine (null: any). Functions and stacks are numbered from 0, so number n is element n + 1; -1 stands for no parent, or for unknown code.';

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
    recursive_stacks integer[];
    run_stacks integer[];
    run_ticks integer[];
    -- By stack: its ticks and those of all stacks inside. Element -1 takes ticks without a stack.
    below bigint[];
    outside bigint; -- ticks outside all known code
    every double precision; -- ticks
    -- By function.
    selves bigint[];
    totals bigint[];
    at integer;
begin
    select names, urls, lines, functions, parents, recursive, s.run_stacks, s.run_ticks
    into function_names, function_urls, function_lines, stack_functions, stack_parents, recursive_stacks, run_stacks, run_ticks
    from js_profile_stacks(js_profile.session_id, js_profile.event_id, js_profile.state) as s;
    below := array_fill(0::bigint, array[coalesce(cardinality(stack_functions), 0) + 1], array[-1]);
    selves := array_fill(0::bigint, array[cardinality(function_names)], array[0]);
    totals := selves;
    for run in 1..coalesce(cardinality(run_stacks), 0) loop
        at := run_stacks[run];
        below[at] := below[at] + run_ticks[run];
        if at >= 0 then
            at := stack_functions[at + 1];
            selves[at] := selves[at] + run_ticks[run];
        end if;
    end loop;
    outside := below[-1];
    -- Few statements, because each is expensive when there are many stacks.
    for stack in reverse cardinality(below) - 2..0 loop
        below[stack_parents[stack + 1]] := below[stack_parents[stack + 1]] + below[stack];
        totals[stack_functions[stack + 1]] := totals[stack_functions[stack + 1]] + below[stack];
    end loop;
    every := below[-1];
    for place in 1..cardinality(recursive_stacks) loop
        at := stack_functions[recursive_stacks[place] + 1];
        totals[at] := totals[at] - below[recursive_stacks[place]];
    end loop;
    return query
    with sums as (
        select *
        from unnest(function_names, function_urls, function_lines, selves, totals) as known (name, url, line, self, total)
        where total > 0
        union all
        select null, null, null, outside, outside
        where outside > 0
    )
    select
        shown,
        nullif(url, ''),
        line,
        self,
        total,
        self / every,
        total / every
    from sums
    cross join lateral (
        select case when name is null then '(unattributed)' else coalesce(nullif(name, ''), '(anonymous)') end as shown
    ) as shown_as
    order by self desc, total desc, shown collate "C", url collate "C", line;
end
$$;

comment on function fleetprof.js_profile is
    -- {{comment of js_profile}};

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
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
    nodes_max constant integer := 100000;
    steps_max constant bigint := 1000000; -- about a second
    steps bigint := 0; -- from a function to its caller, so far
    function_names text[];
    function_urls text[];
    function_lines integer[];
    stack_functions integer[];
    stack_parents integer[];
    run_stacks integer[];
    run_ticks integer[];
    outside bigint;
    every bigint; -- ticks
    least_ticks double precision;
    -- The nodes of the tree so far, level by level, siblings by ticks. Node 0 is the parent of the first level. Ticks
    -- are whole numbers in double precision: a sum of bigint is a numeric, which is slower.
    -- A function's number counts from 0.
    node_functions integer[] := '{}';
    node_parents integer[] := '{}';
    node_levels integer[] := '{}';
    node_ticks double precision[] := '{}';
    -- The ticks of the last level: by node, and by position on the stack.
    at_nodes integer[];
    at_stacks integer[];
    at_ticks double precision[];
    -- The nodes of the next level.
    next_nodes bigint;
    next_functions integer[];
    next_parents integer[];
    next_ticks double precision[];
    -- The ticks of the next level.
    moved_nodes integer[];
    moved_stacks integer[];
    moved_ticks double precision[];
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
    select names, urls, lines, functions, parents, s.run_stacks, s.run_ticks
    into function_names, function_urls, function_lines, stack_functions, stack_parents, run_stacks, run_ticks
    from js_profile_stacks(js_profile_bottom_up.session_id, js_profile_bottom_up.event_id, js_profile_bottom_up.state) as s;
    -- In the order of stacks, to read the arrays from front to back.
    select array_agg(stack), array_agg(ticks), coalesce(sum(ticks) filter (where stack < 0), 0), coalesce(sum(ticks), 0)
    into at_stacks, at_ticks, outside, every
    from (
        select stack, sum(ticks)::double precision as ticks
        -- In the select list: in the from clause, the rows would be stored first.
        from (select unnest(run_stacks) as stack, unnest(run_ticks) as ticks) as run
        group by stack
        order by stack
    ) as summed;
    at_nodes := array_fill(0, array[coalesce(cardinality(at_stacks), 0)]);
    least_ticks := greatest(js_profile_bottom_up.min_share * every, 1);
    -- Level by level: the planner cannot estimate a recursive query.
    loop
        steps := steps + coalesce(cardinality(at_nodes), 0);
        if steps > steps_max then
            raise program_limit_exceeded using
                message = format('the ticks have more than %s callers to follow', steps_max),
                hint = 'Give an event_id, a state, or a greater min_share.';
        end if;
        with inside as materialized (
            select node, stack_functions[stack + 1] as function, stack_parents[stack + 1] as around, ticks
            from (select unnest(at_nodes) as node, unnest(at_stacks) as stack, unnest(at_ticks) as ticks) as inside
        ),
        summed as materialized (
            select node as parent, function, sum(ticks) as ticks
            from inside
            where function is not null
            group by 1, 2
            having sum(ticks) >= least_ticks
        ),
        -- No rows if there are too many steps: the caller then raises an error.
        next as materialized (
            select parent, function, ticks, row_number() over (order by parent, ticks desc, function)::integer as place
            from summed
            where (select count(*) from summed) <= nodes_max - cardinality(node_functions)
        ),
        listed as (
            select array_agg(function) as functions, array_agg(parent) as parents, array_agg(ticks) as ticks
            from (select * from next order by place) as sorted
        ),
        -- Not summed by stack: only functions that became equal give two stacks one function and one parent.
        moved as (
            select
                array_agg(cardinality(node_functions) + place) as nodes, array_agg(around) as stacks,
                array_agg(inside.ticks) as ticks
            from inside
            join next on next.parent = inside.node and next.function = inside.function
            where around >= 0
        )
        select (select count(*) from summed), listed.functions, listed.parents, listed.ticks, moved.nodes, moved.stacks, moved.ticks
        into next_nodes, next_functions, next_parents, next_ticks, moved_nodes, moved_stacks, moved_ticks
        from listed, moved;
        exit when next_nodes = 0;
        if cardinality(node_functions) + next_nodes > nodes_max then
            raise program_limit_exceeded using
                message = format('the tree has more than %s nodes', nodes_max),
                hint = 'Give a greater min_share.';
        end if;
        level_now := level_now + 1;
        at_nodes := moved_nodes;
        at_stacks := moved_stacks;
        at_ticks := moved_ticks;
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
        ticks::bigint,
        ticks / every
    from (
        select ordinal, level, function, ticks
        from unnest(ordinals, node_levels, node_functions, node_ticks) as node (ordinal, level, function, ticks)
        union all
        select first_free, 1, null, outside
        where outside >= least_ticks
    ) as node
    left join unnest(function_names, function_urls, function_lines) with ordinality as named (name, url, line, place)
        on place = function + 1
    order by ordinal;
end
$$;

comment on function fleetprof.js_profile_bottom_up is
    -- {{comment of js_profile_bottom_up}};

revoke execute on function
    fleetprof_data.js_profile_stacks, fleetprof.js_profile, fleetprof.js_profile_bottom_up
from public;
grant execute on function
    fleetprof_data.js_profile_stacks, fleetprof.js_profile, fleetprof.js_profile_bottom_up
to fleetprof_reader;
