/**
 * How many page loads deliver a profile, by how the page ends: `FLEETPROF_LONG=1` measures and prints a table. A page
 * that stays open, or is hidden, must deliver; what is lost of the others is measured, not judged.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { freePort, migrate, startCollector, startPostgres, waitFor } from '../behaviour/stack.mjs';
import { keep, startShop, stopAll, within } from '../site/shop.mjs';
import { launchChromium, openHideableTab } from './chromium.mjs';

/**
 * @typedef {import('playwright-core').Browser} Browser
 * @typedef {import('playwright-core').Page} Page
 *
 * @typedef {object} Ending
 * @property {string} name the host's
 * @property {string} what
 * @property {boolean} [forgets] in the browser without back/forward cache
 * @property {boolean} [hangs] its load event never comes
 * @property {boolean} [delivers] each sampled load must
 * @property {(page: Page, elsewhere: string) => Promise<unknown>} [end]
 */

/** The time a visitor stays is the thing that is measured. @param {Page} page @param {number} ms */
const stay = (page, ms) => page.evaluate((time) => new Promise((resolve) => { setTimeout(resolve, time); }), ms);

/** @type {Ending[]} */
const endings = [
  { name: 'stayed', what: 'stayed open', delivers: true, end: (page) => stay(page, 8000) },
  { name: 'hidden', what: 'turned to another tab', delivers: true },
  { name: 'link', what: 'left by a link, kept alive', end: async (page, elsewhere) => {
    await stay(page, 2500);
    await page.goto(elsewhere);
  } },
  { name: 'leftdead', what: 'left by a link, not kept', forgets: true, end: async (page, elsewhere) => {
    await stay(page, 2500);
    await page.goto(elsewhere);
  } },
  { name: 'back', what: 'left by the back button', end: async (page) => {
    await stay(page, 1500);
    await page.goBack({ waitUntil: 'commit' }); // out of the cache there is no load event
  } },
  { name: 'reloaded', what: 'reloaded', end: async (page) => {
    await stay(page, 2000);
    await page.evaluate(() => history.replaceState(null, '', '?rate=0/1'));
    await page.reload();
  } },
  { name: 'bounced', what: 'closed after 1 s', end: async (page) => {
    await stay(page, 1000);
    await page.close({ runBeforeUnload: true });
  } },
  { name: 'closed', what: 'closed after 3.5 s', end: async (page) => {
    await stay(page, 3500);
    await page.close({ runBeforeUnload: true });
  } },
  { name: 'hung', what: 'load event never came, closed', hangs: true, end: async (page) => {
    await stay(page, 8000);
    await page.close({ runBeforeUnload: true });
  } },
];

/** Rates as the URL has them, and how many page loads each gets. */
const rates = [{ rate: '1/1', ppm: 1_000_000, loads: 6 }, { rate: '1/10', ppm: 100_000, loads: 3 }];
const atOnce = 9;
/** What has ended stays in the browser until so many others have: an upload that is still to come gets its time. */
const keptOpen = 18;
const visitLimitMs = 120_000;

const long = process.env.FLEETPROF_LONG === '1';

/** @type {Browser} */
let browser;
/** Without back/forward cache. @type {Browser} */
let forgetful;
/** @type {import('../behaviour/stack.mjs').Postgres} */
let postgres;
/** @type {import('../site/servers.mjs').SiteServer[]} */
let servers;

before(async () => {
  if (!long) return;
  const port = await freePort();
  postgres = await keep(startPostgres(), (started) => started.stop());
  await migrate(postgres);
  /** @type {import('../site/servers.mjs').Host[]} */
  const hosts = [...endings.map(({ name, hangs }) => ({
    name, settings: ['fleetprof_sample $arg_rate'], app: { hangs, agent: { 'data-after-load': undefined } },
  })), { name: 'elsewhere', off: true }];
  const shop = await startShop(hosts, `http://127.0.0.1:${port}`);
  servers = shop.servers;
  /** @param {import('playwright-core').LaunchOptions} options */
  const launch = (options) => keep(launchChromium(shop.flags, options), (started) => started.close());
  browser = await launch({ ignoreDefaultArgs: ['--disable-back-forward-cache'] });
  forgetful = await launch({});
  await keep(startCollector({ config: {
    listen: `127.0.0.1:${port}`, database: postgres.conninfo('fleetprof_writer'),
    sites: [{
      name: 'shop', key: 'pk_shop', require_token: true, token_keys: [shop.tokenKey],
      origins: servers.flatMap(({ origin }) => hosts.map(({ name }) => origin(name))),
    }],
  } }), (started) => started.stop());
}, { timeout: 120_000 });

after(stopAll, { timeout: 120_000 });

/**
 * Loads a page once and lets it end.
 * @param {Ending} ending @param {string} url @param {string} elsewhere
 * @param {() => boolean} arrived whether the server has answered
 * @returns {Promise<() => Promise<void>>} closes what is left of it
 */
async function visit({ end, forgets, hangs }, url, elsewhere, arrived) {
  if (!end) {
    const tab = await openHideableTab(browser, url);
    await waitFor(arrived, { what: `line of ${url} in the access log`, timeoutMs: visitLimitMs });
    await delay(2500);
    await tab.switchAway();
    return tab.close;
  }
  const context = await (forgets ? forgetful : browser).newContext();
  context.setDefaultTimeout(visitLimitMs);
  const page = await context.newPage();
  await page.goto(elsewhere);
  await page.goto(url, { waitUntil: hangs ? 'commit' : 'load' });
  await end(page, elsewhere);
  return () => context.close();
}

/**
 * The page loads of a host at a rate: how many the server has answered, and how many of these it sampled.
 * @param {import('../site/servers.mjs').SiteServer} server @param {string} host @param {string} rate
 */
function answered(server, host, rate) {
  const lines = server.accessLog(host).filter((line) => line.includes(`"GET /?rate=${rate}&`));
  return { loads: lines.length, sampled: lines.filter((line) => line.includes(' sampled=1 ')).length };
}

/** @returns {Promise<{ environment: string, release: string, sample_rate: number, uploads: number }[]>} */
const counted = () => postgres.sql(`
  select upload_log.environment, upload_log.release, sample_rate, count(*) as uploads
  from fleetprof.upload_log join fleetprof.segment using (segment_id)
  group by 1, 2, 3`, 'fleetprof_reader');

const options = { skip: !long && 'FLEETPROF_LONG=1 runs it', timeout: 1_200_000 };
test('what is delivered, by how the page ends', options, async () => {
  let number = 0;
  const visits = servers.flatMap((server) => endings.flatMap((ending) => rates.flatMap(({ rate, loads }) => (
    Array.from({ length: loads }, () => () => {
      const query = `?rate=${rate}&visit=${++number}`;
      return visit(ending, `${server.origin(ending.name)}/${query}`, `${server.origin('elsewhere')}/`,
        () => server.accessLog(ending.name).some((line) => line.includes(`"GET /${query} `)));
    })))));
  /** @type {(() => Promise<void>)[]} */
  const open = [];
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let next = visits.shift(); next; next = visits.shift()) {
      open.push(await within(next(), 'end of a visit', 2 * visitLimitMs));
      if (open.length > keptOpen) await within(/** @type {() => Promise<void>} */ (open.shift())(), 'end of a tab');
    }
  }));

  const rows = servers.flatMap((server) => endings.flatMap((ending) => rates.map(({ rate, ppm, loads }) => ({
    server, ending, rate, ppm, wanted: loads, ...answered(server, ending.name, rate),
  }))));
  for (const { server, ending, loads, wanted } of rows) assert.equal(loads, wanted, `${ending.what}, ${server.name}`);
  const delivered = async (/** @type {typeof rows[number]} */ row) => (await counted()).find((found) => (
    found.environment === row.server.name && found.release === row.ending.name
      && found.sample_rate * 1e6 === row.ppm))?.uploads ?? 0;
  for (const row of rows.filter(({ ending }) => ending.delivers)) {
    await waitFor(async () => await delivered(row) >= row.sampled,
      { what: `${row.sampled} uploads of pages that ${row.ending.what}, ${row.server.name} ${row.rate}`, timeoutMs: 30_000 });
  }
  await Promise.all(open.map((close) => within(close(), 'end of a tab')));

  console.log('| how the page ended | server | rate | page loads | sampled | delivered |\n|---|---|---|---|---|---|');
  for (const row of rows) {
    const uploads = await delivered(row);
    assert.ok(uploads <= row.sampled, `${row.ending.what}: ${uploads} uploads of ${row.sampled} sampled page loads`);
    console.log(`| ${[row.ending.what, row.server.name, row.rate, row.loads, row.sampled, uploads].join(' | ')} |`);
  }
  assert.ok((await counted()).every(({ sample_rate: rate }) => rate !== null), 'an upload has no verified rate');
});
