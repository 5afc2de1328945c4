-- SPDX-License-Identifier: Apache-2.0
-- exclude_…: what filters leave out, in every function that has filters.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, route, release, environment, variant, browser, os, device, thread) values
    (1, '/cart', 'v1', 'production', 'a', 'Chrome', 'Linux', 'desktop', 'window'),
    (2, '/admin', 'v2', 'staging', 'b', 'HeadlessChrome', 'Android', 'bot', 'worker'),
    (3, '', '', '', '', '', '', '', '');
insert into sample (segment_id, us, marker, path) values
    (1, 1000, '(none)', '{main}'), (1, 500, 'gc', '{main}'), (1, 200, 'layout', '{main,draw}'),
    (2, 20000, '(none)', '{main}'), (3, 300000, '(none)', '{main}');
insert into timing_value (segment_id, kind, name, us) values (1, 'vital', 'LCP', 1000), (2, 'vital', 'LCP', 1000);
select pg_temp.store() \g /dev/null

create temp table filtered as
select oid::regproc::text as name, pronargs - pronargdefaults as needed, proargnames[:pronargs] as parameters
from pg_proc
where pronamespace = 'fleetprof'::regnamespace and 'thread' = any(proargnames[:pronargs]);

select plan(26 + (select count(*)::integer from filtered));

-- A twin of each filter, and nothing else.
select is(
    (select array_agg('exclude_' || parameter order by parameter) from unnest(parameters) as parameter
     where parameter = any(array_remove(fleetprof_data.dimensions(), 'release') || '{marker,navigation}'::text[])
         or parameter = 'release' and name not like '%regressions'),
    (select array_agg(parameter order by parameter) from unnest(parameters) as parameter where parameter like 'exclude%'),
    name || ': each filter has a twin')
from filtered
order by name;

create function pg_temp.rest(dimension text, pattern text)
returns integer
language plpgsql
as $$
declare
    answer integer;
begin
    execute format($q$ select coalesce(sum(self_ms * 1000), 0)::integer from fleetprof.hotspots('shop', '2026-01-05Z', '2026-01-06Z', exclude_%I => %L) $q$, dimension, pattern) into answer;
    return answer;
end
$$;
select is(pg_temp.rest(dimension, pattern), 301700, 'leaves out ' || dimension || ' ' || pattern)
from (values ('route', '/admin'), ('release', 'v2'), ('environment', 'stag%'), ('variant', 'b'), ('browser', 'Headless%'), ('os', 'And%'), ('device', 'bot'), ('thread', 'worker')) as given (dimension, pattern);
select is(pg_temp.rest('frame', 'top'), 0, 'leaves out top pages');
select is(pg_temp.rest('frame', 'cross%'), 321700, 'leaves out no top page');
select is(pg_temp.rest('route', ''), 21700, 'leaves out what has no route');
select is(pg_temp.rest('route', '%'), 0, 'leaves out everything');
select is(pg_temp.rest('route', '_admin'), 321700, 'only % is a wildcard');
select is(pg_temp.rest('marker', 'gc'), 321200, 'leaves out a marker');
select is(pg_temp.rest('marker', ''), 700, 'leaves out what has no marker');
select is(pg_temp.rest('marker', 'no such marker'), 321700, 'what is not there leaves out nothing');
select throws_ok($$ select pg_temp.rest('marker', '%') $$, '22023', 'marker and exclude_marker leave no marker', 'some marker is left');
select throws_ok(
    $$ select hotspots('shop', marker => 'gcx', exclude_marker => 'gc') $$, '22023', 'no marker is named "gcx"', 'the wrong one is named');
select is(
    (select sum(self_ms)::integer from hotspots('shop', '2026-01-05Z', '2026-01-06Z', browser => '%Chrome', exclude_browser => 'Headless%', exclude_device => 'phone')),
    2, 'filters and what they leave out');
select results_eq(
    $$ select name, uploads from cost_by('browser', 'shop', '2026-01-05Z', '2026-01-06Z', exclude_browser => '') where uploads > 0 order by 1 $$,
    $$ values ('Chrome', 1::bigint), ('HeadlessChrome', 1) $$, 'in cost_by');
select results_eq(
    $$ select release, uploads from releases('shop', '2026-01-05Z', '2026-01-06Z', exclude_device => 'bot') order by 1 $$,
    $$ values ('', 1::bigint), ('v1', 1) $$, 'in releases');
select is((select uploads from field_values('site', 'shop', '2026-01-05Z', '2026-01-06Z', exclude_os => 'Linux')), 2::bigint, 'in field_values');
select is((select count from vitals('shop', '2026-01-05Z', '2026-01-06Z', exclude_device => 'bot')), 1::bigint, 'in vitals');
select is((select array_agg(value) from vitals_by('device', 'shop', '2026-01-05Z', '2026-01-06Z', exclude_device => 'desktop')), '{bot}'::text[], 'in vitals_by');
select results_eq(
    $$ select function, round((self_ms * 1000)::numeric)::integer from flamegraph_grafana('shop', '2026-01-05Z', '2026-01-06Z', exclude_route => '', exclude_marker => '(none)') as row (level, value, function, self_ms) where level > 0 order by 1 $$,
    $$ values ('draw', 200), ('main', 500) $$, 'in flamegraph_grafana');
select results_eq(
    $$ select after_uploads, before_uploads from compare_summary('shop', 'v1', 'v2', exclude_os => 'Linux') $$,
    $$ values (1::bigint, 0::bigint) $$, 'in compare_summary');

select * from finish();
rollback;
