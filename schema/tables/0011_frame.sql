-- Frames: whether a page was at the top of its tab or in a frame of another page.
--
-- What earlier versions counted did not say so: it counts as top.

alter table fleetprof_data.segment add column frame text not null default 'top';
alter table fleetprof_data.cohort add column frame text not null default 'top';

comment on column fleetprof_data.segment.frame is 'top, or how the page is in a frame: same-origin or cross-origin, as seen from the page at the top.';
comment on column fleetprof_data.cohort.frame is 'top, same-origin or cross-origin: segments that differ in it have cohorts of their own, at each level.';
