// SPDX-License-Identifier: Apache-2.0
/** Each query of docs/cookbook.md gives the answer that stands below it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';

import { ask, questions } from './cookbook.mjs';
import { repository } from './stack.mjs';

/** @type {Map<string, string>} */
let answers;

before(async () => { answers = await ask(); }, { timeout: 300_000 });

test('the page has thirty questions, each with a query', () => {
  const text = fs.readFileSync(path.join(repository, 'docs/cookbook.md'), 'utf8');
  assert.deepEqual(questions().map(({ heading }) => heading), [...text.matchAll(/^### (.*)$/gm)].map(([, heading]) => heading));
  assert.equal(questions().length, 30);
});

for (const { heading, answer } of questions()) {
  test(heading, () => {
    assert.ok((answer ?? '').split('\n').length > 3, 'the answer has no row');
    assert.equal(answers.get(heading), answer, 'node tests/behaviour/cookbook.mjs writes the answers again');
  });
}
