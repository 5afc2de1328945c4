// SPDX-License-Identifier: Apache-2.0
/** The lines of RELEASING.md that tag and archive, in a clone, with a key of its own. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { fencedBlocks, section } from '../markdown.mjs';
import { repository, run, runOrThrow, temporaryDir, version } from './stack.mjs';

const page = fs.readFileSync(path.join(repository, 'RELEASING.md'), 'utf8');
const lines = fencedBlocks(section(page, '## 3. Tag and archive')).map(({ text }) => text).join('\n');

const home = temporaryDir('gpg');
const env = { GNUPGHOME: home, GIT_CONFIG_GLOBAL: path.join(home, 'gitconfig'), GIT_CONFIG_NOSYSTEM: '1' };

/** Clones the last commit, with the files as they are here committed on top. */
async function cloneOf() {
  const clone = path.join(temporaryDir('release'), 'fleetprof');
  await runOrThrow(['git', '-c', 'safe.directory=*', 'clone', '--quiet', '--no-tags', '--depth', '1', `file://${path.resolve(repository)}`, clone]);
  for (const name of ['VERSION', 'tools/version', 'tools/sbom.mjs']) fs.cpSync(path.join(repository, name), path.join(clone, name));
  fs.mkdirSync(path.join(clone, 'build'));
  fs.symlinkSync(path.join(repository, 'build/trees'), path.join(clone, 'build/trees'));
  await runOrThrow(['git', '-C', clone, 'add', '--all'], { env });
  await runOrThrow(['git', '-C', clone, 'commit', '--quiet', '--allow-empty', '--message', 'release'], { env });
  return clone;
}

test('a tag and an archive are signed, the archive is the same each time, and a changed one is found', { skip: !fs.existsSync(path.join(repository, '.git')) && 'an unpacked archive' }, async () => {
  fs.chmodSync(home, 0o700);
  await runOrThrow(['gpg', '--batch', '--passphrase', '', '--quick-generate-key', 'Releaser <releaser@shop.example>', 'ed25519', 'sign', 'never'], { env });
  fs.writeFileSync(env.GIT_CONFIG_GLOBAL, '[user]\nname = Releaser\nemail = releaser@shop.example\n[safe]\ndirectory = *\n');
  const clone = await cloneOf();
  const archive = path.join(clone, `fleetprof-${version}.tar.gz`);
  try {
    const { code, stdout, stderr } = await run(['bash', '-euo', 'pipefail', '-c', `cd ${clone}\n${lines}`], { env });
    assert.equal(code, 0, stdout + stderr);
    assert.match(stderr, /Good signature from "Releaser[^]*Good signature from "Releaser/); // of the tag, of the archive
    assert.match(await runOrThrow(['git', '-C', clone, 'cat-file', '-t', `v${version}`], { env }), /^tag$/m);
    assert.match(stdout, new RegExp(`^fleetprof-${version}\\.cdx\\.json: OK\nfleetprof-${version}\\.tar\\.gz: OK`, 'm'));

    const first = fs.readFileSync(archive);
    await runOrThrow(['bash', '-euo', 'pipefail', '-c', `cd ${clone}\nversion=${version}\n${/^git archive.*$/m.exec(lines)?.[0]}`], { env });
    assert.ok(first.equals(fs.readFileSync(archive)));
    assert.match(await runOrThrow(['tar', '-tzf', archive]), new RegExp(`^fleetprof-${version}/meson\\.build$`, 'm'));

    fs.appendFileSync(archive, 'x');
    assert.notEqual((await run(['gpg', '--verify', `${archive}.asc`, archive], { env })).code, 0);
  } finally {
    await run(['gpgconf', '--kill', 'all'], { env });
  }
});
