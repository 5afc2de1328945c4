-- Running sessions: which long sessions still get parts, so that none is forgotten under its collector's hands.
--
-- Collectors know what runs, and say so here: of a session that starts before any of its parts is stored, of
-- one that stops with the position that the spool then has. Its last parts are stored once that is reached.

create table fleetprof_data.long_session (
    spool_id         uuid not null,
    load_id          uuid not null,
    since            timestamptz not null default now(),
    expires          timestamptz not null,
    stopped_position bigint,
    primary key (spool_id, load_id)
);

create view fleetprof.running_sessions with (security_invoker = true) as
select load_id, min(since) as since
from fleetprof_data.long_session
left join fleetprof_data.spool_position using (spool_id)
where expires > now() and (stopped_position is null or stopped_position > coalesce(position, 0))
group by load_id;

create or replace function fleetprof.release_session(session_id bigint default null)
returns bigint
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    released bigint;
    of_segment bigint;
    of_bucket timestamptz;
    of_load uuid;
begin
    if release_session.session_id is null then
        delete from session where load_id is null or load_id not in (select load_id from fleetprof.running_sessions);
        get diagnostics released = row_count;
        delete from timeline where not exists (select from session where session.session_id = timeline.session_id);
        delete from event where not exists (select from session where session.session_id = event.session_id);
        return released;
    end if;
    select load_id into of_load from session where session_id = release_session.session_id;
    if of_load in (select load_id from fleetprof.running_sessions) then
        raise object_in_use using
            message = format('session %s is a part of %s, which still runs', release_session.session_id, of_load),
            hint = 'Stop that first, as docs/http.md says; it runs until its last part is stored, as long as fleetprof.running_sessions lists it.';
    end if;
    delete from session where session_id = release_session.session_id returning segment_id, bucket into of_segment, of_bucket;
    if not found then
        raise no_data_found using
            message = format('session %s is not kept', release_session.session_id),
            hint = 'The view fleetprof.sessions lists those that are.';
    end if;
    -- By the whole key, which the events' partitions have an index of.
    delete from timeline
    where segment_id = of_segment and bucket = of_bucket and session_id = release_session.session_id;
    delete from event
    where segment_id = of_segment and bucket = of_bucket and session_id = release_session.session_id;
    return 1;
end
$$;

comment on function fleetprof.release_session is
    'Forgets a kept session, or without an id all that do not run; returns how many. Parts of a long session can be forgotten once it was stopped. What they added to the numbers stays. For fleetprof_owner and fleetprof_writer.';

-- Rights -----------------------------------------------------------------------------------------------

grant select on
    fleetprof_data.long_session, fleetprof_data.spool_position, fleetprof.running_sessions
to fleetprof_reader;
grant select, insert, update, delete on fleetprof_data.long_session to fleetprof_writer;
grant select on fleetprof.running_sessions to fleetprof_writer;

-- Comments ---------------------------------------------------------------------------------------------

comment on table fleetprof_data.long_session is 'Long sessions that run, or whose stop came before their last parts were stored.';
comment on column fleetprof_data.long_session.spool_id is 'Spool of the collector that takes its parts.';
comment on column fleetprof_data.long_session.load_id is 'Its id, which its parts have as load_id.';
comment on column fleetprof_data.long_session.since is 'When the database was told of it.';
comment on column fleetprof_data.long_session.expires is 'When it is taken for stopped if its collector is not heard of.';
comment on column fleetprof_data.long_session.stopped_position is 'Last record of the spool when it was stopped; null: it runs.';

comment on view fleetprof.running_sessions is
    'Long sessions that still get parts, or whose last parts are not stored yet. release_session leaves their parts alone.';
comment on column fleetprof.running_sessions.load_id is 'Its id; load_id of its parts in sessions.';
comment on column fleetprof.running_sessions.since is 'When the database was told of it.';
