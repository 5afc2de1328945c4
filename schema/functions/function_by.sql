-- Where one function runs.

create or replace function fleetprof_data.frames_with_key(sites text[], key text)
returns bigint[]
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return array(
        with script as materialized (
            select resource_id, url, script
            from named_resource
            where site = any(frames_with_key.sites)
        )
        select frame_id
        from original_frame
        left join script using (resource_id)
        where (original_frame.resource_id is null or script.resource_id is not null)
            and function_key(
                function, coalesce(source, url), coalesce(source, script), line, column_number, kind, is_stable)::text
                = frames_with_key.key);
end
$$;

comment on function fleetprof_data.frames_with_key is 'Returns the frames of some sites whose function_key this is.';

create or replace function fleetprof.function_by(
    by          text,
    key         text,
    site        text,
    since       timestamptz default now() - interval '1 day',
    until       timestamptz default now(),
    route       text default null,
    release     text default null,
    environment text default null,
    variant     text default null,
    browser     text default null,
    os          text default null,
    device      text default null,
    thread      text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null
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
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    dimensions constant text[] := '{route,release,environment,variant,browser,os,device,thread}';
    filters text[] := array[
        function_by.route, function_by.release, function_by.environment, function_by.variant, function_by.browser,
        function_by.os, function_by.device, function_by.thread];
    kept integer := array_position(dimensions, function_by.by);
    selected selection;
    wanted bigint[];
begin
    if kept is null and function_by.by is distinct from 'measure' then
        raise invalid_parameter_value using
            message = format('a function cannot be listed by "%s"', coalesce(function_by.by, 'null')),
            hint = format('by is one of %s, measure.', array_to_string(dimensions, ', '));
    end if;
    if function_by.key is null then
        raise invalid_parameter_value using
            message = 'key is null',
            hint = 'key is a function_key, as hotspots returns it.';
    end if;
    if kept is not null then
        -- %% matches what % matches, but counts as a filter: so the groups of the selection keep the dimension apart.
        filters[kept] := coalesce(nullif(filters[kept], '%'), '%%');
    end if;
    selected := select_segments(
        function_by.site, function_by.since, function_by.until, filters[1], filters[2], filters[3], filters[4],
        filters[5], filters[6], filters[7], filters[8],
        exclude => array[
            function_by.exclude_route, function_by.exclude_release, function_by.exclude_environment, function_by.exclude_variant,
            function_by.exclude_browser, function_by.exclude_os, function_by.exclude_device, function_by.exclude_thread]);
    -- Citus has no plan for the joins below if nothing is selected.
    if selected.segment_ids is null then
        return;
    end if;
    wanted := frames_with_key(selected.sites, function_by.key);

    if kept is null then
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
            member_of(
                function_by.by, coalesce(segment.route, cohort.route), coalesce(segment.release, cohort.release),
                coalesce(segment.environment, cohort.environment), coalesce(segment.variant, cohort.variant),
                coalesce(segment.browser, cohort.browser), coalesce(segment.os, cohort.os),
                coalesce(segment.device, cohort.device), coalesce(segment.thread, cohort.thread)) as value,
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
    where samples > 0
    order by self_us desc, total_us desc, value collate "C";
end
$$;

comment on function fleetprof.function_by is
    'Returns what a function (key: its function_key) costs by value of a dimension (by: route, release, environment, variant, browser, os, device or thread), or by measure and window that it runs inside (by: measure). self_ms, total_ms: milliseconds with the function on top, or anywhere on the stack; where a sample has several places of the function, total_ms and samples count it once for each. uploads: with the function, at most, where several places make it up. loads: page loads with this value, with the function or without it; null by measure. self_ms_per_load, total_ms_per_load: of these loads.';

revoke execute on function fleetprof_data.frames_with_key, fleetprof.function_by from public;
grant execute on function fleetprof_data.frames_with_key, fleetprof.function_by to fleetprof_reader;
