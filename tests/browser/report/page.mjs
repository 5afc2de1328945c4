// SPDX-License-Identifier: Apache-2.0
/** The report that its tests look at: a fleet behind `fleetprof serve`, a page per test, and what tests ask of it. */
import fs from 'node:fs';
import path from 'node:path';
import { createRequire } from 'node:module';
import { after, before, beforeEach } from 'node:test';

import { binDir, freePort, startProcess, waitFor } from '../../behaviour/stack.mjs';
import { launchChromium } from '../chromium.mjs';
import { startFleet } from '../report_fleet.mjs';

/** @typedef {import('playwright-core').Page} Page */

export const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const period = "since => now() - interval '2d'";

/** @type {import('../../behaviour/stack.mjs').Stack} */
export let stack;
/** @type {import('playwright-core').Browser} */
export let browser;
/** @type {string} */
export let origin;
/** @type {import('../../behaviour/stack.mjs').Server} */
export let server;
/** @type {Page} */
export let page;
/** Everything that the page complains about, violations of its policy included. @type {string[]} */
export let complaints;

/** @param {string} conninfo @param {string[]} [options] */
export async function serve(conninfo, options = []) {
  const port = await freePort();
  const process = startProcess('fleetprof serve', [path.join(binDir, 'fleetprof'), 'serve', '--listen', `127.0.0.1:${port}`, '-d', conninfo, ...options]);
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(`${url}/`)).ok, { what: 'fleetprof serve' });
  return { process, url };
}

before(async () => {
  stack = await startFleet({ sessions: true });
  ({ process: server, url: origin } = await serve(stack.postgres.conninfo('fleetprof_reader')));
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await server?.stop();
  await stack?.stop();
});

/** @param {import('playwright-core').BrowserContextOptions} [options] */
export async function newPage(options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const made = await context.newPage();
  /** @type {string[]} */
  const heard = [];
  made.on('pageerror', (error) => heard.push(String(error)));
  made.on('console', (message) => { if (['error', 'warning'].includes(message.type())) heard.push(message.text()); });
  made.on('dialog', (dialog) => { heard.push(`dialog: ${dialog.message()}`); void dialog.dismiss(); });
  return { page: made, complaints: heard };
}

/** Opens a page in place of the last one. @param {import('playwright-core').BrowserContextOptions} [options] */
export async function renewPage(options) {
  await page?.context().close();
  ({ page, complaints } = await newPage(options));
}

beforeEach(() => renewPage());

/** Waits until the view is drawn that the address names. @param {Page} [of] */
export const ready = (of = page) => of.waitForSelector('main[data-ready]:not(:has([aria-busy]))', { timeout: 60_000 });

/**
 * Waits until the address begins so and its view is drawn. Playwright's waitForFunction would need eval, which the page's
 * policy refuses.
 * @param {string} begin path and query
 */
export const arrived = (begin, of = page) => of.waitForSelector(`main[data-ready^="${begin}"]:not(:has([aria-busy]))`, { timeout: 60_000 });

/** @param {string} address */
export async function open(address) {
  await page.goto(origin + address);
  await ready();
}

/** Presses keys one after the other, and waits until the view is drawn. @param {...string} keys */
export async function press(...keys) {
  for (const key of keys) await page.keyboard.press(key);
  await ready();
}

/** The browser closes a dialog some time after the key; until then, keys are the dialog's. */
export async function closeDialog() {
  await page.keyboard.press('Escape');
  await page.waitForSelector('dialog', { state: 'detached' });
}

/**
 * The rows of the first table of the view by column: names and numbers. What is drawn later has no place here.
 * @returns {Promise<Record<string, any>[]>}
 */
export const screenRows = () => page.evaluate(() => {
  const table = /** @type {HTMLTableElement} */ ([...document.querySelectorAll('main table')].pop());
  const names = [...table.querySelectorAll('thead button')].map((button) => button.id.replace('sort-', ''));
  return [...table.querySelectorAll('tbody tr')].map((row) => Object.fromEntries(names.map((name, i) => {
    const { value } = /** @type {HTMLElement} */ (row.children[i]).dataset;
    return [name, value === undefined ? row.children[i].textContent : Number(value)];
  })));
});

export const text = (/** @type {string} */ selector) => page.locator(selector).innerText();

/** @param {string} select what follows it */
export const sql = (select) => stack.sql(`select ${select}`, 'fleetprof_reader');

/** @param {Record<string, any>[]} rows @param {string[]} names */
export const picked = (rows, names) => rows.map((row) => names.map((name) => row[name]));

// ---- numbers ----

/** Returns the kept session with most events, or of a release. @param {string} condition */
export const keptSession = async (condition) => (await sql(`session_id::text as id from fleetprof.sessions where site = 'kept' and ${condition} order by events desc, content_bytes`)).map(({ id }) => id);

/** @param {string} button */
export async function exported(button) {
  await page.click('#export');
  const [download] = await Promise.all([page.waitForEvent('download'), page.click(button)]);
  return fs.readFileSync(/** @type {string} */ (await download.path()));
}
