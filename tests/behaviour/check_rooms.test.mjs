// SPDX-License-Identifier: Apache-2.0
/**
 * ./check ROOM and ./check FILE run the tests of this tree that concern them.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { repository } from './stack.mjs';

const real = (/** @type {string} */ word) => spawnSync('./check', ['--plan', word], { cwd: repository, encoding: 'utf8' }).stdout;

test('runs all tests of a room for a file that its unit tests do not have, and the tests that read a page of the manual', () => {
  for (const [file, has, hasNot] of /** @type {[string, RegExp, RegExp][]} */ ([
    ['collector/store/transaction.c', /store_faults.test.mjs/, /^browser/m],
    ['collector/store/diagnosis.c', /store_diagnosis/, /^behaviour/m],
    ['cli/completion/bash', /cli_completion.test.mjs/, /^browser/m],
    ['config/fleetprof.yaml', /setup.test.mjs/, /^browser/m],
    ['docs/cookbook.md', /cookbook.test.mjs/, /^unit/m],
    ['tests/data/README.md', /^prose$/m, /^browser|^quickstart/m],
  ])) {
    assert.ok(fs.existsSync(path.join(repository, file)), file);
    assert.match(real(file), has, file);
    assert.doesNotMatch(real(file), hasNot, file);
  }
});

test('each room of CONTRIBUTING.md has tests, each pattern of tests/rooms finds one, each unit test has the name of its file', () => {
  const rooms = fs.readFileSync(path.join(repository, 'tests/rooms'), 'utf8');
  const table = [...fs.readFileSync(path.join(repository, 'CONTRIBUTING.md'), 'utf8').matchAll(/^\| `(?!tests)([a-z_/]+)\/`/gm)].map(([, room]) => room);
  assert.ok(table.length > 20);
  for (const room of table) assert.match(real(room), /^((unit|behaviour|browser)\n {4}|schema$|packages-|containers$)/m, room);
  for (const [, room, patterns] of rooms.matchAll(/^([a-z_/]+): (.*)$/gm)) {
    assert.ok(fs.existsSync(path.join(repository, room)), room);
    for (const pattern of patterns.split(' ').filter((word) => !word.startsWith('step:'))) {
      const { stdout } = spawnSync('bash', ['-c', `ls -d tests/${pattern}`], { cwd: repository, encoding: 'utf8' });
      assert.ok(stdout.includes('.test.mjs'), `${room}: ${pattern}`);
      assert.equal(spawnSync('bash', ['-c', `ls -d tests/${pattern}`], { cwd: repository }).status, 0, `${room}: ${pattern}`);
    }
  }
  const files = fs.readdirSync(path.join(repository, 'tests/unit'), { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('_test.c'));
  const tests = JSON.parse(fs.readFileSync(path.join(repository, 'build/trees/plain/meson-info/intro-tests.json'), 'utf8'));
  const names = tests.filter((/** @type {{suite: string[]}} */ { suite }) => suite.some((name) => name.endsWith('unit'))).map((/** @type {{name: string}} */ { name }) => name);
  assert.deepEqual(new Set(files.map((file) => file.replace('_test.c', '').replaceAll('/', '_'))), new Set(names));
});
