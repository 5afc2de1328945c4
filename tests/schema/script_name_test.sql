-- SPDX-License-Identifier: Apache-2.0
-- script_name, function_key and merged_frames: names that survive a release.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

create temp table script (url text, name text);
insert into script values
    -- Vite, Rollup: base64url of 8; older ones hexadecimal.
    ('https://shop.example/assets/index-BfG7x2aQ.js', 'https://shop.example/assets/index-*.js'),
    ('https://shop.example/assets/index-D-x_3kQ9.js', 'https://shop.example/assets/index-*.js'),
    ('https://shop.example/assets/index-legacy-CkW3_pZr.js', 'https://shop.example/assets/index-legacy-*.js'),
    ('https://shop.example/assets/index.06d14ce2.js', 'https://shop.example/assets/index.*.js'),
    ('https://shop.example/_nuxt/BfG7x2aQ.js', 'https://shop.example/_nuxt/*.js'),
    ('https://shop.example/_app/immutable/chunks/entry.CkW3xpZr.mjs', 'https://shop.example/_app/immutable/chunks/entry.*.mjs'),
    -- esbuild, Angular: base32 of 8.
    ('https://shop.example/chunk-7XQ2K4PZ.js', 'https://shop.example/chunk-*.js'),
    ('https://shop.example/main-QWERTZUI.js', 'https://shop.example/main-*.js'),
    -- webpack, create-react-app, Vue CLI, Parcel, Rspack, Gatsby.
    ('https://shop.example/main.3f9a1c27.js', 'https://shop.example/main.*.js'),
    ('https://shop.example/static/js/2.3f9a1c27.chunk.js', 'https://shop.example/static/js/2.*.chunk.js'),
    ('https://shop.example/vendors~main.a1b2c3d4.bundle.js', 'https://shop.example/vendors~main.*.bundle.js'),
    ('https://shop.example/js/chunk-2d0c0f1a.3f9a1c27.js', 'https://shop.example/js/chunk-2d0c0f1a.*.js'),
    ('https://shop.example/app-0123456789abcdef0123.js', 'https://shop.example/app-*.js'),
    ('https://shop.example/component---src-pages-index-js-1f2e3d4c5b6a79880123.js', 'https://shop.example/component---src-pages-index-js-*.js'),
    -- Next.js; Turbopack's name is the hash.
    ('https://shop.example/_next/static/chunks/pages/_app-0123456789abcdef.js', 'https://shop.example/_next/static/chunks/pages/_app-*.js'),
    ('https://shop.example/_next/static/chunks/4bd1b696-cc729d47eba2cee4.js', 'https://shop.example/_next/static/chunks/4bd1b696-*.js'),
    ('https://shop.example/_next/static/chunks/117-2b1e9d8c0f3a4567.js', 'https://shop.example/_next/static/chunks/117-*.js'),
    ('https://shop.example/_next/static/kT3bXw9_aQ-zL0pVn5RsE/_buildManifest.js', 'https://shop.example/_next/static/*/_buildManifest.js'),
    ('https://shop.example/_next/static/chunks/0a1b2c3d4e5f6789.js', 'https://shop.example/_next/static/chunks/*.js'),
    -- Rails, Django, Phoenix, Hugo, GWT; a commit, a date.
    ('https://shop.example/assets/application-908e25f4bf641868d8683022a5b62f54.js', 'https://shop.example/assets/application-*.js'),
    ('https://shop.example/static/app.55e7cbb9ba48.js', 'https://shop.example/static/app.*.js'),
    ('https://shop.example/main.min.4b1f2c9d8e7f60514b1f2c9d8e7f60514b1f2c9d8e7f60514b1f2c9d8e7f6051.js', 'https://shop.example/main.min.*.js'),
    ('https://shop.example/shop/5C3F9A1B27D84E6F5C3F9A1B27D84E6F.cache.js', 'https://shop.example/shop/*.cache.js'),
    ('https://shop.example/build/908e25f/app.js', 'https://shop.example/build/908e25f/app.js'),
    ('https://shop.example/build/908e25f4bf64/app.js', 'https://shop.example/build/*/app.js'),
    ('https://shop.example/20260105/app.js', 'https://shop.example/*/app.js'),
    ('https://shop.example/app.20260105.js', 'https://shop.example/app.*.js'),
    ('https://shop.example/app-3f9a1c2.min.js', 'https://shop.example/app-*.min.js');
-- Names that people wrote, libraries with versions, and what is not a script.
insert into script select url, url from unnest(array[
    'https://shop.example/jquery-3.7.1.min.js', 'https://shop.example/bootstrap-5.3.2.js',
    'https://shop.example/vendor-abcdefgh.js', 'https://shop.example/main-navigation.js',
    'https://shop.example/utf8-en.js', 'https://shop.example/js/locale-utf8-eng.js', 'https://shop.example/iso-8859-15.js',
    'https://shop.example/vendor-2024.js', 'https://shop.example/checkout-step1.js', 'https://shop.example/app-module12.js',
    'https://shop.example/page-Section2.js', 'https://shop.example/chunk-DataGrid.js', 'https://shop.example/Settings.js',
    'https://shop.example/lib-HTMLView.js', 'https://shop.example/plugins/jquery.jQueryUI.js', 'https://shop.example/app-OAuth2UI.js',
    'https://shop.example/three-r158.js', 'https://shop.example/base64.js', 'https://shop.example/facade.js',
    'https://shop.example/feed12.js', 'https://shop.example/deadbeef.js', 'https://shop.example/polyfill-es2015js.js',
    'https://shop.example/chunk-123456.js', 'https://shop.example/npm/react@18.2.0/index.js',
    'https://shop.example/wp-content/plugins/woocommerce-gateway-stripe-v2/app.js', 'https://d1a2b3c4d5e6f7.cloudfront.net/app.js',
    'https://shop.example/product/:id', 'https://shop.example/', 'blob:https://shop.example', 'app.js', '']) as url;

-- A site's own rules; those of another site do not matter.
select keep_scripts('{"shop": ["/b/:build/*.js", "https://cdn.example/*/v:version/*-:hash/é(1).js", "/:hash/x.y"], "blog": ["/other-:x.js"], "none": []}') \g /dev/null
create temp table templated (site text, url text, name text);
insert into templated values
    ('shop', 'https://shop.example/b/r512/app.js', '/b/:build/app.js'),
    ('shop', '/b/r512/a/b.js', '/b/:build/a/b.js'),
    ('shop', 'https://shop.example/b/r512/', null),
    ('shop', 'https://shop.example/x/b/r512/app.js', null),
    ('shop', 'https://cdn.example/npm/v1.2/left-pad-77/é(1).js', 'https://cdn.example/npm/v:version/left-pad-:hash/é(1).js'),
    ('shop', 'https://cdn2.example/npm/v1.2/left-pad-77/é(1).js', null),
    ('shop', 'https://shop.example/other-1.js', null),
    ('blog', 'https://blog.example/other-1.js', '/other-:x.js'),
    ('none', 'https://blog.example/main.3f9a1c27.js', 'https://blog.example/main.*.js');

select plan(26);

select results_eq(
    $$ select url, stable_resource(url) from script where stable_resource(url) <> name $$,
    $$ select '', '' where false $$, 'the names that bundlers make lose their hash, others stay');
select cmp_ok((select count(*) from script), '>=', 50::bigint, 'of many');
select results_eq(
    $$ select distinct site, url, script_name(url, patterns, replacements)
       from templated left join script_template using (site)
       where script_name(url, patterns, replacements) <> coalesce(
           substring(url from '^(https?://[^/]*)/') || substring(name from '^/.*'), name, stable_resource(url)) $$,
    $$ select '', '', '' where false $$, 'templates of the site are matched first, from the start to the end');
select results_eq(
    $$ select site, cardinality(templates) from script_template order by site $$,
    $$ values ('blog', 1), ('shop', 3) $$, 'a site without templates has no row');
select keep_scripts('{"blog": [], "new": ["/:x.js"]}') \g /dev/null
select results_eq(
    $$ select site, cardinality(templates) from script_template order by site $$,
    $$ values ('blog', 0), ('new', 1), ('shop', 3) $$, 'templates are replaced; sites that are not named keep theirs');
select is(script_name('https://blog.example/main.3f9a1c27.js', '{}', '{}'), 'https://blog.example/main.*.js', 'without templates the rules hold');
set local role fleetprof_writer;
select fleetprof_data.keep_scripts('{"shop": ["/b/:build/*.js"]}') \g /dev/null
reset role;
select is((select templates from script_template where site = 'shop'), '{/b/:build/*.js}', 'the writer may write them');

-- Sources that lie in the build's own folder.
select results_eq(
    $$ select source, source_name(source, patterns, replacements)
       from unnest('{b/1/app.js,b/2/gen/a.js,c/1/app.js,b/1/a.ts,/b/1/app.js,""}'::text[]) as given (source), script_template where site = 'shop' $$,
    $$ values ('b/1/app.js', 'b/:build/app.js'), ('b/2/gen/a.js', 'b/:build/gen/a.js'), ('c/1/app.js', 'c/1/app.js'), ('b/1/a.ts', 'b/1/a.ts'),
        ('/b/1/app.js', '/b/1/app.js'), ('', '') $$, 'a template that is a path also names sources');
select is(source_name('b/1/app.js', null, null), 'b/1/app.js', 'without templates, a source is called what it is');

-- Two releases: another hash, other lines; minified names; two functions of one name.
insert into segment (segment_id, release) values (1, 'v1'), (2, 'v2');
insert into frame_name (key, function, url, line, column_number) values
    ('sort1', 'sortCart', 'https://shop.example/app-BfG7x2aQ.js', 1, 5000),
    ('sort2', 'sortCart', 'https://shop.example/app-CkW3xpZr.js', 1, 5020),
    ('min1', 'a', 'https://shop.example/app-BfG7x2aQ.js', 1, 9000),
    ('min2', 'a', 'https://shop.example/app-CkW3xpZr.js', 1, 9000),
    ('two1', 'render', 'https://shop.example/app-BfG7x2aQ.js', 1, 100),
    ('two2', 'render', 'https://shop.example/app-BfG7x2aQ.js', 1, 200),
    ('two3', 'render', 'https://shop.example/app-CkW3xpZr.js', 1, 110),
    ('own1', 'own', 'https://shop.example/b/1/app.js', 3, 4),
    ('own2', 'own', 'https://shop.example/b/2/app.js', 7, 4);
insert into sample (segment_id, upload, us, path) values
    (1, 1, 6000, '{main,sort1}'), (2, 2, 7000, '{main,sort2}'),
    (1, 1, 5000, '{main,min1}'), (2, 2, 5500, '{main,min2}'),
    (1, 1, 4000, '{main,two1}'), (1, 1, 3000, '{main,two2}'), (2, 2, 2000, '{main,two3}'),
    (1, 1, 1000, '{main,own1}'), (2, 2, 1500, '{main,own2}');
select pg_temp.store() \g /dev/null

prepare listed as
    select function, generated_resource, column_number, self_ms, samples, uploads
    from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 8);
select results_eq(
    'listed',
    $$ values
        ('sortCart', 'https://shop.example/app-CkW3xpZr.js', 5020, 13::float8, 2::bigint, 2::bigint),
        ('a', 'https://shop.example/app-CkW3xpZr.js', 9000, 5.5, 1, 1),
        ('a', 'https://shop.example/app-BfG7x2aQ.js', 9000, 5, 1, 1),
        ('render', 'https://shop.example/app-BfG7x2aQ.js', 100, 4, 1, 1),
        ('render', 'https://shop.example/app-BfG7x2aQ.js', 200, 3, 1, 1),
        ('own', 'https://shop.example/b/2/app.js', 4, 2.5, 2, 2),
        ('render', 'https://shop.example/app-CkW3xpZr.js', 110, 2, 1, 1),
        ('main', 'app.js', 1, 0, 9, 2) $$,
    'a script of two releases is one; a minified name, and one of several functions, is one place');
select results_eq(
    $$ select function, self_ms from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 1) $$,
    $$ values ('sortCart', 13::float8) $$, 'the top is of whole functions');
select results_eq(
    $$ select function, self_ms from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => null) $$,
    $$ select function, self_ms from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 8) $$, 'all are the same rows');
select results_eq(
    $$ select function, count(distinct function_key) from hotspots('shop', '2026-01-05Z', '2026-01-06Z') group by function order by function collate "C" $$,
    $$ values ('a', 2::bigint), ('main', 1), ('own', 1), ('render', 1), ('sortCart', 1) $$,
    'places of one name have one key, minified names one for each place');
select is(
    (select array_agg(distinct function_key order by function_key) from hotspots('shop', '2026-01-05Z', '2026-01-06Z') where function <> 'main'),
    (select array_agg(distinct function_key order by function_key) from compare_releases('shop', 'v1', 'v2') where function <> 'main'),
    'a release comparison has the same keys');
select results_eq(
    $$ select function, verdict from compare_releases('shop', 'v1', 'v2') order by function collate "C", verdict collate "C" $$,
    $$ values ('a', 'early'), ('a', 'early'), ('main', 'early'), ('own', 'early'), ('render', 'early'), ('sortCart', 'early') $$,
    'a function of both releases is one row');
select results_eq(
    $$ select function, total_ms, samples from callees('main', 'shop', '2026-01-05Z', '2026-01-06Z') where function in ('sortCart', 'own', 'a') $$,
    $$ values ('sortCart', 13::float8, 2::bigint), ('a', 5.5, 1), ('a', 5, 1), ('own', 2.5, 2) $$,
    'callees add up over the releases of a script');
select results_eq(
    $$ select function, generated_resource, generated_line, generated_column from callees('main', 'shop', '2026-01-05Z', '2026-01-06Z') where function = 'own' $$,
    $$ values ('own', 'https://shop.example/b/2/app.js', 7, 4) $$, 'the place is that of the most time');
select results_eq(
    $$ select function, total_ms from callers(null, 'shop', '2026-01-05Z', '2026-01-06Z', key =>
        (select function_key from hotspots('shop', '2026-01-05Z', '2026-01-06Z') where function = 'sortCart')) $$,
    $$ values ('main', 13::float8) $$, 'callers by a key of hotspots');
select results_eq(
    $$ select value_ms, uploads from trend('function', (select function_key from hotspots('shop', '2026-01-05Z', '2026-01-06Z')
        where function = 'sortCart'), 'day', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (6.5::float8, 2::bigint) $$, 'a trend by a key of hotspots');
select results_eq(
    $$ select name, self_ms, uploads from cost_by('resource', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('https://shop.example/app-*.js', 32.5::float8, 2::bigint), ('https://shop.example/b/:build/app.js', 2.5, 2) $$,
    'cost by script');
select results_eq(
    $$ select name, self_ms from cost_by('source', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('https://shop.example/app-*.js', 32.5::float8), ('https://shop.example/b/:build/app.js', 2.5) $$,
    'a script without a function table is its own source');
select results_eq(
    $$ select distinct generated_resource, generated_line, generated_column, function_key =
           (select function_key from hotspots('shop', '2026-01-05Z', '2026-01-06Z') where function = 'own')
       from flamegraph('shop', '2026-01-05Z', '2026-01-06Z') where function = 'own' order by 1 $$,
    $$ select generated_resource, generated_line, generated_column, true
       from hotspots('shop', '2026-01-05Z', '2026-01-06Z') where function = 'own' $$,
    'a flame graph has the same place, and the same key');
select results_eq(
    $$ select distinct function_key from hotspot_hourly where function = 'own' $$,
    $$ select function_key from hotspots('shop', '2026-01-05Z', '2026-01-06Z') where function = 'own' $$, 'the view has the key');

select fleetprof_data.add_function_table((select resource_id from resource where url = 'https://shop.example/app-BfG7x2aQ.js'), 'shop', 'https://shop.example/app-BfG7x2aQ.js', 'v1', '[[1, 100, null, "a.js", 1, 1, "", false], [1, 200, null, "a.js", 2, 1, "", false], [1, 5000, null, "a.js", 3, 1, "", false], [1, 9000, "made", "b/1/made.js", 1, 1, "", false]]') \g /dev/null
select fleetprof_data.add_function_table((select resource_id from resource where url = 'https://shop.example/app-CkW3xpZr.js'), 'shop', 'https://shop.example/app-CkW3xpZr.js', 'v2', '[[1, 110, null, "a.js", 1, 1, "", false], [1, 5020, null, "a.js", 3, 1, "", false], [1, 9000, "made", "b/2/made.js", 5, 1, "", false]]') \g /dev/null
select results_eq(
    $$ select function, verdict, before_uploads, after_uploads from compare_releases('shop', 'v1', 'v2') where function = 'made' $$,
    $$ values ('made', 'early', 1::bigint, 1::bigint) $$, 'a source in the folder of a build is one across releases');
select fleetprof_data.remove_function_tables('shop', null, null) \g /dev/null

-- Own times below zero hide nothing.
insert into frame_fact
select segment_id, bucket, pg_temp.id('shop', 'sort1'), 0, 0, 0, -100000, 0, 0, 0, 0, 0 from frame_fact where frame_id = pg_temp.id('shop', 'min2');
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select function, self_ms from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 2) $$,
    $$ values ('a', 5.5::float8), ('a', 5) $$, 'the top is by sums, also where a part is below zero');
select is(
    (select self_ms from hotspots('shop', '2026-01-05Z', '2026-01-06Z') where function = 'sortCart'), -87::float8, 'which add up');
select * from finish();
rollback;
