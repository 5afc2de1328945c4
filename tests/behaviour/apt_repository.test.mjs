// SPDX-License-Identifier: Apache-2.0
/** tools/apt-repository with a key of its own and packages made up, and Debian's own apt, which takes them over HTTP or refuses. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { fencedBlocks, section } from '../markdown.mjs';
import { aptFolders } from './apt.mjs';
import { runInSandbox, sandboxMissing } from './sandbox.mjs';
import { freePort, repository, run, runOrThrow, temporaryDir } from './stack.mjs';

const skip = !fs.existsSync('/usr/bin/apt-ftparchive') && 'no apt-utils';
const tool = path.join(repository, 'tools/apt-repository');
const work = temporaryDir('packages');
const env = { GNUPGHOME: path.join(work, 'gpg') };
const key = 'releaser@shop.example';
const root = path.join(work, 'served');
/** @type {string[]} the paths that apt asked for */
const asked = [];
let address = '';

/** @param {string} user */
const makeKey = (user) => runOrThrow(['gpg', '--batch', '--passphrase', '', '--quick-generate-key', user, 'ed25519', 'sign', 'never'], { env });

const server = http.createServer(({ url = '' }, response) => {
  asked.push(url);
  const file = path.join(root, decodeURIComponent(url));
  if (fs.existsSync(file)) response.end(fs.readFileSync(file)); else response.writeHead(404).end();
});

before(async () => {
  if (skip) return;
  fs.mkdirSync(env.GNUPGHOME, { mode: 0o700 });
  for (const user of [key, 'other@shop.example', 'twin-a@shop.example', 'twin-b@shop.example']) await makeKey(user);
  const port = await freePort();
  await new Promise((resolve) => { server.listen(port, '127.0.0.1', () => resolve(undefined)); });
  address = `http://127.0.0.1:${port}`;
});
after(async () => {
  server.close();
  if (!skip) await run(['gpgconf', '--kill', 'all'], { env });
});

/**
 * Makes a package and returns its file.
 * @param {string} name @param {string} version
 * @param {{ architecture?: string, depends?: string, content?: string, folder?: string }} [more]
 */
async function makePackage(name, version, { architecture = 'amd64', depends, content = version, folder = 'debs' } = {}) {
  const tree = path.join(temporaryDir('deb'), name);
  fs.mkdirSync(path.join(tree, 'DEBIAN'), { recursive: true });
  fs.chmodSync(path.join(tree, 'DEBIAN'), 0o755);
  fs.writeFileSync(path.join(tree, 'DEBIAN/control'), [`Package: ${name}`, `Version: ${version}`, `Architecture: ${architecture}`, ...depends ? [`Depends: ${depends}`] : [],
    'Maintainer: Nobody <nobody@example.org>', 'Description: made up', ''].join('\n'));
  fs.writeFileSync(path.join(tree, 'content'), content);
  const file = path.join(work, folder, `${name}_${version.replace(/^\d+:/, '')}_${architecture}.deb`);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  await runOrThrow(['dpkg-deb', '--root-owner-group', '--build', tree, file], { env: { SOURCE_DATE_EPOCH: '0' } });
  return file;
}

/** @param {string[]} args @param {NodeJS.ProcessEnv} [more] */
const publish = (args, more) => run([tool, ...args], { env: { ...env, ...more } });

/** @param {string[]} args */
async function published(...args) {
  const { code, stdout, stderr } = await publish(args);
  assert.equal(code, 0, stderr);
  return stdout;
}

/** Makes a repository with one version of fleetprof, and returns its name below the server's address. @param {string} name */
async function firstVersion(name) {
  await published(path.join(root, name), key, 'bookworm', await makePackage('fleetprof', '0.1.0'), await makePackage('fleetprof-agent', '0.1.0', { architecture: 'all' }));
  return name;
}

/** A machine with the repository as its only source. @param {string} name @param {string} [suite] @param {string[]} [installed] */
function machine(name, suite = 'bookworm', installed = []) {
  const { dir, env: own } = aptFolders((folder) => `deb [arch=amd64 signed-by=${folder}/fleetprof.gpg] ${address}/${name} ${suite} main\n`, installed);
  fs.copyFileSync(path.join(root, name, 'fleetprof.gpg'), path.join(dir, 'fleetprof.gpg'));
  const apt = (/** @type {string[]} */ ...args) => run(['apt-get', '-q', '-o', 'APT::Architecture=amd64', ...args], { env: own });
  return {
    dir,
    apt,
    /** Fails also for what apt would only warn of. */
    update: () => apt('update', '--error-on=any'),
    /** @param {string} [what] */
    async versions(what = 'fleetprof') {
      return [...(await runOrThrow(['apt-cache', '-o', 'APT::Architecture=amd64', 'madison', what], { env: own })).matchAll(/\| *(\S+) *\|/g)].map(([, version]) => version);
    },
    /** @param {string} what */
    download: (what) => run(['sh', '-c', 'cd "$1" && apt-get -q -o APT::Architecture=amd64 download "$2"', 'sh', dir, what], { env: own }),
  };
}

/** The files of a folder with what is in them. @param {string} dir */
const contents = (dir) => Object.fromEntries(/** @type {string[]} */ (fs.readdirSync(dir, { recursive: true })).sort()
  .map((name) => [name, path.join(dir, name)]).filter(([, file]) => fs.statSync(file).isFile()).map(([name, file]) => [name, fs.readFileSync(file, 'latin1')]));

/** @param {string} name */
const pool = (name) => fs.readdirSync(path.join(root, name, 'pool/bookworm')).sort();

test('apt takes packages by the signature, and sees a newer version', { skip }, async () => {
  await firstVersion('plain');
  const { apt, update, versions, download } = machine('plain');
  asked.length = 0;
  assert.equal((await update()).code, 0);
  assert.ok(asked.some((url) => /\/dists\/bookworm\/main\/binary-amd64\/by-hash\/SHA256\/[0-9a-f]{64}$/.test(url)), asked.join('\n'));
  assert.deepEqual(await versions(), ['0.1.0']);
  assert.deepEqual(await versions('fleetprof-agent'), ['0.1.0']);
  const { code, stderr } = await download('fleetprof=0.1.0');
  assert.equal(code, 0, stderr);

  const said = await published(path.join(root, 'plain'), key, 'bookworm', await makePackage('fleetprof', '0.2.0'));
  assert.match(said, /bookworm has\n {2}fleetprof-agent_0\.1\.0_all\.deb\n {2}fleetprof_0\.1\.0_amd64\.deb\n {2}fleetprof_0\.2\.0_amd64\.deb\n$/);
  assert.equal((await update()).code, 0);
  assert.deepEqual(await versions(), ['0.2.0', '0.1.0']);
  const simulated = await apt('install', '--simulate', 'fleetprof', 'fleetprof-agent');
  assert.match(simulated.stdout, /^Inst fleetprof \(0\.2\.0 fleetprof:bookworm \[amd64\]\)$/m, simulated.stderr);
});

/** @param {string} dir @param {RegExp} names @param {(file: string) => void} change */
function changeFiles(dir, names, change) {
  const files = Object.keys(contents(dir)).filter((name) => names.test(name));
  assert.ok(files.length > 0);
  for (const name of files) change(path.join(dir, name));
}
const grow = (/** @type {string} */ file) => fs.appendFileSync(file, '\n');
/** The last letter of a word becomes another one: the length stays. @param {string} word */
const spoil = (word) => (/** @type {string} */ file) => fs.writeFileSync(file, fs.readFileSync(file, 'latin1').replace(word, `${word.slice(0, -1)}X`), 'latin1');

/** A change to a repository: its name, how it is made, and what apt answers. @type {[string, (dir: string) => unknown, RegExp][]} */
const attacks = [
  ['longer indexes', (dir) => changeFiles(dir, /\/Packages|by-hash/, grow), /unexpected size|Hash Sum mismatch/],
  ['another index of the same length', (dir) => {
    changeFiles(dir, /\/Packages|by-hash/, (file) => (/^Package: /.test(fs.readFileSync(file, 'latin1')) ? spoil('made up')(file) : fs.rmSync(file)));
  }, /Hash Sum mismatch/],
  ['a changed list of indexes', (dir) => changeFiles(dir, /InRelease$/, spoil('Suite: bookworm')), /signature is invalid|BADSIG|not valid|digest/i],
  ['no signature', (dir) => changeFiles(dir, /InRelease$|Release\.gpg$/, fs.rmSync), /is not signed/],
  ['a list of indexes without its signature', (dir) => changeFiles(dir, /InRelease$/, (file) => fs.copyFileSync(file.replace('InRelease', 'Release'), file)), /not signed|NOSPLIT|NODATA/],
  ['the signature of another key', async (dir) => {
    for (const [sign, name] of [['--detach-sign', 'Release.gpg'], ['--clear-sign', 'InRelease']]) {
      await runOrThrow(['gpg', '--batch', '--yes', '--armor', '--local-user', 'other@shop.example', sign, '--output', path.join(dir, 'dists/bookworm', name), path.join(dir, 'dists/bookworm/Release')], { env });
    }
  }, /NO_PUBKEY|not available|Missing key/],
];

test('apt refuses what was changed behind the signature', { skip }, async () => {
  await firstVersion('honest');
  for (const [i, [what, attack, says]] of attacks.entries()) {
    fs.cpSync(path.join(root, 'honest'), path.join(root, `attacked${i}`), { recursive: true });
    const { update, versions } = machine(`attacked${i}`);
    await attack(path.join(root, `attacked${i}`));
    const { code, stderr } = await update();
    assert.notEqual(code, 0, what);
    assert.match(stderr, says, what);
    assert.deepEqual(await versions(), [], what);
  }
  const { update, download } = machine('honest');
  assert.equal((await update()).code, 0);
  changeFiles(path.join(root, 'honest'), /fleetprof_.*\.deb$/, (file) => fs.writeFileSync(file, Buffer.alloc(fs.statSync(file).size)));
  assert.match((await download('fleetprof')).stderr, /Hash Sum mismatch/);
});

test('the newest versions stay, and what was dropped can be had for one more run', { skip }, async () => {
  const dir = path.join(root, 'kept');
  // In this order for dpkg, in another one for sort.
  const versions = ['0.9.0~rc1', '0.9.0', '0.10.0', '1:0.1.0', '1:0.1.1'];
  const add = async (/** @type {string} */ version, /** @type {string[]} */ ...options) => published(...options, dir, key, 'bookworm', await makePackage('fleetprof', version));
  for (const version of versions.slice(0, 3)) await add(version);
  const earlier = machine('kept');
  assert.equal((await earlier.update()).code, 0);
  await add(versions[3]);
  const now = machine('kept');
  assert.equal((await now.update()).code, 0);
  assert.deepEqual(await now.versions(), ['1:0.1.0', '0.10.0', '0.9.0']);
  assert.equal((await earlier.download('fleetprof=0.9.0~rc1')).code, 0);
  assert.equal(pool('kept').length, 4);

  await add(versions[4], '--keep', '2');
  assert.equal((await now.update()).code, 0);
  assert.deepEqual(await now.versions(), ['1:0.1.1', '1:0.1.0']);
  assert.deepEqual(pool('kept'), ['0.1.0', '0.1.1', '0.10.0', '0.9.0'].map((version) => `fleetprof_${version}_amd64.deb`));
  await add(versions[4]);
  assert.deepEqual(pool('kept'), ['0.1.0', '0.1.1'].map((version) => `fleetprof_${version}_amd64.deb`));
  assert.equal(fs.readdirSync(path.join(dir, 'dists/bookworm/main/binary-amd64/by-hash/SHA256')).length, 3);
});

test('a release of Debian has packages of its own, and an upgrade of Debian takes them', { skip }, async () => {
  const name = await firstVersion('suites');
  const module = (/** @type {string} */ suite, /** @type {string} */ abi) => makePackage('libnginx-mod-http-fleetprof', '0.1.0', { folder: suite, depends: `nginx-abi-${abi}` });
  const nginx = (/** @type {string} */ suite, /** @type {string} */ version) => makePackage(`nginx-abi-${version}`, version, { folder: suite });
  await published(path.join(root, name), key, 'bookworm', await module('bookworm', '1.22'), await nginx('bookworm', '1.22'));
  // The agent's package is the same file on both.
  await published(path.join(root, name), key, 'trixie', await module('trixie', '1.26'), await nginx('trixie', '1.26'), path.join(work, 'debs/fleetprof-agent_0.1.0_all.deb'));
  const index = fs.readFileSync(path.join(root, name, 'dists/bookworm/main/binary-amd64/Packages'), 'utf8');
  const installed = index.split('\n\n').filter((entry) => /^Package: (lib)?nginx/.test(entry)).map((entry) => `${entry.replace(/\n/, '\nStatus: install ok installed\n')}\n`);
  assert.equal(installed.length, 2);
  const { update, apt } = machine(name, 'trixie', installed);
  assert.equal((await update()).code, 0);
  const { stdout, stderr } = await apt('dist-upgrade', '--simulate');
  assert.match(stdout, /^Inst libnginx-mod-http-fleetprof \[0\.1\.0\] \(0\.1\.0 fleetprof:trixie \[amd64\]\)/m, stdout + stderr);
});

test("the first lines of getting-started.md add a repository to this machine's apt", { skip }, async (t) => {
  const missing = await sandboxMissing();
  if (missing) return t.skip(missing);
  const suite = /^VERSION_CODENAME=(.*)$/m.exec(fs.readFileSync('/etc/os-release', 'utf8'))?.[1] ?? '';
  await published(path.join(root, 'first'), key, suite, await makePackage('fleetprof', '0.1.0', { folder: 'first' }));
  const page = fs.readFileSync(path.join(repository, 'docs/getting-started.md'), 'utf8');
  const [{ text }] = fencedBlocks(section(page, '## 1. Install'));
  assert.match(text, /^address=https:\/\/packages\.shop\.example$/m);
  const { code, stdout, stderr } = await runInSandbox([
    'rm -rf /etc/apt/sources.list /etc/apt/sources.list.d/* /var/lib/apt/lists/*',
    'unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY',
    'echo \'Acquire::http::Proxy::127.0.0.1 "DIRECT";\' >/etc/apt/apt.conf.d/zz-direct',
    `python3 -m http.server --bind 127.0.0.1 --directory '${path.join(root, 'first')}' 8700 &`,
    'curl -fsS --retry 20 --retry-connrefused http://127.0.0.1:8700/fleetprof.gpg -o /dev/null',
    text.replace('https://packages.shop.example', 'http://127.0.0.1:8700'),
    'apt-cache policy fleetprof',
  ]);
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, new RegExp(`^  Candidate: 0\\.1\\.0\n[^]* http://127\\.0\\.0\\.1:8700 ${suite}/main amd64 Packages$`, 'm'), stderr);
});

test('a mistake is named, and nothing changes', { skip }, async () => {
  const dir = path.join(root, await firstVersion('mistakes'));
  const good = path.join(work, 'debs/fleetprof_0.1.0_amd64.deb');
  const text = path.join(work, 'text.deb');
  fs.writeFileSync(text, 'text');
  for (const version of ['0.2.0', '0.3.0']) await published(dir, key, 'bookworm', await makePackage('fleetprof', version));
  /** @type {[string[], RegExp][]} */
  const mistakes = [
    [[dir, 'nobody@shop.example', 'bookworm', good], /gpg has no secret key "nobody@shop\.example"/],
    [[dir, 'twin', 'bookworm', good], /gpg has several secret keys "twin": name one by its fingerprint: [0-9A-F]{40} [0-9A-F]{40}$/m],
    [[dir, 'other@shop.example', 'bookworm', good], /is signed with key [0-9A-F]{40}: machines that use it would refuse [0-9A-F]{40}$/m],
    [[dir, key, 'sid', good], /suite "sid": it is one of bookworm trixie/],
    [[dir, key, 'bookworm', good, text], /text\.deb is not a Debian package/],
    [[dir, key, 'bookworm', `${good}x`], /amd64\.debx: there is no such file/],
    [[dir, key, 'bookworm', await makePackage('fleetprof', '0.2.0', { content: 'other', folder: 'other' })], /bookworm has this version with other bytes; give the package a new version/],
    [[dir, key, 'trixie', good], /was built for bookworm, which has the same file/],
    [[dir, key, 'bookworm', await makePackage('fleetprof', '0.0.9')], /fleetprof_0\.0\.9_amd64\.deb: 3 newer versions are there/],
    [['--keep', '0', dir, key, 'bookworm', good], /--keep "0": the number of versions, 1 or more/],
    [[dir, key, 'bookworm'], /tools\/apt-repository \[--keep N\] DIRECTORY KEY SUITE PACKAGE\.deb/],
  ];
  const before = contents(root);
  for (const [args, says] of mistakes) {
    const { code, stderr } = await publish(args);
    assert.notEqual(code, 0, args.join(' '));
    assert.match(stderr, says);
    assert.deepEqual(contents(root), before, args.join(' '));
  }
  const { code, stderr } = await run(['flock', dir, tool, dir, key, 'bookworm', good], { env });
  assert.notEqual(code, 0);
  assert.match(stderr, /another run changes it/);
});

test('killed before any of its changes, it leaves a whole repository', { skip, timeout: 300_000 }, async () => {
  const whole = path.join(root, await firstVersion('whole'));
  const dir = path.join(root, 'broken');
  const next = await makePackage('fleetprof', '0.2.0');
  const begin = () => {
    for (const name of fs.readdirSync(root)) if (name.startsWith('broken')) fs.rmSync(path.join(root, name), { recursive: true });
    fs.cpSync(whole, dir, { recursive: true });
  };
  begin();
  const earlier = machine('broken');
  assert.equal((await earlier.update()).code, 0);
  // A program that counts, and kills the tool instead of its Nth run.
  const programs = path.join(work, 'programs');
  fs.mkdirSync(programs);
  fs.writeFileSync(path.join(programs, 'mv'), '#!/bin/sh\necho x >>"$COUNT"\n[ "$(wc -l <"$COUNT")" -lt "$KILL_AT" ] || kill -9 0\nexec /bin/mv "$@"\n', { mode: 0o755 });
  const seen = { old: 0, new: 0 };
  for (let at = 1, killed = true; killed; at++) {
    begin();
    const count = path.join(work, `count${at}`);
    const { code } = await run(['setsid', '--wait', tool, dir, key, 'bookworm', next],
      { env: { ...env, PATH: `${programs}:${process.env.PATH}`, COUNT: count, KILL_AT: String(at) } });
    killed = code !== 0;
    const later = machine('broken');
    const { code: updated, stderr } = await later.update();
    assert.equal(updated, 0, `change ${at}: ${stderr}`);
    const [newest] = await later.versions();
    seen[newest === '0.1.0' ? 'old' : 'new']++;
    assert.equal((await later.download('fleetprof')).code, 0, `change ${at}`);
    assert.equal((await earlier.download('fleetprof=0.1.0')).code, 0, `change ${at}`);
    fs.rmSync(path.join(earlier.dir, 'fleetprof_0.1.0_amd64.deb'));
    if (!killed) continue;
    await published(dir, key, 'bookworm', next);
    assert.ok(!fs.existsSync(path.join(dir, '.new')), `after change ${at}`);
    assert.equal((await later.update()).code, 0, `after change ${at}`);
    assert.deepEqual(await later.versions(), ['0.2.0', '0.1.0'], `after change ${at}`);
  }
  assert.ok(seen.old > 10 && seen.new === 1, JSON.stringify(seen));
});
