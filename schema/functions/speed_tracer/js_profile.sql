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
as $$
#variable_conflict use_column
declare
    states constant text[] := array['js', 'gc', 'compiler', 'other', 'external', 'unknown'];
    state_number constant integer := array_position(states, js_profile_stacks.state) - 1;
    same integer[]; -- by number of a function: the first that is equal
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
    -- Each profile lists the functions and stacks that no profile before it in its part of the session has.
    with profile as materialized (
        select
            event,
            session_id as part,
            profile,
            coalesce(js_profile_stacks.event_id in (event_id, (profile_of #>> '{}')::bigint), js_profile_stacks.event_id is null)
                as is_selected
        from speed_tracer_events(js_profile_stacks.session_id, '{PROFILE_DATA}')
        cross join lateral (select detail -> 'profile' as profile, detail -> 'profileOf' as profile_of) as read
        where type_number >= 0 and jsonb_typeof(profile) = 'object'
    ),
    -- Numbers begin at 1 and go on through all parts.
    part as materialized (
        select
            part,
            sum(functions) over parts - functions + 1 as first_function,
            sum(stacks) over parts - stacks + 1 as first_stack
        from (
            select
                part, min(event) as event,
                max((profile -> 'firstFunction')::integer + jsonb_array_length(profile -> 'names')) as functions,
                max((profile -> 'firstStack')::integer + jsonb_array_length(profile -> 'functions')) as stacks
            from profile
            group by part
        ) as counted
        window parts as (order by event)
    ),
    function as (
        select
            first_function + (profile -> 'firstFunction')::integer + place - 1 as number, name, url, nullif(line, -1) as line
        from profile
        join part using (part)
        cross join lateral rows from (
            jsonb_array_elements_text(profile -> 'names'),
            jsonb_array_elements_text(profile -> 'urls'),
            unnest(translate((profile -> 'lines')::text, '[]', '{}')::integer[])
        ) with ordinality as listed (name, url, line, place)
    ),
    known as (
        -- Two may have become equal when their URLs lost their queries.
        select number, name, url, line, min(number) over (partition by name, url, line) as same
        from function
    ),
    stack as (
        select
            first_stack + (profile -> 'firstStack')::integer + place - 1 as number,
            first_function + function as function,
            case when parent >= 0 then first_stack + parent else 0 end as parent
        from profile
        join part using (part)
        cross join lateral rows from (
            unnest(translate((profile -> 'functions')::text, '[]', '{}')::integer[]),
            unnest(translate((profile -> 'parents')::text, '[]', '{}')::integer[])
        ) with ordinality as listed (function, parent, place)
    ),
    recursive_one as (
        select first_stack + stack as number
        from profile
        join part using (part)
        cross join lateral unnest(translate((profile -> 'recursive')::text, '[]', '{}')::integer[]) as stack
    ),
    run as materialized (
        select case when stack >= 0 then first_stack + stack end as number, sum(ticks) as ticks
        from profile
        join part using (part)
        cross join lateral rows from (
            unnest(translate((profile -> 'stacks')::text, '[]', '{}')::integer[]),
            unnest(translate((profile -> 'states')::text, '[]', '{}')::integer[]),
            unnest(translate((profile -> 'ticks')::text, '[]', '{}')::integer[])
        ) as listed (stack, state, ticks)
        where is_selected and (state_number is null or listed.state = state_number)
        group by 1
    ),
    functions_listed as (
        select
            array_agg(name order by number) as names, array_agg(url order by number) as urls,
            array_agg(line order by number) as lines, array_agg(same::integer order by number) as same
        from known
    ),
    stacks_listed as (
        select
            array_agg(function::integer order by number) as functions,
            array_agg(parent::integer order by number) as parents,
            array_agg(recursive_one.number is not null order by number) as is_recursive,
            array_agg(coalesce(run.ticks, 0)::bigint order by number) as ticks
        from stack
        left join recursive_one using (number)
        left join run using (number)
    )
    select
        f.names, f.urls, f.lines, f.same, s.functions, s.parents, s.is_recursive, s.ticks,
        coalesce((select ticks from run where number is null), 0)
    into
        js_profile_stacks.names, js_profile_stacks.urls, js_profile_stacks.lines, same,
        js_profile_stacks.functions, js_profile_stacks.parents, js_profile_stacks.is_recursive, js_profile_stacks.ticks,
        js_profile_stacks.unattributed
    from functions_listed as f, stacks_listed as s;
    for stack in 1..coalesce(cardinality(js_profile_stacks.functions), 0) loop
        js_profile_stacks.functions[stack] := same[js_profile_stacks.functions[stack]];
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
begin
    select names, urls, lines, functions, parents, is_recursive, ticks, unattributed
    into function_names, function_urls, function_lines, stack_functions, stack_parents, stack_recursive, stack_ticks, outside
    from js_profile_stacks(js_profile.session_id, js_profile.event_id, js_profile.state);
    below := stack_ticks;
    for stack in reverse coalesce(cardinality(below), 0)..1 loop
        if stack_parents[stack] > 0 then
            below[stack_parents[stack]] := below[stack_parents[stack]] + below[stack];
        end if;
    end loop;
    return query
    with sums as (
        select function, sum(self) as self, coalesce(sum(total) filter (where not is_recursive), 0) as total
        from unnest(stack_functions, stack_ticks, below, stack_recursive) as stack (function, self, total, is_recursive)
        group by function
        union all
        select null, outside, outside
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
    left join unnest(function_names, function_urls, function_lines) with ordinality as named (name, url, line, function)
        using (function)
    cross join lateral (
        select case when function is null then '(unattributed)' else coalesce(nullif(name, ''), '(anonymous)') end as shown
    ) as shown_as
    where total > 0
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
as $$
#variable_conflict use_column
declare
    nodes_max constant integer := 100000;
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
    'Returns the ticks of the V8 profiles of a session as a tree from the function on top of the stack (level 1) to its callers, as Speed Tracer''s bottom-up profile: depth first, most ticks first; at last the ticks outside all known code, (unattributed). ticks: those that end in this chain of calls. event_id and state: as in js_profile. Nodes below min_share of the ticks are left out. Raises an error for more than 100,000 nodes.';

revoke execute on function
    fleetprof_data.js_profile_stacks, fleetprof.js_profile, fleetprof.js_profile_bottom_up
from public;
grant execute on function
    fleetprof_data.js_profile_stacks, fleetprof.js_profile, fleetprof.js_profile_bottom_up
to fleetprof_reader;
