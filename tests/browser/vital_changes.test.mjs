// SPDX-License-Identifier: Apache-2.0
/** Walks schema/vital_changes: each change in SQL, on the command line, over HTTP, in the report, in Grafana and in the manual. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { files as dashboards } from '../../tools/dashboards.mjs';
import { vitalChanges, vitals } from '../../tools/vitals.mjs';
import { startReport } from '../behaviour/serve_tool.mjs';
import { binDir, repository, run, runOrThrow, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { launchChromium } from './chromium.mjs';

const read = (/** @type {string} */ file) => fs.readFileSync(path.join(repository, file), 'utf8');
/** The site of a change. @param {{ version: number, names: string[] }} change */
const siteOf = ({ version, names }) => `v${version}-${names.join('-').toLowerCase()}`;
const day = 86_400_000;
/** Days around a change: the older version is alone on the first one, on the fourth most have the newer one. @param {{ since: string }} change @param {number} place */
const dayOf = ({ since }, place) => new Date(Date.parse(since) + (place + 1) * day).toISOString();
const userAgent = (/** @type {number} */ version) => `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;

/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {import('../behaviour/serve_tool.mjs').Report} */
let report;

before(async () => {
  stack = await startStack({ config: { sites: vitalChanges.map((change) => ({ name: siteOf(change), key: `pk_${siteOf(change)}` })) } });
  const sent = [['old', -1], ['new', 0], ['new', 0]];
  for (const change of vitalChanges) {
    for (const [release, more] of /** @type {[string, number][]} */ (sent)) {
      const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_${siteOf(change)}`, {
        method: 'POST', headers: { 'user-agent': userAgent(change.version + more) },
        body: JSON.stringify({ page: { url: 'https://shop.example/' }, release, vitals: change.names.map((name) => ({ name, value: 1 })) }),
      });
      assert.equal(reply.status, 204);
    }
  }
  const count = vitalChanges.length * sent.length;
  await waitFor(async () => (await stack.collector.metrics()).fleetprof_uploads_flushed_total === count, { what: 'all uploads' });
  for (const change of vitalChanges) {
    for (const [place, release] of [[0, 'old'], [3, 'new']]) {
      await stack.execute(`do $$ declare parent regclass; begin
        for parent in select oid from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r' and relname ~ '_recent$' loop
          execute format('update %s set bucket = %L where group_id in (select segment_id from fleetprof_data.segment where site = %L and release = %L)',
            parent, '${dayOf(change, Number(place))}', '${siteOf(change)}', '${release}');
        end loop;
      end $$`);
    }
  }
  report = await startReport(stack.postgres.conninfo('fleetprof_reader'));
});
after(async () => {
  await report?.server.stop();
  await stack?.stop();
});

/** The places that ask for the trend of a vital. @type {Record<string, (change: typeof vitalChanges[number], name: string) => Promise<any[]>>} */
const surfaces = {
  SQL: (change, name) => stack.sql(`select * from fleetprof.trend('vital', '${name}', 'day', '${siteOf(change)}', '${dayOf(change, -1)}', '${dayOf(change, 5)}')`, 'fleetprof_reader'),
  'the command line': async (change, name) => JSON.parse(await runOrThrow([path.join(binDir, 'fleetprof'), ...command(change, name), '--json'])),
  HTTP: async (change, name) => {
    const { columns, rows } = await report.json(`/api/v1/trend?${new URLSearchParams({ site: siteOf(change), by: 'vital', key: name, step: 'day', since: dayOf(change, -1), until: dayOf(change, 5) })}`);
    return rows.map((/** @type {any[]} */ row) => Object.fromEntries(columns.map((/** @type {{ name: string }} */ column, /** @type {number} */ place) => [column.name, row[place]])));
  },
};
/** @param {typeof vitalChanges[number]} change @param {string} name */
const command = (change, name) => ['trend', '--by', 'vital', name, '--step', 'day', '--site', siteOf(change),
  '--since', dayOf(change, -1).slice(0, 10), '--until', dayOf(change, 5).slice(0, 10), '--database', stack.postgres.conninfo('fleetprof_reader')];
/** @param {typeof vitalChanges[number]} change */
const textOf = ({ browsers, version, meaning }) => `${browsers.join(', ')} ${version}: ${meaning}`;

for (const [surface, ask] of Object.entries(surfaces)) {
  test(`${surface} has each change where most values have it, and only there`, async () => {
    for (const change of vitalChanges) {
      for (const name of change.names)
        assert.deepEqual((await ask(change, name)).map((row) => row.definition_change), [null, textOf(change)], `${name} ${change.version}`);
    }
  });
}

test('the table of the command line says it below', async () => {
  const [change] = vitalChanges.slice(-1);
  const { code, stderr } = await run([path.join(binDir, 'fleetprof'), ...command(change, change.names[0])]);
  assert.equal(code, 0, stderr);
  const said = stderr.replace(/\s+/g, ' ');
  assert.ok(said.includes(`From ${dayOf(change, 3).slice(0, 10)} 00:00 on, most values have another definition. ${textOf(change)}.`), said);
});

test('the report says it below the trend', async () => {
  const browser = await launchChromium();
  try {
    const page = await browser.newPage();
    for (const change of vitalChanges) {
      const asked = new URLSearchParams({ step: 'day', since: dayOf(change, -1), until: dayOf(change, 5) });
      await page.goto(`${report.url}/${siteOf(change)}/vital/${change.names[0]}?${asked}`);
      const said = page.locator('.since', { hasText: 'another definition' });
      await said.waitFor();
      assert.equal(await said.innerText(), `From ${dayOf(change, 3).slice(0, 10)} 00:00 UTC on, most values have another definition. ${textOf(change)}.`);
    }
  } finally {
    await browser.close();
  }
});

test('the dashboard of vitals marks it', async () => {
  const { annotations: { list } } = JSON.parse(dashboards.get('vitals.json') ?? '');
  const { target: { rawSql } } = list.find((/** @type {{ name: string }} */ { name }) => name === 'Changed definitions') ?? assert.fail();
  assert.match(rawSql, /definition_change as text\nfrom fleetprof\.trend\('vital'/);
});

test('the manual has each change, with its source', () => {
  const rows = read('docs/vitals.md').split('\n');
  for (const { names, browsers, version, since, source, meaning } of vitalChanges)
    assert.ok(rows.includes(`| ${names.map((name) => `\`${name}\``).join(', ')} | ${browsers.join(', ')} | ${version} | ${since} | ${meaning} ([source](${source})) |`), `${version}`);
});

/** @param {string} row */
async function expanded(row) {
  const dir = temporaryDir('vital_changes');
  fs.cpSync(path.join(repository, 'schema'), path.join(dir, 'schema'), { recursive: true });
  fs.appendFileSync(path.join(dir, 'schema/vital_changes'), `${row}\n`);
  const { code, stderr } = await run([path.join(repository, 'tools/expand-schema'), path.join(dir, 'schema'), path.join(dir, 'out')]);
  if (code !== 0) throw new Error(stderr);
  return fs.readFileSync(path.join(dir, 'out/functions/definition_changes.sql'), 'utf8');
}

test('a new change is one line', async () => {
  const sql = await expanded(`${vitals[0].name} | Firefox | 999 | 2031-05 | a source | the page's clock`);
  assert.match(sql, /union all select '\{LCP\}', '\{Firefox\}', 999, '2031-05-01 00:00Z', 'the page''s clock'\n/);
});

test('a row that is wrong is named', async () => {
  for (const [row, problem] of /** @type {[string, RegExp][]} */ ([
    ['LCP | Chrome | 9 | 2026-01 | here', /:\d+: a change of vitals has six columns/],
    ['LCP, XYZ | Chrome | 9 | 2026-01 | here | so', /:\d+: a change is of vitals that schema\/vitals has/],
    ['LCP | chrome | 9 | 2026-01 | here | so', /:\d+: browsers are families/],
    ['LCP | Chrome | 9.1 | 2026-01 | here | so', /:\d+: a version is a major one/],
    ['LCP | Chrome | 9 | May 2026 | here | so', /:\d+: since is a day, or a month/],
    ['LCP | Chrome | 9 | 2026-01 | | so', /:\d+: a change has a source and a meaning/],
  ])) await assert.rejects(expanded(row), problem, row);
});
