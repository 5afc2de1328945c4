-- SPDX-License-Identifier: Apache-2.0
-- Timelines of kept uploads.

create or replace view fleetprof.timelines with (security_invoker = true) as
select
    session_id,
    timeline,
    timeline_id,
    frame_id,
    mode,
    events,
    span.start_us / 1000::double precision as start_ms,
    span.end_us / 1000::double precision as end_ms,
    span.self_us / 1000::double precision as self_ms
from fleetprof_data.timeline as t
cross join lateral (
    select
        min(start_us) filter (where mode = 'all' or duration_us is not null) as start_us,
        max(start_us + coalesce(duration_us, 0)) filter (where mode = 'all' or duration_us is not null) as end_us,
        sum(self_us) filter (where (type, type_number) <> ('PROCESS', 2)) as self_us
    from fleetprof_data.event as e
    where e.segment_id = t.segment_id
        and e.bucket = t.bucket
        and e.session_id = t.session_id
        and e.timeline = t.timeline
) as span;

-- {{comments of timelines}}

grant select on fleetprof.timelines to fleetprof_reader;
