-- SPDX-License-Identifier: Apache-2.0
-- ttfb_parts: the server's share of the time to first byte, by what its cache did.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1), (2);
update segment set route = '/help' where segment_id = 2;
insert into timing_value (segment_id, kind, name, us) values
    (1, 'ttfb', 'MISS', 100), (1, 'ttfb_server', 'MISS', 75),
    (1, 'ttfb', 'MISS', 60), (1, 'ttfb_server', 'MISS', 5),
    (1, 'ttfb', 'HIT', 40), (1, 'ttfb_server', 'HIT', 0),
    (2, 'ttfb', '', 0), (2, 'ttfb_server', '', 0),
    (2, 'ttfb', 'MISS', 20), (2, 'ttfb_server', 'MISS', 20);
-- Something else of the same names.
insert into timing_value (kind, name, us) values ('mark', 'MISS', 1), ('resource', 'HIT', 5000000), ('vital', 'TTFB', 100000);
select pg_temp.store() \g /dev/null

select plan(9);

select results_eq(
    $$ select * from ttfb_parts('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart') $$,
    $$ values
        ('MISS', 2::bigint, 0.1::float8, 0.08::float8, 0.04::float8, 0.04::float8, 0.5::float8),
        ('HIT', 1, 0.04, 0.04, 0, 0.04, 0) $$,
    'the most page loads first; the parts make the mean');
select results_eq(
    $$ select * from ttfb_parts('shop', '2026-01-05Z', '2026-01-06Z', route => '/help') $$,
    $$ values
        (null::text, 1::bigint, 0::float8, 0::float8, 0::float8, 0::float8, null::float8),
        ('MISS', 1, 0.02, 0.02, 0.02, 0, 1) $$,
    'without a cache; the share of nothing');
select is_empty(
    $$ select * from ttfb_parts('shop', '2026-01-05Z', '2026-01-06Z')
       where abs(server_ms + network_ms - mean_ms) > 1e-12 * mean_ms or count <> case cache when 'MISS' then 3 else 1 end $$,
    'the parts of all routes make the mean');
select results_eq(
    $$ select * from ttfb_parts_by('route', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ select value, (parts).* from (
           select '/cart' as value, p as parts from ttfb_parts('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart') as p
           union all
           select '/help', p from ttfb_parts('shop', '2026-01-05Z', '2026-01-06Z', route => '/help') as p) as routes
       order by (parts).count desc, value collate "C", (parts).cache collate "C" nulls first $$,
    'by route: those of each route');
select throws_ok($$ select * from ttfb_parts_by('page', 'shop') $$, '22023', 'no dimension is named "page"', 'an unknown dimension');
select throws_ok($$ select * from ttfb_parts_by(null, 'shop') $$, '22023', 'dimension is null', 'a dimension must be named');
select is_empty($$ select * from ttfb_parts('shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');
select is_empty($$ select * from ttfb_parts('nobody') $$, 'an unknown site, no rows');
select throws_ok($$ select * from ttfb_parts(null) $$, '22023', 'site is null', 'a site must be named');

select * from finish();
rollback;
