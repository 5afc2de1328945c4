-- SPDX-License-Identifier: Apache-2.0
-- Interactions by target: how long they take and where the time goes, and how long their results take.

create or replace function fleetprof_data.interaction_values(
    selected    fleetprof_data.selection,
    navigations text[],
    dimension   text default null
)
returns table (
    member             text,
    target             text,
    type               text,
    count              bigint,
    p75_ms             double precision,
    p98_ms             double precision,
    max_ms             double precision,
    total_ms           double precision,
    input_delay_share  double precision,
    processing_share   double precision,
    presentation_share double precision,
    flagged            bigint,
    responses          bigint,
    response_p75_ms    double precision,
    response_p98_ms    double precision,
    waited_ms          double precision
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        member,
        nullif(source, ''),
        name,
        count,
        p75_us / 1000,
        p98_us / 1000,
        max_us / 1000::double precision,
        sum_us / 1000,
        input_delay_us / whole_us,
        processing_us / whole_us,
        1 - (input_delay_us + processing_us) / whole_us,
        flagged,
        responses,
        response_p75_us / 1000,
        response_p98_us / 1000,
        greatest(sum_us, response_us) / 1000
    from (
        select
            *,
            -- Browsers round the duration to 8 ms, and so it may be less than its parts.
            nullif(greatest(sum_us, input_delay_us + processing_us), 0) as whole_us
        from (
            -- One row per kind.
            select
                member,
                name,
                source,
                coalesce(max(count) filter (where kind = 'interaction'), 0) as count,
                max(p75_us) filter (where kind = 'interaction') as p75_us,
                max(p98_us) filter (where kind = 'interaction') as p98_us,
                max(max_us) filter (where kind = 'interaction') as max_us,
                coalesce(max(sum_us) filter (where kind = 'interaction'), 0) as sum_us,
                -- Interactions and responses that are too long.
                coalesce(max(count) filter (where kind = 'interaction_flagged'), 0)
                + coalesce(max(count) filter (where kind = 'response_flagged'), 0) as flagged,
                coalesce(max(count) filter (where kind = 'response'), 0) as responses,
                max(p75_us) filter (where kind = 'response') as response_p75_us,
                max(p98_us) filter (where kind = 'response') as response_p98_us,
                max(sum_us) filter (where kind = 'response') as response_us,
                max(sum_us) filter (where kind = 'input_delay') as input_delay_us,
                max(sum_us) filter (where kind = 'processing') as processing_us
            from timing_values(
                interaction_values.selected, '{interaction,input_delay,processing,interaction_flagged,response,response_flagged}',
                dimension => interaction_values.dimension,
                navigations => interaction_values.navigations)
            group by member, name, source
        ) as kinds
        where count > 0 or flagged > 0 or responses > 0
    ) as interaction;
end
$$;

comment on function fleetprof_data.interaction_values is
    'Returns the rows of fleetprof.interactions, in any order, with the longer of both sums of waits. With a dimension, also by its values; the selection must then keep that dimension.';

create or replace function fleetprof.interactions(
    -- {{filters and vitals}}
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
    presentation_share double precision,
    flagged            bigint,
    responses          bigint,
    response_p75_ms    double precision,
    response_p98_ms    double precision
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    navigations text[] := select_navigations(interactions.navigation, interactions.exclude_navigation);
    selected selection := select_segments(given);
begin
    return query
    select target, type, count, p75_ms, p98_ms, max_ms, total_ms, input_delay_share, processing_share, presentation_share,
        flagged, responses, response_p75_ms, response_p98_ms
    from interaction_values(selected, navigations)
    order by waited_ms desc, type collate "C", target collate "C" nulls first;
end
$$;

comment on function fleetprof.interactions is
    -- {{comment of interactions}};

create or replace function fleetprof.interactions_by(
    dimension text,
    -- {{filters and vitals}}
)
returns table (
    value              text,
    target             text,
    type               text,
    count              bigint,
    p75_ms             double precision,
    p98_ms             double precision,
    max_ms             double precision,
    total_ms           double precision,
    input_delay_share  double precision,
    processing_share   double precision,
    presentation_share double precision,
    flagged            bigint,
    responses          bigint,
    response_p75_ms    double precision,
    response_p98_ms    double precision
)
language plpgsql stable parallel safe rows 1000
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    navigations text[] := select_navigations(interactions_by.navigation, interactions_by.exclude_navigation, interactions_by.dimension);
    selected selection := select_segments(kept_apart(given, dimension_of(interactions_by.dimension, of_vitals => true)));
begin
    return query
    select member, target, type, count, p75_ms, p98_ms, max_ms, total_ms, input_delay_share, processing_share, presentation_share,
        flagged, responses, response_p75_ms, response_p98_ms
    from interaction_values(selected, navigations, interactions_by.dimension)
    order by waited_ms desc, member collate "C", type collate "C", target collate "C" nulls first;
end
$$;

comment on function fleetprof.interactions_by is
    -- {{comment of interactions_by}};

revoke execute on function
    fleetprof_data.interaction_values, fleetprof.interactions, fleetprof.interactions_by
from public;
grant execute on function
    fleetprof_data.interaction_values, fleetprof.interactions, fleetprof.interactions_by
to fleetprof_reader;
