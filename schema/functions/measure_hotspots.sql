-- Hotspots inside the windows of a measure.

create or replace function fleetprof.measure_hotspots(
    measure_name text,
    site         text,
    since        timestamptz default now() - interval '1 day',
    until        timestamptz default now(),
    route        text default null,
    release      text default null,
    environment  text default null,
    variant      text default null,
    browser      text default null,
    os           text default null,
    device       text default null,
    thread       text default null,
    marker       text default null,
    top          integer default 20,
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
        measure_hotspots.site, measure_hotspots.since, measure_hotspots.until, measure_hotspots.route,
        measure_hotspots.release, measure_hotspots.environment, measure_hotspots.variant, measure_hotspots.browser,
        measure_hotspots.os, measure_hotspots.device, measure_hotspots.thread,
        exclude => array[
            measure_hotspots.exclude_route, measure_hotspots.exclude_release, measure_hotspots.exclude_environment,
            measure_hotspots.exclude_variant, measure_hotspots.exclude_browser, measure_hotspots.exclude_os,
            measure_hotspots.exclude_device, measure_hotspots.exclude_thread]);
    markers smallint[] := select_markers(measure_hotspots.marker, measure_hotspots.exclude_marker);
    -- Each site has timings of its own, and site may be a wildcard.
    timing_ids bigint[] := array(
        select timing_id
        from timing
        where name = measure_hotspots.measure_name and kind in ('measure', 'window')
    );
begin
    if measure_hotspots.measure_name is null then
        raise invalid_parameter_value using
            message = 'measure_name is null',
            hint = 'Name a measure; timings() lists them.';
    end if;
    return query
    select
        function, resource, line, column_number, kind, self_ms, total_ms, self_share, total_share, samples, uploads,
        self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent, function_key, generated_resource, generated_line, generated_column
    from ranked_frames(array[selected], '{1}', markers, timing_ids, measure_hotspots.top);
end
$$;

comment on function fleetprof.measure_hotspots is
    'Returns the frames that cost the most self time inside a measure, or inside a window such as (interaction), (long frame) or (lcp): in samples from its start on and before its end, of its upload and of other parts of its page load. self_ms, total_ms: milliseconds with the frame on top, or anywhere on the stack (once per sample). self_share, total_share: of the measure''s profiled time, unattributed time included, 0 to 1. samples: with the frame anywhere. uploads: with the frame; where marker matches several markers but not all, once for each. self_ms_per_load, total_ms_per_load, load_share: as in hotspots, but of page loads with samples inside the measure; uploads stand for page loads. busy_share: self time as a share of the measure''s attributed time. is_agent: fleetprof''s own agent. function_key, generated_resource, generated_line, generated_column: as in hotspots. top: rows to return, null for all.';

revoke execute on function fleetprof.measure_hotspots from public;
grant execute on function fleetprof.measure_hotspots to fleetprof_reader;
