// SPDX-License-Identifier: Apache-2.0
/**
 * Debian's Chromium, driven by playwright-core.
 */
import { chromium } from 'playwright-core';

import { waitFor } from '../behaviour/stack.mjs';

/** Without these it looks for Google's hosts at every start, or wants a user namespace that root does not get. */
const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

/**
 * Starts Chromium's headless shell: the same engine without windows. A tab of the whole browser costs four times the
 * processor time, most of it for its window.
 * @param {string[]} [more] flags beside ours
 * @param {import('playwright-core').LaunchOptions & { whole?: boolean }} [options] whole: the whole browser, whose tabs can be
 *   hidden, which has a back/forward cache, and which sends reports to endpoints
 * @returns {Promise<import('playwright-core').Browser>} with a new, empty profile; close() removes it
 */
export function launchChromium(more = [], { whole = false, ...options } = {}) {
  const executablePath = `/usr/bin/chromium${whole ? '' : '-headless-shell'}`;
  return chromium.launch({ executablePath, headless: true, args: [...flags, ...more], ...options });
}

/** The report of a Chromium without the mode; the rest of the header applies. */
const modeUnknown = 'Document-Policy HTTP header: Unrecognized document policy feature name js-profiling-mode.';

/**
 * A tab in a context of its own: nothing cached, no cookies.
 * @param {import('playwright-core').Browser} browser
 * @returns {Promise<{ page: import('playwright-core').Page, complaints: string[] }>}
 *   complaints: the page's uncaught errors, and warnings and errors on its console, except modeUnknown
 */
export async function openTab(browser) {
  const context = await browser.newContext();
  const page = await context.newPage();
  /** @type {string[]} */
  const complaints = [];
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('console', (message) => {
    if (message.text() === modeUnknown) return;
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  return { page, complaints };
}

/**
 * Whether the browser knows js-profiling-mode at all, be it behind a flag.
 * @param {import('playwright-core').Browser} browser
 */
export async function knowsMode(browser) {
  const { page } = await openTab(browser);
  let known = true;
  page.on('console', (message) => {
    if (message.text() === modeUnknown) known = false;
  });
  await page.route('http://mode.test/', (route) => route.fulfill({
    contentType: 'text/html', headers: { 'document-policy': 'js-profiling-mode=lazy' }, body: '',
  }));
  await page.goto('http://mode.test/');
  const last = page.waitForEvent('console', (message) => message.text() === 'last');
  await page.evaluate(() => console.log('last'));
  await last;
  await page.context().close();
  return known;
}

/**
 * A tab that can really be hidden: playwright keeps the tabs it controls visible, so this one is in a context of its
 * own that playwright leaves alone after a look at it.
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @returns {Promise<{ switchAway: () => Promise<void>, close: () => Promise<void> }>}
 *   switchAway opens another tab in front of it; close closes both
 */
export async function openHideableTab(browser, url) {
  const session = await browser.newBrowserCDPSession();
  const { browserContextId } = await session.send('Target.createBrowserContext', { disposeOnDetach: true });
  const { targetId } = await session.send('Target.createTarget', { url, browserContextId });
  await waitFor(async () => {
    const { targetInfo } = await session.send('Target.getTargetInfo', { targetId });
    return !targetInfo.attached;
  }, { what: 'tab that no debugger looks at' });
  return {
    switchAway: async () => {
      await session.send('Target.createTarget', { url: 'about:blank', browserContextId });
    },
    close: () => session.detach(),
  };
}
