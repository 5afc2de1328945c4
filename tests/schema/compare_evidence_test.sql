-- SPDX-License-Identifier: Apache-2.0
-- compare_releases: verdicts on young releases and on few uploads.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- Two days of v1, then three hours of v2, on four pages with 150 uploads per hour each; on /thin, two days of 4 uploads per
-- hour, and on /bare of 2. Each upload has 20 ms of each function, more or less.
insert into segment (segment_id, release, route)
select row_number() over (), release, route from unnest('{v1,v2}'::text[]) as release, unnest('{/p/a,/p/b,/p/c,/p/d,/thin,/bare}'::text[]) as route;
create temp table hour as
select
    segment_id, release, route, number, '2026-01-05Z'::timestamptz + number * interval '1 hour' as bucket,
    case route when '/thin' then 4 when '/bare' then 2 else 150 end as uploads
from segment, generate_series(0, 71) as number
where case
    when route = '/thin' or route = '/bare' then number between 24 and 47 and release = 'v1' or number >= 48 and release = 'v2'
    when release = 'v1' then number < 48
    else number between 48 and 50
end;
-- factor: of the cost in an hour.
create temp table cost as
select segment_id, bucket, uploads, function, factor
from hour
cross join lateral (
    select 'steady' || n, 1 + 0.01 * ((n * 7 + number * 13 + segment_id * 5) % 19 - 9) / 9 from generate_series(1, 40) as n
    union all
    -- Dear; three times on all pages; on one page, as one visitor would; as in other hours before; by a seventh.
    values
        ('steady and dear', 5),
        ('tripled', case release when 'v2' then 3 else 1 end), ('visited', case when release = 'v2' and route = '/p/a' then 9 else 1 end),
        ('restless', case when release = 'v2' or number % 4 = 3 then 3 else 0.6 end), ('little', case release when 'v2' then 1.15 else 1 end)
) as function (function, factor);

insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into fleetprof_data.resource (resource_id, site, url, last_seen) values (pg_temp.id('shop', 'app.js'), 'shop', 'app.js', '2026-01-05');
insert into fleetprof_data.frame
select distinct pg_temp.id('shop', function), function, pg_temp.id('shop', 'app.js'), 1, 1, 'function'::fleetprof_data.frame_kind, date '2026-01-05' from cost;
insert into segment_fact
select segment_id, bucket, uploads, uploads, 100 * uploads, 100 * uploads, 1e6 * uploads, 1e12 * uploads, 1e6 * uploads, 0 from hour;
insert into frame_fact
select
    segment_id, bucket, pg_temp.id('shop', function), uploads, uploads, uploads, uploads * 20000 * factor, uploads * 20000 * factor,
    uploads * 7.2e8 * factor ^ 2, uploads * 7.2e8 * factor ^ 2, uploads * 2e10 * factor, uploads * 2e10 * factor
from cost;
select pg_temp.pack() \g /dev/null

select plan(16);

create function pg_temp.verdicts(hours integer, route text, earlier timestamptz default '2026-01-06Z') returns table (function text, verdict text, at_least double precision, p double precision, smallest_visible double precision) language sql as $$
    select function, verdict, at_least, p, smallest_visible
    from compare_releases(
        'shop', 'v1', 'v2', since => '2026-01-07Z', until => '2026-01-07Z'::timestamptz + $1 * interval '1 hour', before_since => $3,
        before_until => $3 + $1 * interval '1 hour', route => $2)
    where function !~ '^steady'
    order by function $$;
create function pg_temp.summary(hours integer, route text, earlier timestamptz default '2026-01-06Z') returns setof record language sql as $$
    select obstacle, slower, undecided, least_uploads, decidable_in
    from compare_summary(
        'shop', 'v1', 'v2', since => '2026-01-07Z', until => '2026-01-07Z'::timestamptz + $1 * interval '1 hour', before_since => $3,
        before_until => $3 + $1 * interval '1 hour', route => $2) $$;

-- Three hours.
select results_eq(
    $$ select function, verdict from pg_temp.verdicts(3, '/p/%') $$,
    $$ values ('little', 'early'), ('restless', 'early'), ('tripled', 'slower'), ('visited', 'early') $$,
    'what is far beyond the noise of the hours before is slower after three hours, unless one page alone is');
select ok(p > 0.001, 'hours before show how much hours differ') from pg_temp.verdicts(3, '/p/%') where function = 'restless';
select is_empty($$ select from compare_releases('shop', 'v1', 'v2', since => '2026-01-07Z', until => '2026-01-07 03:00Z', before_since => '2026-01-06Z',
    before_until => '2026-01-06 03:00Z', route => '/p/%') where function ~ 'steady' and verdict not in ('early', 'no change seen') $$, 'what did not change is not slower');
select results_eq(
    $$ select obstacle, slower, undecided, least, wait between 1 and 9 from pg_temp.summary(3, '/p/%') as (obstacle text, slower bigint, undecided bigint, least integer, wait double precision) $$,
    $$ select null::text, 1::bigint, count(*) filter (where verdict = 'early'), 200, true from compare_releases('shop', 'v1', 'v2',
        since => '2026-01-07Z', until => '2026-01-07 03:00Z', before_since => '2026-01-06Z', before_until => '2026-01-06 03:00Z', route => '/p/%') $$,
    'the summary has a verdict, and says of how many it has none');
-- One hour.
select results_eq(
    $$ select distinct verdict from pg_temp.verdicts(1, '/p/%') $$, $$ values ('early') $$, 'six hundred uploads of one hour are too few');
select ok(at_least between 1 and 2, 'but show that a change is at least so large') from pg_temp.verdicts(1, '/p/%') where function = 'tripled';
select ok(at_least is null, 'where they do') from pg_temp.verdicts(1, '/p/%') where function = 'little';
select is(wait, 11::float8, 'twelve hours will show a fifth')
from pg_temp.summary(1, '/p/%') as (obstacle text, slower bigint, undecided bigint, least integer, wait double precision) where obstacle = 'early';
select is(wait, null, 'two uploads do not say how long it takes')
from pg_temp.summary(1, '/bare') as (obstacle text, slower bigint, undecided bigint, least integer, wait double precision) where obstacle = 'early';
select ok(
    max(ordinality) filter (where at_least is not null) < min(ordinality) filter (where at_least is null and verdict = 'early'),
    'what looks like a change comes first')
from compare_releases('shop', 'v1', 'v2', since => '2026-01-07Z', until => '2026-01-07 01:00Z', before_since => '2026-01-06Z',
    before_until => '2026-01-06 01:00Z', route => '/p/%') with ordinality;
-- Three hours are all that the earlier side has.
select results_eq(
    $$ select distinct verdict from compare_releases('shop', 'v2', 'v1', since => '2026-01-06Z', until => '2026-01-06 03:00Z', before_since => '2026-01-07Z',
        before_until => '2026-01-07 03:00Z', route => '/p/%') $$, $$ values ('early') $$, 'nothing shows how much hours differ');
-- A day of few uploads.
select results_eq(
    $$ select function, verdict from pg_temp.verdicts(24, '/thin') $$,
    $$ values ('little', 'not enough data'), ('restless', 'slower'), ('tripled', 'slower'), ('visited', 'not enough data') $$,
    '96 uploads a side show what is far beyond noise');
select results_eq(
    $$ select obstacle, slower, undecided > 0, least from pg_temp.summary(24, '/thin') as (obstacle text, slower bigint, undecided bigint, least integer, wait double precision) $$,
    $$ values (null::text, 2::bigint, true, 200) $$, 'the summary says so');
select results_eq(
    $$ select distinct verdict from pg_temp.verdicts(24, '/bare') $$, $$ values ('not enough data') $$, '48 uploads show nothing');
select results_eq(
    $$ select obstacle, slower, undecided > 0, wait > 24 from pg_temp.summary(24, '/bare') as (obstacle text, slower bigint, undecided bigint, least integer, wait double precision) $$,
    $$ values ('not enough data', 0::bigint, true, true) $$, 'which is what the summary says');
select is((select verdict from compare_releases('shop', 'v1', 'v2', since => '2026-01-07Z', until => '2026-01-07 12:00Z', before_since => '2026-01-06Z',
    before_until => '2026-01-06 12:00Z', route => '/thin') where function = 'tripled'), 'not enough data', '48 uploads of twelve hours are not early');

select * from finish();
rollback;
