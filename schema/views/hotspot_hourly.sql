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
    generated_column
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

comment on view fleetprof.hotspot_hourly is
    'Time in each frame by hour and segment. A frame may have several rows in an hour that is still open: they add up. Totals of different frames overlap: do not add those up. Hours reach back as far as retention.hours; functions reach further, by days.';
comment on column fleetprof.hotspot_hourly.bucket is 'Start of the hour in which the uploads were received.';
comment on column fleetprof.hotspot_hourly.uploads is 'Uploads with the frame in some sample.';
comment on column fleetprof.hotspot_hourly.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof.hotspot_hourly.self_ms is 'Milliseconds with the frame on top of the stack.';
comment on column fleetprof.hotspot_hourly.total_ms is
    'Milliseconds with the frame anywhere on the stack, once per sample, however often it recurs.';
comment on column fleetprof.hotspot_hourly.function_key is 'What identifies the function across releases.';
comment on column fleetprof.hotspot_hourly.generated_resource is 'URL of the script as the browser ran it; with generated_line and generated_column, where it saw the function.';

grant select on fleetprof.hotspot_hourly to fleetprof_reader;
