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
    uploads,
    samples,
    self_us / 1000::double precision as self_ms,
    total_us / 1000::double precision as total_ms
from fleetprof_data.frame_fact
join fleetprof_data.segment using (segment_id)
join fleetprof_data.named_frame using (frame_id);

comment on view fleetprof.hotspot_hourly is
    'Time in each frame, one row per hour, segment and frame. Totals of different frames overlap: do not add them up.';
comment on column fleetprof.hotspot_hourly.bucket is 'Start of the hour in which the uploads were received.';
comment on column fleetprof.hotspot_hourly.uploads is 'Uploads with the frame in some sample.';
comment on column fleetprof.hotspot_hourly.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof.hotspot_hourly.self_ms is 'Milliseconds with the frame on top of the stack.';
comment on column fleetprof.hotspot_hourly.total_ms is
    'Milliseconds with the frame anywhere on the stack, once per sample, however often it recurs.';

grant select on fleetprof.hotspot_hourly to fleetprof_reader;
