-- SPDX-License-Identifier: Apache-2.0
-- Roles: who owns, writes and reads what fleetprof stores.
--
-- Each `fleetprof migrate` runs this file first, in a transaction of its own: Citus acts on workers as fleetprof_owner
-- through other connections, which see only committed roles. The file leaves existing roles unchanged. The first run
-- needs a superuser, or a role that may create roles and owns the database; later runs need only membership in
-- fleetprof_owner. Roles get no password: pg_hba.conf decides who may connect as whom.

do $$
declare
    wanted record;
    failed record;
    has_workers boolean := false;
    may_grant boolean := has_database_privilege(current_database(), 'create with grant option');
begin
    -- With Citus, workers have rights of their own. Workers may join after a run, so each run grants the rights again.
    if to_regclass('pg_catalog.pg_dist_node') is not null then
        execute 'select exists (select from pg_dist_node where groupid <> 0)' into has_workers;
    end if;
    -- A node that joins gets roles that were created while the extension was there, not older ones.
    if has_workers and (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
        for wanted in
            select rolname as name
            from pg_catalog.pg_roles
            where rolname in ('fleetprof_owner', 'fleetprof_writer', 'fleetprof_reader')
        loop
            -- Settings of Citus: each worker changes its own role.
            execute format(
                'select nodename, nodeport, result
                from run_command_on_workers(%L)
                where not success
                order by nodename, nodeport
                limit 1',
                format(
                    'do $do$ begin
                        set local citus.enable_create_role_propagation = off;
                        set local citus.enable_alter_role_propagation = off;
                        if not exists (select from pg_catalog.pg_roles where rolname = %1$L) then
                            create role %1$I login;
                        elsif not (select rolcanlogin from pg_catalog.pg_roles where rolname = %1$L) then
                            alter role %1$I login;
                        end if;
                    exception
                        -- A migration of another database may create it at the same time.
                        when duplicate_object or unique_violation then null;
                    end $do$', wanted.name))
            into failed;
            if failed.nodename is not null then
                raise exception 'role % on worker %:%: %', wanted.name, failed.nodename, failed.nodeport, failed.result;
            end if;
        end loop;
    end if;
    for wanted in
        select *
        from (values
            ('fleetprof_owner', 'nologin', 'Owns fleetprof''s schemas; migrations run as this role.'),
            ('fleetprof_writer', 'login', 'fleetprof''s collectors connect as this role.'),
            ('fleetprof_reader', 'login', 'May read everything that fleetprof stores; changes nothing.')
        ) as roles (name, may_login, about)
        where not exists (select from pg_catalog.pg_roles where rolname = roles.name)
    loop
        begin
            execute format('create role %I %s', wanted.name, wanted.may_login);
            execute format('comment on role %I is %L', wanted.name, wanted.about);
        exception
            -- Roles belong to the cluster: a migration of another database may create them at the same time.
            when duplicate_object or unique_violation then null;
        end;
    end loop;

    begin
        set local role fleetprof_owner;
        reset role;
    exception
        -- The creator of a role may administer it, but needs this grant to act as that role.
        when insufficient_privilege then execute format('grant fleetprof_owner to %I', current_user);
    end;
    -- Citus connects to workers as the role that acts, and the owner makes and drops partitions.
    if has_workers and not (select rolcanlogin from pg_catalog.pg_roles where rolname = 'fleetprof_owner') then
        alter role fleetprof_owner login;
    end if;
    -- Also grants rights that PUBLIC still has, because an administrator may revoke them from PUBLIC later.
    if may_grant
        or not has_database_privilege('fleetprof_owner', current_database(), 'create')
        or not has_database_privilege('fleetprof_owner', current_database(), 'temporary') then
        execute format('grant create, temporary on database %I to fleetprof_owner', current_database());
    end if;
    if may_grant
        or not has_database_privilege('fleetprof_writer', current_database(), 'connect')
        or not has_database_privilege('fleetprof_writer', current_database(), 'temporary') then
        execute format('grant connect, temporary on database %I to fleetprof_writer', current_database());
    end if;
    if may_grant or not has_database_privilege('fleetprof_reader', current_database(), 'connect') then
        execute format('grant connect on database %I to fleetprof_reader', current_database());
    end if;
end
$$;
