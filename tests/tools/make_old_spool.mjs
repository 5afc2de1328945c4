// SPDX-License-Identifier: Apache-2.0
/**
 * Makes tests/data/spool-vN, which tests/behaviour/spool_upgrade.test.mjs reads: a small spool as
 * the collector of today writes it, and what SQL says once that same collector has flushed it.
 *
 *     node tests/tools/make_old_spool.mjs tests/data/spool-v2
 *
 * To be run once, just before the bytes of a record change (docs/internals/delta.md, docs/internals/spool.md).
 * The collector is killed twice while no database is there, so that there are two segments; the
 * second one's last record is torn, as a power cut leaves it, and its preallocated rest is cut off.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { envelope, send, smallTrace } from '../behaviour/collector_client.mjs';
import { spoolSite, spoolSums, startOnSpool } from '../behaviour/old_spool.mjs';
import { migrate, repository, startCollector, startPostgres, temporaryDir, waitFor } from '../behaviour/stack.mjs';

const headerLength = 8192;

/** @param {number} n */
const id = (n) => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;

/** @param {string} name */
const trace = (name) => JSON.parse(fs.readFileSync(path.join(repository, 'tests/data', `${name}.json`), 'utf8'));

/** @param {import('../behaviour/stack.mjs').Collector} collector @param {string} body @param {Record<string, string>} [headers] */
async function upload(collector, body, headers = {}) {
  const reply = await send(`${collector.url}/v1/ingest/${spoolSite.key}`, { body, headers });
  assert.equal(reply.status, 204, reply.body);
}

const page = { url: 'https://shop.example/product/7?secret=1' };
const form = [envelope({ id: id(5), release: 'r1' }), envelope({ id: id(6), release: 'r2' })]
  .map((part) => `--b\r\n\r\n${part}\r\n`).join('');

/** The uploads that each of the two lives of the collector takes. */
const lives = [
  [
    [envelope({ id: id(1), page, release: 'r1', environment: 'test', variant: 'a' }),
      { 'user-agent': 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36' }],
    [envelope({ id: id(2), release: 'r2', trace: trace('coi-gc--markersflag') })],
    [envelope({ id: id(3), coverage: 'quota', trace: undefined, marks: { mark_fully_loaded: [12.5, 400] },
      measures: [{ name: 'checkout', entryType: 'measure', startTime: 5, duration: 100 }] })],
  ],
  [
    [envelope({ id: id(4), release: 'r1', thread: 'worker', marks: { ready: [15] },
      measures: [{ name: 'boot', entryType: 'measure', startTime: 10, duration: 15 }] })],
    [`${form}--b--`, { 'content-type': 'multipart/form-data; boundary=b' }],
    [envelope({ id: id(3), coverage: 'quota' })], // a retry: one id counts once
    [JSON.stringify({ ...smallTrace, samples: [...smallTrace.samples, { timestamp: 40 }] })], // no id of its own
    [envelope({ id: id(9), release: 'torn' })],
  ],
];

/** Cuts the preallocated rest off, and the end of the last record. @param {string} file */
function tear(file) {
  const bytes = fs.readFileSync(file);
  let end = bytes.length;
  while (end > headerLength && bytes[end - 1] === 0) end--;
  fs.truncateSync(file, end - 40);
}

const target = path.resolve(process.argv[2]);
fs.mkdirSync(target);
const spool = { path: path.join(temporaryDir('spool'), 'spool'), max_bytes: '8MiB', segment_bytes: '1MiB' };
for (const uploads of lives) {
  const collector = await startCollector({ config: { database: 'host=/nowhere', spool, sites: [spoolSite] } });
  for (const [body, headers] of uploads) await upload(collector, /** @type {string} */ (body), /** @type {any} */ (headers));
  await collector.server.stop('SIGKILL');
}
const segments = fs.readdirSync(spool.path).filter((name) => name.endsWith('.seg')).sort();
tear(path.join(spool.path, segments[segments.length - 1]));
fs.cpSync(spool.path, path.join(target, 'spool'), { recursive: true });

const postgres = await startPostgres();
await migrate(postgres);
const collector = await startOnSpool(postgres, path.join(target, 'spool'));
await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty spool' });
fs.writeFileSync(path.join(target, 'sums.json'), `${JSON.stringify(await spoolSums(postgres), null, 1)}\n`);
await collector.stop();
await postgres.stop();
