-- The server's share of the time to first byte, where the server says it.

alter type fleetprof_data.timing_kind add value 'ttfb';
alter type fleetprof_data.timing_kind add value 'ttfb_server';

comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good or poor; a window that samples are joined with; parts of interactions, of long animation frames and of times to first byte; resources by host; why page loads have no trace; scripts whose time has no stack (hidden); what agents left out; elements that web vitals are of, and parts of their values. docs/numbers.md has what each counts.';
