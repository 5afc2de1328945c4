-- SPDX-License-Identifier: Apache-2.0
-- schema/objects, by which a collector knows what somebody else added to the tables, has what the table files make.
\set objects `cat ../../schema/objects`
\ir fixture.inc
\ir objects.inc
set local search_path = pgtap, pg_catalog;
select plan(3);

create temp table listed as select unnest(string_to_array(:'objects', E'\n')) as line;
-- If one of these fails, objects.inc says how to write the file again.
select is_empty('select line from pg_temp.object except select line from listed', 'all that is made is listed');
select is_empty('select line from listed except select line from pg_temp.object', 'all that is listed is made');
select is((select count(*) from listed), (select count(distinct line) from listed), 'each once');

select * from finish();
rollback;
