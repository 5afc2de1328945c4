-- SPDX-License-Identifier: Apache-2.0
-- is_agent: which scripts are fleetprof's own agent.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

create temp table script (url text, expected boolean);
insert into script
select url, true
from unnest(array[
    'https://shop.example/fleetprof.js', 'https://shop.example/assets/fleetprof.mjs', 'fleetprof.min.js', 'fleetprof.min.mjs',
    'https://shop.example/fleetprof-0.1.0.js', 'https://shop.example/fleetprof-0.1.0.min.js', 'fleetprof-1.0.0-rc.1.js', 'fleetprof-v2.js',
    'https://shop.example/fleetprof.worker.js', 'https://shop.example/fleetprof.worker-0.1.0.js', 'fleetprof.vitals.js',
    'https://shop.example/fleetprof.debug.js', 'fleetprof.debug.mjs', 'fleetprof.debug-0.1.0.js',
    'https://shop.example/fleetprof.a1b2c3d4.js', 'https://shop.example/fleetprof-A1B2C3D4.js', 'fleetprof.3f2a9c0d1e4b5f607182.min.js',
    'https://shop.example/fleetprof-Ab-dE_fg.js', 'fleetprof-BqZzKdLs.js', 'fleetprof-x-dE_fgH.js', 'fleetprof-0.1.0-beta.js', 'fleetprof-ABCDEFGH.js', 'fleetprof.worker-a1b2c3d4.js',
    'file:fleetprof.js', 'https://shop.example/fleetprof.js?v=1', 'https://shop.example/fleetprof.cjs',
    'https://cdn.example/x/y/fleetprof.js'
]) as url
union all
select url, false
from unnest(array[
    'https://shop.example/myfleetprof.js', 'https://shop.example/fleetprof/app.js', 'https://fleetprof.js/app.js',
    'https://shop.example/fleetprof-dashboard.js', 'https://shop.example/fleetprof-ui.js', 'https://shop.example/fleetprof-dashboard-DkJ3x_Qz.js',
    'https://shop.example/fleetprof-ui.js?from=/fleetprof.js', 'https://shop.example/fleetprof.settings.js', 'https://shop.example/fleetprofx.js',
    'https://shop.example/app.js?from=/fleetprof.js', 'https://shop.example/app.js#/fleetprof.js', 'https://shop.example/fleetprof.js.map',
    'https://shop.example/fleetprof.html', 'https://shop.example/fleetprof', 'https://shop.example/fleetprof.js/app.js',
    'https://shop.example/Fleetprof.js', 'https://shop.example/app.js', '', null
]) as url;

select plan(3);
select is_empty($$ select url, is_agent(url) from script where is_agent(url) is distinct from expected $$, 'by file name alone');

insert into segment (segment_id) values (1);
insert into frame_name values
    ('own', 'upload', 'https://shop.example/fleetprof-0.1.0.js', 1, 1, 'function'),
    ('sort', 'fleetprof.js', null, null, null, 'builtin');
insert into sample (us, path, measures) values (3000, '{main,own}', '{load}'), (2000, '{sort}', '{load}'), (1000, '{main}', '{load}');
select pg_temp.store() \g /dev/null
select results_eq(
    $$ select array_agg(function) from (
           select 'hotspots' as source, function, is_agent from hotspots('shop', '2026-01-05Z', '2026-01-06Z')
           union all
           select 'measure_hotspots', function, is_agent from measure_hotspots('load', 'shop', '2026-01-05Z', '2026-01-06Z')
           union all
           select 'flamegraph', function, is_agent from flamegraph('shop', '2026-01-05Z', '2026-01-06Z')
       ) as answer where is_agent group by source $$,
    $$ values ('{upload}'::text[]), ('{upload}'), ('{upload}') $$,
    'hotspots, measure_hotspots and flamegraph flag its frames and no others');
select is(
    (select count(*) from flamegraph('shop', '2026-01-05Z', '2026-01-06Z') where is_agent is null), 0::bigint,
    'the row (all) is not the agent');
select * from finish();
rollback;
