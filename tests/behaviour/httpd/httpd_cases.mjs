// SPDX-License-Identifier: Apache-2.0
/**
 * Cases that need httpd's own language.
 *
 * @typedef {import('../headers/cases.mjs').Case & {
 *   vhost?: (given: Given) => string,
 *   answers?: Record<string, import('../headers/cases.mjs').Answer>,
 *   first?: { path?: string, ask?: [string, string][] },
 *   bytes?: (host: string) => string,
 *   body?: string,
 * }} HttpdCase
 *   vhost: what stands in <VirtualHost> instead of the one location; answers: what upstream sends by path, or by
 *   what the request says in X-Sampled; first: a request to send before, the only one that upstream answers;
 *   bytes: the request as it goes out; body: expected
 *
 * @typedef {{ port: number, dir: string, files: string, proxy: string }} Given
 *   proxy is a line: pass the request to upstream; else it is served what is in the folder files
 */
import fs from 'node:fs';
import path from 'node:path';

import { armOf } from '../headers/chance.mjs';
import { fileTime, html, no, pageWith, yes } from '../headers/cases/words.mjs';
import { withKeyFile } from '../headers/token.mjs';

const a = 'https://a.example';
const on = 'FleetProf on\nFleetProfSample 100%';

/** The default host is for requests that name none. */
export const before = (/** @type {{ port: number, dir: string, files: string }} */ { port, dir, files }) => `
CacheRoot ${dir}/cache
CacheLock on
CacheLockPath ${dir}/lock
AddOutputFilter INCLUDES .shtml
<Directory ${files}>
Options Includes MultiViews FollowSymLinks
AllowOverride FileInfo
</Directory>
<VirtualHost 127.0.0.1:${port}>
ServerName default.test
DocumentRoot ${files}
${on}
FleetProfAlways on
TimingAllowOrigin *
</VirtualHost>
`;

/** Files beside those that every server has. */
export function addFiles(/** @type {string} */ root) {
  const files = {
    'parts.shtml': 'before<!--#include virtual="/part.html" -->after',
    'arm.shtml': '<!--#if expr="v(\'FLEETPROF_ARM_CHAT\') == \'on\'" -->chat is on<!--#else -->chat is off<!--#endif -->',
    'said.shtml': '<!--#echo var="FLEETPROF_SAMPLED" --> <!--#echo var="FLEETPROF_RATE" --> '
      + '<!--#echo var="FLEETPROF_REASON" -->',
    'htaccess/.htaccess': `FleetProf on\nFleetProfSample 0%\nFleetProfUnsampled negative\nTimingAllowOrigin ${a}\n`,
    'htaccess/page.html': 'page',
    'front/.htaccess': 'RewriteEngine on\nRewriteRule ^old /front/page.html\n',
    'front/page.html': 'page',
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(`${root}/${name}`), { recursive: true });
    fs.writeFileSync(`${root}/${name}`, text);
  }
}

/** @type {HttpdCase[]} */
const scope = [
  { name: 'an_unrelated_Header_does_not_drop_ours', policy: [yes], origins: [a], fields: { 'x-other': ['1'] },
    vhost: () => `${on}\nTimingAllowOrigin ${a}\n<Location />\nHeader set X-Other 1\n</Location>` },
  { name: 'Header_comes_first_and_is_merged', policy: [`a, ${yes}`], origins: ['https://b.example, https://a.example'],
    vhost: () => `${on}\nTimingAllowOrigin ${a}\nHeader set Document-Policy a
      Header set Timing-Allow-Origin https://b.example` },
  { name: 'both_tables_and_upstream_are_merged', policy: [`a, b, c, ${yes}`], answer: pageWith('b'),
    vhost: ({ proxy }) => `${on}\nHeader always set Document-Policy a\nHeader add Document-Policy c\n${proxy}` },
  { name: 'origins_in_both_tables_are_merged', origins: ['https://b.example, null, https://a.example'],
    answer: { fields: [['Timing-Allow-Origin', 'null']] },
    vhost: ({ proxy }) => `TimingAllowOrigin ${a}\nHeader always set Timing-Allow-Origin https://b.example\n${proxy}` },
  { name: 'Header_can_have_the_word', policy: ['js-profiling=?0'], log: ['', '1', 'upstream'],
    vhost: () => `${on}\nHeader always set Document-Policy js-profiling=?0` },
  { name: 'Header_unset_takes_away_the_apps_word', answer: pageWith('js-profiling=?0'), policy: [yes],
    vhost: ({ proxy }) => `${on}\nHeader unset Document-Policy\n${proxy}` },
  { name: 'Header_edit_comes_first', answer: pageWith('a=1'), policy: [`a=2, ${yes}`],
    vhost: ({ proxy }) => `${on}\nHeader edit Document-Policy a=1 a=2\n${proxy}` },
  { name: 'expires_makes_a_page_shared', policy: [no], log: ['0', '1', 'cacheable'],
    vhost: () => `${on}\nExpiresActive on\nExpiresDefault "access plus 1 hour"` },
  { name: 'a_condition_switches_off', path: '/page.html?off=1',
    vhost: () => `${on}\n<If "%{QUERY_STRING} == 'off=1'">\nFleetProf off\n</If>` },
  { name: 'a_condition_inherits_what_it_does_not_say', path: '/page.html?low=1', policy: [no], origins: [a],
    vhost: () => `${on}\nTimingAllowOrigin ${a}
      <If "%{QUERY_STRING} == 'low=1'">\nFleetProfSample 0%\n</If>` },
  { name: 'a_file_inherits_from_its_directory', policy: [no],
    vhost: ({ files }) => `<Directory ${files}>\nFleetProf on\nFleetProfSample 0%\n</Directory>
      <Files page.html>\nTimingAllowOrigin off\n</Files>` },
  { name: 'htaccess', path: '/htaccess/page.html', policy: [no], origins: [a], vhost: () => 'FleetProfSample 100%' },
  { name: 'a_location_comes_after_htaccess', path: '/htaccess/page.html', policy: [yes], origins: [a],
    vhost: () => '<Location />\nFleetProfSample 100%\n</Location>' },
  { name: 'words_in_any_case', policy: [yes], vhost: () => 'FleetProf On\nFleetProfSample 100%\nFleetProfConflict LOCAL\nTimingAllowOrigin Off' },
  { name: 'the_last_line_counts', policy: [no], vhost: () => 'FleetProf off\nFleetProf on\nFleetProfSample 1%\nFleetProfSample 0%' },
];

/** @type {(what: string, vhost: NonNullable<HttpdCase['vhost']>) => HttpdCase} */
const withoutRate = (what, vhost) => ({
  name: `nobody_is_sampled_without_a_rate: ${what}`, policy: [no], log: ['0', '', 'bad_rate'], vhost });

/** @type {HttpdCase[]} */
const rateless = [
  withoutRate('a location', () => '<Location />\nFleetProf on\n</Location>'),
  withoutRate('a directory', ({ files }) => `<Directory ${files}>\nFleetProf on\n</Directory>`),
  withoutRate('files', () => '<Files page.html>\nFleetProf on\n</Files>'),
  withoutRate('a condition', () => '<If true>\nFleetProf on\n</If>'),
];

/** @type {HttpdCase[]} */
const timings = [
  { name: 'timings_of_both_tables_stay', policy: [no], answer: { fields: [html, ['Server-Timing', 'db, fleetprof;dur=1']] },
    serverTiming: ['fleetprof;desc="0"', 'edge;dur=1', 'db'],
    vhost: ({ proxy }) => `FleetProf on\nFleetProfSample 0%\nHeader always set Server-Timing "fleetprof, edge;dur=1"\n${proxy}` },
];

/** @type {(value: string, isOn: boolean) => HttpdCase} */
const switched = (value, isOn) => ({
  name: `FleetProf_expr: ${value || 'empty'}`, path: `/page.html?${value}`, policy: isOn ? [yes] : [],
  vhost: () => 'FleetProf "expr=-T %{QUERY_STRING}"\nFleetProfSample 100%',
});

const fromQuery = 'SetEnvIfExpr "%{QUERY_STRING} =~ /v=(.*)/" RATE=$1\n';

/** @type {(rate: string, policy: string[], log: [string, string, string]) => HttpdCase} */
const ratedBy = (rate, policy, log) => ({
  name: `FleetProfSample_expr: ${rate || 'empty'}`, path: `/page.html?v=${rate}`, policy, log,
  vhost: () => `${fromQuery}FleetProf on\nFleetProfSample expr=%{reqenv:RATE}`,
});

const visitor = 'SetEnvIf Cookie visitor=([^;]+) VISITOR=$1\n';
const sampledVisitor = /** @type {[string, string][]} */ ([['Cookie', 'visitor=visitor-1']]);
const unsampledVisitor = /** @type {[string, string][]} */ ([['Cookie', 'visitor=0123456789abcdef']]);

/** @type {HttpdCase[]} */
const expressions = [
  switched('1', true), switched('on', true), switched('0', false), switched('off', false), switched('', false),
  ratedBy('100%', [yes], ['1', '1', 'sampled']),
  ratedBy('0%', [no], ['0', '0', 'rate']),
  ...['', '1', '200%', '0.00001%', '1/0'].map((rate) => ratedBy(rate, [no], ['0', '', 'bad_rate'])),
  { name: 'a_rate_may_be_put_together', path: '/page.html?v=100', policy: [yes],
    vhost: () => `${fromQuery}FleetProf on\nFleetProfSample "expr=%{reqenv:RATE}%"` },
  ...['key=', 'key=expr='].map((key) => (
    { name: `a_key_comes_from_the_request: ${key}`, ask: sampledVisitor, policy: [yes],
      vhost: () => `${visitor}FleetProf on\nFleetProfSample 1/2 ${key}%{reqenv:VISITOR}` })),
  { name: 'another_key_from_the_request', ask: unsampledVisitor, policy: [no],
    vhost: () => `${visitor}FleetProf on\nFleetProfSample 1/2 key=%{reqenv:VISITOR}` },
  { name: 'an_empty_key_is_chance', policy: [yes],
    vhost: () => `${visitor}${on} key=%{reqenv:VISITOR}` },
  { name: 'expressions_do_not_vary_the_response', policy: [yes], fields: { vary: [] },
    vhost: () => 'FleetProf "expr=%{req:X-A} == \'\'"\nFleetProfSample expr=100%%{req:X-B} key=%{req:X-C}' },
  { name: 'upstream_can_be_told', policy: [yes], answers: { '1 0.5': pageWith() },
    vhost: ({ proxy }) => `FleetProf on\nFleetProfSample 1/2 key=visitor-1
      RequestHeader set X-Sampled "%{FLEETPROF_SAMPLED}e %{FLEETPROF_RATE}e"\n${proxy}` },
  { name: 'Header_before_the_filter_tells_the_decision', policy: [yes], fields: { 'x-said': ['1 1 sampled'] },
    vhost: () => `${on}
      Header set X-Said "expr=%{reqenv:FLEETPROF_SAMPLED} %{reqenv:FLEETPROF_RATE} %{reqenv:FLEETPROF_REASON}"` },
  { name: 'a_page_can_say_it', path: '/said.shtml', version: '1.0', policy: [yes], body: '1 0.5 sampled',
    vhost: () => 'FleetProf on\nFleetProfSample 1/2 key=visitor-1' },
];

const chat = ['on', 'off'][armOf('chat', [1, 1], 'visitor-1')];
const signed = `fleetprof;desc="0.<shop chat=${chat} 0>"`;
const arms = withKeyFile('FleetProf on\nFleetProfSample 0%\nFleetProfSite shop\nFleetProfTokenKey KEY_FILE')
  + '\nFleetProfArms chat=on:1,off:1 key=%{req:X-Visitor}';

/** @type {[string, string][]} */
const visitor1 = [['X-Visitor', 'visitor-1']];

/** @type {HttpdCase[]} */
const armCases = [
  { name: 'arms: conditions_and_fields_read_them', ask: visitor1, policy: [no], serverTiming: [signed],
    fields: { 'x-arm': [chat], 'x-same': ['yes'] },
    vhost: () => `${arms}\nHeader set X-Arm %{fleetprof_arm_chat}e
      Header set X-Same yes "expr=%{reqenv:FLEETPROF_ARM_CHAT} == '${chat}'"` },
  { name: 'arms: ssi_reads_them', version: '1.0', path: '/arm.shtml', ask: visitor1, policy: [no], serverTiming: [signed], body: `chat is ${chat}`,
    vhost: () => arms },
  { name: 'arms: upstream_can_be_told', ask: visitor1, policy: [no], answers: { [chat]: pageWith() }, serverTiming: [signed],
    vhost: ({ proxy }) => `${arms}\nRequestHeader set X-Sampled "%{FLEETPROF_ARM_CHAT}e"\n${proxy}` },
  { name: 'arms: a_section_without_a_key_has_none', ask: visitor1, policy: [no], serverTiming: ['fleetprof;desc="0"'],
    vhost: () => `${arms}\n<Location />\nFleetProfTokenKey off\nHeader set X-Arm no "expr=-z reqenv('FLEETPROF_ARM_CHAT')"\n</Location>`,
    fields: { 'x-arm': ['no'] } },
  { name: 'arms: an_error_document_of_a_section_without_a_key_has_none', path: '/nowhere', status: 404, ask: visitor1, policy: [no],
    serverTiming: ['fleetprof;desc="0"'],
    vhost: () => `${arms}\nFleetProfAlways on\nErrorDocument 404 /page.html\n<Location /page.html>\nFleetProfTokenKey off\n</Location>` },
  { name: 'arms: a_hit_of_our_cache_gets_its_own', first: {}, ask: visitor1, policy: [no],
    serverTiming: [signed], answer: { fields: [html, ['ETag', '"v1"'], ['Last-Modified', fileTime]] }, fields: { etag: [], 'last-modified': [] },
    vhost: ({ proxy }) => `${arms}\nCacheEnable disk /\n${proxy}` },
];

/** @type {HttpdCase[]} */
const redirects = [
  { name: 'index', path: '/', policy: [yes], log: ['1', '1', 'sampled'], vhost: () => on },
  { name: 'the_settings_of_the_index_file_decide', path: '/', policy: [no],
    vhost: () => `${on}\n<Files index.html>\nFleetProfSample 0%\n</Files>` },
  { name: 'an_index_that_is_not_modified', path: '/', status: 304, policy: [yes], vhost: () => on,
    ask: [['If-Modified-Since', fileTime], ['Accept', 'text/html']] },
  { name: 'a_negotiated_file', path: '/page', policy: [yes], vhost: () => on },
  { name: 'a_fallback', path: '/nowhere', policy: [yes], vhost: () => `${on}\nFallbackResource /page.html` },
  { name: 'a_rewritten_path', path: '/nowhere', policy: [yes],
    vhost: () => `${on}\nRewriteEngine on\nRewriteRule ^/nowhere /page.html` },
  { name: 'the_place_that_answers_decides', path: '/front/old', policy: [no],
    vhost: () => `${on}\n<Location /front/page.html>\nFleetProfSample 0%\n</Location>` },
  { name: 'an_error_document_says_nothing', path: '/nowhere', status: 404, log: ['', '', 'status'],
    vhost: () => `${on}\nTimingAllowOrigin *\nErrorDocument 404 /page.html` },
  { name: 'an_error_document_may_speak', path: '/nowhere', status: 404, policy: [yes], log: ['1', '1', 'sampled'],
    vhost: () => `${on}\nFleetProfAlways on\nErrorDocument 404 /page.html` },
  { name: 'what_was_decided_once_stays_decided', path: '/nowhere', status: 404, policy: [yes],
    vhost: () => `${on}\nFleetProfAlways on\nErrorDocument 404 /page.html
      <Location /page.html>\nFleetProfSample 0%\n</Location>` },
  { name: 'a_forbidden_page_is_decided_by_its_document', path: '/page.html', status: 403, policy: [no],
    vhost: () => `${on}\nFleetProfAlways on\nErrorDocument 403 /index.html
      <Location /page.html>\nRequire all denied\n</Location>
      <Location /index.html>\nFleetProfSample 0%\n</Location>` },
  { name: 'httpds_own_error_page', path: '/nowhere', status: 404, policy: [yes], vhost: () => `${on}\nFleetProfAlways on` },
  { name: 'an_error_page_has_the_fields_of_Header_always', path: '/nowhere', status: 404, policy: [`a, ${no}`],
    vhost: () => 'FleetProf on\nFleetProfSample 0%\nFleetProfAlways on\nHeader always set Document-Policy a' },
  { name: 'an_overridden_error_has_lost_the_apps_word', status: 500, policy: [yes], fields: { 'last-modified': [fileTime] },
    answer: { status: 500, fields: [html, ['Document-Policy', 'js-profiling=?0']] },
    vhost: ({ proxy }) => `${on}\nFleetProfAlways on\nErrorDocument 500 /index.html\nProxyErrorOverride on
      ProxyPass /index.html !\n${proxy}` },
  { name: 'an_upstream_that_is_down', status: 503, vhost: () => `${on}\nProxyPass / http://127.0.0.1:1/` },
  { name: 'a_redirect_can_be_timed', status: 302, origins: [a],
    vhost: () => `${on}\nTimingAllowOrigin ${a}\nRedirect / https://b.example/` },
];

/** @type {HttpdCase[]} */
const subrequests = [
  { name: 'an_ssi_page_has_one_header', path: '/parts.shtml', policy: [yes], origins: [a],
    vhost: () => `${on}\nTimingAllowOrigin ${a}` },
  { name: 'an_ssi_part_does_not_speak_for_the_page', path: '/parts.shtml', version: '1.0', body: 'beforepartafter',
    vhost: () => `<Files part.html>\n${on}\nTimingAllowOrigin ${a}\n</Files>` },
];

/** @type {HttpdCase[]} */
const caches = ['on', 'off'].flatMap((quick) => {
  /** @type {(name: string, given: Partial<HttpdCase>) => HttpdCase} */
  const cached = (name, given) => ({
    name: `${name}: quick handler ${quick}`,
    answer: { fields: [html, ['Document-Policy', 'a'], ['ETag', '"v1"'], ['Last-Modified', fileTime]] },
    first: { ask: sampledVisitor },
    vhost: ({ proxy }) => `CacheQuickHandler ${quick}\nCacheEnable disk /
      ${visitor}FleetProf on\nFleetProfSample 1/2 key=%{reqenv:VISITOR}\n${proxy}`,
    ...given,
  });
  return [
    cached('a_cache_hit_is_sampled_anew_and_says_no', { ask: unsampledVisitor, policy: [`a, ${no}`],
      fields: { etag: ['"v1"'], 'last-modified': [fileTime] } }),
    cached('a_cache_hit_is_sampled_anew_and_says_yes', { ask: sampledVisitor, first: { ask: unsampledVisitor },
      policy: [`a, ${yes}`], fields: { etag: [], 'last-modified': [] } }),
    cached('a_304_made_of_the_cache_has_the_apps_members', { status: 304, policy: [`a, ${no}`],
      ask: [...unsampledVisitor, ['If-None-Match', '"v1"'], ['Accept', 'text/html']] }),
    cached('a_304_made_of_the_cache_for_a_service_worker', { status: 304, policy: [`a, ${no}`],
      ask: [...unsampledVisitor, ['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'empty'], ['Sec-Fetch-Mode', 'navigate']] }),
    cached('a_cache_hit_for_a_service_worker', { policy: [`a, ${yes}`], fields: { etag: [] },
      ask: [...sampledVisitor, ['Sec-Fetch-Dest', 'empty'], ['Sec-Fetch-Mode', 'navigate']] }),
    cached('a_cache_stores_nothing_of_ours', { ask: unsampledVisitor, policy: [`a, ${no}`],
      serverTiming: ['fleetprof;desc="0"', 'db;dur=1'],
      answer: { fields: [html, ['Document-Policy', 'a'], ['ETag', '"v1"'], ['Last-Modified', fileTime],
        ['Server-Timing', 'db;dur=1']] } }),
    ...[['MISS', undefined], ['HIT', { ask: sampledVisitor }]].map(([word, first]) => (
      cached(`share: a_cache_${word}`, { first: /** @type {any} */ (first), policy: [`a, ${no}`], ask: unsampledVisitor,
        serverTiming: [`fleetprof;desc="0", fleetprof-server;dur=<fast>, fleetprof-cache;desc=${word}`],
        vhost: ({ proxy }) => `CacheQuickHandler ${quick}\nCacheEnable disk /
          ${visitor}FleetProf on\nFleetProfSample 0%\nFleetProfServerTiming on\n${proxy}` }))),
    cached('a_cached_file_is_decided_anew', { answer: undefined, ask: unsampledVisitor, policy: [no],
      vhost: () => `CacheQuickHandler ${quick}\nCacheEnable disk /\n${visitor}FleetProf on
        FleetProfSample 1/2 key=%{reqenv:VISITOR}` }),
  ];
});

/** @type {HttpdCase[]} */
const odd = [
  { name: 'the_quick_handler_knows_the_virtual_host_only', ask: sampledVisitor, policy: ['a'],
    first: { ask: sampledVisitor },
    answer: { fields: [html, ['Document-Policy', 'a'], ['ETag', '"v1"'], ['Last-Modified', fileTime]] },
    vhost: ({ proxy }) => `CacheEnable disk /\n<Location />\n${on}\n</Location>\n${proxy}` },
  { name: 'two_tiers_say_it_once', answer: pageWith('a'), policy: [`a, ${yes}`],
    vhost: ({ port, proxy }) => `${on}\nProxyPreserveHost on\n${proxy.replace(' / ', ' /inner/ ')}
      ProxyPass / http://127.0.0.1:${port}/inner/` },
  { name: 'the_inner_tier_has_the_word', answer: pageWith(), policy: [no], log: ['', '1', 'upstream'],
    vhost: ({ port, proxy }) => `${on}\nProxyPreserveHost on\n<Location /inner>\nFleetProfSample 0%\n</Location>
      ${proxy.replace(' / ', ' /inner/ ')}\nProxyPass / http://127.0.0.1:${port}/inner/` },
  { name: 'a_proxied_worker_script_with_no_setting_of_its_own', path: '/app.js', ask: [['Sec-Fetch-Dest', 'worker']],
    answer: { fields: [['Content-Type', 'text/javascript']] }, policy: [yes],
    vhost: ({ proxy }) => `${on}\n${proxy}` },
  { name: 'HTTP_0_9_has_no_header', status: 0, bytes: () => 'GET /page.html\r\n', body: '<!doctype html><title>page</title>' },
  { name: 'a_malformed_request', status: 400, bytes: (host) => `GET / HTTP/1.1\r\nHost: ${host}\r\n: x\r\n\r\n` },
  { name: 'a_request_without_host', status: 400, bytes: () => 'GET / HTTP/1.1\r\n\r\n' },
  { name: 'a_compressed_page', policy: [no], ask: [['Accept-Encoding', 'gzip']],
    answer: { fields: [html, ['ETag', '"v1"']], body: 'x'.repeat(2000) },
    fields: { 'content-encoding': ['gzip'], etag: ['"v1-gzip"'] },
    vhost: ({ proxy }) => `FleetProf on\nFleetProfSample 0%\nSetOutputFilter DEFLATE\n${proxy}` },
];

export const httpdCases = [...scope, ...rateless, ...timings, ...expressions, ...armCases, ...redirects, ...subrequests, ...caches, ...odd];
