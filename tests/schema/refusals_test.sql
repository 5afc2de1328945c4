-- SPDX-License-Identifier: Apache-2.0
-- refusals: sums by format and reason, the latest and its place, filters and edges.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, site, release) values (1, 'shop', 'v1'), (2, 'shop', 'v2'), (3, 'news', 'v1');
select pg_temp.store() \g /dev/null
insert into fleetprof_data.refusal values
    (1, '2026-01-05 10:00Z', 'speed-tracer', 'not_json', 5, 2, '2026-01-05 10:30Z', 'byte 7'),
    (1, '2026-01-05 11:00Z', 'speed-tracer', 'not_json', 1, 1, '2026-01-05 11:10Z', 'byte 9'),
    (2, '2026-01-05 11:00Z', 'speed-tracer', 'not_json', 1, 1, '2026-01-05 11:05Z', 'byte 8'),
    (2, '2026-01-05 11:00Z', 'opera-scope', 'truncated', 1, 1, '2026-01-05 11:05Z', ''),
    (2, '2026-01-05 11:00Z', 'speed-tracer', 'truncated', 1, 1, '2026-01-05 11:05Z', 'byte 80'),
    (3, '2026-01-06 00:00Z', 'user-timing', 'other_entry', 1000000000000, 3, '2026-01-06 00:30Z', 'element 2');
select plan(6);

select results_eq(
    $$ select * from refusals('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('speed-tracer', 'not_json', 7::bigint, 4::bigint, '2026-01-05 11:10Z'::timestamptz, 'byte 9'),
        ('opera-scope', 'truncated', 1, 1, '2026-01-05 11:05Z', ''),
        ('speed-tracer', 'truncated', 1, 1, '2026-01-05 11:05Z', 'byte 80') $$,
    'by format and reason, most records first; the place is that of the latest');
select results_eq(
    $$ select reason, records, first_place from refusals('shop', '2026-01-05Z', '2026-01-06Z', release => 'v2') $$,
    $$ values ('truncated', 1::bigint, ''), ('not_json', 1, 'byte 8'), ('truncated', 1, 'byte 80') $$,
    'a filter');
select results_eq(
    $$ select sum(records) from refusals('shop', '2026-01-05 10:59Z', '2026-01-05 11:00Z') $$,
    $$ values (5::numeric) $$,
    'a bucket counts when it overlaps');
select results_eq(
    $$ select records, uploads from refusals('%', '2026-01-05Z', '2026-01-07Z', release => 'v1') $$,
    $$ values (1000000000000::bigint, 3::bigint), (6, 3) $$,
    'several sites');
select is_empty($$ select * from refusals('shop', '2026-01-06Z', '2026-01-07Z') $$, 'nothing was refused');
select throws_like(
    $$ select * from refusals('shop', '2026-01-07Z', '2026-01-06Z') $$, '%since is later than until%', 'a wrong interval');
select * from finish();
rollback;
