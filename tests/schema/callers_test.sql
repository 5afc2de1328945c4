-- SPDX-License-Identifier: Apache-2.0
-- callers, callees and flamegraph_columns: the neighbours of a function on stacks, and the tree in columns.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, release) values (1, 'v1'), (2, 'v2');
insert into frame_name values ('anonymous', '', 'https://shop.example/app.js', 12, 3, 'function');
insert into sample (segment_id, us, marker, path) values
    (1, 10000, '(none)', '{main,render,draw}'),
    (1,  5000, 'layout', '{main,render}'),
    (1,  4000, '(none)', '{main,anonymous,draw}'),
    (2,  6000, '(none)', '{fib,fib,fib}'),
    (2,  2000, '(none)', '{main,fib,leaf,fib,leaf}'),
    (2,  3000, '(none)', '{draw}'),
    (2, 70000, '(none)', null);
select pg_temp.store() \g /dev/null

select plan(27);

prepare callers_of(text) as
    select function, line, total_ms, round(share::numeric, 6), samples from callers($1, 'shop', '2026-01-05Z', '2026-01-06Z');
prepare callees_of(text) as
    select function, line, total_ms, round(share::numeric, 6), samples from callees($1, 'shop', '2026-01-05Z', '2026-01-06Z');
-- draw is on stacks for 17 ms.
select results_eq(
    $$ execute callers_of('draw') $$,
    $$ values ('render', 1, 10::float8, round(10 / 17.0, 6), 1::bigint), ('(anonymous)', 12, 4, round(4 / 17.0, 6), 1), ('(root)', null, 3, round(3 / 17.0, 6), 1) $$,
    'callers by time; (root) is none');
select results_eq(
    $$ execute callees_of('render') $$,
    $$ values ('draw', 1, 10::float8, round(10 / 15.0, 6), 1::bigint), ('(self)', null, 5, round(5 / 15.0, 6), null) $$,
    'callees by time; (self) is its own');
-- fib: 8 ms. A sample counts once for each caller: fib calls itself in 6 ms, the root calls it in 6, main and leaf in 2.
select results_eq(
    $$ execute callers_of('fib') $$,
    $$ values ('(root)', null::integer, 6::float8, 0.75, 1::bigint), ('fib', 1, 6, 0.75, 1), ('leaf', 1, 2, 0.25, 1), ('main', 1, 2, 0.25, 1) $$,
    'a recursive function calls itself, once per sample');
select results_eq(
    $$ execute callees_of('fib') $$,
    $$ values ('(self)', null::integer, 6::float8, 0.75, null::bigint), ('fib', 1, 6, 0.75, 1), ('leaf', 1, 2, 0.25, 1) $$,
    'a repeated call counts once per sample');
select is_empty($$ execute callers_of('nobody') $$, 'an unknown function has no callers');
select results_eq(
    $$ select function, total_ms from callers('%e_der', 'shop', '2026-01-05Z', '2026-01-06Z')
       union all
       select function, total_ms from callers('%ender', 'shop', '2026-01-05Z', '2026-01-06Z', marker => 'layout') $$,
    $$ values ('main', 5::float8) $$,
    'functions by a pattern, in which only % is a wildcard; samples by a marker');
select results_eq(
    $$ select function, total_ms from callers(null, 'shop', '2026-01-05Z', '2026-01-06Z', key =>
        (select function_key from callees('main', 'shop', '2026-01-05Z', '2026-01-06Z') where function = 'render')) $$,
    $$ values ('main', 15::float8) $$, 'one function by its key');
select is(
    (select sum(share) from callees('main', 'shop', '2026-01-05Z', '2026-01-06Z')), 1::float8, 'callees and own time are all of a function');
select results_eq(
    $$ select function, total_ms from callers('fib', 'shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$,
    $$ select 'x', 1::float8 where false $$, 'filters hold');
-- A dictionary may have more stacks with a function than the selection has stacks.
create function pg_temp.sums_of_fib(most integer)
returns table (nodes bigint, total_us numeric, samples numeric)
language sql
set search_path = fleetprof_data, pg_temp
as $fib$
    with wanted as (select array_agg(frame_id) as frame_ids from frame where function = 'fib'),
    tree as (
        select sums.*
        from wanted
        cross join lateral stack_sums_above(
            select_segments(row('shop', '2026-01-05Z', '2026-01-06Z', null, null)),
            select_markers(null), wanted.frame_ids, sums_of_fib.most) as sums
    )
    select count(*), sum(total_us), sum(samples)
    from (
        select unnest(frame_ids) as frame_id, unnest(total_sums) as total_us, unnest(sample_sums) as samples from tree
    ) as node
    where total_us is not null and frame_id in (select unnest(frame_ids) from wanted);
$fib$;
select results_eq(
    'select * from pg_temp.sums_of_fib(20000)', 'values (5::bigint, 22000::numeric, 5::numeric)', 'stacks with a function, from the dictionary');
select results_eq(
    'select * from pg_temp.sums_of_fib(2)', 'select * from pg_temp.sums_of_fib(20000)', 'the same stacks, from the selection');
select throws_ok($$ select * from callers(null, 'shop') $$, '22023', 'function_name is null', 'a function is named');

create temp table columns as select flamegraph_columns('shop', '2026-01-05Z', '2026-01-06Z')::jsonb as tree;
select is(tree -> 'level', '[0, 1, 2, 3, 2, 3, 2, 3, 4, 5, 1, 2, 3, 1]', 'levels, depth first') from columns;
select is(tree -> 'total', '[30000, 21000, 15000, 10000, 4000, 4000, 2000, 2000, 2000, 2000, 6000, 6000, 6000, 3000]', 'totals, microseconds') from columns;
select is(tree -> 'self', '[0, 0, 5000, 10000, 0, 4000, 0, 0, 0, 2000, 0, 0, 6000, 3000]', 'own times') from columns;
select is(tree -> 'samples', '[6, 4, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]', 'samples') from columns;
select is(
    (select array_agg(case frame when -1 then '(all)' else tree -> 'frames' -> 'function' ->> frame end)
     from jsonb_array_elements_text(tree -> 'frame') as place, lateral (select place::integer as frame) as frame),
    '{(all),main,render,draw,(anonymous),draw,fib,leaf,fib,leaf,fib,fib,fib,draw}', 'frames are places in their columns') from columns;
select is(tree -> 'omitted_us', '0', 'nothing is left out') from columns;
select is(
    (select (tree -> 'level')::text || (tree -> 'total') || (tree ->> 'omitted_us')
     from (select flamegraph_columns('shop', '2026-01-05Z', '2026-01-06Z', max_nodes => 4)::jsonb as tree) as small),
    '[0, 1, 2, 3][30000, 21000, 15000, 10000]15000', 'the greatest nodes, with what is left out');
select is(
    flamegraph_columns('shop', '2026-01-05Z', '2026-01-06Z', route => '/nowhere')::jsonb - 'frames',
    '{"level": [], "frame": [], "self": [], "total": [], "samples": [], "omitted_us": 0}', 'of nothing, empty columns');
select is_empty(
    $$ select from jsonb_each(flamegraph_columns('shop', '2026-01-05Z', '2026-01-06Z', route => '/nowhere')::jsonb -> 'frames') where value <> '[]' $$,
    'columns without elements');
create function pg_temp.columns_on(root bigint, max_nodes integer default 50000, route text default null)
returns text
language sql
set search_path = fleetprof
as $$
    select concat_ws(' ', tree -> 'level', tree -> 'total', tree -> 'self', tree -> 'samples', tree -> 'omitted_us')
    from flamegraph_columns(
        'shop', '2026-01-05Z', '2026-01-06Z', max_nodes => columns_on.max_nodes, root => columns_on.root, route => columns_on.route) as columns
    cross join lateral (select columns::jsonb as tree) as read;
$$;
select is(
    pg_temp.columns_on((select distinct stack_id from stack_hourly where function = 'render' and level = 2)),
    '[0, 1, 2] [15000, 15000, 10000] [0, 5000, 10000] [2, 2, 1] 0', 'a stack, and what stands on it');
select is(
    pg_temp.columns_on((select stack_id from fleetprof_data.stack join fleetprof_data.frame using (frame_id) where level = 1 and function = 'main')),
    '[0, 1, 2, 3, 2, 3, 2, 3, 4, 5] [21000, 21000, 15000, 10000, 4000, 4000, 2000, 2000, 2000, 2000] '
        '[0, 0, 5000, 10000, 0, 4000, 0, 0, 0, 2000] [4, 4, 2, 1, 1, 1, 1, 1, 1, 1] 0',
    'of a stack without samples of its own');
select is(
    pg_temp.columns_on((select distinct stack_id from stack_hourly where function = 'render' and level = 2), max_nodes => 2),
    '[0, 1] [15000, 15000] [0, 5000] [2, 2] 10000', 'what is left out of it');
select is(pg_temp.columns_on(1), '[] [] [] [] 0', 'a stack that nobody has');
select is(
    pg_temp.columns_on((select distinct stack_id from stack_hourly where function = 'render' and level = 2), route => '/nowhere'),
    '[] [] [] [] 0', 'a stack that is not selected');
select throws_ok($$ select flamegraph_columns('shop', max_nodes => 0) $$, '22023', 'max_nodes is 0', 'at least one node');

select * from finish();
rollback;
