-- SPDX-License-Identifier: Apache-2.0
-- sites, field_values, summary and releases: what there is to look at.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, site, route, release, device, browser) values
    (1, 'shop', '/cart', 'v1', 'desktop', 'Chrome'), (2, 'shop', '/', 'v2', 'mobile', 'Chrome'), (3, 'blog', '', '', 'mobile', ''),
    (4, 'quiet', '/', 'v1', 'mobile', 'Chrome');
insert into sample (segment_id, bucket, upload, us, path) values
    (1, '2026-01-05 10:00Z', 1, 10000, '{main,render}'),
    (1, '2026-01-05 10:00Z', 2, 30000, '{main}'),
    (1, '2026-01-05 10:00Z', 2, 20000, null),
    (1, '2026-01-05 12:00Z', 3, 20000, '{main}'),
    (2, '2026-01-06 01:00Z', 4, 8000, '{main}'),
    (3, '2026-01-06 02:00Z', 5, 6000, null);
insert into timing_value (segment_id, kind, name, us) values (4, 'mark', 'ready', 7);
select pg_temp.store() \g /dev/null
select pg_temp.pack() \g /dev/null

select plan(24);

select results_eq(
    $$ select site, loads, uploads, profiled_ms from sites() $$,
    $$ values ('shop', 4::bigint, 4::bigint, 88::float8), ('blog', 1, 1, 6), ('quiet', 0, 0, 0) $$,
    'sites with what they have, those with the most uploads first; even one without a trace');
select results_eq(
    $$ select site, date_trunc('day', first_hour, 'UTC'), date_trunc('day', last_hour, 'UTC') from sites() $$,
    $$ values ('shop', '2026-01-05Z'::timestamptz, '2026-01-06Z'::timestamptz), ('blog', '2026-01-06Z', '2026-01-06Z'), ('quiet', null, null) $$,
    'first and last');
select ok(bool_and(first_hour <= '2026-01-05 10:00Z' and last_hour <= '2026-01-06 01:00Z'), 'neither is later than what is there')
from sites() where site = 'shop';

prepare values_of(text) as select * from field_values($1, 'shop', '2026-01-05Z', '2026-01-07Z');
select results_eq($$ execute values_of('route') $$, $$ values ('/cart', 3::bigint), ('/', 1) $$, 'routes, the most uploads first');
select results_eq($$ execute values_of('device') $$, $$ values ('desktop', 3::bigint), ('mobile', 1) $$, 'devices');
select results_eq($$ execute values_of('browser') $$, $$ values ('Chrome', 4::bigint) $$, 'browsers');
select results_eq(
    $$ select * from field_values('site', '%', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('shop', 4::bigint), ('blog', 1) $$, 'sites; one without uploads has no row');
select results_eq(
    $$ select * from field_values('release', '%', '2026-01-06Z', '2026-01-07Z', device => 'mobile') $$,
    $$ values ('', 1::bigint), ('v2', 1) $$, 'filters hold; an absent value is empty');
select throws_ok($$ execute values_of('colour') $$, '22023', 'there is no field "colour"', 'another field');
select throws_ok($$ select * from field_values(null, 'shop') $$, '22023', 'there is no field "null"', 'no field');

select results_eq(
    $$ select * from summary('shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values
        ('2026-01-05 10:00Z'::timestamptz, 2::bigint, 2::bigint, 60::float8, 20::float8, 1, 0::float8, 1::float8, 40::float8),
        ('2026-01-05 12:00Z', 1, 1, 20, 0, 1, 0, 1, 20),
        ('2026-01-06 01:00Z', 1, 1, 8, 0, 1, 0, 1, 8) $$,
    'by hour, and what of it belongs to no visible stack');
select results_eq(
    $$ select sum(loads), sum(uploads), sum(profiled_ms) from summary('%', '2026-01-05Z', '2026-01-07Z') $$,
    $$ select sum(loads), sum(uploads), sum(profiled_ms) from sites() $$, 'hours add up to sites');
select is_empty($$ select * from summary('shop', '2026-01-05Z', '2026-01-07Z', browser => 'Opera') $$, 'no uploads, no hours');
select pg_temp.pack('blocks') \g /dev/null
select results_eq(
    $$ select bucket, hours from summary('shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('2026-01-05 10:00Z'::timestamptz, 1), ('2026-01-05 12:00Z', 1), ('2026-01-06 01:00Z', 1) $$, 'hours that are there');
update fleetprof_data.horizon set hours_from = '2026-01-06Z';
select results_eq(
    $$ select bucket, loads, hours from summary('shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('2026-01-05Z'::timestamptz, 3::bigint, 24), ('2026-01-06 01:00Z', 1, 1) $$, 'where hours are gone a row has a day, and says so');
update fleetprof_data.horizon set hours_from = '-infinity';
select pg_temp.pack() \g /dev/null

select results_eq(
    $$ select * from releases('shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values
        ('v1', '2026-01-05 10:00Z'::timestamptz, '2026-01-05 12:00Z'::timestamptz, 3::bigint, '2026-01-05 10:00Z'::timestamptz, '2026-01-05 10:00Z'::timestamptz),
        ('v2', '2026-01-06 01:00Z', '2026-01-06 01:00Z', 1, '2026-01-06 01:00Z', '2026-01-06 01:00Z') $$,
    'releases in the order in which they began');
select results_eq(
    $$ select release, first_hour from releases('shop', '2026-01-05 12:30Z', '2026-01-05 13:00Z') $$,
    $$ values ('v1', '2026-01-05 10:00Z'::timestamptz) $$, 'the first hour may be earlier than what is asked about');
select is_empty(
    $$ select * from releases('shop', '2026-01-05 11:00Z', '2026-01-05 12:00Z') $$,
    'a release with uploads before and after what is asked about, and none in it, is not there');
select is_empty(
    $$ select * from releases('shop', '2026-01-05 12:30Z', '2026-01-05 12:30Z') $$, 'an empty time range has none, as everywhere');
select throws_ok(
    $$ select * from releases('shop', '2026-01-06Z', '2026-01-05Z') $$, '22023', 'since is later than until', 'since after until');
select is_empty($$ select * from releases('shop', '2026-01-05Z', '2026-01-07Z', device => 'tablet') $$, 'filters hold');
select is_empty($$ select * from releases('nobody') $$, 'an unknown site has none');

-- The latest hour of a site whose days are sealed. Of two hours one at most begins a day.
select fleetprof_data.make_partitions(array(select (now() at time zone 'UTC')::date - n from generate_series(2, 4) as n)) \g /dev/null
delete from sample;
delete from timing_value;
insert into segment (segment_id, site) select 100 + ago, 'ago ' || ago from unnest('{70,71,73,74}'::integer[]) as ago;
insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05', frame
from pg_temp.segment where segment_id > 100;
insert into segment_fact
select segment_id, date_trunc('hour', now(), 'UTC') - interval '1 hour' * (segment_id - 100), 1, 1, 1, 1, 1000, 0, 1000, 0
from pg_temp.segment where segment_id > 100;
select pg_temp.pack('blocks') \g /dev/null
create temp table ago as
select site, last_hour, date_trunc('hour', now(), 'UTC') - interval '1 hour' * substr(site, 5)::integer as hour
from sites() where site like 'ago%';
select results_eq(
    $$ select site, last_hour from ago where hour >= now() - interval '72 hours' order by site $$,
    $$ select site, hour from ago where site in ('ago 70', 'ago 71') order by site $$, 'within three days the hour is known');
select results_eq(
    $$ select site, last_hour from ago where hour < now() - interval '72 hours' order by site $$,
    $$ select site, date_trunc('day', hour, 'UTC') from ago where site in ('ago 73', 'ago 74') order by site $$, 'before that its day is');

select * from finish();
rollback;
