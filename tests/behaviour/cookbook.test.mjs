// SPDX-License-Identifier: Apache-2.0
/** Each query of docs/cookbook.md, and each command of docs/cli.md and docs/vitals.md, gives the answer that stands below it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';

import { ask, examples, lasting, questions } from './cookbook.mjs';
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

for (const { page, command, query, answer } of examples()) {
  test(`${page}: ${command ?? query}`, () => {
    assert.ok(answer.split('\n').length > 1, 'the answer has no line');
    assert.equal(lasting(answers.get(command ?? query ?? '') ?? '', answer), lasting(answer), 'node tests/behaviour/cookbook.mjs writes the answers again');
  });
}

test('the examples of a page are found', () => {
  assert.deepEqual(['cli.md', 'vitals.md'].map((name) => examples().filter(({ page }) => page === name).length), [7, 6]);
});
