-- Kinds of traffic: whether a page load is one of many of the same client, such as a monitor.
--
-- What earlier versions counted did not say so.

alter table fleetprof_data.segment add column traffic text not null default '';
alter table fleetprof_data.cohort add column traffic text;
alter table fleetprof_data.cohort_level drop constraint cohort_level_dimensions_check;
alter table fleetprof_data.cohort_level add constraint cohort_level_dimensions_check check (
    dimensions @> '{site}'
    and dimensions <@ '{site,route,release,environment,variant,browser,os,device,thread,traffic}');

comment on column fleetprof_data.segment.traffic is 'repeated: page loads of a client that loaded pages of the site often on that day; empty: others.';
comment on column fleetprof_data.cohort.traffic is 'Kind of traffic; null: all.';
