-- Hidden time: of the time in which a page was busy for sure, what has no stack, by script.

alter type fleetprof_data.timing_kind add value 'hidden';

comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good or poor; a window that samples are joined with; parts of interactions and of long animation frames; resources by host; why page loads have no trace; scripts whose time has no stack (hidden). docs/numbers.md has what each counts.';
