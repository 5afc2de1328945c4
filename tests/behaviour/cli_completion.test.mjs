// SPDX-License-Identifier: Apache-2.0
/** Completion in bash: it knows what the program's own help lists. tests/packages also tries zsh's. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { binDir, repository, run } from './stack.mjs';

/**
 * @param {string[]} words the last one is completed
 * @returns {Promise<string[]>}
 */
async function complete(...words) {
  const { code, stdout, stderr } = await run(['bash', '-c', `
    . '${path.join(repository, 'cli/completion/bash/fleetprof')}'
    compopt() { :; }
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _fleetprof
    printf '%s\\n' "\${COMPREPLY[@]}"`, 'bash', path.join(binDir, 'fleetprof'), ...words]);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout.split('\n').filter((line) => line !== '');
}

test('completes commands, also of families', async () => {
  const { stdout: help } = await run([path.join(binDir, 'fleetprof'), '--help']);
  const listed = [...help.matchAll(/^ {2}([a-z][a-z-]*) /gm)].map(([, name]) => name);
  assert.ok(listed.length > 20, help);
  assert.match(help, /\nCommands:\n(  [a-z].*\n)+\n/, 'a line for each');
  assert.deepEqual(await complete(''), listed);
  assert.deepEqual(await complete('help', 'third'), ['third-parties']);
  assert.deepEqual(await complete('spool', 'ver'), ['verify']);
  assert.deepEqual(await complete('spool', 'dead-letters', ''), ['list', 'show', 'replay']);
});

test('completes options, and leaves their arguments to the shell', async () => {
  assert.deepEqual(await complete('top', '--me'), ['--measure=']);
  assert.deepEqual(await complete('spool', 'dead-letters', 'list', '--js'), ['--json']);
  assert.deepEqual(await complete('top', '--site', ''), []);
  assert.deepEqual(await complete('top', '-c', ''), []);
  assert.deepEqual(await complete('top', '--config', '=', 'x'), []);
  assert.deepEqual(await complete('no-such-command', ''), []);
});

test('a word before is text, not a pattern', async () => {
  for (const word of ["'f(x'", 'a[', '.*', '\\']) assert.deepEqual(await complete('callers', word, '--ca'), ['--callees'], word);
});

test('completes formats', async () => {
  const all = ['folded', 'speedscope', 'gecko', 'chrome', 'pprof'];
  assert.deepEqual(await complete('export', '--format', ''), all);
  assert.deepEqual(await complete('export', '--format', '='), all);
  assert.deepEqual(await complete('export', '--format', '=', 'p'), ['pprof']);
  assert.deepEqual(await complete('export', '--site', ''), []);
});
