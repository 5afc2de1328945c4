-- Filters: what functions share to find the numbers that a caller asks for.
--
-- A filter is null (everything), '' (the dimension is absent) or a text in which only % is a wildcard.
-- Functions are PL/pgSQL with `segment_id = any(array)`: that prunes partitions, runs in parallel, and is
-- what Citus distributes; a subquery or an SQL-language function is not.

create or replace function fleetprof_data.like_pattern(filter text)
returns text
language sql immutable strict parallel safe
return replace(replace(filter, '\', '\\'), '_', '\_');

comment on function fleetprof_data.like_pattern is
    'Returns the LIKE pattern of a filter, in which only % is a wildcard.';

create or replace function fleetprof_data.marker_of(number smallint)
returns fleetprof_data.marker
language sql immutable parallel safe
return ('{(none),script,gc,style,layout,paint,other}'::fleetprof_data.marker[])[number + 1];

comment on function fleetprof_data.marker_of is 'Returns the marker with this number in packed rows; null for -1.';

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
    thread      text
)
returns fleetprof_data.selection
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection;
begin
    if select_segments.site is null then
        raise invalid_parameter_value using
            message = 'site is null',
            hint = 'Name a site, or use ''%'' for all of them.';
    end if;
    if select_segments.since > select_segments.until then
        raise invalid_parameter_value using
            message = 'since is later than until',
            detail = format('since is %s, until is %s.', select_segments.since, select_segments.until),
            hint = 'until defaults to now(), since to a day before now().';
    end if;

    -- A bucket is an hour from its time on: it overlaps [since, until) when it starts less than an hour
    -- before since and before until. An empty interval overlaps nothing.
    selected.before := coalesce(select_segments.until, 'infinity');
    selected.after := case
        when select_segments.since = select_segments.until then 'infinity'
        else coalesce(select_segments.since, '-infinity') - interval '1 hour'
    end;
    selected.segment_ids := array(
        select segment_id
        from segment
        where site like like_pattern(select_segments.site)
            and (select_segments.route is null or route like like_pattern(select_segments.route))
            and (select_segments.release is null or release like like_pattern(select_segments.release))
            and (select_segments.environment is null or environment like like_pattern(select_segments.environment))
            and (select_segments.variant is null or variant like like_pattern(select_segments.variant))
            and (select_segments.browser is null or browser like like_pattern(select_segments.browser))
            and (select_segments.os is null or os like like_pattern(select_segments.os))
            and (select_segments.device is null or device like like_pattern(select_segments.device))
            and (select_segments.thread is null or thread like like_pattern(select_segments.thread))
        order by segment_id
    );
    return selected;
end
$$;

comment on function fleetprof_data.select_segments is
    'Returns the segments and buckets that filters select; raises an error with a hint for invalid ones.';

create or replace function fleetprof_data.select_markers(filter text)
returns fleetprof_data.marker[]
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected marker[] := array(
        select name
        from unnest(enum_range(null::marker)) as name
        where select_markers.filter is null
            or name::text like like_pattern(coalesce(nullif(select_markers.filter, ''), '(none)'))
    );
begin
    if cardinality(selected) = 0 then
        raise invalid_parameter_value using
            message = format('no marker is named "%s"', select_markers.filter),
            hint = format('Markers are %s; %% is a wildcard.',
                          array_to_string(enum_range(null::marker), ', '));
    end if;
    return selected;
end
$$;

comment on function fleetprof_data.select_markers is
    'Returns the markers that a filter selects; '''' means (none). Raises an error with a hint when there are none.';

create or replace function fleetprof_data.selected_totals(
    selected          fleetprof_data.selection,
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
    select
        nullif(sum(profiled_us), 0),
        nullif(sum(profiled_us) - sum(unattributed_us), 0),
        nullif(sum(loads), 0),
        sum(uploads)
    into selected_totals.profiled_us, selected_totals.attributed_us, selected_totals.loads, selected_totals.uploads
    from segment_fact
    where segment_id = any((selected_totals.selected).segment_ids)
        and bucket > (selected_totals.selected).after
        and bucket < (selected_totals.selected).before;
end
$$;

comment on function fleetprof_data.selected_totals is
    'Returns the totals of a selection that shares and means divide by, null instead of 0: profiled time, unattributed time included; attributed time, both in microseconds; page loads; and the number of uploads. A page load of several uploads counts in the segment and hour of its first upload, an upload without a load id is a page load of its own.';

revoke execute on function
    fleetprof_data.like_pattern,
    fleetprof_data.marker_of,
    fleetprof_data.select_segments,
    fleetprof_data.select_markers,
    fleetprof_data.selected_totals
from public;
grant execute on function
    fleetprof_data.like_pattern,
    fleetprof_data.marker_of,
    fleetprof_data.select_segments,
    fleetprof_data.select_markers,
    fleetprof_data.selected_totals
to fleetprof_reader;
