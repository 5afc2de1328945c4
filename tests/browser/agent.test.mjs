/**
 * The agent in real Chromium, against a small server that serves pages and keeps what is uploaded.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { repository, waitFor } from '../behaviour/stack.mjs';
import { launchChromium, openHideableTab, openTab } from './chromium.mjs';

/**
 * @typedef {object} Upload
 * @property {http.IncomingHttpHeaders} headers
 * @property {Buffer} body
 * @property {any} envelope
 * @property {number} at ms
 *
 * @typedef {{ status: number, headers?: Record<string, string> } | 'hang up'} Reply
 */

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {http.Server} */
let server;
/** @type {string} */
let origin;
/** @type {Upload[]} */
let uploads = [];
/** @type {string[]} methods of all requests to the ingest URL */
let methods = [];
/** @type {Set<string>} paths that were asked for */
let paths = new Set();
/** @type {Reply[]} what the next uploads are answered with, before 204 */
let replies = [];
/** @type {Record<string, string>} path → HTML */
let pages = {};
/** @type {Record<string, string | string[]>} path → Server-Timing */
let serverTimings = {};
/** How many pages were answered with 304. */
let revalidations = 0;

/** Keeps the main thread busy, so that there are samples. */
const busy = 'function busy(ms) { const end = performance.now() + ms; while (performance.now() < end); }';

before(async () => {
  browser = await launchChromium();
  server = http.createServer(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`;
});

after(async () => {
  await browser?.close();
  server?.closeAllConnections();
  server?.close();
});

beforeEach(() => {
  uploads = [];
  methods = [];
  paths = new Set();
  replies = [];
  pages = {};
  serverTimings = {};
  revalidations = 0;
});

/**
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 */
async function serve(request, response) {
  const { pathname } = new URL(request.url ?? '/', 'http://host');
  paths.add(pathname);
  // On a kept connection that breaks, Chromium repeats the request itself.
  response.shouldKeepAlive = false;
  if (pathname.startsWith('/v1/ingest/')) {
    await receive(request, response);
  } else if (pathname.startsWith('/agent/')) {
    response.setHeader('Content-Type', 'text/javascript');
    response.end(fs.readFileSync(path.join(repository, pathname)));
  } else {
    if (!pathname.startsWith('/without-policy')) response.setHeader('Document-Policy', 'js-profiling');
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    response.setHeader('Set-Cookie', 'session=secret');
    if (serverTimings[pathname]) response.setHeader('Server-Timing', serverTimings[pathname]);
    response.setHeader('ETag', '"1"');
    response.setHeader('Cache-Control', 'no-cache');
    if (request.headers['if-none-match']) {
      revalidations++;
      response.writeHead(304).end();
      return;
    }
    response.end(`<!doctype html><link rel="icon" href="data:,">${pages[pathname]}`);
  }
}

/**
 * @param {http.IncomingMessage} request
 * @param {http.ServerResponse} response
 */
async function receive(request, response) {
  methods.push(request.method ?? '');
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  const plain = isGzip(body) ? gunzipSync(body) : body;
  uploads.push({ headers: request.headers, body, envelope: JSON.parse(plain.toString()), at: performance.now() });
  const reply = replies.shift() ?? { status: 204 };
  if (reply === 'hang up') {
    request.socket.destroy();
  } else {
    response.writeHead(reply.status, {
      'Access-Control-Allow-Origin': request.headers.origin ?? '',
      'Access-Control-Expose-Headers': 'Retry-After',
      ...reply.headers,
    }).end();
  }
}

/** @param {Buffer} body */
const isGzip = (body) => body[0] === 0x1f && body[1] === 0x8b;

/**
 * The agent's script tag; ends profiling at the load event unless told otherwise.
 * @param {Record<string, string | number>} [data]
 */
function tag(data = {}) {
  const attributes = Object.entries({ endpoint: '/v1/ingest/pk_test', 'after-load': 0, ...data })
    .map(([name, value]) => ` data-${name}="${value}"`).join('');
  return `<script src="/agent/fleetprof.js"${attributes}></script>`;
}

/**
 * Opens a page made of this HTML and waits for its load event.
 * @param {string} html
 * @param {{ path?: string, init?: string }} [options] init: script that runs before all others
 */
async function visit(html, { path: at = '/page', init } = {}) {
  pages[new URL(at, origin).pathname] = html;
  const { page, complaints } = await openTab(browser);
  if (init) await page.addInitScript(init);
  await page.goto(origin + at);
  return { page, complaints };
}

/**
 * Opens a page that would profile for ten minutes, in a tab that can be hidden, and waits until it has loaded.
 * @param {string} script
 */
async function visitHideable(script) {
  pages['/page'] = `${tag({ 'after-load': 600_000 })}<script>
    ${script}
    addEventListener('load', () => fetch('/loaded'));
  </script>`;
  const tab = await openHideableTab(browser, `${origin}/page`);
  await waitFor(() => paths.has('/loaded'), { what: 'loaded page' });
  return tab;
}

/**
 * What the page's agent says about its upload.
 * @param {import('playwright-core').Page} page
 * @returns {Promise<boolean | 'late'>}
 */
const outcome = (page) => page.evaluate(() => Promise.race([
  /** @type {any} */ (globalThis).fleetprof.start().stop(),
  new Promise((resolve) => { setTimeout(resolve, 20_000, 'late'); }),
]));

/** @param {{ name: string }[]} entries */
const names = (entries) => entries.map(({ name }) => name);

/** @returns {Promise<Upload>} the first one */
const firstUpload = () => waitFor(() => uploads[0], { what: 'upload' });

test('profiles a page whose document policy allows it', async () => {
  const { page, complaints } = await visit(`${tag()}<script>${busy} busy(200)</script>`);
  const { envelope } = await firstUpload();
  const { frames, resources, samples, stacks } = envelope.trace;
  assert.ok(samples.length >= 10, `${samples.length} samples in 200 ms`);
  assert.ok(stacks.length > 0);
  const frame = frames.find((/** @type {any} */ candidate) => candidate.name === 'busy');
  assert.equal(resources[frame.resourceId], `${origin}/page`);
  assert.equal(await outcome(page), true);
  assert.deepEqual(complaints, []);
});

test('sends nothing and throws nothing without the policy', async () => {
  const { page, complaints } = await visit(`${tag()}<script>performance.mark('m')</script>`, { path: '/without-policy' });
  assert.equal(await outcome(page), false);
  assert.deepEqual(uploads, []);
  // The browser's own remark about the refused Profiler cannot be avoided: pages can't ask beforehand.
  assert.deepEqual(complaints, ['Document policy violation: js-profiling is not allowed in this document.']);
});

test('does nothing at all in a browser without the API', async () => {
  const { page, complaints } = await visit(tag(), { init: 'delete globalThis.Profiler' });
  assert.equal(await outcome(page), false);
  assert.deepEqual(uploads, []);
  assert.deepEqual(complaints, []);
});

test('does nothing when it is not told where to send', async () => {
  const { page, complaints } = await visit('<script src="/agent/fleetprof.js"></script>');
  assert.equal(await page.evaluate(() => /** @type {any} */ (globalThis).fleetprof.start({}).stop()), false);
  assert.deepEqual(uploads, []);
  assert.deepEqual(complaints, []);
});

test('fills the envelope, and with nothing else', async () => {
  await visit(tag({
    release: 'r1', environment: 'test', variant: 'b', route: '/page/:id', 'sample-interval': 13, 'max-buffer-size': 500,
  }), { path: '/page?token=secret#secret' });
  const { envelope } = await firstUpload();
  const { id, load, timeOrigin, duration, trace, marks, measures, ...rest } = envelope;
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  assert.match(id, uuid);
  assert.match(load, uuid);
  assert.notEqual(id, load);
  assert.ok(Math.abs(timeOrigin - Date.now()) < 60_000);
  assert.ok(duration > 0 && duration < 60_000);
  assert.deepEqual(Object.keys(trace).sort(), ['frames', 'resources', 'samples', 'stacks']);
  assert.deepEqual([marks, measures], [[], []]);
  assert.deepEqual(rest, {
    version: 1,
    part: 0,
    agent: { name: 'fleetprof-agent', version: '0.1.0' },
    page: { url: `${origin}/page`, route: '/page/:id' },
    release: 'r1',
    environment: 'test',
    variant: 'b',
    thread: 'window',
    sampleInterval: 20,
    requestedInterval: 13,
    maxBufferSize: 500,
  });
});

test('sends the token that the page came with, among other entries', async () => {
  const token = 'v1.9dfbd8d2.shop.500.1767225600.AAECAwQFBgcICQoL.qmBM2gSomIaTNbIOiPddzEDGCVo5ZsymcZpcwrrKKDc';
  serverTimings['/page'] = ['db;dur=12;desc="fleetprof"', `fleetprof;desc="${token}"`, 'cache;desc="0"'];
  await visit(tag());
  const { envelope } = await firstUpload();
  assert.equal(envelope.token, token);
});

test('sends no token where there is none, or none any more', async () => {
  for (const [at, entries] of Object.entries({
    '/none': 'db;dur=1', '/zero': 'fleetprof;desc="0"', '/bare': 'fleetprof', '/empty': 'fleetprof;desc=""',
  })) {
    uploads = [];
    serverTimings[at] = entries;
    await visit(tag(), { path: at });
    const { envelope } = await firstUpload();
    assert.ok(!('token' in envelope), `${at}: ${envelope.token}`);
  }
  // A browser without the property.
  uploads = [];
  await visit(tag(), { init: 'delete PerformanceResourceTiming.prototype.serverTiming' });
  assert.ok(!('token' in (await firstUpload()).envelope));
});

test('a 304 takes a stored page\'s token away', async () => {
  serverTimings['/page'] = 'fleetprof;desc="v1.first"';
  const { page } = await visit(tag());
  assert.equal((await firstUpload()).envelope.token, 'v1.first');
  uploads = [];
  serverTimings['/page'] = 'fleetprof;desc="0"';
  await page.goto(`${origin}/page`);
  assert.ok(!('token' in (await firstUpload()).envelope));
  assert.equal(revalidations, 1);
});

test('leaves out the dimensions it was not given', async () => {
  await visit(tag());
  const { envelope } = await firstUpload();
  assert.deepEqual(envelope.page, { url: `${origin}/page` });
  for (const name of ['release', 'environment', 'variant', 'truncated']) assert.ok(!(name in envelope), name);
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
      'fits, too': nested(31),
    };
    for (const [name, detail] of Object.entries(details)) performance.mark(name, { detail });
  </script>`);
  const { envelope: { marks }, body } = await firstUpload();
  assert.deepEqual(names(marks), ['cyclic', 'bigint', 'bytes', 'text', 'list', 'escapes', 'undefined', 'null', 'deep', 'fits', 'fits, too']);
  assert.deepEqual(names(marks.filter((/** @type {object} */ mark) => 'detail' in mark)), ['fits', 'fits, too']);
  assert.ok(gunzipSync(body).length < 64_000);
});

test('bounds the details of all marks together', async () => {
  await visit(`${tag()}<script>
    for (let i = 0; i < 100; i++) performance.mark('m' + i, { detail: 'x'.repeat(4000) });
  </script>`);
  const { envelope: { marks } } = await firstUpload();
  assert.equal(marks.length, 100);
  assert.equal(marks.filter((/** @type {any} */ { detail }) => detail).length, 16);
});

test('bounds the number of entries and the length of a name', async () => {
  await visit(`${tag()}<script>
    performance.mark('x'.repeat(1e6));
    for (let i = 0; i < 6000; i++) performance.mark('m');
  </script>`);
  const { envelope: { marks, truncated } } = await firstUpload();
  assert.equal(marks.length, 5000);
  assert.equal(marks[0].name.length, 1024);
  assert.equal(truncated, true);
});

test('says so when the sample buffer is full', async () => {
  await visit(`${tag({ 'max-buffer-size': 5, 'after-load': 100 })}<script>${busy} busy(300)</script>`);
  const { envelope } = await firstUpload();
  assert.equal(envelope.truncated, true);
  assert.equal(envelope.maxBufferSize, 5);
  assert.equal(envelope.trace.samples.length, 5);
});

test('has the mark made just before it is stopped', async () => {
  await visit(`<script src="/agent/fleetprof.js"></script><script>
    const handle = fleetprof.start({ endpoint: '/v1/ingest/pk_test' });
    addEventListener('load', () => { performance.mark('last'); handle.stop(); });
  </script>`);
  const { envelope: { marks } } = await firstUpload();
  assert.deepEqual(names(marks), ['last']);
});

test('goes on after the load event for as long as it is told', async () => {
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
  assert.equal(uploads.length, 1);
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
  assert.equal(await page.evaluate('version'), '0.1.0');
  assert.deepEqual(uploads.map(({ envelope }) => envelope.release), ['tag']);
});

test('works as an ES module alone', async () => {
  await visit(`<script type="module">
      import { start } from '/agent/fleetprof.mjs';
      start({ endpoint: '/v1/ingest/pk_test', release: 'module', afterLoad: 0 });
    </script>`);
  assert.equal((await firstUpload()).envelope.release, 'module');
});

test('uploads gzip, without preflight, content type, cookies or referrer, to another origin', async () => {
  const endpoint = `${origin.replace('127.0.0.1', 'localhost')}/v1/ingest/pk_test`;
  const { page, complaints } = await visit(`${tag({ endpoint })}<script>${busy} busy(100)</script>`);
  assert.equal(await outcome(page), true);
  const [{ headers, body }] = uploads;
  assert.ok(isGzip(body));
  assert.deepEqual(methods, ['POST']);
  assert.equal(headers.origin, origin);
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
  assert.equal(uploads[0].body[0], '{'.charCodeAt(0));
});

test('uploads more than keepalive allows', async () => {
  const { page } = await visit(`${tag()}<script>
    for (let i = 0; i < 5000; i++) performance.mark(crypto.randomUUID());
  </script>`);
  assert.equal(await outcome(page), true);
  assert.equal(uploads.length, 1);
  assert.ok(uploads[0].body.length > 65_536);
});

test('sends at once when another tab is brought to the front', async () => {
  const tab = await visitHideable("performance.mark('m', { detail: 1 });");
  assert.deepEqual(uploads, []);
  await tab.switchAway();
  const { envelope, headers, body } = await firstUpload();
  assert.equal(envelope.marks[0].detail, 1);
  assert.ok(!isGzip(body), 'there is no time to compress');
  assert.equal(headers['content-type'], undefined);
  assert.deepEqual(methods, ['POST']);
});

test('finds another way when a hidden page has more than a beacon takes', async () => {
  const tab = await visitHideable('for (let i = 0; i < 5000; i++) performance.mark(crypto.randomUUID());');
  await tab.switchAway();
  const { envelope, body } = await firstUpload();
  assert.equal(envelope.marks.length, 5000);
  assert.ok(isGzip(body));
});

for (const status of [429, 503]) {
  test(`comes back with the same id after ${status}, not before Retry-After is over`, async () => {
    replies = [{ status, headers: { 'Retry-After': '1' } }];
    const { page } = await visit(tag());
    assert.equal(await outcome(page), true);
    const [first, second] = uploads;
    assert.equal(uploads.length, 2);
    assert.equal(second.envelope.id, first.envelope.id);
    assert.deepEqual(second.body, first.body);
    assert.ok(second.at - first.at >= 1000, `${second.at - first.at} ms`);
  });
}

test('understands a date in Retry-After', async () => {
  replies = [{ status: 503, headers: { 'Retry-After': new Date(Date.now() + 1000).toUTCString() } }];
  const { page } = await visit(tag());
  assert.equal(await outcome(page), true);
  assert.equal(uploads.length, 2);
});

test('comes back with the same id when the connection breaks', async () => {
  replies = ['hang up'];
  const { page } = await visit(tag());
  assert.equal(await outcome(page), true);
  const [first, second] = uploads;
  assert.equal(uploads.length, 2);
  assert.equal(second.envelope.id, first.envelope.id);
});

test('gives up after four attempts', async () => {
  replies = Array(10).fill({ status: 503, headers: { 'Retry-After': '0' } });
  const { page } = await visit(tag());
  assert.equal(await outcome(page), false);
  assert.equal(uploads.length, 4);
});

test('does not come back when it would have to wait for an hour, or was refused', async () => {
  replies = [{ status: 503, headers: { 'Retry-After': '3600' } }];
  assert.equal(await outcome((await visit(tag())).page), false);
  assert.equal(uploads.length, 1);
  replies = [{ status: 422 }];
  assert.equal(await outcome((await visit(tag())).page), false);
  assert.equal(uploads.length, 2);
});
