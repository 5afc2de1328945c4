// SPDX-License-Identifier: Apache-2.0
/**
 * Builds what browsers load, from src/ into dist/: `node agent/build.mjs`. `--check` says whether dist/ is what would
 * be built.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import esbuild from 'esbuild';

const room = path.dirname(fileURLToPath(import.meta.url));

/** The oldest browsers with Profiler; the vitals build also serves those without. */
const target = ['chrome94', 'firefox91', 'safari15'];

/** Names of our own that no browser has: they are shortened in the core and in the vitals build. */
const ownNames = 'begin|begun|copier|cover|cut|decision|done|end|extra|flush|halt|handle|hurry|interval|isAway|isLast|jsonSize|labels|packed|problem|profiler|send|sliceMs|spend|take|taken|tell|text|took';

/**
 * Names to shorten in the vitals build. The second half belongs to web-vitals; nothing outside of the bundle reads
 * them.
 */
const vitalsNames = `${ownNames}|dropVital|enter|enterSoft|handOver|isLarge|isObserving|lists|members|rows|soft|targets`
  + '|delta|fcpEntry|firstByteToFCP|firstHiddenTime|generateTarget|includeProcessedEventEntries|interactionTarget|interactionTime'
  + '|interactionType|intersectingDuration|largestShiftEntry|largestShiftSource|largestShiftTarget|largestShiftTime'
  + '|largestShiftValue|lcpEntry|lcpResourceEntry|loadState|longAnimationFrameEntries|longestScript|navigationEntry'
  + '|navigationInteractionId|navigationStartTime|navigationURL|nextPaintTime|onHidden|processedEventEntries|rating|resourceBufferSize'
  + '|reportAllChanges|reportSoftNavs|subpart|totalPaintDuration|totalScriptDuration|totalStyleAndLayoutDuration'
  + '|totalUnattributedDuration';

/**
 * @param {string} entry
 * @param {'iife' | 'esm'} format
 * @param {boolean} [debug] whether it says in words what happens
 */
async function bundle(entry, format, debug = false) {
  const isVitals = entry.includes('vitals');
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(room, 'src', entry)], bundle: true, minify: true, format, target, write: false,
    ...!debug || isVitals ? { mangleProps: new RegExp(`^(${isVitals ? vitalsNames : ownNames})$`) } : {},
    tsconfigRaw: '{}', define: { DEBUG: `${debug}`, VITALS: `${isVitals}`, WORKER: `${entry.includes('worker')}` },
    legalComments: 'none', logLevel: 'error',
  });
  // esbuild names exports a second time: `var{start:a,version:b}=c();export{a as start,b as version}`.
  return outputFiles[0].text.replace(/var\{start:(\w+),version:(\w+)\}=([^;]+);export\{\1 as start,\2 as version\}/, 'export var{start,version}=$3');
}

const files = {
  'fleetprof.js': await bundle('fleetprof.js', 'iife'),
  'fleetprof.mjs': await bundle('fleetprof_module.js', 'esm'),
  'fleetprof.vitals.js': await bundle('fleetprof_vitals.js', 'iife', true),
  'fleetprof.vitals.mjs': await bundle('fleetprof_vitals_module.js', 'esm', true),
  'fleetprof.worker.js': await bundle('fleetprof_worker.js', 'iife', true),
  'fleetprof.worker.mjs': await bundle('fleetprof_worker_module.js', 'esm', true),
  'fleetprof.debug.js': await bundle('fleetprof.js', 'iife', true),
};

const dist = path.join(room, 'dist');
if (process.argv.includes('--check')) {
  const stale = Object.entries(files).filter(([name, text]) => fs.readFileSync(path.join(dist, name), 'utf8') !== text);
  for (const [name] of stale) console.error(`agent/dist/${name} is not what agent/src gives: run node agent/build.mjs`);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  fs.mkdirSync(dist, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(dist, name), text);
    console.log(`${name}: ${text.length} bytes, ${gzipSync(text, { level: 9 }).length} compressed`);
  }
}
