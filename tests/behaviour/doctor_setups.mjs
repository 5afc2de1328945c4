// SPDX-License-Identifier: Apache-2.0
/** The right set-ups, and the mistakes that people make in them, one at a time. */

import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { repository } from './stack.mjs';

/** @typedef {import('./doctor_site.mjs').Setup} Setup */

/** The integrity of the agent's file, by one kind of hash. @param {string} kind */
const integrity = (kind) => `${kind}-${createHash(kind).update(fs.readFileSync(path.join(repository, 'agent/dist/fleetprof.js'))).digest('base64')}`;

const tag = (/** @type {string} */ attributes) => `<script src="/fleetprof-0.1.0.js" ${attributes}></script>`;
const endpoint = 'data-endpoint="/v1/ingest/pk_shop"';

/** Each attribute of the manual with values that the agent takes, and those that it does not. @type {Record<string, { right: string[], wrong: string[] }>} */
export const attributes = {
  'data-endpoint': { right: ['/v1/ingest/pk_shop'], wrong: [] },
  'data-release': { right: ['7'], wrong: [] },
  'data-environment': { right: ['production'], wrong: [] },
  'data-variant': { right: ['a'], wrong: [] },
  'data-custom': { right: ['plan=pro', 'plan=pro; country=de'], wrong: [] },
  'data-route': { right: ['/product/:id'], wrong: [] },
  'data-hash-routes': { right: ['', 'true', 'false'], wrong: [] },
  'data-sample-interval': { right: ['1', '20', '10000'], wrong: ['0', '10ms', '10001'] },
  'data-part-length': { right: ['1', '5000'], wrong: ['0', '5s'] },
  'data-max-duration': { right: ['1', '60000'], wrong: ['0', '1m'] },
  'data-max-buffer-size': { right: ['1', '10000'], wrong: ['0', 'all'] },
  'data-after-load': { right: ['0', '3000'], wrong: ['-1', '3s'] },
  'data-policy': { right: ['try'], wrong: ['', 'always'] },
  'data-profile': { right: ['', 'true', 'false'], wrong: ['off'] },
  'data-coverage': { right: ['all', 'off'], wrong: ['', 'on'] },
  'data-vitals-sample': { right: ['0', '0.5', '1'], wrong: ['50', '50%'] },
  'data-debug': { right: ['', 'false'], wrong: [] },
};

/** @type {Record<string, Setup>} */
export const rightSetups = {
  right: {},
  'right-signed': { signed: 'strict', key: 'pk_strict' },
  'right-options': { tag: tag(`${endpoint} data-release="7" data-sample-interval="20" data-after-load="3000" data-debug`) },
  // Browsers take the strongest of several kinds of hashes; unknown ones count for nothing.
  'right-sha256': { tag: tag(`integrity="${integrity('sha256')}" ${endpoint}`) },
  'right-sha384': { tag: tag(`integrity="sha256-AAAA ${integrity('sha384')}" ${endpoint}`) },
  'right-sha512': { tag: tag(`integrity="sha384-AAAA ${integrity('sha512')}" ${endpoint}`) },
  'right-unknown-hash': { tag: tag(`integrity="md5-AAAA" ${endpoint}`) },
  'right-own-policy': { fields: { 'Document-Policy': 'document-write=?0' } },
  'right-scripts': {
    head: '<script src="OTHER/open.js" crossorigin></script><script type="application/ld+json">{}</script>',
    csp: { scriptSrc: ["'self'", 'http://127.0.0.1:*'] },
  },
  'right-nonce': {
    csp: { scriptSrc: ["'nonce-abc'", "'strict-dynamic'"] }, tag: tag(`nonce="abc" ${endpoint}`),
  },
  'right-json-first': { before: '<script type="application/json">{}</script>' },
  'right-redirect': { address: '/to-page' },
  'right-bundle': { tag: '', options: ['--endpoint', '/v1/ingest/pk_shop'] },
  'right-file': { address: '/page.html' },
  'right-cross-origin': {
    tag: tag('data-endpoint="INGEST/v1/ingest/pk_shop"'), csp: { connectSrc: ['http:'] },
    options: ['--endpoint', 'INGEST/v1/ingest/pk_shop'],
  },
  'right-followed': { address: '/to-right', options: ['--follow'] },
  'right-ignored': { tag: tag(`defer ${endpoint}`), options: ['--ignore', 'agent-deferred'] },
};

/**
 * Two mistakes in one set-up.
 * @param {Setup} one @param {Setup} other
 * @returns {Setup}
 */
export const both = (one, other) => ({
  ...one,
  ...other,
  fields: { ...one.fields, ...other.fields },
  csp: { ...one.csp, ...other.csp },
  before: `${one.before ?? ''}${other.before ?? ''}`,
  head: `${one.head ?? ''}${other.head ?? ''}`,
  body: `${one.body ?? ''}${other.body ?? ''}`,
  finds: [...new Set([...one.finds ?? [], ...other.finds ?? []])],
});

/** Mistakes that do not hide each other. */
export const independent = ['csp-connect', 'script-blind', 'agent-second', 'page-worker', 'script-404', 'app-no-store',
  'agent-bad-value', 'body-limit', 'script-minified', 'script-hidden', 'csp-sandbox', 'app-meta-only'];

/** Mistakes of the web server. @type {Record<string, Setup>} */
export const serverMistakes = {
  'policy-missing': { off: true, finds: ['policy-missing'] },
  'policy-omitted': {
    rate: '0%', fields: { ETag: '"1"' }, nginx: 'fleetprof_unsampled omit;', httpd: 'FleetProfUnsampled omit',
    finds: ['policy-omitted', 'rate-zero'],
  },
  'rate-zero': { rate: '0%', finds: ['rate-zero'] },
  'rate-differs': { rate: '0%', options: ['--rate', '100%'], finds: ['rate-differs'] },
  'policy-dropped': { outer: { of: 'right', hides: ['Document-Policy'] }, finds: ['policy-dropped'] },
  'decision-dropped': { outer: { of: 'right', hides: ['Server-Timing'] }, finds: ['decision-missing'] },
  'both-dropped': { outer: { of: 'right', hides: ['Document-Policy', 'Server-Timing'] }, finds: ['policy-missing'] },
  'token-dropped': {
    outer: { of: 'right-signed', hides: ['Server-Timing'] }, options: ['--endpoint', '/v1/ingest/pk_strict'],
    finds: ['decision-missing', 'token-unseen'],
  },
  'recipe-alone': {
    off: true,
    nginx: 'add_header Document-Policy js-profiling;',
    httpd: 'Header set Document-Policy js-profiling',
    finds: ['decision-missing'],
  },
  'recipe-comma': {
    off: true,
    nginx: 'add_header Document-Policy "js-profiling,";',
    httpd: 'Header set Document-Policy "js-profiling,"',
    finds: ['policy-broken', 'decision-missing'],
  },
  'recipe-case': {
    off: true,
    nginx: 'add_header Document-Policy JS-Profiling;',
    httpd: 'Header set Document-Policy JS-Profiling',
    finds: ['policy-broken', 'decision-missing'],
  },
  'unsigned-but-required': { key: 'pk_strict', finds: ['token-missing'] },
  'unsigned-but-expected': { key: 'pk_shop2', finds: ['token-missing'] },
  'signed-for-another-site': { signed: 'shop', key: 'pk_shop2', finds: ['token-refused'] },
  'ingest-missing': { ingest: 'none', finds: ['endpoint-not-collector'] },
  'ingest-fallback': { ingest: 'none', fallback: true, finds: ['endpoint-not-collector'] },
  'ingest-cut': { ingest: 'cut', finds: ['endpoint-path'] },
  'collector-down': { ingest: 'down', finds: ['collector-down'] },
};

/** Mistakes in the application and its pages. @type {Record<string, Setup>} */
export const pageMistakes = {
  'app-says-no': { fields: { 'Document-Policy': 'js-profiling=?0' }, finds: ['rate-zero'] },
  'app-says-yes': { fields: { 'Document-Policy': 'js-profiling' }, finds: ['decision-missing'] },
  'app-contradicts': {
    off: true, fields: { 'Document-Policy': 'js-profiling', 'Server-Timing': 'fleetprof;desc="0"' },
    finds: ['policy-conflict', 'rate-zero'],
  },
  'app-unparsable': { fields: { 'Document-Policy': 'document-write=?0,' }, finds: ['policy-broken', 'rate-zero'] },
  'app-parameter': {
    off: true, fields: { 'Document-Policy': 'document-write=?0;js-profiling' }, finds: ['policy-parameter', 'decision-missing'],
  },
  'app-type': { fields: { 'Document-Policy': 'js-profiling=1' }, finds: ['policy-type', 'rate-zero'] },
  'app-mode-only': {
    off: true, fields: { 'Document-Policy': 'js-profiling-mode=lazy' }, finds: ['policy-mode-only', 'decision-missing'],
  },
  'app-report-only': {
    off: true, fields: { 'Document-Policy-Report-Only': 'js-profiling' }, finds: ['policy-report-only', 'policy-missing'],
  },
  'app-meta': {
    off: true, head: '<meta http-equiv="Document-Policy" content="js-profiling">', finds: ['policy-in-meta', 'policy-missing'],
  },
  'app-meta-only': { head: '<meta http-equiv="Document-Policy" content="js-profiling">', finds: ['policy-in-meta'] },
  'app-cacheable': {
    fields: { 'Cache-Control': 'public, max-age=600' }, finds: ['page-cacheable', 'rate-zero'],
  },
  'app-expires': { fields: { Expires: 'Fri, 31 Dec 2100 23:59:59 GMT' }, finds: ['page-cacheable', 'rate-zero'] },
  'app-cacheable-for-cdns': {
    fields: { 'Cache-Control': 'private', 'CDN-Cache-Control': 'max-age=60' }, finds: ['page-cacheable', 'rate-zero'],
  },
  'app-no-store': { fields: { 'Cache-Control': 'no-store' }, finds: ['page-no-store'] },
  'app-unknown-decision': { off: true, fields: { 'Server-Timing': 'fleetprof;desc="maybe"', 'Document-Policy': 'js-profiling' }, finds: ['decision-unknown', 'rate-zero'] },
  'app-frozen': {
    off: true,
    fields: { 'Server-Timing': `fleetprof;desc="1.${Math.floor(Date.now() / 1000)}.AAECAwQFBgcICQoL"`, 'Document-Policy': 'js-profiling' },
    finds: ['page-frozen'],
  },
  'app-clock': {
    off: true,
    fields: { 'Server-Timing': 'fleetprof;desc="1.1767225600.AAECAwQFBgcICQoL"', 'Document-Policy': 'js-profiling' },
    options: ['--repeat', '1'],
    finds: ['clock-server'],
  },
  'app-overrides': {
    off: true,
    fields: { 'Server-Timing': `fleetprof;desc="1.${Math.floor(Date.now() / 1000)}.AAECAwQFBgcICQoL"`, 'Document-Policy': 'js-profiling=?0' },
    options: ['--repeat', '1'],
    finds: ['policy-overridden'],
  },
  'app-error': { status: 500, finds: ['page-status'] },
  'app-not-html': { address: '/data.json', finds: ['page-not-html'] },
  'app-leaves': { address: '/to-right', finds: ['page-elsewhere'] },
  'app-loop': { address: '/loop', finds: ['page-redirects'] },
  'agent-missing': { tag: '', finds: ['agent-missing'] },
  'agent-twice': { head: tag(endpoint), finds: ['agent-twice'] },
  'agent-inert': { tag: tag(`type="text/plain" ${endpoint}`), finds: ['agent-inert'] },
  'agent-second': { before: '<script src="/app.js"></script>', finds: ['agent-late'] },
  'agent-in-body': { tag: '', body: tag(endpoint), finds: ['agent-late'] },
  'agent-defer': { tag: tag(`defer ${endpoint}`), finds: ['agent-deferred'] },
  'agent-async': { tag: tag(`async ${endpoint}`), finds: ['agent-deferred'] },
  'agent-module': { tag: tag(`type="module" ${endpoint}`), finds: ['agent-module'] },
  'agent-module-that-the-page-starts': {
    tag: tag('type="module"'), options: ['--endpoint', '/v1/ingest/pk_shop'], finds: ['agent-deferred'],
  },
  'agent-turned-off': { tag: tag(`${endpoint} data-profile="false"`) },
  'agent-profile-word': { tag: tag(`${endpoint} data-profile="off"`), finds: ['agent-option'] },
  'agent-share-in-percent': { tag: tag(`${endpoint} data-vitals-sample="50"`), finds: ['agent-option'] },
  'agent-interval-of-nothing': { tag: tag(`${endpoint} data-sample-interval="0"`), finds: ['agent-option'] },
  'agent-no-endpoint': { tag: tag(''), finds: ['agent-no-endpoint'] },
  'agent-misspelt': { tag: tag('data-end-point="/v1/ingest/pk_shop"'), finds: ['agent-option', 'agent-no-endpoint'] },
  'agent-bad-value': { tag: tag(`${endpoint} data-sample-interval="10ms"`), finds: ['agent-option'] },
  'agent-404': { tag: `<script src="/old/fleetprof-0.0.9.js" ${endpoint}></script>`, finds: ['agent-not-served'] },
  'agent-renamed': { tag: `<script src="/app-agent.js" ${endpoint}></script>`, finds: ['agent-renamed'] },
  'agent-sha256': { tag: tag(`integrity="sha256-AAAA" ${endpoint}`), finds: ['agent-integrity'] },
  'agent-sha512': { tag: tag(`integrity="sha512-AAAA ${integrity('sha384')}" ${endpoint}`), finds: ['agent-integrity'] },
  'agent-integrity': { tag: tag(`integrity="sha384-AAAA" ${endpoint}`), finds: ['agent-integrity'] },
  'csp-script': { csp: { scriptSrc: ["'none'"] }, finds: ['csp-script'] },
  'csp-nonce-missing': { csp: { scriptSrc: ["'nonce-abc'", "'strict-dynamic'"] }, finds: ['csp-script'] },
  'csp-connect': { csp: { connectSrc: ['https://api.example'] }, finds: ['csp-connect'] },
  'csp-default': { csp: { defaultSrc: ["'none'"], scriptSrc: ["'self'"], connectSrc: null }, finds: ['csp-connect'] },
  'csp-meta': {
    head: '<meta http-equiv="Content-Security-Policy" content="connect-src \'none\'">', finds: ['csp-connect'],
  },
  'csp-sandbox': { csp: { sandbox: ['allow-scripts'] }, finds: ['csp-sandbox'] },
  'script-blind': { head: '<script src="OTHER/open.js"></script>', finds: ['script-blind'] },
  'script-blocked': { head: '<script src="OTHER/app.js" crossorigin></script>', finds: ['script-blocked', 'timing-hidden'] },
  'script-hidden': { head: '<script src="OTHER/hidden.js" crossorigin></script>', finds: ['timing-hidden'] },
  'script-moved': { head: '<script src="/moved.js"></script>', finds: ['script-blind'] },
  'script-404': { head: '<script src="/nothing.js"></script>', finds: ['script-unreachable'] },
  'script-minified': { head: '<script src="/minified.js"></script>', finds: ['source-map-missing'] },
  'script-map-404': { head: '<script src="/mapped.js"></script>', finds: ['source-map-unreachable'] },
  'page-shared-worker': { body: '<script>new SharedWorker("/w.js")</script>', finds: ['worker'] },
  'page-worker': { body: '<script>new Worker("/w.js")</script>', finds: ['worker'] },
  // httpd has no limit for proxied bodies.
  'body-limit': { ingest: 'small', finds: ['body-limit'] },
  'page-sometimes': { status: 503, sometimes: 'status', options: ['--repeat', '4'], finds: ['page-unsteady'] },
  'decision-sometimes': {
    off: true, fields: { 'Document-Policy': 'js-profiling=?0', 'Server-Timing': 'fleetprof;desc="0"' }, sometimes: 'fields',
    options: ['--repeat', '4'], finds: ['decision-sometimes', 'rate-zero'],
  },
  revalidation: {
    off: true, bare304: true,
    fields: {
      ETag: '"1"', 'Document-Policy': 'js-profiling',
      'Server-Timing': `fleetprof;desc="1.${Math.floor(Date.now() / 1000)}.AAECAwQFBgcICQoL"`,
    },
    options: ['--repeat', '1'],
    finds: ['revalidation-keeps-yes'],
  },
  direct: {
    off: true, fields: { 'Document-Policy': 'js-profiling=?0', 'Server-Timing': 'fleetprof;desc="0"' },
    nginx: 'proxy_hide_header Document-Policy; proxy_hide_header Server-Timing;',
    options: ['--direct', 'APP'], finds: ['direct-differs', 'policy-missing'],
  },
  tls: { tls: true },
  'tls-mixed': {
    tls: true, tag: tag('data-endpoint="INGEST/v1/ingest/pk_shop"'), csp: { connectSrc: ['http:', 'https:'] },
    head: '<script src="OTHER/open.js" crossorigin></script>', finds: ['endpoint-mixed', 'script-mixed'],
  },
  'cors-hidden': { nginx: 'proxy_hide_header Access-Control-Allow-Origin;' },
  'endpoint-cors': {
    tag: tag('data-endpoint="http://cors-hidden.localhost:PORT/v1/ingest/pk_shop"'), csp: { connectSrc: ['http:'] },
    options: ['--endpoint', 'http://cors-hidden.localhost:PORT/v1/ingest/pk_shop'], finds: ['endpoint-cors', 'preflight'],
  },
  'no-options': { nginx: 'if ($request_method = OPTIONS) { return 405; }' },
  preflight: {
    tag: tag('data-endpoint="http://no-options.localhost:PORT/v1/ingest/pk_shop"'), csp: { connectSrc: ['http:'] },
    options: ['--endpoint', 'http://no-options.localhost:PORT/v1/ingest/pk_shop'], finds: ['preflight'],
  },
  'collector-old': { nginx: 'proxy_hide_header Fleetprof-Dry-Run;', finds: ['collector-old'] },
  'upload-blocked': { nginx: 'set $no_type $request_method$content_type; if ($no_type = POST) { return 403; }', finds: ['upload-refused'] },
  'key-unknown': { key: 'pk_shopp', finds: ['key-unknown'] },
  'origin-refused': { finds: ['origin-refused'] },
  'endpoint-path': { tag: tag('data-endpoint="/v1/ingest/pk_shop/upload"'), finds: ['endpoint-path'] },
  'endpoint-nobody': {
    tag: tag('data-endpoint="http://127.0.0.1:1/v1/ingest/pk_shop"'), csp: { connectSrc: ['http:'] },
    options: ['--endpoint', 'http://127.0.0.1:1/v1/ingest/pk_shop'], finds: ['endpoint-unreachable'],
  },
  'endpoint-elsewhere': { tag: tag('data-endpoint="INGEST/v1/ingest/pk_shop"'), csp: { connectSrc: ['http:'] }, finds: ['endpoint-elsewhere'] },
  'budget-spent': { key: 'pk_poor', finds: ['budget-spent'] },
};
