-- Plans: a query for a day and a few segments reads that day's partitions, by index.
\ir fixture.inc
set local search_path = pgtap, pg_catalog;

-- 400 segments of 50 frames, on two days.
insert into segment (segment_id, route, rate_ppm) select n, '/' || n, 10000 from generate_series(1, 400) as n;
insert into sample (segment_id, bucket, us, marker, path, measures)
select segment_id, '2026-01-05 10:00Z'::timestamptz + day * interval '1 day', 1000, 'layout', array['f' || n], array['measure ' || n % 5]
from segment, generate_series(1, 50) as n, generate_series(0, 1) as day;
insert into timing_value (segment_id, bucket, name, us)
select segment_id, '2026-01-05 10:00Z'::timestamptz + day * interval '1 day', 'measure ' || n, n * n * n
from segment, generate_series(1, 50) as n, generate_series(0, 1) as day;
select pg_temp.store() \g /dev/null
analyze;

create temp table question (name text, arguments text, fact text, first_argument text default '');
insert into question values
    ('measure_hotspots', '', 'measure_fact', '''measure 3'', '),
    ('measure_hotspots', ', marker => ''layout''', 'measure_frame_fact', '''measure 3'', ');
insert into question values
    ('hotspots', '', 'frame_fact'),
    ('estimated_hotspots', '', 'frame_fact'),
    ('hotspots', ', marker => ''layout''', 'frame_marker_fact'),
    ('flamegraph', '', 'stack_fact'),
    ('folded', '', 'stack_fact'),
    ('markers', '', 'marker_fact'),
    ('timings', '', 'timing_fact'),
    ('timings', '', 'timing_bin_fact');

-- Scans of a partition by one call: {whole, by index}.
create function pg_temp.scans(partition text, query text)
returns bigint[]
language plpgsql
as $$
declare
    before bigint[];
begin
    select array[sum(seq_scan), sum(idx_scan)] into before
    from pg_stat_xact_user_tables where schemaname = 'fleetprof_data' and relname = partition;
    execute query;
    return (
        select array[sum(seq_scan) - before[1], sum(idx_scan) - before[2]]
        from pg_stat_xact_user_tables where schemaname = 'fleetprof_data' and relname = partition);
end
$$;

create function pg_temp.asked(question question, since text, until text)
returns text
language sql
return format('select * from fleetprof.%I(%s''shop'', %L, %L, ''/7''%s)',
    question.name, question.first_argument, since, until, question.arguments);

select plan(32);
select is(
    pg_temp.scans(fact || '_20260106', pg_temp.asked(question, '2026-01-05Z', '2026-01-06Z')),
    '{0,0}', format('%s leaves the next day of %s alone', name, fact))
from question;
select is(
    pg_temp.scans(fact || '_20260105', pg_temp.asked(question, '2026-01-06 01:00Z', '2026-01-07Z')),
    '{0,0}', format('%s leaves the day before of %s alone', name, fact))
from question;
select ok(scans[1] = 0 and scans[2] > 0, format('%s finds its rows of %s by index: %s', name, fact, scans))
from question
cross join lateral pg_temp.scans(
    fact || '_20260105', pg_temp.asked(question, '2026-01-05Z', '2026-01-06Z')) as scans;

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
