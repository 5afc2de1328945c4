-- User Timing: what ran inside the windows of measures, and which names are well known.

create table fleetprof_data.measure_fact (
    segment_id           bigint not null,
    bucket               timestamptz not null,
    timing_id            bigint not null,
    uploads              bigint not null,
    samples              bigint not null,
    unattributed_samples bigint not null,
    profiled_us          bigint not null,
    unattributed_us      bigint not null,
    primary key (segment_id, bucket, timing_id)
) partition by range (bucket);

create table fleetprof_data.measure_frame_fact (
    segment_id    bigint not null,
    bucket        timestamptz not null,
    timing_id     bigint not null,
    marker        fleetprof_data.marker not null,
    frame_id      bigint not null,
    uploads       bigint not null,
    first_uploads bigint not null,
    samples       bigint not null,
    self_us       bigint not null,
    total_us      bigint not null,
    primary key (segment_id, bucket, timing_id, marker, frame_id)
) partition by range (bucket);

grant select on fleetprof_data.measure_fact, fleetprof_data.measure_frame_fact to fleetprof_reader;
grant select, insert, update on fleetprof_data.measure_fact, fleetprof_data.measure_frame_fact to fleetprof_writer;

comment on table fleetprof_data.measure_fact is 'Samples inside the windows of a measure, in a segment and hour.';
comment on column fleetprof_data.measure_fact.segment_id is 'Segment.';
comment on column fleetprof_data.measure_fact.bucket is 'UTC hour of receipt, its begin.';
comment on column fleetprof_data.measure_fact.timing_id is 'Measure.';
comment on column fleetprof_data.measure_fact.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.measure_fact.samples is 'Samples, unattributed ones included; once an upload, however many windows have it.';
comment on column fleetprof_data.measure_fact.unattributed_samples is 'Samples without stack and marker.';
comment on column fleetprof_data.measure_fact.profiled_us is 'Profiled time of the measure, microseconds: the sum of all samples'' weights.';
comment on column fleetprof_data.measure_fact.unattributed_us is 'Time of unattributed samples, microseconds.';

comment on table fleetprof_data.measure_frame_fact is 'What a frame cost inside the windows of a measure, in a segment and hour, by marker.';
comment on column fleetprof_data.measure_frame_fact.segment_id is 'Segment.';
comment on column fleetprof_data.measure_frame_fact.bucket is 'UTC hour of receipt, its begin.';
comment on column fleetprof_data.measure_frame_fact.timing_id is 'Measure.';
comment on column fleetprof_data.measure_frame_fact.marker is 'Marker; (none): without one.';
comment on column fleetprof_data.measure_frame_fact.frame_id is 'Frame.';
comment on column fleetprof_data.measure_frame_fact.uploads is 'Uploads with such a sample.';
comment on column fleetprof_data.measure_frame_fact.first_uploads is 'Of these, uploads without a sample of the frame under a marker before this one: summed over all markers they are the uploads with the frame.';
comment on column fleetprof_data.measure_frame_fact.samples is 'Samples with the frame anywhere on the stack.';
comment on column fleetprof_data.measure_frame_fact.self_us is 'Time with the frame on top, microseconds.';
comment on column fleetprof_data.measure_frame_fact.total_us is 'Time with the frame anywhere on the stack, once a sample, microseconds.';

-- A collector that waits for this migration knows its days' partitions to be made.
do $$
begin
    perform fleetprof_data.make_partitions(array(
        select to_date(right(relname, 8), 'YYYYMMDD')
        from pg_class
        where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r' and relname ~ '^segment_fact_[0-9]{8}$'
    ));
end
$$;

create function fleetprof.measure_hotspots(
    measure_name text,
    site         text,
    since        timestamptz default now() - interval '1 day',
    until        timestamptz default now(),
    route        text default null,
    release      text default null,
    environment  text default null,
    variant      text default null,
    browser      text default null,
    os           text default null,
    device       text default null,
    thread       text default null,
    marker       text default null,
    top          integer default 20
)
returns table (
    function      text,
    resource      text,
    line          integer,
    column_number integer,
    kind          text,
    self_ms       double precision,
    total_ms      double precision,
    self_share    double precision,
    total_share   double precision,
    samples       bigint,
    uploads       bigint
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        measure_hotspots.site, measure_hotspots.since, measure_hotspots.until, measure_hotspots.route,
        measure_hotspots.release, measure_hotspots.environment, measure_hotspots.variant, measure_hotspots.browser,
        measure_hotspots.os, measure_hotspots.device, measure_hotspots.thread);
    markers marker[] := select_markers(measure_hotspots.marker);
    every_marker boolean := markers @> enum_range(null::marker);
    -- Each site has timings of its own, and site may be a wildcard.
    timing_ids bigint[] := array(
        select timing_id
        from timing
        where name = measure_hotspots.measure_name and kind = 'measure'
    );
    profiled double precision;
begin
    if measure_hotspots.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', measure_hotspots.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;
    if measure_hotspots.measure_name is null then
        raise invalid_parameter_value using
            message = 'measure_name is null',
            hint = 'Name a measure; timings() lists them.';
    end if;

    profiled := (
        select nullif(sum(profiled_us), 0)
        from measure_fact
        where segment_id = any(selected.segment_ids)
            and bucket > selected.after
            and bucket < selected.before
            and timing_id = any(timing_ids)
    );
    return query
    with sums as (
        select
            frame_id,
            sum(self_us) as self_us,
            sum(total_us) as total_us,
            sum(samples) as samples,
            sum(case when every_marker then first_uploads else uploads end) as uploads
        from measure_frame_fact
        where segment_id = any(selected.segment_ids)
            and bucket > selected.after
            and bucket < selected.before
            and timing_id = any(timing_ids)
            and marker = any(markers)
        group by frame_id
    )
    select
        function,
        resource,
        line,
        column_number,
        kind::text,
        (sum(self_us) / 1000)::double precision,
        (sum(total_us) / 1000)::double precision,
        sum(self_us)::double precision / profiled,
        sum(total_us)::double precision / profiled,
        sum(samples)::bigint,
        sum(uploads)::bigint
    from sums
    join named_frame using (frame_id)
    group by function, resource, line, column_number, kind
    order by sum(self_us) desc, function collate "C", resource collate "C", line, column_number, kind
    limit measure_hotspots.top;
end
$$;

comment on function fleetprof.measure_hotspots is
    'The frames that cost the most self time inside a measure: of samples taken from its start on and before its end, in the same upload. self_ms, total_ms: milliseconds with the frame on top, or anywhere on the stack (once per sample). self_share, total_share: of the measure''s profiled time, unattributed time included, 0 to 1. samples: with the frame anywhere. uploads: with the frame; where marker matches several markers but not all, once for each. top: rows to return, null for all.';

revoke execute on function fleetprof.measure_hotspots from public;
grant execute on function fleetprof.measure_hotspots to fleetprof_reader;

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
    uploads,
    count,
    negative,
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
from fleetprof_data.timing_fact
join fleetprof_data.segment using (segment_id)
join fleetprof_data.timing using (timing_id);

comment on column fleetprof.timing_hourly.well_known is
    'A mark whose name the specification recommends (drafts of 2011 and 2012, Level 3), whatever is kept of its detail.';
