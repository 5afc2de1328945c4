-- SPDX-License-Identifier: Apache-2.0
-- Frames by time: what hotspots, estimated_hotspots and measure_hotspots share.

create or replace function fleetprof_data.frame_sums(
    selected   fleetprof_data.selection,
    markers    smallint[],
    timing_ids bigint[]
)
returns table (frame_id bigint, uploads bigint, samples bigint, self_us bigint, total_us bigint)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
-- The planner expects far fewer entries than there are.
set enable_sort = off
as $$
#variable_conflict use_column
declare
    every_marker boolean := are_all(frame_sums.markers);
    unmarked boolean := 0 = any(frame_sums.markers);
    -- Ids, then the sums of each column.
    native bigint[];
    count integer;
begin
    if every_marker and frame_sums.timing_ids is null and has_native() then
        select fleetprof_native.sum_frames(frame_id, uploads, samples, self_us, total_us)
        into native
        from frame_packed
        where is_selected(frame_sums.selected, sealed, group_id, bucket, span);
        -- Null: too many for its memory.
        if native is not null then
            count := cardinality(native) / 5;
            return query
            select
                unnest(native[1:count]),
                unnest(native[count + 1:2 * count]),
                unnest(native[2 * count + 1:3 * count]),
                unnest(native[3 * count + 1:4 * count]),
                unnest(native[4 * count + 1:]);
            return;
        end if;
    end if;
    if frame_sums.timing_ids is not null then
        return query
        select
            frame_id,
            sum(case when every_marker then first_uploads else uploads end),
            sum(samples)::bigint,
            sum(self_us)::bigint,
            sum(total_us)::bigint
        from (
            select
                unnest(timing_id) as timing_id,
                unnest(marker) as marker,
                unnest(frame_id) as frame_id,
                unnest(uploads) as uploads,
                unnest(first_uploads) as first_uploads,
                unnest(samples) as samples,
                unnest(self_us) as self_us,
                unnest(total_us) as total_us
            from measure_frame_packed
            where is_selected(frame_sums.selected, sealed, group_id, bucket, span)
        ) as entry
        where timing_id = any(frame_sums.timing_ids) and marker = any(frame_sums.markers)
        group by frame_id;
    elsif every_marker then
        return query
        -- Sums of floating point are exact up to 285 years, and faster than those of bigint.
        select
            frame_id, sum(uploads), sum(samples::float8)::bigint, sum(self_us::float8)::bigint,
            sum(total_us::float8)::bigint
        from (
            select
                unnest(frame_id) as frame_id,
                unnest(uploads) as uploads,
                unnest(samples) as samples,
                unnest(self_us) as self_us,
                unnest(total_us) as total_us
            from frame_packed
            where is_selected(frame_sums.selected, sealed, group_id, bucket, span)
        ) as entry
        group by frame_id;
    else
        -- Samples without a marker have no entries of their own. Their count is that of all samples minus that of
        -- samples with an unwanted marker.
        return query
        select frame_id, sum(uploads), sum(samples)::bigint, sum(self_us)::bigint, sum(total_us)::bigint
        from (
            select
                unnest(frame_id) as frame_id,
                unnest(unmarked_uploads) as uploads,
                unnest(samples) as samples,
                unnest(self_us) as self_us,
                unnest(total_us) as total_us
            from frame_packed
            where unmarked and is_selected(frame_sums.selected, sealed, group_id, bucket, span)
            union all
            select
                frame_id,
                uploads * wanted,
                samples * (wanted - unmarked::integer),
                self_us * (wanted - unmarked::integer),
                total_us * (wanted - unmarked::integer)
            from (
                select
                    (unnest(marker) = any(frame_sums.markers))::integer as wanted,
                    unnest(frame_id) as frame_id,
                    unnest(uploads) as uploads,
                    unnest(samples) as samples,
                    unnest(self_us) as self_us,
                    unnest(total_us) as total_us
                from frame_marker_packed
                where is_selected(frame_sums.selected, sealed, group_id, bucket, span)
            ) as marked
        ) as entry
        group by frame_id
        having sum(samples) > 0 or sum(total_us) > 0;
    end if;
end
$$;

comment on function fleetprof_data.frame_sums is
    'Returns sums per frame over a selection and a set of markers; times in microseconds. timing_ids: inside these measures; null: everywhere. Unless the set has all markers, an upload counts once for each of its markers in the set.';

create or replace function fleetprof_data.ranked_frames(
    parts      fleetprof_data.selection[],
    weights    double precision[],
    markers    smallint[],
    timing_ids bigint[],
    top        integer,
    of_scripts text[] default null
)
returns table (
    function          text,
    resource          text,
    line              integer,
    column_number     integer,
    kind              text,
    self_ms           double precision,
    total_ms          double precision,
    self_share        double precision,
    total_share       double precision,
    samples           bigint,
    uploads           bigint,
    self_ms_per_load  double precision,
    total_ms_per_load double precision,
    load_share        double precision,
    busy_share        double precision,
    is_agent          boolean,
    function_key       text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer,
    seen_share         double precision,
    owner              text,
    frame_ids          bigint[]
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    whole record;
    part_count integer := cardinality(ranked_frames.weights);
    sites integer := coalesce(cardinality((ranked_frames.parts)[1].sites), 0);
    has_originals boolean := exists (select from function_table);
    is_owned boolean := exists (select from code_owner where site = any((ranked_frames.parts)[1].sites));
    is_filtered boolean := coalesce(num_nonnulls(variadic ranked_frames.of_scripts) > 0, false);
    own text[] := case when is_owned or is_filtered then own_hosts((ranked_frames.parts)[1]) end;
begin
    if ranked_frames.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', ranked_frames.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;

    select
        sum(weight * profiled_us) as profiled_us,
        sum(weight * attributed_us) as attributed_us,
        sum(weight * loads) as loads,
        sum(weight * unseen_us) as unseen_us
    into whole
    from unnest(ranked_frames.weights) with ordinality as part (weight, number)
    cross join lateral selected_totals(ranked_frames.parts[number], ranked_frames.timing_ids);

    return query
    with sums as not materialized (
        select
            frame_id,
            samples::float8,
            uploads::float8,
            ranked_frames.weights[1] * uploads as weighted_uploads,
            ranked_frames.weights[1] * self_us as self_us,
            ranked_frames.weights[1] * total_us as total_us
        from frame_sums(ranked_frames.parts[1], ranked_frames.markers, ranked_frames.timing_ids)
        where part_count = 1
        union all
        select
            frame_id,
            sum(samples::float8) as samples,
            sum(uploads::float8) as uploads,
            sum(weight * uploads) as weighted_uploads,
            sum(weight * self_us) as self_us,
            sum(weight * total_us) as total_us
        from unnest(ranked_frames.weights) with ordinality as part (weight, number)
        cross join lateral frame_sums(ranked_frames.parts[number], ranked_frames.markers, ranked_frames.timing_ids)
        where part_count <> 1
        group by frame_id
    ),
    filtered as materialized (
        select * from sums where is_filtered
    ),
    wanted as not materialized (
        select * from sums where not is_filtered
        union all
        select filtered.*
        from filtered
        join frames_of_scripts(array(select frame_id from filtered), ranked_frames.of_scripts, own) using (frame_id)
    ),
    -- Frames that may be the same function: they share a name that no minifier made up.
    named as materialized (
        select wanted.*, name_key
        from wanted
        join frame using (frame_id)
        where sites <= 1 and not has_originals
        union all
        select wanted.*, case when sites > 1 then hashtextextended(function, 0) else name_key end
        from wanted
        join original_frame using (frame_id)
        where sites > 1 or has_originals
    ),
    same_name as materialized (
        select
            name_key,
            max(self_us) + sum(least(self_us, 0)) as least_us, -- own times of events may be negative
            sum(greatest(self_us, 0)) as most_us
        from named
        group by name_key
    ),
    -- Each name has a function that costs at least least_us, and none that costs more than most_us.
    candidate as materialized (
        select named.*
        from same_name
        join named using (name_key)
        where (ranked_frames.top is null or most_us >= coalesce(
                (select least_us from same_name order by least_us desc offset ranked_frames.top - 1 limit 1), '-infinity'))
    ),
    merged as materialized (
        select merged.*
        from (select array_agg(frame_id) as frame_ids, array_agg(self_us) as weights from candidate) as given
        cross join lateral merged_frames(given.frame_ids, weights) as merged
    ),
    hottest as (
        select
            shown_id as frame_id,
            array_agg(frame_id) as frame_ids,
            sum(samples)::bigint as samples,
            sum(uploads)::bigint as uploads,
            sum(weighted_uploads) as weighted_uploads,
            sum(self_us) as self_us,
            sum(total_us) as total_us
        from merged
        join candidate using (frame_id)
        group by shown_id
    ),
    ranked as materialized (
        select *
        from hottest
        join merged using (frame_id)
        order by self_us desc, function collate "C", resource collate "C", line, column_number, kind
        limit ranked_frames.top
    ),
    owner as (
        select shown_id as frame_id, min(name) as name
        from (select array_agg(each) as frame_ids from ranked cross join unnest(frame_ids) as each where is_owned) as asked
        cross join lateral frame_groups('owner', asked.frame_ids, own) as listed
        join merged using (frame_id)
        -- Such as (nobody): not an owner.
        where name not like '(%'
        group by shown_id
    )
    select
        function,
        resource,
        line,
        column_number,
        kind::text,
        self_us / 1000,
        total_us / 1000,
        self_us / whole.profiled_us,
        total_us / whole.profiled_us,
        samples,
        uploads,
        self_us / 1000 / whole.loads,
        total_us / 1000 / whole.loads,
        least(weighted_uploads, whole.loads) / whole.loads,
        self_us / whole.attributed_us,
        fleetprof.is_agent(generated_resource),
        function_key::text,
        generated_resource,
        generated_line,
        generated_column,
        whole.profiled_us / (whole.profiled_us + whole.unseen_us),
        owner.name,
        frame_ids
    from ranked
    left join owner using (frame_id)
    order by self_us desc, function collate "C", resource collate "C", line, column_number, kind;
end
$$;

comment on function fleetprof_data.ranked_frames is
    'Returns the rows of fleetprof.hotspots for parts of a selection, each with a weight that multiplies its times, page loads and, in load_share, uploads; frame_ids: all frames of a row; of_scripts: as frames_of_scripts takes it, null for all frames.';

revoke execute on function fleetprof_data.frame_sums, fleetprof_data.ranked_frames from public;
grant execute on function fleetprof_data.frame_sums, fleetprof_data.ranked_frames to fleetprof_reader;
