-- SPDX-License-Identifier: Apache-2.0
-- Coverage: how many page loads the numbers rest on, and why others have no profile.

create or replace function fleetprof_data.page_loads(selected fleetprof_data.selection)
returns table (rate_ppm integer, reason text, loads bigint, overloaded bigint)
language plpgsql stable parallel safe rows 10
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    reason_ids bigint[] := array(select timing_id from timing where kind = 'coverage');
begin
    return query
    select rate_ppm, null, sum(loads)::bigint, null::bigint
    from (
        select rate_ppm, unnest(loads) as loads
        from total_packed
        join segment on segment_id = group_id
        where is_selected(page_loads.selected, sealed, group_id, bucket, span)
    ) as entry
    group by rate_ppm
    union all
    -- Page loads with a trace are counted above.
    select
        rate_ppm, name, sum(case when name <> 'overload' then count else 0 end)::bigint,
        sum(count) filter (where name = 'overload')::bigint
    from (
        select rate_ppm, unnest(timing_id) as timing_id, unnest(count) as count
        from timing_packed
        join segment on segment_id = group_id
        where is_selected(page_loads.selected, sealed, group_id, bucket, span)
    ) as entry
    join timing using (timing_id)
    where timing_id = any(reason_ids)
    group by rate_ppm, name;
end
$$;

comment on function fleetprof_data.page_loads is
    'Returns the page loads of these segments by their verified sample rate in millionths (0: none), and by the reason why they have no profile; null: they have one. overloaded: page loads among them whose agent stopped early, because it took too much of a busy device; loads counts them once.';

create or replace function fleetprof.coverage(
    -- {{filters}}
)
returns table (
    loads           bigint,
    profiled        bigint,
    no_policy       bigint,
    unsupported     bigint,
    quota           bigint,
    disabled        bigint,
    not_sampled     bigint,
    overload        bigint,
    sampled         bigint,
    delivered       bigint,
    estimated_loads double precision,
    seen_share      double precision
)
language plpgsql stable parallel safe rows 1
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given, by_segment => true);
    whole record := selected_totals(selected);
begin
    return query
    with total as (
        select
            coalesce(sum(loads) filter (where reason is null), 0)::bigint as profiled,
            sum(loads) filter (where reason is not null)::bigint as explained,
            coalesce(sum(loads) filter (where reason = 'no-policy'), 0)::bigint as no_policy,
            coalesce(sum(loads) filter (where reason = 'unsupported'), 0)::bigint as unsupported,
            coalesce(sum(loads) filter (where reason = 'quota'), 0)::bigint as quota,
            coalesce(sum(loads) filter (where reason = 'disabled'), 0)::bigint as disabled,
            sum(loads) filter (where reason = 'not-sampled')::bigint as not_sampled,
            sum(overloaded)::bigint as overload,
            nullif(sum(loads) filter (where rate_ppm > 0), 0)::bigint as sampled,
            coalesce(sum(loads) filter (where rate_ppm > 0 and reason is null), 0)::bigint as delivered,
            nullif(sum(loads * 1e6::double precision / nullif(rate_ppm, 0)), 0) as estimated_loads
        from page_loads(selected)
        having count(*) > 0
    )
    select
        profiled + coalesce(explained, 0),
        profiled,
        case when explained > 0 then no_policy end,
        case when explained > 0 then unsupported end,
        case when explained > 0 then quota end,
        case when explained > 0 then disabled end,
        not_sampled,
        overload,
        sampled,
        case when sampled > 0 then delivered end,
        estimated_loads,
        whole.profiled_us / (whole.profiled_us + whole.unseen_us)
    from total;
end
$$;

comment on function fleetprof.coverage is
    -- {{comment of coverage}};

revoke execute on function fleetprof_data.page_loads, fleetprof.coverage from public;
grant execute on function fleetprof_data.page_loads, fleetprof.coverage to fleetprof_reader;
