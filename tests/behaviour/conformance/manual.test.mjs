// SPDX-License-Identifier: Apache-2.0
/** docs/decision.md says what cases.json and integrations/ have. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { cases, rates, servers } from '../../../conformance/application.mjs';
import { repository, runOrThrow } from '../stack.mjs';
import { all } from './contract.mjs';

const manual = fs.readFileSync(path.join(repository, 'docs/decision.md'), 'utf8');

/** Returns the cells of the rows below a row of headings. @param {string} head its beginning */
const rowsOf = (head) => manual.split(`\n| ${head} |`)[1].split('\n\n')[0].split('\n').slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));

test('the parts of a server under test are those of the manual', () => {
  const expected = Object.entries(servers).map(([name, setting]) => [`\`/${name}/\``, setting ? setting.rate.replace('%', ' %') : 'off', setting?.key ?? false]);
  assert.deepEqual(rowsOf('path').map(([name, rate, key]) => [name, rate, /same|token\.key/.test(key)]), expected);
  assert.ok(manual.includes(`\n${all} passed, 0 failed\n`));
});

test('names of cases are different, and each part is asked', () => {
  const named = [...cases, ...rates];
  assert.equal(new Set(named.map(({ name }) => name)).size, named.length);
  assert.deepEqual(new Set(named.map(({ server }) => server)), new Set(Object.keys(servers)));
});

test('each integration is in the manual, and has at most 100 lines', () => {
  const rows = rowsOf('server').map((cells) => cells.join(' '));
  for (const folder of fs.readdirSync(path.join(repository, 'integrations'))) {
    assert.ok(rows.some((row) => row.includes(`\`${folder}/`)), `docs/decision.md has no row for integrations/${folder}`);
    for (const file of fs.readdirSync(path.join(repository, 'integrations', folder))) {
      const lines = fs.readFileSync(path.join(repository, 'integrations', folder, file), 'utf8').split('\n').length - 1;
      assert.ok(lines <= 100, `integrations/${folder}/${file} has ${lines} lines`);
    }
  }
});

/** Commands that print the version of each program in the table, on Debian. @type {Record<string, string[]>} */
const versions = {
  HAProxy: ['/usr/sbin/haproxy', '-v'], Varnish: ['/usr/sbin/varnishd', '-V'], Go: ['/usr/bin/go', 'version'], PHP: ['/usr/bin/php', '-v'],
  Rack: ['/usr/bin/ruby', '-rrack', '-e', 'puts "Rack #{Rack.release}"'], Puma: ['/usr/bin/puma', '--version'],
  lighttpd: ['/usr/sbin/lighttpd', '-v'], yaegi: ['/usr/bin/yaegi', 'version'],
  Tomcat: ['/usr/bin/readlink', '/usr/share/java/tomcat10-api.jar'],
  Python: ['/usr/bin/python3', '--version'], uvicorn: ['/usr/bin/uvicorn', '--version'],
};

const isDebian12 = /^VERSION_ID="12"$/m.test(fs.readFileSync('/etc/os-release', 'utf8'));

test('the versions in the table are those of Debian 12', { skip: !isDebian12 && 'this is not Debian 12' }, async () => {
  const named = rowsOf('server').flatMap((cells) => cells[2].replace(/ \(\d\)$/, '').split(', ')).map((one) => one.split(' '));
  for (const [program, command] of Object.entries(versions)) {
    const [, version] = named.find(([name]) => name === program) ?? assert.fail(`no row of docs/decision.md names ${program}`);
    if (!command.filter((one) => one.startsWith('/')).every((one) => fs.existsSync(one))) continue;
    const printed = await runOrThrow(['sh', '-c', '"$@" 2>&1', 'sh', ...command]);
    assert.match(printed, new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?![\\d])`), program);
  }
  const others = ['Express', 'Fastify', 'Next.js', 'Vite', 'Node', 'workerd', 'Caddy'];
  assert.deepEqual(named.map(([name]) => name).filter((name) => !(name in versions) && !others.includes(name)), []);
});
