// SPDX-License-Identifier: Apache-2.0
/**
 * Chromium judges the header modules: what they say must be what it does. Each server has the same places,
 * and each page is opened in two browsers: Chromium as it is (`today`), and with the features that it has
 * behind a flag (`tomorrow`): it then heeds js-profiling-mode, if it is new enough to know it, and has Profiler in
 * dedicated workers.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { startUpstream } from '../behaviour/headers/wire.mjs';
import { temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { knowsMode, launchChromium, openTab } from './chromium.mjs';
import { headerServers } from './header_servers.mjs';

/**
 * @typedef {import('playwright-core').Page} Page
 * @typedef {import('../behaviour/headers/cases.mjs').Answer} Answer
 * @typedef {import('./header_servers.mjs').Place & { answer?: Answer, revalidated?: Answer }} Place
 *   answer: what upstream sends for all below it, revalidated: what it sends to a request with If-None-Match
 *
 * @typedef {object} Policy
 * @property {string} name
 * @property {string[]} settings
 * @property {Answer} answer
 * @property {boolean} profiles whether the page may be profiled
 * @property {boolean} [tomorrow] the same by a browser that heeds the mode, where that differs
 * @property {boolean} [loadsAtTop] whether the application's own force-load-at-top is in force
 */

const on = ['fleetprof on', 'fleetprof_sample 100%'];
const unsampled = ['fleetprof on', 'fleetprof_sample 0%'];
const byCookie = ['fleetprof on'];
const overruling = 'fleetprof_conflict local';

const body = '<!doctype html><link rel="icon" href="data:,"><p style="height: 5000px"><p id="below">below</p>';
const xhtml = `<html xmlns="http://www.w3.org/1999/xhtml"><body>${body.replace(/<.*?>/g, '')}</body></html>`;

/**
 * An HTML page with these lines of Document-Policy.
 * @param {...string} lines
 * @returns {Answer & { fields: [string, string][] }}
 */
const page = (...lines) => ({
  fields: [['Content-Type', 'text/html'],
    ...lines.map((line) => /** @type {[string, string]} */ (['Document-Policy', line]))],
  body,
});

/**
 * A page with other fields beside its type.
 * @param {[string, string][]} fields
 */
const pageWith = (...fields) => ({ ...page(), fields: [...page().fields, ...fields] });

/** @type {Policy[]} */
const policies = [
  { name: 'a sampled page', settings: on, answer: page(), profiles: true },
  { name: 'an unsampled page', settings: unsampled, answer: page(), profiles: false },
  { name: 'an unsampled page without a word', settings: [...unsampled, 'fleetprof_unsampled omit'], answer: page(),
    profiles: false },
  { name: 'a page where the module is off', settings: [], answer: page(), profiles: false },
  { name: 'the switch alone', settings: [...on, 'fleetprof_policy js-profiling'], answer: page(), profiles: true },
  { name: 'the mode alone', settings: [...on, 'fleetprof_policy js-profiling-mode=lazy'], answer: page(),
    profiles: false, tomorrow: true },
  { name: 'a switch with a parameter', answer: page(), profiles: true,
    settings: [...on, 'fleetprof_policy "js-profiling;report-to=default" js-profiling-mode=lazy'] },

  { name: "the app's no", settings: on, answer: page('js-profiling=?0'), profiles: false },
  { name: "the app's no, overruled", settings: [...on, overruling], answer: page('js-profiling=?0'), profiles: true },
  { name: "the app's yes", settings: unsampled, answer: page('js-profiling'), profiles: true },
  { name: "the app's yes, overruled", settings: [...unsampled, overruling], profiles: false,
    answer: page('js-profiling, js-profiling-mode=eager') },
  { name: "the app's mode", settings: on, answer: page('js-profiling-mode=eager'), profiles: false, tomorrow: true },
  { name: "the app's mode, overruled", settings: [...unsampled, overruling], answer: page('js-profiling-mode=eager'),
    profiles: false },
  { name: "the app's word is of the wrong type", settings: on, answer: page('js-profiling=1'), profiles: false },
  { name: "the app's word of the wrong type, overruled", settings: [...on, overruling],
    answer: page('js-profiling=true'), profiles: true },
  { name: 'a parameter of that name', settings: on, answer: page('foo;js-profiling'), profiles: true },
  { name: 'a parameter of that name, unsampled', settings: unsampled, answer: page('foo;js-profiling'),
    profiles: false },

  { name: "a member of the app's", settings: on, answer: page('force-load-at-top'), profiles: true, loadsAtTop: true },
  { name: "a member of the app's, unsampled", settings: unsampled, answer: page('force-load-at-top'),
    profiles: false, loadsAtTop: true },
  { name: "a member of the app's, overruled", settings: [...on, overruling], profiles: true, loadsAtTop: true,
    answer: page('js-profiling=?0, force-load-at-top', 'js-profiling-mode=eager') },
  { name: "two lines of the app's", settings: on, answer: page('force-load-at-top', 'foo=(a "b");c'), profiles: true,
    loadsAtTop: true },
  { name: 'two lines, the later says no', settings: on, answer: page('js-profiling', 'js-profiling=?0'),
    profiles: false },
  { name: 'two lines, the later says yes', settings: unsampled, answer: page('js-profiling=?0', 'js-profiling'),
    profiles: true },
  { name: 'a trailing comma', settings: on, answer: page('force-load-at-top,'), profiles: false },
  { name: 'a malformed second line', settings: on, answer: page('js-profiling, force-load-at-top', 'BAD'),
    profiles: false },
  { name: 'a malformed line, overruled', settings: [...on, overruling], answer: page('js-profiling', '=?0'),
    profiles: false },
  { name: "the app's report-only policy", settings: on, profiles: true,
    answer: pageWith(['Document-Policy-Report-Only', 'js-profiling=?0']) },

  { name: 'an error page', settings: on, answer: { ...page(), status: 404 }, profiles: false },
  { name: 'an error page, always', settings: [...on, 'fleetprof_always on'], answer: { ...page(), status: 404 },
    profiles: true },
  { name: 'XHTML', settings: on, answer: { fields: [['Content-Type', 'application/xhtml+xml']], body: xhtml },
    profiles: true },
  { name: 'another type', settings: on, answer: { fields: [['Content-Type', 'text/plain']] }, profiles: false },
  { name: 'another type, configured', settings: [...on, 'fleetprof_types text/html text/plain'],
    answer: { fields: [['Content-Type', 'text/plain; charset=utf-8']] }, profiles: true },
  { name: 'a page that shared caches may keep', settings: on, answer: pageWith(['Cache-Control', 'public']),
    profiles: false },
  { name: 'a page that shared caches may keep, all the same', settings: [...on, 'fleetprof_cacheable on'],
    answer: pageWith(['Cache-Control', 'public']), profiles: true },
];

const placeOf = (/** @type {Policy} */ policy) => `policy-${policies.indexOf(policy)}`;

/** @type {Answer} */
const script = {
  fields: [['Content-Type', 'text/javascript']],
  body: `(async () => postMessage(globalThis.Profiler ? await (${profile})() : 'no Profiler'))()`,
};

/** A script as bundlers name and send it. @type {Answer} */
const hashedScript = {
  ...script,
  fields: [['Content-Type', 'text/javascript'], ['Cache-Control', 'public, max-age=31536000, immutable']],
};

/** A service worker that passes each navigation on. @type {Answer & { body: string }} */
const serviceWorker = {
  fields: [['Content-Type', 'text/javascript']],
  body: `addEventListener('install', () => skipWaiting());
    addEventListener('activate', (event) => event.waitUntil(clients.claim()));
    addEventListener('fetch', (event) => {
      if (event.request.mode === 'navigate') event.respondWith(fetch(event.request));
    });`,
};

const stored = pageWith(['ETag', '"1"'], ['Document-Policy', 'force-load-at-top']);
/** @type {Answer} */
const notModified = { status: 304, fields: [['ETag', '"1"']] };

/**
 * Where the pages of timing_allow_origin come from; both are the upstream's.
 * @param {number} port
 */
const origins = (port) => ({ listed: `http://127.0.0.1:${port}`, other: `http://localhost:${port}` });

/**
 * @param {number} port upstream's
 * @returns {Place[]}
 */
function allPlaces(port) {
  const { listed, other } = origins(port);
  const lists = `timing_allow_origin ${listed}`;
  const image = { fields: [/** @type {[string, string]} */ (['Content-Type', 'image/gif'])], body: 'GIF89a' };
  const redirect = (/** @type {string} */ to) => (
    { status: 302, fields: [/** @type {[string, string]} */ (['Location', `/${to}/image`])] });
  return [
    ...policies.map((policy) => ({ ...policy, name: placeOf(policy) })),
    { name: 'half', settings: ['fleetprof on', 'fleetprof_sample 50%'], answer: page() },
    { name: 'yes', settings: on, answer: page() },
    { name: 'no', settings: unsampled, answer: page() },
    { name: 'worker-yes', settings: on, answer: script },
    { name: 'worker-no', settings: unsampled, answer: script },
    { name: 'worker-silent', settings: [], answer: script },
    { name: 'worker-hashed', settings: on, answer: hashedScript },

    { name: 'file', settings: byCookie, files: true, cookie: true },
    { name: 'proxied', settings: byCookie, cookie: true, answer: stored, revalidated: notModified },
    { name: 'proxied-told', settings: byCookie, cookie: true, answer: stored,
      revalidated: { status: 304, fields: stored.fields } },
    { name: 'proxied-send', settings: [...byCookie, 'fleetprof_not_modified send'], cookie: true,
      answer: pageWith(['ETag', '"1"']), revalidated: notModified },

    { name: 'behind-file', settings: byCookie, files: true, cookie: true },
    { name: 'behind-proxied', settings: byCookie, cookie: true, answer: stored, revalidated: notModified },
    { name: 'behind-send', settings: [...byCookie, 'fleetprof_not_modified send'], cookie: true,
      answer: pageWith(['ETag', '"1"']), revalidated: notModified },
    { name: 'behind-cache', settings: byCookie, cookie: true, cached: true, answer: stored, revalidated: notModified },
    { name: 'behind-cache-send', settings: [...byCookie, 'fleetprof_not_modified send'], cookie: true, cached: true,
      answer: stored, revalidated: notModified },

    { name: 'timing-off', settings: ['timing_allow_origin off'], answer: image },
    { name: 'timing-listed', settings: [lists], answer: image },
    { name: 'timing-all', settings: ['timing_allow_origin *'], answer: image },
    { name: 'timing-both', settings: [lists],
      answer: { ...image, fields: [...image.fields, ['Timing-Allow-Origin', other]] } },
    { name: 'timing-redirected', settings: [lists], answer: redirect('timing-listed') },
    { name: 'timing-redirected-by-silence', settings: [], answer: redirect('timing-listed') },
  ];
}

/**
 * In a page or worker: what becomes of a profiler.
 * @returns {Promise<string>} `works`, or the name of the error
 */
async function profile() {
  try {
    const profiler = new /** @type {any} */ (globalThis).Profiler({ sampleInterval: 10, maxBufferSize: 100 });
    const trace = await profiler.stop();
    return Array.isArray(trace.samples) ? 'works' : 'has no samples';
  } catch (error) {
    return /** @type {Error} */ (error).name;
  }
}

const worksIf = (/** @type {boolean} */ allowed) => (allowed ? 'works' : 'NotAllowedError');

/**
 * In a page.
 * @param {string} url
 * @returns {Promise<string>} what a dedicated worker says of itself
 */
const askWorker = (url) => new Promise((resolve, reject) => {
  const worker = new Worker(url);
  worker.onmessage = ({ data }) => resolve(data);
  worker.onerror = ({ message }) => reject(new Error(message));
});

/** @type {{ today: import('playwright-core').Browser, tomorrow: import('playwright-core').Browser }} */
let browsers;
/** @type {boolean} */
let modeIsKnown;
/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let upstream;
/** @type {Place[]} */
let places;

before(async () => {
  const [today, tomorrow] = await Promise.all([
    launchChromium(), launchChromium(['--enable-experimental-web-platform-features']),
  ]);
  browsers = { today, tomorrow };
  modeIsKnown = await knowsMode(tomorrow);
  upstream = await startUpstream(({ path: asked, revalidates }) => {
    if (asked === '/') return page();
    if (asked.endsWith('/sw.js')) return serviceWorker;
    const place = places.find(({ name }) => asked.startsWith(`/${name}/`));
    return (revalidates && place?.revalidated) || place?.answer;
  });
  places = allPlaces(upstream.port);
});

after(async () => {
  upstream?.stop();
  await Promise.all(Object.values(browsers ?? {}).map((browser) => browser.close()));
});

/** @returns {string} a folder that httpd's children may read */
function makeFiles() {
  const root = temporaryDir('files');
  fs.chmodSync(root, 0o755);
  for (const place of ['file', 'behind-file']) {
    fs.mkdirSync(path.join(root, place));
    fs.writeFileSync(path.join(root, place, 'page.html'), body);
    fs.writeFileSync(path.join(root, place, 'sw.js'), serviceWorker.body);
  }
  return root;
}

/**
 * A tab whose loads are watched on the wire: what the page sees of a 304 is the stored 200.
 * @param {string} url
 */
async function openRevisited(url) {
  const { page: tab } = await openTab(browsers.today);
  const session = await tab.context().newCDPSession(tab);
  await session.send('Network.enable');
  /** @type {number[]} */
  const statuses = [];
  session.on('Network.responseReceivedExtraInfo', ({ statusCode }) => statuses.push(statusCode));
  return {
    /**
     * Loads the page, or reloads it.
     * @param {string} rate
     * @returns {Promise<[status: number, profiler: string, atTop: boolean]>}
     */
    visit: async (rate) => {
      await tab.context().addCookies([{ name: 'rate', value: rate, url }]);
      statuses.length = 0;
      await (tab.url() === 'about:blank' ? tab.goto(`${url}#below`) : tab.reload());
      const profiler = await tab.evaluate(profile);
      await waitFor(() => statuses.length > 0, { what: 'status on the wire' });
      return [statuses[0], profiler, await tab.evaluate(() => scrollY === 0)];
    },
    close: () => tab.context().close(),
  };
}

for (const { name, missing, start } of headerServers) {
  describe(`Chromium, served by ${name}`, { skip: missing, timeout: 300_000 }, () => {
    /** @type {import('./header_servers.mjs').HeaderServer} */
    let server;
    /** @type {{ today: Page, tomorrow: Page }} */
    let tabs;

    before(async () => {
      server = await start({ places, upstream: `http://127.0.0.1:${upstream.port}`, files: makeFiles() });
      const [today, tomorrow] = await Promise.all([openTab(browsers.today), openTab(browsers.tomorrow)]);
      tabs = { today: today.page, tomorrow: tomorrow.page };
    });

    after(async () => {
      await server?.stop();
    });

    /**
     * @param {Page} tab
     * @param {string} at
     */
    async function visit(tab, at) {
      const response = await tab.goto(server.url + at);
      return { said: response?.headers()['document-policy'], profiler: await tab.evaluate(profile) };
    }

    for (const policy of policies) {
      test(`${policy.name}: profiling is ${policy.profiles ? 'on' : 'off'}`, async () => {
        const at = `/${placeOf(policy)}/page`;
        const [today, tomorrow] = await Promise.all([visit(tabs.today, `${at}#below`), visit(tabs.tomorrow, at)]);
        assert.equal(today.profiler, worksIf(policy.profiles), today.said);
        const worksTomorrow = modeIsKnown ? policy.tomorrow ?? policy.profiles : policy.profiles;
        assert.equal(tomorrow.profiler, worksIf(worksTomorrow), `tomorrow: ${tomorrow.said}`);
        if (policy.loadsAtTop) assert.equal(await tabs.today.evaluate(() => scrollY), 0, today.said);

        // The server's log has its decision; empty or "-" where it made none.
        const logged = await waitFor(() => server.log().find(([asked]) => asked === at), { what: 'log line' });
        if (logged[1] === '1' && modeIsKnown) assert.equal(tomorrow.profiler, 'works');
        if (logged[1] === '0') assert.equal(tomorrow.profiler, 'NotAllowedError');
      });
    }

    test('a page without force-load-at-top is where its fragment is', async () => {
      await visit(tabs.today, '/yes/page#below');
      assert.ok(await tabs.today.evaluate(() => scrollY > 0));
    });

    test('at 50 %, header and profiler agree on each of 24 loads', async () => {
      const loads = [];
      for (let i = 0; i < 12; i++) {
        const load = (/** @type {Page} */ tab) => visit(tab, `/half/${i}`);
        loads.push(...await Promise.all([load(tabs.today), load(tabs.tomorrow)]));
      }
      for (const { said, profiler } of loads) {
        assert.equal(profiler, worksIf(said === 'js-profiling, js-profiling-mode=lazy'), said);
      }
      assert.equal(new Set(loads.map(({ profiler }) => profiler)).size, 2);
    });

    test('an embedded document goes by its own header', async () => {
      for (const around of ['yes', 'no']) {
        await visit(tabs.today, `/${around}/page`);
        for (const inside of ['yes', 'no']) {
          await tabs.today.evaluate((src) => new Promise((resolve) => {
            const frame = document.createElement('iframe');
            frame.onload = resolve;
            frame.src = src;
            document.body.replaceChildren(frame);
          }), `/${inside}/frame`);
          assert.equal(await tabs.today.frames()[1].evaluate(profile), worksIf(inside === 'yes'));
        }
      }
    });

    // Chromium 156 has Profiler in dedicated workers behind its flag only, and in shared workers not at all.
    for (const [when, around] of /** @type {const} */ ([['today', 'yes'], ['tomorrow', 'yes'], ['tomorrow', 'no']])) {
      test(`${when}, a dedicated worker of a page that says ${around} goes by its own script's header`, async (t) => {
        const tab = tabs[when];
        await visit(tab, `/${around}/page`);
        for (const inside of ['yes', 'no', 'silent']) {
          const said = await tab.evaluate(askWorker, `/worker-${inside}/script.js`);
          if (said === 'no Profiler') return t.skip('this Chromium has no Profiler in workers');
          assert.equal(said, worksIf(inside === 'yes'), inside);
        }
      });
    }

    // Files that bundlers name by a hash are never sampled themselves; a worker made of a blob inherits the policy of its page.
    for (const around of ['yes', 'no']) {
      test(`a worker that imports a hashed script is sampled as its page says: ${around}`, async (t) => {
        await visit(tabs.tomorrow, `/${around}/page`);
        const url = `${server.url}/worker-hashed/script.js`;
        const direct = await tabs.tomorrow.evaluate(askWorker, url);
        if (direct === 'no Profiler') return t.skip('this Chromium has no Profiler in workers');
        assert.equal(direct, 'NotAllowedError');
        const blob = await tabs.tomorrow.evaluate((imported) => (
          URL.createObjectURL(new Blob([`importScripts("${imported}")`]))), url);
        assert.equal(await tabs.tomorrow.evaluate(askWorker, blob), worksIf(around === 'yes'));
      });
    }

    for (const [place, status, again] of /** @type {const} */ ([
      ['behind-file', '304', true],
      // Nobody can tell a 304 of upstream's what the stored page says, so a stored no stays.
      ['behind-proxied', '200', false],
      ['behind-send', '304', true],
      ['behind-cache', '200', true],
      ['behind-cache-send', '304', true],
    ])) {
      test(`a service worker that passes navigations on does not keep a visitor sampled: ${place}`, async () => {
        const at = `/${place}/page.html`;
        const { page: tab } = await openTab(browsers.today);
        const load = async (/** @type {string} */ rate) => {
          await tab.context().addCookies([{ name: 'rate', value: rate, url: server.url }]);
          const response = await (tab.url() === 'about:blank' ? tab.goto(server.url + at) : tab.reload());
          const said = await tab.evaluate(() => /** @type {PerformanceNavigationTiming} */ (
            performance.getEntriesByType('navigation')[0]).serverTiming.map(({ name, description }) => [name, description]));
          const profiler = await tab.evaluate(profile);
          const samples = said.some(([name, description]) => name === 'fleetprof' && description !== '0');
          assert.equal(profiler, worksIf(samples), `the profiler starts only if the header allows it: ${said}`);
          const requests = () => server.log().filter(([asked]) => asked === at);
          return { profiler, passedOn: response?.fromServiceWorker(), requests };
        };
        const first = await load('100%');
        assert.equal(first.profiler, 'works');
        await tab.evaluate(async () => {
          await navigator.serviceWorker.register('sw.js');
          if (!navigator.serviceWorker.controller) {
            await new Promise((resolve) => navigator.serviceWorker.addEventListener('controllerchange', resolve));
          }
        });
        const second = await load('100%');
        assert.deepEqual([second.profiler, second.passedOn], ['works', true]);
        const third = await load('0%');
        assert.deepEqual([third.profiler, third.passedOn], ['NotAllowedError', true], 'let go');
        const log = await waitFor(() => third.requests().length === 3 && third.requests(), { what: 'three log lines' });
        assert.equal(log[2][2], status);
        assert.equal((await load('0%')).profiler, 'NotAllowedError');
        assert.equal((await load('100%')).profiler, worksIf(again));
        await tab.context().close();
      });
    }

    test("a file's 304 turns profiling off, and on again", async () => {
      const { visit: load, close } = await openRevisited(`${server.url}/file/page.html`);
      assert.deepEqual(await load('100%'), [200, 'works', false]);
      assert.deepEqual(await load('0%'), [304, 'NotAllowedError', false]);
      assert.deepEqual(await load('100%'), [304, 'works', false]);
      assert.deepEqual(await load('0%'), [304, 'NotAllowedError', false]);
      await close();
    });

    test("a sampled page from upstream cannot be revalidated, and the app's policy outlives a 304", async () => {
      const { visit: load, close } = await openRevisited(`${server.url}/proxied/page`);
      assert.deepEqual(await load('100%'), [200, 'works', true]);
      assert.deepEqual(await load('0%'), [200, 'NotAllowedError', true]);
      // Upstream's 304 has no policy, so the module adds none: the stored refusal stays.
      assert.deepEqual(await load('100%'), [304, 'NotAllowedError', true]);
      await close();
    });

    test("upstream's 304 that carries the policy turns profiling on", async () => {
      const { visit: load, close } = await openRevisited(`${server.url}/proxied-told/page`);
      assert.deepEqual(await load('0%'), [200, 'NotAllowedError', true]);
      assert.deepEqual(await load('100%'), [304, 'works', true]);
      assert.deepEqual(await load('0%'), [304, 'NotAllowedError', true]);
      await close();
    });

    test("fleetprof_not_modified send: upstream's 304 turns profiling off, and on again", async () => {
      const { visit: load, close } = await openRevisited(`${server.url}/proxied-send/page`);
      assert.deepEqual(await load('100%'), [200, 'works', false]);
      assert.deepEqual(await load('0%'), [304, 'NotAllowedError', false]);
      assert.deepEqual(await load('100%'), [304, 'works', false]);
      await close();
    });

    for (const [place, listed, other] of /** @type {const} */ ([
      ['timing-off', false, false],
      ['timing-listed', true, false],
      ['timing-all', true, true],
      ['timing-both', true, true],
      ['timing-redirected', true, false],
      ['timing-redirected-by-silence', false, false],
    ])) {
      test(`${place} is open to the listed origin: ${listed}, to another: ${other}`, async () => {
        const { listed: one, other: two } = origins(upstream.port);
        assert.deepEqual([await seesTiming(one, place), await seesTiming(two, place)], [listed, other]);
      });
    }

    /**
     * @param {string} origin of a page that loads an image from the server
     * @param {string} place
     */
    async function seesTiming(origin, place) {
      const tab = tabs.today;
      await tab.goto(`${origin}/`);
      const start = await tab.evaluate((url) => new Promise((resolve) => {
        new PerformanceObserver((list) => {
          const [entry] = list.getEntriesByName(url);
          if (entry) resolve(/** @type {PerformanceResourceTiming} */ (entry).responseStart);
        }).observe({ type: 'resource', buffered: true });
        fetch(url, { mode: 'no-cors' });
      }), `${server.url}/${place}/image?for=${encodeURIComponent(origin)}`);
      return Number(start) > 0;
    }
  });
}
