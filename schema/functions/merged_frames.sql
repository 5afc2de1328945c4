-- Frames that are one function, in several builds of a script.

create or replace function fleetprof_data.merged_frames(frame_ids bigint[], weights double precision[])
returns table (frame_id bigint, shown_id bigint)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with script as materialized (
        select resource_id, url, script
        from named_resource
        where resource_id in (select resource_id from frame where frame_id = any(merged_frames.frame_ids))
    ),
    keyed as (
        select
            frame_id, weight, url, line, column_number,
            function_key(
                function, coalesce(source, url), coalesce(source, script), line, column_number, kind, is_stable) as key
        from unnest(merged_frames.frame_ids, merged_frames.weights) as given (frame_id, weight)
        join original_frame using (frame_id)
        left join script using (resource_id)
    ),
    placed as (
        -- Two places of one name in one build are two functions. Which is which in another build, nobody knows.
        select *, max(place) over (partition by key) > 1 as is_ambiguous
        from (
            select *, dense_rank() over (partition by key, url order by line, column_number) as place from keyed
        ) as place
    )
    select
        frame_id,
        first_value(frame_id) over (
            partition by
                key, case when is_ambiguous then url end, case when is_ambiguous then line end,
                case when is_ambiguous then column_number end
            order by weight desc, frame_id)
    from placed;
end
$$;

comment on function fleetprof_data.merged_frames is
    'Returns these frames, each with the one that stands for all of its function: the one with the greatest weight (in parallel). Frames are one function if they have the same function_key and that key has only one place in each URL; of several sites, also if they are shown alike.';

revoke execute on function fleetprof_data.merged_frames from public;
grant execute on function fleetprof_data.merged_frames to fleetprof_reader;
