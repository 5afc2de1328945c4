// SPDX-License-Identifier: Apache-2.0
/** Performance budgets: from the configuration over uploads to verdicts, messages that are posted once, and their end. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { Ajv } from 'ajv';
import yaml from 'yaml';

import { startReport } from './serve_tool.mjs';
import { binDir, repository, run, startStack, temporaryDir, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const cart = 'INP p75 <= 200ms on /cart';
const all = [cart, 'INP p75 <= 200 on /help', 'LCP p75 <= 2.5s', 'JS mean <= 100ms'];
/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {NodeJS.ProcessEnv} */
let env;

/** @param {string[]} budgets */
const sites = (budgets) => [{ name: 'shop', key: 'pk_shop', performance_budgets: budgets }, { name: 'blog', key: 'pk_blog' }];

/** @param {string[]} budgets */
async function reload(budgets) {
  fs.writeFileSync(stack.collector.file, JSON.stringify({ ...stack.collector.config, sites: sites(budgets) }));
  process.kill(stack.collector.server.pid, 'SIGHUP');
  await waitFor(async () => JSON.stringify((await stack.sql('select name from fleetprof_data.performance_budget order by place')).map(({ name }) => name)) === JSON.stringify(budgets),
    { what: 'the budgets in the database' });
}

before(async () => {
  stack = await startStack({ config: { sites: sites(all) } });
  env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader'), PAGERDUTY_ROUTING_KEY: 'k'.repeat(32) };
  for (let number = 0; number < 160; number++) {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, { method: 'POST', body: JSON.stringify({
      version: 1, sampleInterval: 10, id: randomUUID(), load: randomUUID(), part: 0, start: 0, duration: 0,
      page: { url: `https://www.shop.example/${number % 2 === 0 ? 'cart' : 'help'}` },
      vitals: [{ name: 'INP', value: number % 2 === 0 ? 600 : 100, id: 'v1' }],
    }) });
    assert.equal(reply.status, 204, await reply.text());
  }
  await waitFor(async () => (await stack.sql('select count(*)::int as n from fleetprof.upload_log'))[0].n === 160, { what: 'the uploads' });
  await reload(all);
});
after(() => stack?.stop());

/** @param {string[]} args */
const budgets = (...args) => run([program, 'budgets', ...(args[0] === '--site' ? [] : ['--site', 'shop']), ...args], { env });

/** @param {string} format @param {unknown} value */
function validate(format, value) {
  const schema = JSON.parse(fs.readFileSync(path.join(repository, 'tests/data/notifications', `${format}.json`), 'utf8'));
  const validator = new Ajv({ allErrors: true }).compile(schema);
  assert.ok(validator(value), `${format}: ${JSON.stringify(validator.errors)}\n${JSON.stringify(value)}`);
}

/** Answers with these statuses, then 200; 400 to a body that has the refused text. @param {...(number | RegExp)} answers */
async function startHook(...answers) {
  const refused = answers[0] instanceof RegExp ? /** @type {RegExp} */ (answers.shift()) : /^$/;
  /** @type {any[]} */
  const posts = [];
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = Buffer.concat(parts).toString();
    posts.push(JSON.parse(body));
    response.writeHead(refused.test(body) ? 400 : /** @type {number | undefined} */ (answers.shift()) ?? 200).end('ok');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, posts, stop: () => server.close() };
}

/** The arguments for a hook, with a state of its own. @param {{url: string}} hook @param {string} format */
const posting = (hook, format) => ['--webhook', hook.url, '--webhook-format', format, '--state', path.join(temporaryDir('posted'), 'posted')];

test('each budget has its verdict, and --fail ends with 1', async () => {
  const { code, stdout, stderr } = await budgets('--json');
  assert.deepEqual([code, stderr], [0, '']);
  const rows = JSON.parse(stdout);
  assert.deepEqual(rows.map((/** @type {any} */ row) => [row.name, row.verdict, row.count]),
    [[cart, 'over', 80], [all[1], 'within', 80], [all[2], 'too few', 0], [all[3], 'too few', 0]]);
  const [{ unit, limit_value: limit, value, value_low: low, value_high: high, burn_1h: burn, over_since: since }] = rows;
  assert.deepEqual([unit, limit, burn], ['ms', 200, 4]);
  assert.ok(Math.abs(value - 600) < 10 && low <= value && value <= high && new Date(since) <= new Date());
  assert.equal((await budgets('--fail')).code, 1);
  assert.equal((await budgets('--fail', '--route', '/help')).code, 1, 'its own route stands for the filter');
  const people = await budgets();
  assert.match(people.stdout, /^SITE\tBUDGET\t/);
  assert.match(people.stderr, /A burn rate of 1 uses up exactly the budget/);
  const { stdout: table } = await run(['script', '-qec', `stty cols 80; '${program}' budgets --site shop`, '/dev/null'], { env: { ...env, TERM: 'xterm-256color', NO_COLOR: '' } });
  assert.match(table, /INP p75 <= 200ms on \/cart .*\u001b\[33mover\b[^]*\u001b\[32mwithin\b/);
  for (const line of table.replace(/\u001b\[\d*m/g, '').split('\r\n')) assert.ok(line.length <= 80, line);
  const none = await run([program, 'budgets', '--site', 'blog', '--fail'], { env });
  assert.equal(none.code, 0);
  assert.match(none.stderr, /nothing was counted/);
});

test('each format tells it', async () => {
  for (const format of ['slack', 'teams', 'alertmanager', 'gitlab', 'pagerduty']) {
    const { code, stdout } = await budgets('--format', format, '--report', 'https://report.example');
    assert.equal(code, 0);
    validate(format, JSON.parse(stdout));
    assert.match(stdout, format === 'teams' ? /"over".*"\d{3}\.\d ms"/s : /is over: \d{3}\.\d ms \(95 %: /, format);
  }
  assert.match((await budgets('--format', 'markdown')).stdout, /^1 finding of the budgets of site `shop`\.\n\n\| verdict \| what \| where \| limit \| now \|.*\n.*\n\| over \| `INP p75 <= 200ms on \/cart` \|/);
  assert.match((await budgets('--format', 'github')).stdout, /^::warning title=fleetprof%3A over::INP p75 <= 200ms on \/cart is over: /);
  assert.deepEqual(JSON.parse((await budgets('--format', 'json')).stdout).findings.map((/** @type {any} */ one) => one.name), [cart]);
  assert.match((await budgets('--format', 'slack', '--json')).stderr, /exclude each other/);
});

test('what is over is posted once, and its end once, also by runs at the same time', async () => {
  for (const format of ['alertmanager', 'pagerduty', 'slack']) {
    const hook = await startHook();
    const args = posting(hook, format);
    const thrice = () => Promise.all([budgets(...args), budgets(...args), budgets(...args)]);
    for (const { code, stderr } of await thrice()) assert.equal(code, 0, stderr);
    assert.equal(hook.posts.length, 1, format);
    await reload(['INP p75 <= 610ms on /cart']);
    for (const { code, stderr } of await thrice()) assert.equal(code, 0, stderr);
    if (format === 'alertmanager') {
      const [[posted], [ended]] = hook.posts;
      validate(format, hook.posts[1]);
      assert.deepEqual(ended.labels, posted.labels);
      assert.ok(new Date(ended.endsAt) <= new Date() && new Date(posted.endsAt) > new Date(Date.now() + 60 * 24 * 3_600_000), 'a run resolves it, however rare runs are');
    } else if (format === 'pagerduty') {
      validate(format, hook.posts[1]);
      assert.deepEqual(hook.posts[1], { dedup_key: hook.posts[0].dedup_key, routing_key: env.PAGERDUTY_ROUTING_KEY, event_action: 'resolve' });
    }
    assert.equal(hook.posts.length, format === 'slack' ? 1 : 2, format);
    await reload(all);
    for (const { code, stderr } of await thrice()) assert.equal(code, 0, stderr);
    assert.equal(hook.posts.length, format === 'slack' ? 2 : 3, 'what comes back is posted again');
    hook.stop();
  }
});

test('what cannot be judged stays, another question leaves it alone, and an end that did not arrive is sent again', async () => {
  const hook = await startHook(200, 503);
  const args = posting(hook, 'pagerduty');
  assert.equal((await budgets(...args)).code, 0);
  assert.equal((await budgets(...args, '--since', '2020-01-01', '--until', '2020-01-02')).code, 0);
  assert.equal((await budgets(...args, '--device', 'mobile')).code, 0);
  assert.equal(hook.posts.length, 1);
  await reload(['INP p75 <= 610ms on /cart', 'INP p75 <= 200ms on /help']);
  assert.equal((await budgets(...args)).code, 2);
  assert.equal((await budgets(...args)).code, 0);
  assert.equal((await budgets(...args)).code, 0);
  assert.deepEqual(hook.posts.map(({ event_action: action }) => action), ['trigger', 'resolve', 'resolve']);
  hook.stop();
  await reload(all);
});

test('a finding that a service refuses silences no other one', async (t) => {
  await reload(['INP p75 <= 201ms on /cart', 'INP p75 <= 202ms on /cart', 'INP p75 <= 203ms on /cart']);
  t.after(() => reload(all));
  for (const format of ['slack', 'pagerduty', 'alertmanager']) {
    const hook = await startHook(/202ms/);
    const args = posting(hook, format);
    const { code, stderr } = await budgets(...args);
    assert.equal(code, 2, stderr);
    assert.equal(stderr.split('the server refused the finding').length, 2, stderr);
    const taken = hook.posts.filter((post) => !/202ms/.test(JSON.stringify(post)));
    assert.deepEqual(taken.map((post) => /20\dms/.exec(JSON.stringify(post))?.[0]), ['201ms', '203ms'], format);
    const again = await budgets(...args);
    assert.equal(again.code, 0, `not each run ends with 2: ${again.stderr}`);
    assert.equal(hook.posts.length, format === 'pagerduty' ? 3 : 4, 'each one once');
    hook.stop();
  }
});

test('the action for GitHub and the job for GitLab show budgets, and fail if they are to', async () => {
  const read = (/** @type {string} */ name) => yaml.parse(fs.readFileSync(path.join(repository, 'config', name), 'utf8'));
  const scripts = [read('github/action.yml').runs.steps[0].run, read('gitlab/regressions.yml')['fleetprof-regressions'].script.join('\n')];
  for (const script of scripts)
    for (const [fail, expected] of /** @type {[string, number][]} */ ([['slower', 1], ['', 0]])) {
      const folder = temporaryDir('example');
      const { code, stdout, stderr } = await run(['sh', '-euc', `cd ${folder}\n${script}`],
        { env: { ...env, COMMAND: 'budgets', SITE: 'shop', FAIL_ON: fail, RELEASE: '', REPORT: '', REPOSITORY: '', PATH: `${binDir}:${process.env.PATH}` } });
      assert.equal(code, expected, stderr);
      const file = path.join(folder, 'fleetprof-codequality.json');
      assert.match(fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : stdout, /on \/cart is over: /);
    }
});

test('the last budget that leaves the configuration is resolved, and its site is named', async (t) => {
  const hook = await startHook();
  t.after(hook.stop);
  const args = ['--site', '%', ...posting(hook, 'alertmanager')];
  assert.equal((await budgets(...args)).code, 0);
  const [[{ labels, annotations }]] = hook.posts;
  assert.deepEqual([labels.site, labels.name], ['shop', `shop: ${cart}`]);
  assert.ok(annotations.summary.startsWith(`shop: ${cart} is over`), annotations.summary);
  await reload([]);
  const printed = await budgets('--site', '%', '--format', 'markdown');
  assert.match(printed.stdout, /^Nothing could be judged/);
  for (let i = 0; i < 2; i++) assert.equal((await budgets(...args)).code, 0);
  assert.deepEqual(hook.posts.slice(1).flat().map((alert) => alert.labels), [labels]);
  await reload(all);
});

test('a wrong key of PagerDuty loses no finding and no end', async (t) => {
  const hook = await startHook(400, 200, 400);
  t.after(hook.stop);
  const args = posting(hook, 'pagerduty');
  const by = (/** @type {string} */ key) => run([program, 'budgets', '--site', 'shop', ...args], { env: { ...env, PAGERDUTY_ROUTING_KEY: key } });
  const refused = await by('wrong');
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /hint: It is posted again with another key/);
  assert.equal((await by('wrong')).code, 0, 'not each run ends with 2');
  assert.equal((await by('right')).code, 0);
  assert.equal((await by('right')).code, 0);
  await reload(['INP p75 <= 610ms on /cart']);
  assert.equal((await by('wrong')).code, 2);
  assert.equal((await by('right')).code, 0);
  assert.equal((await by('right')).code, 0);
  assert.deepEqual(hook.posts.map(({ event_action: action, routing_key: key }) => [action, key]),
    [['trigger', 'wrong'], ['trigger', 'right'], ['resolve', 'wrong'], ['resolve', 'right']]);
  await reload(all);
});

test('a message for Teams is cut to what Teams takes, and says how many more there are', async () => {
  const many = [...Array(30)].map((_, i) => `INP p75 <= ${i + 1}ms on /cart`);
  await reload(many);
  for (const host of ['r', 'r'.repeat(500)]) {
    const { stdout } = await budgets('--format', 'teams', '--report', `https://${host}.example`);
    const card = JSON.parse(stdout);
    validate('teams', card);
    const rows = card.attachments[0].content.body.find((/** @type {any} */ block) => block.type === 'Table').rows.length - 1;
    assert.ok(Buffer.byteLength(stdout) <= 28_000 && rows >= 5 && rows < 21, `${rows} rows, ${stdout.length} characters`);
    assert.ok(stdout.includes(`"And ${30 - rows} more."`), stdout.slice(-300));
  }
  await reload(all);
});

test('a list of an older version is read, and a broken one is refused', async () => {
  const hook = await startHook();
  const args = posting(hook, 'pagerduty');
  const state = /** @type {string} */ (args.at(-1));
  fs.writeFileSync(state, '0123456789abcdef\n');
  assert.equal((await budgets(...args)).code, 0);
  const [first, second] = fs.readFileSync(state, 'utf8').split('\n');
  assert.equal(first, '0123456789abcdef');
  assert.match(second, /^[0-9a-f]{16} [0-9a-f]{16} \{"dedup_key":"fleetprof-[0-9a-f]{16}"\}$/);
  for (const broken of ['0123456789abcdef x\n', '0123456789abcdef  0123456789abcdef\n', '0123456789abcde\n', '0123456789abcdef']) {
    fs.writeFileSync(state, broken);
    assert.match((await budgets(...args)).stderr, /is not a list of posted findings/, broken);
  }
  hook.stop();
});

test('/metrics of serve has each budget', async () => {
  const report = await startReport(env.FLEETPROF_DATABASE ?? '');
  const text = await (await report.get('/metrics')).text();
  await report.server.stop();
  assert.deepEqual(text.match(/^fleetprof_budget_over\{.*/gm), [
    `fleetprof_budget_over{site="shop",budget="${cart}"} 1`, ...all.slice(1).map((name) => `fleetprof_budget_over{site="shop",budget="${name}"} 0`)]);
  assert.equal(text.match(/^fleetprof_budget_burn_rate\{/gm)?.length, 4 * all.length);
  for (const [budget, rate] of [[cart, '4'], [all[1], '0'], [all[2], 'NaN']])
    for (const window of ['1h', '6h', '24h', '3d'])
      assert.ok(text.includes(`\nfleetprof_budget_burn_rate{site="shop",budget="${budget}",window="${window}"} ${rate}\n`), `${budget} ${window}\n${text}`);
});

test('a budget that is not one is refused with its place', async () => {
  const file = path.join(temporaryDir('budgets'), 'wrong.yaml');
  fs.writeFileSync(file, 'database: "host=/x"\nspool:\n  path: /x\nlisten: "127.0.0.1:1"\nsites:\n  - {name: a, key: k, performance_budgets: [LCP p75 <= 2.5]}\n');
  const { code, stderr } = await run([path.join(binDir, 'fleetprofd'), '--check-config', '-c', file]);
  assert.equal(code, 1);
  assert.match(stderr, /wrong\.yaml:6:45: sites\[\]\.performance_budgets: "LCP p75 <= 2\.5": a limit is a number with at most three decimals and ms or s, such as 200ms\n/);
});
