-- Time by page, browser, host and the like.

create or replace function fleetprof.cost_by(
    by          text,
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
returns table (name text, self_ms double precision, share double precision, samples bigint, uploads bigint)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    kinds constant text[] := '{package,party,entity,host,resource,source,route,release,environment,variant,browser,os,device,thread,marker}';
    of_scripts constant boolean := cost_by.by = any('{package,party,entity,host,resource,source}');
    selected selection := select_segments(
        cost_by.site, cost_by.since, cost_by.until, cost_by.route, cost_by.release, cost_by.environment,
        cost_by.variant, cost_by.browser, cost_by.os, cost_by.device, cost_by.thread, by_segment => not
        coalesce(of_scripts or cost_by.by = 'marker', false),
        exclude => array[
            cost_by.exclude_route, cost_by.exclude_release, cost_by.exclude_environment, cost_by.exclude_variant,
            cost_by.exclude_browser, cost_by.exclude_os, cost_by.exclude_device, cost_by.exclude_thread]);
    markers smallint[] := select_markers(cost_by.marker, cost_by.exclude_marker);
    whole record := selected_totals(selected);
    own text[] := case when cost_by.by = 'party' then own_hosts(selected) end;
begin
    if (cost_by.by = any(kinds)) is not true then
        raise invalid_parameter_value using
            message = format('cost cannot be listed by "%s"', coalesce(cost_by.by, 'null')),
            hint = format('by is one of %s.', array_to_string(kinds, ', '));
    end if;

    -- Citus has no plan for the joins below if nothing is selected.
    if selected.segment_ids is null then
        return;
    end if;
    return query
    with sums as materialized (
        select frame_id, self_us, samples, uploads
        from frame_sums(selected, markers, null)
        where of_scripts
    ),
    entry as (
        select name, self_us, samples, least(uploads, whole.uploads) as uploads
        from (
            select
                name, sum(self_us)::double precision as self_us, sum(samples)::bigint as samples,
                sum(uploads)::bigint as uploads
            from sums
            join frame_groups(cost_by.by, array(select frame_id from sums), own) using (frame_id)
            group by name
            having bool_or(self_us <> 0)
        ) as script
        union all
        select
            case cost_by.by when 'marker' then coalesce(marker_of(marker)::text, '(unattributed)') else dimension end,
            coalesce(sum(self_us) filter (where marker = any(markers)), 0)::double precision,
            coalesce(sum(samples) filter (where marker = any(markers)), 0)::bigint,
            sum(uploads)::bigint
        from (
            select
                dimension, unnest(marker) as marker, unnest(uploads) as uploads, unnest(samples) as samples,
                unnest(self_us) as self_us
            from total_packed
            left join (
                select segment_id as group_id, to_jsonb(segment) ->> cost_by.by as dimension from segment
            ) as segment using (group_id)
            where not of_scripts and is_selected(selected, sealed, group_id, bucket, span)
        ) as total
        where cost_by.by <> 'marker' or marker >= 0
        group by 1
        union all
        -- What belongs to no visible stack.
        select '(unattributed)', whole.profiled_us - coalesce(whole.attributed_us, 0), null, null
        where cost_by.marker is null
    )
    select name, self_us / 1000, self_us / whole.profiled_us, samples, case cost_by.by when 'marker' then null else uploads end
    from entry
    where self_us > 0 or uploads > 0
    order by self_us desc nulls last, name collate "C";
end
$$;

comment on function fleetprof.cost_by is
    'Returns attributed time by what scripts have in common (by: package, party, entity, host, resource or source), by a dimension (route, release, environment, variant, browser, os, device, thread), or by marker. package: npm package, by the function table, else by the script''s URL. (ignored) is other code that is not the site''s own, by the source map or by sites[].ignore. party: first, third, (extension), (no host) or (unknown). entity: registrable domain, or the host. resource: script without what a build adds to its name. source: by the function table, else the script. self_ms: milliseconds of samples; share: of profiled time, unattributed included, 0 to 1. samples: of scripts, with one of its functions anywhere on the stack, once for each. uploads: with this value; of scripts at most, since uploads are stored by function; null by marker. (unattributed): time that belongs to no visible stack, shown without a marker filter. (no script): functions of the browser. Shares add up to 1.';

revoke execute on function fleetprof.cost_by from public;
grant execute on function fleetprof.cost_by to fleetprof_reader;
