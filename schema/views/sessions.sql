-- Kept uploads.

create or replace view fleetprof.sessions with (security_invoker = true) as
select
    session_id,
    site,
    route,
    release,
    environment,
    variant,
    browser,
    os,
    device,
    thread,
    format,
    version,
    page_url,
    received,
    started,
    upload_id,
    load_id,
    part,
    source_id,
    window_id,
    listed.timelines,
    listed.events,
    is_raw,
    content_bytes,
    length(content) as stored_bytes,
    records_read,
    records_refused
from fleetprof_data.session as s
left join fleetprof_data.segment using (segment_id)
cross join lateral (
    select count(*) as timelines, coalesce(sum(events), 0) as events
    from fleetprof_data.timeline as t
    where t.segment_id = s.segment_id and t.bucket = s.bucket and t.session_id = s.session_id
) as listed;

comment on view fleetprof.sessions is
    'Uploads that are kept whole: all Speed Tracer dumps and Opera Scope sessions, and the share of self-profiling traces that sample_keep says.';
comment on column fleetprof.sessions.session_id is 'What get_events and release_session take.';
comment on column fleetprof.sessions.version is 'Version of the format, as the upload says; empty: it did not.';
comment on column fleetprof.sessions.page_url is 'The page, scrubbed; empty: unknown.';
comment on column fleetprof.sessions.received is 'When the collector had received it.';
comment on column fleetprof.sessions.started is 'When it began, as the upload says; null: it did not.';
comment on column fleetprof.sessions.load_id is 'What parts of one long session, or uploads of one page load, have in common; null: nothing.';
comment on column fleetprof.sessions.part is 'Which of these parts, from 0.';
comment on column fleetprof.sessions.source_id is 'Session id in the profiled browser; null: none.';
comment on column fleetprof.sessions.window_id is 'Window in the profiled browser; null: none.';
comment on column fleetprof.sessions.timelines is 'Rows in timelines.';
comment on column fleetprof.sessions.events is 'Events in all its timelines.';
comment on column fleetprof.sessions.is_raw is 'Whether the content is what was sent, byte for byte (privacy.keep_raw), not scrubbed.';
comment on column fleetprof.sessions.content_bytes is 'Size of the content, bytes.';
comment on column fleetprof.sessions.stored_bytes is 'Size of the content as stored (zstd), bytes.';
comment on column fleetprof.sessions.records_read is 'Records of a dump or session, or entries of User Timing, kept and refused ones.';
comment on column fleetprof.sessions.records_refused is 'Records, and parts of kept ones, that were refused; by reason: refusals.';

grant select on fleetprof.sessions to fleetprof_reader;
