// SPDX-License-Identifier: Apache-2.0
/** fleetprof owners: what each pattern of a CODEOWNERS file matches, what is refused and where, and the costs of owners. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { binDir, run, startPostgres, temporaryDir } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('owners');

/** @type {import('./stack.mjs').Postgres} */ let postgres;

before(async () => {
  postgres = await startPostgres({ migrated: true });
});
after(() => postgres?.stop());

/** @param {string | Buffer} content @param {string[]} args */
async function set(content, ...args) {
  const file = path.join(dir, 'CODEOWNERS');
  fs.writeFileSync(file, content);
  return run([program, 'owners', 'set', '--site', 'shop', ...args, file, '--database', postgres.conninfo('fleetprof_writer')]);
}

/** The owners of sources, null for nobody. @param {string[]} sources @returns {Promise<(string | null)[]>} */
async function ownersOf(sources) {
  const rows = await postgres.sql(`select source, owner from fleetprof_data.owners_of(array_fill('shop'::text, array[${sources.length}]),
    array[${sources.map((source) => `'${source.replaceAll("'", "''")}'`).join()}]::text[])`, 'fleetprof_reader');
  return sources.map((source) => rows.find((row) => row.source === source)?.owner ?? null);
}

/** Patterns, the paths that each matches, and others. @type {[string, string[], string[]][]} */
const patterns = [
  // A name without a slash is at any depth: a file, or all that is in a directory.
  ['*', ['a.ts', 'src/a.ts', 'a/b/c/.eslintrc'], []],
  ['*.ts', ['a.ts', 'src/a.ts', 'x.ts/a.js', '.ts'], ['a.tsx', 'ats', 'src/a.js']],
  ['*.test.*', ['a.test.ts', 'src/b.test.js'], ['a.ts', 'test.ts']],
  ['Makefile', ['Makefile', 'lib/Makefile', 'Makefile/x'], ['makefile', 'Makefile.am', 'aMakefile']],
  ['apps/', ['apps/a.ts', 'src/apps/a/b.ts'], ['apps', 'src/apps', 'myapps/a.ts', 'apps.ts']],
  // A slash at the start or inside: from the root.
  ['/apps', ['apps', 'apps/a.ts', 'apps/a/b.ts'], ['src/apps/a.ts', 'apps2/a.ts', 'apps.ts']],
  ['/apps/', ['apps/a.ts', 'apps/a/b.ts'], ['apps', 'src/apps/a.ts']],
  ['/*', ['a.ts', 'README.md'], ['src/a.ts']],
  ['/*.ts', ['a.ts', 'x.ts/a.js'], ['src/a.ts']],
  ['src/cart', ['src/cart', 'src/cart/a.ts'], ['x/src/cart/a.ts', 'src/cart.ts', 'src/carts/a.ts']],
  ['src/cart/', ['src/cart/a.ts', 'src/cart/b/c.ts'], ['src/cart', 'x/src/cart/a.ts']],
  ['src/cart/total.ts', ['src/cart/total.ts'], ['src/cart/total.tsx', 'src/cart/Total.ts', 'src/cart/totalXts']],
  // * and ? do not match a slash; a * at the end not what is in directories, unlike in .gitignore.
  ['docs/*', ['docs/a.md', 'docs/.x'], ['docs/a/b.md', 'docs', 'x/docs/a.md', 'docs/']],
  ['docs/*.md', ['docs/a.md', 'docs/.md'], ['docs/a/b.md', 'docs/a.mdx']],
  ['/apps/*/x', ['apps/a/x', 'apps/a/x/b.ts'], ['apps/x', 'apps/a/b/x', 'apps/a/xy', 'src/apps/a/x']],
  ['/apps/*/', ['apps/a/b.ts', 'apps/a/b/c.ts'], ['apps/a.ts', 'apps/a']],
  ['/src/*cart*', ['src/cart', 'src/mycart2/a.ts'], ['src/a/cart']],
  ['/src/a**b/c', ['src/ab/c', 'src/axxb/c'], ['src/a/b/c']],
  ['/src/?.ts', ['src/a.ts', 'src/ü.ts'], ['src/ab.ts', 'src/.ts', 'src//.ts']],
  ['src/???', ['src/abc', 'src/abc/d.ts'], ['src/ab', 'src/abcd']],
  // ** is any number of directories.
  ['**', ['a.ts', 'a/b/c.ts'], []],
  ['**/', ['a/b.ts', 'a/b/c.ts'], ['a.ts']],
  ['/**', ['a.ts', 'a/b.ts'], []],
  ['docs/**', ['docs/a.md', 'docs/a/b.md'], ['docs', 'x/docs/a.md', 'docs2/a.md']],
  ['**/logs', ['logs', 'logs/a', 'build/logs/a', 'a/b/logs/c/d'], ['mylogs/a', 'logs2']],
  ['**/logs/', ['logs/a', 'build/logs/a'], ['logs', 'build/logs']],
  ['/src/**/a.ts', ['src/a.ts', 'src/b/a.ts', 'src/b/c/a.ts'], ['a.ts', 'src/ba.ts', 'x/src/a.ts']],
  ['src/**/test/**', ['src/test/a', 'src/a/b/test/c/d'], ['src/test', 'src/mytest/a', 'test/a']],
  ['src/**/*.ts', ['src/a.ts', 'src/b/a.ts'], ['a.ts', 'src/a.js']],
  ['**/**/a.ts', ['a.ts', 'b/a.ts', 'b/c/a.ts'], ['ba.ts']],
  ['src/**/', ['src/a.ts', 'src/b/a.ts'], ['src', 'a/src/b.ts']],
  // Escaped characters mean themselves, and so do letters of regular expressions and LIKE.
  ['/my\\ docs/', ['my docs/a.md'], ['my/docs/a.md', 'my docs']],
  ['a\\ b.ts', ['a b.ts', 'x/a b.ts'], ['ab.ts']],
  ['/pages/\\[id\\].tsx', ['pages/[id].tsx'], ['pages/i.tsx', 'pages/id.tsx']],
  ['\\[id\\]', ['pages/[id]/a.ts'], ['pages/i/a.ts']],
  ['/a\\*b.ts', ['a*b.ts'], ['axb.ts']],
  ['/src/c\\#/', ['src/c#/a.ts'], ['src/c/a.ts']],
  ['/a\\\\b', ['a\\b'], ['a/b', 'ab']],
  ['/a+(b)|{c}^$.ts', ['a+(b)|{c}^$.ts'], ['aab.ts']],
  ['*+(b)|{1}^$.ts', ['x+(b)|{1}^$.ts'], ['xb.ts', 'b']],
  ['/a_b%/', ['a_b%/c.ts'], ['axbyy/c.ts']],
  ['/größe/*.ts', ['größe/ä.ts'], ['grosse/a.ts']],
  ['/', [], ['a.ts', 'a/b.ts']],
];

for (const [pattern, matching, others] of patterns) {
  test(`${pattern} matches ${matching.join(', ') || 'nothing'}`, async () => {
    const { code, stderr } = await set(`${pattern} @team\n`);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await ownersOf([...matching, ...others]), [...matching.map(() => '@team'), ...others.map(() => null)]);
  });
}

/** Files, a source, and who owns it. @type {[string, string, string, string | null][]} */
const files = [
  ['the last matching pattern wins', '*.ts @a\n/src/ @b\n/src/x.ts @c\n', 'src/x.ts', '@c'],
  ['also where an expression stands after a path', '/src/ @b\n*.ts @a\n', 'src/x.ts', '@a'],
  ['and a path after an expression', '*.ts @a\n/src/ @b\n* @c\n/src/x.ts @d\n', 'src/x.ts', '@d'],
  ['several owners own together, in one order', '* @b a@shop.example @org/team @b\n', 'x', '@b @org/team a@shop.example'],
  ['a pattern without owners takes them away', '/apps/ @a\n/apps/github\n', 'apps/github/x.ts', null],
  ['comments at the start, and after owners', '# * @no\n   # * @no\n* @a # @no\n', 'x', '@a'],
  ['a comment without owners', '* @a\n/x # nobody\n', 'x', null],
  ['tabs and spaces between', ' \t*\t  @a\t\t@b  \n', 'x', '@a @b'],
  ['line ends of Windows, and a byte order mark', '\uFEFF* @a\r\n\r\n/x @b\r\n', 'x', '@b'],
  ['no line end', '* @a', 'x', '@a'],
  ['nested groups, dots and dashes', '* @org/sub-group/te_am.x\n', 'x', '@org/sub-group/te_am.x'],
  ['nothing at all', '\n# nothing\n', 'x', null],
];

for (const [name, content, source, owner] of files) {
  test(name, async () => {
    const { code, stderr } = await set(content);
    assert.equal(code, 0, stderr);
    assert.deepEqual(await ownersOf([source]), [owner]);
  });
}

/** Refused files, and the message. @type {[string | Buffer, RegExp][]} */
const refused = [
  ['* @a\n!/src/ @b\n', /CODEOWNERS:2: a pattern cannot be negated/],
  ['[Section]\n* @a\n', /:1: sections of GitLab/],
  ['* @a\n^[Section][2] @b\n', /:2: sections of GitLab/],
  ['/src/[ab].ts @a\n', /:1: a \[ or \] needs a backslash/],
  ['/src/ab].ts @a\n', /:1: a \[ or \] needs a backslash/],
  ['\\#x @a\n', /:1: a pattern cannot begin with \\#/],
  ['/src/c# @a\n', /:1: a # in a pattern needs a backslash/],
  ['***/x @a\n', /:1: a pattern has at most two \* in a row/],
  ['src//x @a\n', /:1: a pattern with \/\/ matches nothing/],
  ['* team\n', /:1: an owner is @user, @organisation\/team or an email/],
  ['/my docs/ @a\n', /:1: .*a space in a path needs a backslash/],
  ['* @\n', /:1: an owner is/],
  ['* @a//b\n', /:1: an owner is/],
  ['* @/b\n', /:1: an owner is/],
  ['* @a/\n', /:1: an owner is/],
  ['* a@\n', /:1: an owner is/],
  ['* @a#b\n', /:1: an owner is/],
  ['* @a,@b\n', /:1: an owner is/],
  ['/x\\', /:1: a backslash needs a character/],
  [`/${'x'.repeat(1024)} @a\n`, /:1: a pattern has at most 1,024 bytes/],
  [`* ${'@a '.repeat(101)}\n`, /:1: a pattern has at most 100 owners/],
  ['* @a\n\n/a\u0001b @a\n', /:3: .*control character/],
  [Buffer.from([0x2a, 0x0a, 0xff, 0x20, 0x40, 0x61]), /:2: .*UTF-8/],
  [`${'x '.repeat(1)}\n`.repeat(20001), /:20001: at most 20,000 patterns/],
  [`# ${'x'.repeat(3 << 20)}`, /CODEOWNERS: is larger than 3 MiB/],
];

for (const [content, message] of refused) {
  test(`refused: ${String(message)}, and nothing is changed`, async () => {
    assert.equal((await set('* @before\n')).code, 0);
    const { code, stdout, stderr } = await set(content);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
    assert.equal(stdout, '');
    assert.deepEqual(await ownersOf(['x']), ['@before']);
  });
}

test('each invalid line is named, up to ten', async () => {
  const { stderr } = await set('!x\n* @a\n'.repeat(12));
  assert.equal(stderr.match(/cannot be negated/g)?.length, 10);
  assert.match(stderr, /CODEOWNERS:19: /);
  assert.match(stderr, /2 more lines are invalid/);
});

test('a file is counted, listed, tried out and removed; a reader may not write', async () => {
  const writer = ['--database', postgres.conninfo('fleetprof_writer')];
  const json = async (/** @type {string[]} */ ...args) => JSON.parse((await run([program, 'owners', ...args, '--json', ...writer])).stdout);
  await postgres.sql(`select fleetprof_data.add_function_table(7, 'shop', 'https://shop.example/app.js', 'v1',
    '[[1, 1, "a", "src/a.ts", 1, 1, "", false], [1, 2, "b", "src/b.ts", 1, 1, "", false], [1, 3, "c", "node_modules/c/c.js", 1, 1, "c", true]]')`);
  await set('* @a\n* @b\n');
  const tried = await set('/src/a.ts @team\n', '--dry-run', '--json');
  assert.deepEqual(JSON.parse(tried.stdout), [{ patterns: 1, removed: 2, sources: 2, owned: 1 }]);
  assert.match(tried.stderr, /nothing was changed/);
  assert.deepEqual(await ownersOf(['src/a.ts']), ['@b']);
  assert.match((await set('/other/ @team\n')).stderr, /no pattern gives a source of the site an owner[^]*--root/);
  assert.deepEqual(await json('list'), [{ site: 'shop', line: 1, pattern: '/other/', owner: '@team' }]);
  assert.deepEqual(await json('remove', '--site', 'shop', '--dry-run'), [{ removed: 1 }]);
  assert.deepEqual(await json('remove', '--site', 'shop'), [{ removed: 1 }]);
  assert.match((await run([program, 'owners', 'list', ...writer])).stderr, /no site has owners/);
  await postgres.sql("select fleetprof_data.remove_function_tables('shop', null, null)");
  assert.match((await set('* @a\n')).stderr, /no function table knows a source/);
  const reader = ['--database', postgres.conninfo('fleetprof_reader')];
  const denied = await run([program, 'owners', 'remove', '--site', 'shop', ...reader]);
  assert.equal(denied.code, 2);
  assert.match(denied.stderr, /permission denied/);
  assert.equal((await run([program, 'owners', 'set', '--site', 'shop', path.join(dir, 'none'), ...writer])).code, 2);
  assert.match((await run([program, 'owners', 'set', '--site', 'shop', path.join(dir, 'CODEOWNERS'), path.join(dir, 'CODEOWNERS'), ...writer])).stderr, /give one file/);
});
