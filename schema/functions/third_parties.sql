-- SPDX-License-Identifier: Apache-2.0
-- Hosts that pages load from: requests, bytes, and the time of their scripts.

create or replace function fleetprof.third_parties(
    -- {{filters}}
)
returns table (
    host         text,
    party        text,
    self_ms      double precision,
    self_share   double precision,
    requests     bigint,
    p75_ms       double precision,
    bytes        bigint,
    opaque_share double precision
)
language plpgsql stable parallel safe rows 100
-- {{settings}}
as $$
#variable_conflict use_column
declare
    -- {{given}}
    selected selection := select_segments(given);
    own text[] := own_hosts(selected);
    -- Browsers hide the functions of other scripts, unless CORS lets the page read them.
    readable constant text[] := array(
        select name from timing_values(selected, '{page_host}', by_source => false) where name <> '(overflow)');
    profiled_us double precision := (selected_totals(selected)).profiled_us;
begin
    return query
    with script_host as (
        select host_of(url) as host, sum(self_us) as self_us
        from (
            select resource_id, sum(self_us) as self_us
            from frame_sums(selected, select_markers(null), null)
            join frame using (frame_id)
            where resource_id is not null
            group by resource_id
        ) as sums
        join resource using (resource_id)
        where host_of(url) is not null
        group by 1
    ),
    response as (
        -- One row per kind.
        select
            name as host,
            coalesce(max(count) filter (where kind = 'resource'), 0) as timed,
            coalesce(max(count) filter (where kind = 'resource_opaque'), 0) as opaque,
            coalesce(max(sum_us) filter (where kind = 'resource_bytes'), 0) as bytes,
            max(p75_us) filter (where kind = 'resource') as p75_us
        from timing_values(selected, '{resource,resource_bytes,resource_opaque}', by_source => false)
        group by name
    )
    select
        host,
        case when host <> '(overflow)' then party_of_host(host, own) end,
        known_us / 1000,
        known_us / profiled_us,
        case when exists (select from response) then coalesce(timed + opaque, 0) end,
        p75_us / 1000,
        case when timed > 0 then least(bytes, 2::double precision ^ 62)::bigint end,
        opaque / nullif(timed + opaque, 0)::double precision
    from script_host
    full join response using (host)
    cross join lateral (
        select case when profiled_us is not null and (self_us is not null or host = any(readable))
            then coalesce(self_us, 0)::double precision end as known_us
    ) as known
    order by known_us desc nulls last, coalesce(bytes, 0) desc, host collate "C";
end
$$;

comment on function fleetprof.third_parties is
    -- {{comment of third_parties}};

revoke execute on function fleetprof.third_parties from public;
grant execute on function fleetprof.third_parties to fleetprof_reader;
