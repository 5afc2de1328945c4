-- SPDX-License-Identifier: Apache-2.0
-- hotspots: self and total time, shares, order, markers, filters.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into frame_name values
    ('anonymous', '', 'app.js', 12, 3, 'function'),
    ('placeless', '', null, 7, null, 'function'),
    ('sort', 'sort', null, null, null, 'builtin'),
    ('(layout)', '(layout)', null, null, null, 'marker');
insert into sample (upload, us, marker, path) values
    (1, 10000, '(none)', '{main,render,draw}'),
    (1,  5000, '(none)', '{main,render}'),
    (1,  4000, '(none)', '{main,anonymous}'),
    (1,  6000, '(none)', '{main,fib,fib,fib}'),
    (1, 15000, '(none)', null),
    (2, 10000, 'layout', '{main,render}'),
    (2,  3000, 'layout', '{(layout)}'),
    (2,  4000, 'gc',     '{main,sort}'),
    (2,  1000, '(none)', '{main,placeless}'),
    (2,  2000, 'gc',     '{main,render}'),
    (3, 40000, '(none)', null);
select pg_temp.store() \g /dev/null

select plan(34);

prepare hotspots_of_the_day as
    select function, resource, line, column_number, kind, self_ms, total_ms, samples, uploads
    from hotspots('shop', '2026-01-05Z', '2026-01-06Z');
select results_eq(
    'hotspots_of_the_day',
    $$ values
        ('render',      'app.js', 1,  1,    'function', 17::float8, 27::float8, 4::bigint, 2::bigint),
        ('draw',        'app.js', 1,  1,    'function', 10,         10,         1,         1),
        ('fib',         'app.js', 1,  1,    'function', 6,          6,          1,         1),
        ('(anonymous)', 'app.js', 12, 3,    'function', 4,          4,          1,         1),
        ('sort',        null,     null::integer, null::integer, 'builtin', 4, 4, 1,        1),
        ('(layout)',    null,     null, null, 'marker', 3,          3,          1,         1),
        ('(anonymous)', null,     7,  null, 'function', 1,          1,          1,         1),
        ('main',        'app.js', 1,  1,    'function', 0,          42,         8,         2) $$,
    'self and total time, a recursive function once per sample, equal ones by name');

-- 100 ms were profiled, 55 of them unattributed.
select results_eq(
    $$ select function, self_share, total_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 2) $$,
    $$ values ('render', 0.17::float8, 0.27::float8), ('draw', 0.1, 0.1) $$,
    'shares are of profiled time, unattributed time included');

select is(
    (select array_agg(function) from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 3)),
    '{render,draw,fib}', 'top cuts');
select is(
    (select count(*) from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => null)), 8::bigint,
    'top => null is all');
select throws_ok($$ select * from hotspots('shop', top => 0) $$, '22023', 'top is 0', 'top is at least 1');

-- Markers. A share stays one of all profiled time.
select results_eq(
    $$ select function, self_ms, total_ms, self_share, samples, uploads
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => 'layout') $$,
    $$ values
        ('render', 10::float8, 10::float8, 0.1::float8, 1::bigint, 1::bigint),
        ('(layout)', 3, 3, 0.03, 1, 1),
        ('main', 0, 10, 0, 1, 1) $$,
    'one marker: its samples alone');
prepare unmarked as
    select function, line, self_ms, total_ms, samples, uploads
    from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => '(none)');
select results_eq(
    'unmarked',
    $$ values
        ('draw', 1, 10::float8, 10::float8, 1::bigint, 1::bigint),
        ('fib', 1, 6, 6, 1, 1),
        ('render', 1, 5, 15, 2, 1),
        ('(anonymous)', 12, 4, 4, 1, 1),
        ('(anonymous)', 7, 1, 1, 1, 1),
        ('main', 1, 0, 26, 5, 2) $$,
    '(none): what no marker has, and no row for a frame that has nothing left');
select results_eq(
    $$ select function, line, self_ms, total_ms, samples, uploads
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => '') $$,
    'unmarked', 'marker '''' is (none)');
select results_eq(
    $$ select function, resource, line, column_number, kind, self_ms, total_ms, samples, uploads
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => '%') $$,
    'hotspots_of_the_day', 'a wildcard for all markers does not filter');

-- A wildcard that matches some of them.
select results_eq(
    $$ select function, self_ms, samples, uploads
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => '%c%') $$,
    $$ values ('sort', 4::float8, 1::bigint, 1::bigint), ('render', 2, 1, 1), ('main', 0, 2, 1) $$,
    'several markers by wildcard add up');
select results_eq(
    $$ select function, self_ms, samples, uploads
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => '%o%') where function in ('render', 'main') $$,
    $$ values ('render', 15::float8, 3::bigint, 2::bigint), ('main', 0, 6, 3) $$,
    '(none) among several: an upload counts once for each of its markers');
select is(
    (select array_agg(fleetprof_data.marker_of(number)) from unnest(fleetprof_data.select_markers('%o%')) as number),
    '{(none),layout,other}', 'these have an o');

-- 3 page loads of one upload each; 45 ms of the 100 were attributed.
select results_eq(
    $$ select function, line, self_ms_per_load, total_ms_per_load, load_share, busy_share
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 3) $$,
    $$ values
        ('render', 1, 17 / 3.0::float8, 9::float8, 2 / 3.0::float8, 17 / 45.0::float8),
        ('draw', 1, 10 / 3.0, 10 / 3.0, 1 / 3.0, 10 / 45.0),
        ('fib', 1, 2, 2, 1 / 3.0, 6 / 45.0) $$,
    'means and shares are of all page loads; the busy share is of attributed time');
select is(
    (select round(sum(busy_share)::numeric, 9) from hotspots('shop', '2026-01-05Z', '2026-01-06Z')), 1.000000000,
    'busy shares of all frames add up to 1');
select results_eq(
    $$ select function, self_ms_per_load, load_share, busy_share
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => 'layout') $$,
    $$ values
        ('render', 10 / 3.0::float8, 1 / 3.0::float8, 10 / 45.0::float8), ('(layout)', 1, 1 / 3.0, 3 / 45.0), ('main', 0, 1 / 3.0, 0) $$,
    'a marker picks samples: page loads and attributed time stay whole');
select is(
    (select load_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => '%o%') where function = 'main'), 1::float8,
    'an upload that counts for two markers takes no share above 1');
-- The three uploads become parts of one page load.
savepoint parts;
update segment_fact set loads = 1;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select function, self_ms_per_load, load_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 2) $$,
    $$ values ('render', 17::float8, 1::float8), ('draw', 10, 1) $$,
    'parts of one page load: means are of the load, no share is above 1');
-- The first part counted elsewhere.
update segment_fact set loads = 0;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select self_ms, self_ms_per_load, total_ms_per_load, load_share, busy_share
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ values (17::float8, null::float8, null::float8, null::float8, 17 / 45.0::float8) $$,
    'no page load, no mean');
rollback to parts;
-- All of it unattributed, as when a script's facts were lost: nothing to divide by.
update segment_fact set unattributed_us = profiled_us;
delete from marker_fact;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select self_ms, self_share, busy_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ values (17::float8, 0.17::float8, null::float8) $$,
    'no attributed time, no busy share');
update segment_fact set unattributed_us = 0;
insert into marker_fact select segment_id, bucket, 'script', samples, profiled_us from segment_fact;
select pg_temp.pack() \g /dev/null
select is(
    (select busy_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 1)), 0.17::float8,
    'nothing unattributed: the busy share is the self share');
rollback to parts;
select is_empty(
    $$ select from hotspots('shop', '2026-01-06Z', '2026-01-07Z') union all select from hotspots('nobody') $$,
    'no uploads, no rows');

-- A bucket counts if it overlaps [since, until): the samples are in the bucket of 10:00 UTC.
create function pg_temp.found(since timestamptz, until timestamptz)
returns boolean
language sql
return exists (select from fleetprof.hotspots('shop', since, until));
select ok(pg_temp.found('2026-01-05 10:00Z', '2026-01-05 11:00Z'), 'the very hour');
select ok(pg_temp.found('2026-01-05 10:20Z', '2026-01-05 10:40Z'), 'an interval within the hour');
select ok(pg_temp.found('2026-01-05 10:59:59.999999Z', '2026-01-05 15:00Z'), 'since in the hour''s last microsecond');
select ok(not pg_temp.found('2026-01-05 11:00Z', '2026-01-05 15:00Z'), 'since at the hour''s end');
select ok(pg_temp.found('2026-01-05 05:00Z', '2026-01-05 10:00:00.000001Z'), 'until just after the hour''s start');
select ok(not pg_temp.found('2026-01-05 05:00Z', '2026-01-05 10:00Z'), 'until at the hour''s start');
select ok(not pg_temp.found('2026-01-05 10:30Z', '2026-01-05 10:30Z'), 'an empty interval overlaps nothing');
select ok(pg_temp.found('-infinity', 'infinity'), 'from -infinity to infinity');
select ok(pg_temp.found(null, null), 'null bounds do not limit');

select fleetprof_data.make_partitions(array[(now() at time zone 'UTC')::date, (now() at time zone 'UTC')::date - 1]) \g /dev/null
insert into frame_fact
select 1, date_bin('1 hour', now(), '2000-01-01Z'), frame_id, 1, 1, 1, 1, 1, 0, 0, 0, 0
from fleetprof_data.frame where function = 'main';
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select function from hotspots('shop') $$, $$ values ('main') $$,
    'by default the last day, what arrives in this hour included');

-- Two sites have the same function: ids differ, the output is the same.
insert into fleetprof_data.segment values (2, 'shop-eu', '', '', '', '', '', '', '', '', 0, '2026-01-05');
insert into fleetprof_data.frame
select 99, function, resource_id, line, column_number, kind, last_seen
from fleetprof_data.frame where function = 'render';
insert into frame_fact values (2, '2026-01-05 10:00Z', 99, 1, 1, 2, 3000, 3000, 0, 0, 0, 0);
insert into segment_fact values (2, '2026-01-05 10:00Z', 1, 1, 2, 0, 100000, 0, 0, 0);
insert into marker_fact values (2, '2026-01-05 10:00Z', '(none)', 2, 100000);
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select function, self_ms, total_ms, self_share, samples, uploads
       from hotspots('shop%', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ values ('render', 20::float8, 30::float8, 0.1::float8, 6::bigint, 3::bigint) $$,
    'a function of several sites is one row');

-- Ties: by name, resource, line, column, absent last, whatever the collation.
insert into fleetprof_data.segment values (3, 'ties', '', '', '', '', '', '', '', '', 0, '2026-01-05');
insert into fleetprof_data.resource values (301, 'shop', 'a.js', '', '2026-01-05'), (302, 'shop', 'B.js', '', '2026-01-05');
insert into fleetprof_data.frame
select 300 + row_number() over (), function, resource_id, line, column_number, 'function', '2026-01-05'
from (values
    ('b', 301, 1, 1), ('a', null, 1, 1), ('a', 301, 2, 1), ('a', 301, 1, null), ('a', 301, 1, 2), ('a', 301, 1, 1),
    ('a', 302, 1, 1), ('B', 301, 1, 1)
) as frame (function, resource_id, line, column_number);
insert into frame_fact
select 3, '2026-01-05 10:00Z', frame_id, 1, 1, 1, 5, frame_id, 0, 0, 0, 0
from fleetprof_data.frame where frame_id between 301 and 308;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select function, resource, line, column_number from hotspots('ties', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('B', 'a.js', 1, 1), ('a', 'B.js', 1, 1), ('a', 'a.js', 1, 1), ('a', 'a.js', 1, 2),
        ('a', 'a.js', 1, null), ('a', 'a.js', 2, 1), ('a', null, 1, 1), ('b', 'a.js', 1, 1) $$,
    'equal self times: by name, resource, line, column');
select is(
    (select count(self_share) from hotspots('ties', '2026-01-05Z', '2026-01-06Z')), 0::bigint,
    'no profiled time, no share');

select * from finish();
rollback;
