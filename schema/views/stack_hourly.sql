-- SPDX-License-Identifier: Apache-2.0
-- Samples per stack, hour, segment and marker.

create or replace view fleetprof.stack_hourly with (security_invoker = true) as
select
    bucket,
    segment_id,
    site,
    route,
    release,
    environment,
    variant,
    browser,
    os,
    device,
    thread,
    stack_id,
    fleetprof_data.stack_path(stack_id) as path,
    level,
    function,
    resource,
    line,
    column_number,
    kind::text as kind,
    fleetprof_data.marker_of(marker)::text as marker,
    uploads::bigint as uploads,
    samples,
    self_us / 1000::double precision as self_ms,
    function_key::text as function_key,
    generated_resource,
    generated_line,
    generated_column,
    frame
    -- {{each after frame: , $name}}
from (
    -- Conditions on dimensions and hours find packed rows by index: segment is joined before rows are unpacked.
    select
        segment.*,
        bucket,
        unnest(stack_id) as stack_id,
        unnest(marker) as marker,
        unnest(uploads) as uploads,
        unnest(samples) as samples,
        unnest(self_us) as self_us
    from fleetprof_data.stack_packed
    join fleetprof_data.segment on segment_id = group_id
    where span = 0
) as entry
join fleetprof_data.stack using (stack_id)
join fleetprof_data.named_frame using (frame_id);

-- {{comments of stack_hourly}}

grant select on fleetprof.stack_hourly to fleetprof_reader;
