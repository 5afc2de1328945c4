-- SPDX-License-Identifier: Apache-2.0
-- vitals, vitals_by: percentiles and ratings. histogram: the values.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, route, release, rate_ppm) values
    (1, '/cart', 'v1', 0), (2, '/cart', 'v2', 10000), (3, '/help', 'v1', 0), (4, '', 'v2', 0);
insert into segment (segment_id, site, route) values (5, 'shop-eu', '/cart');
insert into segment (segment_id, site) values (6, 'of flagged');
insert into timing_value (segment_id, kind, name, us) values (6, 'vital_flagged', 'INP', 0), (6, 'vital_flagged', 'INP', 0);
-- Below 64 microseconds a bin is one value: percentiles are exact there.
insert into timing_value (segment_id, bucket, kind, name, us)
select 1 + n % 4, '2026-01-05 10:00Z'::timestamptz + n % 3 * interval '9 hours', 'vital', 'LCP', n from generate_series(1, 40) as n;
insert into timing_value (segment_id, kind, name, us) values
    (1, 'vital', 'CLS', 0), (1, 'vital', 'CLS', 50), (2, 'vital', 'CLS', 40),
    (1, 'vital', 'INP', 300000),
    (3, 'vital', 'TTFB', 8), (3, 'vital', 'FCP', 9),
    (5, 'vital', 'LCP', 60);
-- Segment 1 + n % 4: of LCP, all of segment 1 are good, of segment 2 five are good and one is poor, all of 3 are poor.
insert into timing_value (segment_id, bucket, kind, name, us)
select 1 + n % 4, '2026-01-05 10:00Z'::timestamptz + n % 3 * interval '9 hours', 'vital_good', 'LCP', 0
from generate_series(1, 40) as n
where n % 4 = 0 or n % 4 = 1 and n <= 20;
insert into timing_value (segment_id, kind, name, us) values
    (2, 'vital_poor', 'LCP', 0), (1, 'vital_good', 'CLS', 0), (1, 'vital_good', 'CLS', 0), (2, 'vital_good', 'CLS', 0);
insert into timing_value (segment_id, kind, name, us)
select 3, 'vital_poor', 'LCP', 0 from generate_series(1, 10);
-- User Timing of the same name, and a window, are something else.
insert into timing_value (kind, name, us) values
    ('mark', 'LCP', 7), ('measure', 'LCP', 7), ('window', '(LCP) good', 7), ('interaction', 'LCP', 7);
select pg_temp.store() \g /dev/null

select plan(25);

select results_eq(
    $$ select from_ms, to_ms, count from histogram('vital', 'LCP', 'shop', '2026-01-05Z', '2026-01-07Z', route => '/help') $$,
    $$ select n / 1000::float8, (n + 1) / 1000::float8, 1::bigint from generate_series(1, 40) as n where 1 + n % 4 = 3 order by n $$,
    'a bin per microsecond, of those that the filters select');
select results_eq(
    $$ select from_ms <= 300 and 300 < to_ms, round((to_ms / from_ms)::numeric, 2), count from histogram('vital', 'INP', 'shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values (true, 1.03, 1::bigint) $$, 'above that 32 bins to an octave');
select results_eq(
    $$ select kind, (select array_agg(round(from_ms::numeric, 3)) from histogram(kind, 'LCP', 'shop', '2026-01-05Z', '2026-01-07Z') where kind <> 'vital')
       from unnest('{mark,measure}'::text[]) as kind $$,
    $$ values ('mark', '{0.007}'::numeric[]), ('measure', '{0.007}') $$, 'User Timing of the same name is something else');
select is_empty($$ select * from histogram('mark', 'nobody', 'shop', '2026-01-05Z', '2026-01-07Z') $$, 'a name that nobody sent');
select throws_ok($$ select * from histogram('window', 'LCP', 'shop') $$, '22023', 'there is no histogram of the kind "window"', 'another kind');
select throws_ok($$ select * from histogram('mark', null, 'shop') $$, '22023', 'timing_name is null', 'no name');
prepare vitals_of_the_days as
    select * from vitals('shop', '2026-01-05Z', '2026-01-07Z');
select results_eq(
    'vitals_of_the_days',
    $$ values
        -- The 24th and the 37th of 40 ranks are 1.96 standard deviations from the 30th.
        ('LCP', 'ms', 40::bigint, 0.020::float8, 0.030::float8, 0.038::float8, 15 / 40::float8, 14 / 40::float8, 11 / 40::float8, 0.024::float8, 0.037::float8, 0::bigint),
        ('INP', 'ms', 1, 300, 300, 300, 0, 1, 0, 300, null, 0),
        ('CLS', 'score x 1000', 3, 0.04, 0.05, 0.05, 1, 0, 0, 0, null, 0),
        ('FCP', 'ms', 1, 0.009, 0.009, 0.009, 0, 1, 0, 0.009, null, 0),
        ('TTFB', 'ms', 1, 0.008, 0.008, 0.008, 0, 1, 0, 0.008, null, 0) $$,
    'nearest rank, with its interval; what is neither good nor poor needs improvement');
select results_eq(
    $$ select name, count, p50, good_share from vitals('shop', '2026-01-05Z', '2026-01-07Z', route => '/cart', release => 'v1') $$,
    $$ values ('LCP', 10::bigint, 0.02::float8, 1::float8), ('INP', 1, 300, 0), ('CLS', 2, 0, 1) $$,
    'filters');
select results_eq(
    $$ select count, p95 from vitals('shop%', '2026-01-05Z', '2026-01-07Z') where name = 'LCP' $$,
    $$ values (41::bigint, 0.039::float8) $$,
    'a vital of several sites is one');
select results_eq(
    $$ select * from vitals('of flagged', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('INP', 'ms', 0::bigint, null::float8, null::float8, null::float8, null::float8, null::float8, null::float8, null::float8, null::float8, 2::bigint) $$,
    'flagged ones are counted, and nothing else of them');
select is_empty($$ select * from vitals('shop', '2026-01-07Z', '2026-01-08Z') $$, 'another day, no rows');
select is_empty($$ select * from vitals('nobody', '2026-01-05Z', '2026-01-07Z') $$, 'an unknown site, no rows');
select throws_ok($$ select * from vitals(null) $$, '22023', 'site is null', 'a site must be named');

select results_eq(
    $$ select value, name, count, p50, good_share, needs_improvement_share, poor_share
       from vitals_by('route', 'shop', '2026-01-05Z', '2026-01-07Z') where name in ('LCP', 'TTFB') $$,
    $$ values
        ('/cart', 'LCP', 20::bigint, 0.02::float8, 0.75::float8, 0.2::float8, 0.05::float8),
        ('', 'LCP', 10, 0.019, 0, 1, 0),
        ('/help', 'LCP', 10, 0.018, 0, 0, 1),
        ('/help', 'TTFB', 1, 0.008, 0, 1, 0) $$,
    'by route, most values first; an absent one is empty');
select results_eq(
    $$ select value, unit, count, p75 from vitals_by('release', 'shop', '2026-01-05Z', '2026-01-07Z', route => '/cart') where name = 'CLS' $$,
    $$ values ('v1', 'score x 1000', 2::bigint, 0.05::float8), ('v2', 'score x 1000', 1, 0.04) $$,
    'by release, with a filter');
select results_eq(
    format($$ select name, unit, count, p50, p75, p95, good_share, needs_improvement_share, poor_share, p75_low, p75_high, flagged
              from vitals_by(%L, 'shop', '2026-01-05Z', '2026-01-07Z') where value = %L $$, dimension, value),
    'vitals_of_the_days',
    format('all segments have one %s', dimension))
from unnest(
    '{environment,variant,browser,os,device,thread}'::text[],
    '{production,a,Chrome,Linux,desktop,window}'::text[]) as one (dimension, value);
select throws_ok(
    $$ select * from vitals_by('page', 'shop') $$, '22023', 'no dimension is named "page"', 'an unknown dimension');
select throws_ok($$ select * from vitals_by(null, 'shop') $$, '22023', 'dimension is null', 'a dimension must be named');
select results_eq(
    $$ select sum(count)::bigint from vitals_by('release', 'shop', '2026-01-05 10:00Z', '2026-01-05 11:00Z') where name = 'LCP' $$,
    $$ values (13::bigint) $$,
    'the hours of a period');
select is(
    (select count(*) from timings('shop', '2026-01-05Z', '2026-01-07Z')), 2::bigint, 'timings has the mark and the measure alone');

select * from finish();
rollback;
