// SPDX-License-Identifier: Apache-2.0
/** export: what other tools' own importers make of the files equals SQL's numbers. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { binDir, repository, run, startStack, temporaryDir, waitFor } from './stack.mjs';
import { devtools, devtoolsNames, Firefox, pprof, speedscope, sum } from './viewers.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('cli-export');

const hostile = `</script>"'\\\u0001\u0085;\u202e\u{1f980} ${'n'.repeat(1100)}`;
const shownHostile = hostile.slice(0, 1025); // 1,024 code points
// eslint-disable-next-line no-control-regex
const foldedHostile = shownHostile.replaceAll(';', ':').replace(/[\u0001-\u001f\u007f-\u009f]/g, ' ');

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

/** Names of functions that viewers take for something else, each with 10 ms, from before the time origin on. */
const clashes = ['(idle)', '(program)', '(root)', '(garbage collector)', 'step 3', 'get 0.5', 'v 2.', 'a 1 2', '7', '\t8'];
const clashUpload = {
  page: { url: 'https://shop.example/clash' },
  sampleInterval: 10,
  trace: {
    resources: [],
    frames: clashes.map((name) => ({ name })),
    stacks: [...clashes.map((_, frameId) => ({ frameId })), { frameId: 5, parentId: 4 }],
    samples: [...clashes, 'a call'].map((_, stackId) => ({ timestamp: stackId * 10 - 20, stackId })),
  },
  marks: [{ name: 'early', entryType: 'mark', startTime: -50, duration: 0 }, { name: 'late', entryType: 'mark', startTime: 800, duration: 0 }],
  measures: [{ name: 'long', entryType: 'measure', startTime: -40, duration: 900 }, { name: 'none', entryType: 'measure', startTime: 5, duration: 0 }],
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

/** @param {string} name @param {unknown[]} lines */
function ndjson(name, lines) {
  const full = path.join(dir, name);
  fs.writeFileSync(full, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return full;
}

/** @param {string} site @returns {Promise<string[]>} the kept sessions */
const kept = async (site) => (await stack.sql(`select session_id::text as id from fleetprof.sessions where site = '${site}' order by session_id`)).map(({ id }) => id);

/** SQL's stacks and unattributed time as text, microseconds. @param {string} site @returns {Promise<Map<string, number>>} */
async function stacksOf(site) {
  const rows = await stack.sql(`select folded from fleetprof.folded('${site}') as folded
    union all select '(unattributed) ' || round(self_ms * 1000) from fleetprof.markers('${site}') where marker = '(unattributed)'`);
  return new Map(rows.map(({ folded }) => [folded.slice(0, folded.lastIndexOf(' ')), Number(folded.slice(folded.lastIndexOf(' ') + 1))]));
}

/** Stacks without the place of an anonymous function, which only folded has. @param {Iterable<[string, number]>} stacks */
function withoutPlaces(stacks) {
  /** @type {Map<string, number>} */
  const all = new Map();
  for (const [stack, us] of stacks) {
    const names = stack.replace(/\(anonymous\) [^;]*/g, '(anonymous)');
    all.set(names, (all.get(names) ?? 0) + us);
  }
  return [...all].filter(([, us]) => us > 0).sort();
}

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }, { name: 'large', key: 'pk_large' }, ...['one', 'events', 'built', 'pauses', 'marks', 'deep', 'names', 'v8', 'vitals', 'clash', 'panel', 'long'].map((name) => ({ name, key: `pk_${name}`, sample_keep: '100%' }))] } });
  env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') };
  const traces = ['react-prod-sync-3s.json', 'coi-mixed-markers--markersflag.json', 'deep-recursion-1000.json', 'odd-unicode-names.json'];
  await importInto('shop', ...traces.map((name) => path.join(repository, 'tests/data', name)), file('hostile.json', hostileUpload));
  await importInto('one', file('one.json', hostileUpload));
  await importInto('pauses', ndjson('pauses.ndjson', [[1000, 20], [1020, 0], [1100, 10], [1110, 0]].map(([time, duration], sequence) => ({ type: 0, time, duration, data: { type: 'click' }, children: [], sequence }))));
  await importInto('v8', path.join(repository, 'tests/data/speed-tracer/v8.ndjson'));
  await importInto('clash', file('clash.json', clashUpload));
  await importInto('events', ...['speed-tracer/stream.ndjson', 'opera-scope/page-load.json', 'opera-scope/by-name.json'].map((name) => path.join(repository, 'tests/data', name)));
});
after(async () => { await stack?.stop(); });

test('an aggregate has the same stacks, time and samples in speedscope and pprof as in SQL', async () => {
  const wanted = await stacksOf('shop');
  const total = sum(wanted.values());
  const [{ us, samples: count }] = await stack.sql("select sum(round(self_ms * 1000))::float8 as us, sum(samples)::float8 as samples from fleetprof.markers('shop')");
  assert.equal(us, total);
  assert.ok(wanted.size > 50 && wanted.has('(gc)') && wanted.has('(unattributed)'));
  const shown = withoutPlaces([...wanted]);
  // The others keep characters that folded replaces in a name.
  const plain = (/** @type {Map<string, number>} */ stacks) => withoutPlaces([...stacks].map(([stack, time]) => [stack.replaceAll(shownHostile, foldedHostile), time]));

  const [{ loads }] = await stack.sql("select sum(loads)::int as loads from fleetprof.summary('shop')");
  assert.ok(loads > 1);
  const { profiles: [profile], name } = await speedscope('shop.json', (await exported('--format', 'speedscope', '--site', 'shop')).bytes, loads);
  assert.match(name, new RegExp(`^µs per page load, of ${loads}: shop, .* to .* \\(UTC\\)$`));
  assert.equal(profile.total, total);
  assert.deepEqual(plain(profile.stacks), shown);
  assert.deepEqual(profile.frames.filter((/** @type {any} */ frame) => frame.function === shownHostile),
    [{ function: shownHostile, file: 'https://shop.example/app.js', line: 7, col: 9 }]);

  const decoded = pprof((await exported('--format', 'pprof', '--site', 'shop')).bytes);
  assert.deepEqual([decoded.types, decoded.shown, decoded.total], [['samples/count', 'time/microseconds'], 'time', total]);
  assert.equal(sum(decoded.samples.map((sample) => sample.count)), count);
  assert.deepEqual(plain(decoded.stacks), shown);
  assert.deepEqual(decoded.functions.find((each) => each.name === shownHostile), { name: shownHostile, file: 'https://shop.example/app.js', line: 7 });
  assert.ok(decoded.samples.every(({ labels }) => Object.keys(labels).length === 0));
  const again = await speedscope('shop.pb.gz', (await exported('--format', 'pprof', '--site', 'shop', '--fold', 'package')).bytes);
  assert.equal(again.profiles[0].total, total, 'speedscope also reads pprof');
});

test('an aggregate has the same time by function in the Performance panel as in SQL', async () => {
  const json = (await exported('--format', 'chrome', '--site', 'shop')).bytes;
  const panel = await devtools(json.toString());
  const total = sum((await stacksOf('shop')).values());
  assert.deepEqual(panel.threads.map((each) => each.name), ['CrRendererMain']);
  assert.equal(sum(panel.threads[0].own.values()), total);
  const rows = await stack.sql("select function, sum(round(self_ms * 1000))::float8 as us from fleetprof.hotspots('shop', top => 10000) group by 1 having sum(self_ms) > 0");
  const own = new Map(rows.map((row) => [row.function, row.us]));
  own.set('(unattributed)', total - sum(own.values()));
  assert.deepEqual([...panel.threads[0].own].filter(([, us]) => us > 0).sort(), [...own].sort());
  const again = await speedscope('Trace-20200101T000000.json', json);
  assert.equal(again.profiles[0].total, total, 'speedscope also reads it');
});

test('of more stacks than a file holds the least are one frame, and no time is lost', { skip: process.env.FLEETPROF_LONG !== '1' && 'FLEETPROF_LONG=1' }, async () => {
  for (const part of [0, 1]) {
    const count = 120_000;
    const trace = {
      resources: ['https://shop.example/large.js'],
      frames: Array.from({ length: 20_000 }, (_, i) => ({ name: `f${part}_${i}`, resourceId: 0, line: i + 1, column: 1 })),
      stacks: Array.from({ length: count }, (_, i) => ({ frameId: (i * 7919) % 20_000, ...i < 100 ? {} : { parentId: Math.floor(i / 10) } })),
      samples: Array.from({ length: count }, (_, stackId) => ({ timestamp: stackId * 10, stackId })),
    };
    await importInto('large', file('large.json', { sampleInterval: 10, trace }));
  }
  const { total, stacks } = pprof((await exported('--format', 'pprof', '--site', 'large')).bytes);
  assert.equal(total, 2 * 120_000 * 10_000);
  assert.ok((stacks.get('(omitted)') ?? 0) >= 39_000 * 10_000 && stacks.size > 190_000);
  const { threads: [{ own }] } = await devtools((await exported('--format', 'chrome', '--site', 'large')).bytes.toString());
  assert.equal(Math.round(sum(own.values())), total);
});

test('filters and --marker select what they select in SQL', async () => {
  const [{ us }] = await stack.sql("select round(self_ms * 1000)::float8 as us from fleetprof.markers('shop', marker => 'gc')");
  const { bytes } = await exported('--format', 'pprof', '--site', 'shop', '--marker', 'gc');
  assert.equal(pprof(bytes).total, us);
  const none = path.join(dir, 'none');
  const { code, stdout, stderr } = await fleetprof('export', '--format', 'pprof', '--site', 'shop', '--release', 'r7', '-o', none);
  assert.deepEqual([code, stdout, fs.existsSync(none)], [0, '', false]);
  assert.match(stderr, /^fleetprof: nothing was counted for the release "r7" of site "shop"\n/);
});

/** The first sample is at 0, and its span begins half an interval before: that is where an export begins. */
const beginMs = -5;

test('a kept trace is in the order of time, with its marks and measures, in the Performance panel', async () => {
  const [id] = await kept('one');
  const panel = await devtools((await exported('--format', 'chrome', '--session', id)).bytes.toString());
  const [{ calls }] = panel.threads;
  assert.deepEqual(calls, [[shownHostile, 0, 40], ['(anonymous)', 10, 20], ['parse', 20, 10], ['(unattributed)', 40, 10], ['(gc)', 50, 10],
    [shownHostile, 60, 60], ['(anonymous)', 90, 30], ['parse', 90, 30]]);
  assert.deepEqual(panel.marks, [['hero', 12.5 - beginMs], [shownHostile, 15 - beginMs]]);
  assert.deepEqual(panel.measures, [['render', 10 - beginMs, 25]]);
});

test('a kept trace is in the order of time in speedscope, which has no marks; its sums are those of SQL', async () => {
  const [id] = await kept('one');
  const { bytes, stderr } = await exported('--format', 'speedscope', '--session', id);
  assert.equal(stderr, 'fleetprof: speedscope cannot show marks; marks left out: 3\n');
  const { profiles: [{ name, order, total, stacks }] } = await speedscope('one.json', bytes);
  const [first, second, third] = [shownHostile, `${shownHostile};(anonymous)`, `${shownHostile};(anonymous);parse`];
  assert.equal(name, 'window');
  assert.deepEqual(order, [[first, 0], [second, 10_000], [third, 20_000], [first, 30_000], ['(unattributed)', 40_000], ['(gc)', 50_000],
    [first, 60_000], [third, 90_000]]);
  const wanted = await stacksOf('one');
  assert.equal(total, sum(wanted.values()));
  assert.deepEqual(withoutPlaces([...stacks].map(([stack, us]) => [stack.replaceAll(shownHostile, foldedHostile), us])), withoutPlaces(wanted));
  assert.deepEqual(pprof((await exported('--format', 'pprof', '--session', id)).bytes).total, total);
  const { code, stdout } = await fleetprof('export', '--format', 'folded', '--session', id);
  assert.equal(code, 0);
  assert.deepEqual(stdout.trimEnd().split('\n').sort(), [...wanted].map(([stack, us]) => `${stack} ${us}`).sort());
});

test('sessions with events have the events’ own times, on the events around them', async () => {
  for (const id of await kept('events')) {
    const [{ us, tracks }] = await stack.sql(`select round(sum(self_ms) * 1000)::float8 as us, count(distinct timeline_id)::int as tracks
      from fleetprof.timelines where session_id = ${id} and mode = 'all'`);
    const { bytes, stderr } = await exported('--format', 'pprof', '--session', id);
    const lost = Number(/below zero are left out: (-[\d.]+) ms/.exec(stderr)?.[1] ?? 0) * 1000;
    const { total, stacks } = pprof(bytes);
    assert.ok(us > 0 && tracks > 0);
    assert.equal(Math.round(total + lost), us);
    assert.ok([...stacks.keys()].some((each) => each.includes(';')), 'events are on events');
    const group = await speedscope('events.json', (await exported('--format', 'speedscope', '--session', id)).bytes);
    assert.deepEqual([group.profiles.length, sum(group.profiles.map((/** @type {any} */ each) => each.total))], [tracks, total]);
    assert.ok(group.profiles[group.shown].total > 0, 'a timeline with time is in front');
    const panel = await devtools((await exported('--format', 'chrome', '--session', id)).bytes.toString());
    assert.equal(sum(panel.threads.flatMap(({ own }) => [...own.values()])), total);
    const { threads } = JSON.parse((await exported('--format', 'gecko', '--session', id)).bytes.toString());
    assert.equal(Math.round(sum(threads.flatMap((/** @type {any} */ { samples }) => samples.weight)) * 1000), total);
    for (const { stackTable, frameTable, samples } of threads) {
      const used = new Set();
      for (let each of samples.stack)
        for (; each !== null; each = stackTable.prefix[each])
          used.add(each);
      assert.deepEqual([stackTable.length, frameTable.length], [used.size, new Set(stackTable.frame).size], 'only what the timeline uses');
    }
  }
});

test('the V8 profile of a dump has its ticks, by function and stack', async () => {
  const [id] = await kept('v8');
  const { bytes, stderr } = await exported('--format', 'pprof', '--session', id, '--js-profile');
  assert.equal(stderr, "fleetprof: each tick of V8's sampler is written as 1 ms\n");
  const { total, stacks } = pprof(bytes);
  const [{ ticks }] = await stack.sql(`select sum(self_ticks)::float8 as ticks from fleetprof.js_profile(${id})`);
  assert.equal(ticks, 10);
  assert.equal(total, 1000 * ticks);
  const rows = await stack.sql(`select function, sum(self_ticks)::float8 as ticks from fleetprof.js_profile(${id}) where self_ticks > 0 group by function`);
  /** @type {Map<string, number>} */
  const tops = new Map();
  for (const [name, us] of stacks) if (us > 0) tops.set(name.split(';').at(-1) ?? '', (tops.get(name.split(';').at(-1) ?? '') ?? 0) + us);
  assert.deepEqual([...tops].sort(), rows.map(({ function: name, ticks: own }) => [name, 1000 * own]).sort());
  assert.ok([...stacks.keys()].some((name) => name.split(';').length > 1), 'functions are on functions');
  for (const format of ['speedscope', 'chrome'])
    assert.equal((await speedscope('v8.json', (await exported('--format', format, '--session', id, '--js-profile')).bytes)).profiles[0].total, total, format);
  for (const [site, reason] of /** @type {[string, RegExp][]} */ ([['one', /is of self-profile, and this is a report of Speed Tracer/], ['pauses', /has no V8 profile/]])) {
    const [other] = await kept(site);
    const { code, stderr: why } = await fleetprof('export', '--format', 'folded', '--session', other, '--js-profile');
    assert.equal(code, 2);
    assert.match(why, reason);
  }
});

test('no name of a function makes a viewer leave out or misread its time', async () => {
  const total = sum((await stacksOf('clash')).values());
  assert.equal(total, 11 * 10_000);
  for (const source of [['--site', 'clash'], ['--session', (await kept('clash'))[0]]]) {
    const json = (await exported('--format', 'chrome', ...source)).bytes;
    const { threads: [{ own }] } = await devtools(json.toString());
    assert.deepEqual(['(idle)', '(program)', '(root)', '(garbage collector)'].map((name) => own.get(`${name}\u00a0`)), Array(4).fill(10_000));
    assert.equal(Math.round(sum(own.values())), total);
    assert.equal((await speedscope('Trace-20200101T000000.json', json)).profiles[0].total, total);
    const lines = (await exported('--format', 'folded', ...source)).bytes.toString().trimEnd().split('\n');
    // flamegraph.pl takes a number before the weight for the weight of another side.
    assert.deepEqual(lines.filter((line) => /\s\d+(\.\d*)?\s\d+$/.test(line.replaceAll('\u00a0', '_'))), []);
    assert.ok(lines.includes('step\u00a03;get\u00a00.5 10000') && lines.includes('a 1\u00a02 10000') && lines.includes('7 10000'));
    assert.deepEqual([lines.length, sum(lines.map((line) => Number(line.slice(line.lastIndexOf(' ')))))], [11, total]);
  }
});

test('no name of a mark or measure keeps the Performance panel from a session', async () => {
  const own = ['appReady', 'Checkout', 'route:Done', 'paint'];
  const pageTimings = ['navigationStart', 'fetchStart', 'domLoading', 'domInteractive'];
  const events = [...new Set(await devtoolsNames())].filter((name) => !pageTimings.includes(name));
  const marked = [...events, 'thread_name', 'process_name', ...own];
  const measured = [...marked, ...pageTimings];
  await importInto('panel', file('panel.json', { ...clashUpload,
    marks: marked.map((name, i) => ({ name, entryType: 'mark', startTime: i, duration: 0 })),
    measures: measured.map((name, i) => ({ name, entryType: 'measure', startTime: i, duration: 5 })) }));
  const json = (await exported('--format', 'chrome', '--session', (await kept('panel'))[0])).bytes;
  const { marks, measures, threads } = await devtools(json.toString());
  assert.deepEqual(threads.map((each) => each.name), ['CrRendererMain']);
  const first = 25; // ms before the time origin: the first sample, and half an interval
  const plain = (/** @type {any[]} */ [name, ...times]) => [name.replace(/\u00a0$/, ''), ...times];
  assert.deepEqual(marks.map(plain), marked.map((name, i) => [name, first + i]));
  assert.deepEqual(measures.map(plain), measured.map((name, i) => [name, first + i, 5]));
  for (const shown of /** @type {any[][]} */ ([marks, measures])) {
    const names = shown.map(([name]) => name);
    assert.deepEqual(own.filter((name) => !names.includes(name)), [], 'other names stay as they are');
  }
  assert.equal((await speedscope('Trace-20200101T000000.json', json)).profiles.length, 1);
});

test('the Performance panel also reads a long session', async () => {
  const count = 150_000;
  await importInto('long', file('long.json', { sampleInterval: 10, trace: {
    resources: [], frames: [{ name: 'odd' }, { name: 'even' }], stacks: [{ frameId: 0 }, { frameId: 1 }],
    samples: Array.from({ length: count }, (_, i) => ({ timestamp: i * 10, stackId: i % 2 })),
  } }));
  const json = (await exported('--format', 'chrome', '--session', (await kept('long'))[0])).bytes;
  const { threads: [{ own, calls }] } = await devtools(json.toString());
  assert.deepEqual([...own].map(([name, us]) => [name, Math.round(us)]).sort(), [['even', count * 5000], ['odd', count * 5000]]);
  assert.deepEqual([calls.length, calls[0], calls[count - 1]], [count, ['odd', 0, 10], ['even', (count - 1) * 10, 10]]);
  assert.equal((await speedscope('Trace-20200101T000000.json', json)).profiles[0].total, count * 10_000);
});

test('vitals of a kept trace are marks where they were', async () => {
  const { trace, ...upload } = hostileUpload;
  await importInto('vitals', file('vitals.json', { ...upload, trace, marks: [], measures: [], vitals: [
    { name: 'LCP', value: 60 }, { name: 'TTFB', value: 5.5 }, { name: 'INP', value: 30, start: 20, duration: 30 },
    { name: 'CLS', value: 0.125, start: 50, duration: 0 }, { name: 'FCP', value: 40, navigationType: 'back-forward-cache' }] }));
  const [id] = await kept('vitals');
  const { bytes, stderr } = await exported('--format', 'chrome', '--session', id);
  assert.equal(stderr, 'fleetprof: vitals left out, without a time: 1\n');
  const panel = await devtools(bytes.toString());
  assert.deepEqual([...panel.marks].sort(), [['CLS 0.125', 50 - beginMs], ['LCP', 60 - beginMs], ['TTFB', 5.5 - beginMs]].sort());
  assert.deepEqual(panel.measures, [['INP', 20 - beginMs, 30]]);
});

test('an event without time at the end of a stretch does not lengthen the one before it', async () => {
  const [id] = await kept('pauses');
  const { stdout } = await fleetprof('export', '--format', 'folded', '--session', id);
  const wanted = stdout.trimEnd().split('\n').map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]);
  assert.equal(sum(wanted.map(([, us]) => Number(us))), 30_000);
  const { profiles: [{ stacks }] } = await speedscope('Trace-20200101T000000.json', (await exported('--format', 'chrome', '--session', id)).bytes);
  assert.deepEqual([...stacks].filter(([name]) => name !== ''), wanted);
});

test('a session with marks and no samples is written only where marks have a place', async () => {
  const { trace, ...upload } = hostileUpload;
  for (const release of ['r1', 'r2'])
    await importInto('marks', file('marks.json', { ...upload, release, trace: { ...trace, samples: [] } }));
  const [id] = await kept('marks');
  const none = path.join(dir, 'marks.out');
  for (const format of ['folded', 'speedscope', 'pprof']) {
    const { code, stdout, stderr } = await fleetprof('export', '--format', format, '--session', id, '-o', none);
    assert.deepEqual([code, stdout, fs.existsSync(none)], [0, '', false]);
    assert.equal(stderr, `fleetprof: session ${id} has no time on stacks, and ${format} cannot show its marks\n`);
  }
  for (const format of ['gecko', 'chrome'])
    assert.equal((await exported('--format', format, '--session', id)).stderr, '');
});

test('page loads without stacks are not called a lack of page loads', async () => {
  for (const [format, ...args] of [['pprof', '--site', 'one', '--marker', 'layout'], ['speedscope', '--site', 'marks'], ['folded', '--site', 'marks']]) {
    const none = path.join(dir, 'none');
    const { code, stdout, stderr } = await fleetprof('export', '--format', format, ...args, '-o', none);
    assert.deepEqual([code, stdout, fs.existsSync(none)], [0, '', false]);
    assert.equal(stderr, 'fleetprof: the page loads that match have no stacks\n');
  }
  const none = path.join(dir, 'none');
  const { code, stdout, stderr } = await fleetprof('export', '--format', 'folded', '--compare', 'r1', 'r2', '--site', 'marks', '-o', none);
  assert.deepEqual([code, stdout, fs.existsSync(none), stderr], [0, '', false, 'fleetprof: one of the sides has no stacks in its period\n']);
});

test('the frames of stacks without time of their own count for no limit', async () => {
  const [depth, count] = [1990, 20];
  await importInto('deep', file('deep.json', { sampleInterval: 10, trace: {
    resources: [],
    frames: Array.from({ length: count }, (_, frame) => ({ name: `f${frame}` })),
    stacks: Array.from({ length: count * depth }, (_, i) => ({ frameId: Math.floor(i / depth), ...i % depth > 0 && { parentId: i - 1 } })),
    samples: Array.from({ length: count }, (_, i) => ({ timestamp: i * 10, stackId: (i + 1) * depth - 1 })),
  } }));
  const [id] = await kept('deep');
  assert.equal(pprof((await exported('--format', 'pprof', '--session', id)).bytes).total, count * 10_000);
  const { bytes } = await exported('--format', 'folded', '--session', id);
  assert.equal(bytes.toString().split(/[;\n]/).length, count * depth + 1);
});

test('stacks whose names are too long together are refused, not called a lack of memory', async () => {
  const depth = 1990;
  await importInto('names', file('names.json', { sampleInterval: 10, trace: {
    resources: [],
    frames: [{ name: 'n'.repeat(1024) }],
    stacks: Array.from({ length: depth }, (_, i) => ({ frameId: 0, ...i > 0 && { parentId: i - 1 } })),
    samples: Array.from({ length: depth }, (_, stackId) => ({ timestamp: stackId * 10, stackId })),
  } }));
  const [id] = await kept('names');
  const { code, stderr } = await fleetprof('export', '--format', 'folded', '--session', id, '-o', path.join(dir, 'names.txt'));
  assert.equal(code, 2);
  assert.match(stderr, /there are too many stacks for folded\n.*Its names would have \d+ bytes, at most 536870912 are allowed/);
  assert.equal(pprof((await exported('--format', 'pprof', '--session', id)).bytes).total, depth * 10_000);
});

test('names are those of the function table; pprof keeps the generated place', async () => {
  const script = 'https://shop.example/app.js';
  const rows = [{ fleetprof_function_table: 1, script: 'app.js', functions: 2 }, [3, 4, 'renderList', 'src/list.ts', 12, 5, '', false], [7, 9, 'boot', 'src/main.ts', 1, 1, '', false]];
  const table = path.join(dir, 'app.fleetprof.json');
  fs.writeFileSync(table, rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  const added = await run([program, 'sourcemap', 'add', '--site', 'built', '--url-prefix', 'https://shop.example/', table], { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_writer') } });
  assert.equal(added.code, 0, added.stderr);
  await importInto('built', file('built.json', hostileUpload));
  const [id] = await kept('built');
  for (const source of [['--session', id], ['--site', 'built']]) {
    const { functions, samples } = pprof((await exported('--format', 'pprof', ...source)).bytes);
    assert.deepEqual(functions.filter((each) => each.file).sort((a, b) => (a.name < b.name ? -1 : 1)),
      [{ name: 'boot', file: 'src/main.ts', line: 1 }, { name: 'renderList', file: 'src/list.ts', line: 12 }]);
    const labels = new Map(samples.map((sample) => [sample.stack.join(';'), sample.labels.generated]));
    assert.deepEqual([...labels].sort(), [['(gc)', undefined], ['(unattributed)', undefined], ['boot', `${script}:7:9`],
      ['boot;renderList', `${script}:3:4`], ['boot;renderList;parse', undefined]]);
    const { profiles: [{ frames }] } = await speedscope('built.json', (await exported('--format', 'speedscope', ...source)).bytes);
    assert.deepEqual(frames.find((/** @type {any} */ frame) => frame.function === 'boot'), { function: 'boot', file: 'src/main.ts', line: 1, col: 1 });
  }
});

test('Firefox Profiler has the same time as SQL, and a session’s marks', async () => {
  const firefox = new Firefox(temporaryDir('firefox'));
  const shop = await firefox.read((await exported('--format', 'gecko', '--site', 'shop')).file);
  const rows = await stack.sql("select function, sum(round(self_ms * 1000))::float8 as us from fleetprof.hotspots('shop', top => 10000) group by 1 having sum(self_ms) > 0");
  const idle = (await stacksOf('shop')).get('(unattributed)');
  assert.deepEqual([...shop.own].filter(([, us]) => us > 0).sort(), [...rows.map((row) => [row.function, row.us]), ['(unattributed)', idle]].sort());
  const one = await firefox.read((await exported('--format', 'gecko', '--session', (await kept('one'))[0])).file);
  assert.equal(sum(one.own.values()), sum((await stacksOf('one')).values()));
  assert.deepEqual(one.marks, [['render', 10 - beginMs, 25], ['hero', 12.5 - beginMs, null], [shownHostile, 15 - beginMs, null]]);
  const clash = await firefox.read((await exported('--format', 'gecko', '--session', (await kept('clash'))[0])).file);
  assert.equal(sum(clash.own.values()), 11 * 10_000);
  assert.deepEqual(clash.marks, [['early', 0, null], ['long', 10, 900], ['none', 55, 0], ['late', 850, null]], 'also before the first and after the last sample');
  const marks = await firefox.read((await exported('--format', 'gecko', '--session', (await kept('marks'))[0])).file);
  assert.equal(marks.marks.length, 3, 'also without samples');
});

test('long work says on a terminal what it is at, and nowhere else', async () => {
  const onTerminal = async (/** @type {string} */ args, terminal = 'xterm') => {
    const { code, stdout } = await run(['script', '-qec', `stty cols 60; cd '${dir}'; '${program}' ${args}`, '/dev/null'], { env: { ...env, TERM: terminal } });
    assert.equal(code, 0, stdout);
    return stdout.replaceAll('\r\n', '\n');
  };
  const out = path.join(dir, 'terminal');
  assert.equal(await onTerminal(`export --format speedscope --site one -o ${out}`), 'reading stacks\x1b[K\rwriting 5 stacks\x1b[K\r\x1b[K');
  assert.equal(await onTerminal(`export --format folded --site one -o ${out}`), 'reading stacks\x1b[K\r\x1b[K\x1b[K');
  assert.equal(await onTerminal(`export --format speedscope --site one -o ${out}`, 'dumb'), '');
  assert.match(await onTerminal(`report --site one -o ${out}`), /^question 1: flamegraph_columns\x1b\[K\rquestion 2: hotspots\x1b\[K\r[^]*\x1b\[Kfleetprof: \S*\/terminal:\s\d+\sKiB\n$/);
  const long = file(`long-${'é'.repeat(60)}.json`, hostileUpload);
  const lines = await onTerminal(`import --no-wait -c ${stack.collector.file} --site one ${path.join(dir, 'one.json')} ${path.basename(long)}`);
  assert.match(lines, /^file 1 of 2: reading \S+\x1b\[K\rfile 1 of 2: sending 0\.0 MiB of \S+\x1b\[K\r\x1b\[K/);
  assert.match(lines, /file 2 of 2: sending 0\.0 MiB of long-é{11}\x1b\[K\r/, 'a line is cut to the terminal');
});

test('on a terminal no export shows what would steer or mislead it; piped it is whole', async () => {
  const [id] = await kept('one');
  const formats = ['folded', 'speedscope', 'gecko', 'chrome'];
  const exports = [['session', 'export', id], ...formats.flatMap((format) => [['--site', 'shop'], ['--session', id]].map((source) => ['export', '--format', format, ...source]))];
  for (const args of exports) {
    const { stdout: piped } = await fleetprof(...args);
    assert.ok(piped.includes('\u202e'), args.join(' '));
    const line = `${[program, ...args].map((word) => `'${word}'`).join(' ')} 2> /dev/null`;
    const onTerminal = await run(['script', '-qec', line, '/dev/null'], { env: { ...process.env, ...env } });
    const shown = onTerminal.stdout.replaceAll('\r\n', '\n');
    // eslint-disable-next-line no-control-regex
    assert.doesNotMatch(shown, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/, args.join(' '));
    if (args.includes('folded')) assert.equal(shown, piped.replaceAll('\u202e', '?'));
    else assert.deepEqual(JSON.parse(shown), JSON.parse(piped), 'an escape means the same character');
  }
});

test('what cannot be exported is refused before the database is asked', async () => {
  const no = { FLEETPROF_DATABASE: 'host=/nonexistent' };
  for (const [args, message] of /** @type {[string[], RegExp][]} */ ([
    [['--compare', 'r1', 'r2', '--format', 'gecko'], /gecko is not for a comparison: .*no second side/],
    [['--compare', 'r1', 'r2', '--format', 'chrome'], /chrome is not for a comparison: /],
    [['--compare', 'r1', '--format', 'pprof'], /AFTER is missing/],
    [['--compare', '--format', 'pprof'], /name two releases, or two periods/],
    [['r1', 'r2', '--format', 'pprof'], /a comparison is --compare BEFORE AFTER/],
    [['--compare', 'r1', 'r2', '--release', 'r3', '--format', 'pprof'], /a comparison has no filter release/],
    [['--compare', 'r1', 'r2', '--exclude', 'marker=gc', '--format', 'pprof'], /a comparison has no filter marker/],
    [['--session', '1', '--compare', 'r1', 'r2', '--format', 'pprof'], /--session and --compare exclude each other/],
    [['--js-profile', '--format', 'pprof'], /--js-profile is of a --session/],
    [['--session', '1', '--site', 'shop', '--format', 'pprof'], /it takes neither filters nor --fold/],
    [['--session', 'x', '--format', 'pprof'], /a session's id is a number, not "x"/],
    [['--session', '9999999999999999999', '--format', 'pprof'], /no session has the id "9999999999999999999"/],
  ])) {
    const { code, stdout, stderr } = await run([program, 'export', ...args], { env: no });
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, message);
  }
  const onTerminal = await run(['script', '-qec', `'${program}' export --format pprof`, '/dev/null'], { env: no });
  assert.match(onTerminal.stdout, /pprof is not for a terminal: name a file with -o/);
  const unknown = await fleetprof('export', '--format', 'pprof', '--session', '1', '-o', path.join(dir, 'unknown'));
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /session 1 is not kept\n.*hint: The view fleetprof\.sessions/);
  const nowhere = await fleetprof('export', '--format', 'speedscope', '--site', 'shop', '-o', path.join(dir, 'no/such/dir'));
  assert.equal(nowhere.code, 2);
  assert.match(nowhere.stderr, /could not write .*no\/such\/dir: No such file or directory/);
});
