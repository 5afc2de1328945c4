-- SPDX-License-Identifier: Apache-2.0
-- Groups of scripts: the group of each frame, as cost_by and trend list them.

create or replace function fleetprof_data.frame_groups(by text, frame_ids bigint[], own text[])
returns table (frame_id bigint, name text)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    with listed as materialized (
        select * from original_frame where frame_id = any(frame_groups.frame_ids)
    ),
    -- Finds only the group that the caller asks for, because each script takes regular expressions.
    script as materialized (
        select
            resource_id, url,
            case frame_groups.by when 'package' then url_package(url) end as package,
            case frame_groups.by when 'package' then ignored end as ignored,
            case frame_groups.by when 'package' then is_ignored end as is_ignored,
            case frame_groups.by when 'source' then patterns end as patterns,
            case frame_groups.by when 'source' then replacements end as replacements,
            case frame_groups.by
                when 'host' then coalesce(host_of(url), '(no host)')
                when 'entity' then coalesce(nullif(domain, ''), host_of(url), '(no host)')
                when 'party' then party_of(url, frame_groups.own)
                when 'resource' then script
                when 'source' then script
            end as name
        from named_resource
        where resource_id in (select resource_id from listed)
    )
    select
        frame_id,
        case
            when url is null then case when kind in ('marker', 'overflow') then function else '(no script)' end
            when frame_groups.by = 'package' then coalesce(
                package_of(
                    listed.package, source, script.package,
                    listed.is_ignored or script.is_ignored or is_ignored_code(source, ignored)),
                '(no package)')
            when frame_groups.by = 'source' then coalesce(source_name(source, patterns, replacements), name)
            else name
        end
    from listed
    left join script using (resource_id);
end
$$;

comment on function fleetprof_data.frame_groups is
    'Returns what each frame is listed under by package, party, entity, host, resource or source, as fleetprof.cost_by says. own: own_hosts, for party.';

revoke execute on function fleetprof_data.frame_groups from public;
grant execute on function fleetprof_data.frame_groups to fleetprof_reader;
