-- SPDX-License-Identifier: Apache-2.0
-- hotspots and measure_hotspots of one host, party or package.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, site) values (1, 'shop');
insert into frame_name values
    ('inline',   'inline',   'https://www.shop.example/product/:id', 1, 1, 'function'),
    ('main 1',   'main',     'https://static.shop.example/app-0a1b2c3d.js', 1, 1, 'function'),
    ('main 2',   'main',     'https://static.shop.example/app-ffee0011.js', 4, 1, 'function'),
    ('main 3',   'main',     'https://static2.shop.example/app-ffee0011.js', 4, 1, 'function'),
    ('work',     'work',     'https://unpkg.com/react-dom@18.2.0/x.js', 1, 1, 'function'),
    ('commit',   'commit',   'https://unpkg.com/react-dom@18.2.0/x.js', 2, 1, 'function'),
    ('create',   'create',   'https://unpkg.com/react@18.2.0/x.js', 1, 1, 'function'),
    ('vendored', 'vendored', 'https://static.shop.example/node_modules/react-dom/index.js', 1, 1, 'function'),
    ('odd',      'odd',      'https://cdn.example/50%25@1.0.0/x.js', 1, 1, 'function'),
    ('tag',      'tag',      'https://tag.example.net/t.js', 1, 1, 'function'),
    ('adblock',  'adblock',  'chrome-extension:', 1, 1, 'function'),
    ('map',      'map',      null, null, null, 'builtin'),
    ('(gc)',     '(gc)',     null, null, null, 'marker');
insert into sample (us, marker, path, measures) values
    (30000, '(none)', '{main 1,work}', null),
    ( 9000, '(none)', '{main 2,work,commit}', '{buy}'),
    ( 8000, '(none)', '{main 1,create}', null),
    ( 7000, '(none)', '{main 1}', null),
    ( 6000, '(none)', '{main 2}', '{buy}'),
    ( 5000, '(none)', '{main 3}', null),
    ( 4000, '(none)', '{inline,vendored}', null),
    ( 3000, '(none)', '{inline}', null),
    ( 2500, '(none)', '{odd}', null),
    ( 2000, '(none)', '{tag,map}', null),
    ( 1500, 'layout', '{tag}', '{buy}'),
    ( 1000, '(none)', '{adblock}', null),
    (  900, 'gc',     '{(gc)}', null),
    (20100, '(none)', null, null);
select pg_temp.store() \g /dev/null
select fleetprof_data.keep_sites('{"shop": {"scripts": [], "first_party": ["shop.example"]}}') \g /dev/null

select plan(16);

prepare functions_of(text, text, text, integer) as
    select function, self_ms, total_ms, round(self_share::numeric, 9)::float8
    from hotspots('shop', '2026-01-05Z', '2026-01-06Z', host => $1, party => $2, package => $3, top => $4);

-- 100 ms were profiled.
select results_eq(
    $$ execute functions_of(null, null, 'react-dom', 20) $$,
    $$ values ('work', 30::float8, 39::float8, 0.3::float8), ('commit', 9, 9, 0.09), ('vendored', 4, 4, 0.04) $$,
    'the functions of a package, wherever its scripts come from; shares stay those of all time');
select results_eq(
    $$ execute functions_of(null, 'first', null, 2) $$,
    $$ values ('main', 13::float8, 60::float8, 0.13::float8), ('main', 5, 5, 0.05) $$,
    'costlier functions of others do not take the places of those asked for; builds of one host are one function');
select results_eq(
    $$ execute functions_of('static.shop.example', null, null, 20) $$,
    $$ values ('main', 13::float8, 60::float8, 0.13::float8), ('vendored', 4, 4, 0.04) $$,
    'a host without its namesake on another one');
select results_eq(
    $$ execute functions_of('%.example', 'third', null, 20) $$,
    $$ values ('odd', 2.5::float8, 2.5::float8, 0.025::float8) $$,
    'filters hold together; % is any text');
select results_eq(
    $$ execute functions_of(null, null, 'react%', 20) $$,
    $$ values ('work', 30::float8, 39::float8, 0.3::float8), ('commit', 9, 9, 0.09), ('create', 8, 8, 0.08), ('vendored', 4, 4, 0.04) $$,
    'also of a package');
select results_eq(
    $$ execute functions_of(null, null, '50\%25', 20) $$,
    $$ values ('odd', 2.5::float8, 2.5::float8, 0.025::float8) $$,
    'and \% a percent sign');
select is_empty($$ execute functions_of(null, null, 'React-DOM', 20) $$, 'names are compared letter by letter');
select is_empty($$ execute functions_of('unpkg.com', 'first', null, 20) $$, 'nothing has both');

-- Whatever cost_by lists, its functions can be asked for, and cost the same.
create temp table listed as
select by, name, self_ms, samples
from unnest('{host,party,package}'::text[]) as by
cross join lateral cost_by(by, 'shop', '2026-01-05Z', '2026-01-06Z')
where name <> '(unattributed)';
select results_eq(
    $$ select by, count(*) from listed group by by order by by collate "C" $$,
    $$ values ('host', 9::bigint), ('package', 6), ('party', 5) $$,
    'groups of each kind');
create temp table spots as
select by, name, spot.*
from listed
cross join lateral hotspots(
    'shop', '2026-01-05Z', '2026-01-06Z', top => null,
    host => case by when 'host' then fleetprof_data.literal_filter(name) end,
    party => case by when 'party' then fleetprof_data.literal_filter(name) end,
    package => case by when 'package' then fleetprof_data.literal_filter(name) end) as spot;
select results_eq(
    $$ select by, name, round(sum(self_ms)::numeric, 6) from spots group by by, name order by by collate "C", name collate "C" $$,
    $$ select by, name, round(self_ms::numeric, 6) from listed order by by collate "C", name collate "C" $$,
    'the functions of a group add up to the group');
select is(
    (select count(*) from spots where by = 'party'), (select count(*) from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => null)),
    'each function is in one group of a kind');
select is_empty(
    $$ select function, line, self_ms, total_ms, total_share, samples, uploads, self_ms_per_load, load_share, busy_share, seen_share from spots
       except
       select function, line, self_ms, total_ms, total_share, samples, uploads, self_ms_per_load, load_share, busy_share, seen_share
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => null) $$,
    'all figures of a function are those without the filter');
select results_eq(
    $$ select function, self_ms from hotspots('shop', '2026-01-05Z', '2026-01-06Z', marker => 'layout', party => 'third') $$,
    $$ values ('tag', 1.5::float8) $$, 'together with a marker');

-- 16.5 ms were inside the measure.
select results_eq(
    $$ select function, self_ms, total_ms, round(self_share::numeric, 9)::float8
       from measure_hotspots('buy', 'shop', '2026-01-05Z', '2026-01-06Z', host => 'unpkg.com') $$,
    $$ values ('commit', 9::float8, 9::float8, round(9 / 16.5, 9)::float8), ('work', 0, 9, 0) $$,
    'of what ran inside a measure');

-- One source in the scripts of two hosts is one function, of which a host has a part.
insert into fleetprof_data.function_table (resource_id, site, url, release, functions, checksum)
select resource_id, 'shop', url, '', 1, 1 from fleetprof_data.resource where url like '%/app-%';
insert into fleetprof_data.original_function (resource_id, line, column_number, function, source, source_line, source_column, package, is_ignored)
select resource_id, case when url like '%0a1b2c3d%' then 1 else 4 end, 1, 'main', 'src/main.ts', 9, 1, '', false
from fleetprof_data.resource
where url like '%/app-%';
select results_eq(
    $$ execute functions_of(null, 'first', null, 1) $$,
    $$ values ('main', 18::float8, 65::float8, 0.18::float8) $$, 'one function, whichever host its scripts come from');
select results_eq(
    $$ execute functions_of('static2.shop.example', null, null, 20) $$,
    $$ values ('main', 5::float8, 5::float8, 0.05::float8) $$, 'and what one host has of it');

select * from finish();
rollback;
