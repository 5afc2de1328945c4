-- SPDX-License-Identifier: Apache-2.0
-- Time by page, browser, host and the like.

create or replace function fleetprof.cost_by(
    by text,
    -- {{filters of samples}}
)
returns table (name text, self_ms double precision, share double precision, samples bigint, uploads bigint)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    kinds constant text[] := script_groups() || dimensions() || '{custom.NAME,marker}'::text[];
    of_scripts constant boolean := cost_by.by = any(script_groups());
    selected selection := select_segments(
        listed_by(given, cost_by.by), by_segment => not coalesce(of_scripts or cost_by.by = 'marker', false));
    markers smallint[] := select_markers(cost_by.marker, cost_by.exclude_marker);
    whole record := selected_totals(selected);
    own text[] := case when cost_by.by in ('party', 'owner') then own_hosts(selected) end;
begin
    if not is_dimension(cost_by.by) and (cost_by.by = any(kinds)) is not true then
        raise invalid_parameter_value using
            message = format('cost cannot be listed by "%s"', coalesce(cost_by.by, 'null')),
            hint = format('by is one of %s.', array_to_string(kinds, ', '));
    end if;

    -- Citus has no plan for the joins below if nothing is selected.
    if selected.segment_ids is null then
        return;
    end if;
    return query
    with sums as materialized (
        select frame_id, self_us, samples, uploads
        from frame_sums(selected, markers, null)
        where of_scripts
    ),
    entry as (
        select name, self_us, samples, least(uploads, whole.uploads) as uploads
        from (
            select
                name, sum(self_us)::double precision as self_us, sum(samples)::bigint as samples,
                sum(uploads)::bigint as uploads
            from sums
            join frame_groups(cost_by.by, array(select frame_id from sums), own) using (frame_id)
            group by name
            having bool_or(self_us <> 0)
        ) as script
        union all
        select
            case cost_by.by when 'marker' then coalesce(marker_of(marker)::text, '(unattributed)') else dimension end,
            coalesce(sum(self_us) filter (where marker = any(markers)), 0)::double precision,
            coalesce(sum(samples) filter (where marker = any(markers)), 0)::bigint,
            sum(uploads)::bigint
        from (
            select
                dimension, unnest(marker) as marker, unnest(uploads) as uploads, unnest(samples) as samples,
                unnest(self_us) as self_us
            from total_packed
            left join (
                select segment_id as group_id, coalesce(to_jsonb(segment) ->> cost_by.by, custom_value(custom, cost_by.by)) as dimension
                from segment
            ) as segment using (group_id)
            where not of_scripts and is_selected(selected, sealed, group_id, bucket, span)
        ) as total
        where cost_by.by <> 'marker' or marker >= 0
        group by 1
        union all
        -- Time that belongs to no visible stack.
        select '(unattributed)', whole.profiled_us - coalesce(whole.attributed_us, 0), null, null
        where cost_by.marker is null
    )
    select name, self_us / 1000, self_us / whole.profiled_us, samples, case cost_by.by when 'marker' then null else uploads end
    from entry
    where self_us > 0 or uploads > 0
    order by self_us desc nulls last, name collate "C";
end
$$;

comment on function fleetprof.cost_by is
    -- {{comment of cost_by}};

revoke execute on function fleetprof.cost_by from public;
grant execute on function fleetprof.cost_by to fleetprof_reader;
