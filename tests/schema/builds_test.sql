-- SPDX-License-Identifier: Apache-2.0
-- flamegraph, flamegraph_grafana and flamegraph_columns: a function in several builds of a script is one node.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into frame_name values
    ('render 1', 'render', 'https://shop.example/app-0a1b2c3d.js', 10, 1, 'function'),
    ('render 2', 'render', 'https://shop.example/app-ffee0011.js', 12, 1, 'function'),
    ('draw 1', 'draw', 'https://shop.example/app-0a1b2c3d.js', 20, 1, 'function'),
    ('draw 2', 'draw', 'https://shop.example/app-ffee0011.js', 22, 1, 'function'),
    -- Two places of one name in one build: nobody knows which is which in the other.
    ('twice 1', 'twice', 'https://shop.example/app-0a1b2c3d.js', 30, 1, 'function'),
    ('twice 1b', 'twice', 'https://shop.example/app-0a1b2c3d.js', 31, 1, 'function'),
    ('twice 2', 'twice', 'https://shop.example/app-ffee0011.js', 32, 1, 'function');
insert into sample (us, marker, path) values
    (10000, '(none)', '{main,render 1,draw 1}'),
    (20000, '(none)', '{main,render 2,draw 2}'),
    ( 3000, '(none)', '{main,render 2}'),
    ( 5000, 'layout', '{main,draw 1}'),
    ( 1000, '(none)', '{main,twice 1}'),
    ( 2000, '(none)', '{main,twice 1b}'),
    ( 4000, '(none)', '{main,twice 2}');
select pg_temp.store() \g /dev/null

select plan(6);

create temp table tree as select * from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0);
select results_eq(
    'select ordinal, level, function, line, self_ms, total_ms, samples from tree order by ordinal',
    $$ values
        (1, 0, '(all)',  null::integer, 0::float8, 45::float8, 7::bigint),
        (2, 1, 'main',   1,             0,         45,         7),
        (3, 2, 'render', 12,            3,         33,         3),
        (4, 3, 'draw',   22,            30,        30,         2),
        (5, 2, 'draw',   22,            5,         5,          1),
        (6, 2, 'twice',  32,            4,         4,          1),
        (7, 2, 'twice',  31,            2,         2,          1),
        (8, 2, 'twice',  30,            1,         1,          1) $$,
    'one node for both builds, at the place where the function costs most');
select results_eq(
    $$ select function, sum(self_ms) from tree where level > 0 group by function order by 1 $$,
    $$ select function, sum(self_ms) from hotspots('shop', '2026-01-05Z', '2026-01-06Z') group by function order by 1 $$,
    'self times are those of hotspots');
select results_eq(
    $$ select level, label, value, self from flamegraph_grafana('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0) $$,
    'select level, function, total_ms, self_ms from tree order by ordinal', 'also in Grafana');
create temp table columns as select flamegraph_columns('shop', '2026-01-05Z', '2026-01-06Z')::jsonb as tree;
select results_eq(
    $$ select level::integer, total::float8 / 1000
       from columns, rows from (jsonb_array_elements_text(tree -> 'level'), jsonb_array_elements_text(tree -> 'total')) as node (level, total) $$,
    'select level, total_ms from tree order by ordinal', 'and in columns');
select is(
    (select jsonb_array_length(tree -> 'frames' -> 'function') from columns), (select count(distinct (function, line))::integer - 1 from tree),
    'which list a function once');
select is(
    (select count(*) from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0, fold => 'package')), 8::bigint,
    'also where packages are folded');
select * from finish();
rollback;
