-- SPDX-License-Identifier: Apache-2.0
-- compare_releases, compare_summary, regressions: an estimate that can be computed by hand.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- Two strata, twelve hours a side; hours are all alike. The later side has three times as many phones.
insert into segment (segment_id, release, device) values (1, 'v1', 'desktop'), (2, 'v1', 'mobile'), (3, 'v2', 'desktop'), (4, 'v2', 'mobile');
create temp table hour as
select segment_id, case release when 'v1' then '2026-01-05Z'::timestamptz else '2026-01-06Z' end + hour * interval '1 hour' as bucket,
    release, device, case when release = 'v2' and device = 'mobile' then 30 when device = 'mobile' then 10 else 20 end as uploads
from segment, generate_series(0, 11) as hour;

-- Half of the uploads cost `low` ms, the others `high`. `share`: of uploads that have the function.
create temp table cost (function text, url text, line integer, column_number integer, release text, device text, low float8, high float8, share float8 default 1);
insert into cost (function, url, line, release, device, low, high)
select function, case function when 'encode' then 'https://shop.example/fleetprof-0.1.0.js' else 'https://shop.example/assets/app.' || hash || '.js' end,
    line, release, device, low * factor, high * factor
from (values
    ('same', 10, 20, 1.0), ('encode', 10, 20, 1.0), ('sort', 10, 20, 1.5), ('find', 10, 20, 0.5)
) as function (function, low_d, high_d, after_factor)
cross join (values ('v1', '0a1b2c3d', 10), ('v2', 'ffee0011', 12)) as release (release, hash, line)
cross join lateral (values ('desktop', low_d, high_d), ('mobile', 3 * low_d, 2.5 * high_d)) as device (device, low, high)
cross join lateral (values (case release when 'v2' then after_factor else 1 end)) as side (factor);
insert into cost (function, url, line, column_number, release, device, low, high)
select function, 'https://shop.example/assets/app.' || case release when 'v1' then '0a1b2c3d' else 'ffee0011' end || '.js', 1, column_number, release, device, 10, 20
from (values ('added', 5, 'v2'), ('removed', 5, 'v1'), ('ab', 4000, 'v1'), ('ab', 4100, 'v2'), ('', 9, 'v1')) as function (function, column_number, release)
cross join (values ('desktop'), ('mobile')) as device (device);
insert into cost (function, url, line, column_number, release, device, low, high, share)
select 'seldom', 'https://cdn.example/lib.js', 3, 4, release, 'desktop', 10, 20, case release when 'v1' then 0.01 else 0.001 end
from (values ('v1'), ('v2')) as release (release);

insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into fleetprof_data.resource (resource_id, site, url, last_seen) select distinct pg_temp.id('shop', url), 'shop', url, date '2026-01-05' from cost;
prepare keep_frames as
insert into fleetprof_data.frame
select distinct pg_temp.id('shop', function || url || line || coalesce(column_number, 1)), function, pg_temp.id('shop', url), line, coalesce(column_number, 1), 'function'::fleetprof_data.frame_kind, date '2026-01-05'
from cost;
insert into segment_fact
select segment_id, bucket, uploads, uploads, uploads * 100, uploads * 100, uploads * 1000000::bigint, uploads * 1e12, uploads * 1000000::bigint from hour;
prepare keep_facts as
insert into frame_fact
select
    segment_id, bucket, pg_temp.id('shop', function || url || line || coalesce(column_number, 1)),
    greatest(1, uploads * share), uploads, uploads,
    uploads * share * (low + high) / 2 * 1000, uploads * share * (low + high) * 1000,
    uploads * share * (low ^ 2 + high ^ 2) / 2 * 1e6, uploads * share * (low ^ 2 + high ^ 2) * 2e6,
    uploads * share * (low + high) / 2 * 1000 * 1e6, uploads * share * (low + high) * 1000 * 1e6
from hour
join cost using (release, device);
execute keep_frames;
execute keep_facts;
select pg_temp.pack() \g /dev/null

create temp table answer as select * from compare_releases('shop', 'v1', 'v2');
select plan(64);

-- Desktops cost 15 ms, phones 40 ms an upload; the weights of strata are 240·240/480 and 120·360/480.
select is(verdict, 'no change seen', 'another mix is not a change') from answer where function = 'same';
select ok(abs(change) < 1e-9, 'a mix of pages, devices and browsers weighs the same on both sides') from answer where function = 'same';
select ok(abs(p - 1) < 1e-6, 'no difference is as likely as can be') from answer where function = 'same';
select ok(p <= 1 and fleetprof_data.p_of_t(0, 46) <= 1, 'nothing is likelier than certain') from answer where function = 'same';
select ok(abs(before_self_ms - (2.0 * 15 + 40) / 3) < 1e-6 and abs(after_self_ms - (2 * 15 + 3 * 40) / 5.0) < 1e-6,
    'self times are as observed: that of the other mix is higher') from answer where function = 'same';

create temp table hand as
select
    4.0 / 7 * 15 + 3.0 / 7 * 40 as before_mean,
    1.5 * (4.0 / 7 * 15 + 3.0 / 7 * 40) as after_mean,
    -- Deviations are 5 and 10 ms, half as much again on the later side.
    (4.0 / 7) ^ 2 * (240 * 25 + 240 * 56.25) / 478 * (1.0 / 240 + 1.0 / 240)
        + (3.0 / 7) ^ 2 * (120 * 100 + 360 * 225) / 478 * (1.0 / 120 + 1.0 / 360) as variance,
    (4.0 / 7) ^ 2 * (240 * 25) / 239.0 / 240 + (3.0 / 7) ^ 2 * (120 * 100) / 119.0 / 120 as before_variance,
    (4.0 / 7) ^ 2 * (240 * 56.25) / 239.0 / 240 + (3.0 / 7) ^ 2 * (360 * 225) / 359.0 / 360 as after_variance;
select is(round(change::numeric, 6), 0.5, 'half as much again is +50 %') from answer where function = 'sort';
select is(verdict, 'slower', 'which is slower') from answer where function = 'sort';
select ok(abs(ln((1 + change_high) / (1 + change)) - 2 * sqrt(greatest(
    before_variance / before_mean ^ 2 + after_variance / after_mean ^ 2, variance / ((360 * before_mean + 600 * after_mean) / 960) ^ 2))) < 1e-4,
    'the interval is that of a ratio') from answer, hand where function = 'sort';
select ok(abs(ln((1 + change) / (1 + change_low)) - ln((1 + change_high) / (1 + change))) < 1e-9,
    'on both sides alike') from answer where function = 'sort';
select ok(abs(ln(1 + smallest_visible)
        - 4.94 * sqrt(variance) / ((360 * before_mean + 600 * after_mean) / 960)) < 1e-4,
    'the smallest visible change is 4.94 standard errors') from answer, hand where function = 'sort';
select ok(p < 1e-12, 'p of t') from answer where function = 'sort';
select is(round(change::numeric, 6), -0.5, 'half is -50 %') from answer where function = 'find';
select is(verdict, 'faster', 'which is faster') from answer where function = 'find';
select is(before_uploads || ' ' || after_uploads, '360 600', 'uploads of each side') from answer where function = 'sort';
select is(samples, 960::bigint, 'samples of both sides') from answer where function = 'sort';
select is(resource || ' ' || line, 'https://shop.example/assets/app.ffee0011.js 12', 'the later place is shown') from answer where function = 'sort';
select is(verdict, 'new', 'a function that only the later side has') from answer where function = 'added';
select is(verdict, 'gone', 'one that only the earlier side has') from answer where function = 'removed';
select is(array_agg(verdict), '{unmatched,unmatched}', 'a minified name is not the same function elsewhere') from answer where function = 'ab';
select is(verdict, 'unmatched', 'a function without a name has no other side') from answer where function = '(anonymous)';
select is(verdict, 'too few', 'little is not judged') from answer where function = 'seldom';
select is((select array_agg(function) from compare_releases('shop', 'v1', 'v2', top => 4)), '{sort,added,find,removed}', 'what was found comes first; top cuts');
select is(
    (select round(change::numeric, 6) from compare_releases('shop', 'v2', 'v1') where function = 'sort'), round(1 / 1.5 - 1, 6),
    'the other way round it is the inverse');
select is(
    (select array_agg(function_key) from answer where function = 'sort'),
    (select array_agg(function_key) from compare_releases('shop', 'v2', 'v1') where function = 'sort'), 'by the same key');
select is(
    (select round(change::numeric, 6) from compare_releases('shop', 'v1', 'v2', device => 'mobile') where function = 'sort'), 0.5,
    'filters hold for both sides');

-- Periods.
select is(
    (select array_agg(round(change::numeric, 6)) from compare_releases('shop', before_since => '2026-01-05Z', before_until => '2026-01-06Z',
        since => '2026-01-06Z', until => '2026-01-07Z') where function = 'sort'), array[0.5],
    'two periods are compared as two releases');
select is(
    (select array_agg(distinct verdict) from compare_releases('shop', 'v1', 'v2', before_since => '2026-01-05Z', before_until => '2026-01-05 11:00Z',
        since => '2026-01-06Z', until => '2026-01-07Z')), '{early}', 'eleven hours are too early');
select is_empty(
    format($$ select from compare_releases('shop', before_since => %L, since => '2026-01-06Z', until => '2026-01-07Z') $$, since), 'nothing is after ' || since)
from unnest('{294276-12-31 23:59:59Z,infinity}'::text[]) as since;
select is_empty($$ select from compare_releases('shop', 'v1', 'v3') $$, 'nothing is compared with nothing');
select throws_ok($$ select * from compare_releases('shop', 'v1', 'v1') $$, '22023', 'before and after are the same', 'one release is not a comparison');
select throws_ok($$ select * from compare_releases('shop') $$, '22023', 'before and after are the same', 'nor is none');
select throws_ok(
    $$ select * from compare_releases('shop', since => '2026-01-05Z', before_until => '2026-01-06Z') $$, '22023', 'the periods overlap',
    'uploads are not compared with themselves');
select throws_ok($$ select * from compare_releases('shop', 'v%', 'v2') $$, '22023', 'before and after share uploads', 'nor by a pattern');
select throws_ok($$ select * from compare_releases('shop', '%', null) $$, '22023', 'before and after share uploads', 'nor is everything with itself');
select throws_ok($$ select * from compare_releases('shop', 'v1', '%') $$, '22023', 'before and after share uploads', 'on either side');
select is(
    (select array[before_uploads, after_uploads, before_uploads + after_uploads] from compare_summary('shop',
        before_since => '2026-01-05Z', before_until => '2026-01-05 06:30Z', since => '2026-01-05 06:30Z', until => '2026-01-06Z')),
    (select array[
        (select sum(uploads)::bigint from summary('shop', '2026-01-05Z', '2026-01-05 06:00Z')),
        (select sum(uploads)::bigint from summary('shop', '2026-01-05 06:00Z', '2026-01-06Z')),
        (select sum(uploads)::bigint from summary('shop', '2026-01-05Z', '2026-01-06Z'))]),
    'an hour in which both periods meet belongs to the later one');
select throws_ok($$ select * from compare_releases('shop', 'v1', 'v2', top => 0) $$, '22023', 'top is 0', 'top is at least 1');

-- Summary.
select results_eq(
    $$ select common_change, comparable_share, slower, faster, unchanged, new, gone, unmatched, obstacle, by_time, before_uploads, after_uploads,
           before_hours, after_hours
       from compare_summary('shop', 'v1', 'v2') $$,
    $$ values (null::float8, 1::float8, 1::bigint, 1::bigint, 1::bigint, 1::bigint, 1::bigint, 3::bigint, null::text, false, 360::bigint, 600::bigint,
           tstzrange('2026-01-05Z', '2026-01-05 12:00Z'), tstzrange('2026-01-06Z', '2026-01-06 12:00Z')) $$,
    'the summary counts the rows, but not those of the agent');
select results_eq(
    $$ select function, is_agent from answer where function in ('encode', 'same') order by 1 $$,
    $$ values ('encode', true), ('same', false) $$, 'rows tell the agent''s functions from others');

select results_eq(
    $$ select obstacle, slower, before_uploads, after_uploads, after_hours is null from compare_summary('shop', 'v1', 'v3')
       union all
       select obstacle, slower, before_uploads, after_uploads, before_hours is null from compare_summary('shop', 'v1', 'v2', since => '2026-01-06Z') $$,
    $$ values ('early', 0::bigint, 360::bigint, 0::bigint, true), ('early', 0, 0, 600, true) $$,
    'a side without uploads is too early to judge');

-- Regressions.
select results_eq(
    $$ select function, verdict, before_release, after_release from regressions('shop') $$,
    $$ values ('sort', 'slower', 'v1', 'v2'), ('added', 'new', 'v1', 'v2') $$,
    'regressions are what the latest release made slower, or brought');
select is(
    (select array_agg(function) from regressions('shop', 'v2', least_change => 0.6)), '{added}', 'small changes can be left out');
select throws_ok($$ select * from regressions('shop', 'v2', least_change => null) $$, '22023', 'least_change is null', 'but not by nothing');
select throws_ok($$ select * from regressions('shop', 'v2', least_change => 'NaN') $$, '22023', 'least_change is NaN', 'nor by no number');
select is_empty($$ select from regressions('shop', 'v1') $$, 'the first release has nothing before it');

-- Where hours are gone, days stand for them.
select pg_temp.pack('blocks') \g /dev/null
update fleetprof_data.cohort set release = 'v%' where release = 'v2';
update fleetprof_data.segment set release = 'v%' where release = 'v2';
select is((select array_agg(distinct after_release) from regressions('shop')), '{v%}', 'a release may be called like a pattern');
update fleetprof_data.cohort set release = '' where release = 'v%';
update fleetprof_data.segment set release = '' where release = 'v%';
select is_empty('select from regressions(''shop'')', 'uploads without a release are not the latest one');
select is((select array_agg(distinct before_release) from regressions('shop', '')), '{v1}', 'unless somebody asks for them');
update fleetprof_data.cohort set release = 'v2' where release = '';
update fleetprof_data.segment set release = 'v2' where release = '';
update fleetprof_data.horizon set hours_from = '2026-01-08Z';
select is(
    (select array_agg(round(change::numeric, 6)) from compare_releases('shop', 'v1', 'v2') where function = 'sort'), array[0.5],
    'days are compared where hours are gone');
select results_eq(
    $$ select function, verdict from compare_releases('shop', 'v1', 'v2') where verdict in ('new', 'gone') order by 1 $$,
    $$ values ('added', 'new'), ('removed', 'gone') $$, 'a function may also be new or gone by the day');
select is(
    (select array_agg(smallest_visible) from compare_releases('shop', 'v1', 'v2') where smallest_visible is not null), null,
    'single days promise nothing');
select is(
    (select placebo_tested from compare_summary('shop', 'v1', 'v2')), 0::bigint,
    'a day has no halves: it is not compared with itself');
select is(
    (select placebo_tested > 0 from compare_summary('shop', '%', before_since => '2026-01-05Z', before_until => '2026-01-07Z', since => '2026-01-07Z')), true,
    'two days have');
-- A day is 24 hours, even in a time zone whose clocks go forward or back that day.
set local timezone = 'AAA0BBB,J5/1,J200';
select is((select array_agg(release) from releases('shop', '2026-01-05 23:30Z', '2026-01-06Z')), '{v1}', 'a day ends at midnight where clocks go forward');
set local timezone = 'AAA0BBB,J200,J5/2';
select is((select array_agg(release) from releases('shop', '2026-01-06Z', '2026-01-07Z')), '{v2}', 'and where they go back');
set local timezone = 'Asia/Kolkata';
update fleetprof_data.horizon set hours_from = '-infinity';

-- Uploads of one side are shorter, all alike: time per profiled time is compared.
update segment_fact set loads = uploads / 2, unattributed_us = unattributed_us / 2, profiled_us2 = profiled_us2 / 4 where segment_id > 2;
update frame_fact set self_profiled = self_profiled / 2 where segment_id > 2;
select pg_temp.pack() \g /dev/null
select ok((select by_time from compare_summary('shop', 'v1', 'v2')), 'uploads are half as long');
select is(
    (select round(change::numeric, 6) from compare_releases('shop', 'v1', 'v2') where function = 'same'), 1.0,
    'so shares of profiled time are compared: half of it was left');

-- Order: by verdict, then by the change in ms; where nothing was found, by the greater self time.
update segment_fact set loads = uploads, unattributed_us = unattributed_us * 2, profiled_us2 = profiled_us2 * 4 where segment_id > 2;
delete from frame_fact;
delete from cost;
insert into cost (function, url, line, column_number, release, device, low, high)
select function, 'https://shop.example/order.js', 1, place, release, device, self * 0.99, self * 1.01
from (values
    (1, 'grown', 100, 110), (2, 'doubled', 20, 40), (3, 'shrunk', 100, 90), (4, 'halved', 40, 20),
    (5, 'tiny', 1, 1), (6, 'middle', 30, 30), (7, 'small', 10, 10), (8, 'steady', 50, 50)
) as function (place, function, before, after)
cross join lateral (values ('v1', before), ('v2', after)) as side (release, self)
cross join (values ('desktop'), ('mobile')) as device (device);
insert into fleetprof_data.resource (resource_id, site, url, last_seen) select distinct pg_temp.id('shop', url), 'shop', url, date '2026-01-05' from cost;
execute keep_frames;
execute keep_facts;
select pg_temp.pack() \g /dev/null
select is(
    (select array_agg(function || ' ' || verdict) from compare_releases('shop', 'v1', 'v2', top => top)),
    ('{doubled slower,grown slower,halved faster,shrunk faster,steady no change seen,middle no change seen,small no change seen,tiny no change seen}'::text[])[:top],
    'within a verdict the largest change, or the most time, comes first: ' || top)
from unnest('{8,3,1}'::integer[]) as top;

-- Functions whose errors are 1 %, and their changes by chance.
create temp view chance as
select array_agg(difference / 100) as differences, array_agg(0.01::double precision) as errors
from unnest('{-1.9,-1.3,-1,-0.7,-0.5,-0.3,-0.1,0.1,0.3,0.5,0.7,1,1.3,1.9}'::double precision[]) as difference;
select is(fleetprof_data.change_scatter(differences, errors), 0::double precision, 'chance is not scatter') from chance;
select is(
    fleetprof_data.change_scatter(differences || '{0.5,0.5}'::double precision[], errors || '{0.01,0.01}'::double precision[]) < 0.01, true,
    'two functions that changed are scatter of less than an error')
from chance;
select is(
    fleetprof_data.change_scatter(array(select 5 * unnest(differences)), errors) between 0.03 and 0.05, true,
    'functions that lie further apart than their errors have scatter')
from chance;

select * from finish();
rollback;
