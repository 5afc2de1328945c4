-- Frame vectors: on which functions kept page loads spent their time, so that a typical one can be found.
--
-- What earlier versions kept has none.

alter table fleetprof_data.session add column vector_timing_ids bigint[] not null default '{}';
alter table fleetprof_data.session add column vector_frame_ids bigint[] not null default '{}';
alter table fleetprof_data.session add column vector_us bigint[] not null default '{}';
alter table fleetprof_data.session add column seen_frame_ids bigint[] not null default '{}';

comment on column fleetprof_data.session.vector_timing_ids is 'With the next two columns in parallel: where the upload spent its time, at most 500 entries. The measure or window; 0: the whole upload. Of each the 50 frames with the most self time, first those of rated vitals.';
comment on column fleetprof_data.session.vector_frame_ids is 'The frame.';
comment on column fleetprof_data.session.vector_us is 'Its self time there, microseconds; above 0.';
comment on column fleetprof_data.session.seen_frame_ids is 'The 128 frames with the most time anywhere on stacks of the upload. Empty: it has no stacks, or an earlier version kept it.';
