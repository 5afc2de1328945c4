-- Retention believes a clock only with witnesses: docs/schema.md explains the rules.

create table fleetprof_data.retention_clock (
    trusted       timestamptz,
    stated        timestamptz,
    watched       timestamptz,
    watched_days  smallint not null default 0,
    refused       text,
    refused_since timestamptz,
    collector     timestamptz
);
create unique index retention_clock_is_one_row on fleetprof_data.retention_clock ((true));

-- What is stored already vouches for the clock. A longer block is built after its end.
insert into fleetprof_data.retention_clock (trusted)
select greatest(
    (select max(bucket) from fleetprof_data.unsealed),
    (select max(bucket + (array[interval '1 hour', '4 hours', '24 hours', '192 hours'])[span + 1])
    from fleetprof_data.sealed));

grant select on fleetprof_data.retention_clock to fleetprof_reader, fleetprof_writer;

comment on table fleetprof_data.retention_clock is 'What retention knows of the time: one row.';
comment on column fleetprof_data.retention_clock.trusted is 'The latest moment at which housekeeping believed the clocks; null: nothing was stored yet.';
comment on column fleetprof_data.retention_clock.stated is 'The latest word of trust_clock: the next housekeeping believes a clock that agrees with it. Null: nothing.';
comment on column fleetprof_data.retention_clock.watched is 'While clocks that agree are in doubt: the time at the latest look at them.';
comment on column fleetprof_data.retention_clock.watched_days is 'On how many different days that was so.';
comment on column fleetprof_data.retention_clock.refused is 'Why the latest housekeeping destroyed nothing: clocks_differ, clock_ahead or clock_behind; null: it did its work.';
comment on column fleetprof_data.retention_clock.refused_since is 'When that reason began, by the database''s clock.';
comment on column fleetprof_data.retention_clock.collector is 'The collector''s clock at the latest housekeeping.';
