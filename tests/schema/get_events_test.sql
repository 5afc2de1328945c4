-- SPDX-License-Identifier: Apache-2.0
-- Sessions: the events that get_events returns in each mode, by hand-made tables; and releasing one.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into fleetprof_data.segment values
    (1, 'shop', '/cart', 'v1', 'production', '', 'Chrome', 'Linux', 'desktop', 'window', 0, '2026-01-05'),
    (2, 'blog', '/', 'v1', 'production', '', 'Opera', 'Windows', 'desktop', 'window', 0, '2026-01-05');
insert into fleetprof_data.session values
    (1, '2026-01-05 10:00Z', 41, '00000000-0000-4000-8000-000000000041', null, 0, '2026-01-05 10:12Z', null,
     'opera-scope', '1.1', 7, 3, 'https://shop.example/cart', false, 900, '\x28b52ffd'),
    (2, '2026-01-06 10:00Z', 42, '00000000-0000-4000-8000-000000000042', null, 0, '2026-01-06 10:12Z', '2026-01-06 10:00Z',
     'opera-scope', '1.0', 8, null, '', true, 10, '\x28b5'),
    (1, '2026-01-05 10:00Z', 43, '00000000-0000-4000-8000-000000000043', null, 0, '2026-01-05 10:13Z', null,
     'self-profile', '', null, null, 'https://shop.example/cart', false, 10, '\x28b5');
insert into fleetprof_data.timeline values
    (1, '2026-01-05 10:00Z', 41, 1, 1, 11, 'all', 7),
    (1, '2026-01-05 10:00Z', 41, 2, 1, 11, 'reduce_unique_types', 1),
    (1, '2026-01-05 10:00Z', 41, 3, 2, 12, 'reduce_all', 1),
    (1, '2026-01-05 10:00Z', 41, 4, 4, 12, 'all', 0),
    (1, '2026-01-05 10:00Z', 41, 5, 5, 12, 'all', 3),
    (1, '2026-01-05 10:00Z', 41, 6, 5, 12, 'all', 2),
    (2, '2026-01-06 10:00Z', 42, 1, 1, null, 'all', 0);

-- Timeline 1, one line per event, indented inside its parent:
--   id 10 REFLOW 0 to 20, own 1, overhead .5
--   id 11   STYLE_RECALCULATION 1 to 15, own 4
--   id 12     CSS_SELECTOR_MATCHING #foo, 1 to 5, own 2, 6 hits
--   id 13     CSS_SELECTOR_MATCHING #foo, 5 to 9, own 3, 7 hits
--   id 14     CSS_SELECTOR_MATCHING p, 9 to 10, own .5
--   id 15   LAYOUT 15 to 20, own 5
--   id 16 PROCESS, own 100
create temp table given (
    event bigint, parent bigint, event_id bigint, type text, start_us bigint, duration_us bigint, self_us bigint,
    overhead_us bigint, total_us bigint, hits bigint, child_count bigint, detail jsonb
);
insert into given values
    (1, null, 10, 'REFLOW', 0, 20000, 1000, 500, 15500, 1, 2, null),
    (2, 1, 11, 'STYLE_RECALCULATION', 1000, 14000, 4000, 0, 9500, 1, 3, null),
    (3, 2, 12, 'CSS_SELECTOR_MATCHING', 1000, 4000, 2000, 0, 2000, 6, 0, '{"selector": "#foo", "aggregatedTime": 2}'),
    (4, 2, 13, 'CSS_SELECTOR_MATCHING', 5000, 4000, 3000, 0, 3000, 7, 0, '{"selector": "#foo", "aggregatedTime": 3}'),
    (5, 2, 14, 'CSS_SELECTOR_MATCHING', 9000, 1000, 500, 0, 500, 1, 0, '{"selector": "p", "aggregatedTime": 4, "aggregatedOverhead": 0.25}'),
    (6, 1, 15, 'LAYOUT', 15000, 5000, 5000, 0, 5000, 1, 0, null),
    (7, null, 16, 'PROCESS', 0, null, 100000, 0, 100000, 1, 0, null);
insert into fleetprof_data.event
select 1, '2026-01-05 10:00Z', 41, event, 1, parent, event_id, type, case type when 'PROCESS' then 2 else 0 end, start_us, duration_us, self_us, overhead_us,
    total_us, overhead_us, hits, child_count, null, null, detail
from given;
insert into fleetprof_data.event values
    (1, '2026-01-05 10:00Z', 41, 8, 2, null, null, 'LAYOUT', 10, 0, null, 70000, 0, 70000, 0, 9, 0, null, null, null),
    (1, '2026-01-05 10:00Z', 41, 9, 3, null, null, 'GENERIC', 1, 0, null, 90000, 0, 90000, 0, 9, 0, null, null, null),
    -- Timeline 5 was sent in two lists, and the second has a child of an event in the first. Details: null, only
    -- aggregates, and empty; a custom type of Speed Tracer may be named PROCESS.
    (1, '2026-01-05 10:00Z', 41, 10, 5, null, 1, 'REFLOW', 7, 0, 9000, 1000, 0, 3000, 0, 1, 1, null, null, null),
    (1, '2026-01-05 10:00Z', 41, 11, 5, 10, 2, 'LAYOUT', 10, 1000, 1000, 2000, 0, 2000, 0, 1, 0, null, null, '{"aggregatedTime": 2}'),
    (1, '2026-01-05 10:00Z', 41, 12, 5, null, 5, 'PROCESS', -2, 4000, null, 3000, 0, 3000, 0, 1, 0, null, null, null),
    (1, '2026-01-05 10:00Z', 41, 13, 6, 10, 3, 'LAYOUT', 10, 1001, 1006, 1000, 0, 1000, 0, 1, 0, null, null, null),
    (1, '2026-01-05 10:00Z', 41, 14, 6, null, 4, 'REFLOW', 7, 11000, 1000, 4000, 0, 4000, 0, 1, 0, null, null, '{"sequence": 4}');

select plan(62);

select results_eq(
    'select id, parent_id, type, time_ms, overhead_ms, hits, start_ms, end_ms, child_count, total_ms from get_events(41, 1)',
    $$ values
        (10::bigint, null::bigint, 'REFLOW', 1::float8, 0.5::float8, 1::bigint, 0::float8, 20::float8, 2::bigint, 15.5::float8),
        (16, null, 'PROCESS', 100, 0, 1, 0, null, 0, 100),
        (11, 10, 'STYLE_RECALCULATION', 4, 0, 1, 1, 15, 3, 9.5),
        (12, 11, 'CSS_SELECTOR_MATCHING', 2, 0, 6, 1, 5, 0, 2),
        (13, 11, 'CSS_SELECTOR_MATCHING', 3, 0, 7, 5, 9, 0, 3),
        (14, 11, 'CSS_SELECTOR_MATCHING', 0.5, 0, 1, 9, 10, 0, 4),
        (15, 10, 'LAYOUT', 5, 0, 1, 15, 20, 0, 5) $$,
    'mode all gives every event by start');
select results_eq(
    $$ select type, time_ms, overhead_ms, hits from get_events(41, 1, 'reduce_unique_types') $$,
    $$ values ('CSS_SELECTOR_MATCHING', 5.5::float8, 0::float8, 14::bigint), ('LAYOUT', 5, 0, 1),
              ('STYLE_RECALCULATION', 4, 0, 1), ('REFLOW', 1, 0.5, 1) $$,
    'reduce_unique_types gives one virtual event a type, and the whole process is none');
select results_eq(
    $$ select type, detail, time_ms, hits from get_events(41, 1, 'reduce_unique_events', types => '{CSS_SELECTOR_MATCHING}') $$,
    $$ values ('CSS_SELECTOR_MATCHING', '{"selector": "#foo"}'::jsonb, 5::float8, 13::bigint),
              ('CSS_SELECTOR_MATCHING', '{"selector": "p"}', 0.5, 1) $$,
    'reduce_unique_events gives one virtual event a type and detail');
select results_eq(
    $$ select type, time_ms, overhead_ms, hits, detail from get_events(41, 1, 'reduce_all') $$,
    $$ values ('GENERIC', 15.5::float8, 0.5::float8, 17::bigint, null::jsonb) $$,
    'reduce_all gives one in all');
select is_empty(
    $$ select from get_events(41, 1, 'reduce_unique_types') where num_nonnulls(id, parent_id, start_ms, end_ms, child_count, total_ms) > 0 $$,
    'a virtual event claims nothing but what adds up');

-- Selections
select results_eq('select id from get_events(41, 1, event_id => 11)', 'values (12::bigint), (13), (14)',
    'below an event, without the event');
select results_eq('select id from get_events(41, 1, max_depth => 1)', 'values (10::bigint), (16)',
    'a depth of one is the children of the root');
select results_eq('select id from get_events(41, 1, event_id => 10, max_depth => 1)', 'values (11::bigint), (15)',
    'which may be an event');
select results_eq($$ select id from get_events(41, 1, types => '{LAYOUT,REFLOW}') $$, 'values (10::bigint), (15)',
    'types');
select results_eq($$ select id from get_events(41, 1, types => '{}') $$, 'select id from get_events(41, 1)',
    'no types are all types');
select results_eq('select id from get_events(41, 1, from_ms => 9.5, to_ms => 12)', 'values (10::bigint), (11), (14)',
    'events whose interval overlaps the one asked for, whole');
select results_eq('select id from get_events(41, 1, to_ms => 0)', 'values (10::bigint), (16)',
    'an end alone is open to the past');
select results_eq('select id from get_events(41, 1, from_ms => 20)', 'values (10::bigint), (15)',
    'a begin alone is open to the future');
select results_eq('select id from get_events(41, 5, event_id => 1, from_ms => 2.007, to_ms => 2.007)', 'values (3::bigint)',
    'an edge is met to the microsecond at an event''s end');
select results_eq('select id from get_events(41, 5, event_id => 1, to_ms => 1.001)', 'values (2::bigint), (3)',
    'and at its start');
select is_empty('select from get_events(41, 1, from_ms => 1e308)', 'as late as can be there is nothing');
select results_eq(
    $$ select type, time_ms from get_events(41, 1, 'reduce_unique_types', event_id => 11, to_ms => 4) $$,
    $$ values ('CSS_SELECTOR_MATCHING', 2::float8) $$,
    'the mode reduces what is selected');
select is_empty('select from get_events(41, 4)', 'a timeline without events gives none');

-- A timeline that came in several lists
select results_eq('select id, parent_id from get_events(41, 5)',
    'values (1::bigint, null::bigint), (2, 1), (3, 1), (5, null), (4, null)', 'unreduced lists of a timeline are one');
select results_eq('select id from get_events(41, 5, event_id => 1)', 'values (2::bigint), (3)',
    'with children in one whose parent is in another');
select results_eq($$ select type, time_ms, hits from get_events(41, 5, 'reduce_unique_events') $$,
    $$ values ('REFLOW', 5::float8, 2::bigint), ('LAYOUT', 3, 2), ('PROCESS', 3, 1) $$,
    'an object with only aggregates has no detail; a custom type is not the process, whatever its name');
select results_eq($$ select type, time_ms, hits from get_events(41, 5, 'reduce_all') $$,
    $$ values ('GENERIC', 11::float8, 5::bigint) $$, 'all of them are summed');

-- Lists that came reduced
select results_eq($$ select type, time_ms from get_events(41, 2, 'reduce_all') $$, $$ values ('GENERIC', 90::float8) $$,
    'a list that came reduced is given as it came');
select results_eq($$ select start_ms, end_ms from get_events(41, 2, 'reduce_all', types => '{GENERIC}') $$,
    'values (null::float8, null::float8)', 'and claims no start that it was not given');
select throws_ok(format('select from get_events(41, 2, %L, %s)', 'reduce_all', filter), '22023',
    'timeline 2 came reduced (reduce_all)', 'what was summed can''t be told apart: ' || filter)
from unnest(array['event_id => 1', 'from_ms => 0', 'max_depth => 1']) as filter;
select throws_ok($$ select from get_events(41, 2, 'all') $$, 'P0002',
    'session 41 has no timeline 2 that can give mode all', 'what is gone can''t be given');
select throws_ok($$ select from get_events(41, 2, 'reduce_unique_types') $$, 'P0002',
    'session 41 has no timeline 2 that can give mode reduce_unique_types', 'nor be reduced otherwise');

-- Errors
select throws_ok($$ select from get_events(44, 1) $$, 'P0002',
    'session 44 has no timeline 1 that can give mode all', 'a session that is not kept');
select throws_ok($$ select from get_events(43, 1) $$, 'P0002',
    'session 43 has no timeline 1 that can give mode all', 'a kept trace has no events');
select throws_ok($$ select from get_events(null, null) $$, 'P0002',
    'session null has no timeline null that can give mode all', 'no ids');
select throws_ok($$ select from get_events(41, 1, from_ms => 2, to_ms => 1) $$, '22023', 'from_ms is later than to_ms',
    'an interval that ends before it starts');
select throws_ok($$ select from get_events(41, 1, 'some') $$, '22023', 'no mode is named ''some''', 'an unknown mode');
select throws_ok($$ select from get_events(41, 1, event_id => 99) $$, 'P0002', 'timeline 1 has no event 99',
    'an unknown event');
select throws_ok($$ select from get_events(41, 1, max_depth => 0) $$, '22023', 'max_depth is 0', 'no depth at all');

-- Views
select results_eq(
    'select session_id, site, format, version, timelines, events, stored_bytes from sessions order by session_id',
    $$ values (41::bigint, 'shop', 'opera-scope', '1.1', 6::bigint, 14::bigint, 4), (42, 'blog', 'opera-scope', '1.0', 1, 0, 2),
              (43, 'shop', 'self-profile', '', 0, 0, 2) $$,
    'sessions lists what is kept');
select results_eq(
    'select timeline_id, mode, events, start_ms, end_ms, self_ms from timelines where session_id = 41 order by timeline',
    $$ values (1::bigint, 'all', 7, 0::float8, 20::float8, 15.5::float8), (1, 'reduce_unique_types', 1, null, null, 70),
              (2, 'reduce_all', 1, null, null, 90), (4, 'all', 0, null, null, null), (5, 'all', 3, 0, 9, 6),
              (5, 'all', 2, 1.001, 12, 5) $$,
    'timelines sums up each list');

select results_eq('select * from session_content(41)',
    $$ values ('opera-scope', false, 900, '\x28b52ffd'::bytea) $$, 'the content of one');
select throws_ok('select session_content(44)', 'P0002', 'session 44 is not kept', 'of none');
select throws_ok('select session_content(null)', 'P0002', 'session null is not kept', 'of null');

-- Many events: a quadratic plan takes a quarter of a minute
insert into fleetprof_data.timeline values (2, '2026-01-06 10:00Z', 42, 2, 2, null, 'all', 20000);
insert into fleetprof_data.event
select 2, '2026-01-06 10:00Z', 42, n, 2, nullif(n / 30, 0), n, 'LAYOUT', 10, n, 1, 1, 0, 1, 0, 1, 0, null, null, null
from generate_series(1, 20000) as n;
select is((select count(*) from get_events(42, 2, max_depth => 2)), 29 + 870::bigint, 'two levels of many events');
select performs_ok('select from get_events(42, 2, max_depth => 9)', 3000, 'all of them, level by level');
select performs_ok('select from get_events(42, 2)', 3000, 'and all at once');

-- Each event stands before the one that it is in, as parts of a session may list them; two are in each other. A round of
-- reading for each level takes a minute.
insert into fleetprof_data.timeline values (2, '2026-01-06 10:00Z', 42, 3, 3, null, 'all', 1004);
insert into fleetprof_data.event
select 2, '2026-01-06 10:00Z', 42, 30000 + n, 3, 30000 + parent, n, 'LAYOUT', 10, n, 1, 1, 0, 1, 0, 1, 0, null, null, null
from (
    select n, case when n < 1000 then n + 1 end from generate_series(1, 1000) as n
    union all values (1010, 1011), (1011, 1010), (1020, 1030), (1030, null)
) as listed (n, parent);
select set_eq('select id, parent_id from get_events(42, 3, max_depth => 2)',
    'values (1000::bigint, null::bigint), (999, 1000), (1030, null), (1020, 1030)',
    'two levels of events that stand before those they are in');
select performs_ok('select from get_events(42, 3, event_id => 1000)', 3000, 'those below one');
select is((select count(*) from get_events(42, 3, event_id => 1000)), 999::bigint, 'all of them');
select is((select count(*) from get_events(42, 3, max_depth => 2000)), 1002::bigint, 'events in each other are below none');

-- Release
select is(release_session(41), 1::bigint, 'a session is forgotten');
select results_eq('select session_id from sessions order by 1', 'values (42::bigint), (43)', 'and no other');
select is_empty('select from fleetprof_data.event where session_id = 41', 'also its events');
select throws_ok('select release_session(41)', 'P0002', 'session 41 is not kept', 'twice is once too often');

-- Parts of long sessions: 51 is running; 52 was stopped, its last parts are still in the spool; 53 is complete; 54 has
-- not been reported for too long; nothing from the spool of 55 has been counted.
insert into fleetprof_data.spool_position values ('00000000-0000-4000-8000-0000000000aa', 100);
insert into fleetprof_data.long_session (spool_id, load_id, expires, stopped_position)
select format('00000000-0000-4000-8000-0000000000%s', spool)::uuid, format('00000000-0000-4000-8000-0000000000%s', load)::uuid,
    now() + expires, stopped
from (values
    ('aa', 51, interval '1 hour', null), ('aa', 52, '1 hour', 101), ('aa', 53, '1 hour', 100), ('aa', 54, '0 hours', null),
    ('bb', 55, '1 hour', 1)) as given (spool, load, expires, stopped);
insert into fleetprof_data.session
select 1, '2026-01-05 10:00Z', load, format('00000000-0000-4000-8000-0000000001%s', load)::uuid,
    format('00000000-0000-4000-8000-0000000000%s', load)::uuid, 0, '2026-01-05 10:12Z', null, 'speed-tracer', '', null, null, '', false, 10, '\x28b5'
from generate_series(51, 56) as load;
insert into fleetprof_data.timeline select 1, '2026-01-05 10:00Z', load, 1, 1, null, 'all', 1 from generate_series(51, 56) as load;
insert into fleetprof_data.event
select 1, '2026-01-05 10:00Z', load, 1, 1, null, null, 'LAYOUT', 10, 0, 1, 1, 0, 1, 0, 1, 0, null, null, null
from generate_series(51, 56) as load;
select set_eq('select right(load_id::text, 2) from running_sessions', $$ values ('51'), ('52'), ('55') $$, 'what runs');
select throws_ok(format('select release_session(%s)', id), '55006',
    format('session %s is a part of 00000000-0000-4000-8000-0000000000%s, which still runs', id, id), 'a part of what runs')
from unnest(array[51, 52, 55]) as id;
select is(release_session(53), 1::bigint, 'a part of what was stopped');
select is(release_session(), 4::bigint, 'without an id all of them');
select set_eq('select session_id from sessions', 'values (51::bigint), (52), (55)', 'except parts of running sessions');
select set_eq('select session_id from fleetprof_data.timeline', 'values (51::bigint), (52), (55)', 'with their timelines');
select set_eq('select session_id from fleetprof_data.event', 'values (51::bigint), (52), (55)', 'and events');
update fleetprof_data.spool_position set position = 101;
select is(release_session(52), 1::bigint, 'once its last part is there');

select * from finish();
rollback;
