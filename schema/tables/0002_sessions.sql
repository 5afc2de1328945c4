-- Sessions: what is kept of single uploads, so that one can be read back, event by event or as it came.
--
-- The facts count a session like every upload; these tables are for looking at one. session_id joins the three
-- partitioned tables; retention.sessions limits how long they are kept.

create table fleetprof_data.session (
    segment_id      bigint not null,
    bucket          timestamptz not null,
    session_id      bigint not null,
    upload_id       uuid not null,
    load_id         uuid,
    part            integer not null,
    received        timestamptz not null,
    started         timestamptz,
    format          text not null,
    version         text not null,
    source_id       bigint,
    window_id       bigint,
    page_url        text not null,
    is_raw          boolean not null,
    content_bytes   integer not null,
    content         bytea not null,
    records_read    integer not null default 0,
    records_refused integer not null default 0,
    is_detached     boolean not null default false,
    primary key (segment_id, bucket, session_id)
) partition by range (bucket);
alter table fleetprof_data.session alter column content set storage external; -- it is zstd already
create index session_id on fleetprof_data.session (session_id);
create index session_load_id on fleetprof_data.session (load_id) where load_id is not null;

create table fleetprof_data.timeline (
    segment_id  bigint not null,
    bucket      timestamptz not null,
    session_id  bigint not null,
    timeline    bigint not null,
    timeline_id bigint not null,
    frame_id    bigint,
    mode        text not null,
    events      integer not null,
    primary key (segment_id, bucket, session_id, timeline)
) partition by range (bucket);
create index timeline_session_id on fleetprof_data.timeline (session_id);

create table fleetprof_data.event (
    segment_id        bigint not null,
    bucket            timestamptz not null,
    session_id        bigint not null,
    event             bigint not null,
    timeline          bigint not null,
    parent            bigint,
    event_id          bigint,
    type              text not null,
    type_number       integer not null,
    start_us          bigint not null,
    duration_us       bigint,
    self_us           bigint not null,
    overhead_us       bigint not null,
    total_us          bigint not null,
    total_overhead_us bigint not null,
    hits              bigint not null,
    child_count       bigint not null,
    resource          text,
    line              integer,
    detail            jsonb,
    parent_id         bigint,
    primary key (segment_id, bucket, session_id, event)
) partition by range (bucket);

-- Reports unpack many details. lz4 is several times faster than PostgreSQL's own compression, where the server was built with it.
do $$
begin
    alter table fleetprof_data.event alter detail set compression lz4;
exception
    when feature_not_supported then null;
end;
$$;

create index event_timeline on fleetprof_data.event (session_id, timeline);

-- Long sessions: collectors write here which ones run, so that none is deleted while it still gets parts. A session
-- is listed from its start, before any of its parts is stored. When it stops, the collector writes the position that
-- its spool then has: the last parts are stored once the spool is counted up to that position.

create table fleetprof_data.long_session (
    spool_id         uuid not null,
    load_id          uuid not null,
    since            timestamptz not null default now(),
    expires          timestamptz not null,
    stopped_position bigint,
    primary key (spool_id, load_id)
);

-- Rights -----------------------------------------------------------------------------------------------

grant select on
    fleetprof_data.session, fleetprof_data.timeline, fleetprof_data.event,
    fleetprof_data.long_session, fleetprof_data.spool_position
to fleetprof_reader;
grant select, insert, delete on
    fleetprof_data.session, fleetprof_data.timeline, fleetprof_data.event
to fleetprof_writer;
grant select, insert, update, delete on fleetprof_data.long_session to fleetprof_writer;

-- Comments ---------------------------------------------------------------------------------------------

comment on table fleetprof_data.session is 'Kept uploads, as the view fleetprof.sessions shows them.';
comment on column fleetprof_data.session.segment_id is 'Segment.';
comment on column fleetprof_data.session.bucket is 'Start of the UTC hour in which the upload counts.';
comment on column fleetprof_data.session.session_id is 'Content hash of site and upload id (docs/ids.md), never negative.';
comment on column fleetprof_data.session.upload_id is 'The upload.';
comment on column fleetprof_data.session.load_id is 'The page load or long session that it belongs to; null: none.';
comment on column fleetprof_data.session.part is 'Which part of that it is, from 0.';
comment on column fleetprof_data.session.received is 'When the collector had received it, by the collector''s clock.';
comment on column fleetprof_data.session.started is 'When the session began, as the upload says; null: it did not.';
comment on column fleetprof_data.session.format is 'self-profile, user-timing, speed-tracer or opera-scope.';
comment on column fleetprof_data.session.version is 'Version of the format, as the upload says; empty: it did not.';
comment on column fleetprof_data.session.source_id is 'Session id in the profiled browser; null: none.';
comment on column fleetprof_data.session.window_id is 'Window in the profiled browser; null: none.';
comment on column fleetprof_data.session.page_url is 'The page, scrubbed; empty: unknown.';
comment on column fleetprof_data.session.is_raw is 'Whether the content is what was sent, byte for byte, not scrubbed.';
comment on column fleetprof_data.session.content_bytes is 'Size of the content, bytes.';
comment on column fleetprof_data.session.content is 'The upload in the format it came in, zstd.';
comment on column fleetprof_data.session.records_read is 'Records of a dump or session, or entries of User Timing, kept and refused ones.';
comment on column fleetprof_data.session.records_refused is 'Records, and parts of kept ones, that were refused.';
comment on column fleetprof_data.session.is_detached is 'A part that was decoded without what the part before it left: samples of its JavaScript profile may be unattributed, or count twice.';

comment on table fleetprof_data.timeline is 'Lists of events of kept sessions, as the view fleetprof.timelines shows them.';
comment on column fleetprof_data.timeline.segment_id is 'Segment.';
comment on column fleetprof_data.timeline.bucket is 'Start of the UTC hour in which the upload counts.';
comment on column fleetprof_data.timeline.session_id is 'Session.';
comment on column fleetprof_data.timeline.timeline is 'Number in its session, from 1.';
comment on column fleetprof_data.timeline.timeline_id is 'As the upload says.';
comment on column fleetprof_data.timeline.frame_id is 'Frame of the page; null: not said.';
comment on column fleetprof_data.timeline.mode is 'How the events were reduced before they arrived: all (not at all), reduce_unique_types, reduce_unique_events or reduce_all.';
comment on column fleetprof_data.timeline.events is 'Events.';

comment on table fleetprof_data.event is 'Events of kept sessions.';
comment on column fleetprof_data.event.segment_id is 'Segment.';
comment on column fleetprof_data.event.bucket is 'Start of the UTC hour in which the upload counts.';
comment on column fleetprof_data.event.session_id is 'Session.';
comment on column fleetprof_data.event.event is 'Number in its session, from 1; parents stand before their children.';
comment on column fleetprof_data.event.timeline is 'Timeline, by its number in the session.';
comment on column fleetprof_data.event.parent is 'The enclosing event; null: none.';
comment on column fleetprof_data.event.event_id is 'As the upload says, unique in its timeline; null: it has none.';
comment on column fleetprof_data.event.type is 'Name of its type, such as LAYOUT.';
comment on column fleetprof_data.event.type_number is 'Number of its type, as the upload says.';
comment on column fleetprof_data.event.start_us is 'Start, microseconds since the session began.';
comment on column fleetprof_data.event.duration_us is 'From start to end, microseconds; null: a point in time.';
comment on column fleetprof_data.event.self_us is 'Own time, microseconds: without the events inside. Below zero where a clock is coarse.';
comment on column fleetprof_data.event.overhead_us is 'What profiling it cost, microseconds; not part of its time.';
comment on column fleetprof_data.event.total_us is 'Its own time and that of all events inside, microseconds.';
comment on column fleetprof_data.event.total_overhead_us is 'The same for overhead, microseconds.';
comment on column fleetprof_data.event.hits is 'How often it was hit.';
comment on column fleetprof_data.event.child_count is 'Events immediately inside, as the upload says; it may not list all of them.';
comment on column fleetprof_data.event.resource is 'URL of what it worked on, scrubbed; null: none.';
comment on column fleetprof_data.event.line is 'Line in the resource; null: unknown.';
comment on column fleetprof_data.event.parent_id is 'event_id of the enclosing event, if the upload does not list that; null: it does, or there is none.';
comment on column fleetprof_data.event.detail is 'Other members of the upload, scrubbed; null: nothing (docs/formats.md).';

comment on table fleetprof_data.long_session is 'Long sessions that run, or that stopped before their last parts were stored.';
comment on column fleetprof_data.long_session.spool_id is 'Spool of the collector that takes its parts.';
comment on column fleetprof_data.long_session.load_id is 'Its id, which its parts have as load_id.';
comment on column fleetprof_data.long_session.since is 'When the collector reported it to the database.';
comment on column fleetprof_data.long_session.expires is 'When it counts as stopped if its collector does not report it again.';
comment on column fleetprof_data.long_session.stopped_position is 'Last record of the spool when it was stopped; null: it runs.';
