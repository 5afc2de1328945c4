// SPDX-License-Identifier: Apache-2.0
/** A typical page load: what is kept of a fleet of three kinds, over HTTP, to SQL, the API and the command line. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { binDir, freePort, run, startProcess, startStack, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
const script = 'https://www.shop.example/app.js';
const functions = ['onClick', 'sortReviews', 'openChat', 'hang', 'boot'];

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {NodeJS.ProcessEnv} */
let env;
let sent = 0;
/** Ids of uploads by kind. @type {Record<string, string[]>} */
const ids = { sorts: [], chats: [], hangs: [] };

/** Sends a page load whose click runs functions for so many samples of 10 ms. @param {string} site @param {keyof typeof ids} kind @param {[number, number][]} runs */
async function load(site, kind, runs) {
  const id = randomUUID();
  const start = 500;
  const all = [4].flatMap((stackId) => Array(start / 10).fill(stackId)).concat(runs.flatMap(([stackId, count]) => Array(count).fill(stackId)));
  const duration = 10 * all.length - start;
  const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_${site}`, {
    method: 'POST', headers: { 'user-agent': chrome }, body: JSON.stringify({
      version: 1, sampleInterval: 10, id, load: randomUUID(), page: { url: 'https://www.shop.example/product' }, start: 0, duration: 10 * all.length,
      trace: {
        resources: [script], frames: functions.map((name, i) => ({ name, resourceId: 0, line: 10 * (i + 1), column: 1 })),
        stacks: [{ frameId: 0 }, ...[1, 2, 3].map((frameId) => ({ frameId, parentId: 0 })), { frameId: 4 }],
        samples: all.map((stackId, i) => ({ timestamp: 10 * i + 5, stackId })),
      },
      vitals: [{ name: 'INP', value: duration, id: 'v1', target: '#buy', start, duration }],
      interactions: [{ type: 'pointer', target: '#buy', start, processingStart: start, processingEnd: start + duration, duration }],
    }),
  });
  assert.equal(reply.status, 204, await reply.text());
  ids[kind].push(id);
  sent += 1;
}

/** @param {string} query below `select` */
const ask = (query) => stack.sql(`select ${query}`);

/** Returns the answer about a group, and of which kind the page load is. @param {string} parameters */
async function typical(parameters) {
  const [row] = await ask(`typical.*, typical.session_id::text as session, upload_id::text as upload
    from fleetprof.typical_load(${parameters}) as typical left join fleetprof.sessions as s on s.session_id = typical.session_id`);
  return { ...row, kind: Object.keys(ids).find((kind) => ids[kind].includes(row.upload)) };
}

before(async () => {
  stack = await startStack({ config: { sites: [
    { name: 'shop', key: 'pk_shop', sample_keep: '100%' }, { name: 'capped', key: 'pk_capped', sample_keep: '100%', kept: '6KiB' }, { name: 'unkept', key: 'pk_unkept' },
  ] } });
  env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') };
  for (let number = 0; number < 24; number += 1) await load('shop', 'sorts', [[0, 10 + number % 3], [1, 45 + number % 7]]);
  for (let number = 0; number < 10; number += 1) await load('shop', 'chats', [[0, 5], [2, 60 + number % 4]]);
  await load('shop', 'hangs', [[3, 5000]]);
  for (let number = 0; number < 12; number += 1) await load('capped', 'sorts', [[0, 10], [1, 45]]);
  for (let number = 0; number < 4; number += 1) await load('unkept', 'sorts', [[0, 10], [1, 45]]);
  await waitFor(async () => (await ask('count(*)::integer as n from fleetprof.upload_log'))[0].n === sent, { what: `${sent} uploads in SQL` });
});
after(async () => { await stack?.stop(); });

test('the typical poor page load is of the majority, and what hangs is not typical of anything', async () => {
  const [hottest] = await ask("function from fleetprof.vital_hotspots('INP', 'shop', top => 1)");
  assert.equal(hottest.function, 'hang', 'the outlier takes more than all others');
  const poor = await typical("'shop', measure_name => '(INP) poor'");
  assert.deepEqual([poor.kind, poor.loads, poor.kept_loads, poor.reason], ['sorts', 24 + 10 + 1, 35, null]);
  assert.ok(poor.alike > 0.85 && poor.alike < 1, String(poor.alike));
  const [{ key }] = await ask("function_key as key from fleetprof.hotspots('shop') where function = 'openChat'");
  const chat = await typical(`'shop', key => '${key}'`);
  assert.deepEqual([chat.kind, chat.loads, chat.kept_loads], ['chats', 10, 10]);
  const [hang] = await ask("function_key as key from fleetprof.hotspots('shop') where function = 'hang'");
  const alone = await typical(`'shop', key => '${hang.key}'`);
  assert.deepEqual([alone.session, alone.loads, alone.kept_loads, alone.reason], [null, 1, 1, 'too few kept']);
  const clicked = await typical("'shop', measure_name => '(interaction) pointer #buy'");
  assert.deepEqual([clicked.kind, clicked.loads], ['sorts', 35]);
  assert.equal((await typical("'shop', measure_name => '(INP) good'")).reason, 'no page loads');
});

test('the ceiling of kept sessions counts vectors; without kept ones the answer says so', async () => {
  const capped = await typical("'capped', measure_name => '(INP) poor'");
  const [{ kept, bytes }] = await ask(`count(*)::integer as kept,
    sum(512 + stored_bytes + 24 * cardinality(vector_us) + 8 * cardinality(seen_frame_ids))::integer as bytes
    from fleetprof.sessions join fleetprof_data.session using (session_id) where site = 'capped'`);
  assert.ok(kept > 0 && kept < 12, `${kept} are kept`);
  assert.ok(bytes <= 6144 && bytes * (kept + 1) / kept > 6144, `${bytes} of 6,144 bytes`);
  assert.deepEqual([capped.loads, capped.kept_loads], [12, kept]);
  assert.deepEqual(await typical("'unkept'").then(({ session, alike, loads, kept_loads: few, reason }) => [session, alike, loads, few, reason]), [null, null, 4, 0, 'none kept']);
});

test('the command line and the API answer alike', async () => {
  const poor = await typical("'shop', measure_name => '(INP) poor'");
  const asked = (/** @type {string[]} */ ...args) => run([program, 'session', 'typical', '--site', ...args], { env });
  const shown = await asked('shop', '--measure', '(INP) poor');
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stderr, /^ALIKE is from 0 to 1: [^]*session export/);
  assert.match(shown.stdout, new RegExp(`^SESSION\t.*\n${poor.session}\t${poor.alike.toFixed(2)}\t35\t35\t.*\n$`));
  const [row] = JSON.parse((await asked('shop', '--measure', '(INP) poor', '--json')).stdout);
  assert.deepEqual([row.session_id, row.loads, row.kept_loads, row.reason], [poor.session, 35, 35, null]);
  const none = await asked('unkept');
  assert.deepEqual([none.code, none.stdout], [0, '']);
  assert.match(none.stderr, /no page load is typical: of 4, 0 are kept[^]*sample_keep/);
  const both = await asked('shop', '--measure', 'x', '--key', '1');
  assert.equal(both.code, 2);
  assert.match(both.stderr, /--key and --measure/);

  const port = await freePort();
  const server = startProcess('fleetprof serve', [program, 'serve', '--listen', `127.0.0.1:${port}`, '-d', env.FLEETPROF_DATABASE ?? '']);
  const address = `http://127.0.0.1:${port}/api/v1/typical_load?site=shop&measure_name=${encodeURIComponent('(INP) poor')}`;
  await waitFor(async () => (await fetch(`http://127.0.0.1:${port}/`)).ok, { what: 'fleetprof serve' });
  const { columns, rows } = await (await fetch(address)).json();
  await server.stop();
  assert.equal(String(rows[0][columns.findIndex((/** @type {any} */ { name }) => name === 'session_id')]), poor.session);
});

test('a vector goes with its session', async () => {
  const first = await typical("'shop', measure_name => '(INP) poor'");
  await stack.execute(`select fleetprof.release_session(${first.session})`);
  const next = await typical("'shop', measure_name => '(INP) poor'");
  assert.deepEqual([next.kind, next.loads, next.kept_loads, next.session === first.session], ['sorts', 35, 34, false]);
  await stack.execute('select fleetprof.release_session()');
  assert.deepEqual(await ask('vector_us from fleetprof_data.session'), []);
  assert.equal((await typical("'shop'")).reason, 'none kept');
});
