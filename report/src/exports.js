// SPDX-License-Identifier: Apache-2.0
/** Trees in the notations of other tools. Nothing here knows a browser. */
import { colour } from './colours.js';
import { counted, duration, visible } from './format.js';

/**
 * @typedef {import('./tree.js').Tree} Tree
 * @typedef {import('./colours.js').Party} Party
 * @typedef {{ kinds: [Party, string][], parties: Party[] }} Picture what the colours mean, and the kind of code of each frame
 */

/** @typedef {{ name: string, extension: string, type: string, write: (tree: Tree, title: string, loads?: number, picture?: Picture) => string | Uint8Array<ArrayBuffer> }} Format */

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

/**
 * Returns a picture with its legend, in light colours, without what is narrower than half a pixel. Times are per page load.
 * @param {Tree} tree @param {string} title @param {number} [loads] @param {Picture} [picture]
 */
function writeSvg(tree, title, loads = 0, { kinds, parties } = { kinds: [], parties: [] }) {
  const width = 1200, row = 18, letter = 6.7;
  const { frames, frame, level, start, total, size } = tree;
  const scale = width / (size[0] || 1);
  const text = (/** @type {number | string} */ x, /** @type {number} */ y, /** @type {string} */ words) => `<text x="${x}" y="${y + 13}">${escaped(words)}</text>`;
  const box = (/** @type {string} */ x, /** @type {number} */ y, /** @type {string} */ wide, /** @type {Party} */ party, /** @type {string} */ name) => [colour(party, name, false), ...party === 'third' ? ['url(#third)'] : []]
    .map((fill, i) => `<rect x="${x}" y="${y}" width="${i > 0 ? Math.min(7, Number(wide)) : wide}" height="${row - 1}" fill="${fill}"/>`).join('');
  const time = (/** @type {number} */ us) => `${duration(us / 1000 / (loads || 1))}${loads ? ' per page load' : ''}`;
  const head = [...`${time(total[0])}${loads ? `, of ${counted(loads, 'page load')}` : ''} · ${visible(title)}`.match(/.{1,175}/gsu) ?? []].map((line, i) => text(3, row * i, line));
  const legend = kinds.map(([party, words], i) => box('3', row * (head.length + i), '12', party, '') + text(20, row * (head.length + i), words));
  const top = row * (head.length + legend.length - 1);
  let deepest = 0;
  const boxes = [];
  for (let i = 1; i < tree.count; i += 1) {
    const wide = size[i] * scale;
    if (wide < 0.5) continue;
    deepest = Math.max(deepest, level[i]);
    const party = parties[frame[i]] ?? 'builtin', indent = party === 'third' ? 10 : 3;
    const name = frames.function[frame[i]], letters = Math.floor((wide - indent - 3) / letter);
    const y = top + level[i] * row;
    const shown = [...name].length <= letters ? name : `${[...name].slice(0, letters - 1).join('')}…`;
    boxes.push(`<g><title>${escaped(name)} ${escaped(time(total[i]))}</title>${box((start[i] * scale).toFixed(1), y, wide.toFixed(1), party, name)}${
      letters > 2 ? text((start[i] * scale + indent).toFixed(1), y, shown) : ''}</g>\n`);
  }
  const tall = top + (deepest + 1) * row;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${tall}" viewBox="0 0 ${width} ${tall}" font-family="monospace" font-size="11">
<pattern id="third" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M-8 8L0 0M0 8L8 0" stroke="#0004"/></pattern><rect width="${width}" height="${tall}" fill="#fff"/>${head.join('')}
${legend.join('\n')}
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
