-- SPDX-License-Identifier: Apache-2.0
-- Messages that pages logged.

create or replace function fleetprof.log_messages(session_id bigint)
returns table (
    at_ms    double precision,
    message  text,
    event_id bigint,
    top_id   bigint
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
    return query
    with message as (
        select event, event_id, start_us, detail
        from speed_tracer_events(log_messages.session_id, '{LOG_MESSAGE}')
        where type = 'LOG_MESSAGE' and type_number >= 0
    )
    select message.start_us / 1000::double precision, message.detail ->> 'message', message.event_id, outer_one.event_id
    from message
    join speed_tracer_tops(log_messages.session_id) as inside using (event)
    join speed_tracer_events(log_messages.session_id, has_detail => false) as outer_one on outer_one.event = inside.top
    order by message.start_us, message.event;
end
$$;

comment on function fleetprof.log_messages is
    -- {{comment of log_messages}};

revoke execute on function fleetprof.log_messages from public;
grant execute on function fleetprof.log_messages to fleetprof_reader;
