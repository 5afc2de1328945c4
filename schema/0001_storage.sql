-- Storage: dictionaries, facts and the books that make every upload count once.
--
-- Everything a user may rely on is in schema fleetprof (views and functions); fleetprof_data is where the
-- numbers lie and may change between versions. Ids are 64-bit content hashes (docs/ids.md). Times are
-- microseconds; buckets are UTC hours. Facts are keyed by segment first, so that a query for some segments
-- reads some pages; counters are in no index, so that an update stays in its page (HOT).

create schema fleetprof;
create schema fleetprof_data;

comment on schema fleetprof is 'fleetprof: which JavaScript costs real users the most time. Views and functions that users rely on.';
comment on schema fleetprof_data is 'fleetprof''s storage; may change between versions. Query the views and functions of schema fleetprof.';

create type fleetprof_data.frame_kind as enum ('function', 'builtin', 'marker', 'event', 'overflow');
create type fleetprof_data.marker as enum ('(none)', 'script', 'gc', 'style', 'layout', 'paint', 'other');
create type fleetprof_data.timing_kind as enum ('mark', 'measure');

comment on type fleetprof_data.frame_kind is 'What a frame is: a function, a builtin (only a name), a marker without a stack, an event of an older format, or what a ceiling cut off.';
comment on type fleetprof_data.marker is 'What the main thread did at a sample; (none): the browser did not say.';
comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing.';

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

create table fleetprof_data.timing_fact (
    segment_id bigint not null,
    bucket     timestamptz not null,
    timing_id  bigint not null,
    uploads    bigint not null,
    count      bigint not null,
    negative   bigint not null,
    sum_us     bigint not null,
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
    received  timestamptz not null,
    primary key (upload_id, site_id)
);
create index upload_id_received on fleetprof_data.upload_id using brin (received);

create table fleetprof_data.load_id (
    load_id  uuid not null,
    site_id  bigint not null,
    received timestamptz not null,
    primary key (load_id, site_id)
);
create index load_id_received on fleetprof_data.load_id using brin (received);

create table fleetprof_data.spool_position (
    spool_id uuid primary key,
    position bigint not null,
    updated  timestamptz not null default now()
);
