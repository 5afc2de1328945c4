-- SPDX-License-Identifier: Apache-2.0
-- vital_hotspots on fleets with known causes: how often it names another function, and how often it finds the cause.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- worlds: how many of each kind. With 40: 0 of 40 of noise name a function, 2 of 40 of cause another one, 36 the cause.
\set worlds 8
\set hours 48
\set loads 60

-- A number from 0 to 1 that is the same on each run.
create function pg_temp.draw(key bigint, seed bigint) returns double precision
language sql immutable
return ((hashint8extended(key, seed) >> 11 & 9007199254740991) + 0.5) / 9007199254740992;
create function pg_temp.normal(key bigint, seed bigint) returns double precision
language sql immutable
return sqrt(-2 * ln(pg_temp.draw(key, 2 * seed))) * cos(2 * pi() * pg_temp.draw(key, 2 * seed + 1));

-- noise: page loads differ in machine, device and hour; all functions take longer on slow ones, and these are poor more often.
-- cause: and a function that runs in a third of them makes some of them poor.
-- visitor: and one visitor loads a page again and again, for two hours, on a machine where one function is slow.
create temp table world as
select kind, number, kind || number as site, row_number() over (order by kind, number) as id
from unnest('{noise,cause,visitor}'::text[]) as kind
cross join generate_series(1, :worlds) as number;

insert into segment (segment_id, site, route, device)
select 4 * id + place, site, case place / 2 when 0 then '/a' else '/b' end, case place % 2 when 0 then 'mobile' else 'desktop' end
from world
cross join generate_series(0, 3) as place;

create temp table load as
select
    id, kind, load, 4 * id + (pg_temp.draw(load, 1) * 4)::integer % 4 as segment_id,
    timestamptz '2026-01-05Z' + hour * interval '1 hour' as bucket,
    exp(0.4 * pg_temp.normal(load, 2) + 0.2 * sin(hour * pi() / 12)) as slowness,
    pg_temp.draw(load, 3) < 0.3 as has_cause, pg_temp.draw(load, 4) as luck, false as is_visitor
from (
    select id, kind, hour, id * 1000000 + hour * 1000 + place as load
    from world
    cross join generate_series(0, :hours - 1) as hour
    cross join generate_series(1, :loads) as place
    where pg_temp.draw(id * 1000000 + hour * 1000 + place, 5) < 0.6 + 0.4 * sin(hour * pi() / 12)
) as load;
insert into load
select id, kind, id * 1000000 + 900000 + place, 4 * id, timestamptz '2026-01-05Z' + (10 + place % 2) * interval '1 hour', 1, false, 0, true
from world
cross join generate_series(1, 60) as place
where kind = 'visitor';

create temp table rated as
select
    *, case
        when luck < case segment_id % 2 when 0 then 0.15 else 0.06 end * slowness ^ 1.5
            + case when kind = 'cause' and has_cause then 0.25 else 0 end then '(INP) poor'
        else '(INP) good' end as window_name
from load;

create temp table cost as
select
    segment_id, bucket, window_name, load, function,
    (1000 * (1 + function % 7) * slowness * case segment_id % 2 when 0 then 2 else 1 end
        * exp(0.8 * pg_temp.normal(load, function + 10)) * case when is_visitor and function = 7 then 20 else 1 end)::bigint as us
from rated
cross join generate_series(1, 40) as function
where case
    when function = 1 then has_cause
    else pg_temp.draw(load, function + 1000) < 0.04 + 0.8 * (function % 10) / 10
end or is_visitor and function = 7;

insert into fleetprof_data.timing
select pg_temp.id(site, 'window' || name), name, 'window', '', '', date '2026-01-05'
from world
cross join (values ('(INP) poor'), ('(INP) good')) as name (name);
insert into fleetprof_data.frame
select pg_temp.id(site, 'f' || function), 'f' || function, null, 1, 1, 'function', date '2026-01-05'
from world
cross join generate_series(1, 40) as function;

insert into measure_fact
select segment_id, bucket, pg_temp.id(site, 'window' || window_name), count(*), count(*), 0, 1000 * count(*), 0, count(*), 1000 * count(*)
from rated
join segment using (segment_id)
group by 1, 2, 3;
insert into measure_frame_fact
select
    segment_id, bucket, pg_temp.id(site, 'window' || window_name), '(none)', pg_temp.id(site, 'f' || function), count(*), count(*),
    count(*), sum(us), sum(us)
from cost
join segment using (segment_id)
group by segment_id, bucket, site, window_name, function;
insert into segment_fact
select segment_id, bucket, count(*), count(*), 1, 1, 1, 0, 0, 0
from rated
group by 1, 2;
insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05', frame
from pg_temp.segment;
select pg_temp.pack() \g /dev/null

create temp table found as
select world.kind as world, number, function, difference_ms, difference_low, difference_high, p, verdict
from world
cross join lateral vital_hotspots('INP', site, '2026-01-05Z', '2026-01-08Z', top => null) as question;

select plan(5);

select diag(format(
    '%s: %s of %s worlds name another function, %s %% of the others'' p below 0.05; the cause is found in %s', world,
    count(distinct number) filter (where verdict = 'slower' and function <> 'f1'), :worlds,
    round(100 * avg((p < 0.05)::integer) filter (where function <> 'f1'), 1),
    count(*) filter (where verdict = 'slower' and function = 'f1')))
from found
group by world
order by world;

select cmp_ok(
    (select count(distinct number)::integer from found where world = 'noise' and verdict = 'slower'), '<=', 1,
    'slow machines alone are not a finding');
select cmp_ok(
    (select count(distinct number)::integer from found where world = 'visitor' and verdict = 'slower'), '<=', 1,
    'nor does one visitor who reloads');
select cmp_ok(
    (select avg((p < 0.05)::integer) from found where world <> 'cause'), '<=', 0.06, 'p keeps its promise');
select cmp_ok(
    (select count(*)::integer from found where world = 'cause' and verdict = 'slower' and function = 'f1'), '>=', 5,
    'the function behind poor page loads is found');
select cmp_ok(
    (select count(*)::integer from found where world = 'cause' and verdict = 'slower' and function <> 'f1'), '<=', 2,
    'and hardly another one with it');

select * from finish();
rollback;
