-- SPDX-License-Identifier: Apache-2.0
-- measure_hotspots: what ran inside a measure.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into segment (segment_id, site, route) values (2, 'shop-eu', '/cart'), (3, 'shop', '/help');
insert into frame_name values
    ('sort', 'sort', null, null, null, 'builtin'),
    ('(layout)', '(layout)', null, null, null, 'marker');
insert into sample (segment_id, upload, us, marker, path, measures) values
    (1, 1, 10000, '(none)', '{main,render,draw}', '{outer,inner}'),
    (1, 1,  5000, '(none)', '{main,render}', '{outer,inner}'),
    (1, 1,  6000, 'gc',     '{main,fib,fib,fib}', '{outer}'),
    (1, 1, 19000, '(none)', null, '{outer}'),
    (1, 1, 50000, '(none)', '{main,elsewhere}', null),
    (1, 2, 10000, 'layout', '{main,render}', '{outer}'),
    (1, 2,  3000, 'layout', '{(layout)}', '{outer,inner}'),
    (1, 2,  4000, 'gc',     '{main,sort}', '{outer}'),
    (1, 2,  3000, 'gc',     '{main,render}', '{outer}'),
    (1, 3, 40000, '(none)', null, '{idle}'),
    (2, 4, 20000, '(none)', '{main,render}', '{outer}'),
    (3, 5,  1000, '(none)', '{main,help}', '{outer}');
-- A mark of the same name is something else.
insert into timing_value (name, kind, us) values ('outer', 'mark', 7);
select pg_temp.store() \g /dev/null

select plan(18);

prepare outer_of_the_day as
    select function, resource, line, column_number, kind, self_ms, total_ms, samples, uploads
    from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/cart');
select results_eq(
    'outer_of_the_day',
    $$ values
        ('render',   'app.js', 1, 1, 'function', 18::float8, 28::float8, 4::bigint, 2::bigint),
        ('draw',     'app.js', 1, 1, 'function', 10, 10, 1, 1),
        ('fib',      'app.js', 1, 1, 'function', 6,  6,  1, 1),
        ('sort',     null, null::integer, null::integer, 'builtin', 4, 4, 1, 1),
        ('(layout)', null, null, null, 'marker', 3, 3, 1, 1),
        ('main',     'app.js', 1, 1, 'function', 0, 38, 6, 2) $$,
    'self and total time of samples inside; an upload once, whatever markers its samples have');
select results_eq(
    $$ select function, self_ms, total_ms, samples, uploads
       from measure_hotspots('inner', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('draw', 10::float8, 10::float8, 1::bigint, 1::bigint),
        ('render', 5, 15, 2, 1),
        ('(layout)', 3, 3, 1, 1),
        ('main', 0, 15, 2, 1) $$,
    'a nested measure has its own');
select results_eq(
    $$ select function, resource, line, column_number, kind, self_ms, total_ms, samples, uploads
       from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', marker => '%') $$,
    'outer_of_the_day', 'a wildcard for all markers does not filter');

-- 60 ms of the measure were profiled, 19 of them unattributed.
select results_eq(
    $$ select function, self_share, total_share
       from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', top => 2) $$,
    $$ values ('render', 0.3::float8, 28 / 60.0::float8), ('draw', 10 / 60.0, 10 / 60.0) $$,
    'shares are of the measure''s profiled time, unattributed time included');
-- Two uploads have samples inside; 41 of the 60 ms are attributed.
select results_eq(
    $$ select function, self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent
       from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', top => 2) $$,
    $$ values ('render', 9::float8, 14::float8, 1::float8, 18 / 41.0::float8, false), ('draw', 5, 5, 0.5, 10 / 41.0, false) $$,
    'means are of page loads with samples inside the measure, the busy share of its attributed time');
select is(
    (select load_share from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', marker => 'layout') where function = 'main'),
    0.5::float8, 'a marker picks samples, the page loads stay');
select is(
    (select max(load_share) from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', marker => '%o%')), 1::float8,
    'an upload that counts for two markers takes no share above 1');
select results_eq(
    $$ select function, self_ms, self_share, samples, uploads
       from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', marker => 'layout') $$,
    $$ values ('render', 10::float8, 10 / 60.0::float8, 1::bigint, 1::bigint), ('(layout)', 3, 0.05, 1, 1), ('main', 0, 0, 1, 1) $$,
    'one marker: its samples alone, shares as before');
select results_eq(
    $$ select function, self_ms, samples, uploads
       from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', marker => '(none)') $$,
    $$ values ('draw', 10::float8, 1::bigint, 1::bigint), ('render', 5, 2, 1), ('main', 0, 2, 1) $$,
    '(none): samples without a marker');
select results_eq(
    $$ select function, uploads
       from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', marker => '%o%') where function = 'main' $$,
    $$ values ('main', 3::bigint) $$,
    'several markers, not all: an upload once for each');
select is_empty($$ select * from measure_hotspots('idle', 'shop', '2026-01-05Z', '2026-01-06Z') $$, 'a measure in which nothing ran');
select is_empty($$ select * from measure_hotspots('oute%', 'shop', '2026-01-05Z', '2026-01-06Z') $$, 'a measure''s name is not a pattern');
select is_empty($$ select * from measure_hotspots('outer', 'shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');
select results_eq(
    $$ select function, self_ms, self_share
       from measure_hotspots('outer', 'shop%', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ values ('render', 38::float8, 38 / 81.0::float8) $$,
    'a measure of several sites and routes is one');
select results_eq(
    $$ select function from measure_hotspots('outer', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/help') $$,
    $$ values ('help'), ('main') $$, 'filters');
select throws_ok($$ select * from measure_hotspots('outer', 'shop', top => 0) $$, '22023', 'top is 0', 'top is at least 1');
select throws_ok($$ select * from measure_hotspots(null, 'shop') $$, '22023', 'measure_name is null', 'a measure must be named');

-- Σ self + unattributed = profiled, for every measure.
select is_empty(
    $$ select timing_id, profiled_us, unattributed_us, self_us
       from (select timing_id, sum(profiled_us) as profiled_us, sum(unattributed_us) as unattributed_us
             from fleetprof_data.measure_fact group by timing_id) as whole
       left join (select timing_id, sum(self_us) as self_us
                  from fleetprof_data.measure_frame_fact group by timing_id) as frames using (timing_id)
       where profiled_us <> unattributed_us + coalesce(self_us, 0) $$,
    'times add up');

select * from finish();
rollback;
