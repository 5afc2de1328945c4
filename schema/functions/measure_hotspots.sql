-- SPDX-License-Identifier: Apache-2.0
-- Hotspots inside the windows of a measure.

create or replace function fleetprof.measure_hotspots(
    measure_name text,
    -- {{filters of samples}},
    top          integer default 20,
    host         text default null,
    party        text default null,
    package      text default null
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
    function_key       text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer,
    seen_share         double precision,
    owner              text
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    markers smallint[] := select_markers(measure_hotspots.marker, measure_hotspots.exclude_marker);
    -- Each site has timings of its own, and site may be a wildcard.
    timing_ids bigint[] := array(
        select timing_id
        from timing
        where name = measure_hotspots.measure_name and kind in ('measure', 'window') and navigation <> 'soft'
    );
begin
    if measure_hotspots.measure_name is null then
        raise invalid_parameter_value using
            message = 'measure_name is null',
            hint = 'Name a measure; timings() lists them.';
    end if;
    return query
    select
        function, resource, line, column_number, kind, self_ms, total_ms, self_share, total_share, samples, uploads,
        self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent, function_key, generated_resource, generated_line, generated_column,
        seen_share, owner
    from ranked_frames(array[selected], '{1}', markers, timing_ids, measure_hotspots.top,
        array[measure_hotspots.host, measure_hotspots.party, measure_hotspots.package]);
end
$$;

comment on function fleetprof.measure_hotspots is
    -- {{comment of measure_hotspots}};

revoke execute on function fleetprof.measure_hotspots from public;
grant execute on function fleetprof.measure_hotspots to fleetprof_reader;
