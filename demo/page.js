// SPDX-License-Identifier: Apache-2.0
/**
 * Does one piece of work after the other, shows how long each took by the page's own clock, and keeps
 * those times in `window.demo` for whoever wants to compare a profiler's numbers with them. After the upload
 * it shows what fleetprof counted.
 */
import { latestNumbers, numbersWithLoad, recordedRun, totalMsPerLoad } from './numbers.js';
import { countPrimes, countRabbits, renderTables, shuffleInCallbacks, thrashLayout } from './work.js';

/**
 * `shown` is the name under which a profiler shows the time.
 * @type {{ shown: string, ms: number, work: (ms: number) => unknown, what: string }[]}
 */
const steps = [
  { shown: 'countPrimes', ms: 800, work: countPrimes, what: 'a plain loop in a function with a name' },
  { shown: 'fibonacci', ms: 500, work: countRabbits, what: 'a function that calls itself' },
  { shown: '(anonymous)', ms: 300, work: shuffleInCallbacks, what: 'a callback without a name' },
  { shown: 'renderTables', ms: 200, work: renderTables, what: 'a library, Mustache: the time is in its functions' },
  { shown: 'thrashLayout', ms: 150, work: thrashLayout, what: 'layout, forced by reading a height after each write' },
];

/**
 * @typedef {object} Demo
 * @property {Record<string, number>} measured ms of each step, by the name it is shown under
 * @property {Record<string, number[]>} measures ms of each measure made, by its name
 * @property {boolean} done
 */

/** @type {Demo} */
const demo = { measured: {}, measures: {}, done: false };
Object.assign(globalThis, { demo });

/** Fetched before this page load can be counted. */
const numbersBefore = latestNumbers();

const longest = Math.max(...steps.map(({ ms }) => ms));
const table = /** @type {HTMLTableSectionElement} */ (document.querySelector('#steps'));
const status = /** @type {HTMLElement} */ (document.querySelector('#status'));

/** @param {string} text */
function say(text) {
  // A screen reader reads each change aloud.
  if (status.textContent !== text) status.textContent = text;
}

/** @param {number} ms */
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** @param {typeof steps[number]} step */
function addRow({ shown, what }) {
  const row = table.insertRow();
  const name = document.createElement('code');
  name.textContent = shown;
  row.insertCell().append(name);
  row.insertCell().textContent = what;
  const bars = row.insertCell();
  const times = row.insertCell();
  times.className = 'times';
  /** @param {'own' | 'counted'} whose */
  const addBar = (whose) => {
    const bar = document.createElement('div');
    bar.className = `bar ${whose}`;
    bars.append(bar);
    const time = document.createElement('div');
    times.append(time);
    return (/** @type {number} */ ms) => {
      bar.style.width = `${Math.min(100, (100 * ms) / longest)}%`;
      time.textContent = `${ms.toFixed(0)} ms`;
    };
  };
  return { showOwn: addBar('own'), showCounted: addBar('counted') };
}

const rows = steps.map(addRow);
performance.mark('demo start', { detail: { steps: steps.length } });
for (const [i, { shown, ms, work }] of steps.entries()) {
  say(`Busy with ${shown} …`);
  await pause(30); // lets the browser paint
  const start = performance.now();
  const result = work(ms);
  const { duration } = performance.measure('step', { start, detail: { shown } });
  demo.measured[shown] = duration;
  (demo.measures.step ??= []).push(duration);
  if (work === renderTables) demo.measures['render table'] = /** @type {number[]} */ (result);
  rows[i].showOwn(duration);
}
performance.mark('mark_fully_loaded');
demo.done = true;
const nothing = 'There is nothing to compare with the page’s own clock.';
await showUpload();

/** Says what becomes of this page load, and ends with fleetprof's numbers where there are any. */
async function showUpload() {
  const { fleetprof } = /** @type {{ fleetprof?: import('../agent/fleetprof.js').Fleetprof }} */ (globalThis);
  if (!fleetprof) {
    say('Done. The agent did not load, so nothing is sent.');
    return;
  }
  const handle = fleetprof.start();
  const agentSays = () => `Done. The agent says: ${handle.detail}.`;
  while (['profiling', 'sending'].includes(handle.status)) {
    say(agentSays());
    await pause(100);
  }
  if (handle.status === 'sent') say(`${agentSays()} ${await showCounted(agentSays())}`);
  else if (handle.status === 'unsupported') say(`${agentSays()} ${await showRecorded()}`);
  else say(`${agentSays()} ${nothing}`);
}

/** Draws the bars of a run in a browser with a profiler. @returns {Promise<string>} what to show */
async function showRecorded() {
  const run = await recordedRun();
  if (!run) return nothing;
  for (const [i, { shown }] of steps.entries()) rows[i].showCounted(run.counted[shown]);
  return `So fleetprof’s bars are of a run that was recorded in ${run.browser}.`;
}

/**
 * Draws fleetprof's bars as soon as this page load is counted.
 * @param {string} sent what to show meanwhile
 * @returns {Promise<string>} what to show then
 */
async function showCounted(sent) {
  const before = await numbersBefore;
  if (!before) return 'This server does not show fleetprof’s numbers: ask the database, as below.';
  if (before.trouble) return cannotAsk(before.trouble);
  say(`${sent} Waiting for the collector to count it …`);
  const numbers = await numbersWithLoad(before.loads);
  if (numbers?.trouble) return cannotAsk(numbers.trouble);
  if (!numbers) return 'This server has stopped showing fleetprof’s numbers.';
  if (numbers.loads <= before.loads) return 'It was not counted within 30 s: see the collector’s log.';
  for (const [i, { shown }] of steps.entries()) rows[i].showCounted(totalMsPerLoad(numbers, shown));
  if (numbers.report) showReport(numbers.report);
  return `The collector has counted it: page load ${numbers.loads} of this demo.`;
}

/** Says that, and why, nothing was read. @param {string} trouble */
function cannotAsk(trouble) {
  return `Whether it was counted is not known: ${trouble}.`;
}

/** Links to what the web report shows of this demo. @param {string} report its address */
function showReport(report) {
  const place = /** @type {HTMLElement} */ (document.getElementById('report'));
  /** @type {HTMLAnchorElement} */ (place.firstElementChild).href = new URL('demo/flame?release=demo-1', report).href;
  place.hidden = false;
}
