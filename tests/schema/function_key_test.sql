-- SPDX-License-Identifier: Apache-2.0
-- function_key: which names people wrote, and what identifies a function across releases.
\ir fixture.inc
set local search_path = pgtap, fleetprof_data, pg_catalog;

select plan(3);

-- Minified: a column past 1,000, where three letters are a minifier's.
select results_eq(
    $$ select function, column_number, is_stable_name(function, column_number) from (values
        ('a', 1), ('ab', 1), ('abc', 1), ('abc', 1000), ('abc', 1001), ('abcd', 1001), ('äöü', 1001), ('äöüß', 1001),
        ('abc', null), ('ab', null), ('(anonymous)', 1), ('(anonymous)', 1001)) as name (function, column_number) $$,
    $$ values
        ('a', 1, false), ('ab', 1, false), ('abc', 1, true), ('abc', 1000, true), ('abc', 1001, false), ('abcd', 1001, true),
        ('äöü', 1001, false), ('äöüß', 1001, true),
        ('abc', null, true), ('ab', null, false), ('(anonymous)', 1, false), ('(anonymous)', 1001, false) $$,
    'a minifier''s names have up to two letters, in long lines up to three');

create temp table variant as
select * from (values
    (1, 'sum', 'app.1.js', 'app.*.js', 10, 5, 'function'), (2, 'sum', 'app.2.js', 'app.*.js', 12, 7, 'function'),
    (3, 'add', 'app.1.js', 'app.*.js', 10, 5, 'function'), (4, 'sum', 'app.1.js', 'lib.*.js', 10, 5, 'function'),
    (5, 'sum', 'app.1.js', 'app.*.js', 10, 5, 'builtin')) as given (id, function, resource, script, line, column_number, kind);

select results_eq(
    $$ select count(distinct function_key(function, resource, script, line, column_number, kind::frame_kind, true)) from variant where id <= 2
       union all select count(distinct function_key(function, resource, script, line, column_number, kind::frame_kind, true)) from variant $$,
    $$ values (1::bigint), (4::bigint) $$,
    'a name that people wrote identifies by kind, name and script, not by place');
select results_eq(
    $$ select count(distinct function_key(function, resource, script, line, column_number, kind::frame_kind, false)) from variant where id <= 2
       union all select count(distinct function_key('', 'app.js', 'app.js', line, col, 'function', false)) from (values (1, 2), (1, 3), (2, 3), (2, 3)) as place (line, col) $$,
    $$ values (2::bigint), (3::bigint) $$,
    'another name identifies by its place');
select * from finish();
rollback;
