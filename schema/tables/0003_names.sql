-- Names: what scripts and functions are called across releases, and before they were bundled.

create table fleetprof_data.script_template (
    site         text primary key,
    templates    text[] not null,
    patterns     text[] not null,
    replacements text[] not null
);

grant select on fleetprof_data.script_template to fleetprof_reader;
grant select, insert, update on fleetprof_data.script_template to fleetprof_writer;

comment on table fleetprof_data.script_template is 'Templates of sites[].scripts, as a collector of the site last read them. Those of a site that is no longer configured stay.';
comment on column fleetprof_data.script_template.site is 'Site.';
comment on column fleetprof_data.script_template.templates is 'Templates in order; the first that matches wins.';
comment on column fleetprof_data.script_template.patterns is 'Their regular expressions, in parallel.';
comment on column fleetprof_data.script_template.replacements is 'What replaces a URL that matches, in parallel.';

create table fleetprof_data.ignored_code (
    site     text primary key,
    ignored  text[] not null,
    patterns text[] not null
);

grant select on fleetprof_data.ignored_code to fleetprof_reader;
grant select, insert, update on fleetprof_data.ignored_code to fleetprof_writer;

comment on table fleetprof_data.ignored_code is 'Patterns of sites[].ignore, as a collector of the site last read them. Those of a site that is no longer configured stay.';
comment on column fleetprof_data.ignored_code.site is 'Site.';
comment on column fleetprof_data.ignored_code.ignored is 'Patterns as they are configured, in order.';
comment on column fleetprof_data.ignored_code.patterns is 'The same for LIKE, in parallel.';

create table fleetprof_data.first_party (
    site  text primary key,
    hosts text[] not null
);

grant select on fleetprof_data.first_party to fleetprof_reader;
grant select, insert, update on fleetprof_data.first_party to fleetprof_writer;

comment on table fleetprof_data.first_party is 'Hosts whose scripts are a site''s own, with their subdomains: the domains of its origins and sites[].first_party, as a collector of the site last read them. Those of a site that is no longer configured stay.';
comment on column fleetprof_data.first_party.site is 'Site.';
comment on column fleetprof_data.first_party.hosts is 'Hosts, without ports.';

-- Function tables: what the functions of bundled scripts were before. `fleetprof sourcemap add` writes them. A script's
-- id is that of its row in resource, so frames join by equality, also those that come later or were there before.

create table fleetprof_data.function_table (
    resource_id bigint primary key,
    site        text not null,
    url         text not null,
    release     text not null,
    functions   integer not null,
    checksum    bigint not null,
    added       timestamptz not null default now()
);
-- URLs may be too long for an index.
create index function_table_site on fleetprof_data.function_table (site, hashtextextended(url, 0));

create table fleetprof_data.original_function (
    resource_id   bigint not null,
    line          integer not null,
    column_number integer not null,
    function      text,
    source        text not null,
    source_line   integer not null,
    source_column integer not null,
    package       text not null,
    is_ignored    boolean not null,
    primary key (resource_id, line, column_number)
);

grant select on fleetprof_data.function_table, fleetprof_data.original_function to fleetprof_reader;
grant select, insert, delete on fleetprof_data.function_table, fleetprof_data.original_function to fleetprof_writer;

comment on table fleetprof_data.function_table is 'Scripts that have a function table.';
comment on column fleetprof_data.function_table.resource_id is 'Content hash of site and URL, as in resource, where the script may not be yet.';
comment on column fleetprof_data.function_table.site is 'Site.';
comment on column fleetprof_data.function_table.url is 'URL of the script, scrubbed as in resource.';
comment on column fleetprof_data.function_table.release is 'Release that it was added for; empty: none was named.';
comment on column fleetprof_data.function_table.functions is 'Rows in original_function.';
comment on column fleetprof_data.function_table.checksum is 'Hash of the rows: another table for the same URL is of another build.';
comment on column fleetprof_data.function_table.added is 'When it was added.';

comment on table fleetprof_data.original_function is 'Functions of bundled scripts: where they are in the script, and what they were before.';
comment on column fleetprof_data.original_function.resource_id is 'Script.';
comment on column fleetprof_data.original_function.line is 'Line in the script, from 1, where the browser says that the function begins.';
comment on column fleetprof_data.original_function.column_number is 'Column in the line, from 1.';
comment on column fleetprof_data.original_function.function is 'Original name; empty: anonymous; null: unknown, the name in the script holds.';
comment on column fleetprof_data.original_function.source is 'Path of the source, as the source map has it.';
comment on column fleetprof_data.original_function.source_line is 'Line in the source, from 1.';
comment on column fleetprof_data.original_function.source_column is 'Column in that line, from 1.';
comment on column fleetprof_data.original_function.package is 'npm package that the source belongs to; empty: none.';
comment on column fleetprof_data.original_function.is_ignored is 'True for code that is not the site''s own: of a package, of the bundler, or on the ignore list of the source map. sites[].ignore is not in it: ignored_code.';

-- Where sources can be looked at.

create table fleetprof_data.source_link_template (
    site     text primary key,
    template text not null check (template ~ '^https?://[^/{}]+/.*[{]file[}]')
);

grant select on fleetprof_data.source_link_template to fleetprof_reader;
grant select, insert, update, delete on fleetprof_data.source_link_template to fleetprof_writer;

comment on table fleetprof_data.source_link_template is 'sites[].source_link, as a collector of the site last read it.';
comment on column fleetprof_data.source_link_template.site is 'Site.';
comment on column fleetprof_data.source_link_template.template is 'Address of a source, with {file} and perhaps {release}, {line}, {column} in its path, query or fragment.';
