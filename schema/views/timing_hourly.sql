-- User Timing per name, hour and segment.

-- The names that the drafts of User Timing recommend for marks.
create or replace view fleetprof.timing_hourly with (security_invoker = true) as
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
    uploads::bigint as uploads,
    count::bigint as count,
    negative::bigint as negative,
    sum_us / 1000::double precision as sum_ms,
    min_us / 1000::double precision as min_ms,
    max_us / 1000::double precision as max_ms,
    kind = 'mark' and split_part(name, '{', 1) = any(array[
        -- 2011
        'fullyLoaded', 'fullyVisible', 'aboveTheFold', 'timeToUserAction',
        -- 2012
        'mark_fully_loaded', 'mark_fully_visible', 'mark_above_the_fold', 'mark_time_to_user_action',
        -- Level 3
        'mark_interactive', 'mark_feature_usage'
    ]) as well_known
from (
    -- Conditions on dimensions and hours find packed rows by index: segment is joined before rows are unpacked.
    select
        segment.*,
        bucket,
        unnest(timing_id) as timing_id,
        unnest(uploads) as uploads,
        unnest(count) as count,
        unnest(negative) as negative,
        unnest(sum_us) as sum_us,
        unnest(min_us) as min_us,
        unnest(max_us) as max_us
    from fleetprof_data.timing_packed
    join fleetprof_data.segment on segment_id = group_id
    where span = 0
) as entry
join fleetprof_data.timing using (timing_id)
where kind in ('mark', 'measure');

comment on view fleetprof.timing_hourly is
    'User Timing by hour, segment and name: a mark''s start time, a measure''s duration. A name may have several rows in an hour that is still open: they add up. Percentiles do not: take them from fleetprof.timings. Hours reach back as far as retention.hours.';
comment on column fleetprof.timing_hourly.bucket is 'Start of the hour in which the uploads were received.';
comment on column fleetprof.timing_hourly.kind is 'mark or measure.';
comment on column fleetprof.timing_hourly.uploads is 'Uploads with this name.';
comment on column fleetprof.timing_hourly.count is 'Values, negative ones included.';
comment on column fleetprof.timing_hourly.negative is 'Of these, values below zero.';
comment on column fleetprof.timing_hourly.sum_ms is 'Sum of the values in milliseconds; divided by count it is the mean.';
comment on column fleetprof.timing_hourly.min_ms is 'Least value in milliseconds.';
comment on column fleetprof.timing_hourly.max_ms is 'Greatest value in milliseconds.';
comment on column fleetprof.timing_hourly.well_known is
    'A mark whose name the specification recommends (drafts of 2011 and 2012, Level 3), whatever is kept of its detail.';

grant select on fleetprof.timing_hourly to fleetprof_reader;
