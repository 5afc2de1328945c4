// SPDX-License-Identifier: Apache-2.0
/** One file has the version; tools/version writes every other place, and names one that says another. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { beforeEach, test } from 'node:test';

import { binDir, repository, run, runOrThrow, temporaryDir, version } from './stack.mjs';

const next = '17.23.42';
/** @type {string} a copy of what tools/version reads and writes */
let copy;

/** @param {string} name */
const read = (name) => fs.readFileSync(path.join(copy, name), 'utf8');
const versionTool = (/** @type {string[]} */ ...words) => run([path.join(copy, 'tools/version'), ...words]);

beforeEach(() => {
  copy = temporaryDir('version');
  for (const name of ['VERSION', 'CHANGELOG.md', 'README.md', 'agent', 'debian/changelog', 'debian/control', 'docs', 'function_table/package.json', 'integrations/javascript/package.json', 'integrations/vite/package.json', 'schema/functions', 'tools/version']) {
    fs.cpSync(path.join(repository, name), path.join(copy, name), { recursive: true });
  }
});

test('programs, packages, scripts and the manual have the version of the file VERSION', async () => {
  assert.equal(await runOrThrow([path.join(binDir, 'fleetprof'), '--version']), `fleetprof ${version}\n`);
  const { code, stdout } = await versionTool('check');
  assert.equal(code, 0, stdout);
  assert.equal((await versionTool()).stdout, `${version}\n`);
});

/** How each place says the version, and another one. @type {Record<string, [string | RegExp, string]>} */
const places = {
  'agent/package.json': [/"version": ".*"/, '"version": "0.0.7"'],
  'agent/src/version.js': [/version = '.*'/, "version = '0.0.7'"],
  'function_table/package.json': [/"version": ".*"/, '"version": "0.0.7"'],
  'integrations/javascript/package.json': [/"version": ".*"/, '"version": "0.0.7"'],
  'integrations/vite/package.json': [/"fleetprof-agent": ".*"/, '"fleetprof-agent": "0.0.7"'],
  'debian/changelog': [/^fleetprof \(.*?\)/, 'fleetprof (0.0.7)'],
  'CHANGELOG.md': [/^## \S+/m, '## 0.0.7'],
  'docs/agent.md': [/fleetprof-[\d.]+\.js/, 'fleetprof-0.0.7.js'],
};

for (const [name, [said, other]] of Object.entries(places)) {
  test(`names ${name} when it says another version`, async () => {
    fs.writeFileSync(path.join(copy, name), read(name).replace(said, other));
    const { code, stdout } = await versionTool('check');
    assert.equal(code, 1);
    assert.match(stdout, new RegExp(`^${name}: says .*0\\.0\\.7.*, VERSION ${version}$`, 'm'));
    assert.equal(stdout.trim().split('\n').length, 1, stdout);
  });
}

test('each place has an example here', async () => {
  fs.writeFileSync(path.join(copy, 'VERSION'), `${next}\n`);
  const { stdout } = await versionTool('check');
  const named = stdout.trim().split('\n').map((line) => line.split(':')[0]);
  // Any page may show the name of the agent's file.
  const isPage = (/** @type {string} */ name) => /\.(md|sql)$/.test(name) && name !== 'CHANGELOG.md';
  assert.deepEqual(new Set(named.filter((name) => !isPage(name))), new Set(Object.keys(places).filter((name) => !isPage(name))));
  assert.ok(named.includes('README.md') || named.includes('docs/agent.md'));
});

test('a new version is written to every place, and begins entries in both changelogs', async () => {
  const { code, stderr } = await versionTool('set', next);
  assert.equal(code, 0, stderr);
  assert.equal(read('VERSION'), `${next}\n`);
  assert.equal((await versionTool('check')).code, 0);
  for (const [name, [said]] of Object.entries(places)) assert.ok((read(name).match(said)?.[0] ?? '').includes(next), name);
  assert.match(read('CHANGELOG.md'), new RegExp(`## ${next} \\(unreleased\\)\\n\\n## ${version}`));
  assert.match(read('debian/changelog'), new RegExp(`^fleetprof \\(${next}\\) .*\\n\\n  \\* .*\\n\\n -- .* \\d\\d:\\d\\d:\\d\\d .*\\n\\nfleetprof \\(${version}\\)`));
  const before = read('CHANGELOG.md');
  assert.equal((await versionTool('set', next)).code, 0);
  assert.equal(read('CHANGELOG.md'), before, 'a second time changes nothing');
});

test('refuses what is not three numbers', async () => {
  for (const wrong of ['', '1.2', 'v1.2.3', '1.2.3-rc.1', '1.2.3\n']) {
    assert.equal((await versionTool('set', wrong)).code, 2, wrong);
    assert.equal(read('VERSION'), `${version}\n`);
  }
  fs.writeFileSync(path.join(copy, 'VERSION'), '1.2\n');
  assert.match((await versionTool('check')).stdout, /^VERSION: "1\.2" is not three numbers$/m);
});
