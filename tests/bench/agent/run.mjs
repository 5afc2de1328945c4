// SPDX-License-Identifier: Apache-2.0
/**
 * Measures what agents cost a page: the same page with each of them, all sending to one local sink.
 *
 *   npm install --ignore-scripts && node run.mjs [ROUNDS]
 *
 * Processor time is that of the page's main thread, so that a busy machine changes it little.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import esbuild from 'esbuild';

import { launchChromium } from '../../browser/chromium.mjs';
import { startSite } from './site.mjs';
import { median, visit } from './visit.mjs';

const here = path.dirname(fileURLToPath(import.meta.url));
const rounds = Number(process.argv[2] ?? 5);
const stayMs = 8000;

const dist = (/** @type {string} */ name) => fs.readFileSync(path.join(here, '../../../agent/dist', name), 'utf8');

/** @param {string} contents */
async function bundle(contents) {
  const { outputFiles } = await esbuild.build({ stdin: { contents, resolveDir: here }, bundle: true, minify: true,
    write: false, format: 'iife', target: 'es2022', logLevel: 'error', tsconfigRaw: '{}' });
  return outputFiles[0].text;
}

const boomerang = ['boomerang.js', ...['rt', 'navtiming', 'painttiming', 'eventtiming', 'restiming', 'continuity', 'usertiming']
  .map((name) => `plugins/${name}.js`)].map((name) => fs.readFileSync(path.join(here, 'node_modules/boomerangjs', name), 'utf8'));

/** @type {Record<string, string>} */
const agents = {
  'no agent': '',
  'fleetprof, not sampled': dist('fleetprof.js'),
  'fleetprof, sampled': dist('fleetprof.js'),
  'fleetprof with vitals, sampled': dist('fleetprof.vitals.js'),
  'Sentry, tracing and profiling': await bundle(`
    import * as Sentry from '@sentry/browser';
    Sentry.init({ dsn: location.protocol + '//public@' + location.host + '/1', tracesSampleRate: 1,
      profileSessionSampleRate: 1, profileLifecycle: 'trace',
      integrations: [Sentry.browserTracingIntegration(), Sentry.browserProfilingIntegration()] });`),
  'Datadog RUM, profiling': await bundle(`
    import { datadogRum } from '@datadog/browser-rum';
    datadogRum.init({ applicationId: 'a', clientToken: 'pub0', site: 'datadoghq.com', proxy: location.origin + '/sink',
      service: 'shop', sessionSampleRate: 100, profilingSampleRate: 100, trackResources: true, trackLongTasks: true });`),
  boomerang: (await esbuild.transform(`${boomerang.join('\n;')}
    ;BOOMR.init({ beacon_url: '/sink', instrument_xhr: false });`, { minify: true })).code,
  'Grafana Faro': await bundle(`
    import { getWebInstrumentations, initializeFaro } from '@grafana/faro-web-sdk';
    initializeFaro({ url: location.origin + '/sink', app: { name: 'shop' }, instrumentations: getWebInstrumentations() });`),
};

let bytes = 0;
let requests = 0;
let name = '';
const site = await startSite({
  agent: () => agents[name],
  isSampled: () => name !== 'no agent' && !name.includes('not sampled'),
  onUpload: (length) => {
    requests++;
    bytes += length;
  },
});
const browser = await launchChromium();

/** @typedef {{ cpuMs: number, loadMs: number, longTasks: number, bytes: number, requests: number }} Row */

/** @returns {Promise<Row>} */
async function visitWithAgent() {
  bytes = requests = 0;
  const seen = await visit(browser, site.url, { stayMs });
  return { ...seen, bytes, requests };
}

/** @param {Row[]} all */
const spread = (all) => [Math.min, Math.max].map((of) => of(...all.map(({ cpuMs }) => cpuMs)).toFixed(0)).join('–');

/** @type {Record<string, Row[]>} */
const rows = Object.fromEntries(Object.keys(agents).map((agent) => [agent, []]));
for (let round = 0; round < rounds; round++) {
  for (name of Object.keys(agents)) rows[name].push(await visitWithAgent());
}
await browser.close();
site.close();

console.log(`Median of ${rounds} page loads of ${stayMs / 1000} s.\n`);
console.log('| agent | script, compressed KB | main thread ms | least to most | load event ms | long tasks | sent KB | requests |');
console.log('|---|---|---|---|---|---|---|---|');
for (const [agent, all] of Object.entries(rows)) {
  const of = (/** @type {keyof Row} */ key) => median(all.map((row) => row[key]));
  const scriptKb = agents[agent] ? gzipSync(agents[agent], { level: 9 }).length / 1024 : 0;
  console.log(`| ${[agent, scriptKb.toFixed(1), of('cpuMs').toFixed(0), spread(all), of('loadMs').toFixed(0), of('longTasks'),
    (of('bytes') / 1024).toFixed(1), of('requests')].join(' | ')} |`);
}
