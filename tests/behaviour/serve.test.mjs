// SPDX-License-Identifier: Apache-2.0
/** fleetprof serve over the wire: the page, every route of the API against SQL, hostile requests, and a database in trouble. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { sendRaw, startReport } from './serve_tool.mjs';
import { binDir, freePort, repository, run, runOrThrow, startNginx, startPostgres, startProcess, startStack, temporaryDir, waitFor } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');
const dir = temporaryDir('serve');
const hostile = '</script><img src=x onerror=alert(1)>\u202e\u0000"\\\u2028=cmd|\' /C calc\'!A0';

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./serve_tool.mjs').Report} */
let report;
/** @type {string} */
let reader;

/** @param {string} release @param {number} interval @param {object} [more] */
const upload = (release, interval, more) => ({
  release,
  page: { url: 'https://shop.example/cart' },
  sampleInterval: interval,
  trace: {
    resources: ['https://shop.example/app.js', 'https://ads.example/ad.js'],
    frames: [{ name: 'outer', resourceId: 0, line: 1, column: 2 }, { name: hostile, resourceId: 1, line: 3, column: 4 }],
    stacks: [{ frameId: 0 }, { frameId: 1, parentId: 0 }],
    samples: [{ timestamp: 0, stackId: 0 }, { timestamp: interval, stackId: 1 }, { timestamp: 2 * interval }],
  },
  measures: [{ name: 'render', entryType: 'measure', startTime: 0, duration: 15 }],
  vitals: [{ name: 'INP', value: 700, start: 0, duration: 30 }, { name: 'LCP', value: 1200 }, { name: 'TTFB', value: 300, server: 120, cache: 'MISS' }],
  interactions: [{ type: 'click', start: 0, processingStart: 5, processingEnd: 20, duration: 24, target: '#buy' }],
  ...more,
});

/** @param {string} site @param {string[]} files */
async function importFiles(site, ...files) {
  const { code, stderr } = await run([program, 'import', '--wait', '-c', stack.collector.file, '--site', site, ...files]);
  assert.equal(code, 0, stderr);
}

before(async () => {
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop', routes: ['/cart'] }, { name: 'blog', key: 'pk_blog' }] },
  });
  reader = stack.postgres.conninfo('fleetprof_reader');
  const files = ['r1', 'r2'].map((release, i) => path.join(dir, `${release}.json`));
  files.forEach((file, i) => fs.writeFileSync(file, JSON.stringify(upload(`r${i + 1}`, 10 + 5 * i, { environment: "o'hara" }))));
  const data = path.join(repository, 'tests/data');
  await importFiles('shop', ...files, path.join(data, 'opera-scope/manual.json'),

    path.join(data, 'speed-tracer/stream.ndjson'));
  await importFiles('blog', files[0]);
  report = await startReport(reader);
});
after(async () => {
  if (report) assert.deepEqual(await report.server.stop(), { code: 0, signal: null });
  await stack?.stop();
});

// ---- the page ----

test('every path but those of the API and the files is the page', async () => {
  const page = fs.readFileSync(path.join(repository, 'report/dist/index.html'), 'utf8');
  for (const target of ['/', '/shop/flame?since=7d', '/?%00', '/api', '/../../etc/passwd', `/${encodeURIComponent(hostile.replaceAll('\0', ''))}`]) {
    const response = await report.get(target);
    assert.equal(response.status, 200, target);
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(await response.text(), page);
  }
  assert.equal((await sendRaw(report.port, 'GET /assets/../serve.c HTTP/1.1\r\nHost: localhost')).status, 404);
  assert.equal((await report.problem('/assets/')).status, 404);
  assert.equal((await report.get('/%00')).status, 400);
});

test('files are what is in report/dist, packed for who takes it, and need not be sent again', async () => {
  for (const [name, type] of [['report.js', 'text/javascript; charset=utf-8'], ['report.css', 'text/css; charset=utf-8']]) {
    const content = fs.readFileSync(path.join(repository, 'report/dist', name), 'latin1');
    const plain = await sendRaw(report.port, `GET /assets/${name} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip;q=0`);
    assert.equal(plain.text.slice(plain.text.indexOf('\r\n\r\n') + 4), content);
    const packed = await sendRaw(report.port, `GET /assets/${name} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: br, gzip`);
    assert.match(packed.text, /\r\nContent-Encoding: gzip\r\n/);
    assert.equal(gunzipSync(Buffer.from(packed.text.slice(packed.text.indexOf('\r\n\r\n') + 4), 'latin1')).toString('latin1'), content);
    const response = await report.get(`/assets/${name}`);
    assert.equal(response.headers.get('content-type'), type);
    const etag = response.headers.get('etag') ?? '';
    const again = await report.get(`/assets/${name}`, { headers: { 'If-None-Match': `"x", ${etag}` } });
    assert.equal(again.status, 304);
    assert.equal(await again.text(), '');
  }
});

test('each response says that nothing of it may run, load or be framed elsewhere', async () => {
  for (const target of ['/', '/assets/report.js', '/api/v1/sites', '/api/v1/nothing', '/api/v1/hotspots']) {
    const { headers } = await report.get(target);
    const policy = headers.get('content-security-policy') ?? '';
    for (const part of ["default-src 'none'", "script-src 'self'", "require-trusted-types-for 'script'", "frame-ancestors 'none'"])
      assert.ok(policy.split('; ').includes(part), `${target}: ${part}`);
    assert.ok(!policy.includes('unsafe'));
    assert.equal(headers.get('x-content-type-options'), 'nosniff');
    assert.equal(headers.get('referrer-policy'), 'no-referrer');
    assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
    assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
    assert.equal(headers.get('access-control-allow-origin'), null);
  }
});

// ---- the API ----

/** A request to each route that needs more than a site. */
const needs = {
  sites: '', overview_of_sites: '', values: 'site=shop&field=browser', measure_hotspots: 'site=shop&measure_name=render',
  vital_hotspots: 'site=shop&vital=INP', callers: `site=shop&function_name=${encodeURIComponent('<%')}`.replace('%253C', '%25'),
  callees: 'site=shop&function_name=outer', compare_releases: 'site=shop&before=r1&after=r2',
  compare_costs: 'by=host&site=shop&before=r1&after=r2', change_parts: 'site=shop&before=r1&after=r2',
  compare_summary: 'site=shop&before=r1&after=r2', compare_timings: 'site=shop&before=r1&after=r2',
  compare_vitals: 'site=shop&before=r1&after=r2', trend: 'site=shop&by=function&key=outer&step=hour', change_point: 'site=shop&by=function&key=outer',
  function_by: 'site=shop&by=route&key=1', function_origin: 'site=shop&generated_resource=/app.js&generated_line=1&generated_column=1',
  histogram: 'site=shop&kind=measure&timing_name=render', cost_by: 'site=shop&by=host',
  vitals_by: 'site=shop&dimension=release', vital_parts_by: 'site=shop&dimension=release', vital_elements: 'site=shop&vital=INP', waits: 'site=shop&target=%25', what_if: 'site=shop&vital=INP', interactions_by: 'site=shop&dimension=release',
  ttfb_parts_by: 'site=shop&dimension=release',
};

/** A value as SQL's json_agg gives it, from one of the API's. @param {any} value @param {string} type */
function plain(value, type) {
  if (value === null) return null;
  if (type === 'timestamp with time zone') return Date.parse(value);
  if (type === 'tstzrange') return value.map(Date.parse);
  if (type === 'bigint') return Number(value);
  return value;
}

/** The same from json_agg's value. @param {any} value @param {string} type */
function fromSql(value, type) {
  if (value === null) return null;
  if (type === 'timestamp with time zone') return Date.parse(value);
  if (type === 'tstzrange') return /** @type {string} */ (value).slice(1, -1).split(',').map((bound) => Date.parse(JSON.parse(bound)));
  return type === 'bigint' ? Number(value) : value;
}

/** Compares an answer with what its own statement gives. @param {string} target */
async function sameAsSql(target) {
  const answer = await report.json(target);
  const rows = await stack.postgres.sql(answer.sql, 'fleetprof_reader');
  const names = answer.columns.map((/** @type {any} */ column) => column.name);
  assert.deepEqual(
    answer.rows.map((/** @type {any[]} */ row) => row.map((value, i) => plain(value, answer.columns[i].type))),
    rows.map((row) => names.map((/** @type {string} */ name, /** @type {number} */ i) => fromSql(row[name], answer.columns[i].type))),
    target);
  return answer;
}

test('every route answers what its own SQL says', async () => {
  const { functions, schema, version } = await report.json('/api/v1/version');
  assert.equal(schema, 'ok');
  assert.match(version, /^\d+\.\d+\.\d+/);
  const kept = (/** @type {string} */ format) => stack.postgres.sql(`select session_id::text, timeline_id::text
    from fleetprof.timelines join fleetprof.sessions using (session_id) where format = '${format}' order by timeline limit 1`);
  const [[dump], [session]] = [await kept('speed-tracer'), await kept('opera-scope')];
  let rows = 0;
  for (const name of functions.filter((/** @type {string} */ other) => !['flamegraph_columns', 'session_content'].includes(other))) {
    const takesSite = (await report.problem(`/api/v1/${name}?nothing=1`)).hint;
    let query = /** @type {Record<string, string>} */ (needs)[name] ?? 'site=shop';
    if (takesSite.includes('session_id') && name !== 'sessions')
      query = takesSite.includes('timeline_id')
        ? `session_id=${session.session_id}&timeline_id=${session.timeline_id}` : `session_id=${dump.session_id}`;
    rows += (await sameAsSql(`/api/v1/${name}?${query}`)).rows.length;
  }
  assert.ok(rows > 100, `${rows} rows`);
});

test('a route has the parameters of its SQL function, and each function that lists things has a route', async () => {
  const { functions } = await report.json('/api/v1/version');
  const others = ['flamegraph', 'flamegraph_grafana', 'folded', 'is_agent', 'release_session', 'source_link', 'distribute'];
  const known = await stack.postgres.sql(
    `select proname as name, coalesce(array(select name from unnest(proargnames, proargmodes) as argument (name, mode)
       where coalesce(mode, 'i') = 'i'), '{}') as parameters
     from pg_proc where pronamespace = 'fleetprof'::regnamespace`);
  for (const { name, parameters } of known.filter((row) => !others.includes(row.name))) {
    const route = name === 'field_values' ? 'values' : name;
    assert.ok(functions.includes(route), `no route for ${name}`);
    const { hint } = await report.problem(`/api/v1/${route}?nothing=1`);
    const taken = hint === 'It takes no parameters.' ? [] : hint.replace('It takes ', '').replace(/\.$/, '').split(', ');
    assert.deepEqual(taken.sort(), [...parameters].sort(), name);
  }
});

test('a kept upload is given as the text that it is', async () => {
  for (const { id } of await stack.postgres.sql('select session_id::text as id from fleetprof.sessions')) {
    const { stdout } = await run([program, 'session', 'export', id, '-d', reader]);
    const { rows: [[, , , content]], command } = await report.json(`/api/v1/session_content?session_id=${id}`);
    assert.equal(content, stdout);
    assert.equal(command, `fleetprof session export ${id}`);
  }
  const [{ id }] = await stack.postgres.sql('select session_id::text as id from fleetprof.sessions limit 1');
  await stack.postgres.execute(`create table public.whole as select content from fleetprof_data.session where session_id = ${id}`);
  for (const damage of ["substring(content for 20)", "'\\x'::bytea", "'not zstd'::bytea", "'\\x28b52ffd2005290000fffefdfcfb'::bytea"]) {
    await stack.postgres.execute(`update fleetprof_data.session set content = (select ${damage} from public.whole) where session_id = ${id}`);
    const { rows: [[, , , content]] } = await report.json(`/api/v1/session_content?session_id=${id}`);
    assert.equal(content, null, damage);
  }
  await stack.postgres.execute(`update fleetprof_data.session set content = (select content from public.whole) where session_id = ${id}; drop table public.whole`);
  assert.equal((await report.problem('/api/v1/session_content?session_id=1')).status, 404);
});

test('the tree is the function\'s own JSON', async () => {
  const answer = await report.json('/api/v1/flamegraph_columns?site=shop&max_nodes=100');
  const [row] = await stack.postgres.sql("select fleetprof.flamegraph_columns('shop', max_nodes => 100) as tree", 'fleetprof_reader');
  assert.deepEqual(answer.tree, row.tree);
  assert.ok(answer.tree.frames.function.includes(hostile.replace('\u0000', '')) || answer.tree.frames.function.length > 2);
  assert.equal(answer.command, 'fleetprof flame --site shop');

  const [{ stack_id: root, name }] = await stack.postgres.sql(
    "select stack_id::text, function as name from fleetprof.stack_hourly where site = 'shop' and level > 1 order by self_ms desc limit 1");
  const { tree, command } = await report.json(`/api/v1/flamegraph_columns?site=shop&root=${root}`);
  assert.equal(tree.frames.function[tree.frame[1]], name);
  assert.deepEqual([tree.level[1], tree.total[0]], [1, tree.total[1]]);
  assert.equal(command, null, 'no command shows one stack');
});

test('names that anybody on the internet chose come through as they are, and select only themselves', async () => {
  const { rows } = await report.json('/api/v1/hotspots?site=shop&release=r1');
  const ofHost = await sameAsSql('/api/v1/hotspots?site=shop&release=r1&host=%25');
  assert.deepEqual(ofHost.rows, rows, 'every script has a host, or none');
  assert.equal((await sameAsSql('/api/v1/hotspots?site=shop&package=nope')).rows.length, 0);
  const [name] = rows.find((/** @type {any[]} */ row) => row[0].includes('alert')) ?? [];
  assert.ok(name.startsWith('</script><img src=x onerror=alert(1)>\u202e'), name);
  const found = await sameAsSql(`/api/v1/callers?site=shop&release=r1&function_name=${encodeURIComponent(name)}`);
  assert.deepEqual(found.rows.map((/** @type {any[]} */ row) => row[1]), ['outer']);
  for (const value of ["'; drop schema fleetprof cascade; --", '$1', "\\' or 1=1", '_cart', '\u{1f600}', '{a,b}', '-1']) {
    const { rows: none, sql } = await sameAsSql(`/api/v1/hotspots?site=shop&route=${encodeURIComponent(value)}`);
    assert.equal(none.length, 0, sql);
  }
});

test('a name with a quote, a relative time and an absent value are said in SQL and in the command', async () => {
  const answer = await sameAsSql("/api/v1/hotspots?site=blog&environment=o'hara&since=2h&variant=&top=3");
  assert.equal(answer.sql, "select * from fleetprof.hotspots(top => 3, site => 'blog', since => now() - interval '2h', environment => 'o''hara', variant => '');");
  assert.equal(answer.command, "fleetprof top --top 3 --site blog --since 2h --environment 'o'\\''hara' --variant ''");
  const { code, stdout, stderr } = await run(['sh', '-c', `PATH=${binDir}:$PATH; ${answer.command} --json`], { env: { FLEETPROF_DATABASE: reader } });
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout).map((/** @type {any} */ row) => row.function), answer.rows.map((/** @type {any[]} */ row) => row[0]));
});

test('each command asks what its answer shows', async () => {
  for (const [target, command] of [
    ['measure_hotspots?site=shop&measure_name=render', 'fleetprof top --measure render --site shop'],
    ['hotspots?site=shop&host=%25.example&party=third&package=%28no+package%29&top=9', "fleetprof top --top 9 --host %.example --party third --package '(no package)' --site shop"],
    ['measure_hotspots?site=shop&measure_name=render&package=react-dom', 'fleetprof top --measure render --package react-dom --site shop'],
    ['callees?site=shop&function_name=outer', 'fleetprof callers --callees --site shop outer'],
    ['callers?site=shop&function_name=--x', 'fleetprof callers --site shop -- --x'],
    ['compare_releases?site=shop&before=r1&after=r2', 'fleetprof compare --site shop r1 r2'],
    ['compare_releases?site=shop&before=r1&after=r2&before_route=/cart&after_route=/c%25', 'fleetprof compare --site shop --before-route /cart --after-route /c% r1 r2'],
    ['trend?site=shop&by=measure&key=render&step=hour', 'fleetprof trend --step hour --site shop --measure render'],
    ['trend?site=shop&by=function&key=outer&step=day', 'fleetprof trend --step day --site shop outer'],
    ['trend?site=shop&by=host&key=shop.example&step=day', 'fleetprof trend --by host --step day --site shop shop.example'],
    ['trend?site=shop&by=vital&key=LCP&step=day', 'fleetprof trend --by vital --step day --site shop LCP'],
    ['change_point?site=shop&by=vital&key=LCP', 'fleetprof trend --since-when --by vital --site shop LCP'],
    ['vital_elements?site=shop&vital=LCP', 'fleetprof vital-elements --site shop LCP'],
    ['vital_parts_by?site=shop&dimension=device', 'fleetprof vital-parts --by device --site shop'],
    ['waits?site=shop&target=button.add', 'fleetprof waits --site shop button.add'],
    ['interactions_by?site=shop&dimension=device', 'fleetprof interactions --by device --site shop'],
    ['ttfb_parts_by?site=shop&dimension=route', 'fleetprof ttfb --by route --site shop'],
    ['vitals_by?site=shop&dimension=release', 'fleetprof vitals --by release --site shop'],
    ['regressions?site=shop&least_change=0.1', null],
    ['cost_by?site=shop&by=host', 'fleetprof cost --site shop host'],
    ['hotspots?site=shop&exclude_browser=Headless%25&exclude_os=', 'fleetprof top --exclude browser=Headless% --exclude os= --site shop'],
    ['callees?site=shop&function_name=outer&fold=caller', 'fleetprof callers --callees --fold caller --site shop outer'],
    ['compare_vitals?site=shop&before=r1&after=r2', 'fleetprof compare --vitals --site shop r1 r2'],
    ['sessions?site=shop&exclude_browser=%25&exclude_os=x', null],
  ]) {
    const answer = await report.json(`/api/v1/${target}`);
    assert.deepEqual(answer.command?.split(' ').sort(), command?.split(' ').sort(), `${answer.command}`);
    if (command === null) continue;
    const { code, stderr } = await run(['sh', '-c', `PATH=${binDir}:$PATH; ${answer.command}`], { env: { FLEETPROF_DATABASE: reader } });
    assert.equal(code, 0, `${answer.command}: ${stderr}`);
  }
});

test('a wrong parameter is refused by name', async () => {
  for (const [target, parameter, detail] of [
    ['hotspots', 'site', /site is missing/],
    ['hotspots?site=shop&site=shop', 'site', /given twice/],
    ['hotspots?site=shop&sight=1', 'sight', /no parameter "sight"/],
    ['hotspots?site=shop&%00=1', undefined, /no parameter/],
    ['hotspots?site=shop&top=0', 'top', /from 1 to 10000: "0"/],
    ['hotspots?site=shop&top=10001', 'top', /from 1 to 10000/],
    ['hotspots?site=shop&top=1e3', 'top', /"1e3"/],
    ['hotspots?site=shop&top=', 'top', /""/],
    ['hotspots?site=shop&top=99999999999999999999', 'top', /from 1/],
    ['flamegraph_columns?site=shop&max_nodes=200001', 'max_nodes', /200000/],
    ['hotspots?site=sh%00op', 'site', /U\+0000/],
    ['hotspots?site=%ff%fe', 'site', /UTF-8/],
    ['hotspots?site=%ed%a0%80', 'site', /UTF-8/],
    ['hotspots?site=shop&since=yesterday', 'since', /not a time such as/],
    ['hotspots?site=shop&since=2026-02-29', 'since', /not a time/],
    ['hotspots?site=shop&since=2026-01-01T25:00Z', 'since', /not a time/],
    ['hotspots?site=shop&since=9999999d', 'since', /not a time/],
    ['hotspots?site=shop&since=infinity', 'since', /not a time/],
    ['hotspots?site=shop&since=2026-02-02&until=2026-02-01', 'since', /since is later than until/],
    ['hotspots?site=shop&marker=nope', 'marker', /no marker is named "nope"/],
    ['values?site=shop&field=rote', 'field', /no field "rote"/],
    ['cost_by?site=shop&by=colour', 'by', /"colour"/],
    ['flamegraph_columns?site=shop&fold=party', undefined, /nothing is folded into "party"/],
    ['timings?site=shop&exclude_marker=gc', 'exclude_marker', /no parameter "exclude_marker"/],
    ['compare_summary?site=shop&before_release=1', 'before_release', /no parameter "before_release"/],
    ['releases?site=shop&before_device=x', 'before_device', /no parameter "before_device"/],
    ['compare_summary?site=shop&before_device=x&after_device=y', undefined, /no page load is on the earlier side/],
    ['releases?site=shop&exclude_release=1', 'exclude_release', /no parameter "exclude_release"/],
    ['trend?site=shop&by=function&key=f&step=week', 'step', /"week"/],
    ['get_events?session_id=1&timeline_id=9223372036854775808', 'timeline_id', /whole number/],
    ['get_events?session_id=1&timeline_id=1&from_ms=nan', 'from_ms', /number/],
    ['get_events?session_id=1&timeline_id=1&from_ms=1e999', 'from_ms', /number/],
    ['sites?site=shop', 'site', /no parameter "site"/],
  ]) {
    const problem = await report.problem(`/api/v1/${target}`);
    assert.equal(problem.status, 400, `${target}`);
    assert.equal(problem.parameter, parameter, `${target}: ${problem.detail}`);
    assert.match(problem.detail, /** @type {RegExp} */ (detail));
  }
  const { hint } = await report.problem('/api/v1/hotspots?site=shop&since=2026-11-22T00:00:00+02:00');
  assert.equal(hint, 'In an address, + is a space: write %2B for it.');
  for (const target of ['nothing', '', 'hotspots/', 'HOTSPOTS', 'release_session', '%2e%2e', hostile.slice(0, 20)])
    assert.equal((await report.problem(`/api/v1/${encodeURIComponent(target)}`)).status, 404, target);
  assert.equal((await report.problem('/api/v2/hotspots')).status, 404);
});

test('good times are read as they are meant', async () => {
  for (const since of ['2026-01-01', '2026-01-01T00:00Z', '2024-02-29T23:59:59.999999Z', '2026-01-01T00:00:00%2B02:00', '30m', '1w'])
    await sameAsSql(`/api/v1/hotspots?site=shop&since=${since}`);
});

test('rows beyond the limit are cut, and the answer says so', async () => {
  await stack.execute(`insert into fleetprof_data.segment (segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, last_seen)
    select 1000000 + i, 'many', 'r' || i, '', '', '', '', '', '', 'window', 0, current_date from generate_series(1, 10050) as i;
    insert into fleetprof_data.total_recent (group_id, bucket, spool_id, position, marker, uploads, loads, samples, self_us, profiled_us2)
    select 1000000 + i, date_trunc('hour', now()), '00000000-0000-0000-0000-000000000001', 1, '{-1}', '{1}', '{1}', '{1}', '{1}', '{1}' from generate_series(1, 10050) as i`);
  const answer = await report.json('/api/v1/values?site=many&field=route');
  assert.equal(answer.rows.length, 10000);
  assert.equal(answer.truncated, true);
  assert.ok(answer.sql.endsWith(' limit 10000;'), answer.sql);
  assert.deepEqual((await stack.postgres.sql(answer.sql, 'fleetprof_reader')).length, 10000);
  await stack.execute("delete from fleetprof_data.total_recent where group_id > 1000000 and group_id <= 1010050; delete from fleetprof_data.segment where site = 'many'");
  const whole = await report.json('/api/v1/values?site=shop&field=route');
  assert.equal(whole.truncated, undefined);
});

test('numbers that a double cannot hold are texts', async () => {
  const { columns, rows } = await report.json('/api/v1/sessions?site=shop');
  const place = columns.findIndex((/** @type {any} */ column) => column.name === 'session_id');
  const ids = await stack.postgres.sql("select session_id::text from fleetprof.sessions where site = 'shop'");
  assert.deepEqual(rows.map((/** @type {any[]} */ row) => String(row[place])).sort(), ids.map((row) => row.session_id).sort());
  assert.ok(rows.some((/** @type {any[]} */ row) => typeof row[place] === 'string'));
});

test('a filter with an escaped percent sign selects it, in functions and views', async () => {
  const kept = '(select segment_id from fleetprof.sessions order by session_id limit 1)';
  const [{ route }] = await stack.postgres.sql(`select route from fleetprof.segment where segment_id = ${kept}`);
  await stack.execute(`update fleetprof_data.segment set route = '/caf%C3' where segment_id = ${kept}`);
  try {
    for (const [filter, found] of /** @type {const} */ ([['/caf\\%C3', true], ['/%C3', true], ['/caf\\%', false], ['/ca\\%%', false]])) {
      const given = `site=%25&route=${encodeURIComponent(filter)}`;
      assert.equal((await report.json(`/api/v1/sessions?${given}`)).rows.length > 0, found, filter);
      assert.equal((await report.json(`/api/v1/values?field=route&${given}`)).rows.length > 0, found, filter);
      const { sql } = await report.json(`/api/v1/sessions?${given}`);
      assert.equal((await stack.postgres.sql(sql)).length > 0, found, sql);
    }
  } finally {
    await stack.execute(`update fleetprof_data.segment set route = '${route}' where route = '/caf%C3'`);
  }
});

test('an answer that did not change is not sent again, and a large one is packed', async () => {
  const target = '/api/v1/hotspots?site=shop&since=2026-01-01&until=2026-01-02';
  const first = await report.get(target);
  const etag = first.headers.get('etag') ?? '';
  assert.equal(first.headers.get('cache-control'), 'private, no-cache');
  assert.equal((await report.get(target, { headers: { 'If-None-Match': etag } })).status, 304);
  assert.equal((await report.get(target, { headers: { 'If-None-Match': '"other"' } })).status, 200);
  assert.equal((await report.get(target.replace('2026-01-02', '2026-01-03'), { headers: { 'If-None-Match': etag } })).status, 200);
  const packed = await report.get('/api/v1/flamegraph_columns?site=shop');
  assert.equal(packed.headers.get('content-encoding'), 'gzip');
  assert.ok((await packed.json()).tree.level.length > 3);
  const head = await report.get('/api/v1/flamegraph_columns?site=shop', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(await head.text(), '');
});

// ---- who may ask ----

test('hosts other than loopback, and requests of other sites, are refused', async () => {
  const status = async (/** @type {string} */ lines) => (await sendRaw(report.port, `GET /api/v1/sites HTTP/1.1\r\n${lines}`)).status;
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', `127.0.0.1:${report.port}`, '127.9.9.9', '[::1]', '[::1]:80'])
    assert.equal(await status(`Host: ${host}`), 200, host);
  for (const host of ['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example', 'localhost.', '0.0.0.0', '128.0.0.1', '[::2]',
    '127.1', '0x7f.0.0.1', '2130706433', '[::ffff:127.0.0.1]'])
    assert.equal(await status(`Host: ${host}`), 403, host);
  for (const host of ['user@localhost', 'localhost:80:80', 'localhost:http', '[::1']) assert.equal(await status(`Host: ${host}`), 400, host);
  assert.equal(await status('Host: '), 403);
  for (const [site, wanted] of [['same-origin', 200], ['none', 200], ['cross-site', 403], ['same-site', 403], ['anything', 403]])
    assert.equal(await status(`Host: localhost\r\nSec-Fetch-Site: ${site}`), wanted, `${site}`);
  const page = await sendRaw(report.port, 'GET / HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site');
  assert.equal(page.status, 200, 'a link from a mail opens the page');
  assert.notEqual((await sendRaw(report.port, 'GET / HTTP/1.0')).status, 200);
});

test('methods other than GET and HEAD are refused', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'get', 'BREW']) {
    for (const target of ['/', '/api/v1/sites']) {
      const { status, text } = await sendRaw(report.port, `${method} ${target} HTTP/1.1\r\nHost: localhost`);
      assert.equal(status, 405, method);
      assert.match(text, /\r\nAllow: GET, HEAD\r\n/);
    }
  }
});

test('what is not HTTP harms nobody', async () => {
  for (const bytes of ['\u0000\u0001\u0002', `GET /${'a'.repeat(100_000)} HTTP/1.1\r\nHost: localhost`, 'GET /api/v1/hotspots?%zz=%&&=&a HTTP/1.1\r\nHost: localhost',
    `GET / HTTP/1.1\r\nHost: localhost\r\n${'x: y\r\n'.repeat(5000)}`, 'GET http://evil.example/ HTTP/1.1\r\nHost: evil.example'])
    assert.notEqual((await sendRaw(report.port, bytes).catch(() => ({ status: 0 }))).status, 200, bytes.slice(0, 40));
  assert.equal((await report.get('/api/v1/sites')).status, 200);
});

test('clients that say nothing do not keep others out', async () => {
  const idle = await Promise.all(Array.from({ length: 150 }, () => new Promise((resolve) => {
    const socket = net.connect(report.port, '127.0.0.1', () => resolve(socket)).on('error', () => {});
  })));
  await waitFor(async () => (await report.get('/api/v1/sites')).status === 200, { what: 'answer' });
  for (const socket of idle) /** @type {net.Socket} */ (socket).destroy();
});

/** @param {string[]} args @returns {ReturnType<typeof run>} */
const refused = (...args) => run(['timeout', '20', program, 'serve', ...args]);

test('it does not start where it should not', async () => {
  for (const user of ['fleetprof_writer', 'postgres']) {
    const { code, stderr } = await refused('--database', stack.postgres.conninfo(user), '--listen', '127.0.0.1:1');
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`as "${user}", a role that can write`));
    assert.match(stderr, /hint: .*fleetprof_reader/);
  }
  await stack.execute('create role member login; grant fleetprof_writer to member; create role granted login; grant fleetprof_reader to granted; grant insert on fleetprof_data.segment to granted; alter role member noinherit');
  for (const user of ['member', 'granted'])
    assert.match((await refused('--database', stack.postgres.conninfo(user), '--listen', '127.0.0.1:1')).stderr, /can write/, user);
  for (const address of ['0.0.0.0:8602', '[::]:8602', '192.0.2.1:80'])
    assert.match((await refused('--database', reader, '--listen', address)).stderr, /--allow-host/, address);
  for (const options of [['--listen', 'localhost'], ['--listen', '127.0.0.1:99999'], ['--allow-host', 'a:1'], ['--allow-host', ''],
    ['--statement-timeout', '0'], ['--statement-timeout', 'x'], ['extra']]) {
    const { code, stderr } = await refused('--database', reader, ...options);
    assert.equal(code, 2, options.join(' '));
    assert.notEqual(stderr, '');
  }
  const taken = await refused('--database', reader, '--listen', `127.0.0.1:${report.port}`);
  assert.equal(taken.code, 2);
  assert.match(taken.stderr, /cannot listen on 127\.0\.0\.1:\d+: Address already in use\n.*hint: Give another --listen, such as 127\.0\.0\.1:86\d\d\.\n/);
});

/** Listens on ports that nobody needs to have free. A port that another program has is as good as ours. @param {number[]} ports */
const occupy = (ports) => Promise.all(ports.map(async (port) => {
  const server = net.createServer().listen(port, '127.0.0.1');
  await once(server, 'listening').catch(() => {});
  return server;
}));

test('the hint beside a port that is taken names one that is free', async () => {
  const servers = await occupy([8602, 8603, 8604]);
  for (const wanted of ['127.0.0.1:8602', '127.0.0.1:8603', '127.0.0.1:8604', 'unix:/nowhere/report.sock']) {
    const { code, stderr } = await refused('--database', reader, '--listen', wanted);
    assert.equal(code, 2, stderr);
    const port = Number(/such as 127\.0\.0\.1:(\d+)\./.exec(stderr)?.[1]);
    assert.ok(port > 8604, stderr);
    const server = net.createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
  }
  for (const server of servers) server.close();
});

test('a unix socket serves the server before it; --allow-host and --allow-writer hold', async () => {
  const socket = path.join(dir, 'report.sock');
  const other = await startReport(stack.postgres.conninfo(), ['--allow-writer', '--listen', `unix:${socket}`]);
  assert.equal((await sendRaw(socket, 'GET /api/v1/sites HTTP/1.1\r\nHost: report.example')).status, 200);
  assert.equal(fs.statSync(socket).mode & 0o777, 0o660);
  await other.server.stop();
  assert.equal(fs.existsSync(socket), false);
  const named = await startReport(reader, ['--allow-host', 'Report.Example', '--allow-host', '[2001:db8::1]']);
  for (const [host, status] of [['report.example', 200], ['report.example:443', 200], ['[2001:DB8::1]:1', 200], ['localhost', 200], ['evil.report.example', 403]])
    assert.equal((await sendRaw(named.port, `GET /api/v1/sites HTTP/1.1\r\nHost: ${host}`)).status, status, `${host}`);
  await named.server.stop();
});

// ---- a database in trouble ----

/** Locks what every question reads while the work runs. @param {() => Promise<void>} work */
async function whileLocked(work) {
  const name = `lock ${Math.random()}`;
  const lock = stack.execute(`set application_name = '${name}'; begin; lock table fleetprof_data.segment; select pg_sleep(60); commit`)
    .catch(() => {});
  try {
    await waitFor(async () => (await stack.postgres.sql(
      `select from pg_stat_activity where application_name = '${name}' and wait_event = 'PgSleep'`)).length, { what: 'lock' });
    await work();
  } finally {
    await stack.postgres.sql(`select pg_terminate_backend(pid) from pg_stat_activity where application_name = '${name}'`);
    await lock;
  }
}

/** Queries of the report that the server is working on. */
const working = () => stack.postgres.sql(
  "select pid from pg_stat_activity where application_name = 'fleetprof serve' and state = 'active' and query like '%hotspots%'");

test('only a few queries run at once; a few more wait; the rest get 503 at once', async () => {
  await whileLocked(async () => {
    const statuses = await Promise.all(Array.from({ length: 60 }, async (_, i) => {
      const response = await report.get(`/api/v1/hotspots?site=shop&route=${i}`);
      const body = await response.json();
      return { status: response.status, detail: body.detail, retry: response.headers.get('retry-after') };
    }));
    const busy = statuses.filter(({ detail }) => /busy: 4 queries are running/.test(detail ?? ''));
    assert.ok(busy.length >= 60 - 36 && busy.every(({ status, retry }) => status === 503 && Number(retry) > 0), `${busy.length} of 60`);
    assert.ok(statuses.some(({ status, detail }) => status === 503 && /locked/.test(detail)));
  });
  const open = await stack.postgres.sql("select from pg_stat_activity where application_name = 'fleetprof serve'");
  assert.ok(open.length <= 4, `${open.length} connections`);
  assert.equal((await report.get('/api/v1/hotspots?site=shop')).status, 200);
});

test('a client that goes away takes its query with it', async () => {
  const patient = await startReport(`${reader} application_name=patient`, ['--statement-timeout', '60']);
  await whileLocked(async () => {
    const before = stack.postgres.server.output().split('canceling statement due to user request').length;
    const gone = new AbortController();
    const request = patient.get('/api/v1/hotspots?site=shop', { signal: gone.signal }).catch(() => {});
    await waitFor(async () => (await stack.postgres.sql(
      "select from pg_stat_activity where application_name = 'patient' and wait_event_type = 'Lock'")).length, { what: 'query' });
    gone.abort();
    await request;
    await waitFor(() => stack.postgres.server.output().split('canceling statement due to user request').length > before, { what: 'cancelled query' });
  });
  assert.equal((await patient.get('/api/v1/hotspots?site=shop')).status, 200);
  await patient.server.stop();
});

test('a query that takes too long ends in a sentence', async () => {
  const hasty = await startReport(reader, ['--statement-timeout', '1']);
  await whileLocked(async () => {
    const problem = await hasty.problem('/api/v1/hotspots?site=shop');
    assert.equal(problem.status, 504);
    assert.match(problem.detail, /longer than the report's server waits/);
    assert.match(problem.hint, /--statement-timeout/);
  });
  await hasty.server.stop();
});

test('a stop also ends running queries', async () => {
  const other = await startReport(reader);
  await whileLocked(async () => {
    const request = other.get('/api/v1/hotspots?site=shop').catch(() => {});
    await waitFor(async () => (await working()).length, { what: 'query' });
    assert.deepEqual(await other.server.stop('SIGTERM'), { code: 0, signal: null });
    await request;
  });
});

test('a database that goes away in mid-answer ends in a sentence', async () => {
  await whileLocked(async () => {
    let answered = false;
    const answer = report.problem('/api/v1/hotspots?site=shop').finally(() => { answered = true; });
    await waitFor(async () => {
      await stack.postgres.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fleetprof serve' and state = 'active'");
      return answered;
    }, { what: 'answer' });
    const problem = await answer;
    assert.equal(problem.status, 503);
    assert.match(problem.detail, /database (went away|is stopping|cannot be reached|is busy)/);
  });
  assert.equal((await report.get('/api/v1/hotspots?site=shop')).status, 200);
});

test('a database that is restarted is found again, whichever request comes first', async () => {
  await stack.postgres.stop('SIGQUIT');
  const problem = await report.problem('/api/v1/hotspots?site=shop');
  assert.equal(problem.status, 503);
  assert.match(problem.detail, /cannot be reached/);
  assert.ok(Number(problem.retryAfter) > 0);
  assert.ok(!JSON.stringify(problem).includes(stack.postgres.socketDir), 'where the database is, is not for all');
  assert.match((await report.json('/api/v1/version')).schema, /cannot be reached/);
  assert.match(report.server.output(), /the database cannot be reached: .*No such file or directory|the database cannot be reached/);
  await stack.postgres.start();
  assert.equal((await report.get('/api/v1/hotspots?site=shop')).status, 200);
});

test('a database of another version, one without tables and a role without rights are named', async () => {
  const problem = () => report.problem('/api/v1/hotspots?site=shop');
  const reconnect = () => stack.postgres.sql("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'fleetprof serve'");
  await stack.execute("update fleetprof.schema_version set checksum = 'x', version = '9.9.9' where name = 'functions/hotspots.sql'");
  await reconnect();
  const other = await problem();
  assert.equal(other.status, 503);
  assert.match(other.detail, /another version of fleetprof.*functions\/hotspots\.sql.*9\.9\.9/);
  assert.match(other.hint, /fleetprof migrate/);
  assert.match((await report.json('/api/v1/version')).schema, /another version/);
  assert.equal((await run([program, 'migrate', '--database', stack.postgres.conninfo()])).code, 2, 'a newer one is left alone');
  await stack.execute("update fleetprof.schema_version set version = '0.0.1' where version = '9.9.9'");
  assert.equal((await run([program, 'migrate', '--database', stack.postgres.conninfo()])).code, 0);
  assert.equal((await report.get('/api/v1/hotspots?site=shop')).status, 200);

  await stack.execute('create role stranger login');
  const stranger = await startReport(stack.postgres.conninfo('stranger'));
  assert.match((await stranger.problem('/api/v1/sites')).detail, /may not read|none of fleetprof's tables/);
  assert.match(stranger.server.output(), /no numbers to show yet/);
  await stranger.server.stop();
});

test('an empty database, and one that is not there yet', async () => {
  const empty = await startPostgres();
  const early = await startReport(empty.conninfo('fleetprof_reader'));
  assert.match(early.server.output(), /no numbers to show yet/);
  assert.equal((await early.problem('/api/v1/sites')).status, 503);
  await empty.execute('create role stranger login');
  const bare = await startReport(empty.conninfo('stranger'));
  const problem = await bare.problem('/api/v1/sites');
  assert.match(problem.detail, /none of fleetprof's tables/);
  assert.match(problem.hint, /fleetprof migrate/);
  await bare.server.stop();
  assert.equal((await run([program, 'migrate', '--database', empty.conninfo()])).code, 0);
  assert.deepEqual((await early.json('/api/v1/sites')).rows, []);
  assert.deepEqual((await early.json('/api/v1/hotspots?site=shop')).rows, []);
  assert.ok((await early.json('/api/v1/flamegraph_columns?site=shop')).tree);
  await early.server.stop();
  await empty.stop();
});

// ---- a login before it ----

/** @param {string} name @param {Record<string, string>} changes @returns {string} the example, with these texts replaced */
function example(name, changes) {
  let text = fs.readFileSync(path.join(repository, 'config', name), 'utf8');
  for (const [from, to] of Object.entries(changes)) {
    assert.ok(text.includes(from), from);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** Asks through a server with a login. @param {string} url */
async function behindLogin(url) {
  const login = { Authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` };
  for (const target of ['/', '/api/v1/sites', '/shop/flame?since=1d']) {
    assert.equal((await fetch(url + target)).status, 401, target);
    assert.equal((await fetch(url + target, { headers: login })).status, 200, target);
  }
  const target = `/api/v1/hotspots?site=shop&route=${encodeURIComponent('/a b/%2F+é')}`;
  const answer = await (await fetch(url + target, { headers: login })).json();
  assert.ok(answer.sql.includes("route => '/a b/%2F+é'"), answer.sql);
  const page = await fetch(`${url}/${encodeURIComponent('a/b')}`, { headers: login });
  assert.equal(page.status, 200);
  assert.match(page.headers.get('content-security-policy') ?? '', /default-src 'none'/);
}

const passwords = path.join(dir, 'passwords');
fs.chmodSync(dir, 0o755);
fs.writeFileSync(passwords, 'ann:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=\n');

/** Makes a certificate in the test's directory. */
async function makeCertificate() {
  if (!fs.existsSync(`${dir}/cert.pem`))
    await runOrThrow(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes',
      '-subj', '/CN=report.example', '-days', '1', '-keyout', `${dir}/key.pem`, '-out', `${dir}/cert.pem`]);
}

test('the example for nginx holds what it promises', async () => {
  await makeCertificate();
  const port = await freePort();
  const conf = example('report-nginx.conf.example', {
    '/etc/ssl/certs/report.example.pem': `${dir}/cert.pem`, '/etc/ssl/private/report.example.key': `${dir}/key.pem`,
    '/etc/nginx/report.htpasswd': passwords, '127.0.0.1:8602': `127.0.0.1:${report.port}`, '443 ssl': `127.0.0.1:${port} ssl`,
  });
  const strict = await startNginx({ conf, port, modules: [] });
  await strict.stop();
  const plainConf = conf.replaceAll(' ssl;', ';').replace(/^ *ssl_.*$/gm, '');
  const nginx = await startNginx({ conf: plainConf, port, modules: [] });
  await behindLogin(nginx.url);
  await nginx.stop();
});

test('the example for httpd holds what it promises', async () => {
  await makeCertificate();
  const port = await freePort();
  const text = example('report-httpd.conf.example', {
    '/etc/ssl/certs/report.example.pem': `${dir}/cert.pem`, '/etc/ssl/private/report.example.key': `${dir}/key.pem`,
    '/etc/apache2/report.htpasswd': passwords, '127.0.0.1:8602': `127.0.0.1:${report.port}`, '*:443': `127.0.0.1:${port}`,
  });
  const modules = ['mpm_event', 'ssl', 'headers', 'proxy', 'proxy_http', 'auth_basic', 'authn_core', 'authn_file', 'authz_core', 'authz_user']
    .map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n');
  const write = (/** @type {string} */ name, /** @type {string} */ conf) => {
    fs.writeFileSync(path.join(dir, name), `ServerRoot ${dir}\nServerName localhost\nPidFile ${dir}/httpd.pid\nDefaultRuntimeDir ${dir}\nErrorLog ${dir}/httpd.log\nListen 127.0.0.1:${port}
${modules}\n${process.getuid?.() === 0 ? 'User www-data\nGroup www-data\n' : ''}${conf}`);
    return path.join(dir, name);
  };
  await runOrThrow(['apache2', '-t', '-f', write('httpd-ssl.conf', text)]);
  const httpd = startProcess('httpd', ['apache2', '-X', '-f', write('httpd.conf', text.replace(/^ *SSL.*$/gm, ''))], { deathSignal: 'SIGTERM' });
  const url = `http://127.0.0.1:${port}`;
  await waitFor(async () => (await fetch(url)).status, { what: 'answer of httpd' });
  await behindLogin(url);
  await httpd.stop();
});

test('the unit is one that systemd takes', async () => {
  const unit = path.join(dir, 'fleetprof-report.service');
  fs.writeFileSync(unit, fs.readFileSync(path.join(repository, 'config/systemd/fleetprof-report.service'), 'utf8')
    .replace('/usr/bin/fleetprof ', `${program} `).replace('User=fleetprof-report', 'User=daemon'));
  const { code, stdout, stderr } = await run(['systemd-analyze', 'verify', '--man=no', unit]);
  assert.equal(code, 0, stdout + stderr);
  assert.equal(stderr.split('\n').filter((line) => line.includes('fleetprof-report')).join('\n'), '');
  await runOrThrow(['systemd-analyze', 'security', '--offline=yes', '--threshold=20', unit]);
});
