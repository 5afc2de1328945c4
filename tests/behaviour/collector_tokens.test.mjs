// SPDX-License-Identifier: Apache-2.0
/**
 * Page tokens at the collector: which uploads are refused, what is verified, how often and how long a token is valid.
 * The tokens are made here, from the documented format.
 */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, send, sendUntil } from './collector_client.mjs';
import {
  binDir, collectorConfig, run, startCollector, startPostgres, temporaryDir, waitFor,
} from './stack.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {import('./stack.mjs').Collector[]} */
const running = [];
before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(async () => {
  for (const collector of running) if (collector.server.running()) await collector.stop();
  await postgres.stop();
});

const now = () => Math.floor(Date.now() / 1000);
const newKey = () => crypto.randomBytes(32);
const keyDir = temporaryDir('keys');
let files = 0;

/** A key file. @param {Buffer[]} keys @param {string} [file] */
function keyFile(keys, file = path.join(keyDir, `${++files}.key`)) {
  fs.writeFileSync(file, `# for tests\n${keys.map((key) => key.toString('hex')).join('\n')}\n`);
  return file;
}

/**
 * A token, as docs/page_token.md describes it.
 * @param {Buffer} key
 * @param {{ arms?: string[], version?: string, site?: string, ppm?: number | string, time?: number, nonce?: string }} [claims]
 */
function newToken(key, { arms = [], version = arms.length > 0 ? 'v2' : 'v1', site = 'shop', ppm = 10_000, time = now(), nonce } = {}) {
  const hmac = (/** @type {string} */ text) => crypto.createHmac('sha256', key).update(text);
  const keyId = hmac('fleetprof key id').digest('hex').slice(0, 8);
  const signed = [version, keyId, site, ...arms.length > 0 ? [arms.join(',')] : [], ppm, time, nonce ?? crypto.randomBytes(12).toString('base64url')].join('.');
  return `${signed}.${hmac(signed).digest('base64url')}`;
}

let sites = 0;

/** A site of the test's own. @param {Record<string, unknown>} settings */
function newSite(settings) {
  const name = `site${++sites}`;
  return { name, key: `pk_${name}`, ...settings };
}

/** @param {Record<string, unknown>} config */
async function start(config) {
  const collector = await startCollector({ config: { database: postgres.conninfo('fleetprof_writer'), ...config } });
  running.push(collector);
  return collector;
}

/** @param {import('./stack.mjs').Collector} collector @param {{ key: string }} site */
const ingest = (collector, site) => `${collector.url}/v1/ingest/${site.key}`;

/** @param {import('./stack.mjs').Collector} collector @param {string} verdict */
const verdicts = async (collector, verdict) => {
  const metrics = await collector.metrics();
  return metrics[`fleetprof_page_tokens_total{verdict="${verdict}"}`];
};

/** Rates in SQL and how many uploads have each. @param {{ name: string }} site */
async function rates(site) {
  const rows = await postgres.sql(`select segment.sample_rate as rate, count(*) as uploads
    from fleetprof.upload_log join fleetprof.segment using (segment_id) where upload_log.site = '${site.name}'
    group by 1 order by 1 nulls last`);
  return rows.map(({ rate, uploads }) => [rate, uploads]);
}

/** @param {import('./stack.mjs').Collector} collector */
const flushed = (collector) => waitFor(
  async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0,
  { what: 'empty backlog' });

/** Every kind of bad token, with its counter and message. @param {Buffer} key @param {string} site */
function badTokens(key, site) {
  const good = newToken(key, { site });
  const other = good.at(-2) === 'A' ? 'E' : 'A';
  /** @type {[string | undefined, string, RegExp][]} */
  const cases = [
    [undefined, 'missing', /has no page token/],
    ['', 'missing', /has no page token/],
    ['0', 'forged', /not of the form/],
    ['v1', 'forged', /not of the form/],
    ['x'.repeat(100_000), 'forged', /not of the form/],
    [`${good} `, 'forged', /not of the form/],
    [good.slice(0, -1), 'forged', /not of the form/],
    [newToken(key, { site, ppm: 0 }), 'forged', /not of the form/],
    [newToken(key, { site, ppm: 1_000_001 }), 'forged', /not of the form/],
    [newToken(key, { site, ppm: '0500' }), 'forged', /not of the form/],
    [newToken(key, { site, nonce: 'short' }), 'forged', /not of the form/],
    [newToken(key, { site, version: 'v2' }), 'forged', /not of the form/],
    [newToken(key, { site, version: 'v3' }), 'forged', /version is neither v1 nor v2/],
    [newToken(newKey(), { site, arms: ['chat=off'] }), 'forged', /not known here/],
    [newToken(key, { site, arms: ['chat=on'] }).replace('=on', '=of'), 'forged', /signature is wrong/],
    [`0.${newToken(key, { site, arms: ['chat=on'], ppm: 0 })}`, 'forged', /version is neither/],
    [newToken(key, { site, arms: ['chat=o"'] }), 'forged', /not of the form/],
    [newToken(key, { site, arms: ['chat=on'], ppm: 0 }), 'forged', /was not sampled, but the upload has a profile/],
    [newToken(key, { site, arms: ['chat=off'], time: 1 }), 'expired', /has expired/],
    [newToken(newKey(), { site }), 'forged', /not known here/],
    [good.slice(0, -2) + other + good.at(-1), 'forged', /signature is wrong/],
    [good.replace('.10000.', '.1000000.'), 'forged', /signature is wrong/],
    [newToken(key, { site: `${site}x` }), 'forged', /another site/],
    [newToken(key, { site: site.slice(0, -1) }), 'forged', /another site/],
    [newToken(key, { site, time: now() - 3600 - 60 - 5 }), 'expired', /has expired/],
    [newToken(key, { site, time: 1 }), 'expired', /has expired/],
    [newToken(key, { site, time: now() + 60 + 60 }), 'early', /from the future/],
  ];
  return cases;
}

test('a site that demands tokens refuses uploads without a good one, with 403 and the reason', async () => {
  const key = newKey();
  const site = newSite({ require_token: true, token_keys: [keyFile([key])], origins: ['https://shop.example'] });
  const collector = await start({ sites: [site] });
  for (const [token, verdict, detail] of badTokens(key, site.name)) {
    const before_ = await verdicts(collector, verdict);
    const reply = await send(ingest(collector, site),
      { body: envelope({ token }), headers: { origin: 'https://shop.example' } });
    assert.equal(reply.status, 403, token);
    assert.match(reply.problem.detail, detail);
    assert.equal(reply.headers['access-control-allow-origin'], 'https://shop.example');
    assert.equal(reply.headers['retry-after'], undefined);
    assert.equal(await verdicts(collector, verdict), before_ + 1, `${verdict}: ${token}`);
  }
  // Formats without an envelope carry the token in a header.
  assert.equal((await send(ingest(collector, site), { body: '{"m":[1]}' })).status, 403);
  for (const token of ['', newToken(newKey(), { site: site.name })])
    assert.equal((await send(ingest(collector, site), { body: '{"m":[1]}', headers: { 'fleetprof-token': token } })).status, 403, token);
  assert.equal((await send(ingest(collector, site), { body: envelope({ token: null }) })).status, 403);
  assert.equal((await send(ingest(collector, site), { body: envelope({ token: 5 }) })).status, 422);
  const good = envelope({ token: newToken(key, { site: site.name }) });
  assert.equal((await send(ingest(collector, site), { body: good })).status, 204);
  await flushed(collector);
  assert.deepEqual(await rates(site), [[0.01, 1]]);
  await collector.stop();
});

test('a site that does not demand tokens takes all uploads, and believes the rate of good ones only', async () => {
  const key = newKey();
  const site = newSite({ token_keys: [keyFile([key])] });
  const collector = await start({ sites: [site] });
  const bad = badTokens(key, site.name);
  for (const [token] of bad) {
    const reply = await send(ingest(collector, site), { body: envelope({ token }) });
    assert.equal(reply.status, 204, token);
  }
  for (const ppm of [1, 500, 1_000_000, 500]) {
    const token = newToken(key, { site: site.name, ppm });
    assert.equal((await send(ingest(collector, site), { body: envelope({ token }) })).status, 204);
  }
  assert.equal(await verdicts(collector, 'good'), 4);
  assert.equal(await verdicts(collector, 'missing'), 2);
  await flushed(collector);
  assert.deepEqual(await rates(site), [[0.000001, 1], [0.0005, 2], [1, 1], [null, bad.length]]);
  await collector.stop();
});

test('arms that a token proves are the variant, and no page can claim one', async () => {
  const key = newKey();
  const site = newSite({ token_keys: [keyFile([key])] });
  const collector = await start({ sites: [site] });
  const claim = { version: 1, variant: 'chat=off' };
  const arms = ['chat=on', 'hero=B-1'];
  const sent = [
    { token: newToken(key, { site: site.name, arms }) },
    { token: newToken(key, { site: site.name, arms, ppm: 0 }), variant: 'blue', trace: undefined, coverage: 'not-sampled' },
    { token: newToken(key, { site: site.name, arms, ppm: 0 }), variant: 'blue' }, // has a profile, so the token is not of its page load
    { token: newToken(key, { site: site.name }), ...claim },
    { token: newToken(newKey(), { site: site.name, arms: ['chat=off'] }), ...claim },
    { token: newToken(key, { site: site.name, arms }).replace('chat=on', 'chat=off') },
    { variant: 'chat=off' },
  ];
  for (const members of sent) {
    const reply = await send(ingest(collector, site), { body: envelope(members) });
    assert.equal(reply.status, 204, JSON.stringify(reply.problem));
  }
  await flushed(collector);
  const rows = await postgres.sql(`select segment.variant, segment.sample_rate as rate, count(*) as uploads
    from fleetprof.upload_log join fleetprof.segment using (segment_id) where upload_log.site = '${site.name}' group by 1, 2 order by 1, 2`);
  assert.deepEqual(rows.map(({ variant, rate, uploads }) => [variant, rate, uploads]), [
    ['', null, 1], ['blue', null, 1], ['chat:off', 0.01, 1], ['chat:off', null, 2],
    ['chat=on,hero=B-1', 0.01, 1], ['chat=on,hero=B-1,blue', null, 1]]);
  await collector.stop();
});

test('a site without keys looks at no token', async () => {
  const site = newSite({});
  const collector = await start({ sites: [site] });
  for (const token of ['nonsense', newToken(newKey(), { site: site.name })])
    assert.equal((await send(ingest(collector, site), { body: envelope({ token }) })).status, 204);
  const metrics = await collector.metrics();
  for (const [name, value] of Object.entries(metrics))
    if (name.startsWith('fleetprof_page_tokens_total')) assert.equal(value, 0, name);
  await flushed(collector);
  assert.deepEqual(await rates(site), [[null, 2]]);
  await collector.stop();
});

test('a token is good for token_uploads uploads, at once or one by one, and a reload forgets none', async () => {
  const key = newKey();
  const site = newSite({ require_token: true, token_keys: [keyFile([key])], token_uploads: 7 });
  const collector = await start({ sites: [site], http: { threads: 4 } });
  const body = envelope({ token: newToken(key, { site: site.name }) });
  const replies = await Promise.all(Array.from({ length: 40 }, () => send(ingest(collector, site), { body })));
  assert.equal(replies.filter(({ status }) => status === 204).length, 7);
  const refused = replies.filter(({ status }) => status === 403);
  assert.equal(refused.length, 33);
  for (const { problem } of refused) assert.match(problem.detail, /used up/);
  assert.equal(await verdicts(collector, 'used_up'), 33);

  const other = envelope({ token: newToken(key, { site: site.name }) });
  assert.equal((await send(ingest(collector, site), { body: other })).status, 204);
  fs.writeFileSync(collector.file, JSON.stringify({ ...collector.config, sites: [{ ...site, token_uploads: 8 }] }));
  process.kill(collector.server.pid, 'SIGHUP');
  // One more is allowed now, and just one.
  await sendUntil(() => send(ingest(collector, site), { body }), (status) => status === 204);
  assert.equal((await send(ingest(collector, site), { body })).status, 403);
  await flushed(collector);
  assert.deepEqual(await rates(site), [[0.01, 9]]);
  await collector.stop();
});

test('the views of an envelope use its token once, and have its rate', async () => {
  const key = newKey();
  const site = newSite({ require_token: true, token_keys: [keyFile([key])], token_uploads: 1 });
  const collector = await start({ sites: [site] });
  const vitals = [{ name: 'LCP', value: 100 }];
  const views = ['/a', '/b', '/c'].map((route) => ({ page: { route }, vitals }));
  const body = JSON.stringify({ version: 1, token: newToken(key, { site: site.name }), page: { route: '/' }, vitals, views });
  assert.equal((await send(ingest(collector, site), { body })).status, 204);
  assert.equal((await send(ingest(collector, site), { body })).status, 403);
  await flushed(collector);
  assert.deepEqual(await rates(site), [[0.01, 4]]);
  const routes = await postgres.sql(`select value as route, count::integer as loads from fleetprof.vitals_by('route', '${site.name}', now() - interval '1 day') where name = 'LCP' order by 1`);
  assert.deepEqual(routes.map(({ route, loads }) => [route, loads]), ['/', '/a', '/b', '/c'].map((route) => [route, 1]));
  await collector.stop();
});

test('each part of a form has a token; one bad one refuses the form', async () => {
  const key = newKey();
  const site = newSite({ require_token: true, token_keys: [keyFile([key])], token_uploads: 4 });
  const collector = await start({ sites: [site] });
  /** @param {(string | undefined)[]} tokens */
  const form = (tokens) => send(ingest(collector, site), {
    body: `${tokens.map((token) => `--b\r\n\r\n${envelope({ token })}\r\n`).join('')}--b--`,
    headers: { 'content-type': 'multipart/form-data; boundary=b' },
  });
  const token = newToken(key, { site: site.name, ppm: 20_000 });
  assert.equal((await form([token, token, token])).status, 204);
  const without = await form([newToken(key, { site: site.name }), undefined]);
  assert.equal(without.status, 403);
  assert.match(without.problem.detail, /^part 2: .*no page token/);
  const usedUp = await form([token, token]);
  assert.equal(usedUp.status, 403);
  assert.match(usedUp.problem.detail, /^part 2: .*used up/);
  await flushed(collector);
  assert.deepEqual(await rates(site), [[0.02, 3]]);
  await collector.stop();
});

test('keys are rotated by reloading, in one file or in several', async () => {
  const [first, second, third] = [newKey(), newKey(), newKey()];
  const file = keyFile([first]);
  const more = keyFile([third]);
  const site = newSite({ require_token: true, token_keys: [file] });
  const collector = await start({ sites: [site] });
  /** @param {Buffer} key */
  const upload = (key) => send(ingest(collector, site),
    { body: envelope({ token: newToken(key, { site: site.name }) }) });
  const statuses = async () => {
    const replies = [await upload(first), await upload(second), await upload(third)];
    return replies.map(({ status }) => status);
  };
  const reload = () => process.kill(collector.server.pid, 'SIGHUP');
  assert.deepEqual(await statuses(), [204, 403, 403]);

  keyFile([first, second], file);
  reload();
  await sendUntil(() => upload(second), (status) => status === 204);
  assert.deepEqual(await statuses(), [204, 204, 403]);

  const both = { ...site, token_keys: [file, more] };
  fs.writeFileSync(collector.file, JSON.stringify({ ...collector.config, sites: [both] }));
  reload();
  await sendUntil(() => upload(third), (status) => status === 204);
  assert.deepEqual(await statuses(), [204, 204, 204]);

  // A file that has become bad changes nothing, and the log says where it is named and what is wrong.
  fs.writeFileSync(file, 'abc\n');
  reload();
  const refusal = /not reloaded.*fleetprof.yaml:1:\d+: sites\[\]\.token_keys: .*line 1: it is not a key/;
  await waitFor(() => refusal.test(collector.server.output()), { what: 'log' });
  assert.deepEqual(await statuses(), [204, 204, 204]);

  keyFile([second], file);
  reload();
  await sendUntil(() => upload(first), (status) => status === 403);
  assert.deepEqual(await statuses(), [403, 204, 204]);
  await collector.stop();
});

test('a token in the header lets any format in, and goes before the envelope\'s', async () => {
  const key = newKey();
  const site = newSite({ require_token: true, token_keys: [keyFile([key])] });
  const collector = await start({ sites: [site] });
  const token = () => ({ 'fleetprof-token': newToken(key, { site: site.name, ppm: 500_000 }) });
  const old = newToken(key, { site: site.name, time: 1 });
  for (const body of ['{"m":[1]}', '{"type":12,"time":1}', envelope({ token: old })])
    assert.equal((await send(ingest(collector, site), { body, headers: token() })).status, 204, body);
  const forged = newToken(newKey(), { site: site.name });
  const good = newToken(key, { site: site.name });
  assert.equal((await send(ingest(collector, site), { body: envelope({ token: good }), headers: { 'fleetprof-token': forged } })).status, 403);
  await flushed(collector);
  assert.deepEqual(await rates(site), [[0.5, 3]]);
  await collector.stop();
});

test('fleetprof import signs tokens for a site that demands them, with the rate and the arms of a page\'s own', async () => {
  const [key, oldKey] = [newKey(), newKey()];
  const site = newSite({ require_token: true, token_keys: [keyFile([key, oldKey])], token_uploads: 1 });
  const collector = await start({ sites: [site] });
  const files = Object.entries({
    'dump.ndjson': '{"type":12,"time":1}',
    'expired.json': envelope({ token: newToken(key, { site: site.name, time: 1, ppm: 20_000 }) }),
    'rotated.json': envelope({ release: 'r', token: newToken(oldKey, { site: site.name, time: 1, ppm: 20_000 }) }),
    'forged.json': envelope({ token: newToken(newKey(), { site: site.name, ppm: 30_000 }) }),
    'other.json': envelope({ token: newToken(key, { site: 'other', ppm: 30_000 }) }),
    'armed.json': envelope({ token: newToken(key, { site: site.name, time: 1, ppm: 40_000, arms: ['chat=off'] }) }),
  }).map(([name, content]) => {
    const file = path.join(keyDir, name);
    fs.writeFileSync(file, content);
    return file;
  });
  const { code, stdout, stderr } = await run([path.join(binDir, 'fleetprof'), 'import', '-c', collector.file, ...files]);
  assert.deepEqual([code, stdout.split('\n').at(-2), stderr], [0, 'imported 6 of 6 files', '']);
  await flushed(collector);
  assert.deepEqual(await rates(site), [[0.02, 2], [0.04, 1], [1, 3]]);
  assert.deepEqual(await postgres.sql(`select variant from fleetprof.segment where site = '${site.name}' and sample_rate = 0.04`), [{ variant: 'chat=off' }]);
  await collector.stop();
});

test('token_max_age is the greatest age, and a minute more is granted', async () => {
  const key = newKey();
  const site = newSite({ require_token: true, token_keys: [keyFile([key])], token_max_age: '10m' });
  const collector = await start({ sites: [site] });
  /** @param {number} age */
  const status = async (age) => (await send(ingest(collector, site),
    { body: envelope({ token: newToken(key, { site: site.name, time: now() - age }) }) })).status;
  assert.equal(await status(0), 204);
  assert.equal(await status(600), 204);
  assert.equal(await status(600 + 50), 204);
  assert.equal(await status(600 + 62), 403);
  assert.equal(await status(-50), 204);
  assert.equal(await status(-70), 403);
  await collector.stop();
});

test('--check-config reports a key file that cannot be read, and where it is named', async () => {
  const missing = path.join(keyDir, 'missing.key');
  const { file } = await collectorConfig({
    database: 'dbname=x', sites: [newSite({ token_keys: [keyFile([newKey()]), missing] })],
  });
  const line = fs.readFileSync(file, 'utf8').split('\n').findIndex((text) => text.includes(missing)) + 1;
  const { code, stderr } = await run([path.join(binDir, 'fleetprofd'), '-c', file, '--check-config']);
  assert.equal(code, 1);
  assert.match(stderr, new RegExp(`:${line}:\\d+: sites\\[\\]\\.token_keys: "${missing}" cannot be read: No such`));
});
