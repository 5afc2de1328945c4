// SPDX-License-Identifier: Apache-2.0
/**
 * Real servers for tests: a private PostgreSQL cluster, fleetprofd and nginx, each in a temporary
 * directory of its own, each stopped by its own pid however the test ends.
 *
 *     const stack = await startStack({ nginx: ({ port, ingest }) => `server { listen ${port}; … }` });
 *     await stack.sql('select 1 as one');   // [{ one: 1 }]
 *     await stack.stop();
 *
 * Programs are taken from build/bin and build/modules, or from $FLEETPROF_BUILD/bin and …/modules.
 * When the test file fails, the last output of every server it started is printed.
 */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

export const repository = fileURLToPath(new URL('../..', import.meta.url));
export const version = fs.readFileSync(path.join(repository, 'VERSION'), 'utf8').trim();
export const buildDir = process.env.FLEETPROF_BUILD ?? path.join(repository, 'build');
export const binDir = path.join(buildDir, 'bin');
export const modulesDir = path.join(buildDir, 'modules');

const isRoot = process.getuid?.() === 0;
const keptOutput = 64 * 1024;

/**
 * A started program.
 * @typedef {object} Server
 * @property {string} name
 * @property {number} pid
 * @property {NodeJS.Signals} deathSignal what makes it end at once, its children too
 * @property {() => string} output the last 64 KiB of what it wrote to stdout and stderr
 * @property {() => boolean} running
 * @property {Promise<Exit>} exited
 * @property {(signal?: NodeJS.Signals, timeoutMs?: number) => Promise<Exit>} stop
 *   sends the signal (SIGTERM) and waits; SIGKILL and an error when it is still there after timeoutMs
 *
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Exit
 */

/** @type {Server[]} */
const servers = [];
/** @type {string[]} */
const temporaryDirs = [];

process.on('exit', (code) => {
  if (code !== 0) {
    for (const server of servers) console.error(`---- ${server.name}\n${server.output().slice(-8192)}`);
  }
  for (const server of servers) if (server.running()) process.kill(server.pid, server.deathSignal);
  for (const dir of temporaryDirs) fs.rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
});
for (const [signal, code] of /** @type {const} */ ([['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]])) {
  process.once(signal, () => process.exit(code));
}

/**
 * Makes a directory that is removed when this process ends.
 * @param {string} [name] a word for the directory's name
 * @returns {string}
 */
export function temporaryDir(name = 'test') {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), `fleetprof-${name}-`));
  temporaryDirs.push(dir);
  return dir;
}

// A process takes a block of ports of its own: another one would find a port free until a server listens on it, or while
// the server on it is down. A socket that listens on the first port of a block holds the block until the process ends.
const portsPerBlock = 100;
const blocks = 217;
const lowestPort = 11_000;
let portsTaken = 0;
/** @type {Promise<number> | undefined} */
let ownBlock;

/** Listens on the port if it is free. @param {number} port */
async function listenOn(port) {
  const server = net.createServer().listen(port, '127.0.0.1');
  return once(server, 'listening').then(() => server, (error) => {
    if (error.code === 'EADDRINUSE') return null;
    throw error;
  });
}

/** Returns the first port of a block that this process holds. */
async function takeBlock() {
  for (let i = 0; i < blocks; i++) {
    const first = lowestPort + (process.pid + i) % blocks * portsPerBlock;
    const held = await listenOn(first);
    if (!held) continue;
    held.unref();
    return first;
  }
  throw new Error(`each of the ${blocks} blocks of ports is taken`);
}

/**
 * Returns a TCP port on 127.0.0.1 that is free at the moment. The kernel gives the ports from 32768 on to connections:
 * one of those could be taken again before a server listens on it.
 * @returns {Promise<number>}
 */
export async function freePort() {
  ownBlock ??= takeBlock();
  const first = await ownBlock;
  for (;;) {
    const port = first + 1 + portsTaken % (portsPerBlock - 1);
    portsTaken += 1;
    const server = await listenOn(port);
    if (!server) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/**
 * Polls until the condition returns something true, and returns that. A condition that throws is retried; its last
 * error is part of the message when time is up. The default ends what hangs, and no more: a disk may stall a server
 * for ten seconds. Without an interval it polls less and less often, which makes a wait a tenth longer at most, and
 * leaves the processor to what it waits for.
 * @template T
 * @param {() => T | Promise<T>} condition
 * @param {{ timeoutMs?: number, what?: string, intervalMs?: number }} [options]
 * @returns {Promise<Exclude<T, false | 0 | '' | null | undefined>>}
 */
export async function waitFor(condition, { timeoutMs = 60_000, what = 'the condition', intervalMs } = {}) {
  /** @type {unknown} */
  let last;
  const began = performance.now();
  for (;;) {
    try {
      const value = await condition();
      if (value) return /** @type {any} */ (value);
      last = undefined;
    } catch (error) {
      if (error instanceof GaveUp) throw error;
      last = error;
    }
    const waitedMs = performance.now() - began;
    if (waitedMs > timeoutMs) {
      throw new Error(`no ${what} after ${timeoutMs} ms`, last === undefined ? {} : { cause: last });
    }
    await delay(intervalMs ?? Math.min(Math.max(25, waitedMs / 10), 250));
  }
}

class GaveUp extends Error {}

/**
 * Starts a program. The kernel sends it `deathSignal` if this process is killed.
 * @param {string} name
 * @param {string[]} command
 * @param {{ user?: string, deathSignal?: NodeJS.Signals, env?: NodeJS.ProcessEnv }} [options]
 *   user: whom to become when we are root
 * @returns {Server}
 */
export function startProcess(name, command, { user, deathSignal = 'SIGKILL', env } = {}) {
  const identity = user && isRoot ? [`--reuid=${user}`, `--regid=${user}`, '--init-groups'] : [];
  const child = spawn('setpriv', [...identity, '--pdeathsig', deathSignal.slice(3), '--', ...command], {
    cwd: '/',
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let running = true;
  // Unreferenced: a test that forgets to stop a server must end all the same.
  child.unref();
  for (const stream of /** @type {net.Socket[]} */ ([child.stdout, child.stderr])) {
    stream.unref();
    stream.setEncoding('utf8').on('data', (text) => { output = (output + text).slice(-keptOutput); });
  }
  /** @type {Promise<Exit>} */
  const exited = new Promise((resolve) => {
    child.once('error', (error) => { running = false; output += error; resolve({ code: null, signal: null }); });
    child.once('exit', () => { running = false; });
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  const server = {
    name,
    pid: child.pid ?? 0,
    deathSignal,
    output: () => output,
    running: () => running,
    exited,
    /** @type {Server['stop']} */
    // The collector itself ends a stop that takes 30 s.
    stop: async (signal = 'SIGTERM', timeoutMs = 40_000) => {
      if (!running) return exited;
      child.ref();
      child.kill(signal);
      const late = new AbortController();
      const exit = await Promise.race([exited, delay(timeoutMs, null, { signal: late.signal })]);
      late.abort();
      if (exit) return exit;
      child.kill('SIGKILL');
      await exited;
      throw new Error(`${name} was still running ${timeoutMs} ms after ${signal}\n${output}`);
    },
  };
  servers.push(server);
  return server;
}

/**
 * Waits until a server answers; throws with its output if it ends or time is up before that.
 * @param {Server} server
 * @param {() => unknown} answers
 * @param {number} [timeoutMs]
 */
export async function untilReady(server, answers, timeoutMs = 60_000) {
  try {
    await waitFor(() => {
      if (!server.running()) throw new GaveUp('it ended');
      return answers();
    }, { timeoutMs, what: 'answer' });
  } catch (error) {
    if (server.running()) await server.stop('SIGKILL');
    throw new Error(`${server.name} did not start\n${server.output()}`, { cause: error });
  }
}

/**
 * Runs a program to its end.
 * @param {string[]} command
 * @param {{ user?: string, input?: string, env?: NodeJS.ProcessEnv }} [options] user as in startProcess
 * @returns {Promise<{ code: number | null, stdout: string, stderr: string }>}
 */
export async function run(command, { user, input = '', env } = {}) {
  const identity = user && isRoot ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--init-groups', '--'] : [];
  const [program, ...args] = [...identity, ...command];
  const child = spawn(program, args, { cwd: '/', env: { ...process.env, ...env } });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text) => { stdout += text; });
  child.stderr.setEncoding('utf8').on('data', (text) => { stderr += text; });
  child.stdin.on('error', () => {}).end(input);
  const [code] = await once(child, 'close');
  return { code, stdout, stderr };
}

/**
 * @param {string[]} command
 * @param {Parameters<typeof run>[1]} [options]
 * @returns {Promise<string>} stdout; anything but exit code 0 is an error
 */
export async function runOrThrow(command, options) {
  const { code, stdout, stderr } = await run(command, options);
  if (code !== 0) throw new Error(`${command.join(' ')} ended with ${code}\n${stdout}${stderr}`);
  return stdout;
}

/**
 * A private cluster that listens on a unix socket only, with an empty database `fleetprof` and the
 * superuser `postgres`. Everybody who reaches the socket is trusted.
 * @typedef {object} Postgres
 * @property {string} socketDir
 * @property {Server} server the postmaster; changes when restarted
 * @property {(user?: string, database?: string) => string} conninfo a libpq connection string (postgres, fleetprof)
 * @property {(text: string, user?: string) => Promise<any[]>} sql the rows of one query as objects; JSON's
 *   numbers: cast what does not fit a double to text
 * @property {(script: string, user?: string) => Promise<string>} execute any statements; psql's unaligned output
 * @property {() => Promise<void>} start again, after stop
 * @property {(signal?: NodeJS.Signals) => Promise<void>} stop SIGINT: fast shutdown; SIGQUIT: as in a crash
 */

/**
 * @param {{ migrated?: boolean, settings?: Record<string, string | number>, env?: Record<string, string>, bin?: string }} [options]
 *   migrated: the database has the newest schema, as after migrate(); settings beside ours; env: the server's; bin: its programs
 * @returns {Promise<Postgres>}
 */
export async function startPostgres({ migrated = false, settings = {}, env = {}, bin = postgresBinDir() } = {}) {
  const socketDir = temporaryDir('pg');
  if (isRoot) await runOrThrow(['chown', 'postgres:postgres', socketDir]);
  const data = path.join(socketDir, 'data');
  await runOrThrow(['cp', '-a', await (migrated ? migratedCluster(bin) : emptyCluster(bin)), data]);
  const wanted = {
    listen_addresses: '', unix_socket_directories: socketDir, max_connections: 40,
    shared_buffers: '64MB', jit: 'off', fsync: 'on', log_checkpoints: 'off', ...settings,
  };
  const flags = Object.entries(wanted).flatMap(([name, value]) => ['-c', `${name}=${value}`]);

  /** @type {Postgres['conninfo']} */
  const conninfo = (user = 'postgres', database = 'fleetprof') =>
    `host=${socketDir} port=${settings.port ?? 5432} dbname=${database} user=${user}`;
  /** @param {string} script @param {string} connection */
  const psql = (script, connection) => runOrThrow([`${bin}/psql`, '-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', connection],
    { input: script });

  /** @type {Postgres} */
  const postgres = {
    socketDir,
    server: /** @type {any} */ (undefined),
    conninfo,
    execute: (script, user) => psql(script, conninfo(user)),
    sql: sqlOver({ socketDir, port: Number(settings.port ?? 5432), database: 'fleetprof' }),
    start: async () => {
      // The server's alone: what becomes another user first may not leave behind what that user cannot open.
      const own = Object.entries(env).map(([name, value]) => `${name}=${value}`);
      postgres.server = startProcess('postgres', ['env', ...own, `${bin}/postgres`, '-D', data, ...flags],
        { user: 'postgres', deathSignal: 'SIGQUIT' });
      await untilReady(postgres.server, () => psql('select 1', conninfo('postgres', 'postgres')));
    },
    stop: async (signal = 'SIGINT') => { await postgres.server.stop(signal); },
  };
  await postgres.start();
  if (!migrated) await psql('create database fleetprof', conninfo('postgres', 'postgres'));
  return postgres;
}

/**
 * Queries over few connections that are used again: a new one would have to read each function's source first. An idle
 * connection soon ends, for tests that count them or stop the server.
 * @param {{ socketDir: string, port: number, database: string }} where
 * @returns {(text: string, user?: string) => Promise<any[]>} Postgres.sql
 */
export function sqlOver({ socketDir: host, port, database }) {
  /** @type {Map<string, pg.Pool>} */
  const pools = new Map();
  /** @param {string} user */
  const connect = (user) => {
    const pool = new pg.Pool({ host, port, database, user, max: 4, idleTimeoutMillis: 300, allowExitOnIdle: true });
    pool.on('error', () => {}); // the server stopped: the next query says so
    pools.set(user, pool);
    return pool;
  };
  return async (text, user = 'postgres') => {
    const { rows: [{ json }] } = await (pools.get(user) ?? connect(user)).query(
      `select coalesce(json_agg(row_), '[]')::text as json from (\n${text.replace(/;\s*$/, '')}\n) row_`);
    return JSON.parse(json);
  };
}

/**
 * A cluster as initdb leaves it, kept in build/ for all tests: creating one takes longer than most tests.
 * @param {string} bin
 * @returns {Promise<string>} its directory; to be copied, never started
 */
async function emptyCluster(bin) {
  const kept = path.join(repository, 'build', `cluster-${path.basename(path.dirname(bin))}`);
  if (fs.existsSync(kept)) return kept;
  const dir = temporaryDir('initdb');
  if (isRoot) await runOrThrow(['chown', 'postgres:postgres', dir]);
  await runOrThrow([`${bin}/initdb`, '--pgdata', path.join(dir, 'data'), '--username=postgres', '--auth=trust',
    '--encoding=UTF8', '--locale=C.UTF-8', '--no-sync', '--no-instructions'], { user: 'postgres' });
  await keepCluster(path.join(dir, 'data'), kept);
  return kept;
}

/**
 * A cluster with a database `fleetprof` as `fleetprof migrate` leaves it, kept in build/ for all tests with this program.
 * @param {string} bin
 * @returns {Promise<string>} its directory; to be copied, never started
 */
async function migratedCluster(bin) {
  const prefix = `migrated-cluster-${path.basename(path.dirname(bin))}-`;
  const program = createHash('sha256').update(fs.readFileSync(path.join(binDir, 'fleetprof'))).digest('hex').slice(0, 16);
  const build = path.join(repository, 'build');
  const kept = path.join(build, prefix + program);
  if (fs.existsSync(kept)) return kept;
  const postgres = await startPostgres();
  await migrate(postgres);
  await postgres.stop();
  // Those of earlier programs go, unless a test may be copying one.
  for (const name of fs.readdirSync(build).filter((one) => one.startsWith(prefix))) {
    const { ctimeMs } = fs.statSync(path.join(build, name), { throwIfNoEntry: false }) ?? {};
    if (ctimeMs && Date.now() - ctimeMs > 3_600_000) await fs.promises.rm(path.join(build, name), { recursive: true, force: true });
  }
  await keepCluster(path.join(postgres.socketDir, 'data'), kept);
  return kept;
}

/** Whoever comes first puts a cluster there whole. @param {string} data @param {string} kept */
async function keepCluster(data, kept) {
  const own = `${kept}.${process.pid}`;
  await fs.promises.mkdir(path.dirname(kept), { recursive: true });
  await runOrThrow(['cp', '-a', data, own]);
  await fs.promises.rename(own, kept).catch(() => fs.promises.rm(own, { recursive: true, force: true }));
}

/**
 * Debian keeps each major version's programs in a separate folder outside the path; this takes the newest. $PG_CONFIG
 * names the pg_config of another PostgreSQL.
 */
export function postgresBinDir() {
  if (process.env.PG_CONFIG) return execFileSync(process.env.PG_CONFIG, ['--bindir'], { encoding: 'utf8' }).trim();
  const versions = '/usr/lib/postgresql';
  const newest = fs.readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0];
  return path.join(versions, newest, 'bin');
}

/** Returns the path of psql itself: the one in the path is a Perl program, whose start takes longer than most queries. */
export const psqlProgram = () => path.join(postgresBinDir(), 'psql');

/**
 * Brings the cluster's database to the newest schema, as the superuser.
 * @param {Postgres} postgres
 */
export async function migrate(postgres) {
  await runOrThrow([path.join(binDir, 'fleetprof'), 'migrate', '--database', postgres.conninfo()]);
}

const allFormats = ['web', 'speed-tracer', 'opera-scope'];
const noBudgets = { requests_per_second: 0, bytes_per_second: 0 };

/**
 * Writes a configuration: ours, overridden by the test's settings. JSON is YAML. Sites take all formats, and as
 * many uploads as come, unless the test says otherwise; `formats: undefined` and `budgets: undefined` are the defaults.
 * @param {Record<string, unknown>} overrides
 * @returns {Promise<{ file: string, config: Record<string, any> }>}
 */
export async function collectorConfig(overrides) {
  const dir = temporaryDir('collector');
  const config = {
    listen: `127.0.0.1:${await freePort()}`,
    admin: `127.0.0.1:${await freePort()}`,
    spool: { path: path.join(dir, 'spool'), max_bytes: '64MiB' },
    flush: { min_window: '50ms', max_window: '1s' },
    sites: [{ name: 'demo', key: 'pk_demo', origins: ['http://127.0.0.1'] }],
    ...overrides,
  };
  config.sites = config.sites.map((site) => ({ formats: allFormats, budgets: noBudgets, ...site }));
  const file = path.join(dir, 'fleetprof.yaml');
  fs.writeFileSync(file, `${JSON.stringify(config, null, 2)}\n`);
  return { file, config };
}

/**
 * @typedef {object} Collector
 * @property {Server} server
 * @property {string} file the configuration's
 * @property {Record<string, any>} config as written: give it to startCollector to start another on the same spool
 * @property {string} url of the ingest listener (TCP), as http://127.0.0.1:PORT
 * @property {string} adminUrl
 * @property {() => Promise<Record<string, number>>} metrics name with labels → value
 * @property {() => Promise<void>} stop SIGTERM; an error when it does not exit with 0
 */

/**
 * Starts fleetprofd and waits until it is ready for uploads.
 * @param {{ config: Record<string, unknown>, env?: NodeJS.ProcessEnv }} options config: what to lay over
 *   collectorConfig's; at least `database`
 * @returns {Promise<Collector>}
 */
export async function startCollector({ config: overrides, env }) {
  const { file, config } = await collectorConfig(overrides);
  const adminUrl = `http://${config.admin}`;
  const server = startProcess('fleetprofd', [path.join(binDir, 'fleetprofd'), '-c', file], { env });
  await untilReady(server, async () => (await fetch(`${adminUrl}/readyz`)).ok);
  return {
    server,
    file,
    config,
    url: `http://${config.listen}`,
    adminUrl,
    metrics: async () => {
      const text = await (await fetch(`${adminUrl}/metrics`)).text();
      const lines = text.split('\n').filter((line) => line && !line.startsWith('#'));
      return Object.fromEntries(lines.map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }));
    },
    stop: async () => {
      const { code, signal } = await server.stop();
      if (code !== 0) throw new Error(`fleetprofd ended with ${signal ?? code}\n${server.output()}`);
    },
  };
}

/**
 * @typedef {object} Nginx
 * @property {Server} server
 * @property {string} url http://127.0.0.1:PORT
 * @property {string} dir its prefix, with nginx.conf in it
 * @property {() => Promise<void>} stop
 */

/**
 * Starts nginx (two processes: master and one worker) and waits until it listens.
 * @param {{ conf: string, port: number, modules?: string[], main?: string }} options conf: what stands in
 *   `http { … }`; port: the one that goes into `url`; modules: files to load, those without a folder from
 *   build/modules; main: what stands before `events`
 * @returns {Promise<Nginx>}
 */
export async function startNginx({ conf, port, modules = ['ngx_http_fleetprof_module.so'], main = '' }) {
  const dir = temporaryDir('nginx');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `  ${kind}_temp_path ${dir}/${kind};\n`).join('');
  fs.writeFileSync(path.join(dir, 'nginx.conf'), `\
${modules.map((file) => `load_module ${path.resolve(modulesDir, file)};\n`).join('')}\
${isRoot ? 'user root;\n' : ''}\
daemon off;
pid ${dir}/nginx.pid;
error_log stderr notice;
${main}
events { worker_connections 256; }
http {
  include /etc/nginx/mime.types;
  access_log off;
${temporary}
${conf}
}
`);
  const server = startProcess('nginx', ['nginx', '-e', 'stderr', '-p', dir, '-c', `${dir}/nginx.conf`],
    { deathSignal: 'SIGTERM' });
  await untilReady(server, () => server.output().includes('start worker process '));
  return { server, url: `http://127.0.0.1:${port}`, dir, stop: async () => { await server.stop('SIGTERM'); } };
}

/**
 * All three, wired: browser → nginx → fleetprofd → PostgreSQL.
 * @typedef {Pick<Postgres, 'sql' | 'execute' | 'stop'> &
 *   { postgres: Postgres, collector: Collector, nginx: Nginx | undefined }} Stack
 *
 * @param {{ config?: Record<string, unknown>,
 *           nginx?: (given: { port: number, ingest: string }) => string }} [options]
 *   config as in startCollector, the database is ours; nginx: writes what stands in `http { … }` for a port
 *   to listen on and the collector's URL; without it there is no nginx
 * @returns {Promise<Stack>}
 */
export async function startStack({ config = {}, nginx: conf } = {}) {
  const postgres = await startPostgres({ migrated: true });
  const port = await freePort();
  const collector = await startCollector({
    config: {
      database: postgres.conninfo('fleetprof_writer'),
      sites: [{ name: 'demo', key: 'pk_demo', origins: [`http://127.0.0.1:${port}`] }],
      ...config,
    },
  });
  const nginx = conf && await startNginx({ port, conf: conf({ port, ingest: collector.url }) });
  return {
    postgres,
    collector,
    nginx,
    sql: postgres.sql,
    execute: postgres.execute,
    stop: async () => {
      await nginx?.stop();
      await collector.stop();
      await postgres.stop();
    },
  };
}
