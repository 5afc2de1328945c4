-- Scripts whose functions have their original names.

create or replace view fleetprof.function_tables with (security_invoker = true) as
select site, release, url, functions, added
from fleetprof_data.function_table;

comment on view fleetprof.function_tables is
    'Scripts that have a function table: their functions are shown with original name, source and line. fleetprof sourcemap add writes them.';
comment on column fleetprof.function_tables.release is 'Release that it was added for; empty: none was named.';
comment on column fleetprof.function_tables.url is 'URL of the script.';
comment on column fleetprof.function_tables.functions is 'Functions in the table.';
comment on column fleetprof.function_tables.added is 'When it was added.';

grant select on fleetprof.function_tables to fleetprof_reader, fleetprof_writer;
