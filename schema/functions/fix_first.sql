-- SPDX-License-Identifier: Apache-2.0
-- The list of what to fix first: what_if over vitals, responses and own measures.

create or replace function fleetprof_data.routes_without(given fleetprof_data.filters, vital text, things text[])
returns table (thing text, route text, loads double precision)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(kept_apart(given, 'route'));
begin
    if selected.segment_ids is null then
        return;
    end if;
    return query
    select thing, coalesce(segment.route, cohort.route), sum(count)::double precision
    from (
        select part_id, timing_id, sum(count) as count
        from (
            select group_id as part_id, unnest(timing_id) as timing_id, unnest(bin) as bin, unnest(count) as count
            from timing_bin_packed
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        where bin < 2048
        group by part_id, timing_id
    ) as sums
    join timing using (timing_id)
    join unnest(things) as thing on thing = source || ' ' || function
    left join segment on segment_id = part_id
    left join cohort on cohort.group_id = part_id
    where kind = 'vital_without' and name = routes_without.vital
    group by 1, 2
    having sum(count) > 0;
end
$$;

comment on function fleetprof_data.routes_without is
    'Returns the routes on which things made a vital longer, with the profiled page loads. things: kind and name of vital_without, with a space between them.';

create or replace function fleetprof_data.profiled_measures(given fleetprof_data.filters)
returns text[]
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- Each is looked at for itself.
    most constant integer := 8;
    selected selection := select_segments(profiled_measures.given);
begin
    if selected.segment_ids is null then
        return '{}';
    end if;
    return (
        select coalesce(array_agg(name order by count desc, name collate "C"), '{}')
        from (
            select name, sum(count) as count
            from (
                select timing_id, sum(count) as count
                from (
                    select unnest(timing_id) as timing_id, unnest(count) as count
                    from timing_bin_packed
                    where is_selected(selected, sealed, group_id, bucket, span)
                ) as entry
                group by timing_id
            ) as sums
            join timing using (timing_id)
            where kind = 'vital_profiled' and waited_kind(upper(name)) <> 'vital'
            group by name
            having sum(count) >= least_profiled_loads()
            order by 2 desc, name collate "C"
            limit most
        ) as profiled);
end
$$;

comment on function fleetprof_data.profiled_measures is
    'Returns measures, and (response), whose profiled values are enough to say in which interval a gain lies: at most 8, those with most values.';

create or replace function fleetprof.fix_first(
    -- {{filters}},
    top integer default 20
)
returns table (
    rank               integer,
    kind               text,
    name               text,
    vital              text,
    routes             text,
    gain_ms            double precision,
    gain_low           double precision,
    gain_high          double precision,
    p75_ms             double precision,
    good_ms            double precision,
    less_poor_share    double precision,
    package            text,
    party              text,
    owner              text,
    begins             timestamptz,
    nearest_release    text,
    resource           text,
    line               integer,
    column_number      integer,
    loads              bigint,
    profiled_loads     bigint,
    source_link        text,
    function_key       text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    most_routes constant integer := 3;
begin
    if fix_first.top < 1 then
        raise invalid_parameter_value using
            message = format('top is %s', fix_first.top),
            hint = 'top is how many rows to return, 1 or more; null returns all.';
    end if;
    return query
    with ranked as materialized (
        -- 50 ms of an INP are more than of an LCP: gains are compared as shares of what is good.
        select
            row_number() over (
                order by gain_ms / waited_good_us(vital) desc, vital, kind, name collate "C", resource collate "C", line, column_number) as rank,
            gains.*
        from named_gains(given, '{INP,LCP}' || profiled_measures(given)) as gains
        -- A gain that may be nothing is not worth a row.
        where gain_low > 0
    ),
    shown as materialized (
        select * from ranked where fix_first.top is null or rank <= fix_first.top
    ),
    route as materialized (
        select vital, rank, (array_agg(route order by loads desc, route collate "C"))[:most_routes] as routes
        from (
            select vital, shown.rank, found.route, sum(found.loads) as loads
            from (
                select
                    vital,
                    array_agg(distinct kind || ' ' || coalesce(id::text, thing)) as things
                from shown
                left join lateral unnest(frame_ids) as id on true
                group by vital
            ) as wanted
            cross join lateral routes_without(given, wanted.vital, wanted.things) as found
            join shown using (vital)
            left join lateral unnest(shown.frame_ids) as id on true
            where found.thing = shown.kind || ' ' || coalesce(id::text, shown.thing)
            group by vital, shown.rank, found.route
        ) as part
        group by vital, rank
    ),
    -- A thing may be shown for several vitals.
    begun as materialized (
        select found.kind, found.name as thing_name, begins, nearest_release
        from (
            select array_agg(kind) as kinds, array_agg(thing_name) as names
            from (select distinct kind, coalesce(function_key, name) as thing_name from shown) as thing
        ) as things
        cross join lateral cost_begins(given, kinds, names) as found
    )
    select
        rank::integer,
        shown.kind,
        name,
        vital,
        array_to_string(routes, ', '),
        gain_ms,
        gain_low,
        gain_high,
        p75_ms,
        waited_good_us(vital) / 1000,
        less_poor_share,
        package,
        party,
        owner,
        begins,
        nearest_release,
        resource,
        line,
        column_number,
        loads,
        profiled_loads,
        -- A pattern of sites has no links.
        case when shown.kind = 'function' and generated_resource is not null and fix_first.site = translate(fix_first.site, '%' || chr(92), '') then
            fleetprof.source_link(fix_first.site, generated_resource, generated_line, generated_column)
        end,
        function_key,
        generated_resource,
        generated_line,
        generated_column
    from shown
    left join route using (vital, rank)
    left join begun on begun.kind = shown.kind and thing_name = coalesce(function_key, name)
    order by rank;
end
$$;

comment on function fleetprof.fix_first is
    -- {{comment of fix_first}};

revoke execute on function fleetprof_data.routes_without, fleetprof_data.profiled_measures, fleetprof.fix_first from public;
grant execute on function fleetprof_data.routes_without, fleetprof_data.profiled_measures, fleetprof.fix_first to fleetprof_reader;
