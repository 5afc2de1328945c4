-- SPDX-License-Identifier: Apache-2.0
-- Interactions by target: how long they take, and where the time goes.

create or replace function fleetprof.interactions(
    -- {{filters}}
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
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
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
    -- {{comment of interactions}};

revoke execute on function fleetprof.interactions from public;
grant execute on function fleetprof.interactions to fleetprof_reader;
