-- Draws: whether the web server drew a page load to be profiled. What profiling costs is the difference.
--
-- What earlier versions counted did not say so.

alter table fleetprof_data.segment add column drawn text not null default '';
alter table fleetprof_data.cohort add column drawn text;
alter table fleetprof_data.cohort_level drop constraint cohort_level_dimensions_check;
alter table fleetprof_data.cohort_level add constraint cohort_level_dimensions_check check (
    dimensions @> '{site}'
    and dimensions <@
        '{site,route,release,environment,variant,browser,os,device,thread,traffic,machine,browser_version,network,custom,drawn}');

comment on column fleetprof_data.segment.drawn is 'The web server''s draw, as the agent''s vitals build says it: yes, to be profiled; no; empty: unknown, or a document out of a cache.';
comment on column fleetprof_data.cohort.drawn is 'The web server''s draw; null: all.';
