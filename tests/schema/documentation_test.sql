-- SPDX-License-Identifier: Apache-2.0
-- Documentation: every object has a comment; what users rely on has an entry in docs/sql.md with its columns.
\ir fixture.inc
set local search_path = pgtap, pg_catalog;

\set manual `cat ../../docs/sql.md`
\set examples `cat ../../docs/*.md`
\set citus `cat ../../docs/citus.md`
\set placed `grep -o '{[a-z_,]*}' ../../schema/citus/distribute.sql`
-- Without the marks of blocks that tools/reference.mjs writes.
create temp table manual as select regexp_replace(:'manual', E'<!-- [^\n]* -->\n', '', 'g') as page;
-- The entry of an object: from its heading to the next one.
create function pg_temp.entry(name text)
returns text
language sql
return (
    select substring(section from 1 for coalesce(nullif(position(E'\n##' in section), 0), length(section)))
    from (select split_part(page, format(E'\n### `%s`\n', name), 2) as section from manual) as rest
);

create temp table object as
select proname::text as name, 'function' as type, oid, 'pg_proc'::regclass as catalog, pronamespace::regnamespace as schema
from pg_proc
union all
select relname, case relkind when 'v' then 'view' else 'table' end, oid, 'pg_class', relnamespace::regnamespace
from pg_class where relkind in ('v', 'r', 'p') and not relispartition
union all
select typname, 'type', pg_type.oid, 'pg_type', typnamespace::regnamespace
from pg_type
left join pg_class on pg_class.oid = typrelid
where typtype in ('e', 'c') and coalesce(relkind, 'c') = 'c';
delete from object where schema not in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace);

-- Columns of what a query of the object gives, and parameters that are not among the filters.
create temp table member as
select object.name, attname::text as member
from object
join pg_attribute on attrelid = object.oid and attnum > 0 and not attisdropped
where schema = 'fleetprof'::regnamespace and catalog = 'pg_class'::regclass
union all
select object.name, argument
from object
join pg_proc using (oid)
cross join unnest(proargnames) as argument
where schema = 'fleetprof'::regnamespace
union all
select object.name, attname::text
from object
join pg_proc using (oid)
join pg_type on pg_type.oid = prorettype
join pg_attribute on attrelid = typrelid and attnum > 0
where schema = 'fleetprof'::regnamespace;

select plan(8);
select cmp_ok((select count(*) from object)::integer, '>=', 30, 'the objects are found');
select is_empty(
    $$ select format('%s %s.%s', type, schema, name) from object where coalesce(obj_description(oid, catalog::text::name), '') = '' $$,
    'every object has a comment');
select is_empty(
    $$ select format('%s %s', type, name) from object where schema = 'fleetprof'::regnamespace and pg_temp.entry(name) = '' $$,
    'every object of schema fleetprof has an entry in docs/sql.md');
-- Filters and dimensions are explained once, for all.
select is_empty(
    $$ select name, member from member
       where pg_temp.entry(name) !~ format('`%s`|\m%s (integer|double precision) =', member, member)
           and (select split_part(split_part(page, E'\n## Filters', 2), E'\n## ', 1) from manual) !~ format('\n\| `%s` ', regexp_replace(member, '^(exclude|before|after)_', ''))
           and (select split_part(split_part(page, E'\n## Views', 2), E'\n### ', 1) from manual) !~ format('`%s`', member) $$,
    'every column and parameter is explained there');
-- A function's heading says which filters it takes.
create temp table filtered as
select
    proname::text as name,
    regexp_replace((regexp_match(pg_temp.entry(proname), format('^\s*`%s\(([^`]*)\)`', proname)))[1], '\s+', ' ', 'g') as heading,
    case
        when 'exclude_marker' = any(proargnames) then 'filters'
        when 'exclude_release' = any(proargnames) then 'filters without marker'
        else 'filters without release and marker'
    end as filters,
    'exclude_navigation' = any(proargnames) as has_navigation
from pg_proc
where pronamespace = 'fleetprof'::regnamespace and 'exclude_route' = any(proargnames);
select cmp_ok((select count(*) from filtered)::integer, '>=', 30, 'functions with filters are found');
select is_empty(
    $$ select name, heading, filters from filtered
       where (regexp_match(heading, 'filters(?: without [a-z ]*)?'))[1] is distinct from filters
           or heading ~ 'filters[^(]*, navigation\M' is distinct from has_navigation $$,
    'the heading of each says which it takes');
-- The clock of a zone with half hours begins its hours in the middle of two.
select ok(position('date_trunc(''hour'', now())' in :'examples') = 0, 'queries in the manual begin hours as buckets do');
select is_empty(
    format(
        $$ select relation from regexp_split_to_table(%L, '[^a-z_]+') as relation
           where relation not in ('', 'total_recent') and position('`' || relation || '`' in %L) = 0 $$, :'placed', :'citus'),
    'each table that is placed on nodes by its name is in docs/citus.md');

select * from finish();
rollback;
