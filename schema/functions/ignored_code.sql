-- SPDX-License-Identifier: Apache-2.0
-- Code that is not the site's own: sites[].ignore.

create or replace function fleetprof_data.ignored_pattern(ignored text)
returns text
language sql immutable strict parallel safe
return replace(replace(replace(replace(ignored, '\', '\\'), '%', '\%'), '_', '\_'), '*', '%');

comment on function fleetprof_data.ignored_pattern is 'Returns the LIKE pattern for a pattern of sites[].ignore. Only * is special.';

create or replace function fleetprof_data.is_ignored_code(place text, patterns text[])
returns boolean
language sql immutable parallel safe
return patterns is not null and place is not null
    and (regexp_replace(place, '[?#].*', '') like any (patterns)
        or regexp_replace(place, '^[A-Za-z][A-Za-z0-9+.-]*://[^/]*|[?#].*', '', 'g') like any (patterns));

comment on function fleetprof_data.is_ignored_code is
    'True if a URL, its path or a source, without query and fragment, matches one of these patterns. patterns: those of the site in ignored_code, null if there are none.';

create or replace function fleetprof_data.package_of(package text, source text, script_package text, is_ignored boolean)
returns text
language sql immutable parallel safe
return coalesce(
    nullif(package, ''),
    case when source is null then script_package end,
    case when is_ignored then '(ignored)' end);

comment on function fleetprof_data.package_of is
    'Returns the package of a frame: by its function table, else by its script''s URL (url_package); (ignored) for other code that is not the site''s own; null for the site''s own.';

create or replace function fleetprof_data.keep_ignored(ignored jsonb)
returns void
language plpgsql
set search_path = fleetprof_data, pg_temp
as $$
#variable_conflict use_column
begin
    -- Takes no lock if nothing changes.
    insert into ignored_code (site, ignored, patterns)
    select *
    from (
        select
            key, coalesce(array_agg(item order by place) filter (where place > 0), '{}'),
            coalesce(array_agg(ignored_pattern(item) order by place) filter (where place > 0), '{}')
        from jsonb_each(keep_ignored.ignored)
        left join lateral jsonb_array_elements_text(value) with ordinality as part (item, place) on true
        group by key
    ) as given (site, ignored, patterns)
    where not exists (
            select from ignored_code as known where (known.site, known.ignored, known.patterns) = (given.site, given.ignored, given.patterns))
        and (given.ignored <> '{}' or exists (select from ignored_code as known where known.site = given.site))
    order by site
    on conflict (site) do update set ignored = excluded.ignored, patterns = excluded.patterns;
end
$$;

comment on function fleetprof_data.keep_ignored is
    'Replaces the patterns of these sites in ignored_code: an object of arrays by site.';

revoke execute on function
    fleetprof_data.ignored_pattern, fleetprof_data.is_ignored_code, fleetprof_data.package_of, fleetprof_data.keep_ignored
from public;
grant execute on function fleetprof_data.is_ignored_code, fleetprof_data.package_of to fleetprof_reader;
grant execute on function fleetprof_data.ignored_pattern, fleetprof_data.keep_ignored to fleetprof_writer;
