-- SPDX-License-Identifier: Apache-2.0
-- what_if and fix_first: what vitals would be without what ran.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- All at one rate.
insert into segment (segment_id, route, rate_ppm) values (1, '/cart', 10000), (2, '/help', 10000), (3, '/search', 10000);
insert into segment (segment_id, site) values (4, 'few'), (5, 'builds'), (6, 'soft'), (7, 'own');
insert into segment (segment_id, site, route, rate_ppm) values
    (8, 'slow', '/', 500000),
    (10, 'rates', '/fast', 900000), (11, 'rates', '/slow', 100000), (12, 'rates', '/rare', 100000),
    (20, 'flat', '/fast', 500000), (21, 'flat', '/slow', 500000);
insert into segment (segment_id, site, route) values (9, 'slow', '/'), (13, 'rates', '/fast'), (14, 'rates', '/slow'), (22, 'flat', '/slow');
insert into frame_name values
    ('sort', 'sort', 'https://shop.example/app.js', 10, 1, 'function'),
    ('load 1', 'load', 'https://shop.example/app-0a1b2c3d.js', 10, 1, 'function'),
    ('load 2', 'load', 'https://shop.example/app-ffee0011.js', 12, 1, 'function');
insert into sample (segment_id, us, path) values (1, 1000, '{sort}'), (4, 1000, '{sort}'), (5, 1000, '{load 1}'), (5, 1000, '{load 2}');
-- How many page loads have which INP, and what it would be without a thing, and with half of it; null: the same.
create temp table visit (
    segment_id bigint, visits integer, profiled boolean, now_ms integer, kind text, name text, gone_ms integer, half_ms integer, vital text default 'INP',
    navigation text default '');
insert into visit values
    (1, 140, true, 100, null, null, null, null),
    (2, 60, true, 100, null, null, null, null),
    (1, 100, true, 300, null, null, null, null),
    (1, 60, true, 600, 'function', 'sort', 100, 350),
    (2, 25, true, 600, 'function', 'sort', 100, 350),
    (3, 15, true, 600, 'function', 'sort', 100, 350),
    (1, 30, true, 100, 'host', 'tag.example', 40, 80),
    -- The others have only an INP.
    (1, 1200, false, 600, null, null, null, null),
    (1, 400, false, 100, null, null, null, null),
    (4, 60, true, 600, 'function', 'sort', 100, 350),
    (5, 100, true, 100, null, null, null, null),
    (5, 50, true, 600, 'function', 'load 1', 100, 350),
    (5, 50, true, 600, 'function', 'load 2', 100, 350),
    (8, 200, true, 900, 'host', 'tag.example', 40, 80),
    (9, 1800, false, 100, null, null, null, null),
    (10, 900, true, 100, 'host', 'tag.example', 40, 80),
    (13, 100, false, 100, null, null, null, null),
    (11, 98, true, 600, 'host', 'chat.example', 100, 350),
    (14, 902, false, 600, null, null, null, null),
    (12, 2, true, 600, 'host', 'chat.example', 100, 350),
    (20, 900, true, 100, 'host', 'tag.example', 40, 80),
    (21, 100, true, 600, 'host', 'chat.example', 100, 350),
    (22, 900, false, 600, null, null, null, null);
-- Responses and measures.
insert into visit values
    (7, 100, true, 1000, 'host', 'tag.example', 400, 700, '(response)'),
    (7, 100, true, 1000, 'package', 'react-dom', 600, 800, 'search'),
    (7, 300, false, 1000, null, null, null, null, '(response)'),
    (7, 300, false, 1000, null, null, null, null, 'search'),
    (7, 60, true, 3000, 'package', 'react-dom', 600, 800, 'rare');
insert into visit values (6, 500, false, 900, null, null, null, null, 'INP', 'soft'), (6, 100, true, 200, 'marker', 'layout', 100, 150, 'LCP', 'hard');
insert into timing_value (segment_id, kind, name, us, navigation)
select
    segment_id,
    case vital when '(response)' then 'response' when 'search' then 'measure' when 'rare' then 'measure' else 'vital' end::fleetprof_data.timing_kind,
    case vital when '(response)' then 'click' else vital end,
    1000 * now_ms,
    navigation
from visit
cross join generate_series(1, visits);
-- Names; what they count stands in bins alone.
insert into timing_value (segment_id, kind, name, source, function, us, navigation)
select distinct segment_id, 'vital_profiled'::fleetprof_data.timing_kind, vital, '', '', -1, navigation from visit where profiled
union all
select distinct segment_id, 'vital_without'::fleetprof_data.timing_kind, vital, kind, name, -1, '' from visit where kind is not null;
select pg_temp.store() \g /dev/null
insert into timing_bin_fact
select segment_id, '2026-01-05 10:00Z', pg_temp.id(site, key), bin, sum(visits)
from (
    select segment_id, 'vital_profiled' || vital || navigation as key, pg_temp.bin_of(1000 * now_ms) as bin, visits
    from visit
    where profiled
    union all
    select segment_id, 'vital_without' || vital || kind || name, 2048 * histogram + pg_temp.bin_of(1000 * ms), visits
    from visit
    cross join lateral (values (0, now_ms), (1, gone_ms), (2, half_ms)) as value (histogram, ms)
    where kind is not null
) as counted
join pg_temp.segment using (segment_id)
group by segment_id, site, key, bin;
select pg_temp.pack() \g /dev/null
-- Functions stand under the ids of their frames.
update fleetprof_data.timing
set function = pg_temp.id(site, function)::text
from (select distinct site from pg_temp.segment) as own
where kind = 'vital_without' and source = 'function' and timing_id = pg_temp.id(site, 'vital_without' || name || source || function);

select plan(27);

select results_eq(
    $$ select kind, name, resource, line, round(p75_ms::numeric, -1), round(p75_gone_ms::numeric, -1), round(p75_halved_ms::numeric, -1), loads, profiled_loads
       from what_if('INP', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('function', 'sort', 'https://shop.example/app.js', 10, 600::numeric, 400::numeric, 600::numeric, 100::bigint, 430::bigint),
        ('host', 'tag.example', null, null, 600, 600, 600, 30, 430) $$,
    'p75 of all page loads, less what that of profiled ones would lose');
select ok(gain_low < gain_ms and gain_ms < gain_high and gain_low >= 0, 'an interval around the gain')
from what_if('INP', 'shop', '2026-01-05Z', '2026-01-06Z') where name = 'sort';
select is(round(less_poor_share::numeric, 4), round(100 / 430.0, 4), 'how many fewer page loads would be poor')
from what_if('INP', 'shop', '2026-01-05Z', '2026-01-06Z') where name = 'sort';
select results_eq(
    $$ select name, loads from what_if('INP', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/help') $$,
    $$ values ('sort', 25::bigint) $$,
    'filters select page loads');
select results_eq(
    $$ select name, gain_ms > 400, gain_low, gain_high from what_if('INP', 'few', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('sort', true, null::float8, null::float8) $$,
    'few page loads say nothing of the interval');
select is_empty($$ select * from fix_first('few', '2026-01-05Z', '2026-01-06Z') $$, 'nor what is first');
select results_eq(
    $$ select name, round(p75_ms::numeric), gain_ms = p75_ms, gain_low <= p75_ms, gain_high = p75_ms, p75_gone_ms from what_if('INP', 'slow', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('tag.example', 99::numeric, true, true, true, 0::float8) $$,
    'a gain is not more than what there is');
select results_eq(
    $$ select name, round(p75_ms::numeric, -1), round(gain_ms::numeric, -1), round(less_poor_share::numeric, 2), loads, profiled_loads
       from what_if('INP', 'rates', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('chat.example', 600::numeric, 500::numeric, 0.50, 100::bigint, 1000::bigint), ('tag.example', 600, 0, 0.00, 900, 1000) $$,
    'a route that is profiled nine times as seldom counts as much per page load');
select results_eq(
    $$ select site, round(sum(weight)::numeric, -1)
       from (values ('rates'), ('flat')) as asked (site)
       cross join fleetprof_data.without_bins(fleetprof_data.select_segments(row(site, '2026-01-05Z', '2026-01-06Z', null, null), true), 'INP')
       where kind = '(profiled)'
       group by site
       order by site $$,
    $$ values ('flat', 1000::numeric), ('rates', 360) $$,
    'and is worth fewer page loads of equal weight');
select results_eq(
    $$ select rank, name, routes, round(gain_ms::numeric, -1) from fix_first('rates', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (1, 'chat.example', '/slow, /rare', 500::numeric) $$,
    'so it does for what is first');
select results_eq(
    $$ select name, round(gain_ms::numeric, -1), round(less_poor_share::numeric, 2) from what_if('INP', 'flat', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('tag.example', 60::numeric, 0.00), ('chat.example', 0, 0.10) $$,
    'where all are profiled at one rate, each counts the same');
select results_eq(
    $$ select name, loads, profiled_loads from what_if('INP', 'builds', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('load', 100::bigint, 200::bigint) $$,
    'a function of two builds is one');
select is_empty($$ select * from what_if('INP', 'soft', '2026-01-05Z', '2026-01-06Z') $$, 'soft navigations are not looked at');
select results_eq(
    $$ select kind, name, round(p75_ms::numeric) from what_if('LCP', 'soft', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('marker', 'layout', 199::numeric) $$,
    'each vital has its own');
select results_eq(
    $$ select rank, name, vital, routes, good_ms from fix_first('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (1, 'sort', 'INP', '/cart, /help, /search', 200::float8) $$,
    'fix_first: what surely gains, with the routes that have it most');
select results_eq(
    $$ select rank, vital, gain_ms from fix_first('%', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ select 1, vital, gain_ms from fix_first('%', '2026-01-05Z', '2026-01-06Z') limit 1 $$,
    'only the first rows');
insert into fleetprof_data.original_function
select resource_id, line, column_number, null, 'src/sort.ts', 1, 1, '', false from fleetprof_data.frame where frame_id = pg_temp.id('shop', 'sort');
select is_empty($$ select from fix_first('shop', '2026-01-05Z', '2026-01-06Z') where owner is not null $$, 'nobody owns it');
insert into fleetprof_data.code_owner values ('shop', 1, '/src/', '@web', '{src/}', null, null);
select results_eq(
    $$ select name, owner from fix_first('shop', '2026-01-05Z', '2026-01-06Z')
       union all select name, owner from what_if('INP', 'shop', '2026-01-05Z', '2026-01-06Z') where kind <> 'function' or owner is not null $$,
    $$ values ('sort', '@web'), ('sort', '@web'), ('tag.example', null) $$, 'its owner, and none of a host');
select results_eq(
    $$ select kind, name, package, party, round(p75_ms::numeric, -2), round(gain_ms::numeric, -2), less_poor_share, loads, profiled_loads
       from what_if('(response)', 'own', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('host', 'tag.example', null::text, null::text, 1000::numeric, 600::numeric, null::float8, 100::bigint, 100::bigint) $$,
    'responses: those of all types together');
select results_eq(
    $$ select kind, name, package, round(p75_ms::numeric, -2), round(gain_ms::numeric, -2), loads
       from what_if('search', 'own', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('package', 'react-dom', 'react-dom', 1000::numeric, 400::numeric, 100::bigint) $$,
    'an own measure, without a package');
select is_empty($$ select * from what_if('click', 'own', '2026-01-05Z', '2026-01-06Z') $$, 'no measure is called this');
select results_eq(
    $$ select rank, kind, name, vital, good_ms, routes from fix_first('own', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (1, 'host', 'tag.example', '(response)', 1000::float8, '/cart'), (2, 'package', 'react-dom', 'search', 1000, '/cart') $$,
    'fix_first ranks them, too, if their values are enough');
select throws_ok($$ select * from what_if('inp', 'shop') $$, '22023', 'nothing is known of "inp" without what ran', 'a vital in lower case');
select throws_ok($$ select * from what_if('', 'shop') $$, '22023', 'nothing is known of "" without what ran', 'no name');
select throws_ok($$ select * from what_if('CLS', 'shop') $$, '22023', 'nothing is known of "CLS" without what ran', 'another vital');
select throws_ok($$ select * from what_if('INP', 'shop', top => 0) $$, '22023', 'top is 0', 'no rows');
select throws_ok($$ select * from fix_first('shop', top => -1) $$, '22023', 'top is -1', 'fewer');

select * from finish();
rollback;
