// SPDX-License-Identifier: Apache-2.0
/** Walks schema/filters: each filter, and its twin, in SQL, on the command line, over HTTP, in the report and in the manual. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { filtersOf } from '../../report/src/api.js';
import { dimensions as reportDimensions, fields } from '../../report/src/state.js';
import { dimensions, filters, parse } from '../../tools/filters.mjs';
import { written } from '../../tools/reference.mjs';
import { startReport } from './serve_tool.mjs';
import { binDir, repository, run, runOrThrow, startStack, waitFor } from './stack.mjs';

/** A value of each filter, which one upload has and the other one lacks. @type {Record<string, { value: string, envelope?: object, browser?: string }>} */
const examples = {
  route: { value: '/cart', envelope: { page: { url: 'https://shop.example/cart' } } },
  release: { value: 'r1', envelope: { release: 'r1' } },
  environment: { value: 'staging', envelope: { environment: 'staging' } },
  variant: { value: 'b', envelope: { variant: 'b' } },
  browser: { value: 'Firefox', browser: 'Mozilla/5.0 (Android 15; Tablet; rv:144.0) Gecko/144.0 Firefox/144.0' },
  os: { value: 'Android' },
  device: { value: 'tablet' },
  thread: { value: 'worker', envelope: { thread: 'worker' } },
  marker: { value: 'layout' },
  frame: { value: 'cross-origin', envelope: { frame: 'cross-origin' } },
  traffic: { value: 'repeated', envelope: { load: randomUUID() } },
  machine: { value: 'low', envelope: { machine: 'low' } },
  navigation: { value: 'reload' },
  browser_version: { value: '144' },
  network: { value: '3g', envelope: { network: '3g' } },
  custom: { value: 'plan=pro; country=de', envelope: { custom: 'country = de;plan=pro;' } },
  drawn: { value: 'no', envelope: { drawn: false } },
};
/** All filters are asked about both uploads. */
const everything = filters.filter((filter) => filter.default !== 'null').map(({ name }) => name);

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./serve_tool.mjs').Report} */
let report;

/** @param {string} name of its only function, and of what is clicked @param {string | undefined} marker @param {object} more */
const envelope = (name, marker, more) => ({
  sampleInterval: 10,
  interactions: [{ type: 'pointer', target: `button#${name}`, start: 0, processingStart: 1, processingEnd: 2, duration: 40, navigationType: name === 'wanted' ? 'reload' : 'navigate' }],
  trace: {
    resources: ['https://shop.example/app.js'],
    frames: [{ name, resourceId: 0, line: 1, column: 1 }],
    stacks: [{ frameId: 0 }],
    samples: Array.from({ length: 9 }, (_, i) => ({ timestamp: 10 * i, stackId: 0, marker })),
  },
  ...more,
});

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', custom: ['plan', 'country'], origins: ['https://shop.example'] }] } });
  const wanted = envelope('wanted', examples.marker.value, Object.assign({}, ...Object.values(examples).map((example) => example.envelope)));
  const other = envelope('other', undefined, { page: { url: 'https://shop.example/' }, thread: 'window' });
  const client = { origin: 'https://shop.example', 'x-forwarded-for': '192.0.2.1' };
  const post = async (/** @type {object} */ body, /** @type {Record<string, string>} */ headers) =>
    assert.equal((await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, { method: 'POST', headers, body: JSON.stringify(body) })).status, 204);
  // Page loads that count for no function, until the client's next one is repeated traffic.
  for (let n = 0; n < 11; n += 1) await post({ coverage: 'quota', load: randomUUID(), page: { url: 'https://shop.example/' } }, { ...client, 'user-agent': String(examples.browser.browser) });
  for (const [body, browser] of [[wanted, examples.browser.browser], [other, 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Chrome/145.0']])
    await post(/** @type {object} */ (body), { ...(body === wanted ? client : {}), 'user-agent': String(browser) });
  await waitFor(async () => (await stack.sql("select * from fleetprof.hotspots('shop', frame => '%')")).length === 2, { what: 'both uploads' });
  report = await startReport(stack.postgres.conninfo('fleetprof_reader'));
});
after(async () => {
  await report?.server.stop();
  await stack?.stop();
});

/** The arguments of a question about one filter: all others select both uploads. @param {Record<string, string>} given */
const asked = (given) => ({ site: 'shop', ...Object.fromEntries(everything.map((name) => [name, '%'])), ...given });
/** @param {{ function?: string, target?: string }[]} rows */
const names = (rows) => rows.map((row) => row.function ?? row.target?.replace(/.*#/, '')).sort();
/** The question that is asked about each filter. */
const questionOf = (/** @type {string} */ of) => (of === 'vitals' ? { name: 'interactions', command: 'interactions', column: 'target' } : { name: 'hotspots', command: 'top', column: 'function' });

/** The places that ask for the hottest functions or for interactions, by SQL's names. @type {Record<string, (given: Record<string, string>, of: string) => Promise<any[]>>} */
const surfaces = {
  SQL: (given, of) => stack.sql(`select ${questionOf(of).column} from fleetprof.${questionOf(of).name}(${Object.entries(asked(given)).map(([name, value]) => `${name} => '${value}'`).join(', ')})`, 'fleetprof_reader'),
  'the command line': async (given, of) => {
    const options = Object.entries(asked(given)).flatMap(([name, value]) => (name.startsWith('exclude_') ? ['--exclude', `${name.slice(8)}=${value}`] : [`--${name.replaceAll('_', '-')}`, value]));
    const stdout = await runOrThrow([path.join(binDir, 'fleetprof'), questionOf(of).command, '--json', '--database', stack.postgres.conninfo('fleetprof_reader'), ...options]);
    return JSON.parse(stdout);
  },
  HTTP: async (given, of) => {
    const { name: route, column: wanted } = questionOf(of);
    const { columns, rows } = await report.json(`/api/v1/${route}?${new URLSearchParams(asked(given))}`);
    const place = columns.findIndex((/** @type {{ name: string }} */ column) => column.name === wanted);
    return rows.map((/** @type {any[]} */ row) => ({ [wanted]: row[place] }));
  },
};

test('each filter has an example', () => {
  assert.deepEqual(Object.keys(examples), filters.map(({ name }) => name));
});

for (const { name, of } of filters) {
  const value = examples[name]?.value;
  for (const [surface, ask] of Object.entries(surfaces)) {
    test(`${surface}: ${name}, and what leaves it out`, async () => {
      assert.deepEqual(names(await ask({}, of)), ['other', 'wanted']);
      assert.deepEqual(names(await ask({ [name]: value }, of)), ['wanted']);
      assert.deepEqual(names(await ask({ [`exclude_${name}`]: value }, of)), ['other']);
    });
  }
}

for (const name of dimensions) {
  test(`${name} is listed, and time by it`, async () => {
    const value = examples[name].value;
    const ask = async (/** @type {string} */ sql) => (await stack.sql(sql, 'fleetprof_reader')).map((row) => row.value);
    const period = everything.filter((other) => other !== name).map((other) => `, ${other} => '%'`).join('');
    assert.ok((await ask(`select value from fleetprof.field_values('${name}', 'shop'${period})`)).includes(value), 'field_values');
    assert.ok((await ask(`select name as value from fleetprof.cost_by('${name}', 'shop'${period})`)).includes(value), 'cost_by');
    const key = (await stack.sql("select function_key from fleetprof.hotspots('shop', frame => '%') where function = 'wanted'"))[0].function_key;
    assert.deepEqual(await ask(`select value from fleetprof.function_by('${name}', '${key}', 'shop'${period})`), [value], 'function_by');
    assert.equal((await ask(`select uploads as value from fleetprof.trend('${name}', '${value}', 'hour', 'shop'${period})`))[0], 1, 'trend');
  });
}

test('each function with filters has them in the order of the table, and then their twins', async () => {
  const functions = await stack.sql(`select proname as name, proargnames[:pronargs] as parameters from pg_proc
    where pronamespace = 'fleetprof'::regnamespace and 'exclude_route' = any(proargnames)`);
  assert.ok(functions.length >= 33, `${functions.length}`);
  for (const { name, parameters } of functions) {
    const taken = filters.filter((filter) => parameters.includes(`exclude_${filter.name}`)).map((filter) => filter.name);
    const start = parameters.indexOf(taken[0]);
    assert.deepEqual(parameters.slice(start, start + 2 * taken.length), [...taken, ...taken.map((filter) => `exclude_${filter}`)], name);
    const left = filters.filter((filter) => !taken.includes(filter.name)).map(({ of }) => of);
    assert.ok(!left.includes('loads') && (!left.includes('sides') || left.includes('samples')), `${name} lacks a filter`);
  }
});

test('each dimension is a column of each view that has them', async () => {
  const views = await stack.sql(`select relname as name, array_agg(attname::text) as columns from pg_class join pg_attribute on attrelid = pg_class.oid
    where relnamespace = 'fleetprof'::regnamespace and relkind = 'v' group by 1 having 'variant' = any(array_agg(attname::text))`);
  assert.deepEqual(views.map(({ name }) => name).sort(), ['hotspot_hourly', 'segment', 'sessions', 'stack_hourly', 'timing_hourly', 'upload_log']);
  for (const { name, columns } of views) assert.deepEqual(dimensions.filter((dimension) => !columns.includes(dimension)), [], name);
});

test('a level of cohorts may keep each dimension', async () => {
  const optional = dimensions.filter((name) => !everything.includes(name)); // each cohort has a value of the others
  await stack.execute(`begin; insert into fleetprof_data.cohort_level (level, dimensions, since) values (99, '{site,${optional}}', 'infinity'); rollback`);
});

test('the report has a field for each, and asks with those that a question takes', () => {
  assert.deepEqual(reportDimensions, dimensions);
  assert.deepEqual(new Set(fields), new Set(filters.map(({ name }) => name)));
  for (const { name, of } of filters) for (const each of [name, `exclude_${name}`]) {
    assert.equal(filtersOf('hotspots').includes(each), of !== 'vitals', each);
    assert.equal(filtersOf('vitals').includes(each), of !== 'samples', each);
  }
});

test('the manual and --help say the same of each', async () => {
  for (const page of ['docs/sql.md', 'docs/cli.md']) {
    const text = fs.readFileSync(path.join(repository, page), 'utf8');
    assert.equal(written(text, page), text, page);
  }
  for (const { name, of, option, placeholder, plain } of filters) {
    const { stdout } = await run([path.join(binDir, 'fleetprof'), 'help', 'filters']);
    const help = stdout.replace(/\s+/g, ' ');
    assert.ok(help.includes(`--${option}=${placeholder}`), name);
    assert.ok(help.includes(plain.replaceAll('…', '...')), `${name}: ${plain}`);
    const own = await run([path.join(binDir, 'fleetprof'), questionOf(of).command, '--help']);
    assert.match(own.stdout, new RegExp(`\\b${option}\\b`), `${name} is a filter of ${questionOf(of).command}`);
  }
});

test('strata of comparisons are divided by the dimensions that the table says', async () => {
  for (const name of ['compared_strata', 'compared_timings']) {
    const [{ body }] = await stack.sql(`select prosrc as body from pg_proc where proname = '${name}'`);
    for (const { name: dimension, of, strata } of filters) {
      const found = { always: `case when '${dimension}' <> all(`, enough: `case when with_${dimension} and '${dimension}' <> all(` };
      for (const [kind, text] of Object.entries(found)) assert.equal(body.includes(text), kind === strata, `${name}: ${dimension} ${kind}`);
      assert.equal(strata === '', of === 'samples' || of === 'vitals', dimension);
    }
  }
});

test('an option that no filter has is refused, and names those that there are', async () => {
  for (const command of ['top', 'interactions']) {
    const { code, stderr } = await run([path.join(binDir, 'fleetprof'), command, '--exclude', 'colour=red']);
    assert.equal(code, 2);
    for (const { name, of } of filters) assert.equal(new RegExp(`it has .*\\b${name}\\b`).test(stderr), of !== (command === 'top' ? 'vitals' : 'samples'), `${command} ${name}: ${stderr}`);
  }
  const [row] = parse("colour | loads | 'red' | PATTERN | colour | Colours | always | the `colour` of a [page](x.md)");
  assert.deepEqual(row, { name: 'colour', of: 'loads', default: "'red'", placeholder: 'PATTERN', one: 'colour', many: 'Colours', strata: 'always', help: 'the `colour` of a [page](x.md)', plain: 'the colour of a page', option: 'colour' });
});
