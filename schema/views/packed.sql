-- SPDX-License-Identifier: Apache-2.0
-- Packed rows (docs/internals/schema.md), per kind: KIND_sum has sealed rows, KIND_packed has sealed and fresh rows.

create or replace view fleetprof_data.total_sum with (security_invoker = true) as
select * from fleetprof_data.total_hours
union all
select * from fleetprof_data.total_days;

create or replace view fleetprof_data.total_packed with (security_invoker = true) as
select true as sealed, *
from fleetprof_data.total_sum
union all
select
    false, group_id, bucket, 0::smallint,
    marker, uploads, loads, samples, self_us, profiled_us2, unseen_us
from fleetprof_data.total_recent;

create or replace view fleetprof_data.frame_sum with (security_invoker = true) as
select * from fleetprof_data.frame_hours
union all
select * from fleetprof_data.frame_days;

create or replace view fleetprof_data.frame_packed with (security_invoker = true) as
select true as sealed, *
from fleetprof_data.frame_sum
union all
select
    false, group_id, bucket, 0::smallint,
    frame_id, uploads, unmarked_uploads, samples, self_us, total_us, self_us2, total_us2, self_profiled,
    total_profiled
from fleetprof_data.frame_recent;

create or replace view fleetprof_data.frame_marker_sum with (security_invoker = true) as
select * from fleetprof_data.frame_marker_hours
union all
select * from fleetprof_data.frame_marker_days;

create or replace view fleetprof_data.frame_marker_packed with (security_invoker = true) as
select true as sealed, *
from fleetprof_data.frame_marker_sum
union all
select
    false, group_id, bucket, 0::smallint,
    frame_id, marker, uploads, samples, self_us, total_us
from fleetprof_data.frame_marker_recent;

create or replace view fleetprof_data.stack_sum with (security_invoker = true) as
select * from fleetprof_data.stack_hours
union all
select * from fleetprof_data.stack_days;

create or replace view fleetprof_data.stack_packed with (security_invoker = true) as
select true as sealed, *
from fleetprof_data.stack_sum
union all
select
    false, group_id, bucket, 0::smallint,
    stack_id, marker, uploads, samples, self_us
from fleetprof_data.stack_recent;

create or replace view fleetprof_data.timing_sum with (security_invoker = true) as
select * from fleetprof_data.timing_hours
union all
select * from fleetprof_data.timing_days;

create or replace view fleetprof_data.timing_packed with (security_invoker = true) as
select true as sealed, *
from fleetprof_data.timing_sum
union all
select
    false, group_id, bucket, 0::smallint,
    timing_id, uploads, count, negative, sum_us, min_us, max_us
from fleetprof_data.timing_recent;

create or replace view fleetprof_data.timing_bin_sum with (security_invoker = true) as
select * from fleetprof_data.timing_bin_hours
union all
select * from fleetprof_data.timing_bin_days;

create or replace view fleetprof_data.timing_bin_packed with (security_invoker = true) as
select true as sealed, *
from fleetprof_data.timing_bin_sum
union all
select
    false, group_id, bucket, 0::smallint,
    timing_id, bin, count
from fleetprof_data.timing_bin_recent;

create or replace view fleetprof_data.measure_sum with (security_invoker = true) as
select * from fleetprof_data.measure_hours
union all
select * from fleetprof_data.measure_days;

create or replace view fleetprof_data.measure_packed with (security_invoker = true) as
select true as sealed, *
from fleetprof_data.measure_sum
union all
select
    false, group_id, bucket, 0::smallint,
    timing_id, uploads, samples, unattributed_samples, profiled_us, unattributed_us, loads, window_us
from fleetprof_data.measure_recent;

create or replace view fleetprof_data.measure_frame_sum with (security_invoker = true) as
select * from fleetprof_data.measure_frame_hours
union all
select * from fleetprof_data.measure_frame_days;

create or replace view fleetprof_data.measure_frame_packed with (security_invoker = true) as
select true as sealed, *
from fleetprof_data.measure_frame_sum
union all
select
    false, group_id, bucket, 0::smallint,
    timing_id, marker, frame_id, uploads, first_uploads, samples, self_us, total_us
from fleetprof_data.measure_frame_recent;

comment on view fleetprof_data.total_sum is 'Packed facts (total_columns), sealed, of all spans: total_hours and total_days.';
comment on view fleetprof_data.frame_sum is 'Packed facts (frame_columns), sealed, of all spans: frame_hours and frame_days.';
comment on view fleetprof_data.frame_marker_sum is 'Packed facts (frame_marker_columns), sealed, of all spans: frame_marker_hours and frame_marker_days.';
comment on view fleetprof_data.stack_sum is 'Packed facts (stack_columns), sealed, of all spans: stack_hours and stack_days.';
comment on view fleetprof_data.timing_sum is 'Packed facts (timing_columns), sealed, of all spans: timing_hours and timing_days.';
comment on view fleetprof_data.timing_bin_sum is 'Packed facts (timing_bin_columns), sealed, of all spans: timing_bin_hours and timing_bin_days.';
comment on view fleetprof_data.measure_sum is 'Packed facts (measure_columns), sealed, of all spans: measure_hours and measure_days.';
comment on view fleetprof_data.measure_frame_sum is 'Packed facts (measure_frame_columns), sealed, of all spans: measure_frame_hours and measure_frame_days.';

comment on view fleetprof_data.total_packed is 'Packed facts (total_columns): total_sum (sealed), and total_recent as span 0 (not sealed).';
comment on view fleetprof_data.frame_packed is 'Packed facts (frame_columns): frame_sum (sealed), and frame_recent as span 0 (not sealed).';
comment on view fleetprof_data.frame_marker_packed is 'Packed facts (frame_marker_columns): frame_marker_sum (sealed), and frame_marker_recent as span 0 (not sealed).';
comment on view fleetprof_data.stack_packed is 'Packed facts (stack_columns): stack_sum (sealed), and stack_recent as span 0 (not sealed).';
comment on view fleetprof_data.timing_packed is 'Packed facts (timing_columns): timing_sum (sealed), and timing_recent as span 0 (not sealed).';
comment on view fleetprof_data.timing_bin_packed is 'Packed facts (timing_bin_columns): timing_bin_sum (sealed), and timing_bin_recent as span 0 (not sealed).';
comment on view fleetprof_data.measure_packed is 'Packed facts (measure_columns): measure_sum (sealed), and measure_recent as span 0 (not sealed).';
comment on view fleetprof_data.measure_frame_packed is 'Packed facts (measure_frame_columns): measure_frame_sum (sealed), and measure_frame_recent as span 0 (not sealed).';

grant select on
    fleetprof_data.total_sum, fleetprof_data.total_packed, fleetprof_data.frame_sum, fleetprof_data.frame_packed,
    fleetprof_data.frame_marker_sum, fleetprof_data.frame_marker_packed, fleetprof_data.stack_sum,
    fleetprof_data.stack_packed, fleetprof_data.timing_sum, fleetprof_data.timing_packed,
    fleetprof_data.timing_bin_sum, fleetprof_data.timing_bin_packed, fleetprof_data.measure_sum,
    fleetprof_data.measure_packed, fleetprof_data.measure_frame_sum, fleetprof_data.measure_frame_packed
to fleetprof_reader;
