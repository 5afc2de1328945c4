-- SPDX-License-Identifier: Apache-2.0
-- Names of functions: hotspots, flame graphs and their cuts equal plain queries over the samples, in several builds.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
-- Functions in two builds; two letters are a minifier's. Each of them has its own line.
create temp table site_function as
select name, build, name || ' ' || build as key, row_number() over (order by name, build)::integer as line
from unnest('{render,draw,update,measure,commit,layout,parse,ab,x,(anonymous),""}'::text[]) as name
cross join unnest('{0a1b2c3d,ffee0011}'::text[]) as build;
insert into frame_name
select key, name, 'https://shop.example/app-' || build || '.js', line, 1, 'function' from site_function;
insert into frame_name values ('gc', '(gc)', null, null, null, 'marker'), ('(gc)', '', null, null, null, 'marker');
-- 100 stacks of up to six frames, each of one build, many with the same time.
insert into sample (upload, us, path)
select
    1 + number % 7, 1000 * (1 + number % 5),
    (select array_agg(key order by level)
     from generate_series(1, 1 + (hashint8extended(number, 1) & 7)::integer % 6) as level
     cross join lateral (
        select key
        from site_function
        where build = case number % 2 when 0 then '0a1b2c3d' else 'ffee0011' end
        offset (hashint8extended(number * 8 + level, 2) & 1023)::integer % 11
        limit 1
     ) as chosen)
from generate_series(1, 100) as number;
insert into sample (us, path) values (2000, '{gc}'), (1000, '{(gc)}');
select pg_temp.store() \g /dev/null
insert into fleetprof_data.function_table (resource_id, site, url, release, functions, checksum)
select resource_id, site, url, '', 2, 1 from fleetprof_data.resource where url like '%0a1b2c3d%';
insert into fleetprof_data.original_function
select resource_id, line, 1, name, 'src/app.ts', line, 1, '', false
from fleetprof_data.resource, (values (2, 'original'), (4, ''), (6, null)) as known (line, name)
where url like '%0a1b2c3d%';

select plan(7);

select set_eq(
    'select frame_id, name_key from fleetprof_data.original_frame',
    $$ select frame_id, case when is_stable then hashtextextended(function, 0) else frame_id end as name_key from fleetprof_data.original_frame $$,
    'name_key is a hash of a name that people wrote, also of an original one');
select set_eq(
    'select frame_id, name_key from fleetprof_data.frame',
    $$ select frame_id, case
            when kind <> 'function' then hashtextextended(case function when '' then '(anonymous)' else function end, 0)
            when fleetprof_data.is_stable_name(case function when '' then '(anonymous)' else function end, column_number)
                then hashtextextended(function, 0)
            else frame_id
        end as name_key from fleetprof_data.frame $$,
    'in the table as is_stable_name says');

-- Own and total times by function_key, straight from the samples.
create function pg_temp.frame_key(frame_key text) returns bigint language sql as $$
    select function_key
    from fleetprof_data.named_frame
    join frame_name on key = frame_key
        and named_frame.generated_line is not distinct from frame_name.line
        and named_frame.generated_resource is not distinct from frame_name.url
    where frame_name.line is not null or named_frame.function = case frame_name.function when '' then '(anonymous)' else frame_name.function end
    limit 1
$$;
create temp table keyed as select key, pg_temp.frame_key(key) as function_key from frame_name;
create temp table expected as
select function_key::text, sum(us) filter (where key = path[cardinality(path)]) as self_us
from sample
cross join lateral (select distinct unnest(path) as key) as node
join keyed using (key)
group by function_key;
create temp table hottest as select * from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => null);
select set_eq(
    'select function_key, round(self_ms * 1000)::bigint from hottest',
    'select function_key, coalesce(self_us, 0)::bigint from expected', 'hotspots are the sums of the samples');
select is_empty(
    $$ select top
       from unnest('{1,2,3,8,100}'::integer[]) as top
       where (select array_agg(hotspots::text) from hotspots('shop', '2026-01-05Z', '2026-01-06Z', top => top)) is distinct from
           (select (array_agg(hottest::text))[:top] from hottest) $$,
    'the first ones are the first of all');

-- The tree, straight from the samples: nodes are paths of function_keys.
create temp table expected_tree as
select path[:level]::text as path, sum(us) as total_us, sum(us) filter (where level = cardinality(path)) as self_us, count(*) as samples
from (
    select us, (select array_agg(function_key order by place)
        from unnest(path) with ordinality as node (key, place) join keyed using (key)) as path
    from sample
) as sampled
cross join lateral generate_series(1, cardinality(path)) as level
group by path[:level];
-- Paths of nodes that come depth first.
create function pg_temp.with_paths(levels integer[], keys text[]) returns setof text language plpgsql as $$
declare
    path bigint[] := '{}';
begin
    for place in 1..cardinality(levels) loop
        path := path[:levels[place] - 1] || case when levels[place] > 0 then keys[place]::bigint end;
        return next case when levels[place] > 0 then path::text end;
    end loop;
end
$$;
create temp table tree as select * from flamegraph('shop', '2026-01-05Z', '2026-01-06Z', min_share => 0);
create temp table node as
select unnest(ordinals) as ordinal, pg_temp.with_paths(levels, keys) as path
from (
    select array_agg(ordinal order by ordinal) as ordinals, array_agg(level order by ordinal) as levels,
        array_agg(function_key order by ordinal) as keys
    from tree
) as listed;
select set_eq(
    $$ select path, round(total_ms * 1000)::bigint as total, round(self_ms * 1000)::bigint as own, samples from tree join node using (ordinal) where level > 0 $$,
    'select path, total_us::bigint as total, coalesce(self_us, 0)::bigint as own, samples from expected_tree', 'the flame graph is the sums of the samples');
select cmp_ok(
    (select count(*) from tree where level > 0), '<',
    (select count(distinct path[:level]) from sample cross join lateral generate_series(1, cardinality(path)) as level),
    'builds share nodes');

-- A cut has the nodes with the most time, in the order of the tree, without those whose caller is left out.
create function pg_temp.columns_of(most integer) returns table (level integer, total bigint, self bigint, key text) language sql as $$
    select level::integer, total::bigint, self::bigint,
        case when frame::integer >= 0 then tree -> 'frames' -> 'function_key' ->> frame::integer end
    from (select flamegraph_columns('shop', '2026-01-05Z', '2026-01-06Z', max_nodes => most)::jsonb as tree) as drawn,
        rows from (jsonb_array_elements_text(tree -> 'level'), jsonb_array_elements_text(tree -> 'total'),
            jsonb_array_elements_text(tree -> 'self'), jsonb_array_elements_text(tree -> 'frame')) as node (level, total, self, frame)
$$;
create function pg_temp.cut_of(most integer) returns table (level integer, total bigint, self bigint, key text) language sql as $$
    with ranked as (
        select tree.*, path, row_number() over (order by level > 0, total_ms desc, ordinal) as rank from tree join node using (ordinal)
    )
    select level, round(total_ms * 1000)::bigint, round(self_ms * 1000)::bigint, case when level > 0 then function_key end
    from ranked
    where rank <= most and not exists (
        select from ranked as above where above.rank > most and ranked.path like rtrim(above.path, '}') || ',%')
    order by ordinal
$$;
select is(
    (select array_agg(most) from unnest('{1,2,3,5,13,40,1000}'::integer[]) as most
     where (select array_agg(node::text) from pg_temp.columns_of(most) as node) is distinct from
         (select array_agg(node::text) from pg_temp.cut_of(most) as node)),
    null, 'max_nodes keeps the nodes with the most time');
select * from finish();
rollback;
