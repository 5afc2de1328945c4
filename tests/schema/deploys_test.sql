-- SPDX-License-Identifier: Apache-2.0
-- Many deploys: releases that begin in one hour have an order, and can be compared.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

-- v0 since Sunday; on Monday v1, v2 and v3 from 10 o'clock on, 15 hours each.
create temp table hour as
select segment_id, release, bucket
from (values
    (1, 'v0', '2026-01-04Z'::timestamptz, 34), (2, 'v1', '2026-01-05 10:00Z', 15), (3, 'v2', '2026-01-05 10:00Z', 15), (4, 'v3', '2026-01-05 10:00Z', 15)
) as release (segment_id, release, first, hours)
cross join lateral (select first + n * interval '1 hour' from generate_series(0, hours - 1) as n) as hours (bucket);
insert into segment (segment_id, release) select distinct segment_id, release from hour;
insert into fleetprof_data.segment (segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, last_seen, first_seen)
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05',
    case release when 'v1' then '2026-01-05 10:05Z'::timestamptz when 'v2' then '2026-01-05 10:50Z' when 'v3' then '2026-01-05 10:20:00.000001Z' else '-infinity' end
from pg_temp.segment;
insert into segment_fact select segment_id, bucket, 20, 20, 2000, 2000, 20000000, 2e13, 20000000 from hour;
insert into fleetprof_data.frame values (pg_temp.id('shop', 'work'), 'work', null, null, null, 'builtin', '2026-01-05');
insert into frame_fact
select
    segment_id, bucket, pg_temp.id('shop', 'work'), 20, 20, 20, us * 20, us * 20, us ^ 2 * 20 * 1.1, us ^ 2 * 20 * 1.1, us * 20 * 1e6, us * 20 * 1e6
from (select *, case release when 'v2' then 20000 else 10000 end as us from hour) as hour;
select pg_temp.pack() \g /dev/null

select plan(12);

select results_eq(
    $$ select release, first_upload from releases('shop', since => '2026-01-04Z') $$,
    $$ values ('v0', '2026-01-04Z'::timestamptz), ('v1', '2026-01-05 10:05Z'), ('v3', '2026-01-05 10:20:00.000001Z'), ('v2', '2026-01-05 10:50Z') $$,
    'releases that begin in one hour are in the order of their first uploads; of old rows the hour is known');
select results_eq(
    $$ select previous, latest from latest_releases('shop') $$, $$ values ('v0', 'v2') $$,
    'the latest is the one whose first upload came last; it is compared with what most visitors had before');
delete from fleetprof_data.segment where release = 'v0';
select results_eq(
    $$ select given, previous, latest from (values (null), ('v1'), ('v2'), ('v3')) as given (given), latest_releases('shop', release => given) $$,
    $$ values (null, 'v3', 'v2'), ('v1', null, 'v1'), ('v2', 'v3', 'v2'), ('v3', 'v1', 'v3') $$,
    'releases of one hour have one before them, but the first');
select results_eq(
    $$ select function, verdict, before_release, after_release, round(change::numeric, 3) from regressions('shop') $$,
    $$ values ('work', 'slower', 'v3', 'v2', 1.000) $$, 'and can be judged');
select results_eq(
    $$ select verdict, before_uploads, after_uploads from compare_releases('shop', before => 'v1', after => 'v2') $$,
    $$ values ('slower', 300::bigint, 300::bigint) $$, 'two releases that live in the same hours are two sides');
select results_eq(
    $$ select verdict from compare_releases('shop', before => 'v1', after => 'v3') $$, $$ values ('no change seen') $$, 'which may be alike');

-- A row whose time is not in the release's first hour does not count.
update fleetprof_data.segment set first_seen = '2026-01-03 09:00Z' where release = 'v3';
select is((select first_upload from releases('shop', since => '2026-01-04Z') where release = 'v3'), '2026-01-05 10:00Z', 'no release began before its first hour');
update fleetprof_data.segment set first_seen = '2026-01-05 12:00Z' where release = 'v3';
select is((select first_upload from releases('shop', since => '2026-01-04Z') where release = 'v3'), '2026-01-05 10:00Z', 'nor after it');

-- By the day.
update fleetprof_data.segment set first_seen = '2026-01-05 10:20Z' where release = 'v3';
select pg_temp.pack('blocks') \g /dev/null
update fleetprof_data.horizon set hours_from = '2026-01-08Z';
select results_eq(
    $$ select release, first_upload from releases('shop', since => '2026-01-04Z') $$,
    $$ values ('v1', '2026-01-05 10:05Z'::timestamptz), ('v3', '2026-01-05 10:20Z'), ('v2', '2026-01-05 10:50Z') $$, 'the order outlives the hours');

-- A pattern for sites.
select is((select latest from latest_releases('%')), 'v2', 'a pattern that one site matches is this site');
insert into fleetprof_data.segment (segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, last_seen)
select 5, 'blog', '', 'b1', '', '', '', '', '', '', 0, '2026-01-05';
select throws_ok(
    $$ select * from latest_releases('%') $$, '22023', 'releases of several sites do not follow each other',
    'of several sites, the latest releases may be of different ones');
select throws_ok(
    $$ select * from regressions('%', release => 'v2') $$, '22023', 'releases of several sites do not follow each other',
    'nor is one the release before another');
select * from finish();
rollback;
