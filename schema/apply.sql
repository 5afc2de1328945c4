-- SPDX-License-Identifier: Apache-2.0
-- Applies the files of functions/ and views/ that the database lacks or has in another form.
--
-- `fleetprof migrate` runs this file in its transaction as fleetprof_owner, fills pg_temp.definition with all files in
-- the order of schema/order, and calls pg_temp.apply_definitions(). Everything here is temporary.
--
-- `create or replace` keeps an object's identity: views of users that read it stay, and so do rights that they granted.
-- It cannot change result columns or parameters. In that case the objects of the file are dropped and created again,
-- together with our own objects that depend on them, and rights that users granted are granted again. A user's object
-- is never dropped: the migration ends with an error that names it.

create temp table definition (
    place    integer generated always as identity primary key,
    name     text not null unique, -- functions/….sql or views/….sql
    checksum text not null,
    objects  text[] not null,      -- such as 'function fleetprof.hotspots'
    body     text not null
) on commit drop;

-- All objects that the database recorded before, and all of pg_temp.definition.
create temp table own_object (object text) on commit drop;

-- Rights that users granted on what is dropped.
create temp table given_right (object text, statement text) on commit drop;

-- Returns the functions and views with these names, overloads included.
create function pg_temp.find_objects(objects text[])
returns table (object text, catalog regclass, id oid, acl aclitem[])
language sql stable
as $$
    select object, 'pg_proc'::regclass, oid, proacl
    from unnest(objects) as object
    join pg_proc on object = format('function %s.%s', pronamespace::regnamespace, proname)
    where proowner = 'fleetprof_owner'::regrole
    union all
    select object, 'pg_class'::regclass, oid, relacl
    from unnest(objects) as object
    join pg_class on object = format('view %s.%s', relnamespace::regnamespace, relname)
    where relkind = 'v'
$$;

-- True if each of these names has exactly one object.
create function pg_temp.are_whole(objects text[])
returns boolean
language sql stable
as $$
    select count(id) = cardinality(objects) and count(distinct object) = cardinality(objects)
    from pg_temp.find_objects(objects)
$$;

-- Drops these objects, and our own that depend on them.
create function pg_temp.drop_objects(objects text[])
returns void
language plpgsql
as $$
declare
    foreign_objects text;
    views text;
    functions text;
begin
    create temp table doomed on commit drop as
    with recursive dependent (catalog, id) as (
        select catalog::oid, id from pg_temp.find_objects(drop_objects.objects)
        union
        -- A view depends on what it reads through its rule.
        select case when ev_class is null then classid else 'pg_class'::regclass end, coalesce(ev_class, objid)
        from dependent
        join pg_depend on refclassid = catalog and refobjid = id
        left join pg_rewrite on classid = 'pg_rewrite'::regclass and pg_rewrite.oid = objid
    )
    select dependent.catalog, dependent.id, object, acl
    from dependent
    left join pg_temp.find_objects(array(select object from own_object)) as own
        on own.catalog = dependent.catalog and own.id = dependent.id;

    select string_agg(case when place <= 5 then name else 'others' end, ', ' order by place)
    into foreign_objects
    from (
        select
            pg_describe_object(catalog, id, 0) as name,
            row_number() over (order by pg_describe_object(catalog, id, 0)) as place
        from doomed
        left join pg_type on catalog = 'pg_type'::regclass and pg_type.oid = id
        left join pg_class on catalog = 'pg_class'::regclass and pg_class.oid = id
        where object is null
            -- Row types and indexes belong to another object of the list.
            and coalesce(typtype = 'd', true)
            and coalesce(relkind not in ('i', 'I', 't'), true)
        order by place
        limit 6
    ) as dependents;
    if foreign_objects is not null then
        raise dependent_objects_still_exist using
            message = format(
                'your own objects depend on what this version drops, or on columns or parameters that it changes: %s; '
                'save their definitions (pg_dump --schema-only), drop them, migrate, create them again', foreign_objects);
    end if;

    insert into given_right
    select
        object,
        format('grant %s on %s to %s%s', privilege_type, regexp_replace(object, '^view', 'table'), grantee::regrole,
            case when is_grantable then ' with grant option' else '' end)
    from doomed
    cross join aclexplode(acl)
    where grantee not in (0, 'fleetprof_owner'::regrole, 'fleetprof_reader'::regrole, 'fleetprof_writer'::regrole);

    select
        string_agg(id::regclass::text, ', ') filter (where catalog = 'pg_class'::regclass),
        string_agg(id::regprocedure::text, ', ') filter (where catalog = 'pg_proc'::regclass)
    into views, functions
    from doomed
    where object is not null;
    drop table doomed;
    if views is not null then
        execute 'drop view ' || views;
    end if;
    if functions is not null then
        execute 'drop function ' || functions;
    end if;
end
$$;

-- Runs one file and records it.
create function pg_temp.apply_definition(file pg_temp.definition, version text)
returns void
language plpgsql
as $$
begin
    begin
        execute file.body;
        if not pg_temp.are_whole(file.objects) then
            -- With a changed parameter list, the file creates a second function of the same name.
            raise invalid_function_definition using message = file.name || ' leaves two functions of one name';
        end if;
    exception
        when invalid_function_definition or invalid_table_definition or ambiguous_function then
            perform pg_temp.drop_objects(file.objects);
            execute file.body;
    end;
    insert into fleetprof.schema_version (name, checksum, objects, version)
    values (file.name, file.checksum, file.objects, apply_definition.version)
    on conflict (name) do update
    set checksum = excluded.checksum, objects = excluded.objects, version = excluded.version, applied = excluded.applied;
end
$$;

-- Brings functions and views to the form of pg_temp.definition. Returns what it did, one row each. repairs: also those
-- that are recorded in this form, in case somebody has changed them or taken rights away.
create function pg_temp.apply_definitions(version text, repairs boolean)
returns table (action text, what text)
language plpgsql
as $$
declare
    file pg_temp.definition;
    vanished text[];
    statement text;
begin
    insert into own_object
    select unnest(recorded.objects) from fleetprof.schema_version as recorded
    union
    select unnest(definition.objects) from pg_temp.definition;
    vanished := array(
        select object from own_object
        except
        select unnest(definition.objects) from pg_temp.definition);

    -- Dropping an object also drops our objects that depend on it. Their files come later in the order, unless this
    -- upgrade changes the order. A second pass creates those.
    for pass in 1..2 loop
        for file in
            select definition.* from pg_temp.definition order by place
        loop
            continue when pg_temp.are_whole(file.objects) and (pass = 2 or not repairs) and exists (
                select from fleetprof.schema_version as recorded
                where recorded.name = file.name and recorded.checksum = file.checksum);
            action := coalesce((
                select case when repairs and recorded.checksum = file.checksum then 'repaired' else 'changed' end
                from fleetprof.schema_version as recorded where recorded.name = file.name), 'created');
            what := file.name;
            perform pg_temp.apply_definition(file, apply_definitions.version);
            return next;
        end loop;
    end loop;

    return query select 'dropped', object from pg_temp.find_objects(vanished);
    perform pg_temp.drop_objects(vanished);
    delete from fleetprof.schema_version as recorded
    where recorded.name not like 'tables/%' and recorded.name not in (select definition.name from pg_temp.definition);

    for statement in
        select given_right.statement from pg_temp.given_right where pg_temp.are_whole(array[object])
    loop
        execute statement;
    end loop;
end
$$;
