-- SPDX-License-Identifier: Apache-2.0
-- culprit.sql: what refused, and whether a record may be at fault. tests/accidents/schema_changed.test.mjs has real refusals.
\set objects `cat ../../schema/objects`
\set question `cat ../../schema/culprit.sql`
\ir fixture.inc
set local search_path = pgtap, pg_catalog;
select plan(19);

prepare culprit(text, text, text, text, text, text, text, text, boolean) as :question;
create function pg_temp.ask(
    sqlstate text, relation text default '', named text default '', context text default '', column_name text default '', is_same boolean default true)
returns text
language plpgsql
as $$
declare
    answer record;
begin
    execute format(
        'execute culprit(%L, %L, %L, %L, %L, %L, %L, %L, %L)', ask.sqlstate, case when relation = '' then '' else 'fleetprof_data' end, relation,
        column_name, named, '', context, (select text from pg_temp.objects), is_same)
    into answer;
    return answer::text;
end
$$;
create temp table objects as select :'objects'::text as text;

select is(pg_temp.ask('22003'), '(,,,)', 'a value that cannot be stored is the record''s own');
select is(pg_temp.ask('42601'), '(,,,)', 'a statement that is wrong is nobody''s');
select is(pg_temp.ask('23505', 'upload_id', 'upload_id_pkey'), '(f,"constraint upload_id_pkey",fleetprof_data.upload_id,"")', 'an own key may blame a record');
select is(
    pg_temp.ask('23505', 'total_hours_20260105', 'total_hours_20260105_pkey'), '(f,"constraint total_hours_pkey",fleetprof_data.total_hours,"")',
    'also that of a partition');
select is(
    pg_temp.ask('23505', 'upload_id_102010', 'upload_id_pkey_102010'), '(f,"constraint upload_id_pkey",fleetprof_data.upload_id,"")',
    'and of a shard of Citus');
select is(
    pg_temp.ask('23505', 'horizon', 'horizon_is_one_row'), '(f,"index horizon_is_one_row",fleetprof_data.horizon,"")', 'an own index is one');
select is(
    pg_temp.ask('23514', 'upload', 'gone'), '(t,"constraint gone",fleetprof_data.upload,"")', 'a constraint that is gone was somebody else''s');
select is(
    pg_temp.ask('23502', 'upload', column_name => 'upload_id'), '(t,"column upload_id, not null",fleetprof_data.upload,"")',
    'what must have a value stays so');

-- Names that need quotes.
alter table fleetprof_data.segment add constraint "House ""1""" check (release <> 'bad');
select is(
    pg_temp.ask('23514', 'segment', 'House "1"'),
    row(true, 'constraint "House ""1"""', 'fleetprof_data.segment', 'alter table fleetprof_data.segment drop constraint "House ""1"""')::text,
    'a name is quoted as SQL wants it');
select ok(pg_temp.ask('22012') like '(t,"constraint%', 'what computes may be to blame for a value');
select is(pg_temp.ask('22012', is_same => false), '(,,,)', 'but not in a schema of another version: its objects are not known');
select is(pg_temp.ask('42601'), '(,,,)', 'nor for a wrong statement');
alter table fleetprof_data.segment drop constraint "House ""1""";

create schema house;
create function house.look() returns trigger language plpgsql as 'begin return new; end';
create trigger look before insert on fleetprof_data.segment for each row execute function house.look();
create trigger look before insert on fleetprof_data.upload for each row execute function house.look();
select is(
    pg_temp.ask('P0001', context => 'PL/pgSQL function house.look() line 1 at RAISE'),
    row(true, 'trigger look (function house.look)', 'fleetprof_data.segment, fleetprof_data.upload',
        'drop trigger look on fleetprof_data.segment; drop trigger look on fleetprof_data.upload')::text,
    'a function is named once, however many triggers and partitions call it');
select ok(pg_temp.ask('P0001', context => 'PL/pgSQL function "look" line 1') like '(t,%', 'a name in quotes');
select ok(pg_temp.ask('22012', context => 'PL/pgSQL function house.look() line 1') like '(f,%', 'a trigger may blame a record: with class 22');
select ok(pg_temp.ask('P0001', context => 'PL/pgSQL function house.outlook() line 1') like '(f,%', 'another function with a longer name is another');
select ok(pg_temp.ask('22012') like '(f,%', 'a trigger that says nothing is suspected');
select is(pg_temp.ask('42501', context => 'SQL function'), '(,,,)', 'but not for all that goes wrong');
select is(
    pg_temp.ask('40001', context => 'PL/pgSQL function house.look() line 1') like '(t,%', true, 'whatever the code');

select * from finish();
rollback;
