-- SPDX-License-Identifier: Apache-2.0
-- Speed Tracer's reports, over a made-up dump whose answers can be worked out by hand.
\ir fixture.inc
set local search_path = pgtap, fleetprof, pg_catalog;

insert into fleetprof_data.segment values
    (1, 'shop', '/cart', 'v1', 'production', '', 'Chrome', 'Linux', 'desktop', 'window', 0, '2026-01-05');
insert into fleetprof_data.session
select 1, '2026-01-05 10:00Z', id, gen_random_uuid(), null, 0, '2026-01-05 10:12Z', null, format, '0.26', null, null, '', false, 0, ''
from (values (51, 'speed-tracer'), (52, 'speed-tracer'), (53, 'opera-scope'), (54, 'speed-tracer'), (55, 'speed-tracer'),
    (56, 'speed-tracer'), (57, 'speed-tracer'), (58, 'speed-tracer')) as kept (id, format);

create temp table given (
    session_id bigint, event bigint, parent bigint, type text, start_ms numeric, duration_ms numeric, self_ms numeric,
    resource text, detail jsonb
);
-- Session 51: pages, work and messages.
insert into given values
    (51, 1, null, 'TAB_CHANGED', 0, null, 0, 'https://a.example/', '{}'),
    (51, 2, null, 'DOM_EVENT', 0, 75, 50, null, '{"type": "click"}'),
    (51, 3, 2, 'LAYOUT', 10, 25, 25, null, null),
    (51, 4, 3, 'LOG_MESSAGE', 12, null, 0, null, '{"message": "hello"}'),
    (51, 5, null, 'PAINT', 145, 35, 35, null, null),
    (51, 6, null, 'MARK_DOM_CONTENT', 80, null, 0, null, null),
    (51, 7, null, 'MARK_LOAD_EVENT', 90, null, 0, null, null),
    (51, 8, null, 'TAB_CHANGED', 100, null, 0, 'https://a.example/', '{"isRefresh": true}'),
    (51, 9, null, 'MARK_LOAD_EVENT', 170, null, 0, null, null),
    (51, 10, null, 'TAB_CHANGED', 175, null, 0, 'https://a.example/b', '{}'),
    (51, 11, null, 'LOG_MESSAGE', 176, null, 0, null, '{"message": "bye"}');
-- Session 52: long events, layouts, and the network.
insert into given values
    (52, 1, null, 'JAVASCRIPT_CALLBACK', 0, 2500, 2420, null, null),
    (52, 2, 1, 'LAYOUT', 1, 30, 30, null, null),
    (52, 3, 1, 'RECALC_STYLE', 40, 40, 10, null, null),
    (52, 4, 3, 'LAYOUT', 41, 30, 30, null, null),
    (52, 5, 1, 'LAYOUT', 100, 10, 10, null, null),
    (52, 6, null, 'EVAL_SCRIPT', 3000, 101, 101, null, null),
    (52, 7, null, 'EVAL_SCRIPT', 3200, 100, 100, null, null),
    (52, 10, null, 'NETWORK_RESOURCE_START', 10, null, 0, 'https://a.example/old', '{"requestId": "1", "requestMethod": "GET"}'),
    (52, 11, null, 'NETWORK_RESOURCE_START', 30, null, 0, 'https://a.example/', '{"requestId": "1", "requestMethod": "GET"}'),
    (52, 12, null, 'NETWORK_RESOURCE_RESPONSE', 50, 1, 1, null, '{"requestId": "1", "statusCode": 200, "mimeType": "text/html"}'),
    (52, 13, null, 'NETWORK_RESPONSE_RECEIVED', 50, null, 0, null,
     '{"requestId": "1", "response": {"status": 200, "fromDiskCache": false, "headers": {"content-TYPE": "text/html"},
       "timing": {"requestTime": 30, "proxyStart": -1, "proxyEnd": -1, "dnsStart": 1, "dnsEnd": 4, "connectStart": 1,
         "connectEnd": 9, "sslStart": -1, "sslEnd": -1, "sendStart": 9, "sendEnd": 10, "receiveHeadersEnd": 20}}}'),
    (52, 14, null, 'NETWORK_DATA_RECEIVED', 51, null, 0, null, '{"requestId": "1", "dataLength": 100}'),
    (52, 15, null, 'NETWORK_DATA_RECEIVED', 52, null, 0, null, '{"requestId": "1", "dataLength": 60}'),
    (52, 16, null, 'NETWORK_RESOURCE_FINISH', 60, null, 0, null, '{"requestId": "1", "didFail": false}'),
    (52, 20, null, 'NETWORK_RESOURCE_START', 70, null, 0, 'https://a.example/app.js', '{"requestId": "2", "requestMethod": "GET"}'),
    (52, 21, null, 'NETWORK_RESOURCE_UPDATE', 0, null, 0, 'https://a.example/app.js',
     '{"requestId": "2", "didResponseChange": true, "statusCode": 200, "fromDiskCache": true, "mimeType": "text/javascript",
       "requestHeaders": {"Cookie": "(removed)"}, "hasQuery": true,
       "responseHeaders": {"Content-Type": "text/javascript", "Content-Encoding": "gzip", "Cache-Control": "public, max-age=600"},
       "startTime": 70, "responseReceivedTime": 75, "endTime": 90, "resourceSize": 600000}'),
    (52, 30, null, 'NETWORK_RESOURCE_START', 100, null, 0, 'https://a.example/a.css', '{"requestId": "3", "requestMethod": "GET"}'),
    (52, 31, null, 'NETWORK_RESPONSE_RECEIVED', 110, null, 0, null,
     '{"requestId": "3", "response": {"status": 200, "headers": {"Content-Type": "text/css", "Vary": "Cookie, Accept-Encoding",
       "Set-Cookie": "(removed)", "Cache-Control": "public, max-age=99999999"}}}'),
    (52, 40, null, 'NETWORK_RESOURCE_START', 200, null, 0, 'https://a.example/x.png', '{"requestId": "4", "requestMethod": "GET"}'),
    (52, 41, null, 'NETWORK_RESOURCE_FINISH', 210, null, 0, null, '{"requestId": "4", "didFail": true}'),
    (52, 50, null, 'NETWORK_REQUEST_WILL_BE_SENT', 300, null, 0, 'https://a.example/from', '{"requestId": "5", "request": {"headers": {"Accept": "a"}}}'),
    (52, 51, null, 'NETWORK_RESOURCE_START', 301, null, 0, 'https://a.example/from', '{"requestId": "5", "requestMethod": "POST"}'),
    (52, 52, null, 'NETWORK_REQUEST_WILL_BE_SENT', 320, null, 0, 'https://a.example/to',
     '{"requestId": "5", "request": {"headers": {"Accept": "b"}}, "redirectResponse": {"status": 302, "headers": {"Location": "/to"}}}'),
    (52, 53, null, 'NETWORK_RESOURCE_START', 322, null, 0, 'https://a.example/to', '{"requestId": "5", "requestMethod": "GET"}'),
    (52, 54, null, 'NETWORK_RESOURCE_RESPONSE', 340, 1, 1, null, '{"requestId": "5", "statusCode": 200, "mimeType": "text/html"}'),
    -- Requests that only the browser's network stack recorded, with times and without.
    (52, 70, null, 'NETWORK_REQUEST_WILL_BE_SENT', 500, null, 0, 'https://a.example/z', '{"requestId": "7", "request": {"method": "GET"}}'),
    (52, 71, null, 'NETWORK_RESPONSE_RECEIVED', 520, null, 0, null, '{"requestId": "7", "response": {"status": 200, "mimeType": "image/png"}}'),
    (52, 72, null, 'NETWORK_LOADING_FINISHED', 550, null, 0, null, '{"requestId": "7"}'),
    (52, 73, null, 'NETWORK_REQUEST_WILL_BE_SENT', 0, null, 0, 'https://a.example/z', '{"requestId": "8", "request": {"method": "GET"}}'),
    (52, 74, null, 'NETWORK_RESPONSE_RECEIVED', 0, null, 0, null, '{"requestId": "8", "response": {"status": 200}}'),
    (52, 75, null, 'NETWORK_LOADING_FINISHED', 0, null, 0, null, '{"requestId": "8", "didFail": true}'),
    -- Numbers that nothing can be reckoned with.
    (52, 60, null, 'NETWORK_RESOURCE_START', 400, null, 0, 'https://a.example/y', '{"requestId": "6", "requestMethod": "GET"}'),
    (52, 61, null, 'NETWORK_RESOURCE_UPDATE', 0, null, 0, null,
     '{"requestId": "6", "statusCode": 1e300, "resourceSize": 1e300, "startTime": 1e308, "endTime": -1e308,
       "timing": {"dnsStart": 1e308, "dnsEnd": -1e308, "sendStart": 0, "sendEnd": "x"}}');
-- Session 54: events that overlap at the top level; a request that the timeline and the network stack record; and
-- responses whose type, freshness, status or query keeps a rule from them.
insert into given values
    (54, 1, null, 'DOM_EVENT', 0, 50, 50, null, null),
    (54, 2, null, 'GC_EVENT', 30, 30, 30, null, null),
    (54, 3, null, 'GC_EVENT', 40, 5, 5, null, null),
    (54, 4, null, 'PAINT', 60, 15, 15, null, null),
    (54, 10, null, 'NETWORK_RESOURCE_START', 100, null, 0, 'https://a.example/a', '{"requestId": "1", "requestMethod": "GET"}'),
    (54, 11, null, 'NETWORK_RESOURCE_RESPONSE', 120, null, 0, null, '{"requestId": "1"}'),
    (54, 12, null, 'NETWORK_RESOURCE_FINISH', 140, null, 0, null, '{"requestId": "1", "didFail": false}'),
    (54, 13, null, 'NETWORK_RESOURCE_UPDATE', 0, null, 0, null,
     '{"requestId": "1", "startTime": 90, "responseReceivedTime": 110, "endTime": 150}');
insert into given values
    (54, 5, null, 'PROFILE_DATA', 60, null, 0, null, '{"vmStates": {"js": 3, "gc": 1}}'),
    (54, 6, null, 'PROFILE_DATA', 61, null, 0, null, '{"vmStates": {"js": 2, "external": 2}}'),
    -- Session 55: what a server did.
    (55, 1, null, 'NETWORK_RESOURCE_START', 100, null, 0, 'https://a.example/a', '{"requestId": "1", "requestMethod": "GET"}'),
    (55, 7, null, 'SERVER_EVENT', 105, 10, 6, null, '{"traceUrl": "https://a.example/trace/1", "label": "GET /a"}'),
    (55, 8, 7, 'SERVER_EVENT', 106, 4, 4, null, '{"label": "db"}'),
    (55, 9, null, 'SERVER_EVENT', 107, 1, 1, null, '{"traceUrl": "https://a.example/trace/2"}'),
    (55, 14, null, 'NETWORK_RESPONSE_RECEIVED', 0, null, 0, null,
     '{"requestId": "1", "response": {"headers": {"X-TraceUrl": "/trace/1", "Content-Type": "text/plain"}}}'),
    -- Session 56: two profiles. Stack 0 is main, 1 main > f, 2 main > f > f, 3 a function without a name, 4 main > LoadIC.
    (56, 1, null, 'DOM_EVENT', 0, 20, 20, null, null),
    (56, 2, null, 'PROFILE_DATA', 20, null, 0, null,
     '{"profileOf": 1, "profile": {"firstFunction": 0, "names": ["main", "f", ""], "urls": ["https://a.example/a.js", "https://a.example/a.js", ""],
       "lines": "{1,10,-1}", "firstStack": 0, "functions": "{0,1,1,2}", "parents": "{-1,0,1,-1}", "recursive": "{2}",
       "stacks": "{1,2,2,-1,0}", "states": "{0,0,1,1,0}", "ticks": "{3,2,1,2,1}"}}'),
    (56, 3, null, 'PAINT', 30, 5, 5, null, null),
    (56, 4, null, 'PROFILE_DATA', 35, null, 0, null,
     '{"profileOf": 3, "profile": {"firstFunction": 3, "names": ["LoadIC: length"], "urls": [""], "lines": "{-1}",
       "firstStack": 4, "functions": "{3}", "parents": "{0}", "recursive": "{}", "stacks": "{4,1}", "states": "{0,4}", "ticks": "{4,1}"}}'),
    (56, 5, null, 'PROFILE_DATA', 36, null, 0, null, '{"profile": "a text", "vmStates": 3}'),
    (54, 15, null, 'NETWORK_RESOURCE_START', 110, null, 0, 'https://a.example/b', '{"requestId": "2"}'),
    (54, 16, null, 'NETWORK_RESOURCE_START', 130, null, 0, 'https://a.example/c', '{"requestId": "2"}'),
    (54, 17, null, 'NETWORK_RESOURCE_FINISH', 140, null, 0, null, '{"requestId": "2"}');
insert into given
select 57, number, null, 'NETWORK_RESOURCE_UPDATE', 0, null, 0, 'https://a.example/' || number,
    jsonb_build_object('requestId', number::text, 'startTime', number, 'requestHeaders', asked, 'responseHeaders', answered)
from (values
    (1, '{"COOKIE": "a=b"}'::jsonb, '{"Content-Type": "image/png", "content-type": "text/css", "cache-control": "max-age = \"60"}'::jsonb),
    (2, '{}', '{"CONTENT-TYPE": "Text/CSS", "Vary": "A", "VARY": "B", "SET-Cookie": "a", "Cache-control": "PUBLIC, x-max-age=7", "cache-control": "no-store-x"}'),
    (3, '"a text"', '{"content-type": null, "set-cookie": null, "expires": 5, "date": "Fri, 18 Jun 2010 22:43:07 GMT"}')
) as spelled (number, asked, answered);
insert into given
select 54, 20 + number, null, 'NETWORK_RESOURCE_UPDATE', 0, null, 0, 'https://a.example/' || path,
    jsonb_build_object('requestId', 'r' || number, 'startTime', 200 + number, 'statusCode', status,
        'responseHeaders', headers || '{"Content-Encoding": "gzip"}', 'hasQuery', path = 'query.js', 'mimeType', 'text/javascript')
from (values
    ('no-type.js', 304, '{}'::jsonb),
    ('favicon.ico', 304, '{}'),
    ('missing.js', 404, '{"Content-Type": "text/javascript"}'),
    ('query.js', 200, '{"Content-Type": "text/javascript"}'),
    ('age-0.js', 200, '{"Content-Type": "text/javascript", "Cache-Control": "public, max-age=0"}'),
    ('age-negative.js', 200, '{"Content-Type": "text/javascript", "Cache-Control": "public, max-age=-5"}'),
    ('age-word.js', 200, '{"Content-Type": "text/javascript", "Cache-Control": "public, max-age=soon"}'),
    ('past.js', 200, '{"Content-Type": "text/javascript", "Expires": "Fri, 18 Jun 2010 22:43:07 GMT", "Date": "Fri, 18 Jun 2010 22:43:07 GMT"}'),
    ('zero.js', 200, '{"Content-Type": "text/javascript", "Expires": "0", "Date": "Fri, 18 Jun 2010 22:43:07 GMT"}'),
    ('not-modified.js', 304, '{"Content-Type": "text/javascript"}'),
    ('found.js', 200, '{"Content-Type": "text/javascript"}')
) as response (path, status, headers)
cross join lateral (select hashtext(path)::bigint & 65535 as number) as numbered;
-- Session 58: a response of each type, each encoding, each status and each word that a rule asks for, and of others.
create temp table asked (number integer generated always as identity, about text, value text, status integer, headers jsonb);
insert into asked (about, value, status, headers)
select 'type', value, 200, jsonb_build_object('Content-Type', value)
from unnest(array['text/html', 'text/xml', 'text/plain', 'application/xhtml+xml', 'text/css', 'text/javascript', 'application/ecmascript',
    'image/vnd.microsoft.icon', 'image/png', 'audio/ogg', 'video/mp4', 'application/x-shockwave-flash', 'application/json']) as value
union all
select 'encoding', value, 200, jsonb_build_object('Content-Type', 'text/css', 'Content-Encoding', value)
from unnest(array['compress', 'deflate', 'gzip', 'bzip2', 'sdch', 'identity']) as value
union all
select 'status', value::text, value, '{"Content-Type": "text/css"}'
from generate_series(200, 599) as value
union all
select 'control', value, 200, jsonb_build_object('Content-Type', 'text/css', 'Cache-Control', value)
from unnest(array['no-cache', 'no-store', 'must-revalidate', 'max-age=0', 'private']) as value
union all
select 'pragma', 'no-cache', 200, '{"Content-Type": "text/css", "Pragma": "no-cache"}'
union all
select 'vary', value, 200, jsonb_build_object('Content-Type', 'text/css', 'Vary', value)
from unnest(array['Accept-Encoding', 'User-Agent', 'Accept-Encoding, User-Agent', 'Accept']) as value;
insert into given
select 58, number, null, 'NETWORK_RESOURCE_UPDATE', 0, null, 0, about || ' ' || value,
    jsonb_build_object('requestId', number::text, 'startTime', number, 'statusCode', status, 'resourceSize', 150,
        'requestHeaders', '{"Cookie": "a"}'::jsonb, 'responseHeaders', headers)
from asked;
insert into fleetprof_data.event
select 1, '2026-01-05 10:00Z', session_id, event, 1, parent, event, type, 0, start_ms * 1000, duration_ms * 1000, self_ms * 1000, 0,
    coalesce(duration_ms, 0) * 1000, 0, 1, 0, resource, null, detail
from given;
-- Custom types with the names of others: the reports ignore them.
insert into fleetprof_data.event
select 1, '2026-01-05 10:00Z', session_id, event, 1, parent, event, type, -2, 100000, null, 0, 0, 0, 0, 1, 0, null, null,
    '{"message": "custom", "requestId": "custom"}'
from (values
    (51, 90, null, 'LOG_MESSAGE'), (51, 91, null, 'TAB_CHANGED'), (51, 92, null, 'MARK_DOM_CONTENT'),
    (52, 90, 1, 'LAYOUT'), (52, 91, null, 'NETWORK_RESOURCE_START'), (56, 92, null, 'PROFILE_DATA')) as custom (session_id, event, parent, type);

select plan(65);

-- Windows of 75 ms at 0, 35, 70, …: 75 of 75; 40 of 75; 5 + 0; from 105 35 (145 to 180); from 140 35; from 175 5.
select results_eq(
    'select at_ms, round(busy::numeric * 75, 6), round(smoothed::numeric * 75, 6) from ui_thread_use(51)',
    $$ values (0::float8, 75::numeric, 52.5), (35, 40, 43), (70, 5, 19), (105, 35, 29.5), (140, 35, 32), (175, 5, 14) $$,
    'use of the UI thread, window by window, and smoothed by .7, .2, .1');
select results_eq(
    'select at_ms, round(busy::numeric * 75, 6) from ui_thread_use(51, from_ms => 140, to_ms => 170)',
    $$ values (140::float8, 35::numeric) $$, 'of a part of the session');
select results_eq(
    'select at_ms, round(busy::numeric * 75, 6) from ui_thread_use(51, from_ms => 100, to_ms => 110)',
    $$ values (100::float8, 30::numeric) $$, 'a window that reaches over its end is whole');
select is_empty('select ui_thread_use(51, 181)', 'after everything there is nothing');
select throws_ok(format('select %s(51, %s, %s)', report, from_ms, to_ms), '22023', message, format('%s from %s to %s', report, from_ms, to_ms))
from unnest(array['ui_thread_use', 'event_summary']) as report
cross join (values
    ('5', '4', 'from_ms is later than to_ms'),
    ($$'-infinity'$$, $$'infinity'$$, '-Infinity ms is not a time of a session'),
    ('null', $$'nan'$$, 'NaN ms is not a time of a session'),
    ('1e13', 'null', '10000000000000 ms is not a time of a session')
) as edges (from_ms, to_ms, message);
select throws_ok('select ui_thread_use(51, 0, 1e9)', '22023', 'from 0 to 1000000000 ms are more than 100000 windows',
    'but not of more windows than anybody draws');

select results_eq('select at_ms, round(busy::numeric * 75, 6) from ui_thread_use(54)',
    $$ values (0::float8, 75::numeric), (35, 40), (70, 5) $$, 'events that overlap cover a window once');
select results_eq('select at_ms, round(busy::numeric * 75, 6) from ui_thread_use(54, 40, 41)',
    $$ values (40::float8, 35::numeric) $$, 'also those that began before it');

select results_eq('select event_type, self_ms from event_summary(51)',
    $$ values ('(available)', 70::float8), ('DOM_EVENT', 50), ('PAINT', 35), ('LAYOUT', 25) $$,
    'own time by type, and what was left of the UI thread');
select results_eq('select event_type, self_ms, share from event_summary(51, 30, 150)',
    $$ values ('(available)', 70::float8, 70 / 120::float8), ('DOM_EVENT', 40, 40 / 120::float8), ('LAYOUT', 5, 5 / 120::float8),
              ('PAINT', 5, 5 / 120::float8) $$,
    'events that cross the edges are cut there, and so are those inside them');

select results_eq('select * from log_messages(51)',
    $$ values (12::float8, 'hello', 4::bigint, 2::bigint), (176, 'bye', 11, 11) $$,
    'messages, with the event at the top that they are in');
select results_eq('select * from page_transitions(51)',
    $$ values (0::float8, 'https://a.example/', false, 80::float8, 90::float8), (100, 'https://a.example/', true, null, 70),
              (175, 'https://a.example/b', false, null, null) $$,
    'pages, refreshes and their marks');

select results_eq(
    'select request_id, attempt, url, status, redirected, failed, from_cache, bytes, start_ms, response_ms, end_ms, request_time_ms, response_time_ms, total_ms
     from network_resources(52)',
    $$ values
        ('1', 1::bigint, 'https://a.example/old', null::integer, true, null::boolean, null::boolean, null::bigint, 10::float8, null::float8, 30::float8, null::float8, null::float8, 20::float8),
        ('1', 2, 'https://a.example/', 200, false, false, false, 160, 30, 50, 60, 20, 10, 30),
        ('2', 1, 'https://a.example/app.js', 200, false, null, true, 600000, 70, 75, 90, 5, 15, 20),
        ('3', 1, 'https://a.example/a.css', 200, false, null, null, null, 100, 110, null, 10, null, null),
        ('4', 1, 'https://a.example/x.png', null, false, true, null, null, 200, null, 210, null, null, 10),
        ('5', 1, 'https://a.example/from', 302, true, null, null, null, 301, null, 322, null, null, 21),
        ('5', 2, 'https://a.example/to', 200, false, null, null, null, 322, 340, null, 18, null, null),
        ('6', 1, 'https://a.example/y', null, false, null, null, null, 400, null, null, null, null, null),
        ('7', 1, 'https://a.example/z', 200, false, null, null, null, 500, 520, 550, 20, 30, 50),
        ('8', 1, 'https://a.example/z', 200, false, true, null, null, null, null, null, null, null, null) $$,
    'one row per request, from whichever records; a redirect ends the one before');
select results_eq(
    $$ select blocked_ms, proxy_ms, dns_ms, connect_ms, ssl_ms, send_ms from network_resources(52) where request_id = '1' and attempt = 2 $$,
    $$ values (1::float8, null::float8, 3::float8, 5::float8, null::float8, 1::float8) $$,
    'phases, connecting without the look-up that is in it');

select results_eq(
    $$ select attempt, method, request_headers ->> 'Accept', response_headers ->> 'Location' from network_resources(52) where request_id = '5' $$,
    $$ values (1::bigint, 'POST', 'a', '/to'), (2, 'GET', 'b', null) $$,
    'a redirect is the answer to the request before it, whichever record comes first');

select results_eq($$ select start_ms, response_ms, end_ms from network_resources(54) where request_id = '1' $$,
    $$ values (100::float8, 120::float8, 140::float8) $$, 'where the timeline has a time, the network stack is not asked');
select results_eq('select * from network_graph(54) where at_ms < 200',
    $$ values (100::float8, 1::bigint), (110, 2), (140, 0) $$, 'open requests over time; a redirect opens none');
select results_eq('select * from vm_states(54)',
    $$ values ('js', 5::bigint, 0.625::float8), ('external', 2, 0.25), ('gc', 1, 0.125) $$, 'ticks by state');
-- 14 ticks: 4 in main > f, 3 in main > f > f, 4 in main > LoadIC, 1 in main, 2 in unknown code.
select results_eq('select * from js_profile(56)',
    $$ values ('f', 'https://a.example/a.js', 10, 7::bigint, 7::bigint, 7 / 14::float8, 7 / 14::float8),
              ('LoadIC: length', null, null, 4, 4, 4 / 14::float8, 4 / 14::float8),
              ('(unattributed)', null, null, 2, 2, 2 / 14::float8, 2 / 14::float8),
              ('main', 'https://a.example/a.js', 1, 1, 12, 1 / 14::float8, 12 / 14::float8) $$,
    'ticks by function; a recursion counts once');
select results_eq('select function, self_ticks, total_ticks, total_share from js_profile(56, event_id => 1)',
    $$ values ('f', 6::bigint, 6::bigint, 6 / 9::float8), ('(unattributed)', 2, 2, 2 / 9::float8), ('main', 1, 7, 7 / 9::float8) $$,
    'of the profile of one event');
select results_eq('select function, self_ticks, total_ticks from js_profile(56, event_id => 4)',
    $$ values ('LoadIC: length', 4::bigint, 4::bigint), ('f', 1, 1), ('main', 0, 5) $$, 'or of one profile');
select results_eq($$ select function, self_ticks, total_ticks from js_profile(56, state => 'gc') $$,
    $$ values ('(unattributed)', 2::bigint, 2::bigint), ('f', 1, 1), ('main', 0, 1) $$, 'or in one state of the engine');
select results_eq(
    $$ select state, sum(self_ticks) from unnest(array['js', 'gc', 'compiler', 'other', 'external', 'unknown']) as state
       cross join lateral js_profile(56, state => state) group by state order by 2 desc $$,
    $$ values ('js', 10::numeric), ('gc', 3), ('external', 1) $$, 'the states together have all ticks');
select results_eq('select ordinal, level, function, resource, line, ticks from js_profile_bottom_up(56)',
    $$ values (1::bigint, 1, 'f', 'https://a.example/a.js', 10, 7::bigint),
              (2, 2, 'main', 'https://a.example/a.js', 1, 4),
              (3, 2, 'f', 'https://a.example/a.js', 10, 3),
              (4, 3, 'main', 'https://a.example/a.js', 1, 3),
              (5, 1, 'LoadIC: length', null, null, 4),
              (6, 2, 'main', 'https://a.example/a.js', 1, 4),
              (7, 1, 'main', 'https://a.example/a.js', 1, 1),
              (8, 1, '(unattributed)', null, null, 2) $$,
    'from the function on top to its callers, depth first');
select results_eq('select function, level, ticks, share from js_profile_bottom_up(56, min_share => 4 / 14.0)',
    $$ values ('f', 1, 7::bigint, 0.5::float8), ('main', 2, 4, 4 / 14::float8), ('LoadIC: length', 1, 4, 4 / 14::float8), ('main', 2, 4, 4 / 14::float8) $$,
    'without small nodes');
select results_eq($$ select function, level, ticks from js_profile_bottom_up(56, 3, 'js', 0) $$,
    $$ values ('LoadIC: length', 1, 4::bigint), ('main', 2, 4) $$, 'of one event and one state');
select is_empty('select from js_profile(51) union all select from js_profile_bottom_up(51)', 'a session without profiles');
select is_empty('select from js_profile(56, 5)', 'and a profile that was not read');
select throws_ok($$ select js_profile(56, state => 'idle') $$, '22023', 'no state of the engine is named ''idle''', 'no state');
select throws_ok('select js_profile(56, 77)', 'P0002', 'session 56 has no event 77', 'no event');
update fleetprof_data.event
set detail = jsonb_build_object('profile', jsonb_build_object(
    'firstFunction', 0, 'names', '["deep"]'::jsonb, 'urls', '[""]'::jsonb, 'lines', '{-1}', 'firstStack', 0,
    'functions', array_fill(0, array[40000])::text, 'recursive', array(select generate_series(1, 39999))::text,
    'parents', array(select generate_series(-1, 39998))::text, 'stacks', array(select generate_series(0, 39999))::text,
    'states', array_fill(0, array[40000])::text, 'ticks', array_fill(1, array[40000])::text))
where session_id = 56 and event = 2;
select results_eq('select self_ticks, total_ticks from js_profile(56, 2)', 'values (40000::bigint, 40000::bigint)', 'one function on all stacks');
select throws_ok('select js_profile_bottom_up(56, 2)', '54000', 'the ticks have more than 1000000 callers to follow', 'too many deep stacks');
-- Each of n functions under each: n nodes and n * n below them.
create function pg_temp.make_pairs(n integer) returns void language sql as $$
    update fleetprof_data.event
    set detail = jsonb_build_object('profile', jsonb_build_object(
        'firstFunction', 0, 'names', to_jsonb(array(select 'f' || i from generate_series(1, n) as i)),
        'urls', to_jsonb(array_fill(''::text, array[n])), 'lines', array_fill(-1, array[n])::text, 'firstStack', 0,
        'functions', array(select i % n from generate_series(0, n + n * n - 1) as i)::text, 'recursive', '{}',
        'parents', array(select i / n - 1 from generate_series(0, n + n * n - 1) as i)::text,
        'stacks', array(select generate_series(n, n + n * n - 1))::text,
        'states', array_fill(0, array[n * n])::text, 'ticks', array_fill(1, array[n * n])::text))
    where session_id = 56 and event = 2
$$;
select pg_temp.make_pairs(315);
select results_eq('select level, count(*), sum(ticks) from js_profile_bottom_up(56, 2, min_share => 0) group by level order by level',
    'values (1, 315::bigint, 99225::numeric), (2, 99225, 99225)', 'almost as many nodes as a tree may have');
select pg_temp.make_pairs(316);
select throws_ok('select js_profile_bottom_up(56, 2, min_share => 0)', '54000', 'the tree has more than 100000 nodes', 'and too many');
select throws_ok($$ select js_profile_bottom_up(56, min_share => 'nan') $$, '22023', 'min_share is NaN', 'no share');
select results_eq('select request_id, attempt, url, event_id, parent_id, label, self_ms from server_events(55)',
    $$ values ('1', 1::bigint, 'https://a.example/a', 7::bigint, null::bigint, 'GET /a', 6::float8),
              ('1', 1, 'https://a.example/a', 8, 7, 'db', 4), (null, null, null, 9, null, null, 1) $$,
    'what servers did, with the request whose response names the trace');
select is_empty('select from server_events(51)', 'a session without servers');
-- A function is read when a session first calls it: with this setting, its texts would lose their backslashes.
set local standard_conforming_strings = off;
select count(*) from hints(54) \g /dev/null
set local standard_conforming_strings = on;
select bag_eq($$ select description from hints(54) where rule = 'Resource Caching' $$,
    $$ values ('https://a.example/not-modified.js has no expiration'), ('https://a.example/found.js has no expiration') $$,
    'a type that is not known, a wish not to be cached, a query and a status that is not cached have no expiration to miss');

select results_eq(
    'select kind, is_public, is_uncached, has_cookie, sets_cookie, vary, fresh_s from fleetprof_data.cached_responses(57) order by start_ms',
    $$ values ('stylesheet', false, false, true, false, null, 60::float8), ('stylesheet', true, true, true, true, 'b, a', 7),
              ('other', false, true, true, true, null, 0) $$,
    'names of headers in any case, also several of one name');

create temp table response as select * from fleetprof_data.cached_responses(58);
create temp table hint as select rule, description from hints(58);
create function pg_temp.of_rule(about text, rule text, wording text) returns text[] language sql as $$
    select array_agg(value order by number) from asked
    where asked.about = of_rule.about and exists (
        select from hint where hint.rule = of_rule.rule and description = format(wording, asked.about || ' ' || value))
$$;
select is((select array_agg(kind order by number) from asked join response on url = about || ' ' || value where about = 'type'),
    '{document,document,document,document,stylesheet,script,script,favicon,image,media,media,media,other}', 'each type has its kind');
select is(pg_temp.of_rule('type', 'Uncompressed Resource', '%s was not compressed (150 bytes)'),
    '{text/html,text/xml,text/plain,application/xhtml+xml,text/css,text/javascript,application/ecmascript}', 'kinds that can be compressed');
select is(pg_temp.of_rule('type', 'Static Resource served from domains with cookies', '%s was served with cookies'),
    '{text/css,text/javascript,application/ecmascript,image/png,audio/ogg,video/mp4,application/x-shockwave-flash}', 'kinds that need no cookie');
select is(pg_temp.of_rule('type', 'Resource Caching', '%s has no expiration'),
    '{text/css,text/javascript,application/ecmascript,image/vnd.microsoft.icon,image/png,audio/ogg,video/mp4,application/x-shockwave-flash}', 'kinds that caches should keep');
select is(pg_temp.of_rule('encoding', 'Uncompressed Resource', '%s was not compressed (150 bytes)'), '{identity}', 'each encoding compresses, but the one that does not');
select is(pg_temp.of_rule('status', 'Resource Caching', '%s has no expiration'), '{200,203,206,300,301,304,410}', 'statuses that caches keep');
select is(pg_temp.of_rule('control', 'Resource Caching', '%s has no expiration'), '{private}', 'each word that keeps caches from it');
select is(pg_temp.of_rule('pragma', 'Resource Caching', '%s has no expiration'), null, 'also in the older header');
select is((select array_agg(value order by number) from asked where about = 'vary' and exists (
        select from hint where description ^@ ('vary ' || value || ' has a Vary'))), '{Accept}', 'what a cache may vary by');

select results_eq(
    $$ select severity, at_ms, description, event_id from hints(52) where rule = 'Long Duration Events' $$,
    $$ values (2, 0::float8, 'Event lasted: 2500.000 ms. Exceeded threshold: 2000 ms', 1::bigint),
              (3, 3000, 'Event lasted: 101.000 ms. Exceeded threshold: 100 ms', 6) $$,
    'long events, more than the threshold');
select results_eq(
    $$ select severity, description, event_id from hints(52) where rule = 'Frequent Layout activity' $$,
    $$ values (2, '3 layouts took 70.000 ms in one event', 1::bigint) $$,
    'layouts at every level of one event');
select results_eq(
    $$ select rule, severity, description from hints(52) where event_id is null $$,
    $$ values
        ('Resource Caching', 1, 'https://a.example/a.css has a Vary that keeps caches from it: cookie, accept-encoding'),
        ('Resource Caching', 1, 'https://a.example/a.css is publicly cacheable and sets a cookie'),
        ('Resource Caching', 2, 'https://a.example/app.js is compressed and publicly cacheable without Vary: Accept-Encoding'),
        ('Resource Caching', 2, 'https://a.example/app.js is publicly cacheable but has a query, which many proxies don''t cache'),
        ('Resource Caching', 2, 'https://a.example/app.js may be cached for 0 days only'),
        ('Uncompressed Resource', 3, 'https://a.example/ was not compressed (160 bytes)'),
        ('Static Resource served from domains with cookies', 3, 'https://a.example/app.js was served with cookies'),
        ('Total Bytes Downloaded', 3, '600000 bytes downloaded for https://a.example/app.js'),
        ('Static Resource served from domains with cookies', 3, 'https://a.example/a.css was served with cookies') $$,
    'rules about responses');
select results_eq(
    $$ select fleetprof_data.http_time(value) from unnest(array['Fri, 18 Jun 2010 22:43:07 GMT', 'Friday, 18-Jun-10 22:43:07 GMT',
        'Fri Jun 18 22:43:07 2010']) as value $$,
    $$ select timestamptz '2010-06-18 22:43:07Z' from generate_series(1, 3) $$, 'the three forms of a date in HTTP');
select is(array_agg(extract(month from fleetprof_data.http_time('Fri, 18 ' || name || ' 2010 22:43:07 GMT'))::integer order by place), array(select generate_series(1, 12)), 'each month')
from unnest(array['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']) with ordinality as month (name, place);
select is_empty(
    $$ select value from unnest(array['infinity', 'now', '0', '-1', 'Fri, 99 Jun 2010 22:43:07 GMT', 'Fri, 18 Jux 2010 22:43:07 GMT',
        'Fri, 18 Anf 2010 22:43:07 GMT', 'Fri, 18 Jun 2010 25:43:07 GMT', '4713-01-01 00:00:00 BC', '']) as value where fleetprof_data.http_time(value) is not null $$, 'and what is none');
select is_empty('select from hints(51)', 'nothing to say about a session in order');

select throws_ok('select network_resources(53)', '22023', 'session 53 is of opera-scope, and this is a report of Speed Tracer',
    'a session of another format');
select throws_ok('select hints(99)', 'P0002', 'session 99 is not kept', 'no session');
select throws_ok('select hints(null)', 'P0002', 'session null is not kept', 'nor this');

select * from finish();
rollback;
