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

/** Names of our own that no browser has: they are shortened in the core. */
const ownNames = /^(cover|copier|extra|flush|isAway|isFull|isLast|jsonSize|labels|problem|profiler|taken|tell)$/;

/**
 * @param {string} entry
 * @param {'iife' | 'esm'} format
 * @param {boolean} [debug] whether it says in words what happens
 */
async function bundle(entry, format, debug = false) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(room, 'src', entry)], bundle: true, minify: true, format, target, write: false,
    ...debug ? {} : { mangleProps: ownNames },
    tsconfigRaw: '{}', define: { DEBUG: `${debug}` },
    legalComments: 'none', logLevel: 'error',
  });
  return outputFiles[0].text;
}

const files = {
  'fleetprof.js': await bundle('fleetprof.js', 'iife'),
  'fleetprof.mjs': await bundle('fleetprof_module.js', 'esm'),
  'fleetprof.vitals.js': await bundle('fleetprof_vitals.js', 'iife', true),
  'fleetprof.vitals.mjs': await bundle('fleetprof_vitals_module.js', 'esm', true),
  'fleetprof.debug.js': await bundle('fleetprof.js', 'iife', true),
};

for (const [name, text] of Object.entries(files)) {
  fs.mkdirSync(path.join(room, 'dist'), { recursive: true });
  fs.writeFileSync(path.join(room, 'dist', name), text);
  console.log(`${name}: ${text.length} bytes, ${gzipSync(text, { level: 9 }).length} compressed`);
}
