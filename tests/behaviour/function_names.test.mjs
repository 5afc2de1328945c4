/**
 * Names of known functions: functions of every shape, bundled and minified by four bundlers, run and profiled by V8. The
 * caller of each probe in a profile is a known function; the table of the build must have its place, and its name.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import inspector from 'node:inspector';
import path from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';

import { bundlers, shapes } from '../names/bundles.mjs';
import { names } from '../names/shapes/names.js';
import { temporaryDir } from './stack.mjs';

const dir = temporaryDir('names');
const leastKnown = 112;
const leastRight = 110;
const expected = /** @type {Record<string, string>} */ (names);

/** Makes the probes, which run long enough to be seen, until they are. */
const probes = `globalThis.probe = {};
for (const key of ${JSON.stringify(Object.keys(names))}) {
  globalThis.probe[key] = new Function('return function probe_' + key + '() { const end = performance.now() + (seen.' + key + ' ? 0 : 3); while (performance.now() < end); }')();
}`;

/** Returns where V8 sees the caller of each probe begin, and the name that it has for it. @param {string} code @returns {Promise<Map<string, { place: string, name: string }>>} */
async function callersOf(code) {
  const session = new inspector.Session();
  session.connect();
  const post = (/** @type {string} */ method, /** @type {object} */ given = {}) => new Promise((resolve, reject) => {
    session.post(method, given, (error, result) => (error ? reject(error) : resolve(result)));
  });
  await post('Profiler.enable');
  await post('Profiler.setSamplingInterval', { interval: 100 });
  const found = new Map();
  const missed = () => Object.keys(names).filter((key) => !found.has(key));
  // Beside other programs the profiler misses some: it tries again.
  for (let attempt = 0; attempt < 100 && missed().length > 0; attempt += 1) {
    await post('Profiler.start');
    const context = vm.createContext({ performance, seen: Object.fromEntries(found) });
    vm.runInContext(probes, context);
    vm.runInContext(code, context, { filename: 'app.js' });
    vm.runInContext('for (const shape of shapes) shape();', context, { filename: 'caller.js' });
    const { profile } = /** @type {{ profile: inspector.Profiler.Profile }} */ (await post('Profiler.stop'));
    for (const { callFrame: { url, functionName, lineNumber, columnNumber }, children = [] } of profile.nodes) {
      for (const id of children) {
        const key = profile.nodes.find((node) => node.id === id)?.callFrame.functionName.match(/^probe_(\w+)$/)?.[1];
        if (key && url === 'app.js') found.set(key, { place: `${lineNumber + 1}:${columnNumber + 1}`, name: functionName });
      }
    }
  }
  session.disconnect();
  assert.deepEqual(missed(), [], 'probes that no profile has');
  return found;
}

test(`of ${leastKnown} known functions or more in four bundlers, ${leastRight} have the right name and none a wrong one`, async () => {
  const sum = { known: 0, right: 0, wrong: 0 };
  for (const [bundler, bundle] of Object.entries(bundlers)) {
    const own = path.join(dir, bundler.replaceAll(/\W+/g, '-'));
    await bundle(path.join(shapes, 'main.js'), own, shapes);
    const [head, ...rows] = fs.readFileSync(path.join(own, 'function-table.jsonl'), 'utf8').trimEnd().split('\n').map((line) => JSON.parse(line));
    assert.equal(head.script, 'app.js');
    const table = new Map(rows.map(([line, column, name, source]) => [`${line}:${column}`, { name, source }]));
    const count = { known: 0, right: 0, wrong: 0, v8: 0 };
    for (const [key, { place, name }] of await callersOf(fs.readFileSync(path.join(own, 'app.js'), 'utf8'))) {
      const row = table.get(place);
      const said = row?.name ?? name;
      count.known += 1;
      count.v8 += Number(name === expected[key]);
      if (said === expected[key]) count.right += 1;
      else if (row) {
        count.wrong += 1;
        console.log(`${bundler}: ${key} is called "${said}", not "${expected[key]}"`);
      } else console.log(`${bundler}: ${key} at ${place} has no name`);
      if (row) assert.match(row.source, /^\w+\.js$/);
    }
    console.log(`${bundler}: ${count.right} of ${count.known} right, ${count.wrong} wrong; by V8's own names ${count.v8}`);
    for (const name of /** @type {const} */ (['known', 'right', 'wrong'])) sum[name] += count[name];
  }
  console.log(`names of known functions in four bundlers: ${sum.right} of ${sum.known} right, ${sum.wrong} wrong`);
  assert.equal(sum.wrong, 0);
  assert.ok(sum.known >= leastKnown && sum.known - sum.right <= leastKnown - leastRight);
});
