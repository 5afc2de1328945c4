-- SPDX-License-Identifier: Apache-2.0
-- The cost of profiling: page loads that the server drew, beside those that it did not.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- Two days, 300 page loads an hour, of which a third are drawn. On /slow all takes twice as long, and three quarters of its
-- page loads are drawn, so that a comparison without strata would blame profiling. Profiling costs 20 % of INP, a quarter of
-- blocking time, and nothing of LCP.
insert into segment (segment_id, route, variant)
values (1, '/fast', 'no'), (2, '/fast', 'yes'), (3, '/slow', 'no'), (4, '/slow', 'yes'), (5, '/fast', ''), (6, '/never', 'no');
create temp table load as
select
    segment_id, hour, number, (case when segment_id in (3, 4) then 2 else 1 end) as slow,
    case when segment_id in (2, 4) then 1 else 0 end as drawn, exp(sin(12.9898 * (1000 * hour + number) + segment_id) * 0.8) as noise
from generate_series(0, 47) as hour
cross join (values (1, 160), (2, 40), (3, 20), (4, 60), (5, 20)) as part (segment_id, loads)
cross join lateral generate_series(1, loads) as number;
insert into timing_value (segment_id, bucket, upload, kind, name, us, navigation)
select segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour', number, 'vital', name, us, 'hard'
from load
cross join lateral (values
    ('LCP', 1e6 * slow * noise), ('INP', 1e5 * slow * noise * (1 + 0.2 * drawn)), ('TTFB', 1e5)) as value (name, us);
insert into timing_value (segment_id, bucket, upload, kind, name, source, us)
select segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour', number, 'blocking', 'TimerHandler', 'a.js', 80000 * slow * noise * (1 + 0.25 * drawn)
from load;
-- Other kinds of navigation are as slow as can be, where they are drawn.
insert into timing_value (segment_id, bucket, upload, kind, name, us, navigation)
select 2, '2026-01-05Z'::timestamptz + hour * interval '1 hour', 1000 + number, 'vital', 'LCP', 1e9, navigation
from generate_series(0, 47) as hour
cross join generate_series(1, 5) as number
cross join unnest('{prerender,back-forward-cache,restore,soft}'::text[]) as navigation;
-- Each hour of half a day has 10 documents from the server, 10 prerendered ones and 10 that come out of the back/forward cache.
-- Each document waits 50 ms, and 20 ms more when it comes back.
insert into segment (segment_id, site, variant) values (7, 'documents', 'no'), (8, 'documents', 'yes');
insert into timing_value (segment_id, bucket, upload, kind, name, source, us, navigation)
select segment, '2026-01-05Z'::timestamptz + hour * interval '1 hour', number, kind::fleetprof_data.timing_kind, name, '', us, navigation
from unnest('{7,8}'::bigint[]) as segment
cross join generate_series(0, 11) as hour
cross join generate_series(1, 10) as number
cross join (values
    ('vital', 'TTFB', 1e5, 'hard'), ('vital', 'TTFB', 1e5, 'prerender'), ('vital', 'TTFB', 0, 'back-forward-cache'), ('vital', 'TTFB', 0, 'soft'),
    ('blocking', 'TimerHandler', 50000, ''), ('blocking', 'TimerHandler', 50000, ''), ('blocking', 'TimerHandler', 20000, '')
) as value (kind, name, us, navigation);
-- One hour of the drawn has nearly all blocking time.
insert into segment (segment_id, site, variant) values (9, 'wild', 'no'), (10, 'wild', 'yes');
insert into timing_value (segment_id, bucket, upload, kind, name, source, us, navigation)
select segment, '2026-01-05Z'::timestamptz + hour * interval '1 hour', number, kind::fleetprof_data.timing_kind, name, '',
    case when kind = 'blocking' and segment = 10 then case hour when 2 then 1e9 else 1 end else 1000 end, navigation
from unnest('{9,10}'::bigint[]) as segment
cross join generate_series(0, 2) as hour
cross join generate_series(1, 100) as number
cross join (values ('vital', 'TTFB', 'hard'), ('blocking', 'TimerHandler', '')) as value (kind, name, navigation);
select pg_temp.store() \g /dev/null
update fleetprof_data.segment set drawn = variant, variant = '';

create temp table cost as select * from profiling_cost('shop', '2026-01-05Z', '2026-01-07Z');
select plan(19);
select results_eq(
    'select name, unit, percentile from cost',
    $$ values ('LCP', 'ms', 50), ('LCP', 'ms', 75), ('INP', 'ms', 50), ('INP', 'ms', 75), ('TTFB', 'ms', 50), ('TTFB', 'ms', 75),
        ('blocking', 'ms', null) $$, 'vitals, then blocking time');
select results_eq(
    'select distinct other_count, drawn_count from cost', 'values (48 * 180::bigint, 48 * 100::bigint)',
    'only page loads that were drawn, or not');
select is(verdict, expected, format('%s, %s', name, percentile))
from cost
join (values ('LCP', 'no change seen'), ('INP', 'slower'), ('TTFB', 'no change seen'), ('blocking', 'slower')) as example (name, expected) using (name)
order by name, percentile;
select is(count(*), 4::bigint, 'intervals hold what profiling adds')
from cost
join (values ('LCP', 0), ('INP', 0.2), ('blocking', 0.25)) as truth (name, change) using (name)
where truth.change between cost.change_low and cost.change_high and cost.change_high - cost.change_low < 0.3
    and coalesce(percentile, 75) = 75 or name = 'LCP' and percentile = 50 and 0 between change_low and change_high;
select ok(abs(other_value - (select avg(80 * slow * noise) from load where segment_id in (1, 3))) < 60, 'blocking time per page load')
from cost where name = 'blocking';
select ok(abs(ln(loads_for_1_percent / (drawn_count * ((change_high - change_low) / 0.02) ^ 2))) < 0.001, 'page loads for one percent')
from cost where name = 'INP' and percentile = 75;
select results_eq(
    $$ select round(other_value::numeric, 3), round(drawn_value::numeric, 3), other_count, drawn_count from profiling_cost('documents', '2026-01-05Z', '2026-01-06Z') where name = 'blocking' $$,
    $$ values (60.000, 60.000, 240::bigint, 240::bigint) $$, 'blocking time per document, with what it takes when it comes out of the back/forward cache');
select is(loads_for_1_percent, 4611686018427387904, 'as many page loads as a number can say') from profiling_cost('wild', '2026-01-05Z', '2026-01-06Z') where name = 'blocking';
select is_empty($$ select from profiling_cost('shop', '2026-01-05Z', '2026-01-07Z', route => '/never') $$, 'nothing was drawn');
select is_empty($$ select from profiling_cost('shop', '2026-02-05Z', '2026-02-07Z') $$, 'nothing at all');
select is((select max(drawn_value) > 1e5 from profiling_cost('shop', '2026-01-05Z', '2026-01-07Z', navigation => 'prerender')), null::boolean,
    'prerendered pages are nowhere else: only one side has them');
select is((select count(*) from profiling_cost('shop', '2026-01-05Z', '2026-01-05 02:00Z') where verdict = 'early'), 7::bigint, 'two hours are early');
select throws_ok($$ select from profiling_cost('shop', drawn => 'yes') $$, '22023', 'drawn is what profiling_cost compares', 'drawn');
select finish();
