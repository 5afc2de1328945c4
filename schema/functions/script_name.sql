-- SPDX-License-Identifier: Apache-2.0
-- A script's name across releases: its URL without the parts that each build adds.

create or replace function fleetprof_data.is_file_hash(part text)
returns boolean
language sql immutable strict parallel safe
-- Eight characters: base64url of Rollup and Vite, base32 of esbuild, base36. Words that people write have few capitals,
-- and digits at their end.
return case
    when part !~ '[A-Z]' then part ~ '^[a-z0-9]*[0-9][a-z]+[0-9][a-z0-9]*$'
    when part !~ '[0-9]' and part !~ '^.+[A-Z].*[A-Z]' then false
    else part !~ '^[a-z]?[A-Z]{0,5}[a-z]{2,}([A-Z][a-z]{2,})*[A-Z]{0,4}[0-9]{0,4}([_-][A-Z]{0,5}[a-z]{2,}([A-Z][a-z]{2,})*[A-Z]{0,4}[0-9]{0,4})*$'
        and part !~ '^[A-Z]{0,5}[a-z]{2,}([A-Z][a-z]{2,})*[0-9]{1,2}([A-Z][a-z]+|[A-Z]{1,3})$'
        and part !~ '^[A-Z][0-9][A-Z][a-z]{2,}$'
end;

comment on function fleetprof_data.is_file_hash is
    'True if eight characters of a file name look like a hash, not like words.';

create or replace function fleetprof_data.stable_resource(resource text)
returns text
language plpgsql immutable strict parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
declare
    -- A directory per build: hexadecimal, or Next.js's random 21 characters. Lookahead is slow, so most URLs do without.
    url text := case
        when stable_resource.resource !~ '/([0-9a-f]{8,64}|[A-Za-z0-9_-]{20,24})/' then stable_resource.resource
        else regexp_replace(
            stable_resource.resource,
            '/(?=[^/]*[0-9])([0-9a-f]{8,64}|(?=[^/]*[a-z])(?=[^/]*[A-Z])[A-Za-z0-9_-]{20,24})(?=/)', '/*', 'g')
    end;
    directory text := coalesce(substring(url from '^(.*)/[^/]*$'), '');
    -- The URL's file, then what is before and after its hash.
    file text := substr(url, char_length(directory) + 1);
    parts text[];
begin
    if file !~ '[.][cm]?js$' then
        return url;
    end if;
    -- The last part that is hexadecimal: with a digit and a letter, or a date or a time.
    parts := regexp_match(
        file,
        '^(.*[./_~-])(?:(?=[0-9]*[a-f])(?=[a-f]*[0-9])(?:[0-9a-f]{8,64}|(?=[a-f]*[0-9]+[a-f]+[0-9]|[0-9]*[a-f]+[0-9]+[a-f])[0-9a-f]{6,7})'
        '|[0-9]{8,14}|[0-9A-F]{32})((?:[._-][a-z_][a-z_]*[0-9]?)*[.][cm]?js)$');
    if parts is null then
        parts := regexp_match(file, '^(.*[./-])([A-Za-z0-9_-]{8})((?:[.][a-z]+)*[.][cm]?js)$');
        if parts is null or not is_file_hash(parts[2]) then
            return url;
        end if;
        parts := array[parts[1], parts[3]];
    end if;
    return directory || parts[1] || '*' || parts[2];
end
$$;

comment on function fleetprof_data.stable_resource is
    'Returns a script''s URL with * for the parts that bundlers change with each build: one hash in its file name, directories named after a build.';

create or replace function fleetprof_data.script_pattern(template text)
returns text
language sql immutable strict parallel safe
return case when template like '/%' then '^([A-Za-z][A-Za-z0-9+.-]*://[^/]*|)' else '^()' end
    || regexp_replace(
        replace(
            -- Only :name and * are special.
            regexp_replace(template, '([]^$(){}|+?\\.[-])', '\\\1', 'g'),
            '*', '(.*)'),
        ':[A-Za-z][A-Za-z0-9_]*', '[^/]+', 'g')
    || '$';

comment on function fleetprof_data.script_pattern is
    'Returns the regular expression of a template of sites[].scripts. Its first part is the origin of a template that is a path, then follow the texts of *.';

create or replace function fleetprof_data.script_replacement(template text)
returns text
language plpgsql immutable strict parallel safe
set search_path = pg_catalog, pg_temp
set standard_conforming_strings = on
as $$
#variable_conflict use_column
declare
    replacement text := replace(script_replacement.template, '\', '\\');
begin
    for star in 2..9 loop
        replacement := regexp_replace(replacement, '[*]', '\\' || star);
    end loop;
    return '\1' || replacement;
end
$$;

comment on function fleetprof_data.script_replacement is
    'Returns the replacement for a URL that matches a template: the template, with the texts of * in their places.';

create or replace function fleetprof_data.templated(name text, patterns text[], replacements text[])
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
    for number in 1..coalesce(cardinality(templated.patterns), 0) loop
        if templated.name ~ templated.patterns[number] then
            return regexp_replace(templated.name, templated.patterns[number], templated.replacements[number]);
        end if;
    end loop;
    return null;
end
$$;

comment on function fleetprof_data.templated is
    'Returns the name that the first matching template gives a URL or a path; null if none matches.';

create or replace function fleetprof_data.script_name(resource text, patterns text[], replacements text[])
returns text
language sql immutable parallel safe
return case
    when patterns is null then fleetprof_data.stable_resource(resource)
    else coalesce(
        fleetprof_data.templated(resource, patterns, replacements), fleetprof_data.stable_resource(resource))
end;

comment on function fleetprof_data.script_name is
    'Returns a script''s name across releases; patterns and replacements: those of the site in script_template, null if there are none.';

create or replace function fleetprof_data.source_name(source text, patterns text[], replacements text[])
returns text
language sql immutable parallel safe
-- Sources are paths without their first slash.
return case
    when patterns is null then source
    else coalesce(substr(fleetprof_data.templated('/' || source, patterns, replacements), 2), source)
end;

comment on function fleetprof_data.source_name is
    'Returns the name of a function table''s source across releases: the first template of sites[].scripts that its path matches gives it; without one the name stays. patterns and replacements: as for script_name.';

create or replace function fleetprof_data.keep_scripts(templates jsonb)
returns void
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    -- Takes no lock if nothing changes.
    insert into script_template (site, templates, patterns, replacements)
    select *
    from (
        select
            key,
            coalesce(array_agg(template order by place) filter (where place > 0), '{}'),
            coalesce(array_agg(script_pattern(template) order by place) filter (where place > 0), '{}'),
            coalesce(array_agg(script_replacement(template) order by place) filter (where place > 0), '{}')
        from jsonb_each(keep_scripts.templates)
        left join lateral jsonb_array_elements_text(value) with ordinality as part (template, place) on true
        group by key
    ) as given (site, templates, patterns, replacements)
    where not exists (
            select
            from script_template as known
            where (known.site, known.templates, known.patterns, known.replacements)
                = (given.site, given.templates, given.patterns, given.replacements))
        and (given.templates <> '{}' or exists (select from script_template as known where known.site = given.site))
    order by site
    on conflict (site) do update
    set templates = excluded.templates, patterns = excluded.patterns, replacements = excluded.replacements;
end
$$;

comment on function fleetprof_data.keep_scripts is
    'Replaces the templates of these sites in script_template: an object of arrays by site.';

revoke execute on function
    fleetprof_data.is_file_hash, fleetprof_data.stable_resource, fleetprof_data.script_pattern,
    fleetprof_data.script_replacement, fleetprof_data.templated, fleetprof_data.script_name,
    fleetprof_data.source_name, fleetprof_data.keep_scripts
from public;
grant execute on function
    fleetprof_data.is_file_hash, fleetprof_data.stable_resource, fleetprof_data.templated, fleetprof_data.script_name,
    fleetprof_data.source_name
to fleetprof_reader;
grant execute on function
    fleetprof_data.keep_scripts, fleetprof_data.script_pattern, fleetprof_data.script_replacement
to fleetprof_writer;
