-- SPDX-License-Identifier: Apache-2.0
-- Whose code a script is: npm package, host, domain, party.

create or replace function fleetprof_data.host_of(url text)
returns text
language sql immutable strict parallel safe
return lower(substring(url from '^(?:blob:)?[A-Za-z][A-Za-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]+)'));

comment on function fleetprof_data.host_of is
    'Returns the host of a URL, with its port unless that is the scheme''s; null where it has none.';

create or replace function fleetprof_data.url_package(url text)
returns text
language sql immutable strict parallel safe
return coalesce(
    -- Compares whole parts of the path. The last node_modules counts: a dependency's own dependency.
    substring(url from '^[^?#]*/node_modules/((?:@[^/@]+/)?[^/@.?#][^/@?#]*)/'),
    substring(url from '^[^?#]*/ajax/libs/([^/?#]+)/v?[0-9][^/?#]*/'),
    -- name@version, as in unpkg.com/react@18.2.0/index.js and ga.jspm.io/npm:react@18.2.0/index.js; main@1.4.2.js is a
    -- file with a version, /gh/ a repository, /combine/ several packages. A * of esm.sh before the name is not part of
    -- it.
    substring(url from '^(?!https://(?:cdn[.]jsdelivr[.]net/(?:gh|combine)|esm[.]sh/gh)/)[^?#]*?[/:][*]?((?:@[^/@:?#]+/)?[^/@:?#*]+)@(?![^/?#]*[.][cm]?js(?:[?#]|$))(?:v?[0-9]+(?:[.][^/?#]*)?|latest|next)(?:[/?#]|$)'),
    substring(url from '^https://(?:cdn[.]jsdelivr[.]net/npm|unpkg[.]com|esm[.]sh(?:/v[0-9]+)?(?!/gh/)|cdn[.]skypack[.]dev)/[*]?((?:@[^/@?#]+/)?[^/@?#*]+)(?:@[^/?#]*)?(?:[/?#]|$)'));

comment on function fleetprof_data.url_package is
    'Returns the npm package that a script''s URL names, as content delivery networks and node_modules directories do; null if it names none.';

create or replace function fleetprof_data.is_within(host text, hosts text[])
returns boolean
language sql immutable parallel safe
return exists (
    select
    from string_to_array(regexp_replace(host, ':[0-9]+$', ''), '.') as labels
    cross join generate_subscripts(labels, 1) as first
    where array_to_string(labels[first:], '.') = any(hosts)
);

comment on function fleetprof_data.is_within is
    'True if a host, its port left out, is one of these or a subdomain of one. hosts: as own_hosts returns them.';

create or replace function fleetprof_data.own_hosts(selected fleetprof_data.selection)
returns text[]
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return (
        select array_agg(distinct regexp_replace(host, '^www[.]|:[0-9]+$', '', 'g'))
        from (
            select unnest(hosts) as host from first_party where site = any((own_hosts.selected).sites)
            union
            select name from timing_values(own_hosts.selected, '{page_host}') where name <> '(overflow)'
        ) as known);
end
$$;

comment on function fleetprof_data.own_hosts is
    'Returns the hosts whose scripts are the selected sites'' own: those in first_party, and of pages, as uploads with samples or resources name them; without ports and a leading www. Null if none is known.';

create or replace function fleetprof_data.party_of_host(host text, own text[])
returns text
language sql immutable parallel safe
return case when own is not null then case when fleetprof_data.is_within(host, own) then 'first' else 'third' end end;

comment on function fleetprof_data.party_of_host is
    'Returns first for a host of own_hosts, third for another; null if none is known.';

create or replace function fleetprof_data.party_of(url text, own text[])
returns text
language sql immutable parallel safe
return case
    when url ~ '^[a-z-]+-extension:' then '(extension)'
    when fleetprof_data.host_of(url) is null then '(no host)'
    else coalesce(fleetprof_data.party_of_host(fleetprof_data.host_of(url), own), '(unknown)')
end;

comment on function fleetprof_data.party_of is
    'Returns whose a script is: first, third, (extension) of the browser, (no host), or (unknown) where no own host is known.';

create or replace function fleetprof_data.keep_sites(sites jsonb)
returns text
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    perform keep_scripts((select jsonb_object_agg(key, value -> 'scripts') from jsonb_each(keep_sites.sites)));
    -- A collector of an older build sends no list.
    perform keep_ignored((
        select jsonb_object_agg(key, value -> 'ignore') from jsonb_each(keep_sites.sites) where value ? 'ignore'));
    perform keep_budgets((
        select jsonb_object_agg(key, value -> 'performance_budgets') from jsonb_each(keep_sites.sites)
        where value ? 'performance_budgets'));
    perform keep_source_links((select jsonb_object_agg(key, value -> 'source_link') from jsonb_each(keep_sites.sites)));
    -- Takes no lock if nothing changes.
    insert into first_party (site, hosts)
    select *
    from (
        select key, array(select distinct jsonb_array_elements_text(value -> 'first_party') order by 1)
        from jsonb_each(keep_sites.sites)
    ) as given (site, hosts)
    where not exists (
        select from first_party as known where (known.site, known.hosts) = (given.site, given.hosts))
    order by site
    on conflict (site) do update set hosts = excluded.hosts;
    return keep_timezones((
        select jsonb_object_agg(key, value -> 'timezone') from jsonb_each(keep_sites.sites) where value ? 'timezone'));
end
$$;

comment on function fleetprof_data.keep_sites is
    'Replaces what is known of these sites: an object by site of {"scripts": templates, "ignore": patterns, "first_party": hosts, "performance_budgets": objects, "source_link": template, empty for none, "timezone": name}. Returns the time zones that keep_timezones does not know. Collectors call it when they start, after each reload, and when they keep house.';

revoke execute on function
    fleetprof_data.host_of, fleetprof_data.url_package, fleetprof_data.is_within, fleetprof_data.own_hosts,
    fleetprof_data.party_of_host, fleetprof_data.party_of, fleetprof_data.keep_sites
from public;
grant execute on function
    fleetprof_data.host_of, fleetprof_data.url_package, fleetprof_data.is_within, fleetprof_data.own_hosts,
    fleetprof_data.party_of_host, fleetprof_data.party_of
to fleetprof_reader;
grant execute on function fleetprof_data.keep_sites to fleetprof_writer;
