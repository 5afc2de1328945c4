-- SPDX-License-Identifier: Apache-2.0
-- Reports of browsers: documents that hung or crashed, and document policies that were broken.

create or replace function fleetprof.hangs(
    -- {{filters}}
)
returns table (
    reason              text,
    function            text,
    resource            text,
    line                integer,
    column_number       integer,
    callers             text,
    count               bigint,
    per_100k_loads      double precision,
    loads               bigint,
    hidden              bigint,
    in_frames           bigint,
    function_key        text,
    generated_resource  text,
    generated_line      integer,
    generated_column    integer
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given, by_segment => true);
    -- Page loads that said yes in a browser that profiles: one that also sends crash reports.
    asked bigint := (
        select nullif(sum(loads), 0)::bigint
        from page_loads(selected)
        where reason is null or reason in ('quota', 'disabled')
    );
begin
    return query
    with crash as materialized (
        select name as reason, source as seen, function as stack, string_to_array(function, ',')::bigint[] as frames, count
        from timing_values(selected, '{hang}', by_source => true)
    ),
    innermost as (
        select reason, seen, stack, frames, count, frame.*
        from crash
        left join named_frame as frame on frame_id = frames[1]
    ),
    place as (
        select
            reason,
            -- A function hangs at many positions; the most frequent one stands for all.
            (array_agg(stack order by count desc, stack))[1] as stack,
            sum(count)::bigint as count,
            coalesce(sum(count) filter (where seen like 'hidden%'), 0)::bigint as hidden,
            coalesce(sum(count) filter (where seen like '%frame'), 0)::bigint as in_frames
        from innermost
        group by reason, function_key
    )
    select
        place.reason,
        frame.function,
        frame.resource,
        frame.line,
        frame.column_number,
        (
            select string_agg(coalesce(caller.function, '(forgotten)'), ' < ' order by level)
            from unnest((string_to_array(place.stack, ',')::bigint[])[2:]) with ordinality as above (caller_id, level)
            left join named_frame as caller on caller.frame_id = caller_id
        ),
        place.count,
        place.count * 1e5 / asked::double precision,
        asked,
        place.hidden,
        place.in_frames,
        frame.function_key::text,
        frame.generated_resource,
        frame.generated_line,
        frame.generated_column
    from place
    left join named_frame as frame on frame.frame_id = split_part(nullif(place.stack, ''), ',', 1)::bigint
    order by place.count desc, place.reason, frame.function collate "C", frame.function_key;
end
$$;

comment on function fleetprof.hangs is
    -- {{comment of hangs}};

create or replace function fleetprof.violations(
    -- {{filters}}
)
returns table (
    policy text,
    count  bigint
)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
begin
    return query
    select name, count
    from timing_values(selected, '{violation}', by_source => false)
    order by count desc, name collate "C";
end
$$;

comment on function fleetprof.violations is
    -- {{comment of violations}};

revoke execute on function fleetprof.hangs, fleetprof.violations from public;
grant execute on function fleetprof.hangs, fleetprof.violations to fleetprof_reader;
