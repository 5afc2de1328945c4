-- Machine classes: how fast the visitor's machine is, as the browser says it, in three words.
--
-- What earlier versions counted did not say so.

alter table fleetprof_data.segment add column machine text not null default '';
alter table fleetprof_data.cohort add column machine text;
alter table fleetprof_data.cohort_level drop constraint cohort_level_dimensions_check;
alter table fleetprof_data.cohort_level add constraint cohort_level_dimensions_check check (
    dimensions @> '{site}'
    and dimensions <@ '{site,route,release,environment,variant,browser,os,device,thread,traffic,machine}');

comment on column fleetprof_data.segment.machine is 'How fast the machine is, from what the browser says: low, mid or high; empty: unknown.';
comment on column fleetprof_data.cohort.machine is 'Machine class; null: all.';
