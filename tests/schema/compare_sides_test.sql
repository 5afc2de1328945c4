-- SPDX-License-Identifier: Apache-2.0
-- Any two sides: filters of one side stand for those of both.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- Twelve hours with both variants. B has three times as many phones; phones cost more, so mix alone would make it dearer.
insert into segment (segment_id, release, variant, device, browser)
values (1, 'v1', 'A', 'desktop', 'Chrome'), (2, 'v1', 'A', 'mobile', 'Chrome'), (3, 'v1', 'B', 'desktop', 'Chrome'), (4, 'v1', 'B', 'mobile', 'Chrome'),
    (5, 'v1', 'A', 'desktop', 'Edge');
create temp table hour as
select segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour' as bucket, variant, device, browser,
    case when browser = 'Edge' then 5 when variant = 'B' and device = 'mobile' then 30 when device = 'mobile' then 10 else 20 end as uploads
from segment, generate_series(0, 11) as hour;
-- Half of the uploads cost `low` ms, the others `high`.
create temp table cost as
select function, variant, device, browser, low * factor as low, high * factor as high
from (values ('same', 1.0), ('sort', 1.5)) as function (function, b_factor)
cross join (values ('A', 'Chrome'), ('B', 'Chrome'), ('A', 'Edge')) as arm (variant, browser)
cross join (values ('desktop', 10.0, 20.0), ('mobile', 30, 50)) as device (device, low, high)
cross join lateral (values (case variant when 'B' then b_factor else 1 end)) as side (factor);

insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into fleetprof_data.resource (resource_id, site, url, last_seen) values (pg_temp.id('shop', 'app'), 'shop', 'https://shop.example/app.js', '2026-01-05');
insert into fleetprof_data.frame
select distinct pg_temp.id('shop', function), function, pg_temp.id('shop', 'app'), 1, ascii(function) , 'function'::fleetprof_data.frame_kind, date '2026-01-05' from cost;
insert into segment_fact
select segment_id, bucket, uploads, uploads, uploads * 100, uploads * 100, uploads * 1000000::bigint, uploads * 1e12, uploads * 1000000::bigint from hour;
insert into frame_fact
select
    segment_id, bucket, pg_temp.id('shop', function), uploads, uploads, uploads,
    uploads * (low + high) / 2 * 1000, uploads * (low + high) * 1000, uploads * (low ^ 2 + high ^ 2) / 2 * 1e6, uploads * (low ^ 2 + high ^ 2) * 2e6,
    uploads * (low + high) / 2 * 1000 * 1e6, uploads * (low + high) * 1000 * 1e6
from hour
join cost using (variant, device, browser);
select pg_temp.pack() \g /dev/null
select plan(24);

create temp table answer as select * from compare_releases('shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B');
select results_eq(
    $$ select function, round(change::numeric, 9), verdict, before_uploads, after_uploads from answer order by 1 $$,
    $$ values ('same', 0.000000000, 'no change seen', 360::bigint, 600::bigint), ('sort', 0.500000000, 'slower', 360, 600) $$,
    'variants are compared in the hours and devices that both have');
select is(
    (select round(change::numeric, 9) from compare_releases('shop', 'v1', 'v1', browser => 'Chrome', before_variant => 'A', after_variant => 'B') where function = 'sort'),
    0.5, 'also within one release');
select is(
    (select round(change::numeric, 6) from compare_releases('shop', browser => 'Chrome', before_variant => 'B', after_variant => 'A') where function = 'sort'),
    round(1 / 1.5 - 1, 6), 'the other way round it is the inverse');
select results_eq(
    $$ select before_uploads, after_uploads, before_hours = after_hours, comparable_share, slower, faster
       from compare_summary('shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B') $$,
    $$ values (360::bigint, 600::bigint, true, 1::float8, 1::bigint, 0::bigint) $$, 'both sides have the same hours');
select is(
    (select after_uploads from compare_summary('shop', before_variant => 'A', after_variant => 'B', before_browser => 'Chrome', after_browser => 'Chrome')),
    600::bigint, 'a side may have several filters of its own');
select is(
    (select before_uploads from compare_summary('shop', browser => 'Edge', before_variant => 'A', after_variant => 'B', before_browser => 'Chrome', after_browser => 'Chrome')),
    360::bigint, 'a filter of one side stands for that of both');
-- Phones cost more by themselves: here the dimension of the sides is not a stratum, so the difference is all there is.
select results_eq(
    $$ select function, round(change::numeric, 9) from compare_releases('shop', variant => 'A', browser => 'Chrome', before_device => 'desktop', after_device => 'mobile') order by 1 $$,
    $$ values ('same', round(40.0 / 15 - 1, 9)), ('sort', round(40.0 / 15 - 1, 9)) $$, 'the dimension that tells the sides apart is not a stratum');
select is(
    (select obstacle from compare_summary('shop', variant => 'A', device => 'desktop', before_browser => 'Chrome', after_browser => 'Edge')), 'not enough data',
    '60 uploads are not enough for a verdict');
select is(
    (select comparable_share from compare_summary('shop', before_browser => 'Edge', after_browser => 'Chrome')), 240.0 / 960::float8,
    'all other dimensions are strata: Edge has no phones and no B');
select is(
    (select before_uploads from compare_summary('shop', before_variant => 'A', after_variant => 'B', since => '2026-01-05 10:00Z')), 70::bigint,
    'a period is that of both sides');
select is(
    (select array[before_uploads, after_uploads] from compare_summary('shop', before_variant => 'A', after_variant => 'B',
        before_since => '2026-01-05Z', before_until => '2026-01-05 02:00Z', since => '2026-01-05 10:00Z')), array[70, 100]::bigint[],
    'unless the earlier side has one of its own');

select throws_ok($$ select from compare_releases('shop', before_variant => 'A') $$, '22023', 'before and after share uploads', 'a side is not compared with all');
select throws_ok($$ select from compare_releases('shop', before_variant => 'A', after_variant => 'A') $$, '22023', 'before and after are the same', 'nor with itself');
select throws_ok($$ select from compare_timings('shop', before_variant => 'A', after_variant => '%') $$, '22023', 'before and after share uploads', 'nor by a pattern');
select throws_ok($$ select from compare_vitals('shop', before_variant => 'A', after_variant => 'C') $$, '22023', 'no page load is on the later side', 'a side has page loads');
select throws_ok($$ select from compare_releases('shop', before_variant => 'C', after_variant => 'A') $$, '22023', 'no page load is on the earlier side', 'either side');
select is_empty($$ select from compare_releases('shop', before_variant => 'A', after_variant => 'B', since => '2026-02-01Z') $$, 'nothing happened later');
select throws_like($$ select from compare_releases('shop', 'v1', 'v9', before_variant => 'A', after_variant => 'B') $$, 'no page load is on the later side', 'nor in a release that is not known');

-- The same devices, told apart by the machine class alone.
update fleetprof_data.segment set machine = case device when 'mobile' then 'low' else 'high' end, device = 'desktop';
select results_eq(
    $$ select function, round(change::numeric, 9) from compare_releases('shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B') order by 1 $$,
    $$ values ('same', 0.000000000), ('sort', 0.500000000) $$, 'machines of one class are compared');
update fleetprof_data.segment set machine = '' where variant = 'A';
select results_eq(
    $$ select comparable_share, (select round(change::numeric, 9) from compare_releases('shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B') where function = 'same')
       from compare_summary('shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B') $$,
    $$ values (1::float8, round(30 / (70.0 / 3) - 1, 9)) $$, 'a class that one side does not know is not a stratum');

-- A browser's version that came between the sides.
update fleetprof_data.segment set browser_version = case variant when 'A' then '155' else '156' end;
select is(
    (select comparable_share from compare_summary('shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B')), 1::float8,
    'a browser version tells no strata apart');
select is(
    (select array[before_uploads, after_uploads] from compare_summary('shop', browser => 'Chrome', before_browser_version => '155', after_browser_version => '156')),
    array[360, 600]::bigint[], 'but sides');

-- Repeated page loads of one side only.
update fleetprof_data.segment set traffic = 'repeated' where variant = 'B' and segment_id = 4;
select is(
    (select comparable_share from compare_summary('shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B')), 1::float8,
    'repeated page loads do not count');
update fleetprof_data.segment set traffic = 'repeated' where segment_id <> 3;
select is(
    (select comparable_share from compare_summary('shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B')), 360 / 600::float8,
    'unless most are');

select * from finish();
rollback;
