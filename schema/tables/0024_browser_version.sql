-- Browser versions: the major version of the visitor's browser as a dimension. Until now only the upload log had it.
--
-- What earlier versions counted is of unknown versions.

alter table fleetprof_data.segment add column browser_version text not null default '';
alter table fleetprof_data.cohort add column browser_version text;
alter table fleetprof_data.cohort_level drop constraint cohort_level_dimensions_check;
alter table fleetprof_data.cohort_level add constraint cohort_level_dimensions_check check (
    dimensions @> '{site}'
    and dimensions <@ '{site,route,release,environment,variant,browser,os,device,thread,traffic,machine,browser_version}');

comment on column fleetprof_data.segment.browser_version is 'Major version of a known browser; empty: unknown; (overflow): left out by a ceiling.';
comment on column fleetprof_data.cohort.browser_version is 'Major version of the browser; null: all.';
