// SPDX-License-Identifier: Apache-2.0
/**
 * Computes what a trace must add up to by the rules of docs/numbers.md, without sharing code with the collector.
 * Quadratic where that is simplest.
 */

/**
 * @typedef {{ function: string, resource: string, line: number | null, column: number | null, kind: string }} Frame
 * @typedef {Frame & { self_us: number, total_us: number, samples: number }} FrameSums
 * @typedef {{ samples: number, profiled_us: number, unattributed_us: number, unattributed_samples: number, unseen_us: number,
 *             frames: Map<string, FrameSums>, markers: Map<string, { samples: number, self_us: number }>,
 *             stacks: Map<string, number> }} Sums
 *   frames by frameKey; stacks: self_us by the frameKeys from the root, joined by newlines
 */

const markers = new Set(['script', 'gc', 'style', 'layout', 'paint', 'other']);

/** @param {Frame} frame */
export const frameKey = ({ function: name, resource, line, column, kind }) =>
  [name, resource.replace(/^data:.*/s, 'data:'), line ?? '', column ?? '', kind].join('\t');

/** Repairs UTF-8 that was read as Latin-1. @param {string} name */
function repairMojibake(name) {
  if (!/[\u0080-\u00ff]/.test(name) || /[^\0-\u00ff]/.test(name)) return name;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(name, 'latin1'));
  } catch {
    return name;
  }
}

/** @param {string} url */
function scrubUrl(url) {
  if (url.startsWith('data:')) return 'data:';
  if (url.startsWith('blob:')) return `blob:${new URL(url.slice(5)).origin}`;
  if (/^[a-z-]+-extension:/.test(url)) return `${url.split(':')[0]}:`;
  return url.replace(/[?#].*/s, '').replace(/^([a-z]+:\/\/)[^/@]*@/, '$1');
}

/** @param {string} text */
const cleanText = (text) => text.replace(/\0/g, '\ufffd')
  .replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');

/** @param {number[]} numbers ascending */
const lowerMedian = (numbers) => numbers[Math.floor((numbers.length - 1) / 2)];

/** @param {number} ms */
export const toMicroseconds = (ms) => Math.floor(ms * 1000 + 0.5);

/** @param {any} trace @param {number} index @returns {Frame} */
function frameOf(trace, index) {
  const { name, resourceId, line, column } = trace.frames[index];
  const builtin = resourceId == null && line == null && column == null;
  return {
    function: cleanText(repairMojibake(name)),
    resource: resourceId == null ? '' : scrubUrl(cleanText(trace.resources[resourceId])),
    line: line ?? null,
    column: column ?? null,
    kind: builtin ? 'builtin' : 'function',
  };
}

/** The longest gap that belongs to its two samples, if three intervals are not more. */
const leastMaxGap = 250_000;

/** @param {number} gap */
const earlierHalf = (gap) => Math.floor(gap / 2);
/** @param {number} gap */
const laterHalf = (gap) => Math.ceil(gap / 2);

/**
 * The span of each sample: [from, to), in whole microseconds.
 * @param {number[]} times ascending
 * @param {number} interval
 * @param {Span} [window] what the upload watched
 * @returns {{ spans: Span[], unseen: number }}
 */
function spansOf(times, interval, window) {
  const maxGap = Math.max(leastMaxGap, 3 * interval);
  const endGap = window ? maxGap : interval;
  const gapBefore = (/** @type {number} */ i) => (i === 0 ? endGap : Math.min(maxGap, times[i] - times[i - 1]));
  const gapAfter = (/** @type {number} */ i) => (i + 1 === times.length ? endGap : Math.min(maxGap, times[i + 1] - times[i]));
  const bounds = window ?? { from: -Infinity, to: Infinity };
  const spans = times.map((time, i) => {
    const from = Math.max(bounds.from, time - laterHalf(gapBefore(i)));
    return { from, to: Math.max(from, Math.min(bounds.to, time + earlierHalf(gapAfter(i)))) };
  });
  const seen = spans.reduce((sum, { from, to }) => sum + to - from, 0);
  const whole = window ? window.to - window.from
    : times.length === 0 ? 0 : times[times.length - 1] - times[0] + interval;
  return { spans, unseen: whole - seen };
}

/** @param {Span} span @param {Span[]} windows that do not overlap */
const overlap = ({ from, to }, windows) => windows
  .reduce((sum, window) => sum + Math.max(0, Math.min(to, window.to) - Math.max(from, window.from)), 0);

/** Joins windows that overlap. @param {Span[]} windows @returns {Span[]} */
export function joinedWindows(windows) {
  /** @type {Span[]} */
  const joined = [];
  for (const { from, to } of windows.filter((window) => window.from < window.to).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && last.to >= from) last.to = Math.max(last.to, to);
    else joined.push({ from, to });
  }
  return joined;
}

/**
 * @typedef {{ from: number, to: number }} Span microseconds, without the end
 *
 * @param {any} trace a ProfilerTrace
 * @param {number} [sampleInterval] ms, the envelope's
 * @param {{ window?: Span, inside?: Span[] }} [where] window: what the upload watched; inside: the sums are of these
 *   spans of time only
 * @returns {Sums}
 */
export function sumsOf(trace, sampleInterval, { window, inside } = {}) {
  const samples = trace.samples
    .map((/** @type {any} */ sample) => ({ ...sample, time: toMicroseconds(sample.timestamp) }))
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.time - b.time);
  const times = samples.map((/** @type {any} */ { time }) => time);
  const positive = times.slice(1).map((/** @type {number} */ time, /** @type {number} */ i) => time - times[i])
    .filter((/** @type {number} */ gap) => gap > 0).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
  const interval = sampleInterval ? toMicroseconds(sampleInterval) : lowerMedian(positive) ?? 10_000;
  const { spans, unseen } = spansOf(times, interval, window);
  const windows = inside && joinedWindows(inside);

  /** @type {Sums} */
  const sums = { samples: 0, profiled_us: 0, unattributed_us: 0, unattributed_samples: 0, unseen_us: unseen,
    frames: new Map(), markers: new Map(), stacks: new Map() };
  samples.forEach((/** @type {any} */ sample, /** @type {number} */ i) => {
    const whole = spans[i].to - spans[i].from;
    const weight = windows ? overlap(spans[i], windows) : whole;
    if (weight === 0) return;
    const counts = 2 * whole >= interval
      && (!windows || windows.some(({ from, to }) => from <= sample.time && sample.time < to)) ? 1 : 0;
    sums.samples += counts;
    sums.profiled_us += weight;
    const marker = sample.marker == null ? '(none)' : markers.has(sample.marker) ? sample.marker : 'other';
    /** @type {Frame[]} outermost first */
    const stack = [];
    for (let id = sample.stackId; id != null; id = trace.stacks[id].parentId) {
      stack.unshift(frameOf(trace, trace.stacks[id].frameId));
    }
    const leaf = stack.at(-1);
    const noise = (i === 0 || i === samples.length - 1) && leaf?.kind !== undefined && leaf.resource === ''
      && ['Profiler', 'stop'].includes(leaf.function);
    if (noise || (!leaf && marker === '(none)')) {
      sums.unattributed_us += weight;
      sums.unattributed_samples += counts;
      return;
    }
    if (!leaf) stack.push({ function: `(${marker})`, resource: '', line: null, column: null, kind: 'marker' });
    addSample(sums, stack, marker, { weight, counts });
  });
  if (windows) sums.unseen_us = windows.reduce((sum, { from, to }) => sum + to - from, 0) - sums.profiled_us;
  return sums;
}

/** @param {Sums} sums @param {Frame[]} stack @param {string} marker @param {{ weight: number, counts: number }} sample */
function addSample(sums, stack, marker, { weight, counts }) {
  const keys = stack.map(frameKey);
  const byMarker = sums.markers.get(marker) ?? { samples: 0, self_us: 0 };
  sums.markers.set(marker, { samples: byMarker.samples + counts, self_us: byMarker.self_us + weight });
  sums.stacks.set(keys.join('\n'), (sums.stacks.get(keys.join('\n')) ?? 0) + weight);
  new Set(keys).forEach((key) => {
    const frame = sums.frames.get(key) ?? { ...stack[keys.indexOf(key)], self_us: 0, total_us: 0, samples: 0 };
    frame.samples += counts;
    frame.total_us += weight;
    if (key === keys.at(-1)) frame.self_us += weight;
    sums.frames.set(key, frame);
  });
}
