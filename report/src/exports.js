// SPDX-License-Identifier: Apache-2.0
/** Trees in the notations of other tools. Nothing here knows a browser. */
import { hashed } from './colours.js';
import { duration, visible } from './format.js';

/** @typedef {import('./tree.js').Tree} Tree */

/** @typedef {{ name: string, extension: string, type: string, write: (tree: Tree, title: string, loads?: number) => string | Uint8Array<ArrayBuffer> }} Format */

/** @param {Tree} tree */
function* stacksOf({ count, frame, parent, self }) {
  for (let i = 1; i < count; i += 1) {
    if (self[i] <= 0) continue;
    const stack = [];
    for (let node = i; node > 0; node = parent[node]) stack.push(frame[node]);
    yield { node: i, stack: stack.reverse(), us: self[i] };
  }
}

/**
 * Returns a frame's name as fleetprof.folded has it: flamegraph.pl takes a number after a space for a weight.
 * @param {Tree['frames']} frames @param {number} i
 */
function folded({ function: name, resource, line, column_number: column }, i) {
  const place = `${resource[i] ?? ''}${line[i] === null ? '' : `:${line[i]}`}${column[i] === null ? '' : `:${column[i]}`}`;
  return `${name[i]}${name[i] === '(anonymous)' && (resource[i] ?? line[i]) !== null ? ` ${place}` : ''}`.replaceAll(';', ':')
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0001-\u001f\u007f-\u009f]/g, ' ').replace(/ (?=\d+(\.\d*)?$)/, '\u00a0');
}

/** Returns one line per stack; those that read alike are one. @param {Tree} tree */
function writeFolded(tree) {
  const names = tree.frames.function.map((_, i) => folded(tree.frames, i));
  /** @type {Map<string, number>} */
  const sums = new Map();
  for (const { stack, us } of stacksOf(tree)) {
    const path = stack.map((frame) => names[frame]).join(';');
    sums.set(path, (sums.get(path) ?? 0) + us);
  }
  return [...sums].map(([path, us]) => `${path} ${Math.round(us)}\n`).sort().join('');
}

/** Returns a file of speedscope, which shows no figure but times: they are per page load. @param {Tree} tree @param {string} title */
function writeSpeedscope(tree, title, loads = 0) {
  const { frames } = tree;
  const all = [...stacksOf(tree)];
  const weights = all.map(({ us }) => us / (loads || 1));
  const name = loads ? `µs per page load, of ${loads}: ${title}` : title;
  return JSON.stringify({
    $schema: 'https://www.speedscope.app/file-format-schema.json', exporter: 'fleetprof', name,
    shared: { frames: frames.function.map((name, i) => ({ name, ...frames.resource[i] ? { file: frames.resource[i] } : {}, ...frames.line[i] !== null ? { line: frames.line[i] } : {}, ...frames.column_number[i] !== null ? { col: frames.column_number[i] } : {} })) },
    profiles: [{ type: 'sampled', name, unit: 'microseconds', startValue: 0, endValue: weights.reduce((sum, us) => sum + us, 0), samples: all.map(({ stack }) => stack), weights }],
  });
}

/** Functions that V8 makes up, whose time viewers treat apart. */
const ofV8 = ['(root)', '(program)', '(idle)', '(garbage collector)'];

/** Returns a function's name for a .cpuprofile. @param {string} name */
const cpuName = (name) => (name === '(anonymous)' ? '' : ofV8.includes(name) ? `${name}\u00a0` : name);

/** Returns a .cpuprofile, as Chrome's and Firefox's profilers open it. @param {Tree} tree */
function writeChrome(tree) {
  const { frames, frame, parent, count } = tree;
  const nodes = Array.from({ length: count }, (_, i) => ({
    id: i + 1, hitCount: Number(tree.self[i] > 0), children: /** @type {number[]} */ ([]),
    callFrame: i === 0 ? { functionName: '(root)', scriptId: '0', url: '', lineNumber: -1, columnNumber: -1 } : {
      functionName: cpuName(frames.function[frame[i]]), scriptId: '0', url: frames.resource[frame[i]] ?? '',
      lineNumber: (frames.line[frame[i]] ?? 0) - 1, columnNumber: (frames.column_number[frame[i]] ?? 0) - 1 },
  }));
  for (let i = 1; i < count; i += 1) nodes[parent[i]].children.push(i + 1);
  const all = [...stacksOf(tree)];
  // A sample lasts until the next one; the last sample only ends the one before.
  return JSON.stringify({
    nodes, startTime: 0, endTime: all.reduce((sum, { us }) => sum + us, 0), samples: [...all.map(({ node }) => node + 1), 1], timeDeltas: [0, ...all.map(({ us }) => us)],
  });
}

/** Writes messages of Protocol Buffers: varints, and fields with a length. */
class Message {
  /** @type {number[]} */
  bytes = [];

  /** @param {number} value 0 or more */
  varint(value) {
    let rest = Math.round(value);
    while (rest > 127) {
      this.bytes.push((rest % 128) + 128);
      rest = Math.floor(rest / 128);
    }
    this.bytes.push(rest);
    return this;
  }

  /** @param {number} field @param {number} value */
  number(field, value) { return this.varint(field * 8).varint(value); }

  /** @param {number} field @param {ArrayLike<number>} bytes */
  part(field, bytes) {
    this.varint(field * 8 + 2).varint(bytes.length);
    for (let i = 0; i < bytes.length; i += 1) this.bytes.push(bytes[i]);
    return this;
  }
}

/** Returns a profile.proto, as pprof opens it, not compressed. @param {Tree} tree */
function writePprof(tree) {
  const { frames } = tree;
  /** @type {Map<string, number>} */
  const strings = new Map([['', 0]]);
  const text = (/** @type {string} */ value) => {
    if (!strings.has(value)) strings.set(value, strings.size);
    return /** @type {number} */ (strings.get(value));
  };
  const whole = new Message().part(1, new Message().number(1, text('time')).number(2, text('microseconds')).bytes);
  for (const { stack, us } of stacksOf(tree)) {
    const path = new Message();
    for (const frame of [...stack].reverse()) path.varint(frame + 1);
    whole.part(2, new Message().part(1, path.bytes).part(2, new Message().varint(us).bytes).bytes);
  }
  for (const [i, name] of frames.function.entries()) {
    whole.part(4, new Message().number(1, i + 1).part(4, new Message().number(1, i + 1).number(2, Math.max(0, frames.line[i] ?? 0)).bytes).bytes);
    whole.part(5, new Message().number(1, i + 1).number(2, text(name)).number(4, text(frames.resource[i] ?? '')).bytes);
  }
  for (const value of strings.keys()) whole.part(6, new TextEncoder().encode(value));
  return Uint8Array.from(whole.bytes);
}

/** @param {string} text */
const escaped = (text) => visible(text).replace(/[&<>"]/g, (mark) => `&#${mark.charCodeAt(0)};`);

/** Returns a picture, without what is narrower than half a pixel. @param {Tree} tree @param {string} title */
function writeSvg(tree, title) {
  const width = 1200, row = 18, letter = 6.7;
  const { frames, frame, level, start, total, size } = tree;
  const scale = width / (size[0] || 1);
  let deepest = 0;
  const boxes = [];
  for (let i = 1; i < tree.count; i += 1) {
    const wide = size[i] * scale;
    if (wide < 0.5) continue;
    deepest = Math.max(deepest, level[i]);
    const name = frames.function[frame[i]], letters = Math.floor((wide - 6) / letter);
    const x = (start[i] * scale).toFixed(1), y = level[i] * row;
    const shown = [...name].length <= letters ? name : `${[...name].slice(0, letters - 1).join('')}…`;
    boxes.push(`<g><title>${escaped(name)} ${escaped(duration(total[i] / 1000))}</title><rect x="${x}" y="${y}" width="${wide.toFixed(1)}" height="${row - 1}" fill="hsl(${Math.round(20 + 40 * hashed(name))} 75% 75%)"/>${
      letters > 2 ? `<text x="${(start[i] * scale + 3).toFixed(1)}" y="${y + 13}">${escaped(shown)}</text>` : ''}</g>\n`);
  }
  const tall = (deepest + 1) * row;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${tall}" viewBox="0 0 ${width} ${tall}" font-family="monospace" font-size="11">
<rect width="${width}" height="${tall}" fill="#fff"/><text x="3" y="13">${escaped(title)}</text>
${boxes.join('')}</svg>
`;
}

/** @type {Record<string, Format>} */
export const formats = {
  folded: { name: 'Folded stacks', extension: 'folded.txt', type: 'text/plain', write: writeFolded },
  speedscope: { name: 'speedscope', extension: 'speedscope.json', type: 'application/json', write: writeSpeedscope },
  chrome: { name: 'Chrome and Firefox (.cpuprofile)', extension: 'cpuprofile', type: 'application/json', write: writeChrome },
  svg: { name: 'picture (SVG)', extension: 'svg', type: 'image/svg+xml', write: writeSvg },
  pprof: { name: 'pprof', extension: 'pb', type: 'application/octet-stream', write: writePprof },
};
