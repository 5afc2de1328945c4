// SPDX-License-Identifier: Apache-2.0
/**
 * Mistakes that people make when they set fleetprof up on a site, one host per mistake: something that they read
 * has to name it. Mistakes that no server of ours can see must be named on the console under `data-debug`.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { configuration, httpdCommand, openDir } from '../behaviour/httpd/httpd.mjs';
import { moduleFile } from '../behaviour/nginx/nginx.mjs';
import { freePort, run, startCollector, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { siteServers } from '../site/servers.mjs';
import { keep, startShop, stopAll } from '../site/shop.mjs';
import { openVisitor } from '../site/visitor.mjs';
import { launchChromium } from './chromium.mjs';

/**
 * @typedef {import('../site/servers.mjs').Host} Host
 *
 * @typedef {object} Mistake
 * @property {string} name
 * @property {Host} host
 * @property {Tells} tells
 * @property {string} [only] the server that can be set up so
 *
 * Where it is named, each with what is to be found there.
 * @typedef {object} Tells
 * @property {RegExp} [error] the web server's error log at the default level
 * @property {RegExp} [access] the access log
 * @property {RegExp} [console] the visitor's console
 * @property {[site: string, reason: string]} [refused] the collector's metric; its log has the same words
 */

const debug = { 'data-debug': '' };
const notPicked = /info: fleetprof: .*did not pick this page load/;
const noDecision = /info: fleetprof: no Server-Timing entry fleetprof/;

/** @param {string} directive @param {string} value @returns {import('../site/app.mjs').Options} */
const withCsp = (directive, value) => ({ csp: { [directive]: [value] }, agent: debug });

/** @type {Mistake[]} */
const mistakes = [
  { name: 'the application says js-profiling=?0', host: { name: 'no', app: { policy: 'js-profiling=?0' } },
    tells: { access: / reason=upstream /, console: notPicked } },
  { name: "the application's policy cannot be parsed", host: { name: 'unparsable', app: { policy: 'force-load-at-top,' } },
    tells: { access: / reason=unparsable /, error: /"Document-Policy" is not a structured-field dictionary/ } },
  { name: 'an outer proxy drops Document-Policy', host: { name: 'nopolicy', outer: { host: 'good', hides: 'Document-Policy' } },
    tells: { console: /info: fleetprof: the browser refused to profile/ } },
  { name: 'an outer proxy drops Server-Timing', host: { name: 'notiming', outer: { host: 'good', hides: 'Server-Timing' } },
    tells: { console: noDecision } },
  { name: 'connect-src forbids the endpoint', host: { name: 'connect', app: withCsp('connect-src', "'none'") },
    tells: { console: /Content Security Policy[^]*info: fleetprof: no answer from .*Content-Security-Policy/ } },
  { name: 'script-src forbids the agent',
    host: { name: 'script', app: { agent: { ...debug, src: 'https://cdn.example/fleetprof.js' } } },
    tells: { console: /cdn\.example.*violates[^]*Content Security Policy/ } },
  { name: 'the key is wrong', host: { name: 'key', app: { agent: { 'data-endpoint': '/v1/ingest/pk_shpo' } } },
    tells: { refused: ['', 'unknown_key'], console: /not accepted after 1 of \d+ attempts: 403/ } },
  { name: "the page's origin is not listed", host: { name: 'stranger' },
    tells: { refused: ['shop', 'origin'], console: /not accepted after 1 of \d+ attempts: 403/ } },
  { name: 'fleetprof on is forgotten', host: { name: 'forgotten', off: true },
    tells: { access: / reason=(off|-) /, console: noDecision } },
  { name: 'the rate is 0 %', host: { name: 'zero', settings: ['fleetprof_sample 0%'] },
    tells: { access: / sampled=0 .*reason=rate /, console: notPicked } },
  { name: "the rate's variable is not a rate", host: { name: 'rate', settings: ['fleetprof_sample $arg_rate'] },
    tells: { access: / reason=bad_rate /, error: /invalid rate "often"/i, console: notPicked } },
  { name: 'shared caches may store the pages', host: { name: 'public', app: { cacheControl: 'public, max-age=300' } },
    tells: { access: / reason=cacheable /, console: notPicked } },
  { name: "the proxy cuts the uploads' path", host: { name: 'cut', cut: true },
    tells: { refused: ['', 'path'], console: /not accepted after 1 of \d+ attempts: 404/ } },
  { name: 'no location for uploads, the application answers 404', host: { name: 'missing', ingest: null },
    tells: { access: /"POST \/v1\/ingest\/pk_shop \S+" 404 /, console: /not accepted after 1 of \d+ attempts: 404/ } },
  { name: 'no location for uploads, the application answers a page',
    host: { name: 'fallback', ingest: null, app: { fallback: true } },
    tells: { access: /"POST \/v1\/ingest\/pk_shop \S+" 200 /, console: /200, but a collector answers 204/ } },
  { name: 'tokens are demanded, the web server has no key', host: { name: 'unsigned', unsigned: true },
    tells: { refused: ['shop', 'token_missing'] } },
  { name: 'web server and collector name the site differently', host: { name: 'other', settings: ['fleetprof_site store'] },
    tells: { refused: ['shop', 'token_forged'] } },
  { name: 'the endpoint is misspelt',
    host: { name: 'misspelt', app: { agent: { 'data-endpoint': undefined, 'data-endpiont': '/v1/ingest/pk_shop' } } },
    tells: { console: /no data-endpoint among [^]*endpiont/ } },
  { name: 'the collector is not running', host: { name: 'down', ingest: 'http://127.0.0.1:1' },
    tells: { error: /connect\(\) failed|attempt to connect to 127\.0\.0\.1:1 .* failed/, console: /50[23].*again in/ } },
  { name: "the web server's limit on bodies is too low", host: { name: 'body', bodyLimit: 100 }, only: 'nginx',
    tells: { error: /client intended to send too large body/, console: /413/ } },
];

/** The inner one of two tiers; nothing is wrong with it. @type {Host} */
const good = { name: 'good' };
const hosts = [good, ...mistakes.map(({ host }) => host)];
for (const host of hosts) host.app = { ...host.app, agent: { ...debug, ...host.app?.agent } };

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Collector} */
let collector;
/** @type {import('../site/servers.mjs').SiteServer[]} */
let servers;

before(async () => {
  const port = await freePort();
  const shop = await startShop(hosts, `http://127.0.0.1:${port}`);
  servers = shop.servers;
  browser = await keep(launchChromium(shop.flags), (started) => started.close());
  const origins = servers.flatMap(({ origin }) => (
    hosts.filter(({ name }) => name !== 'stranger').map(({ name }) => origin(name))));
  // The spool takes what comes: no mistake here is the database's.
  collector = await keep(startCollector({ config: {
    listen: `127.0.0.1:${port}`, database: 'host=/nonexistent dbname=fleetprof',
    sites: [{ name: 'shop', key: 'pk_shop', require_token: true, token_keys: [shop.tokenKey], origins }],
  } }), (started) => started.stop());
}, { timeout: 120_000 });

after(stopAll, { timeout: 120_000 });

for (const { name, missing } of siteServers) {
  describe(`behind ${name}, something names the mistake:`, { skip: missing, concurrency: 3 }, () => {
    for (const { name: mistake, host, tells, only = name } of mistakes) {
      test(mistake, { skip: only !== name && `${name} has no such setting`, timeout: 120_000 }, async () => {
        const server = /** @type {typeof servers[number]} */ (servers.find((one) => one.name === name));
        const metric = tells.refused
          && `fleetprof_uploads_refused_total{site="${tells.refused[0]}",reason="${tells.refused[1]}"}`;
        const refused = async () => (metric ? (await collector.metrics())[metric] ?? 0 : 0);
        const refusedBefore = await refused();
        const visitor = await openVisitor(browser);
        await visitor.load((page) => page.goto(`${server.origin(host.name)}/?rate=often`));

        /** @param {RegExp | undefined} what @param {string} where @param {() => string} text */
        const untilNamed = async (what, where, text) => {
          if (!what) return;
          await waitFor(() => what.test(text()), { what: `${what} in the ${where}` }).catch((error) => {
            throw new Error(`${error.message}; there is:\n${text().slice(-2000)}`);
          });
        };
        await untilNamed(tells.console, 'console', () => visitor.lines().join('\n'));
        await untilNamed(tells.access, 'access log', () => server.accessLog(host.name).join('\n'));
        await untilNamed(tells.error, 'error log', () => server.errorLog());
        if (metric) {
          await waitFor(async () => await refused() > refusedBefore, { what: metric });
          const [site, reason] = /** @type {[string, string]} */ (tells.refused);
          await untilNamed(new RegExp(`uploads refused.*site=${site || '\\S*'} reason=${reason} `), "collector's log",
            () => collector.server.output());
        }
        await visitor.close();
      });
    }
  });
}

test('nginx does not start with fleetprof on and without a rate', async () => {
  const dir = temporaryDir('nginx');
  /** @param {string} module @param {string} lines */
  const check = async (module, lines) => {
    fs.writeFileSync(`${dir}/nginx.conf`, `${module}\npid ${dir}/pid;\nevents {}\nhttp { ${lines} server { listen 127.0.0.1:1; } }\n`);
    return run(['nginx', '-t', '-e', 'stderr', '-p', dir, '-c', `${dir}/nginx.conf`]);
  };
  const forgotten = await check(`load_module ${moduleFile};`, 'fleetprof on;');
  assert.notEqual(forgotten.code, 0);
  assert.match(forgotten.stderr, /fleetprof_sample/);
  const notLoaded = await check('', 'fleetprof on; fleetprof_sample 1%;');
  assert.notEqual(notLoaded.code, 0);
  assert.match(notLoaded.stderr, /unknown directive "fleetprof"/);
});

test('httpd does not start with FleetProf on and without a rate', async () => {
  const dir = openDir('httpd');
  const { code, stderr } = await run([...httpdCommand(dir, configuration({ dir, port: 1, conf: 'FleetProf on' })), '-t']);
  assert.notEqual(code, 0);
  assert.match(stderr, /FleetProfSample/);
});
