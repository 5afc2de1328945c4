-- SPDX-License-Identifier: Apache-2.0
-- blind_time and the row (hidden) of markers: what ran for sure, and has no stack.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, route) values (1, '/cart'), (2, '/help');
insert into frame_name values ('seen', 'seen', 'https://cdn.example/seen.js', 1, 1, 'function');
insert into sample (segment_id, upload, us, path, windows) values
    (1, 1, 10000, '{main}', '{(running)}'),
    (1, 1, 30000, null, '{(running)}'),
    (1, 1, 40000, null, null),
    (1, 2, 20000, null, '{(running),(long frame)}'),
    (1, 2, 50000, '{seen}', null),
    (2, 3, 60000, null, null);
insert into timing_value (kind, name, us) values ('page_host', 'www.shop.example', 0);
select pg_temp.store() \g /dev/null
-- Windows of scripts, as the collector makes them: their time has no stack.
insert into fleetprof_data.timing
select number, name, 'hidden', source, '', date '2026-01-05'
from (values
    (1, '', 'https://tag.example.net/tag.js'), (2, '', 'https://www.shop.example/app.js'),
    (3, '', 'https://cdn.example/seen.js'), (4, '', ''), (5, '(overflow)', '')) as script (number, name, source);
insert into measure_fact
select 1, '2026-01-05 10:00Z', number, uploads, 1, 1, us, us, uploads, us
from (values (1, 2, 24000), (2, 1, 12000), (3, 1, 6000), (4, 1, 5000), (5, 1, 3000)) as script (number, uploads, us);
select pg_temp.pack() \g /dev/null

select plan(11);

select results_eq(
    $$ select * from blind_time('shop', '2026-01-05Z', '2026-01-06Z', '/cart') $$,
    $$ values
        ('tag.example.net', 'https://tag.example.net/tag.js', 24::float8, 12::float8, 0.48::float8, 2::bigint, 'crossorigin'),
        ('www.shop.example', 'https://www.shop.example/app.js', 12, 6, 0.24, 1, 'V8 does not show this'),
        ('cdn.example', 'https://cdn.example/seen.js', 6, 3, 0.12, 1, 'V8 does not show this'),
        (null, null, 5, 2.5, 0.1, 1, 'V8 does not show this'),
        (null, '(overflow)', 3, 1.5, 0.06, 1, null) $$,
    'by script; one whose functions have stacks needs no attribute');
select is(
    (select sum(hidden_ms) from blind_time('shop', '2026-01-05Z', '2026-01-06Z')), 50::float8, 'as much as is hidden');
select is_empty($$ select * from blind_time('shop', '2026-01-05Z', '2026-01-06Z', '/help') $$, 'nothing is hidden');
select is_empty($$ select * from blind_time('shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');
select throws_ok($$ select * from blind_time(null) $$, '22023', 'site is null', 'a site must be named');

select results_eq(
    $$ select marker, samples, self_ms, share from markers('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('(unattributed)', 2::bigint, 100::float8, 100 / 210::float8),
        ('(none)', 2, 60, 60 / 210::float8),
        ('(hidden)', 2, 50, 50 / 210::float8) $$,
    'hidden time is apart from what is idle or unknown, and all rows add up to the profiled time');
select is_empty(
    $$ select * from markers('shop', '2026-01-05Z', '2026-01-06Z', '/help') where marker = '(hidden)' $$, 'no hidden time, no row');
select is_empty(
    $$ select * from markers('shop', '2026-01-05Z', '2026-01-06Z', marker => '%') where marker = '(hidden)' $$, 'a marker filter leaves it out');
select is(
    (select busy_share from hotspots('shop', '2026-01-05Z', '2026-01-06Z', '/cart') where function = 'seen'), 50 / 60::float8,
    'attributed time is what it was');

-- Where the windows are of a part whose samples lie elsewhere.
update measure_fact set unattributed_us = 10 * unattributed_us, profiled_us = 10 * profiled_us where timing_id not between 1 and 5;
select pg_temp.pack() \g /dev/null
select results_eq(
    $$ select marker, self_ms from markers('shop', '2026-01-05Z', '2026-01-06Z', '/cart') where marker ~ 'hidden|unattributed' order by 1 $$,
    $$ values ('(hidden)', 90::float8), ('(unattributed)', 0::float8) $$, 'no more than is unattributed');
select is(
    (select sum(self_ms) from markers('shop', '2026-01-05Z', '2026-01-06Z')), 210::float8, 'the sum stays');

select * from finish();
rollback;
