// SPDX-License-Identifier: Apache-2.0
/** Walks the kinds of navigation: from uploads through SQL, the command line, HTTP, the report and the manual. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { fixed } from '../../report/src/filters.js';
import { startReport } from './serve_tool.mjs';
import { binDir, repository, run, runOrThrow, startStack, waitFor } from './stack.mjs';

/** The table in words.h: the names and web-vitals' words. */
const kinds = [...fs.readFileSync(path.join(repository, 'collector/base/words.h'), 'utf8')
  .matchAll(/^ {4}X\([A-Z_]+, "([a-z-]+)", "([a-z-]+)"\)/gm)].map(([, name, word]) => ({ name, word }));

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./serve_tool.mjs').Report} */
let report;
/** @param {object} body */
const post = async (body) => {
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, { method: 'POST', headers: { origin: 'https://shop.example' }, body: JSON.stringify(body) });
  assert.equal(reply.status, 204, await reply.text());
};

/** Ms of the LCP of each kind, in the order of the table; of an unknown one, 100. */
const lcpOf = (/** @type {number} */ place) => 1000 * (place + 1);
const load = randomUUID();

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', origins: ['https://shop.example'] }] } });
  for (const [place, { word }] of [...kinds.entries(), /** @type {[number, { word: string }]} */ ([-0.9, { word: 'a word of tomorrow' }])])
    await post({ load: randomUUID(), page: { url: 'https://shop.example/cart' },
      vitals: [
        { id: `${word} LCP`, name: 'LCP', value: lcpOf(place), navigationType: word, target: '#title', attribution: { timeToFirstByte: 10, resourceLoadDelay: 20, resourceLoadDuration: 30 } },
        { name: 'CLS', value: 0.05, navigationType: word }],
      interactions: [{ type: 'pointer', target: 'button', start: 0, processingStart: 1, processingEnd: 2, duration: 50 + lcpOf(place) / 100, navigationType: word }],
      responses: [{ type: 'pointer', target: 'button', start: 0, duration: 70 + lcpOf(place) / 100, navigationType: word }] });
  // The same load of a page from which the visitor goes on.
  for (const [part, value] of [[0, 2500], [1, 2700]]) await post({ load, part, page: { url: 'https://shop.example/list' }, vitals: [{ id: 'soft', name: 'LCP', value, navigationType: 'soft-navigation' }] });
  await waitFor(async () => (await stack.sql('select 1 from fleetprof.upload_log')).length === kinds.length + 3, { what: 'uploads in SQL' });
  report = await startReport(stack.postgres.conninfo('fleetprof_reader'));
});
after(async () => {
  await report?.server.stop();
  await stack?.stop();
});

const program = path.join(binDir, 'fleetprof');
/** @param {string[]} args @returns {Promise<any[]>} */
const json = async (...args) => JSON.parse(await runOrThrow([program, ...args, '--json', '--database', stack.postgres.conninfo('fleetprof_reader')]));
/** @param {string} address @returns {Promise<any[]>} */
const http = async (address) => {
  const { columns, rows } = await report.json(address);
  return rows.map((/** @type {any[]} */ row) => Object.fromEntries(columns.map((/** @type {any} */ { name }, /** @type {number} */ i) => [name, row[i]])));
};
const isNear = (/** @type {number} */ value, /** @type {number} */ expected) => Math.abs(value - expected) <= 0.0161 * expected;

test('the table has the seven kinds, in one order everywhere', async () => {
  const names = kinds.map(({ name }) => name);
  assert.equal(names.length, 7);
  assert.deepEqual((await stack.sql('select unnest(fleetprof_data.navigations()) as name')).map(({ name }) => name), ['', ...names]);
  assert.deepEqual(fixed.navigation, [...names, '']);
  const manual = fs.readFileSync(path.join(repository, 'docs/numbers.md'), 'utf8').split('### Kinds of navigation')[1].split('\n### ')[0];
  const filter = fs.readFileSync(path.join(repository, 'schema/filters'), 'utf8').split('\n').find((line) => line.startsWith('navigation')) ?? '';
  for (const name of names) assert.ok(manual.includes(`\`${name}\``) && filter.includes(`\`${name}\``), name);
});

for (const [place, { name }] of [...kinds.entries(), /** @type {[number, { name: string }]} */ ([-0.9, { name: '' }])]) {
  const isSoft = name === 'soft';
  test(`${name || 'an unknown kind'}: its values, and no other`, async () => {
    for (const [where, rows] of /** @type {[string, any[]][]} */ ([
      ['SQL', await stack.sql(`select * from fleetprof.vitals('shop', navigation => '${name}')`, 'fleetprof_reader')],
      ['the command line', await json('vitals', '--navigation', name)],
      ['HTTP', await http(`/api/v1/vitals?${new URLSearchParams({ site: 'shop', navigation: name })}`)]])) {
      const lcp = rows.find((row) => row.name === 'LCP');
      assert.equal(Number(lcp.count), isSoft ? 2 : 1, where);
      assert.ok(isNear(lcp.p50, lcpOf(place)), `${where}: ${lcp.p50}, not ${lcpOf(place)}`);
      assert.equal(Number(rows.find((row) => row.name === 'CLS').count), 1, where);
    }
    const [interaction] = await json('interactions', '--navigation', name);
    assert.equal(interaction.count, 1);
    assert.ok(isNear(interaction.p75_ms, 50 + lcpOf(place) / 100), interaction.p75_ms);
    assert.equal(interaction.responses, 1);
    assert.ok(isNear(interaction.response_p75_ms, 70 + lcpOf(place) / 100), interaction.response_p75_ms);
    const parts = (await json('vital-parts', '--navigation', name)).filter(({ name: vital }) => vital === 'LCP');
    assert.deepEqual(parts.map(({ mean_ms: ms }) => Math.round(ms)), [10, 20, 30, Math.round(lcpOf(place) - 60)]);
    assert.deepEqual((await json('vital-elements', 'LCP', '--navigation', name)).map(({ element, count }) => [element, count]), [['#title', 1]]);
    const trend = await json('trend', 'LCP', '--by', 'vital', '--step', 'day', '--navigation', name);
    assert.ok(isNear(trend[0].value_ms, isSoft ? 2700 : lcpOf(place)), JSON.stringify(trend));
  });
}

test('without a filter, all but soft ones are together; by navigation, all are apart', async () => {
  for (const args of [[], ['--navigation', '%'], ['--exclude', 'navigation=soft']]) {
    const lcp = (await json('vitals', ...args)).find(({ name }) => name === 'LCP');
    assert.equal(lcp.count, kinds.length, args.join());
    // The nearest rank of a half is the fourth of 100, 1000, 3000, 4000, … 7000.
    assert.ok(isNear(lcp.p50, 4000), `${lcp.p50}`);
  }
  const rows = (await json('vitals', '--by', 'navigation')).filter(({ name }) => name === 'LCP');
  assert.deepEqual(rows.map(({ value }) => value).sort(), ['', ...kinds.map(({ name }) => name)].sort());
  assert.deepEqual((await json('interactions', '--by', 'navigation')).map(({ value }) => value).sort(), ['', ...kinds.map(({ name }) => name)].sort());
  assert.deepEqual((await json('vitals', '--by', 'route', '--navigation', 'soft')).map(({ name, value, count }) => [name, value, count]), [['LCP', '/cart', 1], ['LCP', '/list', 1], ['CLS', '/cart', 1]]);
});

test('a soft value that is sent again replaces the earlier one', async () => {
  const [{ count, p50 }] = await json('vitals', '--navigation', 'soft', '--route', '/list');
  assert.equal(count, 1);
  assert.ok(isNear(p50, 2700), `${p50}`);
});

test('questions about something else refuse the filter, and a kind that there is not is named', async () => {
  const ask = async (/** @type {string[]} */ ...args) => run([program, ...args, '--database', stack.postgres.conninfo('fleetprof_reader')]);
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['top', '--navigation', 'soft'], /unrecognized option '--navigation/],
    [['top', '--exclude', 'navigation=soft'], /--exclude has no filter "navigation"/],
    [['timings', '--navigation', 'soft'], /unrecognized option '--navigation/],
    [['ttfb', '--by', 'navigation'], /no dimension is named "navigation"/],
    [['compare', '1', '2', '--timings', '--navigation', 'soft'], /--navigation is for --vitals/],
    [['trend', 'f', '--navigation', 'soft'], /navigation is not a filter of the kind "function"/],
    [['vitals', '--navigation', 'Soft'], /no kind of navigation is named "Soft"\n.*hint: Kinds of navigation are hard, soft, back-forward, /s]])) {
    const { code, stderr } = await ask(...args);
    assert.equal(code, 2, `${args}: ${stderr}`);
    assert.match(stderr, message);
  }
  assert.equal((await fetch(`${report.url}/api/v1/hotspots?site=shop&navigation=soft`)).status, 400);
});
