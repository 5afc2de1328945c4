-- SPDX-License-Identifier: Apache-2.0
-- Blind time: time in which the page surely ran code that no stack shows.

create or replace function fleetprof_data.hidden_totals(
    selected    fleetprof_data.selection,
    out samples bigint,
    out self_us double precision
)
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    running_ids bigint[] := array(select timing_id from timing where kind = 'window' and name = '(running)');
begin
    select coalesce(sum(samples), 0), coalesce(sum(self_us), 0)
    into samples, self_us
    from (
        select
            unnest(timing_id) as timing_id,
            unnest(unattributed_samples) as samples,
            unnest(unattributed_us) as self_us
        from measure_packed
        where is_selected(hidden_totals.selected, sealed, group_id, bucket, span)
    ) as entry
    where timing_id = any(running_ids);
end
$$;

comment on function fleetprof_data.hidden_totals is
    'Returns the unattributed time of a selection, microseconds, and its samples, in which the page was busy for sure: in long frames, long tasks and handlers of interactions.';

create or replace function fleetprof.blind_time(
    -- {{filters}}
)
returns table (
    host               text,
    script             text,
    hidden_ms          double precision,
    hidden_ms_per_load double precision,
    share              double precision,
    loads              bigint,
    remedy             text
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    page_hosts text[] := array(select name from timing_values(selected, '{page_host}'));
    whole record := selected_totals(selected);
begin
    return query
    with hidden as (
        select case name when '' then nullif(source, '') else name end as script, sum(self_us) as self_us, sum(loads)::bigint as loads
        from (
            select
                unnest(timing_id) as timing_id,
                unnest(coalesce(loads, uploads)) as loads,
                unnest(unattributed_us) as self_us
            from measure_packed
            where is_selected(selected, sealed, group_id, bucket, span)
        ) as entry
        join timing using (timing_id)
        where kind = 'hidden'
        group by 1
    )
    select
        host_of(script),
        script,
        (self_us / 1000)::double precision,
        self_us::double precision / 1000 / whole.loads,
        self_us::double precision / sum(self_us) over (),
        loads,
        case
            when script = '(overflow)' then null
            when cardinality(page_hosts) > 0 and host_of(script) <> all(page_hosts)
                -- A script that the page may read shows stacks, so it has no blind time.
                and not exists (
                    select
                    from resource
                    join frame using (resource_id)
                    where resource.site = any(selected.sites) and resource.url = script)
            then 'crossorigin'
            else 'V8 does not show this'
        end
    from hidden
    where self_us > 0
    order by self_us desc, script collate "C";
end
$$;

comment on function fleetprof.blind_time is
    -- {{comment of blind_time}};

revoke execute on function fleetprof_data.hidden_totals, fleetprof.blind_time from public;
grant execute on function fleetprof_data.hidden_totals, fleetprof.blind_time to fleetprof_reader;
