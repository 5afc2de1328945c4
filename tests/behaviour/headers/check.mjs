/** Holds a response against what its case expects. */
import assert from 'node:assert/strict';

import { shown } from './token.mjs';
import { linesOf } from './wire.mjs';

/**
 * @param {import('./wire.mjs').Response} response
 * @param {import('./cases.mjs').Case & { body?: string }} c
 */
export function assertExpected(response, c) {
  assert.equal(response.status, c.status ?? 200);
  assert.deepEqual(linesOf(response, 'document-policy'), c.policy ?? []);
  assert.deepEqual(linesOf(response, 'timing-allow-origin'), c.origins ?? []);
  if (c.serverTiming) assert.deepEqual(linesOf(response, 'server-timing').map(shown), c.serverTiming);
  for (const [name, lines] of Object.entries(c.fields ?? {})) {
    assert.deepEqual(linesOf(response, name), lines, name);
  }
  if (c.body !== undefined) assert.equal(response.body, c.body);
}
