-- SPDX-License-Identifier: Apache-2.0
-- waits: where the time of responses goes, exactly.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id) values (1), (2);
update segment set route = '/help' where segment_id = 2;
insert into frame_name values
    ('handler', 'handler', 'https://shop.example/app.js', 1, 1, 'function'),
    ('react', 'flush', 'https://shop.example/node_modules/react-dom/index.js', 1, 1, 'function'),
    ('tag', 'track', 'https://tag.example.net/tag.js', 1, 1, 'function'),
    ('extension', 'pay', 'chrome-extension://abc/x.js', 1, 1, 'function'),
    ('agent', 'c', 'https://shop.example/agent/fleetprof.vitals.js', 1, 1, 'function'),
    ('eval', 'f', 'inline', 1, 1, 'function'),
    ('parse', 'parse', null, null, null, 'builtin'),
    ('(gc)', '(gc)', null, null, null, 'marker');
insert into sample (segment_id, upload, us, marker, path, windows) values
    (1, 1, 120000, '(none)', '{handler}', '{(response),(response) #go}'),
    (1, 1, 7000, 'script', '{handler}', '{(response),(response) #go}'),
    (1, 1, 30000, '(none)', '{handler,react}', '{(response),(response) #go}'),
    (1, 1, 11000, '(none)', '{handler,tag}', '{(response),(response) #go}'),
    (1, 1, 3000, '(none)', '{extension}', '{(response),(response) #go}'),
    (1, 1, 1500, '(none)', '{handler,agent}', '{(response),(response) #go}'),
    (1, 1, 2000, '(none)', '{eval}', '{(response),(response) #go}'),
    (1, 1, 5000, '(none)', '{handler,parse}', '{(response),(response) #go}'),
    (1, 1, 4000, 'gc', '{(gc)}', '{(response),(response) #go}'),
    (1, 1, 1000, 'gc', '{handler}', '{(response),(response) #go}'),
    (1, 1, 6000, 'layout', '{handler}', '{(response),(response) #go}'),
    (1, 1, 2000, 'paint', '{handler}', '{(response),(response) #go}'),
    -- Time that the collector divides, and functions outside of responses.
    (1, 1, 600000, '(none)', null, '{(response),(response) #go}'),
    (1, 1, 999000, '(none)', '{handler}', null),
    (2, 2, 10000, '(none)', '{handler}', '{(response)}');
insert into timing_value (segment_id, kind, name, source, function, us)
select 1, 'wait', name, source, function, us
from (values ('(response)'), ('(response) #go')) as response (name)
cross join (values
    ('', '', 0), ('', '', 0),
    ('waiting', 'api.example', 400000), ('waiting', 'api.example', 50000), ('waiting', 'slow.example', 90000),
    ('hidden', '', 25000), ('rendering', '', 9000), ('unseen', '', 14000), ('idle', '', 12000)) as wait (source, function, us);
insert into timing_value (segment_id, kind, name, source, us) values
    (2, 'wait', '(response)', '', 0), (2, 'wait', '(response)', 'idle', 5000),
    -- The part of a page load that corrects another one, alone.
    (2, 'wait', '(response) #go', 'hidden', -5000);
insert into timing_value (kind, name, us) values ('page_host', 'www.shop.example', 0), ('mark', '(response) #go', 5);
select pg_temp.store() \g /dev/null

select plan(8);

select results_eq(
    'select kind, name, ms, responses from waits(''#go'', ''shop'', ''2026-01-05Z'', ''2026-01-06Z'', route => ''/cart'')',
    $$ values
        ('waiting', 'api.example', 450::float8, 2::bigint),
        ('own', null, 127, 2),
        ('waiting', 'slow.example', 90, 2),
        ('package', 'react-dom', 30, 2),
        ('hidden', null, 25, 2),
        ('rendering', null, 17, 2),
        ('unseen', null, 14, 2),
        ('idle', null, 12, 2),
        ('third party', 'tag.example.net', 11, 2),
        ('browser', null, 5, 2),
        ('gc', null, 5, 2),
        ('extension', null, 3, 2),
        ('unknown', null, 2, 2),
        ('agent', null, 1.5, 2) $$,
    'each kind, most time first; markers before the code around them');
select results_eq(
    $$ select sum(ms), abs(sum(share) - 1) < 1e-12
       from waits('#go', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/cart') $$,
    $$ values (792.5::float8, true) $$, 'the rows add up to the windows');
select results_eq(
    $$ select sum(ms), min(responses) from waits('%', 'shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values (807.5::float8, 3::bigint) $$, 'all responses');
select is_empty($$ select * from waits('#go', 'shop', '2026-01-05Z', '2026-01-06Z', route => '/help') $$,
    'corrections alone give no rows');
select is_empty($$ select * from waits('#g%', 'shop', '2026-01-05Z', '2026-01-06Z') $$, 'a target is not a pattern');
select is_empty($$ select * from waits('#go', 'nobody') $$, 'an unknown site, no rows');
select throws_ok($$ select * from waits(null, 'shop') $$, '22023', 'target is null', 'a target must be named');
select throws_ok($$ select * from waits('#go', null) $$, '22023', 'site is null', 'a site must be named');

select * from finish();
rollback;
