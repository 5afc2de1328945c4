-- SPDX-License-Identifier: Apache-2.0
-- Groups of scripts: the group of each frame, as cost_by and trend list them.

create or replace function fleetprof_data.frame_groups(by text, frame_ids bigint[], own text[])
returns table (frame_id bigint, name text)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    by_package constant boolean := frame_groups.by in ('package', 'owner');
begin
    return query
    with listed as materialized (
        select * from original_frame where frame_id = any(frame_groups.frame_ids)
    ),
    -- Finds only the group that the caller asks for, because each script takes regular expressions.
    script as materialized (
        select
            resource_id, url, site,
            case when by_package then url_package(url) end as package,
            case when by_package then ignored end as ignored,
            case when by_package then is_ignored end as is_ignored,
            case frame_groups.by when 'source' then patterns end as patterns,
            case frame_groups.by when 'source' then replacements end as replacements,
            case frame_groups.by
                when 'host' then coalesce(host_of(url), '(no host)')
                when 'entity' then coalesce(nullif(domain, ''), host_of(url), '(no host)')
                when 'party' then party_of(url, frame_groups.own)
                when 'owner' then party_of(url, frame_groups.own)
                when 'resource' then script
                when 'source' then script
            end as name
        from named_resource
        where resource_id in (select resource_id from listed)
    ),
    place as materialized (
        select array_agg(site) as sites, array_agg(source) as sources
        from (
            select distinct site, source
            from listed
            join script using (resource_id)
            where frame_groups.by = 'owner' and source is not null and listed.package = ''
        ) as own_source
    ),
    owned as materialized (
        select found.*
        from place
        cross join lateral owners_of(sites, sources) as found
    ),
    packaged as (
        select
            frame_id, url, site, kind, function, source, patterns, replacements, name,
            case when by_package then package_of(
                listed.package, source, script.package,
                listed.is_ignored or script.is_ignored or is_ignored_code(source, ignored))
            end as of_package
        from listed
        left join script using (resource_id)
    )
    select
        frame_id,
        case
            when url is null then case when kind in ('marker', 'overflow') then function else '(no script)' end
            when frame_groups.by = 'package' then coalesce(of_package, '(no package)')
            when frame_groups.by = 'owner' then owner_group(of_package, name, coalesce(packaged.source, '(unknown)') <> '(unknown)', owner)
            when frame_groups.by = 'source' then coalesce(source_name(packaged.source, patterns, replacements), name)
            else name
        end
    from packaged
    left join owned on owned.site = packaged.site and owned.source = packaged.source;
end
$$;

comment on function fleetprof_data.frame_groups is
    'Returns what each frame is listed under by package, owner, party, entity, host, resource or source, as fleetprof.cost_by says. own: own_hosts, for owner and party.';

create or replace function fleetprof_data.frames_of_scripts(frame_ids bigint[], of_scripts text[], own text[])
returns table (frame_id bigint)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    groups constant text[] := '{host,party,package}';
    left_over bigint[] := frames_of_scripts.frame_ids;
begin
    for place in 1 .. cardinality(groups) loop
        continue when frames_of_scripts.of_scripts[place] is null;
        left_over := array(
            select frame_id
            from frame_groups(groups[place], left_over, frames_of_scripts.own)
            where matches(name, frames_of_scripts.of_scripts[place]));
    end loop;
    return query select unnest(left_over);
end
$$;

comment on function fleetprof_data.frames_of_scripts is
    'Returns those of these frames that filters by host, party and package (of_scripts: in this order, null for any) select, by the names of frame_groups. own: own_hosts.';

revoke execute on function fleetprof_data.frame_groups, fleetprof_data.frames_of_scripts from public;
grant execute on function fleetprof_data.frame_groups, fleetprof_data.frames_of_scripts to fleetprof_reader;
