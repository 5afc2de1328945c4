-- SPDX-License-Identifier: Apache-2.0
-- The views: names, units, absent values.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into frame_name values ('anonymous', '', 'app.js', 12, 3, 'function');
insert into segment (segment_id) values (1);
insert into segment (segment_id, site) values (5, 'views');
insert into sample (segment_id, upload, us, marker, path) values
    (5, 1, 2000, 'gc', '{main,anonymous}'), (5, 2, 1000, '(none)', '{main,anonymous}'), (5, 2, 500, '(none)', '{main}');
insert into timing_value (name, us) values ('partly negative', -30), ('partly negative', 10), ('partly negative', 25);
insert into timing_value (kind, name, us) values
    ('mark', 'fullyLoaded', 1), ('mark', 'mark_above_the_fold', 1), ('mark', 'mark_feature_usage{feature=cart}', 1),
    ('mark', 'fullyloaded', 1), ('mark', 'mark_fully_loaded_2', 1), ('measure', 'mark_fully_loaded', 1);
select pg_temp.store() \g /dev/null

select plan(10);

select results_eq(
    $$ select bucket, site, route, name, kind, sum(uploads), sum(count), sum(negative), sum(sum_ms), min(min_ms), max(max_ms)
       from timing_hourly where name = 'partly negative' group by 1, 2, 3, 4, 5 $$,
    $$ values ('2026-01-05 10:00Z'::timestamptz, 'shop', '/cart', 'partly negative', 'measure',
               1::numeric, 3::numeric, 1::numeric, 0.005::float8, -0.03::float8, 0.025::float8) $$,
    'timing_hourly');
select results_eq(
    $$ select name, kind from timing_hourly where well_known group by name, kind order by name collate "C" $$,
    $$ values ('fullyLoaded', 'mark'), ('mark_above_the_fold', 'mark'), ('mark_feature_usage{feature=cart}', 'mark') $$,
    'well-known names are those of marks that the drafts recommend');

update fleetprof_data.segment set rate_ppm = 500 where segment_id = 5;
select results_eq(
    $$ select bucket, site, thread, function, resource, line, column_number, kind,
              sum(uploads), sum(samples), sum(self_ms), sum(total_ms)
       from hotspot_hourly where site = 'views' group by 1, 2, 3, 4, 5, 6, 7, 8 order by function $$,
    $$ values
        ('2026-01-05 10:00Z'::timestamptz, 'views', 'window', '(anonymous)', 'app.js', 12, 3, 'function', 2::numeric, 2::numeric, 3::float8, 3::float8),
        ('2026-01-05 10:00Z', 'views', 'window', 'main', 'app.js', 1, 1, 'function', 2, 3, 0.5, 3.5) $$,
    'hotspot_hourly');
select results_eq(
    $$ select path, level, function, line, marker, sum(uploads), sum(samples), sum(self_ms)
       from stack_hourly where site = 'views' group by 1, 2, 3, 4, 5 order by path, marker $$,
    $$ values
        ('{main}'::text[], 1, 'main', 1, '(none)', 1::numeric, 1::numeric, 0.5::float8),
        ('{main,"(anonymous) app.js:12:3"}', 2, '(anonymous)', 12, '(none)', 1, 1, 1),
        ('{main,"(anonymous) app.js:12:3"}', 2, '(anonymous)', 12, 'gc', 1, 1, 2) $$,
    'stack_hourly');
select results_eq(
    $$ select site, route, release, environment, variant, browser, os, device, thread, sample_rate, last_seen
       from fleetprof.segment where segment_id in (1, 5) order by segment_id $$,
    $$ values
        ('shop', '/cart', 'v1', 'production', 'a', 'Chrome', 'Linux', 'desktop', 'window', null::float8, date '2026-01-05'),
        ('views', '/cart', 'v1', 'production', 'a', 'Chrome', 'Linux', 'desktop', 'window', 0.0005, date '2026-01-05') $$,
    'segment; no verified rate is null');
insert into fleetprof_data.upload values
    ('2026-01-05 10:00Z', '00000000-0000-4000-8000-000000000001', '2026-01-05 10:59Z', 5,
     '00000000-0000-4000-8000-00000000000a', 2, 'self-profile', 'quota', true, 156, 'fleetprof/1.0', 4096, 3, 1, 3500, 250, 7, 4);
select results_eq(
    $$ select received, bucket, upload_id, load_id, part, site, route, release, environment, variant, browser,
              browser_version, os, device, thread, format, agent, coverage, truncated, body_bytes, samples,
              unattributed_samples, profiled_ms, unattributed_ms, timings, skipped_entries
       from upload_log $$,
    $$ values (
        '2026-01-05 10:59Z'::timestamptz, '2026-01-05 10:00Z'::timestamptz,
        '00000000-0000-4000-8000-000000000001'::uuid, '00000000-0000-4000-8000-00000000000a'::uuid, 2,
        'views', '/cart', 'v1', 'production', 'a', 'Chrome', 156, 'Linux', 'desktop', 'window',
        'self-profile', 'fleetprof/1.0', 'quota', true, 4096, 3, 1, 3.5::float8, 0.25::float8, 7, 4) $$,
    'upload_log');
insert into fleetprof_data.session values
    (5, '2026-01-06 23:00Z', 1, '00000000-0000-4000-8000-000000000001', null, 0, '2026-01-06 23:12Z', null,
     'speed-tracer', '1.1', 7, 3, '', false, 9, '\x28');
select pg_temp.pack('mixed') \g /dev/null
select results_eq(
    $$ select day, kind, rows, bytes > 0 from storage where site = 'views' order by day, kind $$,
    -- Entries: 2 frames, 3 stacks with their markers, 2 of them with a marker in a frame, 3 markers with those of
    -- nobody; fresh ones are of one segment, hours of a segment and two cohorts with two spans each, and so are days.
    $$ values
        (date '2026-01-03', 'days', 2 * 10::bigint, true), ('2026-01-05', 'days', 3 * 10, true), ('2026-01-05', 'hours', 5 * 10, true),
        ('2026-01-05', 'recent', 10, true), ('2026-01-05', 'upload_log', 1, true), ('2026-01-06', 'sessions', 1, true) $$,
    'storage: entries by UTC day and retention');
create function pg_temp.bytes_in(place text)
returns bigint
language plpgsql
as $$
declare
    query text := (
        select string_agg(format('select pg_column_size(%I) as bytes from fleetprof_data.%I', attname, replace(relname, 'columns', place)), ' union all ')
        from pg_class
        join pg_attribute on attrelid = pg_class.oid and attnum > 0
        where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'c' and relname like '%\_columns');
    total bigint;
begin
    execute format('select sum(bytes) from (%s) as part', query) into total;
    return total;
end
$$;
select results_eq(
    $$ select kind, sum(bytes)::bigint from storage where kind in ('days', 'hours', 'recent') group by kind order by kind $$,
    $$ select place, pg_temp.bytes_in(place) from unnest('{days,hours,recent}'::text[]) as place $$,
    'storage: sizes of all columns');
select is(
    array(select fleetprof_data.marker_of(number::smallint) from generate_series(0, 7) as number),
    enum_range(null::fleetprof_data.marker) || null::fleetprof_data.marker, 'markers are numbered in their order');
select is(fleetprof_data.stack_path(-1), '{}', 'a stack that is not there has no path');

select * from finish();
rollback;
