// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the answers of a saved report: JSON, and after a NUL the columns of its trees as varints. Trees share frames, and for
 * each function a list of those that it calls. cli/serve/pack.c writes it.
 */

/** @typedef {import('./tree.js').Columns} Columns */

/** Five digits of 85 stand for four bytes: smaller than base64. No digit is a <, which could end the element. */
const digitOf = (/** @type {number} */ code) => code - (code > 60 ? 36 : 35);
const codeOf = (/** @type {number} */ digit) => digit + (digit > 24 ? 36 : 35);

/** Returns bytes as text. @param {Uint8Array} bytes */
export function written(bytes) {
  const text = [];
  for (let i = 0; i < bytes.length; i += 4) {
    const digits = [];
    let number = 0;
    for (let k = 0; k < 4; k += 1) number = number * 256 + (bytes[i + k] ?? 0);
    for (let k = 0; k < 5; k += 1) {
      digits.unshift(codeOf(number % 85));
      number = Math.floor(number / 85);
    }
    text.push(String.fromCharCode(...digits.slice(0, bytes.length - i + 1)));
  }
  return text.join('');
}

/** Returns the bytes of a text. @param {string} text */
export function read(text) {
  const bytes = new Uint8Array(Math.floor((text.length * 4) / 5));
  for (let i = 0, at = 0; i < text.length; i += 5, at += 4) {
    let number = 0;
    for (let k = 0; k < 5; k += 1) number = number * 85 + (i + k < text.length ? digitOf(text.charCodeAt(i + k)) : 84);
    for (let k = 3; k >= 0; k -= 1) {
      if (at + k < bytes.length) bytes[at + k] = number % 256;
      number = Math.floor(number / 256);
    }
  }
  return bytes;
}

/**
 * Returns the answers by address.
 * @param {Uint8Array} bytes
 * @returns {Record<string, any>}
 */
export function unpacked(bytes) {
  const end = bytes.indexOf(0);
  const { answers, frames } = JSON.parse(new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end)));
  let at = end < 0 ? bytes.length : end + 1;
  const column = (/** @type {number} */ count) => {
    if (!(count <= bytes.length - at)) throw new Error('The columns of a tree are not whole.');
    const numbers = new Float64Array(count);
    for (let i = 0; i < count; i += 1) {
      let [number, scale] = [0, 1];
      do {
        if (at >= bytes.length) throw new Error('The columns of a tree are not whole.');
        number += (bytes[at] & 0x7f) * scale;
        scale *= 0x80;
        at += 1;
      } while (bytes[at - 1] > 0x7f);
      numbers[i] = number;
    }
    return numbers;
  };
  if (frames) {
    const refs = column(frames.function.length);
    /** @type {string[]} */
    const keys = [];
    const view = new DataView(bytes.buffer, bytes.byteOffset);
    for (const ref of refs) {
      if (ref !== 0) continue;
      keys.push(String(view.getBigInt64(at, true)));
      at += 8;
    }
    let next = 0;
    frames.function_key = Array.from(refs, (ref) => keys[ref === 0 ? next++ : ref - 1]);
  }
  const shared = { frames, callees: [], known: 0 };
  for (const answer of Object.values(answers)) if (answer.tree?.packed) answer.tree = tree(answer.tree, shared, column);
  return answers;
}

/**
 * @param {any} head
 * @param {{ frames: Columns, callees: number[][], known: number }} shared frames of all trees; what each calls, by its place from 1,
 *   0 is the whole; how many there were so far
 * @param {(count: number) => Float64Array} column
 */
function tree({ packed, ...more }, shared, column) {
  const { frames, callees } = shared;
  const { nodes, unit_us: unit, sample_us: sample, least_self_us: leastSelf, least_rest_us: leastRest } = packed;
  const shape = column(nodes);
  const rank = column(nodes - 1);
  const added = column(rank.reduce((count, each) => count + Number(each === 0), 0));
  const times = (/** @type {number} */ bit, /** @type {number} */ least) => {
    const has = (/** @type {number} */ of) => of % 4 & bit;
    const known = column(shape.reduce((count, each) => count + Number(has(each) > 0), 0));
    let next = 0;
    return shape.map((each) => (has(each) ? known[next++] * unit + least : 0));
  };
  const self = times(1, leastSelf);
  const total = times(2, leastRest).map((rest, i) => rest + self[i]);
  const samples = column(nodes).map((number, i) => {
    const us = Math.max(0, total[i]);
    return (us - (us % sample)) / sample + (number % 2 === 0 ? number / 2 : -(number + 1) / 2);
  });
  const level = new Int32Array(nodes);
  const parent = new Int32Array(nodes);
  /** From 1; the whole is 0. */
  const place = new Int32Array(nodes);
  const path = [0];
  for (let i = 1, next = 0; i < nodes; i += 1) {
    level[i] = level[i - 1] + 1 - Math.floor(shape[i - 1] / 4);
    parent[i] = path[level[i] - 1];
    path[level[i]] = i;
    const list = callees[place[parent[i]]] ??= [];
    if (rank[i - 1] === 0) list.push(added[next++] || (shared.known += 1));
    place[i] = rank[i - 1] === 0 ? list[list.length - 1] : list[rank[i - 1] - 1];
  }
  for (let i = nodes - 1; i > 0; i -= 1) {
    total[parent[i]] += total[i];
    samples[parent[i]] += samples[i];
  }
  const used = [...new Set(place)].sort((a, b) => a - b);
  const own = new Map(used.map((each, i) => [each, i - 1])); // the whole is -1
  return {
    ...more, level, frame: place.map((each) => /** @type {number} */ (own.get(each))), self, total, samples,
    frames: Object.fromEntries(Object.entries(frames).map(([name, values]) => [name, used.slice(1).map((each) => values[each - 1])])),
  };
}
