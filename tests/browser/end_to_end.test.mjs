// SPDX-License-Identifier: Apache-2.0
/**
 * The whole road: Chromium loads the demo from nginx with our module, the agent uploads through nginx to
 * fleetprofd, and SQL must say what the page measured with its own clock.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { repository, startStack, waitFor } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/**
 * A page's own numbers, and the samples in the parts that it sent.
 * @typedef {{ measured: Record<string, number>, measures: Record<string, number[]>, steps: Step[],
 *   traces: Trace[], samples: Sample[], parts: number, watchedMs: number }} Demo
 * @typedef {{ timestamp: number, stackId?: number }} Sample
 * @typedef {{ samples: Sample[], stacks: { frameId: number, parentId?: number }[], frames: { name: string }[] }} Trace
 * @typedef {{ shown: string, startTime: number, duration: number }} Step
 */

const intervalMs = 10;
/** The longest gap between two samples that belongs to them. */
const maxGapMs = 250;

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {string} */
let site;
/** @type {Demo} */
let demo;
/** @type {string} */
let release;

/** @param {{ port: number, ingest: string }} given */
const nginxConf = ({ port, ingest }) => `
  server {
    listen 127.0.0.1:${port};
    root ${repository}/demo;

    location / {
      fleetprof on;
      fleetprof_sample 100%;
      # The test tells its page loads apart by their release.
      sub_filter demo-1 $arg_release;
    }
    location /unsampled/ {
      alias ${repository}/demo/;
      fleetprof on;
      fleetprof_sample 0%;
    }
    location /agent/ {
      alias ${repository}/agent/dist/;
    }
    location /v1/ {
      proxy_pass ${ingest};
      client_max_body_size 8m;
    }
  }`;

before(async () => {
  stack = await startStack({ nginx: nginxConf });
  browser = await launchChromium();
  site = /** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx).url;
  ({ demo, release } = await leastDisturbedDemo());
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Keeps what the agent is about to compress. */
const keepParts = `
  globalThis.parts = [];
  globalThis.Response = class extends Response {
    constructor(body, options) {
      super(body, options);
      if (body?.startsWith?.('{"version":1')) parts.push(JSON.parse(body));
    }
  };`;

/**
 * Loads the demo and waits until its upload has been accepted.
 * @param {string} name the release
 * @returns {Promise<Demo>}
 */
async function loadDemo(name) {
  const { page, complaints } = await openTab(browser);
  await page.addInitScript(keepParts);
  const document = await page.goto(`${site}/?release=${name}`);
  assert.equal(document?.headers()['document-policy'], 'js-profiling, js-profiling-mode=lazy');
  await page.waitForFunction(() => /** @type {any} */ (globalThis).fleetprof.start().status === 'sent', null, { timeout: 60_000 });
  assert.deepEqual(complaints, []);
  const result = await page.evaluate(() => {
    const { demo: { done, measured, measures }, parts } = /** @type {any} */ (globalThis);
    const entries = /** @type {PerformanceMeasure[]} */ (performance.getEntriesByName('step'));
    const steps = entries.map(({ detail, startTime, duration }) => ({ shown: detail.shown, startTime, duration }));
    return { done, measured, measures, steps, parts };
  });
  assert.ok(result.done, 'the demo ends before the profile');
  await page.context().close();
  /** @type {Trace[]} */
  const traces = result.parts.flatMap((/** @type {any} */ { trace }) => trace ?? []);
  const watchedMs = result.parts.reduce((/** @type {number} */ sum, /** @type {any} */ { trace, duration }) => sum + (trace ? duration : 0), 0);
  return { ...result, traces, watchedMs, samples: traces.flatMap(({ samples }) => samples), parts: result.parts.length };
}

/**
 * Loads the demo until the browser misses few samples, or takes the load in which it missed the fewest: on a busy machine
 * it misses many, and the demo is loaded more often. A gap counts for at most 250 ms, so what is beyond is taken off the
 * page's own numbers.
 */
async function leastDisturbedDemo() {
  /** @type {{ demo: Demo, release: string, lost: number } | undefined} */
  let least;
  const isGood = (/** @type {number} */ attempt) => least !== undefined && least.lost < (attempt <= 10 ? 0.05 : 0.15);
  for (let attempt = 1; attempt <= 30 && !isGood(attempt); attempt++) {
    const name = `attempt-${attempt}`;
    const result = await loadDemo(name);
    const lost = Math.max(...result.steps.map((step) => lostMs(step, result.samples) / step.duration));
    if (!least || lost < least.lost) least = { demo: result, release: name, lost };
  }
  assert.ok(least && least.lost < 0.4, `too busy for a profiler: ${least?.lost} of a step lies in gaps`);
  for (const step of least.demo.steps) least.demo.measured[step.shown] -= lostMs(step, least.demo.samples);
  return least;
}

/**
 * The time of a step for which no sample counts.
 * @param {Step} step
 * @param {Demo['samples']} samples
 * @returns {number}
 */
function lostMs({ startTime, duration }, samples) {
  const times = samples.map(({ timestamp }) => timestamp).sort((a, b) => a - b);
  const lost = times.slice(1).map((time, i) => (
    Math.min(time - maxGapMs / 2, startTime + duration) - Math.max(times[i] + maxGapMs / 2, startTime)));
  return lost.reduce((sum, ms) => sum + Math.max(0, ms), 0);
}

/**
 * The most by which the samples of a step may differ from its duration: both its ends lie in gaps, and half of each gap
 * is that of the sample beyond.
 * @param {string} shown
 */
function edgesMs(shown) {
  const times = demo.samples.map(({ timestamp }) => timestamp).sort((a, b) => a - b);
  return demo.steps.filter((step) => step.shown === shown).flatMap(({ startTime, duration }) => [startTime, startTime + duration]).reduce((ms, end) => {
    const next = times.findIndex((time) => time > end);
    return ms + (next > 0 ? Math.min(maxGapMs, times[next] - times[next - 1]) / 2 : intervalMs);
  }, 0);
}

/**
 * Sums the samples for which the browser gave only the function `leaf`, or no function.
 * @param {string} [leaf] @param {string} [step] only samples in these steps
 */
function withoutCallersMs(leaf, step) {
  const steps = demo.steps.filter(({ shown }) => shown === step);
  const isInStep = (/** @type {number} */ time) => !step || steps.some(({ startTime, duration }) => time >= startTime && time <= startTime + duration);
  return demo.traces.map(({ samples, stacks, frames }) => samples.reduce((ms, { timestamp, stackId }, i) => {
    const stack = stackId === undefined ? undefined : stacks[stackId];
    const isAlone = frames[stack?.frameId ?? -1]?.name === leaf && stack?.parentId === undefined;
    const half = (/** @type {number} */ k) => (samples[k] && samples[k + 1]
      ? Math.min(maxGapMs, samples[k + 1].timestamp - samples[k].timestamp) : intervalMs) / 2;
    return ms + (isAlone && isInStep(timestamp) ? half(i - 1) + half(i) : 0);
  }, 0)).reduce((sum, ms) => sum + ms, 0);
}

/** @param {string} name the release @returns {Promise<any[]>} all parts */
const counted = (name) => waitFor(async () => {
  const rows = await stack.sql(`select * from fleetprof.upload_log where release = '${name}'`, 'fleetprof_reader');
  return rows.length >= demo.parts && rows;
}, { what: `uploads of ${name} in SQL` });

/** @param {any[]} rows @param {string} column */
const sumOf = (rows, column) => rows.reduce((sum, row) => sum + row[column], 0);

/** @returns {Promise<any[]>} */
async function hotspots() {
  await counted(release);
  return stack.sql(`select * from fleetprof.hotspots('demo', release => '${release}', top => 1000)`, 'fleetprof_reader');
}

/**
 * @param {number} actual
 * @param {number} expected
 * @param {string} what
 * @param {number} [edges] what may be missing, or too much, of few samples
 */
function assertWithin15Percent(actual, expected, what, edges = 0) {
  assert.ok(Math.abs(actual - expected) <= Math.max(0.15 * expected, edges), `${what}: ${actual} ms in SQL, ${expected} ms by the page's clock`);
}

/** The measures that the agent sends: the first 200 of a name. On a slow machine the demo makes more. */
const sentMeasures = () => Object.entries(demo.measures).map(([name, durations]) => ({ name, durations: durations.slice(0, 200), left: Math.max(0, durations.length - 200) }));

test('the upload is logged with what the agent said of itself', async () => {
  const uploads = await counted(release);
  const { site: name, route, environment, browser: family, thread } = uploads[0];
  assert.deepEqual({ name, route, environment, family, thread }, {
    name: 'demo', route: '/', environment: 'demo', family: 'Chrome', thread: 'window',
  });
  assert.equal(uploads.some(({ truncated }) => truncated), sentMeasures().some(({ left }) => left > 0));
  // Samples of bursts do not count; all time is there.
  const samples = sumOf(uploads, 'samples');
  assert.ok(samples > demo.samples.length / 2 && samples <= demo.samples.length, `${samples} of ${demo.samples.length}`);
  const watchedMs = sumOf(uploads, 'profiled_ms') + sumOf(uploads, 'unseen_ms');
  assert.ok(Math.abs(watchedMs - demo.watchedMs) < 0.01 * demo.parts, `${watchedMs} of ${demo.watchedMs} ms`);
  assert.equal(sumOf(uploads, 'timings'), sentMeasures().flatMap(({ durations }) => durations).length + 2);
});

test('the busiest functions come in the right order, with the time the page measured', async () => {
  const rows = await hotspots();
  const busiest = ['countPrimes', 'fibonacci', '(anonymous)'];
  assert.deepEqual(rows.slice(0, 3).map((row) => row.function), busiest);
  for (const row of rows.slice(0, 3)) {
    assertWithin15Percent(row.self_ms, demo.measured[row.function], row.function);
    assert.equal(row.resource, `${site}/work.js`);
    assert.equal(row.kind, 'function');
    assert.ok(row.uploads >= 1 && row.uploads <= demo.parts);
  }
  const layout = rows.find((row) => row.function === 'thrashLayout');
  assertWithin15Percent(layout.total_ms, demo.measured.thrashLayout, 'thrashLayout', edgesMs('thrashLayout'));
});

test("a library's time is in its caller's total, spread over its functions", async () => {
  const rows = await hotspots();
  const caller = rows.find((row) => row.function === 'renderTables');
  // Not all of it: the browser gives no stack for some of the time in String.prototype.replace.
  const expected = demo.measured.renderTables - withoutCallersMs(undefined, 'renderTables');
  assertWithin15Percent(caller.total_ms, expected, 'renderTables');
  assert.ok(caller.self_ms < caller.total_ms / 3);
  const library = rows.filter((row) => row.resource === `${site}/vendor/mustache.js`);
  assert.ok(library.length >= 3, `${library.length} functions of Mustache`);
});

test('a recursive function counts once, however deep', async () => {
  const rows = await hotspots();
  const { self_ms: self, total_ms: total } = rows.find((row) => row.function === 'fibonacci');
  assert.ok(Math.abs(total - self) <= 20, `self ${self} ms, total ${total} ms`);
  const caller = rows.find((row) => row.function === 'countRabbits');
  // Chromium leaves out the callers in a sample now and then.
  const lines = await stack.sql(`select line from fleetprof.folded('demo', release => '${release}') as line`, 'fleetprof_reader');
  const alone = lines.map(({ line }) => Number(/^fibonacci (\d+)$/.exec(line)?.[1] ?? 0) / 1000).reduce((sum, ms) => sum + ms, 0);
  assert.ok(Math.abs(alone - withoutCallersMs('fibonacci')) <= 2 * intervalMs, `${alone} of ${total} ms without a caller`);
  assert.ok(caller.total_ms + alone > total - 0.5, `${caller.total_ms} ms in the caller, ${alone} without, of ${total} ms`);
  assertWithin15Percent(caller.total_ms + alone, demo.measured.fibonacci, 'countRabbits');
});

test('an anonymous function keeps its place in the source', async () => {
  const source = fs.readFileSync(path.join(repository, 'demo/work.js'), 'utf8').split('\n');
  const line = source.findIndex((text) => text.includes('.map((share) =>'));
  const row = (await hotspots()).find((candidate) => candidate.function === '(anonymous)');
  assert.deepEqual([row.line, row.column_number], [line + 1, source[line].indexOf('(share)') + 1]);
});

test("the measures' percentiles are those of the durations the page saw", async () => {
  await counted(release);
  const rows = await stack.sql(`select * from fleetprof.timings('demo', release => '${release}')`, 'fleetprof_reader');
  for (const { name, durations, left } of sentMeasures()) {
    const row = rows.find((candidate) => candidate.name === name && candidate.kind === 'measure');
    const sorted = [...durations].sort((a, b) => a - b);
    assert.equal(row.count, sorted.length);
    assert.equal(row.left_out ?? 0, left);
    assertClose(row.min_ms, sorted[0]);
    assertClose(row.max_ms, sorted[sorted.length - 1]);
    assertClose(row.mean_ms, sorted.reduce((sum, ms) => sum + ms) / sorted.length);
    for (const percent of [50, 75, 95, 99]) {
      const rank = Math.ceil((percent / 100) * sorted.length) - 1;
      const actual = row[`p${percent}_ms`];
      assert.ok(Math.abs(actual / sorted[rank] - 1) <= 0.016, `${name} p${percent}: ${actual}, not ${sorted[rank]}`);
    }
  }
});

/** Equal up to the rounding to microseconds. @param {number} actual @param {number} expected */
function assertClose(actual, expected) {
  assert.ok(Math.abs(actual - expected) <= 0.001, `${actual}, not ${expected}`);
}

test('what ran inside a measure is what the page did meanwhile', async () => {
  await counted(release);
  const inside = (/** @type {string} */ name) => stack.sql(
    `select * from fleetprof.measure_hotspots('${name}', 'demo', release => '${release}', top => null)`, 'fleetprof_reader');
  const steps = await inside('step');
  for (const name of ['countPrimes', 'fibonacci']) {
    assertWithin15Percent(steps.find((row) => row.function === name).self_ms, demo.measured[name], name);
  }
  const tables = await inside('render table');
  const names = tables.map((row) => row.function);
  assert.ok(names.includes('renderTables'), names.join());
  assert.deepEqual(names.filter((name) => ['countPrimes', 'fibonacci', 'countRabbits', 'thrashLayout'].includes(name)), []);
  assert.ok(tables.some((row) => row.resource === `${site}/vendor/mustache.js`));
  const all = steps.find((row) => row.function === 'renderTables').total_ms;
  assert.ok(tables.find((row) => row.function === 'renderTables').total_ms <= all);
});

test('the marks are there, at the time the page set them', async () => {
  await counted(release);
  const rows = await stack.sql(`select name, count, p50_ms from fleetprof.timings('demo', release => '${release}')
    where kind = 'mark' order by p50_ms`, 'fleetprof_reader');
  assert.deepEqual(rows.map(({ name, count }) => [name, count]), [['demo start', 1], ['mark_fully_loaded', 1]]);
  const busy = demo.steps.reduce((sum, { duration }) => sum + duration, 0);
  assert.ok(rows[1].p50_ms - rows[0].p50_ms >= busy * 0.95);
});

test('self times and unattributed time add up to the profiled time', async () => {
  const uploads = await counted(release);
  const [profiled, unattributed] = [sumOf(uploads, 'profiled_ms'), sumOf(uploads, 'unattributed_ms')];
  const self = (await hotspots()).reduce((sum, row) => sum + row.self_ms, 0);
  assertClose(self + unattributed, profiled);
});

test('a page load that was not picked sends nothing', async () => {
  const { page } = await openTab(browser);
  const document = await page.goto(`${site}/unsampled/`);
  assert.equal(document?.headers()['document-policy'], 'js-profiling=?0');
  const accepted = await page.evaluate(() => /** @type {any} */ (globalThis).fleetprof.start().stop());
  assert.equal(accepted, false);
});
