-- SPDX-License-Identifier: Apache-2.0
-- compare_releases: what one hour makes is not a change of a release; costs that do not vary at all.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- Each side is a day of 1,000 uploads per hour. Forty functions run as ever, one twice as often; of the others, each hour of both
-- sides has `least` uploads, and one hour of the later side 1,000.
insert into segment (segment_id, release) values (1, 'v1'), (2, 'v2');
create temp table hour as
select segment_id, segment_id = 2 as is_after, number, '2026-01-05Z'::timestamptz + (segment_id - 1) * interval '1 day' + number * interval '1 hour' as bucket
from segment, generate_series(0, 23) as number;
create temp table cost as
select hour.*, 'steady' || n as function, 80 + 20 * n + (n * 7 + number * 13 + segment_id * 5) % 19 as uploads from hour, generate_series(1, 40) as n
union all
select hour.*, 'doubled', (100 + number % 7) * segment_id from hour
union all
select hour.*, 'outage' || least, case when is_after and number = 7 then 1000 else least end from hour, unnest('{2,5,10,50}'::integer[]) as least
union all
select hour.*, 'once', case when is_after then 1000 else 1 end from hour where number = 7
union all
-- Only the later side has these.
select hour.*, 'hours' || hours, 1000 from hour, unnest('{1,5,6,24}'::integer[]) as hours where is_after and number < hours
union all
select hour.*, 'mostly', case number when 7 then 1000 else 2 end from hour where is_after
union all
select hour.*, 'rare', 2 from hour where is_after;

insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into fleetprof_data.resource (resource_id, site, url, last_seen) values (pg_temp.id('shop', 'app.js'), 'shop', 'app.js', '2026-01-05');
insert into fleetprof_data.frame
select distinct pg_temp.id('shop', function), function, pg_temp.id('shop', 'app.js'), 1, 1, 'function'::fleetprof_data.frame_kind, date '2026-01-05' from cost;
insert into segment_fact select segment_id, bucket, 1000, 1000, 100000, 100000, 1000000000, 1e15, 1000000000, 0 from hour;
-- 20 ms in each upload that has it, more or less.
insert into frame_fact
select segment_id, bucket, pg_temp.id('shop', function), uploads, uploads, uploads, uploads * 20000, uploads * 20000, uploads * 7.2e8, uploads * 7.2e8, uploads * 2e10, uploads * 2e10
from cost;
-- The same time in each upload.
insert into fleetprof_data.frame select pg_temp.id('shop', function), function, pg_temp.id('shop', 'app.js'), 2, 1, 'function', '2026-01-05' from unnest('{constant,fixed}'::text[]) as function;
insert into frame_fact
select segment_id, bucket, pg_temp.id('shop', function), 1000, 1000, 1000, 1000 * us, 1000 * us, 1000 * us ^ 2, 1000 * us ^ 2, 1000 * us * 1e6, 1000 * us * 1e6
from hour
cross join lateral (values ('constant', 20000 * segment_id), ('fixed', 20000)) as fixed (function, us);
select pg_temp.pack() \g /dev/null

select plan(11);

create temp table answer as select * from compare_releases('shop', 'v1', 'v2');
select is((select verdict from answer where function = 'doubled'), 'slower', 'twice as often in every hour is slower');
select is_empty(
    $$ select function, before_uploads, after_uploads, p from answer where verdict in ('slower', 'faster') and function not in ('doubled', 'constant') $$,
    'a thousand uploads of one hour are one hour, however seldom the function runs in the others');
select is_empty(
    $$ select function from compare_releases('shop', 'v2', 'v1') where verdict in ('slower', 'faster') and function not in ('doubled', 'constant') $$, 'also the other way round');
select ok(bool_and(p > 0.005), 'nor is it very unlikely') from answer where function ~ 'outage|once';
select results_eq(
    $$ select function, round(change::numeric, 9), verdict from answer where function in ('constant', 'fixed') order by 1 $$,
    $$ values ('constant', 1.0, 'slower'), ('fixed', 0.0, 'no change seen') $$, 'what never varies is also judged');
select ok(abs(common_change) < 0.1, 'but is not the change of all') from compare_summary('shop', 'v1', 'v2');
select results_eq(
    $$ select function, verdict from answer where function ~ 'hours|mostly|rare' order by 1 $$,
    $$ values ('hours1', 'too few'), ('hours24', 'new'), ('hours5', 'too few'), ('hours6', 'new'), ('mostly', 'too few'), ('rare', 'new') $$,
    'what ran in few hours only may have been there before');
select results_eq(
    $$ select function, verdict from compare_releases('shop', 'v2', 'v1') where function ~ 'hours|mostly|rare' order by 1 $$,
    $$ values ('hours1', 'too few'), ('hours24', 'gone'), ('hours5', 'too few'), ('hours6', 'gone'), ('mostly', 'too few'), ('rare', 'gone') $$,
    'nor is it gone');
select ok(bool_and(p between 1e-300 and 1), 'p is above 0 and at most 1') from answer where p is not null;

-- A monitor on the later side.
insert into fleetprof_data.segment
select 3, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment where segment_id = 2;
update fleetprof_data.segment set traffic = 'repeated' where segment_id = 3;
insert into segment_fact select 3, bucket, 12, 12, 1200, 1200, 12000000, 1.2e13, 12000000, 0 from hour where is_after;
insert into frame_fact
select 3, bucket, pg_temp.id('shop', 'steady' || n), 12, 12, 12, 12 * 90000, 12 * 90000, 12 * 8.1e9, 12 * 8.1e9, 12 * 9e10, 12 * 9e10
from hour, generate_series(1, 40) as n
where is_after;
select pg_temp.pack() \g /dev/null
create temp table watched as select * from compare_releases('shop', 'v1', 'v2');
select results_eq(
    $$ select function, before_uploads, after_uploads, samples, verdict, round(after_self_ms::numeric, 6), round(own_low::numeric, 6), round(own_high::numeric, 6), round(p::numeric, 6)
       from watched order by 1 $$,
    $$ select function, before_uploads, after_uploads, samples, verdict, round(after_self_ms::numeric, 6), round(own_low::numeric, 6), round(own_high::numeric, 6), round(p::numeric, 6)
       from answer order by 1 $$,
    'repeated page loads change no figure');
select ok(
    (select sum(samples) from hotspots('shop', '2026-01-01Z', top => null)) > (select sum(samples) from hotspots('shop', '2026-01-01Z', exclude_traffic => 'repeated', top => null)),
    'there are some');

select * from finish();
rollback;
