-- Vitals: the last value of each web vital that a page may send again, and where it counts.

create table fleetprof_data.vital (
    vital_id            uuid primary key,
    value_us            bigint not null,
    segment_id          bigint not null,
    bucket              timestamptz not null,
    part                integer not null,
    sent                integer not null default 1,
    counted             date not null,
    rating              smallint not null,
    uploads             smallint not null,
    replaced_value_us   bigint,
    replaced_segment_id bigint,
    replaced_bucket     timestamptz,
    replaced_rating     smallint,
    replaced_uploads    smallint
);
create index vital_counted on fleetprof_data.vital using brin (counted);

grant select, insert, update, delete on fleetprof_data.vital to fleetprof_writer;
grant select on fleetprof_data.vital to fleetprof_reader;

comment on table fleetprof_data.vital is 'The last value of each web vital with an id, kept for retention.upload_ids: a value that is sent again replaces the earlier one in the facts.';
comment on column fleetprof_data.vital.vital_id is 'Hash of site, page load, vital and metric id (docs/ids.md).';
comment on column fleetprof_data.vital.value_us is 'The value that counts, microseconds; for CLS the score times 1,000,000.';
comment on column fleetprof_data.vital.segment_id is 'Segment in which it counts.';
comment on column fleetprof_data.vital.bucket is 'Start of the UTC hour in which it counts.';
comment on column fleetprof_data.vital.part is 'Number of the part of the page load that sent it last. A value of an earlier part does not replace it.';
comment on column fleetprof_data.vital.sent is 'In how many flushes it came.';
comment on column fleetprof_data.vital.counted is 'UTC day on which the database counted it last.';
comment on column fleetprof_data.vital.rating is '0 good, 1 needs improvement, 2 poor.';
comment on column fleetprof_data.vital.uploads is '1 if it counts as an upload with this vital; 0 if another value of the same upload does.';
comment on column fleetprof_data.vital.replaced_value_us is 'The value that the last flush replaced, which that flush took back; null: none. The next columns say where and as what it counted.';
comment on column fleetprof_data.vital.replaced_segment_id is 'Its segment.';
comment on column fleetprof_data.vital.replaced_bucket is 'Its hour.';
comment on column fleetprof_data.vital.replaced_rating is 'Its rating.';
comment on column fleetprof_data.vital.replaced_uploads is 'Its uploads.';
