-- Hotspots: time per frame.

create or replace function fleetprof_data.frame_sums(selected fleetprof_data.selection, markers fleetprof_data.marker[])
returns table (frame_id bigint, uploads bigint, samples bigint, self_us bigint, total_us bigint)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    if frame_sums.markers @> enum_range(null::marker) then
        return query
        select frame_id, sum(uploads)::bigint, sum(samples)::bigint, sum(self_us)::bigint, sum(total_us)::bigint
        from frame_fact
        where segment_id = any((frame_sums.selected).segment_ids)
            and bucket > (frame_sums.selected).after
            and bucket < (frame_sums.selected).before
        group by frame_id;
    elsif not '(none)' = any(frame_sums.markers) then
        return query
        select frame_id, sum(uploads)::bigint, sum(samples)::bigint, sum(self_us)::bigint, sum(total_us)::bigint
        from frame_marker_fact
        where segment_id = any((frame_sums.selected).segment_ids)
            and bucket > (frame_sums.selected).after
            and bucket < (frame_sums.selected).before
            and marker = any(frame_sums.markers)
        group by frame_id;
    else
        -- Samples without a marker have no rows of their own: they are all samples minus those of the markers
        -- that are not selected.
        return query
        with every as (
            select
                frame_id,
                sum(unmarked_uploads)::bigint as unmarked_uploads,
                sum(samples)::bigint as samples,
                sum(self_us)::bigint as self_us,
                sum(total_us)::bigint as total_us
            from frame_fact
            where segment_id = any((frame_sums.selected).segment_ids)
                and bucket > (frame_sums.selected).after
                and bucket < (frame_sums.selected).before
            group by frame_id
        ),
        split as (
            select
                frame_id,
                coalesce(sum(uploads) filter (where marker = any(frame_sums.markers)), 0)::bigint as wanted_uploads,
                coalesce(sum(samples) filter (where marker <> all(frame_sums.markers)), 0)::bigint as samples,
                coalesce(sum(self_us) filter (where marker <> all(frame_sums.markers)), 0)::bigint as self_us,
                coalesce(sum(total_us) filter (where marker <> all(frame_sums.markers)), 0)::bigint as total_us
            from frame_marker_fact
            where segment_id = any((frame_sums.selected).segment_ids)
                and bucket > (frame_sums.selected).after
                and bucket < (frame_sums.selected).before
            group by frame_id
        )
        select
            frame_id,
            every.unmarked_uploads + coalesce(split.wanted_uploads, 0),
            every.samples - coalesce(split.samples, 0),
            every.self_us - coalesce(split.self_us, 0),
            every.total_us - coalesce(split.total_us, 0)
        from every
        left join split using (frame_id)
        where every.samples > coalesce(split.samples, 0);
    end if;
end
$$;

comment on function fleetprof_data.frame_sums is
    'Returns sums per frame over a selection and a set of markers; times in microseconds. Unless the set has all markers, an upload counts once for each of its markers in the set.';

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
    top         integer default 20
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
        hotspots.site, hotspots.since, hotspots.until, hotspots.route, hotspots.release, hotspots.environment,
        hotspots.variant, hotspots.browser, hotspots.os, hotspots.device, hotspots.thread);
    markers marker[] := select_markers(hotspots.marker);
    whole record := selected_totals(selected);
begin
    if hotspots.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', hotspots.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;

    -- Grouped by what is shown: each site has frames of its own, and site may be a wildcard.
    return query
    with hottest as (
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
        from frame_sums(selected, markers)
        join named_frame using (frame_id)
        group by function, resource, line, column_number, kind
        order by self_us desc, function collate "C", resource collate "C", line, column_number, kind
        limit hotspots.top
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

comment on function fleetprof.hotspots is
    'Returns the frames that cost the most self time. self_ms, total_ms: milliseconds with the frame on top, or anywhere on the stack (once per sample). self_share, total_share: of profiled time, unattributed time included, 0 to 1. samples: with the frame anywhere. uploads: with the frame; where marker matches several markers but not all, once for each. self_ms_per_load, total_ms_per_load: per page load that the filters select, with the frame or without it. load_share: share of these page loads that have the frame, 0 to 1; exact where each page load is one upload, otherwise an upper bound. busy_share: self time as a share of attributed time. is_agent: fleetprof''s own agent. top: rows to return, null for all.';

revoke execute on function fleetprof_data.frame_sums, fleetprof.hotspots from public;
grant execute on function fleetprof_data.frame_sums, fleetprof.hotspots to fleetprof_reader;
