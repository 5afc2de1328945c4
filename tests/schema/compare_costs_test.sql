-- SPDX-License-Identifier: Apache-2.0
-- compare_costs: groups of functions are judged as functions are.
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
from (values ('same', 1.0), ('sort', 1.5), ('lib', 1.0)) as function (function, b_factor)
cross join (values ('A', 'Chrome'), ('B', 'Chrome'), ('A', 'Edge')) as arm (variant, browser)
cross join (values ('desktop', 10.0, 20.0), ('mobile', 30, 50)) as device (device, low, high)
cross join lateral (values (case variant when 'B' then b_factor else 1 end)) as side (factor);

insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into fleetprof_data.resource (resource_id, site, url, last_seen) 
values (pg_temp.id('shop', 'app'), 'shop', 'https://shop.example/app.js', '2026-01-05'),
    (pg_temp.id('shop', 'cdn'), 'shop', 'https://cdn.example/npm/lodash@4.17.21/lodash.js', '2026-01-05');
insert into fleetprof_data.frame
select distinct pg_temp.id('shop', function), function, pg_temp.id('shop', case function when 'lib' then 'cdn' else 'app' end), 1, ascii(function) , 'function'::fleetprof_data.frame_kind, date '2026-01-05' from cost;
insert into segment_fact
select segment_id, bucket, uploads, uploads, uploads * 100, uploads * 100, uploads * 1000000::bigint, uploads * 1e12, uploads * 1000000::bigint from hour;
insert into frame_fact
select
    segment_id, bucket, pg_temp.id('shop', function), uploads, uploads, uploads,
    uploads * (low + high) / 2 * 1000, uploads * (low + high) * 1000, uploads * (low ^ 2 + high ^ 2) / 2 * 1e6, uploads * (low ^ 2 + high ^ 2) * 2e6,
    uploads * (low + high) / 2 * 1000 * 1e6, uploads * (low + high) * 1000 * 1e6
from hour
join cost using (variant, device, browser);
-- Six functions on machines that are a fifth slower; twenty pages, of which one costs half as much again, and one what
-- chance makes of one in twenty.
create temp table page as
select
    100 * side + 1000 * (site = 'pages')::integer + number as segment_id, site, case side when 1 then 'A' else 'B' end as variant, '/' || number as route,
    functions, case when side = 1 then 1 when site = 'slow' then 1.2 when number = 3 then 1.5 when number = 5 then 1.113 else 1 end as factor
from (values ('slow', 2, 6), ('pages', 20, 1)) as world (site, pages, functions)
cross join lateral generate_series(1, pages) as number
cross join generate_series(1, 2) as side;
insert into fleetprof_data.segment (segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, last_seen)
select segment_id, site, route, '', '', variant, '', '', '', '', 0, '2026-01-05' from page;
insert into fleetprof_data.frame
select distinct pg_temp.id(site, 'f' || n), 'f' || n, null::bigint, null::integer, null::integer, 'builtin'::fleetprof_data.frame_kind, date '2026-01-05'
from page cross join lateral generate_series(1, functions) as n;
insert into segment_fact
select segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour', 200, 200, 20000, 20000, 2e8, 2e14, 2e8, 0 from page, generate_series(0, 11) as hour;
-- 15 ms, and a deviation of 15.
insert into frame_fact
select
    segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour', pg_temp.id(site, 'f' || n), 200, 200, 200, 200 * 15000 * factor, 200 * 15000 * factor,
    200 * 4.5e8 * factor ^ 2, 200 * 4.5e8 * factor ^ 2, 200 * 15000 * 1e6 * factor, 200 * 15000 * 1e6 * factor
from page
cross join lateral generate_series(1, functions) as n
cross join generate_series(0, 11) as hour;
select pg_temp.pack() \g /dev/null
select plan(17);

create temp table answer as select * from compare_costs('host', 'shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B');
select results_eq(
    $$ select name, round(change::numeric, 9), round(own_change::numeric, 9), verdict, before_uploads, after_uploads from answer $$,
    $$ values ('shop.example', 0.25, 0.25, 'slower', 360::bigint, 600::bigint), ('cdn.example', 0.000000000, 0.000000000, 'no change seen', 360, 600) $$,
    'a host costs what its functions cost together');
select ok(abs(before_self_ms - 2 * (2.0 * 15 + 40) / 3) < 1e-6 and abs(after_self_ms - 2.5 * (2 * 15 + 3 * 40) / 5.0) < 1e-6,
    'self times are as observed, per page load') from answer where name = 'shop.example';
-- Deviations are 5 and 10 ms in each of two functions, half as much again in one of the later side.
create temp table hand as
select
    4.0 / 7 * 30 + 3.0 / 7 * 80 as before_mean, 1.25 * (4.0 / 7 * 30 + 3.0 / 7 * 80) as after_mean,
    (4.0 / 7) ^ 2 * (240 * (25 + 25) + 240 * (25 + 56.25)) / 478 * (1.0 / 240 + 1.0 / 240)
        + (3.0 / 7) ^ 2 * (120 * (100 + 100) + 360 * (100 + 225)) / 478 * (1.0 / 120 + 1.0 / 360) as variance,
    (4.0 / 7) ^ 2 * (240 * 50) / 239.0 / 240 + (3.0 / 7) ^ 2 * (120 * 200) / 119.0 / 120 as before_variance,
    (4.0 / 7) ^ 2 * (240 * 81.25) / 239.0 / 240 + (3.0 / 7) ^ 2 * (360 * 325) / 359.0 / 360 as after_variance;
select ok(abs(ln((1 + own_high) / (1 + own_change)) - 2 * sqrt(greatest(
    before_variance / before_mean ^ 2 + after_variance / after_mean ^ 2, variance / ((360 * before_mean + 600 * after_mean) / 960) ^ 2))) < 1e-4,
    'the interval is that of independent functions, where hours are alike') from answer, hand where name = 'shop.example';
select is((select array_agg(name || ' ' || verdict) from compare_costs('package', 'shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B')),
    '{(no package) slower,lodash no change seen}', 'packages');
select is((select array_agg(name || ' ' || verdict) from compare_costs('resource', 'shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B', top => 1)),
    '{https://shop.example/app.js slower}', 'scripts; top cuts');
-- Each function costs the same, but one grew by half: 3 of 45 ms, or of 120.
select results_eq(
    $$ select name, round(before_self_ms::numeric, 6), round(change::numeric, 9), verdict, before_uploads, after_uploads
       from compare_costs('device', 'shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B') order by name $$,
    $$ values ('desktop', 45.000000, round(1 / 6.0, 9), 'slower', 240::bigint, 240::bigint), ('mobile', 120.000000, round(1 / 6.0, 9), 'slower', 120, 360) $$,
    'the values of a dimension, per page load that has the value');
select is((select array_agg(name) from compare_costs('route', 'shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B')), '{/cart}', 'routes');
select results_eq(
    $$ select name, round(change::numeric, 3), round(own_change::numeric, 3), verdict from compare_costs('route', 'slow', before_variant => 'A', after_variant => 'B') order by 1 $$,
    $$ values ('/1', 0.200, 0.000, 'no change seen'), ('/2', 0.200, 0.000, 'no change seen') $$, 'machines are not pages: of few functions, the median says what they did');
select ok(p between 0.0007 and 0.012, 'one of twenty pages is unlikely by itself')
from compare_costs('route', 'pages', before_variant => 'A', after_variant => 'B') where name = '/5';
select results_eq(
    $$ select name, verdict from compare_costs('route', 'pages', before_variant => 'A', after_variant => 'B') where name in ('/3', '/5') or verdict <> 'no change seen' $$,
    $$ values ('/3', 'slower'), ('/5', 'no change seen') $$, 'but not among twenty');

-- The functions of the host's script have one owner: they cost together what the host costs.
insert into fleetprof_data.original_function
select resource_id, line, column_number, null, 'src/cart.ts', 1, 1, '', false from fleetprof_data.frame where resource_id = pg_temp.id('shop', 'app') limit 1;
insert into fleetprof_data.code_owner values ('shop', 1, '/src/', '@web', '{src/}', null, null);
select results_eq(
    $$ select replace(replace(name, '@web', 'shop.example'), '(package)', 'cdn.example'), before_self_ms, after_self_ms, change, change_low, change_high, own_low, own_high, verdict, before_uploads
       from compare_costs('owner', 'shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B') $$,
    $$ select name, before_self_ms, after_self_ms, change, change_low, change_high, own_low, own_high, verdict, before_uploads from answer $$,
    'owners');

-- Where hours differ, functions of a group have them in common: one group may vary more than its functions.
update frame_fact set self_us = self_us * case when extract(hour from bucket at time zone 'UTC')::integer % 2 = 0 then 1.5 else 0.5 end,
    self_us2 = self_us2 * case when extract(hour from bucket at time zone 'UTC')::integer % 2 = 0 then 2.25 else 0.25 end;
select pg_temp.pack() \g /dev/null
select ok(b.own_high - b.own_low > 1.5 * (a.own_high - a.own_low), 'hours that differ widen the interval')
from answer as a join compare_costs('host', 'shop', browser => 'Chrome', before_variant => 'A', after_variant => 'B') as b using (name) where name = 'shop.example';

select throws_ok($$ select from compare_costs('variant', 'shop', before_variant => 'A', after_variant => 'B') $$, '22023', 'costs cannot be compared by "variant"', 'the sides are not the groups');
select throws_ok($$ select from compare_costs('release', 'shop', 'v1', 'v2') $$, '22023', 'costs cannot be compared by "release"', 'nor are releases');
select throws_ok($$ select from compare_costs(null, 'shop', before_variant => 'A', after_variant => 'B') $$, '22023', 'costs cannot be compared by "null"', 'by is given');
select throws_ok($$ select from compare_costs('host', 'shop', before_variant => 'A', after_variant => 'B', top => 0) $$, '22023', 'top is 0', 'top is at least 1');
select is_empty($$ select from compare_costs('host', 'shop', 'v1', 'v9') $$, 'nothing is compared with nothing');

select * from finish();
rollback;
