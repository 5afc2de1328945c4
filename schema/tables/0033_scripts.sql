-- Scripts: which script files page loads load, and which of them run.

alter type fleetprof_data.timing_kind add value 'script_loaded';
alter type fleetprof_data.timing_kind add value 'script_ran';

comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good, poor, flagged or profiled; what it would be without something that ran (vital_without); a window that samples are joined with; interactions, also flagged ones, their parts, responses to them, and where their time goes that no stack has (wait); parts of long animation frames and of times to first byte; resources by host; why page loads have no trace; scripts whose time has no stack (hidden); script files that page loads loaded, and that ran; what agents left out; elements that web vitals are of, and parts of their values; documents that hung or crashed, and policies that documents broke. docs/numbers.md has what each counts.';
