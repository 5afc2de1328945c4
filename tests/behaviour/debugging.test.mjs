// SPDX-License-Identifier: Apache-2.0
/** The lines of docs/internals/debugging.md, in one shell, with FLEETPROF_LONG: gdb, perf and valgrind are for people. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { fencedBlocks } from '../markdown.mjs';
import { freePort, repository, run, temporaryDir } from './stack.mjs';

const page = fs.readFileSync(path.join(repository, 'docs/internals/debugging.md'), 'utf8');

test('each line of the page does what the page says', { skip: process.env.FLEETPROF_LONG !== '1' && 'FLEETPROF_LONG=1' }, async () => {
  const folder = path.join(temporaryDir('debugging'), 'debug');
  const [listen, admin] = [await freePort(), await freePort()];
  const blocks = fencedBlocks(page).filter(({ language }) => language === 'sh');
  assert.ok(blocks.length >= 9);
  // Each block says its line before it runs, so that the output can be told apart.
  const script = blocks.map(({ text, line }) => `echo "== line ${line}"\n${text}`).join('\n')
    .replaceAll('$PWD/var/debug', folder).replaceAll('var/debug', folder).replaceAll('8690', `${listen}`).replaceAll('8691', `${admin}`);
  const { code, stdout, stderr } = await run(['bash', '-euo', 'pipefail', '-c', `cd ${repository}\n${script}`], { env: { NODE_TEST_CONTEXT: undefined } });
  assert.equal(code, 0, `${stdout.slice(-4000)}${stderr.slice(-4000)}`);
  for (const said of [
    /fleetprof_uploads_accepted_total\{site="shop"\} 1/, // the upload
    /Thread \d+ .*"MHD-worker"[^]*back_off/, // all threads
    /# Overhead +Command[^]*MHD-worker/, // perf
    /Saved corefile [^]*#0 .*\n/, // a core
    /hit Breakpoint 1, fp_spool_append[^]*#1 .* in fp_ingest_commit[^]*len = \d+/, // a breakpoint
    /ERROR SUMMARY: 0 errors/, // valgrind
    /^spool_recover$/m, // the list of tests
    /#0 +finds_records_of_any_length/, // a test in gdb
    /good records, 0 damaged bytes/, // verify
    /FPSPOOL/, // the header
  ]) assert.match(stdout, said);
  assert.ok(!fs.existsSync(folder));
});

test('the output of an assertion is what the page shows', () => {
  const [shown] = fencedBlocks(page).filter(({ language }) => language === '');
  assert.match(shown.text, /^collector\/[a-z_/]+\.c:\d+: assertion failed: \S/);
  const source = fs.readFileSync(path.join(repository, 'collector/base/assert.c'), 'utf8');
  assert.ok(source.includes('"%s:%d: assertion failed: %s\\n"'));
});

test('the page names breakpoints that exist', () => {
  for (const [, room, name] of page.matchAll(/^\| `([\w/]+)` \| `(fp_\w+)` \|$/gm)) {
    const files = fs.readdirSync(path.join(repository, 'collector', room)).filter((file) => file.endsWith('.c'));
    assert.ok(files.some((file) => fs.readFileSync(path.join(repository, 'collector', room, file), 'utf8').includes(`${name}(`)), `${room}: ${name}`);
  }
});
