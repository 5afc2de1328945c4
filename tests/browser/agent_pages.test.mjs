// SPDX-License-Identifier: Apache-2.0
/**
 * The agent on pages as people build them: single-page applications of React and Vue, frames, workers, two tabs, pages
 * that are hidden or kept alive and come back, connections that go away, and strict policies.
 */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';

import { waitFor } from '../behaviour/stack.mjs';
import { busy, outcome, startSite, statusOf, tag } from './agent_site.mjs';
import { bundle } from './bundle.mjs';
import { launchChromium, openHideableTab, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;
/** @type {import('playwright-core').BrowserContext[]} */
let open = [];

before(async () => {
  browser = await launchChromium([], { whole: true, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  site = await startSite();
});

after(async () => {
  await browser?.close();
  site?.close();
});

beforeEach(() => site.reset());

afterEach(async () => {
  await Promise.all(open.map((context) => context.close()));
  open = [];
});

/** The agent's tag without an early end. @param {Record<string, string | number>} [data] */
const longTag = (data) => tag(data).replace(' data-after-load="0"', '');

/** @param {string} html @param {string} [at] */
async function visit(html, at = '/page') {
  site.pages[at] = html;
  const { page, complaints } = await openTab(browser);
  open.push(page.context());
  await page.goto(site.origin + at);
  return { page, complaints };
}

const envelopes = () => site.uploads.map(({ envelope }) => envelope);

/** All parts of a path. @param {string} at */
const partsAt = (at) => envelopes().filter(({ page }) => new URL(page.url).pathname === at);

/** The names of functions in all parts of a path. @param {string} at */
const functionsAt = (at) => new Set(partsAt(at)
  .flatMap(({ trace }) => trace?.frames ?? []).map(({ name }) => name));

/** One load, parts counted from 0, windows that do not overlap. @param {any[]} parts */
function assertOneLoad(parts) {
  assert.equal(new Set(parts.map(({ load }) => load)).size, 1);
  assert.equal(new Set(parts.map(({ id }) => id)).size, parts.length);
  assert.deepEqual(parts.map(({ part }) => part).sort((a, b) => a - b), parts.map((_, i) => i));
  const sorted = parts.filter(({ trace }) => trace).sort((a, b) => a.start - b.start);
  for (const [i, { start, duration }] of sorted.entries()) {
    const next = sorted[i + 1];
    assert.ok(!next || next.start >= start + duration - 0.001, `part ${i} overlaps the next one`);
  }
}

/** Methods, whose names a minifier keeps. They run long enough for samples on a machine with much other work. */
const work = (/** @type {string} */ name) => `
  ${name}Work() { const end = performance.now() + 400; while (performance.now() < end); return '${name}'; }`;
const views = `const work = { ${['home', 'list', 'product'].map(work)} };
  const textOf = (path) => path === '/list' ? work.listWork() : path === '/page' ? work.homeWork() : work.productWork();`;

/** Both applications go from view to view by their router, which is the history API. */
const tour = `
  const go = (to) => { history.pushState(null, '', to); show(location.pathname); };
  const pause = () => new Promise((resolve) => { setTimeout(resolve, 120); });
  (async () => {
    show('/page'); await pause();
    go('/list'); await pause();
    go('/product/7'); await pause();
    globalThis.fleetprof.start().stop().then((sent) => { globalThis.sent = sent; });
  })();`;

/** @type {Record<string, string>} */
const applications = {
  React: `import { createRoot } from 'react-dom/client';
    import { flushSync } from 'react-dom';
    ${views}
    function View({ path }) { return <p>{textOf(path)}</p>; }
    const root = createRoot(document.body.appendChild(document.createElement('main')));
    const show = (path) => flushSync(() => root.render(<View key={path} path={path} />));
    ${tour}`,
  Vue: `import { createApp, h, ref } from 'vue';
    ${views}
    const path = ref('');
    createApp({ render: () => h('p', path.value && textOf(path.value)) }).mount(document.body.appendChild(document.createElement('main')));
    const show = (to) => { path.value = to; };
    ${tour}`,
};

for (const [name, source] of Object.entries(applications)) {
  test(`a single-page application of ${name} has a part for each of its views`, async () => {
    const body = await bundle(source);
    site.files['/app.js'] = () => ({ type: 'text/javascript', body });
    const { page, complaints } = await visit(`${longTag()}<body><script src="/app.js"></script>`);
    await page.waitForFunction('globalThis.sent !== undefined');
    assert.equal(await page.evaluate('globalThis.sent'), true);
    assertOneLoad(envelopes());
    for (const [at, own] of [['/page', 'homeWork'], ['/list', 'listWork'], ['/product/7', 'productWork']]) {
      const names = functionsAt(at);
      assert.ok(names.has(own), `${own} at ${at}: ${[...names]}`);
      for (const other of ['homeWork', 'listWork', 'productWork'].filter((one) => one !== own)) {
        assert.ok(!names.has(other), `${other} at ${at}`);
      }
    }
    assert.deepEqual(complaints, []);
  });
}

test('a page names its routes and releases itself', async () => {
  const { page } = await visit(`${longTag({ release: 'r1' })}<script>${busy}
    const handle = fleetprof.start();
    // A part without a sample, as on a busy machine, is sent for its mark.
    const work = () => { performance.mark('work'); busy(60); };
    work(); handle.setRoute('/home');
    work(); handle.setRoute('/dialog');
    work(); handle.setRelease('r2');
    work(); history.replaceState(null, '', '/other?x=1');
    work(); handle.stop();
  </script>`);
  await outcome(page);
  const parts = envelopes().sort((a, b) => a.part - b.part);
  assertOneLoad(parts);
  assert.deepEqual(parts.map(({ page: { url, route }, release }) => [new URL(url).pathname, route, release]), [
    ['/page', '/home', 'r1'], ['/page', '/dialog', 'r1'], ['/page', '/dialog', 'r2'], ['/other', undefined, 'r2'],
  ]);
});

test('each mark is in one part, a measure of two parts too', async () => {
  const { page } = await visit(`${longTag({ 'part-length': 200 })}<script>${busy}
    let n = 0;
    performance.mark('begin');
    const timer = setInterval(() => {
      performance.mark('m' + n++); busy(5);
      if (n < 60) return;
      clearInterval(timer);
      performance.measure('all', 'begin');
      fleetprof.start().stop().then((sent) => { globalThis.sent = sent; });
    }, 12);
  </script>`);
  await page.waitForFunction('globalThis.sent');
  const parts = envelopes();
  assertOneLoad(parts);
  assert.ok(parts.length >= 3, `${parts.length} parts`);
  const marks = parts.flatMap((part) => part.marks.map((/** @type {any} */ mark) => ({ ...mark, part })));
  assert.deepEqual(marks.map(({ name }) => name).sort(), ['begin', ...Array.from({ length: 60 }, (_, i) => `m${i}`)].sort());
  const misplaced = marks.filter(({ startTime, part }) => part.part > 0
    && (startTime < part.start - 1 || startTime >= part.start + part.duration + 1));
  assert.ok(misplaced.length <= 2, JSON.stringify(misplaced.map(({ name, startTime, part }) => [name, startTime, part.start, part.duration])));
  const [all] = parts.flatMap(({ measures }) => measures);
  assert.ok(all.duration > 600);
});

/** Visits a page that leaves by itself and is kept, and goes back to it. @param {string} at @param {number} maximum of its profile, ms */
async function leaveAndReturn(at, maximum) {
  site.pages['/next'] = 'next';
  const { page } = await visit(`${longTag({ 'max-duration': maximum })}<script>${busy}
    setInterval(() => busy(4), 12);
    addEventListener('load', () => setTimeout(() => { location.href = '/next'; }, 300));
    addEventListener('pagehide', () => { globalThis.left ??= performance.now(); });
    addEventListener('pageshow', ({ persisted }) => { if (persisted) globalThis.again = performance.now(); });
  </script>`, at);
  await page.waitForURL(`${site.origin}/next`);
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 600); }));
  await page.goBack({ waitUntil: 'commit' });
  await page.waitForFunction('globalThis.again');
  const [left, again] = /** @type {number[]} */ (await page.evaluate('[left, again]'));
  return { page, left, again };
}

test('a hidden page pauses, goes on when it is seen again, and ends after its maximum', async () => {
  const alive = await openHideableTab(browser, 'about:blank');
  await alive.close();
  let maximum = 2500;
  let visited = await leaveAndReturn(`/${maximum}`, maximum);
  // A browser under load may take longer than the maximum to leave: then nothing is left to go on with.
  while (visited.left > maximum - 500 && maximum < 20_000) {
    maximum *= 2;
    visited = await leaveAndReturn(`/${maximum}`, maximum);
  }
  const { page, left, again } = visited;
  await waitFor(async () => await statusOf(page) === 'sent', { what: 'end by itself', timeoutMs: 2 * maximum + 15_000 });
  const parts = partsAt(`/${maximum}`);
  assertOneLoad(parts);
  const profiled = parts.reduce((sum, { duration }) => sum + duration, 0);
  assert.ok(profiled >= maximum && profiled < maximum + 5500, `${profiled} ms`);
  const asleep = parts.filter(({ start, duration }) => start < again - 250 && start + duration > again + 5);
  assert.deepEqual(asleep, [], 'nothing is profiled in the cache');
  assert.ok(parts.some(({ start }) => start > left), 'profiled again'); // the page becomes visible before it is shown
});

test('frames have loads of their own and say so, and their profile arrives when the page ends', async () => {
  site.pages['/frame'] = `${longTag()}<script>${busy} function frameWork() { busy(60); } setInterval(frameWork, 80);</script>`;
  site.pages['/next'] = 'next';
  const other = site.origin.replace('127.0.0.1', 'localhost');
  const { page } = await visit(`${longTag()}<iframe src="/frame"></iframe><iframe src="${other}/frame"></iframe><script>${busy} setInterval(() => busy(5), 50);</script>`);
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 700); }));
  await page.goto(`${site.origin}/next`);
  await waitFor(() => functionsAt('/frame').has('frameWork') && functionsAt('/page').size > 0, { what: 'both profiles' });
  await waitFor(() => new Set(envelopes().map(({ load }) => load)).size === 3, { what: 'both frames' });
  assert.deepEqual(new Set(envelopes().map(({ page: { url }, frame }) => `${url} ${frame}`)), new Set([
    `${site.origin}/page undefined`, `${site.origin}/frame same-origin`, `${other}/frame cross-origin`,
  ]));
});

test('two tabs are two loads', async () => {
  const html = `${longTag()}<script>${busy} busy(100)</script>`;
  const pages = await Promise.all([visit(html, '/a'), visit(html, '/b')]);
  assert.deepEqual(await Promise.all(pages.map(({ page }) => outcome(page))), [true, true]);
  // A beacon of the test before may arrive as late as now.
  const loads = ['/a', '/b'].map((path) => new Set(partsAt(path).map(({ load }) => load)));
  assert.deepEqual(loads.map(({ size }) => size), [1, 1]);
  assert.notDeepEqual(loads[0], loads[1]);
});

test('a worker sends its marks and measures to the load of its page', async () => {
  site.files['/worker.js'] = () => ({ type: 'text/javascript', body: `
    importScripts('/agent/fleetprof.worker.js');
    addEventListener('message', async ({ data }) => {
      const handle = fleetprof.start(data);
      performance.mark('begin');
      performance.measure('job', 'begin');
      postMessage(await handle.stop());
    });` });
  const { page, complaints } = await visit(longTag({ release: 'r1' }));
  assert.equal(await page.evaluate(() => new Promise((resolve) => {
    const { load } = /** @type {any} */ (globalThis).fleetprof.start();
    const worker = new Worker('/worker.js');
    worker.onmessage = ({ data }) => resolve(data);
    worker.postMessage({ endpoint: '/v1/ingest/pk_test', load, url: location.origin + location.pathname, release: 'r1' });
  })), true);
  await outcome(page);
  const sent = envelopes().find(({ thread }) => thread === 'worker');
  assert.deepEqual([sent.marks[0].name, sent.measures[0].name, sent.release], ['begin', 'job', 'r1']);
  const own = envelopes().find(({ thread }) => thread === 'window');
  assert.deepEqual([sent.load, sent.page.url], [own.load, own.page.url]);
  assert.deepEqual(complaints, []);
});

test('what a page could not send while it was offline arrives when it is online again', async () => {
  const { page } = await visit(`${longTag()}<script>${busy} busy(100)</script>`);
  await page.context().setOffline(true);
  const sent = outcome(page);
  await waitFor(async () => await statusOf(page) === 'sending', { what: 'attempt' });
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 300); }));
  assert.deepEqual(site.uploads, []);
  await page.context().setOffline(false);
  assert.equal(await sent, true);
  assertOneLoad(envelopes());
});

test('an application that refuses uploads ends the profile', async () => {
  site.replies = Array(20).fill({ status: 403 });
  const { page } = await visit(`${longTag({ 'part-length': 150 })}<script>${busy} setInterval(() => busy(5), 10)</script>`);
  await waitFor(async () => await statusOf(page) === 'failed', { what: 'failure' });
  assert.equal(site.uploads.length, 1);
  assert.equal(await outcome(page), false);
  assert.equal(site.uploads.length, 1);
});

test('the page sees what is sent, changes it, and drops it', async () => {
  const { page } = await visit(`<script src="/agent/fleetprof.js"></script><script>${busy}
    const seen = [];
    const handle = fleetprof.start({ endpoint: '/v1/ingest/pk_test', beforeSend: (envelope) => {
      seen.push(envelope.part);
      if (envelope.part > 0) return undefined;
      return { ...envelope, variant: 'changed' };
    } });
    busy(150);
    handle.setRoute('/a'); busy(60); handle.setRoute('/b'); busy(60);
  </script>`);
  assert.equal(await outcome(page), true);
  assert.deepEqual(await page.evaluate('seen.length'), 2);
  assert.deepEqual(envelopes().map(({ part, variant }) => [part, variant]), [[0, 'changed']]);
});

test('says why a picked page load has no profile, if it is to', async () => {
  for (const [headers, coverage, expected] of /** @type {[Record<string, string>, string, string | undefined][]} */ ([
    [{ 'Document-Policy': '' }, '', 'no-policy'],
    [{ 'Document-Policy': '' }, 'off', undefined],
    [{ 'Server-Timing': 'fleetprof;desc="0"' }, '', undefined],
    [{ 'Server-Timing': 'fleetprof;desc="0"' }, 'all', 'not-sampled'],
    [{ 'Server-Timing': '' }, 'all', undefined],
  ])) {
    site.uploads = [];
    site.headers['/page'] = () => headers;
    const { page } = await visit(tag({ coverage }));
    await outcome(page);
    if (expected) await waitFor(() => site.uploads.length > 0, { what: expected });
    await page.goto('about:blank');
    assert.deepEqual(envelopes().map((envelope) => envelope.coverage), expected ? [expected] : [], `${JSON.stringify(headers)} ${coverage}`);
    assert.ok(site.uploads.every(({ body }) => body.length < 500));
  }
});

test('a page that turns profiling off says so, and sends its vitals all the same', async () => {
  site.pages['/next'] = 'next';
  for (const build of ['fleetprof.js', 'fleetprof.vitals.js']) {
    site.uploads = [];
    const { page } = await visit(longTag({ profile: 'false' }).replace('fleetprof.js', build) + '<h1>Shop</h1>');
    assert.equal(await statusOf(page), 'disabled');
    await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve)); }));
    await page.goto(`${site.origin}/next`);
    await waitFor(() => site.uploads.length > 0, { what: 'report' });
    assert.ok(envelopes().every(({ coverage, trace }) => coverage === 'disabled' && !trace), build);
    assert.equal(envelopes().some(({ vitals }) => vitals), build !== 'fleetprof.js');
  }
});

/** A page that has another one prerendered, and goes there, each when told to. (Under a debugger nothing is prerendered.) */
const first = `<script>
  const rules = Object.assign(document.createElement('script'),
    { type: 'speculationrules', text: '{ "prerender": [{ "urls": ["/page"], "eagerness": "immediate" }] }' });
  const ask = async () => {
    const order = await (await fetch('/order')).text();
    if (order === 'prerender' && !rules.isConnected) document.head.append(rules);
    if (order === 'go') location.href = '/page';
    else setTimeout(ask, 50);
  };
  ask();
</script>`;

/** A page that reports before it is seen, and then. */
const told = `<script>${busy}
  const tell = (what) => fetch('/reports', { method: 'POST', keepalive: true, body: JSON.stringify({
    what, status: fleetprof.start().status, at: performance.now(), used: localStorage['fleetprof.used'],
    activated: performance.getEntriesByType('navigation')[0].activationStart,
  }) });
  performance.mark('early');
  tell(document.prerendering ? 'prerendered' : 'not prerendered');
  fleetprof.start().setRoute('/seen');
  let turns = 10;
  const work = () => { busy(50); if (--turns) setTimeout(work); else tell('seen'); };
  document.addEventListener('prerenderingchange', () => setTimeout(work));
</script>`;

test('a prerendered page is profiled from the moment at which it is seen, and not before', async () => {
  const reports = () => site.reports.map((report) => JSON.parse(report));
  let order = '';
  site.files['/order'] = () => ({ type: 'text/plain', body: order });
  site.pages['/page'] = longTag().replace('fleetprof.js', 'fleetprof.vitals.js') + told;
  for (const isSeen of [false, true]) {
    site.reports = [];
    order = 'wait';
    site.pages['/first'] = first;
    const tab = await openHideableTab(browser, `${site.origin}/first`);
    order = 'prerender';
    await waitFor(() => reports().length > 0, { what: 'prerendered page' });
    const [{ what, status, used }] = reports();
    assert.deepEqual([what, status, used], ['prerendered', 'prerendering', undefined], 'its decision is not used up');
    if (isSeen) order = 'go';
    if (isSeen) await waitFor(() => reports().length > 1, { what: 'page that is seen' });
    await tab.switchAway();
    if (isSeen) {
      await waitFor(() => site.uploads.some(({ envelope }) => envelope.vitals), { what: 'vitals' });
      await waitFor(() => functionsAt('/page').has('busy'), { what: 'profile of the seen page' });
    }
    await tab.close();
    if (!isSeen) assert.deepEqual(site.uploads, []);
  }
  const [, { status, activated }] = reports();
  assert.equal(status, 'profiling');
  assert.ok(activated > 0);
  const parts = envelopes();
  assertOneLoad(parts);
  for (const { trace, start, page } of parts) {
    assert.equal(page.route, '/seen');
    assert.ok(!trace || start >= activated, `profiled from ${start}, seen from ${activated}`);
  }
  assert.deepEqual(parts.flatMap(({ marks }) => marks).map(({ name }) => name), ['early']);
  const vitals = Object.fromEntries(parts.flatMap(({ vitals: own = [] }) => own).map((vital) => [vital.name, vital]));
  assert.deepEqual([vitals.TTFB.navigationType, vitals.TTFB.start, vitals.TTFB.duration], ['prerender', activated, vitals.TTFB.value]);
});

test('a page load is at most 32 uploads, whatever it does', async () => {
  const { page } = await visit(`${longTag()}<script>${busy}
    for (let i = 0; i < 100; i++) { performance.mark('m' + i, { detail: 'x'.repeat(3000) }); fleetprof.start().setRoute('/' + i); busy(1); }
  </script>`);
  await waitFor(async () => await statusOf(page) === 'sent', { what: 'end of profiling' });
  assert.ok(site.uploads.length <= 30, `${site.uploads.length}, and two for the end`);
  await page.evaluate("for (let i = 0; i < 400; i++) performance.mark('late' + i, { detail: 'x'.repeat(300) })");
  await page.goto('about:blank');
  await waitFor(() => envelopes().some(({ marks }) => marks.some((/** @type {any} */ { name }) => name.startsWith('late'))), { what: 'the end' });
  assertOneLoad(envelopes());
  assert.ok(site.uploads.length <= 32, `${site.uploads.length}`);
  const missing = envelopes().flatMap(({ leftOut = [] }) => leftOut);
  assert.deepEqual(missing.filter(({ what }) => what === 'profile'), [{ what: 'profile', count: 0 }]);
  assert.ok(envelopes().every(({ truncated, leftOut }) => truncated === (leftOut ? true : undefined)));
});

test('late marks of a page that is hidden many times arrive when it ends, within its uploads', async () => {
  const marks = () => envelopes().flatMap((envelope) => envelope.marks).map(({ name }) => name);
  const { page } = await visit(`${longTag({ 'max-duration': 100 })}<script>
    function show(state) { // as the browser does
      if (state === 'hidden') Object.defineProperty(document, 'hidden', { value: true, configurable: true });
      else delete document.hidden;
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }
  </script>`);
  await waitFor(() => page.evaluate("fleetprof.start().status === 'sent'"), { what: 'end of profiling' });
  const before = site.uploads.length;
  for (let i = 0; i < 60; i++) {
    await page.evaluate(`show('visible'); performance.mark('late${i}'); show('hidden')`);
    if (i === 9) await waitFor(() => marks().length === 10, { what: 'the first ones, at once' });
  }
  const sent = site.uploads.length;
  await page.evaluate("show('visible')");
  await page.goto('about:blank');
  await waitFor(() => marks().length === 60, { what: 'all marks' });
  assert.deepEqual(marks().sort(), Array.from({ length: 60 }, (_, i) => `late${i}`).sort());
  assert.ok(sent - before >= 20 && site.uploads.length <= 32, `${before} uploads, then ${sent}, then ${site.uploads.length}`);
  assertOneLoad(envelopes());
});

test('works under Trusted Types and a policy of own origin only, to the end of the page', async () => {
  site.headers['/page'] = () => ({ 'Content-Security-Policy':
    "default-src 'none'; img-src data:; script-src 'self'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'" });
  site.pages['/next'] = 'next';
  const { page, complaints } = await visit(longTag({}).replace('fleetprof.js', 'fleetprof.vitals.js'));
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 300); }));
  await page.goto(`${site.origin}/next`);
  await waitFor(() => site.uploads.some(({ envelope }) => envelope.trace?.samples.length > 0), { what: 'profile' });
  assert.deepEqual(complaints, []);
});
