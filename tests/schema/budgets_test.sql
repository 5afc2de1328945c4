-- SPDX-License-Identifier: Apache-2.0
-- budgets: what visitors wait, against what they may wait.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

insert into segment (segment_id, route) values (1, '/cart'), (2, '/help');
insert into segment (segment_id, site) values (3, 'blog'), (4, 'tagged');
insert into frame_name values
    ('sort', 'sort', 'https://shop.example/app.js', 10, 1, 'function'),
    ('tag', 'tag', 'https://eu.tags.example/t.js', 1, 1, 'function'),
    ('near', 'near', 'https://nottags.example/t.js', 1, 1, 'function'),
    ('late', 'late', 'https://late.example/t.js', 1, 1, 'function');
-- From noon of the 5th to noon of the 7th: each hour has 30 page loads of /cart, of which 10 have a slow INP, and from
-- midnight of the 7th 20; and 6 of /help, all fast.
insert into timing_value (segment_id, bucket, kind, name, us, navigation)
select segment, hour, 'vital', 'INP', case when number <= case when hour >= '2026-01-07Z' then slow_late else slow end then 400000 else 100000 end, 'hard'
from generate_series('2026-01-05 12:00Z'::timestamptz, '2026-01-07 11:00Z', '1 hour') as hour
cross join (values (1, 30, 3, 20), (2, 6, 0, 0)) as page (segment, loads, slow, slow_late)
cross join generate_series(1, loads) as number;
insert into timing_value (segment_id, bucket, kind, name, us)
select 1, '2026-01-07 11:00Z', 'measure', 'search', 1000 * (number % 10 + 1) from generate_series(1, 300) as number;
insert into timing_value (segment_id, bucket, kind, name, us, navigation)
select 1, '2026-01-07 11:00Z', 'vital', 'CLS', 50000, 'hard' from generate_series(1, 100);
-- The middles of these bins lie on the other sides of the limits of 2.5 s and 3 s.
insert into timing_value (segment_id, bucket, kind, name, us, navigation)
select 3, '2026-01-07 11:00Z', 'vital', name, us, 'hard'
from (values ('LCP', 2495000), ('FCP', 3010000)) as edge (name, us), generate_series(1, 100);
insert into timing_value (segment_id, bucket, kind, name, us)
select 3, '2026-01-07 11:00Z', 'measure', 'around', 2491000 + 500 * number from generate_series(1, 100) as number;
-- 20 ms of scripts, 4 of them the tag's, in each of 5 page loads an hour; layout is not JS.
insert into sample (segment_id, bucket, upload, marker, us, path)
select 1, hour, 1000 * extract(hour from hour)::integer + number, marker::fleetprof_data.marker, us, path::text[]
from generate_series('2026-01-06 12:00Z'::timestamptz, '2026-01-07 11:00Z', '1 hour') as hour
cross join generate_series(1, 5) as number
cross join (values ('(none)', 14000, '{sort}'), ('(none)', 4000, '{tag}'), ('(none)', 1000, '{near}'), ('script', 1000, '{}'), ('layout', 3000, '{}')) as part (marker, us, path);
-- Browsers hide the functions of hidden.example, and since midnight those of late.example.
insert into timing_value (segment_id, bucket, kind, name, us) values (4, '2026-01-07 11:00Z', 'resource', 'hidden.example', 40000);
insert into sample (segment_id, bucket, upload, marker, us, path)
select 4, hour, 5000 + 1000 * extract(hour from hour)::integer + number, '(none)', 1000, path::text[]
from generate_series('2026-01-06 12:00Z'::timestamptz, '2026-01-07 11:00Z', '1 hour') as hour
cross join generate_series(1, 5) as number
cross join (values ('{sort}'), ('{late}')) as part (path)
where path <> '{late}' or hour < '2026-01-07Z';
select pg_temp.store() \g /dev/null

select plan(22);

select is(count(*), 0::bigint, 'no budget, no row') from budgets('shop', '2026-01-06 12:00Z', '2026-01-07 12:00Z');
select keep_sites('{"shop": {"scripts": [], "first_party": [], "performance_budgets": [
    {"name": "INP p75 <= 200ms on /cart", "kind": "vital", "what": "INP", "percentile": 75, "limit_us": 200000, "route": "/cart"},
    {"name": "INP p75 <= 200ms on /h*", "kind": "vital", "what": "INP", "percentile": 75, "limit_us": 200000, "route": "/h*"},
    {"name": "INP p75 <= 405ms", "kind": "vital", "what": "INP", "percentile": 75, "limit_us": 405000, "route": ""},
    {"name": "CLS p75 <= 0.1", "kind": "vital", "what": "CLS", "percentile": 75, "limit_us": 100000, "route": ""},
    {"name": "measure search p80 <= 8ms", "kind": "measure", "what": "search", "percentile": 80, "limit_us": 8000, "route": ""},
    {"name": "LCP p75 <= 2.5s", "kind": "vital", "what": "LCP", "percentile": 75, "limit_us": 2500000, "route": ""},
    {"name": "JS mean <= 10ms", "kind": "js", "what": "", "percentile": 0, "limit_us": 10000, "route": ""},
    {"name": "third-party tags.example mean <= 5ms", "kind": "third_party", "what": "tags.example", "percentile": 0, "limit_us": 5000, "route": ""}
]}, "blog": {"scripts": [], "first_party": [], "performance_budgets": [
    {"name": "INP p75 <= 1s", "kind": "vital", "what": "INP", "percentile": 75, "limit_us": 1000000, "route": ""},
    {"name": "LCP p75 <= 2.5s", "kind": "vital", "what": "LCP", "percentile": 75, "limit_us": 2500000, "route": ""},
    {"name": "FCP p75 <= 3s", "kind": "vital", "what": "FCP", "percentile": 75, "limit_us": 3000000, "route": ""},
    {"name": "measure around p75 <= 2.5s", "kind": "measure", "what": "around", "percentile": 75, "limit_us": 2500000, "route": ""}
]}, "tagged": {"scripts": [], "first_party": [], "performance_budgets": [
    {"name": "hidden", "kind": "third_party", "what": "hidden.example", "percentile": 0, "limit_us": 5000, "route": ""},
    {"name": "late", "kind": "third_party", "what": "late.example", "percentile": 0, "limit_us": 5000, "route": ""}]}}') \g /dev/null

create function pg_temp.budget(text) returns setof record language sql as $$
    select * from budgets('shop', '2026-01-06 12:00Z', '2026-01-07 12:00Z') where name = $1 $$;
create temp table judged as select * from budgets('shop', '2026-01-06 12:00Z', '2026-01-07 12:00Z');

select results_eq(
    'select name, verdict from judged',
    $$ values
        ('INP p75 <= 200ms on /cart', 'over'),
        ('INP p75 <= 200ms on /h*', 'within'),
        ('INP p75 <= 405ms', 'within'),
        ('CLS p75 <= 0.1', 'within'),
        ('measure search p80 <= 8ms', 'unsure'),
        ('LCP p75 <= 2.5s', 'too few'),
        ('JS mean <= 10ms', 'over'),
        ('third-party tags.example mean <= 5ms', 'within') $$,
    'each budget in the order of the configuration, and its verdict');
select results_eq(
    $$ select unit, limit_value, round(value::numeric), count from judged where name like 'INP%cart' $$,
    $$ values ('ms', 200::float8, 397::numeric, 720::bigint) $$, 'a percentile of the budget''s own route');
select ok(value between 98 and 102, 'a * in a route is any text') from judged where name like '%/h*';
select results_eq(
    $$ select unit, limit_value, value between 49 and 51 from judged where name like 'CLS%' $$,
    $$ values ('score x 1000', 100::float8, true) $$, 'a score has the unit of vitals');
select ok(value_low < value_high and value_low <= 8 and value_high > 8, 'an interval that the limit is in') from judged where name like 'measure%';
select results_eq(
    $$ select round(value::numeric, 6), round(value_low::numeric, 6), round(value_high::numeric, 6), count from judged where name like 'JS%' $$,
    $$ values (20.000000, 20.000000, 20.000000, 120::bigint) $$, 'JS: time of scripts per page load, without layout');
select is(round(value::numeric, 6), 4.000000, 'a third party with its subdomains, no other host') from judged where name like 'third-party%';
select results_eq(
    $$ select name, value, value_low, value_high, verdict, burn_3d, over_since, count from budgets('tagged', '2026-01-07Z', '2026-01-07 12:00Z') where name = 'hidden' $$,
    $$ values ('hidden', null::float8, null::float8, null::float8, 'too few', null::float8, null::timestamptz, 60::bigint) $$,
    'the time of a host is not known if browsers hide its functions');
select results_eq(
    $$ select value, value_low, value_high, verdict from budgets('tagged', '2026-01-07Z', '2026-01-07 12:00Z') where name = 'late' $$,
    $$ values (null::float8, null::float8, null::float8, 'too few') $$, 'nor if they hide them in the whole period');
select results_eq(
    $$ select round(value::numeric, 6), verdict from budgets('tagged', '2026-01-06 12:00Z', '2026-01-07 12:00Z') where name = 'late' $$,
    $$ values (0.5, 'within') $$, 'it is in a period in which its functions were seen');
select results_eq(
    $$ select name, verdict, round(burn_24h::numeric, 1) from budgets('blog', '2026-01-06 12:00Z', '2026-01-07 12:00Z') where count = 100 order by 1 $$,
    $$ values ('FCP p75 <= 3s', 'over', 4.0), ('LCP p75 <= 2.5s', 'within', 0.0), ('measure around p75 <= 2.5s', 'unsure', 3.3) $$,
    'a verdict is about values, not about the middles of bins');
select ok(value_low <= 2499.5 and value_high >= 2541, 'an interval does not end inside a bin')
from budgets('blog', '2026-01-06 12:00Z', '2026-01-07 12:00Z') where name like 'measure%';
-- The period of an hour has too few hours for an interval.
select results_eq(
    $$ select verdict, value_low from budgets('shop', '2026-01-07 10:00Z', '2026-01-07 12:00Z') where name like 'JS%' $$,
    $$ values ('too few', null::float8) $$, 'a mean of two hours is not judged');
-- A quarter of the values may be above: 20 of 30 are since midnight, 3 of 30 before.
select results_eq(
    $$ select round(burn_1h::numeric, 3), round(burn_6h::numeric, 3), round(burn_24h::numeric, 3), round(burn_3d::numeric, 3) from judged where name like 'INP%cart' $$,
    $$ values (round(20 / 30.0 / 0.25, 3), round(20 / 30.0 / 0.25, 3), round(11.5 / 30 / 0.25, 3), round((36 * 3 + 12 * 20) / 48.0 / 30 / 0.25, 3)) $$,
    'burn rates: the share above the limit against what the percentile allows');
select is(round(burn_24h::numeric, 3), 2.000, 'of a mean: the mean against the limit') from judged where name like 'JS%';
select is(over_since, '2026-01-07Z'::timestamptz, 'since which day') from judged where name like 'INP%cart';
select is(over_since, null, 'a budget that holds was exceeded on no day') from judged where name like '%/h*';
select is(count(*), 14::bigint, 'a pattern of sites has the budgets of each') from budgets('%', '2026-01-06 12:00Z', '2026-01-07 12:00Z');
select throws_ok($$ select * from budgets(null) $$, '22023', 'site is null', 'wrong filters are errors');

select keep_sites('{"shop": {"scripts": [], "first_party": []}}') \g /dev/null
select is(count(*), 14::bigint, 'an older collector does not know of them') from performance_budget;
select keep_sites('{"shop": {"scripts": [], "first_party": [], "performance_budgets": []}}') \g /dev/null
select results_eq('select distinct site from performance_budget order by 1', $$ values ('blog'), ('tagged') $$, 'what the configuration has no more is gone');

select * from finish();
rollback;
