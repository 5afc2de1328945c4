-- SPDX-License-Identifier: Apache-2.0
-- Long sessions that still get parts.

create or replace view fleetprof.running_sessions with (security_invoker = true) as
select load_id, min(since) as since
from fleetprof_data.long_session
left join fleetprof_data.spool_position using (spool_id)
where expires > now() and (stopped_position is null or stopped_position > coalesce(position, 0))
group by load_id;

-- {{comments of running_sessions}}

grant select on fleetprof.running_sessions to fleetprof_reader, fleetprof_writer;
