// SPDX-License-Identifier: Apache-2.0
/** The limits of chance, and the decision of a sticky key, by arithmetic that shares no code with ours. */
import assert from 'node:assert/strict';

import { likelihood } from '../../../conformance/chance.mjs';

/** @typedef {{ yes: boolean, worker: string }} Lot what one request's answer said, and which worker said it */

/**
 * Lists the counts outside the 99.9 % interval, per worker and in total.
 * @param {Lot[]} lots
 * @param {number} rate
 */
function outliers(lots, rate) {
  const workers = [...new Set(lots.map(({ worker }) => worker))];
  assert.equal(workers.length, 2, 'both workers have answered');
  return [lots, ...workers.map((worker) => lots.filter((lot) => lot.worker === worker))]
    .map((some) => [some.filter((lot) => lot.yes).length, some.length])
    .filter(([hits, trials]) => likelihood(hits, trials, rate) < 0.001);
}

/**
 * Fails if two workers do not sample at this rate. One count in a thousand lies outside the interval by chance, but
 * not twice in a row.
 * @param {() => Promise<Lot[]>} draw
 * @param {number} rate
 */
export async function assertChance(draw, rate) {
  const first = outliers(await draw(), rate);
  if (first.length === 0) return;
  const second = outliers(await draw(), rate);
  assert.equal(second.length, 0, `hits, trials: ${JSON.stringify([first, second])}`);
}

/**
 * Fails if arms, `off` in one load of ten, are not drawn by weight and independently of the sample. Twice, as above.
 * @param {() => Promise<(Lot & { arm: string | undefined })[]>} draw
 * @param {number} rate at which loads are sampled
 */
export async function assertArms(draw, rate) {
  const counts = [];
  for (let i = 0; i < 2; i++) {
    const lots = await draw();
    const off = lots.filter(({ arm }) => arm === 'off');
    assert.ok(lots.every(({ arm }) => arm === 'on' || arm === 'off'));
    counts.push([off.length, lots.length, off.filter(({ yes }) => yes).length]);
    if (likelihood(off.length, lots.length, 0.1) > 0.001 && likelihood(counts[i][2], off.length, rate) > 0.001) return;
  }
  assert.fail(`off, loads, off and sampled: ${JSON.stringify(counts)}`);
}

const mask = (1n << 64n) - 1n;
const rotate = (/** @type {bigint} */ x, /** @type {bigint} */ bits) => ((x << bits) | (x >> (64n - bits))) & mask;

/** One round of SipHash, as its authors draw it. */
function sipRound(/** @type {bigint[]} */ v) {
  v[0] = (v[0] + v[1]) & mask; v[2] = (v[2] + v[3]) & mask;
  v[1] = rotate(v[1], 13n) ^ v[0]; v[3] = rotate(v[3], 16n) ^ v[2];
  v[0] = rotate(v[0], 32n);
  v[2] = (v[2] + v[1]) & mask; v[0] = (v[0] + v[3]) & mask;
  v[1] = rotate(v[1], 17n) ^ v[2]; v[3] = rotate(v[3], 21n) ^ v[0];
  v[2] = rotate(v[2], 32n);
}

/** SipHash-2-4. */
function siphash(/** @type {Buffer} */ key, /** @type {Buffer} */ text) {
  const [k0, k1] = [key.readBigUInt64LE(0), key.readBigUInt64LE(8)];
  const v = [k0 ^ 0x736f6d6570736575n, k1 ^ 0x646f72616e646f6dn, k0 ^ 0x6c7967656e657261n, k1 ^ 0x7465646279746573n];
  const padded = Buffer.alloc(Math.floor(text.length / 8) * 8 + 8);
  text.copy(padded);
  padded[padded.length - 1] = text.length & 0xff;
  for (let at = 0; at < padded.length; at += 8) {
    const word = padded.readBigUInt64LE(at);
    v[3] ^= word;
    sipRound(v); sipRound(v);
    v[0] ^= word;
  }
  v[2] ^= 0xffn;
  for (let i = 0; i < 4; i++) sipRound(v);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

const le64 = (/** @type {bigint} */ number) => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(number);
  return bytes;
};

/**
 * The index of the arm that a visitor with this key gets, as docs/headers.md has it.
 * @param {string} experiment @param {number[]} weights @param {string} key
 */
export function armOf(experiment, weights, key) {
  const name = siphash(Buffer.from('fleetprof sample'), Buffer.from(experiment));
  const number = siphash(Buffer.concat([Buffer.from('arm draw'), le64(name)]), Buffer.from(key));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let point = Number(number / (mask / BigInt(sum) + 1n));
  return weights.findIndex((weight) => (point -= weight) < 0);
}

/** Is a visitor with this key one of the sampled, as docs/headers.md has it? */
export const isSampled = (/** @type {string} */ key, /** @type {number} */ ppm) => (
  siphash(Buffer.from('fleetprof sample'), Buffer.from(key)) / 18446744073710n < BigInt(ppm));
