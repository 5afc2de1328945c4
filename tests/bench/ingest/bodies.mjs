// SPDX-License-Identifier: Apache-2.0
/**
 * The bodies that the benchmark posts: thousands of different traces made from the real ones, so that no
 * dictionary, cache or branch predictor is flattered by one body sent again and again.
 *
 * Each keeps the shape of its real trace (frames, depth, idle samples, gaps, key order, digits) and differs in
 * what it saw: which stacks were sampled and when, and here and there a function that few page loads reach,
 * drawn from a long tail. Whoever sends a body draws the head that goes with it: page and browser, hence the
 * segment. Everything follows from the seed.
 */
import fs from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { repository } from '../../behaviour/stack.mjs';

/**
 * @typedef {{ frames: any[], resources: string[], stacks: { frameId: number, parentId?: number }[],
 *             samples: { stackId?: number, timestamp: number }[] }} Trace
 */

/**
 * Sizes by name: the real traces a body is made of, joined end to end, and how many bodies there are.
 * @type {Record<string, { traces: string[][], count: number }>}
 */
export const sizes = {
  small: { traces: [['react-prod-sync-3s'], ['vue-prod-3s'], ['jquery-mithril-preact-3s']], count: 4000 },
  medium: { traces: [['coi-react-vue-misc-8s']], count: 2000 },
  large: {
    traces: [['coi-react-vue-misc-8s', 'vue-prod-3s', 'coi-react-vue-misc-8s',
      'coi-react-vue-misc-8s', 'jquery-mithril-preact-3s']],
    count: 600,
  },
};

const routeCount = 12;
const sameGap = 0.9; // share of samples that follow the one before as in the real trace
const sameStack = 0.85; // share of samples with the real trace's stack; the others have one drawn from it
const tailStep = 0.03; // share of stacks whose function is a rare one
const tailExponent = 0.8; // of its rank: smaller is rarer
const tailLength = 100_000;
const userAgents = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0',
];

/** Numbers from 0 to 1 (mulberry32). @param {number} seed */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A rank from 1 to tailLength, low ones often. @param {() => number} draw */
const tailRank = (draw) => Math.min(tailLength, Math.floor((1 - draw()) ** (-1 / tailExponent)));

/** @param {string} name @returns {Trace} */
const readTrace = (name) => JSON.parse(fs.readFileSync(path.join(repository, 'tests/data', `${name}.json`), 'utf8'));

/** Several traces as one; each comes from a bundle of its own. @param {Trace[]} parts @returns {Trace} */
function join(parts) {
  /** @type {Trace} */
  const whole = { frames: [], resources: [], stacks: [], samples: [] };
  for (const [part, trace] of parts.entries()) {
    const [frames, resources, stacks] = [whole.frames.length, whole.resources.length, whole.stacks.length];
    const startMs = (whole.samples.at(-1)?.timestamp ?? 0) - (part && trace.samples[0].timestamp) + (part && 10);
    for (const url of trace.resources) whole.resources.push(part === 0 ? url : url.replace(/^(https?:\/\/[^/]+\/)/, `$1part${part}/`));
    for (const frame of trace.frames) whole.frames.push({ ...frame, ...('resourceId' in frame && { resourceId: frame.resourceId + resources }) });
    for (const { frameId, parentId } of trace.stacks) {
      whole.stacks.push({ frameId: frameId + frames, ...(parentId !== undefined && { parentId: parentId + stacks }) });
    }
    for (const { stackId, timestamp } of trace.samples) {
      whole.samples.push({ ...(stackId !== undefined && { stackId: stackId + stacks }), timestamp: timestamp + startMs });
    }
  }
  return whole;
}

/** Returns the trace of another page load. @param {Trace} trace @param {() => number} draw @returns {Trace} */
function vary(trace, draw) {
  const frames = trace.frames.map((frame) => ({ ...frame }));
  const stacks = trace.stacks.map((stack) => {
    if (draw() >= tailStep) return stack;
    const { column = 0, ...rest } = frames[stack.frameId];
    frames.push({ column: column + 40 * tailRank(draw), ...rest });
    return { ...stack, frameId: frames.length - 1 };
  });
  const sampled = trace.samples.flatMap(({ stackId }) => (stackId === undefined ? [] : [stackId]));
  let timestamp = trace.samples[0].timestamp + Math.floor(draw() * 4000) / 10;
  const samples = trace.samples.map(({ stackId }, index) => {
    const from = index > 0 && draw() < sameGap ? index : 1 + Math.floor(draw() * (trace.samples.length - 1));
    if (index > 0) timestamp += Math.max(0, trace.samples[from].timestamp - trace.samples[from - 1].timestamp);
    if (stackId === undefined) return { timestamp };
    return { stackId: draw() < sameStack ? stackId : sampled[Math.floor(draw() * sampled.length)], timestamp };
  });
  return { frames, resources: trace.resources, samples, stacks };
}

/**
 * The heads of requests, without their Content-Length: of a site of 48 segments, where page k is met (2k + 1) times as
 * rarely as the last; or one for each of so many segments.
 * @param {number} [segments]
 */
function heads(segments) {
  const agents = segments === undefined ? userAgents : userAgents.slice(0, segments);
  const pages = segments === undefined ? Array.from({ length: routeCount }, (_, page) => Array(2 * page + 1).fill(`/r${page}`)).flat()
    : Array.from({ length: Math.ceil(segments / agents.length) }, (_, page) => `/r${page}`);
  return agents.flatMap((agent) => pages.map((page) => [
    'POST /v1/ingest/pk_demo HTTP/1.1', 'Host: shop.example', `User-Agent: ${agent}`, 'Content-Type: text/plain',
    'Accept: */*', 'Accept-Language: en-US,en;q=0.9', 'Origin: http://127.0.0.1', `Referer: http://127.0.0.1${page}`, '',
  ].join('\r\n')));
}

/** Bytes behind their length: 32 bits, little endian. @param {Uint8Array} bytes */
function behindLength(bytes) {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

/** Reads the heads and the bodies that writeBodies wrote. @param {string} file */
function readRequests(file) {
  const bytes = fs.readFileSync(file);
  const parts = [];
  for (let at = 4; at < bytes.length;) {
    const begin = at + 4;
    at = begin + bytes.readUInt32LE(at);
    parts.push(bytes.subarray(begin, at));
  }
  const count = bytes.readUInt32LE(0);
  return { heads: parts.slice(0, count), bodies: parts.slice(count) };
}

/** The bodies, gzipped. @param {string} file that writeBodies wrote */
export const readBodies = (file) => readRequests(file).bodies;

/** A whole request: the first head with the first body. @param {string} file that writeBodies wrote */
export function firstRequest(file) {
  const { heads: [head], bodies: [body] } = readRequests(file);
  return Buffer.concat([head, Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);
}

/**
 * Writes the number of heads (32 bits, little endian), the heads and the bodies, each behind its length.
 * @param {string} file
 * @param {string} size a name of `sizes`
 * @param {{ seed?: number, segments?: number }} [options]
 * @returns {{ count: number, jsonBytes: number, gzipBytes: number }} bytes: means
 */
export function writeBodies(file, size, { seed = 1, segments } = {}) {
  const draw = random(seed);
  const { traces, count } = sizes[size];
  const bases = traces.map((names) => join(names.map(readTrace)));
  const output = fs.openSync(file, 'w');
  const headCount = Buffer.alloc(4);
  const made = heads(segments);
  headCount.writeUInt32LE(made.length);
  fs.writeSync(output, Buffer.concat([headCount, ...made.map((head) => behindLength(Buffer.from(head)))]));
  let jsonBytes = 0;
  let gzipBytes = 0;
  for (let number = 0; number < count; number += 1) {
    const trace = vary(bases[number % bases.length], draw);
    const json = JSON.stringify({ release: '2026.11.1', sampleInterval: 10, trace });
    const body = gzipSync(json);
    fs.writeSync(output, behindLength(body));
    jsonBytes += json.length;
    gzipBytes += body.length;
  }
  fs.closeSync(output);
  return { count, jsonBytes: jsonBytes / count, gzipBytes: gzipBytes / count };
}
