// SPDX-License-Identifier: Apache-2.0
/**
 * tools/man: a page per command, of its section of the manual, and one that lists them.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { everyCommand } from './commands.mjs';
import { repository, run, runOrThrow, temporaryDir } from './stack.mjs';

const lacksLowdown = (await run(['sh', '-c', 'command -v lowdown'])).code !== 0;

test('each command has a man page, which its section of the manual is', { skip: lacksLowdown ? 'there is no lowdown' : false }, async () => {
  const out = temporaryDir('man');
  await runOrThrow([path.join(repository, 'tools/man'), out]);
  const commands = [...new Set((await everyCommand()).map(({ name }) => name.split(' ')[0]))].filter((name) => !['help', 'complete'].includes(name));
  const all = fs.readFileSync(path.join(out, 'fleetprof.1'), 'utf8');
  for (const command of commands) {
    const text = fs.readFileSync(path.join(out, `fleetprof-${command}.1`), 'utf8');
    assert.match(text, new RegExp(`^fleetprof-${command.replaceAll('-', '\\\\?-')} \\S+ \\S`, 'm'), command);
    assert.match(text, /^SEE ALSO$/m, command);
    assert.ok(text.length > 400, command);
    assert.ok(all.includes(`fleetprof-${command}\\fR(1)`), command);
  }
  assert.deepEqual(fs.readdirSync(out).length, commands.length + 3);
});

test('the examples of --help are those of the manual', async () => {
  const manual = fs.readFileSync(path.join(repository, 'docs/cli.md'), 'utf8');
  let shown = 0;
  for (const { name } of await everyCommand()) {
    const help = await runOrThrow([path.join(repository, 'build/bin/fleetprof'), ...name.split(' '), '-h']);
    const examples = help.split('\nExamples:\n')[1]?.split('\n\n')[0].trimEnd().split('\n') ?? [];
    for (const example of examples) {
      assert.ok(example.startsWith(`  fleetprof ${name}`), `${name}: ${example}`);
      assert.ok(manual.includes(`\n${example.trim()}\n`) || manual.includes(`\n$ ${example.trim()}\n`), example);
    }
    shown += examples.length;
  }
  assert.ok(shown > 20, `${shown}`);
});
