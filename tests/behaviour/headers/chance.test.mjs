// SPDX-License-Identifier: Apache-2.0
/** The arithmetic by which the servers are judged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { likelihood } from '../../../conformance/chance.mjs';
import { armOf, isSampled } from './chance.mjs';

test('the interval is that of the binomial distribution', () => {
  assert.ok(Math.abs(likelihood(0, 10, 0.5) - 2 / 1024) < 1e-12);
  assert.ok(Math.abs(likelihood(5, 10, 0.5) - 1) < 1e-12);
  assert.ok(likelihood(237, 20_000, 0.01) > 0.001 && likelihood(255, 20_000, 0.01) < 0.001);
});

test('the two visitors of the cases lie on either side of one half', () => {
  assert.equal(isSampled('visitor-1', 500_000), true);
  assert.equal(isSampled('0123456789abcdef', 500_000), false);
});

test('arms of keys have the shares of their weights, whoever is sampled, and whatever another experiment draws', () => {
  const keys = Array.from({ length: 20_000 }, (_, i) => `visitor-${i}`);
  const inOff = keys.filter((key) => armOf('chat', [9, 1], key) === 1);
  const share = (/** @type {string[]} */ some, /** @type {(key: string) => boolean} */ has) => likelihood(some.filter(has).length, some.length, 0.1);
  assert.ok(share(keys, (key) => armOf('chat', [9, 1], key) === 1) > 0.001);
  assert.ok(share(inOff, (key) => isSampled(key, 100_000)) > 0.001);
  assert.ok(share(inOff, (key) => armOf('hero', [9, 1], key) === 1) > 0.001);
});
