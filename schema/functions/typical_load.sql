-- SPDX-License-Identifier: Apache-2.0
-- A typical page load: of those that are kept, the one whose function shares are nearest to the mean of its group.

create or replace function fleetprof_data.group_loads(
    selected   fleetprof_data.selection,
    frame_ids  bigint[],
    timing_ids bigint[]
)
returns bigint
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    loads bigint := coalesce((selected_totals(group_loads.selected, group_loads.timing_ids)).loads, 0);
begin
    if group_loads.frame_ids is null then
        return loads;
    end if;
    -- Uploads with the function: of a page load in parts several may have it.
    return least(loads, (
        select coalesce(sum(uploads), 0)
        from (
            select unnest(frame_id) as frame_id, unnest(uploads) as uploads
            from frame_packed
            where is_selected(group_loads.selected, sealed, group_id, bucket, span)
        ) as entry
        where frame_id = any(group_loads.frame_ids)));
end
$$;

comment on function fleetprof_data.group_loads is
    'Returns how many profiled page loads are selected: that run one of these frames (null: any), or with profiled time in one of these measures and windows (null: any).';

create or replace function fleetprof_data.kept_vectors(
    selected   fleetprof_data.selection,
    frame_ids  bigint[],
    timing_ids bigint[],
    most       integer
)
returns table (
    kept_id   bigint,
    load      uuid,
    frame_id  bigint,
    self_us   bigint
)
language plpgsql stable parallel safe rows 20000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    wanted constant bigint[] := coalesce(kept_vectors.timing_ids, '{0}');
begin
    return query
    with kept as materialized (
        select session_id, coalesce(load_id, upload_id) as load, vector_timing_ids, vector_frame_ids, vector_us
        from session
        where segment_id = any((kept_vectors.selected).segment_ids)
            and bucket > (kept_vectors.selected).after and bucket < (kept_vectors.selected).before
            and vector_timing_ids && wanted
            and (kept_vectors.frame_ids is null or seen_frame_ids && kept_vectors.frame_ids)
        order by received desc, session_id
        limit kept_vectors.most
    )
    select session_id, load, entry.frame_id, entry.self_us
    from kept
    cross join unnest(wanted) as wanted_id
    cross join lateral array_position(vector_timing_ids, wanted_id) as first
    -- The entries of a window lie beside each other, at most 50.
    cross join lateral unnest(
        vector_timing_ids[first:first + 49], vector_frame_ids[first:first + 49], vector_us[first:first + 49])
        as entry (timing_id, frame_id, self_us)
    where entry.timing_id = wanted_id;
end
$$;

comment on function fleetprof_data.kept_vectors is
    'Returns the frame vectors of the latest kept uploads of these segments, at most so many: of those that run one of these frames (null: any), inside these measures and windows (null: as a whole).';

create or replace function fleetprof.typical_load(
    -- {{filters}},
    key          text default null,
    measure_name text default null
)
returns table (
    session_id bigint,
    alike      double precision,
    loads      bigint,
    kept_loads bigint,
    reason     text,
    received   timestamptz,
    page_url   text
)
language plpgsql stable parallel safe rows 1
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    -- What is read at most, so that an answer takes as long with many kept page loads.
    most_kept constant integer := 300;
    most_functions constant integer := 50;
    -- Nobody can say which of two page loads is typical.
    least_kept constant integer := 3;
    -- Three page loads that have nothing in common are 0.58 alike to their mean.
    least_alike constant double precision := 0.6;
    selected selection := select_segments(given);
    wanted_frames bigint[];
    wanted_timings bigint[];
    nearest record;
begin
    if num_nonnulls(typical_load.key, typical_load.measure_name) > 1 then
        raise invalid_parameter_value using
            message = 'key and measure_name are both given',
            hint = 'Give the function_key of a function, or the name of a measure or window, or neither.';
    end if;
    if typical_load.key is not null then
        wanted_frames := frames_with_key(selected.sites, typical_load.key);
    elsif typical_load.measure_name is not null then
        wanted_timings := array(
            select timing_id
            from timing
            where name = typical_load.measure_name and kind in ('measure', 'window') and navigation <> 'soft');
    end if;
    loads := group_loads(selected, wanted_frames, wanted_timings);

    with entry as materialized (
        select * from kept_vectors(selected, wanted_frames, wanted_timings, most_kept)
    ),
    name as materialized (
        select named.frame_id, function_key
        from (select array_agg(distinct frame_id) as frame_ids from entry) as used
        cross join lateral named_frames(frame_ids) as named
    ),
    -- By page load: parts that are kept belong together.
    cost as materialized (
        select load, coalesce(function_key, entry.frame_id) as function_key, sum(self_us)::double precision as self_us
        from entry
        left join name using (frame_id)
        group by 1, 2
    ),
    whole as materialized (
        select load, sum(self_us) as self_us, sqrt(sum(self_us * self_us)) as length
        from cost
        group by load
    ),
    -- Each page load counts the same, so a long one does not make the mean alone.
    mean as materialized (
        select function_key, sum(cost.self_us / whole.self_us) as share
        from cost
        join whole using (load)
        group by function_key
        order by share desc, function_key
        limit most_functions
    ),
    compared as materialized (
        select load, sum(cost.self_us * share) / whole.length / (select sqrt(sum(share * share)) from mean) as cosine
        from cost
        join whole using (load)
        join mean using (function_key)
        group by load, whole.length
    ),
    -- The part with most time of a page load, and so of equal page loads.
    part as (
        select load, kept_id, sum(self_us) as self_us
        from entry
        group by load, kept_id
    )
    select kept_id, cosine, (select count(*) from whole) as kept_loads
    into nearest
    from part
    join compared using (load)
    order by round(cosine::numeric, 9) desc, self_us desc, kept_id
    limit 1;

    kept_loads := coalesce(nearest.kept_loads, 0);
    reason := case
        when loads = 0 then 'no page loads'
        when kept_loads = 0 then 'none kept'
        when kept_loads < least_kept then 'too few kept'
        when nearest.cosine < least_alike then 'none alike'
    end;
    if reason is null then
        session_id := nearest.kept_id;
        alike := least(nearest.cosine, 1);
        select session.received, session.page_url
        into received, page_url
        from session
        where session.session_id = nearest.kept_id;
    end if;
    return next;
end
$$;

comment on function fleetprof.typical_load is
    -- {{comment of typical_load}};

revoke execute on function fleetprof_data.group_loads, fleetprof_data.kept_vectors, fleetprof.typical_load from public;
grant execute on function fleetprof_data.group_loads, fleetprof_data.kept_vectors, fleetprof.typical_load to fleetprof_reader;
