// SPDX-License-Identifier: Apache-2.0
/** tools/deps with Debian's own apt, a repository of two versions and a list of what is installed: it upgrades what is needed alone. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { repository, run, temporaryDir } from './stack.mjs';

const hasApt = fs.existsSync('/usr/bin/apt-get');

/** @param {string} name @param {number} version @param {string} [more] */
const entry = (name, version, more = '') => `Package: ${name}\nSource: manager\nVersion: ${version}\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: made up\n${more}`;

test('an upgrade that a package needs does not upgrade what comes from the same source', { skip: !hasApt }, async () => {
  const dir = temporaryDir('apt');
  for (const name of ['lists/partial', 'cache/archives/partial', 'log', 'repository', 'parts']) fs.mkdirSync(path.join(dir, name), { recursive: true });
  fs.chmodSync(dir, 0o755);
  const listed = (/** @type {string} */ name, /** @type {string} */ more = '') => entry(name, 2, `${more}Filename: ./${name}.deb\nSize: 1\nSHA256: ${'0'.repeat(64)}\n`);
  fs.writeFileSync(path.join(dir, 'repository/Packages'), [listed('manager'), listed('manager-library'), listed('manager-headers', 'Depends: manager-library (= 2)\n')].join('\n'));
  fs.writeFileSync(path.join(dir, 'status'), ['manager', 'manager-library'].map((name) => entry(name, 1, 'Status: install ok installed\n')).join('\n'));
  fs.writeFileSync(path.join(dir, 'sources.list'), `deb [trusted=yes] file:${dir}/repository ./\n`);
  fs.writeFileSync(path.join(dir, 'apt.conf'), `
    Dir::State "${dir}"; Dir::State::lists "${dir}/lists"; Dir::State::status "${dir}/status"; Dir::Cache "${dir}/cache"; Dir::Log "${dir}/log";
    Dir::Etc::sourcelist "${dir}/sources.list"; Dir::Etc::sourceparts "${dir}/parts"; Dir::Etc::preferencesparts "${dir}/parts"; APT::Sandbox::User "root";
    Acquire::Languages "none";\n`);
  const env = { APT_CONFIG: path.join(dir, 'apt.conf'), LC_ALL: 'C' };
  const updated = await run(['apt-get', '-q', 'update'], { env });
  assert.equal(updated.code, 0, updated.stderr);
  const { code, stdout, stderr } = await run([path.join(repository, 'tools/deps'), 'plan', 'manager-headers'], { env });
  assert.equal(code, 0, stderr);
  assert.deepEqual([...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name).sort(), ['manager-headers', 'manager-library'], stdout);
});
