-- Elements and parts of web vitals: what a value is of, and what it consists of.
--
-- What earlier versions counted has neither.

alter type fleetprof_data.timing_kind add value 'vital_element';
alter type fleetprof_data.timing_kind add value 'vital_part';

comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good or poor; a window that samples are joined with; parts of interactions and of long animation frames; resources by host; why page loads have no trace; scripts whose time has no stack (hidden); what agents left out; elements that web vitals are of, and parts of their values. docs/numbers.md has what each counts.';

alter table fleetprof_data.vital add column element_id bigint not null default 0;
alter table fleetprof_data.vital add column known_parts bigint not null default 0;
alter table fleetprof_data.vital add column part_1_us bigint not null default 0;
alter table fleetprof_data.vital add column part_2_us bigint not null default 0;
alter table fleetprof_data.vital add column part_3_us bigint not null default 0;
alter table fleetprof_data.vital add column part_4_us bigint not null default 0;
alter table fleetprof_data.vital add column replaced_element_id bigint;
alter table fleetprof_data.vital add column replaced_known_parts bigint;
alter table fleetprof_data.vital add column replaced_part_1_us bigint;
alter table fleetprof_data.vital add column replaced_part_2_us bigint;
alter table fleetprof_data.vital add column replaced_part_3_us bigint;
alter table fleetprof_data.vital add column replaced_part_4_us bigint;

comment on column fleetprof_data.vital.element_id is 'Id of the timing of its element; 0: unknown.';
comment on column fleetprof_data.vital.known_parts is 'How many of the next columns are parts of the value; 0: they are unknown. The last part is what they leave of the value.';
comment on column fleetprof_data.vital.part_1_us is 'First part, microseconds.';
comment on column fleetprof_data.vital.part_2_us is 'Second part.';
comment on column fleetprof_data.vital.part_3_us is 'Third part.';
comment on column fleetprof_data.vital.part_4_us is 'Fourth part.';
comment on column fleetprof_data.vital.replaced_element_id is 'The timing of the element of the replaced value.';
comment on column fleetprof_data.vital.replaced_known_parts is 'How many parts of the replaced value are known.';
comment on column fleetprof_data.vital.replaced_part_1_us is 'The first part of the replaced value.';
comment on column fleetprof_data.vital.replaced_part_2_us is 'Its second part.';
comment on column fleetprof_data.vital.replaced_part_3_us is 'Its third part.';
comment on column fleetprof_data.vital.replaced_part_4_us is 'Its fourth part.';
