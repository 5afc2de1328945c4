// SPDX-License-Identifier: Apache-2.0
/**
 * docs/log.md has every line that fleetprofd can log, and no other. tools/reference.mjs writes its levels and fields.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { calls, linesOf, sources } from '../../tools/log_lines.mjs';
import { written } from '../../tools/reference.mjs';
import { repository } from './stack.mjs';

/** @typedef {import('../../tools/log_lines.mjs').Line} Line */

const page = fs.readFileSync(path.join(repository, 'docs/log.md'), 'utf8');

/** @returns {Map<string, Line>} */
function documented() {
  const rows = [...page.matchAll(/^\| ([a-z, ]+) \| `([^`]+)` \| (.*?) ?\| (.+?) \| ?(.*?) ?\|$/gm)];
  const lines = rows.map(([, levels, message, fields, meaning]) => {
    assert.ok(meaning.length > 5, message);
    return /** @type {[string, Line]} */ ([message, { levels: levels.split(', '), fields: [...fields.matchAll(/`(\w+)`/g)].map(([, key]) => key) }]);
  });
  assert.equal(new Set(lines.map(([message]) => message)).size, lines.length, 'a message stands twice');
  return new Map(lines);
}

test('the manual has every message with its levels and fields, and no other', () => {
  const logged = linesOf(sources);
  assert.ok(logged.size > 35, `${logged.size} messages`);
  assert.deepEqual(Object.fromEntries([...documented()].sort()), Object.fromEntries([...logged].sort()));
});

test('a message, a level or a field that is only in the code is noticed', () => {
  const file = path.join(repository, 'collector/writer/writer.c');
  const lines = linesOf([file]);
  assert.deepEqual(lines.get('flush failed, tried again until it works; the spool keeps uploads'),
    { levels: ['warn', 'error'], fields: ['state', 'failing_s', 'tries', 'detail', 'hint'] });
  assert.deepEqual(lines.get('connected to the database'), { levels: ['info'], fields: ['position'] });
  const [args] = calls('x(); fp_log(FP_LOG_INFO, "a, (b) \\" " "c", f(1, 2) ? "k=%d" : "l=%s", \')\', /* ) */ 3);', 'fp_log');
  assert.deepEqual(args, ['FP_LOG_INFO', '"a, (b) \\" " "c"', 'f(1, 2) ? "k=%d" : "l=%s"', "')'", '/* ) */ 3']);
});

test('levels and fields of a row are those of the code; a row without a line in the code is named', () => {
  const changed = page.replace('| warn, error | `flush failed', '| info | `flush failed').replace('| `position` | After a start', '| `place` | After a start');
  assert.notEqual(changed, page);
  assert.equal(written(changed, 'log.md'), page);
  assert.throws(() => written(page.replace('`stopping`', '`stopped`'), 'log.md'), /no line is logged with the message "stopped"/);
});

test('every link of the page leads to a section', () => {
  const anchor = (/** @type {string} */ heading) => heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');
  const links = [...page.matchAll(/\]\((\w+\.md)(?:#([\w-]+))?\)/g)];
  assert.ok(links.length > 10);
  for (const [, file, section] of links) {
    const headings = [...fs.readFileSync(path.join(repository, 'docs', file), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading));
    assert.ok(!section || headings.includes(section), `${file}#${section}`);
  }
});
