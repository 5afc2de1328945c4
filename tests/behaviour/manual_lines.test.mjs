// SPDX-License-Identifier: Apache-2.0
/** Configuration and commands on pages of the manual that no other test runs. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { fencedBlocks } from '../markdown.mjs';
import { openDir, startHttpd } from './httpd/httpd.mjs';
import { blocksOf } from './manual.mjs';
import { startModule } from './nginx/nginx.mjs';
import { spoolOnly } from './collector_client.mjs';
import { binDir, modulesDir, repository, run, runOrThrow, startCollector, temporaryDir } from './stack.mjs';

/** @param {string} name */
const read = (name) => fs.readFileSync(path.join(repository, name), 'utf8');

test("each of reliability.md's accidents names tests that are there, and each test of accidents has a row", () => {
  const rows = read('docs/reliability.md').split(/^## /m).find((section) => section.startsWith('Accidents\n'))?.match(/^\|.*\|$/gm)?.slice(2) ?? [];
  assert.ok(rows.length > 40);
  const named = rows.flatMap((row) => {
    const tests = [...row.split('|')[3].matchAll(/`(tests\/[^`]+)`/g)].map(([, file]) => file);
    assert.ok(tests.length > 0, row);
    return tests;
  });
  assert.deepEqual(named.filter((file) => !fs.existsSync(path.join(repository, file))), []);
  const unnamed = fs.readdirSync(path.join(repository, 'tests/accidents')).filter((file) => file.endsWith('.test.mjs') && !named.includes(`tests/accidents/${file}`));
  // It tests the accidents' own book.
  assert.deepEqual(unnamed, ['ledger.test.mjs']);
});

/** The visitors that the lines of privacy.md sample or not, at 100 %. @type {[string, Record<string, string>, boolean][]} */
const visitors = [
  ['a visitor', {}, true],
  ['a visitor with another cookie', { cookie: 'a=b; profiling=yes' }, true],
  ['Global Privacy Control', { 'sec-gpc': '1' }, false],
  ['a visitor who objects', { cookie: 'profiling=no' }, false],
  ['both', { cookie: 'a=b; profiling=no', 'sec-gpc': '1' }, false],
];

/** @param {number} port */
async function assertChoices(port) {
  for (const [who, headers, sampled] of visitors) {
    const { headers: fields } = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: 'text/html', ...headers } });
    assert.equal(/js-profiling(,|$)/.test(fields.get('document-policy') ?? ''), sampled, who);
  }
}

test("privacy.md's lines for nginx leave out who objects", async () => {
  const [lines] = blocksOf('privacy.md', 'nginx');
  const nginx = await startModule({
    conf: ({ port, dir }) => lines.replace('1%', '100%').replace('server {', `server {
      listen 127.0.0.1:${port};
      access_log ${dir}/access.log variables;
      location / { default_type text/html; return 200 page; }`),
  });
  await assertChoices(nginx.port);
  await nginx.stop();
});

test("privacy.md's lines for httpd leave out who objects", async () => {
  const [lines] = blocksOf('privacy.md', 'apache');
  const root = openDir('pages');
  fs.writeFileSync(path.join(root, 'index.html'), 'page');
  const httpd = await startHttpd({
    conf: () => `DocumentRoot ${root}\n<Directory ${root}>\nRequire all granted\n</Directory>\n${lines.replace('1%', '100%')}`,
  });
  await assertChoices(httpd.port);
  await httpd.stop();
});

const [, containers] = read('docs/getting-started.md').split('\n## With containers\n');

/** A block of a list's item, without its indentation. @param {string} language */
const indented = (language) => (new RegExp(`^   \`\`\`${language}\n(.*?)^   \`\`\`$`, 'ms').exec(containers)?.[1] ?? '').replace(/^ {3}/gm, '');

test('the site of getting-started.md is a configuration', async () => {
  const file = path.join(temporaryDir('containers'), 'fleetprof.yaml');
  fs.writeFileSync(file, read('docker/fleetprof.yaml').replace(/^sites:\n[^]*/m, indented('yaml')));
  const { code, stdout, stderr } = await run([path.join(binDir, 'fleetprofd'), '-c', file, '--check-config']);
  assert.equal(code, 0, stdout + stderr);
  assert.match(fs.readFileSync(file, 'utf8'), /pk_shop/);
});

test('the location of getting-started.md fits into docker/nginx.conf', async () => {
  const file = path.join(temporaryDir('containers'), 'nginx.conf');
  const conf = read('docker/nginx.conf');
  const changed = conf.replace('fleetprof_sample 100%', 'fleetprof_sample 1%').replace(/location \/ \{[^}]*\}/, indented('nginx'));
  assert.match(changed, /sample 1%[^]*proxy_pass http:\/\/app:3000/);
  // The names of services exist in Compose's network only.
  fs.writeFileSync(file, changed.replaceAll(/(app|collector):/g, '127.0.0.1:')
    .replaceAll('/tmp/', `${path.dirname(file)}/`).replace('modules/', `${modulesDir}/`));
  const { code, stderr } = await run(['nginx', '-t', '-e', 'stderr', '-c', file]);
  assert.equal(code, 0, stderr);
});

test("the pages' docker commands name files and services that exist", () => {
  const services = new Set([...read('docker/compose.yaml').matchAll(/^ {2}([a-z]+):$/gm)].map(([, name]) => name));
  const commands = ['docs/getting-started.md', 'docs/backup.md']
    .flatMap((page) => fencedBlocks(read(page)))
    .flatMap(({ text }) => text.replaceAll('\\\n', '').split('\n')).filter((line) => /^(\$ )?docker /.test(line));
  assert.ok(commands.length > 10);
  for (const command of commands) {
    const [, file, verb, service] = / compose -f (\S+) (\S+)(?: -\S+)*(?: ([a-z]+))?/.exec(command) ?? [];
    if (file === undefined) {
      assert.match(command, /^docker run .* fleetprof-collector /);
      continue;
    }
    assert.ok(fs.existsSync(path.join(repository, file)), command);
    if (['exec', 'run', 'logs'].includes(verb)) assert.ok(services.has(service), command);
  }
  assert.match(read('docker/compose.yaml'), /image: fleetprof-collector$/m);
});

test("http.md's requests get the replies that it shows", async () => {
  const collector = await startCollector({ config: spoolOnly });
  const dir = temporaryDir('requests');
  fs.copyFileSync(path.join(repository, 'tests/data/fibonacci-recursion.json'), path.join(dir, 'upload.json'));
  const dump = read('tests/data/speed-tracer/v8.ndjson').trimEnd().split('\n');
  for (const part of [0, 1]) fs.writeFileSync(path.join(dir, `part${part}.ndjson`), `${dump[part]}\n`);
  const inThere = (/** @type {string} */ line) => runOrThrow(['bash', '-ec', `cd ${dir}\n${line}`.replaceAll('http://127.0.0.1:8600', collector.url)]);
  const [dryRun] = blocksOf('http.md', 'console').map((block) => block.trim().split('\n'));
  const reply = await inThere(dryRun[0].replace('$ ', ''));
  for (const line of dryRun.slice(1)) assert.ok(reply.includes(`${line}\r\n`), reply);
  const [session] = blocksOf('http.md', 'sh');
  assert.equal(await inThere(session.replaceAll(' -sS ', ' -fsS ')), '');
  assert.equal((await collector.metrics())['fleetprof_uploads_accepted_total{site="shop"}'], 2);
  await collector.stop();
});

test('operations.md says where the service may write, and keeps what it needs there', () => {
  const unit = read('config/systemd/fleetprofd.service');
  const page = read('docs/operations.md');
  const settings = (/** @type {string} */ text) => Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]));
  const { ProtectSystem: system, ProtectHome: home, StateDirectory: state } = settings(unit);
  assert.deepEqual([system, home], ['strict', 'yes']);
  assert.match(page, /^### Where the service may write\n[^#]*\bReadWritePaths=\//m);
  const [, userHome] = /useradd .*--home-dir (\S+)/.exec(page) ?? [];
  assert.equal(userHome, `/var/lib/${state}`);
  // The socket of the setting `database` must also be outside of homes.
  for (const [, file] of page.matchAll(/(?:passfile|sslrootcert)=(\S+)/g)) assert.match(file, /^\/(etc|var)\//);
});
