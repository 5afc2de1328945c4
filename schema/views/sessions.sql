-- SPDX-License-Identifier: Apache-2.0
-- Kept uploads.

create or replace view fleetprof.sessions with (security_invoker = true) as
select
    session_id,
    site,
    route,
    release,
    environment,
    variant,
    browser,
    os,
    device,
    thread,
    format,
    version,
    page_url,
    received,
    started,
    upload_id,
    load_id,
    part,
    source_id,
    window_id,
    listed.timelines,
    listed.events,
    is_raw,
    content_bytes,
    length(content) as stored_bytes,
    records_read,
    records_refused,
    frame
    -- {{each after frame: , $name}}
from fleetprof_data.session as s
left join fleetprof_data.segment using (segment_id)
cross join lateral (
    select count(*) as timelines, coalesce(sum(events), 0) as events
    from fleetprof_data.timeline as t
    where t.segment_id = s.segment_id and t.bucket = s.bucket and t.session_id = s.session_id
) as listed;

-- {{comments of sessions}}

grant select on fleetprof.sessions to fleetprof_reader;
