// SPDX-License-Identifier: Apache-2.0
/**
 * How long the agent keeps the main thread at a time: each time the browser runs its code, from a trace, in
 * processor time of that thread. A virtual machine also counts time that its host took away: so the longest
 * step of a kind is that of the visit in which it was shortest.
 *
 *   node steps.mjs [VISITS]
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { launchChromium } from '../../browser/chromium.mjs';
import { startSite } from './site.mjs';

/** @typedef {{ name: string, ph: string, pid: number, tid: number, ts: number, dur: number, tdur: number, args: any }} TraceEvent */

const dist = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../agent/dist');
const visits = Number(process.argv[2] ?? 8);
const partLength = 4000;
const stayMs = 4500; // a part is sent meanwhile, and the rest at the end
const limitMs = 5;
/** A look whether there are microtasks takes less. */
const leastMicrotasksUs = 20;

let agent = '';
const site = await startSite({ agent: () => agent, isSampled: () => true, attributes: `data-part-length="${partLength}"` });
const browser = await launchChromium();

/** Visits the page once. @returns {Promise<TraceEvent[]>} */
async function trace() {
  const session = await browser.newBrowserCDPSession();
  /** @type {TraceEvent[]} */
  const events = [];
  session.on('Tracing.dataCollected', ({ value }) => { events.push(.../** @type {any[]} */ (value)); });
  const context = await browser.newContext();
  const page = await context.newPage();
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: {
    includedCategories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel'], excludedCategories: ['*'],
  } });
  await page.goto(site.url);
  await page.evaluate((ms) => new Promise((resolve) => { setTimeout(resolve, ms); }), stayMs);
  await page.goto(`${site.url}next`);
  const complete = new Promise((resolve) => { session.once('Tracing.tracingComplete', resolve); });
  await session.send('Tracing.end');
  await complete;
  await context.close();
  await session.detach();
  return events.filter(({ ph, tdur }) => ph === 'X' && tdur !== undefined).sort((a, b) => a.ts - b.ts || b.dur - a.dur);
}

/** @param {TraceEvent} event @returns {string} the script it runs, if it runs one */
const scriptOf = ({ name, args }) => (['FunctionCall', 'EvaluateScript'].includes(name) ? args.data?.url ?? '' : '');

/** The kinds of task in which the browser runs scripts, and the agent's work there. @type {Record<string, string>} */
const kinds = {
  EvaluateScript: 'starts',
  TimerFire: 'ends a slice',
  FunctionCall: 'copies marks and measures',
  BlinkScheduler_PerformMicrotaskCheckpoint: 'compresses and sends a part',
  EventDispatch: 'sends what is left of a hidden page',
};

/**
 * Returns the steps of a visit: how long the agent's functions and promises ran at a time. The page itself makes no
 * promises.
 * @param {TraceEvent[]} events
 * @returns {Record<string, number[]>} ms, by kind
 */
function stepsOf(events) {
  const isAgent = (/** @type {TraceEvent} */ event) => scriptOf(event).endsWith('/agent.js');
  const isPage = (/** @type {TraceEvent} */ event) => scriptOf(event) === site.url;
  const first = events.find(isAgent);
  if (!first) throw new Error('the trace has nothing of the agent');
  const calls = events.filter(({ pid, tid, name }) => pid === first.pid && tid === first.tid && name in kinds);
  /** @type {Record<string, number[]>} */
  const steps = Object.fromEntries(Object.values(kinds).map((kind) => [kind, []]));
  for (let i = 0; i < calls.length;) {
    const outer = calls[i];
    const inside = [];
    for (; i < calls.length && calls[i].ts < outer.ts + Math.max(outer.dur, 1); i++) inside.push(calls[i]);
    const pageUs = inside.filter(isPage).reduce((sum, { tdur }) => sum + tdur, 0);
    const isPromise = outer.name.includes('Microtask') && outer.tdur > leastMicrotasksUs;
    if (isPromise || inside.some(isAgent)) steps[kinds[outer.name]].push((outer.tdur - pageUs) / 1000);
  }
  return steps;
}

/** @param {number[]} values */
const median = (values) => values.sort((a, b) => a - b)[Math.floor(values.length / 2)];

let isOver = false;
console.log('| build | step | per visit | median ms | longest ms |\n|---|---|---|---|---|');
for (const name of ['fleetprof.js', 'fleetprof.vitals.js']) {
  agent = fs.readFileSync(path.join(dist, name), 'utf8');
  const all = [];
  for (let i = 0; i < visits; i++) all.push(stepsOf(await trace()));
  for (const kind of Object.values(kinds)) {
    const each = all.map((steps) => steps[kind]).filter(({ length }) => length > 0);
    if (each.length === 0) continue;
    const longest = Math.min(...each.map((steps) => Math.max(...steps)));
    console.log(`| ${[name, kind, (each.flat().length / visits).toFixed(0), median(each.flat()).toFixed(2), longest.toFixed(2)].join(' | ')} |`);
    isOver ||= longest > limitMs;
  }
}
await browser.close();
site.close();
if (isOver) console.log(`a step took more than ${limitMs} ms`);
process.exitCode = isOver ? 1 : 0;
