// SPDX-License-Identifier: Apache-2.0
/**
 * The part of the shop's page loads that arrives, by how the page ends, behind each web server and in a real database:
 * `FLEETPROF_LONG=1` runs it and prints a table. It is compared with what the pages know of themselves.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';

import { freePort, startCollector, startPostgres, waitFor } from '../behaviour/stack.mjs';
import { keep, startShop, stopAll, within } from '../site/shop.mjs';
import { isGzip } from './agent_site.mjs';
import { launchChromium, openHideableTab } from './chromium.mjs';
import { delivery, isHere, judge, witness } from './witness.mjs';

/**
 * @typedef {import('playwright-core').Browser} Browser
 * @typedef {import('playwright-core').Page} Page
 *
 * @typedef {object} Ending
 * @property {string} name the host's
 * @property {string} what
 * @property {boolean} [forgets] in the browser without back/forward cache
 * @property {boolean} [hangs] its load event never comes
 * @property {number} stayMs how long the visitor stays
 * @property {(page: Page, elsewhere: string) => Promise<unknown>} [end] none: the tab is hidden
 */

/** @type {Ending[]} */
const endings = [
  { name: 'stayed', what: 'stays, profiling is stopped', stayMs: 3000,
    end: (page) => page.evaluate('tell("stopped"), fleetprof.start().stop()') },
  { name: 'hidden', what: 'turns to another tab', stayMs: 2500 },
  { name: 'link', what: 'leaves by a link, page kept alive', stayMs: 2500, end: (page, elsewhere) => page.goto(elsewhere) },
  { name: 'leftdead', what: 'leaves by a link', forgets: true, stayMs: 2500, end: (page, elsewhere) => page.goto(elsewhere) },
  // Out of the cache there is no load event.
  { name: 'back', what: 'goes back', stayMs: 1500, end: (page) => page.goBack({ waitUntil: 'commit' }) },
  { name: 'reloaded', what: 'reloads', stayMs: 2000, end: async (page) => {
    await page.evaluate(() => history.replaceState(null, '', '?rate=0/1'));
    await page.reload();
  } },
  { name: 'bounced', what: 'closes the tab after 1 s', stayMs: 1000, end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'closed', what: 'closes the tab after 3.5 s', stayMs: 3500, end: (page) => page.close({ runBeforeUnload: true }) },
  { name: 'hung', what: 'closes the tab during load', hangs: true, stayMs: 3000,
    end: (page) => page.close({ runBeforeUnload: true }) },
];

/** Rates as the URL has them, and how many page loads each gets. */
const rates = [{ rate: '1/1', ppm: 1_000_000, loads: 3 }, { rate: '1/10', ppm: 100_000, loads: 2 }];
/** More at once would measure how the browser shares out the processors. */
const atOnce = 2;
const visitLimitMs = 120_000;

const long = process.env.FLEETPROF_LONG === '1';

/** @type {Browser} */
let browser;
/** Without back/forward cache. @type {Browser} */
let forgetful;
/** @type {import('../behaviour/stack.mjs').Postgres} */
let postgres;
/** @type {import('../site/shop.mjs').Shop} */
let shop;
/** Uploads that the collector has accepted. @type {any[]} */
let accepted = [];

before(async () => {
  if (!long) return;
  const port = await freePort();
  const gate = await keep(openGate(port), ({ close }) => close());
  postgres = await keep(startPostgres({ migrated: true }), (started) => started.stop());
  /** @type {import('../site/servers.mjs').Host[]} */
  const hosts = [...endings.map(({ name, hangs }) => ({
    name, settings: ['fleetprof_sample $arg_rate'],
    app: { hangs, witness: witness('/statements'), agent: { 'data-after-load': undefined } },
  })), { name: 'elsewhere', off: true }];
  shop = await startShop(hosts, gate.url);
  /** @param {import('playwright-core').LaunchOptions} options */
  const launch = (options) => keep(launchChromium(shop.flags, { whole: true, ...options }), (started) => started.close());
  browser = await launch({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  forgetful = await launch({});
  await keep(startCollector({ config: {
    listen: `127.0.0.1:${port}`, database: postgres.conninfo('fleetprof_writer'),
    sites: [{
      name: 'shop', key: 'pk_shop', require_token: true, token_keys: [shop.tokenKey],
      origins: shop.servers.flatMap(({ origin }) => hosts.map(({ name }) => origin(name))),
    }],
  } }), (started) => started.stop());
}, { timeout: 120_000 });

after(stopAll, { timeout: 120_000 });

/**
 * Opens what stands between the web servers and the collector, and keeps a copy of what is accepted.
 * @param {number} port the collector's
 */
async function openGate(port) {
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const { method, url: path, headers } = request;
    http.request({ host: '127.0.0.1', port, method, path, headers }, (reply) => {
      if (reply.statusCode === 204 && method === 'POST') accepted.push(JSON.parse(String(isGzip(body) ? gunzipSync(body) : body)));
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    }).on('error', () => response.destroy()).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${own}`, close: () => { server.close(); server.closeAllConnections(); } };
}

/**
 * Loads a page once and lets it end.
 * @param {Ending} ending @param {string} url @param {string} elsewhere
 * @returns {Promise<() => Promise<void>>} closes what is left of it
 */
async function visit({ end, forgets, hangs, stayMs }, url, elsewhere) {
  if (!end) {
    const tab = await openHideableTab(browser, url);
    await waitFor(() => shop.app.statements.some((text) => text.includes(url)), { what: `load of ${url}`, timeoutMs: visitLimitMs });
    await delay(stayMs);
    await tab.switchAway();
    return tab.close;
  }
  const context = await (forgets ? forgetful : browser).newContext();
  context.setDefaultTimeout(visitLimitMs);
  const page = await context.newPage();
  await page.goto(elsewhere);
  await page.goto(url, { waitUntil: hangs ? 'commit' : 'load' });
  // How long a visitor stays is what is measured.
  await page.evaluate((ms) => new Promise((resolve) => { setTimeout(resolve, ms); }), stayMs);
  await end(page, elsewhere);
  return () => context.close();
}

/** @param {string} url @returns {import('./witness.mjs').Report[]} */
const told = (url) => shop.app.statements.map((text) => JSON.parse(text)).filter((report) => report.url === url);

/** The parts of the page load whose token the server made for this URL: the agent does not send queries. */
const partsOf = (/** @type {string} */ url) => {
  const loads = new Set(told(url).map(({ load }) => load));
  return accepted.filter(({ load }) => loads.has(load));
};

const options = { skip: !long && 'FLEETPROF_LONG=1 runs it', timeout: 1_200_000 };
test('of what a page recorded until 100 ms before its end, 99 % is in the database, whatever ends it', options, async () => {
  let number = 0;
  const visits = shop.servers.flatMap((server) => endings.flatMap((ending) => rates.flatMap(({ rate, loads }) => (
    Array.from({ length: loads }, () => ({ server, ending, rate, url: `${server.origin(ending.name)}/?rate=${rate}&visit=${++number}` }))))));
  const waiting = [...visits];
  /** @type {(() => Promise<void>)[]} */
  const open = [];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      open.push(await within(visit(next.ending, next.url, `${next.server.origin('elsewhere')}/`), 'end of a visit', 2 * visitLimitMs));
      // Ended pages stay for a while: an upload that is still to come gets its time.
      if (open.length > 10) await within(/** @type {() => Promise<void>} */ (open.shift())(), 'end of a tab');
    }
  }));

  const sampled = visits.filter(({ server, ending, url }) => {
    const query = new URL(url).search;
    const lines = server.accessLog(ending.name).filter((line) => line.includes(`"GET /${query} `));
    assert.equal(lines.length, 1, url);
    return lines[0].includes(' sampled=1 ');
  });
  const deliveryOf = (/** @type {{ url: string }} */ { url }) => delivery(told(url), partsOf(url));
  await waitFor(() => sampled.every((one) => isHere(deliveryOf(one))), { what: 'parts', timeoutMs: 30_000 }).catch(() => {});
  await Promise.all(open.map((close) => within(close(), 'end of a tab')));

  const rowOf = (/** @type {any} */ { load }) => visits.find(({ url }) => told(url).some((report) => report.load === load));
  for (const upload of accepted) assert.ok(sampled.includes(/** @type {any} */ (rowOf(upload))), 'an upload of no sampled page load');
  judge(shop.servers.flatMap((server) => endings.map(({ name, what }) => /** @type {[string, any[]]} */ ([
    `${what}, ${server.name}`, sampled.filter((one) => one.server === server && one.ending.name === name).map(deliveryOf),
  ]))));

  const counted = () => postgres.sql(`
    select environment, release, round(sample_rate * 1000000)::integer as ppm, count(*) as uploads, count(distinct load_id) as loads,
      sum(samples)::integer as samples
    from fleetprof.upload_log join fleetprof.segment using (segment_id, environment, release)
    group by 1, 2, 3
    order by 1, 2, 3`, 'fleetprof_reader');
  await waitFor(async () => (await counted()).reduce((sum, { uploads }) => sum + Number(uploads), 0) === accepted.length,
    { what: `${accepted.length} uploads in SQL` });
  /** @type {Record<string, { uploads: number, loads: Set<string>, samples: number }>} */
  const expected = {};
  for (const upload of accepted) {
    const { server, ending, rate } = /** @type {typeof visits[number]} */ (rowOf(upload));
    const key = [server.name, ending.name, rates.find((one) => one.rate === rate)?.ppm].join(' ');
    const sum = expected[key] ??= { uploads: 0, loads: new Set(), samples: 0 };
    sum.uploads++;
    sum.loads.add(upload.load);
    sum.samples += upload.trace.samples.length;
  }
  const rows = (await counted()).map(({ environment, release, ppm, uploads, loads, samples }) => (
    [`${environment} ${release} ${ppm}`, Number(uploads), Number(loads), samples]));
  assert.deepEqual(rows, Object.entries(expected).map(([key, { uploads, loads, samples }]) => [key, uploads, loads.size, samples]).sort(),
    'uploads, page loads and samples, each once, at the verified rate');
});
