-- SPDX-License-Identifier: Apache-2.0
-- change_point: since when a level is another one, and how often noise looks like it.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- 72 hours of 20 page loads. `stepped` takes 10 ms, and 13 ms from hour 40 on; release v2 began an hour before.
insert into segment (segment_id, release) values (1, 'v1'), (2, 'v2');
insert into segment (segment_id, site) values (3, 'young');
insert into sample (segment_id, bucket, upload, us, path, measures)
select
    case when hour < 39 then 1 else 2 end, timestamptz '2026-01-05Z' + hour * interval '1 hour', upload, us, array[function],
    array['measured ' || function]
from generate_series(0, 71) as hour
cross join generate_series(1, 20) as upload
cross join lateral (
    values
        ('steady', 10000 + (hour * 7 + upload * 3) % 11 * 100),
        ('stepped', case when hour < 40 then 10000 else 13000 end + (hour * 5 + upload * 3) % 13 * 100)
) as cost (function, us);
insert into sample (segment_id, bucket, us, path)
select 3, timestamptz '2026-01-05Z' + hour * interval '1 hour', case when hour < 40 then 1000 else 5000 end, '{stepped}'
from generate_series(0, 70) as hour;
-- Somebody tries v2 on the day before.
insert into sample (segment_id, bucket, us, path) values (2, '2026-01-05 00:00Z', 10000, '{steady}');
insert into timing_value (segment_id, bucket, upload, kind, name, us)
select
    case when hour < 39 then 1 else 2 end, timestamptz '2026-01-05Z' + hour * interval '1 hour', upload, 'vital', 'LCP',
    case when hour < 40 then 1000000 else 1500000 end + (hour * 5 + upload * 3) % 13 * 20000
from generate_series(0, 71) as hour
cross join generate_series(1, 20) as upload;
select pg_temp.store() \g /dev/null

-- Null worlds and worlds with a step of 30 %, of two weeks: a curve over the day, other weekends, page loads that come and
-- go, and noise that lasts some hours. Draws are the same on each run.
create function pg_temp.draw(key bigint, seed bigint) returns double precision
language sql immutable
return ((hashint8extended(key, seed) >> 11 & 9007199254740991) + 0.5) / 9007199254740992;
create function pg_temp.normal(key bigint, seed bigint) returns double precision
language sql immutable
return sqrt(-2 * ln(pg_temp.draw(key, 2 * seed))) * cos(2 * pi() * pg_temp.draw(key, 2 * seed + 1));
create temp table world as
select kind, number, row_number() over (order by kind, number) as id, 48 + (pg_temp.draw(number, 5) * 240)::integer as begins
from unnest('{noise,step}'::text[]) as kind
cross join generate_series(1, 60) as number;
create temp table hour as
with recursive lasting as (
    select id, 0 as hour, 0.06 * pg_temp.normal(id, 99) as noise from world
    union all
    select id, hour + 1, 0.7 * noise + sqrt(1 - 0.7 ^ 2) * 0.06 * pg_temp.normal(id * 1000 + hour, 77) from lasting where hour < 335
)
select
    *, timestamptz '2026-01-01Z' + hour * interval '1 hour' as bucket,
    round(30 * (1 + 0.8 * sin(hour * pi() / 12 - 2)) * case when hour / 24 % 7 in (2, 3) then 0.6 else 1 end) as loads
from lasting
join world using (id);
create temp table found as
select kind, id, shift.*, abs(place - 1 - begins) as off
from (
    select
        kind, id, begins, array_agg(bucket order by hour) as buckets, array_agg(loads::double precision order by hour) as weights,
        array_agg(
            10 * (1 + 0.3 * sin(hour * pi() / 12)) * case when hour / 24 % 7 in (2, 3) then 0.85 else 1 end * (1 + noise)
            * case when kind = 'step' and hour >= begins then 1.3 else 1 end
            * greatest(0, 1 + pg_temp.normal(id * 1000 + hour, 55) / sqrt(greatest(loads, 1))) order by hour) as level_values
    from hour
    group by kind, id, begins
) as world
cross join lateral fleetprof_data.level_shift(buckets, level_values, weights, 'UTC') as shift;

select plan(17);

prepare point_of(text, text) as
    select
        begins, begins_from <= begins and begins_until >= begins, round(change::numeric, 2), change_low < change, change_high > change,
        p < 0.01, nearest_release, release_began
    from change_point($1, $2, 'shop', '2026-01-05Z', '2026-01-08Z');
select results_eq(
    $$ execute point_of('function', 'stepped') $$,
    $$ values ('2026-01-06 16:00Z'::timestamptz, true, 0.28, true, true, true, 'v2', '2026-01-06 15:00Z'::timestamptz) $$,
    'a function, the hour and the release');
select results_eq(
    $$ execute point_of('measure', 'measured none') $$, $$ execute point_of('function', 'none') $$, 'what never ran has none');
select is_empty($$ execute point_of('function', 'steady') $$, 'what stays as it is has none');
select results_eq(
    $$ select begins, nearest_release from change_point('vital', 'LCP', 'shop', '2026-01-05Z', '2026-01-08Z') $$,
    $$ values ('2026-01-06 16:00Z'::timestamptz, 'v2') $$, 'a vital');
select results_eq(
    $$ select begins, nearest_release from change_point('function', 'stepped', 'shop', '2026-01-05Z', '2026-01-08Z', release => 'v%') $$,
    $$ values ('2026-01-06 16:00Z'::timestamptz, 'v2') $$, 'filters hold');
select is_empty(
    $$ select * from change_point('function', 'stepped', 'shop', '2026-01-05Z', '2026-01-08Z', release => 'v2') $$,
    'a level that was there from the first hour on has no beginning');
select is_empty(
    $$ select * from change_point('function', 'stepped', 'young', '2026-01-05Z', '2026-01-08Z') $$, '71 hours are too few');
select throws_ok(
    $$ select * from change_point('colour', 'red', 'shop') $$, '22023', 'there is no trend by "colour"', 'an unknown group');

select diag(format(
    '%s: %s of 60 have a change point, %s of them on the right day; %s of 60 intervals hold the hour', kind, count(*) filter (where p <= 0.01),
    count(*) filter (where p <= 0.01 and off <= 24), count(*) filter (where p <= 0.01 and low_place - 1 <= place - 1 and off <= greatest(place - low_place, high_place - place))))
from found
group by kind
order by kind;
select cmp_ok((select count(*)::integer from found where kind = 'noise' and p <= 0.01), '<=', 3, 'noise has hardly a change point');
select cmp_ok((select count(*)::integer from found where kind = 'step' and p <= 0.01), '>=', 54, 'a step of 30 % is found');
select cmp_ok(
    (select count(*)::integer from found where kind = 'step' and p <= 0.01 and off <= 24), '>=', 54, 'on the right day');
select cmp_ok(
    (select count(*)::integer from found where kind = 'step' and p <= 0.01 and change_low <= 0.3 and change_high >= 0.3), '>=', 51,
    'and its interval holds 30 %');
select is(
    (select round(avg(change)::numeric, 1) from found where kind = 'step'), 0.3, 'which it is on average');
-- An outage of three hours is not a level.
select is(
    (select count(*)::integer from (
        select array_agg(timestamptz '2026-01-01Z' + hour * interval '1 hour' order by hour) as buckets,
            array_agg(case when hour between 100 and 102 then 100 else 10 + (hour * 7 % 11) / 10.0 end::double precision order by hour) as level_values,
            array_agg(1::double precision order by hour) as weights
        from generate_series(0, 335) as hour) as world
     cross join lateral fleetprof_data.level_shift(buckets, level_values, weights, 'UTC') as shift
     where p <= 0.01), 0, 'an outage is not a level');
select ok(abs(change - 1.5) < tolerance and change_low < 1.5 and change_high > 1.5, 'a level of one day is as high as it is, ' || name)
from (
    select
        name, tolerance, array_agg(timestamptz '2026-01-01Z' + hour * interval '1 hour' order by hour) as buckets,
        array_agg((10 + (hour * 7 % 11) / 10.0) * case when hour >= 192 then 2.5 when hour between 36 and 38 then outage else 1 end::double precision order by hour) as level_values,
        array_agg(1::double precision order by hour) as weights
    from (values ('however far from the others', 1, 0.02), ('after an outage', 10, 0.1)) as world (name, outage, tolerance)
    cross join generate_series(0, 215) as hour
    group by name, tolerance
) as world
cross join lateral fleetprof_data.level_shift(buckets, level_values, weights, 'UTC') as shift
order by name;
select results_eq(
    $$ select place, change, p < 0.01 from (
           select array_agg(timestamptz '2026-01-01Z' + hour * interval '1 hour' order by hour) as buckets,
               array_agg(case when hour < 150 then 0 else 10 + (hour * 7 % 11) / 10.0 end::double precision order by hour) as level_values,
               array_agg(1::double precision order by hour) as weights
           from generate_series(0, 215) as hour) as world
       cross join lateral fleetprof_data.level_shift(buckets, level_values, weights, 'UTC') as shift $$,
    $$ values (151, null::double precision, true) $$, 'what begins has no share');

select * from finish();
rollback;
