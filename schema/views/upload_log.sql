-- Counted uploads.

create or replace view fleetprof.upload_log with (security_invoker = true) as
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
    skipped_entries,
    records_read,
    records_refused
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
comment on column fleetprof.upload_log.records_read is 'Records of a dump or session, or entries of User Timing, kept and refused ones.';
comment on column fleetprof.upload_log.records_refused is 'Records, and parts of kept ones, that were refused; by reason: refusals.';

grant select on fleetprof.upload_log to fleetprof_reader;
