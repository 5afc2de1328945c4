-- What identifies a function across releases.
--
-- A release moves functions to other lines and renames bundles. What stays is a function's name and its script's URL
-- without the parts that a build adds.

create or replace function fleetprof_data.stable_resource(resource text)
returns text
language sql immutable strict parallel safe
return regexp_replace(
    regexp_replace(
        -- A directory per build.
        regexp_replace(resource, '/(?=[^/]*[0-9])([0-9a-f]{8,}|[A-Za-z0-9_-]{20,})(?=/)', '/*', 'g'),
        -- name.HASH.js, name-HASH.chunk.js, HASH.js: hexadecimal, with a digit.
        '([./_~-])(?=[a-f]*[0-9])[0-9a-f]{6,64}(?=([.-][a-z0-9]+)*[.][cm]?js$)', '\1*', 'g'),
    -- name-HASH.js of Rollup, Vite and esbuild: eight characters with a digit, or with two capitals after the first.
    '([.-])(?=[A-Za-z0-9_-]*[0-9]|[A-Za-z0-9_-][A-Za-z0-9_-]*[A-Z][A-Za-z0-9_-]*[A-Z])[A-Za-z0-9_-]{8}(?=[.][cm]?js$)',
    '\1*');

comment on function fleetprof_data.stable_resource is
    'Returns a script''s URL with * for the parts that change with each build: hashes in its file name, directories named after a build.';

create or replace function fleetprof_data.is_stable_name(function text, column_number integer)
returns boolean
language sql immutable parallel safe
-- Minifiers write long lines and short names.
return function <> '(anonymous)' and char_length(function) >= case when column_number > 1000 then 4 else 3 end;

comment on function fleetprof_data.is_stable_name is
    'True if a function''s name is one that people wrote: it has one, and a longer one than minifiers make up.';

create or replace function fleetprof_data.function_key(
    function        text,
    resource        text,
    stable_resource text,
    line            integer,
    column_number   integer,
    kind            fleetprof_data.frame_kind
)
returns bigint
language sql stable parallel safe
return hashtextextended(
    case
        when kind <> 'function' or fleetprof_data.is_stable_name(function, column_number)
            then kind::text || E'\n' || function || E'\n' || coalesce(stable_resource, '')
        else function || E'\n' || coalesce(resource, '') || E'\n' || coalesce(line, 0) || ':' || coalesce(column_number, 0)
    end, 0);

comment on function fleetprof_data.function_key is
    'Returns what identifies a function across releases: a hash of its kind, name and script (stable_resource). A function without a name of its own (anonymous, minified) is identified by its URL, line and column, so it is the same only in the same script. Takes columns of named_frame.';

revoke execute on function
    fleetprof_data.stable_resource, fleetprof_data.is_stable_name, fleetprof_data.function_key
from public;
grant execute on function
    fleetprof_data.stable_resource, fleetprof_data.is_stable_name, fleetprof_data.function_key
to fleetprof_reader;
