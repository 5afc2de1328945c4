-- Coverage: how many page loads the numbers rest on, and why others have no profile.

create or replace function fleetprof.coverage(
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
    loads           bigint,
    profiled        bigint,
    no_policy       bigint,
    unsupported     bigint,
    quota           bigint,
    disabled        bigint,
    not_sampled     bigint,
    sampled         bigint,
    delivered       bigint,
    estimated_loads double precision
)
language plpgsql stable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        coverage.site, coverage.since, coverage.until, coverage.route, coverage.release, coverage.environment,
        coverage.variant, coverage.browser, coverage.os, coverage.device, coverage.thread, by_segment => true,
        exclude => array[
            coverage.exclude_route, coverage.exclude_release, coverage.exclude_environment, coverage.exclude_variant,
            coverage.exclude_browser, coverage.exclude_os, coverage.exclude_device, coverage.exclude_thread]);
    reason_ids bigint[] := array(select timing_id from timing where kind = 'coverage');
begin
    return query
    with page_load as (
        -- No reason: the page load has a profile.
        select rate_ppm, null as reason, sum(loads) as loads
        from (
            select rate_ppm, unnest(loads) as loads
            from total_packed
            join segment on segment_id = group_id
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        group by rate_ppm
        union all
        select rate_ppm, name, sum(count)
        from (
            select rate_ppm, unnest(timing_id) as timing_id, unnest(count) as count
            from timing_packed
            join segment on segment_id = group_id
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        join timing using (timing_id)
        where timing_id = any(reason_ids)
        group by rate_ppm, name
    ),
    total as (
        select
            coalesce(sum(loads) filter (where reason is null), 0)::bigint as profiled,
            sum(loads) filter (where reason is not null)::bigint as explained,
            coalesce(sum(loads) filter (where reason = 'no-policy'), 0)::bigint as no_policy,
            coalesce(sum(loads) filter (where reason = 'unsupported'), 0)::bigint as unsupported,
            coalesce(sum(loads) filter (where reason = 'quota'), 0)::bigint as quota,
            coalesce(sum(loads) filter (where reason = 'disabled'), 0)::bigint as disabled,
            sum(loads) filter (where reason = 'not-sampled')::bigint as not_sampled,
            nullif(sum(loads) filter (where rate_ppm > 0), 0)::bigint as sampled,
            coalesce(sum(loads) filter (where rate_ppm > 0 and reason is null), 0)::bigint as delivered,
            nullif(sum(loads * 1e6::double precision / nullif(rate_ppm, 0)), 0) as estimated_loads
        from page_load
        having count(*) > 0
    )
    select
        profiled + coalesce(explained, 0),
        profiled,
        case when explained > 0 then no_policy end,
        case when explained > 0 then unsupported end,
        case when explained > 0 then quota end,
        case when explained > 0 then disabled end,
        not_sampled,
        sampled,
        case when sampled > 0 then delivered end,
        estimated_loads
    from total;
end
$$;

comment on function fleetprof.coverage is
    'Returns one row about the page loads that say whether they were profiled; none if no upload matches. loads: all of them. profiled: with a trace. no_policy, unsupported, quota, disabled, not_sampled: without one, for this reason; null if it is not known whether agents say it: no page load gives a reason, or for not_sampled this one. sampled: page loads whose token proves that the server sampled them; delivered: those of them with a trace; estimated_loads: all page loads, sampled or not, which they stand for: each divided by its verified rate. These three are null if no token proves a rate.';

revoke execute on function fleetprof.coverage from public;
grant execute on function fleetprof.coverage to fleetprof_reader;
