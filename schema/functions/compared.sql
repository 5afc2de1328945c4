-- SPDX-License-Identifier: Apache-2.0
-- Comparing two sides: what compare_releases, compare_summary and regressions share. -- docs/comparison.md explains the
-- method. In short: means per upload in strata that both sides have, the logarithm of their ratio, and its variance
-- under the null hypothesis, widened by the correlation of uploads within an hour.

create or replace function fleetprof_data.least_evidence(
    out uploads         double precision,
    out few_uploads     double precision,
    out hours           integer,
    out share           double precision,
    out effective       double precision,
    out effective_hours double precision,
    out z_left          double precision,
    out visible_z       double precision,
    out few_visible_z   double precision
)
language sql immutable parallel safe
return (200::double precision, 50::double precision, 12, 0.5::double precision, 10::double precision, 6::double precision,
    2::double precision, 3.66::double precision + 1.28, 4.42::double precision + 1.28);

comment on function fleetprof_data.least_evidence is
    'Returns how much evidence a verdict takes. uploads, hours: of each side; few_uploads: enough to find a change far beyond noise; share: of uploads in strata that both sides have; effective: number of uploads that a function''s cost comes from, on each side; effective_hours: number of hours that a difference, or a function that one side lacks, comes from; z_left: standard errors of a difference that are left without any three hours; visible_z, few_visible_z: standard errors of a change that is found in nine of ten cases, with enough and with few uploads.';

create or replace function fleetprof_data.compared_side(
    given   fleetprof_data.filters,
    release text,
    since   timestamptz,
    until   timestamptz,
    apart   text[] default '{}'
)
returns fleetprof_data.compared_side
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    side compared_side;
    hours_from timestamptz := (select hours_from from horizon);
    first_hour timestamptz;
    days record;
    hours record;
begin
    given.since := compared_side.since;
    given.until := compared_side.until;
    given.wanted[array_position(dimensions(), 'release')] := compared_side.release;
    side.whole := select_segments(given);
    side.segments := select_segments(given, by_segment => true);
    side.apart := compared_side.apart;

    first_hour := (side.whole).after + interval '1 hour';
    days := cover((side.whole).sites, first_hour, least((side.whole).before, hours_from), '{2}');
    hours := cover((side.whole).sites, greatest(first_hour, hours_from), (side.whole).before, '{0}');
    side.hours := side.whole;
    side.segment_hours := side.segments;
    side.hours.buckets := days.buckets || hours.buckets;
    side.hours.spans := days.spans || hours.spans;
    side.segment_hours.buckets := (side.hours).buckets;
    side.segment_hours.spans := (side.hours).spans;
    perform explain_selection(side.hours);
    return side;
end
$$;

comment on function fleetprof_data.compared_side is
    'Returns what filters select, as one side of a comparison: a filter for its release, its period, and the dimensions other than the release that tell the sides apart.';

create or replace function fleetprof_data.compared_strata(
    before fleetprof_data.selection,
    after  fleetprof_data.selection,
    apart  text[]
)
returns setof fleetprof_data.stratum
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with total as materialized (
        select
            is_after, segment_id, sum(uploads) as uploads, sum(loads) as loads, sum(self_us)::double precision as us,
            sum(us2) as us2
        from (
            select
                false as is_after, group_id as segment_id, unnest(uploads) as uploads, unnest(loads) as loads,
                unnest(self_us) as self_us, unnest(profiled_us2) as us2
            from total_packed
            where is_selected(compared_strata.before, sealed, group_id, bucket, span)
            union all
            select true, group_id, unnest(uploads), unnest(loads), unnest(self_us), unnest(profiled_us2)
            from total_packed
            where is_selected(compared_strata.after, sealed, group_id, bucket, span)
        ) as entry
        group by is_after, segment_id
        having sum(uploads) > 0
    ),
    -- Repeated page loads may come from one client on one side, and from another client on the other side.
    mostly as materialized (
        select 2 * sum(uploads) filter (where traffic = 'repeated') > sum(uploads) as repeated
        from total
        join segment using (segment_id)
    ),
    -- Strata with operating system and machine class, with one of them, and with neither.
    grouped as materialized (
        select
            with_os, with_machine,
            array_agg(segment_id) filter (where not is_after) as before_ids,
            array_agg(segment_id) filter (where is_after) as after_ids,
            case when 'device' <> all(compared_strata.apart) then device else '' end as device,
            coalesce(sum(uploads) filter (where not is_after), 0)::double precision as before_uploads,
            coalesce(sum(uploads) filter (where is_after), 0)::double precision as after_uploads,
            coalesce(sum(loads) filter (where not is_after), 0)::double precision as before_loads,
            coalesce(sum(loads) filter (where is_after), 0)::double precision as after_loads,
            coalesce(sum(us) filter (where not is_after), 0) as before_us,
            coalesce(sum(us) filter (where is_after), 0) as after_us,
            coalesce(sum(us2) filter (where not is_after), 0) as before_us2,
            coalesce(sum(us2) filter (where is_after), 0) as after_us2
        from total
        join segment using (segment_id)
        cross join (values (true), (false)) as os_choice (with_os)
        cross join (values (true), (false)) as machine_choice (with_machine)
        where traffic <> 'repeated' or (select repeated from mostly)
        group by
            with_os, with_machine, site,
            -- {{each stratum: case when '$name' <> all(compared_strata.apart) then $name else '' end,}}
            case when with_os and 'os' <> all(compared_strata.apart) then os end,
            case when with_machine and 'machine' <> all(compared_strata.apart) then machine end
    ),
    common as (
        select with_os, with_machine, sum(after_uploads) filter (where least(before_uploads, after_uploads) >= 2) as uploads
        from grouped
        group by with_os, with_machine
    ),
    -- Operating system and machine class divide strata if most uploads stay in strata that both sides have. The machine
    -- class goes first: while it is new on one side, both sides share no stratum that has it.
    chosen as (
        select with_os, with_machine
        from common
        where not with_os and not with_machine
            or uploads >= 0.95 * (select uploads from common where not with_os and not with_machine)
        order by with_machine desc, with_os desc
        limit 1
    )
    select
        before_ids, after_ids, device, before_uploads, after_uploads, before_loads, after_loads, before_us, after_us,
        before_us2, after_us2
    from grouped
    join chosen using (with_os, with_machine);
end
$$;

comment on function fleetprof_data.compared_strata is
    'Returns the strata of two sides: segments that agree in the site and in each dimension that always tells strata apart (schema/filters), except those of apart; also in os and machine if enough uploads stay in strata that both sides have. Leaves out repeated page loads, unless most are repeated.';

create or replace function fleetprof_data.compared_sums(
    before fleetprof_data.selection,
    after  fleetprof_data.selection,
    by     text default null,
    own    text[] default null
)
returns table (
    function_key    bigint,
    is_stable       boolean,
    frame_id        bigint,
    frame_ids       bigint[],
    before_uploads  bigint,
    after_uploads   bigint,
    samples         bigint,
    before_self_us  double precision,
    after_self_us   double precision,
    before_total_us double precision,
    after_total_us  double precision,
    before_spread   double precision,
    after_spread    double precision
)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
set enable_sort = off
as $$
#variable_conflict use_column
begin
    return query
    with sums as materialized (
        select
            frame_id,
            coalesce(sum(uploads) filter (where not is_after), 0) as before_uploads,
            coalesce(sum(uploads) filter (where is_after), 0) as after_uploads,
            sum(samples) as samples,
            coalesce(sum(self_us) filter (where not is_after), 0)::double precision as before_self_us,
            coalesce(sum(self_us) filter (where is_after), 0)::double precision as after_self_us,
            coalesce(sum(total_us) filter (where not is_after), 0)::double precision as before_total_us,
            coalesce(sum(total_us) filter (where is_after), 0)::double precision as after_total_us,
            sqrt(coalesce(sum(self_us2) filter (where not is_after), 0)) as before_spread,
            sqrt(coalesce(sum(self_us2) filter (where is_after), 0)) as after_spread
        from (
            select
                false as is_after, unnest(frame_id) as frame_id, unnest(uploads) as uploads, unnest(samples) as samples,
                unnest(self_us) as self_us, unnest(total_us) as total_us, unnest(self_us2)::double precision as self_us2
            from frame_packed
            where is_selected(compared_sums.before, sealed, group_id, bucket, span)
            union all
            select
                true, unnest(frame_id), unnest(uploads), unnest(samples), unnest(self_us), unnest(total_us),
                unnest(self_us2)::double precision
            from frame_packed
            where is_selected(compared_sums.after, sealed, group_id, bucket, span)
        ) as entry
        group by frame_id
    ),
    script as materialized (
        select resource_id, url, script, patterns, replacements
        from named_resource
        where resource_id in (select resource_id from sums join frame using (frame_id))
    ),
    named as (
        select
            sums.*,
            is_stable,
            function_key(
                function, coalesce(source, url), coalesce(source_name(source, patterns, replacements), script), line, column_number, kind, is_stable) as function_key
        from sums
        join original_frame using (frame_id)
        left join script using (resource_id)
        where compared_sums.by is null
        union all
        select sums.*, true, hashtextextended(coalesce(name, ''), 0)
        from sums
        join frame_groups(
            compared_sums.by, array(select frame_id from sums where compared_sums.by is not null), compared_sums.own) using (frame_id)
    )
    select
        function_key,
        bool_and(is_stable),
        (array_agg(frame_id order by after_self_us desc, before_self_us desc, frame_id))[1],
        array_agg(frame_id),
        sum(before_uploads)::bigint,
        sum(after_uploads)::bigint,
        sum(samples)::bigint,
        sum(before_self_us),
        sum(after_self_us),
        sum(before_total_us),
        sum(after_total_us),
        -- Frames of one function may share uploads, so this is an upper bound of the root of the sum of squares.
        case when compared_sums.by is null then sum(before_spread) else sqrt(sum(before_spread ^ 2)) end,
        case when compared_sums.by is null then sum(after_spread) else sqrt(sum(after_spread ^ 2)) end
    from named
    group by function_key;
end
$$;

comment on function fleetprof_data.compared_sums is
    'Returns the functions of two sides, by function_key, or their groups (by and own: as frame_groups has them): sums over each side, in microseconds. frame_ids: all their frames; frame_id: the frame to show, that with the most self time on the later side. is_stable: the key holds across releases. spread: upper bound of the root of the sum over uploads of self time squared. uploads: an upper bound for functions with several frames.';

create or replace function fleetprof_data.compared_parts(
    is_after     boolean,
    side         fleetprof_data.selection,
    strata       fleetprof_data.stratum[],
    frame_ids    bigint[],
    numbers      integer[],
    of_groups    boolean default false
)
returns table (number integer, stratum integer, self_us double precision, spread double precision, product double precision)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
set enable_sort = off
set enable_nestloop = off
-- Hash tables of entries; with less, they are written to files.
set work_mem = '64MB'
as $$
#variable_conflict use_column
declare
    -- Parallel arrays.
    group_ids bigint[];
    places integer[];
begin
    select array_agg(group_id), array_agg(place)
    into group_ids, places
    from (
        select place::integer, unnest(case when compared_parts.is_after then after_ids else before_ids end) as group_id
        from unnest(compared_parts.strata) with ordinality
            as member (before_ids, after_ids, device, b1, a1, b2, a2, b3, a3, b4, a4, place)
    ) as member;
    -- Citus fails on a query that cannot find a row.
    if group_ids is null or compared_parts.frame_ids is null then
        return;
    end if;
    return query
    select
        number, stratum, sum(self_us),
        case when compared_parts.of_groups
            -- Takes the functions of a group as independent; hours show their correlation.
            then sqrt(sum(self_us) ^ 2 / max(uploads) + sum(greatest(0, spread ^ 2 - self_us ^ 2 / uploads)))
            else sum(spread)
        end,
        sum(product)
    from (
        -- Sums of floating point are exact up to 285 years, and faster than those of bigint.
        select
            frame_id, stratum, sum(self_us[place]::double precision) as self_us,
            sqrt(sum(self_us2[place]::double precision)) as spread, sum(self_profiled[place]::double precision) as product
        from (
            -- Most entries are not wanted, and only their keys are unpacked.
            select
                stratum, unnest(frame_id) as frame_id, generate_subscripts(frame_id, 1) as place, self_us, self_us2,
                self_profiled
            from (
                -- || reads each array once, not for each element.
                select
                    stratum, frame_id || '{}' as frame_id, self_us || '{}' as self_us, self_us2 || '{}' as self_us2,
                    self_profiled || '{}' as self_profiled
                from (
                    -- One stratum after the other, so that the sums in progress fit the processor's caches.
                    select stratum, frame_id, self_us, self_us2, self_profiled
                    from frame_packed
                    join unnest(group_ids, places) as member (group_id, stratum) using (group_id)
                    where is_selected(compared_parts.side, sealed, group_id, bucket, span)
                    order by stratum
                ) as packed
                -- Costs nothing; it keeps the planner from unpacking for each element.
                order by stratum
            ) as unpacked
        ) as entry
        -- A lookup in a hash table, before anything is collected.
        where frame_id = any(compared_parts.frame_ids)
        group by frame_id, stratum
    ) as part
    join unnest(compared_parts.frame_ids, compared_parts.numbers) as wanted (frame_id, number) using (frame_id)
    join (
        select place::integer as stratum, case when compared_parts.is_after then after_uploads else before_uploads end as uploads
        from unnest(compared_parts.strata) with ordinality as listed (
            before_ids, after_ids, device, before_uploads, after_uploads, b2, a2, b3, a3, b4, a4, place)
    ) as layer using (stratum)
    group by number, stratum
    having sum(spread) > 0;
end
$$;

comment on function fleetprof_data.compared_parts is
    'Returns one side''s sums by function and stratum, both as numbers from 1: self time, microseconds; spread, as in compared_sums; sum over uploads of self time times profiled time, microseconds squared. frame_ids and numbers, in parallel, say which frames make up each function. of_groups: these are groups of functions, whose spread adds up as if functions were independent.';

create or replace function fleetprof_data.compared_hours(
    side      fleetprof_data.selection,
    frame_ids bigint[],
    numbers   integer[]
)
returns table (number integer, bucket timestamptz, self_us double precision)
language plpgsql stable parallel safe rows 10000
set search_path = fleetprof_data, pg_temp
set enable_sort = off
set enable_nestloop = off
-- Hash tables of entries; with less, they are written to files.
set work_mem = '64MB'
as $$
#variable_conflict use_column
begin
    -- Citus fails on a query that cannot find a row.
    if compared_hours.frame_ids is null then
        return;
    end if;
    return query
    select number, bucket, sum(self_us)::double precision
    from (
        select bucket, unnest(frame_id) as frame_id, unnest(self_us) as self_us
        from frame_packed
        where is_selected(compared_hours.side, sealed, group_id, bucket, span)
    ) as entry
    join unnest(compared_hours.frame_ids, compared_hours.numbers) as wanted (frame_id, number) using (frame_id)
    where frame_id = any(compared_hours.frame_ids)
    group by number, bucket;
end
$$;

comment on function fleetprof_data.compared_hours is
    'Returns one side''s self time by function and hour (or day, where hours are gone), microseconds.';

create or replace function fleetprof_data.compared_hour_totals(
    side     fleetprof_data.selection,
    is_after boolean,
    strata   fleetprof_data.stratum[]
)
returns table (stratum integer, device text, bucket timestamptz, hours integer, uploads double precision)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with member as materialized (
        select
            place::integer as stratum, device,
            unnest(case when compared_hour_totals.is_after then after_ids else before_ids end) as segment_id
        from unnest(compared_hour_totals.strata) with ordinality
            as listed (before_ids, after_ids, device, b1, a1, b2, a2, b3, a3, b4, a4, place)
    )
    select stratum, device, bucket, max(hours), sum(uploads)::double precision
    from (
        select group_id as segment_id, bucket, case span when 2 then 24 else 1 end as hours, unnest(uploads) as uploads
        from total_packed
        where is_selected(compared_hour_totals.side, sealed, group_id, bucket, span)
    ) as entry
    join member using (segment_id)
    group by stratum, device, bucket
    having sum(uploads) > 0;
end
$$;

comment on function fleetprof_data.compared_hour_totals is
    'Returns one side''s uploads by stratum (a number from 1), device and hour (or day, where hours are gone), and how many hours that is.';

create or replace function fleetprof_data.compared_hours_span(
    side        fleetprof_data.selection,
    out hours   tstzrange,
    out uploads bigint,
    out length  integer
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    select
        case when count(*) > 0 then tstzrange(min(bucket), max(bucket + hours * interval '1 hour')) end,
        coalesce(sum(uploads), 0)::bigint,
        coalesce(sum(hours), 0)
    into hours, uploads, length
    from (
        select bucket, max(hours) as hours, sum(uploads) as uploads
        from (
            select bucket, case span when 2 then 24 else 1 end as hours, unnest(uploads) as uploads
            from total_packed
            where is_selected(compared_hours_span.side, sealed, group_id, bucket, span)
        ) as entry
        group by bucket
    ) as hour
    where uploads > 0;
end
$$;

comment on function fleetprof_data.compared_hours_span is
    'Returns the first and the last time with uploads of one side (null: none), and the numbers of uploads and of hours with some.';

create or replace function fleetprof_data.compared_reference(
    side        fleetprof_data.compared_side,
    after       fleetprof_data.compared_side,
    segment_ids bigint[]
)
returns fleetprof_data.compared_side
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    longest constant interval := '48 hours';
    reference compared_side := compared_reference.side;
    end_hour timestamptz := greatest(
        (side.hours).before, least((side.hours).before + interval '24 hours', ((compared_reference.after).hours).after + interval '1 hour'));
    first_hour timestamptz := greatest(end_hour - longest, (select hours_from from horizon));
    blocks record := cover((side.hours).sites, first_hour, end_hour, '{0}');
begin
    reference.hours.segment_ids := compared_reference.segment_ids;
    reference.hours.group_ids := compared_reference.segment_ids;
    reference.hours.after := first_hour - interval '1 hour';
    reference.hours.before := end_hour;
    reference.hours.buckets := blocks.buckets;
    reference.hours.spans := blocks.spans;
    reference.segment_hours := reference.hours;
    return reference;
end
$$;

comment on function fleetprof_data.compared_reference is
    'Returns the earlier side of these segments over 48 hours, to show how much hours differ. The period ends a day after that side, but before the later side begins.';

create or replace function fleetprof_data.compared_evidence(
    before              fleetprof_data.compared_side,
    after               fleetprof_data.compared_side,
    out before_hours    integer,
    out after_hours     integer,
    out undecided       text,
    out is_enough       boolean,
    out takes_reference boolean,
    out false_share     double precision,
    out visible_z       double precision,
    out later_visible_z double precision,
    out least_hours     integer,
    out least_uploads   integer
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    earlier record := compared_hours_span((compared_evidence.before).segment_hours);
    later record := compared_hours_span((compared_evidence.after).segment_hours);
    uploads constant bigint := least(earlier.uploads, later.uploads);
    -- Uploads that suffice while a release is early: only a change far beyond noise is found then.
    young_uploads constant integer := 1000;
    needed record;
begin
    select * into needed from least_evidence();
    least_hours := needed.hours;
    least_uploads := needed.uploads;
    before_hours := earlier.length;
    after_hours := later.length;
    undecided := case
        when least(before_hours, after_hours) < least_hours then 'early'
        when uploads < least_uploads then 'not enough data'
    end;
    is_enough := case undecided when 'early' then uploads >= young_uploads when 'not enough data' then uploads >= needed.few_uploads else true end;
    takes_reference := is_enough and undecided is not distinct from 'early';
    -- People may look every hour while a release grows: all looks together raise a false alarm in 5 % of releases.
    false_share := case when undecided is null then 0.0125 else 0.0005 end;
    -- Standard errors of a change that is found in nine of ten cases after the correction of Benjamini and Hochberg.
    later_visible_z := needed.visible_z;
    visible_z := case when undecided is null then later_visible_z else needed.few_visible_z end;
end
$$;

comment on function fleetprof_data.compared_evidence is
    'Returns how much evidence two sides have. undecided: the verdict where no change is found, null if all can be judged; is_enough: large changes can be judged; takes_reference: only with the help of the hours before; false_share: of Benjamini and Hochberg; visible_z: standard errors of a change that is found in nine of ten cases, later_visible_z: with enough hours and uploads.';

revoke execute on function
    fleetprof_data.least_evidence, fleetprof_data.compared_side, fleetprof_data.compared_strata, fleetprof_data.compared_sums,
    fleetprof_data.compared_parts, fleetprof_data.compared_hours, fleetprof_data.compared_hour_totals,
    fleetprof_data.compared_hours_span, fleetprof_data.compared_reference, fleetprof_data.compared_evidence
from public;
grant execute on function
    fleetprof_data.least_evidence, fleetprof_data.compared_side, fleetprof_data.compared_strata, fleetprof_data.compared_sums,
    fleetprof_data.compared_parts, fleetprof_data.compared_hours, fleetprof_data.compared_hour_totals,
    fleetprof_data.compared_hours_span, fleetprof_data.compared_reference, fleetprof_data.compared_evidence
to fleetprof_reader;
