// SPDX-License-Identifier: Apache-2.0
/**
 * Measures what the agent costs with slices of other lengths, on a slow processor, and in an application of 5 MB; there
 * also what the header alone costs, and the start of the first profiler.
 *
 *   node variants.mjs [ROUNDS]
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import esbuild from 'esbuild';

import { launchChromium } from '../../browser/chromium.mjs';
import { startSite } from './site.mjs';
import { median, visit } from './visit.mjs';

const sources = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../agent/src');
const rounds = Number(process.argv[2] ?? 5);
const stayMs = 8000;

/** Builds the core, with slices of one length if it is given. @param {number} [sliceMs] */
async function build(sliceMs) {
  /** @type {import('esbuild').Plugin} */
  const fixed = { name: 'fixed', setup: ({ onLoad }) => {
    onLoad({ filter: /pace\.js$/ }, ({ path: file }) => {
      const text = fs.readFileSync(file, 'utf8');
      const contents = text.replace(/const (minSliceMs|firstSliceMs|maxSliceMs) = \d+;/g, `const $1 = ${sliceMs};`);
      if (contents === text) throw new Error('pace.js has no lengths of slices');
      return { contents };
    });
  } };
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(sources, 'fleetprof.js')], bundle: true, minify: true, format: 'iife', target: 'chrome94', write: false,
    define: { DEBUG: 'false', VITALS: 'false', WORKER: 'false' }, tsconfigRaw: '{}', plugins: sliceMs ? [fixed] : [],
  });
  // Before the page has run anything else.
  const watch = `{ const Native = Profiler; globalThis.Profiler = class extends Native { constructor(options) {
    const start = performance.now(); super(options); globalThis.startMs ??= performance.now() - start; } }; }`;
  return `if (globalThis.Profiler) ${watch}\n${outputFiles[0].text}`;
}

const asItIs = await build();
/** @typedef {{ name: string, script?: string, header?: boolean, rate?: number, large?: boolean }} Variant header: the policy allows profiling */
/** @type {Variant[]} */
const variants = [
  { name: 'no agent' },
  ...await Promise.all([50, 100, 500, 2000].map(async (ms) => ({ name: `slices of ${ms} ms`, script: await build(ms), header: true }))),
  { name: 'slices as they are', script: asItIs, header: true },
  ...[4, 8].flatMap((rate) => [{ name: `CPU ${rate}× slower: no agent`, rate }, { name: `CPU ${rate}× slower: sampled`, rate, script: asItIs, header: true }]),
  { name: '5 MB: no agent', large: true },
  { name: '5 MB: header alone', large: true, header: true },
  { name: '5 MB: sampled', large: true, script: asItIs, header: true },
];

/** @type {Variant} */
let now = variants[0];
const site = await startSite({ agent: () => now.script ?? '', isSampled: () => now.header ?? false, isLarge: () => now.large ?? false });
const browser = await launchChromium();
/** @type {Map<Variant, Awaited<ReturnType<typeof visit>>[]>} */
const rows = new Map(variants.map((variant) => [variant, []]));
const loadBefore = os.loadavg()[0];
for (let round = 0; round < rounds; round++) {
  for (now of variants) rows.get(now)?.push(await visit(browser, site.url, { stayMs, rate: now.rate }));
}
await browser.close();
site.close();

console.log(`Medians of ${rounds} page loads of ${stayMs / 1000} s; load of the machine ${loadBefore.toFixed(1)} to ${os.loadavg()[0].toFixed(1)}, ${os.cpus().length} processors.\n`);
console.log('| page | main thread ms | least to most | load event ms | long tasks | first start ms |\n|---|---|---|---|---|---|');
for (const [{ name }, all] of rows) {
  const cpu = all.map(({ cpuMs }) => cpuMs);
  const started = all.map(({ startMs }) => startMs).filter((ms) => ms !== null);
  console.log(`| ${[name, median(cpu).toFixed(0), `${Math.min(...cpu).toFixed(0)}–${Math.max(...cpu).toFixed(0)}`,
    median(all.map(({ loadMs }) => loadMs)).toFixed(0), median(all.map(({ longTasks }) => longTasks)),
    started.length > 0 ? median(started).toFixed(1) : ''].join(' | ')} |`);
}
