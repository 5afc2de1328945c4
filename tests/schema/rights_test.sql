-- SPDX-License-Identifier: Apache-2.0
-- Rights: the reader reads everything and writes nothing; nobody else gets in.
\ir fixture.inc
set local search_path = pgtap, pg_catalog;

create role stranger;
insert into segment (segment_id) values (1);
insert into sample (us, path) values (1000, '{main}');
insert into timing_value (name, us) values ('ready', 5);
select pg_temp.store() \g /dev/null
grant usage on schema pgtap to public;

insert into fleetprof_data.session values
    (1, '2026-01-05 10:00Z', 1, '00000000-0000-4000-8000-000000000001', null, 0, '2026-01-05 10:12Z', null,
     'speed-tracer', '1.1', 7, 3, '', false, 9, '\x28');
insert into fleetprof_data.timeline values (1, '2026-01-05 10:00Z', 1, 1, 1, null, 'all', 0);

create temp table surface as
select format('select * from fleetprof.%I(''shop'', ''2026-01-05Z'', ''2026-01-06Z'')', proname) as query
from pg_proc
where pronamespace = 'fleetprof'::regnamespace
    and proargnames[1] not in ('session_id', 'resource', 'dimension', 'vital', 'by', 'field', 'kind')
    and proname <> 'sites' and proargnames[2] <> 'generated_resource'
union all
select format('select * from fleetprof.%I(''shop'', ''app.js'', 1, 1)', proname)
from pg_proc where pronamespace = 'fleetprof'::regnamespace and proargnames[2] = 'generated_resource'
union all
select format('select * from fleetprof.%I(%s, ''shop'', ''2026-01-05Z'', ''2026-01-06Z'')', proname,
    case when proname = 'trend' then '''function'', ''main'', ''hour'''
         when proname = 'change_point' then '''function'', ''main'''
         when proname = 'function_by' then '''route'', ''1'''
         when proname = 'histogram' then '''vital'', ''INP'''
         when proargnames[1] = 'vital' then '''INP'''
         when proargnames[1] in ('dimension', 'field') then '''route'''
         else '''host''' end)
from pg_proc where pronamespace = 'fleetprof'::regnamespace and proargnames[1] in ('dimension', 'vital', 'by', 'field', 'kind')
union all
select 'select * from fleetprof.sites()'
union all
select format('select * from fleetprof.%I(''app.js'')', proname)
from pg_proc where pronamespace = 'fleetprof'::regnamespace and proargnames[1] = 'resource'
union all
select format('select * from fleetprof.%I(1%s)', proname, case when proargnames[2] = 'timeline_id' then ', 1' end)
from pg_proc
where pronamespace = 'fleetprof'::regnamespace and proargnames[1] = 'session_id' and proname <> 'release_session'
union all
select format('select * from fleetprof.%I', relname)
from pg_class where relnamespace = 'fleetprof'::regnamespace and relkind = 'v';
create temp table storage as
select relname from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind in ('r', 'p', 'v');
select plan(
    (select 3 * count(*) from surface)::integer + (select 2 * count(*) from storage)::integer + 12);

create function pg_temp.runs(query text)
returns text
language plpgsql
as $$
begin
    execute query;
    return 'runs';
exception
    when insufficient_privilege then return 'not allowed';
end
$$;
create temp table outcome (who name, query text, result text);
grant all on outcome, surface, storage to public;

set local role fleetprof_reader;
insert into outcome select current_user, query, pg_temp.runs(query) from surface;
reset role;
set local role stranger;
insert into outcome select current_user, query, pg_temp.runs(query) from surface;
reset role;
select is(result, case who when 'stranger' then 'not allowed' else 'runs' end, format('%s: %s: %s', who, query, result))
from outcome order by who, query;

select is(prosecdef, false, 'not security definer: ' || query)
from surface
join pg_proc on query like '%fleetprof.' || quote_ident(proname) || '(%' and pronamespace = 'fleetprof'::regnamespace
union all
select ok('security_invoker=true' = any(reloptions), 'security invoker: ' || query)
from surface
join pg_class on query = 'select * from fleetprof.' || quote_ident(relname) and relnamespace = 'fleetprof'::regnamespace;

select ok(
    not has_table_privilege('fleetprof_reader', format('fleetprof_data.%I', relname), 'insert, update, delete, truncate'),
    'the reader cannot write ' || relname)
from storage order by relname;
select ok(
    not has_table_privilege('stranger', format('fleetprof_data.%I', relname), 'select, insert, update, delete, truncate'),
    'a stranger cannot touch ' || relname)
from storage order by relname;

select is_empty(
    $$ select proname from pg_proc
       where pronamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace)
           and has_function_privilege('stranger', oid, 'execute') $$,
    'no function is for everybody');
select is_empty(
    $$ select proname from pg_proc
       where pronamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace)
           and (proconfig is null or not exists (select from unnest(proconfig) as setting where setting like 'search_path=%'))
           and prolang <> (select oid from pg_language where lanname = 'sql') $$,
    'every function has its search_path fixed');
select is_empty(
    $$ select proname from pg_proc
       where pronamespace = 'fleetprof'::regnamespace and (provolatile = 'v' or proparallel <> 's')
           and proname <> 'release_session' $$,
    'what users call is stable or immutable, and parallel safe');
select is_empty(
    $$ select proname from pg_proc
       where pronamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace)
           and prolang <> (select oid from pg_language where lanname = 'sql')
           and prosrc !~ '^\s*#variable_conflict use_column' $$,
    'a name in a query is the column''s');
select is_empty(
    $$ select proname from pg_proc
       where pronamespace in ('fleetprof'::regnamespace, 'fleetprof_data'::regnamespace)
           and strpos(prosrc, chr(92)) > 0 and ('standard_conforming_strings=on' = any(proconfig)) is not true $$,
    'a backslash means the same whatever the session has set');
select ok(
    not has_schema_privilege('fleetprof_reader', 'fleetprof', 'create')
    and not has_schema_privilege('fleetprof_reader', 'fleetprof_data', 'create'),
    'the reader creates nothing');

select throws_ok(
    $$ insert into fleetprof_data.horizon values ('-infinity') $$, '23505', null, 'there is one horizon');
select ok(
    not has_table_privilege('fleetprof_writer', 'fleetprof_data.horizon', 'insert, update, delete, truncate'),
    'the writer moves it by a function only');
select ok(
    has_table_privilege('fleetprof_reader', 'fleetprof_data.upload_id', 'select'),
    'the reader sees which uploads are counted');
set local role fleetprof_reader;
select throws_ok('select fleetprof.release_session(1)', '42501', null, 'the reader forgets no session');
reset role;
set local role fleetprof_writer;
select lives_ok('select fleetprof.release_session(1)', 'the writer does');
reset role;
select is_empty('select from fleetprof.sessions', 'and it is gone');

select * from finish();
rollback;
