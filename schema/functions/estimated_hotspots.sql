-- Estimates for all page loads: what sampled ones cost, divided by the rate at which they were sampled.

create or replace function fleetprof.estimated_hotspots(
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
    marker      text default null,
    top         integer default 20,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null, exclude_marker text default null
)
returns table (
    function          text,
    resource          text,
    line              integer,
    column_number     integer,
    kind              text,
    self_ms           double precision,
    total_ms          double precision,
    self_share        double precision,
    total_share       double precision,
    samples           bigint,
    uploads           bigint,
    self_ms_per_load  double precision,
    total_ms_per_load double precision,
    load_share        double precision,
    busy_share        double precision,
    is_agent          boolean,
    rated_uploads     bigint,
    unrated_uploads   bigint,
    function_key       text,
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
declare
    selected selection := select_segments(
        estimated_hotspots.site, estimated_hotspots.since, estimated_hotspots.until, estimated_hotspots.route,
        estimated_hotspots.release, estimated_hotspots.environment, estimated_hotspots.variant,
        estimated_hotspots.browser, estimated_hotspots.os, estimated_hotspots.device, estimated_hotspots.thread,
        by_segment => true,
        exclude => array[
            estimated_hotspots.exclude_route, estimated_hotspots.exclude_release,
            estimated_hotspots.exclude_environment, estimated_hotspots.exclude_variant,
            estimated_hotspots.exclude_browser, estimated_hotspots.exclude_os, estimated_hotspots.exclude_device,
            estimated_hotspots.exclude_thread]);
    markers smallint[] := select_markers(estimated_hotspots.marker, estimated_hotspots.exclude_marker);
    -- The segments of each verified rate.
    parts selection[];
    weights double precision[];
    rated bigint;
    every bigint := (selected_totals(selected)).uploads;
begin
    select array_agg(part), array_agg(1e6::double precision / rate_ppm)
    into parts, weights
    from (
        select
            rate_ppm,
            row(
                selected.sites, array_agg(segment_id), selected.after, selected.before,
                array_agg(segment_id), selected.buckets, selected.spans)::selection as part
        from segment
        where segment_id = any(selected.segment_ids) and rate_ppm > 0
        group by rate_ppm
    ) as part;
    rated := (
        select sum((selected_totals(parts[part])).uploads) from generate_subscripts(parts, 1) as part);

    return query
    select
        function, resource, line, column_number, kind, self_ms, total_ms, self_share, total_share, samples, uploads,
        self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent, rated, every - rated, function_key, generated_resource, generated_line, generated_column
    from ranked_frames(parts, weights, markers, null, estimated_hotspots.top);
end
$$;

comment on function fleetprof.estimated_hotspots is
    'Estimates hotspots for all page loads, sampled or not: divides times and page loads of each segment by its verified sample rate. self_ms, total_ms: estimated milliseconds. Shares and means are of estimated profiled time, attributed time and page loads. samples, uploads: what was observed, which the estimate rests on. rated_uploads: uploads that the filters select and whose rate is verified; unrated_uploads: those without, which are left out. Both are the same in all rows. function_key, generated_resource, generated_line, generated_column: as in hotspots.';

revoke execute on function fleetprof.estimated_hotspots from public;
grant execute on function fleetprof.estimated_hotspots to fleetprof_reader;
