// SPDX-License-Identifier: Apache-2.0
/** tools/manual/words.mjs: which words count as written by hand, and the budget of each page. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { repository, run, temporaryDir } from './stack.mjs';

/** Counts a manual of one how-to guide and one reference. @param {Record<string, string>} files that replace its own */
async function count(files) {
  const root = temporaryDir('manual');
  const all = {
    'README.md': '# Manual\n\n## How-to guides\n\n[a](a.md)\n\n## Reference\n\n[b](b.md) [in](internals/README.md)\n',
    'a.md': '# Title\n\nTwo words.\n', 'b.md': '# Other\n', budget: '3 a.md\n9 b.md\n9 together\n', ...files,
  };
  fs.mkdirSync(path.join(root, 'docs'));
  for (const [name, text] of Object.entries(all)) fs.writeFileSync(path.join(root, 'docs', name), text);
  return run([process.execPath, path.join(repository, 'tools/manual/words.mjs')], { env: { ...process.env, FLEETPROF_MANUAL: root } });
}

test('counts words by the chapter that names their page first', async () => {
  const { code, stdout } = await count({ 'README.md': '# Manual\n\n## How-to guides\n\n[a](a.md)\n\n## Reference\n\n[a](a.md) [b](b.md)\n' });
  assert.equal(code, 0);
  assert.match(stdout, /^ {5}3 How-to guides\n {5}1 Reference\n {5}4 words by hand/);
});

for (const [what, text, words] of /** @type {[string, string, number][]} */ ([
  ['not generated tables', '<!-- reference: settings http -->\n| a | b |\n<!-- /reference -->\n', 0],
  ['rows of the log, which people write', '<!-- reference: log -->\n| a | b |\n<!-- /reference -->\n', 2],
  ['not code blocks, and what follows them', '```sh\none two\n```\n\nafter\n\n- item\n\n  ```\n  code\n  ```\n', 2],
  ['not marks', '| --- | - | a |\n', 1],
  ['not where a link leads', 'see [this page](other.md#place)\n', 3],
])) {
  test(`counts ${what}`, async () => {
    const { stdout } = await count({ 'a.md': text });
    assert.match(stdout, new RegExp(`^ +${words} How-to guides$`, 'm'));
  });
}

for (const [what, files, message] of /** @type {[string, Record<string, string>, RegExp][]} */ ([
  ['a page above its budget', { 'a.md': 'One two three four.' }, /a\.md has 4 words, 3 are its budget/],
  ['a page without a budget', { budget: '9 b.md\n9 together\n' }, /a\.md has no line in docs\/budget/],
  ['pages that together are above the budget', { budget: '3 a.md\n9 b.md\n3 together\n' }, /the manual has 4 words, 3 are its budget/],
  ['a budget of no page', { budget: '3 a.md\n9 b.md\n1 c.md\n9 together\n' }, /docs\/budget names c\.md/],
])) {
  test(`refuses ${what}`, async () => {
    const { code, stderr } = await count(files);
    assert.equal(code, 1);
    assert.match(stderr, message);
  });
}
