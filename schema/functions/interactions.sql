-- Interactions by target: how long they take, and where the time goes.

create or replace function fleetprof.interactions(
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
    target             text,
    type               text,
    count              bigint,
    p75_ms             double precision,
    p98_ms             double precision,
    max_ms             double precision,
    total_ms           double precision,
    input_delay_share  double precision,
    processing_share   double precision,
    presentation_share double precision
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        interactions.site, interactions.since, interactions.until, interactions.route, interactions.release,
        interactions.environment, interactions.variant, interactions.browser, interactions.os, interactions.device,
        interactions.thread,
        exclude => array[
            interactions.exclude_route, interactions.exclude_release, interactions.exclude_environment,
            interactions.exclude_variant, interactions.exclude_browser, interactions.exclude_os,
            interactions.exclude_device, interactions.exclude_thread]);
begin
    return query
    select
        nullif(source, ''),
        name,
        count,
        p75_us / 1000,
        p98_us / 1000,
        max_us / 1000::double precision,
        sum_us / 1000,
        input_delay_us / whole_us,
        processing_us / whole_us,
        1 - (input_delay_us + processing_us) / whole_us
    from (
        select
            *,
            -- Browsers round the duration to 8 ms, and so it may be less than its parts.
            nullif(greatest(sum_us, input_delay_us + processing_us), 0) as whole_us
        from (
            -- One row per kind.
            select
                name,
                source,
                max(count) filter (where kind = 'interaction') as count,
                max(p75_us) filter (where kind = 'interaction') as p75_us,
                max(p98_us) filter (where kind = 'interaction') as p98_us,
                max(max_us) filter (where kind = 'interaction') as max_us,
                max(sum_us) filter (where kind = 'interaction') as sum_us,
                max(sum_us) filter (where kind = 'input_delay') as input_delay_us,
                max(sum_us) filter (where kind = 'processing') as processing_us
            from timing_values(selected, '{interaction,input_delay,processing}')
            group by name, source
        ) as kinds
        where count > 0
    ) as interaction
    order by sum_us desc, name collate "C", source collate "C";
end
$$;

comment on function fleetprof.interactions is
    'Returns interactions by target and type, the most time first. target: selector of the element, null when not known. type: as the page says, such as pointer or keyboard; (overflow) beyond the site''s ceiling of names. p75_ms, p98_ms: nearest-rank percentiles of durations, at most 1.6 % off. max_ms, total_ms: the longest duration, and the sum of all. input_delay_share, processing_share, presentation_share: of total_ms, 0 to 1; together 1; null when not known. Agents send interactions of 40 ms or more.';

revoke execute on function fleetprof.interactions from public;
grant execute on function fleetprof.interactions to fleetprof_reader;
