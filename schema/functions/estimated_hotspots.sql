-- SPDX-License-Identifier: Apache-2.0
-- Estimates for all page loads: the cost of page loads whose profile arrived, divided by their sample rate, and by the
-- share of sampled page loads whose profile arrived.

create or replace function fleetprof.estimated_hotspots(
    -- {{filters of samples}},
    top integer default 20
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
    unrated_uploads   bigint,
    delivered_share   double precision,
    function_key       text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given, by_segment => true);
    markers smallint[] := select_markers(estimated_hotspots.marker, estimated_hotspots.exclude_marker);
    -- The segments of each verified rate, and how many page loads each of their page loads stands for.
    parts selection[];
    weights double precision[];
    rated bigint;
    delivered double precision;
    every bigint := (selected_totals(selected)).uploads;
begin
    select array_agg(part), array_agg(1e6::double precision / rate_ppm * coalesce(sampled / nullif(profiled, 0), 1)), sum(profiled) / nullif(sum(sampled), 0)
    into parts, weights, delivered
    from (
        select
            rate_ppm,
            row(
                selected.sites, array_agg(segment_id), selected.after, selected.before,
                array_agg(segment_id), selected.buckets, selected.spans)::selection as part
        from segment
        where segment_id = any(selected.segment_ids) and rate_ppm > 0
        group by rate_ppm
    ) as part
    left join (
        select rate_ppm, sum(loads)::double precision as sampled, coalesce(sum(loads) filter (where reason is null), 0)::double precision as profiled
        from page_loads(selected)
        group by rate_ppm
    ) as page_load using (rate_ppm);
    rated := (
        select sum((selected_totals(parts[part])).uploads) from generate_subscripts(parts, 1) as part);

    return query
    select
        function, resource, line, column_number, kind, self_ms, total_ms, self_share, total_share, samples, uploads,
        self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent, rated, every - rated, delivered,
        function_key, generated_resource, generated_line, generated_column
    from ranked_frames(parts, weights, markers, null, estimated_hotspots.top);
end
$$;

comment on function fleetprof.estimated_hotspots is
    -- {{comment of estimated_hotspots}};

revoke execute on function fleetprof.estimated_hotspots from public;
grant execute on function fleetprof.estimated_hotspots to fleetprof_reader;
