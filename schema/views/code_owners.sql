-- SPDX-License-Identifier: Apache-2.0
-- Patterns of owners, as their CODEOWNERS files have them.

create or replace view fleetprof.code_owners with (security_invoker = true) as
select site, line, pattern, owner
from fleetprof_data.code_owner;

-- {{comments of code_owners}}

grant select on fleetprof.code_owners to fleetprof_reader, fleetprof_writer;
