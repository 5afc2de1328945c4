// SPDX-License-Identifier: Apache-2.0
/**
 * Tests side by side: what one sends must not reach the server of another, which has the same sites.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from './stack.mjs';

test('a second taker of ports never gets a port of the first', async () => {
  // A second instance of the module has the same process id, and so begins at the same block.
  const address = './stack.mjs?second';
  /** @type {typeof import('./stack.mjs')} */
  const second = await import(address);
  /** @type {(take: () => Promise<number>) => Promise<Set<number>>} */
  const many = async (take) => {
    const ports = new Set();
    for (let i = 0; i < 150; i++) ports.add(await take());
    return ports;
  };
  const [ours, theirs] = [await many(freePort), await many(second.freePort)];
  assert.ok(ours.size >= 50 && theirs.size >= 50, `${ours.size} and ${theirs.size} ports`);
  assert.deepEqual([...ours].filter((port) => theirs.has(port)), []);
});
