-- What the collectors of one database share: the secret of the draw for sample_keep, and how much they have kept.

create table fleetprof_data.draw_secret (
    secret bytea not null check (length(secret) = 16)
);
create unique index draw_secret_is_one_row on fleetprof_data.draw_secret ((true));

create table fleetprof_data.kept_bytes (
    spool_id uuid not null,
    site     text not null,
    bucket   timestamptz not null,
    bytes    bigint not null,
    primary key (spool_id, site)
);

-- Whoever reads the secret can choose which traces are kept: readers may not.
grant select, insert on fleetprof_data.draw_secret to fleetprof_writer;
grant select, insert, update, delete on fleetprof_data.kept_bytes to fleetprof_writer;
grant select on fleetprof_data.kept_bytes to fleetprof_reader;

comment on table fleetprof_data.draw_secret is 'The key by which all collectors draw the traces that sample_keep keeps: one row, made by the first collector.';
comment on column fleetprof_data.draw_secret.secret is '16 random bytes.';
comment on table fleetprof_data.kept_bytes is 'How much each collector has kept whole in its current hour, for the ceilings that they share.';
comment on column fleetprof_data.kept_bytes.spool_id is 'Spool of the collector.';
comment on column fleetprof_data.kept_bytes.site is 'Site.';
comment on column fleetprof_data.kept_bytes.bucket is 'Start of that UTC hour, by the collector''s clock.';
comment on column fleetprof_data.kept_bytes.bytes is 'Kept bytes of the site in that hour (docs/configuration.md).';
