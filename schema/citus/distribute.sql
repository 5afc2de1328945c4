-- SPDX-License-Identifier: Apache-2.0
-- Distribution: the statements that place fleetprof's tables and functions on the nodes of Citus.
--
-- `fleetprof migrate --citus` runs this query as fleetprof_owner, and then each statement that it returns in a
-- transaction of its own, as far as tables are not distributed yet. The tables that a flush writes are distributed by
-- a column that their primary keys begin with. Partitions follow their tables.

with place (position, tables, distributed_by, beside) as (
    values
        -- Small tables, and those that all queries join: a copy on each node.
        (1, '{segment,resource,frame,stack,timing,cohort,cohort_level,sealed,horizon,retention_clock,script_template,ignored_code,first_party,code_owner,performance_budget,function_table,original_function,source_link_template,site_timezone,kept_bytes}'::name[], null, null),
        (2, '{spool_position}', 'spool_id', 'none'),
        (3, '{long_session,unsealed}', 'spool_id', 'fleetprof_data.spool_position'),
        (4, '{upload_id}', 'upload_id', 'none'),
        (4, '{load_id}', 'load_id', 'none'),
        (4, '{vital}', 'vital_id', 'none'),
        (5, '{total_recent}', 'group_id', 'none'),
        (6, '{upload,refusal,session,timeline,event}', 'segment_id', 'fleetprof_data.total_recent'),
        -- All others hold packed facts.
        (7, null, 'group_id', 'fleetprof_data.total_recent'),
        -- One row each, for collectors alone, which connect to the coordinator. A turn begins by writing its row as the
        -- collector's role. After that, the owner's functions may not touch tables with copies in the same transaction.
        (9, '{turn,draw_secret}', null, null)
),
placed as (
    select place.position, format('fleetprof_data.%I', relname) as name, distributed_by, beside, partition.logicalrelid as distributed
    from pg_class
    join place on relname = any (place.tables)
        or place.tables is null and not exists (select from place as named where relname = any (named.tables))
    left join pg_dist_partition as partition on partition.logicalrelid = pg_class.oid
    where relnamespace = 'fleetprof_data'::regnamespace and relkind in ('r', 'p') and not relispartition
),
step (position, name, about, statement) as (
    -- Views go to the nodes with the last of their tables. The functions in them must be there before.
    select distinct 0, null, null, format('select create_distributed_function(%L)', pg_proc.oid::regprocedure)
    from pg_depend
    join pg_proc on refclassid = 'pg_proc'::regclass and refobjid = pg_proc.oid
    where classid = 'pg_rewrite'::regclass
        and pronamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace)
        and not exists (
            select from pg_dist_object as known where known.classid = 'pg_proc'::regclass and known.objid = pg_proc.oid)
    union all
    select
        position,
        name,
        case when distributed_by is null then format('copied %s to each node', name)
            else format('distributed %s by %s', name, distributed_by) end,
        case when distributed_by is null then format('select create_reference_table(%L)', name)
            else format('select create_distributed_table(%L, %L, colocate_with => %L)', name, distributed_by, beside) end
    from placed
    where distributed is null and position < 9
    union all
    -- Citus creates a new table without the comments.
    select
        position,
        name,
        format('moved %s to the coordinator', name),
        format('select undistribute_table(%L); comment on table %s is %L; ', name, name, obj_description(distributed, 'pg_class'))
            || string_agg(format('comment on column %s.%I is %L', name, attname, col_description(distributed, attnum)), '; ')
    from placed
    join pg_attribute on attrelid = distributed and attnum > 0 and not attisdropped
    where position = 9
    group by position, name, distributed
    union all
    -- Rows from before are still on the coordinator's disk, where queries do not see them.
    select 8, name, null, format('select truncate_local_data_after_distributing_table(%L)', name)
    from placed
    where position < 9 and (distributed is null
        or exists (
            select
            from (select name::regclass union all select inhrelid from pg_inherits where inhparent = name::regclass) as part (id)
            where pg_relation_size(part.id) > 0))
)
select about, statement from step order by position, name
