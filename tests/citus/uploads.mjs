// SPDX-License-Identifier: Apache-2.0
/**
 * The uploads of the test: real traces, marks, measures and dumps of tests/data, each with an id of its own, so that
 * several databases can get the same ones.
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { repository } from '../behaviour/stack.mjs';

const data = path.join(repository, 'tests/data');
/** @param {string} name */
const read = (name) => fs.readFileSync(path.join(data, name), 'utf8');

const traces = fs.readdirSync(data)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(read(name)))
  .filter((trace) => Array.isArray(trace.samples) && trace.samples.length > 0);
const entries = ['perf-coi-marks-tojson.json', 'perf-coi-measures-tojson.json'].flatMap((name) => JSON.parse(read(name)));
/** Each has its own kind of record: pages, network, log messages, hints. */
const dumps = ['speed-tracer/stream.ndjson', 'speed-tracer/early.ndjson', 'speed-tracer/v8.ndjson', 'speed-tracer/saved-page.html',
  'speed-tracer/post.json', 'opera-scope/page-load.json', 'opera-scope/by-name.json', 'opera-scope/manual.json'].map(read);

export const sites = ['shop', 'news'].map((name) => ({
  name, key: `pk_${name}`, routes: ['/product/:id', '/cart'], sample_keep: name === 'news' ? '100%' : '0%',
}));
const browsers = [
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/149.0.0.0 Mobile Safari/537.36',
];

/**
 * @typedef {object} Upload
 * @property {string} site
 * @property {string} body
 * @property {Record<string, string>} headers
 */

/** @param {string} text @returns {string} a UUID that depends on the text alone */
function uuidOf(text) {
  const hex = crypto.createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

/**
 * Returns what an agent with vitals observes beside the trace. Without windows: those are joined with samples of other
 * parts of the page load, if these reach the same collector.
 * @param {number} load
 */
const observed = (load) => ({
  vitals: [{ name: 'LCP', value: 1200 + 400 * (load % 10), navigationType: 'back-forward-cache' }, { name: 'INP', value: 80 + 60 * (load % 9) },
    { name: 'CLS', value: load % 4 / 10 },
    { name: 'TTFB', value: 200 + 30 * (load % 6), server: 50 + 20 * (load % 5), cache: load % 2 ? 'HIT' : 'MISS' }],
  resources: [{ host: 'cdn.example', kind: 'script', duration: [20 + load % 7], bytes: 900 }, { host: 'ads.example', kind: 'img', opaque: true }],
});

/**
 * @param {string} phase a word that makes them others than those of another phase
 * @param {number} number
 * @returns {Upload}
 */
export function uploadOf(phase, number) {
  // Parts of a page load may reach different collectors. They are of one segment: the part that is counted first has the load.
  const load = Math.floor(number / 2);
  const site = sites[load % 5 === 4 ? 1 : 0].name;
  const headers = { 'user-agent': browsers[load % 3 === 0 ? 1 : 0] };
  if (number % 17 === 16) {
    return {
      site,
      body: dumps[Math.floor(number / 17) % dumps.length],
      headers: { ...headers, 'idempotency-key': uuidOf(`${phase} ${number}`) },
    };
  }
  const body = JSON.stringify({
    version: 1,
    id: uuidOf(`${phase} ${number}`),
    load: uuidOf(`${phase} load ${load}`),
    part: number % 2,
    page: { url: `https://shop.example/${load % 4 === 3 ? 'cart' : `product/${load % 5}`}` },
    release: `1.${load % 3}`,
    environment: load % 7 === 6 ? 'staging' : 'production',
    variant: load % 11 === 10 ? 'b' : '',
    sampleInterval: 10,
    trace: traces[number % traces.length],
    ...(number % 4 === 1 ? { entries } : {}),
    ...(number % 3 === 0 ? observed(load) : {}),
    ...(load % 5 === 2 ? { leftOut: [{ what: 'measure', name: 'dom', count: number }, { what: 'profile' }] } : {}),
    ...(number % 6 === 4 ? { trace: undefined, coverage: 'unsupported' } : {}),
  });
  return { site, body, headers };
}

/** How many uploads a form has. */
export const formSize = 36;
const steady = JSON.parse(read('minified-own-bundle.json'));

/**
 * A form of uploads of two releases that do the same, some a little longer: with a few hours of them, comparisons test
 * functions, measures and vitals.
 * @param {number} number
 * @returns {Upload}
 */
export function formOf(number) {
  const parts = Array.from({ length: formSize }, (_, i) => JSON.stringify({
    version: 1,
    id: uuidOf(`form ${number} ${i}`),
    load: uuidOf(`form load ${number} ${i}`),
    part: 0,
    page: { url: 'https://shop.example/product/1' },
    release: `1.${i % 2}`,
    environment: 'production',
    sampleInterval: 10,
    trace: { ...steady, samples: steady.samples.slice(0, 40 + (number * 5 + i * 7) % 40) },
    entries,
    ...observed(number + i),
  }));
  return {
    site: 'shop',
    body: `${parts.map((part) => `--b\r\n\r\n${part}\r\n`).join('')}--b--`,
    headers: { 'user-agent': browsers[0], 'content-type': 'multipart/form-data; boundary=b' },
  };
}
