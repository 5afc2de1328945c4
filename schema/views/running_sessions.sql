-- Long sessions that still get parts.

create or replace view fleetprof.running_sessions with (security_invoker = true) as
select load_id, min(since) as since
from fleetprof_data.long_session
left join fleetprof_data.spool_position using (spool_id)
where expires > now() and (stopped_position is null or stopped_position > coalesce(position, 0))
group by load_id;

comment on view fleetprof.running_sessions is
    'Long sessions that still get parts, or whose last parts are not stored yet. release_session leaves their parts alone.';
comment on column fleetprof.running_sessions.load_id is 'Its id; load_id of its parts in sessions.';
comment on column fleetprof.running_sessions.since is 'When the collector reported it to the database.';

grant select on fleetprof.running_sessions to fleetprof_reader, fleetprof_writer;
