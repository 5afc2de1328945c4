// SPDX-License-Identifier: Apache-2.0
/** regressions --format and --webhook-format: what each service takes, and what strangers cannot do to it. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { Ajv } from 'ajv';
import yaml from 'yaml';

import { parse } from '../../report/src/state.js';
import { Fleet } from '../stats/fleet.mjs';
import { binDir, repository, run, runOrThrow, temporaryDir } from './stack.mjs';

/** A function's name that would do something in each service. */
const hostile = 'f`|\\ <!channel> @everyone [x](http://evil.example) ::error::x%0A \n::error::y <b>';
const source = 'src/a, b:c.js';
const ownLink = 'https://git.example/blob/';
/** @type {Fleet} */
let fleet;
/** @type {NodeJS.ProcessEnv} */
let env;

before(async () => {
  fleet = await Fleet.start();
  env = { FLEETPROF_DATABASE: fleet.postgres.conninfo('fleetprof_reader'), PAGERDUTY_ROUTING_KEY: 'k'.repeat(32) };
  await fleet.site(3, 60);
  await fleet.define(7, 0.95, 50, 0.9);
  await fleet.side({ uploads: 1500 });
  await fleet.effect(7, 2);
  await fleet.side({ uploads: 1500 });
  await fleet.postgres.execute(`
    select fleetprof_data.add_function_table(frame.resource_id, 'site1', min(resource.url), '',
        jsonb_agg(jsonb_build_array(frame.line, frame.column_number, case function when 'function7' then $name$${hostile}$name$ else function end,
            '${source}', case function when 'function8' then 20 else 12 end, 3, '', false)))
    from fleetprof_data.frame join fleetprof_data.resource using (resource_id) where kind = 'function' group by frame.resource_id;
    insert into fleetprof_data.source_link_template (site, template) values ('site1', '${ownLink}{file}#L{line}')`);
});
after(() => fleet?.stop());

/** @param {string[]} args */
const regressions = (...args) => run([path.join(binDir, 'fleetprof'), 'regressions', ...args], { env });

/** Prints in a format. @param {string} format @param {string[]} args */
async function told(format, ...args) {
  const { code, stdout, stderr } = await regressions('--format', format, '--report', 'https://report.example/', ...args);
  assert.deepEqual([code, stderr], [0, '']);
  return stdout;
}

/** @param {string} format @param {unknown} value */
function validate(format, value) {
  const schema = JSON.parse(fs.readFileSync(path.join(repository, 'tests/data/notifications', `${format}.json`), 'utf8'));
  const validator = new Ajv({ allErrors: true }).compile(schema);
  assert.ok(validator(value), `${format}: ${JSON.stringify(validator.errors)}\n${JSON.stringify(value)}`);
}

/** All texts of a value. @param {any} value @returns {string[]} */
const texts = (value) => typeof value === 'string' ? [value] : value && typeof value === 'object' ? Object.values(value).flatMap(texts) : [];

/** Answers with these statuses, then 200. @param {...[number, string]} answers */
async function startHook(...answers) {
  /** @type {any[]} */
  const posts = [];
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    posts.push(JSON.parse(Buffer.concat(parts).toString()));
    const [status, text] = answers.shift() ?? [200, 'ok'];
    response.writeHead(status).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}/`, posts, stop: () => server.close() };
}

test('each JSON document is what its service takes, with the fact, the source and the links', async () => {
  for (const format of ['slack', 'teams', 'alertmanager', 'gitlab', 'pagerduty']) {
    const value = JSON.parse(await told(format));
    validate(format, value);
    const all = texts(value).join('\n');
    assert.match(all, /slower/, format);
    assert.match(all, /\+\d+ %/, format);
    assert.ok(!/\n::/.test(all) && !/\p{Cc}/u.test(all.replaceAll('\n', '')), format);
    if (format !== 'gitlab') {
      assert.ok(all.includes(`${ownLink}src/`), `${format}: ${all}`);
      assert.ok(all.includes('https://report.example/site1/function/'), format);
    }
  }
  const { findings } = JSON.parse(await told('json'));
  assert.deepEqual(findings.map((/** @type {any} */ one) => [one.site, one.function, one.verdict]), [['site1', hostile, 'slower']]);
});

test('--help names each format, each is taken, and an unknown one gets the same names', async () => {
  const [, list] = /--format=FORMAT +print findings as ([a-z, \n]+)\n +--/.exec((await regressions('--help')).stdout) ?? assert.fail('no --format');
  const names = list.trim().split(/,\s+|\s+or\s+/);
  assert.deepEqual(names.length, 8);
  for (const name of names) assert.notEqual(await told(name), '', name);
  const { code, stderr } = await regressions('--format', 'mail');
  assert.equal(code, 2);
  assert.ok(stderr.includes(`--format takes ${list.trim().replace(/\s+/g, ' ')}, not "mail"`), stderr);
});

test('links open the function and the comparison in the report', async () => {
  const { links: [{ href }], client_url: client } = JSON.parse(await told('pagerduty'));
  const [{ function_key: key }] = JSON.parse((await regressions('--json')).stdout);
  const open = (/** @type {string} */ address) => parse(address.replace('https://report.example', ''));
  assert.deepEqual({ ...open(href), params: {} }, { site: 'site1', view: 'function', item: key, params: {} });
  const { site, view, params } = open(client);
  assert.deepEqual([site, view, { ...params }], ['site1', 'compare', { before: '1', after: '2' }]);
});

test('strangers call nobody in Slack: their text is escaped, within code', async () => {
  for (const text of texts(JSON.parse(await told('slack')))) {
    const links = [...text.matchAll(/<([^>]*)>/g)].map(([, link]) => link);
    for (const link of links) assert.match(link, /^https:\/\/(report|git)\.example\/[^<>|\s]*\|(source|report|Report)$/);
    assert.equal(text.split('`').length % 2, 1, text);
    assert.doesNotMatch(text.replace(/`[^`]*`/g, ''), /everyone|evil/);
  }
});

test('Teams gets no Markdown from strangers', async () => {
  const body = await told('teams');
  assert.doesNotMatch(body, /"TextBlock"/);
  assert.ok(body.includes('[x](http://evil.example)'));
});

test('GitHub gets an annotation per finding at its source, and a summary', async () => {
  const summary = path.join(temporaryDir('summary'), 'summary.md');
  fs.writeFileSync(summary, 'before\n');
  env.GITHUB_STEP_SUMMARY = summary;
  const lines = (await told('github')).split('\n');
  delete env.GITHUB_STEP_SUMMARY;
  assert.deepEqual([lines.length, lines[1]], [2, ''], 'one line per finding');
  const command = /^::warning (.*?)::(.*)$/.exec(lines[0]);
  assert.ok(command);
  assert.deepEqual(command[1].split(','), ['file=src/a%2C b%3Ac.js', 'line=12', 'title=fleetprof%3A slower']);
  assert.match(command[2], /%250A .*is slower: \+\d+ %25 \(95 %25 between/);
  assert.equal(fs.readFileSync(summary, 'utf8'), `before\n${await told('markdown')}`);
  env.GITHUB_STEP_SUMMARY = path.dirname(summary);
  const failed = await regressions('--format', 'github');
  delete env.GITHUB_STEP_SUMMARY;
  assert.equal(failed.code, 2);
  assert.match(failed.stderr, /could not write .*Is a directory/);
});

test('GitLab shows the finding at its source', async () => {
  const [issue] = JSON.parse(await told('gitlab'));
  assert.deepEqual([issue.check_name, issue.location], ['fleetprof/slower', { path: source, lines: { begin: 12 } }]);
  const [again] = JSON.parse(await told('gitlab'));
  assert.equal(again.fingerprint, issue.fingerprint);
});

test('Markdown is a sentence and a table, which strangers cannot leave', async () => {
  const [sentence, blank, head, rule, row, ...rest] = (await told('markdown')).split('\n');
  assert.match(sentence, /^1 finding of site `site1` in release `2`, compared with `1`\. \[Report\]\(https:\/\/report\.example\/site1\/compare\?before=1&after=2\)$/);
  assert.deepEqual([blank, head, rest], ['', '| verdict | what | where | own change | 95 % between | before | after |', ['']]);
  for (const line of [rule, row]) assert.equal(line.split('|').length, head.split('|').length, line);
  assert.match(row, /^\| slower \| <code>f&#96;&#124;&#92; &#60;&#33;channel/);
  assert.doesNotMatch(row.replace(/&#\d+;/g, '').replace(/\[(report|source)\]\(https:\/\/[^()]*\)/g, '').replace(/<\/?code>/g, '').replace('`src/a, b:c.js:12`', ''), /[<>@[\]`]/);
});

test('nothing found is said, and a list is empty', async () => {
  const none = ['--least-change', '500'];
  assert.match(await told('markdown', ...none), /^0 findings of site `site1` in release `2`/);
  for (const format of ['gitlab', 'alertmanager']) assert.equal(await told(format, ...none), '[]\n');
  for (const format of ['github', 'pagerduty']) assert.equal(await told(format, ...none), '');
  validate('slack', JSON.parse(await told('slack', ...none)));
  validate('teams', JSON.parse(await told('teams', ...none)));
  const early = await regressions('--format', 'markdown', '--since', '2020-01-01', '--until', '2020-01-03');
  assert.match(early.stdout, /^Nothing could be judged of site `site1`/);
  assert.match(early.stderr, /nothing could be judged/);
  const lone = await regressions('1', '--format', 'slack');
  assert.match(JSON.parse(lone.stdout).text, /^Nothing could be judged of site `site1`/);
});

test('wrong options are refused', async () => {
  for (const [args, said] of /** @type {[string[], RegExp][]} */ ([
    [['--format', 'slakc'], /--format takes json, markdown, .*not "slakc"/],
    [['--webhook-format', ''], /--webhook-format takes json/],
    [['--format', 'slack', '--json'], /exclude each other/],
    [['--format', 'slack', '--report', 'ftp://x'], /--report takes an http or https URL/],
    [['--format', 'slack', '--report', 'https://x/?y'], /--report takes an http or https URL/],
    [['--format', 'slack', '--report', 'https://x/y/'], /--report takes an http or https URL without a path/],
    [['--format', 'slack', '--report', 'https:///'], /--report takes/],
  ])) {
    const { code, stdout, stderr } = await regressions(...args);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, said);
  }
  const { PAGERDUTY_ROUTING_KEY: key } = env;
  delete env.PAGERDUTY_ROUTING_KEY;
  const keyless = await regressions('--format', 'pagerduty');
  env.PAGERDUTY_ROUTING_KEY = key;
  assert.deepEqual([keyless.code, keyless.stdout], [2, '']);
  assert.match(keyless.stderr, /hint: Set PAGERDUTY_ROUTING_KEY/);
});

test('each format is posted once, also by runs at the same time', async () => {
  for (const format of ['slack', 'teams', 'alertmanager', 'pagerduty']) {
    const hook = await startHook();
    const args = ['--webhook', hook.url, '--webhook-format', format, '--state', path.join(temporaryDir('posted'), 'posted')];
    const runs = await Promise.all([regressions(...args), regressions(...args), regressions(...args)]);
    assert.deepEqual(runs.map(({ code }) => code), [0, 0, 0], runs.map(({ stderr }) => stderr).join(''));
    assert.equal(hook.posts.length, 1, format);
    validate(format, hook.posts[0]);
    hook.stop();
  }
});

test('what a service refuses is posted once, and again in another format', async () => {
  for (const status of [400, 413, 422]) {
    const hook = await startHook([status, 'no_text\u001b[2J']);
    const args = ['--webhook', hook.url, '--state', path.join(temporaryDir('posted'), 'posted')];
    const refused = await regressions(...args);
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, new RegExp(`the server refused the finding\\n.*HTTP status ${status}: no_text\\?\\[2J\\n.*hint: .*--webhook-format`));
    const again = await regressions(...args);
    assert.deepEqual([again.code, again.stderr, hook.posts.length], [0, '1 finding in release "2", compared with "1".\n', 1], 'not each run ends with 2');
    assert.equal((await regressions(...args, '--webhook-format', 'slack')).code, 0);
    assert.equal((await regressions(...args, '--webhook-format', 'slack')).code, 0);
    assert.equal(hook.posts.length, 2);
    hook.stop();
  }
});

test('what did not arrive is posted by the next run', async () => {
  for (const status of [401, 404, 429, 503]) {
    const hook = await startHook([status, '']);
    const args = ['--webhook', hook.url, '--webhook-format', 'slack', '--state', path.join(temporaryDir('posted'), 'posted')];
    assert.equal((await regressions(...args)).code, 2);
    assert.equal((await regressions(...args)).code, 0);
    assert.equal(hook.posts.length, 2, String(status));
    hook.stop();
  }
});

/** A repository with a commit that touches the function, and one that touches the next one. @param {string[]} tags of the first and the last commit */
async function makeRepository(...tags) {
  const repo = temporaryDir('repository');
  const file = path.join(repo, source);
  // The function tables say that one function begins on line 12, and another on line 20.
  const lines = [...Array(40)].map((_, i) => ({ 12: 'function slow() {', 18: '}', 20: 'function next() {', 30: '}' })[i + 1] ?? `  line${i + 1}();`);
  const git = (/** @type {string[]} */ ...args) => runOrThrow(['git', '-C', repo, '-c', 'user.name=Eve (b)', '-c', 'user.email=eve@shop.example', ...args]);
  const commit = async (/** @type {string} */ subject) => {
    fs.writeFileSync(file, lines.join('\n'));
    await git('add', '-A');
    await git('commit', '-qm', subject);
  };
  await git('init', '-q');
  fs.mkdirSync(path.dirname(file), { recursive: true });
  await commit('begin');
  await git('tag', tags[0]);
  lines[13] = '  slow();';
  await commit('touch it `|<!channel>');
  lines[25] = '  other();';
  await commit('touch the next');
  await git('tag', tags[1]);
  return repo;
}

test('suspects are the commits that touched the lines of the function between the releases', async () => {
  const repo = await makeRepository('1', 'v2');
  for (const format of ['slack', 'teams', 'alertmanager', 'gitlab', 'pagerduty']) {
    const value = JSON.parse(await told(format, '--repository', repo));
    validate(format, value);
    const all = texts(value).join('\n');
    assert.match(all, /[0-9a-f]{7} Eve .*touch it/, format);
    assert.doesNotMatch(all, /touch the next|begin/, format);
  }
  const [, , , , row] = (await told('markdown', '--repository', repo)).split('\n');
  assert.match(row, /suspects: <code>[0-9a-f]{7} Eve &#40;b&#41;&#58; touch it &#96;&#124;/);
  assert.doesNotMatch(await told('slack', '--repository', repo), /<!channel>/);
  assert.match(await told('github', '--repository', repo), /Suspects: [0-9a-f]{7} Eve /);
  const { findings: [finding] } = JSON.parse(await told('json', '--repository', repo));
  assert.match(finding.suspects, /^[0-9a-f]{7} Eve \(b\): touch it `\|<!channel>$/);
});

test('each of three suspects is named, however long their subjects are', async () => {
  const repo = await makeRepository('1', 'begin');
  const git = (/** @type {string[]} */ ...args) => runOrThrow(['git', '-C', repo, '-c', 'user.name=Eve', '-c', 'user.email=eve@shop.example', ...args]);
  for (const name of ['first', 'second', 'third']) {
    fs.writeFileSync(path.join(repo, source), fs.readFileSync(path.join(repo, source), 'utf8').replace(/^  (line13|slow).*$/m, `  slow${name}();`));
    await git('commit', '-qam', `${name} of the commits; ${'very '.repeat(40)}long`);
  }
  await git('tag', '2');
  for (const format of ['slack', 'teams', 'markdown', 'github', 'alertmanager', 'gitlab', 'pagerduty', 'json']) {
    const text = (await told(format, '--repository', repo)).replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
    for (const name of ['first', 'second', 'third']) assert.match(text, new RegExp(`[0-9a-f]{7} Eve: ${name} of the commits`), format);
    assert.equal(text.includes('very long'), format === 'json', format);
  }
});

test('a function ends behind those inside it, and a commit in any encoding is named', async () => {
  const repo = await makeRepository('begin', 'before');
  const file = path.join(repo, source);
  const git = (/** @type {string[]} */ ...args) => runOrThrow(['git', '-C', repo, '-c', 'user.name=Eve', '-c', 'user.email=eve@shop.example', ...args]);
  const commit = async (/** @type {string[]} */ text, /** @type {Buffer | string} */ message) => {
    fs.writeFileSync(file, text.join('\n'));
    const written = path.join(temporaryDir('message'), 'message');
    fs.writeFileSync(written, message);
    await git('commit', '-qam', 'x');
    await git('commit', '-q', '--amend', '-F', written);
  };
  const code = [...Array(11).fill(''), 'export async function slow(', '  list,', ') {', '  work();', '', '  if (list) {', '    more();', '  }', '  return list.map(function inner() {', '    return 1;',
    '  });', '  // rest', '}', '', 'function next() {', '  work();', '}'];
  const change = (/** @type {number} */ line, /** @type {string} */ to) => code.map((old, i) => i + 1 === line ? to : old);
  await commit(code, 'code');
  await git('tag', '1');
  await commit(change(27, '  rest();'), 'behind it');
  await commit(code, 'behind it');
  await commit(change(23, '  slow();'), Buffer.from('Pr\xfcfung', 'latin1'));
  await git('tag', '2');
  const { findings: [{ suspects }] } = JSON.parse(await told('json', '--repository', repo));
  assert.match(suspects, /^[0-9a-f]{7} Eve: Prüfung$/);
  for (const format of ['slack', 'teams', 'markdown', 'alertmanager']) assert.match(await told(format, '--repository', repo), /Prüfung/, format);
});

test('a release that is a number is not the beginning of a hash', async () => {
  const repo = await makeRepository('1', 'another');
  const git = (/** @type {string[]} */ ...args) => run(['git', '-C', repo, '-c', 'user.name=Eve', '-c', 'user.email=eve@shop.example', ...args]);
  let number = '';
  for (let i = 0; !/^\d{4}$/.test(number); i++) {
    await git('commit', '-q', '--amend', '-m', `try ${i}`);
    number = (await git('rev-parse', 'HEAD')).stdout.slice(0, 4);
  }
  await fleet.postgres.execute(`update fleetprof_data.segment set release = '${number}' where release = '2'`);
  try {
    const args = ['--format', 'markdown', '--repository', repo];
    assert.match((await regressions(...args)).stderr, new RegExp(`no commit of release "${number}"`));
    await git('tag', number);
    const tagged = await regressions(...args);
    assert.deepEqual([tagged.code, tagged.stderr], [0, '']);
    assert.match(tagged.stdout, /suspects: <code>/);
  } finally {
    await fleet.postgres.execute(`update fleetprof_data.segment set release = '2' where release = '${number}'`);
  }
});

test('a repository without the releases suspects nobody, and says so', async () => {
  const repo = await makeRepository('1', 'another');
  const { code, stdout, stderr } = await regressions('--format', 'markdown', '--repository', repo);
  assert.equal(code, 0);
  assert.match(stderr, /no commit of release "2", so no commit is suspected\n.*hint: Tag commits/);
  assert.ok(stdout.startsWith('1 finding') && !stdout.includes('suspects'));
  const wrong = await regressions('--format', 'markdown', '--repository', temporaryDir('empty'));
  assert.equal(wrong.code, 2);
  assert.match(wrong.stderr, /is not in a repository that git can read/);
  assert.match((await regressions('--last', '1d', '--repository', repo)).stderr, /--repository is for releases: leave out --last/);
});

/** Runs the script of an example with its variables. @param {string} script @param {Record<string, string>} variables */
async function runExample(script, variables) {
  const folder = temporaryDir('example');
  const { code, stdout, stderr } = await run(['bash', '-euo', 'pipefail', '-c', `cd ${folder}\n${script}`],
    { env: { ...env, ...variables, PATH: `${binDir}:${process.env.PATH}` } });
  return { code, stdout, stderr, folder };
}

/** Runs each command of an example. @param {string} script @param {Record<string, string>} variables @param {RegExp} suspected */
async function offersEachCommand(script, variables, suspected) {
  const result = async (/** @type {Record<string, string>} */ given) => {
    const { code, stdout, stderr, folder } = await runExample(script, { ...variables, ...given });
    const written = path.join(folder, 'fleetprof-codequality.json');
    return { code, stderr, told: fs.existsSync(written) ? fs.readFileSync(written, 'utf8') : stdout };
  };
  const passed = await result({ FAIL_ON: '', REPOSITORY: await makeRepository('1', 'v2') });
  assert.equal(passed.code, 0, passed.stderr);
  assert.match(passed.told, suspected);
  for (const command of ['budgets', 'fix-first']) assert.equal((await result({ COMMAND: command })).code, 0);
  const unknown = await result({ COMMAND: 'trend' });
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /not "trend"/);
}

/** @param {string} name */
const example = (name) => yaml.parse(fs.readFileSync(path.join(repository, 'config', name), 'utf8'));

test('the action for GitHub annotates, and fails the job', async () => {
  const { inputs, runs } = example('github/action.yml');
  const [{ run: script, env: variables }] = runs.steps;
  const given = Object.fromEntries(Object.entries(variables).map(([name, value]) => {
    const input = /^\$\{\{ inputs\.([a-z-]+) \}\}$/.exec(/** @type {string} */ (value))?.[1] ?? '';
    assert.ok(input in inputs, `${name}: ${value}`);
    return [name, inputs[input].default ?? ''];
  }));
  assert.deepEqual(Object.keys(inputs).length, Object.keys(given).length);
  assert.doesNotMatch(script, /\$\{\{/);
  const summary = path.join(temporaryDir('summary'), 'summary.md');
  const common = { ...given, SITE: 'site1', FLEETPROF_DATABASE: env.FLEETPROF_DATABASE ?? '', GITHUB_STEP_SUMMARY: summary };
  const failed = await runExample(script, common);
  assert.equal(failed.code, 1, failed.stderr);
  assert.match(failed.stdout, /^::warning file=/);
  assert.match(fs.readFileSync(summary, 'utf8'), /^1 finding of site/);
  const passed = await runExample(script, { ...common, FAIL_ON: 'new', RELEASE: '2', REPORT: 'https://report.example/' });
  assert.equal(passed.code, 0, passed.stderr);
  assert.match(passed.stdout, /https:\/\/report\.example\/site1\//);
  assert.equal((await runExample(script, { ...common, RELEASE: '--help' })).code, 2, 'no option');
  await offersEachCommand(script, common, /^::warning file=.*Suspects: [0-9a-f]{7} Eve /);
});

test('the job for GitLab writes its report, and fails', async () => {
  const { 'fleetprof-regressions': job } = example('gitlab/regressions.yml');
  const { code, stderr, folder } = await runExample(job.script.join('\n'), { ...job.variables, SITE: 'site1' });
  assert.equal(code, 1, stderr);
  const report = JSON.parse(fs.readFileSync(path.join(folder, job.artifacts.reports.codequality), 'utf8'));
  validate('gitlab', report);
  assert.equal(report.length, 1);
  await offersEachCommand(job.script.join('\n'), { ...job.variables, SITE: 'site1' }, /Suspects: [0-9a-f]{7} Eve /);
});

test('messages say whose the function is', async () => {
  assert.equal(JSON.parse(await told('json')).findings[0].owner, null);
  const owner = '@org/web`|<!channel>';
  await fleet.postgres.execute(`insert into fleetprof_data.code_owner (site, line, pattern, owner, places)
    values ('site1', 1, '/src/', '${owner}', '{src/}'), ('site2', 1, '/src/', '@org/other', '{src/}')`);
  assert.equal(JSON.parse(await told('json')).findings[0].owner, owner);
  for (const format of ['slack', 'teams', 'alertmanager', 'gitlab', 'pagerduty']) {
    const value = JSON.parse(await told(format));
    validate(format, value);
    assert.match(texts(value).join('\n'), /@org\/web/, format);
  }
  assert.match(await told('markdown'), / owner: <code>&#64;org&#47;web&#96;&#124;&#60;&#33;channel/);
  assert.match(await told('github'), /\. Owner: @org\/web/);
  assert.doesNotMatch(await told('slack'), /<!channel>|other/);
});

test('a finding that the next release does not have is resolved once', async (t) => {
  const hook = await startHook();
  t.after(hook.stop);
  const args = ['--webhook', hook.url, '--webhook-format', 'alertmanager', '--state', path.join(temporaryDir('posted'), 'posted')];
  assert.equal((await regressions(...args)).code, 0);
  assert.equal((await regressions('1', ...args)).code, 0, 'another question, which could not be judged');
  await fleet.effect(7, 0.5);
  await fleet.side({ uploads: 1500 });
  for (const { code, stderr } of await Promise.all([regressions(...args), regressions(...args)])) assert.equal(code, 0, stderr);
  const [[posted], ...later] = hook.posts;
  for (const post of later) validate('alertmanager', post);
  const days = (/** @type {{ endsAt: string }} */ { endsAt }) => (Date.parse(endsAt) - Date.now()) / (24 * 3_600_000);
  assert.ok(days(posted) > 60, 'a run resolves it, however rare runs are');
  const [printed] = JSON.parse(await told('alertmanager', '2'));
  assert.ok(days(printed) < 2, 'nothing resolves what is printed');
  const ended = later.flat().filter(({ endsAt }) => new Date(endsAt) <= new Date());
  assert.deepEqual(ended.map(({ labels }) => labels), [posted.labels], JSON.stringify(later));
});
