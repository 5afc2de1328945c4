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

comment on view fleetprof.timelines is
    'Timelines of kept sessions: one per frame of the page (Opera Scope), or the whole dump (Speed Tracer). Several rows with one timeline_id are lists made with different modes or filters.';
comment on column fleetprof.timelines.timeline is 'Number in its session, from 1.';
comment on column fleetprof.timelines.timeline_id is 'As the upload says; what get_events takes.';
comment on column fleetprof.timelines.frame_id is 'Frame of the page; null: not said.';
comment on column fleetprof.timelines.mode is 'What was done to its events before they came: all (nothing), reduce_unique_types, reduce_unique_events, reduce_all. Only unreduced ones are in any sum.';
comment on column fleetprof.timelines.events is 'Events.';
comment on column fleetprof.timelines.start_ms is 'First start, milliseconds since the session began; null: not said.';
comment on column fleetprof.timelines.end_ms is 'Last end, milliseconds since the session began; null: not said.';
comment on column fleetprof.timelines.self_ms is 'Sum of own times, milliseconds.';

grant select on fleetprof.timelines to fleetprof_reader;
