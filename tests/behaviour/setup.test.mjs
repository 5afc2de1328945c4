// SPDX-License-Identifier: Apache-2.0
/**
 * The lines of operations.md, "Setting up", run as they stand: from Debian's PostgreSQL with peer authentication to a
 * counted upload.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fencedBlocks, section } from '../markdown.mjs';
import { runInSandbox, sandboxMissing } from './sandbox.mjs';
import { binDir, repository } from './stack.mjs';

/** Additions to a block for steps that a person would do by looking or in a second terminal. */
const around = [
  // In the foreground it would end the script.
  { has: 'setpriv ', wrap: (/** @type {string} */ text) => `${text} &` },
  { has: '/readyz', wrap: (/** @type {string} */ text) => `for i in {1..100}; do ${text} && break; sleep 0.1; done` },
];

test('the lines of "Setting up" end in a counted upload', async (t) => {
  const missing = await sandboxMissing();
  if (missing) return t.skip(missing);

  const page = fs.readFileSync(path.join(repository, 'docs/operations.md'), 'utf8');
  const blocks = fencedBlocks(section(page, '## Setting up')).filter(({ language }) => language === 'sh');
  assert.ok(blocks.length >= 6, 'the page has lost its blocks');
  const script = blocks.map(({ text, line }) => {
    const here = text.replaceAll('build/bin', binDir);
    const wrapped = around.find(({ has }) => text.includes(has))?.wrap(here) ?? here;
    return `echo "== docs/operations.md:${line}" >&2\n${wrapped}`;
  });

  const { code, stdout, stderr } = await runInSandbox(script);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^.*FUNCTION.*\n.*http.*$/m, `no function was counted\n${stdout}${stderr}`);
});
