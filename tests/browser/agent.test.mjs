// SPDX-License-Identifier: Apache-2.0
/**
 * The agent in real Chromium, against a small server that serves pages and keeps what is uploaded.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { repository, runOrThrow, version, waitFor } from '../behaviour/stack.mjs';
import { busy, isGzip, outcome, startSite, statusOf, tag } from './agent_site.mjs';
import { launchChromium, openHideableTab, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** For tabs that are hidden. @type {import('playwright-core').Browser} */
let whole;
/** @type {import('./agent_site.mjs').Site} */
let site;

before(async () => {
  [browser, whole] = await Promise.all([launchChromium(), launchChromium([], { whole: true })]);
  site = await startSite();
});

after(async () => {
  await Promise.all([browser?.close(), whole?.close()]);
  site?.close();
});

/** @type {import('playwright-core').BrowserContext[]} */
let open = [];

beforeEach(() => site.reset());

afterEach(async () => {
  await Promise.all(open.map((context) => context.close()));
  open = [];
});

/**
 * Opens a page made of this HTML and waits for its load event.
 * @param {string} html
 * @param {{ path?: string, init?: string }} [options] init: script that runs before all others
 */
async function visit(html, { path: at = '/page', init } = {}) {
  site.pages[new URL(at, site.origin).pathname] = html;
  const { page, complaints } = await openTab(browser);
  open.push(page.context());
  if (init) await page.addInitScript(init);
  await page.goto(site.origin + at);
  return { page, complaints };
}

/**
 * Opens a page that would profile for ten minutes, in a tab that can be hidden, and waits until it has loaded.
 * @param {string} script
 */
async function visitHideable(script) {
  site.pages['/page'] = `${tag({ 'after-load': 600_000 })}<script>
    ${script}
    addEventListener('load', () => fetch('/loaded'));
  </script>`;
  const tab = await openHideableTab(whole, `${site.origin}/page`);
  await waitFor(() => site.paths.includes('/loaded'), { what: 'loaded page' });
  return tab;
}

/** @param {{ name: string }[]} entries */
const names = (entries) => entries.map(({ name }) => name);

/**
 * Waits for marks, whichever parts bring them.
 * @param {(marks: any[]) => boolean} areAll
 */
const marksOfLoad = (areAll) => waitFor(() => {
  const marks = site.uploads.flatMap(({ envelope }) => envelope.marks ?? []);
  return areAll(marks) && marks;
}, { what: 'marks' });

/** Sums what all uploads left out, by kind and name. */
function leftOut() {
  /** @type {Record<string, number>} */
  const sums = {};
  for (const { envelope } of site.uploads) {
    assert.equal(envelope.truncated, envelope.leftOut ? true : undefined);
    for (const { what, name, count } of envelope.leftOut ?? []) {
      const key = name === undefined ? what : `${what} ${name}`;
      sums[key] = (sums[key] ?? 0) + count;
    }
  }
  return sums;
}

/** @returns {Promise<import('./agent_site.mjs').Upload>} the first one */
const firstUpload = () => waitFor(() => site.uploads[0], { what: 'upload' });

test('profiles a page whose document policy allows it', async () => {
  const { page, complaints } = await visit(`${tag()}<script>${busy} busy(600)</script>`);
  const { envelope } = await firstUpload();
  const { frames, resources, samples, stacks } = envelope.trace;
  assert.ok(samples.length >= 10, `${samples.length} samples in 600 ms`);
  assert.ok(stacks.length > 0);
  const frame = frames.find((/** @type {any} */ candidate) => candidate.name === 'busy');
  assert.equal(resources[frame.resourceId], `${site.origin}/page`);
  assert.equal(await outcome(page), true);
  assert.deepEqual(complaints, []);
});

test('says that a picked page load has a browser without the API, and does nothing else', async () => {
  const { page, complaints } = await visit(tag(), { init: 'delete globalThis.Profiler' });
  assert.equal(await outcome(page), false);
  const { envelope } = await firstUpload();
  assert.equal(envelope.coverage, 'unsupported');
  assert.ok(!('trace' in envelope) && !('marks' in envelope));
  assert.deepEqual(complaints, []);
});

test('does nothing when it is not told where to send', async () => {
  const { page, complaints } = await visit('<script src="/agent/fleetprof.js"></script>');
  assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).fleetprof.start({}).stop()), false);
  assert.deepEqual(site.uploads, []);
  assert.deepEqual(complaints, []);
});

const source = fs.readFileSync(path.join(repository, 'agent/dist/fleetprof.js'));

for (const [what, policy, attributes] of [
  ["'self'", "script-src 'self'; connect-src 'self'", ''],
  ['a nonce', "script-src 'nonce-r4nd0m'; connect-src 'self'; require-trusted-types-for 'script'", 'nonce="r4nd0m"'],
  ['an integrity', "script-src 'self'; connect-src 'self'",
    `integrity="sha384-${crypto.createHash('sha384').update(source).digest('base64')}"`],
]) {
  test(`works under a Content-Security-Policy, allowed by ${what}, under a name with its version`, async () => {
    site.files['/fleetprof-0.1.0.js'] = () => ({ type: 'text/javascript', body: source });
    site.headers['/page'] = () => ({ 'Content-Security-Policy': `default-src 'none'; img-src data:; ${policy}` });
    const { page, complaints } = await visit(
      `<script ${attributes} src="/fleetprof-0.1.0.js" data-endpoint="/v1/ingest/pk_test" data-after-load="0"></script>`);
    assert.equal(await outcome(page), true);
    assert.equal(site.uploads.length, 1);
    assert.deepEqual(complaints, []);
  });
}

for (const [name, row, most] of /** @type {[string, string, number][]} */ ([
  ['fleetprof.js', 'fleetprof, sampled', 5120], ['fleetprof.mjs', '', 5120], ['fleetprof.vitals.js', 'fleetprof with vitals, sampled', 14_336], ['fleetprof.vitals.mjs', '', 14_336]])) {
  test(`${name} is as small as the manual says`, () => {
    const size = gzipSync(fs.readFileSync(path.join(repository, 'agent/dist', name)), { level: 9 }).length;
    assert.ok(size <= most, `${size}`);
    const manual = fs.readFileSync(path.join(repository, 'docs/agent.md'), 'utf8');
    if (row) assert.ok(manual.includes(`| ${row} | ${(size / 1024).toFixed(1)} |`), `${(size / 1024).toFixed(1)} KB`);
  });
}

test('what is served is what the sources give', async () => {
  await runOrThrow([process.execPath, path.join(repository, 'agent/build.mjs'), '--check']);
});

test('fills the envelope, and with nothing else', async () => {
  await visit(tag({
    release: 'r1', environment: 'test', variant: 'b', custom: 'plan=pro', route: '/page/:id', 'sample-interval': 13, 'max-buffer-size': 500,
  }), { path: '/page?token=secret#secret' });
  const { envelope } = await firstUpload();
  const { id, load, timeOrigin, start, duration, trace, marks, measures, machine, ...rest } = envelope;
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  assert.match(id, uuid);
  assert.match(load, uuid);
  assert.notEqual(id, load);
  const times = [id, load].map((text) => parseInt(text.replace('-', '').slice(0, 12), 16));
  assert.ok(times.every((time) => Math.abs(time - Date.now()) < 60_000), `${times}`);
  assert.ok(Math.abs(timeOrigin - Date.now()) < 60_000);
  assert.ok(duration > 0 && duration < 60_000);
  assert.ok(start > 0 && start < 60_000);
  assert.deepEqual(Object.keys(trace).sort(), ['frames', 'resources', 'samples', 'stacks']);
  assert.deepEqual([marks, measures], [[], []]);
  assert.ok([undefined, 'low', 'mid', 'high'].includes(machine), machine);
  assert.deepEqual(rest, {
    version: 1,
    part: 0,
    agent: { name: 'fleetprof-agent', version },
    page: { url: `${site.origin}/page`, route: '/page/:id' },
    release: 'r1',
    environment: 'test',
    variant: 'b',
    custom: 'plan=pro',
    thread: 'window',
    sampleInterval: 20,
    requestedInterval: 13,
    maxBufferSize: 500,
  });
});

/** Facts that a browser gives, and the class: of the core, of the vitals build. @type {[object, string | undefined, string | undefined][]} */
const machines = [
  [{ cpuPerformance: 1, deviceMemory: 8, hardwareConcurrency: 8 }, 'low', 'low'],
  [{ cpuPerformance: 2 }, 'mid', 'mid'],
  [{ cpuPerformance: 3 }, 'mid', 'mid'],
  [{ cpuPerformance: 4, deviceMemory: 1 }, 'high', 'high'],
  [{ cpuPerformance: 0, deviceMemory: 32, hardwareConcurrency: 16 }, undefined, 'high'],
  [{ deviceMemory: 0.25, hardwareConcurrency: 8 }, undefined, 'low'],
  [{ deviceMemory: 2, hardwareConcurrency: 8 }, undefined, 'low'],
  [{ deviceMemory: 4, hardwareConcurrency: 8 }, undefined, 'mid'],
  [{ deviceMemory: 8, hardwareConcurrency: 4 }, undefined, 'mid'],
  [{ hardwareConcurrency: 8 }, undefined, undefined],
];

test('says of the machine only its class', async () => {
  for (const [said, ...classes] of machines) {
    const init = `for (const name of ['cpuPerformance', 'deviceMemory', 'hardwareConcurrency'])
      Object.defineProperty(navigator, name, { value: (${JSON.stringify(said)})[name] });`;
    for (const [i, build] of ['fleetprof.js', 'fleetprof.vitals.js'].entries()) {
      site.reset();
      await visit(tag({}, build), { init });
      const { envelope } = await firstUpload();
      assert.equal(envelope.machine, classes[i], `${JSON.stringify(said)} ${build}`);
      assert.doesNotMatch(JSON.stringify(envelope), /cpuPerformance|deviceMemory|hardwareConcurrency/);
    }
  }
});

/** Facts about the network that a browser gives, and the class. @type {[object | undefined, string | undefined][]} */
const networks = [
  [{ effectiveType: '4g', saveData: false }, '4g'],
  [{ effectiveType: 'slow-2g' }, 'slow-2g'],
  [{ effectiveType: '4g', saveData: true, rtt: 50, downlink: 9.5 }, 'save-data'],
  [{}, undefined],
  [undefined, undefined],
];

test('says of the network only its class, with the vitals build', async () => {
  for (const [said, network] of networks) {
    const init = `Object.defineProperty(navigator, 'connection', { value: ${JSON.stringify(said)} });`;
    for (const build of ['fleetprof.js', 'fleetprof.vitals.js']) {
      site.reset();
      await visit(tag({}, build), { init });
      const { envelope } = await firstUpload();
      assert.equal(envelope.network, build === 'fleetprof.js' ? undefined : network, `${JSON.stringify(said)} ${build}`);
      assert.doesNotMatch(JSON.stringify(envelope), /effectiveType|saveData|rtt|downlink/);
    }
  }
});

test('leaves out the dimensions it was not given', async () => {
  await visit(tag());
  const { envelope } = await firstUpload();
  assert.deepEqual(envelope.page, { url: `${site.origin}/page` });
  for (const name of ['release', 'environment', 'variant', 'truncated', 'leftOut']) assert.ok(!(name in envelope), name);
  assert.equal(envelope.sampleInterval, 10);
  assert.equal(envelope.maxBufferSize, 10_000);
});

test('copies marks and measures with their detail, those cleared or made before it too', async () => {
  await visit(`
    <script>performance.mark('early', { detail: { step: 1 } })</script>
    ${tag({ 'after-load': 300 })}
    <script>
      performance.mark('plain');
      setTimeout(() => {
        performance.measure('span', { start: 'early', end: 'plain', detail: ['x', null, 'ü'] });
        setTimeout(() => { performance.clearMarks(); performance.clearMeasures(); });
      });
    </script>`);
  const { envelope: { marks, measures } } = await firstUpload();
  assert.deepEqual(marks.map((/** @type {any} */ { startTime, ...rest }) => rest), [
    { name: 'early', entryType: 'mark', duration: 0, detail: { step: 1 } },
    { name: 'plain', entryType: 'mark', duration: 0 },
  ]);
  const [{ startTime, duration, ...rest }] = measures;
  assert.deepEqual(rest, { name: 'span', entryType: 'measure', detail: ['x', null, 'ü'] });
  assert.equal(startTime, marks[0].startTime);
  assert.ok(Math.abs(startTime + duration - marks[1].startTime) < 1e-6);
});

test('leaves out a detail that is too large or not for JSON, and keeps the mark', async () => {
  await visit(`${tag()}<script>
    const loop = {};
    loop.loop = loop;
    const nested = (depth) => Array(depth).fill().reduce((inner) => [inner], 'x');
    const details = {
      cyclic: loop, bigint: 1n, bytes: new Uint8Array(1e7), text: 'x'.repeat(1e6), list: Array(1e6).fill(0),
      escapes: '\\u0001'.repeat(4000), undefined: undefined, null: null, deep: nested(1000), fits: 'x'.repeat(4000),
      'also fits': nested(31),
    };
    for (const [name, detail] of Object.entries(details)) performance.mark(name, { detail });
  </script>`);
  const { envelope: { marks }, body } = await firstUpload();
  assert.deepEqual(names(marks), ['cyclic', 'bigint', 'bytes', 'text', 'list', 'escapes', 'undefined', 'null', 'deep', 'fits', 'also fits']);
  assert.deepEqual(names(marks.filter((/** @type {object} */ mark) => 'detail' in mark)), ['fits', 'also fits']);
  assert.ok(gunzipSync(body).length < 64_000);
});

test('keeps the marks, without details, when there are too many details', async () => {
  await visit(`${tag()}<script>
    for (let i = 0; i < 100; i++) performance.mark('m' + i, { detail: 'x'.repeat(4000) });
  </script>`);
  const marks = await marksOfLoad(({ length }) => length === 100);
  const detailed = marks.filter((/** @type {any} */ { detail }) => detail).length;
  assert.ok(detailed >= 20 && detailed < 30, `${detailed}`);
});

test('bounds what it sends of a page that floods the timeline, and cuts it into pieces', async () => {
  const { page } = await visit(`${tag()}<script>
    performance.mark('x'.repeat(1e6));
    for (let i = 0; i < 10_000; i++) performance.mark("m" + i % 100);
  </script>`);
  assert.equal(await outcome(page), true);
  const marks = await marksOfLoad(({ length }) => length > 3000);
  assert.ok(marks.length < 4000);
  assert.equal(marks[0].name.length, 1024);
  assert.ok(site.uploads.every(({ body }) => gunzipSync(body).length < 65_536));
  assert.deepEqual(leftOut(), { mark: 10_001 - marks.length }, 'how many were left out');
});

for (const build of ['fleetprof.js', 'fleetprof.vitals.js']) {
  test(`${build}: a name that comes thousands of times pushes out no other, and the others are counted`, async () => {
    const { page } = await visit(`${tag({}, build)}<script>
      for (let i = 0; i < 12_000; i++) performance.measure('Row', { start: performance.now(), duration: 0.1, detail: { devtools: { track: 'Components' } } });
      performance.mark('checkout-start');
      performance.measure('checkout', 'checkout-start');
    </script>`);
    await waitFor(async () => await statusOf(page) === 'sent', { what: 'end of profiling' });
    const measures = site.uploads.flatMap(({ envelope }) => envelope.measures ?? []);
    const count = (/** @type {string} */ name) => measures.filter((/** @type {any} */ measure) => measure.name === name).length;
    assert.deepEqual([count('Row'), count('checkout')], [200, 1]);
    assert.deepEqual(leftOut(), { 'measure Row': 11_800 });
    // Later ones are reported when the visitor leaves, even alone.
    await page.evaluate("for (let i = 0; i < 50; i++) performance.mark('Row')");
    await page.goto('about:blank');
    await waitFor(() => leftOut()['mark Row'] === 50, { what: 'what was left out later' });
    assert.equal(leftOut()['measure Row'], 11_800, 'each once');
  });

  test(`${build}: marks and measures after profiling arrive when the visitor leaves, without a trace`, async () => {
    const { page } = await visit(`${tag({ 'max-duration': 300, 'after-load': 600_000 }, build)}<script>performance.mark('early');</script>`);
    await waitFor(() => page.evaluate("fleetprof.start().status === 'sent'"), { what: 'end of profiling' });
    await page.evaluate("performance.mark('checkout-start'); performance.measure('checkout', 'checkout-start')");
    const before = site.uploads.length;
    await page.goto('about:blank');
    await waitFor(() => site.uploads.some(({ envelope }) => envelope.measures?.length), { what: 'late measure' });
    const late = site.uploads.slice(before).map(({ envelope }) => envelope).filter(({ measures }) => measures?.length);
    assert.deepEqual(late.map(({ measures, trace, truncated }) => [names(measures), trace, truncated]), [[['checkout'], undefined, undefined]]);
  });

  test(`${build}: after stop, no mark is sent`, async () => {
    const { page } = await visit(tag({}, build));
    await page.evaluate('fleetprof.start().stop()');
    const before = site.uploads.length;
    await page.evaluate("performance.mark('late')");
    await page.goto(`${site.origin}/page`);
    await waitFor(() => site.uploads.length > before, { what: 'upload of the next page' });
    assert.deepEqual(names(site.uploads.flatMap(({ envelope }) => envelope.marks ?? [])), []);
  });
}

test('says so when the sample buffer is full', async () => {
  // Only the full buffer ends it, however late the samples come.
  await visit(`${tag({ 'max-buffer-size': 5, 'after-load': 600_000 })}<script>${busy} setInterval(() => busy(20), 25)</script>`);
  const { envelope } = await firstUpload();
  assert.deepEqual([envelope.truncated, envelope.leftOut], [true, [{ what: 'profile', count: 0 }]]);
  assert.equal(envelope.maxBufferSize, 5);
  assert.ok(envelope.trace.samples.length <= 5); // the profiler's own is not sent
});

test('says so where the event of the full buffer comes too late', async () => {
  // The page's own profiler starts later and is full later.
  await visit(`<script>var listen = Profiler.prototype.addEventListener; Profiler.prototype.addEventListener = () => {};</script>
    ${tag({ 'max-buffer-size': 5, 'after-load': 600_000 })}<script>${busy} setInterval(() => busy(20), 25);
      const own = new Profiler({ sampleInterval: 10, maxBufferSize: 20 });
      listen.call(own, 'samplebufferfull', () => fleetprof.start().stop());
    </script>`);
  assert.deepEqual((await firstUpload()).envelope.leftOut, [{ what: 'profile', count: 0 }]);
});

test('has the mark made just before it is stopped', async () => {
  await visit(`<script src="/agent/fleetprof.js"></script><script>
    const handle = fleetprof.start({ endpoint: '/v1/ingest/pk_test' });
    addEventListener('load', () => { performance.mark('last'); handle.stop(); });
  </script>`);
  const { envelope: { marks } } = await firstUpload();
  assert.deepEqual(names(marks), ['last']);
});

test('profiles on after the load event for as long as configured', async () => {
  await visit(tag({ 'after-load': 400 }));
  const { envelope } = await firstUpload();
  assert.ok(envelope.duration >= 400, `${envelope.duration} ms`);
});

test('sends one envelope, whatever asks for it', async () => {
  const { page } = await visit(tag({ 'after-load': 100 }));
  await firstUpload();
  const answers = await page.evaluate(async () => {
    const { fleetprof } = /** @type {any} */ (globalThis);
    const again = fleetprof.start({ endpoint: '/v1/ingest/pk_test', afterLoad: 0 });
    return Promise.all([again.stop(), again.stop()]);
  });
  assert.deepEqual(answers, [true, true]);
  assert.equal(site.uploads.length, 1);
});

test('works as a classic script that the page starts itself', async () => {
  await visit(`<script src="/agent/fleetprof.js"></script>
    <script>fleetprof.start({ endpoint: '/v1/ingest/pk_test', release: 'classic' }).stop()</script>`);
  assert.equal((await firstUpload()).envelope.release, 'classic');
});

test('works as an ES module, and only once beside the classic script', async () => {
  const { page } = await visit(`${tag({ release: 'tag' })}<script type="module">
      import { start, version } from '/agent/fleetprof.mjs';
      globalThis.answer = start({ endpoint: '/v1/ingest/pk_test', release: 'module' }).stop();
      globalThis.version = version;
    </script>`);
  assert.equal(await page.evaluate('answer'), true);
  assert.equal(await page.evaluate('version'), version);
  assert.deepEqual(site.uploads.map(({ envelope }) => envelope.release), ['tag']);
});

test('does not throw where there is no document, as on a server that renders pages', async () => {
  for (const build of ['', 'vitals.', 'worker.']) {
    const script = `import { start } from '${repository}/agent/dist/fleetprof.${build}mjs';
      const handle = start({ endpoint: '/v1/ingest/pk_test' });
      handle.setRoute('/cart');
      console.log(handle.status, await handle.stop());`;
    assert.equal(await runOrThrow([process.execPath, '--input-type=module', '-e', script]), 'failed false\n');
  }
});

test('works as an ES module alone', async () => {
  await visit(`<script type="module">
      import { start } from '/agent/fleetprof.mjs';
      start({ endpoint: '/v1/ingest/pk_test', release: 'module', afterLoad: 0 });
    </script>`);
  assert.equal((await firstUpload()).envelope.release, 'module');
});

test('uploads gzip, without preflight, content type, cookies or referrer, to another origin', async () => {
  const endpoint = `${site.origin.replace('127.0.0.1', 'localhost')}/v1/ingest/pk_test`;
  const { page, complaints } = await visit(`${tag({ endpoint })}<script>${busy} busy(100)</script>`);
  assert.equal(await outcome(page), true);
  const [{ headers, body }] = site.uploads;
  assert.ok(isGzip(body));
  assert.deepEqual(site.methods, ['POST']);
  assert.equal(headers.origin, site.origin);
  assert.equal(headers['content-type'], undefined);
  assert.equal(headers['content-encoding'], undefined);
  assert.equal(headers.cookie, undefined);
  assert.equal(headers.referer, undefined);
  assert.equal(Number(headers['content-length']), body.length);
  assert.deepEqual(complaints, []);
});

test('uploads uncompressed where there is no CompressionStream', async () => {
  const { page } = await visit(tag(), { init: 'delete globalThis.CompressionStream' });
  assert.equal(await outcome(page), true);
  assert.equal(site.uploads[0].body[0], '{'.charCodeAt(0));
});

test('uploads uncompressed where the page has a CompressionStream or Response of its own', async () => {
  for (const name of ['CompressionStream', 'Response']) {
    site.reset();
    const { page, complaints } = await visit(tag(), { init: `globalThis.${name} = class { constructor() { throw new Error('page'); } }` });
    assert.equal(await outcome(page), true, name);
    assert.equal(site.uploads[0].body[0], '{'.charCodeAt(0));
    assert.deepEqual(complaints, []);
  }
});

test('comes back with the same id, not before Retry-After is over', async () => {
  site.replies = [{ status: 503, headers: { 'Retry-After': '3' } }];
  const { page } = await visit(tag());
  assert.equal(await outcome(page), true);
  const [first, second] = site.uploads;
  assert.equal(site.uploads.length, 2);
  assert.equal(second.envelope.id, first.envelope.id);
  assert.deepEqual(second.body, first.body);
  assert.ok(second.at - first.at >= 3000, `${second.at - first.at} ms`);
});

/** Makes a page's waits a hundred times shorter, and that for an answer ten times, and lists in `pauses` how long the waits were meant to be. */
const hurry = `
  const { setTimeout: inTime, AbortSignal: { timeout } } = globalThis;
  globalThis.pauses = [];
  globalThis.setTimeout = (callback, ms, ...rest) => {
    if (ms > 1000) pauses.push(ms); // others are those of slices
    return inTime(callback, ms / 100, ...rest);
  };
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 10);`;

/** @param {import('playwright-core').Page} page @returns {Promise<number[]>} */
const pausesOf = (page) => page.evaluate('pauses');

for (const status of [408, 429, 502, 503, 504]) {
  test(`comes back after ${status}`, async () => {
    site.replies = [{ status }];
    const { page } = await visit(tag(), { init: hurry });
    assert.equal(await outcome(page), true);
    assert.equal(site.uploads.length, 2);
    const [pause] = await pausesOf(page);
    assert.ok(pause >= 2000 && pause <= 3000, `${pause} ms`);
  });
}

test('comes back for more than half a minute while a proxy says that the collector is down', async () => {
  site.replies = Array(5).fill({ status: 502 });
  const { page } = await visit(tag(), { init: hurry });
  assert.equal(await outcome(page), true);
  const ids = site.uploads.map(({ envelope }) => envelope.id);
  assert.deepEqual(ids, Array(6).fill(ids[0]));
  const pauses = await pausesOf(page);
  for (const [i, pause] of pauses.entries()) {
    assert.ok(pause >= 2000 * 2 ** i && pause <= 3000 * 2 ** i, `${pause} ms before attempt ${i + 2}`);
  }
  const waited = pauses.reduce((sum, ms) => sum + ms);
  assert.ok(waited > 60_000 && waited < 100_000, `${waited} ms`);
});

test('waits longer than a Retry-After that is shorter than its own pause', async () => {
  site.replies = Array(3).fill({ status: 503, headers: { 'Retry-After': '0' } });
  const { page } = await visit(tag(), { init: hurry });
  assert.equal(await outcome(page), true);
  const third = (await pausesOf(page))[2];
  assert.ok(third >= 8000, `${third} ms`);
});

test('understands a date in Retry-After', async () => {
  site.replies = [{ status: 503, headers: { 'Retry-After': new Date(Date.now() + 60_000).toUTCString() } }];
  const { page } = await visit(tag(), { init: hurry });
  assert.equal(await outcome(page), true);
  const [pause] = await pausesOf(page);
  assert.ok(pause > 50_000 && pause <= 90_000, `${pause} ms`);
});

for (const reply of /** @type {const} */ (['hang up', 'hang'])) {
  test(`comes back with the same id when the collector ${reply === 'hang' ? 'never answers' : 'hangs up'}`, async () => {
    site.replies = [reply];
    const { page } = await visit(tag(), { init: hurry });
    assert.equal(await outcome(page), true);
    const [first, second] = site.uploads;
    assert.equal(site.uploads.length, 2);
    assert.equal(second.envelope.id, first.envelope.id);
  });
}

test('gives up after six attempts', async () => {
  site.replies = Array(10).fill({ status: 503 });
  const { page } = await visit(tag(), { init: hurry });
  assert.equal(await outcome(page), false);
  assert.equal(site.uploads.length, 6);
});

test('does not come back when it would have to wait for an hour, or was refused', async () => {
  for (const reply of [{ status: 503, headers: { 'Retry-After': '3600' } }, { status: 403 }, { status: 422 }, { status: 500 }]) {
    site.uploads = [];
    site.replies = [reply];
    assert.equal(await outcome((await visit(tag())).page), false);
    assert.equal(site.uploads.length, 1, `${reply.status}`);
  }
});

test('takes no other success than 204 for the word of a collector', async () => {
  for (const status of [200, 201, 202]) {
    site.uploads = [];
    site.replies = [{ status, headers: { 'Content-Type': 'text/html' }, body: '<h1>My shop</h1>' }];
    const { page, complaints } = await visit(tag());
    assert.equal(await outcome(page), false, `${status}`);
    assert.equal(site.uploads.length, 1, `${status}`);
    assert.deepEqual(complaints, []);
  }
});

test('takes no page that the upload was redirected to for the word of a collector', async () => {
  site.replies = [{ status: 302, headers: { Location: '/fallback' } }];
  const { page } = await visit(tag());
  assert.equal(await outcome(page), false);
  assert.equal(site.uploads.length, 1);
  assert.ok(site.paths.includes('/fallback'));
});

test('follows a collector that has moved', async () => {
  site.replies = [{ status: 308, headers: { Location: '/v1/ingest/pk_moved' } }];
  const { page } = await visit(tag());
  assert.equal(await outcome(page), true);
  assert.deepEqual(site.uploads.map(({ envelope }) => envelope.id), Array(2).fill(site.uploads[0].envelope.id));
});

// Last: what their tabs have left is sent when they are closed.

test('sends at once when another tab is brought to the front', async () => {
  const tab = await visitHideable("performance.mark('m', { detail: 1 });");
  assert.deepEqual(site.uploads, []);
  await tab.switchAway();
  const { envelope, headers, body } = await firstUpload();
  assert.equal(envelope.marks[0].detail, 1);
  assert.ok(!isGzip(body), 'there is no time to compress');
  assert.equal(headers['content-type'], 'text/plain;charset=UTF-8', 'which needs no preflight');
  assert.ok(site.methods.every((method) => method === 'POST'));
  await tab.close();
});

test('cuts what a hidden page has into beacons', async () => {
  const tab = await visitHideable('for (let i = 0; i < 600; i++) performance.mark(crypto.randomUUID());');
  await tab.switchAway();
  await marksOfLoad(({ length }) => length === 600);
  assert.ok(site.uploads.length > 1);
  await tab.close();
});

// ---- What pages get wrong ----

test('labels become strings that the collector takes', async () => {
  const { page } = await visit(`<script src="/agent/fleetprof.js"></script><script>
    const handle = fleetprof.start({ endpoint: '/v1/ingest/pk_test', release: 20261120, environment: 3, variant: false });
    handle.setRoute('/' + '😀'.repeat(300));
  </script>`);
  assert.equal(await outcome(page), true);
  const { release, environment, variant, page: { route } } = site.uploads[0].envelope;
  assert.deepEqual({ release, environment, variant }, { release: '20261120', environment: '3', variant: 'false' });
  assert.equal(route, `/${'😀'.repeat(199)}`);
});

test('numbers that make no sense count as absent', async () => {
  for (const sampleInterval of ['-5', 'Infinity', '1e9', '20000', 'often']) {
    site.uploads = [];
    const { page } = await visit(tag({ 'sample-interval': sampleInterval, 'max-buffer-size': -5, 'part-length': -1, 'max-duration': 'x' }));
    assert.equal(await outcome(page), true, sampleInterval);
    const { requestedInterval, maxBufferSize, coverage } = site.uploads[0].envelope;
    assert.deepEqual([requestedInterval, maxBufferSize, coverage], [10, 10_000, undefined], sampleInterval);
  }
  const { page } = await visit(`<script src="/agent/fleetprof.js"></script><script>${busy}
    for (const afterLoad of [Infinity, null]) fleetprof.start({ endpoint: '/v1/ingest/pk_test', afterLoad });
    addEventListener('load', () => setTimeout(() => { globalThis.status = fleetprof.start().status; }, 50));
  </script>`);
  await page.waitForFunction('globalThis.status');
  assert.equal(await page.evaluate('status'), 'profiling');
});

test('only the limit of profilers counts as quota', async () => {
  const quota = 'for (;;) try { new Profiler({ sampleInterval: 10, maxBufferSize: 10 }) } catch { break }';
  const broken = 'globalThis.Profiler = class { constructor() { throw new Error("broken"); } }';
  for (const [script, status, coverage] of [[quota, 'quota', ['quota']], [broken, 'failed', []]]) {
    site.uploads = [];
    const { page, complaints } = await visit(`<script>${script}</script>${tag()}`);
    await outcome(page);
    assert.equal(await statusOf(page), status);
    if (status === 'quota') await firstUpload();
    assert.deepEqual(site.uploads.map(({ envelope }) => envelope.coverage), coverage);
    assert.deepEqual(complaints, []);
  }
});

test('views are noticed without the Navigation API: an older browser, or a variable of the page that hides it', async () => {
  for (const build of ['fleetprof.js', 'fleetprof.vitals.js']) {
    site.uploads = [];
    const { page } = await visit(`<script>var navigation = { menu: [] };</script>${tag({ 'after-load': 600_000 }, build)}<script>${busy}
      busy(100);
      addEventListener('load', () => {
        history.pushState(null, '', '/list');
        setInterval(() => busy(20), 30);
      });
    </script>`);
    const paths = () => new Set(site.uploads.map(({ envelope }) => new URL(envelope.page.url).pathname));
    await waitFor(() => paths().has('/page'), { what: 'the part of the first view' });
    assert.equal(await outcome(page), true);
    await waitFor(() => paths().has('/list'), { what: 'the part of the second view' });
    assert.ok(site.uploads.every(({ envelope: { coverage, trace } }) => coverage === undefined && (trace || build !== 'fleetprof.js')), build);
  }
});

test('an unchanged route or release cuts nothing', async () => {
  const { page } = await visit(`${tag({ 'after-load': 600_000 })}<script>${busy}
    const handle = fleetprof.start();
    for (let i = 0; i < 30; i++) { performance.mark('m'); handle.setRoute('/a'); handle.setRelease('r1'); busy(5); }
  </script>`);
  assert.equal(await outcome(page), true);
  assert.ok(site.uploads.length <= 2, `${site.uploads.length} uploads`);
});

test('what beforeSend changes is not there the next time', async () => {
  const { page } = await visit(`<script src="/agent/fleetprof.js"></script><script>${busy}
    const handle = fleetprof.start({ endpoint: '/v1/ingest/pk_test', route: '/r', beforeSend: (envelope) => {
      envelope.page.url += '?v=1';
      envelope.page.route += '!';
      return envelope;
    } });
    // Marks of more than one upload.
    for (let i = 0; i < 24; i++) performance.mark('m' + i, { detail: 'x'.repeat(4000) });
  </script>`);
  assert.equal(await outcome(page), true);
  assert.ok(site.uploads.length > 1);
  assert.deepEqual(site.uploads.map(({ envelope: { page: own } }) => [own.url, own.route]),
    site.uploads.map(() => [`${site.origin}/page?v=1`, '/r!']));
});

for (const [kind, script] of [['script', tag()], ['module', `<script type="module">
    import { start } from '/agent/fleetprof.mjs';
    start({ endpoint: '/v1/ingest/pk_test', afterLoad: 300 });
  </script>`]]) {
  test(`a page that holds the name of the agent is profiled all the same, by a ${kind}`, async () => {
    const { complaints } = await visit(`${script}<script>addEventListener('load', () => { ${busy} busy(200) })</script>`, {
      init: "Object.defineProperty(globalThis, 'fleetprof', { value: null })",
    });
    const { envelope } = await firstUpload();
    assert.ok(envelope.trace.samples.length > 0);
    assert.deepEqual(complaints, []);
  });
}

test('ids are UUIDs whatever the page says that the time is', async () => {
  for (const now of ['-5', '1.5e12 + 0.125', '0', '-1e12 / 3', '4e12']) {
    site.reset();
    const { page } = await visit(tag(), { init: `Date.now = () => ${now}` });
    assert.equal(await outcome(page), true, now);
    const { id, load } = site.uploads[0].envelope;
    for (const uuid of [id, load]) assert.match(uuid, /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-8[\da-f]{3}-[\da-f]{12}$/, now);
  }
});

test('a toJSON on a prototype, as of older libraries, changes nothing of what is sent', async () => {
  const { page } = await visit(`${tag()}<script>${busy} performance.mark('m', { detail: [1] }); busy(300)</script>`, {
    init: `Array.prototype.toJSON = function () { return '[' + this.join() + ']'; };
      Object.prototype.toJSON = function () { return 'an object'; };`,
  });
  assert.equal(await outcome(page), true);
  const [{ envelope }] = site.uploads;
  const { frames, resources, samples } = envelope.trace;
  const { resourceId } = frames.find((/** @type {any} */ { name }) => name === 'busy');
  assert.equal(resources[resourceId], `${site.origin}/page`);
  assert.ok(samples.length > 5, `${samples.length} samples`);
  assert.deepEqual(names(envelope.marks), ['m']);
});

test('says that not all was sent where beforeSend throws, and goes on', async () => {
  const { page, complaints } = await visit(`<script src="/agent/fleetprof.js"></script><script>
    let calls = 0;
    const handle = fleetprof.start({ endpoint: '/v1/ingest/pk_test', beforeSend(envelope) {
      if (calls++ === 0) throw new Error('hook');
      return envelope;
    } });
    performance.mark('one');
  </script>`);
  await page.evaluate("handle.setRoute('/a'); performance.mark('two'); handle.setRoute('/b'); performance.mark('three')");
  assert.equal(await outcome(page), false);
  assert.deepEqual(await page.evaluate('[handle.status, handle.detail]'), ['failed', 'Error: hook']);
  assert.deepEqual(names(site.uploads.flatMap(({ envelope }) => envelope.marks)), ['three']);
  assert.deepEqual(complaints, []);
});

test('marks in any script arrive when the visitor leaves, and their profile too', async () => {
  site.pages['/next'] = 'next';
  // All of them are more than a page may send at its end.
  for (const [staysMs, least] of [[1000, 24], [0, 12]]) {
    site.uploads = [];
    const { page } = await visit(`${tag({ 'after-load': 600_000 })}<script>${busy} busy(100);
      for (let i = 0; i < 24; i++) performance.mark('m' + i, { detail: '字'.repeat(1000) });
      addEventListener('load', () => setTimeout(() => { location.href = '/next'; }, ${staysMs}));
    </script>`);
    await page.waitForURL(`${site.origin}/next`);
    const marks = await marksOfLoad(({ length }) => length >= least);
    assert.equal(new Set(names(marks)).size, marks.length);
    await waitFor(() => site.uploads.some(({ envelope }) => envelope.trace), { what: 'profile' });
  }
});

test('a page that opens hidden is not profiled until it is seen', async () => {
  const { page } = await visit(`<script>${busy}
    let state = 'hidden';
    Object.defineProperty(document, 'hidden', { get: () => state === 'hidden', configurable: true });
    Object.defineProperty(document, 'visibilityState', { get: () => state, configurable: true });
  </script>${tag({ 'after-load': 600_000 })}<script>busy(100);</script>`);
  const { envelope } = await firstUpload();
  assert.deepEqual([envelope.part, envelope.trace.samples], [0, []]);
  const seen = /** @type {number} */ (await page.evaluate(`
    const seen = performance.now();
    state = 'visible'; document.dispatchEvent(new Event('visibilitychange', { bubbles: true })); busy(400); seen`));
  assert.equal(await outcome(page), true);
  /** The functions that ran at each sample, before and after. @type {[string[], string[]]} */
  const ran = [[], []];
  for (const { envelope: { trace } } of site.uploads) {
    for (const { timestamp, stackId } of trace.samples) ran[Number(timestamp >= seen - 5)].push(trace.frames[trace.stacks[stackId]?.frameId]?.name);
  }
  // The agent itself may be sampled while it learns that the page is hidden.
  assert.deepEqual([ran[0].includes('busy'), ran[1].includes('busy')], [false, true], JSON.stringify(ran));
});

for (const build of ['fleetprof.js', 'fleetprof.vitals.js']) {
  test(`${build}: the marks of a page that nobody ever sees arrive when its tab is closed`, async () => {
    const { page } = await visit(`<script>
      Object.defineProperty(document, 'hidden', { get: () => true });
      Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
    </script>${tag({ 'after-load': 600_000 }, build)}`);
    await firstUpload();
    await page.evaluate("performance.mark('unseen')");
    await page.close({ runBeforeUnload: true });
    await waitFor(() => site.uploads.some(({ envelope }) => names(envelope.marks ?? []).includes('unseen')), { what: 'the mark' });
  });
}
