-- First seen: when the first upload of a segment counted, so that releases have an order within an hour.
--
-- Rows that earlier versions wrote have -infinity: the hour of their first upload is all that is known.

alter table fleetprof_data.segment add column first_seen timestamptz not null default '-infinity';

comment on column fleetprof_data.segment.first_seen is 'When its first upload was received; of an upload whose own time is beyond belief, when it was counted. -infinity: an earlier version wrote the row.';
