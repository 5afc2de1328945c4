-- SPDX-License-Identifier: Apache-2.0
-- coverage: page loads with a profile, and why others have none.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, route, rate_ppm) values (1, '/cart', 0), (2, '/cart', 10000), (3, '/cart', 500000), (4, '/help', 0);
insert into segment (segment_id, site, rate_ppm) values (5, 'plain', 0), (6, 'rated', 10000), (7, 'unlucky', 250000), (8, 'vitals', 10000);
insert into sample (segment_id, bucket, upload, us, path)
select segment_id, '2026-01-05Z'::timestamptz + upload * interval '7 hours', upload, 1000, '{main}'
from (values (1, 3), (2, 4), (3, 2), (5, 2), (6, 1)) as loads (segment_id, count)
cross join lateral generate_series(1, count) as upload;
insert into timing_value (segment_id, kind, name, us) values
    (1, 'coverage', 'unsupported', 0), (1, 'coverage', 'unsupported', 0), (1, 'coverage', 'not-sampled', 0),
    (2, 'coverage', 'no-policy', 0), (3, 'coverage', 'quota', 0),
    (4, 'coverage', 'disabled', 0), (4, 'vital', 'LCP', 7), (4, 'mark', 'coverage', 7),
    (2, 'coverage', 'overload', 0), (6, 'coverage', 'overload', 0), (7, 'coverage', 'no-policy', 0);
select pg_temp.store() \g /dev/null
-- An upload without a profile and without a reason counts 0 page loads.
insert into segment_fact values (8, '2026-01-05 10:00Z', 0, 0, 0, 0, 0, 0, 0, 0);
select pg_temp.pack() \g /dev/null

select plan(9);

prepare coverage_of_the_days as
    select
        loads, profiled, no_policy, unsupported, quota, disabled, not_sampled, overload, sampled, delivered, estimated_loads
    from coverage('shop', '2026-01-05Z', '2026-01-07Z', route => '/cart');
select results_eq(
    'coverage_of_the_days',
    -- 5 page loads stand for 100 each, 3 for 2 each.
    $$ values (14::bigint, 9::bigint, 1::bigint, 2::bigint, 1::bigint, 0::bigint, 1::bigint, 1::bigint, 8::bigint, 6::bigint, 506::float8) $$,
    'page loads with a profile, and with each reason');
select results_eq(
    $$ select * from coverage('shop', '2026-01-05Z', '2026-01-07Z', route => '/help') $$,
    $$ values (1::bigint, 0::bigint, 0::bigint, 0::bigint, 0::bigint, 1::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::float8, null::float8) $$,
    'no profile at all; no token');
select results_eq(
    $$ select * from coverage('plain', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values (2::bigint, 2::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::bigint, null::float8, 1::float8) $$,
    'no page load gives a reason: whether there are any is not known');
select results_eq(
    $$ select loads, profiled, disabled, overload, sampled, delivered, estimated_loads from coverage('rated', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values (1::bigint, 1::bigint, null::bigint, 1::bigint, 1::bigint, 1::bigint, 100::float8) $$,
    'all are sampled and delivered; one whose agent stopped early is one of the profiled');
select results_eq(
    $$ select loads, profiled, sampled, delivered, estimated_loads from coverage('unlucky', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values (1::bigint, 0::bigint, 1::bigint, 0::bigint, 4::float8) $$, 'sampled, and no profile was delivered');
select results_eq(
    $$ select loads, profiled, quota, sampled, delivered, estimated_loads from coverage('vitals', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values (0::bigint, 0::bigint, null::bigint, null::bigint, null::bigint, null::float8) $$,
    'vitals alone say nothing about profiles');
select is_empty($$ select * from coverage('shop', '2026-01-07Z', '2026-01-08Z') $$, 'another day, no row');
select is_empty($$ select * from coverage('nobody') $$, 'an unknown site, no row');
select throws_ok($$ select * from coverage(null) $$, '22023', 'site is null', 'a site must be named');

select * from finish();
rollback;
