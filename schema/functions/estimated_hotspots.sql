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
    is_agent          boolean,
    rated_uploads     bigint,
    unrated_uploads   bigint
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        estimated_hotspots.site, estimated_hotspots.since, estimated_hotspots.until, estimated_hotspots.route,
        estimated_hotspots.release, estimated_hotspots.environment, estimated_hotspots.variant,
        estimated_hotspots.browser, estimated_hotspots.os, estimated_hotspots.device, estimated_hotspots.thread);
    markers marker[] := select_markers(estimated_hotspots.marker);
begin
    if estimated_hotspots.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', estimated_hotspots.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;

    return query
    with rated as materialized (
        select
            1e6::double precision / rate_ppm as weight,
            row(array_agg(segment_id order by segment_id), selected.after, selected.before)::selection as part
        from segment
        where segment_id = any(selected.segment_ids) and rate_ppm > 0
        group by rate_ppm
    ),
    whole as materialized (
        select
            nullif(sum(weight * profiled_us), 0) as profiled_us,
            nullif(sum(weight * attributed_us), 0) as attributed_us,
            nullif(sum(weight * loads), 0) as loads,
            sum(uploads)::bigint as uploads
        from rated
        cross join lateral selected_totals(part)
    ),
    sums as (
        select
            frame_id,
            sum(samples) as samples,
            sum(uploads) as uploads,
            sum(weight * uploads) as estimated_uploads,
            sum(weight * self_us) as self_us,
            sum(weight * total_us) as total_us
        from rated
        cross join lateral frame_sums(part, markers)
        group by frame_id
    )
    select
        function,
        resource,
        line,
        column_number,
        kind::text,
        sum(self_us) / 1000,
        sum(total_us) / 1000,
        sum(self_us) / whole.profiled_us,
        sum(total_us) / whole.profiled_us,
        sum(samples)::bigint,
        sum(sums.uploads)::bigint,
        sum(self_us) / 1000 / whole.loads,
        sum(total_us) / 1000 / whole.loads,
        least(sum(estimated_uploads), whole.loads) / whole.loads,
        sum(self_us) / whole.attributed_us,
        fleetprof.is_agent(resource),
        whole.uploads,
        (selected_totals(selected)).uploads - whole.uploads
    from sums
    join named_frame using (frame_id)
    cross join whole
    group by function, resource, line, column_number, kind, whole.profiled_us, whole.attributed_us, whole.loads, whole.uploads
    order by sum(self_us) desc, function collate "C", resource collate "C", line, column_number, kind
    limit estimated_hotspots.top;
end
$$;

comment on function fleetprof.estimated_hotspots is
    'Estimates hotspots for all page loads, sampled or not: divides times and page loads of each segment by its verified sample rate. self_ms, total_ms: estimated milliseconds. Shares and means are of estimated profiled time, attributed time and page loads. samples, uploads: what was observed, which the estimate rests on. rated_uploads: uploads that the filters select and whose rate is verified; unrated_uploads: those without, which are left out. Both are the same in all rows.';

revoke execute on function fleetprof.estimated_hotspots from public;
grant execute on function fleetprof.estimated_hotspots to fleetprof_reader;
