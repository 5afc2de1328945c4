-- SPDX-License-Identifier: Apache-2.0
-- vital_hotspots: what ran where a vital was poor, and where it was good.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into segment (segment_id, site, route) values (2, 'shop-eu', '/cart'), (3, 'shop', '/help'), (4, 'builds', '/');
insert into frame_name values
    ('sort', 'sort', null, null, null, 'builtin'),
    ('(layout)', '(layout)', null, null, null, 'marker'),
    ('load 1', 'load', 'https://shop.example/app-0a1b2c3d.js', 10, 1, 'function'),
    ('load 2', 'load', 'https://shop.example/app-ffee0011.js', 12, 1, 'function'),
    -- Two places of one name in one build: nobody knows which is which in the other.
    ('twice 1', 'twice', 'https://shop.example/app-0a1b2c3d.js', 30, 1, 'function'),
    ('twice 2', 'twice', 'https://shop.example/app-ffee0011.js', 32, 1, 'function'),
    ('twice 2b', 'twice', 'https://shop.example/app-ffee0011.js', 33, 1, 'function');
insert into sample (segment_id, upload, us, marker, path, measures, windows) values
    (1, 1, 10000, '(none)', '{main,click,draw}', null, '{(INP) poor,(interaction)}'),
    (1, 1,  6000, '(none)', '{main,click}',      null, '{(INP) poor,(interaction)}'),
    (1, 1, 24000, '(none)', null,                null, '{(INP) poor}'),
    (1, 1, 50000, '(none)', '{main,elsewhere}',  null, '{(lcp)}'),
    (1, 2,  5000, 'layout', '{(layout)}',        null, '{(INP) poor,(interaction)}'),
    (1, 2,  4000, 'gc',     '{main,sort}',       null, '{(INP) poor}'),
    (1, 3,  2000, '(none)', '{main,click}',      null, '{(INP) good,(interaction)}'),
    (1, 4,  1000, 'gc',     '{main,sort}',       null, '{(INP) good}'),
    (1, 5,  7000, '(none)', '{main,other}',      null, '{(INP) good}'),
    (1, 6,  3000, '(none)', '{main,help}',       '{(INP) poor}', null),
    (2, 7, 20000, '(none)', '{main,click}',      null, '{(INP) poor}'),
    (3, 8,  1000, '(none)', '{main,help}',       null, '{(LCP) poor,(lcp)}'),
    (4, 1,  9000, '(none)', '{load 2}',          null, '{(INP) poor}'),
    (4, 1,  8000, '(none)', '{twice 2}',         null, '{(INP) poor}'),
    (4, 1,  7000, '(none)', '{twice 2b}',        null, '{(INP) poor}'),
    (4, 2,  5000, '(none)', '{load 1}',          null, '{(INP) good}'),
    (4, 3,  3000, '(none)', '{load 2}',          null, '{(INP) good}'),
    (4, 2,  1000, '(none)', '{twice 1}',         null, '{(INP) good}'),
    (4, 3,  2000, '(none)', '{twice 2}',         null, '{(INP) good}');
-- 12 hours in which phones are poor more often. `even` costs more on phones, whether poor or not; `slow` costs 5 or 6 ms more
-- where the vital is poor; `rare` runs in five poor page loads.
insert into segment (segment_id, site, device) values (5, 'matched', 'mobile'), (6, 'matched', 'desktop');
insert into sample (segment_id, bucket, upload, us, path, windows)
select segment_id, timestamptz '2026-01-05Z' + hour * interval '1 hour', upload, us, array[function], array[window_name]
from generate_series(0, 11) as hour
cross join (values (5, '(INP) poor', 1, 15), (5, '(INP) good', 16, 20), (6, '(INP) poor', 21, 25), (6, '(INP) good', 26, 45))
    as part (segment_id, window_name, first, last)
cross join generate_series(first, last) as upload
cross join lateral (
    values
        ('even', case segment_id when 5 then 10000 else 2000 end),
        ('slow', case window_name when '(INP) good' then 5000 else 10000 + hour % 2 * 1000 end),
        ('rare', case when hour < 5 and upload = 1 then 90000 end)
) as cost (function, us)
where us is not null;
select pg_temp.store() \g /dev/null

select plan(19);

select results_eq(
    $$ select function, kind, self_ms, total_ms, samples, uploads, good_self_ms, good_uploads, good_self_ms_per_load
       from vital_hotspots('INP', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('draw',     'function', 10::float8, 10::float8, 1::bigint, 1::bigint, 0::float8, 0::bigint, 0::float8),
        ('click',    'function', 6, 16, 2, 1, 2, 1, 2 / 3::float8),
        ('(layout)', 'marker',   5, 5, 1, 1, 0, 0, 0),
        ('sort',     'builtin',  4, 4, 1, 1, 1, 1, 1 / 3::float8),
        ('main',     'function', 0, 20, 3, 2, 0, 3, 0) $$,
    'functions of poor page loads, the same ones in good page loads beside');
-- 49 ms were profiled in poor windows, 25 of them attributed; two uploads have samples there.
select results_eq(
    $$ select function, self_share, total_share, self_ms_per_load, total_ms_per_load, load_share, busy_share, is_agent
       from vital_hotspots('INP', 'shop', '2026-01-05Z', '2026-01-06Z', top => 2) $$,
    $$ values
        ('draw', 10 / 49::float8, 10 / 49::float8, 5::float8, 5::float8, 0.5::float8, 0.4::float8, false),
        ('click', 6 / 49::float8, 16 / 49::float8, 3, 8, 0.5, 0.24, false) $$,
    'shares and means are of the poor windows');
select results_eq(
    $$ select function, line, self_ms, good_self_ms, good_uploads, good_self_ms_per_load
       from vital_hotspots('INP', 'builds', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('load',  12, 9::float8, 8::float8, 2::bigint, 4::float8),
        ('twice', 32, 8, 2, 1, 1),
        ('twice', 33, 7, 0, 0, 0) $$,
    'a function of good page loads is the same in another build of its script, if a build has one of its name');
select results_eq(
    $$ select function, line, good_self_ms from vital_hotspots('INP', 'builds', '2026-01-05Z', '2026-01-06Z', top => 2) $$,
    $$ values ('load', 12, 8::float8), ('twice', 32, 2) $$, 'whatever top leaves out');
select results_eq(
    $$ select function, self_ms, good_self_ms, good_uploads
       from vital_hotspots('INP', 'shop', '2026-01-05Z', '2026-01-06Z', marker => 'gc') $$,
    $$ values ('sort', 4::float8, 1::float8, 1::bigint), ('main', 0, 0, 1) $$,
    'a marker picks samples on both sides');
select results_eq(
    $$ select function, self_ms, good_self_ms from vital_hotspots('INP', 'shop%', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ values ('click', 26::float8, 2::float8) $$,
    'several sites are one');
select results_eq(
    $$ select function, good_self_ms, good_uploads, good_self_ms_per_load
       from vital_hotspots('LCP', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('help', null::float8, null::bigint, null::float8), ('main', null, null, null) $$,
    'without a good page load there is nothing beside');
select is_empty(
    $$ select * from vital_hotspots('INP', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/help') $$,
    'no poor page load, no rows');
select is_empty($$ select * from vital_hotspots('INP', 'shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');
select throws_ok(
    $$ select * from vital_hotspots('FID', 'shop') $$, '22023', 'no vital is named "FID"', 'an unknown vital');
select throws_ok($$ select * from vital_hotspots(null, 'shop') $$, '22023', 'vital is null', 'a vital must be named');
select throws_ok($$ select * from vital_hotspots('INP', 'shop', top => 0) $$, '22023', 'top is 0', 'top is at least 1');

select results_eq(
    $$ select
           function, round(self_ms_per_load::numeric, 3), round(good_self_ms_per_load::numeric, 3), round(difference_ms::numeric, 6),
           round(difference_low::numeric, 3), round(difference_high::numeric, 3), p < 0.0001, verdict
       from vital_hotspots('INP', 'matched', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('slow', 10.5, 5::numeric, 5.5, 5.198, 5.802, true, 'slower'),
        ('even', 8, 3.6, 0, -0.012, 0.012, false, 'no change seen'),
        ('rare', 1.875, 0, null::numeric, null, null, null, 'too few') $$,
    'poor page loads against good ones of the same device, hour by hour');
select results_eq(
    $$ select distinct difference_ms, difference_low, p, verdict
       from vital_hotspots('INP', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (null::float8, null::float8, null::float8, 'too few') $$,
    'two poor page loads are too few');
select results_eq(
    $$ select distinct verdict
       from vital_hotspots('INP', 'matched', '2026-01-05Z', '2026-01-06Z', device => 'desktop') $$,
    $$ values ('too few') $$,
    'as are 60');
select results_eq(
    $$ select distinct verdict
       from vital_hotspots('INP', 'matched', '2026-01-05 01:00Z', '2026-01-06Z') $$,
    $$ values ('too few') $$,
    'as are 11 hours');

select results_eq(
    $$ select function, self_ms, uploads from measure_hotspots('(interaction)', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('draw', 10::float8, 1::bigint), ('click', 8, 2), ('(layout)', 5, 1), ('main', 0, 2) $$,
    'measure_hotspots also finds windows');
select results_eq(
    $$ select function, self_ms from measure_hotspots('(INP) poor', 'shop', '2026-01-05Z', '2026-01-06Z') where function in ('help', 'draw') $$,
    $$ values ('draw', 10::float8), ('help', 3) $$,
    'and a measure of the same name with them');
select is_empty(
    $$ select * from vital_hotspots('INP', 'shop', '2026-01-05Z', '2026-01-06Z') where function = 'help' $$,
    'a page''s own measure is not a window');

select * from finish();
rollback;
