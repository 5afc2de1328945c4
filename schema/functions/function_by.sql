-- SPDX-License-Identifier: Apache-2.0
-- Where one function runs.

create or replace function fleetprof_data.frames_with_keys(sites text[], keys text[])
returns table (key text, frame_id bigint)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with script as materialized (
        select resource_id, url, script, patterns, replacements
        from named_resource
        where site = any(frames_with_keys.sites)
    )
    select key, frame_id
    from (
        select
            frame_id,
            function_key(
                function, coalesce(source, url), coalesce(source_name(source, patterns, replacements), script), line, column_number, kind, is_stable)::text as key
        from original_frame
        left join script using (resource_id)
        where original_frame.resource_id is null or script.resource_id is not null
    ) as keyed
    where key = any(frames_with_keys.keys);
end
$$;

comment on function fleetprof_data.frames_with_keys is 'Returns the frames of some sites that have one of these function_keys, each with its own.';

create or replace function fleetprof_data.frames_with_key(sites text[], key text)
returns bigint[]
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return array(select frame_id from frames_with_keys(frames_with_key.sites, array[frames_with_key.key]));
end
$$;

comment on function fleetprof_data.frames_with_key is 'Returns the frames of some sites whose function_key this is.';

create or replace function fleetprof.function_by(
    by  text,
    key text,
    -- {{filters}}
)
returns table (
    value             text,
    self_ms           double precision,
    total_ms          double precision,
    samples           bigint,
    uploads           bigint,
    loads             bigint,
    self_ms_per_load  double precision,
    total_ms_per_load double precision
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    of_dimension constant boolean := is_dimension(function_by.by);
    selected selection;
    wanted bigint[];
begin
    if not of_dimension and function_by.by is distinct from 'measure' then
        raise invalid_parameter_value using
            message = format('a function cannot be listed by "%s"', coalesce(function_by.by, 'null')),
            hint = format('by is one of %s, measure.', array_to_string(dimensions() || 'custom.NAME'::text, ', '));
    end if;
    if function_by.key is null then
        raise invalid_parameter_value using
            message = 'key is null',
            hint = 'key is a function_key, as hotspots returns it.';
    end if;
    selected := select_segments(kept_apart(given, function_by.by));
    -- Citus has no plan for the joins below if nothing is selected.
    if selected.segment_ids is null then
        return;
    end if;
    wanted := frames_with_key(selected.sites, function_by.key);

    if not of_dimension then
        return query
        select
            name, (sum(self_us) / 1000)::double precision, (sum(total_us) / 1000)::double precision, sum(samples)::bigint,
            sum(first_uploads)::bigint, null::bigint, null::double precision, null::double precision
        from (
            select
                unnest(timing_id) as timing_id, unnest(frame_id) as frame_id, unnest(first_uploads) as first_uploads,
                unnest(samples) as samples, unnest(self_us) as self_us, unnest(total_us) as total_us
            from measure_frame_packed
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        join timing using (timing_id)
        where frame_id = any(wanted)
        group by name
        order by 2 desc, 3 desc, name collate "C";
        return;
    end if;

    return query
    with cost as (
        select group_id, sum(self_us) as self_us, sum(total_us) as total_us, sum(samples) as samples, sum(uploads) as uploads
        from (
            select
                group_id, unnest(frame_id) as frame_id, unnest(self_us) as self_us, unnest(total_us) as total_us,
                unnest(samples) as samples, unnest(uploads) as uploads
            from frame_packed
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        where frame_id = any(wanted)
        group by group_id
    ),
    load as (
        select group_id, sum(loads) as loads
        from (
            select group_id, unnest(loads) as loads
            from total_packed
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        group by group_id
    ),
    part as (
        select
            case function_by.by
                -- {{each: when '$name' then coalesce(segment.$name, cohort.$name)}}
                else custom_value(coalesce(segment.custom, cohort.custom), function_by.by)
            end as value,
            sum(self_us)::double precision as self_us,
            sum(total_us)::double precision as total_us,
            sum(samples)::bigint as samples,
            sum(uploads)::bigint as uploads,
            sum(loads)::bigint as loads
        from load
        left join cost using (group_id)
        left join segment on segment_id = group_id
        left join cohort using (group_id)
        group by 1
    )
    select
        value, self_us / 1000, total_us / 1000, samples, uploads, loads, self_us / 1000 / nullif(loads, 0),
        total_us / 1000 / nullif(loads, 0)
    from part
    where samples > 0 or total_us > 0
    order by self_us desc, total_us desc, value collate "C";
end
$$;

comment on function fleetprof.function_by is
    -- {{comment of function_by}};

revoke execute on function fleetprof_data.frames_with_keys, fleetprof_data.frames_with_key, fleetprof.function_by from public;
grant execute on function fleetprof_data.frames_with_keys, fleetprof_data.frames_with_key, fleetprof.function_by to fleetprof_reader;
