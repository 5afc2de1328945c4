-- SPDX-License-Identifier: Apache-2.0
-- The shared state of collectors: one secret for all, and the bytes that each has kept in the hour.
\ir fixture.inc
set local search_path = pgtap, pg_catalog;
select plan(13);
grant usage on schema pgtap to public;

\set first '''00000000-0000-4000-8000-000000000001'''
\set second '''00000000-0000-4000-8000-000000000002'''
\set ten '''2026-01-05 10:00Z'''
\set eleven '''2026-01-05 11:00Z'''

set local role fleetprof_writer;
select is(fleetprof_data.share_secret('\x000102030405060708090a0b0c0d0e0f'), '\x000102030405060708090a0b0c0d0e0f',
    'the first collector''s proposal is the secret');
select is(fleetprof_data.share_secret('\xffffffffffffffffffffffffffffffff'), '\x000102030405060708090a0b0c0d0e0f',
    'all others get the same one');
select throws_ok($$ insert into fleetprof_data.draw_secret values ('\xffffffffffffffffffffffffffffffff') $$, '23505', null,
    'there is one secret');

select is_empty(format('select * from fleetprof_data.share_kept(%L, %L, ''{}'')', :first, :ten), 'nothing is kept yet');
select results_eq(format('select * from fleetprof_data.share_kept(%L, %L, ''{"shop": 100, "blog": 7}'') order by 1', :first, :ten),
    $$ values ('blog', 7::bigint, 0::bigint), ('shop', 100, 0) $$, 'a collector''s own');
select results_eq(format('select * from fleetprof_data.share_kept(%L, %L, ''{"shop": 50}'') order by 1', :second, :ten),
    $$ values ('blog', 0::bigint, 7::bigint), ('shop', 50, 100) $$, 'and that of others');
select results_eq(format('select * from fleetprof_data.share_kept(%L, %L, ''{"shop": 3}'') where site = ''shop''', :first, :ten),
    $$ values ('shop', 100::bigint, 50::bigint) $$, 'a collector that restarted learns what it had kept');
select is_empty(format('select * from fleetprof_data.share_kept(%L, %L, ''{}'')', :first, :eleven), 'an hour begins empty');
select results_eq(format('select * from fleetprof_data.share_kept(%L, %L, ''{"shop": 1}'')', :first, :eleven),
    $$ values ('shop', 1::bigint, 0::bigint) $$, 'and does not count what others kept in the last');
select is_empty(format('select * from fleetprof_data.share_kept(%L, ''2026-01-07Z'', ''{}'')', :first), 'a day later');
select is_empty('select from fleetprof_data.kept_bytes', 'nothing is left of it');

set local role fleetprof_reader;
select throws_ok('select * from fleetprof_data.draw_secret', '42501', null, 'the reader may not see the secret');
select throws_ok($$ select fleetprof_data.share_secret('\x00') $$, '42501', null, 'nor ask for it');
reset role;
select * from finish();
rollback;
