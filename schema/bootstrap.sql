-- SPDX-License-Identifier: Apache-2.0
-- Bootstrap: the schema and the version table that all other files need.
--
-- Each `fleetprof migrate` runs this file after roles.sql, in a transaction of its own. The file leaves existing
-- objects unchanged.

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
