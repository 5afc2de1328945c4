-- SPDX-License-Identifier: Apache-2.0
-- Hotspots inside the windows that made a web vital poor, beside those of good page loads.

create or replace function fleetprof.vital_hotspots(
    vital text,
    -- {{filters of samples and vitals}},
    top   integer default 20
)
returns table (
    function              text,
    resource              text,
    line                  integer,
    column_number         integer,
    kind                  text,
    self_ms               double precision,
    total_ms              double precision,
    self_share            double precision,
    total_share           double precision,
    samples               bigint,
    uploads               bigint,
    self_ms_per_load      double precision,
    total_ms_per_load     double precision,
    load_share            double precision,
    busy_share            double precision,
    is_agent              boolean,
    good_self_ms          double precision,
    good_uploads          bigint,
    good_self_ms_per_load double precision,
    difference_ms         double precision,
    difference_low        double precision,
    difference_high       double precision,
    p                     double precision,
    verdict               text,
    function_key          text,
    generated_resource    text,
    generated_line        integer,
    generated_column      integer
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    markers smallint[] := select_markers(vital_hotspots.marker, vital_hotspots.exclude_marker);
    navigations text[] := select_navigations(vital_hotspots.navigation, vital_hotspots.exclude_navigation);
    -- Each site has timings of its own, and site may be a wildcard.
    good_ids bigint[] := array(
        select timing_id
        from timing
        where kind = 'window' and name = format('(%s) good', vital_hotspots.vital) and navigation = any(navigations));
    poor_ids bigint[] := array(
        select timing_id
        from timing
        where kind = 'window' and name = format('(%s) poor', vital_hotspots.vital) and navigation = any(navigations));
    good_loads bigint := (selected_totals(selected, good_ids)).loads;
    -- With fewer page loads no verdict is possible, so no hour is read.
    is_enough boolean := least(coalesce(good_loads, 0), coalesce((selected_totals(selected, poor_ids)).loads, 0)) >= (least_evidence()).uploads;
    side compared_side;
    -- How many functions are tested at most: those with the most time in both kinds of windows.
    most_functions constant integer := 1000;
begin
    if vital_hotspots.vital is null or vital_hotspots.vital <> all(vital_names()) then
        raise invalid_parameter_value using
            message = coalesce('no vital is named "' || vital_hotspots.vital || '"', 'vital is null'),
            hint = format('Vitals are %s.', array_to_string(vital_names(), ', '));
    end if;
    side := compared_side(
        given, given.wanted[array_position(dimensions(), 'release')], given.since, given.until);
    return query
    with poor as materialized (
        select *
        from ranked_frames(array[selected], '{1}', markers, poor_ids, vital_hotspots.top) with ordinality
    ),
    good_sums as materialized (
        select frame_id, self_us, uploads from frame_sums(selected, markers, good_ids)
    ),
    used as materialized (
        select frame_id, sum(self_us)::double precision as self_us
        from (
            select frame_id, self_us from good_sums
            union all
            select frame_id, self_us from frame_sums(selected, markers, poor_ids)
        ) as entry
        group by frame_id
    ),
    -- Good page loads may have run another build of the script.
    merged as materialized (
        select merged.frame_id, shown_id
        from (select array_agg(frame_id) as frame_ids, array_agg(0::double precision) as weights from used) as given
        cross join lateral merged_frames(given.frame_ids, given.weights) as merged
    ),
    place as materialized (
        select distinct ordinality, shown_id
        from poor
        cross join unnest(frame_ids) as frame_id
        join merged using (frame_id)
    ),
    -- Includes functions that are not shown: judging needs the number of tests and the common change of all.
    candidate as materialized (
        select number, array_agg(frame_id) as frame_ids
        from (
            select coalesce(ordinality, -row_number() over (partition by ordinality order by shown_us desc, shown_id)) as number, shown_id
            from (select shown_id, sum(self_us) as shown_us from merged join used using (frame_id) group by shown_id) as shown
            left join place using (shown_id)
            where shown_us > 0 and is_enough
        ) as function
        join merged using (shown_id)
        where number > -most_functions
        group by number
    ),
    compared as materialized (
        select compared.*
        from (
            select array_agg(frame_id) as frame_ids, array_agg(number::integer) as numbers
            from candidate
            cross join unnest(frame_ids) as frame_id
        ) as wanted
        cross join lateral compared_windows(
            side.segment_hours, markers, poor_ids, good_ids, wanted.frame_ids, wanted.numbers) as compared
    ),
    good as (
        select ordinality, (sum(self_us) / 1000)::double precision as self_ms, sum(good_sums.uploads)::bigint as uploads
        from place
        join merged using (shown_id)
        join good_sums using (frame_id)
        group by ordinality
    )
    select
        poor.function,
        poor.resource,
        poor.line,
        poor.column_number,
        poor.kind,
        poor.self_ms,
        poor.total_ms,
        poor.self_share,
        poor.total_share,
        poor.samples,
        poor.uploads,
        poor.self_ms_per_load,
        poor.total_ms_per_load,
        poor.load_share,
        poor.busy_share,
        poor.is_agent,
        coalesce(good.self_ms, 0 * good_loads),
        coalesce(good.uploads, 0 * good_loads),
        coalesce(good.self_ms, 0 * good_loads) / good_loads,
        difference_ms,
        low_ms,
        high_ms,
        p,
        coalesce(verdict, 'too few'),
        poor.function_key,
        poor.generated_resource,
        poor.generated_line,
        poor.generated_column
    from poor
    left join good using (ordinality)
    left join compared on number = ordinality
    order by ordinality;
end
$$;

comment on function fleetprof.vital_hotspots is
    -- {{comment of vital_hotspots}};

revoke execute on function fleetprof.vital_hotspots from public;
grant execute on function fleetprof.vital_hotspots to fleetprof_reader;
