// SPDX-License-Identifier: Apache-2.0
/**
 * Grafana's dashboards about pages, and the alert: every query answers a reader, whatever is chosen in the variables, and
 * gives its panel the columns that it needs. With FLEETPROF_LONG, Grafana's own flame graph panel reads its rows.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import esbuild from 'esbuild';
import { parse } from 'yaml';

import { verdicts } from '../../report/src/colours.js';
import { files } from '../../tools/dashboards.mjs';
import { vitals } from '../../tools/vitals.mjs';
import { startFleet } from '../browser/report_fleet.mjs';
import { binDir, repository, run, runOrThrow, temporaryDir, waitFor } from './stack.mjs';

/** @type {[string, any][]} */
const dashboards = [...files].map(([name, text]) => [name, JSON.parse(text)]);

/** @type {Awaited<ReturnType<typeof startFleet>>} */
let fleet;
before(async () => {
  fleet = await startFleet({ perHour: 2, hostile: false, lab: true });
  const vital = { name: 'INP', value: 300, attribution: { interactionTarget: 'button.buy', inputDelay: 20, processingDuration: 200 } };
  const url = 'https://lab.example/';
  for (const [route, body] of [['ingest', { version: 1, page: { url }, vitals: [vital] }],
    ['reports', [{ type: 'crash', url, body: { reason: 'oom' } }, { type: 'document-policy-violation', url, body: { policyId: 'js-profiling' } }]]]) {
    const { status } = await fetch(`${fleet.collector.url}/v1/${route}/pk_lab`, { method: 'POST', body: JSON.stringify(body) });
    assert.equal(status, 204);
  }
  await waitFor(async () => (await fleet.sql("select 1 from fleetprof.upload_log where site = 'lab'")).length === 4, { what: 'uploads in SQL' });
  await keepBudgets('lab', [{ kind: 'vital', what: 'INP', percentile: 75, route: '', name: 'INP p75 <= 200ms', limit_us: 200_000 }]);
}, { timeout: 300_000 });
after(() => fleet.stop());

/** As a collector does whose configuration has them. @param {string} site @param {object[]} budgets */
const keepBudgets = (site, budgets) => fleet.postgres.execute(`select fleetprof_data.keep_budgets('${JSON.stringify({ [site]: budgets })}')`);

/** Answers as Grafana's data source gets them. @param {string} sql without variables */
const ask = (sql) => fleet.postgres.sql(sql
  .replaceAll('$__timeFrom()', () => `'${new Date(Date.now() - 5 * 86_400_000).toISOString()}'`)
  .replaceAll('$__timeTo()', () => `'${new Date().toISOString()}'`), 'fleetprof_reader');

/** Replaces ${name:sqlstring} as Grafana does: a value is quoted, and has \\" for "; the one for "All" stays as it is. @param {string} text
 * @param {Map<string, { all?: string, value?: string }>} values */
const filled = (text, values) => text.replace(/\$\{(\w+)(?::(\w+))?\}/g, (_, name, format) => {
  const { all, value } = values.get(name) ?? assert.fail(`no variable ${name}`);
  assert.equal(format, 'sqlstring', `$${name} is not quoted`);
  return all ?? `'${value?.replaceAll("'", "''").replaceAll('"', '\\"')}'`;
});

/**
 * The variables' values as a dashboard has them when it is opened: the first, or "All".
 * @param {any} model @param {(name: string, listed: string[]) => string | undefined} [choose]
 */
async function opened(model, choose = () => undefined) {
  /** @type {Map<string, { all?: string, value?: string }>} */
  const values = new Map();
  for (const { name, type, query, allValue } of model.templating.list) {
    if (type === 'datasource') continue;
    const rows = type === 'query' ? await ask(filled(query, values)) : [];
    const listed = type === 'query' ? rows.map((row) => row.__value ?? Object.values(row)[0]) : query.split(',');
    assert.ok(listed.length > 0, `${name} has no value`);
    for (const row of rows) if ('__text' in row) assert.ok(row.__text, `${name} has a value without a text`);
    const chosen = choose(name, listed);
    values.set(name, chosen === undefined && allValue !== undefined ? { all: allValue } : { value: chosen ?? listed[0] });
  }
  return values;
}

test('tools/dashboards.mjs writes the files that the manual lists into a folder', async () => {
  const folder = path.join(temporaryDir('dashboards'), 'new');
  await runOrThrow([process.execPath, path.join(repository, 'tools/dashboards.mjs'), folder]);
  for (const [name, text] of files) assert.equal(fs.readFileSync(path.join(folder, name), 'utf8'), text, name);
  assert.equal((await run([process.execPath, path.join(repository, 'tools/dashboards.mjs')])).code, 1);
  const listed = [...fs.readFileSync(path.join(repository, 'docs/grafana.md'), 'utf8').matchAll(/^\| `(\S+)` \|/gm)].map(([, name]) => name);
  assert.deepEqual(listed.sort(), [...files.keys(), ...fs.readdirSync(path.join(repository, 'config/grafana'))].sort());
});

test('of each vital, the trend has the thresholds, and the table the rating with a colour', async () => {
  const model = new Map(dashboards).get('vitals.json') ?? assert.fail('no vitals.json');
  const panelOf = (/** @type {string} */ title) => model.panels.find((/** @type {any} */ one) => one.title === title);
  const trend = panelOf('${vital}, 75th percentile');
  for (const { name, good, poor } of vitals) {
    const values = await opened(model, (variable) => ({ vital: name, site: 'shop' })[variable]);
    const [row] = await ask(filled(trend.targets[0].rawSql, values));
    assert.deepEqual([row['good up to'], row['poor above']], [good, poor], name);
    for (const line of ['good up to', 'poor above']) assert.ok(trend.fieldConfig.overrides.some((/** @type {any} */ { matcher }) => matcher.options === `/^${line}$/`), line);
  }
  const table = panelOf('Vitals');
  const rows = await ask(filled(table.targets[0].rawSql, await opened(model)));
  const { mappings } = Object.fromEntries(table.fieldConfig.overrides.find((/** @type {any} */ { matcher }) => new RegExp(matcher.options.slice(1, -1)).test('rating')).properties.map((/** @type {any} */ one) => [one.id, one.value]));
  for (const { name, p75, rating } of rows) {
    const { good, poor } = vitals.find((vital) => vital.name === name) ?? assert.fail(name);
    assert.equal(rating, p75 <= good ? 'good' : p75 <= poor ? 'needs improvement' : 'poor', name);
    assert.ok(mappings[0].options[rating].color, rating);
  }
});

for (const [name, model] of dashboards) {
  test(`${name}: each panel has a description, a unit, a place of its own and no data source of somebody's`, () => {
    const taken = new Set();
    assert.equal(new Set(model.panels.map((/** @type {any} */ { id }) => id)).size, model.panels.length);
    for (const { title, description, gridPos: { x, y, w, h }, datasource, fieldConfig, targets } of model.panels) {
      assert.match(description, /^[A-Z].*\.$/, title);
      assert.ok(fieldConfig.defaults.unit, title);
      assert.ok(x + w <= 24, title);
      for (let place = 0; place < w * h; place++) {
        const cell = `${x + place % w} ${y + Math.floor(place / w)}`;
        assert.ok(!taken.has(cell), `${title} lies on another panel`);
        taken.add(cell);
      }
      for (const one of [datasource, ...targets.map((/** @type {any} */ target) => target.datasource)]) {
        assert.deepEqual(one, { type: 'grafana-postgresql-datasource', uid: '${datasource}' }, title);
      }
    }
  });

  test(`${name}: every query answers a reader, with what its panel needs`, async () => {
    const values = await opened(model);
    // Only this site has profiled responses, parts of vitals, reports of browsers, and a budget.
    const ofLab = ['Waits', 'Parts', 'Parts of ${vital} by ${by}', 'Elements of ${vital}', 'Server and network', 'Hangs and crashes', 'Broken policies', 'Budgets'];
    const lab = await opened(model, (variable) => (variable === 'site' ? 'lab' : undefined));
    for (const { title, type, targets: [{ rawSql, format }] } of model.panels) {
      const rows = await ask(filled(rawSql, ofLab.includes(title) ? lab : values));
      assert.ok(rows.length > 0, `${title} is empty`);
      const columns = Object.entries(rows[0]);
      if (type === 'timeseries') {
        assert.equal(format, 'time_series', title);
        const times = rows.map(({ time }) => Date.parse(time));
        assert.ok(times.every((time, place) => place === 0 || times[place - 1] < time), `${title} is not in order`);
        for (const [column, value] of columns.slice(1)) assert.equal(typeof (value ?? 0), 'number', `${title}: ${column}`);
      }
      if (type === 'barchart') assert.deepEqual(columns.map(([, value]) => typeof value), ['string', 'number'], title);
      if (type === 'stat') assert.ok(rows.length === 1 && columns.length === 1, title);
      if (type === 'flamegraph') {
        assert.deepEqual(columns.map(([column]) => column), ['level', 'value', 'label', 'self']);
        const top = rows.filter(({ level }) => level === 1).reduce((sum, { value }) => sum + value, 0);
        assert.ok(Math.abs(top / rows[0].value - 1) < 0.01, `${top} of ${rows[0].value}`);
      }
    }
    for (const { name, target: { rawSql, format } } of model.annotations.list) {
      const rows = await ask(filled(rawSql, values));
      assert.equal(format, 'table');
      // The definitions of vitals changed at other times than now.
      assert.ok((rows.length > 0 || name !== 'Releases') && rows.every(({ time, text }) => time && text), name);
    }
  });

  test(`${name}: filters select, and a hostile value is a value`, async () => {
    for (const value of ["'); drop schema fleetprof cascade; --", '\\', '$1', '${site}', "''"]) {
      const values = await opened(model, (variable) => (['route', 'device', 'browser', 'release'].includes(variable) ? value : undefined));
      for (const { title, type, targets: [{ rawSql }] } of model.panels) {
        const rows = await ask(filled(rawSql, values));
        if (type === 'stat') assert.deepEqual(rows.filter((row) => Object.values(row).some((one) => one !== null)), [], `${title} with ${value}`);
        // It has one row, about nothing.
        else if (title === 'Summary') assert.deepEqual(rows.map((row) => [row.before_uploads, row.after_uploads]), [[0, 0]]);
        // Without page loads it still says something.
        else if (title === 'At a glance') assert.ok(rows.every(({ part }) => ['release', 'need'].includes(part)), `${title} with ${value}: ${rows.map(({ part }) => part)}`);
        else assert.deepEqual(rows, [], `${title} with ${value}`);
      }
    }
  });

  test(`${name}: a link to a function has what it needs, and keeps the filters`, async () => {
    const values = await opened(model);
    const own = model.templating.list.map((/** @type {any} */ variable) => variable.name);
    for (const { title, fieldConfig: { overrides }, targets: [{ rawSql }] } of model.panels) {
      const [, address] = /"(\/d\/fleetprof-function[^"]*)"/.exec(JSON.stringify(overrides)) ?? [];
      if (!address) continue;
      const rows = await ask(filled(rawSql, values));
      assert.ok(rows.length > 0 && rows.every(({ function_key: key }) => key), `${title}: a row leads nowhere`);
      for (const variable of ['datasource', 'site', 'release', 'route', 'device', 'browser']) {
        assert.equal(address.includes(`\${${variable}:queryparam}`), own.includes(variable), `${title}: ${variable}`);
      }
    }
  });

  test(`${name}: lines, columns and values are shown with all their digits`, async () => {
    const values = await opened(model);
    for (const { title, fieldConfig: { defaults, overrides }, targets: [{ rawSql }] } of model.panels) {
      for (const column of Object.keys((await ask(filled(rawSql, values)))[0] ?? {})) {
        if (!/^(generated_)?(line|column|column_number)$|^p\d\d$|^(before|after)_value$/.test(column)) continue;
        const units = overrides.filter((/** @type {any} */ { matcher }) => new RegExp(matcher.options.slice(1, -1)).test(column))
          .flatMap((/** @type {any} */ { properties }) => properties.filter((/** @type {any} */ { id }) => id === 'unit'));
        // The unit "short" shows 48213 as 48.2 K.
        assert.equal((units.pop()?.value ?? defaults.unit), 'none', `${title}: ${column}`);
      }
    }
  });
}

test('a distribution has a bar for every size between the least and the greatest', async () => {
  const [, model] = dashboards.find(([name]) => name === 'vitals.json') ?? assert.fail();
  const panel = model.panels.find((/** @type {any} */ { title }) => title.endsWith('distribution'));
  for (const vital of ['INP', 'LCP', 'CLS']) {
    const rows = await ask(filled(panel.targets[0].rawSql, await opened(model, (name) => (name === 'vital' ? vital : undefined))));
    const octaves = rows.map(({ value }) => Math.round(8 * Math.log2(value)));
    assert.ok(octaves.every((octave, place) => place === 0 || octave === octaves[place - 1] + 1 || octave < 16), `${vital}: ${rows.map(({ value }) => value).join(' ')}`);
    const [{ count }] = await ask(`select sum(count) as count from fleetprof.histogram('vital', '${vital}', 'shop', $__timeFrom(), $__timeTo())`);
    assert.equal(rows.reduce((sum, row) => sum + row.count, 0), count);
  }
  assert.equal(panel.options.orientation, 'vertical', 'many bars lie beside each other');
});

test('page loads are counted per hour, even of a day whose hours are gone', async () => {
  const [, overview] = dashboards.find(([name]) => name === 'overview.json') ?? assert.fail();
  const panel = overview.panels.find((/** @type {any} */ { title }) => title === 'Page loads per hour');
  const rows = await ask(filled(panel.targets[0].rawSql, await opened(overview)));
  assert.deepEqual(rows.map(({ time, 'per hour': value }) => [time, value]), (await ask(`select bucket, loads, hours from fleetprof.summary('shop', $__timeFrom(), $__timeTo()) order by bucket`))
    .map(({ bucket, loads, hours }) => [bucket, loads / hours]));
});

test('the overview has the thresholds of each vital, and the words of the report', async () => {
  const [, overview] = dashboards.find(([name]) => name === 'overview.json') ?? assert.fail();
  for (const { name, unit, good, poor } of vitals) {
    const tile = overview.panels.find((/** @type {any} */ { title }) => title === name);
    const scale = unit === 'ms' ? 1 : 1000;
    assert.deepEqual(tile.fieldConfig.defaults.thresholds.steps.map((/** @type {any} */ { color, value }) => [color, value]), [['green', null], ['yellow', good / scale], ['red', poor / scale]]);
    const [{ value }] = await ask(filled(tile.targets[0].rawSql, await opened(overview)));
    const [{ p75 }] = await ask(`select p75 from fleetprof.vitals('shop', $__timeFrom(), $__timeTo()) where name = '${name}'`);
    assert.equal(value, p75 / scale, name);
  }
  const panel = overview.panels.find((/** @type {any} */ { title }) => title === 'At a glance');
  const rows = await ask(filled(panel.targets[0].rawSql, await opened(overview)));
  const parts = new Set(rows.map(({ part }) => part));
  for (const part of ['release', 'vital', 'scripts', 'need']) assert.ok(parts.has(part), part);
  const coloured = panel.fieldConfig.overrides.flatMap((/** @type {any} */ { properties }) => properties).find((/** @type {any} */ { id }) => id === 'mappings').value[0].options;
  for (const { part, verdict } of rows) if (part === 'vital' || part === 'need') assert.ok(coloured[verdict], verdict);
});

test('a verdict has the hue of the report, which no rating has', () => {
  /** @param {string} hex */
  const hueOf = (hex) => {
    const [red, , blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
    return red > blue ? 'orange' : 'blue';
  };
  let found = 0;
  for (const [name, { panels }] of dashboards) {
    for (const { properties } of panels.flatMap((/** @type {any} */ { fieldConfig }) => fieldConfig?.overrides ?? [])) {
      const options = properties.find((/** @type {any} */ { id }) => id === 'mappings')?.value[0].options;
      if (!options?.slower) continue;
      found += 1;
      const changes = Object.keys(verdicts).filter((verdict) => verdict !== 'other');
      for (const verdict of changes) assert.equal(options[verdict].color.replace('light-', ''), hueOf(verdicts[verdict].light), `${name}: ${verdict}`);
      const ratings = Object.keys(options).filter((verdict) => !changes.includes(verdict));
      assert.deepEqual(ratings.filter((verdict) => !['red', 'yellow', 'green'].includes(options[verdict].color)), [], name);
    }
  }
  assert.ok(found >= 3, `${found}`);
});

test('the overview has budgets, and says which are exceeded', async () => {
  const [, overview] = dashboards.find(([name]) => name === 'overview.json') ?? assert.fail();
  const rowsOf = async (/** @type {string} */ wanted) => ask(filled(
    overview.panels.find((/** @type {any} */ { title }) => title === wanted).targets[0].rawSql, await opened(overview, (variable) => (variable === 'site' ? 'shop' : undefined))));
  const budget = { kind: 'vital', what: 'LCP', percentile: 75, route: '' };
  await keepBudgets('shop', [{ ...budget, name: 'LCP p75 <= 1ms', limit_us: 1000 }, { ...budget, name: 'LCP p75 <= 1h', limit_us: 3.6e9 }]);
  try {
    const rows = await rowsOf('Budgets');
    assert.deepEqual(rows.map(({ name, verdict, limit_value: limit }) => [name, verdict, limit]), [['LCP p75 <= 1ms', 'over', 1], ['LCP p75 <= 1h', 'within', 3.6e6]]);
    assert.deepEqual((await rowsOf('At a glance')).filter(({ sentence }) => /budget/.test(sentence)).map(({ part, verdict, sentence }) => [part, verdict, sentence]),
      [['need', 'wrong', '1 budget exceeded: LCP p75 <= 1ms']]);
  } finally {
    await keepBudgets('shop', []);
  }
});

test('two releases are looked for in a month, as the report does', () => {
  assert.equal(dashboards.find(([name]) => name === 'releases.json')?.[1].time.from, 'now-30d');
});

test('a page load without samples is not an error', async () => {
  const reply = await fetch(`${fleet.collector.url}/v1/ingest/pk_quiet`, { method: 'POST', body: JSON.stringify({
    version: 1, page: { url: 'https://quiet.example/' }, trace: { resources: [], frames: [], stacks: [], samples: [] } }) });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await ask("select * from fleetprof.summary('quiet', $__timeFrom(), null)")).length > 0, { what: 'upload' });
  const [, overview] = dashboards.find(([name]) => name === 'overview.json') ?? assert.fail();
  const values = await opened(overview, (name) => (name === 'site' ? 'quiet' : undefined));
  for (const { title, targets: [{ rawSql }] } of overview.panels) await assert.doesNotReject(ask(filled(rawSql, values)), title);
});

test('a release with a quotation mark is a filter, and functions on one line are each listed', async () => {
  const name = 'say "hi" \\';
  const names = ['a', 'b', ''];
  const reply = await fetch(`${fleet.collector.url}/v1/ingest/pk_quiet`, { method: 'POST', body: JSON.stringify({
    version: 1, page: { url: 'https://quiet.example/' }, release: name, sampleInterval: 10, trace: {
      resources: ['https://quiet.example/min.js'], frames: names.flatMap((name, i) => [1, 2].map((n) => ({ name, resourceId: 0, line: 1, column: 10 * i + n }))),
      stacks: names.flatMap((_, i) => [1, 2].map((n) => ({ frameId: 2 * i + n - 1 }))), samples: Array.from({ length: 6 }, (_, i) => ({ timestamp: 10 * i, stackId: i })),
    } }) });
  assert.equal(reply.status, 204, await reply.text());
  await waitFor(async () => (await ask("select * from fleetprof.hotspots('quiet', $__timeFrom(), null)")).length > 0, { what: 'upload' });
  for (const [file, model] of dashboards.filter(([file]) => file !== 'releases.json' && file !== 'vitals.json')) {
    const values = await opened(model, (variable) => ({ site: 'quiet', release: name })[variable]);
    const panel = model.panels.find((/** @type {any} */ { title }) => title.startsWith('Function'));
    assert.ok((await ask(filled(panel.targets[0].rawSql, values))).length > 0, file);
  }
  const [, model] = dashboards.find(([file]) => file === 'function.json') ?? assert.fail();
  const { query } = model.templating.list.find((/** @type {any} */ variable) => variable.name === 'function');
  const listed = await ask(filled(query, new Map([['site', { value: 'quiet' }]])));
  // Grafana keeps one of those with the same text.
  assert.equal(new Set(listed.map(({ __text }) => __text)).size, 6, JSON.stringify(listed));
});

test('page loads without a release are not offered as the latest one', async () => {
  const [, model] = dashboards.find(([file]) => file === 'releases.json') ?? assert.fail();
  // Both have uploads of the site quiet; those without one come an hour later.
  await fleet.execute(`do $$ declare parent regclass; begin
    for parent in select oid from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r' and relname ~ '_recent$' loop
      execute format('update %s set bucket = bucket - interval ''1 hour'' where group_id in (select segment_id from fleetprof_data.segment where site = ''quiet'' and release <> '''')', parent);
    end loop;
  end $$`);
  const values = await opened(model, (name) => (name === 'site' ? 'quiet' : undefined));
  assert.deepEqual([values.get('after')?.value, values.get('before')?.value], ['say "hi" \\', '']);
});

test('the alert counts the regressions of each site', async () => {
  const { groups: [{ rules: [rule] }] } = parse(fs.readFileSync(path.join(repository, 'config/grafana/regressions.yaml'), 'utf8'));
  const [query, threshold] = rule.data;
  const rows = await ask(query.model.rawSql);
  assert.deepEqual(Object.keys(rows[0]), ['site', 'regressions']);
  assert.equal(typeof rows[0].regressions, 'number');
  assert.equal(threshold.model.expression, query.refId);
  assert.equal(rule.condition, threshold.refId);
  const [, line] = /\bfleetprof (regressions .*) lists/.exec(rule.annotations.description) ?? assert.fail();
  for (const { site, regressions } of rows) {
    const { code, stdout, stderr } = await run([path.join(binDir, 'fleetprof'), ...line.replace('{{ $labels.site }}', site).split(' '), '--json',
      '-d', fleet.postgres.conninfo('fleetprof_reader')]);
    assert.ok(code === 0 || code === 1, stderr);
    assert.equal(regressions, JSON.parse(stdout).length, site);
  }
  const ofBoth = query.model.rawSql.replace('fleetprof.regressions(site)', '(values (false), (true)) as finding (is_agent)');
  assert.equal((await ask(ofBoth))[0].regressions, 1, "the agent's own functions do not count, as on the command line");
});

test('the flame graph panel of Grafana draws what the database has', { skip: !process.env.FLEETPROF_LONG && 'a long test' }, async () => {
  // The package alone: the libraries that it depends on are large, and reading rows needs little of them.
  const dir = temporaryDir('flamegraph-panel');
  await runOrThrow(['npm', 'pack', '@grafana/flamegraph@13.0.1', '--pack-destination', dir, '--silent']);
  await runOrThrow(['tar', '-xzf', path.join(dir, fs.readdirSync(dir)[0] ?? ''), '-C', dir]);
  fs.writeFileSync(path.join(dir, 'data.mjs'), `export const FieldType = { string: 'string', number: 'number', enum: 'enum' };
    export const createTheme = () => ({}), getDisplayProcessor = () => (value) => ({ text: String(value), numeric: value });`);
  fs.writeFileSync(path.join(dir, 'lodash.mjs'), 'export const groupBy = undefined;');
  await esbuild.build({
    entryPoints: [path.join(dir, 'package/dist/esm/FlameGraph/dataTransform.mjs')], outfile: path.join(dir, 'panel.mjs'),
    bundle: true, format: 'esm', logLevel: 'error',
    alias: { '@grafana/data': path.join(dir, 'data.mjs'), lodash: path.join(dir, 'lodash.mjs') },
  });
  const { FlameGraphDataContainer, nestedSetToLevels } = await import(path.join(dir, 'panel.mjs'));

  const rows = await ask("select * from fleetprof.flamegraph_grafana('shop', $__timeFrom(), $__timeTo(), min_share => 0)");
  const fields = Object.keys(rows[0]).map((name) => (
    { name, type: name === 'label' ? 'string' : 'number', config: {}, values: rows.map((row) => row[name]) }));
  const [levels] = nestedSetToLevels(new FlameGraphDataContainer({ fields, length: rows.length }, { collapsing: false }));
  assert.deepEqual(levels.map((/** @type {any[]} */ level) => level.length),
    levels.map((/** @type {any[]} */ _, /** @type {number} */ level) => rows.filter((row) => row.level === level).length));
  const sum = (/** @type {number[]} */ values) => values.reduce((total, value) => total + value, 0);
  const top = sum(levels[1].map((/** @type {any} */ { value }) => value));
  assert.ok(Math.abs(top - levels[0][0].value) < 0.01, `${top} of ${levels[0][0].value}`);
  assert.ok(Math.abs(sum(rows.map(({ self }) => self)) - top) < 0.01);
});
