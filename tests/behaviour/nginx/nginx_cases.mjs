// SPDX-License-Identifier: Apache-2.0
/**
 * Cases that need nginx's own language.
 *
 * @typedef {import('../headers/cases.mjs').Case & {
 *   nginx?: (given: Given) => string,
 *   answers?: Record<string, import('../headers/cases.mjs').Answer>,
 *   first?: { path?: string, ask?: [string, string][] },
 *   bytes?: (host: string) => string,
 *   body?: string,
 * }} NginxCase
 *   nginx: what stands in server { … } instead of the one location; answers: what upstream sends by
 *   path; first: a request to send before; bytes: the request as it goes out; body: expected
 *
 * @typedef {{ port: number, dir: string, files: string, proxy: string, root: string }} Given
 *   proxy and root are directives: pass the request to upstream, or serve what is in the folder files
 */
import { armOf } from '../headers/chance.mjs';
import { fileTime, html, no, pageWith, yes } from '../headers/cases/words.mjs';
import { slowMs, withKeyFile } from '../headers/token.mjs';

const a = 'https://a.example';
const on = 'fleetprof on; fleetprof_sample 100%;';
const tokens = withKeyFile('fleetprof_site shop; fleetprof_token_key KEY_FILE;');
const token = 'fleetprof;desc="<shop 1000000>"';

/** Returns the lines that the cases need in http { … }; the default server is for requests that name none. */
export const httpBlock = (/** @type {{ port: number, dir: string, files: string }} */ { port, dir, files }) => `
proxy_cache_path ${dir}/cache keys_zone=pages:1m;
proxy_buffer_size 16k;
proxy_buffers 4 16k;
map $arg_v $switch { default $arg_v; }
server { listen 127.0.0.1:${port} default_server; ${on} fleetprof_always on; timing_allow_origin *; root ${files}; }
`;

/** @type {NginxCase[]} */
const scope = [
  { name: 'an_unrelated_add_header_does_not_drop_ours', policy: [yes], origins: [a], fields: { 'x-other': ['1'] },
    nginx: ({ root }) => `${on} timing_allow_origin ${a};
      location / { add_header X-Other 1; ${root} }` },
  { name: 'add_header_comes_first_and_is_merged', policy: [`a, ${yes}`], origins: ['https://b.example, https://a.example'],
    nginx: ({ root }) => `location / { ${on} timing_allow_origin ${a};
      add_header Document-Policy a; add_header Timing-Allow-Origin https://b.example; ${root} }` },
  { name: 'add_header_and_upstream_are_both_merged', policy: [`b, a, ${yes}`], answer: pageWith('b'),
    nginx: ({ proxy }) => `location / { ${on} add_header Document-Policy a; ${proxy} }` },
  { name: 'add_header_can_have_the_word', policy: ['js-profiling=?0'],
    nginx: ({ root }) => `location / { ${on} add_header Document-Policy js-profiling=?0; ${root} }` },
  { name: 'expires_makes_a_page_shared', policy: [no], log: ['0', '1', 'cacheable'],
    nginx: ({ root }) => `location / { ${on} expires 1h; ${root} }` },
  { name: 'if_in_location_switches_off', path: '/page.html?off=1',
    nginx: ({ root }) => `location / { ${on} ${root} if ($arg_off) { fleetprof off; } }` },
  { name: 'if_in_location_inherits_what_it_does_not_say', path: '/page.html?low=1', policy: [no], origins: [a],
    nginx: ({ root }) => `location / { ${on} timing_allow_origin ${a}; ${root}
      if ($arg_low) { fleetprof_sample 0%; } }` },
  { name: 'if_in_location_has_every_setting', path: '/page.html?x=1', policy: [`b, ${yes}`],
    answer: { status: 404, fields: [['Content-Type', 'text/x'], ['Document-Policy', 'js-profiling=?0, b']] }, status: 404,
    nginx: ({ proxy }) => `location / { ${on} ${tokens} ${proxy} if ($arg_x) { fleetprof_conflict local;
      fleetprof_types text/x; fleetprof_always on; fleetprof_token_key off; } }` },
  { name: 'if_in_location_may_be_silent', path: '/page.html?x=1', log: ['0', '0', 'rate'],
    nginx: ({ root }) => `location / { fleetprof on; fleetprof_sample 0%; ${root}
      if ($arg_x) { fleetprof_unsampled omit; } }` },
  { name: 'a_nested_location_inherits', policy: [no],
    nginx: ({ root }) => `${on} location / { fleetprof_sample 0%; ${root} location /page { } }` },
  { name: 'proxy_hide_header_takes_away_the_apps_word', answer: pageWith('js-profiling=?0'), policy: [yes],
    nginx: ({ proxy }) => `location / { ${on} proxy_hide_header Document-Policy; ${proxy} }` },
];

/** @type {(value: string, isOn: boolean) => NginxCase} */
const switched = (value, isOn) => ({
  name: `fleetprof_variable: ${value || 'empty'}`, path: `/page.html?v=${value}`, policy: isOn ? [yes] : [],
  nginx: ({ root }) => `location / { fleetprof $switch; fleetprof_sample 100%; ${root} }`,
});

/** @type {(rate: string, policy: string[], log: [string, string, string]) => NginxCase} */
const ratedBy = (rate, policy, log) => ({
  name: `rate_variable: ${rate || 'empty'}`, path: `/page.html?v=${rate}`, policy, log,
  nginx: ({ root }) => `location / { fleetprof on; fleetprof_sample $switch; ${root} }`,
});

/** @type {NginxCase[]} */
const variables = [
  switched('on', true), switched('1', true), switched('off', false), switched('0', false), switched('', false),
  switched('yes', false), switched('ON', false), switched('o', false), switched('2', false),
  ratedBy('100%', [yes], ['1', '1', 'sampled']),
  ratedBy('0%', [no], ['0', '0', 'rate']),
  ...['', '1', '200%', '0.00001%', '1/0'].map((rate) => ratedBy(rate, [no], ['0', '', 'bad_rate'])),
  { name: 'a_rate_may_be_put_together', path: '/page.html?v=100', policy: [yes],
    nginx: ({ root }) => `location / { fleetprof on; fleetprof_sample "$switch%"; ${root} }` },
  { name: 'a_key_comes_from_the_request', ask: [['Cookie', 'visitor=visitor-1']], policy: [yes],
    nginx: ({ root }) => `location / { fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor; ${root} }` },
  { name: 'another_key_from_the_request', ask: [['Cookie', 'visitor=0123456789abcdef']], policy: [no],
    nginx: ({ root }) => `location / { fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor; ${root} }` },
  { name: 'an_empty_key_is_chance', policy: [yes],
    nginx: ({ root }) => `location / { fleetprof on; fleetprof_sample 100% key=$cookie_visitor; ${root} }` },
  { name: 'upstream_can_be_told', policy: [yes], answers: { '/told/1-0.5': pageWith() },
    nginx: ({ proxy }) => `location / { fleetprof on; fleetprof_sample 1/2 key=visitor-1;
      rewrite ^ /told/$fleetprof_sampled-$fleetprof_rate break; ${proxy} }` },
  { name: 'a_variable_before_the_header_tells_the_decision', policy: [yes], fields: { 'x-said': ['1 1 sampled'] },
    nginx: ({ root }) => `location / { ${on} ${root}
      add_header X-Said "$fleetprof_sampled $fleetprof_rate $fleetprof_reason"; }` },
  { name: 'a_decision_does_not_count_where_the_module_is_off', log: ['', '1', 'off'],
    nginx: ({ files }) => `location / { ${on} set $early $fleetprof_sampled; rewrite ^ /off/page.html; }
      location /off/ { alias ${files}/; }` },
];

const chat = ['on', 'off'][armOf('chat', [1, 1], 'visitor-1')];
const signed = `fleetprof;desc="0.<shop chat=${chat} 0>"`;
const arms = `fleetprof on; fleetprof_sample 0%; ${tokens} fleetprof_arms chat=on:1,off:1 key=$arg_v;`;

/** @type {NginxCase[]} */
const armCases = [
  { name: 'arms: conditions_and_fields_read_them', path: '/page.html?v=visitor-1', policy: [no], serverTiming: [signed],
    fields: { 'x-arm': [`${chat} ${chat}`] },
    nginx: ({ root }) => `location / { ${arms} ${root} set $seen no; if ($fleetprof_arm_chat = ${chat}) { set $seen $fleetprof_arm_chat; }
      add_header X-Arm "$seen $fleetprof_arm_chat"; }` },
  { name: 'arms: what_is_no_page_has_an_empty_one_in_the_end', path: '/app.js?v=visitor-1', fields: { 'x-arm': [chat] },
    nginx: ({ root }) => `location / { ${arms} ${root} add_header X-Arm $fleetprof_arm_chat; }` },
  { name: 'arms: an_experiment_of_another_place_is_empty', policy: [no], fields: { 'x-arm': [] },
    nginx: ({ root }) => `location /other/ { fleetprof_arms hero=a:1,b:1; }
      location / { ${arms} ${root} add_header X-Arm $fleetprof_arm_hero; }`, path: '/page.html?v=visitor-1', serverTiming: [signed] },
  { name: 'arms: the_place_that_decides_draws', path: '/page.html?v=visitor-1', policy: [no], serverTiming: [signed],
    nginx: ({ files }) => `${arms} location / { set $early $fleetprof_arm_chat; rewrite ^ /in/page.html; }
      location /in/ { internal; fleetprof_arms hero=a:1,b:1; alias ${files}/; }` },
  { name: 'arms: a_place_without_a_key_has_none', path: '/page.html?v=visitor-1', policy: [no], serverTiming: ['fleetprof;desc="0"'],
    nginx: ({ files }) => `${arms} location / { set $early $fleetprof_arm_chat; rewrite ^ /in/page.html; }
      location /in/ { internal; fleetprof_arms off; fleetprof_token_key off; alias ${files}/; }` },
  { name: 'arms: a_hit_of_our_cache_gets_its_own', path: '/page.html?v=visitor-1', first: { path: '/page.html?v=other' },
    answer: pageWith(), policy: [no], serverTiming: [signed], fields: { 'x-hit': ['HIT'], etag: [] },
    nginx: ({ proxy }) => `location / { ${arms} proxy_cache pages; proxy_cache_key $server_name; proxy_cache_valid 200 1h;
      add_header X-Hit $upstream_cache_status; ${proxy} }` },
];

/** @type {NginxCase[]} */
const redirects = [
  { name: 'index', path: '/', policy: [yes], nginx: ({ root }) => `location / { ${on} ${root} }` },
  { name: 'the_location_that_answers_decides', policy: [no],
    nginx: ({ files, root }) => `${on} ${root} location / { rewrite ^ /in/page.html; }
      location /in/ { internal; fleetprof_sample 0%; alias ${files}/; }` },
  { name: 'what_was_decided_once_stays_decided', policy: [yes], log: ['1', '1', 'sampled'],
    nginx: ({ files }) => `${on} location / { set $early $fleetprof_sampled; rewrite ^ /in/page.html; }
      location /in/ { internal; fleetprof_sample 0%; alias ${files}/; }` },
  { name: 'try_files_to_a_file', path: '/nowhere', policy: [yes],
    nginx: ({ root }) => `location / { ${on} ${root} try_files $uri /page.html; }` },
  { name: 'try_files_to_a_named_location', path: '/nowhere', answer: pageWith('a'), policy: [`a, ${no}`],
    nginx: ({ proxy, root }) => `location / { ${on} ${root} try_files $uri @app; }
      location @app { fleetprof on; fleetprof_sample 0%; ${proxy} }` },
  { name: 'a_decision_survives_a_named_location', path: '/nowhere', answer: pageWith(), policy: [yes],
    nginx: ({ proxy, root }) => `location / { ${on} set $early $fleetprof_sampled; ${root} try_files $uri @app; }
      location @app { fleetprof on; fleetprof_sample 0%; ${proxy} }` },
  { name: 'an_error_page_says_nothing', path: '/nowhere', status: 404, log: ['', '', 'status'],
    nginx: ({ root }) => `${on} timing_allow_origin *; ${root} error_page 404 /page.html;` },
  { name: 'an_error_page_that_became_a_200_is_a_page', path: '/nowhere', policy: [yes],
    nginx: ({ root }) => `${on} ${root} error_page 404 =200 /page.html;` },
  { name: 'an_error_page_goes_by_its_own_location', path: '/nowhere', policy: [no],
    nginx: ({ root }) => `${on} ${root} error_page 404 =200 /page.html;
      location = /page.html { fleetprof_sample 0%; }` },
  { name: 'an_error_page_that_counts_goes_by_its_own_location', path: '/nowhere', status: 404, policy: [no],
    nginx: ({ root }) => `${on} fleetprof_always on; ${root} error_page 404 /page.html;
      location = /page.html { fleetprof_sample 0%; }` },
  { name: 'an_error_page_that_counts_keeps_the_first_decision', path: '/nowhere', status: 404, policy: [yes],
    serverTiming: [token], log: ['1', '1', 'sampled'],
    nginx: ({ root }) => `${on} fleetprof_always on; ${tokens} ${root} error_page 404 /page.html;
      location / { set $early $fleetprof_sampled; } location = /page.html { fleetprof_sample 0%; }` },
  { name: 'an_error_of_nginx_itself_that_counts', status: 502, policy: [yes],
    nginx: () => `${on} fleetprof_always on; location / { proxy_pass http://127.0.0.1:1; }` },
  { name: 'a_named_locations_token_has_the_rate_of_the_decision', path: '/nowhere', answer: pageWith(), policy: [yes],
    serverTiming: ['fleetprof;desc="<shop 500000>"'],
    nginx: ({ proxy, root }) => `fleetprof on; fleetprof_sample 1/2 key=visitor-1; ${tokens}
      set $early $fleetprof_sampled; ${root} try_files $uri @app;
      location @app { fleetprof_sample 1%; ${proxy} }` },
  { name: 'an_intercepted_error_has_lost_the_apps_word', policy: [yes], fields: { 'last-modified': [fileTime] },
    answer: { status: 500, fields: [html, ['Document-Policy', 'js-profiling=?0']] },
    nginx: ({ proxy, root }) => `${on} ${root} location = /page.html { ${proxy} proxy_intercept_errors on;
      error_page 500 =200 /index.html; }` },
  { name: 'an_upstream_that_is_down', status: 502,
    nginx: () => `${on} location / { proxy_pass http://127.0.0.1:1; }` },
  { name: 'x_accel_redirect_serves_a_file_that_keeps_its_validators', policy: [yes], log: ['1', '1', 'sampled'],
    answer: { fields: [['X-Accel-Redirect', '/files/page.html'], ['Document-Policy', 'js-profiling=?0'], html] },
    fields: { 'last-modified': [fileTime] },
    nginx: ({ files, proxy }) => `${on} location / { ${proxy} }
      location /files/ { internal; alias ${files}/; }` },
  { name: 'x_accel_redirect_to_a_file_that_is_not_modified', status: 304, policy: [no],
    ask: [['If-Modified-Since', fileTime], ['Sec-Fetch-Dest', 'document']],
    answer: { fields: [['X-Accel-Redirect', '/files/page.html'], html] },
    nginx: ({ files, proxy }) => `fleetprof on; fleetprof_sample 0%; location / { ${proxy} }
      location /files/ { internal; alias ${files}/; }` },
  { name: 'x_accel_redirect_keeps_the_apps_timings', policy: [yes], serverTiming: [token],
    answer: { fields: [['X-Accel-Redirect', '/files/page.html'], html] },
    nginx: ({ files, proxy }) => `${on} ${tokens} location / { ${proxy} }
      location /files/ { internal; alias ${files}/; }` },
  { name: 'x_accel_redirect_to_a_file_whose_304_is_silent', policy: [yes], fields: { 'last-modified': [] },
    answer: { fields: [['X-Accel-Redirect', '/files/page.html'], html] },
    nginx: ({ files, proxy }) => `${on} fleetprof_not_modified omit; location / { ${proxy} }
      location /files/ { internal; alias ${files}/; }` },
  { name: 'x_accel_redirect_to_another_upstream', policy: [`a, ${yes}`], fields: { etag: [] },
    answer: { fields: [['X-Accel-Redirect', '/second'], html] },
    answers: { '/second': { fields: [html, ['Document-Policy', 'a'], ['ETag', '"v2"']] } },
    nginx: ({ proxy }) => `${on} location / { ${proxy} }` },
  { name: 'a_redirect_can_be_timed', status: 302, origins: [a],
    nginx: () => `location / { ${on} timing_allow_origin ${a}; return 302 /elsewhere; }` },
  { name: 'return_with_a_text', policy: [yes],
    nginx: () => `location / { ${on} default_type text/html; return 200 "<p>hello"; }` },
];

/** @type {NginxCase[]} */
const subrequests = [
  { name: 'an_ssi_page_has_one_header', path: '/parts.html', policy: [yes], origins: [a],
    nginx: ({ root }) => `${on} timing_allow_origin ${a}; ${root} ssi on;` },
  { name: 'an_ssi_page_has_one_token', path: '/parts.html', policy: [yes], serverTiming: [token],
    nginx: ({ root }) => `${on} ${tokens} ${root} ssi on;` },
  { name: 'an_ssi_part_does_not_speak_for_the_page', path: '/parts.html',
    nginx: ({ root }) => `${root} ssi on; location = /part.html { ${on} timing_allow_origin ${a}; }` },
  { name: 'auth_request', policy: [yes], answers: { '/auth': pageWith('js-profiling=?0') },
    nginx: ({ proxy, root }) => `${on} ${root} location / { auth_request /auth; }
      location = /auth { fleetprof_sample 0%; ${proxy} }` },
  { name: 'a_subrequest_may_ask_what_the_page_decided', policy: [yes], answers: { '/auth/1': { status: 200 } },
    nginx: ({ proxy, root }) => `${on} ${root} location / { auth_request /auth; }
      location = /auth { fleetprof off; rewrite ^ /auth/$fleetprof_sampled break; ${proxy} }` },
];

/** @type {(name: string, given: Partial<NginxCase>) => NginxCase} */
const cached = (name, given) => ({
  name,
  answer: { fields: [html, ['Document-Policy', 'a'], ['ETag', '"v1"'], ['Last-Modified', fileTime]] },
  first: { path: '/page.html', ask: [['Cookie', 'visitor=visitor-1']] },
  nginx: ({ proxy }) => `location / { fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor;
    proxy_cache pages; proxy_cache_key $server_name; proxy_cache_valid 200 1h;
    add_header X-Cache $upstream_cache_status; ${proxy} }`,
  ...given,
});

const shared = 'fleetprof on; fleetprof_sample 0%; fleetprof_server_timing on;';
const cache = 'proxy_cache pages; proxy_cache_key $server_name; proxy_cache_valid 200 1h;';

/** The server's share, where nginx knows more than the time of one answer. @type {NginxCase[]} */
const shares = [
  { name: 'share: a_cache_miss', answer: { ...pageWith(), delayMs: slowMs + 20 }, policy: [no],
    serverTiming: ['fleetprof;desc="0", fleetprof-server;dur=<slow>, fleetprof-cache;desc=MISS'],
    nginx: ({ proxy }) => `location / { ${shared} ${cache} ${proxy} }` },
  cached('share: a_cache_hit', { answer: { ...pageWith(), delayMs: slowMs + 20 }, policy: [no],
    serverTiming: ['fleetprof;desc="0", fleetprof-server;dur=<fast>, fleetprof-cache;desc=HIT'],
    nginx: ({ proxy }) => `location / { ${shared} ${cache} ${proxy} }` }),
  cached('share: a_bypassed_cache', { answer: pageWith(), policy: [no],
    serverTiming: ['fleetprof;desc="0", fleetprof-server;dur=<fast>, fleetprof-cache;desc=BYPASS'],
    nginx: ({ proxy }) => `location / { ${shared} ${cache} proxy_cache_bypass 1; ${proxy} }` }),
  { name: 'share: the_time_before_x_accel_redirect_counts', policy: [no],
    answer: { fields: [['X-Accel-Redirect', '/files/page.html'], html], delayMs: slowMs + 20 },
    serverTiming: ['fleetprof;desc="0", fleetprof-server;dur=<slow>'],
    nginx: ({ files, proxy }) => `${shared} location / { ${proxy} } location /files/ { internal; alias ${files}/; }` },
  { name: 'share: the_time_of_an_intercepted_error_counts', policy: [no],
    answers: { '/page.html': { status: 500, fields: [html], delayMs: slowMs + 20 }, '/else.html': pageWith() },
    serverTiming: ['fleetprof;desc="0", fleetprof-server;dur=<slow>'],
    nginx: ({ proxy }) => `${shared} location / { ${proxy} proxy_intercept_errors on; error_page 500 =200 /else.html; }
      location = /else.html { ${proxy} }` },
];

/** @type {NginxCase[]} */
const caches = [
  cached('a_cache_hit_is_sampled_anew_and_says_no', { ask: [['Cookie', 'visitor=0123456789abcdef']],
    policy: [`a, ${no}`], fields: { 'x-cache': ['HIT'], etag: ['"v1"'], 'last-modified': [fileTime] } }),
  cached('a_cache_hit_is_sampled_anew_and_says_yes', { ask: [['Cookie', 'visitor=visitor-1']],
    first: { ask: [['Cookie', 'visitor=0123456789abcdef']] },
    policy: [`a, ${yes}`], fields: { 'x-cache': ['HIT'], etag: [], 'last-modified': [] } }),
  cached('a_304_that_nginx_made_of_its_cache_has_the_apps_members', { status: 304, policy: [`a, ${no}`],
    ask: [['Cookie', 'visitor=0123456789abcdef'], ['If-None-Match', '"v1"'], ['Accept', 'text/html']],
    fields: { 'x-cache': ['HIT'] } }),
  cached('a_cache_hit_has_a_token_of_its_own', { ask: [['Cookie', 'visitor=visitor-1']], policy: [`a, ${yes}`],
    fields: { 'x-cache': ['HIT'] }, serverTiming: ['fleetprof;desc="<shop 500000>"'],
    nginx: ({ proxy }) => `location / { fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor; ${tokens}
      proxy_cache pages; proxy_cache_key $server_name; proxy_cache_valid 200 1h;
      add_header X-Cache $upstream_cache_status; ${proxy} }` }),
  ...['navigate', 'cors'].map((mode) => cached(`a_304_that_nginx_made_of_its_cache_for_a_service_worker: ${mode}`, {
    status: 304, policy: [`a, ${no}`], fields: { 'x-cache': ['HIT'] },
    ask: [['Cookie', 'visitor=0123456789abcdef'], ['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'empty'],
      ['Sec-Fetch-Mode', mode]] })),
  cached('a_304_that_nginx_made_of_a_cached_image', { status: 304, policy: ['a'], serverTiming: [],
    answer: { fields: [['Content-Type', 'image/png'], ['Document-Policy', 'a'], ['ETag', '"v1"']] },
    ask: [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'document'], ['Accept', 'text/html']] }),
  cached('a_cache_hit_for_a_service_worker', { policy: [`a, ${yes}`], fields: { 'x-cache': ['HIT'], etag: [] },
    ask: [['Cookie', 'visitor=visitor-1'], ['Sec-Fetch-Dest', 'empty'], ['Sec-Fetch-Mode', 'navigate']] }),
  cached('a_cache_stores_nothing_of_ours', { policy: [`a, ${no}`], serverTiming: ['fleetprof;desc="0"', 'db;dur=1'],
    ask: [['Cookie', 'visitor=0123456789abcdef']], fields: { 'x-cache': ['HIT'] },
    answer: { fields: [html, ['Document-Policy', 'a'], ['Server-Timing', 'db;dur=1']] } }),
  cached('a_304_that_nginx_made_of_its_cache_takes_a_token_back', { status: 304, policy: [`a, ${no}`],
    ask: [['Cookie', 'visitor=0123456789abcdef'], ['If-None-Match', '"v1"'], ['Accept', 'text/html']],
    serverTiming: ['fleetprof;desc="0"'],
    nginx: ({ proxy }) => `location / { fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor; ${tokens}
      proxy_cache pages; proxy_cache_key $server_name; proxy_cache_valid 200 1h; ${proxy} }` }),
  cached('a_304_that_nginx_made_of_its_cache_may_be_silent', { status: 304, policy: ['a'],
    ask: [['Cookie', 'visitor=0123456789abcdef'], ['If-None-Match', '"v1"'], ['Accept', 'text/html']],
    nginx: ({ proxy }) => `location / { fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor;
      fleetprof_not_modified omit; proxy_cache pages; proxy_cache_key $server_name; proxy_cache_valid 200 1h; ${proxy} }` }),
  cached('a_sampled_cache_hit_keeps_its_validators_if_every_304_speaks', { ask: [['Cookie', 'visitor=visitor-1']],
    policy: [`a, ${yes}`], fields: { etag: ['"v1"'], 'last-modified': [fileTime] },
    nginx: ({ proxy }) => `location / { fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor;
      fleetprof_not_modified send; proxy_cache pages; proxy_cache_key $server_name; proxy_cache_valid 200 1h; ${proxy} }` }),
  cached('a_cached_x_accel_redirect_to_a_file', {
    answer: { fields: [html, ['X-Accel-Redirect', '/index.html']] }, ask: [['Cookie', 'visitor=visitor-1']],
    policy: [yes], fields: { 'last-modified': [fileTime] },
    nginx: ({ proxy, root }) => `fleetprof on; fleetprof_sample 1/2 key=$cookie_visitor; ${root}
      location = /page.html { proxy_cache pages; proxy_cache_key $server_name; proxy_cache_valid 200 1h; ${proxy} }` }),
];

/** @type {NginxCase[]} */
const odd = [
  { name: 'two_tiers_say_it_once', answer: pageWith('a'), policy: [`a, ${yes}`],
    nginx: ({ port, proxy }) => `${on} location / { proxy_pass http://127.0.0.1:${port}/inner/;
      proxy_set_header Host $host; } location /inner/ { ${proxy} }` },
  { name: 'the_inner_tier_has_the_word', answer: pageWith(), policy: [no], log: ['', '1', 'upstream'],
    nginx: ({ port, proxy }) => `${on} location / { proxy_pass http://127.0.0.1:${port}/inner/;
      proxy_set_header Host $host; } location /inner/ { fleetprof_sample 0%; ${proxy} }` },
  { name: 'two_tiers_give_one_token', answer: pageWith(), policy: [yes], serverTiming: [token],
    nginx: ({ port, proxy }) => `${on} ${tokens} location / { proxy_pass http://127.0.0.1:${port}/inner/;
      proxy_set_header Host $host; } location /inner/ { ${proxy} }` },
  { name: 'an_outer_tier_that_wins_gives_its_own_token', answer: pageWith('a'), policy: [`a, ${yes}`], serverTiming: [token],
    nginx: ({ port, proxy }) => `${on} ${tokens} location / { proxy_pass http://127.0.0.1:${port}/inner/;
      fleetprof_conflict local; proxy_set_header Host $host; }
      location /inner/ { fleetprof_sample 99% key=visitor-1; ${proxy} }` },
  { name: 'add_header_can_time_too', policy: [yes], serverTiming: [token, 'edge;dur=1'],
    nginx: ({ root }) => `location / { ${on} ${tokens} add_header Server-Timing "edge;dur=1"; ${root} }` },
  { name: 'HTTP_0_9_has_no_header', status: 0, bytes: () => 'GET /page.html\r\n',
    body: '<!doctype html><title>page</title>' },
  { name: 'a_malformed_request', status: 400, bytes: (host) => `GET / HTTP/1.1\r\nHost: ${host}\r\nHost: x\r\n\r\n` },
  { name: 'a_method_in_lower_case', status: 400, bytes: () => 'get /page.html HTTP/1.1\r\nHost: x\r\n\r\n' },
  { name: 'a_version_that_is_not_there_yet', status: 505, bytes: () => 'GET /page.html HTTP/4.0\r\nHost: x\r\n\r\n' },
  { name: 'a_line_that_is_too_long', status: 414, bytes: () => `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: x\r\n\r\n` },
  { name: 'a_field_that_is_too_long', status: 400, bytes: () => `GET / HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n` },
  { name: 'a_request_without_host', status: 400, bytes: () => 'GET / HTTP/1.1\r\n\r\n' },
  { name: 'a_304_by_return', status: 304, policy: [no], ask: [['Sec-Fetch-Dest', 'empty'], ['Sec-Fetch-Mode', 'navigate']],
    nginx: () => 'location / { fleetprof on; fleetprof_sample 0%; return 304; }' },
  { name: 'gzip_and_a_weak_etag', policy: [no], ask: [['Accept-Encoding', 'gzip']],
    answer: { fields: [html, ['ETag', '"v1"']], body: 'x'.repeat(2000) },
    fields: { 'content-encoding': ['gzip'], etag: ['W/"v1"'] },
    nginx: ({ proxy }) => `location / { fleetprof on; fleetprof_sample 0%; gzip on; gzip_proxied any; ${proxy} }` },
];

export const nginxCases = [...scope, ...variables, ...armCases, ...redirects, ...subrequests, ...shares, ...caches, ...odd];
