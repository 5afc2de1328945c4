// SPDX-License-Identifier: Apache-2.0
/**
 * The cost of profiling, from the draw of each server to SQL: on this site a page load that was drawn burns processor
 * time, and profiling_cost finds it.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { binDir, runOrThrow, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { startSite, tag } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';
import { headerServers } from './header_servers.mjs';

const burntMs = 400;
const visits = 12;
const places = [
  { name: 'always', settings: ['fleetprof on', 'fleetprof_sample 100%'] }, { name: 'never', settings: ['fleetprof on', 'fleetprof_sample 0%'] },
  ...['agent', 'v1'].map((name) => ({ name, settings: [] })),
];
const burn = `<script>
  const [{ serverTiming }] = performance.getEntriesByType('navigation');
  if (serverTiming.find(({ name }) => name === 'fleetprof').description !== '0') {
    const end = performance.now() + ${burntMs};
    while (performance.now() < end);
  }
</script>`;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
before(async () => {
  browser = await launchChromium();
  site = await startSite();
  stack = await startStack({ config: { sites: headerServers.map(({ name }) => ({ name, key: `pk_${name}` })) } });
});
after(async () => {
  await browser?.close();
  site?.close();
  await stack?.stop();
});

/** Loads a page, leaves it, and returns the draws that its uploads say. @param {import('playwright-core').Page} page @param {string} url */
async function visit(page, url) {
  const known = site.uploads.length;
  const sent = () => site.uploads.slice(known).map(({ envelope }) => envelope);
  await page.goto(url);
  // A busy machine paints late.
  await page.evaluate(() => new Promise((resolve) => {
    new PerformanceObserver(() => { setTimeout(resolve, 100); }).observe({ type: 'largest-contentful-paint', buffered: true });
  }));
  await page.goto('about:blank');
  await waitFor(() => sent().some(({ vitals }) => vitals?.some((/** @type {any} */ { name }) => name === 'LCP')), { what: 'LCP' });
  return [...new Set(sent().map(({ drawn }) => drawn))];
}

for (const { name, missing, start } of headerServers) {
  describe(name, { skip: missing }, () => {
    /** @type {Awaited<ReturnType<typeof start>>} */
    let server;
    before(async () => {
      site.reset();
      server = await start({ places, upstream: site.origin, files: temporaryDir('files') });
      for (const at of ['/always/page', '/never/page']) {
        site.pages[at] = `${tag({ route: '/page' }, 'fleetprof.vitals.js')}${burn}<p>${'text '.repeat(200)}`;
        // The decision is the server's alone.
        site.headers[at] = () => ({ 'Document-Policy': '', 'Server-Timing': '' });
      }
    });
    after(() => server?.stop());

    test('a page load says what the server drew, and a stored page that it does not know', async () => {
      const { page, complaints } = await openTab(browser);
      assert.deepEqual(await visit(page, `${server.url}/never/page`), [false]);
      assert.deepEqual(await visit(page, `${server.url}/never/page`), [undefined]);
      assert.equal(site.revalidations, 1);
      assert.deepEqual(await visit(page, `${server.url}/always/page`), [true]);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

    test('what a drawn page load costs is in SQL and on the command line', async () => {
      site.uploads.length = 0;
      for (let i = 0; i < visits; i += 1) {
        for (const place of ['always', 'never']) {
          const { page } = await openTab(browser);
          assert.deepEqual(await visit(page, `${server.url}/${place}/page`), [place === 'always']);
          await page.context().close();
        }
      }
      for (const { body, headers } of site.uploads) {
        const { 'content-type': type = 'text/plain', 'user-agent': browserName = '' } = headers;
        const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_${name}`, { method: 'POST', body: new Uint8Array(body), headers: { 'content-type': type, 'user-agent': browserName } });
        assert.equal(reply.status, 204, await reply.text());
      }
      const ask = async () => JSON.parse(await runOrThrow([path.join(binDir, 'fleetprof'), 'profiling-cost', '--json', '--site', name,
        '--database', stack.postgres.conninfo('fleetprof_reader')]));
      const lcp = async () => (await ask()).find((/** @type {any} */ row) => row.name === 'LCP' && row.percentile === 50);
      await waitFor(async () => (await lcp())?.drawn_count === visits && (await lcp()).other_count === visits, { what: `${visits} page loads of each side` });
      const { other_value: other, drawn_value: drawn, verdict } = await lcp();
      assert.ok(drawn - other > burntMs / 2 && drawn - other < burntMs * 2, `${drawn} - ${other}`);
      assert.equal(verdict, 'early');
      const blocking = (await ask()).find((/** @type {any} */ row) => row.name === 'blocking');
      assert.ok(blocking === undefined || blocking.drawn_value > blocking.other_value, JSON.stringify(blocking));
    });
  });
}
