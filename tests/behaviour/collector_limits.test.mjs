// SPDX-License-Identifier: Apache-2.0
/**
 * Every limit of an upload, at its value and one above: the first is accepted, the second gets 413 (422 for the
 * span) with the name of the setting.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';

import { send } from './collector_client.mjs';
import { binDir, runOrThrow, startCollector, waitFor } from './stack.mjs';

const limits = {
  max_body: 20_000, max_inflated: 30_000, samples: 7, stacks: 8, frames: 9, resources: 10, entries: 11,
  stack_depth: 6, json_depth: 12, max_span: '10s',
};
// These limit all uploads together or connections, or refuse nothing; other files test them.
const elsewhere = ['measures', 'upload_memory', 'body_memory', 'connections', 'connections_per_address', 'timeout', 'request_timeout', 'kept', 'token_memory'];

/** @type {import('./stack.mjs').Collector} */
let collector;
before(async () => {
  collector = await startCollector({
    config: { database: 'host=/nonexistent', limits, sites: [{ name: 'demo', key: 'pk_demo' }] },
  });
});
after(() => collector.stop());

/** @template T @param {number} count @param {(index: number) => T} make @returns {T[]} */
const list = (count, make) => Array.from({ length: count }, (_, index) => make(index));

/** @param {Record<string, unknown>} members what is other than in a trace of one sample */
const trace = (members) => JSON.stringify({ trace: {
  resources: ['https://shop.example/a.js'], frames: [{ name: 'f', resourceId: 0 }], stacks: [{ frameId: 0 }],
  samples: [{ timestamp: 1, stackId: 0 }], ...members,
} });

/** @param {number} length of valid JSON */
const textOf = (length) => trace({}).padEnd(length, ' ');

/** @param {number} depth of all of the upload's arrays and objects */
const nested = (depth) => trace({ x: 0 }).replace('"x":0', `"x":${'['.repeat(depth - 2)}${']'.repeat(depth - 2)}`);

const mark = (/** @type {number} */ index) => ({ name: `m${index}`, entryType: 'mark', startTime: index, duration: 0 });

/** @param {string[]} parts */
const form = (parts) => ({
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
  body: `${parts.map((part, index) => `--b\r\nContent-Disposition: form-data; name="${index}"\r\n\r\n${part}\r\n`).join('')}--b--\r\n`,
});

/** @param {string} text */
const inChunks = (text) => ({ chunks: [text.slice(0, 100), text.slice(100)] });

/** Each returns an upload with the given amount of what its limit counts. @type {Record<string, Record<string, (count:
 * number) => any>>} */
const uploads = {
  max_body: { 'with its length': (count) => textOf(count), 'in chunks': (count) => inChunks(textOf(count)) },
  max_inflated: {
    gzip: (count) => zlib.gzipSync(textOf(count)),
    deflate: (count) => zlib.deflateSync(textOf(count)),
    br: (count) => ({ headers: { 'content-encoding': 'br' }, body: zlib.brotliCompressSync(textOf(count)) }),
    'all parts of a form': (count) => {
      const { headers, body } = form([textOf(count - 1000), textOf(1000)].map((text) => zlib.gzipSync(text).toString('latin1')));
      return { headers, body: Buffer.from(body, 'latin1') };
    },
  },
  samples: { 'a trace': (count) => trace({ samples: list(count, (timestamp) => ({ timestamp })) }) },
  stacks: { 'a trace': (count) => trace({ stacks: list(count, () => ({ frameId: 0 })) }) },
  frames: { 'a trace': (count) => trace({ frames: list(count, (index) => ({ name: `f${index}` })) }) },
  resources: { 'a trace': (count) => trace({ resources: list(count, (index) => `https://shop.example/${index}.js`) }) },
  entries: {
    'an array': (count) => JSON.stringify(list(count, mark)),
    'marks, measures and entries': (count) => JSON.stringify({
      marks: list(3, mark),
      measures: list(4, (index) => ({ ...mark(index), entryType: 'measure', duration: 1 })),
      entries: list(count - 7, (index) => ({ name: 'r', entryType: 'resource', startTime: index, duration: 0 })),
    }),
    'maps of times': (count) => JSON.stringify({ marks: { a: list(5, Number), b: list(count - 5, Number) } }),
    'events of a dump': (count) => list(count, (sequence) => JSON.stringify({ type: 4, time: sequence, sequence, data: {} })).join('\n'),
  },
  stack_depth: {
    'one above the other': (count) => trace({ stacks: list(count, (index) => ({ frameId: 0, ...index > 0 && { parentId: index - 1 } })),
      samples: [{ timestamp: 1, stackId: count - 1 }] }),
    'forward, and without a sample': (count) => trace({ stacks: list(count, (index) => ({ frameId: 0, ...index + 1 < count && { parentId: index + 1 } })) }),
  },
  json_depth: { 'arrays': nested },
  max_span: { 'from the first sample to the last': (count) => trace({ samples: [{ timestamp: 5 }, { timestamp: 5 + count * 1000 }] }) },
};

/** Each limit as a number, and the smallest value above it. @param {string} name */
function bounds(name) {
  const limit = limits[/** @type {keyof typeof limits} */ (name)];
  return typeof limit === 'number' ? [limit, limit + 1] : [parseFloat(limit), parseFloat(limit) + 0.001];
}

/** @param {any} upload a body, or a request */
const post = (upload) => send(`${collector.url}/v1/ingest/pk_demo`,
  typeof upload === 'string' || upload instanceof Uint8Array ? { body: upload } : upload);

test('every limit is tried here or named as tried elsewhere', async () => {
  const printed = await runOrThrow([path.join(binDir, 'fleetprofd'), '--print-default-config']);
  const [, section] = /** @type {RegExpMatchArray} */ (printed.match(/^limits:\n((?: .*\n|\n)*)/m));
  const names = [...section.matchAll(/^ {2}(?:# ?)?(\w+): /gm)].map(([, name]) => name);
  assert.deepEqual(names.sort(), [...Object.keys(uploads), ...elsewhere].sort());
});

for (const [name, ways] of Object.entries(uploads)) {
  for (const [way, make] of Object.entries(ways)) {
    test(`limits.${name}, ${way}`, async () => {
      const [most, over] = bounds(name);
      const taken = await post(make(most));
      assert.equal(taken.status, 204, taken.body);
      const refused = await post(make(over));
      assert.equal(refused.status, name === 'max_span' ? 422 : 413, refused.body);
      assert.match(refused.problem.detail, new RegExp(`limits\\.${name}\\b`));
    });
  }
}

test('a form of 64 parts is taken, one of 65 is not', async () => {
  assert.equal((await post(form(list(64, () => trace({}))))).status, 204);
  const { status, problem } = await post(form(list(65, () => trace({}))));
  assert.equal(status, 413);
  assert.match(problem.detail, /64 parts/);
});

test('a reload to one less holds for the next upload', async () => {
  const less = Object.fromEntries(Object.entries(limits).map(([name, limit]) =>
    [name, typeof limit === 'number' ? limit - 1 : `${(parseFloat(limit) - 1)}s`]));
  fs.writeFileSync(collector.file, JSON.stringify({ ...collector.config, limits: less }));
  process.kill(collector.server.pid, 'SIGHUP');
  await waitFor(() => collector.server.output().includes('configuration reloaded'), { what: 'reload' });
  for (const [name, ways] of Object.entries(uploads)) {
    for (const [way, make] of Object.entries(ways)) {
      const { status } = await post(make(bounds(name)[0]));
      assert.equal(status, name === 'max_span' ? 422 : 413, `${name}, ${way}`);
    }
  }
});
