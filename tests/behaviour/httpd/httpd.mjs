// SPDX-License-Identifier: Apache-2.0
/** httpd with the module, for the tests of this folder: what goes into its configuration, and its logs. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { freePort, modulesDir, startProcess, temporaryDir, waitFor } from '../stack.mjs';

export const moduleFile = path.join(modulesDir, 'mod_fleetprof.so');
const program = '/usr/sbin/apache2';
const debianModules = '/usr/lib/apache2/modules';

/** The modules that the neutral cases and most others need. */
const usualModules = ['authz_core', 'dir', 'env', 'headers', 'mime', 'proxy', 'proxy_http', 'setenvif'];

/**
 * Returns the environment that a program with our module needs: a module with sanitizers in it needs their library
 * first in the process.
 * @returns {NodeJS.ProcessEnv}
 */
export function sanitizerEnvironment() {
  const asan = /=> (\S*libasan\S*)/.exec(execFileSync('ldd', [moduleFile], { encoding: 'utf8' }))?.[1];
  if (!asan) return {};
  // httpd does not free its last pools at exit.
  return { LD_PRELOAD: asan, ASAN_OPTIONS: 'detect_leaks=0', UBSAN_OPTIONS: 'print_stacktrace=1:halt_on_error=1' };
}

/** A folder that httpd's children can read and write, whichever user they run as. */
export function openDir(/** @type {string} */ name) {
  const dir = temporaryDir(name);
  fs.chmodSync(dir, 0o777);
  return dir;
}

/**
 * A private configuration: nothing of the machine's own is read but modules and MIME types.
 * @param {{ dir: string, port: number, conf: string, mpm?: string, modules?: string[] }} options
 *   modules: those beside the usual ones, by their names in LoadModule without "_module"
 */
export function configuration({ dir, port, conf, mpm = 'event', modules = [] }) {
  const loaded = [`mpm_${mpm}`, ...usualModules, ...modules]
    .map((name) => `LoadModule ${name}_module ${debianModules}/mod_${name}.so\n`).join('');
  return `ServerRoot ${dir}
${loaded}LoadModule fleetprof_module ${moduleFile}
${process.getuid?.() === 0 ? 'User www-data\nGroup www-data\n' : ''}\
ServerName default.test
Listen 127.0.0.1:${port}
PidFile ${dir}/httpd.pid
DefaultRuntimeDir ${dir}
ErrorLog ${dir}/error.log
TypesConfig /etc/mime.types
StartServers 2
GracefulShutdownTimeout 5
LogFormat "%v|%{FLEETPROF_SAMPLED}e|%{FLEETPROF_RATE}e|%{FLEETPROF_REASON}e" variables
${conf}
`;
}

/**
 * @param {string} dir a folder of the test's own
 * @param {string} text
 * @returns {string[]} the command, to which "-t" or "-DFOREGROUND" is added
 */
export function httpdCommand(dir, text) {
  const file = `${dir}/httpd.conf`;
  fs.writeFileSync(file, text);
  return [program, '-d', dir, '-f', file];
}

/** With FLEETPROF_VALGRIND set, httpd runs under valgrind, which writes into the folder what it finds. */
const watcher = (/** @type {string} */ dir) => (process.env.FLEETPROF_VALGRIND
  ? ['valgrind', '--quiet', '--trace-children=yes', '--vgdb=no', `--log-file=${dir}/valgrind.%p`] : []);

/** Returns valgrind's findings, in all processes. */
const memoryErrors = (/** @type {string} */ dir) => fs.readdirSync(dir).filter((name) => name.startsWith('valgrind.'))
  .map((name) => fs.readFileSync(`${dir}/${name}`, 'utf8')).join('');

/**
 * Starts httpd; `stop` fails the test when a log has anything in it that says httpd was unwell.
 * @param {{ conf: (given: { port: number, dir: string }) => string, mpm?: string, modules?: string[] }} options
 *   conf: what the configuration has beside our usual lines; dir is a folder that httpd may write to
 */
export async function startHttpd({ conf, mpm, modules }) {
  const dir = openDir('httpd');
  const port = await freePort();
  const text = configuration({ dir, port, mpm, modules, conf: conf({ port, dir }) });
  // prefork stops its children by a signal to its whole process group: it gets one of its own.
  const server = startProcess('httpd', ['setsid', ...watcher(dir), ...httpdCommand(dir, text), '-DFOREGROUND'],
    { deathSignal: 'SIGTERM', env: sanitizerEnvironment() });
  const read = (/** @type {string} */ name) => (
    fs.existsSync(`${dir}/${name}`) ? fs.readFileSync(`${dir}/${name}`, 'utf8') : '');
  const errorLog = () => read('error.log') + server.output();
  // It listens before that, but a signal to reload would still end it.
  await waitFor(() => !server.running() || errorLog().includes('resuming normal operations'),
    { what: 'start of httpd' });
  assert.ok(server.running(), errorLog());
  return {
    port,
    dir,
    server,
    errorLog,
    /** Reads the access log: [host, sampled, rate, reason] of each request; "-" is an unset variable. */
    variables: () => read('access.log').split('\n').slice(0, -1).map((line) => line.split('|')),
    stop: async () => {
      assert.ok(server.running(), `httpd has died\n${errorLog()}`);
      await server.stop('SIGTERM');
      assert.doesNotMatch(errorLog(), /:(alert|crit|emerg)\]|exit signal|runtime error|AddressSanitizer/);
      assert.equal(memoryErrors(dir), '');
    },
  };
}
