-- SPDX-License-Identifier: Apache-2.0
-- Own time by event type in a window.

create or replace function fleetprof.event_summary(
    session_id bigint,
    from_ms    double precision default null,
    to_ms      double precision default null
)
returns table (
    event_type text,
    self_ms    double precision,
    share      double precision
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
    first_us bigint;
    last_us bigint;
begin
    perform check_window(event_summary.from_ms, event_summary.to_ms);
    select
        coalesce(event_summary.from_ms * 1000, min(start_us)),
        coalesce(event_summary.to_ms * 1000, max(start_us + duration_us))
    into first_us, last_us
    from speed_tracer_events(event_summary.session_id, has_detail => false)
    where duration_us is not null;

    -- Own time = the part of an event between the edges minus the parts of the events inside it.
    return query
    with cut as materialized (
        select
            event, parent, type,
            greatest(least(start_us + duration_us, last_us) - greatest(start_us, first_us), 0) as left_us
        from speed_tracer_events(event_summary.session_id, has_detail => false)
        where duration_us is not null
    ),
    inside as (
        select parent as event, sum(left_us) as left_us
        from cut
        group by parent
    ),
    own as (
        select type, sum(cut.left_us - coalesce(inside.left_us, 0)) as self_us
        from cut
        left join inside using (event)
        where cut.left_us > 0
        group by type
        union all
        select '(available)', last_us - first_us - coalesce(sum(left_us), 0)
        from cut
        where parent is null
    )
    select
        type,
        (self_us / 1000)::double precision,
        self_us::double precision / nullif(last_us - first_us, 0)
    from own
    where last_us > first_us
    order by type = '(available)' desc, self_us desc, type collate "C";
end
$$;

comment on function fleetprof.event_summary is
    -- {{comment of event_summary}};

revoke execute on function fleetprof.event_summary from public;
grant execute on function fleetprof.event_summary to fleetprof_reader;
