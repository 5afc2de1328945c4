/**
 * Builds the page from src/ into dist/: `node report/build.mjs`. `--check` says whether dist/ is what would be built. Fails
 * if script and style together are larger than a slow connection should have to carry.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import esbuild from 'esbuild';

const room = path.dirname(fileURLToPath(import.meta.url));
const mostBytes = 60_000;

/** @param {string} entry */
async function bundle(entry) {
  const { outputFiles } = await esbuild.build({
    entryPoints: [path.join(room, 'src', entry)], bundle: true, minify: true, format: 'esm', target: ['chrome115', 'firefox115'], write: false,
    tsconfigRaw: '{}', legalComments: 'none', logLevel: 'error', charset: 'utf8',
  });
  return outputFiles[0].text;
}

const files = {
  'report.js': await bundle('main.js'),
  'report.css': await bundle('style.css'),
  'index.html': fs.readFileSync(path.join(room, 'src/index.html'), 'utf8'),
};
const compressed = (/** @type {string} */ text) => gzipSync(text, { level: 9 }).length;
const size = compressed(files['report.js']) + compressed(files['report.css']);
if (size > mostBytes) {
  console.error(`script and style are ${size} bytes compressed; ${mostBytes} are allowed`);
  process.exitCode = 1;
}

const dist = path.join(room, 'dist');
if (process.argv.includes('--check')) {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(dist, name);
    if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text) continue;
    console.error(`report/dist/${name} is not what report/src gives: run node report/build.mjs`);
    process.exitCode = 1;
  }
} else {
  fs.mkdirSync(dist, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    fs.writeFileSync(path.join(dist, name), text);
    console.log(`${name}: ${text.length} bytes, ${compressed(text)} compressed`);
  }
}
