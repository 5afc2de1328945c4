-- SPDX-License-Identifier: Apache-2.0
-- Time per marker.

create or replace function fleetprof.markers(
    -- {{filters of samples}}
)
returns setof fleetprof_data.marker_share
language plpgsql stable parallel safe rows 8
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    wanted smallint[] := select_markers(markers.marker, markers.exclude_marker);
    whole record := selected_totals(selected);
    hidden record := hidden_totals(selected);
begin
    if markers.marker is null then
        wanted := wanted || '{-1,-2}'::smallint[];
        -- More if the selection has only the part of a page load that reports another part's samples.
        hidden.self_us := least(hidden.self_us, whole.profiled_us - coalesce(whole.attributed_us, 0));
    end if;
    return query
    select
        coalesce(marker_of(marker)::text, case marker when -1 then '(unattributed)' else '(hidden)' end),
        sum(samples)::bigint,
        (sum(self_us) / 1000)::double precision,
        sum(self_us)::double precision / whole.profiled_us
    from (
        select
            unnest(marker) as marker,
            unnest(samples) as samples,
            unnest(self_us) as self_us
        from total_packed
        where is_selected(selected, sealed, group_id, bucket, span)
        union all
        -- A part of the unattributed time.
        select part.marker, part.sign * hidden.samples, part.sign * hidden.self_us::bigint
        from (values (-1::smallint, -1), (-2::smallint, 1)) as part (marker, sign)
        where hidden.self_us > 0
    ) as entry
    where marker = any(wanted)
    group by marker
    having sum(samples) > 0 or sum(self_us) <> 0
    order by
        sum(self_us) desc,
        coalesce(marker_of(marker)::text, case marker when -1 then '(unattributed)' else '(hidden)' end) collate "C";
    if markers.marker is null and whole.unseen_us > 0 then
        return next row('(unseen)', 0, whole.unseen_us / 1000, null)::marker_share;
    end if;
end
$$;

comment on function fleetprof.markers is
    -- {{comment of markers}};

revoke execute on function fleetprof.markers from public;
grant execute on function fleetprof.markers to fleetprof_reader;
