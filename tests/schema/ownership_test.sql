-- SPDX-License-Identifier: Apache-2.0
-- Whose code it is: packages, parties and domains of scripts, and frames of packages folded.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

select plan(44);

select results_eq(
    $$ select url_package(url) from unnest(array[
        'https://cdn.jsdelivr.net/npm/react@18.2.0/index.js', 'https://cdn.jsdelivr.net/npm/@preact/signals@1.2/dist/x.js',
        'https://cdn.jsdelivr.net/npm/lodash/lodash.min.js', 'https://unpkg.com/vue@3', 'https://unpkg.com/vue',
        'https://esm.sh/v135/@scope/a@2.0.0/es2022/a.mjs', 'https://ga.jspm.io/npm:react-dom@18.2.0/index.js',
        'https://cdnjs.cloudflare.com/ajax/libs/jquery/3.7.1/jquery.min.js',
        'http://localhost:5173/node_modules/a/node_modules/@b/c/index.js', 'http://localhost:5173/node_modules/.vite/deps/x.js',
        'https://shop.example/npm/app.js', 'https://shop.example/img@2x/a.js', 'https://shop.example/my_node_modules/a/b.js',
        'https://shop.example/a.js?x=/node_modules/a/b.js', 'https://shop.example/a.js?x=/a@1/b.js', 'blob:https://shop.example',
        'app.js', 'https://shop.example/js/main@1.4.2.js', 'https://shop.example/js/main@1.4.2.min.mjs?x', 'https://esm.sh/chart.js@4.4.0',
        'https://unpkg.com/vue@3.4.1?module', 'https://esm.sh/v135/react', 'https://esm.sh/v135/react/jsx-runtime',
        'https://cdn.jsdelivr.net/gh/user/repo@1.0/x.js', 'https://esm.sh/gh/user/repo@1.0/x.js', 'https://esm.sh/gh/user/repo',
        'https://unpkg.com/react@^18/umd/react.js', 'https://unpkg.com/react@beta', 'https://cdn.jsdelivr.net/npm/@vue/shared@~3.2/x.js', 'https://esm.sh/v135/vue@%5E3',
        'https://cdn.jsdelivr.net/combine/npm/vue@3,npm/vuex@4',
        'https://esm.sh/*swr@2.2.0/es2022/swr.mjs', 'https://esm.sh/v135/*@scope/a@2', 'https://esm.sh/*swr',
        -- Each network without a version, and each word for one, on any host.
        'https://cdn.skypack.dev/canvas-confetti', 'https://cdn.skypack.dev/@hot/a@1.0.0', 'https://cdn.jsdelivr.net/npm/vue',
        'https://cdn.shop.example/vue@latest/vue.js', 'https://cdn.shop.example/vue@next/vue.js', 'https://cdn.shop.example/vue@v3/vue.js',
        'https://cdn.shop.example/vue@previous/vue.js']) as url $$,
    $$ values ('react'), ('@preact/signals'), ('lodash'), ('vue'), ('vue'), ('@scope/a'), ('react-dom'), ('jquery'), ('@b/c'),
        (null), (null), (null), (null), (null), (null), (null), (null),
        (null), (null), ('chart.js'), ('vue'), ('react'), ('react'), (null), (null), (null),
        ('react'), ('react'), ('@vue/shared'), ('vue'),
        (null),
        ('swr'), ('@scope/a'), ('swr'),
        ('canvas-confetti'), ('@hot/a'), ('vue'),
        ('vue'), ('vue'), ('vue'),
        (null) $$,
    'packages are parts of a URL''s path');

insert into pg_temp.segment (segment_id, site) values (1, 'shop'), (2, 'blog'), (3, 'cdn'), (4, 'order');
insert into frame_name values
    ('main', 'main', 'https://www.shop.example/app.js', 1, 1, 'function'),
    ('App', 'App', 'https://static.shop.example/app.js', 1, 1, 'function'),
    ('work', 'work', 'https://unpkg.com/react-dom@18.2.0/x.js', 1, 1, 'function'),
    ('commit', 'commit', 'https://unpkg.com/react-dom@18.2.0/x.js', 2, 1, 'function'),
    ('create', 'create', 'https://unpkg.com/react@18.2.0/x.js', 1, 1, 'function'),
    ('map', 'map', null, null, null, 'builtin'),
    ('(gc)', '(gc)', null, null, null, 'marker'),
    ('asset', 'asset', 'https://a.shopcdn.example:8443/a.js', 1, 1, 'function'),
    ('inline', 'inline', 'blob:https://www.shop.example', 1, 1, 'function'),
    ('data', 'data', 'data:text/javascript;a1', 1, 1, 'function'),
    ('adblock', 'adblock', 'chrome-extension:', 1, 1, 'function'),
    ('tag', 'tag', 'https://tag.example.net/t.js', 1, 1, 'function'),
    ('known', 'known', 'https://cdn.shop.example/shop-app@1.2.3/main.js', 1, 1, 'function'),
    ('unknown', 'unknown', 'https://cdn.shop.example/shop-app@1.2.3/main.js', 2, 1, 'function'),
    ('large', 'large', 'https://large.example/z.js', 1, 1, 'function'), ('lower', 'lower', 'https://tie.example/a.js', 1, 1, 'function'),
    ('upper', 'upper', 'https://tie.example/B.js', 1, 1, 'function'), ('least', 'least', 'https://least.example/A.js', 1, 1, 'function');
insert into sample (us, marker, path) values
    ( 1000, '(none)', '{work}'),
    ( 2000, '(none)', '{work,commit}'),
    ( 3000, '(none)', '{work,map,commit}'),
    ( 4000, '(none)', '{work,map}'),
    ( 5000, '(none)', '{work,App}'),
    ( 6000, '(none)', '{work,commit,App}'),
    ( 7000, '(none)', '{work,map,App,create}'),
    ( 8000, '(none)', '{work,map,App,create,work}'),
    ( 9000, '(none)', '{main,map,work}'),
    (10000, '(none)', '{main,map}'),
    (   11, '(none)', '{main}'),
    (   12, 'gc',     '{(gc)}'),
    (   13, '(none)', '{asset}'),
    (   14, '(none)', '{inline}'),
    (   15, '(none)', '{data}'),
    (   16, '(none)', '{adblock}'),
    (   17, '(none)', '{tag}'),
    (  902, '(none)', null);
insert into sample (segment_id, us, path) values (2, 50, '{main}'), (3, 10, '{known}'), (3, 20, '{unknown}'),
    (4, 30, '{large}'), (4, 20, '{lower}'), (4, 20, '{upper}'), (4, 10, '{least}');
select pg_temp.store() \g /dev/null
insert into original_function (resource_id, line, column_number, function, source, source_line, source_column, package, is_ignored)
select resource_id, 1, 1, 'known', 'src/main.ts', 1, 1, '', false from fleetprof_data.resource where url like '%/shop-app@%';

prepare cost(text) as select name, round((self_ms * 1000)::numeric)::integer from cost_by($1, 'shop', '2026-01-05Z', '2026-01-06Z');
select results_eq(
    $$ select name from cost_by('party', 'shop', '2026-01-05Z', '2026-01-06Z') order by name collate "C" $$,
    $$ values ('(extension)'), ('(gc)'), ('(no host)'), ('(no script)'), ('(unattributed)'), ('(unknown)') $$,
    'without an own host no party is known');
select keep_sites('{"shop": {"scripts": [], "first_party": ["shopcdn.example", "shop.example", "shop.example"]}, "blog": {"scripts": ["/:b/*.js"], "first_party": []}}') \g /dev/null
select results_eq(
    $$ select site, hosts from first_party order by 1 $$,
    $$ values ('blog', '{}'::text[]), ('shop', '{shop.example,shopcdn.example}') $$, 'own hosts are kept');
select results_eq($$ select site, templates from script_template $$, $$ values ('blog', '{/:b/*.js}'::text[]) $$, 'and templates, as before');
select is(
    (select array_agg(ctid::text) from first_party) || array['same'],
    (with again as (select keep_sites('{"shop": {"scripts": [], "first_party": ["shop.example", "shopcdn.example"]}}'))
     select (select array_agg(ctid::text) from first_party) || array['same'] from again), 'what is kept is not written again');
select results_eq(
    $$ execute cost('party') $$,
    $$ values
        ('third', 1000 + 2000 + 3000 + 7000 + 8000 + 9000 + 17), ('(no script)', 14000),
        ('first', 5000 + 6000 + 11 + 13 + 14), ('(unattributed)', 902), ('(extension)', 16), ('(no host)', 15), ('(gc)', 12) $$,
    'first: the origins'' domains and first_party, with subdomains and inline scripts');
select results_eq(
    $$ select name, round((self_ms * 1000)::numeric)::integer from cost_by('party', 'blog', '2026-01-05Z', '2026-01-06Z') where self_ms > 0 $$,
    $$ values ('(unknown)', 50) $$, 'a host is one site''s own');
select results_eq(
    $$ execute cost('package') $$,
    $$ values
        ('react-dom', 1000 + 2000 + 3000 + 8000 + 9000), ('(no script)', 14000),
        ('(no package)', 5000 + 6000 + 11 + 13 + 14 + 15 + 16 + 17), ('react', 7000), ('(unattributed)', 902), ('(gc)', 12) $$,
    'by package, as URLs name them');
select results_eq(
    $$ select name, round((self_ms * 1000)::numeric)::integer from cost_by('package', 'cdn', '2026-01-05Z', '2026-01-06Z') where self_ms > 0 $$,
    $$ values ('shop-app', 20), ('(no package)', 10) $$, 'a function table that names no package overrules the URL');
select results_eq(
    $$ select * from folded('cdn', '2026-01-05Z', '2026-01-06Z', fold => 'package') $$,
    $$ values ('(shop-app) 20'), ('known 10') $$, 'also in folds');
update fleetprof_data.resource set domain = 'shop.example' where url like '%shop.example%';
select results_eq(
    $$ execute cost('entity') $$,
    $$ values
        ('unpkg.com', 30000), ('(no script)', 14000), ('shop.example', 11025), ('(unattributed)', 902), ('(no host)', 15 + 16),
        ('tag.example.net', 17), ('a.shopcdn.example:8443', 13), ('(gc)', 12) $$,
    'by domain, else host');
select is((select round(sum(share)::numeric, 9) from cost_by(by, 'shop', '2026-01-05Z', '2026-01-06Z')), 1.0, 'shares by ' || by || ' add up to 1')
from unnest('{party,entity,package}'::text[]) as by;
insert into fleetprof_data.timing values (77, 'tag.example.net', 'page_host', '', '', '2026-01-05');
select results_eq(
    $$ select host, party from third_parties('shop', '2026-01-05Z', '2026-01-06Z') order by host collate "C" $$,
    $$ values ('a.shopcdn.example:8443', 'first'), ('static.shop.example', 'first'), ('tag.example.net', 'third'),
        ('unpkg.com', 'third'), ('www.shop.example', 'first') $$,
    'third_parties agrees');

select is(
    (select array_agg(name) from cost_by('resource', 'order', '2026-01-05Z', '2026-01-06Z')),
    '{https://large.example/z.js,https://tie.example/B.js,https://tie.example/a.js,https://least.example/A.js}',
    'the most time comes first, then the name by its code points');

insert into fleetprof_data.frame
select pg_temp.id('order', 'kind ' || kind), 'kind ' || kind, null, null, null, kind, '2026-01-05'
from unnest(enum_range(null::fleetprof_data.frame_kind)) as kind;
select results_eq(
    $$ select function, has_place from frame_packages(array(select frame_id from frame where function like 'kind %')) join frame using (frame_id) order by kind $$,
    $$ values ('kind function', false), ('kind builtin', false), ('kind marker', true), ('kind event', true), ('kind overflow', true) $$,
    'only functions without a script are the browser''s');
select results_eq(
    $$ select function, name from frame_groups('package', array(select frame_id from frame where function like 'kind %'), null) join frame using (frame_id) order by kind $$,
    $$ values ('kind function', '(no script)'), ('kind builtin', '(no script)'), ('kind marker', 'kind marker'), ('kind event', '(no script)'), ('kind overflow', 'kind overflow') $$,
    'markers and what did not fit keep their names');

prepare graph(text) as
    select level, function, round((self_ms * 1000)::numeric)::integer, round((total_ms * 1000)::numeric)::integer, samples
    from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0.01, fold => $1);
select results_eq(
    $$ execute graph('package') $$,
    $$ values
        (0, '(all)',       0,     55098, 17::bigint),
        (1, '(react-dom)', 10000, 36000, 8),
        (2, 'App',         11000, 26000, 4),
        (3, '(react)',     7000,  15000, 2),
        (4, '(react-dom)', 8000,  8000,  1),
        (1, 'main',        11,    19011, 3),
        (2, 'map',         10000, 19000, 2),
        (3, '(react-dom)', 9000,  9000,  1) $$,
    'neighbours of one package are one node, functions of the browser go with their callers; what stands on them is also one');
select results_eq(
    $$ execute graph('caller') $$,
    $$ values
        (0, '(all)',       0,     55098, 17::bigint),
        (1, '(react-dom)', 10000, 36000, 8),
        (2, 'App',         26000, 26000, 4),
        (1, 'main',        11,    19011, 3),
        (2, 'map',         19000, 19000, 2) $$,
    'packages are a part of the code that calls them, where there is some');
select results_eq(
    $$ select split_part(line, ' ', 1), split_part(line, ' ', 2)::integer from folded('shop', '2026-01-05Z', '2026-01-06Z', fold => 'caller') as line
       where line ~ 'main|react' $$,
    $$ values ('(react-dom)', 10000), ('(react-dom);App', 26000), ('main', 11), ('main;map', 19000) $$, 'folded text');
select is(
    (select sum(substring(line from ' ([0-9]+)$')::bigint) from folded('shop', '2026-01-05Z', '2026-01-06Z', fold => fold) as line),
    55098::numeric, 'no time is lost: ' || coalesce(fold, 'as it is'))
from unnest('{package,caller,null}'::text[]) as fold;
select results_eq(
    $$ select function, round((total_ms * 1000)::numeric)::integer, samples from callers('App', 'shop', '2026-01-05Z', '2026-01-06Z', fold => 'package') $$,
    $$ values ('(react-dom)', 26000, 4::bigint) $$, 'a package calls');
select results_eq(
    $$ select function, round((total_ms * 1000)::numeric)::integer from callees('(react-dom)', 'shop', '2026-01-05Z', '2026-01-06Z', fold => 'package') $$,
    $$ values ('(self)', 27000), ('App', 26000) $$, 'a package is called');
select results_eq(
    $$ select function, round((total_ms * 1000)::numeric)::integer from callees(null, 'shop', '2026-01-05Z', '2026-01-06Z', fold => 'package',
        key => (select function_key from callers('App', 'shop', '2026-01-05Z', '2026-01-06Z', fold => 'package'))) $$,
    $$ values ('(self)', 27000), ('App', 26000) $$, 'also by its key');
select is(
    (select (select sum(self::bigint) from json_array_elements_text(tree -> 'self') as self) + (tree ->> 'omitted_us')::bigint
     from flamegraph_columns('shop', '2026-01-05Z', '2026-01-06Z', max_nodes => nodes, fold => 'package') as tree),
    55098::numeric, 'columns of ' || nodes || ' nodes lose nothing') from unnest('{1,4,100}'::integer[]) as nodes;
select throws_ok(
    $$ select flamegraph('shop', '2026-01-05Z', '2026-01-06Z', fold => 'party') $$, '22023', 'nothing is folded into "party"', 'folds are two');

-- sites[].ignore: code that is not the site's own, beside packages.
select results_eq(
    $$ select place, is_ignored_code(place, array(select ignored_pattern(item) from unnest('{/vendor/*.js,https://cdn.example/a_b*,src/gen%/*,*/legacy/*}'::text[]) as item))
       from unnest('{https://x.example/vendor/a/b.js,/vendor/b.js,https://x.example/own/vendor/b.js,https://x.example/vendor/b.css,https://cdn.example/a_b/c.js,http://cdn.example/a_b,https://cdn.example/axb,https://x.example/a_b,src/gen%/x.ts,src/gene/x.ts,https://x.example/a/legacy/x.js,legacy/x.js,blob:https://x.example/vendor/b.js,""}'::text[]) as place $$,
    $$ values ('https://x.example/vendor/a/b.js', true), ('/vendor/b.js', true), ('https://x.example/own/vendor/b.js', false), ('https://x.example/vendor/b.css', false),
        ('https://cdn.example/a_b/c.js', true), ('http://cdn.example/a_b', false), ('https://cdn.example/axb', false), ('https://x.example/a_b', false),
        ('src/gen%/x.ts', true), ('src/gene/x.ts', false), ('https://x.example/a/legacy/x.js', true), ('legacy/x.js', false),
        ('blob:https://x.example/vendor/b.js', false), ('', false) $$,
    'a pattern is a URL, a path on any host, or a source; only * is special');
select is(is_ignored_code(place, patterns), false, 'nothing is ignored without ' || about)
from (values (null, '{%}'::text[], 'a place'), ('https://x.example/a.js', null, 'patterns'), ('https://x.example/a.js', '{}', 'one pattern')) as given (place, patterns, about);
select keep_sites('{"shop": {"scripts": [], "first_party": ["shop.example", "shopcdn.example"], "ignore": ["https://static.shop.example/*", "/t.js"]}, "cdn": {"scripts": [], "first_party": [], "ignore": ["src/main.*"]}}') \g /dev/null
select results_eq(
    $$ execute cost('package') $$,
    $$ values
        ('react-dom', 1000 + 2000 + 3000 + 8000 + 9000), ('(no script)', 14000), ('(ignored)', 5000 + 6000 + 17),
        ('react', 7000), ('(unattributed)', 902), ('(no package)', 11 + 13 + 14 + 15 + 16), ('(gc)', 12) $$,
    'ignored code is a row of its own; a package stays one');
select results_eq(
    $$ select * from folded('cdn', '2026-01-05Z', '2026-01-06Z', fold => 'package') $$,
    $$ values ('(ignored) 10'), ('(shop-app) 20') $$, 'a source is ignored by its path, and folded');
select results_eq(
    $$ select function, bool_and(is_ignored) from named_frame where function in ('App', 'tag', 'work', 'main', 'known', 'unknown', 'map') group by function order by function collate "C" $$,
    $$ values ('App', true), ('known', true), ('main', false), ('map', false), ('tag', true), ('unknown', true), ('work', true) $$,
    'views say what is ignored: the site''s list, packages by their URL, sources');
select results_eq(
    $$ select level, function, round((self_ms * 1000)::numeric)::integer from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0.01, fold => 'package') $$,
    $$ values (0, '(all)', 0), (1, '(react-dom)', 10000), (2, '(ignored)', 11000), (3, '(react)', 7000), (4, '(react-dom)', 8000),
        (1, 'main', 11), (2, 'map', 10000), (3, '(react-dom)', 9000) $$, 'ignored code folds into one node');
select is(
    (select sum(substring(line from ' ([0-9]+)$')::bigint) from folded('shop', '2026-01-05Z', '2026-01-06Z', fold => 'caller') as line),
    55098::numeric, 'no time is lost with it');
select is(
    (select array_agg(ctid::text) from ignored_code) || array['same'],
    (with again as (select keep_sites('{"shop": {"scripts": [], "first_party": [], "ignore": ["https://static.shop.example/*", "/t.js"]}, "cdn": {"scripts": [], "first_party": []}}'))
     select (select array_agg(ctid::text) from ignored_code) || array['same'] from again), 'a list that stays is not written again, nor that of a collector that knows none');
select keep_sites('{"shop": {"scripts": [], "first_party": ["shop.example", "shopcdn.example"], "ignore": []}, "blog": {"scripts": [], "first_party": [], "ignore": []}}') \g /dev/null
select results_eq(
    $$ select site, ignored, patterns from ignored_code order by 1 $$,
    $$ values ('cdn', '{src/main.*}'::text[], '{src/main.%}'::text[]), ('shop', '{}', '{}') $$, 'a list can be emptied; a site without one has no row');

-- Random stacks of all these frames.
delete from sample;
insert into sample (us, path)
select 1 + floor(random() * 5000)::bigint, array(select (array['main','App','work','commit','create','map','asset'])[1 + floor(random() * 7)::integer] from generate_series(1, 1 + floor(random() * 9)::integer + number * 0))
from generate_series(1, 150) as number, setseed(0.15);
truncate segment_fact, marker_fact, frame_fact, frame_marker_fact, stack_fact, timing_fact, timing_bin_fact, measure_fact, measure_frame_fact;
delete from fleetprof_data.segment; delete from fleetprof_data.resource; delete from fleetprof_data.frame; delete from fleetprof_data.stack;
select pg_temp.store() \g /dev/null
select is(
    (with tree as (
        select ordinal, level, round(self_ms * 1000)::bigint as self_us, round(total_ms * 1000)::bigint as total_us,
            lead(ordinal, 1, 1000000) over (order by ordinal) as next
        from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0, fold => fold)),
     child as materialized (
        select child.*, (select max(ordinal) from tree as parent where parent.ordinal < child.ordinal and parent.level = child.level - 1) as parent
        from tree as child)
     select count(*) filter (where total_us <> self_us + coalesce((select sum(total_us) from child where parent = tree.ordinal), 0))
        || ' ' || (sum(self_us) = (select sum(us) from sample)) || ' ' || (count(*) < (select count(*) from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0)))
     from tree),
    '0 true true', 'each node''s total is its own time and that of its children: ' || fold)
from unnest('{package,caller}'::text[]) as fold;

select * from finish();
rollback;
