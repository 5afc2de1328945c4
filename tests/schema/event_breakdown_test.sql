-- SPDX-License-Identifier: Apache-2.0
-- event_breakdown: how many events there were of each type, and their times.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into segment (segment_id, release) values (2, 'v2');
-- Types that are on two resources, inside themselves, inside each other; and functions, which are not events.
insert into frame_name (key, function, url, kind) values
    ('dom', 'DOM_EVENT', null, 'event'),
    ('layout', 'LAYOUT', null, 'event'),
    ('eval a', 'EVAL_SCRIPT', 'a.js', 'event'),
    ('eval b', 'EVAL_SCRIPT', 'b.js', 'event'),
    ('timer', 'TIMER_INSTALLED', null, 'event'),
    ('rest', '(not listed)', null, 'event');
insert into sample (us, path) values
    (1000, '{dom}'),
    (2000, '{dom,layout}'),
    (4000, '{layout}'),
    (8000, '{"eval a"}'),
    (16000, '{"eval a","eval b"}'),
    (32000, '{"eval a","eval b","eval a"}'),
    (-500, '{"eval a","eval b",dom}'),
    (0, '{"eval a",timer}'),
    (64000, '{work,more}'),
    (3000, '{dom,rest}'),
    (100, null);
insert into sample (segment_id, us, path) values (2, 5000, '{layout}');
select pg_temp.store() \g /dev/null

select plan(4);

select results_eq(
    $$ select * from event_breakdown('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$,
    $$ values ('EVAL_SCRIPT', 3::bigint, 56::float8, 55.5::float8), ('LAYOUT', 2, 6, 6),
              ('DOM_EVENT', 2, 0.5, 5.5), ('TIMER_INSTALLED', 1, 0, 0) $$,
    'a type counts its events; its total takes each event once, on whatever resource it is inside itself, and what is not listed');
select results_eq(
    $$ select event_type, count, self_ms from event_breakdown('shop', '2026-01-05Z', '2026-01-06Z') where event_type = 'LAYOUT' $$,
    $$ values ('LAYOUT', 3::bigint, 11::float8) $$,
    'over segments');
select is_empty($$ select from event_breakdown('shop', '2026-01-06Z', '2026-01-07Z') $$, 'no events, no rows');
select is_empty($$ select from event_breakdown('shop', '2026-01-05Z', '2026-01-06Z', marker => 'gc') $$,
    'a marker that no event has');

select * from finish();
rollback;
