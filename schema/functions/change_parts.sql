-- SPDX-License-Identifier: Apache-2.0
-- Splits the difference between two sides into code and another mix of page loads.

create or replace function fleetprof_data.mix_cells(
    before     fleetprof_data.compared_side,
    after      fleetprof_data.compared_side,
    apart      text[]
)
returns table (is_after boolean, "values" text[], uploads numeric, loads numeric, us numeric)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        is_after,
        array[
            -- {{each but release: case when '$name' <> all(mix_cells.apart) then $name else '' end,}}
            site],
        sum(uploads), sum(loads), sum(us)
    from (
        select is_after, segment_id, sum(uploads) as uploads, sum(loads) as loads, coalesce(sum(us) filter (where marker >= 0), 0) as us
        from (
            select
                false as is_after, group_id as segment_id, unnest(marker) as marker, unnest(uploads) as uploads,
                unnest(loads) as loads, unnest(self_us) as us
            from total_packed
            where is_selected((mix_cells.before).segments, sealed, group_id, bucket, span)
            union all
            select true, group_id, unnest(marker), unnest(uploads), unnest(loads), unnest(self_us)
            from total_packed
            where is_selected((mix_cells.after).segments, sealed, group_id, bucket, span)
        ) as entry
        group by is_after, segment_id
    ) as total
    join segment using (segment_id)
    group by 1, 2
    having sum(uploads) > 0;
end
$$;

comment on function fleetprof_data.mix_cells is
    'Returns uploads, page loads and attributed time (microseconds) of two sides by the values of all dimensions but the release and those that tell the sides apart, in the order of the table of filters; the site is the last one.';

create or replace function fleetprof_data.mix_effects(
    is_after boolean[],
    cells    jsonb[],
    uploads  numeric[],
    us       numeric[],
    places   integer[]
)
returns table (members integer, ms numeric)
language plpgsql immutable parallel safe rows 256
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with entry as materialized (
        select is_after, cell, uploads, us
        from unnest(mix_effects.is_after, mix_effects.cells, mix_effects.uploads, mix_effects.us) as entry (is_after, cell, uploads, us)
    ),
    whole as materialized (
        select sum(uploads) filter (where not is_after) as before, sum(uploads) filter (where is_after) as after from entry
    ),
    -- Page loads by the values of each set of dimensions.
    grouped as (
        select
            members,
            coalesce(sum(uploads) filter (where not is_after), 0) / max(whole.before) as before_share,
            coalesce(sum(uploads) filter (where is_after), 0) / max(whole.after) as after_share,
            sum(us) filter (where not is_after) / sum(uploads) filter (where not is_after) as before_us,
            sum(us) filter (where is_after) / sum(uploads) filter (where is_after) as after_us
        from entry
        cross join whole
        cross join generate_series(0, (1 << coalesce(cardinality(mix_effects.places), 0)) - 1) as members
        group by
            members,
            array(
                select cell ->> (place - 1)
                from unnest(mix_effects.places) with ordinality as dimension (place, bit)
                where (members >> (bit::integer - 1)) & 1 = 1
                order by bit)
    )
    -- A group that one side lacks is taken to cost the same on both sides.
    select members, sum((after_share - before_share) * (coalesce(before_us, after_us) + coalesce(after_us, before_us)) / 2) / 1000
    from grouped
    group by members;
end
$$;

comment on function fleetprof_data.mix_effects is
    'Returns what another mix makes of the time per upload, in ms, if page loads are grouped by some dimensions: for each set of those in places, as bits of members. The first four arrays are parallel; cells: arrays of values by dimension.';

create or replace function fleetprof.change_parts(
    site         text,
    before       text default null,
    after        text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    -- {{dimensions of each side}},
    before_since timestamptz default null,
    before_until timestamptz default null
)
returns table (part text, ms numeric, share numeric)
language plpgsql stable parallel safe rows 10
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    sides record := compared_sides(
        given, change_parts.before, change_parts.after, change_parts.before_since, change_parts.before_until, before_own, after_own);
    names text[] := array_remove(dimensions(), 'release') || 'site'::text;
    -- Often all uploads of a browser version are on one side, so it would get the part of every change over time.
    unmixed text[] := (sides.before_side).apart || 'browser_version'::text;
    -- The parallel arrays that mix_effects takes.
    of_after boolean[];
    cells jsonb[];
    uploads numeric[];
    us numeric[];
    whole record;
    places integer[];
    per_load numeric; -- mean of both sides' uploads per page load
    parts_ms numeric; -- of another number of uploads per page load
begin
    select array_agg(is_after), array_agg(to_jsonb("values")), array_agg(cell.uploads), array_agg(cell.us)
    into of_after, cells, uploads, us
    from mix_cells(sides.before_side, sides.after_side, unmixed) as cell;
    select
        sum(cell.us) filter (where not is_after) / nullif(sum(loads) filter (where not is_after), 0) / 1000 as before_ms,
        sum(cell.us) filter (where is_after) / nullif(sum(loads) filter (where is_after), 0) / 1000 as after_ms,
        sum(cell.us) filter (where not is_after) / nullif(sum(cell.uploads) filter (where not is_after), 0) / 1000 as before_upload_ms,
        sum(cell.us) filter (where is_after) / nullif(sum(cell.uploads) filter (where is_after), 0) / 1000 as after_upload_ms,
        sum(cell.uploads) filter (where not is_after) / nullif(sum(loads) filter (where not is_after), 0) as before_parts,
        sum(cell.uploads) filter (where is_after) / nullif(sum(loads) filter (where is_after), 0) as after_parts
    into whole
    from mix_cells(sides.before_side, sides.after_side, unmixed) as cell;
    -- Both sides need page loads.
    if whole.before_ms is null or whole.after_ms is null then
        return;
    end if;
    per_load := (whole.before_parts + whole.after_parts) / 2;
    parts_ms := round((whole.after_parts - whole.before_parts) * (whole.before_upload_ms + whole.after_upload_ms) / 2, 6);
    -- A dimension that does not vary has no part: leaving it out halves the sets. Nor has one of which the sides have no
    -- value in common: like those of apart, it tells them apart.
    places := array(
        select place
        from unnest(of_after, cells) as cell (is_after, cell)
        cross join jsonb_array_elements_text(cell) with ordinality as value (value, place)
        group by place
        having count(distinct value) > 1
            and array_agg(value) filter (where is_after) && array_agg(value) filter (where not is_after)
        order by place);

    return query
    with effect as materialized (
        select * from mix_effects(of_after, cells, uploads, us, places)
    ),
    -- Shapley value: the effect of adding a dimension to a set of others, averaged over all orders of adding them.
    mix as materialized (
        select
            names[place] as name, place,
            round(per_load * sum((with_it.ms - without_it.ms) * factorial(others) * factorial(cardinality(places) - 1 - others)
                / factorial(cardinality(places))), 6) as mix_ms
        from unnest(places) with ordinality as dimension (place, bit)
        join effect as without_it on (without_it.members >> (bit::integer - 1)) & 1 = 0
        join effect as with_it on with_it.members = without_it.members + (1 << (bit::integer - 1))
        cross join lateral (
            select length(replace(without_it.members::bit(32)::text, '0', '')) as others
        ) as counted
        group by place
    ),
    total as (select round(whole.after_ms, 6) - round(whole.before_ms, 6) as whole_ms),
    listed as (
        select 0 as place, '(all)' as name, whole_ms as part_ms from total
        union all
        -- The rest is code: the difference between page loads that are alike.
        select 1, '(code)', whole_ms - parts_ms - coalesce((select sum(mix_ms) from mix), 0) from total
        union all
        select 2, '(uploads per page load)', parts_ms where parts_ms <> 0
        union all
        select 2 + place, name, mix_ms from mix
    )
    select name, part_ms, round(part_ms / nullif(whole.before_ms, 0), 6)
    from listed
    order by listed.place;
end
$$;

comment on function fleetprof.change_parts is
    -- {{comment of change_parts}};

revoke execute on function fleetprof_data.mix_cells, fleetprof_data.mix_effects, fleetprof.change_parts from public;
grant execute on function fleetprof_data.mix_cells, fleetprof_data.mix_effects, fleetprof.change_parts to fleetprof_reader;
