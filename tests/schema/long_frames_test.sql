-- SPDX-License-Identifier: Apache-2.0
-- long_frames: scripts of long animation frames.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1), (2);
update segment set route = '/help' where segment_id = 2;
insert into timing_value (segment_id, kind, name, source, function, us) values
    (1, 'frame_script', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 20),
    (1, 'frame_script', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 40),
    (1, 'frame_script', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 60),
    (2, 'frame_script', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 50),
    (1, 'blocking', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 30000),
    (1, 'forced_layout', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 15000),
    (1, 'forced_layout', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 5000),
    (1, 'frame_script', 'TimerHandler:setTimeout', 'https://shop.example/app.js', '', 30),
    (1, 'blocking', 'TimerHandler:setTimeout', 'https://shop.example/app.js', '', 30000),
    (1, 'frame_script', 'IMG.onload', '', '', 10),
    (1, 'frame_script', '', '', '', 63),
    (1, 'blocking', '', '', '', 40000),
    (1, 'frame_script', '(overflow)', '', '', 1),
    -- A browser that reports them.
    (1, 'forced_style', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 4000),
    (1, 'forced_reflow', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 0),
    (1, 'style', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 2000),
    (1, 'style', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 1000),
    (1, 'layout', 'BUTTON.onclick', 'https://shop.example/app.js', 'add', 500);
select pg_temp.store() \g /dev/null

select plan(5);

select results_eq(
    $$ select * from long_frames('shop', '2026-01-05Z', '2026-01-06Z', route => '/cart') $$,
    $$ values
        (null::text, null::text, null::text, 1::bigint, 0.063::float8, 0.063::float8, 40::float8, 0::float8, null::float8, null::float8, null::float8, null::float8),
        ('BUTTON.onclick', 'https://shop.example/app.js', 'add', 3, 0.12, 0.06, 30, 20, 4, 0, 3, 0.5),
        ('TimerHandler:setTimeout', 'https://shop.example/app.js', '(anonymous)', 1, 0.03, 0.03, 30, 0, null, null, null, null),
        ('IMG.onload', null, null, 1, 0.01, 0.01, 0, 0, null, null, null, null),
        ('(overflow)', null, null, 1, 0.001, 0.001, 0, 0, null, null, null, null) $$,
    'most blocking time first; frames without scripts have no names; null is not said, and 0 is');
select results_eq(
    $$ select function, count, total_ms from long_frames('shop', '2026-01-05Z', '2026-01-06Z') where invoker = 'BUTTON.onclick' $$,
    $$ values ('add', 4::bigint, 0.17::float8) $$,
    'several routes are one');
select is_empty($$ select * from long_frames('shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');
select is_empty($$ select * from long_frames('nobody') $$, 'an unknown site, no rows');
select throws_ok($$ select * from long_frames(null) $$, '22023', 'site is null', 'a site must be named');

select * from finish();
rollback;
