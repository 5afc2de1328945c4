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
    last_seen
from fleetprof_data.segment;

comment on view fleetprof.segment is
    'The combinations of dimensions that uploads belong to. An absent dimension is ''''.';
comment on column fleetprof.segment.sample_rate is
    'Share of page loads that were sampled, 0 to 1, as far as a signed token verifies it; else null.';
comment on column fleetprof.segment.last_seen is
    'Day (UTC) of the latest upload, at most one day behind.';

grant select on fleetprof.segment to fleetprof_reader;
