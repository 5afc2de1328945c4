-- SPDX-License-Identifier: Apache-2.0
-- trend, function_by and cost_by: time by hour and day, and by what uploads and scripts have in common.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, route, device, browser) values (1, '/cart', 'desktop', 'Chrome'), (2, '/', 'mobile', 'Chrome'), (3, '/', 'mobile', '');
insert into frame_name values
    ('vendor', 'vendor', 'https://cdn.example/lib.js', 1, 1, 'function'),
    ('sort', 'sort', null, null, null, 'builtin'),
    ('(gc)', '(gc)', null, null, null, 'marker'),
    ('blob', 'blob', 'blob:null', 1, 1, 'function');
insert into sample (segment_id, bucket, upload, us, marker, path, measures) values
    (1, '2026-01-05 10:00Z', 1, 10000, '(none)', '{main,render}', '{open}'),
    (1, '2026-01-05 10:00Z', 2, 30000, '(none)', '{main,render}', null),
    (1, '2026-01-05 10:00Z', 3, 20000, '(none)', null, null),
    (1, '2026-01-05 12:00Z', 1, 20000, '(none)', '{main,vendor}', null),
    (2, '2026-01-06 01:00Z', 1,  8000, '(none)', '{main,render,sort}', null),
    (2, '2026-01-06 01:00Z', 1,  2000, 'gc', '{(gc)}', null),
    (3, '2026-01-06 02:00Z', 1,  6000, 'layout', '{main,render}', null),
    (3, '2026-01-06 02:00Z', 1,  4000, '(none)', '{blob}', null);
insert into timing_value (bucket, upload, name, us)
select '2026-01-05 10:00Z', n, 'open', n * 1000 from generate_series(1, 100) as n;
insert into timing_value (bucket, upload, name, us) values ('2026-01-06 10:00Z', 1, 'open', 5000);
insert into timing_value (bucket, upload, kind, name, us)
select '2026-01-05 10:00Z', n, 'vital', 'open', n * 1000 from generate_series(1, 100) as n;
select pg_temp.store() \g /dev/null
-- Two uploads of 10 and 30 ms; the others are one each.
update frame_fact set self_us2 = case uploads when 2 then 1e9 else self_us::float8 ^ 2 end;
update segment_fact set profiled_us2 = case when bucket = '2026-01-05 10:00Z' then 1.4e9 else profiled_us::float8 ^ 2 end;
select pg_temp.pack() \g /dev/null

select plan(81);

prepare trend_of(text, text, text) as
    select bucket, round(value_ms::numeric, 6), round(low_ms::numeric, 6), round(high_ms::numeric, 6), uploads
    from trend($1, $2, $3, 'shop', '2026-01-05Z', '2026-01-07Z');
-- Three loads; squares of 1,000 ms² less 1,600 / 3, times 3 / 2, is a variance of 700 ms².
select results_eq(
    $$ execute trend_of('function', 'render', 'hour') $$,
    $$ values
        ('2026-01-05 10:00Z'::timestamptz, round(40 / 3.0, 6), round((40 - 1.96 * sqrt(700.0)) / 3.0, 6) * 0, round((40 + 1.96 * sqrt(700.0)) / 3.0, 6), 2::bigint),
        ('2026-01-05 12:00Z', 0, null, null, 0),
        ('2026-01-06 01:00Z', 0, null, null, 1),
        ('2026-01-06 02:00Z', 6, null, null, 1) $$,
    'self time per page load by hour; one upload has no spread');
select results_eq(
    $$ select bucket, value_ms, uploads from trend('function', 'render', 'day', 'shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('2026-01-05Z'::timestamptz, 10::float8, 2::bigint), ('2026-01-06Z', 3, 2) $$, 'by day');
select results_eq(
    $$ select bucket, value_ms from trend('function',
        (select function_key from callers('sort', 'shop', '2026-01-05Z', '2026-01-07Z')), 'day', 'shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('2026-01-05Z'::timestamptz, 10::float8), ('2026-01-06Z', 3) $$, 'by key as by name');
select results_eq(
    $$ select bucket, value_ms from trend('function', 'render', 'day', 'shop', '2026-01-05Z', '2026-01-07Z', device => 'mobile') $$,
    $$ values ('2026-01-06Z'::timestamptz, 3::float8) $$, 'filters hold');
select is(
    (select array_agg(bucket || ' ' || round(value_ms::numeric) || ' ' || round(low_ms::numeric) || ' ' || round(high_ms::numeric) || ' ' || uploads)
     from (select bucket at time zone 'UTC' as bucket, value_ms, low_ms, high_ms, uploads from trend('measure', 'open', 'day', 'shop', '2026-01-05Z', '2026-01-07Z')) as trend),
    array['05.01.2026 00:00:00 50 40 61 100', null], 'the median of a measure, between its ranks 40 and 61; one value does not say below what the median lies');
select is(
    (select array_agg(round(value_ms::numeric) || ' ' || round(low_ms::numeric) || ' ' || round(high_ms::numeric) || ' ' || uploads)
     from trend('vital', 'open', 'day', 'shop', '2026-01-05Z', '2026-01-07Z')),
    array['75 67 85 100'], 'the 75th percentile of a vital, between the bins of its ranks 66 and 85');
select is(
    (select array_agg(value_ms = p50_ms and low_ms = p50_ms and high_ms is null)
     from trend('measure', 'open', 'hour', 'shop', '2026-01-06Z', '2026-01-07Z'), timings('shop', '2026-01-06Z', '2026-01-07Z')
     where kind = 'measure'),
    '{t}', 'the median of one value is that value, as timings says it');
select results_eq(
    $$ select count, fleetprof_data.high_rank(0.75, count) <= count from unnest('{1,18,19,1000}'::float8[]) as count $$,
    $$ values (1::float8, false), (18, false), (19, true), (1000, true) $$, 'from 19 values on, some are above the 75th percentile');
select is_empty($$ execute trend_of('mark', 'open', 'hour') $$, 'a mark is another thing than the measure of its name');
select is_empty($$ execute trend_of('measure', 'close', 'hour') $$, 'a measure that nobody sent');
-- Groups. On the first day 80 ms are profiled, 1,800 ms² are the squares of 10, 30, 20 and 20 ms, and 4 page loads.
select results_eq(
    $$ execute trend_of('host', 'cdn.example', 'day') $$,
    -- 400 ms² are those of the functions, (400 - 20² / 4) 4 / 3 the variance.
    $$ values ('2026-01-05Z'::timestamptz, 5.0, 0.0, round((20 + 1.96 * 20) / 4.0, 6), 1::bigint), ('2026-01-06Z', 0, 0, 0, 0) $$, 'a host');
select results_eq(
    $$ execute trend_of('resource', 'app.js', 'day') $$,
    -- Those of the functions are 1,000 ms²; 40 of 80 ms in whole uploads are 900.
    $$ values ('2026-01-05Z'::timestamptz, 10.0, 0.0, round((40 + 1.96 * sqrt((900 - 40 ^ 2 / 4) * 4 / 3)::numeric) / 4.0, 6), 4::bigint),
        ('2026-01-06Z', 3, 0, round((6 + 1.96 * sqrt((36 - 6 ^ 2 / 2) * 2)::numeric) / 2.0, 6), 2) $$, 'a script; at most all is one upload''s');
select results_eq(
    $$ execute trend_of('device', 'desktop', 'day') $$,
    $$ values ('2026-01-05Z'::timestamptz, 15.0, round((60 - 1.96 * sqrt(600.0)) / 4, 6), round((60 + 1.96 * sqrt(600.0)) / 4, 6), 4::bigint) $$,
    'a value of a dimension, per page load with it');
select results_eq(
    $$ select bucket, value_ms, uploads from trend('browser', '', 'hour', 'shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('2026-01-06 02:00Z'::timestamptz, 10::float8, 1::bigint) $$, 'an absent value, by hour');
select results_eq(
    $$ select bucket, value_ms, uploads from trend('marker', 'gc', 'day', 'shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('2026-01-05Z'::timestamptz, 0::float8, null::bigint), ('2026-01-06Z', 1, null) $$, 'a marker');
select results_eq(
    format($$ select bucket, value_ms, uploads from trend(%L, '(unattributed)', 'day', 'shop', '2026-01-05Z', '2026-01-07Z') $$, by),
    $$ values ('2026-01-05Z'::timestamptz, 5::float8, null::bigint), ('2026-01-06Z', 0, null) $$, 'unattributed time, by ' || by)
from unnest('{marker,package,route}'::text[]) as by;
select results_eq(
    $$ select bucket, value_ms, uploads from trend('resource', 'app.js', 'hour', 'shop', '2026-01-05Z', '2026-01-07Z', device => 'mobile', exclude_browser => '') $$,
    $$ values ('2026-01-06 01:00Z'::timestamptz, 0::float8, 1::bigint) $$, 'filters hold for groups');
select is_empty($$ execute trend_of('route', 'nowhere', 'day') $$, 'a value that nobody has');
select is_empty($$ select from trend('route', '/', 'day', 'nobody', '2026-01-05Z', '2026-01-07Z') $$, 'a site that nobody has has no groups');
select is((select count(*) from trend('package', 'nobody', 'hour', 'shop', '2026-01-05Z', '2026-01-07Z') where value_ms = 0), 4::bigint, 'a package that nobody ran took no time');
select is(
    (select array_agg(distinct round((value - self_ms)::numeric, 6))
     from cost_by(by, 'shop', '2026-01-05Z', '2026-01-07Z') as cost
     cross join lateral (
        select sum(value_ms * loads) as value
        from trend(by, name, step, 'shop', '2026-01-05Z', '2026-01-07Z')
        join (
            select date_trunc(step, bucket, 'UTC') as bucket, sum(loads) as loads
            from fleetprof_data.segment_fact
            join segment using (segment_id)
            where name = '(unattributed)' or coalesce(to_jsonb(segment) ->> by, name) = name
            group by 1
        ) as total using (bucket)) as added),
    '{0.000000}'::numeric[], 'adds up to cost_by, by ' || by || ' and ' || step)
from unnest('{package,party,entity,host,resource,source,route,release,environment,variant,browser,os,device,thread,marker}'::text[]) as by,
    unnest('{hour,day}'::text[]) as step;
-- Where one function runs.
prepare render_by(text) as
    select value, self_ms, total_ms, samples, uploads, loads, self_ms_per_load
    from function_by($1, (select function_key from callers('sort', 'shop', '2026-01-05Z', '2026-01-07Z')), 'shop', '2026-01-05Z', '2026-01-07Z');
select results_eq(
    $$ execute render_by('device') $$,
    $$ values
        ('desktop', 40::float8, 40::float8, 2::bigint, 2::bigint, 4::bigint, 10::float8),
        ('mobile', 6, 14, 2, 2, 2, 3) $$, 'a function by device: per page load of that device, whether it has the function or not');
select results_eq(
    $$ execute render_by('browser') $$,
    $$ values ('Chrome', 40::float8, 48::float8, 3::bigint, 3::bigint, 5::bigint, 8::float8), ('', 6, 6, 1, 1, 1, 6) $$,
    'a value that is absent is an empty text');
select results_eq(
    $$ execute render_by('measure') $$,
    $$ values ('open', 10::float8, 10::float8, 1::bigint, 1::bigint, null::bigint, null::float8) $$, 'a function by measure');
select results_eq(
    $$ select value, self_ms from function_by('route', (select function_key from callers('sort', 'shop', '2026-01-05Z', '2026-01-07Z')), 'shop', '2026-01-05Z', '2026-01-07Z', device => 'mobile') $$,
    $$ values ('/', 6::float8) $$, 'filters hold for a function by route');
select is_empty($$ select * from function_by('route', '17', 'shop', '2026-01-05Z', '2026-01-07Z') $$, 'a key that nobody has');
select is_empty($$ select * from function_by('route', '17', 'nobody', '2026-01-05Z', '2026-01-07Z') $$, 'a site that nobody has');
select throws_ok($$ select * from function_by('host', '17', 'shop') $$, '22023', 'a function cannot be listed by "host"', 'another dimension');
select throws_ok($$ select * from function_by(null, '17', 'shop') $$, '22023', 'a function cannot be listed by "null"', 'no dimension');
select throws_ok($$ select * from function_by('route', null, 'shop') $$, '22023', 'key is null', 'no key');
select is((select count(*) from trend('function', 'nobody', 'hour', 'shop', '2026-01-05Z', '2026-01-07Z') where value_ms = 0), 4::bigint, 'a function that nobody ran took no time');
select pg_temp.pack('blocks') \g /dev/null
select results_eq(
    $$ select bucket, value_ms from trend('function', 'render', 'day', 'shop', '2026-01-05 08:00Z', '2026-01-07Z', device => 'desktop') $$,
    $$ values ('2026-01-05Z'::timestamptz, 10::float8) $$, 'a part of a day, by a filter that cohorts do not have');
update fleetprof_data.horizon set hours_from = '2026-01-06Z';
select is(
    (select array_agg(bucket order by bucket) from trend('function', 'render', 'hour', 'shop', '2026-01-05Z', '2026-01-07Z')),
    '{2026-01-05Z,2026-01-06 01:00Z,2026-01-06 02:00Z}'::timestamptz[], 'where hours are gone their day stands for them');
update fleetprof_data.horizon set hours_from = '-infinity';
select pg_temp.pack() \g /dev/null
select throws_ok($$ execute trend_of('colour', 'x', 'day') $$, '22023', 'there is no trend by "colour"', 'what there is no trend of');
select throws_ok($$ execute trend_of('function', 'x', 'week') $$, '22023', 'step is "week"', 'steps are hours and days');
select throws_ok($$ execute trend_of('function', null, 'day') $$, '22023', 'key is null', 'something is named');
select throws_ok($$ execute trend_of('function', 'x', null) $$, '22023', 'step is "null"', 'a step is given');

prepare cost(text) as select name, self_ms, round(share::numeric, 6), samples, uploads from cost_by($1, 'shop', '2026-01-05Z', '2026-01-07Z');
-- 100 ms are profiled, 20 unattributed.
select results_eq(
    $$ execute cost('device') $$,
    $$ values ('desktop', 60::float8, 0.6, 3::bigint, 4::bigint), ('(unattributed)', 20, 0.2, null, null), ('mobile', 20, 0.2, 4, 2) $$,
    'by device; unattributed time is a row');
select results_eq(
    $$ select name, self_ms, share, samples, uploads from cost_by('device', 'shop', '2026-01-05Z', '2026-01-07Z', marker => 'gc') $$,
    $$ values ('mobile', 2::float8, 0.02::float8, 1::bigint, 2::bigint), ('desktop', 0, 0, 0, 4) $$, 'a device without the marker has none of its time');
select results_eq(
    $$ execute cost('browser') $$,
    $$ values ('Chrome', 70::float8, 0.7, 5::bigint, 5::bigint), ('(unattributed)', 20, 0.2, null, null), ('', 10, 0.1, 2, 1) $$,
    'an absent dimension is empty');
select results_eq(
    $$ select name, self_ms from cost_by('resource', 'shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('app.js', 46::float8), ('(unattributed)', 20), ('https://cdn.example/lib.js', 20), ('(no script)', 8), ('blob:null', 4), ('(gc)', 2) $$,
    'by script; functions of the browser and markers are rows');
select results_eq(
    $$ select name, samples, uploads from cost_by('resource', 'shop', '2026-01-05Z', '2026-01-07Z') where name in ('app.js', 'blob:null') $$,
    $$ values ('app.js', 9::bigint, 6::bigint), ('blob:null', 1, 1) $$,
    'functions that only call others also have samples: main 5, render 4');
select results_eq(
    $$ select name, self_ms from cost_by('host', 'shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('(no host)', 50::float8), ('(unattributed)', 20), ('cdn.example', 20), ('(no script)', 8), ('(gc)', 2) $$, 'by host');
select results_eq(
    $$ execute cost('marker') $$,
    $$ values ('(none)', 72::float8, 0.72, 5::bigint, null::bigint), ('(unattributed)', 20, 0.2, null, null), ('layout', 6, 0.06, 1, null), ('gc', 2, 0.02, 1, null) $$,
    'by marker');
select is((select round(sum(share)::numeric, 9) from cost_by(by, 'shop', '2026-01-05Z', '2026-01-07Z')), 1.0, 'shares by ' || by || ' add up to 1')
from unnest('{host,route,marker}'::text[]) as by;
select results_eq(
    $$ select name, self_ms from cost_by('route', 'shop', '2026-01-05Z', '2026-01-07Z', marker => 'layout') $$,
    $$ values ('/', 6::float8), ('/cart', 0) $$, 'samples of one marker');
select results_eq(
    $$ select name, self_ms from cost_by('host', 'shop', '2026-01-05Z', '2026-01-07Z', marker => 'layout') $$,
    $$ values ('(no host)', 6::float8) $$, 'also of scripts');
select throws_ok($$ execute cost('colour') $$, '22023', 'cost cannot be listed by "colour"', 'what cost cannot be listed by');

select * from finish();
rollback;
