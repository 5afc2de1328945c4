// SPDX-License-Identifier: Apache-2.0
/** compare and regressions: from two releases' uploads to a verdict, an exit code and a post. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import { once } from 'node:events';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

import { Fleet } from '../stats/fleet.mjs';
import { binDir, run, temporaryDir, waitFor } from './stack.mjs';
import { pprof, speedscope, sum } from './viewers.mjs';

const program = path.join(binDir, 'fleetprof');
const state = path.join(temporaryDir('posted'), 'deep/down/posted');
/** @type {Fleet} */
let fleet;
/** @type {NodeJS.ProcessEnv} */
let env;

before(async () => {
  fleet = await Fleet.start();
  env = { FLEETPROF_DATABASE: fleet.postgres.conninfo('fleetprof_reader') };
  await fleet.site(3, 60);
  await fleet.define(7, 0.95, 50, 0.9);
  await fleet.side({ uploads: 1500, timings: 2 });
  await fleet.effect(7, 2);
  await fleet.side({ uploads: 1500, timings: 2, slowdown: 2 });
});
after(() => fleet?.stop());

/** @param {string[]} args */
const fleetprof = (...args) => run([program, ...args], { env });

/** @param {string[]} args */
async function json(...args) {
  const { stdout, stderr } = await fleetprof(...args, '--json');
  assert.equal(stderr, '');
  return JSON.parse(stdout);
}

/** A server that keeps what is posted to it. @param {number[]} statuses its answers; 204 after them */
async function startHook(...statuses) {
  /** @type {any[]} */
  const posts = [];
  const hook = { posts, delayMs: 0, url: '', stop: () => {} };
  const server = http.createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    posts.push({ type: request.headers['content-type'], body: JSON.parse(Buffer.concat(parts).toString()) });
    await delay(hook.delayMs);
    response.writeHead(statuses.shift() ?? 204).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  return Object.assign(hook, { url: `http://127.0.0.1:${port}/hook`, stop: () => server.close() });
}

test('compare lists what was found first, and says what could have been seen of the rest', async () => {
  const rows = await json('compare', '1', '2', '--top', '5');
  assert.equal(rows.length, 5);
  assert.deepEqual(rows.map((/** @type {{ verdict: string }} */ { verdict }) => verdict), ['slower', ...Array(4).fill('no change seen')]);
  assert.equal(rows[0].function, 'function7');
  assert.ok(rows[0].change_low < 1 && rows[0].change_high > 1, 'the interval holds the truth');
  assert.ok(rows[1].smallest_visible > 0);
  assert.match(rows[0].function_key, /^-?\d+$/);
  const { code, stdout, stderr } = await fleetprof('compare', '1', '2');
  assert.equal(code, 0);
  assert.match(stdout, /^slower\tfunction7\t.*\t\+\d+ %\t\+\d+ % and \+\d+ %\t/m);
  assert.match(stderr, /^Before: 1500 uploads in the hours from .* \(UTC\)\.\nAfter: 1500 uploads .*\n1 slower, 0 faster, 0 new, /m);
  assert.match(stderr, /^Placebo: \d+ of \d+ functions differ between two halves of the earlier side\.$/m);
  const hours = stderr.split('\n').flatMap((line) => /hours from (\S+ \S+) to (\S+ \S+) \(UTC\)/.exec(line)?.slice(1) ?? []).map((time) => Date.parse(`${time}Z`));
  hours[1] = hours[0] + 20 * 3600e3;
  const periods = ['--before-since', '--before-until', '--since', '--until'].flatMap((option, i) => [option, new Date(hours[i]).toISOString()]);
  const short = await fleetprof('compare', '1', '2', ...periods);
  assert.match(short.stderr, /^No placebo: each half of the earlier side needs 12 hours and 200 uploads\.$/m);
});

test('export --compare gives other tools both sides, the earlier one scaled to the page loads of the later one', async () => {
  const side = async (/** @type {string} */ release) => (await fleet.postgres.sql(`select sum(loads)::float8 as loads,
      sum(round(profiled_ms * 1000))::float8 as us, sum(round(unattributed_ms * 1000))::float8 as idle
    from fleetprof.summary('site1', since => now() - interval '20 days', release => '${release}', browser => 'Chrome')`))[0];
  const [before, after] = [await side('1'), await side('2')];
  const scaled = Math.round((before.us * after.loads) / before.loads);
  assert.ok(before.loads !== after.loads && before.us !== after.us && before.idle > 0);
  const file = path.join(temporaryDir('compared'), 'out');
  const exported = async (/** @type {string[]} */ ...args) => {
    const { code, stdout, stderr } = await fleetprof('export', '--compare', '1', '2', '--browser', 'Chrome', '-o', file, ...args);
    assert.deepEqual([code, stdout, stderr], [0, '', '']);
    return fs.readFileSync(file);
  };

  const { samples, total, comments } = pprof(await exported('--format', 'pprof'));
  const base = samples.filter(({ labels }) => labels['pprof::base'] === 'true');
  assert.equal(sum(base.map(({ us }) => us)), -scaled);
  assert.equal(total, after.us - scaled);
  assert.ok(base.every(({ us, count }) => us <= 0 && count <= 0) && samples.length > base.length);
  assert.match(comments[0], /^site1, before: 1, \d{4}-\d\d-\d\d \d\d:00Z to \d{4}-\d\d-\d\d \d\d:00Z, \d+ page loads, scaled to those after; after: 2, /);
  // With these settings PostgreSQL writes a zone's abbreviation, and reads it as another zone's.
  env.PGOPTIONS = '-c datestyle=German -c timezone=Asia/Kolkata';
  try {
    const again = pprof(await exported('--format', 'pprof'));
    assert.deepEqual([again.samples, again.comments], [samples, comments]);
  } finally {
    delete env.PGOPTIONS;
  }

  const loads = Number(/, (\d+) page loads$/.exec(comments[0])?.[1]);
  const { profiles, shown } = await speedscope('compared.json', await exported('--format', 'speedscope'), loads);
  assert.ok(loads > 1 && profiles.every(({ name }) => name.startsWith(`µs per page load, of ${loads}: `)));
  assert.deepEqual(profiles.map((/** @type {any} */ { total: us }) => us), [scaled, after.us]);
  assert.equal(shown, 1);

  const folded = (await exported('--format', 'folded')).toString().trimEnd().split('\n').map((line) => /^(.*) (\d+) (\d+)$/.exec(line) ?? []);
  assert.deepEqual([sum(folded.map(([, , us]) => Number(us))), sum(folded.map(([, , , us]) => Number(us)))], [scaled, after.us]);
  assert.deepEqual(folded.find(([, stack]) => stack === '(unattributed)')?.[3], String(after.idle));

  const [{ first, second, third }] = await fleet.postgres.sql(`select lower(before_hours)::text as first, lower(after_hours)::text as second, upper(after_hours)::text as third
    from fleetprof.compare_summary('site1', '1', '2')`);
  const periods = await fleetprof('export', '--compare', '--before-since', first, '--before-until', second, '--since', second, '--until', third, '--browser', 'Chrome', '--format', 'pprof', '-o', file);
  assert.deepEqual([periods.code, periods.stderr], [0, '']);
  assert.equal(pprof(fs.readFileSync(file)).total, total, 'each release has a period of its own');

  const until = await fleetprof('export', '--compare', '1', '2', '--until', third, '--since', '20d', '--format', 'folded', '-o', file);
  assert.deepEqual([until.code, until.stderr], [0, ''], 'a comparison has no period of one day');
  const none = await fleetprof('export', '--compare', '1', 'nosuch', '--format', 'pprof', '-o', `${file}.none`);
  assert.deepEqual([none.code, none.stdout, fs.existsSync(`${file}.none`)], [0, '', false]);
  assert.match(none.stderr, /^fleetprof: nothing was counted for the release "nosuch" of site "site1"\n/);
});

test("the agent's own functions are left out of comparisons, and said, unless they are asked for", async () => {
  const agent = 4242;
  const give = (/** @type {string} */ names) => fleet.postgres.execute(`update fleetprof_data.frame set resource_id = ${agent} where ${names}`);
  await fleet.postgres.execute(`create table kept as select frame_id, resource_id from fleetprof_data.frame;
    insert into fleetprof_data.resource (resource_id, site, url, last_seen)
    values (${agent}, 'site1', 'https://shop.example/fleetprof-0.1.0.js', current_date)`);
  try {
    const slower = await json('regressions', '2');
    assert.ok(slower.some((/** @type {any} */ row) => row.function === 'function7'));
    await give("function in ('function7', 'function20')");
    const rows = await json('compare', '1', '2', '--top', '1000');
    assert.ok(rows.length > 20 && rows.every((/** @type {any} */ { is_agent: isAgent }) => isAgent === false));
    assert.ok(!rows.some((/** @type {any} */ row) => row.function === 'function7'));
    assert.equal((await json('compare', '1', '2', '--top', '3')).length, 3, 'the agent takes no place in the list');
    const all = await json('compare', '1', '2', '--top', '1000', '--agent');
    const own = all.filter((/** @type {any} */ row) => row.is_agent);
    assert.deepEqual([...new Set(own.map((/** @type {any} */ row) => row.function))].sort(), ['function20', 'function7']);
    assert.equal(all.length, rows.length + own.length);
    const ms = (/** @type {string} */ side) => own.reduce((/** @type {number} */ total, /** @type {any} */ row) => total + row[`${side}_self_ms`], 0).toFixed(1);
    const { stderr } = await fleetprof('compare', '1', '2');
    assert.match(stderr, /^0 slower, 0 faster, /m);
    assert.ok(stderr.endsWith(`\nfleetprof's own agent took ${ms('before')} ms per page load before, and ${ms('after')} after; --agent lists its functions.\n`), stderr);
    assert.doesNotMatch((await fleetprof('compare', '1', '2', '--agent')).stderr, /own agent/);
    const found = await json('regressions', '2');
    assert.ok(!found.some((/** @type {any} */ row) => row.function === 'function7'), 'a pipeline does not fail because of the agent');
    await give('true');
    const only = await fleetprof('compare', '1', '2');
    assert.deepEqual([only.code, only.stdout, only.stderr], [0, '', "fleetprof: only functions of fleetprof's own agent match; --agent lists them\n"]);
  } finally {
    await fleet.postgres.execute('update fleetprof_data.frame set resource_id = kept.resource_id from kept where kept.frame_id = frame.frame_id; drop table kept');
  }
});

test('compare --timings and --vitals judge percentiles', async () => {
  const rows = await json('compare', '1', '2', '--timings');
  assert.deepEqual(rows.map((/** @type {any} */ row) => [row.name, row.kind, row.percentile, row.verdict]).sort(),
    [['measure0', 'measure', 50, 'slower'], ['measure0', 'measure', 75, 'slower'], ['measure1', 'measure', 50, 'slower'], ['measure1', 'measure', 75, 'slower']]);
  assert.ok(rows.every((/** @type {any} */ { change_low: low, change_high: high, before_ms: before, after_ms: after }) => low < 1 && high > 1 && after > before));
  assert.equal((await json('compare', '1', '2', '--timings', '--top', '1')).length, 1);
  const { code, stdout } = await fleetprof('compare', '1', '2', '--vitals', '--exclude', 'browser=Edge');
  assert.equal(code, 0);
  assert.match(stdout, /^VERDICT\tNAME\tPERCENTILE\tBEFORE\tAFTER\t.*\nslower\tLCP\tp50\t.*\+\d+ % and \+\d+ %/);
  const none = await fleetprof('compare', '1', '2', '--vitals', '--browser', 'Firefox');
  assert.deepEqual([none.code, none.stdout], [0, '']);
  assert.match(none.stderr, /^fleetprof: release "1" has no matching uploads in its period\n/);
  const periods = await fleetprof('compare', '--vitals', '--before-since', '30d', '--before-until', '20d', '--since', '19d');
  assert.match(periods.stderr, /^fleetprof: the earlier side has no matching uploads in its period\n/);
});

test('compare --by and --parts judge groups, and split the difference', async () => {
  const hosts = await json('compare', '1', '2', '--by', 'host');
  assert.deepEqual(hosts, await fleet.postgres.sql("select * from fleetprof.compare_costs('host', 'site1', '1', '2')"));
  const { stdout } = await fleetprof('compare', '1', '2', '--by', 'route', '--top', '1');
  assert.match(stdout, /^VERDICT\tNAME\tBEFORE MS\/LOAD\tAFTER MS\/LOAD\tOWN CHANGE\t.*\n.*\n$/);
  const parts = await json('compare', '1', '2', '--parts');
  assert.deepEqual(parts.slice(0, 2).map((/** @type {any} */ { part }) => part), ['(all)', '(code)']);
  const sum = parts.slice(1).reduce((/** @type {number} */ all, /** @type {any} */ { ms }) => all + ms, 0);
  assert.ok(Math.abs(sum - parts[0].ms) < 1e-9, JSON.stringify(parts));
  const unknown = await fleetprof('compare', '1', '2', '--by', 'colour');
  assert.match(unknown.stderr, /costs cannot be compared by "colour"/);
});

test('on a terminal of 80 columns compare drops columns, cuts no name, and colours the verdict', async () => {
  const shown = async (/** @type {string} */ terminal, /** @type {string} */ command) => (await run(['script', '-qec', `stty cols 80; '${program}' ${command}`, '/dev/null'],
    { env: { ...env, TERM: terminal, NO_COLOR: '' } })).stdout.split('\r\n');
  for (const command of ['compare 1 2', 'compare --vitals 1 2', 'compare --by route 1 2', 'regressions', 'vitals --since 60d', 'coverage --since 60d']) {
    const lines = await shown('dumb', command);
    for (const line of lines.filter((one) => !one.startsWith('fleetprof: '))) assert.ok([...line].length <= 80, `${command}: ${line}`);
    const coloured = (await shown('xterm-256color', command)).map((line) => line.replaceAll(/\u001b\[\d*m/g, '').trimEnd());
    assert.deepEqual(coloured, lines.map((line) => line.trimEnd()), 'colours take no room');
  }
  const [headings, first] = await shown('xterm-256color', 'compare 1 2');
  assert.match(headings, /^\u001b\[1mVERDICT/);
  assert.match(first, /^\u001b\[33mslower *\u001b\[0m? *function7 /);
});

test('compare takes the release that began last and the one before it, if nobody names a side', async () => {
  const { stdout, stderr } = await fleetprof('compare');
  assert.match(stderr, /^Release 2 against 1, the one before it:\n/);
  assert.equal(stdout, (await fleetprof('compare', '1', '2')).stdout);
  assert.deepEqual(await json('compare', '--timings'), await json('compare', '--timings', '1', '2'));
});

test('compare takes two periods', async () => {
  const { code, stderr } = await fleetprof('compare', '--before-since', '30d', '--before-until', '20d', '--since', '19d');
  assert.equal(code, 0);
  assert.match(stderr, /^fleetprof: the earlier side has no matching uploads in its period\n.*hint: Choose another period, a longer one, or fewer filters\.\n$/);
  const empty = await fleetprof('compare', '1', '2', '--since', '2020-01-01', '--until', '2020-01-02');
  assert.match(empty.stderr, /^fleetprof: release "1" has no matching uploads in its period\nfleetprof: release "2" has no matching uploads /);
});

test('compare takes two values of a dimension, in the same hours', async () => {
  const { code, stdout, stderr } = await fleetprof('compare', '2', '2', '--before-device', 'desktop', '--after-device', 'mobile', '--browser', 'Chrome');
  assert.equal(code, 0, stdout);
  const [, before, from] = /^Before: (\d+) uploads in the hours (from .*)$/m.exec(stderr) ?? [];
  const [, later, same] = /^After: (\d+) uploads in the hours (from .*)$/m.exec(stderr) ?? [];
  const [{ desktop, mobile }] = await fleet.postgres.sql(`select (select sum(uploads) from fleetprof.summary('site1', since => '-infinity', release => '2', browser => 'Chrome', device => 'desktop')) as desktop,
    (select sum(uploads) from fleetprof.summary('site1', since => '-infinity', release => '2', browser => 'Chrome', device => 'mobile')) as mobile`);
  assert.deepEqual([Number(before), Number(later)], [desktop, mobile]);
  assert.equal(from, same);
  const rows = await json('compare', '--vitals', '--before-device', 'desktop', '--after-device', 'mobile');
  assert.ok(rows.length > 0);
});

test('compare and regressions find no latest release of several sites', async () => {
  await fleet.postgres.execute(`insert into fleetprof_data.segment select (jsonb_populate_record(segment, '{"segment_id": -5, "site": "site2", "release": "b1"}')).* from fleetprof_data.segment limit 1`);
  try {
    for (const command of ['compare', 'regressions']) {
      const { code, stdout, stderr } = await fleetprof(command, '--site', '%');
      assert.deepEqual([code, stdout], [2, ''], command);
      assert.match(stderr, /error: releases of several sites do not follow each other\n.*hint: Name one site, or compare two releases/);
    }
    assert.deepEqual(await json('compare', '1', '2', '--site', '%', '--timings'), await json('compare', '1', '2', '--site', 'site1', '--timings'));
  } finally {
    await fleet.postgres.execute('delete from fleetprof_data.segment where segment_id = -5');
  }
});

test('compare refuses what is not a comparison', async () => {
  for (const [args, message] of /** @type {const} */ ([
    [['compare', '--site', 'nobody'], 'site "nobody" has no two releases to compare'],
    [['compare', '--before-device', 'desktop'], 'before and after share uploads'],
    [['compare', '--before-device', 'desktop', '--after-device', 'watch'], 'no page load is on the later side'],
    [['regressions', '--before-device', 'desktop'], 'unrecognized option'],
    [['compare', '1'], 'AFTER is missing'],
    [['compare', '1', '2', '3'], 'two releases, not more'],
    [['compare', '1', '1'], 'before and after are the same'],
    [['compare', '1', '2', '--top', '0'], '--top takes a number'],
    [['compare', '1', '2', '--by', 'host', '--vitals'], '--timings, --vitals, --by and --parts exclude each other'],
    [['compare', '%', '2'], 'before and after share uploads'],
    [['compare', '1', '2', '--since', '2099-01-01'], '--since: 2099-01-01 00:00:00+00 is in the future'],
    [['compare', '1', '2', '--before-since', '7'], '--before-since: 7 has no unit'],
    [['compare', '--before-since', '2d', '--before-until', '3d', '--since', '1d'], 'the earlier period ends before it begins'],
    [['export', '--format', 'folded', '--compare', '1', '2', '--since', 'soon'], '--since: "soon" is not a time'],
    [['regressions', '--since', '2099-01-01', '--fail-on', 'slower'], 'is in the future'],
    [['regressions', '--since', 'soon', '--site', 'nosuch'], '--since: "soon" is not a time'],
    [['regressions', '--before-since', '1d'], 'unrecognized option'],
    [['regressions', '--fail-on', 'slower,faster'], 'not "faster"'],
    [['regressions', '--fail-on', ''], 'not ""'],
    [['regressions', '--least-change', 'much'], 'takes a percentage'],
    [['regressions', '2', '3'], 'one RELEASE is enough'],
    [['regressions', '--last', '30m'], '--last takes whole hours, days or weeks, such as 24h, 1d or 1w, not "30m"'],
    [['regressions', '--last', '24'], 'not "24"'],
    [['regressions', '--last', '0h'], '--last takes 1h to 366d, not "0h"'],
    [['regressions', '--last', '53w'], '--last takes 1h to 366d, not "53w"'],
    [['regressions', '--last', '9999999999999999999h'], '--last takes 1h to 366d'],
    [['regressions', '2', '--last', '1d'], '--last judges all releases: leave out "2"'],
    [['regressions', '--last', '1d', '--until', '1h'], '--last is a period: leave out --since and --until'],
  ])) {
    const { code, stderr } = await fleetprof(...args);
    assert.equal(code, 2, stderr);
    assert.ok(stderr.includes(message), stderr);
  }
});

test('compare names the release that it does not know', async () => {
  const { code, stdout, stderr } = await fleetprof('compare', '1', '9');
  assert.deepEqual({ code, stdout }, { code: 0, stdout: '' });
  assert.match(stderr, /nothing was counted for the release "9" of site "site1"\n.*Releases, most used first: /);
});

test('regressions ends with 1 when the latest release made something slower', async () => {
  const found = await fleetprof('regressions', '--fail-on', 'slower');
  assert.equal(found.code, 1, found.stderr);
  assert.match(found.stdout, /^slower\tfunction7\t/m);
  assert.match(found.stderr, /^1 finding in release "2", compared with "1"\.\n$/);
  assert.equal((await fleetprof('regressions')).code, 0, 'without --fail-on findings are only printed');
  assert.equal((await fleetprof('regressions', '--fail-on', 'new,early')).code, 0);
  assert.equal((await fleetprof('regressions', '--fail-on', 'slower', '--least-change', '500')).code, 0);
  const [row] = await json('regressions');
  assert.deepEqual([row.function, row.verdict], ['function7', 'slower']);
});

test('regressions says when there is nothing to compare with', async () => {
  const first = await fleetprof('regressions', '1', '--fail-on', 'slower');
  assert.deepEqual(first, { code: 0, stdout: '', stderr: 'fleetprof: there is no release before "1" to compare it with\n' });
  assert.equal((await fleetprof('regressions', '1', '--fail-on', 'slower,early')).code, 1);
  for (const [args, said] of /** @type {[string[], RegExp][]} */ ([
    [['x'], /^fleetprof: nothing was counted for the release "x" of site "site1"\n.*hint: Releases, most used first: [12], [12]\.\n/],
    [['2%'], /^fleetprof: nothing was counted for the release "2%"/],
    [['--site', 'sitte1'], /^fleetprof: nothing was counted for a site named "sitte1"\n.*hint: Did you mean "site1"\?\n.*hint: Give --site NAME: .*site1/],
  ])) {
    const mistyped = await fleetprof('regressions', ...args, '--fail-on', 'slower');
    assert.deepEqual([mistyped.code, mistyped.stdout], [2, ''], 'a gate does not pass what does not exist');
    assert.match(mistyped.stderr, said);
  }
  const nobody = await fleetprof('regressions', '--browser', 'Netscape', '--fail-on', 'slower');
  assert.deepEqual([nobody.code, nobody.stdout], [0, '']);
  assert.match(nobody.stderr, /for the browser "Netscape"/);
  const empty = await fleetprof('regressions', '--since', '2020-01-01', '--until', '2020-01-03', '--fail-on', 'early');
  assert.deepEqual([empty.code, empty.stdout], [1, ''], 'nothing was compared');
  assert.match(empty.stderr, /the releases are "early"\n.*hint: Compared were 0 uploads of release "1" and 0 of "2"\./);
  const few = await fleetprof('regressions', '--route', '/route4', '--fail-on', 'early');
  assert.equal(few.code, 1, few.stdout);
  assert.match(few.stderr, /nothing could be judged: not enough data \(\d+ of 200 uploads\)\n.*hint: Compared were \d+ uploads of release "1" and \d+ of "2"\./);
  const thin = await fleetprof('compare', '1', '2', '--route', '/route4');
  assert.match(thin.stdout, /^not enough data\t/m);
  assert.match(thin.stderr, /^\+20 % of what runs in every load: not within 48 hours at this traffic\.$/m);

  const dictionaries = ['segment', 'cohort'].map((name) => `fleetprof_data.${name}`);
  for (const table of dictionaries) {
    await fleet.postgres.execute(`alter table ${table} add column named text; update ${table} set named = release, release = '' where release is not null`);
  }
  const nameless = await fleetprof('regressions', '--site', 'site1');
  for (const table of dictionaries) {
    await fleet.postgres.execute(`update ${table} set release = named where named is not null; alter table ${table} drop column named`);
  }
  assert.deepEqual([nameless.code, nameless.stdout], [0, '']);
  assert.match(nameless.stderr, /^fleetprof: no upload that matches names its release\nfleetprof: hint: /);
});

test('a finding is posted once, and again only if the post failed', async () => {
  const hook = await startHook(500);
  const args = ['regressions', '--webhook', hook.url, '--state', state];
  const failed = await fleetprof(...args);
  assert.equal(failed.code, 2);
  assert.match(failed.stderr, /HTTP status 500/);
  assert.equal((await fleetprof(...args)).code, 0);
  assert.equal((await fleetprof(...args)).code, 0);
  assert.equal(hook.posts.length, 2);
  assert.equal(hook.posts[1].type, 'application/json');
  const [finding] = hook.posts[1].body.findings;
  assert.deepEqual([finding.site, finding.function, finding.verdict, finding.before_release, finding.after_release],
    ['site1', 'function7', 'slower', '1', '2']);
  assert.equal(fs.readFileSync(state, 'utf8').split('\n').length, 2, 'one line');
  fs.writeFileSync(state, 'something else\n');
  const spoiled = await fleetprof(...args);
  assert.equal(spoiled.code, 2);
  assert.match(spoiled.stderr, /is not a list of posted findings/);
  hook.stop();
});

test('the URL can come from a file, which no list of processes shows', async () => {
  const hook = await startHook(200);
  hook.delayMs = 500;
  const dir = temporaryDir('hook'), file = path.join(dir, 'url');
  fs.writeFileSync(file, `  ${hook.url}?secret=s3cret\r\nanother line\n`, { mode: 0o600 });
  const args = ['regressions', '--state', path.join(dir, 'posted'), '--webhook-file'];
  const running = fleetprof(...args, file);
  await waitFor(() => hook.posts.length > 0, { what: 'post' });
  const arguments_ = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    .map((pid) => { try { return fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1'); } catch { return ''; } });
  assert.ok(arguments_.some((line) => line.includes('--webhook-file')), 'it has ended too early to look');
  assert.ok(!arguments_.some((line) => line.includes('s3cret')));
  const { code, stderr } = await running;
  assert.deepEqual([code, hook.posts.length], [0, 1], stderr);
  assert.doesNotMatch(stderr, /s3cret|readable/);

  fs.chmodSync(file, 0o644);
  const open = await fleetprof(...args, file);
  assert.deepEqual([open.code, hook.posts.length], [0, 1], 'posted before');
  assert.match(open.stderr, /url is readable by all users of this machine\n.*hint: .*chmod o-r/);
  for (const [content, message] of /** @type {[string | undefined, RegExp][]} */ ([
    [undefined, /could not read .*missing: No such file/], ['', /is not an http or https URL/], ['\nhttp://x.example/', /is not an http or https URL/],
    ['ftp://x.example/\n', /is not an http/], ['http://\n', /is not an http/], [`http://x.example/${'x'.repeat(5000)}`, /is not an http/]])) {
    const other = path.join(dir, content === undefined ? 'missing' : 'wrong');
    if (content !== undefined) fs.writeFileSync(other, content, { mode: 0o600 });
    const wrong = await fleetprof(...args, other);
    assert.deepEqual([wrong.code, wrong.stdout], [2, ''], content);
    assert.match(wrong.stderr, message);
  }
  const folder = await fleetprof(...args, dir);
  assert.match(folder.stderr, /could not read .*: Is a directory/);
  const both = await fleetprof(...args, file, '--webhook', hook.url);
  assert.equal(both.code, 2);
  assert.match(both.stderr, /exclude each other/);
  hook.stop();
});

test('nothing is posted that could not be remembered, which would be posted by each run', async () => {
  const hook = await startHook(200);
  const file = path.join(temporaryDir('posted'), 'posted');
  fs.mkdirSync(`${file}.new`);
  const { code, stderr } = await fleetprof('regressions', '--webhook', hook.url, '--state', file);
  assert.deepEqual([code, hook.posts.length], [2, 0], stderr);
  assert.match(stderr, /could not write .*posted: Is a directory/);
  hook.stop();
});

test('two runs at once post a finding once', async () => {
  const hook = await startHook();
  hook.delayMs = 1000;
  const args = ['regressions', '--webhook', hook.url, '--state', path.join(temporaryDir('posted'), 'new/posted')];
  const runs = await Promise.all([fleetprof(...args), fleetprof(...args), fleetprof(...args)]);
  assert.deepEqual(runs.map(({ code }) => code), [0, 0, 0], runs.map(({ stderr }) => stderr).join(''));
  assert.equal(hook.posts.length, 1);
  hook.stop();
});

test('a change beyond ten times is so many times, never a percentage of many digits', async () => {
  await fleet.effect(7, 300);
  const release = await fleet.side({ uploads: 600 });
  const { code, stdout, stderr } = await fleetprof('compare', String(release - 1), String(release));
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^slower\tfunction7\t.*\t\d+ times\t(> )?\d+ times and (> )?\d+ times/m);
  assert.doesNotMatch(stdout, /\d{4,} %/);
});

test('the name of a release cannot steer the terminal', async () => {
  for (const table of ['segment', 'cohort'])
    await fleet.postgres.execute(`update fleetprof_data.${table} set release = E'\\x1b[2J\\u009b\\u202e\\n' || release where release <> ''`);
  const { code, stderr } = await fleetprof('regressions');
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^1 finding in release "\S*\[2J\S*3", compared with "\S*\[2J\S*2"\.\n$/);
  assert.doesNotMatch(stderr, /[\u001b\u0085\u200e\u202e]/);
});

test('regressions --last judges the last hours of all releases, and posts a finding once while it is found', async () => {
  const today = Math.floor(Date.now() / 86_400_000);
  await fleet.site(4, 60);
  await fleet.define(7, 0.95, 50, 0.9);
  const site = ['--site', `site${fleet.sites}`];
  // A deploy each day, and twice the cost in the last one and the hours of today. More hours than days would give.
  await fleet.draw(today - 4, 1, { uploads: 1500 });
  await fleet.draw(today - 3, 2, { uploads: 1500 });
  await fleet.effect(7, 2);
  await fleet.draw(today - 2, 3, { uploads: 1500 });
  await fleet.draw(today - 1, 4, { uploads: 1500 });
  const last = ['regressions', ...site, '--last', `${48 + new Date().getUTCHours()}h`];
  const found = await fleetprof(...last, '--fail-on', 'slower');
  assert.equal(found.code, 1, found.stderr);
  assert.match(found.stdout, /^slower\tfunction7\t/m);
  assert.match(found.stderr, /^1 finding in the last \d+ hours, compared with those from \d{4}-\d\d-\d\d \d\d:00 to \d{4}-\d\d-\d\d 00:00 \(UTC\)\.\n$/);
  assert.equal((await fleetprof(...last, '--fail-on', 'new,early')).code, 0);
  const rows = await json(...last);
  assert.deepEqual(rows.map((/** @type {any} */ row) => [row.function, row.verdict]), [['function7', 'slower']]);

  const none = await fleetprof(...last, '--fail-on', 'slower', '--least-change', '500');
  assert.deepEqual([none.code, none.stdout], [0, '']);
  assert.match(none.stderr, /^0 findings in the last \d+ hours, compared with those from /);
  const few = await fleetprof('regressions', ...site, '--last', '366d', '--fail-on', 'early');
  assert.equal(few.code, 1);
  assert.match(few.stderr, /nothing could be judged: the periods are "early"\n.*hint: Compared were 6000 uploads of the last 8784 hours and 0 of those before\./);
  const nobody = await fleetprof('regressions', ...site, '--last', '1d', '--browser', 'Netscape', '--fail-on', 'slower');
  assert.deepEqual([nobody.code, nobody.stdout], [0, '']);
  assert.match(nobody.stderr, /for the browser "Netscape"/);
  const mistyped = await fleetprof('regressions', '--site', 'sitte1', '--last', '1d');
  assert.deepEqual([mistyped.code, mistyped.stdout], [2, '']);

  const hook = await startHook();
  const file = path.join(temporaryDir('posted'), 'posted');
  const weeksLater = async (/** @type {number} */ weeks) => {
    await fleet.postgres.execute(`create schema if not exists clock; grant usage on schema clock to public;
      create or replace function clock.now() returns timestamptz language sql return pg_catalog.now() + interval '${7 * weeks} days'`);
    env.PGOPTIONS = '-c search_path=clock,pg_catalog';
    const { code, stderr } = await fleetprof(...last, '--webhook', hook.url, '--state', file);
    delete env.PGOPTIONS;
    assert.equal(code, 0, stderr);
    return hook.posts.length;
  };
  // Windows lie where they are: only the key of the finding sees this clock.
  assert.deepEqual([await weeksLater(0), await weeksLater(0), await weeksLater(1), await weeksLater(2), await weeksLater(5)], [1, 1, 1, 1, 2]);
  const [finding] = hook.posts[0].body.findings;
  assert.deepEqual([finding.site, finding.function, finding.verdict, finding.after_release], [site[1], 'function7', 'slower', null]);
  assert.match(finding.before_hours, /^\["\d{4}-/);
  hook.stop();
});

test('compare says that it does not know what everything changed by together, if functions are few', async () => {
  await fleet.site(4, 20);
  await fleet.side({ uploads: 1500 });
  await fleet.side({ uploads: 1500 });
  const { code, stdout, stderr } = await fleetprof('compare', '1', '2', '--site', `site${fleet.sites}`);
  assert.equal(code, 0, stdout);
  assert.match(stderr, /^Everything together: not known; it takes 30 functions\.$/m);
});
