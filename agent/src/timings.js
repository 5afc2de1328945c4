// SPDX-License-Identifier: Apache-2.0
/**
 * The page's marks and measures, those from before this script too. They are copied as they come: a page may clear them
 * at any time, and their JSON lacks `detail`.
 */

import { PerformanceObserver } from './natives.js';

/** JSON of all entries of a page load: a page that floods the timeline must not flood the network. */
const maxSize = 300_000;
/** Entries of one name: a name that comes thousands of times must not push out the others. */
const maxOfName = 200;
const maxNames = 5000;
/** Kept for entries without their details. */
const reservedSize = 200_000;
const maxNameLength = 1024;
const maxDetailLength = 4096;
const maxDetailDepth = 32; // the collector refuses an upload that is nested too deep

/**
 * @typedef {{ name: string, entryType: string, startTime: number, duration: number, detail?: unknown }} Entry
 * @typedef {object} Timings
 * @property {(end: number) => [entry: Entry, size: number][]} take gives away the entries that began before a time,
 *   each with the length of its JSON
 * @property {() => number} jsonSize length of the JSON of those that are here
 * @property {() => void} halt
 */

/**
 * @param {() => void} onMore called each time there are more
 * @param {(act: (list: PerformanceObserverEntryList) => void) => PerformanceObserverCallback} guard
 * @param {import('./left_out.js').LeaveOut} leaveOut
 * @returns {Timings}
 */
export function collectTimings(onMore, guard, leaveOut) {
  /** @type {[Entry, number][]} */
  let kept = [];
  let sizeLeft = maxSize;
  /** Entries by name. @type {Map<string, number>} */
  const counts = new Map();

  /** @param {PerformanceEntryList} entries */
  const copy = (entries) => {
    for (const { name, entryType, startTime, duration, detail } of /** @type {PerformanceMeasure[]} */ (entries)) {
      const count = (counts.get(name) ?? 0) + 1;
      if (count > 1 || counts.size < maxNames) counts.set(name, count);
      const shortName = name.slice(0, maxNameLength);
      const isOften = count > maxOfName;
      if (sizeLeft < 0 || isOften) {
        leaveOut(entryType, 1, isOften ? shortName : undefined);
        continue;
      }
      const text = boundedJson(detail, Math.min(maxDetailLength, sizeLeft - reservedSize));
      const length = new TextEncoder().encode(shortName + text).length + 80;
      sizeLeft -= length;
      kept.push([{ name: shortName, entryType, startTime, duration, detail: text && JSON.parse(text) }, length]);
    }
  };

  const observer = new PerformanceObserver(guard((list) => {
    copy(list.getEntries());
    onMore();
  }));
  for (const type of ['mark', 'measure']) observer.observe({ type, buffered: true });
  return {
    take: (end) => {
      copy(observer.takeRecords());
      const taken = kept.filter(([{ startTime }]) => startTime < end);
      kept = kept.filter(([{ startTime }]) => startTime >= end);
      return taken;
    },
    jsonSize: () => kept.reduce((sum, [, length]) => sum + length, 0),
    halt: () => observer.disconnect(),
  };
}

/**
 * Returns a value's JSON; undefined for null, for values that JSON cannot express, and for JSON that would be longer
 * or deeper than the limits.
 * @param {unknown} value
 * @param {number} maxLength
 * @returns {string | undefined}
 */
function boundedJson(value, maxLength) {
  let left = maxLength;
  /** @type {Map<unknown, number>} */
  const depths = new Map();
  try {
    const text = JSON.stringify(value ?? undefined, /** @this {unknown} */ function bound(key, member) {
      left -= key.length + (typeof member === 'string' ? member.length : 1);
      const depth = (depths.get(this) ?? 0) + 1;
      if (left < 0 || depth > maxDetailDepth || ArrayBuffer.isView(member)) throw left;
      if (typeof member === 'object') depths.set(member, depth);
      return member;
    });
    if (text?.length <= maxLength) return text;
  } catch { // cyclic, a BigInt, or past a limit
  }
  return undefined;
}
