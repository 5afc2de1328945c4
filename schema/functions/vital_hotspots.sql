-- Hotspots inside the windows that made a web vital poor, with those of good ones beside.

create or replace function fleetprof.vital_hotspots(
    vital       text,
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
    function              text,
    resource              text,
    line                  integer,
    column_number         integer,
    kind                  text,
    self_ms               double precision,
    total_ms              double precision,
    self_share            double precision,
    total_share           double precision,
    samples               bigint,
    uploads               bigint,
    self_ms_per_load      double precision,
    total_ms_per_load     double precision,
    load_share            double precision,
    busy_share            double precision,
    is_agent              boolean,
    good_self_ms          double precision,
    good_uploads          bigint,
    good_self_ms_per_load double precision,
    function_key          text,
    generated_resource    text,
    generated_line        integer,
    generated_column      integer
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
        vital_hotspots.site, vital_hotspots.since, vital_hotspots.until, vital_hotspots.route,
        vital_hotspots.release, vital_hotspots.environment, vital_hotspots.variant, vital_hotspots.browser,
        vital_hotspots.os, vital_hotspots.device, vital_hotspots.thread,
        exclude => array[
            vital_hotspots.exclude_route, vital_hotspots.exclude_release, vital_hotspots.exclude_environment,
            vital_hotspots.exclude_variant, vital_hotspots.exclude_browser, vital_hotspots.exclude_os,
            vital_hotspots.exclude_device, vital_hotspots.exclude_thread]);
    markers smallint[] := select_markers(vital_hotspots.marker, vital_hotspots.exclude_marker);
    -- Each site has timings of its own, and site may be a wildcard.
    good_ids bigint[] := array(
        select timing_id from timing where kind = 'window' and name = format('(%s) good', vital_hotspots.vital));
    poor_ids bigint[] := array(
        select timing_id from timing where kind = 'window' and name = format('(%s) poor', vital_hotspots.vital));
    good_loads bigint := (selected_totals(selected, good_ids)).loads;
begin
    if vital_hotspots.vital is null or vital_hotspots.vital <> all(vital_names()) then
        raise invalid_parameter_value using
            message = coalesce('no vital is named "' || vital_hotspots.vital || '"', 'vital is null'),
            hint = format('Vitals are %s.', array_to_string(vital_names(), ', '));
    end if;
    return query
    with poor as materialized (
        select *
        from ranked_frames(array[selected], '{1}', markers, poor_ids, vital_hotspots.top) with ordinality
    ),
    good_sums as materialized (
        select frame_id, self_us, uploads from frame_sums(selected, markers, good_ids)
    ),
    -- Good page loads may have run another build of the script.
    used as materialized (
        select frame_id from good_sums
        union
        select frame_id from frame_sums(selected, markers, poor_ids)
    ),
    merged as materialized (
        select merged.frame_id, shown_id
        from (
            select array_agg(frame_id) as frame_ids, array_agg(0::double precision) as weights
            from used
            join original_frame using (frame_id)
            where function in (select function from poor)
        ) as given
        cross join lateral merged_frames(given.frame_ids, given.weights) as merged
    ),
    good as (
        select ordinality, (sum(self_us) / 1000)::double precision as self_ms, sum(good_sums.uploads)::bigint as uploads
        from (
            select distinct ordinality, shown_id
            from poor
            cross join unnest(frame_ids) as frame_id
            join merged using (frame_id)
        ) as place
        join merged using (shown_id)
        join good_sums using (frame_id)
        group by ordinality
    )
    select
        poor.function,
        poor.resource,
        poor.line,
        poor.column_number,
        poor.kind,
        poor.self_ms,
        poor.total_ms,
        poor.self_share,
        poor.total_share,
        poor.samples,
        poor.uploads,
        poor.self_ms_per_load,
        poor.total_ms_per_load,
        poor.load_share,
        poor.busy_share,
        poor.is_agent,
        coalesce(good.self_ms, 0 * good_loads),
        coalesce(good.uploads, 0 * good_loads),
        coalesce(good.self_ms, 0 * good_loads) / good_loads,
        poor.function_key,
        poor.generated_resource,
        poor.generated_line,
        poor.generated_column
    from poor
    left join good using (ordinality)
    order by ordinality;
end
$$;

comment on function fleetprof.vital_hotspots is
    'Returns the frames that cost the most self time inside the windows that made a web vital poor: for LCP, FCP and TTFB from the start of the page to the value, for INP the interaction, for CLS the window of the shifts where the page says it. Columns as in measure_hotspots. good_self_ms, good_uploads, good_self_ms_per_load: the same function inside such windows of good vitals, in another build of its script, too; null if there is no profiled one.';

revoke execute on function fleetprof.vital_hotspots from public;
grant execute on function fleetprof.vital_hotspots to fleetprof_reader;
