-- SPDX-License-Identifier: Apache-2.0
-- third_parties: script time and responses by host.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into segment (segment_id, site, route) values
    (1, 'shop', '/product/:id'), (2, 'spa', '/cart'), (3, 'bare', '/'), (4, 'silent', '/cart'), (5, 'vitals', '/cart'),
    (6, 'wwwx', '/');
insert into frame_name values
    ('inline',  'inline',  'https://www.shop.example/product/:id', 1, 1, 'function'),
    ('main',    'main',    'https://static.shop.example/app.js', 1, 1, 'function'),
    ('track',   'track',   'https://CDN.ads.example:8443/t.js?x', 2, 1, 'function'),
    ('pixel',   'pixel',   'https://user:secret@pixel.example/p.js', 2, 1, 'function'),
    ('evil',    'evil',    'https://evilshop.example/e.js', 2, 1, 'function'),
    ('blob',    'blob',    'blob:https://www.shop.example', 1, 1, 'function'),
    ('plugin',  'plugin',  'chrome-extension:', 1, 1, 'function'),
    ('file',    'file',    'file:app.js', 1, 1, 'function'),
    ('sort',    'sort',    null, null, null, 'builtin');
insert into sample (segment_id, upload, us, path)
select 1, 1, us, path
from (values
    (10000, '{inline}'::text[]), (20000, '{inline,main}'), (30000, '{inline,main,track}'), (5000, '{pixel}'), (1000, '{evil}'),
    (4000, '{blob}'), (2000, '{plugin}'), (2000, '{file}'), (3000, '{inline,sort}'), (23000, null)) as one (us, path);
insert into sample (segment_id, upload, us, path) values (2, 2, 8000, '{main}');
insert into timing_value (segment_id, kind, name, source, us) values
    (1, 'resource', 'cdn.ads.example:8443', 'script', 10), (1, 'resource', 'cdn.ads.example:8443', 'script', 30),
    (1, 'resource', 'cdn.ads.example:8443', 'img', 20),
    (1, 'resource_bytes', 'cdn.ads.example:8443', 'script', 5000), (1, 'resource_bytes', 'cdn.ads.example:8443', 'img', 700),
    (1, 'resource_opaque', 'cdn.ads.example:8443', 'img', 0),
    (1, 'resource_opaque', 'fonts.example', 'font', 0), (1, 'resource_opaque', 'fonts.example', 'css', 0),
    (1, 'resource_bytes', 'fonts.example', 'font', 0),
    (1, 'resource', '(overflow)', '', 40), (1, 'page_host', 'www.shop.example', '', 0),
    (1, 'page_host', 'shop.example', '', 0), (1, 'resource', 'shop.example', 'img', 10),
    (4, 'resource', 'shop.example', 'fetch', 40), (5, 'resource', 'api.shop.example', 'fetch', 40),
    (5, 'resource', 'cdn.example', 'fetch', 50), (5, 'resource_bytes', 'cdn.example', 'fetch', 9), (5, 'page_host', 'shop.example', '', 0), (5, 'page_host', '(overflow)', '', 0),
    (6, 'page_host', 'wwwx.example', '', 0), (6, 'resource', 'cdn.wwwx.example', 'fetch', 1);
select pg_temp.store() \g /dev/null

select plan(15);

-- First, since a function reads its strings when a session first calls it.
set local standard_conforming_strings = off;
select is(
    (select party from third_parties('wwwx', '2026-01-05Z', '2026-01-06Z')), 'first',
    'a host that only begins with www keeps its name, whatever the session takes a backslash for');
set local standard_conforming_strings = on;

-- 100 ms were profiled.
select results_eq(
    $$ select * from third_parties('shop', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values
        ('cdn.ads.example:8443', 'third', 30::float8, 0.3::float8, 4::bigint, 0.03::float8, 5700::bigint, 0.25::float8),
        ('static.shop.example', 'first', 20, 0.2, 0, null, null, null),
        ('www.shop.example', 'first', 14, 0.14, 0, null, null, null),
        ('pixel.example', 'third', 5, 0.05, 0, null, null, null),
        ('evilshop.example', 'third', 1, 0.01, 0, null, null, null),
        ('shop.example', 'first', 0, 0, 1, 0.01, 0, 0),
        ('(overflow)', null, null, null, 1, 0.04, 0, 0),
        ('fonts.example', 'third', null, null, 2, null, null, 1) $$,
    'script time and responses by host; what has no host is left out; 0 only where no browser hides functions');
select results_eq(
    $$ select * from third_parties('spa', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('static.shop.example', null::text, 8::float8, 1::float8, null::bigint, null::float8, null::bigint, null::float8) $$,
    'no host of a page; nobody sends resources');
select results_eq(
    $$ select * from third_parties('silent', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('shop.example', null::text, null::float8, null::float8, 1::bigint, 0.04::float8, 0::bigint, 0::float8) $$,
    'nothing was profiled');
select results_eq(
    $$ select host, party from third_parties('vitals', '2026-01-05Z', '2026-01-06Z') $$,
    $$ values ('cdn.example', 'third'), ('api.shop.example', 'first') $$,
    'uploads say which host the page is on; of equal times, the most bytes come first');
select is_empty($$ select * from third_parties('bare', '2026-01-05Z', '2026-01-06Z') $$, 'nothing at all');
select is_empty($$ select * from third_parties('shop', '2026-01-06Z', '2026-01-07Z') $$, 'another day, no rows');
select throws_ok($$ select * from third_parties(null) $$, '22023', 'site is null', 'a site must be named');

select is(fleetprof_data.host_of(url), host, format('the host of %s', url))
from (values
    ('http://[::1]:8080/a', '[::1]:8080'), ('https://a@b.example/c@d', 'b.example'), ('webpack-internal:///src/a.js', null),
    ('app.js', null), ('', null)) as one (url, host);
select ok(
    fleetprof_data.is_within('shop.example:8080', '{shop.example}') and not fleetprof_data.is_within('example', '{shop.example}')
    and not fleetprof_data.is_within('a.b.example', '{a_b.example}'),
    'hosts are compared label by label');
select is(fleetprof_data.is_within('shop.example', null), false, 'no host is within none');

select * from finish();
rollback;
