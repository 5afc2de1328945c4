-- SPDX-License-Identifier: Apache-2.0
-- hangs and violations: what browsers report about documents that are gone, and per how many page loads.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, route, release) values (1, '/cart', 'v1'), (2, '/cart', ''), (3, '/help', '');
insert into segment (segment_id, site) values (4, 'whole');
-- Two profiled page loads of /cart; three that could have sent reports have no profile, and three could not.
insert into sample (segment_id, upload, us, path) values (1, 1, 10, '{spin,main}'), (1, 2, 10, '{spin2}'), (4, 3, 10, '{main}');
insert into frame_name values
    ('spin', 'spin', 'https://shop.example/app.js', 12, 3), ('spin2', 'spin', 'https://shop.example/app.js', 13, 5),
    ('main', '', 'https://shop.example/app.js', 1, 1), ('lost', 'lost', null, null, null);
insert into timing_value (segment_id, kind, name, us, source, function) values
    (1, 'coverage', 'quota', 0, '', ''), (1, 'coverage', 'disabled', 0, '', ''), (1, 'coverage', 'quota', 0, '', ''),
    (1, 'coverage', 'unsupported', 0, '', ''), (1, 'coverage', 'no-policy', 0, '', ''), (1, 'coverage', 'not-sampled', 0, '', ''),
    (1, 'coverage', 'overload', 0, '', ''),
    (2, 'hang', 'oom', 0, '', ''), (2, 'hang', 'oom', 0, 'hidden', ''), (2, 'hang', 'oom', 0, 'hidden frame', ''), (2, 'hang', 'crash', 0, 'frame', ''),
    (2, 'hang', 'unresponsive', 0, '', ''), (3, 'hang', 'crash', 0, '', ''),
    (2, 'violation', 'js-profiling', 0, '', ''), (2, 'violation', 'js-profiling', 0, '', ''), (3, 'violation', 'document-write', 0, '', '');
-- One function at two positions, called by another and by a frame that is forgotten.
insert into timing_value (segment_id, kind, name, us, source, function)
select 2, 'hang', 'unresponsive', 0, '', pg_temp.id('shop', leaf) || coalesce(',' || pg_temp.id('shop', caller), '')
from (values ('spin', 'main'), ('spin', 'main'), ('spin2', 'gone'), ('spin2', null)) as stack (leaf, caller);
select pg_temp.store() \g /dev/null
select pg_temp.pack() \g /dev/null

select plan(8);

select results_eq(
    $$ select reason, function, resource, line, column_number, callers, count, per_100k_loads, loads, hidden, in_frames
       from hangs('shop', '2026-01-05Z', '2026-01-06Z', '/cart') $$,
    $$ values
        ('unresponsive', 'spin', 'https://shop.example/app.js', 12, 3, '(anonymous)', 4::bigint, 80000::float8, 5::bigint, 0::bigint, 0::bigint),
        ('oom', null, null, null, null, null, 3, 60000, 5, 2, 1),
        ('crash', null, null, null, null, null, 1, 20000, 5, 0, 1),
        ('unresponsive', null, null, null, null, null, 1, 20000, 5, 0, 0) $$,
    'by reason and function, the most first, per page load that can send such reports');
select results_eq(
    $$ select reason, count, per_100k_loads, loads from hangs('shop', '2026-01-05Z', '2026-01-06Z', '/help') $$,
    $$ values ('crash', 1::bigint, null::float8, null::bigint) $$, 'null where no page load can');
select is_empty($$ select * from hangs('shop', '2026-01-05Z', '2026-01-06Z', release => 'v1') $$, 'reports have no release');
select is_empty($$ select * from hangs('shop', '2026-01-06Z', '2026-01-07Z') $$, 'of another day');
select is_empty($$ select * from hangs('whole', '2026-01-05Z', '2026-01-06Z') $$, 'of another site');
select is(
    (select function_key from hangs('shop', '2026-01-05Z', '2026-01-06Z') where function is not null),
    (select function_key from hotspots('shop', '2026-01-05Z', '2026-01-06Z') where function = 'spin' limit 1),
    'a function has the key that profiles give it');
select results_eq(
    $$ select * from violations('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('js-profiling', 2::bigint), ('document-write', 1) $$, 'broken policies, the most first');
select is_empty(
    $$ select * from timings('shop', '2026-01-05Z', '2026-01-06Z') where kind in ('hang', 'violation') $$,
    'neither is a mark or a measure');

select * from finish();
rollback;
