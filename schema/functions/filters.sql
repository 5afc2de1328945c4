-- Filters: what functions share to find the numbers that a caller asks for.
--
-- A filter is null (everything), '' (the dimension is absent) or a text in which only % is a wildcard, and \% is a
-- percent sign.
-- Functions are PL/pgSQL, so that the arrays of a selection are constants for the planner: that prunes partitions,
-- and Citus distributes it.

create or replace function fleetprof_data.like_pattern(filter text)
returns text
language sql immutable strict parallel safe
-- A backslash that stands before a wildcard was one of the filter's own, and takes its meaning away.
return replace(replace(replace(filter, '\', '\\'), '_', '\_'), '\\%', '\%');

comment on function fleetprof_data.like_pattern is
    'Returns the LIKE pattern of a filter, in which only % is a wildcard, and \% is a percent sign.';

create or replace function fleetprof_data.literal_filter(value text)
returns text
language sql immutable strict parallel safe
return replace(value, '%', '\%');

comment on function fleetprof_data.literal_filter is 'Returns the filter that selects this value only.';

create or replace function fleetprof_data.marker_of(number smallint)
returns fleetprof_data.marker
language sql immutable parallel safe
return ('{(none),script,gc,style,layout,paint,other}'::fleetprof_data.marker[])[number + 1];

comment on function fleetprof_data.marker_of is 'Returns the marker with this number in packed rows; null for -1.';

create or replace function fleetprof_data.matches(value text, filter text)
returns boolean
language sql immutable parallel safe
return filter is null or filter = '%' or value like fleetprof_data.like_pattern(filter);

comment on function fleetprof_data.matches is 'True if a filter selects this value of a dimension.';

create or replace function fleetprof_data.is_excluded(
    exclude     text[],
    route       text,
    release     text,
    environment text,
    variant     text,
    browser     text,
    os          text,
    device      text,
    thread      text
)
returns boolean
language sql immutable parallel safe
return exclude is not null and coalesce(
    route like fleetprof_data.like_pattern(exclude[1])
    or release like fleetprof_data.like_pattern(exclude[2])
    or environment like fleetprof_data.like_pattern(exclude[3])
    or variant like fleetprof_data.like_pattern(exclude[4])
    or browser like fleetprof_data.like_pattern(exclude[5])
    or os like fleetprof_data.like_pattern(exclude[6])
    or device like fleetprof_data.like_pattern(exclude[7])
    or thread like fleetprof_data.like_pattern(exclude[8]), false);

comment on function fleetprof_data.is_excluded is
    'True if one of the filters in exclude, in the order of the other parameters, selects its dimension''s value.';

create or replace function fleetprof_data.is_selected(
    selected fleetprof_data.selection,
    sealed   boolean,
    group_id bigint,
    bucket   timestamptz,
    span     smallint
)
returns boolean
language sql immutable parallel safe
return case
    when sealed then
        group_id = any((selected).group_ids)
        -- One more, which never exists: without a block the condition would be a constant, and Citus has no plan for an
        -- outer join under one.
        and bucket = any((selected).buckets || '-infinity'::timestamptz)
        and span = ((selected).spans)[array_position((selected).buckets, bucket)]
        -- Longest blocks come first: this leaves out KIND_hours or KIND_days as a whole.
        and span between coalesce(((selected).spans)[cardinality((selected).spans)], 0) and coalesce(((selected).spans)[1], 0)
    else group_id = any((selected).segment_ids) and bucket > (selected).after and bucket < (selected).before
end;

comment on function fleetprof_data.is_selected is
    'True if a row of a view KIND_packed is selected. The planner inlines it: each table is read by index, and only the partitions that have selected blocks.';

create or replace function fleetprof_data.cover(
    sites       text[],
    since       timestamptz,
    until       timestamptz,
    group_spans smallint[],
    out buckets timestamptz[],
    out spans   smallint[]
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    lengths constant interval[] := '{1 hour,4 hours,24 hours,192 hours}';
    length interval;
    tile_buckets timestamptz[];
    tile_spans smallint[];
    -- Blocks of the current span, of which at least one site has facts, and which no longer block covers.
    remaining timestamptz[];
    fitting timestamptz[];
begin
    buckets := '{}';
    spans := '{}';
    select array_agg(bucket), array_agg(span)
    into tile_buckets, tile_spans
    from (
        select distinct bucket, span
        from sealed
        where site = any(cover.sites) and bucket > cover.since - lengths[4] and bucket < cover.until
    ) as tile;

    remaining := array(select distinct date_bin(lengths[4], bucket, 'epoch') from unnest(tile_buckets) as bucket);
    for size in reverse 3..0 loop
        length := lengths[size + 1];
        -- A block fits if all sites have sums of it: none has smaller tiles in it.
        select array_agg(bucket order by bucket) filter (where fits), array_agg(bucket) filter (where not fits)
        into fitting, remaining
        from (
            select
                block.bucket,
                size = any(cover.group_spans)
                    and block.bucket >= cover.since
                    and block.bucket + length <= cover.until
                    and min(tile.span) >= size as fits
            from unnest(remaining) as block (bucket)
            join unnest(tile_buckets, tile_spans) as tile (bucket, span)
                on tile.bucket < block.bucket + length and tile.bucket + lengths[tile.span + 1] > block.bucket
            where block.bucket < cover.until and block.bucket + length > cover.since
            group by block.bucket
        ) as block;
        buckets := buckets || fitting;
        spans := spans || array_fill(size::smallint, array[coalesce(cardinality(fitting), 0)]);
        exit when size = 0 or remaining is null;
        remaining := array(
            select part
            from unnest(remaining) as bucket
            cross join lateral generate_series(bucket, bucket + length - lengths[size], lengths[size]) as part);
    end loop;
end
$$;

comment on function fleetprof_data.cover is
    'Returns the fewest blocks that cover what is sealed of these sites in [since, until), the longest first: of group_spans, with sums for all sites, none overlapping. since and until are whole hours.';

create or replace function fleetprof_data.check_period(since timestamptz, until timestamptz)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    if check_period.since > check_period.until then
        raise invalid_parameter_value using
            message = 'since is later than until',
            detail = format('since is %s, until is %s.', check_period.since, check_period.until),
            hint = 'until defaults to now(), since to a day before now().';
    end if;
end
$$;

comment on function fleetprof_data.check_period is 'Raises an error with a hint if since is later than until.';

create or replace function fleetprof_data.select_segments(
    site        text,
    since       timestamptz,
    until       timestamptz,
    route       text,
    release     text,
    environment text,
    variant     text,
    browser     text,
    os          text,
    device      text,
    thread      text,
    by_segment  boolean default false,
    exclude     text[] default null
)
returns fleetprof_data.selection
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection;
    hours_from timestamptz := (select hours_from from horizon);
    -- The hours that [since, until) overlaps: from the first one on, and before the second one. Null is no bound; times
    -- at the ends of the calendar could not be computed with.
    first_hour timestamptz := date_bin('1 hour', least(greatest(select_segments.since, 'epoch'), '3000-01-01Z'), 'epoch');
    end_hour timestamptz := date_bin(
        '1 hour',
        least(greatest(coalesce(select_segments.until, 'infinity'), 'epoch'), '3000-01-01Z') - interval '1 microsecond',
        'epoch') + interval '1 hour';
    filtered text[] := array(
        select dimension
        from unnest(
            array['route', 'release', 'environment', 'variant', 'browser', 'os', 'device', 'thread'],
            array[
                select_segments.route, select_segments.release, select_segments.environment, select_segments.variant,
                select_segments.browser, select_segments.os, select_segments.device, select_segments.thread],
            select_segments.exclude
        ) as given (dimension, filter, excluded)
        where filter <> '%' or excluded is not null);
    wanted smallint;
begin
    if select_segments.site is null then
        raise invalid_parameter_value using
            message = 'site is null',
            hint = 'Name a site, or use ''%'' for all of them.';
    end if;
    perform check_period(select_segments.since, select_segments.until);

    select array_agg(segment_id order by segment_id), array_agg(distinct site collate "C")
    into selected.segment_ids, selected.sites
    from segment
    where matches(site, select_segments.site)
        and matches(route, select_segments.route)
        and matches(release, select_segments.release)
        and matches(environment, select_segments.environment)
        and matches(variant, select_segments.variant)
        and matches(browser, select_segments.browser)
        and matches(os, select_segments.os)
        and matches(device, select_segments.device)
        and matches(thread, select_segments.thread)
        and not is_excluded(select_segments.exclude, route, release, environment, variant, browser, os, device, thread);

    -- An empty interval overlaps nothing. Where hours were dropped, whole days stand for them.
    if select_segments.since = select_segments.until then
        first_hour := 'infinity';
    elsif first_hour < hours_from then
        first_hour := date_bin('24 hours', first_hour, 'epoch');
    end if;
    if end_hour <= hours_from then
        end_hour := date_bin('24 hours', end_hour - interval '1 hour', 'epoch') + interval '24 hours';
    end if;
    selected.after := first_hour - interval '1 hour';
    selected.before := end_hour;

    if not select_segments.by_segment then
        select buckets, spans into selected.buckets, selected.spans from cover(selected.sites, first_hour, end_hour, '{0,1,2,3}');
        -- The coarsest level that keeps what is filtered, and that was there when the first block was sealed.
        select level
        into wanted
        from cohort_level
        where filtered <@ dimensions and greatest(since, added + interval '2 hours') <= all(selected.buckets)
        order by cardinality(dimensions), level
        limit 1;
    end if;
    if wanted is null then
        select buckets, spans into selected.buckets, selected.spans from cover(selected.sites, first_hour, end_hour, '{0,2}');
        selected.group_ids := selected.segment_ids;
        return selected;
    end if;

    selected.group_ids := array(
        select group_id
        from cohort
        where level = wanted
            and matches(site, select_segments.site)
            and matches(route, select_segments.route)
            and matches(release, select_segments.release)
            and matches(environment, select_segments.environment)
            and matches(variant, select_segments.variant)
            and matches(browser, select_segments.browser)
            and matches(os, select_segments.os)
            and matches(device, select_segments.device)
            and matches(thread, select_segments.thread)
            and not is_excluded(
                select_segments.exclude, route, release, environment, variant, browser, os, device, thread)
        order by group_id
    );
    return selected;
end
$$;

comment on function fleetprof_data.select_segments is
    'Returns what filters select; raises an error with a hint for invalid ones. by_segment: sealed rows of segments, even where cohorts would do. exclude: filters of what is left out, in the order of the dimensions from route to thread; null leaves out nothing.';

create or replace function fleetprof_data.select_markers(filter text, excluded text default null)
returns smallint[]
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected smallint[] := array(
        select number - 1
        from unnest(enum_range(null::marker)) with ordinality as marker (name, number)
        where (
                select_markers.filter is null
                or name::text like like_pattern(coalesce(nullif(select_markers.filter, ''), '(none)')))
            and (
                select_markers.excluded is null
                or name::text not like like_pattern(coalesce(nullif(select_markers.excluded, ''), '(none)')))
    );
begin
    if cardinality(selected) = 0 then
        if select_markers.excluded is not null then
            -- Says so if nothing has the filter's name.
            perform select_markers(select_markers.filter);
        end if;
        raise invalid_parameter_value using
            message = case
                when select_markers.excluded is null then format('no marker is named "%s"', select_markers.filter)
                else 'marker and exclude_marker leave no marker'
            end,
            hint = format('Markers are %s; %% is a wildcard.',
                          array_to_string(enum_range(null::marker), ', '));
    end if;
    return selected;
end
$$;

comment on function fleetprof_data.select_markers is
    'Returns the numbers of the markers that a filter selects and the other one does not; '''' means (none). Raises an error with a hint when there are none.';

create or replace function fleetprof_data.are_all(markers smallint[])
returns boolean
language sql immutable parallel safe
return cardinality(markers) = cardinality(enum_range(null::fleetprof_data.marker));

comment on function fleetprof_data.are_all is 'True if a set of markers has all of them.';

create or replace function fleetprof_data.selected_totals(
    selected          fleetprof_data.selection,
    timing_ids        bigint[] default null,
    out profiled_us   double precision,
    out attributed_us double precision,
    out loads         bigint,
    out uploads       bigint
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    if selected_totals.timing_ids is null then
        select sum(self_us), sum(self_us) filter (where marker >= 0), sum(loads), sum(uploads)
        into profiled_us, attributed_us, loads, uploads
        from (
            select
                unnest(marker) as marker,
                unnest(uploads) as uploads,
                unnest(loads) as loads,
                unnest(self_us) as self_us
            from total_packed
            where is_selected(selected_totals.selected, sealed, group_id, bucket, span)
        ) as entry;
    else
        select sum(profiled_us), sum(profiled_us) - sum(unattributed_us), sum(uploads), sum(uploads)
        into profiled_us, attributed_us, loads, uploads
        from (
            select
                unnest(timing_id) as timing_id,
                unnest(uploads) as uploads,
                unnest(profiled_us) as profiled_us,
                unnest(unattributed_us) as unattributed_us
            from measure_packed
            where is_selected(selected_totals.selected, sealed, group_id, bucket, span)
        ) as entry
        where timing_id = any(selected_totals.timing_ids);
    end if;
    profiled_us := nullif(profiled_us, 0);
    attributed_us := nullif(attributed_us, 0);
    loads := nullif(loads, 0);
end
$$;

comment on function fleetprof_data.selected_totals is
    'Returns the totals of a selection that shares and means divide by, null instead of 0: profiled time, unattributed time included; attributed time, both in microseconds; page loads; and the number of uploads. A page load of several uploads counts in the segment and hour of its first upload, an upload without a load id is a page load of its own. timing_ids: inside these measures, where uploads stand for page loads.';

revoke execute on function
    fleetprof_data.like_pattern,
    fleetprof_data.literal_filter,
    fleetprof_data.marker_of,
    fleetprof_data.matches,
    fleetprof_data.is_excluded,
    fleetprof_data.is_selected,
    fleetprof_data.cover,
    fleetprof_data.check_period,
    fleetprof_data.select_segments,
    fleetprof_data.select_markers,
    fleetprof_data.are_all,
    fleetprof_data.selected_totals
from public;
grant execute on function
    fleetprof_data.like_pattern,
    fleetprof_data.literal_filter,
    fleetprof_data.marker_of,
    fleetprof_data.matches,
    fleetprof_data.is_excluded,
    fleetprof_data.is_selected,
    fleetprof_data.cover,
    fleetprof_data.check_period,
    fleetprof_data.select_segments,
    fleetprof_data.select_markers,
    fleetprof_data.are_all,
    fleetprof_data.selected_totals
to fleetprof_reader;
