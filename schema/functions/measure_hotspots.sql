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
    top          integer default 20
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
    is_agent          boolean
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        measure_hotspots.site, measure_hotspots.since, measure_hotspots.until, measure_hotspots.route,
        measure_hotspots.release, measure_hotspots.environment, measure_hotspots.variant, measure_hotspots.browser,
        measure_hotspots.os, measure_hotspots.device, measure_hotspots.thread);
    markers marker[] := select_markers(measure_hotspots.marker);
    every_marker boolean := markers @> enum_range(null::marker);
    -- Each site has timings of its own, and site may be a wildcard.
    timing_ids bigint[] := array(
        select timing_id
        from timing
        where name = measure_hotspots.measure_name and kind = 'measure'
    );
    whole record;
begin
    if measure_hotspots.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', measure_hotspots.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;
    if measure_hotspots.measure_name is null then
        raise invalid_parameter_value using
            message = 'measure_name is null',
            hint = 'Name a measure; timings() lists them.';
    end if;

    select
        nullif(sum(profiled_us), 0)::double precision as profiled_us,
        nullif(sum(profiled_us) - sum(unattributed_us), 0)::double precision as attributed_us,
        nullif(sum(uploads), 0)::double precision as loads
    into whole
    from measure_fact
    where segment_id = any(selected.segment_ids)
        and bucket > selected.after
        and bucket < selected.before
        and timing_id = any(timing_ids);
    return query
    with sums as (
        select
            frame_id,
            sum(self_us) as self_us,
            sum(total_us) as total_us,
            sum(samples) as samples,
            sum(case when every_marker then first_uploads else uploads end) as uploads
        from measure_frame_fact
        where segment_id = any(selected.segment_ids)
            and bucket > selected.after
            and bucket < selected.before
            and timing_id = any(timing_ids)
            and marker = any(markers)
        group by frame_id
    ),
    hottest as (
        select
            function,
            resource,
            line,
            column_number,
            kind,
            sum(self_us) as self_us,
            sum(total_us) as total_us,
            sum(samples)::bigint as samples,
            sum(uploads)::bigint as uploads
        from sums
        join named_frame using (frame_id)
        group by function, resource, line, column_number, kind
        order by self_us desc, function collate "C", resource collate "C", line, column_number, kind
        limit measure_hotspots.top
    )
    select
        function,
        resource,
        line,
        column_number,
        kind::text,
        (self_us / 1000)::double precision,
        (total_us / 1000)::double precision,
        self_us::double precision / whole.profiled_us,
        total_us::double precision / whole.profiled_us,
        samples,
        uploads,
        self_us::double precision / 1000 / whole.loads,
        total_us::double precision / 1000 / whole.loads,
        least(uploads, whole.loads)::double precision / whole.loads,
        self_us::double precision / whole.attributed_us,
        fleetprof.is_agent(resource)
    from hottest
    order by self_us desc, function collate "C", resource collate "C", line, column_number, kind;
end
$$;

comment on function fleetprof.measure_hotspots is
    'Returns the frames that cost the most self time inside a measure: in samples from its start on and before its end, in the same upload. self_ms, total_ms: milliseconds with the frame on top, or anywhere on the stack (once per sample). self_share, total_share: of the measure''s profiled time, unattributed time included, 0 to 1. samples: with the frame anywhere. uploads: with the frame; where marker matches several markers but not all, once for each. self_ms_per_load, total_ms_per_load, load_share: as in hotspots, but of page loads with samples inside the measure; uploads stand for page loads. busy_share: self time as a share of the measure''s attributed time. is_agent: fleetprof''s own agent. top: rows to return, null for all.';

revoke execute on function fleetprof.measure_hotspots from public;
grant execute on function fleetprof.measure_hotspots to fleetprof_reader;
