-- Scripts of long animation frames: what blocked the page, as the browser says.

create or replace function fleetprof.long_frames(
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
    invoker          text,
    script           text,
    function         text,
    count            bigint,
    total_ms         double precision,
    p75_ms           double precision,
    blocking_ms      double precision,
    forced_layout_ms double precision
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
        long_frames.site, long_frames.since, long_frames.until, long_frames.route, long_frames.release,
        long_frames.environment, long_frames.variant, long_frames.browser, long_frames.os, long_frames.device,
        long_frames.thread,
        exclude => array[
            long_frames.exclude_route, long_frames.exclude_release, long_frames.exclude_environment,
            long_frames.exclude_variant, long_frames.exclude_browser, long_frames.exclude_os,
            long_frames.exclude_device, long_frames.exclude_thread]);
begin
    return query
    select
        nullif(name, ''),
        nullif(source, ''),
        case when function <> '' then function when source <> '' then '(anonymous)' end,
        count,
        total_us / 1000,
        p75_us / 1000,
        blocking_us / 1000,
        forced_layout_us / 1000
    from (
        -- One row per kind.
        select
            name,
            source,
            function,
            max(count) filter (where kind = 'frame_script') as count,
            max(sum_us) filter (where kind = 'frame_script') as total_us,
            max(p75_us) filter (where kind = 'frame_script') as p75_us,
            coalesce(max(sum_us) filter (where kind = 'blocking'), 0) as blocking_us,
            coalesce(max(sum_us) filter (where kind = 'forced_layout'), 0) as forced_layout_us
        from timing_values(selected, '{frame_script,blocking,forced_layout}')
        group by name, source, function
    ) as script
    where count > 0
    order by blocking_us desc, total_us desc, name collate "C", source collate "C", function collate "C";
end
$$;

comment on function fleetprof.long_frames is
    'Returns the scripts of long animation frames, the most blocking time first. invoker: what called the script, such as BUTTON.onclick; (overflow) beyond the site''s ceiling of names. script: URL, scrubbed. function: (anonymous) without a name. All three are null for frames without scripts. count: runs in long frames. total_ms: their durations. p75_ms: nearest-rank percentile, at most 1.6 % off. blocking_ms: blocking time of the frames, divided among their scripts by duration. forced_layout_ms: style and layout that scripts forced.';

revoke execute on function fleetprof.long_frames from public;
grant execute on function fleetprof.long_frames to fleetprof_reader;
