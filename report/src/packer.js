// SPDX-License-Identifier: Apache-2.0
/**
 * Writes the answers of a saved report as packed.js reads them, and as cli/serve/pack.c writes them: a tree becomes
 * columns of varints with each node's own values; a frame is its rank among the callees of its caller. Nothing is
 * rounded.
 */

/** Columns of frames that are written as JSON; beside them, each frame has a function_key. */
const frameColumns = ['function', 'resource', 'line', 'column_number', 'kind', 'generated_resource', 'generated_line', 'generated_column'];

/** Sums of a few such numbers are still exact. */
const mostNumber = 2 ** 50;

/** True for a number of 64 bits as a text. @param {unknown} key */
const isKey = (key) => typeof key === 'string' && /^(0|-?[1-9]\d{0,18})$/.test(key) && BigInt.asIntN(64, BigInt(key)) === BigInt(key);

/** Bytes that grow. */
class Bytes {
  constructor() {
    this.bytes = new Uint8Array(1 << 16);
    this.length = 0;
  }

  /** @param {number} number whole, 0 or more */
  add(number) {
    if (this.length + 10 > this.bytes.length) {
      const larger = new Uint8Array(2 * this.bytes.length);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    let left = number;
    for (; left > 0x7f; left = Math.floor(left / 0x80)) this.bytes[this.length++] = (left % 0x80) | 0x80;
    this.bytes[this.length++] = left;
  }

  whole() { return this.bytes.subarray(0, this.length); }
}

/**
 * @typedef {object} Own what nodes have without their children
 * @property {number[]} level
 * @property {number[]} frame
 * @property {Record<string, any[]>} frames
 * @property {Int32Array} parent
 * @property {number[]} self µs
 * @property {number[]} rest µs, left out
 * @property {number[]} samples
 * @property {number} sample µs of a sample, on the average
 */

/**
 * Returns each node's own values, or null if the tree cannot be packed without loss.
 * @param {any} tree @returns {Own | null}
 */
function ownOf({ level, frame, self, total, samples, frames }) {
  const columns = [level, frame, self, total, samples];
  const isExact = (/** @type {number} */ number) => Number.isSafeInteger(number) && Math.abs(number) <= mostNumber;
  if (!columns.every((column) => Array.isArray(column) && column.length === level.length && column.every(isExact)) || level.length === 0) return null;
  const known = [...frameColumns, 'function_key'];
  if (Object.keys(frames ?? {}).length !== known.length || !known.every((name) => frames[name]?.length === frames.function?.length)
    || !frames.function_key.every(isKey)) return null;
  const own = {
    level, frame, frames, self, parent: new Int32Array(level.length), rest: total.slice(), samples: samples.slice(),
    sample: samples[0] > 0 && total[0] > samples[0] ? Math.floor(total[0] / samples[0]) : 1,
  };
  return isInOrder(own) && takeChildren(own) ? own : null;
}

/** Finds the parents; false if nodes are not in order, or a frame is not listed. @param {Own} own */
function isInOrder({ level, frame, frames, parent }) {
  if (level[0] !== 0 || frame[0] !== -1) return false;
  const path = [0];
  for (let i = 1; i < level.length; i += 1) {
    if (level[i] < 1 || level[i] > level[i - 1] + 1 || frame[i] < 0 || frame[i] >= frames.function.length) return false;
    parent[i] = path[level[i] - 1];
    path[level[i]] = i;
  }
  return true;
}

/** Takes the sums of its children off each node; false if a number gets too large. @param {Own} own */
function takeChildren({ parent, self, rest, samples }) {
  for (let i = 0; i < parent.length; i += 1) {
    if (i > 0) {
      rest[parent[i]] -= rest[i];
      samples[parent[i]] -= samples[i];
    }
    rest[i] -= self[i];
  }
  return [...rest, ...samples].every((number) => Math.abs(number) <= mostNumber);
}

/** Frames that all trees share. */
class Frames {
  constructor() {
    this.columns = Object.fromEntries(frameColumns.map((name) => [name, /** @type {any[]} */ ([])]));
    this.count = 0;
    /** @type {Map<string, number>} */
    this.places = new Map();
    /** @type {Map<string, number>} */
    this.keys = new Map();
    this.refs = new Bytes();
    /** By caller and callee from 1: the rank of the callee; the whole is 0. @type {Map<number, number>[]} */
    this.callees = [new Map()];
  }

  /** Returns the place from 1 of a frame; adds it if it is new. @param {Record<string, any[]>} frames @param {number} frame */
  place(frames, frame) {
    const row = frameColumns.map((name) => frames[name][frame]);
    const key = frames.function_key[frame];
    const text = JSON.stringify([...row, key]);
    const found = this.places.get(text);
    if (found !== undefined) return found;
    for (const [i, name] of frameColumns.entries()) this.columns[name].push(row[i]);
    const known = this.keys.get(key);
    this.refs.add(known === undefined ? 0 : known + 1);
    if (known === undefined) this.keys.set(key, this.keys.size);
    this.count += 1;
    this.callees.push(new Map());
    this.places.set(text, this.count);
    return this.count;
  }
}

/** Adds the rank of each node's frame among those that its caller calls, and the new ones. @param {Frames} shared @param {Own} own @param {Bytes} numbers */
function addFrames(shared, { frame, frames, parent }, numbers) {
  const place = new Int32Array(frame.length);
  const known = new Int32Array(frames.function.length);
  /** @type {number[]} */
  const added = [];
  for (let i = 1; i < frame.length; i += 1) {
    const before = shared.count;
    place[i] = known[frame[i]] ||= shared.place(frames, frame[i]);
    const callees = shared.callees[place[parent[i]]];
    const rank = callees.get(place[i]);
    numbers.add(rank === undefined ? 0 : rank + 1);
    if (rank !== undefined) continue;
    callees.set(place[i], callees.size);
    added.push(shared.count > before ? 0 : place[i]);
  }
  for (const each of added) numbers.add(each);
}

/** Adds the times that are not 0, less the least of them, by their unit; returns the least. @param {number[]} times @param {number} unit @param {Bytes} numbers */
function addTimes(times, unit, numbers) {
  let least = Infinity;
  for (const us of times) if (us !== 0 && us < least) least = us;
  for (const us of times) if (us !== 0) numbers.add((us - least) / unit);
  return least === Infinity ? 0 : least;
}

/** @param {number} one @param {number} other @returns {number} */
const divisor = (one, other) => (other === 0 ? Math.abs(one) : divisor(other, one % other));

/** Adds a tree; returns how to read it. @param {Frames} shared @param {Own} own @param {Bytes} numbers */
function addTree(shared, own, numbers) {
  const { level, self, rest, samples, sample } = own;
  const nodes = level.length;
  let unit = 0;
  for (let i = 0; i < nodes; i += 1) unit = divisor(rest[i], divisor(self[i], unit));
  unit ||= 1;
  for (let i = 0; i < nodes; i += 1) {
    const up = i + 1 < nodes ? level[i] + 1 - level[i + 1] : 0;
    numbers.add(up * 4 + Number(self[i] !== 0) + 2 * Number(rest[i] !== 0));
  }
  addFrames(shared, own, numbers);
  const [leastSelf, leastRest] = [addTimes(self, unit, numbers), addTimes(rest, unit, numbers)];
  for (let i = 0; i < nodes; i += 1) {
    const us = Math.max(0, self[i] + rest[i]);
    const more = samples[i] - (us - (us % sample)) / sample;
    numbers.add(more >= 0 ? 2 * more : -2 * more - 1);
  }
  return { nodes, unit_us: unit, sample_us: sample, least_self_us: leastSelf, least_rest_us: leastRest };
}

/**
 * Returns answers by address as a file. A tree that cannot be packed without a loss stays as it is.
 * @param {Record<string, any>} answers
 */
export function packed(answers) {
  const shared = new Frames();
  const numbers = new Bytes();
  const heads = Object.fromEntries(Object.entries(answers).map(([address, answer]) => {
    const own = answer.tree ? ownOf(answer.tree) : null;
    if (!own) return [address, answer];
    const more = Object.entries(answer.tree).filter(([, value]) => value === null || typeof value !== 'object');
    return [address, { ...answer, tree: { packed: addTree(shared, own, numbers), ...Object.fromEntries(more) } }];
  }));
  const keys = new DataView(new ArrayBuffer(8 * shared.keys.size));
  for (const [key, place] of shared.keys) keys.setBigInt64(8 * place, BigInt(key), true);
  const json = new TextEncoder().encode(`${JSON.stringify({ answers: heads, frames: shared.columns })}\0`);
  return new Blob([json, shared.refs.whole(), keys, numbers.whole()]);
}
