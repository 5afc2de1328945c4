-- SPDX-License-Identifier: Apache-2.0
-- Finds the object of the schema that refuses a collector's rows. Collectors run this query after a refusal; it reads
-- only the catalogue, so it works even when tables have been changed.
--
-- $1: SQLSTATE; $2 schema, $3 table, $4 column, $5 constraint, $6 data type: as the error named them, '' if it did not;
-- $7: the functions in which it happened; $8: fleetprof's own objects (schema/objects); $9: true if $8 has this
-- version.
--
-- Returns at most one row: true if surely no record is at fault; the object that refuses; its table; a statement that
-- removes the cause.
with recursive
own as (
    select line, split_part(line, ' ', 1) || ' ' || split_part(line, ' ', 2) as key
    from unnest(string_to_array($8::text, E'\n')) as line
),
-- Citus adds a number to the names of shards.
given as (
    select
        left($1::text, 2) as class,
        array[$3::text, regexp_replace($3::text, '_\d{5,}$', '')] as tables,
        array[$5::text, regexp_replace($5::text, '_\d{5,}$', '')] as names
),
ours as (
    select oid, relname, relispartition, format('%I.%I', 'fleetprof_data', relname) as name
    from pg_class
    where relnamespace = to_regnamespace('fleetprof_data') and relkind in ('r', 'p')
),
-- The table that refused, and its partitioned parents.
refusing as (
    select family.oid, relname, relispartition, format('%I.%I', nspname, relname) as name
    from (
        select part.oid from pg_class part join pg_namespace on pg_namespace.oid = relnamespace, given
        where nspname = $2::text and relname = any(tables)
        union
        select relid from pg_class part join pg_namespace on pg_namespace.oid = relnamespace, given, pg_partition_ancestors(part.oid)
        where nspname = $2::text and relname = any(tables)
    ) as family
    join pg_class on pg_class.oid = family.oid
    join pg_namespace on pg_namespace.oid = relnamespace
),
foreign_trigger as (
    select
        format('trigger %I (function %I.%I)', tgname, nspname, proname) as object, ours.name as place,
        format('drop trigger %I on %s', tgname, ours.name) as remedy,
        strpos(' ' || $7::text, ' ' || proname || '(') > 0 or strpos($7::text, '.' || proname || '(') > 0
        or strpos($7::text, '"' || proname || '"') > 0 as is_named
    from pg_trigger
    join ours on ours.oid = tgrelid
    join pg_proc on pg_proc.oid = tgfoid
    join pg_namespace on pg_namespace.oid = pronamespace
    where not tgisinternal and tgparentid = 0
),
named_constraint as (
    select pg_constraint.oid, conname, conrelid, conparentid
    from pg_constraint, given
    where conrelid in (select oid from refusing) and conname = any(names)
    union
    select parent.oid, parent.conname, parent.conrelid, parent.conparentid
    from named_constraint
    join pg_constraint parent on parent.oid = named_constraint.conparentid
),
named_index as (
    select distinct coalesce(pg_partition_root(indexrelid), indexrelid) as oid
    from pg_index
    join pg_class on pg_class.oid = indexrelid, given
    where indrelid in (select oid from refusing) and relname = any(names)
),
any_column as (
    select
        attname, name as place, attgenerated, attidentity, atthasdef, format_type(atttypid, atttypmod) as type,
        replace(substr(line, length(key) + 2), ' not null', '') as made -- null: somebody else made it
    from ours
    join pg_attribute on attrelid = oid
    left join own on key = format('column %s.%s', relname, attname)
    where attnum > 0 and not attisdropped and not relispartition
),
-- Expressions that every row must pass.
computed as (
    select format('generated column %I', attname) as object, place, format('alter table %s alter column %I drop expression', place, attname) as remedy
    from any_column
    where made is null and attgenerated <> ''
    union all
    select format('identity column %I', attname), place, format('alter table %s alter column %I drop identity', place, attname)
    from any_column
    where attidentity <> ''
    union all
    select format('default of column %I', attname), place, format('alter table %s alter column %I drop default', place, attname)
    from any_column
    where made is null and atthasdef and attgenerated = ''
    union all
    select format('type of column %I', attname), place, format('alter table %s alter column %I type %s', place, attname, made)
    from any_column
    where made <> type
    union all
    select format('constraint %I', conname), name, format('alter table %s drop constraint %I', name, conname)
    from pg_constraint
    join ours on ours.oid = conrelid
    where contype in ('c', 'x') and conparentid = 0 and coninhcount = 0
        and format('constraint %s.%s', relname, conname) not in (select line from own)
    union all
    select format('index %I', entry.relname), name, format('drop index fleetprof_data.%I', entry.relname)
    from pg_index
    join ours on ours.oid = indrelid
    join pg_class entry on entry.oid = indexrelid
    where (indexprs is not null or indpred is not null) and not entry.relispartition
        and not exists (select from pg_constraint where conindid = indexrelid)
        and format('index %s.%s', ours.relname, entry.relname) not in (select line from own)
),
candidate as (
    select 1 as rank, class <> '22' as is_certain, object, place, remedy
    from foreign_trigger, given
    where is_named
    union all
    (
        select
            2, not is_own, format('constraint %I', conname), name,
            case when not is_own then format('alter table %s drop constraint %I', name, conname) end
        from named_constraint
        join refusing on refusing.oid = conrelid,
            lateral (select format('constraint %s.%s', relname, conname) in (select line from own) as is_own) as made
        order by relispartition
        limit 1
    )
    union all
    select
        2, true, format('constraint %I', conname), format('%I.%I', nspname, typname),
        format('alter domain %I.%I drop constraint %I', nspname, typname, conname)
    from pg_constraint
    join pg_type on pg_type.oid = contypid
    join pg_namespace on pg_namespace.oid = typnamespace, given
    where conname = any(names) and nspname = $2::text and typname = $6::text
    union all
    select
        3, not is_own, format('index %I', entry.relname), owner.name,
        case when not is_own then format('drop index %I.%I', nspname, entry.relname) end
    from named_index
    join pg_class entry on entry.oid = named_index.oid
    join pg_namespace on pg_namespace.oid = entry.relnamespace
    join pg_index on indexrelid = entry.oid
    join refusing owner on owner.oid = indrelid,
        lateral (select format('index %s.%s', owner.relname, entry.relname) in (select line from own) as is_own) as made
    union all
    (
        select
            4, true, format('column %I, not null', $4::text), name,
            case when format('column %s.%s %s not null', relname, attname, format_type(atttypid, atttypmod)) not in (select line from own)
            then format('alter table %s alter column %I drop not null', name, attname) end
        from refusing
        join pg_attribute on attrelid = oid
        where $1::text = '23502' and attname = $4::text
        order by relispartition
        limit 1
    )
    union all
    select 5, true, format('constraint %I', $5::text), coalesce((select name from refusing where not relispartition), 'a table'), null
    from given
    where class = '23' and $5::text <> ''
    union all
    select 6, true, object, place, remedy
    from computed, given
    where $9::boolean and (class = '22' or $1::text in ('428C9', '42804'))
    union all
    -- An error in a function that is not in PL/pgSQL may not say where it happened.
    select 7, false, object, place, remedy
    from foreign_trigger, given
    where class in ('21', '22', '23', '27', '38', '39', '44', '2F', 'P0')
)
select bool_and(is_certain), string_agg(distinct object, ', '), string_agg(distinct place, ', '), coalesce(string_agg(distinct remedy, '; '), '')
from candidate
group by rank
order by rank
limit 1
