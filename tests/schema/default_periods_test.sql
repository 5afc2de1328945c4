-- SPDX-License-Identifier: Apache-2.0
-- Periods that a caller need not name: one day up to now, and 48 hours of a release.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

-- v1 all the time, v2 for `hours` from noon of January 5th.
create temp table hour as
select segment_id, release, site, bucket
from (values (1, 'v1', 'short', 60), (2, 'v2', 'short', 47), (3, 'v1', 'long', 60), (4, 'v2', 'long', 60)) as segment (segment_id, release, site, hours)
cross join lateral (
    select '2026-01-05Z'::timestamptz + interval '1 hour' * (n + case release when 'v2' then 12 else 0 end)
    from generate_series(0, hours - 1) as n
) as hours (bucket);
insert into segment (segment_id, site, release) select distinct segment_id, site, release from hour;
insert into fleetprof_data.segment
select segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, '2026-01-05' from pg_temp.segment;
insert into segment_fact select segment_id, bucket, 10, 10, 1000, 1000, 10000000, 1e13, 10000000 from hour;
select pg_temp.pack() \g /dev/null

select plan(4);

select results_eq(
    $$ select site, since, until, before_since, before_until from (values ('short'), ('long')) as given (site),
        release_periods(row(site, null, null, null, null), 'v1', 'v2') $$,
    $$ values
        ('short', '2026-01-05 12:00Z'::timestamptz, '2026-01-07 11:00Z'::timestamptz, '2026-01-05 12:00Z'::timestamptz, '2026-01-07 11:00Z'::timestamptz),
        ('long', '2026-01-05 12:00Z', '2026-01-07 12:00Z', '2026-01-05 12:00Z', '2026-01-07 12:00Z') $$,
    'a release is compared from its first hour on, 48 hours at most');

-- Each public function with a period says its defaults in the same words.
create temp table parameter as
select pg_proc.oid::regproc::text as function, trim(part) as text
from pg_proc
cross join lateral regexp_split_to_table(pg_get_function_arguments(pg_proc.oid), ', (?=[a-z_]+ )') as part
where pronamespace = 'fleetprof'::regnamespace;
select is_empty(
    $$ select function, text from parameter where text like 'since %' and text not like '% DEFAULT NULL::%'
       and text <> 'since timestamp with time zone DEFAULT (now() - ''1 day''::interval)' $$,
    'questions ask for one day');
select is_empty(
    $$ select function, text from parameter where text like 'until %' and text not like '% DEFAULT NULL::%'
       and text <> 'until timestamp with time zone DEFAULT now()' $$,
    'up to now');
select cmp_ok((select count(*) from parameter where text like 'since % DEFAULT (now()%'), '>=', 20::bigint, 'most questions have a period');
select * from finish();
rollback;
