/**
 * Computes what a trace must add up to by the rules of docs/numbers.md, without sharing code with the collector.
 * Quadratic where that is simplest.
 */

/**
 * @typedef {{ function: string, resource: string, line: number | null, column: number | null, kind: string }} Frame
 * @typedef {Frame & { self_us: number, total_us: number, samples: number }} FrameSums
 * @typedef {{ samples: number, profiled_us: number, unattributed_us: number, unattributed_samples: number,
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

/**
 * @param {any} trace a ProfilerTrace
 * @param {number} [sampleInterval] ms, the envelope's
 * @param {(time_us: number) => boolean} [counts] which samples; their weights are the same whatever is left out
 * @returns {Sums}
 */
export function sumsOf(trace, sampleInterval, counts = () => true) {
  const samples = trace.samples
    .map((/** @type {any} */ sample) => ({ ...sample, time: toMicroseconds(sample.timestamp) }))
    .sort((/** @type {any} */ a, /** @type {any} */ b) => a.time - b.time);
  const gaps = samples.slice(1).map((/** @type {any} */ sample, /** @type {number} */ i) => sample.time - samples[i].time);
  const positive = gaps.filter((/** @type {number} */ gap) => gap > 0).sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
  const interval = sampleInterval ? toMicroseconds(sampleInterval) : lowerMedian(positive) ?? 10_000;

  /** @type {Sums} */
  const sums = { samples: 0, profiled_us: 0, unattributed_us: 0, unattributed_samples: 0,
    frames: new Map(), markers: new Map(), stacks: new Map() };
  samples.forEach((/** @type {any} */ sample, /** @type {number} */ i) => {
    const weight = i < gaps.length ? Math.min(gaps[i], 2 * interval) : interval;
    if (!counts(sample.time)) return;
    sums.samples += 1;
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
      sums.unattributed_samples += 1;
      return;
    }
    if (!leaf) stack.push({ function: `(${marker})`, resource: '', line: null, column: null, kind: 'marker' });
    addSample(sums, stack, marker, weight);
  });
  return sums;
}

/** @param {Sums} sums @param {Frame[]} stack @param {string} marker @param {number} weight */
function addSample(sums, stack, marker, weight) {
  const keys = stack.map(frameKey);
  const byMarker = sums.markers.get(marker) ?? { samples: 0, self_us: 0 };
  sums.markers.set(marker, { samples: byMarker.samples + 1, self_us: byMarker.self_us + weight });
  sums.stacks.set(keys.join('\n'), (sums.stacks.get(keys.join('\n')) ?? 0) + weight);
  new Set(keys).forEach((key) => {
    const frame = sums.frames.get(key) ?? { ...stack[keys.indexOf(key)], self_us: 0, total_us: 0, samples: 0 };
    frame.samples += 1;
    frame.total_us += weight;
    if (key === keys.at(-1)) frame.self_us += weight;
    sums.frames.set(key, frame);
  });
}
