// SPDX-License-Identifier: Apache-2.0
/** Compares a response with what its case expects. */
import assert from 'node:assert/strict';

import { no, sampledTiming, unsampledTiming, yes } from './cases/words.mjs';
import { shown } from './token.mjs';
import { linesOf } from './wire.mjs';

/**
 * Returns the Server-Timing beside an expected policy, where the case does not say it: the decision, wherever the
 * policy is ours, and nothing where the response is not ours to judge. A case with the application's own yes says it.
 * @param {import('./cases.mjs').Case} c
 * @returns {string[] | undefined}
 */
function usualTiming({ policy = [], log }) {
  const said = policy.at(-1) ?? '';
  if (said.endsWith(yes)) return [sampledTiming];
  if (said.endsWith(no)) return [unsampledTiming];
  if (log && ['off', 'type', 'status', 'not_modified'].includes(log[2])) return [];
  if (log && ['rate', 'bad_rate', 'cacheable', 'unparsable', 'too_long'].includes(log[2])) return [unsampledTiming];
  return undefined;
}

/**
 * @param {import('./wire.mjs').Response} response
 * @param {import('./cases.mjs').Case & { body?: string }} c
 */
export function assertExpected(response, c) {
  assert.equal(response.status, c.status ?? 200);
  assert.deepEqual(linesOf(response, 'document-policy'), c.policy ?? []);
  assert.deepEqual(linesOf(response, 'timing-allow-origin'), c.origins ?? []);
  const timing = c.serverTiming ?? usualTiming(c);
  if (timing) assert.deepEqual(linesOf(response, 'server-timing').map(shown), timing);
  for (const [name, lines] of Object.entries(c.fields ?? {})) {
    assert.deepEqual(linesOf(response, name), lines, name);
  }
  if (c.body !== undefined) assert.equal(response.body, c.body);
}
