-- SPDX-License-Identifier: Apache-2.0
-- Rollouts: which days before a release, beside another one, say what the whole fleet was like.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

-- new runs beside old for the whole of October 26th; a row is one case, and says who else had what before.
create temp table world (site text, release text, first timestamptz, last timestamptz, uploads integer);
insert into world
select site, release, first, last, uploads
from unnest('{weeks,days,absent,known,alone,quiet}'::text[]) as site
cross join lateral (values
    ('new', '2026-10-26Z'::timestamptz, '2026-10-26 23:00Z'::timestamptz, 20),
    ('old', '2026-10-26Z', '2026-10-26 23:00Z', case site when 'alone' then 2 else 20 end),
    ('old', case site when 'weeks' then '2026-10-12Z'::timestamptz else '2026-10-22Z' end, '2026-10-25 23:00Z', case site when 'quiet' then 10 else 40 end)
) as life (release, first, last, uploads);
update world set release = 'older' where site = 'absent' and first < '2026-10-26Z';
-- Somebody names the period of these two.
insert into world values ('known', 'new', '2026-10-25 12:00Z', '2026-10-25 12:00Z', 1);
create temp table hour as
select dense_rank() over (order by site, release) as segment_id, site, release, bucket, uploads
from world
cross join lateral generate_series(first, last, interval '1 hour') as bucket;
insert into segment (segment_id, site, release) select distinct segment_id, site, release from hour;
insert into fleetprof_data.segment (segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, last_seen)
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into segment_fact select segment_id, bucket, uploads, uploads, 2000, 2000, 20000000, 2e13, 20000000 from hour;
select pg_temp.pack() \g /dev/null

create function pg_temp.span(side compared_side) returns text language sql as $$
    select format('%s to %s: %s', to_char(lower(hours) at time zone 'UTC', 'MM-DD HH24'), to_char(upper(hours) at time zone 'UTC', 'MM-DD HH24'), uploads)
    from compared_hours_span(side.segment_hours);
$$;
create function pg_temp.given(site text) returns filters language sql as $$
    select row(given.site, case when given.site = 'known' then '2026-10-26Z'::timestamptz end, null, nothing, nothing)::filters
    from (select array_fill(null::text, array[cardinality(dimensions())]) as nothing) as nothing;
$$;
create function pg_temp.rollout(site text, before text, after text) returns text language sql as $$
    select case when is_rollout then format('%s, %s', pg_temp.span(earlier), pg_temp.span(later)) end
    from pg_temp.given(rollout.site) as given
    cross join lateral compared_sides(given, rollout.before, rollout.after, null, null) as sides
    cross join lateral rollout_sides(given, rollout.before, rollout.after, sides.after_side) as whole;
$$;

select plan(8);
select is(pg_temp.rollout(site, 'old', 'new'), expected, message)
from (values
    ('weeks', '10-19 00 to 10-20 00: 960, 10-26 00 to 10-27 00: 960', 'all releases of seven days earlier, where the earlier one was there'),
    ('days', '10-25 00 to 10-26 00: 960, 10-26 00 to 10-27 00: 960', 'else of the day before'),
    ('absent', null, 'not if most had another release then'),
    ('known', null, 'nor if some had the later one'),
    ('alone', null, 'nor if next to nobody has the earlier one beside it'),
    ('quiet', null, 'nor if there were less than half as many uploads')
) as wanted (site, expected, message);
update fleetprof_data.horizon set hours_from = '2026-10-25 01:00Z';
select is(pg_temp.rollout('days', 'old', 'new'), null, 'hours must be kept');
update fleetprof_data.horizon set hours_from = '-infinity';
select is(
    (select is_rollout from pg_temp.given('days') as given, rollout_sides(
        given, null, null, compared_side(given, null, '2026-10-26Z', '2026-10-27Z'))),
    false, 'two periods are not a rollout');
select * from finish();
rollback;
