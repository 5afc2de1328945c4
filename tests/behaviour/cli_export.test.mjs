/** export: what other tools' own importers make of the files equals SQL's numbers. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { binDir, repository, run, startStack, temporaryDir, waitFor } from './stack.mjs';
import { devtools, Firefox, pprof, speedscope, sum } from './viewers.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('cli-export');

const hostile = `</script>"'\\\u0001\u0085;\u202e\u{1f980} ${'n'.repeat(1100)}`;
const shownHostile = hostile.slice(0, 1025); // 1,024 code points

/** Samples of 10 ms from 0 to 60, a gap of 30 ms beyond two intervals, and one at 110; of these one idle, one of (gc). */
const hostileUpload = {
  page: { url: 'https://shop.example/hostile' },
  sampleInterval: 10,
  release: 'r1',
  trace: {
    resources: ['https://shop.example/app.js'],
    frames: [{ name: hostile, resourceId: 0, line: 7, column: 9 }, { name: '', resourceId: 0, line: 3, column: 4 }, { name: 'parse' }],
    stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }, { frameId: 2, parentId: 1 }],
    samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10, stackId: 1 }, { timestamp: 20, stackId: 2 }, { timestamp: 30, stackId: 0 },
      { timestamp: 40 }, { timestamp: 50, marker: 'gc' }, { timestamp: 60, stackId: 0 }, { timestamp: 110, stackId: 2 }],
  },
  marks: [{ name: 'hero', entryType: 'mark', startTime: 12.5, duration: 0 }, { name: hostile, entryType: 'mark', startTime: 15, duration: 0 }],
  measures: [{ name: 'render', entryType: 'measure', startTime: 10, duration: 25 }],
};

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {NodeJS.ProcessEnv} */
let env;

/** @param {string[]} args */
const fleetprof = (...args) => run([program, ...args], { env });

/** Exports to a file, and returns its bytes and what was said. @param {string[]} args */
async function exported(...args) {
  const file = path.join(dir, 'out');
  fs.rmSync(file, { force: true });
  const { code, stdout, stderr } = await fleetprof('export', ...args, '-o', file);
  assert.deepEqual([code, stdout], [0, ''], stderr);
  return { file, bytes: fs.readFileSync(file), stderr };
}

/** @param {string} site @param {string[]} files */
async function importInto(site, ...files) {
  const { code, stderr } = await fleetprof('import', '-c', stack.collector.file, '--site', site, ...files);
  assert.deepEqual([code, stderr], [0, '']);
  await waitFor(async () => (await stack.collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty backlog' });
}

/** @param {string} name @param {unknown} content */
function file(name, content) {
  const full = path.join(dir, name);
  fs.writeFileSync(full, JSON.stringify(content));
  return full;
}

/** SQL's numbers: profiled time and samples, stacks as folded has them with unattributed time, microseconds. @param {string} site @param {string} [filters] */
async function truth(site, filters = '') {
  const [{ us, samples }] = await stack.sql(`select sum(round(self_ms * 1000))::float8 as us, sum(samples)::float8 as samples from fleetprof.markers('${site}'${filters})`);
  return { us, samples };
}

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', sample_keep: '100%' }, { name: 'one', key: 'pk_one', sample_keep: '100%' },
    { name: 'two', key: 'pk_two' }] } });
  env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') };
  const traces = ['react-prod-sync-3s.json', 'coi-mixed-markers--markersflag.json', 'deep-recursion-1000.json', 'odd-unicode-names.json'];
  await importInto('shop', ...traces.map((name) => path.join(repository, 'tests/data', name)), file('hostile.json', hostileUpload));
  await importInto('one', file('one.json', hostileUpload));
});
after(async () => { await stack?.stop(); });

test('x', async () => {
  const all = await truth('shop');
  console.log(all);
  const sp = await speedscope('x.json', (await exported('--format', 'speedscope', '--site', 'shop')).bytes);
  console.log(sp.name, sp.profiles.map((p) => [p.name, p.total, p.stacks.size]));
  const pp = pprof((await exported('--format', 'pprof', '--site', 'shop')).bytes);
  console.log(pp.types, pp.comments, pp.total, sum(pp.samples.map((s) => s.count)));
  const ch = await exported('--format', 'chrome', '--site', 'shop');
  const sc = await speedscope('Trace-20200101T000000.json', ch.bytes);
  console.log(sc.profiles.map((p) => [p.name, p.total, p.stacks.size]));
  const data = await devtools(ch.bytes.toString());
  console.log(Object.keys(data).join(' '));
  console.log(Object.keys(data.Samples), Object.keys(data.Renderer));
  fs.cpSync(ch.file, '/tmp/export15/chrome.json');
  const ge = await exported('--format', 'gecko', '--site', 'shop');
  fs.cpSync(ge.file, '/tmp/export15/gecko.json');
  const { bytes: s1 } = await exported('--format', 'chrome', '--session', (await stack.sql("select session_id::text as id from fleetprof.sessions where site = 'one'"))[0].id);
  fs.writeFileSync('/tmp/export15/chrome-s.json', s1);
  const { bytes: s2, stderr } = await exported('--format', 'speedscope', '--session', (await stack.sql("select session_id::text as id from fleetprof.sessions where site = 'one'"))[0].id);
  console.log(stderr, s2.toString().slice(0, 3000));
  const { bytes: s3 } = await exported('--format', 'gecko', '--session', (await stack.sql("select session_id::text as id from fleetprof.sessions where site = 'one'"))[0].id);
  fs.writeFileSync('/tmp/export15/gecko-s.json', s3);
});
