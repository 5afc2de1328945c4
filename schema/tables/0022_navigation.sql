-- Kinds of navigation: of vitals, of the windows of their values, and of interactions.
--
-- What earlier versions counted did not say so.

alter table fleetprof_data.timing add column navigation text not null default '';
alter table fleetprof_data.timing add constraint timing_navigation_check check (
    navigation in ('', 'hard', 'soft', 'back-forward', 'back-forward-cache', 'prerender', 'reload', 'restore'));
alter table fleetprof_data.vital add column navigation smallint not null default 0;
alter table fleetprof_data.vital add column replaced_navigation smallint;

comment on column fleetprof_data.timing.navigation is 'Kind of navigation of vitals, of the windows of their values, and of interactions; empty: unknown, as of all that other kinds count.';
comment on column fleetprof_data.vital.navigation is 'Kind of navigation, as a place in fleetprof_data.navigations(), from 0: unknown.';
comment on column fleetprof_data.vital.replaced_navigation is 'The kind of navigation of the replaced value.';
