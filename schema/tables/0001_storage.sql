-- Storage: dictionaries, facts and the books that make every upload count once.
--
-- Everything a user may rely on is in schema fleetprof (views and functions); fleetprof_data is where the
-- numbers lie and may change between versions. Ids are 64-bit content hashes (docs/ids.md). Times are
-- microseconds; buckets begin at UTC hours. docs/schema.md explains packed rows, sealing and cohorts.

create schema fleetprof_data;

comment on schema fleetprof is 'fleetprof: which JavaScript costs real users the most time. Views and functions that users rely on.';
comment on schema fleetprof_data is 'fleetprof''s storage; may change between versions. Query the views and functions of schema fleetprof.';

create type fleetprof_data.frame_kind as enum ('function', 'builtin', 'marker', 'event', 'overflow');
create type fleetprof_data.marker as enum ('(none)', 'script', 'gc', 'style', 'layout', 'paint', 'other');
create type fleetprof_data.timing_kind as enum (
    'mark', 'measure', 'vital', 'vital_good', 'vital_poor', 'window', 'interaction', 'input_delay', 'processing',
    'frame_script', 'blocking', 'forced_layout', 'resource', 'resource_bytes', 'resource_opaque', 'coverage',
    'page_host'
);

comment on type fleetprof_data.frame_kind is 'What a frame is: a function, a builtin (only a name), a marker without a stack, an event of an older format, or what a ceiling cut off.';
comment on type fleetprof_data.marker is 'What the main thread did at a sample; (none): the browser did not say.';
comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good or poor; a window that samples are joined with; parts of interactions and of long animation frames; resources by host; why page loads have no trace. docs/numbers.md has what each counts.';

-- Types of functions -----------------------------------------------------------------------------------

create type fleetprof_data.selection as (
    sites       text[],
    segment_ids bigint[],
    after       timestamptz,
    before      timestamptz,
    group_ids   bigint[],
    buckets     timestamptz[],
    spans       smallint[]
);

comment on type fleetprof_data.selection is
    'What a caller''s filters select. sites: of these segments. Fresh rows: of segment_ids, with after < bucket < before. Sealed rows: of group_ids, in the blocks that buckets and spans (in parallel) name; no two of these blocks overlap.';

create type fleetprof_data.compared_side as (
    whole         fleetprof_data.selection,
    segments      fleetprof_data.selection,
    hours         fleetprof_data.selection,
    segment_hours fleetprof_data.selection
);

comment on type fleetprof_data.compared_side is
    'One side of a comparison, read in four ways. whole: sums, in the fewest rows. segments: each segment''s sums, in the fewest blocks. hours, segment_hours: the same by hour, by day where hours are gone.';

create type fleetprof_data.stratum as (
    before_ids     bigint[],
    after_ids      bigint[],
    device         text,
    before_uploads double precision,
    after_uploads  double precision,
    before_loads   double precision,
    after_loads    double precision,
    before_us      double precision,
    after_us       double precision,
    before_us2     double precision,
    after_us2      double precision
);

comment on type fleetprof_data.stratum is
    'Segments of two sides of a comparison that differ in the release only (and, perhaps, in os and rate_ppm): their ids and totals. us: profiled time, microseconds; us2: sum over uploads of its square.';

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
    site        text not null,
    url         text not null,
    domain      text not null default '',
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

create index stack_parent_id on fleetprof_data.stack (parent_id);
create index stack_frame_id on fleetprof_data.stack (frame_id);

create table fleetprof_data.timing (
    timing_id bigint primary key,
    name      text not null,
    kind      fleetprof_data.timing_kind not null,
    source    text not null default '',
    function  text not null default '',
    last_seen date not null
);

-- Facts ------------------------------------------------------------------------------------------------
--
-- Packed rows: one row holds the facts of a group in a block of time as parallel arrays, one entry per key. The
-- arrays of each kind are the attributes of the type KIND_columns. Each kind has three tables:
--   KIND_recent  what flushes appended and nobody has sealed; a group is a segment, a block is an hour
--   KIND_hours   sealed: hours and blocks of four hours
--   KIND_days    sealed: days and blocks of eight days
-- In sealed rows a group is a segment or a cohort, and entries ascend by key. A key may have several entries: all
-- readers add them up.

create type fleetprof_data.total_columns as (
    marker       smallint[],
    uploads      integer[],
    loads        integer[],
    samples      bigint[],
    self_us      bigint[],
    profiled_us2 double precision[]
);

create type fleetprof_data.frame_columns as (
    frame_id         bigint[],
    uploads          integer[],
    unmarked_uploads integer[],
    samples          bigint[],
    self_us          bigint[],
    total_us         bigint[],
    self_us2         real[],
    total_us2        real[],
    self_profiled    real[],
    total_profiled   real[]
);

create type fleetprof_data.frame_marker_columns as (
    frame_id bigint[],
    marker   smallint[],
    uploads  integer[],
    samples  bigint[],
    self_us  bigint[],
    total_us bigint[]
);

create type fleetprof_data.stack_columns as (
    stack_id bigint[],
    marker   smallint[],
    uploads  integer[],
    samples  bigint[],
    self_us  bigint[]
);

create type fleetprof_data.timing_columns as (
    timing_id bigint[],
    uploads   integer[],
    count     integer[],
    negative  integer[],
    sum_us    double precision[],
    min_us    bigint[],
    max_us    bigint[]
);

create type fleetprof_data.timing_bin_columns as (
    timing_id bigint[],
    bin       smallint[],
    count     integer[]
);

create type fleetprof_data.measure_columns as (
    timing_id            bigint[],
    uploads              integer[],
    samples              bigint[],
    unattributed_samples bigint[],
    profiled_us          bigint[],
    unattributed_us      bigint[]
);

create type fleetprof_data.measure_frame_columns as (
    timing_id     bigint[],
    marker        smallint[],
    frame_id      bigint[],
    uploads       integer[],
    first_uploads integer[],
    samples       bigint[],
    self_us       bigint[],
    total_us      bigint[]
);

comment on type fleetprof_data.total_columns is 'Totals, by marker. Markers are numbered as fleetprof_data.marker is ordered, from 0; -1 stands for unattributed samples. All samples and all profiled time are the sum over all entries.';
comment on column fleetprof_data.total_columns.marker is 'Key.';
comment on column fleetprof_data.total_columns.uploads is 'Uploads with a trace or events; in the entry of marker -1, else 0.';
comment on column fleetprof_data.total_columns.loads is 'Page loads with a trace or events; in the entry of marker -1, else 0. One of several uploads counts where its first upload counts.';
comment on column fleetprof_data.total_columns.samples is 'Samples with this marker.';
comment on column fleetprof_data.total_columns.self_us is 'Time of these samples, microseconds.';
comment on column fleetprof_data.total_columns.profiled_us2 is 'Sum over uploads of profiled time squared, microseconds squared; in the entry of marker -1, else 0.';

comment on type fleetprof_data.frame_columns is 'What a frame cost, all markers together.';
comment on column fleetprof_data.frame_columns.frame_id is 'Key.';
comment on column fleetprof_data.frame_columns.uploads is 'Uploads with the frame on some stack.';
comment on column fleetprof_data.frame_columns.unmarked_uploads is 'Of these, uploads with the frame on the stack of a sample without marker.';
comment on column fleetprof_data.frame_columns.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof_data.frame_columns.self_us is 'Time with the frame on top, microseconds.';
comment on column fleetprof_data.frame_columns.total_us is 'Time with the frame anywhere on the stack, once per sample, microseconds.';
comment on column fleetprof_data.frame_columns.self_us2 is 'Sum over uploads of self time squared, microseconds squared.';
comment on column fleetprof_data.frame_columns.total_us2 is 'Sum over uploads of total time squared, microseconds squared.';
comment on column fleetprof_data.frame_columns.self_profiled is 'Sum over uploads of self time times the upload''s profiled time, microseconds squared.';
comment on column fleetprof_data.frame_columns.total_profiled is 'Sum over uploads of total time times the upload''s profiled time, microseconds squared.';

comment on type fleetprof_data.frame_marker_columns is 'The part of the frame''s facts from samples with a marker. The rest is (none), which has no entries.';
comment on column fleetprof_data.frame_marker_columns.frame_id is 'Key.';
comment on column fleetprof_data.frame_marker_columns.marker is 'Key: number of the marker.';
comment on column fleetprof_data.frame_marker_columns.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.frame_marker_columns.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof_data.frame_marker_columns.self_us is 'Time with the frame on top, microseconds.';
comment on column fleetprof_data.frame_marker_columns.total_us is 'Time with the frame anywhere on the stack, once per sample, microseconds.';

comment on type fleetprof_data.stack_columns is 'What a whole stack cost, by marker.';
comment on column fleetprof_data.stack_columns.stack_id is 'Key.';
comment on column fleetprof_data.stack_columns.marker is 'Key: number of the marker; 0: without one.';
comment on column fleetprof_data.stack_columns.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.stack_columns.samples is 'Samples with exactly this stack.';
comment on column fleetprof_data.stack_columns.self_us is 'Time of these samples, microseconds.';

comment on type fleetprof_data.timing_columns is 'Values of timings.';
comment on column fleetprof_data.timing_columns.timing_id is 'Key: timing.';
comment on column fleetprof_data.timing_columns.uploads is 'Uploads with it.';
comment on column fleetprof_data.timing_columns.count is 'Values, negative ones included.';
comment on column fleetprof_data.timing_columns.negative is 'Values below zero; they are in no bin.';
comment on column fleetprof_data.timing_columns.sum_us is 'Sum of the values: microseconds; the score x 1,000,000 for CLS; bytes for kind resource_bytes. Floating point: one absurd value must not overflow a sum.';
comment on column fleetprof_data.timing_columns.min_us is 'Least value, in the unit of sum_us.';
comment on column fleetprof_data.timing_columns.max_us is 'Greatest value, in the unit of sum_us.';

comment on type fleetprof_data.timing_bin_columns is 'Histograms of the non-negative values of timings; kinds that only count and sum have none.';
comment on column fleetprof_data.timing_bin_columns.timing_id is 'Key: timing.';
comment on column fleetprof_data.timing_bin_columns.bin is 'Key: log-linear bin of whole microseconds, 32 per octave (collector/rollup/bins.h).';
comment on column fleetprof_data.timing_bin_columns.count is 'Values in the bin.';

comment on type fleetprof_data.measure_columns is 'Samples inside the windows of measures.';
comment on column fleetprof_data.measure_columns.timing_id is 'Key: measure or window.';
comment on column fleetprof_data.measure_columns.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.measure_columns.samples is 'Samples, unattributed ones included; once per upload, however many windows contain it.';
comment on column fleetprof_data.measure_columns.unattributed_samples is 'Samples without stack and marker.';
comment on column fleetprof_data.measure_columns.profiled_us is 'Profiled time of the measure, microseconds: the sum of all samples'' weights.';
comment on column fleetprof_data.measure_columns.unattributed_us is 'Time of unattributed samples, microseconds.';

comment on type fleetprof_data.measure_frame_columns is 'What a frame cost inside the windows of measures, by marker.';
comment on column fleetprof_data.measure_frame_columns.timing_id is 'Key: measure or window.';
comment on column fleetprof_data.measure_frame_columns.marker is 'Key: number of the marker; 0: without one.';
comment on column fleetprof_data.measure_frame_columns.frame_id is 'Key.';
comment on column fleetprof_data.measure_frame_columns.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.measure_frame_columns.first_uploads is 'Of these, uploads without a sample of the frame under an earlier marker: their sum over all markers is the number of uploads with the frame.';
comment on column fleetprof_data.measure_frame_columns.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof_data.measure_frame_columns.self_us is 'Time with the frame on top, microseconds.';
comment on column fleetprof_data.measure_frame_columns.total_us is 'Time with the frame anywhere on the stack, once per sample, microseconds.';

do $$
declare
    kind text;
    place text;
    column_name name;
begin
    foreach kind in array array[
        'total', 'frame', 'frame_marker', 'stack', 'timing', 'timing_bin', 'measure', 'measure_frame'
    ] loop
        -- A queue: rows are appended, sealed within the hour and deleted. So its own vacuum is due by rows, not by
        -- a share of the table.
        execute format($sql$
            create table fleetprof_data.%1$s_recent (
                group_id bigint not null,
                bucket   timestamptz not null,
                spool_id uuid not null,
                position bigint not null,
                like fleetprof_data.%1$s_columns including comments,
                primary key (group_id, bucket, spool_id, position)
            ) with (
                autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
                autovacuum_vacuum_insert_scale_factor = 0, autovacuum_vacuum_insert_threshold = 10000,
                toast.autovacuum_vacuum_scale_factor = 0, toast.autovacuum_vacuum_threshold = 1000
            )$sql$, kind);
        execute format($sql$
            comment on table fleetprof_data.%1$s_recent is %2$L;
            comment on column fleetprof_data.%1$s_recent.group_id is 'Segment.';
            comment on column fleetprof_data.%1$s_recent.bucket is 'Start of the UTC hour of receipt.';
            comment on column fleetprof_data.%1$s_recent.spool_id is 'Spool whose flush appended the row.';
            comment on column fleetprof_data.%1$s_recent.position is 'Position of that spool after the flush.'
            $sql$, kind, format('Packed facts (%s_columns) as flushes appended them, not sealed yet.', kind));
        -- The checks let queries for one span skip the other table.
        foreach place in array array['hours', 'days'] loop
            execute format($sql$
                create table fleetprof_data.%1$s_%2$s (
                    group_id bigint not null,
                    bucket   timestamptz not null,
                    span     smallint not null check (span in (%3$s)),
                    like fleetprof_data.%1$s_columns including comments,
                    primary key (group_id, bucket, span)
                ) partition by range (bucket)$sql$, kind, place, case place when 'hours' then '0, 1' else '2, 3' end);
            execute format($sql$
                comment on table fleetprof_data.%1$s_%2$s is %3$L;
                comment on column fleetprof_data.%1$s_%2$s.group_id is 'Segment or cohort.';
                comment on column fleetprof_data.%1$s_%2$s.bucket is 'Start of the block.';
                comment on column fleetprof_data.%1$s_%2$s.span is 'Length of the block: 0 an hour, 1 four hours, 2 a day, 3 eight days.'
                $sql$, kind, place, format('Packed facts (%s_columns), sealed: %s.', kind,
                    case place when 'hours' then 'hours and blocks of four hours' else 'days and blocks of eight days' end));
        end loop;
        -- Statistics of the elements cost much and help nobody. lz4 is several times faster than PostgreSQL's own
        -- compression, where the server was built with it.
        for column_name in
            select attname from pg_attribute
            where attrelid = format('fleetprof_data.%s_columns', kind)::regclass and attnum > 0
        loop
            foreach place in array array['recent', 'hours', 'days'] loop
                execute format('alter table fleetprof_data.%s_%s alter %I set statistics 0', kind, place, column_name);
                begin
                    execute format('alter table fleetprof_data.%s_%s alter %I set compression lz4', kind, place, column_name);
                exception
                    when feature_not_supported then null;
                end;
            end loop;
        end loop;
    end loop;
end
$$;

-- Sealing ----------------------------------------------------------------------------------------------

create table fleetprof_data.unsealed (
    site     text not null,
    bucket   timestamptz not null,
    spool_id uuid not null,
    position bigint not null,
    entries  integer not null,
    primary key (site, bucket, spool_id, position)
);

create table fleetprof_data.sealed (
    site   text not null,
    bucket timestamptz not null,
    span   smallint not null,
    primary key (site, bucket)
);

create table fleetprof_data.horizon (
    hours_from timestamptz not null
);
create unique index horizon_is_one_row on fleetprof_data.horizon ((true));
insert into fleetprof_data.horizon values ('-infinity');

create table fleetprof_data.cohort_level (
    level      smallint primary key,
    dimensions text[] not null check (
        dimensions @> '{site}'
        and dimensions <@ '{site,route,release,environment,variant,browser,os,device,thread}'),
    since      timestamptz not null,
    added      timestamptz not null default now()
);
insert into fleetprof_data.cohort_level (level, dimensions, since, added) values
    (1, '{site,environment}', '-infinity', '-infinity'),
    (2, '{site,environment,release}', '-infinity', '-infinity');

create table fleetprof_data.cohort (
    group_id    bigint primary key,
    level       smallint not null,
    site        text not null,
    route       text,
    release     text,
    environment text,
    variant     text,
    browser     text,
    os          text,
    device      text,
    thread      text,
    last_seen   date not null
);
create index cohort_site on fleetprof_data.cohort (site);

comment on table fleetprof_data.unsealed is 'Flushes whose rows of a site and hour wait in the tables KIND_recent.';
comment on column fleetprof_data.unsealed.site is 'Site.';
comment on column fleetprof_data.unsealed.bucket is 'Start of the UTC hour.';
comment on column fleetprof_data.unsealed.spool_id is 'Spool of the flush.';
comment on column fleetprof_data.unsealed.position is 'Position of that spool after the flush.';
comment on column fleetprof_data.unsealed.entries is 'Entries of all these rows, all kinds together.';

comment on table fleetprof_data.sealed is 'Blocks of time of which a site has sealed rows. Only the longest are here: no two blocks of a site overlap. Blocks within one exist in the tables, too.';
comment on column fleetprof_data.sealed.site is 'Site.';
comment on column fleetprof_data.sealed.bucket is 'Start of the block.';
comment on column fleetprof_data.sealed.span is 'Length of the block: 0 an hour, 1 four hours, 2 a day, 3 eight days.';

comment on table fleetprof_data.horizon is 'One row: how far back hours reach.';
comment on column fleetprof_data.horizon.hours_from is 'Sealed rows of spans 0 and 1 before this were dropped (retention.hours); days are there.';

comment on table fleetprof_data.cohort_level is 'The levels at which sealing adds segments up.';
comment on column fleetprof_data.cohort_level.level is 'Number from 1.';
comment on column fleetprof_data.cohort_level.dimensions is 'Dimensions that a cohort of this level keeps; site is one of them. It adds up over the others.';
comment on column fleetprof_data.cohort_level.since is 'Hours from this on are summed at this level, but none before two hours after it was added.';
comment on column fleetprof_data.cohort_level.added is 'When the row was made: the sums lack what was sealed before.';

comment on table fleetprof_data.cohort is 'Groups of segments that agree in some dimensions. Sealed rows hold their sums.';
comment on column fleetprof_data.cohort.group_id is 'Content hash of level and kept dimensions.';
comment on column fleetprof_data.cohort.level is 'Level; it says which dimensions are kept. The others are null.';
comment on column fleetprof_data.cohort.site is 'The tenant, as configured.';
comment on column fleetprof_data.cohort.route is 'Route; null: all.';
comment on column fleetprof_data.cohort.release is 'Release; null: all.';
comment on column fleetprof_data.cohort.environment is 'Environment; null: all.';
comment on column fleetprof_data.cohort.variant is 'Variant; null: all.';
comment on column fleetprof_data.cohort.browser is 'Browser family; null: all.';
comment on column fleetprof_data.cohort.os is 'Operating system family; null: all.';
comment on column fleetprof_data.cohort.device is 'Device class; null: all.';
comment on column fleetprof_data.cohort.thread is 'Thread; null: all.';
comment on column fleetprof_data.cohort.last_seen is 'UTC day of the last sealing that needed this row; unseen rows are pruned.';

-- Uploads ----------------------------------------------------------------------------------------------

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
    records_read         integer not null default 0,
    records_refused      integer not null default 0
) partition by range (bucket);
create index upload_received on fleetprof_data.upload using brin (received);

-- Records that were refused although their uploads were accepted. Flushes add to it; the reasons are few.
create table fleetprof_data.refusal (
    segment_id  bigint not null,
    bucket      timestamptz not null,
    format      text not null,
    reason      text not null,
    records     bigint not null,
    uploads     bigint not null,
    latest      timestamptz not null,
    first_place text not null,
    primary key (segment_id, bucket, format, reason)
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
-- Each partitioned table has partitions of one UTC day, or of eight days if its name ends in _days (days and blocks
-- of eight days). Their names are TABLE_YYYYMMDD, by the first day. Collectors make them through this function, since
-- their role may not create tables. Table files call it too, so it stands here.

create function fleetprof_data.partition_days(parent name)
returns integer
language sql immutable
return case when parent like '%\_days' then 8 else 1 end;

comment on function fleetprof_data.partition_days is
    'Returns how many days a partition of this table holds. Partitions of several days begin at multiples since 1970.';

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
    length integer;
    first  date;
    plain  name; -- a column without statistics
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
            length := fleetprof_data.partition_days(parent);
            first := day - ((day - '1970-01-01') % length + length) % length;
            child := parent || to_char(first, '_YYYYMMDD');
            continue when to_regclass(format('fleetprof_data.%I', child)) is not null;
            -- Attaching lets others read and write the parent meanwhile; `partition of` would not.
            execute format('create table fleetprof_data.%I (like fleetprof_data.%I including all)', child, parent);
            -- `like` takes over everything but this.
            for plain in
                select attname from pg_attribute
                where attrelid = format('fleetprof_data.%I', parent)::regclass and attnum > 0 and attstattarget = 0
            loop
                execute format('alter table fleetprof_data.%I alter %I set statistics 0', child, plain);
            end loop;
            execute format(
                'alter table fleetprof_data.%I attach partition fleetprof_data.%I for values from (%L) to (%L)',
                parent, child,
                to_char(first, 'YYYY-MM-DD 00:00:00+00'), to_char(first + length, 'YYYY-MM-DD 00:00:00+00'));
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
    fleetprof_data.timing, fleetprof_data.unsealed, fleetprof_data.sealed, fleetprof_data.horizon,
    fleetprof_data.cohort_level, fleetprof_data.cohort, fleetprof_data.upload, fleetprof_data.refusal
to fleetprof_reader;

-- `fleetprof import --wait` looks here for what it sent.
grant select on fleetprof_data.upload_id to fleetprof_reader;

grant select, insert, update, delete on
    fleetprof_data.segment, fleetprof_data.resource, fleetprof_data.frame, fleetprof_data.stack,
    fleetprof_data.timing, fleetprof_data.upload_id, fleetprof_data.load_id, fleetprof_data.spool_position
to fleetprof_writer;

grant select, insert, delete on fleetprof_data.unsealed, fleetprof_data.sealed to fleetprof_writer;
grant select, insert, update, delete on fleetprof_data.cohort to fleetprof_writer;
grant select on fleetprof_data.horizon to fleetprof_writer;
grant select on fleetprof_data.cohort_level to fleetprof_writer;
grant select, insert on fleetprof_data.upload to fleetprof_writer;
grant select, insert, update on fleetprof_data.refusal to fleetprof_writer;

do $$
declare
    kind text;
begin
    foreach kind in array array[
        'total', 'frame', 'frame_marker', 'stack', 'timing', 'timing_bin', 'measure', 'measure_frame'
    ] loop
        execute format('grant select on fleetprof_data.%1$s_recent, fleetprof_data.%1$s_hours, fleetprof_data.%1$s_days to fleetprof_reader', kind);
        execute format('grant select, insert, delete on fleetprof_data.%1$s_recent, fleetprof_data.%1$s_hours, fleetprof_data.%1$s_days to fleetprof_writer', kind);
    end loop;
end
$$;

revoke all on function fleetprof_data.partition_days(name), fleetprof_data.make_partitions(date[]) from public;
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
comment on column fleetprof_data.resource.site is 'Site of the pages that ran it.';
comment on column fleetprof_data.resource.url is 'Scrubbed URL, at most 1,024 code points; on the page''s own origin a route''s template stands for the path.';
comment on column fleetprof_data.resource.domain is 'Registrable domain of the URL''s host by the Public Suffix List, as the collector knew it that wrote the row; of a host that has none, the host; empty without a host.';
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

comment on table fleetprof_data.timing is 'Names of timings: marks, measures, vitals, windows, and what docs/numbers.md lists besides.';
comment on column fleetprof_data.timing.timing_id is 'Content hash of site, kind and name, and of source and function where the kind has them.';
comment on column fleetprof_data.timing.name is 'Name, at most 1,024 code points: of a vital LCP, INP, CLS, FCP or TTFB; of interactions their type; of scripts of long frames their invoker; of resources their host.';
comment on column fleetprof_data.timing.kind is 'What it counts: mark, measure, vital, window, …';
comment on column fleetprof_data.timing.source is 'Target of an interaction, URL of a long frame''s script, kind of a resource; else empty.';
comment on column fleetprof_data.timing.function is 'Function of a long frame''s script; else empty.';
comment on column fleetprof_data.timing.last_seen is 'UTC day of the last upload that needed this row; unseen rows are pruned.';

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
comment on column fleetprof_data.upload.records_read is 'Records of a dump or session, or entries of User Timing, kept and refused ones.';
comment on column fleetprof_data.upload.records_refused is 'Records, and parts of kept ones, that were refused.';

comment on table fleetprof_data.refusal is 'Records that were refused of accepted uploads, kept for retention.upload_log.';
comment on column fleetprof_data.refusal.segment_id is 'Segment.';
comment on column fleetprof_data.refusal.bucket is 'Start of the UTC hour in which the uploads count.';
comment on column fleetprof_data.refusal.format is 'self-profile, user-timing, speed-tracer or opera-scope.';
comment on column fleetprof_data.refusal.reason is 'Why (docs/formats.md); one of a fixed list.';
comment on column fleetprof_data.refusal.records is 'Records, and parts of kept ones.';
comment on column fleetprof_data.refusal.uploads is 'Uploads with such a record.';
comment on column fleetprof_data.refusal.latest is 'When the latest of these uploads was received.';
comment on column fleetprof_data.refusal.first_place is 'Where the first such record of the latest upload is; empty: unknown.';

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
