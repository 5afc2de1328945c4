// SPDX-License-Identifier: Apache-2.0
/**
 * The ledger itself: it sees what is missing, counted twice, or counted for another site.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compare } from './ledger.mjs';

test('the ledger sees what is missing, doubled and misplaced', () => {
  const acknowledged = new Map([['a', 'shop'], ['b', 'shop'], ['c', 'news']]);
  const rows = [{ id: 'a', site: 'shop' }, { id: 'a', site: 'shop' }, { id: 'c', site: 'shop' }, { id: 'x', site: 'shop' }];
  assert.deepEqual(compare('made up', acknowledged, rows),
    { accident: 'made up', acknowledged: 3, counted: 3, missing: 1, twice: 1, misplaced: 1 });
});
