-- SPDX-License-Identifier: Apache-2.0
-- Performance budgets: what the visitors of a site may wait at most, as a collector's configuration says.

create table fleetprof_data.performance_budget (
    site       text not null,
    place      integer not null check (place > 0),
    name       text not null,
    kind       text not null check (kind in ('vital', 'measure', 'js', 'third_party')),
    what       text not null,
    percentile integer check (percentile between 1 and 99),
    limit_us   double precision not null check (limit_us > 0),
    route      text,
    primary key (site, place),
    check ((percentile is null) = (kind in ('js', 'third_party')))
);

grant select on fleetprof_data.performance_budget to fleetprof_reader;
grant select, insert, delete on fleetprof_data.performance_budget to fleetprof_writer;

comment on table fleetprof_data.performance_budget is 'What a site''s visitors may wait at most: sites[].performance_budgets, as a collector of the site last read its configuration.';
comment on column fleetprof_data.performance_budget.site is 'Site.';
comment on column fleetprof_data.performance_budget.place is 'Place in the list, from 1.';
comment on column fleetprof_data.performance_budget.name is 'Text in the configuration.';
comment on column fleetprof_data.performance_budget.kind is 'vital; measure; js: time of scripts per page load; third_party: that of one host''s scripts.';
comment on column fleetprof_data.performance_budget.what is 'Name of the vital or measure, host of the third party; empty: none.';
comment on column fleetprof_data.performance_budget.percentile is 'Percentile that the limit is for; null: the mean per page load.';
comment on column fleetprof_data.performance_budget.limit_us is 'Microseconds; of CLS the score times 1,000,000.';
comment on column fleetprof_data.performance_budget.route is 'Filter of routes; null: all.';
