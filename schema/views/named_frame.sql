-- SPDX-License-Identifier: Apache-2.0
-- Frames as they are shown: with their original names, where a function table knows them.

create or replace view fleetprof_data.named_resource with (security_invoker = true) as
select
    resource_id,
    site,
    url,
    fleetprof_data.script_name(url, template.patterns, replacements) as script,
    domain,
    ignored.patterns as ignored,
    fleetprof_data.is_ignored_code(url, ignored.patterns) as is_ignored,
    template.patterns,
    replacements
from fleetprof_data.resource
left join fleetprof_data.script_template as template using (site)
left join fleetprof_data.ignored_code as ignored using (site);

comment on view fleetprof_data.named_resource is
    'Scripts, and what they are called across releases (script). ignored: the site''s patterns of ignored code, which may also match sources; is_ignored: the URL matches one. patterns, replacements: of the site''s templates, for sources (source_name). Where many frames share few scripts, read this once for each script.';

create or replace view fleetprof_data.original_frame with (security_invoker = true) as
select
    frame_id,
    case coalesce(origin.function, frame.function) when '' then '(anonymous)' else coalesce(origin.function, frame.function) end
        as function,
    resource_id,
    origin.source,
    coalesce(origin.package, '') as package,
    coalesce(origin.source_line, frame.line) as line,
    coalesce(origin.source_column, frame.column_number) as column_number,
    kind,
    case
        when kind <> 'function' then true
        when origin.function is null then fleetprof_data.is_stable_name(frame.function, frame.column_number)
        else origin.function <> ''
    end as is_stable,
    frame.function as generated_function,
    frame.line as generated_line,
    frame.column_number as generated_column,
    coalesce(origin.is_ignored, false) as is_ignored,
    case
        when origin.function is null then name_key
        when kind <> 'function' or origin.function <> '' then
            hashtextextended(case origin.function when '' then '(anonymous)' else origin.function end, 0)
        else frame_id
    end as name_key
from fleetprof_data.frame
left join fleetprof_data.original_function as origin using (resource_id, line, column_number);

comment on view fleetprof_data.original_frame is
    'Frames without their scripts. package: empty without one. source: null where no function table knows the frame; then function, line and column_number are the generated ones. is_stable: the name is one that people wrote. is_ignored: a function table says that the code is not the site''s own. name_key: as in frame, of the original name.';

create or replace view fleetprof_data.named_frame with (security_invoker = true) as
select
    frame_id,
    function,
    coalesce(source, url) as resource,
    line,
    column_number,
    kind,
    is_stable,
    coalesce(fleetprof_data.source_name(source, patterns, replacements), script) as script,
    fleetprof_data.function_key(
        function, coalesce(source, url), coalesce(fleetprof_data.source_name(source, patterns, replacements), script), line, column_number, kind, is_stable) as function_key,
    url as generated_resource,
    generated_line,
    generated_column,
    original.is_ignored
        or fleetprof_data.package_of(
            package, source, fleetprof_data.url_package(url),
            script.is_ignored or fleetprof_data.is_ignored_code(source, ignored)) is not null as is_ignored
from fleetprof_data.original_frame as original
left join fleetprof_data.named_resource as script using (resource_id);

comment on view fleetprof_data.named_frame is
    'Frames as they are shown: (anonymous) for a function without a name; resource, line and column_number null where absent. A function table gives the original function, source, line and column. script: what the source or the script is called across releases. generated_resource, generated_line, generated_column: where the browser saw it. is_ignored: the code is not the site''s own, by the function table, by the URL of a package, or by sites[].ignore.';

grant select on fleetprof_data.named_resource, fleetprof_data.original_frame, fleetprof_data.named_frame to fleetprof_reader;
