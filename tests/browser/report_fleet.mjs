// SPDX-License-Identifier: Apache-2.0
/**
 * Data for the tests of the report: the made-up shop of demo/shop.mjs, and a site whose every name is hostile.
 * All goes through a real collector.
 * Batches are then moved to earlier hours, since a collector counts an upload in the hour in which it comes.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { Trace, batches, chrome, hours, interval, random, visit } from '../../demo/shop.mjs';
import { repository, startStack, waitFor } from '../behaviour/stack.mjs';
import { sendStep } from '../behaviour/step.mjs';

/** Names that a page may make up, and that must not do anything here. */
export const hostileNames = [
  '<script>alert(1)</script>', '</script><script>alert(1)</script>', '<img src=x onerror=alert(1)>', '"><svg onload=alert(1)>', "';alert(1);//", '<!--', '-->', ']]>',
  'javascript:alert(1)', 'JaVaScRiPt:alert(1)//', 'data:text/html,<script>alert(1)</script>', 'vbscript:x', '//evil.example/x', '\\\\evil\\share',
  '\u202egnissim\u202c', '\u2066isolated\u2069', 'zero\u200bwidth', '\ufeffbom', '\u061cmark', 'soft\u00adhyphen', 'nul\u0000nul', '\\u0000', 'line\nbreak', 'tab\tand\rreturn', '\u001b[31mred', '\u009bcsi', 'bell\u0007',
  '=1+1', '+1', '-1+cmd|x', '@SUM(A1)', '=HYPERLINK("http://evil.example")', '\t=1', '%', '%00', '%2e%2e%2f', '../../etc/passwd', '${7*7}', '{{7*7}}', '#{7*7}', '`id`', '$(id)',
  'constructor', '__proto__', 'toString', 'hasOwnProperty', 'null', 'undefined', 'NaN', 'true', '0', '-0', '1e999',
  "Robert'); drop table students;--", '" or ""="', 'a;b', 'a,b', 'a"b', "a'b", '(all)', '(unattributed)', '(root)', '𝒻𝓊𝓃𝒸', 'e\u0301\u0301\u0301\u0301\u0301', '👩‍👩‍👧‍👦', 'عربي', '日本語', ' leading', 'trailing ', 'x'.repeat(1024), '𝕏'.repeat(1024), '&lt;b&gt;', '&#x3c;', '&amp;amp;',
];

/** Returns the upload of a page load with one hostile name everywhere. @param {string} name @param {number} number */
function hostileVisit(name, number) {
  const trace = new Trace();
  const resource = number % 3 === 0 ? name : `https://hostile.example/${encodeURIComponent(name).slice(0, 200)}.js`;
  trace.run([['main', 'https://hostile.example/app.js', 1, 1], [name, resource, number + 1, 1]], 50 + number);
  trace.run([[name, resource, number + 1, 1]], 20);
  trace.run(null, 50);
  const short = [...name.replace(/[\0\n\r]/g, '')].slice(0, 60).join('');
  return {
    version: 1, page: { url: 'https://hostile.example/', route: short || '/' }, release: short || 'r', environment: 'x', variant: short, sampleInterval: interval, trace: trace.json(),
    marks: [], measures: [{ name, entryType: 'measure', startTime: 0, duration: 40 }],
    vitals: [{ name: 'INP', value: 600, target: name, start: 0, duration: 600 }],
    interactions: [{ type: 'pointer', start: 0, processingStart: 1, processingEnd: 40, duration: 60, target: name }],
    frames: [{ start: 0, duration: 80, blocking: 30, scripts: [{ invoker: name, invokerType: 'event-listener', url: resource, function: name, position: 1, start: 0, duration: 60, forced: 0 }] }],
  };
}

/** Returns the upload of a page load with a framework. */
function bundledVisit() {
  const own = 'https://bundled.example/app.js';
  const framework = 'https://cdn.jsdelivr.net/npm/react-dom@18.3.1/umd/react-dom.production.min.js';
  const trace = new Trace();
  trace.run([['start', own, 1, 1], ['render', framework, 1, 10], ['beginWork', framework, 1, 20], ['Gallery', own, 5, 1]], 200);
  trace.run([['start', own, 1, 1], ['render', framework, 1, 10], ['commitRoot', framework, 1, 30]], 100);
  return { version: 1, page: { url: 'https://bundled.example/' }, sampleInterval: interval, trace: trace.json() };
}

/** Returns the upload of a page load with fleetprof's agent in it. @param {string} release */
function agentVisit(release) {
  const trace = new Trace();
  trace.run([['encode', 'https://lab.example/fleetprof-0.1.0.js', 7, 1]], 40);
  trace.run([['slow', 'https://lab.example/app.js', 1, 1]], 100);
  return {
    version: 1, page: { url: 'https://lab.example/' }, release, sampleInterval: interval, trace: trace.json(),
    measures: [{ name: 'work', entryType: 'measure', startTime: 0, duration: 200 }],
    responses: [{ type: 'pointer', start: 0, duration: 300, target: 'button.wait', requests: [{ host: 'api.lab.example', start: 90, duration: 900 }] }],
    vitals: [{ name: 'INP', value: 600, target: 'button', start: 0, duration: 600 },
      { name: 'TTFB', value: 300, server: 120, cache: 'MISS' }, { name: 'TTFB', value: 40, server: 0, cache: release === '1' ? 'HIT' : 'MISS' }],
    leftOut: [{ what: 'measure', name: 'work', count: 1200 }, { what: 'profile' }],
  };
}

/** A page load whose every cost is so many ms. @param {string} release @param {number} ms */
function steppedVisit(release, ms) {
  const trace = new Trace();
  trace.run([['slow', 'https://stepped.example/app.js', 1, 1]], ms);
  return {
    version: 1, page: { url: 'https://stepped.example/' }, release, sampleInterval: interval, trace: trace.json(),
    measures: [{ name: 'work', entryType: 'measure', startTime: 0, duration: ms }],
    vitals: [{ name: 'INP', value: ms, target: 'button', start: 0, duration: ms }],
  };
}

/** As a page in the origin trial of markers sends it. @param {ReturnType<typeof visit>} body */
function withMarker(body) {
  const samples = body.trace.samples.map((sample) => (sample.stackId === undefined ? { ...sample, marker: 'layout' } : sample));
  return { ...body, trace: { ...body.trace, samples } };
}

/** Recordings of the older formats. */
const keptFiles = [['speed-tracer/stream.ndjson', 'speed-tracer'], ['speed-tracer/v8.ndjson', 'speed-tracer'], ['opera-scope/page-load.json', 'opera-scope'], ['opera-scope/manual.json', 'opera-scope']];

/** A dump whose every text is a hostile name. */
const hostileDump = () => [
  ...hostileNames.flatMap((name, i) => [
    { type: 12, time: 10 * i, data: { requestId: String(i), url: name, requestMethod: name }, sequence: 4 * i },
    { type: 11, time: 10 * i + 1, data: { message: name }, sequence: 4 * i + 1 },
    { type: 10, time: 10 * i + 2, duration: 5, data: { url: name, lineNumber: 1 }, children: [{ type: -2, typeName: name, time: 10 * i + 3, duration: 1, data: { [name]: name } }], sequence: 4 * i + 2 },
    { type: 13, time: 10 * i + 8, data: { requestId: String(i), mimeType: name, statusCode: 200 }, sequence: 4 * i + 3 },
  ]),
  // A page without an address, and its load.
  { type: 2147483646, time: 10 * hostileNames.length, data: {}, sequence: 4 * hostileNames.length },
  { type: 19, time: 10 * hostileNames.length + 900, data: {}, sequence: 4 * hostileNames.length + 1 },
].map((record) => JSON.stringify(record)).join('\n');

/** A trace with all hostile names, as functions, marks and measures. */
function hostileTrace() {
  const trace = new Trace();
  for (const [i, name] of hostileNames.entries()) trace.run([['main', 'https://hostile.example/app.js', 1, 1], [name, name, i + 1, 1]], 30);
  return {
    version: 1, page: { url: 'https://hostile.example/' }, sampleInterval: interval, trace: trace.json(),
    marks: hostileNames.map((name, i) => ({ name, entryType: 'mark', startTime: 30 * i, duration: 0 })),
    measures: hostileNames.map((name, i) => ({ name, entryType: 'measure', startTime: 30 * i, duration: 25 })),
    interactions: hostileNames.slice(0, 30).map((name, i) => ({ type: 'pointer', start: 30 * i, processingStart: 30 * i + 1, processingEnd: 30 * i + 9, duration: 16, target: name })),
  };
}

/**
 * Starts collector and database with the fleet in them.
 * @param {{ perHour?: number, hostile?: boolean, lab?: boolean, sessions?: boolean }} [options] perHour: uploads of the shop per hour; hostile, lab:
 *   whether the hostile site has any; sessions: whether any are kept
 */
export async function startFleet({ perHour = 16, hostile = true, lab = hostile, sessions = false } = {}) {
  const stack = await startStack({ config: {
    sites: [{ name: 'shop', key: 'pk_shop', routes: ['/product/:id', '/cart', '/search'] }, { name: 'hostile', key: 'pk_hostile' }, { name: 'quiet', key: 'pk_quiet' }, { name: 'bundled', key: 'pk_bundled' }, { name: 'lab', key: 'pk_lab' }, { name: 'stepped', key: 'pk_stepped', ...sessions ? { performance_budgets: ['INP p75 <= 100ms', 'JS mean <= 10s'] } : {} }, { name: 'kept', key: 'pk_kept', sample_keep: '100%' }],
    ceilings: { routes: 10_000, releases: 10_000, segments: 100_000, frames: 100_000 },
  } });
  let sent = 0;
  /** @param {string} key path and query below ingest @param {unknown} body @param {string} agent */
  const upload = async (key, body, agent) => {
    const reply = await fetch(`${stack.collector.url}/v1/ingest/${key}`, { method: 'POST', headers: { 'user-agent': agent }, body: typeof body === 'string' ? body : JSON.stringify(body) });
    assert.equal(reply.status, 204, await reply.text());
    sent += 1;
  };
  const counted = () => waitFor(async () => (await stack.sql('select count(*) from fleetprof_data.upload'))[0].count === sent,
    { what: `${sent} uploads in SQL` });
  await stack.execute(`select fleetprof_data.make_partitions(array(select day::date from generate_series(now() - interval '3 days', now(), '1 day') as day))`);

  const names = hostile ? hostileNames : [];
  for (const [number, name] of names.entries()) await upload('pk_hostile', hostileVisit(name, number), chrome);
  if (hostile) await upload('pk_bundled', bundledVisit(), chrome);
  if (lab) for (const release of ['1', '2']) await upload('pk_lab', agentVisit(release), chrome);
  await counted();
  // Before those of the shop, so that these are behind all that moves.
  await moveBack(stack, 2 * hours + 1, '2020-01-01');
  const draw = random(20_261_122);
  for (const { back, uploads } of batches(draw, perHour)) {
    const [{ now }] = await stack.sql('select clock_timestamp()::text as now');
    await Promise.all(uploads.map(({ agent, body }) => upload('pk_shop', body, agent)));
    await counted();
    await moveBack(stack, back, now);
  }
  if (sessions) {
    await sendStep(stack, { site: 'stepped', key: 'pk_stepped', agent: chrome }, [steppedVisit('1', 200), steppedVisit('2', 300)]);
    sent += 2;
    for (const [name, format] of keptFiles) await upload(`pk_kept?format=${format}`, fs.readFileSync(path.join(repository, 'tests/data', name), 'utf8'), chrome);
    await upload('pk_kept?format=speed-tracer', hostileDump(), chrome);
    await upload('pk_kept', withMarker(visit({ release: '2.3.0', route: 0, draw })), chrome);
    await upload('pk_kept', hostileTrace(), chrome);
    await counted();
  }
  return stack;
}

/**
 * Moves what came since the last call to an earlier hour.
 * @param {import('../behaviour/stack.mjs').Stack} stack
 * @param {number} back hours
 * @param {string} since when the first of these uploads may have come
 */
const moveBack = (stack, back, since) => stack.execute(`
  do $$
  declare
    parent regclass;
    hour constant timestamptz := date_trunc('hour', now()) - interval '${back} hours';
    moved constant bigint := (select coalesce(max(position), 0) from fleetprof_data.unsealed where bucket < date_trunc('hour', '${since}'::timestamptz));
  begin
    for parent in select oid from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r' and (relname ~ '_recent$' or relname = 'unsealed') loop
      execute format('update %s set bucket = $1 where position > $2', parent) using hour, moved;
    end loop;
    update fleetprof_data.upload set bucket = hour, received = hour + (received - date_trunc('hour', received)) where received >= '${since}';
  end $$;`);
