-- Flagged: waits that are too long to be waits; and style and layout of long animation frames, each by itself.

alter type fleetprof_data.timing_kind add value 'style';
alter type fleetprof_data.timing_kind add value 'layout';
alter type fleetprof_data.timing_kind add value 'forced_style';
alter type fleetprof_data.timing_kind add value 'forced_reflow';
alter type fleetprof_data.timing_kind add value 'vital_flagged';
alter type fleetprof_data.timing_kind add value 'interaction_flagged';

comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good, poor or flagged; a window that samples are joined with; interactions, also flagged ones, and their parts; parts of long animation frames and of times to first byte; resources by host; why page loads have no trace; scripts whose time has no stack (hidden); what agents left out; elements that web vitals are of, and parts of their values; documents that hung or crashed, and policies that documents broke. docs/numbers.md has what each counts.';
comment on column fleetprof_data.vital.rating is '0 good, 1 needs improvement, 2 poor, 3 flagged.';
