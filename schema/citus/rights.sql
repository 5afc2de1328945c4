-- SPDX-License-Identifier: Apache-2.0
-- Functions and rights that Citus does not copy to its nodes by itself.
--
-- `fleetprof migrate` runs this as fleetprof_owner at the end of each migration of a distributed database. Workers that
-- joined later have functions that everybody may execute, and views that nobody may read.

do $$
declare
    thing record;
begin
    for thing in
        select
            oid::regprocedure as name,
            exists (select from aclexplode(coalesce(proacl, acldefault('f', proowner))) where grantee = 0) as is_public
        from pg_proc
        where pronamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace) and prokind = 'f'
        order by oid
    loop
        perform create_distributed_function(thing.name)
        where not exists (
            select from pg_dist_object where classid = 'pg_proc'::regclass and objid = thing.name);
        if not thing.is_public then
            execute format('revoke execute on function %s from public', thing.name);
        end if;
    end loop;

    for thing in
        select privilege_type, 'function ' || pg_proc.oid::regprocedure as name, grantee
        from pg_proc
        cross join aclexplode(proacl)
        where pronamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace)
            and prokind = 'f'
            and grantee not in (0, proowner)
        union all
        select privilege_type, pg_class.oid::regclass::text, grantee
        from pg_class
        cross join aclexplode(relacl)
        where relnamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace)
            and relkind = 'v'
            and grantee not in (0, relowner)
        union all
        select privilege_type, 'schema ' || nspname, grantee
        from pg_namespace
        cross join aclexplode(nspacl)
        where nspname in ('fleetprof', 'fleetprof_data') and grantee not in (0, nspowner)
    loop
        execute format('grant %s on %s to %s', thing.privilege_type, thing.name, thing.grantee::regrole);
    end loop;

    -- Parameters reach workers as text in the caller's style of dates, which workers read in their own.
    for thing in
        select pg_proc.oid::regprocedure as name
        from pg_proc
        join pg_language on pg_language.oid = prolang
        where pronamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace)
            and lanname = 'plpgsql'
            and not coalesce(proconfig, '{}') @> '{"DateStyle=ISO, YMD"}'
        order by pg_proc.oid
    loop
        execute format('alter function %s set datestyle = ''ISO, YMD''', thing.name);
    end loop;

    -- This function reads only dictionaries, which are on each node.
    if to_regprocedure('fleetprof_data.stack_path(bigint)') is not null then
        alter function fleetprof_data.stack_path(bigint) set citus.allow_nested_distributed_execution = on;
    end if;
end
$$;
