-- SPDX-License-Identifier: Apache-2.0
-- Compares groups of code, or of page loads, of two sides.

create or replace function fleetprof_data.narrowed(side fleetprof_data.compared_side, segment_ids bigint[])
returns fleetprof_data.compared_side
language plpgsql immutable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    kept bigint[] := array(
        select segment_id from unnest((side.segments).segment_ids) as segment_id where segment_id = any(narrowed.segment_ids));
begin
    side.segments.segment_ids := kept;
    side.segments.group_ids := kept;
    side.segment_hours.segment_ids := kept;
    side.segment_hours.group_ids := kept;
    side.whole := side.segments;
    side.hours := side.segment_hours;
    return side;
end
$$;

comment on function fleetprof_data.narrowed is 'Returns a side of a comparison with these segments only.';

create or replace function fleetprof_data.compared_values(
    before    fleetprof_data.compared_side,
    after     fleetprof_data.compared_side,
    dimension text
)
returns table (value text, segment_ids bigint[], us double precision)
language plpgsql stable parallel safe rows 100
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        coalesce(to_jsonb(segment) ->> compared_values.dimension, custom_value(custom, compared_values.dimension)), array_agg(segment_id), sum(total.us)
    from (
        select segment_id, sum(us)::double precision as us
        from (
            select group_id as segment_id, unnest(self_us) as us
            from total_packed
            where is_selected((compared_values.before).segments, sealed, group_id, bucket, span)
            union all
            select group_id, unnest(self_us)
            from total_packed
            where is_selected((compared_values.after).segments, sealed, group_id, bucket, span)
        ) as entry
        group by segment_id
    ) as total
    join segment using (segment_id)
    group by 1;
end
$$;

comment on function fleetprof_data.compared_values is
    'Returns the values of a dimension on two sides of a comparison, the segments of each, and their profiled time, microseconds.';

create or replace function fleetprof_data.compared_groups(
    before fleetprof_data.compared_side,
    after  fleetprof_data.compared_side,
    by     text,
    top    integer
)
returns table (
    name             text,
    before_self_ms   double precision,
    after_self_ms    double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_change       double precision,
    own_low          double precision,
    own_high         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint
)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- Over all functions, because those of one group say nothing about machines.
    known record := compared_machines(compared_groups.before, compared_groups.after);
    machines double precision[] := array[coalesce(known.change, 0), coalesce(known.error, 0)];
    own text[] := case when compared_groups.by in ('party', 'owner')
        then own_hosts((compared_groups.before).whole) || own_hosts((compared_groups.after).whole) end;
begin
    if is_dimension(compared_groups.by) then
        -- Each value is compared by itself, so Benjamini and Hochberg's rule for all of them comes after that.
        return query
        with judged as materialized (
            select value, compared.*, undecided, compared.p / false_share as share_of_rate
            from (
                select value, narrowed(compared_groups.before, segment_ids) as earlier, narrowed(compared_groups.after, segment_ids) as later
                from (
                    select * from compared_values(compared_groups.before, compared_groups.after, compared_groups.by)
                    order by us desc, value collate "C" limit compared_groups.top
                ) as listed
            ) as side
            cross join lateral compared_functions(earlier, later, false, '(all)', null, machines) as compared
            cross join lateral compared_evidence(earlier, later)
        )
        select
            value, before_self_ms, after_self_ms, change, change_low, change_high, own_change, own_low, own_high,
            smallest_visible, p,
            case
                when verdict in ('slower', 'faster') and (share_of_rate <= max(share_of_rate) filter (where share_of_rate <= place / tested) over ()) is not true
                    then coalesce(undecided, 'no change seen')
                else verdict
            end,
            before_uploads, after_uploads
        from (
            select *, row_number() over (order by share_of_rate) as place, nullif(count(share_of_rate) over (), 0)::double precision as tested from judged
        ) as ranked;
        return;
    end if;
    return query
    with compared as materialized (
        select *
        from compared_functions(compared_groups.before, compared_groups.after, false, compared_groups.by, own, machines)
    )
    select
        name, before_self_ms, after_self_ms, change, change_low, change_high, own_change, own_low, own_high,
        smallest_visible, p, verdict, before_uploads, after_uploads
    from compared
    join frame_groups(compared_groups.by, array(select frame_id from compared), own) using (frame_id);
end
$$;

comment on function fleetprof_data.compared_groups is
    'Returns the rows of compare_costs for two sides. top: how many values of a dimension are compared, those with the most time.';

create or replace function fleetprof.compare_costs(
    by           text,
    site         text,
    before       text default null,
    after        text default null,
    since        timestamptz default null,
    until        timestamptz default null,
    -- {{dimensions of each side}},
    top          integer default 20,
    before_since timestamptz default null,
    before_until timestamptz default null
)
returns table (
    name             text,
    before_self_ms   double precision,
    after_self_ms    double precision,
    change           double precision,
    change_low       double precision,
    change_high      double precision,
    own_change       double precision,
    own_low          double precision,
    own_high         double precision,
    smallest_visible double precision,
    p                double precision,
    verdict          text,
    before_uploads   bigint,
    after_uploads    bigint
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    sides record := compared_sides(
        given, compare_costs.before, compare_costs.after, compare_costs.before_since, compare_costs.before_until, before_own, after_own);
    kinds text[] := script_groups() || array(
        select dimension from unnest(dimensions() || 'custom.NAME'::text) as dimension
        where dimension <> 'release' and split_part(dimension, '.', 1) <> all((sides.before_side).apart));
begin
    if (case when compare_costs.by like 'custom.%' and is_dimension(compare_costs.by) then 'custom.NAME' else compare_costs.by end
        = any(kinds)) is not true then
        raise invalid_parameter_value using
            message = format('costs cannot be compared by "%s"', coalesce(compare_costs.by, 'null')),
            hint = format('by is one of %s.', array_to_string(kinds, ', '));
    end if;
    if compare_costs.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', compare_costs.top),
            hint = 'top is how many rows to return, 1 or more.';
    end if;
    return query
    select *
    from compared_groups(sides.before_side, sides.after_side, compare_costs.by, compare_costs.top)
    -- Findings come first, then the costliest groups.
    order by
        array_position('{slower,new,faster,gone}', verdict) nulls last,
        case when verdict in ('slower', 'new', 'faster', 'gone')
            then abs(coalesce(after_self_ms, 0) - coalesce(before_self_ms, 0))
            else greatest(after_self_ms, before_self_ms) end desc nulls last,
        name collate "C"
    limit compare_costs.top;
end
$$;

comment on function fleetprof.compare_costs is
    -- {{comment of compare_costs}};

revoke execute on function
    fleetprof_data.narrowed, fleetprof_data.compared_values, fleetprof_data.compared_groups, fleetprof.compare_costs
from public;
grant execute on function
    fleetprof_data.narrowed, fleetprof_data.compared_values, fleetprof_data.compared_groups, fleetprof.compare_costs
to fleetprof_reader;
