-- SPDX-License-Identifier: Apache-2.0
-- Function tables: added, listed, removed (`fleetprof sourcemap`), and forgotten with their scripts.

create or replace function fleetprof_data.add_function_table(
    resource_id   bigint,
    site          text,
    url           text,
    release       text,
    functions     jsonb,
    out stored    bigint,
    out named     bigint,
    out is_new    boolean
)
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    most_functions constant bigint := 10000000;
    least_stored constant integer := 3;
    own_checksum bigint := hashtextextended(add_function_table.functions::text, 0);
    own_count integer := jsonb_array_length(add_function_table.functions);
    known record;
    kept bigint;
begin
    select release, checksum into known from function_table where resource_id = add_function_table.resource_id;
    is_new := known is null;
    if known.checksum <> own_checksum then
        raise object_not_in_prerequisite_state using
            message = format('%s has another function table already%s', add_function_table.url,
                case when known.release <> '' then format(', of release %s', known.release) end),
            detail = 'A URL that holds another script in each release cannot be told apart.',
            hint = 'Put a hash into the names of scripts; or remove that table first (fleetprof sourcemap remove).';
    end if;
    if is_new then
        kept := (select coalesce(sum(functions), 0) from function_table where site = add_function_table.site);
        if kept + own_count > most_functions then
            raise program_limit_exceeded using
                message = format('site %s would have %s functions in its tables; at most %s are kept', add_function_table.site,
                    kept + own_count, most_functions),
                hint = 'Remove the tables of old releases (fleetprof sourcemap remove).';
        end if;
        insert into function_table (resource_id, site, url, release, functions, checksum)
        values (
            add_function_table.resource_id, add_function_table.site, add_function_table.url, add_function_table.release,
            own_count, own_checksum);
        insert into original_function (
            resource_id, line, column_number, function, source, source_line, source_column, package, is_ignored)
        select
            add_function_table.resource_id, (row ->> 0)::integer, (row ->> 1)::integer, row ->> 2, row ->> 3,
            (row ->> 4)::integer, (row ->> 5)::integer, row ->> 6, (row ->> 7)::boolean
        from jsonb_array_elements(add_function_table.functions) as row;
    end if;

    -- A function begins at the position that its table gives. Code outside of functions begins with the script.
    select count(*), count(source)
    into stored, named
    from frame
    left join original_function using (resource_id, line, column_number)
    where resource_id = add_function_table.resource_id and kind = 'function' and (line, column_number) <> (1, 1);
    -- A script of a bundler's own code has a table without functions.
    if own_count > 0 and stored >= least_stored and named < stored / 2.0 then
        raise data_exception using
            message = format('the function table of %s is of another build', add_function_table.url),
            detail = format('Of its %s stored functions, %s begin where the table says.', stored, named),
            hint = 'Make the table from the script that is deployed, and its own source map.';
    end if;
end
$$;

comment on function fleetprof_data.add_function_table is
    'Adds the function table of a script, unless it is there. functions: an array of [line, column, name or null, source, line and column in it, package, is it ignored]. stored: functions of the script that browsers have run; named: those that the table names; is_new: the table was not there. Raises an error, with the reason, for a table of another build.';

create or replace function fleetprof_data.remove_function_tables(site text, release text, url text)
returns bigint
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    doomed bigint[] := array(
        select resource_id
        from function_table
        where site = remove_function_tables.site
            and matches(release, remove_function_tables.release)
            and matches(url, remove_function_tables.url));
begin
    delete from original_function where resource_id = any(doomed);
    delete from function_table where resource_id = any(doomed);
    return cardinality(doomed);
end
$$;

comment on function fleetprof_data.remove_function_tables is
    'Removes the function tables of a site that match a release and a URL (null: all); returns how many.';

create or replace function fleetprof_data.prune_function_tables(age interval)
returns bigint
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    doomed bigint[] := array(
        select resource_id
        from function_table
        where added < now() - prune_function_tables.age
            and not exists (select from resource where resource.resource_id = function_table.resource_id)
        -- The next housekeeping removes more.
        limit 1000);
begin
    delete from original_function where resource_id = any(doomed);
    delete from function_table where resource_id = any(doomed);
    return cardinality(doomed);
end
$$;

comment on function fleetprof_data.prune_function_tables is
    'Removes function tables that are older than this and whose scripts no stored frame needs; returns how many.';

revoke execute on function
    fleetprof_data.add_function_table, fleetprof_data.remove_function_tables, fleetprof_data.prune_function_tables
from public;
grant execute on function
    fleetprof_data.add_function_table, fleetprof_data.remove_function_tables, fleetprof_data.prune_function_tables
to fleetprof_writer;
