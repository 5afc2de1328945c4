-- SPDX-License-Identifier: Apache-2.0
-- Windows: what a period of all releases, or a release, is compared with, and weekends with weekends.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

-- Hours of a fortnight in which clocks go back (October 25th in Berlin); releases change each day, and live for it.
create temp table hour as
select to_char(day, 'DDD')::bigint as segment_id, 'v' || to_char(day, 'DDD') as release, 'shop' as site, bucket
from generate_series('2026-10-12Z'::timestamptz, '2026-10-27Z', interval '24 hours') as day
cross join lateral generate_series(day, day + interval '23 hours', interval '1 hour') as bucket;
-- old is there all the time, new for 30 hours of the last weekend.
insert into hour select 1, 'old', 'long', bucket from generate_series('2026-10-12Z'::timestamptz, '2026-10-24 09:00Z', interval '1 hour') as bucket;
insert into hour select 2, 'new', 'long', bucket from generate_series('2026-10-24 10:00Z'::timestamptz, '2026-10-25 15:00Z', interval '1 hour') as bucket;
-- Somebody tries the later release days before its rollout; meanwhile another one comes.
insert into hour
select segment_id, release, 'tried', bucket
from (values
    (3, 'old', '2026-10-12Z'::timestamptz, '2026-10-24 09:00Z'::timestamptz), (4, 'between', '2026-10-21Z', '2026-10-24 09:00Z'),
    (5, 'later', '2026-10-18 12:00Z', '2026-10-18 12:00Z'), (5, 'later', '2026-10-22 14:00Z', '2026-10-22 14:00Z'),
    (5, 'later', '2026-10-24 10:00Z', '2026-10-26 15:00Z')
) as life (segment_id, release, first, last)
cross join lateral generate_series(first, last, interval '1 hour') as bucket;
-- A deploy every hour for two days, up to now; since 24 hours they cost twice as much.
insert into hour
select 1000 + n, 'deploy' || n, 'today', date_bin('1 hour', now(), 'epoch') - n * interval '1 hour' from generate_series(0, 48) as n;
insert into segment (segment_id, site, release) select distinct segment_id, site, release from hour;
insert into fleetprof_data.segment (segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, last_seen)
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into segment_fact select segment_id, bucket, 20, 20, 2000, 2000, 20000000, 2e13, 20000000 from hour;
insert into fleetprof_data.frame values (pg_temp.id('shop', 'work'), 'work', null, null, null, 'builtin', '2026-01-05');
insert into frame_fact
select
    segment_id, bucket, pg_temp.id('shop', 'work'), 20, 20, 20, us * 20, us * 20, us ^ 2 * 20 * 1.1, us ^ 2 * 20 * 1.1, us * 20 * 1e6, us * 20 * 1e6
from (select *, case when bucket >= '2026-10-27Z' and site = 'shop' or site = 'today' and segment_id <= 1024 then 20000 else 10000 end as us from hour) as hour;
select pg_temp.pack() \g /dev/null

select plan(17);
create function pg_temp.earlier(site text, since timestamptz, until timestamptz) returns text language sql as $$
    select format('%s to %s', to_char(w.since at time zone 'UTC', 'MM-DD HH24'), to_char(w.until at time zone 'UTC', 'MM-DD HH24'))
    from window_before(row(earlier.site, earlier.since, earlier.until, null, null), null) as w;
$$;

select is(pg_temp.earlier('shop', '2026-10-26Z', '2026-10-27Z'), '10-19 00 to 10-20 00', 'a window is compared with the same hours seven days earlier');
select is(pg_temp.earlier('shop', '2026-10-13Z', '2026-10-14Z'), '10-12 00 to 10-13 00', 'with the time right before where nothing is that old');
select is(pg_temp.earlier('shop', '2026-10-20Z', '2026-10-28Z'), '10-12 00 to 10-20 00', 'and if it is longer than a week');
insert into site_timezone values ('shop', 'Europe/Berlin'), ('long', 'Europe/Berlin');
select is(pg_temp.earlier('shop', '2026-10-26 12:00Z', '2026-10-27 12:00Z'), '10-19 11 to 10-20 11', 'hours of the day are those of the site, also when clocks change');
update fleetprof_data.horizon set hours_from = '2026-10-20Z';
select is(pg_temp.earlier('shop', '2026-10-26 12:00Z', '2026-10-27 12:00Z'), '10-25 12 to 10-26 12', 'hours must be kept');
update fleetprof_data.horizon set hours_from = '-infinity';

select results_eq(
    $$ select verdict, before_uploads, after_uploads from compare_releases('shop', since => '2026-10-27Z', until => '2026-10-28Z') $$,
    $$ values ('slower', 480::bigint, 480::bigint) $$, 'a period alone is a window of all releases');
select results_eq(
    $$ select lower(before_hours), upper(before_hours) from compare_summary('shop', since => '2026-10-27Z', until => '2026-10-28Z', before_since => '2026-10-26Z') $$,
    $$ values ('2026-10-26Z'::timestamptz, '2026-10-27Z'::timestamptz) $$, 'the earlier one ends where the later one begins');
select throws_ok($$ select * from compare_releases('shop') $$, '22023', 'before and after are the same', 'without any period there are no sides');

select results_eq(
    $$ select function, verdict, round(change::numeric, 3), before_release, after_release, before_uploads, after_uploads,
           upper(after_hours) - lower(after_hours), lower(after_hours) - upper(before_hours)
       from regressions('today', last_hours => 24) $$,
    $$ values ('work', 'slower', 1.000, null, null, 480::bigint, 500::bigint, interval '25 hours', interval '0') $$,
    'the last hours of all releases are a window: releases of an hour get a verdict');
select is_empty($$ select from regressions('today', last_hours => 24, least_change => 1.1) $$, 'small changes can be left out');
select throws_ok(format($$ select * from regressions('today', last_hours => %s) $$, hours), '22023', 'last_hours is ' || hours, 'not of ' || hours || ' hours')
from unnest('{0,8785}'::integer[]) as hours;
select throws_ok(
    $$ select * from regressions('today', 'deploy1', last_hours => 24) $$, '22023', 'last_hours stands beside a release or a period',
    'a release is not a window');

-- Saturday noon to Sunday afternoon.
select results_eq(
    $$ select since, until, before_since, before_until from release_periods(row('long', null, null, null, null), 'old', 'new') $$,
    $$ values ('2026-10-24 10:00Z'::timestamptz, '2026-10-25 16:00Z'::timestamptz, '2026-10-17 10:00Z'::timestamptz, '2026-10-18 15:00Z'::timestamptz) $$,
    'a release of a weekend is compared with the weekend before');

select results_eq(
    $$ select since, until from release_periods(row('tried', null, null, null, null), 'old', 'later') $$,
    $$ values ('2026-10-24 10:00Z'::timestamptz, '2026-10-26 10:00Z'::timestamptz) $$,
    'a release that somebody tried is compared from its rollout on');
select results_eq(
    $$ select previous, latest from latest_releases('tried') $$, $$ values ('between', 'later') $$, 'and is the latest from then on');
select results_eq(
    $$ select release, first_upload, rollout_began from releases('tried', since => '2026-10-12Z') $$,
    $$ values
        ('old', '2026-10-12Z'::timestamptz, '2026-10-12Z'::timestamptz), ('between', '2026-10-21Z', '2026-10-21Z'),
        ('later', '2026-10-18 12:00Z', '2026-10-24 10:00Z') $$, 'its first upload is what it is; its rollout tells its place');
select * from finish();
rollback;
