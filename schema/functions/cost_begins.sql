-- SPDX-License-Identifier: Apache-2.0
-- Since when things cost what they cost, for a list of them: the change points of fleetprof.trend, in one scan.

create or replace function fleetprof_data.frames_of_things(sites text[], kinds text[], names text[])
returns table (number integer, frame_id bigint)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with thing as materialized (
        select number::integer, kind, name
        from unnest(frames_of_things.kinds, frames_of_things.names) with ordinality as given (kind, name, number)
    ),
    function_key as materialized (
        select array_agg(name) as keys from thing where kind = 'function'
    ),
    every as materialized (
        select array_agg(frame_id) as ids
        from frame
        join resource using (resource_id)
        where site = any(frames_of_things.sites) and frames_of_things.kinds && '{package,host}'
    )
    select number, frame_id
    from function_key
    cross join lateral frames_with_keys(frames_of_things.sites, keys) as keyed
    join thing on kind = 'function' and name = key
    union all
    select number, listed.frame_id
    from every
    cross join (select distinct kind from thing where kind in ('package', 'host')) as listed_by
    cross join lateral frame_groups(listed_by.kind, ids, null) as listed
    join thing on thing.kind = listed_by.kind and thing.name = listed.name;
end
$$;

comment on function fleetprof_data.frames_of_things is
    'Returns the frames of functions (by function_key), packages and hosts, as what_if lists them, with the places of these. kinds and names are parallel.';

create or replace function fleetprof_data.cost_begins(given fleetprof_data.filters, kinds text[], names text[])
returns table (kind text, name text, begins timestamptz, nearest_release text)
language plpgsql stable parallel safe rows 5
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- Whatever the period: a day has too few hours, and a year would take long.
    looked_at constant interval := '14 days';
    last_hour constant timestamptz := coalesce((cost_begins.given).until, now());
    first_hour constant timestamptz := greatest(last_hour - looked_at, least(last_hour, (select hours_from from horizon)));
    side compared_side;
    frame_ids bigint[];
    numbers integer[];
    zone text;
begin
    if coalesce(cardinality(cost_begins.kinds), 0) = 0 then
        return;
    end if;
    side := compared_side(cost_begins.given, (cost_begins.given).wanted[array_position(dimensions(), 'release')], first_hour, last_hour);
    -- Citus has no plan for the joins if nothing is selected.
    if (side.whole).segment_ids is null then
        return;
    end if;
    zone := fleetprof.timezone_of((cost_begins.given).site);
    select array_agg(frame_id), array_agg(number)
    into frame_ids, numbers
    from frames_of_things((side.whole).sites, cost_begins.kinds, cost_begins.names);
    return query
    with total as materialized (
        select bucket, marker, sum(loads)::double precision as loads, sum(self_us)::double precision as self_us
        from (
            select bucket, unnest(marker) as marker, unnest(loads) as loads, unnest(self_us) as self_us
            from total_packed
            where is_selected(side.hours, sealed, group_id, bucket, span)
        ) as entry
        group by bucket, marker
    ),
    hour as materialized (
        select bucket, sum(loads) as loads from total group by bucket
    ),
    cost as materialized (
        select number, bucket, sum(self_us)::double precision as self_us
        from (
            select bucket, unnest(frame_id) as frame_id, unnest(self_us) as self_us
            from frame_packed
            where is_selected(side.hours, sealed, group_id, bucket, span)
        ) as entry
        join unnest(frame_ids, numbers) as wanted (frame_id, number) using (frame_id)
        group by number, bucket
        union all
        select thing.number::integer, bucket, self_us
        from unnest(cost_begins.kinds, cost_begins.names) with ordinality as thing (kind, name, number)
        join unnest(enum_range(null::marker)) with ordinality as known (marker, number) on known.marker::text = thing.name
        join total on total.marker = known.number - 1
        where thing.kind = 'marker'
    ),
    series as (
        select
            array_agg(number::integer) as numbers, array_agg(bucket) as buckets,
            array_agg(coalesce(self_us / nullif(loads, 0), 0)) as level_values, array_agg(loads) as weights
        from generate_series(1, cardinality(cost_begins.kinds)) as number
        cross join hour
        left join cost using (number, bucket)
    )
    select (cost_begins.kinds)[shift.number], (cost_begins.names)[shift.number], shift.begins, shift.nearest_release
    from series
    cross join lateral dated_shifts(side, zone, series.numbers, buckets, level_values, weights) as shift
    -- Only a thing that became dearer has a begin; a thing that was not there before has no change.
    where change is null or change > 0;
end
$$;

comment on function fleetprof_data.cost_begins is
    'Returns since when things take more self time per page load than before, in the 14 days up to the end of the period, and the release that began nearest to it. kinds and names: function (by function_key), package, host or marker, as what_if lists them, parallel.';

revoke execute on function fleetprof_data.frames_of_things, fleetprof_data.cost_begins from public;
grant execute on function fleetprof_data.frames_of_things, fleetprof_data.cost_begins to fleetprof_reader;
