-- SPDX-License-Identifier: Apache-2.0
-- interactions: durations by target and type, and where the time goes.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1), (2);
update segment set route = '/help' where segment_id = 2;
insert into segment (segment_id, site) values (3, 'shop-eu');
insert into timing_value (kind, name, source, us)
select 'interaction', 'pointer', 'button.add', n from generate_series(1, 50) as n;
insert into timing_value (segment_id, kind, name, source, us) values
    (1, 'input_delay', 'pointer', 'button.add', 255), (1, 'processing', 'pointer', 'button.add', 510),
    (1, 'interaction', 'keyboard', 'button.add', 40000),
    (1, 'input_delay', 'keyboard', 'button.add', 0), (1, 'processing', 'keyboard', 'button.add', 44000),
    (2, 'interaction', 'keyboard', '', 100), (2, 'interaction', 'keyboard', '', 20),
    (2, 'interaction', '(overflow)', '', 0),
    (3, 'interaction', 'pointer', 'button.add', 63);
insert into timing_value (segment_id, bucket, kind, name, source, us) values
    (1, '2026-01-06 10:00Z', 'interaction', 'pointer', 'button.add', 40),
    (1, '2026-01-06 10:00Z', 'interaction_flagged', 'pointer', 'button.add', 0),
    (1, '2026-01-06 10:00Z', 'interaction_flagged', 'pointer', 'a.help', 0),
    (1, '2026-01-06 10:00Z', 'interaction_flagged', 'pointer', 'a.help', 0);
-- Something else of the same names.
insert into timing_value (kind, name, source, us) values ('resource', 'pointer', 'button.add', 5000000);
insert into timing_value (kind, name, us) values ('mark', 'pointer', 1);
-- Responses, also where no interaction was long.
insert into timing_value (bucket, kind, name, source, us) select '2026-01-07 10:00Z', 'response', 'pointer', 'button.search', 1000 * n
from generate_series(1, 50) as n;
insert into timing_value (bucket, kind, name, source, us) values
    ('2026-01-07 10:00Z', 'interaction', 'pointer', 'button.add', 40000),
    ('2026-01-07 10:00Z', 'response', 'keyboard', '', 50000),
    ('2026-01-07 10:00Z', 'response_flagged', 'pointer', 'button.add', 0);
select pg_temp.store() \g /dev/null

select plan(12);

select results_eq(
    $$ select * from interactions('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart') $$,
    $$ values
        -- Rounded down by the browser: less than its parts.
        ('button.add', 'keyboard', 1::bigint, 40::float8, 40::float8, 40::float8, 40::float8, 0::float8, 1::float8, 0::float8, 0::bigint, 0::bigint, null::float8, null::float8),
        ('button.add', 'pointer', 50, 0.038, 0.049, 0.05, 1.275, 0.2, 0.4, 0.4, 0, 0, null, null) $$,
    'most time first; shares of it');
select results_eq(
    $$ select * from interactions('shop', '2026-01-05Z', '2026-01-06Z', route => '/help') $$,
    $$ values
        (null::text, 'keyboard', 2::bigint, 0.1::float8, 0.1::float8, 0.1::float8, 0.12::float8, null::float8, null::float8, null::float8, 0::bigint, 0::bigint, null::float8, null::float8),
        (null, '(overflow)', 1, 0, 0, 0, 0, null, null, null, 0, 0, null, null) $$,
    'without a target; shares that are not known, or of nothing');
select results_eq(
    $$ select count, max_ms from interactions('shop%', '2026-01-05Z', '2026-01-06Z') where type = 'pointer' $$,
    $$ values (51::bigint, 0.063::float8) $$,
    'several sites are one');
select results_eq(
    $$ select * from interactions_by('route', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ select '/cart', * from interactions('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart')
       union all
       select '/help', * from interactions('shop', '2026-01-05Z', '2026-01-06Z', route => '/help') order by total_ms desc $$,
    'by route: those of each route');
select throws_ok($$ select * from interactions_by('page', 'shop') $$, '22023', 'no dimension is named "page"', 'an unknown dimension');
select throws_ok($$ select * from interactions_by(null, 'shop') $$, '22023', 'dimension is null', 'a dimension must be named');
select results_eq(
    $$ select target, count, p75_ms, max_ms, total_ms, input_delay_share, flagged from interactions('shop', '2026-01-06Z', '2026-01-07Z') $$,
    $$ values
        ('button.add', 1::bigint, 0.04::float8, 0.04::float8, 0.04::float8, null::float8, 1::bigint),
        ('a.help', 0, null, null, 0, null, 2) $$,
    'flagged ones are counted, and nothing else of them');
select results_eq(
    $$ select target, type, count, p98_ms, total_ms, flagged, responses, response_p75_ms, response_p98_ms
       from interactions('shop', '2026-01-07Z', '2026-01-08Z') $$,
    $$ values
        ('button.search', 'pointer', 0::bigint, null::float8, 0::float8, 0::bigint, 50::bigint, 38.3995::float8, 48.6395::float8),
        (null, 'keyboard', 0, null, 0, 0, 1, 50, 50),
        ('button.add', 'pointer', 1, 40, 40, 1, 0, null, null) $$,
    'responses beside interactions, and without them: the longer wait first');
select results_eq(
    $$ select value, responses from interactions_by('route', 'shop', '2026-01-07Z', '2026-01-08Z') where target = 'button.search' $$,
    $$ values ('/cart', 50::bigint) $$,
    'responses by a dimension');
select is_empty($$ select * from interactions('shop', '2026-01-08Z', '2026-01-09Z') $$, 'another day, no rows');
select is_empty($$ select * from interactions('nobody') $$, 'an unknown site, no rows');
select throws_ok($$ select * from interactions(null) $$, '22023', 'site is null', 'a site must be named');

select * from finish();
rollback;
