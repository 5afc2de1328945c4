-- SPDX-License-Identifier: Apache-2.0
-- Scripts of long animation frames: what blocked the page, as the browser says.

create or replace function fleetprof.long_frames(
    -- {{filters}}
)
returns table (
    invoker          text,
    script           text,
    function         text,
    count            bigint,
    total_ms         double precision,
    p75_ms           double precision,
    blocking_ms      double precision,
    forced_layout_ms double precision,
    forced_style_ms  double precision,
    forced_reflow_ms double precision,
    style_ms         double precision,
    layout_ms        double precision
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
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
        forced_layout_us / 1000,
        forced_style_us / 1000,
        forced_reflow_us / 1000,
        style_us / 1000,
        layout_us / 1000
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
            coalesce(max(sum_us) filter (where kind = 'forced_layout'), 0) as forced_layout_us,
            -- Null if no browser reported these values.
            max(sum_us) filter (where kind = 'forced_style') as forced_style_us,
            max(sum_us) filter (where kind = 'forced_reflow') as forced_reflow_us,
            max(sum_us) filter (where kind = 'style') as style_us,
            max(sum_us) filter (where kind = 'layout') as layout_us
        from timing_values(
            selected, '{frame_script,blocking,forced_layout,forced_style,forced_reflow,style,layout}')
        group by name, source, function
    ) as script
    where count > 0
    order by blocking_us desc, total_us desc, name collate "C", source collate "C", function collate "C";
end
$$;

comment on function fleetprof.long_frames is
    -- {{comment of long_frames}};

revoke execute on function fleetprof.long_frames from public;
grant execute on function fleetprof.long_frames to fleetprof_reader;
