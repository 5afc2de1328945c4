// SPDX-License-Identifier: Apache-2.0
/** The integration for servlets keeps the contract in Tomcat. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { servers } from '../../../conformance/application.mjs';
import { freePort, repository, run, runOrThrow, startProcess, temporaryDir, untilReady } from '../stack.mjs';
import { keyFile, startApplication, testServers } from './contract.mjs';

const jars = ['annotations-api', 'api', 'catalina', 'coyote', 'el-api', 'jaspic-api', 'jni', 'jsp-api', 'juli', 'servlet-api', 'util', 'util-scan']
  .map((name) => `/usr/share/java/tomcat10-${name}.jar`);
const skip = (!fs.existsSync('/usr/bin/javac') && 'Java is not installed: tools/deps ci installs it') || (!fs.existsSync(jars[0]) && 'Tomcat is not installed: tools/deps ci installs it');

/** @type {string | undefined} */
let classes;
/** Compiles the filter and its application, once. */
async function compile() {
  if (classes) return classes;
  const folder = path.join(repository, 'integrations/java');
  const dir = temporaryDir('classes');
  await runOrThrow(['javac', '-Xlint:all,-deprecation', '-Werror', '-cp', jars.join(':'), '-d', dir,
    ...fs.readdirSync(folder).map((file) => `${folder}/${file}`), path.join(repository, 'tests/behaviour/conformance/Application.java')]);
  classes = dir;
  return dir;
}

/** The command of Tomcat with the filter. @param {number} port @param {string} application @param {string[]} filters */
const tomcat = async (port, application, filters) => ['java', '-Xshare:auto', '-XX:TieredStopAtLevel=1', '-cp', [await compile(), ...jars].join(':'), 'Application',
  String(port), application, temporaryDir('tomcat'), ...filters];

/** @param {string} application */
async function start(application) {
  const port = await freePort();
  const filters = Object.entries(servers).flatMap(([name, setting]) => (setting ? [name, String(parseFloat(setting.rate) / 100), 'shop', setting.key ? keyFile : '-'] : []));
  const server = startProcess('java', await tomcat(port, application, filters), { deathSignal: 'SIGTERM' });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, () => fetch(`${url}/off/`).then(() => true, () => false));
  return { url, stop: () => server.stop('SIGTERM') };
}

testServers([{ name: 'Tomcat', skip, start }]);

test('pages decide late, at length, asynchronously, or break', { skip }, async () => {
  const application = await startApplication();
  const server = await start(application.url);
  const yes = 'js-profiling, js-profiling-mode=lazy';
  try {
    /** @type {[string, string, number, string | null][]} */
    const pages = [['all', 'late', 200, `a, ${yes}`], ['all', 'long', 200, yes], ['all', 'asynchronous', 200, yes], ['none', 'asynchronous', 200, 'js-profiling=?0'],
      ['all', 'broken', 500, null]];
    for (const [part, page, expected, policy] of pages) {
      const { status, headers } = await fetch(`${server.url}/${part}/${page}`);
      assert.deepEqual([page, status, headers.get('document-policy')], [page, expected, policy]);
      const validator = policy?.includes(yes) || status === 500 ? null : 'Thu, 01 Jan 1970 00:00:00 GMT';
      assert.equal(headers.get('last-modified'), validator, page);
    }
  } finally {
    await server.stop();
    await application.stop();
  }
});

test('a mistake in the options is named before the first request', { skip }, async () => {
  /** @type {[string[], RegExp][]} */
  const mistakes = [[['2', 'shop', '-'], /fleetprof: rate 2\.0 is not 0, and not from 0.000001 to 1/], [['web.xml', '1%', '-'], /fleetprof: rate "1%" is not a number/],
    [['web.xml', '2', '-'], /fleetprof: rate 2\.0 is not 0/], [['1', 'a shop', keyFile], /site "a shop" is not 1 to 64/],
    [['1', 'shop', `${repository}/VERSION`], /VERSION: the first key is not 32 to 128 bytes/]];
  for (const [options, message] of mistakes) {
    const { code, stderr } = await run(await tomcat(await freePort(), 'http://127.0.0.1:1', ['all', ...options]));
    assert.notEqual(code, 0);
    assert.match(stderr, message);
  }
});
