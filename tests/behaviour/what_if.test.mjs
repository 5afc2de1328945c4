// SPDX-License-Identifier: Apache-2.0
/** A vital without a function: page loads in parts, over HTTP, to SQL and the command line. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { Ajv } from 'ajv';

import { binDir, repository, run, startStack, temporaryDir, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const chrome = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36';
const script = 'https://www.shop.example/app.js';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {NodeJS.ProcessEnv} */
let env;
let sent = 0;

/** A sample each 10 ms; from one time to another a function is on top. @param {[number, number, number][]} runs @param {number} end */
function trace(runs, end) {
  const samples = [];
  for (let timestamp = 5; timestamp < end; timestamp += 10) {
    const [, , stackId] = runs.find(([from, to]) => timestamp >= from && timestamp < to) ?? [];
    samples.push(stackId === undefined ? { timestamp } : { timestamp, stackId });
  }
  return {
    resources: [script, 'https://chat.example/chat.js'],
    frames: [{ name: 'onClick', resourceId: 0, line: 10, column: 1 }, { name: 'sortReviews', resourceId: 0, line: 388, column: 12 },
      { name: 'openChat', resourceId: 1, line: 5, column: 2 }],
    stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }, { frameId: 2, parentId: 0 }],
    samples,
  };
}

const click = (/** @type {number} */ start, /** @type {number} */ duration) => ({
  type: 'pointer', target: '#buy', start, processingStart: start, processingEnd: start + duration, duration });

/** @param {object} envelope @param {string} [key] */
async function upload(envelope, key = 'pk_shop') {
  const reply = await fetch(`${stack.collector.url}/v1/ingest/${key}`, {
    method: 'POST', headers: { 'user-agent': chrome }, body: JSON.stringify({ version: 1, sampleInterval: 10, id: randomUUID(), ...envelope }),
  });
  assert.equal(reply.status, 204, await reply.text());
  sent++;
}

/** @param {string} query below `select` */
const ask = (query) => stack.sql(`select ${query}`);

/** Waits for all uploads to be in SQL. */
const counted = () => waitFor(async () => (await ask('count(*) as n from fleetprof.upload_log'))[0].n === sent, { what: `${sent} uploads in SQL` });

/** Sends a page load whose INP is 600 ms: the vital first, and then, perhaps in another flush, what ran. @param {number} number @param {boolean} apart */
async function load(number, apart) {
  const common = { load: randomUUID(), page: { url: `https://www.shop.example/${number % 6 === 0 ? 'cart' : 'product'}` } };
  const runs = /** @type {[number, number, number][]} */ ([[1000, 1100, 0], [1100, 1500, 1], [3000, 3200, 2]]);
  await upload({ ...common, part: 0, start: 2000, duration: 0, vitals: [{ name: 'INP', value: 600, id: 'v1', target: '#buy' }, { name: 'LCP', value: 900, id: 'v2' }],
    interactions: [click(1000, 600)] });
  if (apart) await counted();
  await upload({ ...common, part: 1, start: 0, duration: 1800, trace: trace(runs, 1800) });
  if (apart) await counted();
  // A second interaction that is not the INP, but would be without sortReviews.
  await upload({ ...common, part: 2, start: 2900, duration: 600, interactions: [click(3000, 280)],
    trace: { ...trace(runs, 3500), samples: trace(runs, 3500).samples.filter(({ timestamp }) => timestamp > 2900) } });
}

/** Sends a page load with a measure and a response of 600 ms, of which a third party and a package took 300 and 200. @param {boolean} apart */
async function ownLoad(apart) {
  const common = { load: randomUUID(), page: { url: 'https://www.shop.example/own' } };
  const waits = { entries: [{ entryType: 'measure', name: 'search', startTime: 1000, duration: 600 }],
    responses: [{ type: 'click', target: '#buy', start: 1000, duration: 600 }] };
  const what = trace([[1000, 1300, 2], [1300, 1400, 1], [1400, 1500, 0]], 1800);
  const profile = { start: 0, duration: 1800, trace: { ...what, resources: ['https://www.shop.example/node_modules/swr/index.js', what.resources[1]] } };
  if (!apart) return upload({ ...common, part: 0, ...waits, ...profile }, 'pk_own');
  await upload({ ...common, part: 0, start: 0, duration: 0, ...waits }, 'pk_own');
  await counted();
  return upload({ ...common, part: 1, ...profile }, 'pk_own');
}

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', routes: ['/product', '/cart'] }, { name: 'own', key: 'pk_own' }] } });
  env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader'), PAGERDUTY_ROUTING_KEY: 'k'.repeat(32) };
  for (let number = 0; number < 120; number += 1) await load(number, number < 2);
  // Not profiled: they count in p75 alone.
  for (let number = 0; number < 40; number += 1) {
    await upload({ load: randomUUID(), page: { url: 'https://www.shop.example/cart' }, vitals: [{ name: 'INP', value: 600, id: 'v1' }] });
  }
  for (let number = 0; number < 110; number += 1) await ownLoad(number < 2);
  await counted();
});
after(async () => { await stack?.stop(); });

/** A p75 of 600 ms is in a bin of 16 ms, and a gain is a difference from it. @param {number} value @param {number} wanted */
const close = (value, wanted) => assert.ok(Math.abs(value - wanted) <= 16, `${value}, not ${wanted}`);

test('each profiled page load counts once, whatever parts it comes in', async () => {
  const bins = await stack.sql(`select t.kind::text, t.source, case when kind = 'vital_without' then bin / 2048 end as histogram, sum(count) as count
    from (select unnest(timing_id) as timing_id, unnest(bin) as bin, unnest(count) as count from fleetprof_data.timing_bin_packed) as entry
    join fleetprof_data.timing as t using (timing_id) where name = 'INP' and kind in ('vital', 'vital_profiled', 'vital_without')
    group by t.kind, t.source, t.function, 3 order by 1, 2, 3, 4`);
  assert.deepEqual(bins.map((row) => Object.values(row).map(String).join(' ')), [
    'vital  null 160', 'vital_profiled  null 120',
    ...[0, 0, 1, 1, 2, 2].map((histogram) => `vital_without function ${histogram} 120`),
  ].sort());
});

test('what_if: sortReviews gives what the second interaction lets it give', async () => {
  const rows = await ask("* from fleetprof.what_if('INP', 'shop')");
  assert.deepEqual(rows.map(({ kind, name, resource, line, party, loads, profiled_loads: profiled }) => [kind, name, resource, line, party, loads, profiled]), [
    ['function', 'onClick', script, 10, 'first', 120, 120], ['function', 'sortReviews', script, 388, 'first', 120, 120]]);
  const [all, sort] = rows;
  close(sort.p75_ms, 600);
  close(sort.p75_gone_ms, 280);
  close(sort.p75_halved_ms, 400);
  close(all.p75_gone_ms, 100);
  assert.ok(sort.gain_low <= sort.gain_ms && sort.gain_ms <= sort.gain_high);
  assert.equal(sort.less_poor_share, 1);
});

test('fix_first: one list, with routes', async () => {
  const rows = await ask("* from fleetprof.fix_first('shop')");
  assert.deepEqual(rows.map(({ rank, name, vital, routes }) => [rank, name, vital, routes]),
    [[1, 'onClick', 'INP', '/product, /cart'], [2, 'sortReviews', 'INP', '/product, /cart']]);
  assert.equal((await ask("* from fleetprof.fix_first('shop', route => '/product', top => 1)"))[0].loads, 100);
  assert.deepEqual(await ask("* from fleetprof.fix_first('shop', route => '/cart')"), [], 'too few to say');
  assert.deepEqual(rows.map(({ begins, nearest_release: release }) => [begins, release]), [[null, null], [null, null]], 'an hour has no begin');
});

/** @param {string[]} args */
const fixFirst = (...args) => run([program, 'fix-first', '--site', 'shop', ...args], { env });

/** @param {string} format @param {unknown} value */
function validate(format, value) {
  const schema = JSON.parse(fs.readFileSync(path.join(repository, 'tests/data/notifications', `${format}.json`), 'utf8'));
  const validator = new Ajv({ allErrors: true }).compile(schema);
  assert.ok(validator(value), `${format}: ${JSON.stringify(validator.errors)}\n${JSON.stringify(value)}`);
}

test('fix-first: each format has what to fix, the gain and its interval', async () => {
  const [{ gain_ms: gain, gain_low: low, gain_high: high }] = await ask("* from fleetprof.fix_first('shop')");
  const between = `${low.toFixed(1)} ms and ${high.toFixed(1)} ms`;
  for (const format of ['slack', 'teams', 'alertmanager', 'gitlab', 'pagerduty', 'github', 'markdown', 'json']) {
    const { code, stdout, stderr } = await fixFirst('--format', format, '--report', 'https://report.example');
    assert.deepEqual([code, stderr], [0, ''], format);
    const documents = format === 'pagerduty' ? stdout.trim().split('\n') : [stdout];
    if (!['github', 'markdown', 'json'].includes(format)) for (const document of documents) validate(format, JSON.parse(document));
    assert.match(stdout, /sortReviews/, format);
    if (format !== 'json') assert.ok(stdout.includes('onClick in INP') && stdout.includes(between), stdout);
  }
  assert.match((await fixFirst('--format', 'markdown')).stdout, /^2 findings to fix first on site `shop`\. Each gain supposes that the rest runs as before, no work moves elsewhere [^\n]*; gains do not add up\.\n\n\| verdict \| what \| where \| gain at most \| 95 % between \| p75 \| fewer poor \|\n.*\n\| gain \| `onClick in INP` \| `https:\/\/www\.shop\.example\/app\.js:10 on \/product, \/cart` \|/);
  for (const format of ['slack', 'teams']) assert.match((await fixFirst('--format', format)).stdout, /no work moves elsewhere.*gains do not add up/, format);
  assert.ok((await fixFirst('--format', 'github')).stdout.includes(`onClick in INP takes at most ${gain.toFixed(1)} ms of `));
  assert.deepEqual(JSON.parse((await fixFirst('--format', 'json')).stdout).findings.map((/** @type {any} */ one) => [one.site, one.rank, one.name]), [['shop', 1, 'onClick'], ['shop', 2, 'sortReviews']]);
  assert.match((await fixFirst('--format', 'slack', '--json')).stderr, /exclude each other/);
  assert.match((await fixFirst('--format', 'markdown', '--route', '/cart')).stdout, /^Nothing could be judged to fix first on site `shop`\.\n/);
});

test('fix-first: a webhook gets each finding once, and what resolves it once it is gone', async (t) => {
  /** @type {any[]} */
  const posts = [];
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    posts.push(JSON.parse(Buffer.concat(parts).toString()));
    response.end('ok');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  const state = path.join(temporaryDir('posted'), 'posted');
  const args = ['--webhook', `http://127.0.0.1:${port}/`, '--webhook-format', 'alertmanager', '--state', state];
  for (const { code, stderr } of await Promise.all([fixFirst(...args), fixFirst(...args)])) assert.equal(code, 0, stderr);
  assert.equal(posts.length, 1);
  validate('alertmanager', posts[0]);
  // A third one, which an earlier run posted.
  fs.appendFileSync(state, fs.readFileSync(state, 'utf8').split('\n')[1].replace(/^.{16}/, '0123456789abcdef') + '\n');
  for (let i = 0; i < 2; i++) assert.equal((await fixFirst(...args)).code, 0);
  assert.equal(posts.length, 2);
  assert.deepEqual(posts[1].map((/** @type {any} */ { labels }) => labels.alertname), ['FleetprofFixFirst']);
  assert.ok(new Date(posts[1][0].endsAt) <= new Date());
  assert.equal((await fixFirst(...args, '--route', '/cart')).code, 0);
  assert.equal(posts.length, 2, 'where too few can be judged, nothing is gone');
});

test('fix-first: what was gone for a whole week is posted again, what comes and goes is not', async (t) => {
  /** @type {string[]} */
  const posts = [];
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    posts.push(Buffer.concat(parts).toString());
    response.end('ok');
  }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  for (const format of ['slack', 'pagerduty']) {
    posts.length = 0;
    const args = ['--webhook', `http://127.0.0.1:${port}/`, '--webhook-format', format, '--state', path.join(temporaryDir('posted'), 'posted')];
    /** Only the key of a finding sees this clock. @param {number} weeks */
    const weeksLater = async (weeks) => {
      await stack.postgres.execute(`create schema if not exists clock; grant usage on schema clock to public;
        create or replace function clock.now() returns timestamptz language sql return pg_catalog.now() + interval '${7 * weeks} days'`);
      const { code, stderr } = await run([program, 'fix-first', '--site', 'shop', ...args], { env: { ...env, PAGERDUTY_ROUTING_KEY: 'k'.repeat(32), PGOPTIONS: '-c search_path=clock,pg_catalog' } });
      assert.equal(code, 0, stderr);
      return posts.length;
    };
    const each = format === 'slack' ? 1 : 2;
    assert.deepEqual([await weeksLater(0), await weeksLater(0), await weeksLater(1), await weeksLater(2)], [each, each, each, each], format);
    const later = await weeksLater(5);
    assert.equal(posts.slice(each, later).filter((post) => !post.includes('resolve')).length, each, format);
  }
});

test('responses and measures: each once, with packages and hosts', async () => {
  for (const vital of ['(response)', 'search']) {
    const rows = await ask(`* from fleetprof.what_if('${vital}', 'own')`);
    for (const [kind, name, gone] of /** @type {[string, string, number][]} */ ([['host', 'chat.example', 300], ['package', 'swr', 400], ['function', 'openChat', 300]])) {
      const row = rows.find((one) => one.kind === kind && one.name === name);
      assert.ok(row, `${vital} without ${name}`);
      close(row.p75_ms, 600);
      close(row.p75_gone_ms, gone);
      assert.deepEqual([row.loads, row.profiled_loads, row.less_poor_share], [110, 110, null]);
    }
  }
  const first = await ask("* from fleetprof.fix_first('own')");
  assert.deepEqual(new Set(first.map(({ vital }) => vital)), new Set(['(response)', 'search']));
  assert.ok(first.some(({ kind, name, party }) => kind === 'host' && name === 'chat.example' && party === 'third'));
  assert.ok(first.some(({ kind, package: of }) => kind === 'package' && of === 'swr'));
  const { code, stdout, stderr } = await run([program, 'what-if', '(response)', '--site', 'own'], { env });
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^package\tswr\t/m);
});

test('the command line says what gains rest on, once', async () => {
  for (const args of [['what-if', 'INP', '--site', 'shop'], ['fix-first', '--site', 'shop']]) {
    const { code, stdout, stderr } = await run([program, ...args], { env });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /sortReviews/);
    assert.equal(stderr.split('Gains do not add up').length, 2);
  }
  const { code, stderr } = await run([program, 'what-if', 'CLS', '--site', 'shop'], { env });
  assert.equal(code, 2);
  assert.match(stderr, /nothing is known of "CLS"[^]*hint: vital is INP, LCP, \(response\), or the name of an own measure/);
});
