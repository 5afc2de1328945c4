-- SPDX-License-Identifier: Apache-2.0
-- flamegraph, flamegraph_grafana and folded: one tree, three shapes.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into frame_name values
    ('anonymous', '', 'https://shop.example/app.js', 12, 3, 'function'),
    ('no column', '', 'data:text/javascript;a1', 5, null, 'function'),
    ('placeless', '', null, 7, 9, 'function'),
    ('nowhere', '', null, null, null, 'function'),
    ('odd', E'a;b\nc\r\n\x1b\u009bd', 'app.js', 1, 1, 'function'),
    ('get 0', 'get 0', 'app.js', 2, 1, 'function'),
    ('v  1.5', 'v  1.5', 'app.js', 3, 1, 'function'),
    ('1 2 x', '1 2 x', 'app.js', 4, 1, 'function');
insert into sample (us, marker, path) values
    (10000, '(none)', '{main,render,draw}'),
    ( 5000, 'layout', '{main,render}'),
    ( 2000, '(none)', '{main,render}'),
    ( 4000, '(none)', '{main,anonymous}'),
    ( 6000, '(none)', '{main,fib,fib,fib}'),
    ( 4000, 'layout', '{main,zoom}'),
    (   10, '(none)', '{main,tiny}'),
    (   10, '(none)', '{main,Zany}'),
    (60000, '(none)', null),
    ( 8980, '(none)', '{idle task,draw}');
select pg_temp.store() \g /dev/null

select plan(33);

prepare graph(double precision) as
    select ordinal, level, function, self_ms, total_ms, samples
    from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => $1);
select results_eq(
    'execute graph(0)',
    $$ values
        (1,  0, '(all)',       0::float8, 40::float8, 9::bigint),
        (2,  1, 'main',        0,         31.02,      8),
        (3,  2, 'render',      7,         17,         3),
        (4,  3, 'draw',        10,        10,         1),
        (5,  2, 'fib',         0,         6,          1),
        (6,  3, 'fib',         0,         6,          1),
        (7,  4, 'fib',         6,         6,          1),
        (8,  2, '(anonymous)', 4,         4,          1),
        (9,  2, 'zoom',        4,         4,          1),
        (10, 2, 'Zany',        0.01,      0.01,       1),
        (11, 2, 'tiny',        0.01,      0.01,       1),
        (12, 1, 'idle task',   0,         8.98,       1),
        (13, 2, 'draw',        8.98,      8.98,       1) $$,
    'depth first, siblings by time, equal ones by name; unattributed time is not in it');
-- Four page loads; 40 of 100 ms are attributed.
update segment_fact set loads = 4;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select function, self_ms_per_load, total_ms_per_load, busy_share, is_agent
       from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0.1) $$,
    $$ values
        ('(all)', 0::float8, 10::float8, 0::float8, false), ('main', 0, 31.02 / 4, 0, false),
        ('render', 1.75, 4.25, 7 / 40.0, false), ('draw', 2.5, 2.5, 0.25, false) $$,
    'means are of page loads, the busy share of attributed time');
savepoint parts;
update segment_fact set loads = 0, unattributed_us = profiled_us;
delete from marker_fact;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select total_ms, self_ms_per_load, total_ms_per_load, busy_share
       from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 1) $$,
    $$ values (40::float8, null::float8, null::float8, null::float8) $$,
    'no page load, no mean; no attributed time, no share');
rollback to parts;
select results_eq(
    $$ select function, resource, line, column_number from flamegraph('shop', '2026-01-05Z', '2026-01-06Z') where level = 2 $$,
    $$ values
        ('render', 'app.js', 1, 1), ('fib', 'app.js', 1, 1),
        ('(anonymous)', 'https://shop.example/app.js', 12, 3), ('zoom', 'app.js', 1, 1), ('draw', 'app.js', 1, 1) $$,
    'a thousandth of the profiled time is the least, by default: 0.01 of 100 ms is gone');
select results_eq(
    'execute graph(0.04)',
    $$ values
        (1,  0, '(all)',       0::float8, 40::float8, 9::bigint),
        (2,  1, 'main',        0,         31.02,      8),
        (3,  2, 'render',      7,         17,         3),
        (4,  3, 'draw',        10,        10,         1),
        (5,  2, 'fib',         0,         6,          1),
        (6,  3, 'fib',         0,         6,          1),
        (7,  4, 'fib',         6,         6,          1),
        (8,  2, '(anonymous)', 4,         4,          1),
        (9,  2, 'zoom',        4,         4,          1),
        (10, 1, 'idle task',   0,         8.98,       1),
        (11, 2, 'draw',        8.98,      8.98,       1) $$,
    'a stack of exactly min_share of the profiled time stays: 4 of 40 + 60 ms');
select results_eq(
    'execute graph(1)', $$ values (1, 0, '(all)', 0::float8, 40::float8, 9::bigint) $$,
    'the root is always there');
select results_eq(
    $$ select ordinal, level, function, self_ms, total_ms, samples
       from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', marker => 'layout') $$,
    $$ values
        (1, 0, '(all)', 0::float8, 9::float8, 2::bigint),
        (2, 1, 'main', 0, 9, 2), (3, 2, 'render', 5, 5, 1), (4, 2, 'zoom', 4, 4, 1) $$,
    'a marker''s own tree');
select is_empty($$ select * from flamegraph('shop', '2026-01-06Z', '2026-01-07Z') $$, 'nothing, no rows');
select throws_ok(format('select * from %I(''shop'', min_share => %s)', name, bad), '22023', 'min_share is ' || shown, name || ' min_share ' || shown)
from (values ('flamegraph'), ('flamegraph_grafana')) as function (name),
    (values ('-0.1', '-0.1'), ('1.1', '1.1'), ('''NaN''', 'NaN'), ('null', 'null')) as share (bad, shown)
order by name, bad;

-- Grafana.
select results_eq(
    $$ select * from flamegraph_grafana('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        (0, 40::float8, '(all)', 0::float8),
        (1, 31.02, 'main', 0), (2, 17, 'render', 7), (3, 10, 'draw', 10),
        (2, 6, 'fib', 0), (3, 6, 'fib', 0), (4, 6, 'fib', 6),
        (2, 4, '(anonymous) https://shop.example/app.js:12:3', 4), (2, 4, 'zoom', 4),
        (1, 8.98, 'idle task', 0), (2, 8.98, 'draw', 8.98) $$,
    'Grafana''s columns, in the same order');

-- Folded.
select results_eq(
    $$ select folded('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('idle task;draw 8980'),
        ('main;(anonymous) https://shop.example/app.js:12:3 4000'),
        ('main;Zany 10'),
        ('main;fib;fib;fib 6000'),
        ('main;render 7000'),
        ('main;render;draw 10000'),
        ('main;tiny 10'),
        ('main;zoom 4000') $$,
    'a line for each stack, markers together, microseconds');
select is_empty($$ select folded('nobody') $$, 'nothing, no lines');

insert into pg_temp.segment (segment_id, site) values (2, 'odd');
delete from pg_temp.sample;
delete from pg_temp.segment where segment_id = 1;
insert into sample (segment_id, us, path) values
    (2, 1, '{odd}'), (2, 2, '{"no column",placeless,nowhere}'), (2, 0, '{weightless}'),
    (2, 3, '{"get 0","1 2 x"}'), (2, 4, '{"get 0","v  1.5"}');
select pg_temp.store() \g /dev/null
select results_eq(
    $$ select folded('odd', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('(anonymous) data:text/javascript:a1:5;(anonymous) :7:9;(anonymous) 2'),
        ('a:b c    d 1'), (E'get\u00a00;1 2 x 3'), (E'get\u00a00;v \u00a01.5 4') $$,
    'no ;, no control character and no number after a space in a name; as much of the place as there is; no line without weight');
select is(
    (select array_agg(function order by ordinal) from flamegraph('odd', '2026-01-05Z', '2026-01-06Z', min_share => 0)),
    array['(all)', 'get 0', 'v  1.5', '1 2 x', '(anonymous)', '(anonymous)', '(anonymous)', E'a;b\nc\r\n\x1b\u009bd', 'weightless'],
    'elsewhere names stay as they are');

-- Different stacks that read the same are one line.
insert into pg_temp.segment (segment_id, site) values (3, 'twins');
delete from pg_temp.sample;
delete from pg_temp.segment where segment_id = 2;
insert into frame_name values ('twin 1', 'twin', 'a.js', 1, 1, 'function'), ('twin 2', 'twin', 'b.js', 1, 1, 'function');
insert into sample (segment_id, us, path) values (3, 30, '{main,"twin 1"}'), (3, 12, '{main,"twin 2"}');
select pg_temp.store() \g /dev/null
select results_eq(
    $$ select folded('twins', '2026-01-05Z', '2026-01-06Z') $$, $$ values ('main;twin 42') $$,
    'functions of one name, one line');
select results_eq(
    $$ select function, resource, total_ms from flamegraph('twins', '2026-01-05Z', '2026-01-06Z') where level = 2 $$,
    $$ values ('twin', 'a.js', 0.03::float8), ('twin', 'b.js', 0.012) $$,
    'and two rows of the graph');

-- Random stacks: whatever the shape, all functions agree on the times.
select setseed(0.42) \g /dev/null
delete from pg_temp.sample;
delete from pg_temp.segment;
insert into pg_temp.segment (segment_id, site, route) values (11, 'random', '/a'), (12, 'random', '/b');
insert into sample (segment_id, bucket, upload, marker, us, path)
select
    11 + n % 2,
    '2026-01-05Z'::timestamptz + (n % 48) * interval '1 hour',
    n % 7,
    (enum_range(null::fleetprof_data.marker))[1 + (random() * random() * 6)::integer],
    (random() * 20000)::bigint,
    case when random() < 0.8 then array(
        select 'f' || (random() * random() * (9 + n * 0))::integer
        from generate_series(1, 1 + (random() * 11 + n * 0)::integer)) end
from generate_series(1, 1500) as n;
select pg_temp.store() \g /dev/null

create function pg_temp.microseconds(sum_ms double precision)
returns bigint
language sql
return coalesce(round(sum_ms * 1000), 0);

create temp table slice as
select marker, route
from (values (null), ('layout'), ('(none)'), ('%t%'), ('(%')) as marker (marker), (values (null), ('/a')) as route (route);

select ok(
    (select count(*) > 100 from flamegraph('random', '2026-01-05Z', '2026-01-07Z', min_share => 0)),
    'the random tree is worth looking at');
select is_empty(
    $$ select marker, route, expected, hotspots_us, flamegraph_us, folded_us, marked_us
       from (
           select
               marker, route,
               (select coalesce(sum(us), 0) from sample join pg_temp.segment using (segment_id)
                where path is not null
                    and (slice.marker is null or sample.marker::text like slice.marker)
                    and (slice.route is null or segment.route = slice.route)) as expected,
               (select pg_temp.microseconds(sum(self_ms)) from hotspots(
                   'random', '2026-01-05Z', '2026-01-07Z', slice.route, marker => slice.marker, top => null)) as hotspots_us,
               (select pg_temp.microseconds(sum(self_ms)) from flamegraph(
                   'random', '2026-01-05Z', '2026-01-07Z', slice.route, marker => slice.marker, min_share => 0)) as flamegraph_us,
               (select coalesce(sum(substring(line from ' (\d+)$')::bigint), 0) from folded(
                   'random', '2026-01-05Z', '2026-01-07Z', slice.route, marker => slice.marker) as line) as folded_us,
               (select pg_temp.microseconds(sum(self_ms)) from markers(
                   'random', '2026-01-05Z', '2026-01-07Z', slice.route, marker => slice.marker)
                where marker <> '(unattributed)') as marked_us
           from slice) as sums
       where expected <> all(array[hotspots_us, flamegraph_us, folded_us, marked_us]) or expected = 0 $$,
    'self times add up to the same: hotspots, flamegraph, folded, markers, samples');
select is(
    (select pg_temp.microseconds(sum(self_ms)) from markers('random', '2026-01-05Z', '2026-01-07Z')),
    (select sum(us)::bigint from sample), 'with unattributed time, to the profiled time');
select results_eq(
    $$ select function, self_ms, total_ms, samples, uploads from hotspots('random', '2026-01-05Z', '2026-01-07Z', top => null) $$,
    $$ select
           key,
           coalesce(sum(us) filter (where key = path[cardinality(path)]), 0)::float8 / 1000,
           sum(us)::float8 / 1000, count(*), count(distinct (segment_id, bucket, upload))
       from sample, lateral (select distinct key from unnest(path) as key) as on_stack
       group by key
       order by 2 desc, key $$,
    'hotspots give each function the time of its samples');
select results_eq(
    $$ select function, pg_temp.microseconds(self_ms), samples
       from hotspots('random', '2026-01-05Z', '2026-01-07Z', marker => '%t%', top => null) order by function $$,
    $$ select key, coalesce(sum(us) filter (where key = path[cardinality(path)]), 0)::bigint, count(*)
       from sample, lateral (select distinct key from unnest(path) as key) as on_stack
       where marker::text like '%t%' group by key order by key $$,
    'for some markers too');

create temp table tree as
select *, pg_temp.microseconds(self_ms) as self_us, pg_temp.microseconds(total_ms) as total_us
from flamegraph('random', '2026-01-05Z', '2026-01-07Z', min_share => 0);
create index on tree (level, ordinal);
create temp table family as
select child.*, (
    select max(parent.ordinal) from tree as parent
    where parent.ordinal < child.ordinal and parent.level = child.level - 1) as parent
from tree as child
where level > 0;
select is(
    (select array_agg(ordinal order by ordinal) from tree), (select array_agg(n) from generate_series(1, (select count(*)::integer from tree)) as n),
    'ordinals leave no gap');
select is_empty(
    $$ select * from family join tree as before on before.ordinal = family.ordinal - 1
       where family.level > before.level + 1 $$,
    'a level down is always one step');
select is_empty(
    $$ select ordinal from tree
       left join (select parent, sum(total_us) as total_us from family group by parent) as children on parent = ordinal
       where tree.total_us <> self_us + coalesce(children.total_us, 0) $$,
    'total = self + totals of children');
select is_empty(
    $$ select * from (
           select ordinal, total_us > lag(total_us) over (partition by parent order by ordinal) as greater from family) as sibling
       where greater $$,
    'the greatest sibling comes first');
select is_empty(
    $$ select parent, function, resource, line, column_number from family group by 1, 2, 3, 4, 5 having count(*) > 1 $$,
    'no two siblings are the same function');

select * from finish();
rollback;
