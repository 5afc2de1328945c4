-- SPDX-License-Identifier: Apache-2.0
-- Many and deep: the largest uploads cost no more per row than small ones. Statements have a time limit that a
-- quadratic plan would exceed a hundred times.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into fleetprof_data.session
select 1, '2026-01-05 10:00Z', id, gen_random_uuid(), null, 0, '2026-01-05 10:12Z', null, format, '', null, null, '', false, 0, ''
from (values (61, 'speed-tracer'), (62, 'speed-tracer'), (63, 'opera-scope'), (64, 'speed-tracer'), (65, 'opera-scope'), (66, 'speed-tracer')) as kept (id, format);

create temp table given (
    session_id bigint, event bigint generated always as identity, timeline bigint default 1, type text, start_us bigint, duration_us bigint,
    resource text, detail jsonb
);
-- Session 61: hour-long events, each a tenth of a second after the other; between them pages and their marks.
insert into given (session_id, type, start_us, duration_us)
select 61, type, n * 100000 + offset_us, duration_us
from generate_series(0, 16000) as n
cross join (values ('DOM_EVENT', 0, 3600000000), ('TAB_CHANGED', 0, null), ('MARK_LOAD_EVENT', 5000, null)) as one (type, offset_us, duration_us);
-- Session 62: GWT applications. Codes and after them loaders on one page, loaders on a page each, and then a code.
insert into given (session_id, type, start_us, resource, detail)
select 62, 'NETWORK_RESOURCE_UPDATE', 0,
    case when n between 1600 and 9600 then 'https://a.example/a.nocache.js' else 'https://a.example/' || repeat('0a', 16) || '.cache.html' end,
    jsonb_build_object('requestId', n::text, 'startTime', least(n, 9600) + 0.5, 'endTime', n + 1, 'resourceSize', case when n > 9600 then 600000 end,
        'responseHeaders', '{"Cache-Control": "max-age=9"}'::jsonb)
from generate_series(1, 9601) as n
union all
select 62, 'TAB_CHANGED', n * 1000, 'https://a.example/', null from generate_series(3200, 9600) as n;
-- Session 63: many timelines of few events.
insert into given (session_id, timeline, type, start_us, duration_us) select 63, n / 4, 'REFLOW', n * 1000, 500 from generate_series(4, 4003) as n;
-- Session 66: more requests than the rules look at. The 10,000th has two records.
insert into given (session_id, type, start_us, resource, detail)
select 66, 'NETWORK_RESOURCE_UPDATE', 0, 'https://a.example/' || n,
    jsonb_build_object('requestId', n::text, 'startTime', 20000 - n, 'resourceSize', 600000)
from generate_series(1, 12000) as n
cross join lateral generate_series(1, case n when 10000 then 2 else 1 end);
insert into fleetprof_data.event
select 1, '2026-01-05 10:00Z', session_id, event, timeline, null, event, type, 0, start_us, duration_us, 0, 0, 0, 0, 1, 0, resource, null, detail
from given;
insert into fleetprof_data.timeline
select 1, '2026-01-05 10:00Z', 63, n, n, null, 'all', 4 from generate_series(1, 1000) as n;
-- Session 64: deep chains of layouts with messages in them. Session 65: as many timelines as events.
insert into fleetprof_data.event
select 1, '2026-01-05 10:00Z', 64, n, 1, nullif(n, 2000 * (n / 2000)) - 1, n, case when n % 2000 > 1000 then 'LOG_MESSAGE' else 'LAYOUT' end, 1, n,
    90000, 100, 0, 0, 0, 1, 0, null, null, '{"message": "x"}'
from generate_series(0, 39999) as n;
insert into fleetprof_data.event
select 1, '2026-01-05 10:00Z', 65, n, n, null, n, 'LAYOUT', 10, n, 1000, 1000, 0, 1000, 0, 1, 0, null, null, null from generate_series(1, 20000) as n;
insert into fleetprof_data.timeline select 1, '2026-01-05 10:00Z', 65, n, n, null, 'all', 1 from generate_series(1, 20000) as n;

insert into segment (segment_id) values (1);
insert into segment (segment_id, release) values (2, 'deep');
-- A deep stack of functions with long names; and deep ones of events, all but three of them inside others of their type.
insert into frame_name (key, function, kind) select 'f' || n, 'f' || n || repeat('x', 100), 'function' from generate_series(1, 1500) as n;
insert into frame_name (key, function, kind) select 'e' || n, 'TYPE' || n, 'event' from generate_series(0, 2) as n;
insert into sample (us, path) select 1000, array_agg('f' || n order by n) from generate_series(1, 1500) as n;
insert into sample (segment_id, us, path) values (2, 1000, '{e0}'), (2, 1000, '{e1}'), (2, 1000, '{e2}');
select pg_temp.store() \g /dev/null
insert into stack_fact
select 1, '2026-01-05 10:00Z', stack_id, '(none)', 1, 1, 1000 from fleetprof_data.stack where level between 2 and 1499;
insert into fleetprof_data.stack
select
    1000000 + chain * 10000 + level, case when level > 1 then 1000000 + chain * 10000 + level - 1 end,
    pg_temp.id('shop', 'e' || level % 3), level, '2026-01-05'
from generate_series(1, 80) as chain cross join generate_series(1, 1500) as level;
insert into stack_fact
select 2, '2026-01-05 10:00Z', stack_id, '(none)', 1, 1, 1000 from fleetprof_data.stack where stack_id between 1000000 and 2000000;
select pg_temp.pack() \g /dev/null
analyze fleetprof_data.event, fleetprof_data.timeline, fleetprof_data.stack, fleetprof_data.frame;

select plan(15);

set local statement_timeout = '30s';
select is(count(*), 100001::bigint, 'use of the UI thread, of which all events have a part') from ui_thread_use(61, 0, 3500000);
select is(round(sum(busy)::numeric, 3), 2.6, 'of events that begin in each other''s time') from ui_thread_use(61, -245, 35);
set local statement_timeout = '6s';
select results_eq(
    'select count(*), min(load_ms), max(load_ms) from page_transitions(61)', $$ values (16001::bigint, 5::float8, 5::float8) $$,
    'each page has its mark');
set local statement_timeout = '30s';
select results_eq(
    $$ select count(*), count(*) filter (where rule = 'GWT Application Detection') from hints(62) $$,
    $$ values (3::bigint, 2::bigint) $$, 'the loader and the code of an application are looked for in one page');
select results_eq(
    $$ select rule, severity, at_ms, description, event_id from hints(66) where rule <> 'Total Bytes Downloaded' or at_ms is null order by 2 $$,
    $$ values
        ('Unexamined Requests', 1, null::float8, 'requests at the end that the rules about requests did not look at: 2001', null::bigint),
        ('Total Bytes Downloaded', 3, null, 'further findings of this rule and severity, not listed: 8999', null) $$,
    'a row says what each bound leaves out');
select results_eq(
    $$ select count(*), min(at_ms), max(at_ms), min(description) from hints(66) where at_ms is not null $$,
    $$ values (1000::bigint, 10001::float8, 11000::float8, '600000 bytes downloaded for https://a.example/9000') $$,
    'the first findings by time are listed');
select results_eq(
    $$ select * from event_breakdown('shop', '2026-01-05Z', '2026-01-06Z', release => 'deep') $$,
    $$ values ('TYPE0', 40001::bigint, 40001::float8, 119841::float8), ('TYPE1', 40001, 40001, 120001), ('TYPE2', 40001, 40001, 119921) $$,
    'events in events of their type');
select is(count(*), 20::bigint, 'layouts many levels down') from hints(64) where rule = 'Frequent Layout activity';
select is(count(distinct top_id), 20::bigint, 'messages many levels down') from log_messages(64);
select is(count(*), 20000::bigint, 'a session beside each of its timelines') from sessions join timelines using (session_id)
where session_id = 65 and sessions.events = 20000;
set local statement_timeout = 0;

-- Tuples of a partition that are read.
create function pg_temp.read(partition text, query text)
returns bigint
language plpgsql
as $$
declare
    counted text := format('select sum(idx_tup_fetch + seq_tup_read) from pg_stat_xact_user_tables where relname = %L', partition);
    before bigint;
    read bigint;
begin
    execute counted into before;
    execute query;
    execute counted into read;
    return read - before;
end
$$;
select cmp_ok(pg_temp.read('event_20260105', 'select count(self_ms) from timelines where session_id = 63'), '<=', 4000::bigint,
    'each timeline reads its own events');
create function pg_temp.hint_of(query text) returns text language plpgsql as $$
declare
    hint text;
begin
    execute query;
    return null;
exception when others then
    get stacked diagnostics hint = pg_exception_hint;
    return hint;
end
$$;
select is(pg_temp.hint_of('select get_events(63, 9999)'),
    'It has ' || (select string_agg(format('%s (all)', n), ', ') from generate_series(1, 20) as n) || ', others.',
    'for a timeline that does not exist the error lists a few');
select cmp_ok(pg_temp.read('timeline_20260105', 'select from timelines where session_id = 61'), '<=', 1::bigint,
    'a session reads its own timelines');

-- The most memory that this process has had, kB.
create function pg_temp.memory()
returns bigint
language sql
return substring(pg_read_file('/proc/self/status') from 'VmHWM:\s+(\d+)')::bigint;
create temp table at_first on commit drop as select pg_temp.memory() as memory;
select is(sum(length(line))::bigint > 100000000, true, 'stacks as text, each with all of its frames')
from folded('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') as line;
select cmp_ok(pg_temp.memory() - memory, '<=', 100000::bigint, 'are not all in memory') from at_first;

select * from finish();
rollback;
