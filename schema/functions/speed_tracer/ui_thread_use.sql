-- SPDX-License-Identifier: Apache-2.0
-- How busy the UI thread was.

create or replace function fleetprof.ui_thread_use(
    session_id bigint,
    from_ms    double precision default null,
    to_ms      double precision default null
)
returns table (
    at_ms    double precision,
    busy     double precision,
    smoothed double precision
)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
    width_us constant bigint := 75000;
    step_us constant bigint := 35000;
    first_us bigint;
    last_us bigint;
begin
    perform check_window(ui_thread_use.from_ms, ui_thread_use.to_ms);
    select
        coalesce(ui_thread_use.from_ms * 1000, min(start_us)),
        coalesce(ui_thread_use.to_ms * 1000, max(start_us + duration_us))
    into first_us, last_us
    from speed_tracer_events(ui_thread_use.session_id, has_detail => false)
    where parent is null and duration_us is not null;
    if last_us - first_us > 100000 * step_us then
        raise invalid_parameter_value using
            message = format('from %s to %s ms are more than 100000 windows', first_us / 1000, last_us / 1000),
            hint = 'Give from_ms and to_ms.';
    end if;

    -- A window begins every step. Busy time in a window = busy time up to its end minus busy time up to its start.
    -- A running sum over the edges of busy spans gives both.
    return query
    with top as (
        select greatest(start_us, first_us) as start_us, least(start_us + duration_us, last_us + width_us) as end_us
        from speed_tracer_events(ui_thread_use.session_id, has_detail => false)
        where parent is null and start_us + duration_us > first_us and start_us < last_us + width_us
    ),
    -- Events at the top level may overlap. A span begins where no earlier event reaches.
    begun as (
        select
            start_us, end_us,
            coalesce(start_us > max(end_us) over (order by start_us, end_us rows between unbounded preceding and 1 preceding), true)
                as begins
        from top
    ),
    span as (
        select min(start_us) as start_us, max(end_us) as end_us
        from (select start_us, end_us, count(*) filter (where begins) over (order by start_us, end_us) as number from begun) as numbered
        group by number
    ),
    moment (at_us, running, begin_us, is_end) as (
        -- Whole numbers, which double precision sums exactly, and faster than numeric.
        select (begin_us - first_us + case when is_end then width_us else 0 end)::double precision, 0, begin_us, is_end
        from generate_series(first_us, last_us, step_us) as begin_us
        cross join (values (false), (true)) as edge (is_end)
        union all
        select (unnest(array[start_us, end_us]) - first_us)::double precision, unnest(array[1, -1]), null, null
        from span
    ),
    taken as (
        select begin_us, is_end, at_us * sum(running) over moments - sum(running * at_us) over moments as until_us
        from moment
        window moments as (order by at_us)
    ),
    every as (
        select
            begin_us,
            sum(case when is_end then until_us else -until_us end) / width_us::double precision as busy
        from taken
        where begin_us is not null
        group by begin_us
    )
    select
        begin_us / 1000::double precision,
        busy,
        0.7 * busy + 0.2 * coalesce(lag(busy, 1) over windows, 0) + 0.1 * coalesce(lag(busy, 2) over windows, 0)
    from every
    window windows as (order by begin_us)
    order by begin_us;
end
$$;

comment on function fleetprof.ui_thread_use is
    -- {{comment of ui_thread_use}};

revoke execute on function fleetprof.ui_thread_use from public;
grant execute on function fleetprof.ui_thread_use to fleetprof_reader;
