// SPDX-License-Identifier: Apache-2.0
/**
 * From a poor INP to the function: a React application behind nginx, a real collector and PostgreSQL. A deliberately
 * slow interaction has to be found, with the time that its handler took by the page's own clock.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { repository, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { bundle } from './bundle.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;

/** A list of reviews that one can sort, which is slow, and an article that one can buy, which is fast. */
const application = `
  import { useState } from 'react';
  import { createRoot } from 'react-dom/client';
  globalThis.handled = [];
  // Methods, whose names a minifier keeps.
  const shop = {
    sortReviews(reviews) {
      const start = performance.now();
      const sorted = [...reviews];
      while (performance.now() < start + 800) {
        sorted.reverse();
        for (let i = 1; i < sorted.length; i++) {
          for (let j = i; j > 0 && sorted[j - 1] > sorted[j]; j--) [sorted[j - 1], sorted[j]] = [sorted[j], sorted[j - 1]];
        }
      }
      handled.push([start, performance.now()]);
      return sorted;
    },
    addToCart(count) {
      const end = performance.now() + 60;
      while (performance.now() < end);
      return count + 1;
    },
  };
  function Product() {
    const [reviews, setReviews] = useState(Array.from({ length: 300 }, (_, i) => 300 - i));
    const [count, setCount] = useState(0);
    return <main>
      <button className="add-to-cart" onClick={() => setCount(shop.addToCart(count))}>Buy ({count})</button>
      <button className="sort" onClick={() => setReviews(shop.sortReviews(reviews))}>Sort</button>
      <ol>{reviews.map((review) => <li key={review}>{review}</li>)}</ol>
    </main>;
  }
  createRoot(document.body.appendChild(document.createElement('div'))).render(<Product />);`;

/** Keeps a copy of what it sends, which outlasts the page. */
const page = `<!doctype html><link rel="icon" href="data:,"><script src="/agent/fleetprof.vitals.js"></script>
  <script>
    const sent = [];
    fleetprof.start({ endpoint: '/v1/ingest/pk_shop', partLength: 300, beforeSend(envelope) {
      sent.push(envelope);
      sessionStorage.setItem('sent', JSON.stringify(sent));
      return envelope;
    } });
  </script>
  <body><script src="/app.js"></script>`;

before(async () => {
  const dir = temporaryDir('react');
  fs.chmodSync(dir, 0o755);
  fs.mkdirSync(`${dir}/product/7`, { recursive: true });
  fs.writeFileSync(`${dir}/app.js`, await bundle(application));
  fs.writeFileSync(`${dir}/product/7/index.html`, page);
  fs.writeFileSync(`${dir}/next.html`, '<link rel="icon" href="data:,">next');
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop', routes: ['/product/:id/'] }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        location / { fleetprof on; fleetprof_sample 100%; root ${dir}; }
        location /agent/ { alias ${repository}/agent/dist/; }
        # Without an origin, which nobody knows before there is a port.
        location /v1/ { proxy_pass ${ingest}; proxy_set_header Origin ''; }
      }`,
  });
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/**
 * Visits the page, clicks on both buttons, and leaves.
 * @returns {Promise<{ handled: [number, number], sent: any[] }>} when the slow handler ran by the page's clock, and
 *   what the page sent
 */
async function visit() {
  const { url } = /** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx);
  const { page: tab, complaints } = await openTab(browser);
  await tab.goto(new URL('/product/7/', url).href);
  for (const button of ['.add-to-cart', '.sort']) {
    await tab.click(button);
    // Until it is painted, and its part has been sent.
    await tab.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve, 600)); }));
  }
  const [handled] = /** @type {[number, number][]} */ (await tab.evaluate('handled'));
  await tab.goto(new URL('/next.html', url).href);
  const sent = JSON.parse(await tab.evaluate(() => sessionStorage.getItem('sent') ?? '[]'));
  assert.deepEqual(complaints, []);
  await tab.context().close();
  return { handled, sent };
}

/**
 * Returns the samples that were taken in a stretch of the page's time.
 * @param {[number, number]} stretch ms @param {any[]} sent
 * @returns {{ timestamp: number, stackId?: number }[]}
 */
const samplesIn = ([start, end], sent) => sent.flatMap(({ trace }) => trace?.samples ?? [])
  .filter(({ timestamp }) => timestamp >= start && timestamp < end).sort((a, b) => a.timestamp - b.timestamp);

/**
 * Returns how long a stretch of the page's time was, without what the browser did not sample, or without a stack: a sample
 * owns half of the gap to either neighbour, and a gap counts for at most 250 ms.
 * @param {[number, number]} stretch ms @param {any[]} sent
 */
function sampledMs([start, end], sent) {
  const samples = samplesIn([-Infinity, Infinity], sent);
  const half = (/** @type {number} */ i) => (samples[i] && samples[i + 1]
    ? Math.min(250, samples[i + 1].timestamp - samples[i].timestamp) / 2 : 0);
  return samples.reduce((sum, { timestamp, stackId }, i) => (stackId === undefined ? sum
    : sum + Math.max(0, Math.min(end, timestamp + half(i)) - Math.max(start, timestamp - half(i - 1)))), 0);
}

/** The time of all visits. */
let clockMs = 0;
let visits = 0;
/** Visits with a sample of the slow handler's stack. */
let sampled = 0;
let parts = 0;

/** Visits, and checks that the page's parts have to be joined. */
async function visitOnce() {
  const { handled, sent } = await visit();
  visits++;
  clockMs += sampledMs(handled, sent);
  if (samplesIn(handled, sent).some(({ stackId }) => stackId !== undefined)) sampled++;
  parts += sent.length;
  const [inp] = sent.flatMap(({ vitals = [] }) => vitals).filter(({ name }) => name === 'INP');
  assert.ok(inp.value >= handled[1] - handled[0] - 8, `${JSON.stringify(inp)}, handler ${handled}`);
  const partOf = (/** @type {(part: any) => boolean} */ has) => sent.find(has).part;
  const handlerPart = partOf(({ trace, start, duration }) => trace && start <= handled[0] && start + duration > handled[0]);
  assert.notEqual(handlerPart, partOf(({ vitals = [] }) => vitals.includes(inp)), 'the window is in another part than its samples');
}

test("vital_hotspots names the handler of a slow interaction, with its time by the page's own clock", async () => {
  // Without a processor of its own a browser takes few samples: then a visit more has some.
  while (clockMs < 500 && visits < 5) await visitOnce();
  /** @type {any[]} */
  let rows = [];
  await waitFor(async () => {
    rows = await stack.sql(`
      select function, resource, self_ms, samples::integer as samples, uploads::integer as uploads
      from fleetprof.vital_hotspots('INP', 'shop', route => '/product/:id/', top => 3)`);
    return rows[0]?.uploads === sampled;
  }, { what: 'functions of a poor INP' }).catch(() => {});
  const [top] = rows;
  const [{ uploads }] = await stack.sql("select count(*)::integer as uploads from fleetprof.upload_log where site = 'shop'");
  assert.equal(top?.uploads, sampled, `of ${visits} visits, ${uploads} uploads of ${parts}: ${JSON.stringify(rows)}`);
  assert.equal(top.function, 'sortReviews', JSON.stringify(rows));
  assert.match(top.resource, /\/app\.js$/);
  console.log(`sortReviews: ${top.self_ms.toFixed(0)} ms in vital_hotspots('INP'), ${clockMs.toFixed(0)} ms by the page's clock, ${
    top.samples} samples of ${visits} visits`);
  assert.ok(Math.abs(top.self_ms / clockMs - 1) <= 0.15, `${top.self_ms} ms, by the page's clock ${clockMs} ms`);
});

test('interactions name the same one', async () => {
  const [interaction] = await stack.sql("select target, type, p98_ms from fleetprof.interactions('shop')");
  assert.deepEqual([interaction.target, interaction.type], ['html>body>div>main>button.sort', 'pointer']);
  assert.ok(interaction.p98_ms >= 800);
});
