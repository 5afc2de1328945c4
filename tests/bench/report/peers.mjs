// SPDX-License-Identifier: Apache-2.0
/** The viewers to compare the report's page with, with the same tree in the form that each takes. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import esbuild from 'esbuild';

const room = path.dirname(fileURLToPath(import.meta.url));

/** Why there are no other viewers here; false if there are. */
export const peersMissing = !fs.existsSync(path.join(room, 'node_modules/speedscope'))
  && 'Other viewers are not installed: npm install --prefix tests/bench/report --ignore-scripts';

/** Name and address. @type {[string, string][]} */
export const peerNames = [['d3-flame-graph', '/peer/d3.html'], ['d3-flame-graph, 5 px', '/peer/d3.html?5'], ['flame-chart-js', '/peer/chart.html'], ['speedscope', '/peer/speedscope/index.html#profileURL=/peer/tree.speedscope.json']];

const scripts = {
  d3: `import flamegraph from 'd3-flame-graph'; import { select } from 'd3-selection';
    const tree = await (await fetch('/peer/tree.json')).json();
    const chart = flamegraph().width(1400).cellHeight(17).transitionDuration(0).inverted(true).minFrameSize(location.search ? 5 : 0);
    select('#graph').datum(tree).call(chart);`,
  chart: `import { FlameChart } from 'flame-chart-js';
    const data = await (await fetch('/peer/tree.json')).json();
    const canvas = document.querySelector('canvas'); canvas.width = 1400; canvas.height = 800;
    const nodes = (list, start) => { let at = start; return list.map(({ name, value, children }) => { const node = { name, start: at, duration: value, children: nodes(children, at) }; at += value; return node; }); };
    new FlameChart({ canvas, data: nodes([data], 0), settings: {} });`,
};

/** @typedef {{ name: string, value: number, children: Node[] }} Node */

/**
 * Returns what a server gives for the other viewers: type and body by path.
 * @param {{ frames: { function: string[] }, level: number[], frame: number[], self: number[], total: number[] }} tree
 */
export async function peerFiles({ frames, level, frame, self, total }) {
  /** @type {Map<string, [string, string | Buffer]>} */
  const files = new Map();
  /** @type {Node[]} */
  const onPath = [];
  for (const [i, depth] of level.entries()) {
    const node = { name: frame[i] < 0 ? '(all)' : frames.function[frame[i]], value: total[i], children: [] };
    onPath[depth] = node;
    if (depth > 0) onPath[depth - 1].children.push(node);
  }
  files.set('/peer/tree.json', ['application/json', JSON.stringify(onPath[0])]);
  const samples = [];
  const weights = [];
  const stack = [];
  for (const [i, depth] of level.entries()) {
    stack.length = depth;
    stack[depth] = frame[i] + 1;
    if (self[i] > 0) {
      samples.push([...stack]);
      weights.push(self[i]);
    }
  }
  files.set('/peer/tree.speedscope.json', ['application/json', JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json', shared: { frames: ['(all)', ...frames.function].map((name) => ({ name })) },
    profiles: [{ type: 'sampled', name: 'tree', unit: 'microseconds', startValue: 0, endValue: total[0], samples, weights }],
  })]);
  for (const [name, contents] of Object.entries(scripts)) {
    const { outputFiles } = await esbuild.build({ stdin: { contents, resolveDir: room }, bundle: true, minify: true, format: 'esm', write: false, logLevel: 'error', loader: { '.css': 'empty' } });
    files.set(`/peer/${name}.js`, ['text/javascript', outputFiles[0].text]);
    files.set(`/peer/${name}.html`, ['text/html', `<!DOCTYPE html><meta charset="utf-8"><title>${name}</title><body>${name === 'd3' ? '<div id="graph"></div>' : '<canvas></canvas>'}<script type="module" src="/peer/${name}.js"></script>`]);
  }
  const release = path.join(room, 'node_modules/speedscope/dist/release');
  const types = /** @type {Record<string, string>} */ ({ '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm' });
  for (const name of fs.readdirSync(release)) files.set(`/peer/speedscope/${name}`, [types[path.extname(name)] ?? 'application/octet-stream', fs.readFileSync(path.join(release, name))]);
  return files;
}
