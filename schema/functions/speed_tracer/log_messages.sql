-- What pages logged.

create or replace function fleetprof.log_messages(session_id bigint)
returns table (
    at_ms    double precision,
    message  text,
    event_id bigint,
    top_id   bigint
)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with recursive every as materialized (
        select event, parent, event_id, type, type_number, start_us, detail
        from speed_tracer_events(log_messages.session_id)
    ),
    climb as (
        select event, event as at, parent
        from every
        where type = 'LOG_MESSAGE' and type_number >= 0
        union all
        select climb.event, every.event, every.parent
        from climb
        join every on every.event = climb.parent
    )
    select every.start_us / 1000::double precision, every.detail ->> 'message', every.event_id, top.event_id
    from climb
    join every using (event)
    join every as top on top.event = climb.at
    where climb.parent is null
    order by every.start_us, every.event;
end
$$;

comment on function fleetprof.log_messages is
    'Returns what pages logged (console.timeStamp): when, the text, its event, and the event at the top level in which it was logged. Milliseconds since the session began.';

revoke execute on function fleetprof.log_messages from public;
grant execute on function fleetprof.log_messages to fleetprof_reader;
