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
    generated_column
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

comment on view fleetprof.stack_hourly is
    'Samples whose stack is exactly this one, by hour, segment and marker. A stack may have several rows in an hour that is still open: they add up. Hours reach back as far as retention.hours. Function, resource, line, column_number and kind are those of the frame on top.';
comment on column fleetprof.stack_hourly.bucket is 'Start of the hour in which the uploads were received.';
comment on column fleetprof.stack_hourly.path is
    'The stack''s frames, outermost first; read stack by stack, so leave it out where it is not needed.';
comment on column fleetprof.stack_hourly.level is 'Number of frames on the stack; 1 is a single frame.';
comment on column fleetprof.stack_hourly.marker is
    'What the main thread did: (none), script, gc, style, layout, paint or other.';
comment on column fleetprof.stack_hourly.uploads is 'Uploads with such a sample.';
comment on column fleetprof.stack_hourly.samples is 'Samples with exactly this stack and marker.';
comment on column fleetprof.stack_hourly.self_ms is 'Milliseconds of these samples.';
comment on column fleetprof.stack_hourly.function_key is 'What identifies the function across releases.';
comment on column fleetprof.stack_hourly.generated_resource is 'URL of the script as the browser ran it; with generated_line and generated_column, where it saw the function.';

grant select on fleetprof.stack_hourly to fleetprof_reader;
