// SPDX-License-Identifier: Apache-2.0
/**
 * No entry of the manual gets lost when its pages are rewritten: tests/data/manual_entries has the names of settings, options,
 * members, metrics, findings and so on. Remove a line when its entry goes on purpose; tests/manual_entries.mjs prints them all.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { pagesIn } from '../manual_entries.mjs';
import { repository } from './stack.mjs';

test('the manual has each of its entries', () => {
  const pages = pagesIn(path.join(repository, 'docs')).map((page) => fs.readFileSync(page, 'utf8')).join('\n').replaceAll('\\|', '|');
  const named = new Set([...pages.matchAll(/`([^`\n]+)`|^#{2,} ([a-z][\w-]*)$/gm)].map(([, code, heading]) => code ?? heading));
  const entries = fs.readFileSync(path.join(repository, 'tests/data/manual_entries'), 'utf8').trim().split('\n');
  assert.ok(entries.length > 1000);
  assert.deepEqual(entries.filter((name) => !named.has(name)), []);
});
