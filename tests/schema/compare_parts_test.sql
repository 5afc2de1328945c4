-- SPDX-License-Identifier: Apache-2.0
-- compare_releases: more parts per page load change neither what runs once nor what runs all the time.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- Each side is a day of 500 page loads per hour, of two and of three equally long parts.
insert into segment (segment_id, release) values (1, 'v1'), (2, 'v2');
create temp table hour as
select
    segment_id, segment_id + 1 as parts, number,
    '2026-01-05Z'::timestamptz + (segment_id - 1) * interval '1 day' + number * interval '1 hour' as bucket
from segment, generate_series(0, 23) as number;
create temp table cost as
select hour.*, 'once' || n as function, 500 - (n * 7 + number * 13 + segment_id * 5) % 19 as uploads, 1 as factor from hour, generate_series(1, 30) as n
union all
select hour.*, 'timer' || n, 500 * parts - (n * 7 + number * 13 + segment_id * 5) % 19, 1 from hour, generate_series(1, 12) as n
union all
select hour.*, 'threefold', 500 * parts - number % 7, case segment_id when 2 then 3 else 1 end from hour;

insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into fleetprof_data.resource (resource_id, site, url, last_seen) values (pg_temp.id('shop', 'app.js'), 'shop', 'app.js', '2026-01-05');
insert into fleetprof_data.frame
select distinct pg_temp.id('shop', function), function, pg_temp.id('shop', 'app.js'), 1, 1, 'function'::fleetprof_data.frame_kind, date '2026-01-05' from cost;
insert into segment_fact
select segment_id, bucket, 500 * parts, 500, 50000 * parts, 50000 * parts, 500000000 * parts, 5e14 * parts, 500000000 * parts, 0 from hour;
-- 20 ms in each upload that has it, more or less.
insert into frame_fact
select
    segment_id, bucket, pg_temp.id('shop', function), uploads, uploads, uploads, uploads * 20000 * factor, uploads * 20000 * factor,
    uploads * 7.2e8 * factor ^ 2, uploads * 7.2e8 * factor ^ 2, uploads * 2e10 * factor, uploads * 2e10 * factor
from cost;
select pg_temp.pack() \g /dev/null

select plan(5);

create temp table answer as select * from compare_releases('shop', 'v1', 'v2');
select is_empty(
    $$ select function, change, own_change, p from answer where verdict in ('slower', 'faster') and function <> 'threefold' $$,
    'more parts per page load make nothing slower or faster');
select is((select verdict from answer where function = 'threefold'), 'slower', 'what changed by more is still found');
select is_empty(
    $$ select function from compare_releases('shop', 'v2', 'v1') where verdict in ('slower', 'faster') and function <> 'threefold' $$, 'nor do fewer');
select ok(by_time, 'the summary says so') from compare_summary('shop', 'v1', 'v2');
select ok(bool_and(smallest_visible > 0.5), 'a change by the number of parts could not be seen') from answer where function ~ 'once';

select * from finish();
rollback;
