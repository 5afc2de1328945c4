-- SPDX-License-Identifier: Apache-2.0
-- Time per frame, hour and segment.

create or replace view fleetprof.hotspot_hourly with (security_invoker = true) as
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
    function,
    resource,
    line,
    column_number,
    kind::text as kind,
    uploads::bigint as uploads,
    samples,
    self_us / 1000::double precision as self_ms,
    total_us / 1000::double precision as total_ms,
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
        unnest(frame_id) as frame_id,
        unnest(uploads) as uploads,
        unnest(samples) as samples,
        unnest(self_us) as self_us,
        unnest(total_us) as total_us
    from fleetprof_data.frame_packed
    join fleetprof_data.segment on segment_id = group_id
    where span = 0
) as entry
join fleetprof_data.named_frame using (frame_id);

-- {{comments of hotspot_hourly}}

grant select on fleetprof.hotspot_hourly to fleetprof_reader;
