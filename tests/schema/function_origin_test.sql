-- SPDX-License-Identifier: Apache-2.0
-- function_origin, source_link: what a function table knows of a place, and the address of its source.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

select plan(15);

select keep_source_links('{"shop": "https://git.example/shop/blob/{release}/{file}?plain=1#L{line}:{column}", "blog": "", "plain": "http://[::1]:80/{file}"}') \g /dev/null
select results_eq(
    $$ select site from source_link_template order by site $$,
    $$ values ('plain'), ('shop') $$, 'a site without a link has no row');
select keep_source_links('{"blog": "https://git.example/b/{file}", "plain": ""}') \g /dev/null
select results_eq(
    $$ select site from source_link_template order by site $$,
    $$ values ('blog'), ('shop') $$, 'links are replaced and taken out; sites that are not named keep theirs');
select throws_ok(
    $$ select keep_source_links('{"shop": "javascript:alert(1)//{file}"}') $$, '23514', null, 'whatever a collector sends, a link is of the web');
select throws_ok(
    $$ select keep_source_links('{"shop": "https://{file}/x"}') $$, '23514', null, 'to the host that it names');

create function pg_temp.add(id bigint, site text, url text, release text, functions jsonb) returns void language sql as $$
    select fleetprof_data.add_function_table(id, site, url, release, functions)
$$;
select pg_temp.add(1, 'shop', 'https://shop.example/app-1.js', 'v/1 é', '[
    [1, 10, "sortCart", "src/cart #1.ts", 7, 3, "", false], [1, 20, "render", "node_modules/react-dom/index.js", 9, 1, "react-dom", true],
    [1, 30, "", "src/{line}/b.ts", 8, 2, "", true], [1, 40, null, "a/../../b.ts", 8, 2, "", false], [1, 50, "x", "(unknown)", 1, 1, "", false],
    [1, 60, "x", "/etc/passwd", 1, 1, "", false]]') \g /dev/null
select pg_temp.add(2, 'shop', 'https://shop.example/app-2.js', '', '[[1, 10, "sortCart", "src/cart.ts", 7, 3, "", false]]') \g /dev/null
select pg_temp.add(3, 'blog', 'https://shop.example/app-1.js', '', '[[1, 10, "x", "x.ts", 1, 1, "", false]]') \g /dev/null
select pg_temp.add(4, 'none', 'https://shop.example/app-1.js', 'v1', '[[1, 10, "x", "x.ts", 1, 1, "", false]]') \g /dev/null

select results_eq(
    $$ select * from function_origin('shop', 'https://shop.example/app-1.js', 1, 10) $$,
    $$ values ('sortCart', 'src/cart #1.ts', 7, 3, '', null, false, 'v/1 é',
        'https://git.example/shop/blob/v/1%20%C3%A9/src/cart%20%231.ts?plain=1#L7:3') $$, 'a place that a table knows');
select results_eq(
    $$ select function, package, is_ignored, source_link from function_origin('shop', 'https://shop.example/app-1.js', 1, 20) $$,
    $$ values ('render', 'react-dom', true, null) $$, 'a package is not in the site''s repository');
select is(source_link('shop', 'https://shop.example/app-1.js', 1, 30), 'https://git.example/shop/blob/v/1%20%C3%A9/src/%7Bline%7D/b.ts?plain=1#L8:2',
    'a path that looks like a placeholder stays what it is');
select is(
    array(select source_link('shop', 'https://shop.example/app-1.js', 1, place) from unnest('{40,50,60,70}'::integer[]) as place),
    '{NULL,NULL,NULL,NULL}', 'paths that leave the repository, and places that no table knows, have no link');
select is_empty(
    $$ select from function_origin('shop', 'https://shop.example/app-1.js', 1, 70)
       union all select from function_origin('shop', 'https://shop.example/app-3.js', 1, 10)
       union all select from function_origin('shop', null, null, null) $$, 'other places have no row');
select is(source_link('shop', 'https://shop.example/app-2.js', 1, 10), null, 'a table without a release has no link that needs one');
select is(source_link('shop', 'https://shop.example/app-2.js', 1, 10, 'main'), 'https://git.example/shop/blob/main/src/cart.ts?plain=1#L7:3',
    'unless one is given');
select is(source_link('shop', 'https://shop.example/app-2.js', 1, 10, '../..'), null, 'that stays where it should');
select is(source_link('blog', 'https://shop.example/app-1.js', 1, 10), 'https://git.example/b/x.ts', 'a link without a release needs none; it is of its site');
select is(source_link('none', 'https://shop.example/app-1.js', 1, 10), null, 'a site without a template has no link');
select fleetprof_data.keep_ignored('{"shop": ["src/cart *", "https://shop.example/app-2.js"]}') \g /dev/null
select results_eq(
    $$ select url, line_column, is_ignored from (values ('1', 10), ('1', 20), ('1', 40), ('2', 10)) as place (url, line_column),
        function_origin('shop', 'https://shop.example/app-' || url || '.js', 1, line_column) $$,
    $$ values ('1', 10, true), ('1', 20, true), ('1', 40, false), ('2', 10, true) $$, 'sites[].ignore: by source, and by script');
select * from finish();
rollback;
