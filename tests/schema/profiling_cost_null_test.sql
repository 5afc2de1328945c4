-- SPDX-License-Identifier: Apache-2.0
-- Forty sites on which profiling costs nothing, and ten on which it costs 10 %: visitors with many page loads, hours
-- that differ, long tails. At most three of the forty raise an alarm, and intervals hold the truth in 93 %.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

select setseed(0.42) \g /dev/null
create temp table arm as
select 2 * site + drawn as segment_id, 'site' || site as site, drawn, case when site > 40 then 0.1 else 0 end as cost
from generate_series(1, 50) as site
cross join generate_series(0, 1) as drawn;
insert into segment (segment_id, site, variant) select segment_id, site, case drawn when 1 then 'yes' else 'no' end from arm;
create temp table load as
select
    segment_id, hour, number, 1 + cost * drawn as slow, hour_noise * exp(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) * 0.7) as noise,
    hour_noise * case when random() < 0.6 then 0 else -ln(1 - random()) end as blocking
from arm
cross join lateral (select hour, exp(0.2 * random()) as hour_noise from generate_series(0, 35) as hour where segment_id > 0) as hours
cross join lateral generate_series(1, 25 + 15 * (1 - drawn)) as number;
insert into timing_value (segment_id, bucket, upload, kind, name, us, navigation)
select segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour', number, 'vital', name, us, 'hard'
from load
cross join lateral (values ('INP', 1e5 * slow * noise), ('TTFB', 1e5)) as value (name, us);
insert into timing_value (segment_id, bucket, upload, kind, name, source, us)
select segment_id, '2026-01-05Z'::timestamptz + hour * interval '1 hour', number, 'blocking', 'TimerHandler', 'a.js', 1e5 * slow * blocking
from load
where blocking > 0;
select pg_temp.store() \g /dev/null
update fleetprof_data.segment set drawn = variant, variant = '';

create temp table cost as
select arm.cost as truth, arm.site as of_site, row.*
from arm
cross join lateral profiling_cost(arm.site, '2026-01-05Z', '2026-01-07Z') as row
where drawn = 1 and row.name <> 'TTFB';
select plan(4);
select cmp_ok(count(distinct of_site), '<=', 3::bigint, 'false alarms') from cost where truth = 0 and verdict in ('slower', 'faster');
select cmp_ok(count(*) filter (where truth between change_low and change_high), '>=', (0.93 * count(*))::bigint, 'intervals of percentiles')
from cost where name = 'INP';
select cmp_ok(count(*) filter (where truth between change_low and change_high), '>=', (0.93 * count(*))::bigint, 'intervals of blocking time')
from cost where name = 'blocking';
select ok(bool_and(smallest_visible between 0.03 and 1), 'all say how small a cost they could have seen') from cost;
select finish();
