-- SPDX-License-Identifier: Apache-2.0
-- States of the engine while it was profiled.

create or replace function fleetprof.vm_states(session_id bigint)
returns table (
    state text,
    ticks bigint,
    share double precision
)
language plpgsql stable parallel safe rows 6
set search_path = fleetprof_data, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    select state, sum(ticks)::bigint, (sum(ticks) / sum(sum(ticks)) over ())::double precision
    from speed_tracer_events(vm_states.session_id, '{PROFILE_DATA}')
    cross join lateral jsonb_each(detail -> 'vmStates') as counted (state, value)
    cross join lateral (select number(value) as ticks) as counting
    where type_number >= 0 and jsonb_typeof(detail -> 'vmStates') = 'object' and number(value) > 0
    group by state
    order by sum(ticks) desc, state collate "C";
end
$$;

comment on function fleetprof.vm_states is
    -- {{comment of vm_states}};

revoke execute on function fleetprof.vm_states from public;
grant execute on function fleetprof.vm_states to fleetprof_reader;
