-- SPDX-License-Identifier: Apache-2.0
-- Waits: where the time of responses goes.

create or replace function fleetprof_data.code_kind(package text, party text, is_agent boolean)
returns text
language sql immutable parallel safe
return case
    when is_agent then 'agent'
    when package not in ('(no package)', '(no script)') then 'package'
    when package = '(no script)' then 'browser'
    when party = 'first' then 'own'
    when party = 'third' then 'third party'
    when party = '(extension)' then 'extension'
    else 'unknown'
end;

comment on function fleetprof_data.code_kind is
    'Returns what fleetprof.waits calls code, by what frame_groups says of its package and its party, and whether it is the agent''s.';

create or replace function fleetprof_data.wait_sums(selected fleetprof_data.selection, window_name text)
returns table (kind text, name text, us double precision)
language plpgsql stable parallel safe rows 20
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    timing_ids bigint[] := array(
        select timing_id from timing where name = wait_sums.window_name and kind = 'window');
    gc constant smallint[] := select_markers('gc');
    rendering constant smallint[] := select_markers('style') || select_markers('layout') || select_markers('paint');
    script smallint[] := array(select unnest(select_markers(null)) except select unnest(gc || rendering));
    own text[] := own_hosts(wait_sums.selected);
begin
    return query
    with sums as materialized (
        select frame_id, self_us from frame_sums(wait_sums.selected, script, timing_ids) where self_us <> 0
    ),
    code as (
        select
            whose.kind as kind,
            case whose.kind
                when 'package' then package.name
                when 'third party' then host.name
            end as name,
            self_us
        from sums
        join frame using (frame_id)
        left join resource using (resource_id)
        join frame_groups('package', array(select frame_id from sums), null) as package using (frame_id)
        join frame_groups('party', array(select frame_id from sums), own) as party using (frame_id)
        join frame_groups('host', array(select frame_id from sums), null) as host using (frame_id)
        cross join lateral (select code_kind(package.name, party.name, fleetprof.is_agent(url)) as kind) as whose
    )
    select kind, name, sum(us)::double precision
    from (
        select kind, name, self_us as us from code
        union all
        select 'gc', null, self_us from frame_sums(wait_sums.selected, gc, timing_ids)
        union all
        select 'rendering', null, self_us from frame_sums(wait_sums.selected, rendering, timing_ids)
        union all
        select source, nullif(function, ''), sum_us
        from timing_values(wait_sums.selected, '{wait}')
        where name = wait_sums.window_name and source <> ''
    ) as part
    group by kind, name
    -- Below zero if the selection has only the part of a page load that corrects another one.
    having sum(us) > 0;
end
$$;

comment on function fleetprof_data.wait_sums is
    'Returns the shares of a window of responses, microseconds: self times of its functions by whose they are, and what the collector''s division of the rest says.';

create or replace function fleetprof.waits(
    target text,
    -- {{filters}}
)
returns table (kind text, name text, ms double precision, share double precision, responses bigint)
language plpgsql stable parallel safe rows 20
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    window_name text := '(response)' || coalesce(' ' || nullif(waits.target, '%'), '');
    windows bigint;
begin
    if waits.target is null then
        raise invalid_parameter_value using
            message = 'target is null',
            hint = 'Name a target; interactions() lists them. % is all responses.';
    end if;
    select sum(count) into windows
    from timing_values(selected, '{wait}')
    where name = window_name and source = '';
    return query
    select kind, name, us / 1000, us / sum(us) over (), windows
    from wait_sums(selected, window_name)
    order by us desc, kind collate "C", name collate "C" nulls first;
end
$$;

comment on function fleetprof.waits is
    -- {{comment of waits}};

revoke execute on function fleetprof_data.code_kind, fleetprof_data.wait_sums, fleetprof.waits from public;
grant execute on function fleetprof_data.code_kind, fleetprof_data.wait_sums, fleetprof.waits to fleetprof_reader;
