// SPDX-License-Identifier: Apache-2.0
/**
 * `?dry_run`: every reply as without it, and nothing is stored, counted, kept or used up.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';

import { counted, envelope, origin, send, sendUntil, spoolOnly } from './collector_client.mjs';
import { startCollector, temporaryDir, waitFor } from './stack.mjs';

const dir = temporaryDir('dry-run');
const key = crypto.randomBytes(32);
fs.writeFileSync(path.join(dir, 'token.key'), `${key.toString('hex')}\n`);

/** @param {string} site @returns {string} a valid page token */
function newToken(site) {
  const hmac = (/** @type {string} */ text) => crypto.createHmac('sha256', key).update(text);
  const signed = ['v1', hmac('fleetprof key id').digest('hex').slice(0, 8), site, 10_000,
    Math.floor(Date.now() / 1000), crypto.randomBytes(12).toString('base64url')].join('.');
  return `${signed}.${hmac(signed).digest('base64url')}`;
}

/** @type {import('./stack.mjs').Collector} */
let collector;
before(async () => {
  collector = await startCollector({
    config: {
      ...spoolOnly,
      limits: { max_body: '64KiB' },
      privacy: { honour_gpc: true },
      dead_letters: { path: path.join(dir, 'letters') },
      sites: [
        ...spoolOnly.sites,
        { name: 'signed', key: 'pk_signed', require_token: true, token_keys: [path.join(dir, 'token.key')], token_uploads: 2 },
        { name: 'lax', key: 'pk_lax', token_keys: [path.join(dir, 'token.key')] },
        { name: 'poor', key: 'pk_poor', budgets: { requests_per_second: 1, burst: '2s' } },
      ],
    },
  });
});
after(() => collector.stop());

/** @param {string} site @param {import('./collector_client.mjs').Request} request */
const dryRun = (site, request, query = '') => send(`${collector.url}/v1/ingest/pk_${site}?dry_run${query}`, request);

/** Returns the contents of the spool, SQL's counters and the letters; a dry run must not change them. */
async function traces() {
  const metrics = await collector.metrics();
  const isTrace = (/** @type {string} */ name) => /^fleetprof_(uploads|last_upload|page_tokens|entries|measures|names|inflated|ack|dead_letters|spool|backlog)/.test(name);
  return Object.fromEntries(Object.entries(metrics).filter(([name]) => isTrace(name) && !/_age_|_lag_|_disk_free_|seconds$/.test(name)));
}

test('a valid upload is answered with 204 and leaves nothing', async () => {
  const before = await traces();
  const reply = await dryRun('shop', { body: envelope({ token: 'x' }), headers: { origin } });
  assert.equal(reply.status, 204);
  assert.equal(reply.headers['fleetprof-dry-run'], 'accepted');
  assert.equal(reply.headers['access-control-allow-origin'], origin);
  assert.deepEqual(await traces(), before);
  assert.equal((await collector.metrics())['fleetprof_dry_runs_total{result="accepted"}'], 1);
});

const refusals = /** @type {[string, number, string, string, import('./collector_client.mjs').Request][]} */ ([
  ['an unknown key', 403, 'nobody', 'unknown_key', { body: envelope() }],
  ['an origin that is not listed', 403, 'shop', 'origin', { body: envelope(), headers: { origin: 'https://evil.example' } }],
  ['Sec-GPC where it is honoured', 403, 'shop', 'gpc', { body: envelope(), headers: { 'sec-gpc': '1' } }],
  ['a missing token', 403, 'signed', 'token_missing', { body: envelope() }],
  ['a forged token', 403, 'signed', 'token_forged', { body: envelope({ token: newToken('other') }) }],
  ['a body over the limit', 413, 'shop', 'size', { body: `${envelope()}${' '.repeat(70_000)}` }],
  ['an unsupported type', 415, 'shop', 'type', { body: 'a=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
  ['an unsupported encoding', 415, 'shop', 'encoding', { body: envelope(), headers: { 'content-encoding': 'compress' } }],
  ['what is not JSON', 400, 'shop', 'not_json', { body: '{' }],
  ['a body that is compressed twice', 400, 'shop', 'compressed_twice', { body: zlib.gzipSync(zlib.gzipSync(envelope())) }],
  ['an invalid upload', 422, 'shop', 'invalid', { body: envelope({ sampleInterval: -1 }) }],
  ['another method', 405, 'shop', 'method', { method: 'PUT', body: envelope() }],
]);
/** The replies to dry runs, by what was sent. @type {Map<string, Awaited<ReturnType<typeof dryRun>>>} */
const replies = new Map();
for (const [what, status, site, reason, request] of refusals) {
  test(`${what} is ${status}, and leaves nothing`, async () => {
    const before = await traces();
    const { 'fleetprof_dry_runs_total{result="refused"}': counted0 } = await collector.metrics();
    const dry = await dryRun(site, request);
    assert.equal(dry.status, status);
    assert.equal(dry.headers['fleetprof-dry-run'], reason);
    assert.deepEqual(await traces(), before);
    assert.equal((await collector.metrics())['fleetprof_dry_runs_total{result="refused"}'], counted0 + 1);
    replies.set(what, dry);
  });
}

// After all dry runs: a real refusal is kept as a dead letter some time after its reply.
test('refusals are those of uploads without dry_run', async () => {
  assert.equal(replies.size, refusals.length);
  for (const [what, , site, , request] of refusals) {
    const { status, problem } = await send(`${collector.url}/v1/ingest/pk_${site}`, request);
    const dry = replies.get(what);
    assert.deepEqual({ status: dry?.status, problem: dry?.problem }, { status, problem }, what);
  }
});

test('refused dry runs are neither logged nor kept as dead letters', async () => {
  const letters = async () => (await collector.metrics())['fleetprof_dead_letters_total{result="stored"}'];
  await waitFor(async () => await letters() > 0, { what: 'letters of the refusals above' });
  const { 'fleetprof_dry_runs_total{result="refused"}': refused } = await collector.metrics();
  for (let i = 0; i < 3; i++) await dryRun('file', { body: '{', headers: { origin: 'null' } });
  const real = await send(`${collector.url}/v1/ingest/pk_server`, { body: '{' });
  assert.equal(real.status, 400);
  await waitFor(() => /uploads refused.*site=server/.test(collector.server.output()), { what: 'line of the real one' });
  assert.doesNotMatch(collector.server.output(), /uploads refused.*site=file/);
  assert.equal((await collector.metrics())['fleetprof_dry_runs_total{result="refused"}'], refused + 3);
});

test('a token is checked, and not used up', async () => {
  const token = newToken('signed');
  for (let i = 0; i < 4; i++) assert.equal((await dryRun('signed', { body: envelope({ token }) })).status, 204);
  const url = `${collector.url}/v1/ingest/pk_signed`;
  for (let i = 0; i < 2; i++) assert.equal((await send(url, { body: envelope({ token }) })).status, 204);
  const [dry, real] = [await dryRun('signed', { body: envelope({ token }) }), await send(url, { body: envelope({ token }) })];
  assert.equal(dry.status, 403);
  assert.match(dry.problem.detail, /used up/);
  assert.deepEqual(dry.problem, real.problem);
});

test('a token that is not valid is named, also where none is required', async () => {
  const result = async (/** @type {Record<string, unknown>} */ members) => (await dryRun('lax', { body: envelope(members) })).headers['fleetprof-dry-run'];
  assert.equal(await result({ token: newToken('lax') }), 'accepted');
  assert.equal(await result({ token: newToken('other') }), 'accepted, token_forged');
  assert.equal(await result({}), 'accepted, token_missing');
});

test('a form is refused when it would use its token up midway', async () => {
  const form = (/** @type {string} */ token, /** @type {number} */ parts) => ({
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: `${`--x\r\n\r\n${envelope({ token })}\r\n`.repeat(parts)}--x--\r\n`,
  });
  const token = newToken('signed');
  assert.equal((await dryRun('signed', form(token, 2))).status, 204);
  assert.equal((await dryRun('signed', form(token, 3))).status, 403);
  assert.equal((await send(`${collector.url}/v1/ingest/pk_signed`, form(token, 2))).status, 204);
});

test('dry runs have a budget of their own: they cannot flood, and take nothing from uploads', async () => {
  const { headers } = await sendUntil(() => dryRun('poor', { body: envelope() }), (status) => status === 429);
  assert.equal(headers['retry-after'], '1');
  assert.equal((await counted(collector)).deferred, 0);
  const upload = () => send(`${collector.url}/v1/ingest/pk_poor`, { body: envelope() });
  for (let i = 0; i < 2; i++) assert.equal((await upload()).status, 204, 'the burst of uploads is whole');
  await sendUntil(upload, (status) => status === 429);
  assert.equal((await dryRun('poor', { body: envelope() })).status, 429, 'as an upload would get now');
});

test('a value of dry_run other than 1 is refused: it might be meant as a no', async () => {
  const before = await counted(collector);
  for (const value of ['0', 'false', '11']) {
    const reply = await dryRun('shop', { body: envelope(), headers: { origin } }, `=${value}`);
    assert.equal(reply.status, 400);
    assert.match(reply.problem.detail, /dry_run/);
    assert.equal(reply.headers['access-control-allow-origin'], origin);
  }
  for (const value of ['', '1']) assert.equal((await dryRun('shop', { body: envelope() }, `=${value}`)).status, 204);
  assert.deepEqual(await counted(collector), before);
});

test('long sessions have no dry run: none starts, and none stops', async () => {
  const sessions = `${collector.url}/v1/ingest/pk_server/sessions`;
  assert.equal((await send(`${sessions}?dry_run`)).status, 400);
  const started = await send(sessions);
  assert.equal(started.status, 201);
  const { session } = JSON.parse(started.body);
  assert.equal((await send(`${sessions}/${session}?part=0&dry_run`, { body: envelope() })).status, 400);
  assert.equal((await send(`${sessions}/${session}/stop?dry_run`)).status, 400);
  assert.equal((await send(`${sessions}/${session}/stop`)).status, 204);
});

test('a preflight with dry_run is answered as without', async () => {
  const preflight = { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } };
  const reply = await dryRun('shop', preflight);
  assert.equal(reply.status, 204);
  assert.equal(reply.headers['access-control-allow-methods'], 'POST');
});

test('a full spool is 503, and an upload that fits into no record is 413', async () => {
  const small = await startCollector({
    config: { ...spoolOnly, spool: { path: path.join(dir, 'small'), max_bytes: '4MiB', segment_bytes: '1MiB' } },
  });
  const url = `${small.url}/v1/ingest/pk_server`;
  const large = (/** @type {number} */ count) => {
    const frames = Array.from({ length: count }, (_, i) => ({ name: `${i}${'x'.repeat(90)}` }));
    const samples = frames.map((_, i) => ({ timestamp: i, stackId: i }));
    return envelope({ trace: { resources: [], frames, stacks: frames.map((_, i) => ({ frameId: i })), samples } });
  };
  const long = { dry: await send(`${url}?dry_run`, { body: large(20_000) }), real: await send(url, { body: large(20_000) }) };
  assert.equal(long.dry.status, 413);
  assert.deepEqual(long.dry.problem, long.real.problem);

  await sendUntil(() => send(url, { body: large(2000) }), (status) => status === 503);
  const full = await send(`${url}?dry_run`, { body: envelope() });
  assert.equal(full.status, 503);
  assert.equal(full.headers['retry-after'], '30');
  await small.stop();
});
