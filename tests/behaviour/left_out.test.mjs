// SPDX-License-Identifier: Apache-2.0
/**
 * The things that agents left out, from envelopes to SQL and the command: a page load counts once per kind, however
 * many of its uploads say so, in any order, by one collector or two, and across restarts and retries.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { leftOut as sentence } from '../../report/src/views/timings.js';
import { seededRandom } from '../chaos/random.mjs';
import { binDir, repository, run, startCollector, startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./stack.mjs').Collector} */
let second;
before(async () => {
  const config = { sites: [{ name: 'shop', key: 'pk_shop', routes: ['/product/:id'] }] };
  stack = await startStack({ config });
  second = await startCollector({ config: { database: stack.collector.config.database, ...config } });
});
after(async () => {
  await second?.stop();
  await stack?.stop();
});

/** @type {Map<string, Set<string>>} ids of uploads by release */
const sent = new Map();

/** @param {any} envelope @param {string} [url] */
async function post(envelope, url = stack.collector.url) {
  const whole = { version: 1, id: randomUUID(), page: { url: 'https://shop.example/' }, marks: [], measures: [], ...envelope };
  const reply = await fetch(`${url}/v1/ingest/pk_shop`, { method: 'POST', body: JSON.stringify(whole) });
  assert.equal(reply.status, 204, await reply.text());
  sent.set(envelope.release, (sent.get(envelope.release) ?? new Set()).add(whole.id));
  return whole;
}

/** Waits until all uploads of a release are in SQL. @param {string} release */
const counted = (release) => waitFor(async () => {
  const [{ count }] = await stack.sql(`select count(*)::int as count from fleetprof.upload_log where release = '${release}'`);
  return count === sent.get(release)?.size;
}, { what: `uploads of ${release}` });

/** @param {string} release @param {string} [more] filters */
async function leftOut(release, more = '') {
  await counted(release);
  return (await stack.sql(`select what, loads::int, count::int from fleetprof.left_out('shop', release => '${release}'${more})`))
    .map(({ what, loads, count }) => [what, loads, count]);
}

const trace = { resources: [], frames: [{ name: 'f' }], stacks: [{ frameId: 0 }], samples: [{ timestamp: 5, stackId: 0 }] };
const measure = (/** @type {string} */ name, startTime = 1) => ({ name, entryType: 'measure', startTime, duration: 2 });

test('a page load counts once, whichever of its parts and collectors say what it left out', async () => {
  const random = seededRandom(7);
  for (let round = 0; round < 3; round++) {
    const same = { release: `parts${round}`, load: randomUUID() };
    const parts = [
      { part: 0, leftOut: [{ what: 'measure', name: 'Row', count: 100 }] },
      { part: 1, leftOut: [{ what: 'measure', name: 'Row', count: 20 }, { what: 'profile' }] },
      { part: 2, leftOut: [{ what: 'measure', count: 3 }] },
      { part: 3 },
    ];
    for (const part of random.shuffled(parts)) await post({ ...same, ...part }, random.pick([stack.collector.url, second.url]));
    await post({ release: same.release, load: randomUUID(), trace });
    assert.deepEqual(await leftOut(same.release), [['(any)', 1, null], ['measure', 1, 123], ['profile', 1, null]]);
  }
});

test('a restart and a retry add nothing', async () => {
  const same = { release: 'restart', load: randomUUID() };
  const first = await post({ ...same, part: 0, leftOut: [{ what: 'mark', count: 5 }] });
  await counted('restart');
  await stack.collector.stop();
  stack.collector = await startCollector({ config: stack.collector.config });
  await post({ ...same, part: 1, leftOut: [{ what: 'mark', count: 6 }] });
  await post(first);
  await post(first, second.url);
  assert.deepEqual(await leftOut('restart'), [['(any)', 1, null], ['mark', 1, 11]]);
});

test('uploads without a load are page loads of their own, and truncated alone says nothing more', async () => {
  await post({ release: 'plain', coverage: 'quota', truncated: true });
  await post({ release: 'plain', coverage: 'quota', truncated: true });
  await post({ release: 'plain', coverage: 'quota', truncated: false });
  await counted('plain');
  assert.deepEqual(await stack.sql("select * from fleetprof.left_out('shop', release => 'plain')"), [
    { what: '(any)', loads: 2, all_loads: 3, share: 2 / 3, count: null },
    { what: '(unknown)', loads: 2, all_loads: 3, share: 2 / 3, count: null },
  ]);
});

test('a part that says nothing but what was left out is accepted', async () => {
  await post({ release: 'alone', load: randomUUID(), leftOut: [{ what: 'measure', name: 'Row', count: 9 }] });
  await post({ release: 'alone', marks: undefined, measures: [], leftOut: [{ what: 'soon', count: 9 }] });
  assert.deepEqual(await leftOut('alone'), [['(any)', 2, null], ['(unknown)', 1, 9], ['measure', 1, 9]]);
});

test('filters select by the upload that said it first, and timings have what is missing of a name', async () => {
  const same = { release: 'routes', load: randomUUID() };
  const row = { what: 'measure', name: 'Row', count: 11_800 };
  await post({ ...same, part: 0, trace, measures: [measure('Row'), measure('checkout')], leftOut: [row] });
  await counted('routes');
  await post({ ...same, part: 1, page: { url: 'https://shop.example/product/7' }, measures: [measure('Row')], leftOut: [{ ...row, count: 30 }, { what: 'mark', count: 2 }] });
  assert.deepEqual(await leftOut('routes', ", route => '/'"), [['(any)', 1, null], ['measure', 1, 11_800]]);
  assert.deepEqual(await leftOut('routes', ", route => '/product/:id'"), [['(any)', 1, null], ['mark', 1, 2], ['measure', 0, 30]]);
  assert.deepEqual(await leftOut('routes', ", exclude_route => '%'"), []);
  assert.deepEqual(await stack.sql("select name, count, left_out from fleetprof.timings('shop', release => 'routes')"),
    [{ name: 'Row', count: 2, left_out: 11_830 }, { name: 'checkout', count: 1, left_out: 0 }]);
});

const timings = async (/** @type {string[]} */ ...args) => {
  const { code, stdout, stderr } = await run([path.join(binDir, 'fleetprof'), 'timings', '-d', stack.postgres.conninfo('fleetprof_reader'), '--site', 'shop', ...args]);
  assert.equal(code, 0, stderr);
  return `${stdout}\n${stderr}`;
};

test('the last line of timings says how many page loads left out what', async () => {
  const release = 'line';
  const [one, other] = [randomUUID(), randomUUID()];
  for (let i = 0; i < 6; i++) await post({ release, load: randomUUID(), trace, measures: [measure('Row')] });
  await post({ release, load: one, part: 0, trace, measures: [measure('Row')],
    leftOut: [{ what: 'measure', name: 'Row', count: 1_204_000 }, { what: 'measure', count: 332 }] });
  await post({ release, load: one, part: 1, leftOut: [{ what: 'interaction', count: 1 }, { what: 'upload', count: 3 }] });
  await post({ release, load: other, trace, page: { url: 'https://shop.example/product/7' }, measures: [measure('Row')],
    leftOut: [{ what: 'profile' }, { what: 'measure', count: 8 }, { what: 'soon' }] });
  await counted(release);
  const lines = (await timings('--release', release)).trimEnd().split('\n');
  assert.match(lines[1], /^Row\tmeasure\t8\t.*\t1204000$/);
  assert.equal(lines.at(-1), '2 of 8 page loads (25.0 %) left something out: 1,204,340 measures (in 2), what the sender does not say (in 1), '
    + '1 interaction (in 1), the end of the profile (in 1), 3 uploads (in 1).');
  assert.match(await timings('--release', release, '--route', '/product/:id'), /\n1 of 1 page loads \(100\.0 %\) left something out: .*8 measures \(in 1\), .*\.\n$/);
  const [row] = JSON.parse(await timings('--release', release, '--json'));
  assert.deepEqual([row.name, row.left_out], ['Row', 1_204_000]);
});

/** The words of envelopes, and how people read them, of one and of two. @type {Record<string, [string, string]>} */
const said = {
  mark: ['1 mark', '2 marks'], measure: ['1 measure', '2 measures'], profile: ['the end of the profile', 'the end of the profile'],
  overload: ['the profile of a busy device', 'the profile of a busy device'], vital: ['1 vital', '2 vitals'], interaction: ['1 interaction', '2 interactions'],
  frame: ['1 long frame', '2 long frames'], resource: ['1 resource', '2 resources'], upload: ['1 upload', '2 uploads'],
};

test('command and report read each word in the same way, of one and of two', async () => {
  const source = fs.readFileSync(path.join(repository, 'collector/base/words.c'), 'utf8');
  const words = [...source.matchAll(/\[FP_LEFT_OUT_\w+\] = "(\w+)"/g)].map(([, word]) => word);
  assert.deepEqual(words.sort(), Object.keys(said).sort());
  for (const [word, texts] of Object.entries(said)) {
    for (const [i, text] of texts.entries()) {
      const release = `${word}${i}`;
      const count = ['profile', 'overload'].includes(word) ? undefined : i + 1;
      await post({ release, load: randomUUID(), trace, measures: [measure('Row')], leftOut: [{ what: word, count }] });
      for (let more = 0; more < 2; more++) await post({ release, load: randomUUID(), trace });
      await counted(release);
      const line = (await timings('--release', release)).trimEnd().split('\n').at(-1);
      assert.equal(line, `1 of 3 page loads (33.3 %) left something out: ${text} (in 1).`);
      assert.equal(sentence(await stack.sql(`select * from fleetprof.left_out('shop', release => '${release}')`)), line);
    }
  }
});

test('where nothing was left out, nothing is said', async () => {
  await post({ release: 'nothing', load: randomUUID(), trace, measures: [measure('Row')], leftOut: [] });
  assert.deepEqual(await leftOut('nothing'), []);
  assert.doesNotMatch(await timings('--release', 'nothing'), /left something out/);
});
