-- SPDX-License-Identifier: Apache-2.0
-- Percentiles of User Timing marks and measures, from histograms.

create or replace function fleetprof.timings(
    -- {{filters}}
)
returns table (
    name     text,
    kind     text,
    count    bigint,
    p50_ms   double precision,
    p75_ms   double precision,
    p95_ms   double precision,
    p99_ms   double precision,
    min_ms   double precision,
    max_ms   double precision,
    mean_ms  double precision,
    left_out bigint
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
    with value as materialized (
        select * from timing_values(selected, '{mark,measure,left_out}')
    )
    select
        value.name,
        value.kind::text,
        value.count,
        value.p50_us / 1000,
        value.p75_us / 1000,
        value.p95_us / 1000,
        value.p99_us / 1000,
        value.min_us / 1000::double precision,
        value.max_us / 1000::double precision,
        value.sum_us / value.count / 1000,
        -- Without a source, the row counts omissions under any name.
        case when value.name <> '' then coalesce(missing.sum_us, 0)::bigint end
    from value
    left join value as missing
        on missing.kind = 'left_out' and missing.name = value.kind::text and missing.source = value.name
    where value.kind <> 'left_out'
    order by value.name collate "C", value.kind;
end
$$;

comment on function fleetprof.timings is
    -- {{comment of timings}};

revoke execute on function fleetprof.timings from public;
grant execute on function fleetprof.timings to fleetprof_reader;
