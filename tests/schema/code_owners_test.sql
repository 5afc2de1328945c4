-- SPDX-License-Identifier: Apache-2.0
-- Owners: whose sources are, and a ledger that adds up, whatever there is.
\ir fixture.inc
set local search_path = pgtap, fleetprof, fleetprof_data, pg_catalog;

select plan(38);

insert into pg_temp.segment (segment_id, site) values (1, 'shop'), (2, 'blog');
insert into frame_name values
    ('cart', 'a', 'https://shop.example/app.js', 1, 10, 'function'), ('pay', 'b', 'https://shop.example/app.js', 1, 20, 'function'),
    ('util', 'c', 'https://shop.example/app.js', 1, 30, 'function'), ('react', 'd', 'https://shop.example/app.js', 1, 40, 'function'),
    ('boot', 'e', 'https://shop.example/app.js', 1, 50, 'function'), ('made', 'f', 'https://shop.example/app.js', 1, 60, 'function'),
    ('lost', 'g', 'https://shop.example/app.js', 1, 70, 'function'), ('new', 'h', 'https://shop.example/app.js', 1, 80, 'function'),
    ('inline', 'inline', 'https://shop.example/index.html', 1, 1, 'function'),
    ('jquery', 'jquery', 'https://shop.example/node_modules/jquery/a.js', 1, 1, 'function'),
    ('vendor', 'vendor', 'https://shop.example/vendor/a.js', 1, 1, 'function'),
    ('tag', 'tag', 'https://tag.example.net/t.js', 1, 1, 'function'),
    ('cdn', 'cdn', 'https://unpkg.com/vue@3', 1, 1, 'function'),
    ('adblock', 'adblock', 'chrome-extension:', 1, 1, 'function'),
    ('map', 'map', null, null, null, 'builtin'), ('(gc)', '(gc)', null, null, null, 'marker'),
    ('post', 'a', 'https://blog.example/app.js', 1, 10, 'function');
insert into sample (us, marker, path) values
    (1000, '(none)', '{cart}'), (2000, '(none)', '{cart,pay}'), (3000, '(none)', '{util}'), (4000, '(none)', '{util,react}'),
    (5000, '(none)', '{boot}'), (6000, '(none)', '{made}'), (7000, '(none)', '{lost}'), (8000, '(none)', '{new}'),
    (9000, '(none)', '{inline}'), (100, '(none)', '{jquery}'), (200, '(none)', '{vendor}'), (300, '(none)', '{tag}'),
    (400, '(none)', '{cdn}'), (500, '(none)', '{adblock}'), (600, '(none)', '{cart,map}'), (700, 'gc', '{(gc)}'), (800, '(none)', null);
insert into sample (segment_id, us, path) values (2, 50, '{post}');
insert into timing_value (kind, name, us) values ('vital', 'INP', 5);
select pg_temp.store() \g /dev/null
create function pg_temp.add(url text, functions jsonb) returns void language sql as $$
    select fleetprof_data.add_function_table(resource_id, site, resource.url, 'v1', functions) from fleetprof_data.resource where resource.url = add.url
$$;
select pg_temp.add('https://shop.example/app.js', '[
    [1, 10, "cart", "src/cart/a.ts", 1, 1, "", false], [1, 20, "pay", "src/pay/b.ts", 1, 1, "", false],
    [1, 30, "util", "src/util.ts", 1, 1, "", false], [1, 40, "react", "node_modules/react/index.js", 1, 1, "react", true],
    [1, 50, "boot", "webpack/bootstrap", 1, 1, "(bundler)", true], [1, 60, "made", "src/made/m.ts", 1, 1, "", false],
    [1, 70, "lost", "(unknown)", 1, 1, "", false]]') \g /dev/null
select pg_temp.add('https://blog.example/app.js', '[[1, 10, "post", "src/cart/a.ts", 1, 1, "", false]]') \g /dev/null
select keep_sites('{"shop": {"scripts": [], "first_party": ["shop.example"], "ignore": ["src/made/*", "/vendor/*"]}, "blog": {"scripts": [], "first_party": ["blog.example"]}}') \g /dev/null

prepare ledger as
select name, round((self_ms * 1000)::numeric)::integer from cost_by('owner', 'shop', '2026-01-05Z', '2026-01-06Z') order by name collate "C";
create temp table nobodys as
select * from (values
    ('(extension)', 500), ('(gc)', 700), ('(ignored)', 6200), ('(no script)', 600), ('(no source)', 24000), ('(nobody)', 6000),
    ('(package)', 9100), ('(third party)', 700), ('(unattributed)', 800)) as row (name, us);
select results_eq('execute ledger', 'table nobodys', 'without a file nobody owns anything');

create temp table kept as
select * from replace_owners('shop', '[
    [1, "*", ["@org/all"], null, "^(?:.+/)?[^/]+$", "%"], [2, "/src/", ["@org/web"], ["src/"]], [3, "/src/cart/", ["@zoe", "@anna", "@zoe"], ["src/cart/"]],
    [4, "/src/pay/", ["@pay"], ["src/pay/"]], [5, "/src/pay/b.ts", [], ["src/pay/b.ts", "src/pay/b.ts/"]]]');
select results_eq('table kept', $$ values (5::bigint, 0::bigint, 5::bigint, 4::bigint) $$, 'what was kept, and how many sources it gives an owner');
select results_eq('execute ledger',
    $$ values ('(extension)', 500), ('(gc)', 700), ('(ignored)', 6200), ('(no script)', 600), ('(no source)', 24000), ('(nobody)', 2000),
        ('(package)', 9100), ('(third party)', 700), ('(unattributed)', 800), ('@anna @zoe', 1000), ('@org/web', 3000) $$,
    'the last pattern that matches says who; several owners are one, in one order; a pattern without owners takes them away');
select results_eq(
    $$ select function, owner from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => null) where owner is not null order by function $$,
    $$ values ('cart', '@anna @zoe'), ('util', '@org/web') $$, 'hotspots names the owners of functions, as the ledger does');
select is((select array_agg(function) from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => 3)), '{inline,h,lost}'::text[], 'costliest first, with owners or without');
select is(fleetprof_data.owner_of(site, source), owner, site || ' ' || source || ' has ' || coalesce(owner, 'no owner'))
from (values ('shop', 'src/cart/a.ts', '@anna @zoe'), ('shop', 'src/pay/b.ts', null), ('%', 'src/util.ts', '@org/web'), ('blog', 'src/util.ts', null),
    ('shop', 'node_modules/react/index.js', null)) as row (site, source, owner);
select results_eq(
    $$ select name, round((self_ms * 1000)::numeric)::integer from cost_by('owner', 'blog', '2026-01-05Z', '2026-01-06Z') where self_ms > 0 $$,
    $$ values ('(nobody)', 50) $$, 'owners are of one site');
select results_eq(
    $$ select sum(self_ms)::numeric from cost_by('owner', '%', '2026-01-05Z', '2026-01-06Z') where name = '@anna @zoe' $$,
    $$ values (1.0) $$, 'also in a question about several');
select is((select round(sum(share)::numeric, 9) from cost_by('owner', site, '2026-01-05Z', '2026-01-06Z')), 1.0, 'the ledger of ' || site || ' adds up')
from unnest('{shop,blog,%}'::text[]) as site;
select results_eq(
    $$ select name, (sum(self_ms) * 1000)::integer from cost_by('owner', 'shop', '2026-01-05Z', '2026-01-06Z', marker => 'gc') where self_ms > 0 group by 1 $$,
    $$ values ('(gc)', 700) $$, 'with a marker');
select results_eq(
    $$ select bucket, value_ms from trend('owner', '@anna @zoe', 'hour', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (timestamptz '2026-01-05 10:00Z', (select self_ms from cost_by('owner', 'shop', '2026-01-05Z', '2026-01-06Z') where name = '@anna @zoe')) $$,
    'trend follows an owner');
select results_eq(
    $$ select function, owner from function_origin('shop', 'https://shop.example/app.js', 1, 10)
       union all select function, owner from function_origin('shop', 'https://shop.example/app.js', 1, 20)
       union all select function, owner from function_origin('shop', 'https://shop.example/app.js', 1, 40) $$,
    $$ values ('cart', '@anna @zoe'), ('pay', null), ('react', null) $$, 'function_origin says it of one function');
select results_eq('select * from code_owners where line > 3',
    $$ values ('shop', 4, '/src/pay/', '@pay'), ('shop', 5, '/src/pay/b.ts', '') $$, 'patterns are listed');

-- Each pattern is given a number as its owner; the greatest that matches wins.
select is(
    (select owner from owners_of('{shop}', array[path])), wanted, coalesce(wanted, 'nobody') || ' owns ' || path)
from (values
    ('src/cart/a.ts', '@anna @zoe'), ('src/cart', '@org/web'), ('src/carta/x.ts', '@org/web'), ('src', '@org/all'), ('readme.md', '@org/all'),
    ('a/src/cart/x.ts', '@org/all'), ('src/pay/c.ts', '@pay'), ('src/pay/b.ts', null), ('src/pay/b.ts/x', null), ('src/pay/b.tsx', '@pay')) as row (path, wanted);
select is_empty($$ select from owners_of('{blog}', '{src/cart/a.ts}') $$, 'a site without a file has no owners');
select is_empty($$ select from owners_of('{}', '{}') $$, 'nor has nothing');
select is_empty($$ select from owners_of('{shop}', array[null]) $$, 'nor a function without a source');
select throws_ok(
    $$ select replace_owners('shop', (select jsonb_agg(jsonb_build_array(line, '*', '[]'::jsonb, null, '^', '%')) from generate_series(1, 20001) as line)) $$,
    '54000', 'site shop would have 20001 patterns of owners', 'there is a limit');

-- A property: whatever the patterns are, the ledger adds up, and an owner has what its sources cost.
create function pg_temp.property(seed double precision) returns text language plpgsql as $$
declare
    words constant text[] := '{src,cart,pay,a.ts,b.ts,util.ts,x}';
    difference double precision;
begin
    perform setseed(seed);
    perform replace_owners('shop', (
        select jsonb_agg(jsonb_build_array(line, 'p', owners) || case when of_path
            then jsonb_build_array(array['src/' || word || '/'])
            else jsonb_build_array(null, '(^|/)' || word || '(/|$)', '%' || word || '%') end)
        from (
            select
                line, case when random() < 0.3 then '[]'::jsonb else jsonb_build_array('@' || (random() * 3)::integer) end as owners, random() < 0.5 as of_path,
                words[1 + (random() * 6)::integer] as word
            from generate_series(1, 6) as line
        ) as made));
    select abs(sum(share) - 1) into difference from cost_by('owner', 'shop', '2026-01-05Z', '2026-01-06Z');
    if difference > 1e-9 then
        return 'adds up to 1 ± ' || difference;
    end if;
    -- By hand: each source on its own, each pattern on its own.
    return case when (
        select jsonb_object_agg(name, round((self_ms * 1000)::numeric))
        from cost_by('owner', 'shop', '2026-01-05Z', '2026-01-06Z')
        where name like '@%'
    ) is not distinct from (
        select jsonb_object_agg(owner, us)
        from (
            select owner, sum(us) as us
            from (
                select (
                    select owner from fleetprof_data.code_owner
                    where source ~ expression or exists (select from unnest(places) as place where starts_with(source, place))
                    order by line desc limit 1) as owner, us
                from (values ('src/cart/a.ts', 1000), ('src/pay/b.ts', 2000), ('src/util.ts', 3000)) as own (source, us)
            ) as each
            where owner <> ''
            group by owner
        ) as by_hand
    ) then 'adds up' else 'owners differ' end;
end
$$;
select is((select array_agg(distinct pg_temp.property(seed / 100.0)) from generate_series(1, 40) as seed), '{adds up}', 'forty files');

select is((select removed from replace_owners('shop', '[]')), 6::bigint, 'a file is forgotten');
select is_empty('select from code_owner', 'whole');
select results_eq('execute ledger', 'table nobodys', 'as before');
select is_empty($$ select from cost_by('owner', 'none', '2026-01-05Z', '2026-01-06Z') $$, 'nothing selected');

select * from finish();
rollback;
