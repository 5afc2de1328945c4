// SPDX-License-Identifier: Apache-2.0
/** Elements of web vitals, and parts of their values, from HTTP to SQL and the command line. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { vitals as allVitals } from '../../tools/vitals.mjs';
import { binDir, run, runOrThrow, startStack, waitFor } from './stack.mjs';

const ceiling = 50;
/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => {
  stack = await startStack({
    config: { ceilings: { elements: ceiling, timing_names: 100 }, sites: ['shop', 'flooded'].map((name) => ({ name, key: `pk_${name}` })) },
  });
});
after(() => stack?.stop());

/** Uploads and waits until SQL has it. @param {any} envelope @param {string} [site] */
async function upload(envelope, site = 'shop') {
  const id = randomUUID();
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_${site}`, {
    method: 'POST', body: JSON.stringify({ version: 1, id, page: { url: 'https://shop.example/' }, ...envelope }),
  });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await stack.sql(`select 1 from fleetprof.upload_log where upload_id = '${id}'`)).length > 0, { what: 'upload in SQL' });
}

/** An attribution with each part but the last, of the same length. @param {string} name @param {number} part ms */
const attribution = (name, part) => Object.fromEntries((allVitals.find((vital) => vital.name === name)?.parts ?? [])
  .slice(0, -1).map(({ member }) => [member, part]));

/** A word without digits of its own. @param {number} number */
const word = (number) => number.toString(26).replace(/./g, (digit) => String.fromCharCode(97 + parseInt(digit, 26)));

const elements = async (/** @type {string} */ vital, /** @type {string} */ filters) =>
  (await stack.sql(`select * from fleetprof.vital_elements('${vital}', ${filters})`, 'fleetprof_reader'));
const parts = (/** @type {string} */ filters) => stack.sql(`select * from fleetprof.vital_parts(${filters})`, 'fleetprof_reader');

test('each vital with parts has them, in order, and they add up to its values', async () => {
  const values = allVitals.map(({ name }) => [3, 50].map((part) => ({ name, value: 600, attribution: attribution(name, part) }))).flat();
  await upload({ release: 'parts', vitals: values.map((vital) => (vital.name === 'CLS' ? { ...vital, value: 0.1 } : vital)) });
  const rows = await parts("'shop', release => 'parts'");
  assert.deepEqual(rows.map(({ name, part }) => [name, part]), allVitals.flatMap(({ name, parts: all }) => all.map((part) => [name, part.name])));
  for (const { name, parts: all } of allVitals.filter((vital) => vital.parts.length > 0)) {
    const own = rows.filter((row) => row.name === name);
    assert.ok(Math.abs(own.reduce((sum, { share }) => sum + share, 0) - 1) < 1e-9, name);
    assert.ok(Math.abs(own.reduce((sum, { mean_ms: mean }) => sum + mean, 0) - 600) < 1e-6, name);
    for (const row of own.slice(0, -1)) assert.equal(row.mean_ms, 26.5, `${name} ${row.part}`);
    assert.equal(own.length, all.length);
    assert.ok(own.every(({ count }) => Number(count) === 2));
  }
});

test('a value that is sent again takes its element and its parts along, from flush to flush', async () => {
  const load = randomUUID();
  for (const [part, vitals] of /** @type {[number, any[]][]} */ ([
    [0, [{ name: 'LCP', value: 3000, target: '#hero', url: 'https://cdn.example/hero.webp?v=7', attribution: { ...attribution('LCP', 100) } },
      { name: 'CLS', value: 0.02, target: '#ad' }]],
    [2, [{ name: 'LCP', value: 3000, target: '#other', attribution: attribution('LCP', 200) }, { name: 'CLS', value: 0.3, target: '#banner' }]],
    [3, [{ name: 'LCP', value: 2000, target: '#last', attribution: attribution('LCP', 400) }]],
    [1, [{ name: 'CLS', value: 0.9, target: '#late' }]],
  ])) {
    await upload({ release: 'again', load, part, vitals: vitals.map((vital) => ({ id: `v6-${vital.name}`, ...vital })) });
    if (part === 2) {
      // The same value again changes nothing.
      assert.deepEqual((await elements('LCP', "'shop', release => 'again'")).map(({ element, url, count }) => [element, url, Number(count)]),
        [['#hero', 'https://cdn.example/hero.webp', 1]]);
    }
  }
  const of = async (/** @type {string} */ vital) => (await elements(vital, "'shop', release => 'again'"))
    .map(({ element, url, unit, count, share, p75 }) => [element, url, unit, Number(count), share, Math.round(p75)]);
  assert.deepEqual(await of('LCP'), [['#last', null, 'ms', 1, 1, 2000]]);
  assert.deepEqual(await of('CLS'), [['#banner', null, 'score x 1000', 1, 1, 300]]);
  assert.deepEqual((await parts("'shop', release => 'again'")).map(({ name, part, count, mean_ms: mean }) => [name, part, Number(count), mean]),
    [['LCP', 'ttfb', 1, 400], ['LCP', 'load_delay', 1, 400], ['LCP', 'load_time', 1, 400], ['LCP', 'render_delay', 1, 800]]);
});

test('a site has so many new elements in an hour, its other names as many as before, and no value is lost', async () => {
  const vitals = Array.from({ length: 10_000 }, (_, i) => ({ name: i % 2 ? 'LCP' : 'CLS', value: 0.1, target: `#${word(i)}x` }));
  await upload({ vitals, measures: [{ name: 'own', entryType: 'measure', startTime: 0, duration: 5 }] }, 'flooded');
  const rows = (await Promise.all(['LCP', 'CLS'].map((vital) => elements(vital, "'flooded', top => null")))).flat();
  assert.equal(rows.length, ceiling + 2);
  assert.deepEqual(rows.filter(({ element }) => element === '(overflow)').length, 2);
  assert.equal(rows.reduce((sum, { count }) => sum + Number(count), 0), 10_000);
  assert.deepEqual((await stack.sql("select name from fleetprof.timings('flooded')")).map(({ name }) => name), ['own']);
  assert.equal((await stack.collector.metrics())['fleetprof_names_overflowed_total{kind="element"}'], 10_000 - ceiling);
});

test('functions that ran before the largest shift are those of CLS', async () => {
  await upload({
    release: 'shifted', load: randomUUID(), start: 0, duration: 1000, sampleInterval: 10,
    trace: { resources: [], frames: [{ name: 'before' }, { name: 'moves' }], stacks: [{ frameId: 0 }, { frameId: 1 }],
      samples: Array.from({ length: 100 }, (_, i) => ({ timestamp: 10 * i + 5, stackId: i >= 50 && i < 60 ? 1 : 0 })) },
    vitals: [{ name: 'CLS', id: 'v6-cls', value: 0.5, start: 500, duration: 100 }],
  });
  const rows = await stack.sql("select * from fleetprof.vital_hotspots('CLS', 'shop', release => 'shifted')", 'fleetprof_reader');
  assert.deepEqual(rows.map(({ function: name, self_ms: self }) => [name, self]), [['moves', 100]]);
});

test('the command line lists elements and parts, also by a dimension', async () => {
  const ask = async (/** @type {string[]} */ ...more) => JSON.parse(await runOrThrow(
    [path.join(binDir, 'fleetprof'), ...more, '--json', '--site', 'shop', '--release', 'again', '--database', stack.postgres.conninfo('fleetprof_reader')]));
  assert.deepEqual((await ask('vital-elements', 'LCP')).map((/** @type {any} */ { element, p75 }) => [element, Math.round(p75)]), [['#last', 2000]]);
  assert.deepEqual((await ask('vital-parts', '--by', 'release')).map((/** @type {any} */ { value, part }) => [value, part]),
    ['ttfb', 'load_delay', 'load_time', 'render_delay'].map((part) => ['again', part]));
  const { code, stderr } = await run([path.join(binDir, 'fleetprof'), 'vital-elements']);
  assert.equal(code, 2);
  assert.match(stderr, /name a vital, such as LCP/);
  await assert.rejects(stack.sql("select * from fleetprof.vital_elements('XYZ', 'shop')", 'fleetprof_reader'), /no vital is named "XYZ"/);
});
