-- Views: the numbers as rows an hour, for SQL of one's own.
--
-- Each view starts with the bucket (or the time of receipt) and the dimensions of the segment; an absent
-- dimension is ''. Everything that is a sum may be summed again, over hours and over segments.

create view fleetprof.segment with (security_invoker = true) as
select
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
    nullif(rate_ppm, 0) / 1e6::double precision as sample_rate,
    last_seen
from fleetprof_data.segment;

comment on view fleetprof.segment is
    'The combinations of dimensions that uploads belong to. An absent dimension is ''''.';
comment on column fleetprof.segment.sample_rate is
    'Share of page loads that were sampled, 0 to 1, as far as a signed token verifies it; else null.';
comment on column fleetprof.segment.last_seen is
    'Day (UTC) of the latest upload, at most one day behind.';

create view fleetprof.hotspot_hourly with (security_invoker = true) as
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

create function fleetprof_data.stack_path(stack_id bigint)
returns text[]
language plpgsql stable strict parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    next_id bigint := stack_path.stack_id;
    next_frame_id bigint;
    frame_ids bigint[] := '{}';
begin
    while next_id is not null loop
        select parent_id, frame_id into next_id, next_frame_id from stack where stack_id = next_id;
        exit when not found;
        frame_ids := next_frame_id || frame_ids;
    end loop;
    return array(
        select frame_label(function, resource, line, column_number)
        from unnest(frame_ids) with ordinality as node (frame_id, place)
        join named_frame using (frame_id)
        order by place
    );
end
$$;

comment on function fleetprof_data.stack_path is
    'The frames of a stack as labels, outermost first.';

create view fleetprof.stack_hourly with (security_invoker = true) as
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
    marker::text as marker,
    uploads,
    samples,
    self_us / 1000::double precision as self_ms
from fleetprof_data.stack_fact
join fleetprof_data.segment using (segment_id)
join fleetprof_data.stack using (stack_id)
join fleetprof_data.named_frame using (frame_id);

comment on view fleetprof.stack_hourly is
    'Samples whose stack is exactly this one, one row per hour, segment, stack and marker. Function, resource, line, column_number and kind are those of the frame on top.';
comment on column fleetprof.stack_hourly.bucket is 'Start of the hour in which the uploads were received.';
comment on column fleetprof.stack_hourly.path is
    'The stack''s frames, outermost first; read stack by stack, so leave it out where it is not needed.';
comment on column fleetprof.stack_hourly.level is 'Number of frames on the stack; 1 is a single frame.';
comment on column fleetprof.stack_hourly.marker is
    'What the main thread did: (none), script, gc, style, layout, paint or other.';
comment on column fleetprof.stack_hourly.uploads is 'Uploads with such a sample.';
comment on column fleetprof.stack_hourly.samples is 'Samples with exactly this stack and marker.';
comment on column fleetprof.stack_hourly.self_ms is 'Milliseconds of these samples.';

create view fleetprof.timing_hourly with (security_invoker = true) as
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
    name,
    kind::text as kind,
    uploads,
    count,
    negative,
    sum_us / 1000::double precision as sum_ms,
    min_us / 1000::double precision as min_ms,
    max_us / 1000::double precision as max_ms
from fleetprof_data.timing_fact
join fleetprof_data.segment using (segment_id)
join fleetprof_data.timing using (timing_id);

comment on view fleetprof.timing_hourly is
    'User Timing, one row per hour, segment and name: a mark''s start time, a measure''s duration. Percentiles cannot be added up: take them from fleetprof.timings.';
comment on column fleetprof.timing_hourly.bucket is 'Start of the hour in which the uploads were received.';
comment on column fleetprof.timing_hourly.kind is 'mark or measure.';
comment on column fleetprof.timing_hourly.uploads is 'Uploads with this name.';
comment on column fleetprof.timing_hourly.count is 'Values, negative ones included.';
comment on column fleetprof.timing_hourly.negative is 'Of these, values below zero.';
comment on column fleetprof.timing_hourly.sum_ms is 'Sum of the values in milliseconds; divided by count it is the mean.';
comment on column fleetprof.timing_hourly.min_ms is 'Least value in milliseconds.';
comment on column fleetprof.timing_hourly.max_ms is 'Greatest value in milliseconds.';

create view fleetprof.upload_log with (security_invoker = true) as
select
    received,
    bucket,
    upload_id,
    load_id,
    part,
    segment_id,
    site,
    route,
    release,
    environment,
    variant,
    browser,
    browser_version,
    os,
    device,
    thread,
    format,
    agent,
    coverage,
    truncated,
    body_bytes,
    samples,
    unattributed_samples,
    profiled_us / 1000::double precision as profiled_ms,
    unattributed_us / 1000::double precision as unattributed_ms,
    timings,
    skipped_entries
from fleetprof_data.upload
join fleetprof_data.segment using (segment_id);

comment on view fleetprof.upload_log is 'Every upload that was counted, one row each.';
comment on column fleetprof.upload_log.received is 'When the collector received it.';
comment on column fleetprof.upload_log.bucket is 'Start of the hour it counts in.';
comment on column fleetprof.upload_log.upload_id is 'Its idempotency key; a random one when the upload had none.';
comment on column fleetprof.upload_log.load_id is 'The page load it is a part of; null when not said.';
comment on column fleetprof.upload_log.part is 'Which part of the page load: 0, 1, 2…';
comment on column fleetprof.upload_log.browser_version is 'Major version; 0 when unknown.';
comment on column fleetprof.upload_log.agent is 'Name and version of the script that sent it, or ''''.';
comment on column fleetprof.upload_log.coverage is
    'Why there is no trace: no-policy, unsupported, quota, disabled or not-sampled; '''' when not said.';
comment on column fleetprof.upload_log.truncated is 'Whether the sender says that it left something out.';
comment on column fleetprof.upload_log.body_bytes is 'Size of the body as received, before inflating.';
comment on column fleetprof.upload_log.samples is 'Samples of its trace.';
comment on column fleetprof.upload_log.unattributed_samples is 'Of these, samples that belong to no visible stack.';
comment on column fleetprof.upload_log.profiled_ms is 'Profiled time in milliseconds: the weights of all samples.';
comment on column fleetprof.upload_log.unattributed_ms is 'Of this, milliseconds that belong to no visible stack.';
comment on column fleetprof.upload_log.timings is 'Marks and measures in it.';
comment on column fleetprof.upload_log.skipped_entries is 'Performance entries of other types, which are not kept.';

revoke execute on function fleetprof_data.stack_path from public;
grant execute on function fleetprof_data.stack_path to fleetprof_reader;
grant select on
    fleetprof.segment,
    fleetprof.hotspot_hourly,
    fleetprof.stack_hourly,
    fleetprof.timing_hourly,
    fleetprof.upload_log
to fleetprof_reader;
