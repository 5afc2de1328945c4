-- SPDX-License-Identifier: Apache-2.0
-- timings: counts, extremes, means, and percentiles from bins.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into segment (segment_id, site, route) values (2, 'random', '/a'), (3, 'random', '/b'), (4, 'shop-eu', '/cart');
-- Below 64 microseconds a bin is one value: percentiles are exact there.
insert into timing_value (name, kind, us)
select 'hundredths', 'measure', n from generate_series(1, 20) as n;
insert into timing_value (name, kind, us) values
    ('one', 'measure', 1234567),
    ('three', 'mark', 10), ('three', 'mark', 20), ('three', 'mark', 60),
    ('three', 'measure', 1),
    ('partly negative', 'measure', -30), ('partly negative', 'measure', 10), ('partly negative', 'measure', 20),
    ('all negative', 'measure', -30), ('all negative', 'measure', -10),
    ('Zero', 'mark', 0),
    ('close', 'measure', 1000000), ('close', 'measure', 1000001);
insert into timing_value (segment_id, name, us) values (4, 'hundredths', 63);
-- All sizes from a microsecond to minutes, over two segments and many hours.
select setseed(0.7) \g /dev/null
insert into timing_value (segment_id, bucket, name, us)
select 2 + n % 2, '2026-01-05Z'::timestamptz + n % 48 * interval '1 hour', 'spread ' || n % 5, exp(random() * 18)::bigint
from generate_series(1, 5000) as n;
-- The worst cases for bins: values at their edges, around powers of two, all equal, two values far apart, and a tail
-- with most of the sum; each over both segments and many hours.
insert into timing_value (segment_id, bucket, name, us)
select 2 + n % 2, '2026-01-05Z'::timestamptz + n % 48 * interval '1 hour', 'worst: ' || name, us
from (
    select 'edges' as name, ((32 + n % 32)::bigint << (1 + n / 32 % 30)) - n % 3 % 2 as us, n from generate_series(1, 2000) as n
    union all
    select 'powers', (1::bigint << n % 53) + n % 3 - 1, n from generate_series(1, 1000) as n
    union all
    select 'constant', 8191, n from generate_series(1, 500) as n
    union all
    select 'bimodal', case when n % 100 < 49 then 127 else 600000001 end + n % 7, n from generate_series(1, 1000) as n
    union all
    select 'heavy tail', (100 * (1 - random()) ^ -2)::bigint, n from generate_series(1, 3000) as n
    union all
    select 'all but one', case n when 777 then 9007199254740992 else 0 end, n from generate_series(1, 1000) as n
    union all
    select 'two', n, n from generate_series(1048575, 1048577) as n
) as worst;
select pg_temp.store() \g /dev/null

select plan(12);

select is_empty(
    $$ select v from generate_series(0, 63) as v where fleetprof_data.bin_middle_us(v::smallint) <> v $$,
    'bins below 64 are whole microseconds');
select results_eq(
    $$ select bin, fleetprof_data.bin_middle_us(bin::smallint) from unnest(array[64, 65, 95, 96, 127, 128, 1567]) as bin $$,
    $$ values
        (64, 64.5::float8), (65, 66.5), (95, 126.5),   -- [64, 66), [66, 68), [126, 128)
        (96, 129.5), (127, 253.5),                     -- [128, 132), [252, 256)
        (128, 259.5),                                  -- [256, 264)
        (1567, 8936830510563328) $$,                     -- the last 2^47 below 2^53
    'middles of bins in the octaves');
select is_empty(
    $$ select us, middle from (
           select us, fleetprof_data.bin_middle_us(pg_temp.bin_of(us)) as middle
           from generate_series(0, 12) as decade,
               lateral (select (10 ^ decade * (1 + n / 50.0))::bigint as us from generate_series(0, 449) as n) as value) as value
       where abs(middle - us) > 0.016 * us $$,
    'a bin''s middle is at most 1.6 % off');

prepare timings_of_the_day as
    select name, kind, count, p50_ms, p75_ms, p95_ms, p99_ms, min_ms, max_ms, mean_ms
    from timings('shop', '2026-01-05Z', '2026-01-06Z');
select results_eq(
    'timings_of_the_day',
    $$ values
        ('Zero', 'mark', 1::bigint, 0::float8, 0::float8, 0::float8, 0::float8, 0::float8, 0::float8, 0::float8),
        ('all negative', 'measure', 2, null, null, null, null, -0.03, -0.01, -0.02),
        ('close', 'measure', 2, 1000.001, 1000.001, 1000.001, 1000.001, 1000, 1000.001, 1000.0005),
        ('hundredths', 'measure', 20, 0.010, 0.015, 0.019, 0.020, 0.001, 0.020, 0.0105),
        ('one', 'measure', 1, 1234.567, 1234.567, 1234.567, 1234.567, 1234.567, 1234.567, 1234.567),
        ('partly negative', 'measure', 3, 0.01, 0.02, 0.02, 0.02, -0.03, 0.02, 0),
        ('three', 'mark', 3, 0.02, 0.06, 0.06, 0.06, 0.01, 0.06, 0.03),
        ('three', 'measure', 1, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001, 0.001) $$,
    'nearest rank, within [min, max]; negative values count, but are in no percentile');
select results_eq(
    $$ select count, p50_ms, p99_ms, max_ms from timings('shop%', '2026-01-05Z', '2026-01-06Z') where name = 'hundredths' $$,
    $$ values (21::bigint, 0.011::float8, 0.063::float8, 0.063::float8) $$,
    'a name of several sites is one row');
select is_empty($$ select * from timings('shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');

create temp table exact as
select
    name, count(*),
    percentile_disc(array[0.5, 0.75, 0.95, 0.99]) within group (order by us) as us,
    min(us), max(us), avg(us)
from timing_value
where name like 'spread%' or name like 'worst%'
group by name;
select is(
    (select count(*) from timings('random', '2026-01-05Z', '2026-01-07Z')), 12::bigint, 'a row for each of the random names');
select is_empty(
    $$ select name, share, estimate, exact_ms
       from timings('random', '2026-01-05Z', '2026-01-07Z')
       join exact using (name)
       cross join lateral (values
           (50, p50_ms, us[1] / 1000.0), (75, p75_ms, us[2] / 1000.0),
           (95, p95_ms, us[3] / 1000.0), (99, p99_ms, us[4] / 1000.0)) as percentile (share, estimate, exact_ms)
       where (abs(estimate - exact_ms) <= 0.016 * exact_ms) is not true $$,
    'percentiles of many hours and segments are those of all values, at most 1.6 % off');
select results_eq(
    $$ select name, timings.count, min_ms, max_ms, round(mean_ms::numeric, 3)
       from timings('random', '2026-01-05Z', '2026-01-07Z') $$,
    $$ select name, count, min / 1000.0::float8, max / 1000.0::float8, round(avg / 1000, 3) from exact order by name collate "C" $$,
    'count, least, greatest and mean are exact');

-- Buckets: as everywhere.
create function pg_temp.found(since timestamptz, until timestamptz)
returns boolean
language sql
return exists (select from fleetprof.timings('shop', since, until));
select ok(pg_temp.found('2026-01-05 10:20Z', '2026-01-05 10:40Z'), 'an interval within the hour');
select ok(not pg_temp.found('2026-01-05 11:00Z', '2026-01-05 15:00Z'), 'since at the hour''s end');
select ok(not pg_temp.found('2026-01-05 05:00Z', '2026-01-05 10:00Z'), 'until at the hour''s start');

select * from finish();
rollback;
