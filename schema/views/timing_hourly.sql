-- SPDX-License-Identifier: Apache-2.0
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
    ]) as well_known,
    frame
    -- {{each after frame: , $name}}
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

-- {{comments of timing_hourly}}

grant select on fleetprof.timing_hourly to fleetprof_reader;
