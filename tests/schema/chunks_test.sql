-- SPDX-License-Identifier: Apache-2.0
-- chunks: script files that page loads load and seldom run.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, site, route, release) values
    (1, 'shop', '/cart', 'v1'), (2, 'shop', '/cart', 'v2'), (3, 'shop', '/', 'v2'), (4, 'blind', '/', 'v1'), (5, 'bare', '/', 'v1'),
    (6, 'core', '/', 'v1');
-- Pages may read scripts of cdn.example, not those of other hosts.
insert into frame_name values
    ('app', 'app', 'https://shop.example/app.js', 1, 1, 'function'), ('cdn', 'cdn', 'https://cdn.example/lib.js', 1, 1, 'function');
insert into sample (segment_id, upload, us, path) values (1, 1, 10000, '{app}'), (1, 1, 10000, '{cdn}'), (6, 2, 10000, '{app}');
insert into timing_value (segment_id, kind, name, source, us)
select segment_id, kind::fleetprof_data.timing_kind, '', url, us
from (values
    -- 1000 page loads, 400 of them profiled.
    (1, 'script_loaded', '', 0, 600), (2, 'script_loaded', '', 0, 300), (3, 'script_loaded', '', 0, 100),
    (1, 'script_ran', '', 0, 200), (2, 'script_ran', '', 0, 160), (3, 'script_ran', '', 0, 40),
    -- One chunk in two builds.
    (1, 'script_loaded', 'https://shop.example/vendor.1a2b3c4d.js', 1000, 600),
    (2, 'script_loaded', 'https://shop.example/vendor.5e6f7a8b.js', 1000, 300),
    (1, 'script_ran', 'https://shop.example/vendor.1a2b3c4d.js', 0, 1), (2, 'script_ran', 'https://shop.example/vendor.5e6f7a8b.js', 0, 2),
    -- Two chunks of one build.
    (1, 'script_loaded', 'https://shop.example/chunk.0a1b2c3d.js', 0, 50), (1, 'script_loaded', 'https://shop.example/chunk.9a8b7c6d.js', 0, 40),
    (2, 'script_loaded', 'https://shop.example/chunk.4a5b6c7d.js', 0, 30),
    (1, 'script_loaded', 'https://shop.example/app.js', 500, 600), (2, 'script_loaded', 'https://shop.example/app.js', 500, 300),
    (3, 'script_loaded', 'https://shop.example/app.js', 500, 100),
    (1, 'script_ran', 'https://shop.example/app.js', 0, 200), (2, 'script_ran', 'https://shop.example/app.js', 0, 160),
    (3, 'script_ran', 'https://shop.example/app.js', 0, 40),
    (1, 'script_loaded', 'https://cdn.example/never.js', 10, 500), (1, 'script_loaded', 'https://tag.example/t.js', 9000, 500),
    -- A script that ran, that no page load lists.
    (1, 'script_ran', 'https://shop.example/cached.js', 0, 9),
    (4, 'script_loaded', '', 0, 10), (4, 'script_loaded', 'https://blind.example/a.js', 7, 10), (4, 'script_loaded', 'https://blind.example/b.js', 0, 1)
) as one (segment_id, kind, url, us, loads)
cross join generate_series(1, loads);
insert into timing_value (segment_id, kind, name, source, us) values
    (1, 'script_loaded', '(overflow)', '', 3), (1, 'script_ran', '(overflow)', '', 0),
    (1, 'page_host', 'shop.example', '', 0), (4, 'page_host', 'blind.example', '', 0);
select pg_temp.store() \g /dev/null

select plan(24);

select results_eq(
    $$ select script, load_share, ran_share, round(ran_share_high::numeric, 5), round(free_share::numeric, 5), bytes, loads, ran_loads,
           page_loads, profiled_loads
       from chunks('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('https://shop.example/vendor.*.js', 0.9::float8, 0.0075::float8, 0.01927, 0.88073, 900000::bigint, 900::bigint, 3::bigint, 1000::bigint, 400::bigint),
        ('https://cdn.example/never.js', 0.5, 0, 0.00746, 0.49254, 5000, 500, 0, 1000, 400),
        ('https://shop.example/chunk.0a1b2c3d.js', 0.05, 0, 0.00746, 0.04254, null, 50, 0, 1000, 400),
        ('https://shop.example/chunk.9a8b7c6d.js', 0.04, 0, 0.00746, 0.03254, null, 40, 0, 1000, 400),
        ('https://shop.example/chunk.4a5b6c7d.js', 0.03, 0, 0.00746, 0.02254, null, 30, 0, 1000, 400),
        ('https://shop.example/app.js', 1, 1, 1.00000, 0.00000, 500000, 1000, 400, 1000, 400),
        ('https://tag.example/t.js', 0.5, 0, null, null, 4500000, 500, 0, 1000, 400),
        ('(overflow)', 0.001, 0.0025, null, null, 3, 1, 1, 1000, 400) $$,
    'most bytes for nothing first; a build''s hash is folded, not those of several chunks; a host whose functions nobody sees has no bound');
select results_eq(
    $$ select script, load_share, ran_loads, page_loads, profiled_loads from chunks('shop', '2026-01-05Z', '2026-01-06Z', release => 'v2') $$,
    $$ values
        ('https://shop.example/vendor.*.js', 0.75::float8, 2::bigint, 400::bigint, 200::bigint),
        ('https://shop.example/chunk.*.js', 0.075, 0, 400, 200), ('https://shop.example/app.js', 1, 200, 400, 200) $$,
    'a filter by release; of one release the chunks differ in nothing else');
select results_eq(
    $$ select script, page_loads from chunks('shop', '2026-01-05Z', '2026-01-06Z', route => '/', exclude_release => 'v1') $$,
    $$ values ('https://shop.example/app.js', 100::bigint) $$, 'a filter by route, and one that excludes');
select results_eq(
    $$ select script from chunks('shop', '2026-01-05Z', '2026-01-06Z', top => 2) $$,
    $$ values ('https://shop.example/vendor.*.js'), ('https://cdn.example/never.js') $$, 'top');
select results_eq(
    $$ select script, load_share, ran_share, ran_share_high, free_share, bytes, profiled_loads from chunks('blind', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('https://blind.example/a.js', 1::float8, null::float8, null::float8, null::float8, 70::bigint, 0::bigint),
        ('https://blind.example/b.js', 0.1, null, null, null, null, 0) $$,
    'nothing was profiled');
select is_empty($$ select * from chunks('bare', '2026-01-05Z', '2026-01-06Z') $$, 'nothing at all');
select is_empty($$ select * from chunks('core', '2026-01-05Z', '2026-01-06Z') $$, 'pages that do not say what they load');
select is_empty($$ select * from chunks('shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');
select isnt_empty($$ select * from chunks('%', '2026-01-05Z', '2026-01-06Z', top => null) $$, 'all sites, all rows');
select throws_ok($$ select * from chunks(null) $$, '22023', 'site is null', 'a site must be named');
select throws_ok($$ select * from chunks('shop', top => 0) $$, '22023', 'top is 0', 'top is at least 1');

insert into fleetprof_data.script_template (site, templates, patterns, replacements)
select 'shop', '{/chunk.*.js}', array[fleetprof_data.script_pattern('/chunk.*.js')], array[fleetprof_data.script_replacement('/chunk.*.js')];
select isnt_empty(
    $$ select from chunks('shop', '2026-01-05Z', '2026-01-06Z') where script = 'https://shop.example/chunk.0a1b2c3d.js' $$,
    'a template of the site names scripts, and keeps those of one release apart');

-- From the sums of the binomial distribution itself.
select is(round(fleetprof_data.binomial_high(successes, trials)::numeric, 5), bound, format('%s of %s', successes, trials))
from (values
    (0, 300, 0.00994), (3, 400, 0.01927), (0, 400, 0.00746), (2, 3, 0.98305), (1, 1000, 0.00473), (99, 100, 0.99949)
) as one (successes, trials, bound);
select cmp_ok(abs(fleetprof_data.binomial_high(successes, trials) - bound), '<', 0.0002::float8, format('%s of %s', successes, trials))
from (values (100, 4000, 0.029453), (101, 4000, 0.029722), (500, 1000, 0.526482)) as one (successes, trials, bound);
select is(fleetprof_data.binomial_high(0, 0), null, 'no trials, no bound');
select is(fleetprof_data.binomial_high(7, 7), 1::float8, 'all of them');
select cmp_ok(fleetprof_data.binomial_high(100, 50000000), '<', 0.00001::float8, 'one in half a million');
select * from finish();
rollback;
