-- Time zones: whose days a site's days are.

create table fleetprof_data.site_timezone (
    site     text primary key,
    timezone text not null
);

grant select on fleetprof_data.site_timezone to fleetprof_reader;
grant select, insert, update, delete on fleetprof_data.site_timezone to fleetprof_writer;

comment on table fleetprof_data.site_timezone is 'sites[].timezone, as a collector of the site last read it; not of sites whose days are UTC. That of a site that is no longer configured stays.';
comment on column fleetprof_data.site_timezone.site is 'Site.';
comment on column fleetprof_data.site_timezone.timezone is 'Name in pg_timezone_names.';
