-- Turns: which collector seals or keeps house.
--
-- A turn is a transaction that holds the advisory lock fleetprof.sealing. The row says who had the last one: work of
-- several transactions ends where another collector had a turn in between.

create table fleetprof_data.turn (
    taken_by uuid not null
);
create unique index turn_is_one_row on fleetprof_data.turn ((true));
insert into fleetprof_data.turn values ('00000000-0000-0000-0000-000000000000');

grant select on fleetprof_data.turn to fleetprof_reader;
grant select, update on fleetprof_data.turn to fleetprof_writer;

comment on table fleetprof_data.turn is 'One row: the collector that sealed or kept house last.';
comment on column fleetprof_data.turn.taken_by is 'A random name that the collector took when it started.';
