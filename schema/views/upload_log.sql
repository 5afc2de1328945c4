-- SPDX-License-Identifier: Apache-2.0
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
    upload.browser_version,
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
    records_refused,
    unseen_us / 1000::double precision as unseen_ms,
    frame
    -- {{each after frame but browser_version: , $name}}
from fleetprof_data.upload
join fleetprof_data.segment using (segment_id);

-- {{comments of upload_log}}

grant select on fleetprof.upload_log to fleetprof_reader;
