// SPDX-License-Identifier: Apache-2.0
/**
 * User Timing over HTTP: what is refused, at which place, with nothing stored; measures that name their marks; what
 * is reported; which members of `detail` are kept.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { seededRandom } from '../chaos/random.mjs';
import { send } from './collector_client.mjs';
import { binDir, run, startStack, temporaryDir, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {string} */
let url;
before(async () => {
  stack = await startStack({ config: {
    sites: [{ name: 'demo', key: 'pk_demo', sample_keep: '100%' }], privacy: { detail_keys: ['status'] } } });
  url = `${stack.collector.url}/v1/ingest/pk_demo`;
});
after(() => stack?.stop());

const attributes = ['navigationStart', 'unloadEventStart', 'unloadEventEnd', 'redirectStart', 'redirectEnd', 'fetchStart',
  'domainLookupStart', 'domainLookupEnd', 'connectStart', 'connectEnd', 'secureConnectionStart', 'requestStart', 'responseStart',
  'responseEnd', 'domLoading', 'domInteractive', 'domContentLoadedEventStart', 'domContentLoadedEventEnd', 'domComplete',
  'loadEventStart', 'loadEventEnd'];

const trace = { resources: [], frames: [{ name: 'secretive' }], stacks: [{ frameId: 0 }], samples: [{ timestamp: 1, stackId: 0 }] };
const timing = { navigationStart: 1_700_000_000_000, fetchStart: 1_700_000_000_004, redirectStart: 0 };
const mark = (/** @type {object} */ members) => ({ name: 'refused', entryType: 'mark', startTime: 1, ...members });
const measure = (/** @type {object} */ members) => ({ name: 'refused', entryType: 'measure', startTime: 1, duration: 1, ...members });
const call = (/** @type {object} */ members) => ({ name: 'refused', ...members });

/** Each of them also has a good entry, which must not be stored either. @type {[pointer: string, detail: RegExp, body:
 * unknown][]} */
const refused = [
  // Types.
  ['/marks', /array of performance entries, or a map/, { trace, marks: 'x' }],
  ['/marks', /array of performance entries, or a map/, { measures: { refused: [1] }, marks: true }],
  ['/measures', /array of performance entries, or a map/, { trace, measures: 7 }],
  ['/entries', /array of performance entries$/, { trace, entries: { refused: [1] } }],
  ['/marks/1', /is an array; it must be an object/, { marks: [mark({}), []] }],
  ['/marks/1', /is null/, { marks: [mark({}), null] }],
  ['/measures/1', /is a number/, { measures: [measure({}), 3] }],
  ['/entries/2', /is a boolean/, { entries: [mark({}), measure({}), false] }],
  ['/1', /is a string/, [mark({}), 'x']],
  ['/marks/0', /name is missing/, { trace, marks: [mark({ name: undefined })] }],
  ['/marks/0/name', /name is an object/, { trace, marks: [mark({ name: {} })] }],
  ['/measures/0/name', /name is a number/, { trace, measures: [measure({ name: 1 })] }],
  ['/entries/1', /entryType is missing/, { entries: [mark({}), mark({ entryType: null })] }],
  ['/entries/1/entryType', /must be a string/, { entries: [mark({}), mark({ entryType: 2.5 })] }],
  ['/marks/1/entryType', /"mark" in marks/, { marks: [mark({}), measure({})] }],
  ['/measures/1/entryType', /"measure" in measures/, { measures: [measure({}), mark({})] }],
  ['/marks/b', /array of times/, { marks: { refused: [1], b: 1 } }],
  ['/marks/b/1', /is a string/, { marks: { refused: [1], b: [1, '2'] } }],
  ['/measures/b/0', /is an object/, { measures: { refused: [1], b: [{}] } }],
  ['/b/1', /is null/, { refused: [1], b: [1, null] }],
  ['/thread', /"window" or "worker"/, { thread: 'service', marks: { refused: [1] } }],
  ['/timing', /must be an object/, { timing: [], marks: { refused: [1] } }],
  // Times.
  ['/marks/0', /startTime is missing/, { trace, marks: [mark({ startTime: undefined })] }],
  ['/marks/0/startTime', /is a string/, { trace, marks: [mark({ startTime: '1' })] }],
  ['/marks/0/startTime', /1e\+300 ms is out of range/, { trace, marks: [mark({ startTime: 1e300 })] }],
  ['/marks/0/startTime', /-9007199254741 ms is out of range/, { trace, marks: [mark({ startTime: -9007199254741 })] }],
  ['/marks/0/duration', /of a mark must be 0/, { trace, marks: [mark({ duration: 1e-9 })] }],
  ['/marks/0/duration', /of a mark must be 0/, { trace, marks: [mark({ duration: -1 })] }],
  ['/measures/0', /duration is missing/, { trace, measures: [measure({ duration: undefined })] }],
  ['/measures/0', /startTime is missing/, { trace, measures: [measure({ startTime: undefined })] }],
  ['/measures/0/duration', /out of range/, { trace, measures: [measure({ duration: -1e14 })] }],
  ['/marks/b/2', /out of range/, { marks: { refused: [1], b: [1, -5, 1e13] } }],
  // References.
  ['/measures/0/startMark', /does not name a mark .* a SyntaxError/, { trace, measures: [call({ startMark: 'nowhere' })] }],
  ['/measures/1/endMark', /does not name a mark/, { marks: { refused: [1] }, measures: [call({ endMark: 'refused' }), call({ endMark: 'Refused' })] }],
  ['/measures/0/startMark', /is an array; it must be a string/, { marks: { refused: [1] }, measures: [call({ startMark: ['refused'] })] }],
  ['/entries/0/endMark', /does not name a mark before it/, { entries: [{ ...call({ endMark: 'refused' }), entryType: 'measure' }, mark({})] }],
  ['/measures/0', /ends before it starts, a SyntaxError/, { marks: { refused: [2], b: [1] }, measures: [call({ startMark: 'refused', endMark: 'b' })] }],
  ['/measures/0/endMark', /value is 0: an InvalidAccessError/, { trace, timing, measures: [call({ endMark: 'redirectStart' })] }],
  ['/measures/0/startMark', /neither timing nor a navigation entry/, { trace, timing, measures: [call({ startMark: 'domComplete' })] }],
  ['/measures/0/endMark', /neither timing nor a navigation entry/, { trace, measures: [call({ endMark: 'fetchStart' })] }],
  ['/timing/fetchStart', /is a string/, { trace, timing: { ...timing, fetchStart: 'x' }, measures: [call({ endMark: 'fetchStart' })] }],
  ['/measures/0/endMark', /navigationStart/, { trace, timing: { fetchStart: 5 }, measures: [call({ endMark: 'fetchStart' })] }],
  ['/entries/0/fetchStart', /is an object/, { trace, entries: [{ entryType: 'navigation', fetchStart: {} }], measures: [call({ endMark: 'fetchStart' })] }],
  ['/measures/0', /nothing in the upload tells the time/, { coverage: 'quota', measures: [call({})] }],
  // Nothing left, and names.
  ['', /nothing is left/, [{ name: 'refused', entryType: 'resource' }]],
  ['', /no trace, mark, measure, vital/, { marks: {}, measures: [] }],
  ['', /not an upload/, { refused: [1], b: 2 }],
  ...attributes.map((name) => /** @type {[string, RegExp, unknown]} */ (
    [`/marks/${name}`, /a window's mark cannot be named/, { marks: { refused: [1], [name]: [1] } }])),
];

/** Not JSON: at which byte. @type {[offset: number, body: string | Buffer][]} */
const broken = [
  [27, '{"marks":{"refused":[1],"b":NaN}}'], [28, '{"marks":{"refused":[1],"b":[1e400]}}'], [28, '{"marks":{"refused":[1],"b":[01]}}'],
  [23, '{"marks":{"refused":[1]'], [0, ''], [25, '{"marks":{"refused":[1]}}}'],
  [24, Buffer.concat([Buffer.from('{"marks":{"refused":[1],"'), Buffer.from([0xc3, 0x28]), Buffer.from('":[1]}}')])],
];

test('an error has its place, and nothing of the upload is stored', async () => {
  assert.ok(refused.length >= 60);
  for (const [pointer, detail, body] of refused) {
    const { status, problem } = await send(url, { body: JSON.stringify(body) });
    const what = JSON.stringify(body).slice(0, 200);
    assert.equal(status, 422, what);
    assert.equal(problem.pointer, pointer, what);
    assert.match(problem.detail, detail, what);
  }
  for (const [offset, body] of broken) {
    const { status, problem } = await send(url, { body });
    assert.equal(status, 400, String(body));
    assert.ok(Math.abs(problem.offset - offset) <= 1, `${body}: ${problem.offset}`);
  }
  const whole = JSON.stringify({ marks: { refused: [1, 2.5] }, measures: [call({ startMark: 'refused' })] });
  for (let length = 0; length < whole.length; length++) {
    assert.equal((await send(url, { body: whole.slice(0, length) })).status, 400, whole.slice(0, length));
  }
  for (const nest of [(/** @type {string} */ inner) => `{"marks":{"refused":[1],"b":${inner}}}`, (/** @type {string} */ inner) =>
    `[{"name":"refused","entryType":"mark","startTime":1,"detail":${inner}}]`]) {
    for (const [open, close] of ['[]', ['{"x":', '}']]) {
      assert.equal((await send(url, { body: nest(open.repeat(10_000) + 1 + close.repeat(10_000)) })).status, 413);
    }
  }
  // A good upload sent after all of them is in SQL; the bad ones before it are not.
  assert.equal((await send(url, { body: '{"marks":{"good":[1]}}' })).status, 204);
  await waitFor(async () => (await stack.sql('select 1 from fleetprof.upload_log')).length > 0, { what: 'the good upload in SQL' });
  assert.equal((await stack.sql('select 1 from fleetprof.upload_log')).length, 1);
  assert.deepEqual((await stack.sql('select name from fleetprof_data.timing')).map(({ name }) => name), ['good']);
  for (const table of ['frame', 'stack', 'session', 'measure_fact']) {
    assert.deepEqual(await stack.sql(`select * from fleetprof_data.${table}`), [], table);
  }
});

/** @param {string} release @param {unknown} envelope @param {string} [query] */
async function upload(release, envelope, query = '') {
  const reply = await send(url + query, { body: JSON.stringify({ release, .../** @type {object} */ (envelope) }) });
  assert.equal(reply.status, 204, reply.body);
  await waitFor(async () => (await stack.sql(
    `select 1 from fleetprof.upload_log where release = '${release}'`)).length > 0, { what: `${release} in SQL` });
}

const durations = async (/** @type {string} */ release) => Object.fromEntries((await stack.sql(
  `select name, max_ms from fleetprof.timings('demo', release => '${release}') where kind = 'measure'`)).map(({ name, max_ms }) => [name, max_ms]));

test('measures that name their marks have the times of the drafts', async () => {
  await upload('resolved', {
    timing,
    marks: { a: [5, 10], b: [20.5] },
    entries: [{ name: 'https://shop.example/', entryType: 'navigation', domInteractive: 8.25, loadEventEnd: 30, redirectEnd: 0 }],
    measures: [
      { name: 'marks', startMark: 'a', endMark: 'b' }, { name: 'from the start', endMark: 'b' }, { name: 'to the end', startMark: 'a' },
      { name: 'timing', startMark: 'fetchStart', endMark: 'a' }, { name: 'navigation', startMark: 'domInteractive', endMark: 'loadEventEnd' },
      { name: 'nothing', startMark: 'b', endMark: 'b' }, { name: 'navigationStart', startMark: 'navigationStart', endMark: 'a' },
    ],
  }, '?format=user-timing');
  assert.deepEqual(await durations('resolved'), { marks: 10.5, 'from the start': 20.5, 'to the end': 20, timing: 6, navigation: 21.75,
    nothing: 0, navigationStart: 10 });
});

test('marks alone, measures alone, entries and maps are uploads of their own', async () => {
  await upload('marks', { marks: [mark({ name: 'm' })] });
  await upload('measures', { measures: { m: [1, 5] } });
  await upload('entries', { entries: [mark({ name: 'm' }), measure({ name: 'n' }), { name: 'https://shop.example/', entryType: 'resource' }] });
  const logged = await stack.sql(`select release, format, timings, skipped_entries from fleetprof.upload_log
    where release in ('marks', 'measures', 'entries') order by release`);
  assert.deepEqual(logged, [
    { release: 'entries', format: 'user-timing', timings: 2, skipped_entries: 1 },
    { release: 'marks', format: 'user-timing', timings: 1, skipped_entries: 0 },
    { release: 'measures', format: 'user-timing', timings: 2, skipped_entries: 0 },
  ]);
  for (const body of ['{"bare map":[1,2]}', '[{"name":"bare array","entryType":"mark","startTime":3}]']) {
    assert.equal((await send(url, { body })).status, 204);
  }
  await waitFor(async () => (await stack.sql(
    `select 1 from fleetprof.timings('demo') where name like 'bare %'`)).length === 2, { what: 'the bare ones in SQL' });
});

test('a clock that goes back is reported, and its marks are taken', async () => {
  const before = (await stack.collector.metrics()).fleetprof_entries_unordered_total;
  const envelope = { marks: [mark({ name: 'a', startTime: 5 }), mark({ name: 'b', startTime: 4 })], measures: { m: [3, 2, 1] } };
  await upload('back', envelope);
  assert.equal((await stack.collector.metrics()).fleetprof_entries_unordered_total - before, 1);
  const file = path.join(temporaryDir('back'), 'back.json');
  fs.writeFileSync(file, JSON.stringify(envelope));
  assert.match((await run([path.join(binDir, 'fleetprof'), 'validate', file])).stdout, /noted: a mark that is earlier than the one before it \(1, the first at element 1\)/);
  const rows = await stack.sql(`select name, max_ms from fleetprof.timings('demo', release => 'back') where kind = 'mark'`);
  assert.deepEqual(rows, [{ name: 'a', max_ms: 5 }, { name: 'b', max_ms: 4 }]);
});

test('of a detail nothing is kept but what may be, not in a kept trace either', async () => {
  const detail = { status: 404, user: 'zzsecret', deep: { status: 'zzsecret' } };
  await upload('detail', { trace, timing: { ...timing, note: 'zzsecret' }, page: { url: 'https://shop.example/', title: 'zzsecret' },
    marks: [mark({ name: 'm', detail, note: 'zzsecret' })], entries: [measure({ name: 'n', detail }), { entryType: 'paint', name: 'zzsecret' }] });
  const rows = await stack.sql(`select name from fleetprof.timings('demo', release => 'detail')`);
  assert.deepEqual(rows.map(({ name }) => name), ['m{status=404}', 'n{status=404}']);
  const [{ id }] = await waitFor(async () => {
    const sessions = await stack.sql(`select session_id::text as id from fleetprof.sessions where release = 'detail'`);
    return sessions.length > 0 && sessions;
  }, { what: 'the kept trace' });
  const { stdout, code } = await run([path.join(binDir, 'fleetprof'), 'session', 'export', id],
    { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') } });
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /zzsecret/);
  assert.deepEqual(JSON.parse(stdout).marks, [{ name: 'm', entryType: 'mark', startTime: 1, detail: { status: 404 } }]);
  assert.deepEqual(JSON.parse(stdout).trace, trace);
});

/** As far out as it may be, and a little farther. @param {import('../chaos/random.mjs').Random} random */
function extremeUpload(random) {
  const time = () => random.pick([0, -0, 1e-9, 0.0005, 0.063, 1, 5, 1e6, -3, 9e12, -9e12, 9007199254740.992, -9007199254740.992, 9007199254741, 1e300]);
  const name = () => random.pick(['a', 'a', 'b', 'b', '', ' ', '\0', '\ud800', '\u{1f600}', "o'x\\", '(overflow)', 'x'.repeat(5000), 'ü'.repeat(1024), '{', 'fetchStart']);
  const point = () => random.pick([undefined, 'a', 'b', 'fetchStart', 'navigationStart', name()]);
  const list = (/** @type {() => unknown} */ one) => Array.from({ length: random.below(5) }, one);
  const detail = () => random.pick([undefined, null, { status: random.pick([time(), true, '\0', 'x'.repeat(300), '\udfff', []]) }]);
  const entry = () => random.pick([
    () => mark({ name: name(), startTime: time(), detail: detail() }),
    () => measure({ name: name(), startTime: time(), duration: time(), detail: detail() }),
    () => ({ name: name(), entryType: 'measure', startMark: point(), endMark: point(), detail: detail() }),
    () => ({ entryType: 'navigation', fetchStart: time() }),
  ])();
  return {
    ...random.chance(0.5) && { timing: { navigationStart: time(), fetchStart: time() } },
    ...random.chance(0.3) && { trace: { ...trace, samples: list(() => ({ timestamp: random.below(1000), stackId: 0 })) } },
    marks: random.chance(0.5) ? { a: list(time), b: list(time) } : [mark({ name: 'a', startTime: time() }), mark({ name: 'b', startTime: time() })],
    measures: random.chance(0.5) ? { [name()]: list(time) } : list(() => ({ name: name(), startMark: point(), endMark: point() })),
    entries: list(entry),
  };
}

test('whatever is acknowledged is counted, however extreme', async () => {
  const random = seededRandom(12);
  const replies = { 204: 0, 422: 0 };
  for (let i = 0; i < 600; i++) {
    const { status, body } = await send(url, { body: JSON.stringify({ release: 'extreme', ...extremeUpload(random) }) });
    assert.ok(status === 204 || status === 422, body);
    replies[status]++;
  }
  assert.ok(replies[204] > 60 && replies[422] > 60, JSON.stringify(replies));
  await waitFor(async () => {
    const { fleetprof_uploads_quarantined_total: set_aside } = await stack.collector.metrics();
    assert.equal(set_aside, 0);
    return (await stack.sql(`select 1 from fleetprof.upload_log where release = 'extreme'`)).length === replies[204];
  }, { what: `all ${replies[204]} in SQL` });
});

test('characters without width at the ends of a name are dropped; scripts whose names were read as Latin-1 are repaired', async () => {
  const latin1 = (/** @type {string} */ text) => Buffer.from(text).toString('latin1');
  const shaped = { frames: [{ column: 1, line: 1, name: '\u200bWide\ufeff', resourceId: 0 }],
    resources: [latin1('webpack-internal:///./src/日本.js')], samples: [{ stackId: 0, timestamp: 1 }], stacks: [{ frameId: 0 }] };
  const general = { ...shaped, resources: ['https://shop.example/größe.js', latin1('webpack-internal:///./src/größe.js')],
    frames: [{ name: 'Wide', resourceId: 1, column: 2, line: 2 }] };
  const measures = ['\u200bRow', 'Row\u2060', 'Row', '\u200b', 'a\u200bb'].map((name) => measure({ name }));
  const from = (await stack.sql('select 1 from fleetprof.upload_log')).length;
  for (const body of [{ trace: shaped, measures }, { trace: general, measures }])
    assert.equal((await send(url, { body: JSON.stringify(body) })).status, 204);
  await waitFor(async () => (await stack.sql('select 1 from fleetprof.upload_log')).length === from + 2, { what: 'both in SQL' });
  assert.deepEqual(await stack.sql("select name, count::int from fleetprof.timings('demo') where name ~ '^(\u200b*Row\u2060*|a.b|\u200b)$' order by name collate \"C\""),
    [{ name: 'Row', count: 6 }, { name: 'a\u200bb', count: 2 }, { name: '\u200b', count: 2 }]);
  assert.deepEqual((await stack.sql("select resource from fleetprof.hotspots('demo') where function = 'Wide' order by resource")).map(({ resource }) => resource),
    ['webpack-internal:///./src/größe.js', 'webpack-internal:///./src/日本.js']);
});
