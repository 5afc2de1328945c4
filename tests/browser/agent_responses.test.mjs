// SPDX-License-Identifier: Apache-2.0
/**
 * Waits after a click, until its result: a page behind nginx that answers clicks by a timer, by a request, and by code
 * around a request to another origin, a real collector and PostgreSQL. INP ends with the first paint; the response ends
 * with the result.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { repository, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** Answers a search after 600 ms. @type {http.Server} */
let search;
/** Its host. */
let api = '';

/** Notes when a result was painted by the browser's element timing, which the agent does not use. */
const page = (/** @type {string} */ api) => `<!doctype html><link rel="icon" href="data:,"><script src="/agent/fleetprof.vitals.js"></script>
  <script>
    fleetprof.start({ endpoint: '/v1/ingest/pk_shop', partLength: 300, variant: location.search.slice(1) });
    globalThis.clicked = {};
    globalThis.painted = {};
    globalThis.busyMs = 0;
    new PerformanceObserver((list) => {
      for (const { identifier, renderTime } of list.getEntries()) painted[identifier] = renderTime;
    }).observe({ type: 'element', buffered: true });
    const show = (name, text) => {
      out.innerHTML = '<p elementtiming="' + name + '" style="font-size: 40px">' + (text + ' ').repeat(40) + '</p>';
    };
    function renderReviews(ms = 500) {
      const start = performance.now();
      while (performance.now() < start + ms);
      busyMs += performance.now() - start;
    }
    addEventListener('click', ({ target, timeStamp }) => { clicked[target.className] = timeStamp; }, true);
  </script>
  <body><h1>Shop</h1><button class="reviews">Reviews</button><button class="search">Search</button><button class="order">Order</button><div id="out"></div>
  <script>
    document.querySelector('.reviews').addEventListener('click', () => setTimeout(() => {
      renderReviews();
      history.pushState({}, '', '/reviews/7/');
      show('reviews', 'a review');
    }, 150));
    document.querySelector('.search').addEventListener('click', async () => {
      out.innerHTML = '<p>Searching</p>';
      show('search', await (await fetch('/search')).text());
    });
    document.querySelector('.order').addEventListener('click', async () => {
      renderReviews(120);
      const text = await (await fetch('${api}')).text();
      renderReviews(80);
      show('order', text);
    });
  </script>`;

before(async () => {
  const dir = temporaryDir('responses');
  fs.chmodSync(dir, 0o755);
  fs.mkdirSync(`${dir}/product/7`, { recursive: true });
  fs.writeFileSync(`${dir}/next.html`, '<link rel="icon" href="data:,">next');
  search = http.createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    setTimeout(() => response.end('found'), 600);
  });
  search.listen(0, '127.0.0.1');
  await once(search, 'listening');
  const { port: searchPort } = /** @type {import('node:net').AddressInfo} */ (search.address());
  api = `127.0.0.1:${searchPort}`;
  fs.writeFileSync(`${dir}/product/7/index.html`, page(`http://${api}/order`));
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop', routes: ['/product/:id/', '/reviews/:id/'] }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        location / { fleetprof on; fleetprof_sample 100%; root ${dir}; }
        location /agent/ { alias ${repository}/agent/dist/; }
        location /search { proxy_pass http://127.0.0.1:${searchPort}; }
        location /v1/ { proxy_pass ${ingest}; proxy_set_header Origin ''; }
      }`,
  });
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await stack?.stop();
  search?.close();
});

/**
 * Clicks, waits for the result, and leaves.
 * @param {string} button
 * @param {string} [variant]
 * @returns {Promise<{ waitedMs: number, busyMs: number, fetchedMs: number }>} by the page's clock
 */
async function visit(button, variant = '') {
  const { url } = /** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx);
  const { page: tab, complaints } = await openTab(browser);
  await tab.goto(new URL(`/product/7/?${variant}`, url).href);
  await tab.click(`.${button}`);
  await tab.waitForFunction((name) => name in /** @type {any} */ (globalThis).painted, button);
  // Until its part has been sent.
  await tab.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 600); }));
  const { clicked, painted, busyMs, fetchedMs } = /** @type {any} */ (await tab.evaluate(`({
    clicked, painted, busyMs, fetchedMs: performance.getEntriesByType('resource').find(({ name }) => name.endsWith('/order'))?.duration,
  })`));
  await tab.goto(new URL('/next.html', url).href);
  assert.deepEqual(complaints, []);
  await tab.context().close();
  return { waitedMs: painted[button] - clicked[button], busyMs, fetchedMs };
}

/**
 * Returns the only response to a target.
 * @param {string} target
 * @param {number} waitedMs by the page's clock
 */
async function assertResponse(target, waitedMs) {
  /** @type {any} */
  let row;
  await waitFor(async () => {
    [row] = await stack.sql(`
      select type, responses::integer as responses, response_p75_ms, response_p98_ms
      from fleetprof.interactions('shop', route => '/product/:id/') where target = '${target}'`);
    return row?.responses > 0;
  }, { what: `response to ${target}` });
  assert.deepEqual([row.type, row.responses], ['pointer', 1]);
  assert.ok(Math.abs(row.response_p75_ms / waitedMs - 1) <= 0.05, `${row.response_p75_ms} ms, by the page's clock ${waitedMs} ms`);
  assert.equal(row.response_p98_ms, row.response_p75_ms);
}

test('a click whose result comes by a timer: its INP is short, its response is what the visitor waited', async () => {
  const { waitedMs, busyMs } = await visit('reviews');
  assert.ok(waitedMs >= 650);
  await assertResponse('html>body>button.reviews', waitedMs);
  const [{ inp }] = await stack.sql("select max_ms as inp from fleetprof.interactions('shop') where target = 'html>body>button.reviews'");
  assert.ok(inp === null || inp < waitedMs / 2, `${inp} ms`);

  /** @type {any[]} */
  let rows = [];
  await waitFor(async () => {
    rows = await stack.sql("select function, self_ms from fleetprof.measure_hotspots('(response) html>body>button.reviews', 'shop')");
    return rows.length > 0;
  }, { what: 'functions in the response' });
  assert.equal(rows[0].function, 'renderReviews', JSON.stringify(rows));
  assert.ok(rows[0].self_ms >= busyMs / 2 && rows[0].self_ms <= busyMs * 1.1, `${rows[0].self_ms} ms, by the page's clock ${busyMs} ms`);
  assert.equal((await stack.sql("select 1 from fleetprof.measure_hotspots('(interaction) pointer html>body>button.reviews', 'shop')")
  ).length, 0);
});

test('a slow search behind a spinner: the response ends with its result, not with the spinner', async () => {
  const { waitedMs } = await visit('search');
  assert.ok(waitedMs >= 600);
  await assertResponse('html>body>button.search', waitedMs);
});

test('own code around a request to another origin: shares are those of the page\'s clock, and the host is named', async (t) => {
  // On a busy machine, the profiler misses what ran.
  let visited;
  let variant = 0;
  do visited = await visit('order', `${++variant}`);
  while (visited.waitedMs > 900 && variant < 20);
  const { waitedMs, busyMs, fetchedMs } = visited;
  const target = 'html>body>button.order';
  /** @type {any[]} */
  let rows = [];
  await waitFor(async () => {
    rows = await stack.sql(`select kind, name, ms, share, responses::integer as responses from fleetprof.waits('${target}', 'shop', variant => '${variant}')`);
    return rows.some(({ kind }) => kind === 'own');
  }, { what: 'waits' });
  t.diagnostic(JSON.stringify({ waitedMs, busyMs, fetchedMs, rows }));
  const ms = (/** @type {string} */ kind) => rows.filter((row) => row.kind === kind).reduce((sum, row) => sum + row.ms, 0);
  const isNear = (/** @type {number} */ found, /** @type {number} */ expected) => Math.abs(found - expected) <= 0.1 * waitedMs;
  assert.ok(isNear(ms('own'), busyMs), `${ms('own')} ms, by the page's clock ${busyMs} ms`);
  // While the request was in flight, the agent and the browser also ran, and on a busy machine a frame that no sample explains.
  const inFlight = ['waiting', 'agent', 'browser', 'hidden'].reduce((sum, kind) => sum + ms(kind), 0);
  assert.ok(isNear(inFlight, fetchedMs), `${inFlight} ms, by the page's clock ${fetchedMs} ms`);
  assert.ok(ms('waiting') > fetchedMs / 2 && ms('waiting') < fetchedMs + 0.1 * waitedMs, `${ms('waiting')} of ${fetchedMs} ms`);
  assert.deepEqual(rows.filter(({ kind }) => kind === 'waiting').map(({ name }) => name), [api]);
  assert.ok(rows.every(({ responses }) => responses === 1), JSON.stringify(rows));
  const [{ us, window_us }] = await stack.sql(`
    select (select round(sum(ms) * 1000)::integer from fleetprof.waits('${target}', 'shop', variant => '${variant}')) as us,
      (select sum(entry.sum_us)::integer
       from fleetprof_data.timing_packed
       cross join unnest(timing_id, sum_us) as entry (id, sum_us)
       where group_id in (select segment_id from fleetprof.segment where variant = '${variant}')
         and id in (select timing_id from fleetprof_data.timing where kind = 'window' and name = '(response) ${target}')) as window_us`);
  assert.equal(us, window_us);
});
