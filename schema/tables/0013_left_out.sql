-- Left out: what agents did not send, because it was past a limit of theirs.

alter type fleetprof_data.timing_kind add value 'left_out';

comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good or poor; a window that samples are joined with; parts of interactions and of long animation frames; resources by host; why page loads have no trace; scripts whose time has no stack (hidden); what agents left out. docs/numbers.md has what each counts.';
comment on table fleetprof_data.load_id is 'Ids of counted page loads, and of what page loads left out, kept for retention.upload_ids.';
comment on column fleetprof_data.load_id.load_id is 'The envelope''s load; or of a page load and what it left out (docs/ids.md).';
