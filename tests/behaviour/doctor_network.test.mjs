// SPDX-License-Identifier: Apache-2.0
/**
 * Pages that try to send doctor to other addresses: it asks before it leaves the page's origin, connects to nothing inside
 * if the page is outside, and uploads to the page's own site.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';

import { doctor } from './doctor_site.mjs';
import { binDir, repository, run, temporaryDir } from './stack.mjs';

/** @typedef {{ name: string, code: number, stderr: string, inside: string[], findings: { id: string, seen: string }[] }} Case */

const hosts = `127.0.0.1 localhost
8.8.4.4 www.shop.example collector.shop.example www.other.example both.example
127.0.0.1 both.example
10.1.2.3 inner.shop.example inner.other.example
::ffff:127.0.0.1 mapped.other.example
`;

/** Gives the loopback of a new network more addresses: ioctls, as iproute2 is not on every machine. */
const addresses = `
use Socket qw(:DEFAULT inet_pton AF_INET6);
socket(S, PF_INET, SOCK_DGRAM, 0);
my $up = pack('a16s', 'lo', 1);
ioctl(S, 0x8914, $up) or die "up: $!";
my $n = 0;
for my $ip ('8.8.4.4', '10.1.2.3', '169.254.169.254') {
  my $set = pack('a16', 'lo:' . ++$n) . pack_sockaddr_in(0, inet_aton($ip));
  ioctl(S, 0x8916, $set) or die "$ip: $!";
}
socket(T, AF_INET6, SOCK_DGRAM, 0);
my $set = inet_pton(AF_INET6, 'fd00::1') . pack('Ii', 128, 1);
ioctl(T, 0x8916, $set) or die "fd00::1: $!";
`;

test('a public page steers doctor to nothing inside', { timeout: 120_000 }, async (t) => {
  const dir = temporaryDir('network');
  fs.writeFileSync(path.join(dir, 'hosts'), hosts);
  const namespaces = ['unshare', '--net', '--mount', '--'];
  const { code: missing, stderr: why } = await run([...namespaces, 'true']);
  if (missing !== 0) return t.skip(`needs namespaces: ${why}`);
  const { code, stdout, stderr } = await run([...namespaces, 'bash', '-ec', `
    mount --bind '${dir}/hosts' /etc/hosts
    perl -e "$0"
    exec timeout 100 '${process.execPath}' '${repository}/tests/behaviour/doctor_network_inside.mjs' '${binDir}/fleetprof'`, addresses]);
  assert.equal(code, 0, stdout + stderr);
  /** @type {Map<string, Case>} */
  const cases = new Map(stdout.trim().split('\n').map((line) => JSON.parse(line)).map((one) => [one.name, one]));
  const ids = (/** @type {string} */ name) => [...new Set(cases.get(name)?.findings.map(({ id }) => id))].sort();
  const refused = /not asked: the address is (loopback|private|link-local), and that of the page is public/;

  assert.deepEqual(cases.get('nothing'), { name: 'nothing', code: 0, stderr: '', inside: [], findings: [] });
  for (const [name, { code: ended, stderr: said, inside, findings }] of cases) {
    if (!/^(redirect|script)/.test(name)) continue;
    assert.deepEqual(inside, [], name);
    if (name.startsWith('redirect')) assert.equal(ended, 2, name);
    assert.match(name.startsWith('redirect') ? said : findings.map(({ id, seen }) => `${id} ${seen}`).join(), refused, name);
  }
  assert.equal(cases.size, 45);
  for (const name of ['endpoint inside', 'endpoint inside, by base']) {
    assert.ok(ids(name).includes('endpoint-unreachable'), name);
    assert.match(JSON.stringify(cases.get(name)?.findings), refused);
    assert.deepEqual(cases.get(name)?.inside, []);
  }
  assert.deepEqual(ids('endpoint inside, named'), []);
  assert.deepEqual(cases.get('endpoint inside, named')?.inside.filter((line) => line.startsWith('POST 10.1.2.3 /v1/ingest/pk')).length, 3);
  assert.deepEqual(cases.get('direct inside')?.inside, ['GET 10.1.2.3 /']);
  assert.ok(cases.get('page inside')?.inside.includes('GET 10.1.2.3 /app.js'), 'nothing is guarded for a page inside');
  assert.deepEqual(ids('endpoint of another site'), ['endpoint-elsewhere']);
  assert.deepEqual(ids('endpoint of another name of the site'), []);
  assert.deepEqual(cases.get('rebinding')?.inside, []);
  assert.match(JSON.stringify(cases.get('rebinding')?.findings), refused);
});

/** @param {http.RequestListener} answer */
async function listen(answer) {
  const server = http.createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return { port: /** @type {import('node:net').AddressInfo} */ (server.address()).port, close: () => { server.close(); server.closeAllConnections(); } };
}

test('a redirect to another origin is followed after a yes only', async () => {
  /** @type {string[]} */
  const asked = [];
  const other = await listen((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.setHeader('content-type', 'text/html').end('<!doctype html>');
  });
  const target = `http://127.0.0.1:${other.port}/latest/meta-data/\u001b[2J`;
  const page = await listen((_, response) => { response.writeHead(302, { location: target.replace('\u001b', '%1b') }).end(); });
  const url = `http://127.0.0.1:${page.port}/`;

  const { code, findings } = await doctor([url]);
  assert.deepEqual([code, findings.map(({ id }) => id), asked], [1, ['page-elsewhere'], []]);
  assert.match(findings[0].seen, /^status 302, Location: http:\/\/127\.0\.0\.1:\d+\/latest\/meta-data/);
  assert.match(findings[0].fix, /--follow/);

  /** On a terminal. @param {string} reply */
  const onTerminal = (reply) => run(['script', '-qefc', `${binDir}/fleetprof doctor --repeat 1 ${url}`, '/dev/null'], { input: reply });
  for (const no of ['n\n', '\n', 'x\n', '\u0004']) {
    const { stdout } = await onTerminal(no);
    assert.match(stdout, /redirects to another origin: http:\/\/127\.0\.0\.1:\d+\/latest\/meta-data\/.*\r\nFollow it\? \[y\/N\] /);
    assert.match(stdout, /wrong\u001b\[0m: page-elsewhere/);
    assert.deepEqual(asked, [], JSON.stringify(no));
  }
  const { stdout } = await onTerminal('y\n');
  assert.match(stdout, /Follow it\? \[y\/N\] /);
  assert.doesNotMatch(stdout, /page-elsewhere/);
  assert.equal(asked.length, 1);
  const followed = await doctor(['--follow', '--repeat', '3', url]);
  assert.ok(!followed.findings.some(({ id }) => id === 'page-elsewhere'));
  assert.equal(asked.length, 4);
  page.close();
  other.close();
});
