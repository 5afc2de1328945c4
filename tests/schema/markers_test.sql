-- SPDX-License-Identifier: Apache-2.0
-- markers: where profiled time went.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1);
insert into segment (segment_id, route) values (2, '/other');
insert into sample (segment_id, us, marker, path) values
    (1, 10000, '(none)', '{main}'),
    (1, 20000, '(none)', '{main,work}'),
    (1, 20000, 'layout', '{main}'),
    (1, 10000, 'layout', '{main}'),
    (1,  5000, 'gc',     '{main}'),
    (1,  5000, 'paint',  '{main}'),
    (1, 30000, '(none)', null),
    (2, 64000, '(none)', null);
select pg_temp.store() \g /dev/null

select plan(6);
select results_eq(
    $$ select * from markers('shop', '2026-01-05Z', '2026-01-06Z', '/cart') $$,
    $$ values
        ('(none)', 2::bigint, 30::float8, 0.3::float8),
        ('(unattributed)', 1, 30, 0.3),
        ('layout', 2, 30, 0.3),
        ('gc', 1, 5, 0.05),
        ('paint', 1, 5, 0.05) $$,
    'every marker, none and unattributed time; equal ones by name');
select is(
    (select sum(self_ms) from markers('shop', '2026-01-05Z', '2026-01-06Z')), 164::float8,
    'rows add up to the profiled time');
select results_eq(
    $$ select marker, self_ms, share from markers('shop', '2026-01-05Z', '2026-01-06Z', marker => 'layout') $$,
    $$ values ('layout', 30::float8, 30 / 164::float8) $$,
    'a marker filter picks rows; shares stay those of all profiled time');
select is(
    (select array_agg(marker) from markers('shop', '2026-01-05Z', '2026-01-06Z', marker => '%')),
    '{(none),layout,gc,paint}', 'unattributed time has no marker: a filter leaves it out');
select throws_ok(
    $$ select * from markers('shop', marker => '(unattributed)') $$, '22023',
    'no marker is named "(unattributed)"', '(unattributed) is not a marker');
select is_empty($$ select * from markers('shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');

select * from finish();
rollback;
