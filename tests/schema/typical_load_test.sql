-- SPDX-License-Identifier: Apache-2.0
-- typical_load: the kept page load that is nearest to the mean of its group, never an outlier.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into segment (segment_id, site, route) values (2, 'shop', '/help'), (3, 'few', '/'), (4, 'apart', '/'), (5, 'many', '/'), (6, 'builds', '/');
insert into frame_name values
    ('load 1', 'load', 'https://shop.example/app-0a1b2c3d.js', 10, 1, 'function'),
    ('load 2', 'load', 'https://shop.example/app-ffee0011.js', 12, 1, 'function');

-- Three kinds of page load: most sort, fewer parse, one hangs for as long as all others together. Before its poor window each
-- parses the same script for long. Uploads with even numbers are not kept.
create temp table kind as
select upload, case when upload <= 60 then 'sorts' when upload <= 80 then 'parses' else 'hangs' end as kind
from generate_series(1, 81) as upload;
insert into sample (upload, us, path, windows)
select upload, us, path, windows
from kind
cross join lateral (
    values
        ('sorts',  60000 + upload % 7 * 1000,  '{click,sort}'::text[], '{(INP) poor}'::text[]),
        ('sorts',  20000 + upload % 5 * 1000,  '{click,draw}',         '{(INP) poor}'),
        ('parses', 90000 + upload % 3 * 1000,  '{click,parse}',        '{(INP) poor}'),
        ('parses', 10000,                      '{click,draw}',         '{(INP) poor}'),
        ('hangs',  9000000,                    '{click,hang}',         '{(INP) poor}'),
        (kind,     300000,                     '{start,parse}',        null)
) as part (of_kind, us, path, windows)
where of_kind = kind;
-- A page load in two parts, which are both kept: the second one has the window.
insert into sample (segment_id, upload, load, us, path, windows) values
    (2, 101, 100, 5000, '{start,parse}', null), (2, 103, 100, 5000, '{click,sort}', '{(INP) poor}'),
    (2, 105, 105, 4000, '{click,sort}', '{(INP) poor}'), (2, 107, 107, 3000, '{click,sort}', '{(INP) poor}'),
    (3, 1, null, 1000, '{sort}', null), (3, 3, null, 1000, '{sort}', null), (3, 2, null, 1000, '{rare}', null),
    (4, 1, null, 1000, '{sort}', null), (4, 3, null, 1000, '{draw}', null), (4, 5, null, 1000, '{parse}', null),
    (6, 1, null, 1000, '{load 1}', null), (6, 3, null, 1000, '{load 2}', null), (6, 5, null, 1000, '{load 2}', null);
insert into sample (segment_id, upload, us, path)
select 5, 2 * number + 1, us, path
from generate_series(1, 1500) as number, (values (2000, '{sort}'::text[]), (1000, '{draw}')) as part (us, path);
select pg_temp.store() \g /dev/null

-- Keeps what the collector keeps of uploads with odd numbers.
create temp table entry as
select segment_id, bucket, upload, load, timing_id, pg_temp.id(site, path[cardinality(path)]) as frame_id, sum(us) as us
from (
    select segment_id, bucket, upload, load, us, path, 0 as timing_id
    from sample
    union all
    select segment_id, bucket, upload, load, us, path, pg_temp.id(site, kind || name || navigation)
    from measured_sample
    join pg_temp.segment using (segment_id)
) as part
join pg_temp.segment using (segment_id)
where upload % 2 = 1
group by segment_id, bucket, upload, load, timing_id, site, path;
create temp table seen as
select segment_id, upload, array_agg(distinct pg_temp.id(site, key)) as frame_ids
from sample
join pg_temp.segment using (segment_id)
cross join unnest(path) as key
group by segment_id, upload;
insert into fleetprof_data.session (
    segment_id, bucket, session_id, upload_id, load_id, part, received, format, version, page_url, is_raw, content_bytes, content,
    vector_timing_ids, vector_frame_ids, vector_us, seen_frame_ids)
select
    segment_id, bucket, 10000 * segment_id + upload, md5(segment_id || ' ' || upload)::uuid, md5(load::text)::uuid, 0,
    bucket + upload * interval '1 second', 'self-profile', '', 'https://shop.example/', false, 9, '\x28',
    array_agg(timing_id), array_agg(entry.frame_id), array_agg(us), frame_ids
from entry
join seen using (segment_id, upload)
group by segment_id, bucket, upload, load, frame_ids;
-- As an earlier version kept it.
insert into fleetprof_data.session (
    segment_id, bucket, session_id, upload_id, part, received, format, version, page_url, is_raw, content_bytes, content)
values (1, '2026-01-05 10:00Z', 7, md5('old')::uuid, 0, '2026-01-05 10:59Z', 'self-profile', '', '', false, 9, '\x28');

create function pg_temp.key_of(name text) returns text language sql
return (select min(function_key::text) from hotspots('%', '2026-01-05Z', '2026-01-06Z', top => null) where function = name);
create function pg_temp.kind_of(session_id bigint) returns text language sql
return (select kind from kind where 10000 + upload = session_id);

select plan(19);
select results_eq(
    $$ select pg_temp.kind_of(session_id), alike > 0.9 and alike < 1, loads, kept_loads, reason, page_url, received
       from typical_load('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', measure_name => '(INP) poor') $$,
    $$ select 'sorts', true, 81::bigint, 41::bigint, null::text, 'https://shop.example/', received
       from typical_load('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', measure_name => '(INP) poor') $$,
    'the typical poor page load is of the majority, though the outlier takes as long as all others');
select is(
    (select function from vital_hotspots('INP', 'shop', '2026-01-05Z', '2026-01-06Z', top => 1)), 'hang',
    'which sums put first');
-- All page loads start with parse: as a whole they are like one that parses.
select results_eq(
    $$ select pg_temp.kind_of(session_id) <> 'hangs', alike > 0.9, loads, kept_loads from typical_load('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart') $$,
    $$ values (true, true, 81::bigint, 41::bigint) $$, 'as a whole, all page loads are the group');
select results_eq(
    $$ select pg_temp.kind_of(session_id), loads, kept_loads
       from typical_load('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', key => pg_temp.key_of('draw')) $$,
    $$ values ('sorts', 80::bigint, 40::bigint) $$, 'a function: of page loads that run it');
select results_eq(
    $$ select pg_temp.kind_of(session_id), loads, kept_loads, reason
       from typical_load('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', key => pg_temp.key_of('hang')) $$,
    $$ values (null::text, 1::bigint, 1::bigint, 'too few kept') $$, 'the outlier is not typical even of what only it runs');
-- A function that only calls others.
select is(
    (select kept_loads from typical_load('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart', key => pg_temp.key_of('click'))), 41::bigint,
    'a function without self time has page loads');
-- Part 101 has no window; as a whole, both parts are one page load.
select results_eq(
    $$ select session_id, round(alike::numeric, 6), loads, kept_loads
       from typical_load('shop', '2026-01-05Z', '2026-01-06Z', route => '/help', measure_name => '(INP) poor') $$,
    $$ values (20103::bigint, 1::numeric, 3::bigint, 3::bigint) $$, 'the part with the window; of equal page loads the longest');
select is(
    (select kept_loads from typical_load('shop', '2026-01-05Z', '2026-01-06Z', route => '/help')), 3::bigint, 'parts of a page load are one');
select results_eq(
    $$ select session_id, alike, loads, kept_loads, reason, received, page_url from typical_load('few', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (null::bigint, null::float8, 3::bigint, 2::bigint, 'too few kept', null::timestamptz, null::text) $$,
    'two kept ones do not say what is typical');
select results_eq(
    $$ select session_id, loads, kept_loads, reason
       from typical_load('few', '2026-01-05Z', '2026-01-06Z', key => pg_temp.key_of('rare')) $$,
    $$ values (null::bigint, 1::bigint, 0::bigint, 'none kept') $$, 'none is kept');
select results_eq(
    $$ select session_id, loads, kept_loads, reason from typical_load('apart', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (null::bigint, 3::bigint, 3::bigint, 'none alike') $$, 'page loads with nothing in common have no typical one');
select results_eq(
    $$ select session_id, loads, kept_loads, reason from typical_load('shop', '2026-01-05Z', '2026-01-06Z', measure_name => '(LCP) poor') $$,
    $$ values (null::bigint, 0::bigint, 0::bigint, 'no page loads') $$, 'no page load has the window');
select results_eq(
    $$ select session_id, loads, kept_loads, reason from typical_load('nowhere', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (null::bigint, 0::bigint, 0::bigint, 'no page loads') $$, 'an unknown site');
select is(
    (select reason from typical_load('shop', '2026-01-06Z', '2026-01-07Z')), 'no page loads', 'another day');
select results_eq(
    $$ select session_id, round(alike::numeric, 6), loads, kept_loads from typical_load('many', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (52403::bigint, 1::numeric, 1500::bigint, 300::bigint) $$ , 'the latest 300 are compared');
select results_eq(
    $$ select round(alike::numeric, 6), kept_loads from typical_load('builds', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (1::numeric, 3::bigint) $$, 'a function is the same in another build');
select throws_ok(
    $$ select * from typical_load('shop', key => '1', measure_name => 'render') $$, '22023', 'key and measure_name are both given',
    'one group at a time');

-- As retention and release do it: the vector goes with the session.
select is(fleetprof.release_session((select session_id from typical_load('builds', '2026-01-05Z', '2026-01-06Z'))), 1::bigint, 'a released session');
select results_eq(
    $$ select session_id, kept_loads, reason from typical_load('builds', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (null::bigint, 2::bigint, 'too few kept') $$, 'is compared no more');

select * from finish();
rollback;
