// SPDX-License-Identifier: Apache-2.0
/**
 * A site as people have them, in Chromium: Express with helmet, React rendered on the server and hydrated, bundles
 * with hashed names, a worker, service workers, TLS and HTTP/2, behind nginx and behind httpd, with a real collector
 * and PostgreSQL behind those. Pages that are not sampled must be silent, nobody stays sampled, and no upload is lost.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import https from 'node:https';
import { after, before, describe, test } from 'node:test';

import { freePort, startCollector, startPostgres, waitFor } from '../behaviour/stack.mjs';
import { ownTiming } from '../site/app.mjs';
import { siteServers } from '../site/servers.mjs';
import { keep, startShop, stopAll } from '../site/shop.mjs';
import { mayProfile, openVisitor } from '../site/visitor.mjs';
import { launchChromium } from './chromium.mjs';

/**
 * @typedef {import('../site/servers.mjs').SiteServer} SiteServer
 * @typedef {import('../site/visitor.mjs').Visitor} Visitor
 *
 * @typedef {object} Variant a way in which a page can come out of a cache
 * @property {boolean} [long] only with `FLEETPROF_LONG=1`
 * @property {boolean} [alike] what it adds to the others is the browser's part: without `FLEETPROF_LONG=1`, behind one
 *   server only
 * @property {import('../site/servers.mjs').Host} host
 * @property {number[]} reloads what two reloads at 0 % are answered with; none: by no server at all
 */

const revalidate = 'private, no-cache';
const ownPolicy = 'force-load-at-top, *;report-to=default';

/** @type {Variant[]} */
const allVariants = [
  { alike: true, host: { name: 'none', app: { cacheControl: 'no-store' } }, reloads: [200, 200] },
  { host: { name: 'file', pages: 'files', cacheControl: revalidate }, reloads: [304, 304] },
  { long: true, host: { name: 'stored', app: { cacheControl: 'private, max-age=600' } }, reloads: [200, 304] },
  { host: { name: 'proxied', app: { cacheControl: revalidate, policy: ownPolicy } }, reloads: [200, 304] },
  { long: true, host: { name: 'silent', app: { cacheControl: revalidate } }, reloads: [200, 304] },
  { host: { name: 'send', app: { cacheControl: revalidate }, settings: ['fleetprof_not_modified send'] },
    reloads: [304, 304] },
  { host: { name: 'cached', pages: 'cached' }, reloads: [200, 304] },
  { alike: true, host: { name: 'passfile', pages: 'files', cacheControl: revalidate, app: { serviceWorker: 'pass' } },
    reloads: [304, 304] },
  { alike: true, host: { name: 'passsend', app: { cacheControl: revalidate, serviceWorker: 'pass' },
    settings: ['fleetprof_not_modified send'] }, reloads: [304, 304] },
  { long: true, host: { name: 'passcached', pages: 'cached', app: { serviceWorker: 'pass' } }, reloads: [200, 304] },
  { alike: true, host: { name: 'first', app: { cacheControl: revalidate, serviceWorker: 'first' } }, reloads: [] },
];
const isLong = process.env.FLEETPROF_LONG === '1';
const variants = allVariants.filter(({ long }) => isLong || !long);

/** @type {import('../site/servers.mjs').Host[]} */
const otherHosts = [
  { name: 'whole', app: { policy: ownPolicy } },
  { name: 'zero', app: { policy: ownPolicy }, settings: ['fleetprof_sample 0%'] },
  { name: 'zerofile', pages: 'files', cacheControl: revalidate, settings: ['fleetprof_sample 0%'] },
  { name: 'tenth', settings: ['fleetprof_sample 10% key=$cookie_visitor'] },
  { name: 'fallback', ingest: null, app: { fallback: true } },
];

const outageMs = 30_000;
const outagePages = 3;

/** For each test: nothing that it waits for in a page has a bound of its own. */
const bound = { timeout: 300_000 };

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Postgres} */
let postgres;
/** The collector that is away while the outage lasts, as it was configured. @type {Record<string, unknown>} */
let unsteady;
/** @type {import('../site/app.mjs').App} */
let app;
/** @type {SiteServer[]} */
let servers;

before(async () => {
  const [port, awayPort] = [await freePort(), await freePort()];
  const hosts = [...variants.map(({ host }) => host), ...otherHosts,
    { name: 'outage', ingest: `http://127.0.0.1:${awayPort}` }];
  const starting = keep(startPostgres({ migrated: true }), (started) => started.stop());
  const [shop] = await Promise.all([startShop(hosts, `http://127.0.0.1:${port}`), starting]);
  ({ app, servers } = shop);
  postgres = await starting;
  browser = await keep(launchChromium([...shop.flags, '--short-reporting-delay'], { whole: true }), (started) => started.close());
  const settings = {
    database: postgres.conninfo('fleetprof_writer'),
    sites: [{
      name: 'shop', key: 'pk_shop', require_token: true, token_keys: [shop.tokenKey],
      origins: servers.flatMap(({ origin }) => hosts.map(({ name }) => origin(name))),
    }],
  };
  await keep(startCollector({ config: { ...settings, listen: `127.0.0.1:${port}` } }), (started) => started.stop());
  unsteady = { ...settings, listen: `127.0.0.1:${awayPort}` };
}, { timeout: 120_000 });

after(stopAll, { timeout: 120_000 });

/**
 * How many page loads of a host were counted, and at which rate. What comes late is an upload of its own: vitals that grew, marks.
 * @param {string} environment the server
 * @param {string} release the host
 * @returns {Promise<{ loads: number, rates: (number | null)[] }>}
 */
async function counted(environment, release) {
  const [row] = await postgres.sql(`
    select count(distinct load_id) as loads, coalesce(json_agg(distinct sample_rate), '[]') as rates
    from fleetprof.upload_log join fleetprof.segment using (segment_id)
    where upload_log.environment = '${environment}' and upload_log.release = '${release}'`, 'fleetprof_reader');
  return row;
}

/** @param {string} environment @param {string} release @param {number} loads */
async function untilCounted(environment, release, loads) {
  await waitFor(async () => (await counted(environment, release)).loads >= loads,
    { what: `${loads} page loads of ${release} in SQL` });
  return counted(environment, release);
}

/** Waits until as many uploads have been answered. @param {Visitor} visitor @param {number} uploads */
const untilUploaded = (visitor, uploads) => waitFor(() => visitor.uploads().length >= uploads,
  { what: `${uploads} uploads` });

/** @param {string} url */
const goto = (url) => (/** @type {import('playwright-core').Page} */ page) => page.goto(url);
/** @param {import('playwright-core').Page} page */
const reload = (page) => page.reload();
/** @param {import('playwright-core').Page} page */
const back = (page) => page.goBack();

/** Follows a link. @param {string} href */
const follow = (href) => async (/** @type {import('playwright-core').Page} */ page) => {
  await Promise.all([page.waitForNavigation(), page.click(`a[href="${href}"]`)]);
};

/**
 * Nothing on the console, no report, no profiler.
 * @param {import('../site/visitor.mjs').Load} load
 * @param {string} what
 */
function assertLetGo(load, what) {
  const { profilers, violations, lines, decision } = load;
  assert.deepEqual({ profilers, violations, lines }, { profilers: 0, violations: 0, lines: [] },
    `${what}, told ${decision}`);
}

/**
 * Whether a visitor is one of the 10 %, as a request without a browser tells.
 * @param {SiteServer} server
 * @param {string} visitor
 */
async function isSampled({ origin, port }, visitor) {
  const { host } = new URL(origin('tenth'));
  const request = https.get({ host: '127.0.0.1', port, servername: host.split(':')[0], rejectUnauthorized: false,
    headers: { host, cookie: `visitor=${visitor}` } });
  const [response] = await once(request, 'response', { signal: AbortSignal.timeout(20_000) });
  response.resume();
  return response.headers['document-policy'].includes('js-profiling,');
}

describe('a real site', { concurrency: true }, () => {
  for (const { name, missing } of siteServers) {
    describe(`behind ${name}`, { skip: missing, concurrency: false }, () => {
      /** @type {SiteServer} */
      let server;

      before(() => { server = /** @type {SiteServer} */ (servers.find((one) => one.name === name)); });

      test("a sampled load is counted with its token's rate, and the application's fields survive", bound, async () => {
        const visitor = await openVisitor(browser);
        const load = await visitor.load(goto(`${server.origin('whole')}/product/1/`));
        const { lines, profilers, timing, decision, response } = load;
        assert.deepEqual({ lines, profilers }, { lines: [], profilers: 1 });
        assert.deepEqual(timing.sort(), ['app', 'db', 'fleetprof']);
        assert.match(String(decision), /^v1\.[0-9a-f]{8}\.shop\.1000000\./);
        const fields = response?.fields ?? {};
        assert.equal(fields['document-policy'], `${ownPolicy}, js-profiling, js-profiling-mode=lazy`);
        assert.ok(fields['server-timing'].split('\n').includes(ownTiming), fields['server-timing']);
        const direct = await fetch(`${app.url}/product/1/`);
        for (const field of ['content-security-policy', 'cross-origin-opener-policy', 'strict-transport-security']) {
          assert.equal(fields[field], direct.headers.get(field), field);
        }
        await untilUploaded(visitor, 1);
        assert.deepEqual(visitor.uploads(), [204]);
        assert.deepEqual(await untilCounted(name, 'whole', 1), { loads: 1, rates: [1] });
        await visitor.close();
      });

      for (const host of ['zero', 'zerofile']) {
        test(`unsampled pages are silent: ${host}`, bound, async () => {
          const visitor = await openVisitor(browser);
          assertLetGo(await visitor.load(goto(server.origin(host))), 'the first page');
          assertLetGo(await visitor.load(follow('/product/1/')), 'a link');
          assertLetGo(await visitor.load(reload), 'a reload');
          assertLetGo(await visitor.load(back), 'back');
          assert.deepEqual(await visitor.page.evaluate(async () => {
            const { fleetprof } = /** @type {any} */ (globalThis);
            return [await fleetprof.start({}).stop(), performance.getEntriesByType('resource').length > 0];
          }), [false, true]);
          await visitor.close();
        });
      }

      test('at 10 % the unsampled are silent, the sampled are counted at 10 %', bound, async () => {
        const url = server.origin('tenth');
        const lots = await Promise.all(Array.from({ length: 100 }, (_, i) => isSampled(server, `v${i}`)));
        const [picked, passed] = [lots.indexOf(true), lots.indexOf(false)];
        for (const i of [picked, passed]) {
          const visitor = await openVisitor(browser, { cookie: { name: 'visitor', value: `v${i}`, url } });
          for (const [visit, leave] of [goto(url), follow('/product/1/'), reload].entries()) {
            const load = await visitor.load(leave);
            if (i === passed) assertLetGo(load, `visitor ${i}`);
            else assert.deepEqual([load.profilers, load.lines], [1, []]);
            if (i === picked) await untilUploaded(visitor, visit + 1);
          }
          assert.deepEqual(visitor.uploads(), i === picked ? [204, 204, 204] : []);
          await visitor.close();
        }
        assert.deepEqual(await untilCounted(name, 'tenth', 3), { loads: 3, rates: [0.1] });
      });

      test("what the tests look at would show an error: a page that tries although it wasn't sampled", bound, async () => {
        const host = `zero.${name}.shop.example`;
        const visitor = await openVisitor(browser);
        await visitor.load(goto(server.origin('zero')));
        const complaint = visitor.page.waitForEvent('console');
        assert.equal(await mayProfile(visitor.page), false);
        assert.match((await complaint).text(), /js-profiling is not allowed/);
        await waitFor(() => visitor.page.evaluate(() => /** @type {any} */ (globalThis).seen.violations === 1),
          { what: 'report to ReportingObserver' });
        // Reports of the pages before it would have arrived before this one.
        const reports = () => app.reports.filter((report) => report.host === host);
        await waitFor(() => reports().length > 0, { what: 'report at the endpoint' });
        assert.deepEqual(reports().map(({ type }) => type), ['document-policy-violation']);
        await visitor.close();
      });

      test('an application that answers uploads with a page has not accepted them', bound, async () => {
        const visitor = await openVisitor(browser);
        const { profilers } = await visitor.load(goto(server.origin('fallback')));
        assert.equal(profilers, 1);
        const accepted = await visitor.page.evaluate(() => /** @type {any} */ (globalThis).fleetprof.start({}).stop());
        assert.deepEqual([accepted, visitor.uploads()], [false, [200]]);
        await visitor.close();
      });

      describe('sampled once, then the rate is 0 %', { concurrency: 3 }, () => {
        const tried = variants.filter(({ alike }) => isLong || !alike || name === siteServers[0].name);
        /** @type {Map<Variant, Visitor>} */
        const visitors = new Map();
        /** @type {Map<Variant, number>} */
        const uploads = new Map();

        /** Home, a product, and back: both pages are in the caches with their yes. @param {Variant} variant */
        async function getSampled(variant) {
          const visitor = await openVisitor(browser);
          visitors.set(variant, visitor);
          let profilers = 0;
          const load = async (/** @type {Parameters<Visitor['load']>[0]} */ leave) => {
            const seen = await visitor.load(leave);
            profilers += seen.profilers;
            await untilUploaded(visitor, profilers);
            return seen;
          };
          const first = await load(goto(server.origin(variant.host.name)));
          assert.equal(first.profilers, 1, variant.host.name);
          if (variant.host.app?.serviceWorker) {
            await visitor.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
            await load(reload);
          }
          await load(follow('/product/1/'));
          await load(back);
          uploads.set(variant, profilers);
        }

        before(async () => {
          const waiting = [...tried];
          await Promise.all(Array.from({ length: 3 }, async () => {
            for (let variant = waiting.shift(); variant; variant = waiting.shift()) await getSampled(variant);
          }));
          await server.reload('0%');
        }, bound);
        after(() => server.reload('100%'), bound);

        for (const variant of tried) {
          const { host, reloads } = variant;
          test(`${host.name}: a reload, a link and back are let go`, bound, async () => {
            const visitor = /** @type {Visitor} */ (visitors.get(variant));
            const answered = () => server.accessLog(host.name).map((line) => / "GET \/ \S+" (\d+) /.exec(line)?.[1])
              .filter((status) => status !== undefined).map(Number);
            const before_ = answered().length;
            for (const i of [0, 1]) assertLetGo(await visitor.load(reload), `reload ${i + 1}`);
            await waitFor(() => answered().length >= before_ + reloads.length, { what: 'lines in the access log' });
            assert.deepEqual(answered().slice(before_), reloads);
            assertLetGo(await visitor.load(follow('/product/1/')), 'the link');
            assertLetGo(await visitor.load(back), 'back');
            assertLetGo(await visitor.load(follow('/product/73/')), 'a new page');
            assertLetGo(await visitor.load(reload), 'its reload');
            // Not only the agent keeps still: the server refused the policy.
            if (host.app?.serviceWorker !== 'first') assert.equal(await mayProfile(visitor.page), false);
            assert.deepEqual(visitor.uploads(), Array(uploads.get(variant)).fill(204));
            const total = /** @type {number} */ (uploads.get(variant));
            assert.deepEqual(await untilCounted(name, host.name, total), { loads: total, rates: [1] });
            await visitor.close();
          });
        }

        // It runs beside the tests above.
        test('the caches of the server are in use', bound, () =>
          waitFor(() => /cache=.*hit/i.test(server.accessLog('cached').join('\n')), { what: 'a hit', timeoutMs: bound.timeout }));
      });
    });
  }

  test(`a collector that is away for ${outageMs / 1000} s loses no upload of pages that stay open`, bound, async () => {
    const stranded = await Promise.all(servers.flatMap((server) => Array.from({ length: outagePages }, async () => {
      const visitor = await openVisitor(browser);
      const { profilers } = await visitor.load(goto(server.origin('outage')));
      assert.equal(profilers, 1);
      await untilUploaded(visitor, 1);
      const refusedAt = performance.now();
      assert.equal(visitor.uploads()[0], server.name === 'nginx' ? 502 : 503);
      return { visitor, refusedAt };
    })));
    const end = Math.min(...stranded.map(({ refusedAt }) => refusedAt)) + outageMs;
    await waitFor(() => performance.now() >= end, { what: 'end of the outage', timeoutMs: 2 * outageMs });
    await keep(startCollector({ config: unsteady }), (started) => started.stop());
    for (const { visitor } of stranded) {
      await waitFor(() => visitor.uploads().at(-1) === 204, { what: 'accepted upload', timeoutMs: 80_000 });
      await visitor.close();
    }
    for (const { name } of servers) {
      assert.deepEqual(await untilCounted(name, 'outage', outagePages), { loads: outagePages, rates: [1] });
    }
  });
});
