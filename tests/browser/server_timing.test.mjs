// SPDX-License-Identifier: Apache-2.0
/**
 * The server's share of the time to first byte, from a slow application behind each server to SQL: Chromium reads what
 * the server says, the vitals build sends it, and the collector counts it.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { binDir, runOrThrow, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { startSite, tag } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';
import { firefoxMissing, launchFirefox } from './firefox.mjs';
import { headerServers } from './header_servers.mjs';

const slowMs = 500;
const settings = ['fleetprof on', 'fleetprof_sample 0%', 'fleetprof_server_timing on'];
const places = [{ name: 'plain', settings }, { name: 'cached', settings, cached: true },
  ...['agent', 'v1'].map((name) => ({ name, settings: [] }))];

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

/** A page of a few bytes. */
const shell = `${tag({}, 'fleetprof.vitals.js')}<div>`;

/** The part of a tab that `visit` needs. @typedef {{ goto: (url: string) => Promise<unknown>, evaluate: (wait: () => Promise<unknown>) => Promise<unknown> }} Tab */

/** @param {Awaited<ReturnType<typeof launchFirefox>>} firefox @returns {Tab} */
const firefoxTab = (firefox) => ({ goto: firefox.open, evaluate: (wait) => wait() });

/** Loads a page, leaves it, and returns its TTFB. @param {Tab} page @param {string} url */
async function visit(page, url) {
  const known = site.uploads.length;
  const found = () => site.uploads.slice(known).flatMap(({ envelope }) => envelope.vitals ?? []).find(({ name }) => name === 'TTFB');
  await page.goto(url);
  // web-vitals reports a TTFB in a task of its own, after the load event.
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 300); }));
  await page.goto('about:blank');
  await waitFor(found, { what: 'TTFB' });
  return found();
}

for (const { name, missing, start } of headerServers) {
  describe(name, { skip: missing }, () => {
    /** @type {Awaited<ReturnType<typeof start>>} */
    let server;
    before(async () => {
      site.reset();
      server = await start({ places, upstream: site.origin, files: temporaryDir('files') });
      site.sampled = false;
      for (const at of ['/plain/page', '/cached/page']) {
        site.delays[at] = slowMs;
        site.pages[at] = `${tag({}, 'fleetprof.vitals.js')}<p>${'text '.repeat(200)}`;
      }
      // Other answers are not stored.
      site.headers['/cached/page'] = () => ({ 'Cache-Control': '', 'Set-Cookie': '', 'Last-Modified': 'Thu, 01 Jan 2026 00:00:00 GMT' });
    });
    after(() => server?.stop());

    test('a slow application is the server, and a stored page has no share of its own', async () => {
      const { page, complaints } = await openTab(browser);
      const slow = await visit(page, `${server.url}/plain/page`);
      assert.ok(slow.server >= slowMs - 1 && slow.server <= slow.value, JSON.stringify(slow));
      assert.equal(slow.cache, undefined);
      const confirmed = await visit(page, `${server.url}/plain/page`);
      assert.equal(site.revalidations, 1);
      assert.equal(confirmed.server, undefined, JSON.stringify(confirmed));
      assert.deepEqual(complaints, []);
      await page.context().close();
    });

    test('an application that says less than nothing loses no vitals', async () => {
      site.pages['/v1/negative'] = shell;
      site.headers['/v1/negative'] = () => ({ 'Server-Timing': 'fleetprof-server;dur=-5' });
      const { page } = await openTab(browser);
      assert.equal((await visit(page, `${server.url}/v1/negative`)).server, 0);
      await page.context().close();
      delete site.headers['/v1/negative'];
      site.uploads = site.uploads.filter(({ envelope }) => !/negative/.test(envelope.page.url));
    });

    test('Firefox does not tell that a page was confirmed, so its share is longer than the whole', { skip: firefoxMissing }, async () => {
      site.pages['/plain/firefox'] = shell;
      // As of an application without a policy: the module leaves its 304 alone.
      site.headers['/plain/firefox'] = () => ({ 'Document-Policy': '', 'Server-Timing': '' });
      site.delays['/plain/firefox'] = slowMs;
      const firefox = await launchFirefox();
      try {
        const ttfbs = [await visit(firefoxTab(firefox), `${server.url}/plain/firefox`)];
        site.delays['/plain/firefox'] = 0;
        ttfbs.push(await visit(firefoxTab(firefox), `${server.url}/plain/firefox`));
        assert.ok(ttfbs.every((ttfb) => ttfb.server >= slowMs - 1), JSON.stringify(ttfbs));
        assert.ok(ttfbs[0].value >= slowMs - 1 && ttfbs[1].value < slowMs - 50, JSON.stringify(ttfbs));
      } finally {
        await firefox.close();
      }
    });

    test('the server’s cache says what it did', async () => {
      const shares = [];
      for (const visitor of ['first', 'second']) {
        const { page } = await openTab(browser);
        const { server: ms, cache } = await visit(page, `${server.url}/cached/page`);
        shares.push([visitor, cache, ms >= slowMs - 1]);
        await page.context().close();
      }
      assert.deepEqual(shares, [['first', 'MISS', true], ['second', 'HIT', false]]);
    });

    test('SQL divides what pages sent', async () => {
      for (const { body, headers } of site.uploads) {
        const { 'content-type': type = 'text/plain', 'user-agent': browserName = '' } = headers;
        const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_${name}`, { method: 'POST', body: new Uint8Array(body), headers: { 'content-type': type, 'user-agent': browserName } });
        assert.equal(reply.status, 204, await reply.text());
      }
      const ask = async () => JSON.parse(await runOrThrow([path.join(binDir, 'fleetprof'), 'ttfb', '--by', 'route', '--json', '--site', name,
        '--database', stack.postgres.conninfo('fleetprof_reader')]));
      const byFirefox = firefoxMissing ? [] : [['/plain/firefox', null, 1, true]];
      await waitFor(async () => (await ask()).length === 3 + byFirefox.length, { what: 'rows' });
      const rows = await ask();
      assert.deepEqual(rows.map((/** @type {any} */ row) => [row.value, row.cache, row.count, row.server_ms >= slowMs - 1]).sort(), [
        ['/cached/page', 'HIT', 1, false], ['/cached/page', 'MISS', 1, true], ...byFirefox, ['/plain/page', null, 1, true]]);
      for (const row of rows) assert.ok(Math.abs(row.server_ms + row.network_ms - row.mean_ms) < 1e-6, JSON.stringify(row));
    });
  });
}
