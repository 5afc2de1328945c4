-- SPDX-License-Identifier: Apache-2.0
-- The dimensions of uploads.

create or replace view fleetprof.segment with (security_invoker = true) as
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
    last_seen,
    frame
    -- {{each after frame: , $name}}
from fleetprof_data.segment;

-- {{comments of segment}}

grant select on fleetprof.segment to fleetprof_reader;
