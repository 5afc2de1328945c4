// SPDX-License-Identifier: Apache-2.0
/**
 * Kept sessions: imported in every format, each counts once; it is exported scrubbed, or byte for byte if so
 * configured; importing the export gives the same session; it is deleted after its retention.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';

import { binDir, repository, run, startCollector, startPostgres, temporaryDir, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
/** @type {import('./stack.mjs').Collector} */
let scrubbing;
/** @type {import('./stack.mjs').Collector} */
let raw;
/** @type {import('./stack.mjs').Collector[]} */
const running = [];

/** @param {Record<string, unknown>} [config] */
async function start(config = {}) {
  const site = (/** @type {string} */ name) => ({ name, key: `pk_${name}`, sample_keep: '100%' });
  const collector = await startCollector({ config: {
    database: postgres.conninfo('fleetprof_writer'), sites: ['first', 'again', 'raw', 'old'].map(site), ...config,
  } });
  running.push(collector);
  return collector;
}

before(async () => {
  postgres = await startPostgres({ migrated: true });
  scrubbing = await start();
  raw = await start({ privacy: { keep_raw: true } });
});
after(async () => {
  for (const collector of running) if (collector.server.running()) await collector.stop();
  await postgres?.stop();
});

const dir = temporaryDir('cli-kept');

/** @param {string} name @param {string | Uint8Array} content */
function file(name, content) {
  const full = path.join(dir, name);
  fs.writeFileSync(full, content);
  return full;
}

/** @param {string} name */
const data = (name) => path.join(repository, 'tests/data', name);

/** @param {string[]} args */
const fleetprof = (...args) => run([path.join(binDir, 'fleetprof'), ...args]);

/** @param {string} site @returns {Promise<string[]>} the latest last */
const kept = async (site) => (await postgres.sql(
  `select session_id::text as id from fleetprof.sessions where site = '${site}' order by received`)).map(({ id }) => id);

/**
 * Imports and waits until all of it is in SQL.
 * @param {import('./stack.mjs').Collector} collector @param {string} site @param {string[]} files
 */
async function importInto(collector, site, ...files) {
  const { code, stdout, stderr } = await fleetprof('import', '-c', collector.file, '--site', site, ...files);
  assert.deepEqual([code, stderr], [0, '']);
  await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty backlog' });
  return stdout;
}

/** Imports a file with one session and returns its id. @param {import('./stack.mjs').Collector} collector @param
 * {string} site @param {string} name */
async function keep(collector, site, name) {
  const known = await kept(site);
  await importInto(collector, site, name);
  const found = (await kept(site)).filter((id) => !known.includes(id));
  assert.equal(found.length, 1, `${name} is kept`);
  return found[0];
}

/** @param {string} id */
async function give(id) {
  const { code, stdout, stderr } = await fleetprof('session', 'export', id, '-d', postgres.conninfo('fleetprof_reader'));
  assert.equal(code, 0, stderr);
  return stdout;
}

/** All that SQL has about a session, except its names, what was refused of it, which is not kept, and the fact that a URL had a query, which is scrubbed. @param
 * {string} id */
async function described(id) {
  const rows = await postgres.sql(`select to_jsonb(s) - '{site,session_id,upload_id,received,content_bytes,stored_bytes,records_refused}'::text[] as session,
    (select jsonb_agg(to_jsonb(t) - '{session_id,site}'::text[] order by timeline_id) from fleetprof.timelines t where t.session_id = ${id}) as timelines,
    (select jsonb_agg(to_jsonb(e) - '{segment_id,bucket,session_id}'::text[] #- '{detail,hasQuery}' order by event)
      from fleetprof_data.event e where e.session_id = ${id}) as events
    from fleetprof.sessions s where s.session_id = ${id}`);
  return rows[0];
}

const older = [
  ...['stream.ndjson', 'saved-page.html', 'gwt-page.html', 'post.json', 'early.ndjson', 'v8.ndjson'].map((name) => `speed-tracer/${name}`),
  ...['page-load.json', 'by-name.json', 'manual.json', 'recording.jsonl', 'recording-stp.txt'].map((name) => `opera-scope/${name}`),
];
for (const name of older) {
  test(`${name} is given back so that importing it again keeps the same`, async () => {
    const first = await keep(scrubbing, 'first', data(name));
    const given = await give(first);
    const again = await keep(scrubbing, 'again', file(path.basename(name), given));
    assert.deepEqual(await described(again), await described(first));
    assert.equal(await give(again), given, 'nothing is left to scrub');
  });
}

test('on a narrow terminal the list has ids that can be given back', async () => {
  const command = `stty cols 80; '${path.join(binDir, 'fleetprof')}' session list -d '${postgres.conninfo('fleetprof_reader')}'`;
  const { stdout } = await run(['script', '-qec', command, '/dev/null']);
  const [id] = await kept('first');
  assert.match(stdout, new RegExp(`^${id} `, 'm'));
});

/** Sums of a site, as exact as they are stored. @param {string} site */
const sums = (site) => postgres.sql(`select function, resource, line, column_number, kind, self_ms, total_ms, samples
  from fleetprof.hotspots('${site}', top => 100000) order by 1, 2, 3, 4, 5`);

test('of traces the share that sample_keep says is given back, all of 100 %, and counts the same again', async () => {
  const traces = fs.readdirSync(data('.')).filter((name) => name.endsWith('.json') && !/^perf-coi-(marks|measures)/.test(name));
  assert.ok(traces.length > 20);
  const known = { first: await kept('first'), again: await kept('again') };
  await importInto(scrubbing, 'first', ...traces.map(data));
  const ids = (await kept('first')).filter((id) => !known.first.includes(id));
  const contents = new Set(traces.map((name) => fs.readFileSync(data(name), 'utf8')));
  assert.equal(ids.length, contents.size);
  const given = await Promise.all(ids.map(give));
  const shapes = (/** @type {string[]} */ texts) => texts.map((text) => {
    const { samples, stacks, frames, resources } = JSON.parse(text).trace ?? JSON.parse(text);
    return JSON.stringify([samples, stacks, frames, resources.length]);
  }).sort();
  assert.deepEqual(shapes(given), shapes([...contents]));
  await postgres.execute("delete from fleetprof_data.session where segment_id in (select segment_id from fleetprof.segment where site = 'again')");
  await importInto(scrubbing, 'again', ...given.map((text, i) => file(`given-${i}.json`, text)));
  assert.deepEqual(await sums('again'), await sums('first'));
});

const dumps = path.join(repository, '../shared/lab/speedtracer');
const real = fs.existsSync(dumps) ? fs.readdirSync(dumps).filter((name) => name.endsWith('.ndjson')).map((name) => path.join(dumps, name)) : [];

for (const name of [...older.map(data), ...real]) {
  test(`${path.basename(name)} counts once however often and however compressed it is imported`, async () => {
    const site = 'raw';
    const content = fs.readFileSync(name);
    const before = await kept(site);
    const said = await importInto(raw, site, name, name, file('copy.gz', zlib.gzipSync(content)), file('copy.br', zlib.brotliCompressSync(content)));
    assert.match(said, /imported 4 of 4 files\n$/);
    await importInto(raw, site, name);
    const found = (await kept(site)).filter((id) => !before.includes(id));
    assert.equal(found.length, 1);
    assert.equal(await give(found[0]), content.toString(), 'and is kept byte for byte under keep_raw');
    const [{ uploads }] = await postgres.sql(`select count(*) as uploads from fleetprof.upload_log join fleetprof.sessions using (site, upload_id)
      where session_id = ${found[0]}`);
    assert.equal(uploads, 1);
  });
}

const secret = 'anna%40example.org';
const url = `https://anna:${secret}@shop.example/cart?mail=${secret}#${secret}`;
const leaky = /** @type {Record<string, string>} */ ({
  'trace.json': JSON.stringify({ page: { url }, token: secret, trace: { resources: [url, `data:text/javascript,${secret}`],
    frames: [{ name: 'f', resourceId: 0 }, { name: 'g', resourceId: 1 }], stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }],
    samples: [{ timestamp: 0, stackId: 1 }] }, marks: [{ name: 'm', entryType: 'mark', startTime: 1, duration: 0, detail: { mail: secret } }] }),
  'dump.ndjson': [
    { type: 16, time: 0, data: { url } },
    { type: 2147483642, time: 1, data: { requestId: '1', request: { url, method: 'POST', requestFormData: secret, postData: secret,
      headers: { Cookie: secret, Authorization: secret, Referer: url, 'X-Api-Key': secret } } } },
    { type: 11, time: 2, data: { message: `loaded ${url}, then ${url}` }, stackTrace: [{ url, lineNumber: 1, functionName: 'f' }] },
    { type: -2, typeName: 'custom', time: 3, data: { token: secret, nested: { link: url } }, callerScriptName: url, callerScriptLine: 1 },
  ].map((record) => JSON.stringify(record)).join('\n'),
  'session.json': JSON.stringify({ 'opera-scope': { version: '1.1', url, session: [1, 2, [[1, 3]]], timelines: [
    { request: [1, 1, 1], reply: [[0, 4], [
      [3, 1, 0, 1, [0, 4], 1, null, 0, 1, 0, null, null, [url]],
      [6, 1, 0, 1, [4, 4], 2, null, 0, 1, 0, null, [3, `load ${url}`]]]] }] } }),
});

for (const [name, content] of Object.entries(leaky)) {
  test(`nothing of a query, a fragment, credentials, a form or a cookie is anywhere in what is kept of ${name}`, async () => {
    const id = await keep(scrubbing, 'first', file(name, content));
    const given = await give(id);
    assert.doesNotMatch(given, /anna/);
    if (!given.includes('shop.example/cart')) assert.fail(`the rest of the URL is kept: ${given}`);
    const texts = JSON.stringify([await described(id), await postgres.sql('select url from fleetprof_data.resource'),
      await postgres.sql('select * from fleetprof.upload_log')]);
    assert.doesNotMatch(texts, /anna/);
  });

  test(`${name} is kept byte for byte under keep_raw, except cookies and authorization`, async () => {
    const id = await keep(raw, 'raw', file(name, content));
    assert.equal(await give(id), content.replace(`"Cookie":"${secret}","Authorization":"${secret}"`, '"Cookie":"(removed)","Authorization":"(removed)"'));
  });
}

test('a kept session goes when retention.sessions is over, its numbers stay', async () => {
  const collector = await start({ retention: { sessions: '2d' } });
  const id = await keep(collector, 'old', data('speed-tracer/stream.ndjson'));
  const breakdown = () => postgres.sql("select event_type, count from fleetprof.event_breakdown('old', since => now() - interval '9 days') order by 1");
  const numbers = await breakdown();
  assert.ok(numbers.length > 0);
  await collector.stop();
  await postgres.execute(`select fleetprof_data.make_partitions(array[current_date - 4]);
    update fleetprof_data.session set bucket = bucket - interval '4 days' where session_id = ${id};
    update fleetprof_data.timeline set bucket = bucket - interval '4 days' where session_id = ${id};
    update fleetprof_data.event set bucket = bucket - interval '4 days' where session_id = ${id};`);
  assert.deepEqual(await kept('old'), [id]);
  await start({ ...collector.config });
  await waitFor(async () => (await kept('old')).length === 0, { what: 'end of the session' });
  const { code, stderr } = await fleetprof('session', 'export', id, '-d', postgres.conninfo('fleetprof_reader'));
  assert.equal(code, 2);
  assert.match(stderr, new RegExp(`session ${id} is not kept`));
  assert.deepEqual(await postgres.sql(`select from fleetprof_data.event where session_id = ${id}`), []);
  assert.deepEqual(await breakdown(), numbers);
});
