// SPDX-License-Identifier: Apache-2.0
/**
 * ./check cannot be green by mistake: what it tests is built first, a step without a test fails, and a name that it does not
 * know fails. In a small project of its own, with the tools that ./check calls there.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const repository = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');

/** @type {string} */
let project;

/** @param {string} name @param {string} text */
function write(name, text) {
  const file = path.join(project, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, text, { mode: text.startsWith('#!') ? 0o755 : 0o644 });
}

/** Runs the project's check, without the variables by which node tells a test's processes that they are one. @param {string[]} words */
function check(...words) {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const { status, stdout, stderr } = spawnSync('./check', words, { cwd: project, encoding: 'utf8', env, timeout: 60_000 });
  return { status, stdout, stderr, counts: new Map([...stdout.matchAll(/^(\S+) +(\d+) passed +(\d+) failed/gm)].map(([, step, passed, failed]) => [step, [+passed, +failed]])) };
}

const cases = {
  unit: 'int main(void) { return printf("1..1\\n%s 1 - adds\\n", sum(1, 1) == 2 ? "ok" : "not ok") < 0; }\n',
  sum: 'static int sum(int a, int b) { return a + b; }\n',
  behaviour: `import test from 'node:test'; import assert from 'node:assert'; import fs from 'node:fs';
    test('loads what the page loads', () => assert.equal(fs.readFileSync('agent/dist/agent.js', 'utf8'), fs.readFileSync('agent/src/agent.js', 'utf8')));\n`,
  meson: "test('adder_sum', executable('adder_sum', 'tests/unit/adder/sum_test.c'), protocol: 'tap', suite: 'unit')\n",
};
const meson = (/** @type {string} */ tests) => `project('p', 'c')\nexecutable('p', 'p.c', install: true)\n${tests}`;

before(() => {
  project = fs.mkdtempSync(path.join(os.tmpdir(), 'fleetprof-check-'));
  for (const name of ['check', 'tools/choose', 'tools/build']) write(name, fs.readFileSync(path.join(repository, name), 'utf8'));
  for (const name of ['tools/deps', 'tools/lint', 'tests/schema/run']) write(name, '#!/bin/sh\n');
  for (const name of ['package-lock.json', 'node_modules/.package-lock.json']) write(name, '{"packages": {}}');
  const bundle = `import fs from 'node:fs'; const read = (folder) => fs.readFileSync('agent/' + folder + '/agent.js', 'utf8');
    if (process.argv[2] !== '--check') fs.cpSync('agent/src', 'agent/dist', { recursive: true }); else if (read('src') !== read('dist')) process.exit(1);\n`;
  for (const room of ['agent', 'report']) write(`${room}/build.mjs`, bundle);
  write('agent/src/agent.js', '1;\n');
  write('tests/rooms', 'adder: behaviour/adder*.test.mjs\nschema: step:schema\n');
  write('tests/behaviour/adder.test.mjs', cases.behaviour);
  write('p.c', 'int main(void) { return 0; }\n');
  write('adder/sum.c', cases.sum);
  write('tests/unit/adder/sum_test.c', `#include <stdio.h>\n#include "../../../adder/sum.c"\n${cases.unit}`);
  write('meson.build', meson(cases.meson));
  for (const folder of ['chaos', 'stats', 'browser', 'citus', 'accidents', 'attack']) fs.mkdirSync(path.join(project, 'tests', folder), { recursive: true });
});
after(() => fs.rmSync(project, { recursive: true, force: true }));

test('a step builds what it tests: an edit of C is seen', () => {
  assert.deepEqual(check('unit').counts.get('unit'), [1, 0]);
  write('adder/sum.c', cases.sum.replace('a + b', 'a - b'));
  const broken = check('unit');
  write('adder/sum.c', cases.sum);
  assert.deepEqual(broken.counts.get('unit'), [0, 1], broken.stdout);
  assert.equal(broken.status, 1);
  assert.equal(check('unit').status, 0);
});

test('an edit of a script that browsers load is seen, and in CI must be bundled', () => {
  const behaviour = 'tests/behaviour/adder.test.mjs';
  assert.equal(check(behaviour).status, 0);
  write('agent/src/agent.js', '2;\n');
  assert.deepEqual(check(behaviour).counts.get('behaviour'), [1, 0]);
  assert.equal(fs.readFileSync(path.join(project, 'agent/dist/agent.js'), 'utf8'), '2;\n');
  write('agent/src/agent.js', '3;\n');
  const { status, counts } = check('--ci');
  assert.equal(status, 1);
  assert.deepEqual(counts.get('bundles'), [0, 1]);
  assert.equal(fs.readFileSync(path.join(project, 'agent/dist/agent.js'), 'utf8'), '2;\n');
});

test('a warning is an error in ./check alone', () => {
  const build = () => spawnSync('tools/build', ['plain'], { cwd: project, encoding: 'utf8' }).status;
  fs.rmSync(path.join(project, 'build'), { recursive: true, force: true });
  write('p.c', 'static int unused(void) { return 1; }\nint main(void) { return 0; }\n');
  assert.equal(build(), 0);
  const { counts } = check('unit');
  assert.deepEqual(counts.get('build'), [0, 1]);
  assert.notEqual(build(), 0, 'the tree keeps it: nothing is compiled twice');
  write('p.c', 'int main(void) { return 0; }\n');
  assert.equal(build(), 0);
});

test('nothing is tested after a failed build, and it says so', () => {
  write('p.c', 'no C\n');
  const { status, stdout, counts } = check('unit', 'behaviour');
  write('p.c', 'int main(void) { return 0; }\n');
  assert.equal(status, 1);
  assert.deepEqual(counts.get('build'), [0, 1]);
  assert.ok(!counts.has('unit') && !counts.has('behaviour'), stdout);
  assert.match(stdout, /nothing else was tested: the build failed/);
});

test('a step that runs no test fails: no unit test, no file, a file without a test, no test of the schema', () => {
  write('meson.build', meson(''));
  const unit = check('unit');
  write('meson.build', meson(cases.meson));
  write('tests/behaviour/empty.test.mjs', 'export {};\n');
  const empty = check('tests/behaviour/empty.test.mjs');
  fs.rmSync(path.join(project, 'tests/behaviour/empty.test.mjs'));
  for (const [result, step] of /** @type {[ReturnType<typeof check>, string][]} */ ([[unit, 'unit'], [empty, 'behaviour'], [check('stats'), 'stats'], [check('schema'), 'schema']])) {
    assert.deepEqual(result.counts.get(step), [0, 1], `${step}: ${result.stdout}`);
    assert.equal(result.status, 1);
  }
  assert.match(unit.stdout, /check: no test ran/);
});

test('runs the tests of a room, of a source file, of a file of tests, of several', () => {
  const plan = (/** @type {string[]} */ ...words) => check('--plan', ...words).stdout.split('\n').map((line) => line.trim());
  write('tests/behaviour/other.test.mjs', cases.behaviour);
  for (const [words, has, hasNot] of [
    [['adder'], ['build', 'adder_sum', 'tests/behaviour/adder.test.mjs'], ['tests/behaviour/other.test.mjs']],
    [['./adder/'], ['build', 'adder_sum', 'tests/behaviour/adder.test.mjs'], []],
    [['adder/sum.c'], ['build', 'adder_sum'], ['behaviour']],
    [['tests/unit/adder/sum_test.c'], ['build', 'adder_sum'], ['behaviour']],
    [['tests/behaviour/other.test.mjs', 'adder/sum.c'], ['build', 'adder_sum', 'tests/behaviour/other.test.mjs'], ['tests/behaviour/adder.test.mjs']],
    [['adder', 'unit'], ['unit', 'tests/behaviour/adder.test.mjs'], ['adder_sum']],
  ]) {
    const lines = plan(...words);
    for (const line of has) assert.ok(lines.includes(line), `${words}: ${lines}`);
    for (const line of hasNot) assert.ok(!lines.includes(line), `${words}: ${lines}`);
  }
  fs.rmSync(path.join(project, 'tests/behaviour/other.test.mjs'));
  const { status, counts } = check('adder');
  assert.equal(status, 0);
  assert.deepEqual([counts.get('unit'), counts.get('behaviour')], [[1, 0], [1, 0]]);
});

test('refuses a name of nothing that has tests, and lists what has', () => {
  for (const name of ['units', 'collector/spol', 'tests/behaviour/missing.test.mjs', 'p.c', '../etc', '']) {
    const { status, stderr } = check('unit', name);
    assert.equal(status, 2, name);
    assert.ok(stderr.includes(`check: ${name} is not a step, a room, or a file that has tests`), stderr);
    assert.match(stderr, /^steps: .*\bunit\b.*\nrooms: adder schema$/m);
  }
  assert.equal(check('--lang').status, 2);
});

test('counts what each runner prints', () => {
  const count = (/** @type {string} */ kind, /** @type {string} */ log) => {
    write('log', log);
    return spawnSync('bash', ['-c', `status=0; ${"eval \"$(sed -n '/^count_/,/^$/p' check)\""}; count_${kind} log`], { cwd: project, encoding: 'utf8' }).stdout.trim();
  };
  const meson = 'Ok:                 5   \nExpected Fail:      0   \nFail:               2   \nUnexpected Pass:    0   \nSkipped:            1   \nTimeout:            1   \n';
  assert.equal(count('meson', meson), '5 3 1');
  assert.equal(count('meson', 'ninja: no work to do.\nNo tests defined.\n'), '');
  assert.equal(count('node', '# pass 3\n# fail 1\n# cancelled 1\n# skipped 2\n# todo 0\n'), '3 2 2');
  assert.equal(count('node', 'ok 1 - adds\nok 2 - /x/empty.test.mjs\n# pass 2\n# fail 0\n'), '1 1 0');
  assert.equal(count('node', '# pass 0\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n'), '');
  assert.equal(count('prove', 'All tests successful.\nFiles=2, Tests=61,  1 wallclock secs\nResult: PASS\n'), '61 0 0');
  assert.equal(count('prove', 'Files=0, Tests=0,  0 wallclock secs\nResult: NOTESTS\n'), '');
  assert.equal(count('lines', 'ok text_fuzz: 9 inputs\nnot ok http_fuzz: status 1\n'), '1 1 0');
  assert.equal(count('lines', 'nothing\n'), '');
  assert.equal(count('one', ''), '1 0 0');
});
