-- Bootstrap: the roles, the schema and the version table that all other files need.
--
-- `fleetprof migrate` runs this first, every time, in one transaction. It leaves what exists as it is. The first
-- run needs a superuser, or a role that may create roles and owns the database; later runs need only membership
-- in fleetprof_owner. Roles get no password: pg_hba.conf decides who may connect as whom.

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
            -- Roles belong to the cluster: a migration of another database may create them at the same time.
            when duplicate_object or unique_violation then null;
        end;
    end loop;

    begin
        set local role fleetprof_owner;
        reset role;
    exception
        -- The creator of a role may administer it, but needs this to act as it.
        when insufficient_privilege then execute format('grant fleetprof_owner to %I', current_user);
    end;
    if not has_database_privilege('fleetprof_owner', current_database(), 'create')
        or not has_database_privilege('fleetprof_owner', current_database(), 'temporary') then
        execute format('grant create, temporary on database %I to fleetprof_owner', current_database());
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
    name     text primary key,
    checksum text not null,
    objects  text[] not null,
    version  text not null,
    applied  timestamptz not null default now()
);

comment on table fleetprof.schema_version is 'The files of fleetprof''s schema that this database has; fleetprof migrate keeps it.';
comment on column fleetprof.schema_version.name is 'The file, below schema/ in the source: tables/…, functions/… or views/….';
comment on column fleetprof.schema_version.checksum is 'XXH3-64 of the file as it was applied.';
comment on column fleetprof.schema_version.objects is 'Functions and views that the file defines; empty for files of tables/.';
comment on column fleetprof.schema_version.version is 'Version of fleetprof that applied the file.';
comment on column fleetprof.schema_version.applied is 'When it was applied.';
