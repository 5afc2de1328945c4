// SPDX-License-Identifier: Apache-2.0
/** fleetprof serve /metrics: web vitals by route in Prometheus' text format. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { startReport } from './serve_tool.mjs';
import { binDir, run, startStack, temporaryDir } from './stack.mjs';

const dir = temporaryDir('metrics');
const sites = 20;
/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./serve_tool.mjs').Report} */
let report;

/** @param {string} route @param {number} inp */
const upload = (route, inp) => ({
  page: { url: 'https://shop.example/cart', route },
  sampleInterval: 10,
  trace: { resources: [], frames: [{ name: 'f' }], stacks: [{ frameId: 0 }], samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10, stackId: 0 }] },
  vitals: [{ name: 'INP', value: inp }, { name: 'CLS', value: 0.25 }],
});

/** @param {string} site @param {object[]} uploads */
async function importAll(site, uploads) {
  const files = uploads.map((_, i) => path.join(dir, `${site}${i}.json`));
  files.forEach((file, i) => fs.writeFileSync(file, JSON.stringify(uploads[i])));
  const { code, stderr } = await run([path.join(binDir, 'fleetprof'), 'import', '--wait', '-c', stack.collector.file, '--site', site, ...files]);
  assert.equal(code, 0, stderr);
}

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }, { name: 'many', key: 'pk_many' }, ...[...Array(sites)].map((_, i) => ({ name: `site${i}`, key: `pk_site${i}` }))] } });
  await importAll('shop', [100, 200, 300, 900].map((inp) => upload('/cart', inp)));
  await importAll('many', [...Array(60)].flatMap((_, i) => [...Array(i < 50 ? 2 : 1)].map((__, j) => upload(`/${i}"} 1\\e{`, 40 + j))));
  report = await startReport(stack.postgres.conninfo('fleetprof_reader'));
});
after(async () => {
  await report?.server.stop();
  await stack?.stop();
});

/** Reads Prometheus' text: name{labels} to the value. @param {string} text */
function readMetrics(text) {
  const values = new Map();
  let current = '';
  for (const line of text.trimEnd().split('\n')) {
    current = /^# TYPE (\w+) gauge$/.exec(line)?.[1] ?? current;
    if (line.startsWith('#')) continue;
    const sample = /^(\w+)\{((?:\w+="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (\S+)$/.exec(line);
    assert.ok(sample && sample[1] === current, `${current}: ${line}`);
    values.set(`${sample[1]}{${sample[2]}}`, Number(sample[3]));
  }
  return values;
}

test('/metrics has the 75th percentile of each vital by route, as the API has it', async () => {
  const response = await report.get('/metrics');
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'text/plain; version=0.0.4; charset=utf-8']);
  const values = readMetrics(await response.text());
  const { columns, rows } = await report.json('/api/v1/vitals_by?site=shop&dimension=route&since=1d');
  const at = (/** @type {string} */ name) => columns.findIndex((/** @type {any} */ column) => column.name === name);
  assert.equal(rows.length, 2);
  for (const row of rows) {
    const labels = `{site="shop",route="/cart",vital="${row[at('name')]}"}`;
    assert.equal(values.get(`fleetprof_vital_p75_${row[at('name')] === 'CLS' ? 'score' : 'seconds'}${labels}`), row[at('p75')] / 1000, labels);
    assert.equal(values.get(`fleetprof_vital_values${labels}`), 4);
  }
});

test('/metrics has the 50 routes of a site with the most values, and their names stay labels', async () => {
  const values = readMetrics(await (await report.get('/metrics')).text());
  const routes = [...values.keys()].map((key) => /^fleetprof_vital_p75_seconds\{site="many",route="\/(\d+)\\"\} 1\\\\e\{",vital="INP"\}$/.exec(key)?.[1]).filter(Boolean);
  assert.deepEqual(routes.map(Number).sort((a, b) => a - b), [...Array(50).keys()]);
});

test('/metrics has all routes of many sites, however long their names are', async () => {
  const long = [...Array(50)].map((_, i) => `/${i}${'龘'.repeat(190)}`);
  for (let i = 0; i < sites; i++) await importAll(`site${i}`, long.map((route) => ({ ...upload(route, 100), vitals: ['LCP', 'FCP', 'TTFB', 'INP', 'CLS'].map((name) => ({ name, value: 0.25 })) })));
  const response = await report.get('/metrics');
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 500));
  const values = readMetrics(text);
  for (let i = 0; i < sites; i++)
    for (const route of long) assert.equal(values.get(`fleetprof_vital_values{site="site${i}",route="${route}",vital="INP"}`), 1);
  assert.ok(Buffer.byteLength(text) > 5_000_000, `${text.length} characters`);
});

test('/metrics is as closed as the API', async () => {
  assert.equal((await report.get('/metrics', { headers: { 'sec-fetch-site': 'cross-site' } })).status, 403);
  assert.equal((await report.get('/metrics', { method: 'POST' })).status, 405);
});
