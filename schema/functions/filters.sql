-- SPDX-License-Identifier: Apache-2.0
-- Filters: what functions share to find the numbers that a caller asks for.
--
-- A filter is null (everything), '' (the dimension is absent) or a text in which only % is a wildcard, and \% is a
-- percent sign. schema/filters lists the dimensions; tools/expand-schema says what macros become.
-- Functions are PL/pgSQL, so that the arrays of a selection are constants for the planner. Constants let it prune
-- partitions, and let Citus distribute the query.

create or replace function fleetprof_data.like_pattern(filter text)
returns text
language sql immutable strict parallel safe
-- A backslash before a wildcard comes from the filter itself and makes the wildcard a plain character.
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

create or replace function fleetprof_data.is_excluded(value text, filter text)
returns boolean
language sql immutable parallel safe
return coalesce(value like fleetprof_data.like_pattern(filter), false);

comment on function fleetprof_data.is_excluded is 'True if the filter of an exclude_… parameter selects this value of a dimension; null selects none.';

create or replace function fleetprof_data.dimensions()
returns text[]
language sql immutable parallel safe
return string_to_array('{{dimensions}}', ', ');

comment on function fleetprof_data.dimensions is 'Returns the dimensions of page loads, in the order of the arrays of fleetprof_data.filters.';

create or replace function fleetprof_data.script_groups()
returns text[]
language sql immutable parallel safe
return '{package,owner,party,entity,host,resource,source}'::text[];

comment on function fleetprof_data.script_groups is 'Returns what frames can be grouped by: properties of their script.';

create or replace function fleetprof_data.value_patterns(filter text)
returns text[]
language sql immutable strict parallel safe
return (
    select array_agg(
        '(^|; )'
        || replace(regexp_replace(trim(wanted), '[][*+?.(){}|^$\\]', '\\\&', 'g'), '%', '[^;]*')
        || '(; |$)')
    from unnest(string_to_array(filter, ';')) as wanted
);

comment on function fleetprof_data.value_patterns is 'Returns a regular expression for each custom dimension in a filter. Values have neither ; nor %.';

create or replace function fleetprof_data.has_values(value text, filter text)
returns boolean
language sql immutable parallel safe
return filter is null or filter = '%' or value = filter or filter <> '' and value ~ all(fleetprof_data.value_patterns(filter));

comment on function fleetprof_data.has_values is 'True if a filter selects these values of custom dimensions: all that it names are among them.';

create or replace function fleetprof_data.lacks_no_value(value text, filter text)
returns boolean
language sql immutable parallel safe
return coalesce(value = filter or filter <> '' and value ~ all(fleetprof_data.value_patterns(filter)), false);

comment on function fleetprof_data.lacks_no_value is 'True if the filter of exclude_custom selects these values of custom dimensions; null selects none.';

create or replace function fleetprof_data.custom_value(custom text, dimension text)
returns text
language sql immutable parallel safe
return coalesce(substring(
    custom from '(?:^|; )' || regexp_replace(substring(dimension from '^custom\.(.*)$'), '[.]', '\\.', 'g') || '=([^;]*)'), '');

comment on function fleetprof_data.custom_value is 'Returns the value that custom dimensions have for one of them, which is named as custom.plan; empty for none.';

create or replace function fleetprof_data.is_dimension(name text)
returns boolean
language sql immutable parallel safe
return coalesce(name = any(fleetprof_data.dimensions()) or name ~ '^custom\.[\w.-]+$', false);

comment on function fleetprof_data.is_dimension is 'True for the name of a dimension of page loads, and for one custom dimension, such as custom.plan.';

create or replace function fleetprof_data.usual_filters()
returns text[]
language sql immutable parallel safe
return array[{{defaults}}]::text[];

comment on function fleetprof_data.usual_filters is 'Returns the filter of each dimension that holds unless a caller gives another one. The same value is stored where the dimension is absent; null: an empty text is stored.';

create or replace function fleetprof_data.spelled_out(filters text[])
returns text[]
language sql immutable parallel safe
return (
    select array_agg(case filter when '' then coalesce(usual, '') else filter end order by place)
    from unnest(filters, fleetprof_data.usual_filters()) with ordinality as given (filter, usual, place)
);

comment on function fleetprof_data.spelled_out is 'Returns filters, one per dimension, with the value that is stored for an absent dimension in place of an empty text.';

create or replace function fleetprof_data.listed_by(given fleetprof_data.filters, dimension text)
returns fleetprof_data.filters
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    place integer := array_position(dimensions(), split_part(listed_by.dimension, '.', 1));
begin
    if given.wanted[place] = (usual_filters())[place] then
        given.wanted[place] := '%';
    end if;
    return given;
end
$$;

comment on function fleetprof_data.listed_by is 'Returns the filters of a question that lists by this dimension: all values, unless the caller gives a filter that is not the usual one.';

create or replace function fleetprof_data.dimension_of(name text, of_vitals boolean default false)
returns text
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    known text[] := dimensions() || case when dimension_of.of_vitals then '{navigation}' else '{}' end::text[] || 'custom.NAME'::text;
begin
    if not is_dimension(dimension_of.name) and (dimension_of.name = any(known)) is not true then
        raise invalid_parameter_value using
            message = coalesce('no dimension is named "' || dimension_of.name || '"', 'dimension is null'),
            hint = format('Dimensions are %s.', array_to_string(known, ', '));
    end if;
    return dimension_of.name;
end
$$;

comment on function fleetprof_data.dimension_of is 'Returns the name of a dimension; raises an error if there is none. of_vitals: also one of vitals and interactions.';

create or replace function fleetprof_data.navigations()
returns text[]
language sql immutable parallel safe
return '{"",hard,soft,back-forward,back-forward-cache,prerender,reload,restore}'::text[];

comment on function fleetprof_data.navigations is 'Returns the kinds of navigation, in the order of their numbers, from 0; the first one is unknown. FP_NAVIGATIONS in collector/base/words.h has the same.';

create or replace function fleetprof_data.select_navigations(filter text, excluded text, dimension text default null)
returns text[]
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected text[] := array(
        select name
        from unnest(navigations()) as navigation (name)
        where matches(name, select_navigations.filter) and not is_excluded(name, select_navigations.excluded));
begin
    if cardinality(selected) = 0 then
        raise invalid_parameter_value using
            message = case
                when select_navigations.excluded is null then format('no kind of navigation is named "%s"', select_navigations.filter)
                else 'navigation and exclude_navigation leave no kind of navigation'
            end,
            hint = format('Kinds of navigation are %s; an empty text is an unknown one, and %% is a wildcard.',
                          array_to_string(array_remove(navigations(), ''), ', '));
    end if;
    -- A soft navigation shows another view of a page that is there already: its waits are of another kind.
    if cardinality(selected) > 1 and select_navigations.dimension is distinct from 'navigation' then
        return array_remove(selected, 'soft');
    end if;
    return selected;
end
$$;

comment on function fleetprof_data.select_navigations is
    'Returns the kinds of navigation that filters select; raises an error with a hint if there are none. Soft navigations are never selected together with others, unless the question lists by navigation (dimension).';

create or replace function fleetprof_data.select_navigations_of(kind text, filter text, excluded text)
returns text[]
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    if select_navigations_of.kind = 'vital' then
        return select_navigations(select_navigations_of.filter, select_navigations_of.excluded);
    end if;
    if coalesce(select_navigations_of.filter, select_navigations_of.excluded) is not null then
        raise invalid_parameter_value using
            message = format('navigation is not a filter of the kind "%s"', select_navigations_of.kind),
            hint = 'Only vitals and interactions belong to a kind of navigation.';
    end if;
    return null;
end
$$;

comment on function fleetprof_data.select_navigations_of is
    'Returns the result of select_navigations for vitals, null for other kinds of timings; raises an error if other kinds are filtered by navigation.';

create or replace function fleetprof_data.kept_apart(given fleetprof_data.filters, dimension text)
returns fleetprof_data.filters
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    place integer := array_position(dimensions(), split_part(kept_apart.dimension, '.', 1));
begin
    given := listed_by(given, kept_apart.dimension);
    if place is not null then
        given.wanted[place] := coalesce(nullif(given.wanted[place], '%'), '%%');
    end if;
    return given;
end
$$;

comment on function fleetprof_data.kept_apart is 'Returns the filters of listed_by, changed so that each selected group has one value of the dimension: %% matches like %, but counts as a filter.';

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
        -- Adds a block that never exists: without any block the condition would be a constant, and Citus has no plan
        -- for an outer join under a constant.
        and bucket = any((selected).buckets || '-infinity'::timestamptz)
        and span = ((selected).spans)[array_position((selected).buckets, bucket)]
        -- The longest blocks come first, so the planner can skip KIND_hours or KIND_days as a whole.
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
    -- Blocks of the current span in which at least one site has facts, and which no longer block covers.
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
        -- A block fits if all sites have sums of it, so that no site has smaller tiles in it.
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

create or replace function fleetprof_data.selection_text(selected fleetprof_data.selection)
returns text
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- Citus takes variables as parameters of a query that it distributes, but not fields of them.
    groups constant bigint[] := selected.group_ids;
    lengths constant interval[] := '{1 hour,4 hours,1 day,8 days}';
    form constant text := 'YYYY-MM-DD HH24:MI';
    levels text;
    blocks text;
begin
    select string_agg(distinct level::text, ', ') into levels from cohort where group_id = any(groups);
    select string_agg(
        format('%s of %s from %s to %s', count, extract(epoch from lengths[span + 1])::integer / 3600 || ' h',
            to_char(first at time zone 'UTC', form), to_char((last + lengths[span + 1]) at time zone 'UTC', form)),
        ', ' order by span desc)
    into blocks
    from (
        select span, count(*) as count, min(bucket) as first, max(bucket) as last
        from unnest(selected.buckets, selected.spans) as block (bucket, span)
        group by span
    ) as block;
    return format(
        'sites: %s; segments: %s; fresh rows: from %s to %s; groups of sealed rows: %s (%s); blocks: %s (UTC)',
        coalesce(cardinality(selected.sites), 0), coalesce(cardinality(selected.segment_ids), 0),
        to_char((selected.after + interval '1 hour') at time zone 'UTC', form), to_char(selected.before at time zone 'UTC', form),
        coalesce(cardinality(groups), 0), coalesce('cohorts of level ' || levels, 'segments'), coalesce(blocks, 'none'));
end
$$;

comment on function fleetprof_data.selection_text is
    'Returns in words which rows a selection reads: the fresh rows of how many segments; how many groups, and their cohort levels; how many sealed blocks of each length, from the start of the first to the end of the last.';

create or replace function fleetprof_data.explain_selection(selected fleetprof_data.selection)
returns void
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    if current_setting('client_min_messages') like 'debug%' or current_setting('log_min_messages') like 'debug%' then
        raise debug '%', selection_text(explain_selection.selected);
    end if;
end
$$;

comment on function fleetprof_data.explain_selection is 'Sends selection_text as a message of level debug1, if the client or the log takes that level.';

create or replace function fleetprof_data.select_segments(given fleetprof_data.filters, by_segment boolean default false)
returns fleetprof_data.selection
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection;
    wanted_site constant text := given.site;
    filters constant text[] := spelled_out(given.wanted);
    excluded constant text[] := spelled_out(given.excluded);
    hours_from timestamptz := (select hours_from from horizon);
    -- The hours that [since, until) overlaps: at or after the first, before the second. Null means no bound, because
    -- arithmetic fails on times at the ends of the calendar.
    first_hour timestamptz := date_bin('1 hour', least(greatest(given.since, 'epoch'), '3000-01-01Z'), 'epoch');
    end_hour timestamptz := date_bin(
        '1 hour',
        least(greatest(coalesce(given.until, 'infinity'), 'epoch'), '3000-01-01Z') - interval '1 microsecond',
        'epoch') + interval '1 hour';
    -- Each cohort has a single value in a dimension with a usual filter, at any level.
    filtered text[] := array(
        select dimension
        from unnest(dimensions(), usual_filters(), filters, excluded) as asked (dimension, usual, filter, unwanted)
        where usual is null and (filter <> '%' or unwanted is not null));
    wanted smallint;
begin
    if wanted_site is null then
        raise invalid_parameter_value using
            message = 'site is null',
            hint = 'Name a site, or use ''%'' for all of them.';
    end if;
    perform check_period(given.since, given.until);

    select array_agg(segment_id order by segment_id), array_agg(distinct site collate "C")
    into selected.segment_ids, selected.sites
    from segment
    where matches(site, wanted_site)
        -- {{each but custom: and matches($name, filters[$number]) and not is_excluded($name, excluded[$number])}}
        -- {{each after network but drawn: and has_values($name, filters[$number]) and not lacks_no_value($name, excluded[$number])}};

    -- An empty interval overlaps nothing. Where hours were dropped, whole days stand for them.
    if given.since = given.until then
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
        -- The coarsest level that keeps the filtered dimensions and existed when the first block was sealed.
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
        perform explain_selection(selected);
        return selected;
    end if;

    selected.group_ids := array(
        select group_id
        from cohort
        where level = wanted
            and matches(site, wanted_site)
            -- {{each but custom: and matches($name, filters[$number]) and not is_excluded($name, excluded[$number])}}
            -- {{each after network but drawn: and has_values($name, filters[$number]) and not lacks_no_value($name, excluded[$number])}}
        order by group_id
    );
    perform explain_selection(selected);
    return selected;
end
$$;

comment on function fleetprof_data.select_segments is
    'Returns the selection of these filters; raises an error with a hint for invalid filters. by_segment: reads sealed rows of segments, even where cohorts would do.';

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
            -- Raises an error if no marker has the filter's name.
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

create or replace function fleetprof_data.script_markers()
returns smallint[]
language sql stable parallel safe
return fleetprof_data.select_markers('(none)') || fleetprof_data.select_markers('script');

comment on function fleetprof_data.script_markers is
    'Returns the markers of the samples whose time is that of JavaScript: the script marker, and none.';

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
    out uploads       bigint,
    out unseen_us     double precision
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    if selected_totals.timing_ids is null then
        select sum(self_us), sum(self_us) filter (where marker >= 0), sum(loads), sum(uploads), sum(unseen_us)
        into profiled_us, attributed_us, loads, uploads, unseen_us
        from (
            select
                unnest(marker) as marker,
                unnest(uploads) as uploads,
                unnest(loads) as loads,
                unnest(self_us) as self_us,
                unnest(unseen_us) as unseen_us
            from total_packed
            where is_selected(selected_totals.selected, sealed, group_id, bucket, span)
        ) as entry;
    else
        select
            sum(profiled_us), sum(profiled_us) - sum(unattributed_us), sum(loads), sum(uploads),
            sum(window_us) - sum(profiled_us)
        into profiled_us, attributed_us, loads, uploads, unseen_us
        from (
            select
                unnest(timing_id) as timing_id,
                unnest(uploads) as uploads,
                unnest(coalesce(loads, uploads)) as loads,
                unnest(profiled_us) as profiled_us,
                unnest(unattributed_us) as unattributed_us,
                unnest(coalesce(window_us, profiled_us)) as window_us
            from measure_packed
            where is_selected(selected_totals.selected, sealed, group_id, bucket, span)
        ) as entry
        where timing_id = any(selected_totals.timing_ids);
    end if;
    profiled_us := nullif(profiled_us, 0);
    attributed_us := nullif(attributed_us, 0);
    loads := nullif(loads, 0);
    -- Below zero if the selection has only those parts of a page load that saw time which other parts had missed.
    unseen_us := greatest(coalesce(unseen_us, 0), 0);
end
$$;

comment on function fleetprof_data.selected_totals is
    'Returns the totals of a selection that shares and means divide by, null instead of 0: profiled time, unattributed time included; attributed time, both in microseconds; page loads; the number of uploads; and unseen time, 0 where there is none. A page load of several uploads counts in the segment and hour of its first upload, an upload without a load id is a page load of its own. timing_ids: inside these measures, of page loads with profiled time there.';

revoke execute on function
    fleetprof_data.like_pattern,
    fleetprof_data.literal_filter,
    fleetprof_data.marker_of,
    fleetprof_data.matches,
    fleetprof_data.is_excluded,
    fleetprof_data.dimensions,
    fleetprof_data.script_groups,
    fleetprof_data.value_patterns,
    fleetprof_data.has_values,
    fleetprof_data.lacks_no_value,
    fleetprof_data.custom_value,
    fleetprof_data.is_dimension,
    fleetprof_data.usual_filters,
    fleetprof_data.spelled_out,
    fleetprof_data.listed_by,
    fleetprof_data.dimension_of,
    fleetprof_data.navigations,
    fleetprof_data.select_navigations,
    fleetprof_data.select_navigations_of,
    fleetprof_data.kept_apart,
    fleetprof_data.is_selected,
    fleetprof_data.cover,
    fleetprof_data.check_period,
    fleetprof_data.selection_text,
    fleetprof_data.explain_selection,
    fleetprof_data.select_segments,
    fleetprof_data.select_markers,
    fleetprof_data.script_markers,
    fleetprof_data.are_all,
    fleetprof_data.selected_totals
from public;
grant execute on function
    fleetprof_data.like_pattern,
    fleetprof_data.literal_filter,
    fleetprof_data.marker_of,
    fleetprof_data.matches,
    fleetprof_data.is_excluded,
    fleetprof_data.dimensions,
    fleetprof_data.script_groups,
    fleetprof_data.value_patterns,
    fleetprof_data.has_values,
    fleetprof_data.lacks_no_value,
    fleetprof_data.custom_value,
    fleetprof_data.is_dimension,
    fleetprof_data.usual_filters,
    fleetprof_data.spelled_out,
    fleetprof_data.listed_by,
    fleetprof_data.dimension_of,
    fleetprof_data.navigations,
    fleetprof_data.select_navigations,
    fleetprof_data.select_navigations_of,
    fleetprof_data.kept_apart,
    fleetprof_data.is_selected,
    fleetprof_data.cover,
    fleetprof_data.check_period,
    fleetprof_data.selection_text,
    fleetprof_data.explain_selection,
    fleetprof_data.select_segments,
    fleetprof_data.select_markers,
    fleetprof_data.script_markers,
    fleetprof_data.are_all,
    fleetprof_data.selected_totals
to fleetprof_reader;
-- The writer needs both to list and remove function tables.
grant execute on function fleetprof_data.matches, fleetprof_data.like_pattern to fleetprof_writer;
