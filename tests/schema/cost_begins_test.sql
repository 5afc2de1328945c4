-- SPDX-License-Identifier: Apache-2.0
-- fix_first's begins: since when what it names is dearer, and with which release.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

-- 72 hours of 20 page loads. From hour 40 on some things take more; release v2 began an hour before, with a new build.
insert into segment (segment_id, release) values (1, 'v1'), (2, 'v2');
insert into segment (segment_id, site) values (3, 'young');
insert into frame_name values
    ('old', 'stepped', 'https://shop.example/app-0a1b2c3d.js', 10, 1, 'function'),
    ('new', 'stepped', 'https://shop.example/app-ffee0011.js', 12, 1, 'function'),
    ('tag', 'run', 'https://tag.example/t.js', 1, 1, 'function'),
    ('react', 'commit', 'https://shop.example/node_modules/react-dom/index.js', 1, 1, 'function'),
    ('(style)', '(style)', null, null, null, 'marker');
create temp table hour as
select hour, timestamptz '2026-01-05Z' + hour * interval '1 hour' as bucket, hour >= 40 as later, 1 + (hour >= 39)::integer as segment_id
from generate_series(0, 71) as hour;
insert into sample (segment_id, bucket, upload, us, path, marker)
select segment_id, bucket, upload, us + (hour * 5 + upload * 3) % 13 * 100, array[frame], case frame when '(style)' then 'style' else '(none)' end::fleetprof_data.marker
from hour
cross join generate_series(1, 20) as upload
cross join lateral (
    values
        (case segment_id when 1 then 'old' else 'new' end, case when later then 13000 else 10000 end),
        ('steady', 10000),
        ('cheaper', case when later then 10000 else 13000 end),
        ('tag', case when later then 13000 else 10000 end),
        ('react', case when later then 13000 else 10000 end),
        ('(style)', case when later then 13000 else 10000 end)
) as cost (frame, us);
insert into sample (segment_id, bucket, us, path)
select 3, bucket, case when later then 5000 else 1000 end, '{stepped}' from hour where hour < 71;

-- Each would make the INP of all page loads good.
create temp table thing (site text, segment_id bigint, kind text, name text, frame text);
insert into thing values
    ('shop', 2, 'function', 'stepped', 'new'), ('shop', 2, 'function', 'steady', 'steady'), ('shop', 2, 'function', 'cheaper', 'cheaper'),
    ('shop', 2, 'host', 'tag.example', null), ('shop', 2, 'package', 'react-dom', null), ('shop', 2, 'marker', 'style', null),
    ('young', 3, 'function', 'stepped', 'stepped');
insert into timing_value (segment_id, bucket, kind, name, source, function, us)
select segment_id, '2026-01-07 10:00Z', kind::fleetprof_data.timing_kind, 'INP', source, function, us
from (
    select segment_id, 'vital' as kind, '' as source, '' as function, 600000 as us
    from (select distinct segment_id from thing) as own
    cross join generate_series(1, 200)
    union all
    select distinct segment_id, 'vital_profiled', '', '', -1 from thing
    union all
    select segment_id, 'vital_without', kind, coalesce(frame, name), -1 from thing
) as value;
select pg_temp.store() \g /dev/null
insert into timing_bin_fact
select segment_id, '2026-01-07 10:00Z', pg_temp.id(site, key), bin, 200
from (
    select distinct site, segment_id, 'vital_profiledINP' as key, pg_temp.bin_of(600000) as bin from thing
    union all
    select site, segment_id, 'vital_withoutINP' || kind || coalesce(frame, name), 2048 * histogram + pg_temp.bin_of(1000 * ms)
    from thing
    cross join lateral (values (0, 600), (1, 100), (2, 350)) as value (histogram, ms)
) as counted;
select pg_temp.pack() \g /dev/null
update fleetprof_data.timing
set function = pg_temp.id(site, function)::text
from (select distinct site from thing) as own
where kind = 'vital_without' and source = 'function' and timing_id = pg_temp.id(site, 'vital_without' || name || source || function);

select plan(7);

prepare begins_of(text) as
    select kind, name, begins, nearest_release from fix_first($1, '2026-01-07Z', '2026-01-08Z') order by kind, name;
select results_eq(
    $$ execute begins_of('shop') $$,
    $$ values
        ('function', 'cheaper', null::timestamptz, null),
        ('function', 'steady', null, null),
        ('function', 'stepped', '2026-01-06 16:00Z', 'v2'),
        ('host', 'tag.example', '2026-01-06 16:00Z', 'v2'),
        ('marker', 'style', '2026-01-06 16:00Z', 'v2'),
        ('package', 'react-dom', '2026-01-06 16:00Z', 'v2') $$,
    'the hour and the release of what is dearer; none of what always was, and of what is cheaper');
select results_eq(
    $$ execute begins_of('young') $$, $$ values ('function', 'stepped', null::timestamptz, null::text) $$, '71 hours are too few');
select results_eq(
    $$ select begins, nearest_release from fix_first('shop', '2026-01-07Z', '2026-01-08Z') where name = 'stepped' $$,
    $$ select point.begins, point.nearest_release from fix_first('shop', '2026-01-07Z', '2026-01-08Z') as found
       cross join lateral change_point('function', function_key, 'shop', '2026-01-05Z', '2026-01-08Z') as point where name = 'stepped' $$,
    'as change_point says it');
select set_eq(
    $$ select by, begins from unnest('{host,package,marker}'::text[], '{tag.example,react-dom,style}'::text[]) as asked (by, key)
       cross join lateral change_point(by, key, 'shop', '2026-01-05Z', '2026-01-08Z') $$,
    $$ select kind, begins from fix_first('shop', '2026-01-07Z', '2026-01-08Z') where kind <> 'function' $$,
    'and groups');
select results_eq(
    $$ select begins from fix_first('shop', '2026-01-07Z', '2026-01-08Z', release => 'v2') where name = 'stepped' $$,
    $$ values (null::timestamptz) $$,
    'filters hold: v2 alone always cost it');
select is_empty(
    $$ select from fix_first('shop', '2026-01-07Z', '2026-01-07 12:00Z') where begins > '2026-01-07 12:00Z' $$, 'nothing after the period');
select ok(
    bool_or(sentence like 'stepped: % → %, since 2026-01-06 16:00 UTC with v2') and bool_or(sentence not like '%since%'), 'the overview says it')
from overview('shop', '2026-01-07Z', '2026-01-08Z', of_part => 'fix_first');

select * from finish();
rollback;
