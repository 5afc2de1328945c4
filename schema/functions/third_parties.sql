-- Hosts that pages load from: requests, bytes, and the time of their scripts.

create or replace function fleetprof.third_parties(
    site        text,
    since       timestamptz default now() - interval '1 day',
    until       timestamptz default now(),
    route       text default null,
    release     text default null,
    environment text default null,
    variant     text default null,
    browser     text default null,
    os          text default null,
    device      text default null,
    thread      text default null,
    exclude_route text default null, exclude_release text default null, exclude_environment text default null,
    exclude_variant text default null, exclude_browser text default null, exclude_os text default null,
    exclude_device text default null, exclude_thread text default null
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
set search_path = fleetprof_data, pg_temp
set datestyle = 'ISO, YMD'
set plan_cache_mode = force_custom_plan
set jit = off
as $$
#variable_conflict use_column
declare
    selected selection := select_segments(
        third_parties.site, third_parties.since, third_parties.until, third_parties.route, third_parties.release,
        third_parties.environment, third_parties.variant, third_parties.browser, third_parties.os,
        third_parties.device, third_parties.thread,
        exclude => array[
            third_parties.exclude_route, third_parties.exclude_release, third_parties.exclude_environment,
            third_parties.exclude_variant, third_parties.exclude_browser, third_parties.exclude_os,
            third_parties.exclude_device, third_parties.exclude_thread]);
    own text[] := own_hosts(selected);
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
        case when profiled_us is not null then coalesce(self_us, 0)::double precision / 1000 end,
        coalesce(self_us, 0)::double precision / profiled_us,
        case when exists (select from response) then coalesce(timed + opaque, 0) end,
        p75_us / 1000,
        case when timed > 0 then least(bytes, 2::double precision ^ 62)::bigint end,
        opaque / nullif(timed + opaque, 0)::double precision
    from script_host
    full join response using (host)
    order by coalesce(self_us, 0) desc, coalesce(bytes, 0) desc, host collate "C";
end
$$;

comment on function fleetprof.third_parties is
    'Returns the hosts that pages load from, the most script time first; (overflow) beyond the site''s ceiling of names. party: first for the domains of the site''s origins, for sites[].first_party, and for hosts of the selected pages (a leading www. does not count), with their subdomains; third for all others; null if none of these is known. self_ms, self_share: self time of functions in scripts of the host, and its share of profiled time; null if nothing was profiled. requests: null if no page has sent resources. p75_ms: nearest-rank percentile of durations, at most 1.6 % off, and bytes: as transferred, both of responses that say them; null if none does. opaque_share: responses that do not say them, for lack of Timing-Allow-Origin, 0 to 1.';

revoke execute on function fleetprof.third_parties from public;
grant execute on function fleetprof.third_parties to fleetprof_reader;
