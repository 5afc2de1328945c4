-- SPDX-License-Identifier: Apache-2.0
-- callers and callees where functions recur: counted from the samples' paths, a call once per sample.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, release) values (1, 'v1');
select setseed(0.4);
insert into sample (segment_id, us, marker, path)
select 1, 1000 + number, '(none)', array_agg(substr('abcd', 1 + floor(4 * random())::integer, 1) order by level)
from generate_series(1, 150) as number
cross join lateral generate_series(1, 1 + number % 40) as level
group by number;
select pg_temp.store() \g /dev/null

select plan(3);

create temp table call as
select us, path[level - 1] as caller, path[level] as callee
from sample
cross join lateral generate_series(1, cardinality(path)) as level
group by us, caller, callee;

create temp table counted (name, of_callers, function, total_ms) as
select wanted, true, coalesce(caller, '(root)'), sum(us) / 1000.0
from (select distinct wanted, us, caller from call join (values ('a'), ('b'), ('%')) as name (wanted) on callee like wanted) as once
group by wanted, caller
union all
select wanted, false, callee, sum(us) / 1000.0
from (select distinct wanted, us, callee from call join (values ('a'), ('b'), ('%')) as name (wanted) on caller like wanted) as once
group by wanted, callee;

create temp table asked as
select name, true as of_callers, function, total_ms
from (values ('a'), ('b'), ('%')) as name (name)
cross join lateral callers(name, 'shop', '2026-01-05Z', '2026-01-06Z')
union all
select name, false, function, total_ms
from (values ('a'), ('b'), ('%')) as name (name)
cross join lateral callees(name, 'shop', '2026-01-05Z', '2026-01-06Z')
where function <> '(self)';

select is((select count(*) from counted), 27::bigint, 'three names have callers and callees');
select is_empty(
    $$ (select name, of_callers, function, total_ms::numeric(12, 3) from counted
        except select name, of_callers, function, total_ms::numeric(12, 3) from asked) $$, 'each call of the paths is an answer');
select is_empty(
    $$ (select name, of_callers, function, total_ms::numeric(12, 3) from asked
        except select name, of_callers, function, total_ms::numeric(12, 3) from counted) $$, 'each answer is a call of the paths');

select * from finish();
rollback;
