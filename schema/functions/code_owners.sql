-- SPDX-License-Identifier: Apache-2.0
-- Whose a source is: the CODEOWNERS file of a site (`fleetprof owners`).

create or replace function fleetprof_data.replace_owners(
    site        text,
    patterns    jsonb,
    out kept    bigint,
    out removed bigint,
    out sources bigint,
    out owned   bigint
)
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    most_patterns constant integer := 20000;
    known text[];
begin
    kept := jsonb_array_length(replace_owners.patterns);
    if kept > most_patterns then
        raise program_limit_exceeded using
            message = format('site %s would have %s patterns of owners', replace_owners.site, kept),
            hint = format('At most %s are kept.', most_patterns);
    end if;
    known := array(
        select distinct source
        from original_function
        where package = '' and resource_id in (select resource_id from function_table where site = replace_owners.site));
    sources := cardinality(known);
    delete from code_owner where site = replace_owners.site;
    get diagnostics removed = row_count;
    insert into code_owner (site, line, pattern, owner, places, expression, outline)
    select
        replace_owners.site,
        (row ->> 0)::integer,
        row ->> 1,
        array_to_string(array(select distinct item collate "C" from jsonb_array_elements_text(row -> 2) as item order by 1), ' '),
        case jsonb_typeof(row -> 3) when 'array' then array(select jsonb_array_elements_text(row -> 3)) end,
        row ->> 4,
        row ->> 5
    from jsonb_array_elements(replace_owners.patterns) as row;
    owned := (
        select count(*) from owners_of(array_fill(replace_owners.site, array[cardinality(known)]), known));
end
$$;

comment on function fleetprof_data.replace_owners is
    'Replaces the patterns of a site in code_owner. patterns: an array of [line, pattern, array of owners, places as an array or null, regular expression or null, outline or null], empty to forget them. Returns how many there are and how many it removed, of how many sources function tables know that are not of packages, and how many of them have an owner.';

create or replace function fleetprof_data.owners_of(sites text[], sources text[])
returns table (site text, source text, owner text)
language plpgsql stable parallel safe rows 1000
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    own_site text;
    wanted record;
    -- Sources that no expression has matched yet, and for those that one has: the line of the last one.
    rest text[];
    matched text[];
    lines integer[];
    found text[];
begin
    for own_site in
        select distinct asked from unnest(owners_of.sites) as asked where exists (select from code_owner where site = asked)
    loop
        rest := array(
            select distinct asked.source
            from unnest(owners_of.sites, owners_of.sources) as asked (site, source)
            where asked.site = own_site and asked.source is not null);
        matched := '{}';
        lines := '{}';
        -- One expression after the other, because PostgreSQL keeps only a few compiled.
        for wanted in
            select line, expression, outline from code_owner where site = own_site and expression is not null order by line desc
        loop
            exit when rest = '{}';
            found := array(select path from unnest(rest) as path where path like wanted.outline and path ~ wanted.expression);
            if found <> '{}' then
                matched := matched || found;
                lines := lines || array_fill(wanted.line, array[cardinality(found)]);
                rest := array(select path from unnest(rest) as path where not (path like wanted.outline and path ~ wanted.expression));
            end if;
        end loop;
        return query
        with last_line as (
            select source, max(line) as line
            from (
                select * from unnest(matched, lines) as by_expression (source, line)
                union all
                select path, line
                from (
                    -- The directories that a path is in, each with a slash at its end, and the path itself.
                    select
                        path,
                        array_to_string(parts[:depth], '/') || case when depth < cardinality(parts) then '/' else '' end as place
                    from unnest(matched || rest) as path
                    cross join lateral string_to_array(path, '/') as parts
                    cross join lateral generate_subscripts(parts, 1) as depth
                ) as asked
                join (
                    select line, unnest(places) as place from code_owner where site = own_site
                ) as known using (place)
            ) as match
            group by source
        )
        select own_site, last_line.source, code_owner.owner
        from last_line
        join code_owner on code_owner.site = own_site and code_owner.line = last_line.line
        where code_owner.owner <> '';
    end loop;
end
$$;

comment on function fleetprof_data.owners_of is
    'Returns the owners of sources (sites, sources: in parallel) by the last pattern in code_owner that matches; no row for those that nobody owns.';

create or replace function fleetprof_data.owner_of(site text, source text)
returns text
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    sites constant text[] := array(select distinct site from code_owner where matches(site, owner_of.site));
begin
    if sites = '{}' or url_package('/' || owner_of.source) is not null then
        return null;
    end if;
    return (
        select min(owner) from owners_of(sites, array_fill(owner_of.source, array[cardinality(sites)])));
end
$$;

comment on function fleetprof_data.owner_of is
    'Returns the owner of a source in the sites of a filter; null: nobody, or the source of an npm package.';

create or replace function fleetprof_data.owner_group(package text, party text, has_source boolean, owner text)
returns text
language sql immutable parallel safe
return case
    when not has_source and party = 'third' then '(third party)'
    when not has_source and party = '(extension)' then party
    when package = '(ignored)' then package
    when package is not null then '(package)'
    when has_source then coalesce(owner, '(nobody)')
    else '(no source)'
end;

comment on function fleetprof_data.owner_group is
    'Returns what a script''s frame is listed under by owner. package: package_of; party: party_of; has_source: a function table knows the frame; owner: owners_of.';

revoke execute on function
    fleetprof_data.replace_owners, fleetprof_data.owners_of, fleetprof_data.owner_of, fleetprof_data.owner_group
from public;
grant execute on function fleetprof_data.owners_of to fleetprof_reader, fleetprof_writer;
grant execute on function fleetprof_data.owner_of, fleetprof_data.owner_group to fleetprof_reader;
grant execute on function fleetprof_data.replace_owners to fleetprof_writer;
