-- SPDX-License-Identifier: Apache-2.0
-- This server's role in Citus; only where the extension citus is installed.

select case
    when (select groupid from pg_dist_local_group) <> 0 then 'worker'
    when exists (select from pg_dist_partition where logicalrelid = to_regclass('fleetprof_data.upload_id')) then 'distributed'
    when exists (select from pg_dist_node where groupid = 0) then 'coordinator'
    else 'unregistered'
end
