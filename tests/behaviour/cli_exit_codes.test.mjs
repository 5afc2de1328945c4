// SPDX-License-Identifier: Apache-2.0
/**
 * Exit codes: each command ends with 0 where it is fine, with 1 where the manual says so and nowhere else, and with 2 where it
 * is used wrongly or cannot run.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { everyCommand } from './commands.mjs';
import { binDir, freePort, repository, run, startProcess, startStack, temporaryDir, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('exit-codes');
const good = path.join(dir, 'good.json');
const bad = path.join(dir, 'bad.json');
const table = path.join(dir, 'table.jsonl');
const owners = path.join(dir, 'CODEOWNERS');
const noDatabase = ['--database', `host=${dir} dbname=fleetprof`];

/** @type {import('./stack.mjs').Stack} */ let stack;

before(async () => {
  fs.writeFileSync(good, envelope({ id: '11111111-2222-4333-8444-555555555555', release: 'v1' }));
  fs.writeFileSync(bad, '{"frames":[],"resources":[],"stacks":[],"samples":[{"timestamp":1,"stackId":7}]}');
  fs.writeFileSync(table, '{"fleetprof_function_table":1,"script":"app.js","functions":1}\n[1,2,"start","src/main.ts",1,1,"",false]\n');
  fs.writeFileSync(owners, '* @org/all\n');
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', sample_keep: '100%', performance_budgets: ['INP p75 <= 1ms'] }], dead_letters: { path: path.join(dir, 'letters') } } });
  assert.equal((await send(`${stack.collector.url}/v1/ingest/pk_shop`, { body: fs.readFileSync(good, 'utf8') })).status, 204);
  assert.equal((await send(`${stack.collector.url}/v1/ingest/pk_shop`, { body: envelope({ release: 'v2' }) })).status, 204);
  assert.equal((await send(`${stack.collector.url}/v1/ingest/pk_shop`, { body: fs.readFileSync(bad, 'utf8') })).status, 422);
  for (let number = 0; number < 50; number++) {
    const body = envelope({ vitals: [{ name: 'INP', value: 600, id: 'v1' }] });
    assert.equal((await send(`${stack.collector.url}/v1/ingest/pk_shop`, { body })).status, 204);
  }
  await waitFor(async () => (await stack.sql('select from fleetprof.upload_log')).length === 52, { what: 'all uploads' });
  await waitFor(() => fs.readdirSync(path.join(dir, 'letters')).length > 0, { what: 'the refused letter' });
});
after(() => stack?.stop());

/** A spool whose segments have no header. */
function damagedSpool() {
  const damaged = path.join(dir, 'damaged');
  fs.cpSync(stack.collector.config.spool.path, damaged, { recursive: true });
  for (const name of fs.readdirSync(damaged).filter((one) => one.endsWith('.seg'))) {
    const bytes = fs.readFileSync(path.join(damaged, name));
    for (const header of [0, 4096]) bytes.fill(0xaa, header + 20, header + 40);
    fs.writeFileSync(path.join(damaged, name), bytes);
  }
  return damaged;
}

/**
 * By command: what ends with 0, with 1, and with 2 for another reason than an unknown option. Without a database most cannot run.
 * @returns {Promise<Record<string, { 0?: string[], 1?: string[], 2?: string[] }>>}
 */
async function examples() {
  const as = (/** @type {string} */ user) => ['--database', stack.postgres.conninfo(user)];
  const [reader, writer] = [as('fleetprof_reader'), as('fleetprof_writer')];
  const asks = (/** @type {string[]} */ ...args) => ({ 0: [...args, ...reader], 2: [...args, ...noDatabase] });
  const to = ['--url', `${stack.collector.url}/v1/ingest/pk_shop`];
  const config = ['-c', stack.collector.file];
  const closed = `http://127.0.0.1:${await freePort()}/`;
  const [{ session }] = await stack.sql('select session_id::text as session from fleetprof.sessions limit 1');
  const { spool } = stack.collector.config;
  const [letter] = JSON.parse((await run([program, 'spool', 'dead-letters', 'list', '--json', ...config])).stdout);
  const add = ['--site', 'shop', '--url-prefix', 'https://shop.example/'];
  return {
    'migrate': { 0: as('postgres'), 2: noDatabase },
    'top': asks(), 'flame': asks(), 'timings': asks(), 'vitals': asks(), 'vital-parts': asks(), 'vital-elements': asks('LCP'), 'interactions': asks(), 'waits': asks('%'), 'long-frames': asks(), 'cost': asks('party'),
    'what-if': asks('INP'), 'fix-first': asks(), 'summary': asks(), 'profiling-cost': asks(), 'third-parties': asks(), 'chunks': asks(), 'markers': asks(), 'coverage': asks(), 'rates': asks(), 'hangs': asks(), 'violations': asks(), 'ttfb': asks(), 'callers': asks('work'), 'trend': asks('work'), 'compare': asks('v1', 'v2'),
    'export': asks('--format', 'folded'), 'session list': asks(), 'session export': asks(session), 'session typical': asks(), 'sourcemap list': asks(),
    'report': asks('-o', path.join(dir, 'report.html')),
    'budgets': { 0: reader, 1: ['--fail', ...reader], 2: noDatabase },
    'regressions': { 0: ['v1', ...reader], 1: ['v1', '--fail-on', 'early', ...reader], 2: ['v1', ...noDatabase] },
    'validate': { 0: [good], 1: [bad], 2: [path.join(dir, 'nothing')] },
    'import': { 0: [...to, good], 1: [...to, bad], 2: ['--url', `${closed}v1/ingest/pk_shop`, good] },
    'sourcemap add': { 0: [...add, table, ...writer], 1: [...add, good, ...writer], 2: [...add, table, ...noDatabase] },
    'sourcemap remove': { 0: ['--site', 'shop', '--all', ...writer], 2: ['--site', 'shop', '--all', ...noDatabase] },
    'owners list': asks(), 'owners set': { 0: ['--site', 'shop', owners, ...writer], 1: ['--site', 'shop', bad, ...writer], 2: ['--site', 'shop', owners, ...noDatabase] },
    'owners remove': { 0: ['--site', 'shop', ...writer], 2: ['--site', 'shop', ...noDatabase] },
    'spool inspect': { 0: [spool.path], 2: [path.join(dir, 'nothing')] },
    'spool verify': { 0: [spool.path], 1: [damagedSpool()], 2: [path.join(dir, 'nothing')] },
    'spool dead-letters list': { 0: config, 2: ['-c', path.join(dir, 'nothing')] },
    'spool dead-letters show': { 0: [letter.id, ...config], 2: ['nothing', ...config] },
    'spool dead-letters replay': { 0: ['--all', '--directory', fs.mkdtempSync(path.join(dir, 'empty-')), ...to], 1: ['--all', ...to, ...config],
      2: ['--all', '--url', `${closed}v1/ingest/pk_shop`, ...config] },
    'status': { 0: ['--over=0', ...config], 1: ['--over=0', '--collector', closed.slice(7, -1)], 2: ['-c', path.join(dir, 'nothing')] },
    'doctor': { 0: config, 1: ['-c', file('no-database.yaml', { ...stack.collector.config, database: noDatabase[1] })], 2: [closed] },
    'mcp': { 0: reader, 2: ['--statement-timeout', '0'] },
    'serve': { 2: ['--listen', 'nowhere'] }, // it goes on until a signal ends it
  };
}

/** @param {string} name @param {object} content */
function file(name, content) {
  const full = path.join(dir, name);
  fs.writeFileSync(full, JSON.stringify(content));
  return full;
}

/** @param {string} command @param {string[]} args */
const codeOf = async (command, args) => {
  const { code, stdout, stderr } = await run([program, ...command.split(' '), ...args], { env: { FLEETPROF_DATABASE: '' } });
  return { code, said: `fleetprof ${command} ${args.join(' ')}: ${stdout}${stderr}` };
};

test('each command ends with 0, 1 and 2 as the manual says', async () => {
  const tried = await examples();
  for (const [command, codes] of Object.entries(tried)) {
    for (const [wanted, args] of Object.entries(codes)) {
      const { code, said } = await codeOf(command, args);
      assert.equal(code, Number(wanted), said);
    }
    const { code, said } = await codeOf(command, ['--burn']);
    assert.equal(code, 2, said);
  }
  assert.deepEqual(Object.keys(tried).sort(), (await everyCommand()).map(({ name }) => name).sort());

  const manual = fs.readFileSync(path.join(repository, 'docs/cli.md'), 'utf8');
  /** The text about a command: its section, or of a command of a command what names it. @param {string} command */
  const textOf = (command) => {
    const [first, ...rest] = command.split(' ');
    const section = manual.split(`\n## ${first}\n`)[1].split('\n## ')[0];
    if (rest.length === 0) return section;
    const parts = section.split('\n### ').map((part) => ({ headings: part.split('\n')[0].split(', '), part }));
    const own = parts.find(({ headings }) => headings.includes(command)) ?? parts.find(({ headings }) => command.startsWith(`${headings[0]} `)) ?? parts[0];
    return own.headings.length > 1 ? own.part.split('\n').filter((line) => line.includes(`\`${rest.at(-1)}`)).join('\n') : own.part;
  };
  for (const [command, codes] of Object.entries(tried))
    assert.equal(/[Ee]xit code 1\b|exit with 1\b|\| 1 \|/.test(textOf(command)), '1' in codes, `docs/cli.md, ${command}`);
});

test('each question about an unknown site says so, and which there are', async () => {
  const tried = await examples();
  let asked = 0;
  for (const { name, help } of await everyCommand()) {
    const args = tried[name][0];
    if (!help.includes('--site=') || !args?.some((arg) => arg.includes('user=fleetprof_reader'))) continue;
    const { stdout, stderr } = await run([program, ...name.split(' '), ...args, '--site', 'shpo'], { env: { FLEETPROF_DATABASE: '' } });
    asked++;
    assert.match(stderr, /nothing was counted for a site named "shpo"\n.*Did you mean "shop"\?\n.*Give --site NAME: shop\./, `${name}: ${stdout}${stderr}`);
    assert.equal(stdout, '', name);
  }
  assert.ok(asked > 25, `${asked} questions`);
});

test('serve ends with 0 when a signal ends it', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const server = startProcess('serve', [program, 'serve', '--listen', address, '--database', stack.postgres.conninfo('fleetprof_reader')]);
  await waitFor(async () => (await fetch(`http://${address}/`)).ok, { what: 'serve' });
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test('the codes of the manual are those of --help', async () => {
  const { stdout } = await run([program, '--help']);
  const manual = fs.readFileSync(path.join(repository, 'docs/cli.md'), 'utf8');
  const table = manual.split('**Exit codes**\n\n')[1].split('\n\n')[0];
  const documented = [...table.matchAll(/^\| (\d) \| /gm)].map(([, code]) => code);
  assert.deepEqual(documented, ['0', '1', '2']);
  assert.match(stdout.replaceAll('\n', ' '), /Exit code: 0 fine, 1 the answer is no, 2 wrong use or cannot run/);
});
