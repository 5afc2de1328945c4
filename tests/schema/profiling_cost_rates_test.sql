-- SPDX-License-Identifier: Apache-2.0
-- The rate changes from 5 to 50 % when all becomes slower: with a release in the middle of a day, or because something is
-- out of order for a day. Profiling costs nothing on 22 sites, and 5 % on 14.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

select setseed(0.7) \g /dev/null
create temp table arm as
select
    4 * site + 2 * late + drawn as segment_id, 'site' || site as site, drawn, late, site % 2 = 0 as is_release,
    case when site > 22 then 0.05 else 0 end as cost
from generate_series(1, 36) as site
cross join generate_series(0, 1) as late
cross join generate_series(0, 1) as drawn;
insert into segment (segment_id, site, variant, release)
select segment_id, site, case drawn when 1 then 'yes' else 'no' end, case when is_release and late = 1 then 'v2' else 'v1' end
from arm;
-- 160 page loads per hour; slow: what profiling and the bad day multiply all by.
create temp table load as
select
    segment_id, hour, number, (1 + cost * drawn) * (1 + late) * exp(0.1 * sin(hour)) as slow,
    exp(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()) * 0.15) as noise,
    case when random() < 0.6 then 0 else exp(0.5 * random()) end as blocking
from arm
join generate_series(0, 47) as hour on (hour >= case when is_release then 30 else 24 end) = (late = 1)
cross join lateral generate_series(1, case when late = 1 then 80 when drawn = 1 then 8 else 152 end) as number;
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
select arm.cost as truth, is_release, row.*
from arm
cross join lateral profiling_cost(arm.site, '2026-01-05Z', '2026-01-07Z') as row
where drawn = 1 and late = 1 and row.name <> 'TTFB';
select plan(5);
select is(count(*), 108::bigint, 'medians, 75th percentiles and blocking time of each site') from cost;
select cmp_ok(count(*) filter (where verdict <> 'no change seen'), '<=', 2::bigint, 'false costs') from cost where truth = 0;
select cmp_ok(count(*) filter (where truth between change_low and change_high), '>=', (0.93 * count(*))::bigint, 'intervals hold the truth')
from cost;
select cmp_ok(count(*) filter (where verdict = 'slower'), '>=', (0.9 * count(*))::bigint, '5 % are found where they are visible')
from cost where truth > 0 and smallest_visible <= truth;
select cmp_ok(count(*), '>=', 14::bigint, 'and they often are') from cost where truth > 0 and smallest_visible <= truth;
select finish();
