-- SPDX-License-Identifier: Apache-2.0
-- A session as a whole: of which formats uploads are parts of one session.
\ir fixture.inc
set local search_path = pgtap, fleetprof_data, pg_catalog;

-- Two uploads of one page load for each format: sessions 11 and 12, 21 and 22 and so on.
create temp table format as
select place, name, is_in_parts
from (values (1, 'speed-tracer', true), (2, 'opera-scope', true), (3, 'self-profile', false), (4, 'user-timing', false))
    as format (place, name, is_in_parts);
create temp table part as
select place * 10 + part as session_id, place, part, name, md5(name)::uuid as load_id, is_in_parts
from format
cross join generate_series(1, 2) as part;
insert into fleetprof_data.segment values (1, 'shop', '/cart', 'v1', 'production', '', 'Chrome', 'Linux', 'desktop', 'window', 0, '2026-01-05');
insert into fleetprof_data.session
select 1, '2026-01-05 10:00Z', session_id, gen_random_uuid(), load_id, part, '2026-01-05 10:12Z', null, name, '', null, null, '', false, 10, '\x28b5'
from part;
insert into fleetprof_data.timeline select 1, '2026-01-05 10:00Z', session_id, 1, 1, null, 'all', 1 from part;
insert into fleetprof_data.event
select 1, '2026-01-05 10:00Z', session_id, 1, 1, null, 7, 'LAYOUT', 10, 0, 1, 1, 0, 1, 0, 1, 0, null, null, null
from part;

select plan(5);
select results_eq(
    $$ select session_id, (select array_agg(kept_id) from parts_of(session_id)) from part order by 1 $$,
    $$ select session_id, case when is_in_parts then array[place * 10 + 1, place * 10 + 2]::bigint[] else array[session_id]::bigint[] end from part order by 1 $$,
    'sessions of the two old formats have parts, kept profiles have none');
select results_eq(
    $$ select session_id, (select count(*) from session_events(session_id)) from part order by 1 $$,
    $$ select session_id, case name when 'speed-tracer' then 2::bigint else 1 end from part order by 1 $$,
    'and the events of all parts; what a service lists twice counts once');
select results_eq(
    $$ select session_id, parts_elsewhere(session_id) from part order by 1 $$,
    $$ select session_id, case when is_in_parts then '{}'::int8multirange else '{(,)}' end from part order by 1 $$,
    'a kept profile misses no part');

-- A dump numbers the events of each part from 1; a service numbers them through all parts.
select results_eq(
    $$ select name, array_agg(event_id order by event) from (select distinct name, place from part where is_in_parts) as format,
           session_events(place * 10 + 1) group by name order by name $$,
    $$ values ('opera-scope', '{7}'::bigint[]), ('speed-tracer', '{7,8}') $$,
    'numbers of a dump''s events continue through its parts');

-- The first part of a dump may be missing, and what its last part says of an event there with it.
update fleetprof_data.event set type = 'PROFILE_DATA', detail = '{"profileOf": 0, "text": "x"}';
delete from fleetprof_data.session where session_id % 10 = 1;
select results_eq(
    $$ select name, detail from part, session_events(part.session_id) where part = 2 and is_in_parts order by name $$,
    $$ values ('opera-scope', '{"profileOf": 0, "text": "x"}'::jsonb), ('speed-tracer', '{"text": "x"}') $$,
    'also of a lone part');

select * from finish();
rollback;
