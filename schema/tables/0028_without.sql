-- What web vitals would be without something that ran: of profiled page loads.
--
-- What earlier versions counted does not say so.

alter type fleetprof_data.timing_kind add value 'vital_profiled';
alter type fleetprof_data.timing_kind add value 'vital_without';

comment on type fleetprof_data.timing_kind is 'A point (mark) or a span (measure) of User Timing; a web vital, and the page loads where it is good, poor, flagged or profiled; what it would be without something that ran (vital_without); a window that samples are joined with; interactions, also flagged ones, their parts, responses to them, and where their time goes that no stack has (wait); parts of long animation frames and of times to first byte; resources by host; why page loads have no trace; scripts whose time has no stack (hidden); what agents left out; elements that web vitals are of, and parts of their values; documents that hung or crashed, and policies that documents broke. docs/numbers.md has what each counts.';

comment on type fleetprof_data.timing_bin_columns is 'Histograms of the non-negative values of timings; kinds that only count and sum have none. vital_profiled and vital_without have nothing else.';
comment on column fleetprof_data.timing_bin_columns.bin is 'Key: log-linear bin of whole microseconds, 32 per octave (collector/rollup/bins.h). Of kind vital_without each page load is in three: as its value is; 2,048 higher, without what ran; 4,096 higher, with half of it.';

alter table fleetprof_data.vital add column without bytea not null default '';
alter table fleetprof_data.vital add column replaced_without bytea;

comment on column fleetprof_data.vital.without is 'Empty unless the page load was profiled: a byte 1, and for each thing that made the value longer its timing of kind vital_without, and the bins of the value without it and with half of it (8, 2 and 2 bytes).';
comment on column fleetprof_data.vital.replaced_without is 'That of what the last flush replaced.';
