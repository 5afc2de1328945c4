-- SPDX-License-Identifier: Apache-2.0
-- Helpers that Speed Tracer's reports share.
--
-- UI events are records with a duration. Times are milliseconds since the session began.

create or replace function fleetprof_data.speed_tracer_events(
    session_id bigint,
    types      text[] default null,
    has_detail boolean default true
)
returns setof fleetprof_data.event
language plpgsql stable parallel safe rows 5000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    kept record;
    parts bigint;
begin
    select format, part, segment_id, bucket into kept from session where session_id = speed_tracer_events.session_id;
    if not found then
        raise no_data_found using
            message = format('session %s is not kept', coalesce(speed_tracer_events.session_id::text, 'null')),
            hint = 'The view fleetprof.sessions lists those that are.';
    end if;
    if kept.format <> 'speed-tracer' then
        raise invalid_parameter_value using
            message = format('session %s is of %s, and this is a report of Speed Tracer',
                speed_tracer_events.session_id, kept.format);
    end if;
    -- Details may be large: they are copied only where a report needs them, and once.
    select count(*) into parts from parts_of(speed_tracer_events.session_id);
    if parts = 1 and kept.part = 0 then
        return query
        select
            segment_id, bucket, session_id, event, timeline, parent, event_id, type, type_number, start_us, duration_us,
            self_us, overhead_us, total_us, total_overhead_us, hits, child_count, resource, line,
            case when speed_tracer_events.has_detail then detail end, parent_id
        from event
        where segment_id = kept.segment_id and bucket = kept.bucket and session_id = speed_tracer_events.session_id
            and (speed_tracer_events.types is null or type = any(speed_tracer_events.types));
        return;
    end if;
    return query
    select *
    from listed_events(speed_tracer_events.session_id, speed_tracer_events.types, speed_tracer_events.has_detail);
end
$$;

comment on function fleetprof_data.speed_tracer_events is
    'Returns the events of a kept dump of Speed Tracer with all its parts, of these types (null: all); raises an error for anything else. has_detail false: details may be null.';

-- Not a recursive query: it would join all events once per level.
create or replace function fleetprof_data.speed_tracer_tops(session_id bigint)
returns table (event bigint, top bigint)
language plpgsql stable parallel safe rows 5000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    numbers bigint[];
    parents bigint[];
    tops bigint[]; -- by the event's number: parents stand before their children
    at bigint;
begin
    select array_agg(event order by event), array_agg(parent order by event)
    into numbers, parents
    from speed_tracer_events(speed_tracer_tops.session_id, has_detail => false);
    for place in 1..coalesce(cardinality(numbers), 0) loop
        at := numbers[place];
        tops[at] := case when parents[place] is null then at else tops[parents[place]] end;
    end loop;
    return query
    select one.event, tops[one.event]
    from unnest(numbers) as one (event);
end
$$;

comment on function fleetprof_data.speed_tracer_tops is
    'Returns, for each event of a kept dump of Speed Tracer, the event at the top level that contains it, or the event itself.';

create or replace function fleetprof_data.check_window(from_ms double precision, to_ms double precision)
returns void
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    furthest_ms constant double precision := 9007199254740.992; -- 2^53 us, as far as times go
    edge double precision;
begin
    foreach edge in array array[check_window.from_ms, check_window.to_ms] loop
        if abs(edge) > furthest_ms then
            raise invalid_parameter_value using
                message = format('%s ms is not a time of a session', edge),
                hint = 'from_ms and to_ms are milliseconds since the session began; null is its own edge.';
        end if;
    end loop;
    if check_window.from_ms > check_window.to_ms then
        raise invalid_parameter_value using
            message = 'from_ms is later than to_ms',
            hint = 'Both are milliseconds since the session began; null is its own edge.';
    end if;
end
$$;

comment on function fleetprof_data.check_window is 'Raises an error with a hint for invalid edges of a window.';

revoke execute on function
    fleetprof_data.speed_tracer_events, fleetprof_data.speed_tracer_tops, fleetprof_data.check_window
from public;
grant execute on function
    fleetprof_data.speed_tracer_events, fleetprof_data.speed_tracer_tops, fleetprof_data.check_window
to fleetprof_reader;
