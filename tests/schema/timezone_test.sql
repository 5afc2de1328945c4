-- SPDX-License-Identifier: Apache-2.0
-- Days are the site's days: sites[].timezone in trend by day.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- An hour's samples say which hour it is. Around the ends of summer time: of Sydney 2026-04-05 and 2026-10-04; of Havana,
-- where clocks change at midnight, 2026-03-08 and 2026-11-01.
create temp table hour as
select (day + number * interval '1 hour') at time zone 'UTC' as bucket, number
from generate_series(0, 3 * 24 - 1) as number
cross join unnest('{2026-03-07,2026-04-04,2026-10-03,2026-10-31}'::timestamp[]) as day;
select fleetprof_data.make_partitions(array(select distinct (bucket at time zone 'UTC')::date from hour)) \g /dev/null
insert into segment (segment_id, site, device) values
    (1, 'shop', 'desktop'), (2, 'blog', 'desktop'), (3, 'old', 'desktop'), (4, 'shop', 'mobile');
insert into sample (segment_id, bucket, upload, us, marker, path)
select segment_id, bucket, 1, 1000 * (number + 1), '(none)', '{main}'
from hour
cross join generate_series(1, 2) as segment_id;
insert into timing_value (segment_id, bucket, upload, name, us)
select segment_id, bucket, 1, 'open', 1000
from hour
cross join generate_series(1, 2) as segment_id;
select pg_temp.store() \g /dev/null

-- The expected trend, counted from the hours: uploads and ms per page load of each day.
create function pg_temp.days_of(zone text)
returns table (bucket timestamptz, value_ms numeric, uploads bigint)
language sql
begin atomic
    select min(bucket), round(avg(number + 1), 6), count(*)
    from (select bucket, number, (bucket at time zone zone)::date as day from hour) as local
    group by day
    order by 1;
end;

create function pg_temp.asked(site text, device text, key text default 'main')
returns table (bucket timestamptz, value_ms numeric, uploads bigint)
language sql
begin atomic
    select bucket, round(value_ms::numeric, 6), uploads
    from fleetprof.trend('function', asked.key, 'day', asked.site, '2026-01-01Z', '2026-12-01Z', device => asked.device);
end;

select plan(30);

select is(fleetprof_data.keep_timezones('{"shop": "UTC"}'), null, 'UTC is known');
select is_empty($$ select * from fleetprof_data.site_timezone $$, 'and needs no row');
select is(
    fleetprof_data.keep_sites((
        select jsonb_object_agg(site, jsonb '{"scripts": [], "first_party": [], "source_link": ""}' || zone)
        from unnest(
            '{shop,blog,old,new}'::text[],
            array[jsonb '{"timezone": "Australia/Sydney"}', '{"timezone": "Mars/Olympus"}', '{}', '{"timezone": "Nowhere"}']
        ) as given (site, zone))),
    'blog=Mars/Olympus,new=Nowhere', 'what the server does not know is named');
select results_eq(
    $$ select site, timezone from fleetprof_data.site_timezone $$, $$ values ('shop', 'Australia/Sydney') $$, 'and not kept');
select is(fleetprof_data.keep_timezones('{"shop": "Mars/Olympus"}'), 'shop=Mars/Olympus', 'nor does it replace');
select is(timezone_of('shop'), 'Australia/Sydney', 'what was known');
select is(timezone_of('blog'), 'UTC', 'a site without one');
select is(timezone_of('%'), 'UTC', 'sites that differ');
select is(timezone_of('s%'), 'Australia/Sydney', 'sites that do not');
select is(timezone_of('nobody'), 'UTC', 'no site');
select results_eq($$ select site, timezone from sites() order by site collate "C" $$, $$ values ('blog', 'UTC'), ('old', 'UTC'), ('shop', 'Australia/Sydney') $$, 'sites lists them');

select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select * from pg_temp.asked('shop', '%') where uploads > 20 $$,
    $$ select * from pg_temp.days_of('Australia/Sydney') where uploads > 20 $$,
    'days of Sydney');
select results_eq(
    $$ select distinct uploads from pg_temp.asked('shop', '%') where uploads > 20 order by 1 $$, $$ values (23::bigint), (24), (25) $$,
    'of 23, 24 and 25 hours');
select is(
    (select uploads from pg_temp.asked('shop', '%') where bucket = '2026-04-05 00:00 Australia/Sydney'), 25::bigint, 'when summer ends');
select is(
    (select uploads from pg_temp.asked('shop', '%') where bucket = '2026-10-04 00:00 Australia/Sydney'), 23::bigint, 'and begins');
select results_eq(
    $$ select * from pg_temp.asked('blog', '%') $$, $$ select * from pg_temp.days_of('UTC') $$, 'days of UTC');
select results_eq(
    $$ select bucket, uploads from pg_temp.asked('%', '%') $$, $$ select bucket, 2 * uploads from pg_temp.days_of('UTC') $$,
    'sites of different zones: UTC');

select is(fleetprof_data.keep_timezones('{"shop": "Asia/Kolkata", "blog": "America/Havana"}'), null, 'zones change');
select results_eq(
    $$ select bucket + interval '30 minutes', value_ms, uploads from pg_temp.asked('shop', '%') where uploads = 24 $$,
    $$ select * from pg_temp.days_of('Asia/Kolkata') where uploads = 24 $$, 'an hour belongs to the day in which it begins');
select results_eq(
    $$ select * from pg_temp.asked('blog', 'desktop') where uploads > 20 $$,
    $$ select * from pg_temp.days_of('America/Havana') where uploads > 20 $$, 'days that have midnight twice or never');
select is((select uploads from pg_temp.asked('blog', '%') where bucket = '2026-11-01 04:00Z'), 25::bigint, 'all 25 hours are one day');
select results_eq(
    $$ select bucket, value_ms, uploads from trend('measure', 'open', 'day', 'blog', '2026-10-31 04:00Z', '2026-11-02 05:00Z') $$,
    $$ values ('2026-10-31 04:00Z'::timestamptz, 1::float8, 24::bigint), ('2026-11-01 04:00Z', 1, 25) $$, 'timings');
select results_eq(
    $$ select bucket, uploads from trend('device', 'desktop', 'day', 'blog', '2026-10-31 04:00Z', '2026-11-02 05:00Z') $$,
    $$ values ('2026-10-31 04:00Z'::timestamptz, 24::bigint), ('2026-11-01 04:00Z', 25) $$, 'groups');
select results_eq(
    $$ select bucket from trend('function', 'main', 'hour', 'shop', '2026-04-04Z', '2026-04-07Z') $$,
    $$ select bucket from hour where bucket between '2026-04-04Z' and '2026-04-06 23:00Z' order by 1 $$, 'hours are those of UTC');

-- However facts lie.
select pg_temp.pack('blocks') \g /dev/null
select results_eq(
    format($$ select * from pg_temp.asked('blog', %L) where uploads > 20 $$, device),
    $$ select * from pg_temp.days_of('America/Havana') where uploads > 20 $$, format('in blocks, device %s', device))
from unnest('{%,desktop}'::text[]) as device;
select results_eq(
    $$ select bucket + interval '30 minutes', value_ms, uploads from pg_temp.asked('shop', '%') where uploads = 24 $$,
    $$ select * from pg_temp.days_of('Asia/Kolkata') where uploads = 24 $$, 'in blocks, half an hour');

-- Where hours are gone, days are those of UTC; a local day that began before has the hours that are left.
update fleetprof_data.horizon set hours_from = '2026-11-01Z';
select results_eq(
    $$ select bucket, uploads from trend('function', 'main', 'day', 'blog', '2026-10-31Z', '2026-11-03Z') $$,
    $$ values ('2026-10-31Z'::timestamptz, 24::bigint), ('2026-10-31 04:00Z', 4), ('2026-11-01 04:00Z', 25), ('2026-11-02 05:00Z', 19) $$,
    'UTC days before the horizon');
update fleetprof_data.horizon set hours_from = '-infinity';
select is(fleetprof_data.keep_timezones('{"shop": "UTC", "blog": "UTC"}'), null, 'back to UTC');
select is_empty($$ select * from fleetprof_data.site_timezone $$, 'takes the rows away');

select * from finish();
rollback;
