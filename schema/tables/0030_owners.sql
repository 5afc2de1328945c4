-- Owners: whose the sources of a site are, as its CODEOWNERS file says. `fleetprof owners set` writes them.

create table fleetprof_data.code_owner (
    site       text not null,
    line       integer not null check (line > 0),
    pattern    text not null,
    owner      text not null,
    places     text[],
    expression text,
    outline    text,
    primary key (site, line),
    check (num_nonnulls(places, expression) = 1 and num_nonnulls(places, outline) = 1)
);

grant select on fleetprof_data.code_owner to fleetprof_reader;
grant select, insert, delete on fleetprof_data.code_owner to fleetprof_writer;

comment on table fleetprof_data.code_owner is 'Patterns of a site''s CODEOWNERS file, as fleetprof owners set last read it. The last one that matches a source of a function table says whose it is.';
comment on column fleetprof_data.code_owner.site is 'Site.';
comment on column fleetprof_data.code_owner.line is 'Line in the file, from 1.';
comment on column fleetprof_data.code_owner.pattern is 'Pattern as it stands in the file.';
comment on column fleetprof_data.code_owner.owner is 'Its owners, with spaces between them; empty: nobody.';
comment on column fleetprof_data.code_owner.places is 'Of a pattern that is a path: the file and the directory, which ends in /, that it names, or only the directory. Paths begin at the root of the repository, without a slash.';
comment on column fleetprof_data.code_owner.expression is 'Of other patterns: the regular expression for paths.';
comment on column fleetprof_data.code_owner.outline is 'Of other patterns: a pattern for LIKE that has all that the expression matches, because LIKE is quick.';
