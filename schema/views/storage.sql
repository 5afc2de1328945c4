-- SPDX-License-Identifier: Apache-2.0
-- Stored rows and bytes, by site and day.

create or replace view fleetprof.storage with (security_invoker = true) as
with packed as (
    select
        group_id, bucket, sealed, span, cardinality(uploads) as rows,
        pg_column_size(marker) + pg_column_size(uploads) + pg_column_size(loads) + pg_column_size(samples)
            + pg_column_size(self_us) + pg_column_size(profiled_us2)
            + coalesce(pg_column_size(unseen_us), 0) as bytes
    from fleetprof_data.total_packed
    union all
    select
        group_id, bucket, sealed, span, cardinality(uploads) as rows,
        pg_column_size(frame_id) + pg_column_size(uploads) + pg_column_size(unmarked_uploads)
            + pg_column_size(samples) + pg_column_size(self_us) + pg_column_size(total_us)
            + pg_column_size(self_us2) + pg_column_size(total_us2) + pg_column_size(self_profiled)
            + pg_column_size(total_profiled) as bytes
    from fleetprof_data.frame_packed
    union all
    select
        group_id, bucket, sealed, span, cardinality(uploads) as rows,
        pg_column_size(frame_id) + pg_column_size(marker) + pg_column_size(uploads) + pg_column_size(samples)
            + pg_column_size(self_us) + pg_column_size(total_us) as bytes
    from fleetprof_data.frame_marker_packed
    union all
    select
        group_id, bucket, sealed, span, cardinality(uploads) as rows,
        pg_column_size(stack_id) + pg_column_size(marker) + pg_column_size(uploads) + pg_column_size(samples)
            + pg_column_size(self_us) as bytes
    from fleetprof_data.stack_packed
    union all
    select
        group_id, bucket, sealed, span, cardinality(count) as rows,
        pg_column_size(timing_id) + pg_column_size(uploads) + pg_column_size(count) + pg_column_size(negative)
            + pg_column_size(sum_us) + pg_column_size(min_us) + pg_column_size(max_us) as bytes
    from fleetprof_data.timing_packed
    union all
    select
        group_id, bucket, sealed, span, cardinality(count) as rows,
        pg_column_size(timing_id) + pg_column_size(bin) + pg_column_size(count) as bytes
    from fleetprof_data.timing_bin_packed
    union all
    select
        group_id, bucket, sealed, span, cardinality(uploads) as rows,
        pg_column_size(timing_id) + pg_column_size(uploads) + pg_column_size(samples)
            + pg_column_size(unattributed_samples) + pg_column_size(profiled_us)
            + pg_column_size(unattributed_us) + coalesce(pg_column_size(loads), 0)
            + coalesce(pg_column_size(window_us), 0) as bytes
    from fleetprof_data.measure_packed
    union all
    select
        group_id, bucket, sealed, span, cardinality(uploads) as rows,
        pg_column_size(timing_id) + pg_column_size(marker) + pg_column_size(frame_id) + pg_column_size(uploads)
            + pg_column_size(first_uploads) + pg_column_size(samples) + pg_column_size(self_us)
            + pg_column_size(total_us) as bytes
    from fleetprof_data.measure_frame_packed
),
stored (site, bucket, kind, rows, bytes) as (
    select site, bucket, case when not sealed then 'recent' when span < 2 then 'hours' else 'days' end, rows, bytes
    from packed
    join (
        select site, segment_id as group_id from fleetprof_data.segment
        union all
        select site, group_id from fleetprof_data.cohort
    ) as named using (group_id)
    union all
    select site, bucket, 'upload_log', 1, pg_column_size(upload)
    from fleetprof_data.upload
    join fleetprof_data.segment using (segment_id)
    union all
    select site, bucket, 'sessions', 1, pg_column_size(content)
    from fleetprof_data.session
    join fleetprof_data.segment using (segment_id)
    union all
    select site, bucket, 'sessions', 1, pg_column_size(event)
    from fleetprof_data.event
    join fleetprof_data.segment using (segment_id)
)
select
    site,
    (bucket at time zone 'UTC')::date as day,
    kind,
    sum(rows)::bigint as rows,
    sum(bytes)::bigint as bytes
from stored
group by site, day, kind;

-- {{comments of storage}}

grant select on fleetprof.storage to fleetprof_reader;
