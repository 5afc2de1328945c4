-- SPDX-License-Identifier: Apache-2.0
-- Where a function comes from: its source before bundling, and the address of that source.

create or replace function fleetprof_data.keep_source_links(links jsonb)
returns void
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    delete from source_link_template
    where keep_source_links.links -> site = '""';
    -- Takes no lock if nothing changes.
    insert into source_link_template (site, template)
    select key, value
    from jsonb_each_text(keep_source_links.links)
    where value <> ''
        and not exists (select from source_link_template as known where (known.site, known.template) = (key, value))
    order by key
    on conflict (site) do update set template = excluded.template;
end
$$;

comment on function fleetprof_data.keep_source_links is
    'Replaces the templates of these sites in source_link_template: an object of texts by site, empty for none. Collectors call it together with keep_scripts.';

create or replace function fleetprof_data.encoded_path(path text)
returns text
language sql immutable parallel safe
return (
    select coalesce(string_agg(
        case
            when letter collate "C" ~ '[A-Za-z0-9._~/-]' then letter
            else upper(regexp_replace(encode(convert_to(letter, 'UTF8'), 'hex'), '(..)', '%\1', 'g'))
        end, '' order by place), '')
    from regexp_split_to_table(path, '') with ordinality as part (letter, place));

comment on function fleetprof_data.encoded_path is 'Returns a path as it stands in a URL: slashes stay, reserved characters are percent-encoded.';

create or replace function fleetprof_data.filled_source_link(
    template text, release text, source text, line integer, column_number integer)
returns text
language sql immutable parallel safe
return case
    -- A path that leaves its directory would link to another file.
    when source = '(unknown)' or source ~ '^/|(^|/)[.][.]?(/|$)' or release ~ '^/|(^|/)[.][.]?(/|$)' then null
    when release = '' and strpos(template, '{release}') > 0 then null
    -- An encoded path has no brackets.
    else replace(replace(replace(replace(template,
        '{file}', fleetprof_data.encoded_path(source)),
        '{release}', fleetprof_data.encoded_path(release)),
        '{line}', line::text),
        '{column}', column_number::text)
end;

comment on function fleetprof_data.filled_source_link is
    'Returns the address of a place in a source; null if the template wants a release and there is none (empty), or if the path leaves its directory.';

create or replace function fleetprof.function_origin(
    site               text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer,
    release            text default null
)
returns table (
    function      text,
    source        text,
    line          integer,
    column_number integer,
    package       text,
    owner         text,
    is_ignored    boolean,
    release_added text,
    source_link   text
)
language plpgsql stable parallel safe rows 1
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return query
    select
        origin.function, origin.source, origin.source_line, origin.source_column, origin.package,
        (
            select owned.owner
            from owners_of(array[known.site], array[origin.source]) as owned
            where origin.package = ''
        ),
        origin.is_ignored
            or is_ignored_code(origin.source, ignored.patterns)
            or is_ignored_code(known.url, ignored.patterns),
        known.release,
        case when origin.package = '' then filled_source_link(
            link.template, coalesce(function_origin.release, known.release), origin.source, origin.source_line, origin.source_column)
        end
    from function_table as known
    join original_function as origin using (resource_id)
    left join source_link_template as link using (site)
    left join ignored_code as ignored using (site)
    where known.site = function_origin.site
        and hashtextextended(known.url, 0) = hashtextextended(function_origin.generated_resource, 0)
        and known.url = function_origin.generated_resource
        and origin.line = function_origin.generated_line
        and origin.column_number = function_origin.generated_column;
end
$$;

comment on function fleetprof.function_origin is
    -- {{comment of function_origin}};

create or replace function fleetprof_data.source_end(
    site               text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer
)
returns integer
language sql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
    select min(next.source_line) - 1
    from function_table as known
    join original_function as origin using (resource_id)
    join original_function as next using (resource_id, source)
    where known.site = source_end.site
        and hashtextextended(known.url, 0) = hashtextextended(source_end.generated_resource, 0)
        and known.url = source_end.generated_resource
        and origin.line = source_end.generated_line
        and origin.column_number = source_end.generated_column
        and next.source_line > origin.source_line
$$;

comment on function fleetprof_data.source_end is
    'Returns the line before that on which the next function of the same source begins; null if there is none.';

create or replace function fleetprof.source_link(
    site               text,
    generated_resource text,
    generated_line     integer,
    generated_column   integer,
    release            text default null
)
returns text
language plpgsql stable parallel safe
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    return (
        select source_link
        from fleetprof.function_origin(
            source_link.site, source_link.generated_resource, source_link.generated_line, source_link.generated_column,
            source_link.release));
end
$$;

comment on function fleetprof.source_link is
    -- {{comment of source_link}};

revoke execute on function
    fleetprof_data.keep_source_links, fleetprof_data.encoded_path, fleetprof_data.filled_source_link, fleetprof_data.source_end,
    fleetprof.function_origin, fleetprof.source_link
from public;
grant execute on function
    fleetprof_data.encoded_path, fleetprof_data.filled_source_link, fleetprof_data.source_end, fleetprof.function_origin,
    fleetprof.source_link
to fleetprof_reader;
grant execute on function fleetprof_data.keep_source_links to fleetprof_writer;
