// SPDX-License-Identifier: Apache-2.0
/** Pages for people who change fleetprof: decisions have one form. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { repository } from './stack.mjs';

const folder = path.join(repository, 'docs/internals/decisions');
const decisions = fs.readdirSync(folder);
const mostWords = 250;

for (const name of decisions) {
  test(`decision ${name}: context, decision, consequences, what was rejected, at most ${mostWords} words`, () => {
    const text = fs.readFileSync(path.join(folder, name), 'utf8');
    assert.match(text, /^# \S/);
    assert.deepEqual([...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title), ['Context', 'Decision', 'Consequences', 'Measured and rejected']);
    const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
    assert.ok(words.length > 100 && words.length <= mostWords, `${words.length} words`);
  });
}

test('there are a dozen decisions', () => assert.ok(decisions.length >= 12));
