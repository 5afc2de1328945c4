-- SPDX-License-Identifier: Apache-2.0
-- Pages in frames: figures are of pages at the top unless asked.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, frame) values (1, 'top'), (2, 'same-origin'), (3, 'cross-origin');
insert into sample (segment_id, us, path) values (1, 160000, '{main,work}'), (2, 60000, '{main,inner}'), (3, 50000, '{main,inner}');
insert into timing_value (segment_id, kind, name, us) values (1, 'vital', 'LCP', 1000), (2, 'vital', 'LCP', 9000);
select pg_temp.store() \g /dev/null

select plan(14);

create function pg_temp.costs(frame text, exclude_frame text default null)
returns text
language sql
as $$
    select string_agg(format('%s %s %s', function, round(self_ms), round(self_ms_per_load)), ', ' order by function)
    from hotspots('shop', '2026-01-05Z', '2026-01-06Z', frame => costs.frame, exclude_frame => costs.exclude_frame)
    where self_ms > 0
$$;
select results_eq(
    $$ select function, round(self_ms_per_load) from hotspots('shop', '2026-01-05Z', '2026-01-06Z') where self_ms > 0 $$,
    $$ values ('work', 160::double precision) $$, 'a function of the top page costs as much per load as without the frames');
select is(pg_temp.costs('top'), 'work 160 160', 'top is the default');
select is(pg_temp.costs(''), 'work 160 160', 'absent is top');
select is(pg_temp.costs('cross-origin'), 'inner 50 50', 'per load of these frames');
select is(pg_temp.costs('%-origin'), 'inner 110 55', 'a pattern');
select is(pg_temp.costs('%'), 'inner 110 37, work 160 53', 'all are three page loads');
select is(pg_temp.costs(null), 'inner 110 37, work 160 53', 'null filters nothing');
select is(pg_temp.costs('%', ''), 'inner 110 55', 'absent is top for what is left out');
select is(pg_temp.costs('%', 'same-origin'), 'inner 50 25, work 160 80', 'leaves out a kind of frames');
select is((select loads from summary('shop', '2026-01-05Z', '2026-01-06Z')), 1::bigint, 'in summary');
select is((select loads from sites()), 1::bigint, 'sites counts page loads at the top');
select results_eq(
    $$ select name, uploads from cost_by('frame', 'shop', '2026-01-05Z', '2026-01-06Z') where uploads > 0 order by 1 $$,
    $$ values ('cross-origin', 1::bigint), ('same-origin', 1), ('top', 1) $$, 'by frame all are listed');
select results_eq(
    $$ select value, count from vitals_by('frame', 'shop', '2026-01-05Z', '2026-01-06Z') order by 1 $$,
    $$ values ('same-origin', 1::bigint), ('top', 1) $$, 'in vitals_by');
select is((select p75 from vitals('shop', '2026-01-05Z', '2026-01-06Z')), 1::double precision, 'vitals are those of the top page');

select * from finish();
rollback;
