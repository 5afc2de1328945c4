/**
 * Does one piece of work after the other, shows how long each took by the page's own clock, and keeps
 * those times in `window.demo` for whoever wants to hold a profiler's numbers against them.
 */
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

const longest = Math.max(...steps.map(({ ms }) => ms));
const table = /** @type {HTMLTableSectionElement} */ (document.querySelector('#steps'));
const status = /** @type {HTMLElement} */ (document.querySelector('#status'));

/** Lets the browser paint. */
const breathe = () => new Promise((resolve) => { setTimeout(resolve, 30); });

/** @param {typeof steps[number]} step */
function addRow({ shown, what }) {
  const row = table.insertRow();
  const name = document.createElement('code');
  name.textContent = shown;
  row.insertCell().append(name);
  row.insertCell().textContent = what;
  const bar = document.createElement('div');
  bar.className = 'bar';
  row.insertCell().append(bar);
  const time = row.insertCell();
  time.className = 'time';
  time.textContent = '…';
  return {
    /** @param {number} ms */
    show: (ms) => {
      bar.style.width = `${(100 * ms) / longest}%`;
      time.textContent = `${ms.toFixed(0)} ms`;
    },
  };
}

const rows = steps.map(addRow);
performance.mark('demo start', { detail: { steps: steps.length } });
for (const [i, { shown, ms, work }] of steps.entries()) {
  status.textContent = `Busy with ${shown} …`;
  await breathe();
  const start = performance.now();
  const result = work(ms);
  const { duration } = performance.measure('step', { start, detail: { shown } });
  demo.measured[shown] = duration;
  (demo.measures.step ??= []).push(duration);
  if (work === renderTables) demo.measures['render table'] = /** @type {number[]} */ (result);
  rows[i].show(duration);
}
performance.mark('mark_fully_loaded');
demo.done = true;
status.textContent = 'Done. The profile is sent a few seconds after the page has loaded.';
