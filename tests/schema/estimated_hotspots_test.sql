-- SPDX-License-Identifier: Apache-2.0
-- estimated_hotspots: observed numbers divided by each segment's verified sample rate.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- Rates of 10 %, 1 %, none and 10 %: a sampled page load stands for 10, 100, none and 10.
insert into segment (segment_id, route, rate_ppm) values (1, '/cart', 100000), (2, '/list', 10000), (3, '/none', 0), (4, '/help', 100000);
insert into sample (segment_id, upload, us, marker, path) values
    (1, 1, 10000, '(none)', '{main,render}'),
    (1, 1, 10000, '(none)', null),
    (1, 2,  5000, '(none)', '{main}'),
    (2, 3,  2000, '(none)', '{main,render}'),
    (2, 3,  3000, '(none)', null),
    (3, 4, 90000, '(none)', '{main,render}'),
    (4, 5,  4000, 'layout', '{main,draw}');
insert into segment (segment_id, site, browser, rate_ppm) values (5, 'mixed', 'Chrome', 100000), (6, 'mixed', 'Safari', 100000);
insert into sample (segment_id, upload, us, marker, path) select 5, 10 + upload, 1000, '(none)', '{main}' from generate_series(1, 3) as upload;
insert into timing_value (segment_id, kind, name, us) select 6, 'coverage', 'unsupported', 0 from generate_series(1, 2);
select pg_temp.store() \g /dev/null

select plan(14);

-- Estimated: 790 ms profiled, 390 of them attributed, 130 page loads.
select results_eq(
    $$ select function, resource, line, column_number, kind, self_ms, total_ms, samples, uploads
       from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('render', 'app.js', 1, 1, 'function', 300::float8, 300::float8, 2::bigint, 2::bigint),
        ('main',   'app.js', 1, 1, 'function', 50, 390, 4, 4),
        ('draw',   'app.js', 1, 1, 'function', 40, 40, 1, 1) $$,
    'times are scaled by each segment''s own rate; samples and uploads are those observed; no rate, left out');
select results_eq(
    $$ select self_share, total_share, self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent
       from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 2) $$,
    $$ values
        (300 / 790.0::float8, 300 / 790.0::float8, 300 / 130.0::float8, 300 / 130.0::float8, 110 / 130.0::float8, 300 / 390.0::float8, false),
        (50 / 790.0, 390 / 790.0, 50 / 130.0, 3, 1, 50 / 390.0, false) $$,
    'shares and means are of what is estimated');
select results_eq(
    $$ select distinct rated_uploads, unrated_uploads from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (4::bigint, 1::bigint) $$,
    'each row says how many uploads had a verified rate and how many had none');
select results_eq(
    $$ select function, self_ms, total_ms, self_share, self_ms_per_load, load_share
       from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => 'layout') $$,
    $$ values
        ('draw', 40::float8, 40::float8, 40 / 790.0::float8, 40 / 130.0::float8, 10 / 130.0::float8),
        ('main', 0, 40, 0, 0, 10 / 130.0) $$,
    'a marker picks samples; what shares are of stays whole');
select is(
    (select max(load_share) from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => '%o%')), 1::float8,
    'no share above 1');
select results_eq(
    $$ select function, self_ms, rated_uploads, unrated_uploads
       from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z', route => '/list') $$,
    $$ values ('render', 200::float8, 1::bigint, 0::bigint), ('main', 0, 1, 0) $$,
    'filters select what is estimated and counted');
select is_empty(
    $$ select from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z', route => '/none')
       union all select from estimated_hotspots('shop', '2026-01-06Z', '2026-01-07Z')
       union all select from estimated_hotspots('nobody', '2026-01-05Z', '2026-01-06Z') $$,
    'no rate or no uploads, no rows');
select is(
    (select count(*) from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => null)), 3::bigint, 'top => null is all');
select throws_ok($$ select * from estimated_hotspots('shop', top => 0) $$, '22023', 'top is 0', 'top is at least 1');

-- 2 of 5 sampled page loads come from a browser without a profiler.
select results_eq(
    $$ select self_ms, self_ms_per_load, delivered_share from estimated_hotspots('mixed', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (50::float8, 1::float8, 0.6::float8) $$, 'page loads whose profile did not arrive are not taken as idle');
select results_eq(
    $$ select self_ms, delivered_share from estimated_hotspots('mixed', '2026-01-05Z', '2026-01-06Z', exclude_browser => 'Safari') $$,
    $$ values (30::float8, 1::float8) $$, 'only page loads that the filters select count');

-- Later parts of page loads that began elsewhere, and nothing but unattributed time.
savepoint parts;
update segment_fact set loads = 0, unattributed_us = profiled_us;
delete from marker_fact;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select self_ms, self_share, self_ms_per_load, load_share, busy_share
       from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ values (300::float8, 300 / 790.0::float8, null::float8, null::float8, null::float8) $$,
    'nothing to divide by: null');
rollback to parts;
update fleetprof_data.segment set rate_ppm = 1000000;
select results_eq(
    $$ select function, self_ms, total_ms, self_share, total_share, samples, uploads,
           self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent
       from estimated_hotspots('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ select function, self_ms, total_ms, self_share, total_share, samples, uploads,
           self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z') $$,
    'where every page load is sampled, the estimate is what was observed');
update fleetprof_data.segment set site = 'shop-eu' where segment_id = 2;
select results_eq(
    $$ select function, uploads, rated_uploads from estimated_hotspots('shop%', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ values ('render', 3::bigint, 5::bigint) $$,
    'a function of several sites is one row');
select * from finish();
rollback;
