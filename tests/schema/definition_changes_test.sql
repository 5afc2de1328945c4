-- SPDX-License-Identifier: Apache-2.0
-- trend of a vital: from which step on most of its values have another definition.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- The catalogue: Chrome and Edge 143 came in December 2025, and measure LCP otherwise than 142.
insert into segment (segment_id, browser, os, device) values
    (1, 'Chrome', 'Linux', 'desktop'), (2, 'Chrome', 'Linux', 'mobile'), (3, 'Edge', 'Windows', 'desktop'),
    (4, 'Chrome', 'iOS', 'mobile'), (5, 'Firefox', 'Linux', 'desktop'), (6, 'Chrome', 'macOS', 'desktop');
insert into timing_value (segment_id, bucket, upload, kind, name, us, navigation)
select segment_id, bucket::timestamptz, n, kind::fleetprof_data.timing_kind, name, 1000, navigation
from (values
    -- By hour 10, -3, 4 and -8 more values of 142 than of 143; by day 7 and -4.
    (1, '2026-01-05 10:00Z', 10, 'vital', 'LCP', 'hard'),
    (2, '2026-01-05 11:00Z', 3, 'vital', 'LCP', 'hard'),
    (1, '2026-01-06 01:00Z', 4, 'vital', 'LCP', 'hard'),
    (2, '2026-01-06 02:00Z', 4, 'vital', 'LCP', 'hard'),
    (3, '2026-01-06 02:00Z', 4, 'vital', 'LCP', 'hard'),
    (2, '2026-01-06 05:00Z', 1, 'vital', 'LCP', 'hard'),
    -- Another engine, another browser, and an unknown version.
    (4, '2026-01-05 09:00Z', 90, 'vital', 'LCP', 'hard'),
    (5, '2026-01-05 09:00Z', 90, 'vital', 'LCP', 'hard'),
    (6, '2026-01-05 09:00Z', 90, 'vital', 'LCP', 'hard'),
    -- A vital without a change, and marks.
    (2, '2026-01-05 10:00Z', 90, 'vital', 'TTFB', 'hard'),
    (1, '2026-01-05 10:00Z', 5, 'vital', 'TTFB', 'hard'),
    (2, '2026-01-06 05:00Z', 9, 'vital', 'TTFB', 'hard'),
    (1, '2026-01-05 10:00Z', 5, 'mark', 'LCP', ''),
    (2, '2026-01-06 05:00Z', 9, 'mark', 'LCP', ''),
    -- A soft navigation is in no number of others.
    (1, '2026-01-05 12:00Z', 1, 'vital', 'LCP', 'soft'),
    (2, '2026-01-05 13:00Z', 2, 'vital', 'LCP', 'soft')) as given (segment_id, bucket, uploads, kind, name, navigation)
cross join generate_series(1, uploads) as n;
select pg_temp.store() \g /dev/null
update fleetprof_data.segment
set browser_version = ('{142,143,143,143,143,""}'::text[])[segment_id];

select plan(13);

prepare changes(text, text, text) as
    select bucket, left(definition_change, 16)
    from trend($1, $2, $3, 'shop', '2026-01-05Z', '2026-01-07Z')
    where definition_change is not null;
select results_eq(
    $$ execute changes('vital', 'LCP', 'hour') $$, $$ values ('2026-01-06 02:00Z'::timestamptz, 'Chrome, Edge 143') $$,
    'by hour, where the newer version has most values from then on');
select results_eq(
    $$ execute changes('vital', 'LCP', 'day') $$, $$ values ('2026-01-06Z'::timestamptz, 'Chrome, Edge 143') $$, 'by day');
select results_eq(
    $$ select bucket, value_ms, uploads, definition_change is not null from trend('vital', 'LCP', 'day', 'shop', '2026-01-05Z', '2026-01-07Z') $$,
    $$ values ('2026-01-05Z'::timestamptz, 1::float8, 283::bigint, false), ('2026-01-06Z', 1, 13, true) $$, 'changes no row, and no number');
select results_eq(
    $$ select bucket from trend('vital', 'LCP', 'hour', 'shop', '2026-01-05Z', '2026-01-07Z', navigation => 'soft') where definition_change is not null $$,
    $$ values ('2026-01-05 13:00Z'::timestamptz) $$, 'soft navigations have a change of their own');
select is_empty($$ execute changes('vital', 'TTFB', 'hour') $$, 'a vital without a change');
select is_empty($$ execute changes('mark', 'LCP', 'hour') $$, 'a mark of that name');
select is_empty($$ execute changes('device', 'mobile', 'hour') $$, 'a group');
select is_empty($$ execute changes('function', 'main', 'hour') $$, 'a function');
select is_empty(
    format($$ select from trend('vital', 'LCP', 'hour', 'shop', '2026-01-05Z', '2026-01-07Z', %s) where definition_change is not null $$, filter),
    'one side of the change: ' || filter)
from unnest('{"browser => ''Firefox''","os => ''iOS''","browser_version => ''143''","device => ''mobile''"}'::text[]) as filter;
select is_empty(
    $$ select from trend('vital', 'LCP', 'day', 'shop', '2026-01-05Z', '2026-01-06Z') where definition_change is not null $$,
    'a newer version that few page loads have by then');

select * from finish();
rollback;
