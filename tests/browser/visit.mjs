// SPDX-License-Identifier: Apache-2.0
/**
 * Opens a page in Chromium and ends its profile, for tests whose servers are in another network namespace. Fails unless
 * the collector has accepted all of it.
 *
 *     node tests/browser/visit.mjs URL
 */
import { launchChromium, openTab } from './chromium.mjs';

const [url] = process.argv.slice(2);
const browser = await launchChromium();
const { page, complaints } = await openTab(browser);
await page.goto(url);
const { status, detail, sent } = await page.evaluate(async () => {
  const handle = /** @type {any} */ (globalThis).fleetprof.start();
  const all = await handle.stop();
  return { status: handle.status, detail: handle.detail, sent: all && handle.status === 'sent' };
});
await browser.close();
if (!sent) console.error(`${url}: ${status} ${detail ?? ''}`);
for (const complaint of complaints) console.error(complaint);
process.exitCode = sent && complaints.length === 0 ? 0 : 1;
