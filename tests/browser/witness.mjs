// SPDX-License-Identifier: Apache-2.0
/**
 * Compares a page's own record of its profile with the part that has arrived: a script tells the server, at each moment at
 * which the page could end, for how long it was profiled, and how late its timers come.
 */
import assert from 'node:assert/strict';

/**
 * @typedef {{ url: string, load: string, status: string, began: number, what: string, at: number, late: number }} Report
 * what: load, stopped, hidden, visible
 *
 * @typedef {object} Delivery
 * @property {number} wanted ms that must arrive
 * @property {number} covered ms of these that the windows of the parts cover
 * @property {boolean} wasTold whether the page has reported its end
 * @property {number} parts
 * @property {number} samples
 * @property {number} late ms
 */

/** With timers so late, losses are not judged. */
export const starvedMs = 500;

/**
 * Nobody can ask for the samples that a profiler holds at the very end. Where the page's own timers come late, for want of a
 * processor, a slice ends late and is handed over late.
 */
const graceMs = ({ late = 0 }) => 100 + 2 * late;

/**
 * A classic script for after the agent's; `tell` is its function that reports.
 * @param {string} address where the page reports to, by beacons
 */
export const witness = (address) => `
  const handle = fleetprof.start();
  const truth = { url: location.href, load: handle.load, status: handle.status, began: performance.now() };
  const turns = [];
  let due = performance.now();
  const tell = (what) => {
    const at = performance.now();
    const late = Math.max(0, at - due, ...turns.filter(([time]) => time > at - 1000).map(([, ms]) => ms));
    navigator.sendBeacon('${address}', JSON.stringify({ ...truth, what, at, late }));
  };
  addEventListener('visibilitychange', () => tell(document.visibilityState));
  addEventListener('load', () => tell('load'));
  function work(ms) { const end = performance.now() + ms; while (performance.now() < end) workOn(end); }
  function workOn(end) { let sum = 0; while (performance.now() < end && sum < 1e4) sum += Math.sqrt(sum + 1); return sum; }
  function turn() {
    work(6);
    const now = performance.now();
    turns.push([now, Math.max(0, now - due - 6)]); // late, or without a processor meanwhile
    due = now + 12;
    setTimeout(turn, 12);
  }
  turn();`;

/**
 * Compares the parts of a page load with what its page told; throws if something arrived twice or in disorder.
 * @param {Report[]} reports
 * @param {any[]} envelopes
 * @returns {Delivery}
 */
export function delivery(reports, envelopes) {
  const parts = [...envelopes].sort((a, b) => a.start - b.start);
  const ids = parts.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'an id twice');
  assert.ok(new Set(parts.map(({ load }) => load)).size <= 1, 'two page loads');
  const samples = parts.flatMap(({ trace }) => trace?.samples ?? []);
  for (const { trace, start, duration } of parts) {
    assert.ok(trace.samples.every((/** @type {any} */ { timestamp }) => timestamp >= start && timestamp < start + duration),
      'a sample outside its part');
  }
  const ended = reports.find(({ what }) => what !== 'load');
  const end = ended?.at ?? Math.max(0, ...parts.map(({ start, duration }) => start + duration));
  const began = reports[0]?.began ?? 0;
  let covered = 0;
  let last = began;
  for (const { start, duration } of parts) {
    assert.ok(start >= last || last === began, 'parts overlap');
    const [from, to] = [Math.max(last, start), Math.min(end, start + duration)];
    if (to > from) covered += to - from;
    last = Math.max(last, to);
  }
  const wanted = Math.max(0, end - graceMs(ended ?? {}) - began);
  return { wanted, covered: Math.min(wanted, covered), wasTold: ended !== undefined, parts: parts.length, samples: samples.length,
    late: ended?.late ?? 0 };
}

/** True if a page load has arrived as far as it must. @param {Delivery} one */
export const isHere = ({ wanted, covered }) => covered >= wanted * 0.99;

/**
 * Prints what arrived, by how the page loads ended, and judges it: of the time up to 100 ms before the end at least
 * 99 %, of one ending at least 95 %; of page loads at least 99 %.
 * @param {[name: string, loads: Delivery[]][]} endings
 */
export function judge(endings) {
  console.log('| the visitor … | page loads | arrived | starved | recorded ms | arrived ms | share | samples | uploads |\n'
    + '|---|---|---|---|---|---|---|---|---|');
  /** @type {string[]} */
  const lost = [];
  const all = { loads: 0, told: 0, arrived: 0, wanted: 0, covered: 0 };
  for (const [name, rows] of endings) {
    const judged = rows.filter(({ late }) => late < starvedMs);
    const sum = (/** @type {(row: Delivery) => number} */ of) => judged.reduce((total, row) => total + of(row), 0);
    const [wanted, covered] = [sum((row) => row.wanted), sum((row) => row.covered)];
    const arrived = rows.filter(({ parts, wasTold }) => parts > 0 || !wasTold).length; // else the browser ended it unasked
    const share = wanted > 0 ? covered / wanted : 1;
    console.log(`| ${[name, rows.length, arrived, rows.length - judged.length, wanted.toFixed(0), covered.toFixed(0),
      `${(share * 100).toFixed(1)} %`, sum(({ samples }) => samples), sum(({ parts }) => parts)].join(' | ')} |`);
    if (share < 0.95) lost.push(`${name}: ${(share * 100).toFixed(1)} %`);
    const told = rows.filter(({ wasTold }) => wasTold).length;
    for (const [key, value] of Object.entries({ loads: rows.length, told, arrived, wanted, covered })) {
      all[/** @type {keyof typeof all} */ (key)] += value;
    }
  }
  console.log(`| all | ${all.loads} | ${all.arrived} | | ${all.wanted.toFixed(0)} | ${all.covered.toFixed(0)} | ${
    ((all.covered / all.wanted) * 100).toFixed(2)} % | | |`);
  assert.ok(all.told >= all.loads * 0.9, `only ${all.told} of ${all.loads} page loads reported their end`);
  assert.deepEqual(lost, []);
  assert.ok(!(all.covered < all.wanted * 0.99), `${all.covered} ms of ${all.wanted} ms`);
  assert.ok(all.arrived >= all.loads * 0.99, `${all.arrived} of ${all.loads} page loads`);
}
