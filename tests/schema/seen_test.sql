-- SPDX-License-Identifier: Apache-2.0
-- Time in which the browser did not look, and the page loads of windows: each function that tells about them.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, release) values (1, 'v1');
insert into segment (segment_id, release, device) values (2, 'v1', 'mobile'), (3, 'v2', 'desktop');
insert into sample (segment_id, upload, load, us, path, measures) values
    (1, 1, 7, 10000, '{main}', '{task}'),
    (1, 1, 7, 20000, null, '{task}'),
    (1, 2, 7, 30000, '{main}', '{task}'), -- a further part of the page load
    (1, 3, 8, 40000, '{main}', null),
    (2, 4, 9, 50000, '{main}', null),
    (3, 5, 10, 90000, '{main}', null);
insert into unseen (segment_id, us, name) values (1, 100000, null), (2, 150000, null), (1, 60000, 'task');
select pg_temp.store() \g /dev/null

select plan(18);

select results_eq(
    $$ select * from markers('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$,
    $$ values
        ('(none)', 4::bigint, 130::float8, 130 / 150::float8),
        ('(unattributed)', 1, 20, 20 / 150::float8),
        ('(unseen)', 0, 250, null) $$,
    'unseen time is a row of its own, after the others: it is not part of the profiled time');
select is_empty(
    $$ select * from markers('shop', '2026-01-05Z', '2026-01-06Z', marker => '%') where marker = '(unseen)' $$,
    'a marker filter leaves it out');
select is_empty(
    $$ select * from markers('shop', '2026-01-05Z', '2026-01-06Z', release => 'v2') where marker = '(unseen)' $$,
    'without any it has no row');
select throws_ok(
    $$ select * from markers('shop', marker => '(unseen)') $$, '22023', 'no marker is named "(unseen)"', '(unseen) is not a marker');

select results_eq(
    $$ select function, self_ms, self_share, seen_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$,
    $$ values ('main', 130::float8, 130 / 150::float8, 150 / 400::float8) $$, 'shares are of profiled time; seen_share says what that is of');
select results_eq(
    $$ select seen_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1', device => 'mobile') $$,
    $$ values (0.25::float8) $$, 'by device class');
select results_eq(
    $$ select seen_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', release => 'v2') $$,
    $$ values (1::float8) $$, 'all was seen');

select results_eq(
    $$ select function, self_ms, self_ms_per_load, load_share, seen_share
       from measure_hotspots('task', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('main', 40::float8, 40::float8, 1::float8, 0.5::float8) $$,
    'two parts of a page load are one page load, and half of the measure was seen');
select results_eq(
    $$ select bucket, profiled_ms, unattributed_ms, unseen_ms, seen_share from summary('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$,
    $$ values ('2026-01-05 10:00Z'::timestamptz, 150::float8, 20::float8, 250::float8, 0.375::float8) $$, 'by hour');
select results_eq(
    $$ select loads, seen_share from coverage('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1', device => 'desktop') $$,
    $$ values (3::bigint, 0.5::float8) $$, 'beside the page loads');

select results_eq(
    $$ select before_seen_share, after_seen_share, seen_differs from compare_summary('shop', 'v1', 'v2',
        '2026-01-05Z', '2026-01-06Z', before_since => '2026-01-05Z', before_until => '2026-01-06Z') $$,
    $$ values (0.375::float8, 1::float8, true) $$, 'a comparison says that a side was seen less');
select results_eq(
    $$ select before_seen_share, after_seen_share, seen_differs from compare_summary('shop', 'v1', 'v9',
        '2026-01-05Z', '2026-01-06Z', before_since => '2026-01-05Z', before_until => '2026-01-06Z') $$,
    $$ values (0.375::float8, null::float8, false) $$, 'a side without uploads');

-- Where only the part is selected that saw what another one had not.
update measure_fact set window_us = 0;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select seen_share from measure_hotspots('task', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (1::float8) $$, 'no more than all was seen');

-- Rows that an earlier version wrote.
update fleetprof_data.total_recent set unseen_us = null;
update fleetprof_data.total_hours set unseen_us = null;
update fleetprof_data.total_days set unseen_us = null;
update fleetprof_data.measure_recent set loads = null, window_us = null;
update fleetprof_data.measure_hours set loads = null, window_us = null;
update fleetprof_data.measure_days set loads = null, window_us = null;
select results_eq(
    $$ select function, self_ms, self_ms_per_load, seen_share from measure_hotspots('task', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('main', 40::float8, 20::float8, 1::float8) $$, 'each upload is a page load, and nothing is unseen');
select results_eq(
    $$ select function, self_ms, seen_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$,
    $$ values ('main', 130::float8, 1::float8) $$, 'nothing is unseen');
select is_empty($$ select * from markers('shop', '2026-01-05Z', '2026-01-06Z') where marker = '(unseen)' $$, 'nothing is unseen: no row');
select results_eq(
    $$ select seen_share from coverage('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$, $$ values (1::float8) $$, 'nothing is unseen at all');
select results_eq(
    $$ select sum(unseen_ms) from summary('shop', '2026-01-05Z', '2026-01-06Z') $$, $$ values (0::float8) $$, 'also by hour');

select * from finish();
rollback;
