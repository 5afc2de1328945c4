-- SPDX-License-Identifier: Apache-2.0
-- Names of many frames at once, and frames that are one function in several builds of a script.

create or replace function fleetprof_data.named_frames(frame_ids bigint[])
returns table (
    frame_id           bigint,
    function           text,
    resource           text,
    line               integer,
    column_number      integer,
    kind               fleetprof_data.frame_kind,
    function_key       bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with listed as materialized (
        select * from original_frame where frame_id = any(named_frames.frame_ids)
    ),
    -- Computing a script's name costs more than the rest of a row, so it is done once per script, not per frame.
    script as materialized (
        select resource_id, url, script, patterns, replacements
        from named_resource
        where resource_id in (select resource_id from listed)
    )
    select
        frame_id,
        function,
        coalesce(source, url),
        line,
        column_number,
        kind,
        function_key(
            function, coalesce(source, url), coalesce(source_name(source, patterns, replacements), script), line, column_number, kind, is_stable),
        url,
        generated_line,
        generated_column
    from listed
    left join script using (resource_id);
end
$$;

comment on function fleetprof_data.named_frames is
    'Returns rows of named_frame for these frames, faster than the view does for many.';

create or replace function fleetprof_data.merged_frames(frame_ids bigint[], weights double precision[])
returns table (
    frame_id           bigint,
    shown_id           bigint,
    function           text,
    resource           text,
    line               integer,
    column_number      integer,
    kind               fleetprof_data.frame_kind,
    function_key       bigint,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with named as materialized (
        select named.*, weight
        from unnest(merged_frames.frame_ids, merged_frames.weights) as given (frame_id, weight)
        join named_frames(merged_frames.frame_ids) as named using (frame_id)
    ),
    -- Two places with the same name in one build are two functions, and nothing says which is which in another build.
    ambiguous as materialized (
        select distinct function_key
        from (
            select function_key
            from named
            group by function_key, generated_resource
            having min(coalesce(line, -1)) <> max(coalesce(line, -1))
                or min(coalesce(column_number, -1)) <> max(coalesce(column_number, -1))
        ) as build
    )
    select
        frame_id,
        first_value(frame_id) over (
            -- A number, which sorts faster than a text.
            partition by case
                when ambiguous.function_key is null then named.function_key
                else hashtextextended(concat(generated_resource, '|', line, '|', column_number), named.function_key)
            end
            order by weight desc, frame_id),
        function,
        resource,
        line,
        column_number,
        kind,
        named.function_key,
        generated_resource,
        generated_line,
        generated_column
    from named
    left join ambiguous on ambiguous.function_key = named.function_key;
end
$$;

comment on function fleetprof_data.merged_frames is
    'Returns these frames with their names, each with the one that stands for all of its function: the one with the greatest weight (in parallel). Frames are one function if they have the same function_key and that key has only one place in each URL. Frames of different sites merge in the same way.';

revoke execute on function fleetprof_data.named_frames, fleetprof_data.merged_frames from public;
grant execute on function fleetprof_data.named_frames, fleetprof_data.merged_frames to fleetprof_reader;
