-- SPDX-License-Identifier: Apache-2.0
-- Page loads with eight values each, which are alike, on forty sites on which profiling costs nothing.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

select setseed(0.3) \g /dev/null
create temp table arm as
select 2 * site + drawn as segment_id, 'site' || site as site, drawn
from generate_series(1, 40) as site
cross join generate_series(0, 1) as drawn;
insert into segment (segment_id, site, variant) select segment_id, site, case drawn when 1 then 'yes' else 'no' end from arm;
create temp table load as
select segment_id, hour, number, hour_noise * exp(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) * 0.5) as noise
from arm
cross join lateral (select hour, exp(0.2 * random()) as hour_noise from generate_series(0, 35) as hour where segment_id > 0) as hours
cross join lateral generate_series(1, 10 + 10 * (1 - drawn)) as number;
insert into timing_value (segment_id, bucket, upload, kind, name, us, navigation)
select
    segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour', number, 'vital', 'INP', 1e5 * noise * exp(0.1 * random()), 'hard'
from load
cross join generate_series(1, 8) as value;
select pg_temp.store() \g /dev/null
update fleetprof_data.segment set drawn = variant, variant = '';

create temp table cost as
select row.*
from arm
cross join lateral profiling_cost(arm.site, '2026-01-05Z', '2026-01-07Z') as row
where drawn = 1;
select plan(4);
select cmp_ok(count(*) filter (where verdict in ('slower', 'faster')), '<=', 2::bigint, 'false costs') from cost;
select cmp_ok(count(*) filter (where p < 0.05), '<=', 6::bigint, 'p is seldom small') from cost;
select cmp_ok(count(*) filter (where 0 between change_low and change_high), '>=', (0.93 * count(*))::bigint, 'intervals hold the truth') from cost;
select is(array_agg(distinct row (other_count, drawn_count)::text), array['(720,360)'], 'page loads, not values, are counted') from cost;
select finish();
