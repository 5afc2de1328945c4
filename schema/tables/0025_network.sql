-- Network classes: how fast the visitor's network is, as the browser says it, or that the visitor saves data.
--
-- What earlier versions counted did not say so.

alter table fleetprof_data.segment add column network text not null default '';
alter table fleetprof_data.cohort add column network text;
alter table fleetprof_data.cohort_level drop constraint cohort_level_dimensions_check;
alter table fleetprof_data.cohort_level add constraint cohort_level_dimensions_check check (
    dimensions @> '{site}'
    and dimensions <@
        '{site,route,release,environment,variant,browser,os,device,thread,traffic,machine,browser_version,network}');

comment on column fleetprof_data.segment.network is 'How fast the network is, as the browser says it: 4g, 3g or 2g; save-data: the visitor saves data; empty: unknown.';
comment on column fleetprof_data.cohort.network is 'Network class; null: all.';
