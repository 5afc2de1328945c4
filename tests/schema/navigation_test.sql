-- SPDX-License-Identifier: Apache-2.0
-- navigation: kinds of navigation apart, and soft ones in no number of others.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, route, release) values (1, '/cart', 'v1'), (2, '/help', 'v2');
create temp table given as
select name as navigation, number::integer
from unnest(fleetprof_data.navigations()) with ordinality as navigation (name, number);
-- Each kind has five values of its own, below 64 microseconds, where a bin is one value.
insert into timing_value (segment_id, kind, name, us, navigation)
select segment_id, kind::fleetprof_data.timing_kind, vital, number * 7 + n, navigation
from given
cross join (values ('vital', 'LCP'), ('vital_element', 'LCP'), ('vital_part', 'LCP')) as timing (kind, vital)
cross join generate_series(1, 2) as segment_id
cross join generate_series(0, 4) as n;
insert into timing_value (kind, name, us, navigation)
select case when navigation = 'soft' then 'vital_poor' else 'vital_good' end::fleetprof_data.timing_kind, 'LCP', 0, navigation
from given
cross join generate_series(1, 10);
insert into timing_value (kind, name, source, us, navigation)
select kind::fleetprof_data.timing_kind, 'pointer', 'button', number * 7 + n, navigation
from given
cross join (values ('interaction'), ('input_delay'), ('processing')) as timing (kind)
cross join generate_series(0, 4) as n;
insert into timing_value (kind, name, us) values ('mark', 'LCP', 7);
-- In the poor window of each kind runs a function of its own.
insert into sample (upload, us, path, windows, navigation)
select number, 1000, array['f' || navigation], '{"(LCP) poor"}', navigation from given;
select pg_temp.store() \g /dev/null

select plan(33);

create function pg_temp.values_of(numbers integer[], per_number integer) returns integer[]
language sql
return array(
    select value
    from (select number * 7 + n as value from unnest(numbers) as number cross join generate_series(0, 4) as n) as value
    cross join generate_series(1, per_number)
    order by value);
-- The nearest rank of a share of these values.
create function pg_temp.expected(numbers integer[], share double precision) returns double precision
language sql
return (pg_temp.values_of(numbers, 1))[ceil(share * 5 * cardinality(numbers))] / 1000.0::float8;
create temp table filter as
select *
from (values
    (null, null, '{1,2,4,5,6,7,8}'::integer[]), ('%', null, '{1,2,4,5,6,7,8}'), ('soft', null, '{3}'), ('s%', null, '{3}'), ('hard', null, '{2}'),
    ('', null, '{1}'), ('re%', null, '{7,8}'), ('back-forward', null, '{4}'), ('back-forward%', null, '{4,5}'), ('prerender', null, '{6}'),
    (null, 'soft', '{1,2,4,5,6,7,8}'), (null, 'hard', '{1,4,5,6,7,8}'), ('%o%', 'back%', '{7,8}'), ('%', '%e%', '{1,2,4}')) as filter (wanted, excluded, numbers);

select results_eq(
    $$ select wanted, excluded, count, p50, p75, good_share = 0
       from filter
       left join lateral vitals('shop', '2026-01-05Z', '2026-01-06Z', navigation => wanted, exclude_navigation => excluded) on true $$,
    $$ select wanted, excluded, 10::bigint * cardinality(numbers), pg_temp.expected(numbers, 0.5), pg_temp.expected(numbers, 0.75), numbers = '{3}' from filter $$,
    'vitals: no percentile and no share has soft ones and others');
select results_eq(
    $$ select wanted, excluded, count, p75_ms
       from filter
       left join lateral interactions('shop', '2026-01-05Z', '2026-01-06Z', navigation => wanted, exclude_navigation => excluded) on true $$,
    $$ select wanted, excluded, 5::bigint * cardinality(numbers), pg_temp.expected(numbers, 0.75) from filter $$, 'interactions');
select results_eq(
    $$ select wanted, excluded, count, round((mean_ms * 1000)::numeric, 6)
       from filter
       left join lateral vital_parts('shop', '2026-01-05Z', '2026-01-06Z', navigation => wanted, exclude_navigation => excluded) on true $$,
    $$ select wanted, excluded, 10::bigint * cardinality(numbers), round((select avg(value) from unnest(pg_temp.values_of(numbers, 1)) as value), 6) from filter $$,
    'vital_parts');
select results_eq(
    $$ select wanted, excluded, count, p75
       from filter
       left join lateral vital_elements('LCP', 'shop', '2026-01-05Z', '2026-01-06Z', navigation => wanted, exclude_navigation => excluded) on true $$,
    $$ select wanted, excluded, 10::bigint * cardinality(numbers), pg_temp.expected(numbers, 0.75) from filter $$, 'vital_elements');
select results_eq(
    $$ select wanted, excluded, (
           select array_agg(round(from_ms * 1000)::integer order by from_ms)
           from histogram('vital', 'LCP', 'shop', '2026-01-05Z', '2026-01-06Z', navigation => wanted, exclude_navigation => excluded))
       from filter $$,
    $$ select wanted, excluded, pg_temp.values_of(numbers, 1) from filter $$, 'histogram');
select results_eq(
    $$ select wanted, excluded, value_ms
       from filter
       left join lateral trend('vital', 'LCP', 'day', 'shop', '2026-01-05Z', '2026-01-06Z', navigation => wanted, exclude_navigation => excluded) on true $$,
    $$ select wanted, excluded, pg_temp.expected(numbers, 0.75) from filter $$, 'trend');
select results_eq(
    $$ select wanted, excluded, before_count, after_value
       from filter
       left join lateral compare_vitals('shop', 'v1', 'v2', '2026-01-05Z', '2026-01-06Z',
           navigation => wanted, exclude_navigation => excluded) on percentile = 75 $$,
    $$ select wanted, excluded, 5::bigint * cardinality(numbers), pg_temp.expected(numbers, 0.75) from filter $$, 'compare_vitals');
select results_eq(
    $$ select wanted, excluded, (
           select array_agg(function order by function collate "C")
           from vital_hotspots('LCP', 'shop', '2026-01-05Z', '2026-01-06Z', navigation => wanted, exclude_navigation => excluded))
       from filter $$,
    $$ select wanted, excluded, (select array_agg('f' || navigation order by navigation collate "C") from given where number = any(numbers)) from filter $$,
    'vital_hotspots');
select set_has(
    $$ select function from measure_hotspots('(LCP) poor', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ select 'f' || navigation from given where navigation <> 'soft' $$, 'measure_hotspots has the windows of all others');
select is_empty(
    $$ select from measure_hotspots('(LCP) poor', 'shop', '2026-01-05Z', '2026-01-06Z') where function = 'fsoft' $$, 'and no soft one');

-- ---- Apart ----
select results_eq(
    $$ select value, count, p75 from vitals_by('navigation', 'shop', '2026-01-05Z', '2026-01-06Z') order by value collate "C" $$,
    $$ select navigation, 10::bigint, pg_temp.expected(array[number], 0.75) from given order by navigation collate "C" $$,
    'vitals_by: each kind, and soft ones too');
select results_eq(
    $$ select value, count, p75_ms from interactions_by('navigation', 'shop', '2026-01-05Z', '2026-01-06Z') order by value collate "C" $$,
    $$ select navigation, 5::bigint, pg_temp.expected(array[number], 0.75) from given order by navigation collate "C" $$, 'interactions_by');
select results_eq(
    $$ select value, count from vital_parts_by('navigation', 'shop', '2026-01-05Z', '2026-01-06Z') order by value collate "C" $$,
    $$ select navigation, 10::bigint from given order by navigation collate "C" $$, 'vital_parts_by');
select results_eq(
    $$ select value, p75 from vitals_by('navigation', 'shop', '2026-01-05Z', '2026-01-06Z', navigation => 're%') order by value $$,
    $$ select navigation, pg_temp.expected(array[number], 0.75) from given where navigation like 're%' order by navigation $$, 'those that a filter selects');
select results_eq(
    $$ select value, count, p75 from vitals_by('route', 'shop', '2026-01-05Z', '2026-01-06Z') order by value $$,
    $$ select route, 35::bigint, pg_temp.expected('{1,2,4,5,6,7,8}', 0.75) from unnest('{/cart,/help}'::text[]) as route $$, 'by another dimension without soft ones');
select results_eq(
    $$ select value, count from vitals_by('route', 'shop', '2026-01-05Z', '2026-01-06Z', navigation => 'soft', route => '/help') $$,
    $$ values ('/help', 5::bigint) $$, 'or with these alone');

-- ---- Errors ----
select throws_ok($$ select * from vitals('shop', navigation => 'Soft') $$, '22023', 'no kind of navigation is named "Soft"', 'a kind that there is not');
select throws_ok($$ select * from vitals('shop', navigation => 'soft', exclude_navigation => 's%') $$, '22023', 'navigation and exclude_navigation leave no kind of navigation', 'none is left');
select throws_ok(format($$ select * from trend(%L, 'LCP', 'day', 'shop', navigation => 'soft') $$, kind), '22023', format('navigation is not a filter of the kind "%s"', kind), 'trend by ' || kind)
from unnest('{function,mark,route,host,nothing}'::text[]) as kind;
select throws_ok($$ select * from histogram('mark', 'LCP', 'shop', exclude_navigation => 'soft') $$, '22023', 'navigation is not a filter of the kind "mark"', 'histogram of a mark');
select throws_ok($$ select * from change_point('function', 'f', 'shop', navigation => 'soft') $$, '22023', 'navigation is not a filter of the kind "function"', 'change_point of a function');
select throws_ok(format($$ select * from %s('navigation', 'shop') $$, question), '22023', 'no dimension is named "navigation"', question || ' has no such dimension')
from unnest('{ttfb_parts_by}'::text[]) as question;
select isnt_empty($$ select * from histogram('mark', 'LCP', 'shop', '2026-01-05Z', '2026-01-06Z') $$, 'a mark has no kind of navigation');
select throws_ok(format($$ select * from %s('shop', navigation => 'soft') $$, question), '42883', null, question || ' has no such filter')
from unnest('{hotspots,timings,ttfb_parts,long_frames,coverage}'::text[]) as question;

select results_eq(
    $$ select navigation from given $$,
    $$ select unnest(regexp_matches(pg_get_constraintdef(oid), '''([a-z-]*)''::text', 'g')) from pg_constraint where conname = 'timing_navigation_check' $$,
    'the table takes the kinds that there are');

select * from finish();
rollback;
