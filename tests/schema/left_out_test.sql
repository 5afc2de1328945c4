-- SPDX-License-Identifier: Apache-2.0
-- left_out, and the column of timings: what page loads did not send.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, route, release) values (1, '/cart', 'v1'), (2, '/help', 'v1'), (3, '/plain', 'v2'), (4, '/worker', 'v2');
insert into segment (segment_id, site) values (5, 'whole');
-- Three profiled page loads on /cart, two on /help, one on /plain, one of another site.
insert into sample (segment_id, upload, us, path) values
    (1, 1, 10, '{main}'), (1, 2, 10, '{main}'), (1, 3, 10, '{main}'), (2, 4, 10, '{main}'), (2, 5, 10, '{main}'), (3, 6, 10, '{main}'),
    (5, 7, 10, '{main}');
insert into timing_value (segment_id, kind, name, us, source) values
    (1, 'measure', 'Row', 5, ''), (1, 'measure', 'Row', 7, ''), (1, 'mark', 'Row', 9, ''), (1, 'measure', 'checkout', 9, ''),
    (3, 'measure', '', 3, ''),
    (2, 'measure', 'Row', 11, ''),
    -- One page load of /cart more, which has no profile; that its agent took too much is not a page load of its own.
    (1, 'coverage', 'unsupported', 0, ''), (1, 'coverage', 'overload', 0, ''),
    -- A value is how many were left out. Two page loads of /cart left out something, both of them measures.
    (1, 'left_out', '(any)', 0, ''), (1, 'left_out', '(any)', 0, ''),
    (1, 'left_out', 'measure', 11000, ''), (1, 'left_out', 'measure', 1800, ''),
    (1, 'left_out', 'measure', 11000, 'Row'), (1, 'left_out', 'measure', 800, 'Row'), (1, 'left_out', 'measure', 1000, 'never seen'),
    (1, 'left_out', 'overload', 0, ''),
    (2, 'left_out', '(any)', 0, ''), (2, 'left_out', 'mark', 40, ''), (2, 'left_out', 'mark', 40, 'Row'),
    -- More page loads than say that they were profiled.
    (4, 'left_out', '(any)', 0, ''), (4, 'left_out', '(unknown)', 0, ''), (4, 'left_out', '(any)', 0, ''), (4, 'left_out', '(unknown)', 0, '');
select pg_temp.store() \g /dev/null
-- A page load that began elsewhere: what it leaves out here is counted, and the page load is elsewhere, but once more for its frames.
insert into timing_fact
select 3, '2026-01-05 10:00Z', pg_temp.id('shop', 'left_out' || name), 1, count, 0, missing, missing, missing
from (values ('(any)', 0, 0), ('measure', 0, 500), ('frame', 1, 3)) as row (name, count, missing);
insert into fleetprof_data.timing values (pg_temp.id('shop', 'left_outframe'), 'frame', 'left_out', '', '', '2026-01-05');
select pg_temp.pack() \g /dev/null

select plan(13);

select results_eq(
    $$ select * from left_out('shop', '2026-01-05Z', '2026-01-06Z', '/cart') $$,
    $$ values
        ('(any)', 2::bigint, 4::bigint, 0.5::float8, null::bigint),
        ('measure', 2, 4, 0.5, 12800),
        ('overload', 1, 4, 0.25, null) $$,
    'page loads of all, profiled or not; names have rows elsewhere');
select results_eq(
    $$ select * from left_out('shop', '2026-01-05Z', '2026-01-06Z', '/help') $$,
    $$ values ('(any)', 1::bigint, 2::bigint, 0.5::float8, null::bigint), ('mark', 1, 2, 0.5, 40) $$, 'by route');
select results_eq(
    $$ select * from left_out('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$,
    $$ values
        ('(any)', 3::bigint, 6::bigint, 0.5::float8, null::bigint),
        ('measure', 2, 6, 2 / 6::float8, 12800),
        ('mark', 1, 6, 1 / 6::float8, 40),
        ('overload', 1, 6, 1 / 6::float8, null) $$,
    'by release: the most page loads first');
select results_eq(
    $$ select * from left_out('shop', '2026-01-05Z', '2026-01-06Z', exclude_route => '/cart', exclude_release => 'v2') $$,
    $$ select * from left_out('shop', '2026-01-05Z', '2026-01-06Z', '/help') $$, 'what is excluded is not counted');
select results_eq(
    $$ select * from left_out('shop', '2026-01-05Z', '2026-01-06Z', '/plain') $$,
    $$ values
        ('(any)', 1::bigint, 1::bigint, 1::float8, null::bigint),
        ('frame', 1, 1, 1, 3),
        ('measure', 0, 1, 0, 500) $$,
    'what a page load that counts elsewhere left out is here; one or more are at least as many as one kind has');
select results_eq(
    $$ select * from left_out('shop', '2026-01-05Z', '2026-01-06Z', '/worker') $$,
    $$ values ('(any)', 2::bigint, 2::bigint, 1::float8, null::bigint), ('(unknown)', 2, 2, 1, null) $$,
    'never more page loads than there are');
select is_empty($$ select * from left_out('whole', '2026-01-05Z', '2026-01-06Z') $$, 'nothing was left out, no row');
select is_empty($$ select * from left_out('shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');
select is_empty($$ select * from left_out('shop', '2026-01-05Z', '2026-01-06Z', frame => 'same-origin') $$, 'no page in a frame');
select throws_ok($$ select * from left_out(null) $$, '22023', 'site is null', 'a site must be named');

select results_eq(
    $$ select name, kind, timings.count, max_ms, timings.left_out from timings('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        -- Omissions of a page load are also stored without a name.
        ('', 'measure', 1::bigint, 0.003::float8, null::bigint),
        ('Row', 'mark', 1, 0.009, 40),
        ('Row', 'measure', 3, 0.011, 11800),
        ('checkout', 'measure', 1, 0.009, 0) $$,
    'beside the values of a name and kind, how many were left out');
select results_eq(
    $$ select name, kind, timings.left_out from timings('shop', '2026-01-05Z', '2026-01-06Z', '/help') $$,
    $$ values ('Row', 'measure', 0::bigint) $$, 'of what the filters select');
select is(
    (select count(*) from timing_hourly where kind = 'left_out'), 0::bigint, 'not a timing of the views');

select * from finish();
rollback;
