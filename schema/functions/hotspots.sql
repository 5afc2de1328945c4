-- Hotspots: time per frame.

create or replace function fleetprof.hotspots(
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
        hotspots.site, hotspots.since, hotspots.until, hotspots.route, hotspots.release, hotspots.environment,
        hotspots.variant, hotspots.browser, hotspots.os, hotspots.device, hotspots.thread,
        exclude => array[
            hotspots.exclude_route, hotspots.exclude_release, hotspots.exclude_environment, hotspots.exclude_variant,
            hotspots.exclude_browser, hotspots.exclude_os, hotspots.exclude_device, hotspots.exclude_thread]);
    markers smallint[] := select_markers(hotspots.marker, hotspots.exclude_marker);
begin
    return query
    select
        function, resource, line, column_number, kind, self_ms, total_ms, self_share, total_share, samples, uploads,
        self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent, function_key, generated_resource, generated_line, generated_column
    from ranked_frames(array[selected], '{1}', markers, null, hotspots.top);
end
$$;

comment on function fleetprof.hotspots is
    'Returns the frames that cost the most self time. self_ms, total_ms: milliseconds with the frame on top, or anywhere on the stack (once per sample). self_share, total_share: of profiled time, unattributed time included, 0 to 1. samples: with the frame anywhere. uploads: with the frame; where marker matches several markers but not all, once for each. self_ms_per_load, total_ms_per_load: per page load that the filters select, with the frame or without it. load_share: share of these page loads that have the frame, 0 to 1; exact where each page load is one upload, otherwise an upper bound. busy_share: self time as a share of attributed time. is_agent: fleetprof''s own agent. A function in several builds of a script is one row, with the place where it costs most, unless a build has several functions of its name; a sample or an upload that has it in two scripts which are called alike counts twice in total_ms, samples and uploads. function_key: what identifies it across releases. function, resource, line, column_number are the original ones where a function table knows them; generated_resource, generated_line, generated_column: where the browser saw it. top: rows to return, null for all.';

revoke execute on function fleetprof.hotspots from public;
grant execute on function fleetprof.hotspots to fleetprof_reader;
