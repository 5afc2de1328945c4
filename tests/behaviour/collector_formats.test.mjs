// SPDX-License-Identifier: Apache-2.0
/**
 * Which formats a site takes: those of the web alone, unless its `formats` says more; on every way in.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { binDir, collectorConfig, repository, run, startStack, temporaryDir, waitFor } from './stack.mjs';

const dump = '{"type":1,"time":10,"duration":5,"data":{}}\n{"type":2,"time":20,"duration":1,"data":{}}\n';
const opera = fs.readFileSync(path.join(repository, 'tests/data/opera-scope/page-load.json'), 'utf8');
const trace = JSON.stringify({ resources: [], frames: [], stacks: [], samples: [] });
const entries = JSON.stringify([{ name: 'a', entryType: 'mark', startTime: 1, duration: 0 }]);

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./stack.mjs').Collector} */
let collector;
before(async () => {
  stack = await startStack({ config: { sites: [
    { name: 'web', key: 'pk_web', formats: undefined },
    { name: 'old', key: 'pk_old', formats: ['speed-tracer', 'opera-scope'] },
    { name: 'tracer', key: 'pk_tracer', formats: ['web', 'speed-tracer'] },
    { name: 'unkept', key: 'pk_unkept', formats: ['speed-tracer'], kept: 0 },
  ] } });
  collector = stack.collector;
});
after(() => stack.stop());

/** @param {string} key @param {string} [rest] */
const ingest = (key, rest = '') => `${collector.url}/v1/ingest/${key}${rest}`;

/** @param {string} url @param {string} body @param {string} wanted the list that would open it */
async function assertClosed(url, body, wanted, headers = {}) {
  const reply = await send(url, { body, headers });
  assert.equal(reply.status, 415, `${url}: ${reply.body}`);
  assert.match(reply.problem.detail, /this site does not take uploads of the format/);
  assert.ok(reply.problem.detail.includes(`add \`formats: [${wanted}]\``), reply.problem.detail);
}

test('by default a site takes the formats of the web alone, by shape and by ?format=', async () => {
  for (const body of [envelope(), trace, entries, '{"m":[1,2]}']) {
    assert.equal((await send(ingest('pk_web'), { body })).status, 204, body);
  }
  await assertClosed(ingest('pk_web'), dump, 'web, speed-tracer');
  await assertClosed(ingest('pk_web', '?format=speed-tracer'), dump, 'web, speed-tracer');
  await assertClosed(ingest('pk_web', '?format=speed-tracer'), 'nothing like it', 'web, speed-tracer');
  await assertClosed(ingest('pk_web'), `<!DOCTYPE html><html>${dump}</html>`, 'web, speed-tracer');
  await assertClosed(ingest('pk_web'), opera, 'web, opera-scope');
  await assertClosed(ingest('pk_web', '?format=opera-scope'), opera, 'web, opera-scope');
  await assertClosed(ingest('pk_web', '?dry_run'), dump, 'web, speed-tracer');
  await assertClosed(ingest('pk_tracer'), opera, 'web, speed-tracer, opera-scope');
});

test('a site may take the older formats alone, and says so to browsers', async () => {
  assert.equal((await send(ingest('pk_old'), { body: dump })).status, 204);
  assert.equal((await send(ingest('pk_old'), { body: opera })).status, 204);
  for (const body of [envelope(), trace, entries]) await assertClosed(ingest('pk_old'), body, 'web, speed-tracer, opera-scope');
  await assertClosed(ingest('pk_old', '?format=self-profile'), trace, 'web, speed-tracer, opera-scope');
  assert.equal((await send(ingest('pk_old'), { body: '{"surely":"nothing"}' })).status, 422, 'it is said what is wrong');
});

test('one refused part refuses the whole form', async () => {
  const load = randomUUID();
  const ids = [randomUUID(), randomUUID()];
  const parts = [envelope({ id: ids[0], load }), dump, envelope({ id: ids[1], load })];
  const body = `${parts.map((part) => `--b\r\n\r\n${part}\r\n`).join('')}--b--\r\n`;
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  const reply = await send(ingest('pk_web'), { body, headers });
  assert.equal(reply.status, 415);
  assert.match(reply.problem.detail, /^part 2: this site does not take .*`formats: \[web, speed-tracer\]`/);
  assert.equal((await send(ingest('pk_tracer'), { body, headers })).status, 204);
  await waitFor(async () => (await stack.sql(`select site from fleetprof.upload_log where upload_id = '${ids[1]}'`)).length > 0,
    { what: 'the form that was taken' });
  assert.deepEqual(await stack.sql(`select distinct site from fleetprof.upload_log where upload_id in ('${ids.join("','")}')`),
    [{ site: 'tracer' }]);
});

test('parts of long sessions also obey', async () => {
  for (const [key, status] of [['pk_web', 415], ['pk_tracer', 204]]) {
    const started = await send(ingest(`${key}`, '/sessions'), { body: '' });
    assert.equal(started.status, 201, started.body);
    const { session } = JSON.parse(started.body);
    const reply = await send(ingest(`${key}`, `/sessions/${session}?part=0`), { body: dump });
    assert.equal(reply.status, status, reply.body);
    assert.equal((await send(ingest(`${key}`, `/sessions/${session}/stop`), { body: '' })).status, 204);
  }
});

test('a reload opens and closes formats', async () => {
  const write = (/** @type {string[] | undefined} */ formats) => {
    const [web, ...others] = collector.config.sites;
    fs.writeFileSync(collector.file, JSON.stringify({ ...collector.config, sites: [{ ...web, formats }, ...others] }));
    process.kill(collector.server.pid, 'SIGHUP');
  };
  const upload = async () => (await send(ingest('pk_web', '?dry_run'), { body: dump })).status;
  assert.equal(await upload(), 415);
  write(['web', 'speed-tracer']);
  await waitFor(async () => await upload() !== 415, { what: 'the format to open' });
  write(undefined);
  await waitFor(async () => await upload() === 415, { what: 'the format to close' });
});

test('import prints which line opens the format, and goes on with the next file', async () => {
  const dir = temporaryDir('import');
  const files = [['dump.ndjson', dump], ['envelope.json', envelope()]].map(([name, text]) => {
    fs.writeFileSync(path.join(dir, name), text);
    return path.join(dir, name);
  });
  const done = await run([path.join(binDir, 'fleetprof'), 'import', '--no-wait', '-c', collector.file, '--site', 'web', ...files]);
  assert.equal(done.code, 1, done.stderr);
  assert.match(done.stderr, /dump\.ndjson.*add `formats: \[web, speed-tracer\]` to the site/);
  assert.match(done.stdout, /imported 1 of 2 files/);
});

test('import says which files count, but are not kept whole', async () => {
  const file = path.join(temporaryDir('import'), 'dump.ndjson');
  fs.writeFileSync(file, dump);
  const done = await run([path.join(binDir, 'fleetprof'), 'import', '--wait', '-c', collector.file, '--site', 'unkept',
    '--database', stack.postgres.conninfo(), file]);
  assert.equal(done.code, 0, done.stderr);
  assert.match(done.stderr, /dump\.ndjson counts, but is not kept whole: a ceiling for this hour is reached/);
  assert.match(done.stdout, /imported 1 of 1 files/);
  assert.deepEqual(await stack.sql("select count(*)::integer as uploads from fleetprof.upload_log where site = 'unkept'"), [{ uploads: 1 }]);
  assert.deepEqual(await stack.sql("select * from fleetprof.sessions where site = 'unkept'"), []);
});

test('an unknown format in the configuration is an error with its place', async () => {
  const { file } = await collectorConfig({ database: 'dbname=x', sites: [{ name: 'a', key: 'k', formats: ['har'] }] });
  const { code, stderr } = await run([path.join(binDir, 'fleetprofd'), '-c', file, '--check-config']);
  assert.equal(code, 1);
  assert.match(stderr, /fleetprof\.yaml:\d+:\d+: sites\[\]\.formats: "har" is not a format; write web, speed-tracer or opera-scope/);
});
