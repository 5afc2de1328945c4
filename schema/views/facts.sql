-- SPDX-License-Identifier: Apache-2.0
-- Facts of segments by hour as plain rows: fresh ones and sealed ones that retention.hours keeps.
--
-- They are for reading by hand and for tests. An hour that is still open may have several rows of one key; they add up.

create or replace view fleetprof_data.segment_fact with (security_invoker = true) as
select
    segment_id,
    bucket,
    sum(uploads)::bigint as uploads,
    sum(loads)::bigint as loads,
    sum(samples)::bigint as samples,
    coalesce(sum(samples) filter (where marker < 0), 0)::bigint as unattributed_samples,
    sum(self_us)::bigint as profiled_us,
    sum(profiled_us2) as profiled_us2,
    coalesce(sum(self_us) filter (where marker < 0), 0)::bigint as unattributed_us,
    coalesce(sum(unseen_us), 0)::bigint as unseen_us
from (
    select
        segment_id,
        bucket,
        unnest(marker) as marker,
        unnest(uploads) as uploads,
        unnest(loads) as loads,
        unnest(samples) as samples,
        unnest(self_us) as self_us,
        unnest(profiled_us2) as profiled_us2,
        unnest(unseen_us) as unseen_us
    from fleetprof_data.total_packed
    join fleetprof_data.segment on segment_id = group_id
    where span = 0
) as entry
group by segment_id, bucket;

create or replace view fleetprof_data.marker_fact with (security_invoker = true) as
select segment_id, bucket, fleetprof_data.marker_of(marker) as marker, samples, self_us
from (
    select
        segment_id,
        bucket,
        unnest(marker) as marker,
        unnest(samples) as samples,
        unnest(self_us) as self_us
    from fleetprof_data.total_packed
    join fleetprof_data.segment on segment_id = group_id
    where span = 0
) as entry
where marker >= 0 and (samples > 0 or self_us <> 0);

create or replace view fleetprof_data.frame_fact with (security_invoker = true) as
select
    segment_id,
    bucket,
    unnest(frame_id) as frame_id,
    unnest(uploads)::bigint as uploads,
    unnest(unmarked_uploads)::bigint as unmarked_uploads,
    unnest(samples) as samples,
    unnest(self_us) as self_us,
    unnest(total_us) as total_us,
    unnest(self_us2)::double precision as self_us2,
    unnest(total_us2)::double precision as total_us2,
    unnest(self_profiled)::double precision as self_profiled,
    unnest(total_profiled)::double precision as total_profiled
from fleetprof_data.frame_packed
join fleetprof_data.segment on segment_id = group_id
where span = 0;

create or replace view fleetprof_data.frame_marker_fact with (security_invoker = true) as
select
    segment_id,
    bucket,
    unnest(frame_id) as frame_id,
    fleetprof_data.marker_of(unnest(marker)) as marker,
    unnest(uploads)::bigint as uploads,
    unnest(samples) as samples,
    unnest(self_us) as self_us,
    unnest(total_us) as total_us
from fleetprof_data.frame_marker_packed
join fleetprof_data.segment on segment_id = group_id
where span = 0;

create or replace view fleetprof_data.stack_fact with (security_invoker = true) as
select
    segment_id,
    bucket,
    unnest(stack_id) as stack_id,
    fleetprof_data.marker_of(unnest(marker)) as marker,
    unnest(uploads)::bigint as uploads,
    unnest(samples) as samples,
    unnest(self_us) as self_us
from fleetprof_data.stack_packed
join fleetprof_data.segment on segment_id = group_id
where span = 0;

create or replace view fleetprof_data.timing_fact with (security_invoker = true) as
select
    segment_id,
    bucket,
    unnest(timing_id) as timing_id,
    unnest(uploads)::bigint as uploads,
    unnest(count)::bigint as count,
    unnest(negative)::bigint as negative,
    unnest(sum_us) as sum_us,
    unnest(min_us) as min_us,
    unnest(max_us) as max_us
from fleetprof_data.timing_packed
join fleetprof_data.segment on segment_id = group_id
where span = 0;

create or replace view fleetprof_data.timing_bin_fact with (security_invoker = true) as
select
    segment_id,
    bucket,
    unnest(timing_id) as timing_id,
    unnest(bin) as bin,
    unnest(count)::bigint as count
from fleetprof_data.timing_bin_packed
join fleetprof_data.segment on segment_id = group_id
where span = 0;

create or replace view fleetprof_data.measure_fact with (security_invoker = true) as
select
    segment_id,
    bucket,
    unnest(timing_id) as timing_id,
    unnest(uploads)::bigint as uploads,
    unnest(samples) as samples,
    unnest(unattributed_samples) as unattributed_samples,
    unnest(profiled_us) as profiled_us,
    unnest(unattributed_us) as unattributed_us,
    unnest(coalesce(loads, uploads))::bigint as loads,
    unnest(coalesce(window_us, profiled_us)) as window_us
from fleetprof_data.measure_packed
join fleetprof_data.segment on segment_id = group_id
where span = 0;

create or replace view fleetprof_data.measure_frame_fact with (security_invoker = true) as
select
    segment_id,
    bucket,
    unnest(timing_id) as timing_id,
    fleetprof_data.marker_of(unnest(marker)) as marker,
    unnest(frame_id) as frame_id,
    unnest(uploads)::bigint as uploads,
    unnest(first_uploads)::bigint as first_uploads,
    unnest(samples) as samples,
    unnest(self_us) as self_us,
    unnest(total_us) as total_us
from fleetprof_data.measure_frame_packed
join fleetprof_data.segment on segment_id = group_id
where span = 0;

comment on view fleetprof_data.segment_fact is 'Totals of segments by hour.';
comment on view fleetprof_data.marker_fact is 'Attributed samples of segments by hour and marker.';
comment on view fleetprof_data.frame_fact is 'What frames cost, of segments by hour.';
comment on view fleetprof_data.frame_marker_fact is 'The part of frame_fact from samples with a marker, of segments by hour.';
comment on view fleetprof_data.stack_fact is 'What whole stacks cost, by marker, of segments by hour.';
comment on view fleetprof_data.timing_fact is 'Values of marks and measures, of segments by hour.';
comment on view fleetprof_data.timing_bin_fact is 'Histograms of the non-negative values of timing_fact, of segments by hour.';
comment on view fleetprof_data.measure_fact is 'What ran inside the windows of measures, of segments by hour.';
comment on view fleetprof_data.measure_frame_fact is 'What frames cost inside the windows of measures, by marker, of segments by hour.';

grant select on
    fleetprof_data.segment_fact, fleetprof_data.marker_fact, fleetprof_data.frame_fact,
    fleetprof_data.frame_marker_fact, fleetprof_data.stack_fact, fleetprof_data.timing_fact,
    fleetprof_data.timing_bin_fact, fleetprof_data.measure_fact, fleetprof_data.measure_frame_fact
to fleetprof_reader;
