// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprofd's command line: its output and its exit codes.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { binDir, collectorConfig, repository, run, startProcess, temporaryDir, version, waitFor } from './stack.mjs';

/** @param {string[]} args */
const fleetprofd = (...args) => run([path.join(binDir, 'fleetprofd'), ...args]);
const nowhere = { database: 'host=/nonexistent' };

test('--version and --help answer and end with 0', async () => {
  assert.deepEqual(await fleetprofd('--version'), { code: 0, stdout: `fleetprofd ${version}\n`, stderr: '' });
  const help = await fleetprofd('--help');
  assert.equal(help.code, 0);
  for (const option of ['-c FILE', '--check-config', '--print-default-config', '--version'])
    assert.ok(help.stdout.includes(option), option);
});

test('wrong use ends with 2 and says how', async () => {
  for (const args of [[], ['--check-config'], ['--nonsense'], ['-c'], ['-c', 'a', 'b']]) {
    const { code, stdout, stderr } = await fleetprofd(...args);
    assert.equal(code, 2, args.join(' '));
    assert.equal(stdout, '');
    assert.match(stderr, /usage: fleetprofd -c FILE/);
  }
});

test('--check-config says yes or no and opens nothing', async () => {
  const { file, config } = await collectorConfig(nowhere);
  assert.deepEqual(await fleetprofd('-c', file, '--check-config'), { code: 0, stdout: `${file}: the configuration is good\n`, stderr: '' });
  assert.ok(!fs.existsSync(config.spool.path));
  fs.writeFileSync(file, 'listen: 127.0.0.1:1\nspool: {path: relative}\n');
  const { code, stdout, stderr } = await fleetprofd('--check-config', '-c', file);
  assert.equal(code, 1);
  assert.equal(stdout, '');
  assert.deepEqual(stderr.trim().split('\n').map((line) => line.replace(`${file}:`, '').split(' ', 2).join(' ')),
    ['2:15: spool.path:', '1:1: database:', '1:1: sites:']);
});

test('a bad configuration is not run: 2, with the same lines', async () => {
  const { file, config } = await collectorConfig({ ...nowhere, sights: [] });
  const { code, stderr } = await fleetprofd('-c', file);
  assert.equal(code, 2);
  assert.match(stderr, /fleetprof\.yaml:\d+:\d+: sights: is not a setting; known here: listen, /);
  assert.ok(!fs.existsSync(config.spool.path));
});

test('a spool that cannot be made, or is in use: 2 and why', async () => {
  const dir = temporaryDir('spool');
  const { file } = await collectorConfig({ ...nowhere, spool: { path: path.join(dir, 'no/such/parent'), max_bytes: '64MiB' } });
  const { code, stderr } = await fleetprofd('-c', file);
  assert.equal(code, 2);
  assert.match(stderr, /level=error msg="spool cannot be opened" detail=".*no\/such\/parent/);
});

test('started without standard streams it writes its log into no file of its own', async () => {
  const { file, config } = await collectorConfig(nowhere);
  const server = startProcess('fleetprofd', ['sh', '-c', `exec '${path.join(binDir, 'fleetprofd')}' -c '${file}' <&- >&- 2>&-`]);
  await waitFor(async () => (await fetch(`http://${config.admin}/readyz`)).ok, { what: 'readiness' });
  for (const stream of [0, 1, 2]) assert.equal(fs.readlinkSync(`/proc/${server.pid}/fd/${stream}`), '/dev/null');
  assert.equal((await server.stop()).code, 0);
});

test('--print-default-config loads, and is config/fleetprof.yaml', async () => {
  const { code, stdout } = await fleetprofd('--print-default-config');
  assert.equal(code, 0);
  const file = path.join(temporaryDir('default'), 'fleetprof.yaml');
  fs.writeFileSync(file, stdout);
  assert.equal((await fleetprofd('-c', file, '--check-config')).code, 0);
  assert.equal(fs.readFileSync(path.join(repository, 'config/fleetprof.yaml'), 'utf8'), stdout);
});

test('every setting has its entry in the manual', async () => {
  const { stdout } = await fleetprofd('--print-default-config');
  const names = [...stdout.matchAll(/^ *# \[(\S+)\] /gm)].map(([, name]) => name);
  assert.ok(names.length > 25);
  const manual = fs.readFileSync(path.join(repository, 'docs/configuration.md'), 'utf8');
  assert.deepEqual(names.filter((name) => !manual.includes(`\`${name}\``)), []);
});
