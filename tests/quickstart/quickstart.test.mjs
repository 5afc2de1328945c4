// SPDX-License-Identifier: Apache-2.0
/**
 * ./quickstart as a newcomer meets it: the first start, the demo page, README's blocks in their order, and a second
 * start that counts nothing twice. It works in ./var of this tree, as README does.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { repository, run, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from '../browser/chromium.mjs';
import { fencedBlocks } from '../markdown.mjs';

const readme = fs.readFileSync(path.join(repository, 'README.md'), 'utf8');
const blocks = fencedBlocks(readme);
const firstStart = blocks.findIndex(({ language, text }) => language === 'sh' && text.startsWith('./quickstart'));

/** @type {import('node:child_process').ChildProcess} */
let quickstart;
let printed = '';
/** How long PostgreSQL's log was before this start. */
const postgresLog = path.join(repository, 'var/log/postgres.log');
const logged = fs.existsSync(postgresLog) ? fs.statSync(postgresLog).size : 0;
/** @type {import('playwright-core').Browser} */
let browser;

/** The addresses of the report and of the demo page, from what quickstart printed. */
const addresses = () => [...printed.matchAll(/^(?:Report|Demo) +(http:\S+)/gm)].map(([, url]) => url);
const reportUrl = () => addresses()[0];
const demoUrl = () => addresses()[1];

/** The usual ports are taken, as by another checkout's quickstart. @type {net.Server[]} */
const others = [];

before(async () => {
  for (const port of [8600, 8601, 8602, 8080]) {
    const server = net.createServer((socket) => socket.destroy()).listen(port, '127.0.0.1');
    await once(server, 'listening').then(() => others.push(server), () => {}); // another program has it: as good
  }
  quickstart = spawn('bash', ['-c', `exec ${blocks[firstStart].text}`], { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [quickstart.stdout, quickstart.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => { printed += text; });
  }
  const isUp = () => printed.includes('up. Ctrl-C stops everything');
  await waitFor(() => isUp() || quickstart.exitCode !== null, { timeoutMs: 500_000, what: 'end of the start', intervalMs: 200 });
  assert.ok(isUp(), `./quickstart ended with ${quickstart.exitCode}\n${printed}`);
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await stopQuickstart();
  for (const server of others) server.close();
});

/** As Ctrl-C does. */
async function stopQuickstart() {
  if (quickstart.exitCode !== null || quickstart.signalCode !== null) return;
  const ended = once(quickstart, 'exit');
  quickstart.kill('SIGINT');
  await ended;
}

/** The busiest functions of the samples, as --once prints them. @param {string} output */
const sampleTable = (output) => /"samples"\):\n\n([^]*)\n?$/.exec(output)?.[1] ?? '';

test('quickstart says what it does and when', () => {
  assert.match(printed, /^quickstart: +\d+ s {2}building /m);
  assert.match(printed, /^quickstart: +\d+ s {2}starting PostgreSQL/m);
  const end = printed.slice(printed.indexOf('\nSite "shop"')).trim().split('\n').filter((line) => !line.startsWith('quickstart: '));
  assert.match(end[0], /^Site "shop" is made up; its release 2\.3\.0 made sortReviews slower: \d+ ms per page load, \d+ before\.$/);
  assert.deepEqual(end.slice(1).filter(Boolean).map((line) => line.split(' ')[0]), ['Report', 'Demo', 'Try']);
  // A collector that is stopped, as the one that takes the made-up shop, does not wait for what it was reading.
  // PostgreSQL refuses pg_isready while it starts.
  assert.doesNotMatch(fs.readFileSync(postgresLog).subarray(logged).toString(), /FATAL: {2}(?!connection to client lost|the database system is starting up)/);
});

test('beside servers on the usual ports, each server takes a port of its own', () => {
  const conf = fs.readFileSync(path.join(repository, 'var/fleetprof.yaml'), 'utf8');
  const ports = [...conf.matchAll(/^(?:listen|admin): 127\.0\.0\.1:(\d+)$/gm)].map(([, port]) => port);
  ports.push(new URL(reportUrl()).port, new URL(demoUrl()).port);
  assert.equal(new Set(ports).size, 4, ports.join());
  for (const taken of ['8600', '8601', '8602', '8080']) assert.ok(!ports.includes(taken), ports.join());
});

test('the report shows the samples', async () => {
  const { page, complaints } = await openTab(browser);
  await page.goto(new URL('/samples/functions?since=365d', reportUrl()).href);
  await page.waitForSelector('text=innerMath');
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the made-up shop has a regression, vitals and a third party', async () => {
  /** @param {string} question @returns {Promise<any[]>} rows */
  const ask = async (question) => {
    const { code, stdout, stderr } = await run(['bash', '-c', `cd '${repository}' && . var/env && build/bin/fleetprof ${question} --site shop --json`]);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout);
  };
  const compared = await ask('compare 2.2.9 2.3.0');
  assert.deepEqual(compared.filter((row) => row.verdict === 'slower').map((row) => row.function), ['sortReviews']);
  assert.ok(compared.filter((row) => row.verdict === 'no change seen').length > 5, JSON.stringify(compared));
  const vitals = await ask('vitals --since 7d');
  assert.deepEqual(vitals.map((row) => row.name).sort(), ['CLS', 'FCP', 'INP', 'LCP', 'TTFB']);
  assert.ok(vitals.every((row) => row.count > 400), JSON.stringify(vitals));
  assert.ok((await ask('interactions --since 7d')).length > 0);
  const hosts = await ask('third-parties --since 7d');
  assert.ok(hosts.some((row) => row.host === 'cdn.tracker.example' && row.party === 'third'), JSON.stringify(hosts));
  const [covered] = await ask('coverage --since 7d');
  assert.ok(covered.profiled > 400 && covered.unsupported > 80 && covered.quota > 20, JSON.stringify(covered));
  assert.ok(JSON.parse((await run(['bash', '-c', `cd '${repository}' && . var/env && build/bin/fleetprof session list --json`])).stdout).some((/** @type {any} */ row) => row.site === 'shop'), 'kept page loads');
  const packages = await ask('cost package --since 7d');
  assert.ok(packages.some((row) => row.name === 'currency.js' && row.self_ms > 0), JSON.stringify(packages));
  const sources = await ask('cost source --since 7d');
  assert.ok(sources.some((row) => row.name === 'src/components/Reviews.jsx'), JSON.stringify(sources));
  const budgets = await ask('budgets --since 7d');
  assert.deepEqual([...new Set(budgets.map((row) => row.verdict))].sort(), ['over', 'within'], JSON.stringify(budgets));
  const found = await ask('summary --since 7d');
  assert.match(found[0].sentence, /^2\.3\.0 made 1 function slower, since /);
  assert.deepEqual(found.filter((row) => row.verdict === 'wrong').map((row) => row.name), ['budgets'], 'what the shop has too much of, and nothing else');

  const { page, complaints } = await openTab(browser);
  await page.goto(new URL('/shop/compare?before=2.2.9&after=2.3.0', reportUrl()).href);
  await page.waitForSelector('text=sortReviews');
  await page.goto(new URL('/shop/vitals?since=7d', reportUrl()).href);
  await page.waitForSelector('text=LCP');
  assert.deepEqual(complaints, []);
  await page.context().close();
});

test('the demo page gets why its numbers cannot be asked', async () => {
  const psql = (/** @type {string} */ statement) => run(['bash', '-c', `cd '${repository}' && . var/env && psql -X -d "\${FLEETPROF_DATABASE/fleetprof_reader/fleetprof}" -c '${statement}'`]);
  const numbers = async () => (await fetch(new URL('/numbers.json', demoUrl()))).json();
  const { code, stderr } = await psql('alter role fleetprof_reader nologin');
  assert.equal(code, 0, stderr);
  await waitFor(async () => (await numbers()).trouble !== undefined, { what: 'trouble' });
  await psql('alter role fleetprof_reader login');
  await waitFor(async () => (await numbers()).loads !== undefined, { what: 'numbers' });
});

test('the archive of the made-up shop is what its generator makes', async () => {
  const dir = temporaryDir('shop');
  const { code, stdout, stderr } = await run(['bash', '-c', `set -e; cd '${repository}'; mkdir '${dir}/packed'
    tar -C '${dir}/packed' -xzf demo/shop.tar.gz; '${process.execPath}' demo/shop.mjs '${dir}/made'; diff -r '${dir}/packed' '${dir}/made'`]);
  assert.equal(code, 0, stdout.slice(0, 2000) + stderr);
});

test('a start beside a running one names its report, at once', async () => {
  const { code, stderr } = await run(['bash', '-c', `cd '${repository}' && ./quickstart`]);
  assert.equal(code, 2);
  assert.equal(stderr, `quickstart: another quickstart is running in ${path.join(repository, 'var')}; its report: ${reportUrl()}\n`);
});

test('two checkouts that start at the same time take ports of their own', async () => {
  /** Starts quickstart in a folder of its own, with this tree's programs. */
  const start = async () => {
    const dir = temporaryDir('checkout');
    fs.chmodSync(dir, 0o755); // servers run as another user
    for (const name of ['build', 'config', 'demo', 'tests']) fs.symlinkSync(path.join(repository, name), path.join(dir, name));
    fs.copyFileSync(path.join(repository, 'quickstart'), path.join(dir, 'quickstart'));
    fs.mkdirSync(path.join(dir, 'tools'));
    for (const done of ['deps', 'build']) fs.writeFileSync(path.join(dir, 'tools', done), '#!/bin/sh\n', { mode: 0o755 });
    const { code, stdout, stderr } = await run([path.join(dir, 'quickstart'), '--once']);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Site "shop" is made up; its release 2\.3\.0 made sortReviews slower: [^]*\(tests\/data, site "samples"\):\n\nFUNCTION/m);
  };
  await Promise.all([start(), start()]);
});

test('quickstart explains itself', async () => {
  const help = await run(['bash', '-c', `cd '${repository}' && ./quickstart --help`]);
  assert.equal(help.code, 0);
  assert.match(help.stdout, /^ {2}\.\/quickstart --once/m);
  const unknown = await run(['bash', '-c', `cd '${repository}' && ./quickstart --twice`]);
  assert.equal(unknown.code, 2);
  assert.equal(unknown.stderr, help.stdout);
});

test('options count in any order, and a second answer is refused', async () => {
  const folder = temporaryDir('options');
  fs.copyFileSync(path.join(repository, 'quickstart'), path.join(folder, 'quickstart'));
  fs.mkdirSync(path.join(folder, 'tools'));
  fs.writeFileSync(path.join(folder, 'tools/deps'), '#!/bin/sh\necho "yes: $FLEETPROF_YES" >&2\nexit 3\n', { mode: 0o755 });
  const start = async (/** @type {string[]} */ ...options) => {
    const { code, stderr } = await run(['bash', path.join(folder, 'quickstart'), ...options], { env: { FLEETPROF_YES: '' } });
    return [code, /^yes: .*$/m.exec(stderr)?.[0]];
  };
  for (const options of [['--once', '--yes'], ['--yes', '--once'], ['--build-only', '--yes'], ['--yes']]) assert.deepEqual(await start(...options), [3, 'yes: yes'], options.join(' '));
  assert.deepEqual(await start('--once'), [3, 'yes: ']);
  assert.deepEqual(await start('--once', '--build-only'), [2, undefined]);
});

test('a folder whose path would break the build is refused at once', async () => {
  for (const name of ['my tree', 'a&b', "it's", '$HOME', 'a;b']) {
    const folder = path.join(temporaryDir('paths'), name);
    fs.mkdirSync(folder);
    fs.copyFileSync(path.join(repository, 'quickstart'), path.join(folder, 'quickstart'));
    const { code, stderr } = await run(['bash', path.join(folder, 'quickstart'), '--build-only']);
    assert.equal(code, 2, name);
    assert.match(stderr, /the folder's path has a space or another special character: move it elsewhere/);
  }
});

test('the demo page gets its numbers, whole and fresh', async () => {
  const numbers = async () => {
    const reply = await fetch(new URL('numbers.json', demoUrl()));
    assert.equal(reply.status, 200);
    assert.equal(reply.headers.get('content-type'), 'application/json');
    assert.equal(reply.headers.get('cache-control'), 'no-store');
    assert.equal(reply.headers.get('document-policy'), null);
    return reply.json();
  };
  const before = await numbers();
  const { page } = await openTab(browser);
  await page.goto(demoUrl());
  const now = await waitFor(async () => {
    const later = await numbers();
    return later.loads > before.loads && later;
  }, { what: 'page load of the demo in its numbers' });
  assert.equal(now.loads, before.loads + 1, 'whatever its number of uploads');
  assert.ok(now.at > before.at);
  assert.equal(now.site, 'demo');
  const primes = now.hotspots.find((/** @type {any} */ row) => row.function === 'countPrimes');
  assert.ok(primes?.total_ms_per_load > 300, JSON.stringify(now));
  assert.ok(now.hotspots.every((/** @type {any} */ row) => !row.resource.includes(':8101')), 'samples are in the demo site');
});

test('the lines that quickstart prints run as pasted', async () => {
  const lines = [...printed.matchAll(/^Try +(.*)$/gm)].map(([, line]) => line);
  assert.equal(lines.length, 1, printed);
  const dir = temporaryDir('quickstart-lines');
  fs.writeFileSync(path.join(dir, 'pasted'), `stty cols 120\ncd '${repository}'\n${lines.join('\n')}\n`);
  // script runs them on a terminal, which wraps sentences and must not wrap tables.
  const { code, stdout } = await run(['script', '-qefc', `PAGER=cat bash -e '${dir}/pasted' 2>'${dir}/errors'`, '/dev/null']);
  assert.equal(code, 0, fs.readFileSync(path.join(dir, 'errors'), 'utf8'));
  const shown = stdout.replace(/\x1b\[\d*m/g, '');
  assert.match(shown, /^SITE .*\r\nshop +slower +[0-9,]+ ms +[0-9,]+ ms /, 'the worst site comes first');
  assert.match(shown, /^demo /m);
  for (const line of shown.split('\r\n')) assert.ok(line.length <= 120 || line.endsWith('.'), `too wide for a terminal: ${line}`);
});

test('the blocks of README run as they stand, in order', async () => {
  const mark = '== block ';
  const runnable = blocks.slice(firstStart + 1).filter(({ language }) => ['sh', 'sql'].includes(language));
  assert.ok(runnable.length >= 2, 'README has lost its blocks');
  const script = runnable.map(({ language, text }, i) => `echo '${mark}${i}'\n${
    language === 'sh' ? text : `psql "$FLEETPROF_DATABASE" -v ON_ERROR_STOP=1 <<'SQL'\n${text}\nSQL`}`);
  const { code, stdout, stderr } = await run(['bash', '-c', ['set -euo pipefail', `cd '${repository}'`, ...script].join('\n')]);
  assert.equal(code, 0, stdout + stderr);
  const outputs = stdout.split(new RegExp(`^${mark}\\d+\n`, 'm')).slice(1);

  // The samples are the same everywhere, so README's table is what its query gives.
  const query = runnable.findIndex(({ language }) => language === 'sql');
  const shown = blocks.find(({ language }) => language === 'text')?.text ?? '';
  const trimmed = (/** @type {string} */ text) => text.split('\n').map((line) => line.trim()).filter(Boolean);
  assert.deepEqual(trimmed(shown), trimmed(outputs[query]).filter((line) => !/^\(\d+ rows\)$/.test(line)));
});

test('a second start counts nothing twice and leaves nothing running', async () => {
  const top = await run(['bash', '-c', `cd '${repository}' && . var/env && build/bin/fleetprof top --site samples --top 12`]);
  assert.match(top.stdout, /innerMath/, 'the busiest function of the traces is in the table');
  await stopQuickstart();
  assert.equal(fs.existsSync(path.join(repository, 'var/www/demo-numbers.json')), false);

  const second = await run(['bash', '-c', `cd '${repository}' && ./quickstart --once`]);
  assert.equal(second.code, 0, second.stderr);
  assert.equal(sampleTable(second.stdout), top.stdout);
  assert.doesNotMatch(second.stdout, /http:\/\/127\.0\.0\.1:(8[06]\d\d)\//, 'an address of a server that has stopped');

  const running = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n')
    .filter((line) => line.includes(`${repository}/var/`) && /fleetprofd|nginx|postgres/.test(line));
  assert.deepEqual(running, []);
});
