// SPDX-License-Identifier: Apache-2.0
/** Completion in bash: it knows what the program's own help lists. tests/packages also tries zsh's. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { dimensions } from '../../tools/filters.mjs';
import { envelope, send } from './collector_client.mjs';
import { binDir, repository, run, startStack, temporaryDir, waitFor } from './stack.mjs';

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
  assert.match(help, /\nCommands:\n( [A-Z].*:\n(  [a-z].*\n)+)+\n/, 'a line for each, in groups');
  assert.deepEqual(await complete(''), listed);
  assert.deepEqual(await complete('help', 'third'), ['third-parties']);
  assert.deepEqual(await complete('spool', 'ver'), ['verify']);
  assert.deepEqual(await complete('spool', 'dead-letters', ''), ['list', 'show', 'replay']);
});

test('completes options, and leaves their arguments to the shell', async () => {
  assert.deepEqual(await complete('top', '--me'), ['--measure=']);
  assert.deepEqual(await complete('spool', 'dead-letters', 'list', '--js'), ['--json']);
  const filters = (await complete('top', '--')).filter((option) => dimensions.includes(option.slice(2, -1).replace('-', '_')));
  assert.deepEqual(filters.sort(), dimensions.map((name) => `--${name.replace('_', '-')}=`).sort());
  assert.deepEqual((await complete('compare', '--before-')).sort(),
    ['since', 'until', ...dimensions.filter((name) => name !== 'release')].map((name) => `--before-${name.replace('_', '-')}=`).sort());
  for (const option of ['-s', '-S', '-r', '--browser', '--before-os']) assert.deepEqual(await complete('compare', option, '--ag'), option === '-r' ? ['--agent'] : [], option);
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

test('completes values of filters from the database', async (t) => {
  const stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }, { name: 'blog', key: 'pk_blog' }] } });
  t.after(() => stack.stop());
  for (const [key, release, route] of [['shop', '2.1 beta', '/50%'], ['shop', '2.0', '/product/:id'], ['shop', '2.0', '/a'], ['blog', '7', '/'], ['blog', '7', '/b'], ['blog', 'app@7:1', '/']]) {
    assert.equal((await send(`${stack.collector.url}/v1/ingest/pk_${key}`, { body: envelope({ release, page: { url: 'https://shop.example/', route } }) })).status, 204);
  }
  await waitFor(async () => (await stack.sql('select from fleetprof.upload_log')).length === 6, { what: 'all uploads' });
  const database = ['-d', stack.postgres.conninfo('fleetprof_reader')];
  /** On a busy machine, the second that completion waits may not suffice. @param {string[]} words @returns {Promise<string[]>} */
  const completeValues = async (...words) => {
    /** @type {string[]} */ let found = [];
    await waitFor(async () => { found = await complete(...words); return found.length > 0; }, { what: words.join(' ') });
    return found;
  };
  assert.deepEqual((await completeValues('top', ...database, '--site', '')).sort(), ['blog', 'shop']);
  assert.deepEqual(await completeValues('top', ...database, '--site', '=', 's'), ['shop']);
  assert.deepEqual(await completeValues('top', ...database, '--site', '=', 'shop', '--release', ''), ['2.0', '2.1\\ beta']);
  assert.deepEqual(await completeValues('top', ...database, '--site', 'shop', '--route', '='), ['/50\\\\%', '/a', '/product/:id']);
  assert.deepEqual(await completeValues('compare', ...database, '--site', 'shop', '--before-release', '2.1'), ['2.1\\ beta']);
  assert.deepEqual(await completeValues('top', ...database, '-s', 'blog', '-r', ''), ['7', 'app@7:1']);
  assert.deepEqual((await completeValues('top', ...database, '-s', '')).sort(), ['blog', 'shop']);
  assert.deepEqual(await completeValues('compare', ...database, '--site', 'blog', ''), ['7', 'app@7:1']);
  assert.deepEqual(await completeValues('compare', ...database, '--site', 'blog', '--js'), ['--json']);
  assert.deepEqual(await complete('top', ...database, '--device', 'x'), [], 'no such device');

  const lines = {
    'top --site=shop --route=/product/:': ['top', '--site=shop', '--route=/product/:id'],
    'top --site shop --route /prod': ['top', '--site', 'shop', '--route', '/product/:id'],
    'top --site shop --route /product/:i': ['top', '--site', 'shop', '--route', '/product/:id'],
    'top --site blog -r app@': ['top', '--site', 'blog', '-r', 'app@7:1'],
    'compare --site blog app@7': ['compare', '--site', 'blog', 'app@7:1'],
    'top --until "2026-05-01 14:00" --since 10:00 --site sh': ['top', '--until', '2026-05-01 14:00', '--since', '10:00', '--site', 'shop'],
    'callers Cart::add --calle': ['callers', 'Cart::add', '--callees'],
  };
  for (const [line, wanted] of Object.entries(lines)) {
    /** @type {string[]} */ let found = [];
    await waitFor(async () => { found = await typed(line, stack.postgres.conninfo('fleetprof_reader')); return found.join() === wanted.join(); }, { what: wanted.join(' ') })
      .catch(() => assert.deepEqual(found, wanted));
  }
});

/**
 * Types a line, a tab and Return in a bash that people use.
 * @param {string} line @param {string} database @returns {Promise<string[]>} the arguments of the program that it started
 */
async function typed(line, database) {
  const dir = temporaryDir('typed');
  const real = path.join(binDir, 'fleetprof');
  fs.writeFileSync(path.join(dir, 'fleetprof'), `#!/bin/sh
case "$1" in help | complete) exec '${real}' "$@" ;; esac
printf '%s\\n' "$@" >'${dir}/arguments'
`, { mode: 0o755 });
  const rc = path.join(dir, 'rc');
  fs.writeFileSync(rc, `HISTFILE=\nPATH='${dir}':$PATH FLEETPROF_DATABASE='${database}'\nexport FLEETPROF_DATABASE\n. '${repository}/cli/completion/bash/fleetprof'\n`);
  const shell = spawn('script', ['-qec', `bash --noprofile --rcfile '${rc}' -i`, '/dev/null'], { env: { ...process.env, TERM: 'dumb', INPUTRC: '/dev/null' }, stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = new Promise((resolve) => { shell.once('close', resolve); });
  shell.stdin.write(`fleetprof ${line}\t\nexit\n`);
  await ended;
  return fs.existsSync(path.join(dir, 'arguments')) ? fs.readFileSync(path.join(dir, 'arguments'), 'utf8').trimEnd().split('\n') : [];
}
