-- SPDX-License-Identifier: Apache-2.0
-- fleetprof_native: its sums are those of SQL, for any packed rows; broken ones are errors; SQL answers where it can't.
\ir ../schema/fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;
select plan(53);

-- Random rows: few keys or many, dense or spread, in any order, some twice; negative numbers; empty rows.
create temp table packed (batch integer, keys bigint[], counts integer[], numbers bigint[], more bigint[]);
select setseed(0.25) \g /dev/null
insert into packed
select batch, array_agg(key), array_agg(count), array_agg(number), array_agg(more)
from (
    select
        batch, row,
        case batch % 4
            when 0 then floor(random() * 50)::bigint
            when 1 then hashint8extended(floor(random() * 20000)::bigint, 7)
            when 2 then floor(random() * 3000)::bigint * 4294967296
            else 9223372036854775807 - floor(random() * 500)::bigint
        end as key,
        (random() * 4294967295 - 2147483648)::bigint::integer as count,
        floor((random() - 0.3) * 1e12)::bigint as number,
        floor((random() - 0.5) * 1e15)::bigint as more
    from generate_series(0, 7) as batch
    cross join generate_series(1, 60) as row
    cross join lateral generate_series(1, (row * row) / (1 + batch % 3)) as entry
) as entry
group by batch, row;
insert into packed select batch, '{}', '{}', '{}', '{}' from generate_series(0, 7) as batch;

create function pg_temp.by_sql(wanted integer)
returns table (key bigint, counts bigint, numbers bigint, more bigint)
language sql
as $$
    select key, sum(count)::bigint, sum(number)::bigint, sum(more)::bigint
    from (
        select unnest(keys) as key, unnest(counts) as count, unnest(numbers) as number, unnest(more) as more
        from pg_temp.packed where batch = wanted or wanted is null
    ) as entry
    group by key
$$;
create function pg_temp.unfold(sums bigint[])
returns table (key bigint, counts bigint, numbers bigint, more bigint)
language sql
as $$
    select
        unnest(sums[1:count]), unnest(sums[count + 1:2 * count]), unnest(sums[2 * count + 1:3 * count]),
        unnest(sums[3 * count + 1:4 * count])
    from (select cardinality(sums) / 5 as count) as counted
$$;
create function pg_temp.by_extension(wanted integer)
returns table (key bigint, counts bigint, numbers bigint, more bigint)
language sql
as $$
    select unfold.*
    from (
        select fleetprof_native.sum_frames(keys, counts, numbers, more, more) as sums
        from pg_temp.packed where batch = wanted or wanted is null
    ) as summed
    cross join lateral pg_temp.unfold(sums)
$$;

select bag_eq(
    format('select * from pg_temp.by_extension(%s)', batch), format('select * from pg_temp.by_sql(%s)', batch),
    format('batch %s has the sums of SQL', batch))
from generate_series(0, 7) as batch;
select bag_eq('select * from pg_temp.by_extension(null)', 'select * from pg_temp.by_sql(null)', 'so have all batches together');
select is(
    (select cardinality(sums) from (select fleetprof_native.sum_frames(keys, counts, numbers, more, more) as sums from packed where batch = 1) as s),
    (select 5 * count(*)::integer from pg_temp.by_sql(1)), 'each key comes once');
select bag_eq(
    $$ select unnest(sums[1:count]) as key, unnest(sums[count + 1:2 * count]) as numbers, unnest(sums[2 * count + 1:]) as more
       from (select sums, cardinality(sums) / 3 as count
             from (select fleetprof_native.sum_stacks(keys, numbers, more) as sums from pg_temp.packed) as s) as s $$,
    'select key, numbers, more from pg_temp.by_sql(null)', 'sum_stacks has the sums of SQL');
select is(fleetprof_native.sum_stacks(keys, numbers, more), '{}', 'no row, no sums') from packed where false;
select is(fleetprof_native.sum_stacks('{}', '{}', '{}'), '{}', 'an empty row has no sums');

-- In parallel: states travel between processes.
create table public.native_rows as select * from packed;
alter table public.native_rows set (parallel_workers = 2);
set local parallel_setup_cost = 0;
set local parallel_tuple_cost = 0;
set local min_parallel_table_scan_size = 0;
set local max_parallel_workers_per_gather = 2;
create function pg_temp.plan_of(query text)
returns setof text
language plpgsql
as $$
begin
    return query execute 'explain (costs off) ' || query;
end
$$;
select ok(
    exists (select from pg_temp.plan_of('select fleetprof_native.sum_frames(keys, counts, numbers, more, more) from public.native_rows') as line
            where line ~ 'Partial Aggregate'),
    'workers add up');

select bag_eq(
    $$ select unfold.* from (select fleetprof_native.sum_frames(keys, counts, numbers, more, more) as sums from public.native_rows) as s
       cross join lateral pg_temp.unfold(sums) $$,
    'select * from pg_temp.by_sql(null)', 'in parallel the sums are the same');

-- Broken rows.
create function pg_temp.error_of(a text, b text, c text)
returns text
language plpgsql
as $$
declare
    state text;
begin
    execute format('select fleetprof_native.sum_stacks(%s::bigint[], %s::bigint[], %s::bigint[])', a, b, c);
    return 'none';
exception
    when others then
        get stacked diagnostics state = returned_sqlstate;
        return state;
end
$$;
select is(pg_temp.error_of(a, b, c), expected, format('%s, %s, %s is %s', a, b, c, expected))
from (values
    ('''{1}''', '''{1}''', '''{1}''', 'none'),
    ('null', '''{1}''', '''{1}''', '22004'),
    ('''{1}''', 'null', '''{1}''', '22004'),
    ('''{1}''', '''{1}''', 'null', '22004'),
    ('''{1,null}''', '''{1,2}''', '''{1,2}''', '22004'),
    ('''{1,2}''', '''{1,2}''', '''{null,2}''', '22004'),
    ('''{1,2}''', '''{1}''', '''{1,2}''', '2202E'),
    ('''{1,2}''', '''{1,2}''', '''{1,2,3}''', '2202E'),
    ('''{1}''', '''{}''', '''{1}''', '2202E'),
    ('''{}''', '''{1}''', '''{}''', '2202E'),
    ('''{{1,2},{3,4}}''', '''{1,2,3,4}''', '''{1,2,3,4}''', '2202E'),
    ('''{1,2,3,4}''', '''{1,2,3,4}''', '''{{1,2},{3,4}}''', '2202E'),
    ('''[5:6]={1,2}''', '''[-3:-2]={1,2}''', '''{1,2}''', 'none'),
    ('''{-9223372036854775808}''', '''{-1}''', '''{-5}''', 'none'),
    ('''{NaN}''', '''{1}''', '''{1}''', '22P02'),
    ('''{1,1}''', '''{9223372036854775807,1}''', '''{1,1}''', '22003'),
    ('''{1,2}''', '''{9223372036854775807,1}''', '''{1,1}''', 'none'),
    ('''{7,7}''', '''{1,1}''', '''{-9223372036854775808,-1}''', '22003')
) as row (a, b, c, expected);
select throws_ok(
    $$ select fleetprof_native.sum_frames(keys, counts, numbers, more, more)
       from (values ('{1}'::bigint[], '{1}'::integer[], '{9223372036854775807}'::bigint[], '{1}'::bigint[]), ('{1}', '{1}', '{1}', '{1}')) as row (keys, counts, numbers, more) $$,
    '22003', 'bigint out of range', 'a sum beyond 64 bits is an error');
select throws_ok(
    $$ select fleetprof_native.sum_stacks('{1}'::real[], '{1}', '{1}') $$, '42883', null, 'keys of another type find no aggregate');

-- States: SQL has none to pass.
select throws_ok($$ select fleetprof_native.sums_result('\x00'::bytea) $$, '42883', null, 'a state cannot be forged from bytes');
select throws_ok($$ select fleetprof_native.sums_deserialize('\x00'::bytea, null) $$, '42883', null, 'nor made by what reads those of workers');
create role stranger;
grant create, usage on schema public to stranger;
grant usage on schema pgtap to stranger;
set local role stranger;
select throws_ok(
    $$ create aggregate public.forged(bytea) (
        sfunc = fleetprof_native.sums_deserialize, stype = internal, finalfunc = fleetprof_native.sums_result) $$,
    '42P13', null, 'nor by an aggregate of a user');
reset role;

-- Too large for its memory: null, and SQL answers.
set local work_mem = '64kB';
select is((select fleetprof_native.sum_frames(keys, counts, numbers, more, more) from packed), null, 'more than work_mem is refused');
select is((select fleetprof_native.sum_frames(keys, counts, numbers, more, more) from public.native_rows), null, 'also in parallel');
reset work_mem;

-- The functions of the schema, by SQL, by the extension, and by SQL because the extension refuses.
insert into segment (segment_id, release) values (1, 'v1'), (2, 'v2');
insert into sample (segment_id, upload, us, marker, path)
select
    1 + n % 2, n % 7, 1000 + n * 37 % 5000, case when n % 5 = 0 then 'gc' else '(none)' end::fleetprof_data.marker,
    array['main', 'f' || n % 11, 'g' || n % 13, 'f' || n % 3]
from generate_series(1, 400) as n;
select pg_temp.store() \g /dev/null
prepare frames as
    select * from fleetprof.hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => null);
prepare stacks as
    select * from fleetprof.flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0);
set local fleetprof.native = off;
create temp table frames_by_sql as execute frames;
create temp table stacks_by_sql as execute stacks;
select is((select count(*) from frames_by_sql), 25::bigint, 'there are functions');
select cmp_ok((select count(*) from stacks_by_sql), '>', 100::bigint, 'and stacks');
set local fleetprof.native = 'OFF';
select ok(not fleetprof_data.has_native(), 'the setting turns it off');
set local fleetprof.native = 'perhaps';
select ok(fleetprof_data.has_native(), 'an unknown word does not');
reset fleetprof.native;
select results_eq('frames', 'table frames_by_sql', 'hotspots are the same with the extension');
select results_eq('stacks', 'table stacks_by_sql', 'flame graphs are the same with the extension');
-- Proves that the extension was asked above: without its aggregates the questions fail.
alter aggregate fleetprof_native.sum_frames(bigint[], integer[], bigint[], bigint[], bigint[]) rename to lost_frames;
alter aggregate fleetprof_native.sum_stacks(bigint[], bigint[], bigint[]) rename to lost_stacks;
discard plans;
select throws_ok('frames', '42883', null, 'hotspots use the extension');
select throws_ok('stacks', '42883', null, 'flame graphs use the extension');
alter aggregate fleetprof_native.lost_frames(bigint[], integer[], bigint[], bigint[], bigint[]) rename to sum_frames;
alter aggregate fleetprof_native.lost_stacks(bigint[], bigint[], bigint[]) rename to sum_stacks;
alter function fleetprof_data.frame_sums set work_mem = '64kB';
alter function fleetprof_data.sampled_stacks set work_mem = '64kB';
select results_eq('frames', 'table frames_by_sql', 'hotspots are the same when the extension refuses');
select results_eq('stacks', 'table stacks_by_sql', 'flame graphs are the same when the extension refuses');

-- Version and setting.
select is(fleetprof_data.has_native(), true, 'the extension has the version that the schema uses');
set local fleetprof.native = off;
select is(fleetprof_data.has_native(), false, 'a setting turns it off');
reset fleetprof.native;
update pg_extension set extversion = '0' where extname = 'fleetprof_native';
select is(fleetprof_data.has_native(), false, 'another version is not used');

select * from finish();
rollback;
