-- SPDX-License-Identifier: Apache-2.0
-- Scripts whose functions have their original names.

create or replace view fleetprof.function_tables with (security_invoker = true) as
select site, release, url, functions, added
from fleetprof_data.function_table;

-- {{comments of function_tables}}

grant select on fleetprof.function_tables to fleetprof_reader, fleetprof_writer;
