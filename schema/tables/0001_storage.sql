-- Storage: dictionaries, facts and the books that make every upload count once.
--
-- Everything a user may rely on is in schema fleetprof (views and functions); fleetprof_data is where the
-- numbers lie and may change between versions. Ids are 64-bit content hashes (docs/ids.md). Times are
-- microseconds; buckets are UTC hours. Facts are keyed by segment first, so that a query for some segments
-- reads some pages; counters are in no index, so that an update stays in its page (HOT).

create schema fleetprof_data;

comment on schema fleetprof is 'fleetprof: which JavaScript costs real users the most time. Views and functions that users rely on.';
comment on schema fleetprof_data is 'fleetprof''s storage; may change between versions. Query the views and functions of schema fleetprof.';

create type fleetprof_data.frame_kind as enum ('function', 'builtin', 'marker', 'event', 'overflow');
create type fleetprof_data.marker as enum ('(none)', 'script', 'gc', 'style', 'layout', 'paint', 'other');
create type fleetprof_data.timing_kind as enum ('mark', 'measure');

comment on type fleetprof_data.frame_kind is 'What a frame is: a function, a builtin (only a name), a marker without a stack, an event of an older format, or what a ceiling cut off.';
comment on type fleetprof_data.marker is 'What the main thread did at a sample; (none): the browser did not say.';
comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing.';

-- Types of functions -----------------------------------------------------------------------------------

create type fleetprof_data.selection as (
    segment_ids bigint[],
    after       timestamptz,
    before      timestamptz
);

comment on type fleetprof_data.selection is
    'What a caller''s filters select: segments, and buckets with after < bucket < before.';

-- A type of its own, because a function can't have both a parameter and a result column named marker.
create type fleetprof_data.marker_share as (
    marker  text,
    samples bigint,
    self_ms double precision,
    share   double precision
);

comment on type fleetprof_data.marker_share is 'A row of fleetprof.markers.';

-- Dictionaries -----------------------------------------------------------------------------------------

create table fleetprof_data.segment (
    segment_id  bigint primary key,
    site        text not null,
    route       text not null,
    release     text not null,
    environment text not null,
    variant     text not null,
    browser     text not null,
    os          text not null,
    device      text not null,
    thread      text not null,
    rate_ppm    integer not null,
    last_seen   date not null
);
create index segment_site on fleetprof_data.segment (site);

create table fleetprof_data.resource (
    resource_id bigint primary key,
    url         text not null,
    last_seen   date not null
);

create table fleetprof_data.frame (
    frame_id      bigint primary key,
    function      text not null,
    resource_id   bigint,
    line          integer,
    column_number integer,
    kind          fleetprof_data.frame_kind not null,
    last_seen     date not null
);

create table fleetprof_data.stack (
    stack_id  bigint primary key,
    parent_id bigint,
    frame_id  bigint not null,
    level     integer not null,
    last_seen date not null
);

create table fleetprof_data.timing (
    timing_id bigint primary key,
    name      text not null,
    kind      fleetprof_data.timing_kind not null,
    last_seen date not null
);

-- Facts ------------------------------------------------------------------------------------------------

create table fleetprof_data.segment_fact (
    segment_id           bigint not null,
    bucket               timestamptz not null,
    uploads              bigint not null,
    loads                bigint not null,
    samples              bigint not null,
    unattributed_samples bigint not null,
    profiled_us          bigint not null,
    profiled_us2         double precision not null,
    unattributed_us      bigint not null,
    primary key (segment_id, bucket)
) partition by range (bucket);

create table fleetprof_data.marker_fact (
    segment_id bigint not null,
    bucket     timestamptz not null,
    marker     fleetprof_data.marker not null,
    samples    bigint not null,
    self_us    bigint not null,
    primary key (segment_id, bucket, marker)
) partition by range (bucket);

create table fleetprof_data.frame_fact (
    segment_id       bigint not null,
    bucket           timestamptz not null,
    frame_id         bigint not null,
    uploads          bigint not null,
    unmarked_uploads bigint not null,
    samples          bigint not null,
    self_us          bigint not null,
    total_us         bigint not null,
    self_us2         double precision not null,
    total_us2        double precision not null,
    self_profiled    double precision not null,
    total_profiled   double precision not null,
    primary key (segment_id, bucket, frame_id)
) partition by range (bucket);

create table fleetprof_data.frame_marker_fact (
    segment_id bigint not null,
    bucket     timestamptz not null,
    frame_id   bigint not null,
    marker     fleetprof_data.marker not null,
    uploads    bigint not null,
    samples    bigint not null,
    self_us    bigint not null,
    total_us   bigint not null,
    primary key (segment_id, bucket, frame_id, marker)
) partition by range (bucket);

create table fleetprof_data.stack_fact (
    segment_id bigint not null,
    bucket     timestamptz not null,
    stack_id   bigint not null,
    marker     fleetprof_data.marker not null,
    uploads    bigint not null,
    samples    bigint not null,
    self_us    bigint not null,
    primary key (segment_id, bucket, stack_id, marker)
) partition by range (bucket);

create table fleetprof_data.measure_fact (
    segment_id           bigint not null,
    bucket               timestamptz not null,
    timing_id            bigint not null,
    uploads              bigint not null,
    samples              bigint not null,
    unattributed_samples bigint not null,
    profiled_us          bigint not null,
    unattributed_us      bigint not null,
    primary key (segment_id, bucket, timing_id)
) partition by range (bucket);

create table fleetprof_data.measure_frame_fact (
    segment_id    bigint not null,
    bucket        timestamptz not null,
    timing_id     bigint not null,
    marker        fleetprof_data.marker not null,
    frame_id      bigint not null,
    uploads       bigint not null,
    first_uploads bigint not null,
    samples       bigint not null,
    self_us       bigint not null,
    total_us      bigint not null,
    primary key (segment_id, bucket, timing_id, marker, frame_id)
) partition by range (bucket);

create table fleetprof_data.timing_fact (
    segment_id bigint not null,
    bucket     timestamptz not null,
    timing_id  bigint not null,
    uploads    bigint not null,
    count      bigint not null,
    negative   bigint not null,
    sum_us     double precision not null,
    min_us     bigint not null,
    max_us     bigint not null,
    primary key (segment_id, bucket, timing_id)
) partition by range (bucket);

create table fleetprof_data.timing_bin_fact (
    segment_id bigint not null,
    bucket     timestamptz not null,
    timing_id  bigint not null,
    bin        smallint not null,
    count      bigint not null,
    primary key (segment_id, bucket, timing_id, bin)
) partition by range (bucket);

create table fleetprof_data.upload (
    bucket               timestamptz not null,
    upload_id            uuid not null,
    received             timestamptz not null,
    segment_id           bigint not null,
    load_id              uuid,
    part                 integer not null,
    format               text not null,
    coverage             text not null,
    truncated            boolean not null,
    browser_version      integer not null,
    agent                text not null,
    body_bytes           integer not null,
    samples              integer not null,
    unattributed_samples integer not null,
    profiled_us          bigint not null,
    unattributed_us      bigint not null,
    timings              integer not null,
    skipped_entries      integer not null,
    primary key (segment_id, bucket, upload_id)
) partition by range (bucket);

-- Books ------------------------------------------------------------------------------------------------

create table fleetprof_data.upload_id (
    upload_id uuid not null,
    site_id   bigint not null,
    counted   timestamptz not null default now(),
    primary key (upload_id, site_id)
);
create index upload_id_counted on fleetprof_data.upload_id using brin (counted);

create table fleetprof_data.load_id (
    load_id uuid not null,
    site_id bigint not null,
    counted timestamptz not null default now(),
    primary key (load_id, site_id)
);
create index load_id_counted on fleetprof_data.load_id using brin (counted);

create table fleetprof_data.spool_position (
    spool_id uuid primary key,
    position bigint not null,
    updated  timestamptz not null default now()
);

-- Partitions -------------------------------------------------------------------------------------------
--
-- Each partitioned table has one partition per UTC day, named TABLE_YYYYMMDD. Collectors make them through
-- this function, since their role may not create tables. Table files call it too, so it stands here.

create function fleetprof_data.make_partitions(days date[])
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    day    date;
    parent name;
    child  name;
    made   integer := 0;
begin
    -- Two collectors that need the same day: the second one finds it made.
    perform pg_advisory_xact_lock(hashtext('fleetprof.make_partitions'));
    foreach day in array make_partitions.days loop
        for parent in
            select c.relname
            from pg_partitioned_table p
            join pg_class c on c.oid = p.partrelid
            where c.relnamespace = 'fleetprof_data'::regnamespace
            order by c.relname
        loop
            child := parent || to_char(day, '_YYYYMMDD');
            continue when to_regclass(format('fleetprof_data.%I', child)) is not null;
            -- Attaching lets others read and write the parent meanwhile; `partition of` would not. Room is
            -- left in each page, so that updates of counters stay there (HOT).
            execute format(
                'create table fleetprof_data.%I (like fleetprof_data.%I including all) with (fillfactor = 70)',
                child, parent);
            execute format(
                'alter table fleetprof_data.%I attach partition fleetprof_data.%I for values from (%L) to (%L)',
                parent, child,
                to_char(day, 'YYYY-MM-DD 00:00:00+00'), to_char(day + 1, 'YYYY-MM-DD 00:00:00+00'));
            made := made + 1;
        end loop;
    end loop;
    return made;
end
$$;

comment on function fleetprof_data.make_partitions(date[]) is
    'Makes the partitions of these UTC days where they are missing; returns how many tables it made.';

-- Rights -----------------------------------------------------------------------------------------------

grant usage on schema fleetprof to fleetprof_reader, fleetprof_writer;
grant usage on schema fleetprof_data to fleetprof_reader, fleetprof_writer;
grant select on fleetprof.schema_version to fleetprof_reader, fleetprof_writer;

grant select on
    fleetprof_data.segment, fleetprof_data.resource, fleetprof_data.frame, fleetprof_data.stack,
    fleetprof_data.timing, fleetprof_data.segment_fact, fleetprof_data.marker_fact,
    fleetprof_data.frame_fact, fleetprof_data.frame_marker_fact, fleetprof_data.stack_fact,
    fleetprof_data.measure_fact, fleetprof_data.measure_frame_fact,
    fleetprof_data.timing_fact, fleetprof_data.timing_bin_fact, fleetprof_data.upload
to fleetprof_reader;

-- `fleetprof import --wait` looks here for what it sent.
grant select on fleetprof_data.upload_id to fleetprof_reader;

grant select, insert, update, delete on
    fleetprof_data.segment, fleetprof_data.resource, fleetprof_data.frame, fleetprof_data.stack,
    fleetprof_data.timing, fleetprof_data.upload_id, fleetprof_data.load_id, fleetprof_data.spool_position
to fleetprof_writer;

grant select, insert, update on
    fleetprof_data.segment_fact, fleetprof_data.marker_fact, fleetprof_data.frame_fact,
    fleetprof_data.frame_marker_fact, fleetprof_data.stack_fact, fleetprof_data.measure_fact,
    fleetprof_data.measure_frame_fact, fleetprof_data.timing_fact, fleetprof_data.timing_bin_fact, fleetprof_data.upload
to fleetprof_writer;

revoke all on function fleetprof_data.make_partitions(date[]) from public;
grant execute on function fleetprof_data.make_partitions(date[]) to fleetprof_writer;

-- Comments ---------------------------------------------------------------------------------------------

comment on table fleetprof_data.segment is 'The tuple of dimensions an upload belongs to; an absent dimension is empty.';
comment on column fleetprof_data.segment.segment_id is 'Content hash of all dimensions (docs/ids.md).';
comment on column fleetprof_data.segment.site is 'The tenant, as configured.';
comment on column fleetprof_data.segment.route is 'Template of the page''s path, such as /product/:id.';
comment on column fleetprof_data.segment.release is 'Release of the site, as the page says.';
comment on column fleetprof_data.segment.environment is 'Environment, such as production, as the page says.';
comment on column fleetprof_data.segment.variant is 'Arm of an experiment, as the page says.';
comment on column fleetprof_data.segment.browser is 'Browser family. Its version is in upload only: it would multiply segments.';
comment on column fleetprof_data.segment.os is 'Operating system family.';
comment on column fleetprof_data.segment.device is 'Device class.';
comment on column fleetprof_data.segment.thread is 'window, worker or empty.';
comment on column fleetprof_data.segment.rate_ppm is 'Verified sample rate, parts per million of page loads; 0: none was verified.';
comment on column fleetprof_data.segment.last_seen is 'UTC day of the last upload that needed this row; unseen rows are pruned.';

comment on table fleetprof_data.resource is 'URLs of scripts, scrubbed.';
comment on column fleetprof_data.resource.resource_id is 'Content hash of site and URL.';
comment on column fleetprof_data.resource.url is 'Scrubbed URL, at most 1,024 code points; on the page''s own origin a route''s template stands for the path.';
comment on column fleetprof_data.resource.last_seen is 'UTC day of the last upload that needed this row; unseen rows are pruned.';

comment on table fleetprof_data.frame is 'Functions and what else can be on a stack.';
comment on column fleetprof_data.frame.frame_id is 'Content hash of site, function, resource, line, column and kind.';
comment on column fleetprof_data.frame.function is 'Name, at most 1,024 code points; empty: anonymous.';
comment on column fleetprof_data.frame.resource_id is 'Script; null: unknown, or none.';
comment on column fleetprof_data.frame.line is 'Line in the script, from 1; null: unknown.';
comment on column fleetprof_data.frame.column_number is 'Column in the line, from 1; null: unknown.';
comment on column fleetprof_data.frame.kind is 'What the frame is.';
comment on column fleetprof_data.frame.last_seen is 'UTC day of the last upload that needed this row; unseen rows are pruned.';

comment on table fleetprof_data.stack is 'Nodes of the trie of call stacks.';
comment on column fleetprof_data.stack.stack_id is 'Content hash of parent and frame.';
comment on column fleetprof_data.stack.parent_id is 'The caller''s node; null for a root.';
comment on column fleetprof_data.stack.frame_id is 'The function on top.';
comment on column fleetprof_data.stack.level is 'Frames on the stack; 1 for a root.';
comment on column fleetprof_data.stack.last_seen is 'UTC day of the last upload that needed this row; unseen rows are pruned.';

comment on table fleetprof_data.timing is 'Names of marks and measures.';
comment on column fleetprof_data.timing.timing_id is 'Content hash of site, kind and name.';
comment on column fleetprof_data.timing.name is 'Name, at most 1,024 code points.';
comment on column fleetprof_data.timing.kind is 'mark or measure.';
comment on column fleetprof_data.timing.last_seen is 'UTC day of the last upload that needed this row; unseen rows are pruned.';

comment on table fleetprof_data.segment_fact is 'Totals of a segment in an hour.';
comment on column fleetprof_data.segment_fact.segment_id is 'Segment.';
comment on column fleetprof_data.segment_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.segment_fact.uploads is 'Uploads.';
comment on column fleetprof_data.segment_fact.loads is 'Page loads; one of several uploads counts where its first upload counts.';
comment on column fleetprof_data.segment_fact.samples is 'Samples, unattributed ones included.';
comment on column fleetprof_data.segment_fact.unattributed_samples is 'Samples without stack and marker.';
comment on column fleetprof_data.segment_fact.profiled_us is 'Profiled time, microseconds: the sum of all samples'' weights.';
comment on column fleetprof_data.segment_fact.profiled_us2 is 'Sum over uploads of profiled time squared, microseconds squared.';
comment on column fleetprof_data.segment_fact.unattributed_us is 'Time of unattributed samples, microseconds.';

comment on table fleetprof_data.marker_fact is 'Attributed samples of a segment in an hour, by marker.';
comment on column fleetprof_data.marker_fact.segment_id is 'Segment.';
comment on column fleetprof_data.marker_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.marker_fact.marker is 'Marker; (none): a stack without one.';
comment on column fleetprof_data.marker_fact.samples is 'Samples.';
comment on column fleetprof_data.marker_fact.self_us is 'Time of these samples, microseconds.';

comment on table fleetprof_data.frame_fact is 'What a frame cost in a segment and hour, all markers together.';
comment on column fleetprof_data.frame_fact.segment_id is 'Segment.';
comment on column fleetprof_data.frame_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.frame_fact.frame_id is 'Frame.';
comment on column fleetprof_data.frame_fact.uploads is 'Uploads with the frame on some stack.';
comment on column fleetprof_data.frame_fact.unmarked_uploads is 'Of these, uploads with the frame on the stack of a sample without marker.';
comment on column fleetprof_data.frame_fact.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof_data.frame_fact.self_us is 'Time with the frame on top, microseconds.';
comment on column fleetprof_data.frame_fact.total_us is 'Time with the frame anywhere on the stack, once per sample, microseconds.';
comment on column fleetprof_data.frame_fact.self_us2 is 'Sum over uploads of self time squared, microseconds squared.';
comment on column fleetprof_data.frame_fact.total_us2 is 'Sum over uploads of total time squared, microseconds squared.';
comment on column fleetprof_data.frame_fact.self_profiled is 'Sum over uploads of self time times the upload''s profiled time, microseconds squared.';
comment on column fleetprof_data.frame_fact.total_profiled is 'Sum over uploads of total time times the upload''s profiled time, microseconds squared.';

comment on table fleetprof_data.frame_marker_fact is 'The part of frame_fact from samples with a marker. The rest is (none), which has no rows.';
comment on column fleetprof_data.frame_marker_fact.segment_id is 'Segment.';
comment on column fleetprof_data.frame_marker_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.frame_marker_fact.frame_id is 'Frame.';
comment on column fleetprof_data.frame_marker_fact.marker is 'Marker.';
comment on column fleetprof_data.frame_marker_fact.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.frame_marker_fact.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof_data.frame_marker_fact.self_us is 'Time with the frame on top, microseconds.';
comment on column fleetprof_data.frame_marker_fact.total_us is 'Time with the frame anywhere on the stack, once per sample, microseconds.';

comment on table fleetprof_data.stack_fact is 'What a whole stack cost in a segment and hour, by marker.';
comment on column fleetprof_data.stack_fact.segment_id is 'Segment.';
comment on column fleetprof_data.stack_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.stack_fact.stack_id is 'Stack.';
comment on column fleetprof_data.stack_fact.marker is 'Marker; (none): without one.';
comment on column fleetprof_data.stack_fact.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.stack_fact.samples is 'Samples with exactly this stack.';
comment on column fleetprof_data.stack_fact.self_us is 'Time of these samples, microseconds.';

comment on table fleetprof_data.measure_fact is 'Samples inside the windows of a measure, in a segment and hour.';
comment on column fleetprof_data.measure_fact.segment_id is 'Segment.';
comment on column fleetprof_data.measure_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.measure_fact.timing_id is 'Measure.';
comment on column fleetprof_data.measure_fact.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.measure_fact.samples is 'Samples, unattributed ones included; once per upload, however many windows contain it.';
comment on column fleetprof_data.measure_fact.unattributed_samples is 'Samples without stack and marker.';
comment on column fleetprof_data.measure_fact.profiled_us is 'Profiled time of the measure, microseconds: the sum of all samples'' weights.';
comment on column fleetprof_data.measure_fact.unattributed_us is 'Time of unattributed samples, microseconds.';

comment on table fleetprof_data.measure_frame_fact is 'What a frame cost inside the windows of a measure, in a segment and hour, by marker.';
comment on column fleetprof_data.measure_frame_fact.segment_id is 'Segment.';
comment on column fleetprof_data.measure_frame_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.measure_frame_fact.timing_id is 'Measure.';
comment on column fleetprof_data.measure_frame_fact.marker is 'Marker; (none): without one.';
comment on column fleetprof_data.measure_frame_fact.frame_id is 'Frame.';
comment on column fleetprof_data.measure_frame_fact.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.measure_frame_fact.first_uploads is 'Of these, uploads without a sample of the frame under an earlier marker: their sum over all markers is the number of uploads with the frame.';
comment on column fleetprof_data.measure_frame_fact.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof_data.measure_frame_fact.self_us is 'Time with the frame on top, microseconds.';
comment on column fleetprof_data.measure_frame_fact.total_us is 'Time with the frame anywhere on the stack, once per sample, microseconds.';

comment on table fleetprof_data.timing_fact is 'Values of a mark or measure in a segment and hour.';
comment on column fleetprof_data.timing_fact.segment_id is 'Segment.';
comment on column fleetprof_data.timing_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.timing_fact.timing_id is 'Mark or measure.';
comment on column fleetprof_data.timing_fact.uploads is 'Uploads with it.';
comment on column fleetprof_data.timing_fact.count is 'Values, negative ones included.';
comment on column fleetprof_data.timing_fact.negative is 'Values below zero; they are in no bin.';
comment on column fleetprof_data.timing_fact.sum_us is 'Sum of the values, microseconds. Floating point: one absurd value must not overflow a sum.';
comment on column fleetprof_data.timing_fact.min_us is 'Least value, microseconds.';
comment on column fleetprof_data.timing_fact.max_us is 'Greatest value, microseconds.';

comment on table fleetprof_data.timing_bin_fact is 'Histogram of the non-negative values of timing_fact.';
comment on column fleetprof_data.timing_bin_fact.segment_id is 'Segment.';
comment on column fleetprof_data.timing_bin_fact.bucket is 'Start of the UTC hour of receipt.';
comment on column fleetprof_data.timing_bin_fact.timing_id is 'Mark or measure.';
comment on column fleetprof_data.timing_bin_fact.bin is 'Log-linear bin of whole microseconds, 32 per octave (collector/rollup/bins.h).';
comment on column fleetprof_data.timing_bin_fact.count is 'Values in the bin.';

comment on table fleetprof_data.upload is 'One row per counted upload, kept for retention.upload_log.';
comment on column fleetprof_data.upload.bucket is 'Start of the UTC hour in which it counts.';
comment on column fleetprof_data.upload.upload_id is 'The envelope''s id, or a random one.';
comment on column fleetprof_data.upload.received is 'When the collector had received it, by the collector''s clock.';
comment on column fleetprof_data.upload.segment_id is 'Segment.';
comment on column fleetprof_data.upload.load_id is 'The page load it belongs to; null when the page did not say.';
comment on column fleetprof_data.upload.part is 'Which part of its page load it is, from 0.';
comment on column fleetprof_data.upload.format is 'self-profile, user-timing, speed-tracer or opera-scope.';
comment on column fleetprof_data.upload.coverage is 'Why there is no trace, as the page says; empty: it did not say.';
comment on column fleetprof_data.upload.truncated is 'The page says that it left something out.';
comment on column fleetprof_data.upload.browser_version is 'Major version of the browser; 0: unknown.';
comment on column fleetprof_data.upload.agent is 'Agent''s name/version; empty: unknown.';
comment on column fleetprof_data.upload.body_bytes is 'Size of the body as received, bytes.';
comment on column fleetprof_data.upload.samples is 'Samples.';
comment on column fleetprof_data.upload.unattributed_samples is 'Samples without stack and marker.';
comment on column fleetprof_data.upload.profiled_us is 'Profiled time, microseconds.';
comment on column fleetprof_data.upload.unattributed_us is 'Time of unattributed samples, microseconds.';
comment on column fleetprof_data.upload.timings is 'Marks and measures.';
comment on column fleetprof_data.upload.skipped_entries is 'Performance entries of other types, skipped.';

comment on table fleetprof_data.upload_id is 'Ids of counted uploads, kept for retention.upload_ids: a repeated upload is not counted again.';
comment on column fleetprof_data.upload_id.upload_id is 'The envelope''s id, or a random one.';
comment on column fleetprof_data.upload_id.site_id is 'Content hash of the site: one site''s ids can''t hide another''s uploads.';
comment on column fleetprof_data.upload_id.counted is 'When the database counted it.';

comment on table fleetprof_data.load_id is 'Ids of counted page loads, kept for retention.upload_ids.';
comment on column fleetprof_data.load_id.load_id is 'The envelope''s load.';
comment on column fleetprof_data.load_id.site_id is 'Content hash of the site.';
comment on column fleetprof_data.load_id.counted is 'When the database counted it.';

comment on table fleetprof_data.spool_position is 'How far each collector''s spool is counted; moved in the transaction that counts.';
comment on column fleetprof_data.spool_position.spool_id is 'The spool''s random id.';
comment on column fleetprof_data.spool_position.position is 'Sequence number of the last record that is counted or set aside.';
comment on column fleetprof_data.spool_position.updated is 'When it was last moved.';
