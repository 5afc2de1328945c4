-- SPDX-License-Identifier: Apache-2.0
-- Rates: what they are drawn from, and what bounds them.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- One day. /even: each profile is alike; /spread: half of the profiles have nothing of it, so that the standard deviation is
-- the mean; /rare: 3 profiles; /none: no verified rate. 1 of 10 sampled page loads has no profile.
insert into segment (segment_id, route, rate_ppm)
values (1, '/even', 10000), (2, '/spread', 10000), (3, '/rare', 10000), (4, '/none', 0), (5, '/spread', 20000), (6, '/other', 10000);
insert into segment (segment_id, site, rate_ppm) values (7, 'second', 10000), (8, 'unrated', 0);
insert into sample (segment_id, bucket, upload, us, path)
select
    segment_id, '2026-01-05Z'::timestamptz + number % 24 * interval '1 hour', number, case when number % 2 = 0 or segment_id = 1 then 100000 else 1 end,
    case when number % 2 = 0 or segment_id = 1 then '{work}' else '{}' end::text[]
from (values (1, 900), (2, 450), (5, 900), (3, 9), (4, 900), (6, 4), (7, 24), (8, 24)) as part (segment_id, profiles)
cross join lateral generate_series(1, profiles) as number;
update sample set path = null where path = '{}';
insert into timing_value (segment_id, bucket, upload, kind, name, us)
select segment_id, '2026-01-05Z'::timestamptz + number % 24 * interval '1 hour', 10000 + number, 'coverage', 'unsupported', 0
from (values (1, 100), (2, 50), (5, 100), (3, 1)) as part (segment_id, loads)
cross join lateral generate_series(1, loads) as number;
select pg_temp.store() \g /dev/null
-- Each upload with the function has 100 ms of it.
update fleetprof_data.frame_recent set self_us2 = array(select us * 1e5 from unnest(self_us) with ordinality as part (us, place) order by place);
update fleetprof_data.frame_hours set self_us2 = array(select us * 1e5 from unnest(self_us) with ordinality as part (us, place) order by place);
update fleetprof_data.frame_days set self_us2 = array(select us * 1e5 from unnest(self_us) with ordinality as part (us, place) order by place);

select plan(14);
create temp table proposed as
select * from rates('shop', '2026-01-05Z', '2026-01-06Z', most_rate => 0.5, top => 3);
select results_eq(
    $$ select page_route, round(loads_per_day), round(profiles_per_day), round(rate::numeric, 4) from proposed $$,
    $$ values ('/even', 100000::float8, 900::float8, 0.0100), ('/spread', 100000, 1350, 0.0150), ('/rare', 1000, 9, 0.0100), (null, 400, 4, 0.0100) $$,
    'page loads and profiles of routes with a verified rate; all others last');
select results_eq(
    $$ select page_route, bound from proposed $$,
    $$ values ('/even', 'least rate'), ('/spread', 'target'), ('/rare', 'few profiles'), (null, 'as now') $$, 'what bounds them');
select ok(abs(proposed_profiles_per_day / (1.96 / 0.1) ^ 2 - 1) < 0.05 and abs(expected_interval - 0.1) < 0.003, 'as many profiles as the spread needs')
from proposed where page_route = '/spread';
select ok(proposed_rate = 0.0005, 'no profile differs from another: the least rate') from proposed where page_route = '/even';
select ok(abs(proposed_profiles_per_day - 200) < 5 and expected_interval is null, 'few profiles: as many as show the spread') from proposed where page_route = '/rare';
select ok(bool_and(proposed_rate * 1e6 = round(proposed_rate * 1e6)), 'rates are whole millionths') from proposed;
select ok(bool_and(proposed_rate between 0.002 and 0.003) and bool_or(bound = 'most rate'), 'rates lie between the bounds')
from rates('shop', '2026-01-05Z', '2026-01-06Z', least_rate => 0.002, most_rate => 0.003);
select ok(sum(proposed_profiles_per_day) between 149 and 151 and count(*) filter (where bound = 'profiles') > 0, 'all together, at most so many profiles')
from rates('shop', '2026-01-05Z', '2026-01-06Z', most_rate => 0.5, most_profiles => 150);
select ok(
    (select bool_and(abs(got - wanted) < 1e-6) from unnest(fleetprof_data.allotted('{100,100,100}', '{1,1,60}', '{1,3,0}', 140), '{20,60,60}'::float8[]) as part (got, wanted)),
    'in proportion to weights, between bounds');
select is(fleetprof_data.allotted('{10,10}', '{4,12}', '{1,1}', 8), '{2,6}'::float8[], 'too few even for the least');
select is_empty($$ select from rates('unrated', '2026-01-05Z', '2026-01-06Z') $$, 'no verified rate, no proposal');
select is_empty($$ select from rates('shop', now()) $$, 'an hour that has not ended says nothing');
select throws_ok($$ select from rates('%', '2026-01-05Z', '2026-01-06Z') $$, '22023', 'rates are those of one site, not of 3', 'several sites');
select throws_ok($$ select from rates('shop', least_rate => 0.1) $$, '22023', 'least_rate is 0.1 and most_rate is 0.05', 'bounds the wrong way round');
select finish();
