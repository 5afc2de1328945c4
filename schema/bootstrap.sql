-- Bootstrap: the roles, the schema and the version table that the numbered migrations stand on.
--
-- `fleetprof migrate` runs this first, every time, in one transaction; what is there is left as it is. It
-- needs a superuser, or a role that may create roles and owns the database; later runs need no more than
-- membership in fleetprof_owner. Roles get no password: pg_hba.conf decides who may connect as whom.

do $$
declare
    wanted record;
begin
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
            -- Roles belong to the cluster: a migration of another database may have been faster.
            when duplicate_object or unique_violation then null;
        end;
    end loop;

    begin
        set local role fleetprof_owner;
        reset role;
    exception
        -- Whoever creates a role may administer it, but not act as it without this.
        when insufficient_privilege then execute format('grant fleetprof_owner to %I', current_user);
    end;
    if not has_database_privilege('fleetprof_owner', current_database(), 'create') then
        execute format('grant create on database %I to fleetprof_owner', current_database());
    end if;
    if not has_database_privilege('fleetprof_writer', current_database(), 'connect')
        or not has_database_privilege('fleetprof_writer', current_database(), 'temporary') then
        execute format('grant connect, temporary on database %I to fleetprof_writer', current_database());
    end if;
    if not has_database_privilege('fleetprof_reader', current_database(), 'connect') then
        execute format('grant connect on database %I to fleetprof_reader', current_database());
    end if;
end
$$;

set local role fleetprof_owner;
set local client_min_messages = warning;

create schema if not exists fleetprof;

create table if not exists fleetprof.schema_version (
    number   integer primary key,
    name     text not null,
    checksum text not null,
    applied  timestamptz not null default now()
);

comment on table fleetprof.schema_version is 'The migrations this database has; fleetprof migrate keeps it.';
comment on column fleetprof.schema_version.number is 'The number the migration''s file name begins with.';
comment on column fleetprof.schema_version.name is 'The migration''s file name.';
comment on column fleetprof.schema_version.checksum is 'XXH3-64 of the file as it was applied; a landed migration never changes.';
comment on column fleetprof.schema_version.applied is 'When it was applied.';
