// SPDX-License-Identifier: Apache-2.0
/**
 * tools/deps with Debian's own apt, a repository and a list of what is installed, both made up: it upgrades what is needed alone,
 * and changes nothing before the answer.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { aptFolders } from './apt.mjs';
import { repository, run } from './stack.mjs';

const hasApt = fs.existsSync('/usr/bin/apt-get');

/** @param {string} name @param {number} version @param {string} [more] */
const entry = (name, version, more = '') => `Package: ${name}\nSource: manager\nVersion: ${version}\nArchitecture: all\nMaintainer: Nobody <nobody@example.org>\nDescription: made up\n${more}`;

/** @param {string} name @param {string} [more] */
const listed = (name, more = '') => entry(name, 2, `${more}Filename: ./${name}.deb\nSize: 1\nSHA256: ${'0'.repeat(64)}\n`);

/** Folders for apt and dpkg, and a repository. @param {string[]} offered @param {string[]} installed */
function folders(offered, installed) {
  const made = aptFolders((dir) => `deb [trusted=yes] file:${dir}/repository ./\n`, installed);
  fs.mkdirSync(path.join(made.dir, 'repository'));
  fs.writeFileSync(path.join(made.dir, 'repository/Packages'), offered.join('\n'));
  return made;
}

/** @param {NodeJS.ProcessEnv} env */
async function update(env) {
  const { code, stderr } = await run(['apt-get', '-q', 'update'], { env });
  assert.equal(code, 0, stderr);
}

test('an upgrade that a package needs does not upgrade what comes from the same source', { skip: !hasApt }, async () => {
  const { env } = folders([listed('manager'), listed('manager-library'), listed('manager-headers', 'Depends: manager-library (= 2)\n')],
    ['manager', 'manager-library'].map((name) => entry(name, 1, 'Status: install ok installed\n')));
  await update(env);
  const { code, stdout, stderr } = await run([path.join(repository, 'tools/deps'), 'plan', 'manager-headers'], { env });
  assert.equal(code, 0, stderr);
  assert.deepEqual([...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name).sort(), ['manager-headers', 'manager-library'], stdout);
});

test('before the answer nothing is downloaded, and no source of apt is added', { skip: !hasApt && 'no apt' }, async () => {
  const changed = () => ['/etc/apt/sources.list.d', '/etc/apt/preferences.d'].flatMap((folder) => fs.readdirSync(folder).map((name) => `${name} ${fs.statSync(path.join(folder, name)).mtimeMs}`));
  /** Answers no. @param {ReturnType<typeof folders>} made */
  const refuse = async ({ dir, env }) => {
    const before = [changed(), fs.readdirSync(path.join(dir, 'lists'))];
    const { code, stdout } = await run(['bash', '-c', 'echo n | script -qec "$0 ask $1" /dev/null', path.join(repository, 'tools/deps'), path.join(dir, 'apt.log')], { env: { ...env, FLEETPROF_YES: '' } });
    assert.equal(code, 2, stdout);
    assert.match(stdout, /Refresh apt's lists and install them\? \[Y\/n\] [^]*tools\/deps: nothing was installed\r\n$/);
    assert.deepEqual([changed(), fs.readdirSync(path.join(dir, 'lists'))], before, stdout);
    assert.equal(fs.existsSync(path.join(dir, 'apt.log')), false, stdout);
    return stdout;
  };
  const unlisted = await refuse(folders([], []));
  const needed = /^fleetprof needs these packages of Debian, and those that they depend on: (gcc .*)\.\r\nIt needs libyyjson-dev of Debian 13, and adds /m.exec(unlisted)?.[1].split(' ');
  assert.ok(needed, unlisted);

  const known = folders([...needed.map((name) => listed(name, name === 'curl' ? 'Depends: manager (= 2)\n' : '')), listed('manager'), listed('libyyjson-dev')],
    [entry('manager', 1, 'Status: install ok installed\n')]);
  await update(known.env);
  const planned = await refuse(known);
  assert.match(planned, new RegExp(`^fleetprof needs ${needed.length + 1} more packages of Debian \\(.* to download\\)\\.\r\nThey need newer versions of 1 that are installed: manager\\.\r\nRefresh`, 'm'));
});
