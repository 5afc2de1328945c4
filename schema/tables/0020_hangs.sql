-- Hangs: what browsers report about documents that are gone, and about broken document policies.

alter type fleetprof_data.timing_kind add value 'hang';
alter type fleetprof_data.timing_kind add value 'violation';

comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good or poor; a window that samples are joined with; parts of interactions, of long animation frames and of times to first byte; resources by host; why page loads have no trace; scripts whose time has no stack (hidden); what agents left out; elements that web vitals are of, and parts of their values; documents that hung or crashed, and policies that documents broke. docs/numbers.md has what each counts.';
comment on column fleetprof_data.upload.format is 'self-profile, user-timing, speed-tracer, opera-scope or reports.';
comment on column fleetprof_data.refusal.format is 'self-profile, user-timing, speed-tracer, opera-scope or reports.';
comment on column fleetprof_data.timing.source is 'Target of an interaction, URL of a long frame''s script, kind of a resource, and others (docs/numbers.md); of a hang "hidden", "frame" or both, where nobody saw the document or it was not at the top; else empty.';
comment on column fleetprof_data.timing.function is 'Function of a long frame''s script; of a hang its stack, the ids of its frames, innermost first, with commas between them; else empty.';
