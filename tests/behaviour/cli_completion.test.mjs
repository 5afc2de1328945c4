// SPDX-License-Identifier: Apache-2.0
/** Completion in bash: it knows what the program's own help lists. tests/packages also tries zsh's. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { dimensions } from '../../tools/filters.mjs';
import { envelope, send } from './collector_client.mjs';
import { binDir, repository, run, startStack, waitFor } from './stack.mjs';

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
  for (const [key, release, route] of [['shop', '2.1 beta', '/50%'], ['shop', '2.0', '/product/:id'], ['shop', '2.0', '/a'], ['blog', '7', '/'], ['blog', '7', '/b']]) {
    assert.equal((await send(`${stack.collector.url}/v1/ingest/pk_${key}`, { body: envelope({ release, page: { url: 'https://shop.example/', route } }) })).status, 204);
  }
  await waitFor(async () => (await stack.sql('select from fleetprof.upload_log')).length === 5, { what: 'all uploads' });
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
  assert.deepEqual(await completeValues('top', ...database, '-s', 'blog', '-r', ''), ['7']);
  assert.deepEqual((await completeValues('top', ...database, '-s', '')).sort(), ['blog', 'shop']);
  assert.deepEqual(await completeValues('compare', ...database, '--site', 'blog', ''), ['7']);
  assert.deepEqual(await completeValues('compare', ...database, '--site', 'blog', '--js'), ['--json']);
  assert.deepEqual(await complete('top', ...database, '--device', 'x'), [], 'no such device');
});
