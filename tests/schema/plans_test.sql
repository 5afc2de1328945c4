-- SPDX-License-Identifier: Apache-2.0
-- Plans: a query for a day and a few segments reads that day's partitions, by index.
\ir fixture.inc
set local search_path = pgtap, pg_catalog;

-- 400 segments of 50 frames, on two days.
insert into segment (segment_id, route, rate_ppm) select n, '/' || n, 10000 from generate_series(1, 400) as n;
insert into sample (segment_id, bucket, us, marker, path, measures, windows)
select
    segment_id, '2026-01-05 10:00Z'::timestamptz + day * interval '1 day', 1000, 'layout', array['f' || n], array['measure ' || n % 5],
    case n % 5 when 0 then '{(INP) poor}'::text[] end
from segment, generate_series(1, 50) as n, generate_series(0, 1) as day;
insert into timing_value (segment_id, bucket, name, us)
select segment_id, '2026-01-05 10:00Z'::timestamptz + day * interval '1 day', 'measure ' || n, n * n * n
from segment, generate_series(1, 50) as n, generate_series(0, 1) as day;
insert into timing_value (segment_id, bucket, kind, name, us)
select segment_id, '2026-01-05 10:00Z'::timestamptz + day * interval '1 day', kind, name, 1000
from segment, generate_series(0, 1) as day,
    (values ('vital'::fleetprof_data.timing_kind, 'LCP'), ('coverage', 'quota')) as timing (kind, name);
select pg_temp.store() \g /dev/null

create temp table question (name text, arguments text, kind text, first_argument text default '');
insert into question values
    ('measure_hotspots', '', 'measure', '''measure 3'', '),
    ('measure_hotspots', ', marker => ''layout''', 'measure_frame', '''measure 3'', '),
    ('vital_hotspots', '', 'measure_frame', '''INP'', '),
    ('vitals_by', '', 'timing_bin', '''route'', '),
    ('what_if', '', 'timing_bin', '''INP'', ');
insert into question values
    ('hotspots', '', 'frame'),
    ('estimated_hotspots', '', 'frame'),
    ('hotspots', ', marker => ''layout''', 'frame_marker'),
    ('flamegraph', '', 'stack'),
    ('folded', '', 'stack'),
    ('markers', '', 'total'),
    ('timings', '', 'timing'),
    ('timings', '', 'timing_bin'),
    ('vitals', '', 'timing_bin'),
    ('third_parties', '', 'frame'),
    ('chunks', '', 'timing'),
    ('fix_first', '', 'timing_bin'),
    ('coverage', '', 'total'),
    ('coverage', '', 'timing'),
    ('hangs', '', 'timing');

-- Scans of a kind's tables by one call, by place: {whole, by index}; places without scans are left out.
create function pg_temp.scans(kind text, query text)
returns jsonb
language plpgsql
as $$
declare
    tables text := kind || '_(recent|hours|days)(_[0-9]{8})?';
    counted text := format(
        'select jsonb_object_agg(substring(relname from %L), array[seq_scan, idx_scan])
         from pg_stat_xact_user_tables where schemaname = %L and relname ~ %L',
        kind || '_(.*)', 'fleetprof_data', '^' || tables || '$');
    before jsonb;
    after jsonb;
begin
    execute counted into before;
    execute query;
    execute counted into after;
    return (
        select coalesce(jsonb_object_agg(place, case when scans->>0 = before->place->>0 then 'by index' else 'whole' end), '{}')
        from jsonb_each(after) as entry (place, scans)
        where scans <> before->place);
end
$$;

create function pg_temp.asked(question question, since text, until text, route text default '/7')
returns text
language sql
return format('select * from fleetprof.%I(%s''shop'', %L, %L, %L%s)',
    question.name, question.first_argument, since, until, route, question.arguments);

select plan(83);
select is_empty(
    $$ select attrelid::regclass, attname
       from pg_attribute
       join pg_class on pg_class.oid = attrelid
       where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r' and attndims > 0
           and relname ~ '_(recent|hours|days)(_[0-9]{8})?$' and attstattarget is distinct from 0 $$,
    'no statistics of elements');
select pg_temp.pack('hours') \g /dev/null
analyze;
select is(
    pg_temp.scans(kind, pg_temp.asked(question, '2026-01-05Z', '2026-01-06Z')),
    '{"hours_20260105": "by index", "recent": "by index"}', format('%s(%s) reads its day of %s by index', name, arguments, kind))
from question;
select is(
    pg_temp.scans(kind, pg_temp.asked(question, '2026-01-06 01:00Z', '2026-01-07Z')),
    '{"hours_20260106": "by index", "recent": "by index"}', format('%s(%s) leaves the day before of %s alone', name, arguments, kind))
from question;
select is(
    pg_temp.scans(kind, format(
        $$ select * from fleetprof.%I where site = 'shop' and route = '/7' and bucket >= '2026-01-05Z' and bucket < '2026-01-06Z' $$, name)),
    '{"hours_20260105": "by index", "recent": "by index"}', name || ' unpacks the rows that dimensions and hours select')
from (values ('hotspot_hourly', 'frame'), ('stack_hourly', 'stack'), ('timing_hourly', 'timing')) as view (name, kind);
select pg_temp.pack('mixed') \g /dev/null
analyze;
select is(
    pg_temp.scans(kind, pg_temp.asked(question, '2026-01-05Z', '2026-01-06Z')),
    '{"days_20260103": "by index", "recent": "by index"}', format('%s(%s) reads %s of a whole day in one row', name, arguments, kind))
from question;
select is(
    pg_temp.scans(kind, pg_temp.asked(question, '2026-01-05Z', '2026-01-06 12:00Z', null)),
    '{"days_20260103": "by index", "hours_20260105": "by index", "hours_20260106": "by index", "recent": "whole"}',
    format('%s(%s) reads a site''s %s of a day and half of the next one', name, arguments, kind))
from question
where name not in ('estimated_hotspots', 'vitals_by', 'coverage', 'hangs');

-- The dictionary has the stacks of all sites and days.
create function pg_temp.whole_scans(relation regclass, query text)
returns bigint
language plpgsql
as $$
declare
    before bigint := pg_stat_get_xact_numscans(relation);
begin
    execute query;
    return pg_stat_get_xact_numscans(relation) - before;
end
$$;
select is(
    pg_temp.whole_scans('fleetprof_data.stack', format('select * from fleetprof.%s(''f7'', ''shop'', ''2026-01-05Z'', ''2026-01-06Z'')', name)),
    0::bigint, name || ' finds stacks by index')
from unnest('{callers,callees}'::text[]) as name;

-- A regular expression for each frame of a site would cost more than the sums.
set local track_functions = 'all';
create function pg_temp.agent_calls(query text)
returns bigint
language plpgsql
as $$
declare
    before bigint := coalesce((select calls from pg_stat_xact_user_functions where funcname = 'is_agent'), 0);
begin
    execute query;
    return (select calls from pg_stat_xact_user_functions where funcname = 'is_agent') - before;
end
$$;
select is(
    pg_temp.agent_calls(format('select * from fleetprof.%s, ''2026-01-05Z'', ''2026-01-06Z'', top => 3)', call)), 3::bigint,
    call || ' …) looks for the agent in the rows that it returns')
from unnest(array['hotspots(''shop''', 'measure_hotspots(''measure 3'', ''shop''']) as call;

select * from finish();
rollback;
