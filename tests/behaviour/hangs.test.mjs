// SPDX-License-Identifier: Apache-2.0
/**
 * Reports of browsers about hangs and crashes, from the wire to SQL, the command and the report's server: admitted and
 * bounded as uploads are, durable, in no time sum, and without what is private.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { binDir, run, startCollector, startStack, waitFor } from './stack.mjs';

const origin = 'https://shop.example';
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';

const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'fleetprof-hangs-'));
const keyFile = path.join(dir, 'token.key');
fs.writeFileSync(keyFile, `${'0'.repeat(64)}\n`);

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => {
  stack = await startStack({ config: {
    privacy: { honour_gpc: true },
    sites: [
      { name: 'shop', key: 'pk_shop', origins: [origin], routes: ['/product/:id'] },
      { name: 'empty', key: 'pk_empty', origins: [origin] },
      { name: 'locked', key: 'pk_locked', origins: [origin], require_token: true, token_keys: [keyFile] },
    ] } });
});
after(async () => {
  await stack?.stop();
  fs.rmSync(dir, { recursive: true });
});

/** @param {any} [body] @param {string} [url] */
const crash = (body = {}, url = `${origin}/product/7?token=secret`) => ({ type: 'crash', age: 12, url, user_agent: chrome, body });
const stackText = `
    at sortRows (${origin}/app.js?v=3:120:7)
    at render (${origin}/app.js?v=3:90:3)
    at ${origin}/app.js?v=3:1:1`;
// With the members that Chromium 156 sends.
const hang = (/** @type {any} */ more = {}) => crash({ reason: 'unresponsive', is_top_level: true, visibility_state: 'visible', crash_report_api: {}, stack: stackText, ...more });

/** @param {any} reports @param {{ key?: string, headers?: Record<string, string>, more?: string, url?: string }} [options] */
async function post(reports, { key = 'pk_shop', headers = {}, more = '', url = stack.collector.url } = {}) {
  const reply = await fetch(`${url}/v1/reports/${key}${more}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/reports+json', Origin: origin, ...headers },
    body: typeof reports === 'string' ? reports : JSON.stringify(reports),
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

/** @param {string} [filters] */
const hangs = (filters = '') => stack.sql(`select * from fleetprof.hangs('shop'${filters})`);
const counted = async (/** @type {number} */ uploads) => waitFor(async () => {
  const [{ count }] = await stack.sql("select count(*)::int as count from fleetprof.upload_log where format = 'reports'");
  return count === uploads;
}, { what: `${uploads} uploads of reports` });

test('a preflight allows what Chromium asks for', async () => {
  const reply = await fetch(`${stack.collector.url}/v1/reports/pk_shop`, { method: 'OPTIONS', headers: {
    Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'content-type' } });
  assert.equal(reply.status, 204);
  assert.equal(reply.headers.get('access-control-allow-origin'), origin);
  assert.match(reply.headers.get('access-control-allow-methods') ?? '', /POST/);
  assert.match(reply.headers.get('access-control-allow-headers') ?? '', /content-type/i);
});

test('what is refused says why, and stores nothing', async () => {
  for (const [name, status, says, answer] of /** @type {[string, number, RegExp, Promise<any>][]} */ ([
    ['key', 403, /key/, post([crash()], { key: 'pk_none' })],
    ['origin', 403, /origin/, post([crash()], { headers: { Origin: 'https://evil.example' } })],
    ['opt-out', 403, /Sec-GPC/, post([crash()], { headers: { 'Sec-GPC': '1' } })],
    ['token', 403, /token/, post([crash()], { key: 'pk_locked' })],
    ['type', 415, /application\/reports\+json/, post([crash()], { headers: { 'Content-Type': 'application/csp-report' } })],
    ['JSON', 400, /JSON/i, post('{')],
    ['no array', 422, /not an array of a browser's reports/, post(crash())],
    ['no report', 422, /not an array of a browser's reports/, post([])],
    ['another format', 422, /not an array of a browser's reports/, post({ version: 1, coverage: 'quota' })],
    ['depth', 413, /json_depth/, post('['.repeat(100) + ']'.repeat(100))],
    ['path', 404, /\/v1\/reports\/KEY/, post([crash()], { key: 'pk_shop/sessions' })],
  ])) {
    const { status: got, text } = await answer;
    assert.equal(got, status, `${name}: ${text}`);
    assert.match(text, says, name);
  }
  const reply = await fetch(`${stack.collector.url}/v1/reports/pk_shop`);
  assert.equal(reply.status, 405);
  assert.equal((await post([crash()], { more: '?dry_run' })).status, 204);
  await counted(0);
});

test('reports count by reason and place, and others are skipped and counted', async () => {
  const reply = await post([
    hang(), hang({ visibility_state: 'hidden' }), hang({ is_top_level: false }), crash({ reason: 'oom' }), crash(),
    crash({ reason: 'unresponsive' }, `${origin}/help`),
    { type: 'document-policy-violation', age: 1, url: `${origin}/help`, user_agent: chrome, body: { policyId: 'js-profiling', disposition: 'enforce' } },
    { type: 'deprecation', age: 1, url: `${origin}/help`, user_agent: chrome, body: { id: 'x' } }, { type: 'crash', body: 7 },
  ]);
  assert.equal(reply.status, 204, reply.text);
  assert.equal(reply.headers.get('fleetprof-refused'), '2');
  await counted(2);
  const rows = await hangs();
  assert.deepEqual(rows.map((row) => [row.reason, row.function, row.resource, row.line, row.column_number, row.callers,
    Number(row.count), Number(row.hidden), Number(row.in_frames)]), [
    ['unresponsive', 'sortRows', `${origin}/app.js`, 120, 7, 'render < (anonymous)', 3, 1, 1],
    ['crash', null, null, null, null, null, 1, 0, 0],
    ['oom', null, null, null, null, null, 1, 0, 0],
    ['unresponsive', null, null, null, null, null, 1, 0, 0],
  ]);
  assert.deepEqual(rows.map(({ loads, per_100k_loads: rate }) => [loads, rate]), rows.map(() => [null, null]));
  assert.deepEqual((await hangs(", route => '/help'")).map(({ reason }) => reason), ['unresponsive']);
  assert.equal((await hangs(", route => '/product/:id', browser => 'Chrome', os => 'Linux', thread => 'window'")).length, 3);
  assert.deepEqual(await hangs(", browser => 'Firefox'"), []);
  assert.deepEqual(await stack.sql("select policy, count::int from fleetprof.violations('shop')"), [{ policy: 'js-profiling', count: 1 }]);
  assert.deepEqual(
    await stack.sql("select format, reason, records::int, first_place from fleetprof.refusals('shop') order by reason"),
    [{ format: 'reports', reason: 'bad_report', records: 1, first_place: 'element 8' },
      { format: 'reports', reason: 'other_report', records: 1, first_place: 'element 7' }]);
});

test('reports are in no page load, no time and no profile', async () => {
  const [coverage] = await stack.sql("select * from fleetprof.coverage('shop')");
  assert.equal(Number(coverage?.loads ?? 0), 0);
  assert.deepEqual(await stack.sql("select * from fleetprof.hotspots('shop')"), []);
  assert.deepEqual(await stack.sql("select * from fleetprof.timings('shop')"), []);
  const [{ sum }] = await stack.sql("select coalesce(sum(profiled_us + samples), 0)::int as sum from fleetprof_data.upload where format = 'reports'");
  assert.equal(sum, 0);
});

test('the rate is per page load that can send such reports', async () => {
  const trace = { resources: [], frames: [{ name: 'f' }], stacks: [{ frameId: 0 }], samples: [{ timestamp: 5, stackId: 0 }] };
  for (const part of [{ trace }, { coverage: 'quota' }, { coverage: 'disabled' }, { coverage: 'unsupported' }, { coverage: 'not-sampled' }, { trace }]) {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, { method: 'POST', headers: { 'User-Agent': chrome, Origin: origin },
      body: JSON.stringify({ version: 1, id: randomUUID(), load: randomUUID(), thread: 'window', page: { url: `${origin}/help` }, ...part }) });
    assert.equal(reply.status, 204, await reply.text());
  }
  await waitFor(async () => (await hangs(", route => '/help'"))[0]?.per_100k_loads === 25_000, { what: 'one of four page loads' });
  assert.equal(Number((await hangs(", route => '/help'"))[0].loads), 4);
  assert.equal((await hangs(", route => '/product/:id'"))[0].loads, null);
});

test('nothing private is in the database', async () => {
  const [{ found }] = await stack.sql(`select
    exists (select from fleetprof_data.resource where url like '%?%') or exists (select from fleetprof_data.segment where route like '%secret%') as found`);
  assert.equal(found, false);
});

test('a report that is sent again counts again, unless it has a key', async () => {
  const key = { headers: { 'Idempotency-Key': randomUUID() } };
  const before = Number((await hangs(", route => '/twice'"))[0]?.count ?? 0);
  for (let i = 0; i < 2; i++) assert.equal((await post([crash({}, `${origin}/twice`)], key)).status, 204);
  for (let i = 0; i < 2; i++) assert.equal((await post([crash({}, `${origin}/twice`)])).status, 204);
  await waitFor(async () => Number((await hangs(", route => '/twice'"))[0]?.count) === before + 3, { what: 'three reports' });
});

test('what is acknowledged survives a kill', async () => {
  const { database, sites } = stack.collector.config;
  const first = await startCollector({ config: { database, sites } });
  const reports = [hang(), crash({ reason: 'oom' })].map((report) => ({ ...report, url: `${origin}/killed` }));
  assert.equal((await post(reports, { url: first.url })).status, 204);
  await first.server.stop('SIGKILL');
  const second = await startCollector({ config: first.config });
  await waitFor(async () => (await hangs(", route => '/killed'")).length === 2, { what: 'both reports' });
  await second.stop();
});

test('the command prints what SQL says', async () => {
  const env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') };
  const ask = async (/** @type {string[]} */ ...args) => {
    const { code, stdout, stderr } = await run([path.join(binDir, 'fleetprof'), 'hangs', '--site', 'shop', ...args], { env });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const rows = JSON.parse(await ask('--json'));
  assert.deepEqual(rows.map((/** @type {any} */ row) => [row.reason, row.function, row.count]),
    (await hangs()).map((row) => [row.reason, row.function, Number(row.count)]));
  const table = await ask();
  assert.match(table, /^REASON\tFUNCTION/m);
  assert.match(table, /^unresponsive\tsortRows/m);
});

test('a bad report in front of others does not refuse them', async () => {
  for (const bad of [null, 7, [], { type: 'crash' }, { type: 'crash', body: null }, { type: 'x', url: origin }]) {
    const reply = await post([bad, crash({ reason: 'other' }, `${origin}/`)]);
    assert.deepEqual([reply.status, reply.headers.get('fleetprof-refused')], [204, '1'], `${JSON.stringify(bad)}: ${reply.text}`);
  }
  assert.equal((await post([{ type: 'crash' }])).status, 422, 'no report at all');
});
