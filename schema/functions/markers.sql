-- Time per marker.

create or replace function fleetprof.markers(
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
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null, exclude_marker text default null
)
returns setof fleetprof_data.marker_share
language plpgsql stable parallel safe rows 8
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        markers.site, markers.since, markers.until, markers.route, markers.release, markers.environment,
        markers.variant, markers.browser, markers.os, markers.device, markers.thread,
        exclude => array[
            markers.exclude_route, markers.exclude_release, markers.exclude_environment, markers.exclude_variant,
            markers.exclude_browser, markers.exclude_os, markers.exclude_device, markers.exclude_thread]);
    wanted smallint[] := select_markers(markers.marker, markers.exclude_marker);
    profiled double precision := (selected_totals(selected)).profiled_us;
begin
    if markers.marker is null then
        wanted := wanted || -1::smallint;
    end if;
    return query
    select
        coalesce(marker_of(marker)::text, '(unattributed)'),
        sum(samples)::bigint,
        (sum(self_us) / 1000)::double precision,
        sum(self_us)::double precision / profiled
    from (
        select
            unnest(marker) as marker,
            unnest(samples) as samples,
            unnest(self_us) as self_us
        from total_packed
        where is_selected(selected, sealed, group_id, bucket, span)
    ) as entry
    where marker = any(wanted)
    group by marker
    having sum(samples) > 0
    order by sum(self_us) desc, coalesce(marker_of(marker)::text, '(unattributed)') collate "C";
end
$$;

comment on function fleetprof.markers is
    'Returns where profiled time went by what the main thread did. self_ms: milliseconds; share: of profiled time, 0 to 1; samples: with this marker. (none): samples on a stack without a marker; (unattributed): samples that belong to no visible stack, shown when there is no marker filter. Without it the rows add up to the profiled time.';

revoke execute on function fleetprof.markers from public;
grant execute on function fleetprof.markers to fleetprof_reader;
