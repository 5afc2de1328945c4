-- Custom dimensions: up to three of a site's own, by name, with the page's values.
--
-- What earlier versions counted has none.

alter table fleetprof_data.segment add column custom text not null default '';
alter table fleetprof_data.cohort add column custom text;
alter table fleetprof_data.cohort_level drop constraint cohort_level_dimensions_check;
alter table fleetprof_data.cohort_level add constraint cohort_level_dimensions_check check (
    dimensions @> '{site}'
    and dimensions <@
        '{site,route,release,environment,variant,browser,os,device,thread,traffic,machine,browser_version,network,custom}');

comment on column fleetprof_data.segment.custom is 'Values of the site''s custom dimensions, as plan=pro; country=de, in the order of its sites[].custom; without those that the page does not say. Empty: none; (overflow): a value, or all of them, left out by a ceiling.';
comment on column fleetprof_data.cohort.custom is 'Values of custom dimensions; null: all.';
