-- What there is to look at: sites, the values of a dimension, releases, and how much by hour.

create or replace function fleetprof.sites()
returns table (
    site        text,
    first_hour  timestamptz,
    last_hour   timestamptz,
    loads       bigint,
    uploads     bigint,
    profiled_ms double precision
)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        '%', '-infinity', 'infinity', null, null, null, null, null, null, null, null, by_segment => true);
begin
    return query
    with total as (
        select
            site, min(bucket) as first_block, max(bucket) as last_block, sum(loads)::bigint as loads,
            sum(uploads)::bigint as uploads, sum(self_us) / 1000::double precision as profiled_ms
        from (
            select group_id, bucket, unnest(loads) as loads, unnest(uploads) as uploads, unnest(self_us) as self_us
            from total_packed
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        join segment on segment_id = group_id
        group by site
    ),
    -- Sealed days say the day; these are the hours of the latest ones.
    latest as (
        select site, max(bucket) as last_hour
        from total_packed
        join segment on segment_id = group_id
        where span = 0 and bucket >= now() - interval '3 days'
        group by site
    ),
    known as (select distinct site from segment)
    select
        site, first_block, greatest(last_block, last_hour), coalesce(loads, 0), coalesce(uploads, 0),
        coalesce(profiled_ms, 0)
    from known
    left join total using (site)
    left join latest using (site)
    order by coalesce(uploads, 0) desc, site;
end
$$;

comment on function fleetprof.sites is
    'Returns the sites that have uploads, those with the most first. first_hour: start of the day or hour of the first upload that is still kept; last_hour: start of the hour of the latest one, of its day if that is more than three days ago. loads: page loads; uploads: those with a trace or events; profiled_ms: profiled time in milliseconds.';

create or replace function fleetprof.field_values(
    field       text,
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
returns table (value text, uploads bigint)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    fields constant text[] := '{site,route,release,environment,variant,browser,os,device,thread}';
    selected selection := select_segments(
        field_values.site, field_values.since, field_values.until, field_values.route, field_values.release,
        field_values.environment, field_values.variant, field_values.browser, field_values.os, field_values.device,
        field_values.thread, by_segment => true,
        exclude => array[
            field_values.exclude_route, field_values.exclude_release, field_values.exclude_environment,
            field_values.exclude_variant, field_values.exclude_browser, field_values.exclude_os,
            field_values.exclude_device, field_values.exclude_thread]);
begin
    if (field_values.field = any(fields)) is not true then
        raise invalid_parameter_value using
            message = format('there is no field "%s"', coalesce(field_values.field, 'null')),
            hint = format('field is one of %s.', array_to_string(fields, ', '));
    end if;
    return query
    select named.value, sum(uploads)::bigint as uploads
    from (
        select group_id, unnest(uploads) as uploads
        from total_packed
        where is_selected(selected, sealed, group_id, bucket, span)
    ) as entry
    join (
        select segment_id as group_id, to_jsonb(segment) ->> field_values.field as value from segment
    ) as named using (group_id)
    group by named.value
    having sum(uploads) > 0
    order by sum(uploads) desc, named.value;
end
$$;

comment on function fleetprof.field_values is
    'Returns the values of a dimension among the uploads that the other filters select, those with the most uploads first. field: site, route, release, environment, variant, browser, os, device or thread; an absent value is ''''. uploads: those with a trace or events.';

create or replace function fleetprof.summary(
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
    bucket          timestamptz,
    loads           bigint,
    uploads         bigint,
    profiled_ms     double precision,
    unattributed_ms double precision,
    hours           integer
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := trend_blocks(select_segments(
        summary.site, summary.since, summary.until, summary.route, summary.release, summary.environment,
        summary.variant, summary.browser, summary.os, summary.device, summary.thread,
        exclude => array[
            summary.exclude_route, summary.exclude_release, summary.exclude_environment, summary.exclude_variant,
            summary.exclude_browser, summary.exclude_os, summary.exclude_device, summary.exclude_thread]), false);
begin
    return query
    select
        bucket, sum(loads)::bigint, sum(uploads)::bigint, sum(self_us) / 1000::double precision,
        coalesce(sum(self_us) filter (where marker < 0), 0) / 1000::double precision,
        case when max(span) = 2 then 24 else 1 end
    from (
        select
            bucket, span, unnest(marker) as marker, unnest(loads) as loads, unnest(uploads) as uploads,
            unnest(self_us) as self_us
        from total_packed
        where is_selected(selected, sealed, group_id, bucket, span)
    ) as entry
    group by bucket
    order by bucket;
end
$$;

comment on function fleetprof.summary is
    'Returns how much there is by hour (day, where hours are gone). loads: page loads with a trace or events; uploads: the same of uploads. profiled_ms: profiled time in milliseconds; unattributed_ms: the part that belongs to no visible stack. hours: 24 for a day, else 1. Hours without uploads have no row.';

create or replace function fleetprof.releases(
    site        text,
    since       timestamptz default now() - interval '1 day',
    until       timestamptz default now(),
    route       text default null,
    environment text default null,
    variant     text default null,
    browser     text default null,
    os          text default null,
    device      text default null,
    thread      text default null,
    exclude_route text default null, exclude_environment text default null, exclude_variant text default null,
    exclude_browser text default null, exclude_os text default null, exclude_device text default null,
    exclude_thread text default null
)
returns table (release text, first_hour timestamptz, last_hour timestamptz, uploads bigint)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
begin
    perform check_period(releases.since, releases.until);
    return query
    select release, min(bucket), max(bucket), sum(uploads)::bigint
    from release_hours(
        releases.site, releases.route, releases.environment, releases.variant, releases.browser, releases.os,
        releases.device, releases.thread,
        exclude => array[
            releases.exclude_route, null, releases.exclude_environment, releases.exclude_variant, releases.exclude_browser,
            releases.exclude_os, releases.exclude_device, releases.exclude_thread])
    group by release
    -- An empty interval overlaps nothing.
    having (releases.since = releases.until) is not true and bool_or(
        bucket + length > coalesce(releases.since, '-infinity') and bucket < coalesce(releases.until, 'infinity'))
    order by 2, release;
end
$$;

comment on function fleetprof.releases is
    'Returns the releases that have uploads from since to until, in the order in which they began. first_hour, last_hour: start of the first and of the last hour (day, where hours are gone) with uploads of the release, of all that is kept. uploads: all its uploads with a trace or events.';

revoke execute on function fleetprof.sites, fleetprof.field_values, fleetprof.summary, fleetprof.releases from public;
grant execute on function fleetprof.sites, fleetprof.field_values, fleetprof.summary, fleetprof.releases
to fleetprof_reader;
