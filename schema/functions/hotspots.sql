-- SPDX-License-Identifier: Apache-2.0
-- Hotspots: time per frame.

create or replace function fleetprof.hotspots(
    -- {{filters of samples}},
    top     integer default 20,
    host    text default null,
    party   text default null,
    package text default null
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
    markers smallint[] := select_markers(hotspots.marker, hotspots.exclude_marker);
begin
    return query
    select
        function, resource, line, column_number, kind, self_ms, total_ms, self_share, total_share, samples, uploads,
        self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent, function_key, generated_resource, generated_line, generated_column,
        seen_share, owner
    from ranked_frames(array[selected], '{1}', markers, null, hotspots.top,
        array[hotspots.host, hotspots.party, hotspots.package]);
end
$$;

comment on function fleetprof.hotspots is
    -- {{comment of hotspots}};

revoke execute on function fleetprof.hotspots from public;
grant execute on function fleetprof.hotspots to fleetprof_reader;
