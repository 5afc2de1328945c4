-- SPDX-License-Identifier: Apache-2.0
-- A function's identity across releases.
--
-- A release moves functions to other lines and renames bundles. The function's name stays, and so does its script's
-- name without the parts that a build adds (script_name.sql). If a function table knows the function, its original name
-- and source identify it instead.

create or replace function fleetprof_data.is_stable_name(function text, column_number integer)
returns boolean
language sql immutable parallel safe
-- Minifiers write long lines and short names.
return function <> '(anonymous)' and char_length(function) >= case when column_number > 1000 then 4 else 3 end;

comment on function fleetprof_data.is_stable_name is
    'True if a function''s name is one that people wrote: it has one, and a longer one than minifiers make up.';

create or replace function fleetprof_data.function_key(
    function      text,
    resource      text,
    script        text,
    line          integer,
    column_number integer,
    kind          fleetprof_data.frame_kind,
    is_stable     boolean
)
returns bigint
language sql stable parallel safe
return hashtextextended(
    case
        when is_stable then kind::text || E'\n' || function || E'\n' || coalesce(script, '')
        else function || E'\n' || coalesce(resource, '') || E'\n' || coalesce(line, 0) || ':' || coalesce(column_number, 0)
    end, 0);

comment on function fleetprof_data.function_key is
    'Returns what identifies a function across releases: a hash of its kind, name and script. A function without a name of its own (anonymous, minified) is identified by its URL, line and column, so it is the same only in the same script. Takes columns of named_frame.';

revoke execute on function fleetprof_data.is_stable_name, fleetprof_data.function_key from public;
grant execute on function fleetprof_data.is_stable_name, fleetprof_data.function_key to fleetprof_reader;
