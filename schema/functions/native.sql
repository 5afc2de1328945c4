-- SPDX-License-Identifier: Apache-2.0
-- The optional extension fleetprof_native (native/), which adds packed rows up faster than SQL.

create or replace function fleetprof_data.native_version()
returns text
language sql immutable parallel safe
as $$
    select '1'
$$;

comment on function fleetprof_data.native_version is
    'Returns the version of the extension fleetprof_native that this schema uses.';

create or replace function fleetprof_data.has_native()
returns boolean
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    installed text := (select extversion from pg_extension where extname = 'fleetprof_native');
begin
    if installed is null or lower(current_setting('fleetprof.native', true)) = any('{off,false,no,0}') then
        return false;
    end if;
    -- Citus sums on its workers what it knows, and no aggregates of extensions.
    if to_regclass('pg_catalog.pg_dist_partition') is not null then
        return false;
    end if;
    if installed <> native_version() then
        raise log using
            message = format('fleetprof_native is version %s, this schema uses %s: sums are those of SQL', installed, native_version()),
            hint = 'fleetprof migrate updates schema and extension.';
        return false;
    end if;
    return true;
end
$$;

comment on function fleetprof_data.has_native is
    'True if the extension fleetprof_native is there, has the version that this schema uses, and is not turned off by the setting fleetprof.native. On Citus it is not used. Both ways have the same answers.';

revoke execute on function fleetprof_data.native_version, fleetprof_data.has_native from public;
grant execute on function fleetprof_data.native_version, fleetprof_data.has_native to fleetprof_reader;
-- `fleetprof status` may ask as the collector.
grant execute on function fleetprof_data.native_version to fleetprof_writer;
