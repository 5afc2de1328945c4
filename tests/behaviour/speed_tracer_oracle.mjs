// SPDX-License-Identifier: Apache-2.0
/**
 * Reads a well-formed Speed Tracer dump by docs/formats.md, without sharing code with the collector: simple, not
 * fast.
 */

/** @typedef {{ type?: number, typeName?: string, time?: number, duration?: number, children?: Item[], data?: any }} Item */

/** The objects of a text, split by braces outside of strings. @param {string} text */
export function splitRecords(text) {
  /** @type {string[]} */
  const records = [];
  let depth = 0;
  let begin = 0;
  let quote = '';
  for (let at = 0; at < text.length; at++) {
    const c = text[at];
    if (depth > 0 && quote) {
      if (c === '\\') at++;
      else if (c === quote) quote = '';
    } else if (depth > 0 && (c === '"' || c === "'")) {
      quote = c;
    } else if (c === '{') {
      if (depth++ === 0) begin = at;
    } else if (c === '}' && depth > 0 && --depth === 0) {
      records.push(text.slice(begin, at + 1));
    }
  }
  return records;
}

/** All records of a dump in any container, at their top level. @param {string} text @returns {Item[]} */
export function readDump(text) {
  const element = /<div[^>]*id="traceData"[^>]*>([^]*)/i.exec(text);
  const body = element ? element[1].replace(/<\/div>\s*(<script|<\/body)[^]*/i, '') : text;
  const objects = splitRecords(body).map((record) => JSON.parse(record));
  return objects.length === 1 && Array.isArray(objects[0].data) ? objects[0].data : objects;
}

/** @param {Item[]} items @param {(item: Item, level: number) => void} visit */
export function walk(items, visit, level = 1) {
  for (const item of items) {
    visit(item, level);
    walk(item.children ?? [], visit, level + 1);
  }
}

export const toMicroseconds = (/** @type {number} */ ms) => Math.floor(ms * 1000 + 0.5);

/** Duration less that of the children, in whole microseconds. @param {Item} item */
export function selfTime(item) {
  if (item.duration === undefined) return 0;
  const children = (item.children ?? []).map((child) => toMicroseconds(child.duration ?? 0));
  return toMicroseconds(item.duration) - children.reduce((sum, one) => sum + one, 0);
}

const earlyNumbers = new Map([
  [24, 12], [23, 13], [22, 14], [21, 14], [16, 2147483646], [17, 2147483647], [25, 17], [15, 2147483644],
]);

/** True if only a version up to 0.8 can have written the dump. @param {Item[]} items */
export const isEarly = (items) => items.some(({ type = -1 }) => type >= 22 && type <= 24);

/** Today's number of a type. @param {Item} item @param {boolean} early */
export const typeNumber = ({ type = -1, data }, early) =>
  (early || (type === 15 && data?.profileData) ? earlyNumbers.get(type) : undefined) ?? type;

/** @typedef {{ begin: number, size: number, kind: string, name: string }} Code */

const scriptKinds = new Set(['LazyCompile', 'Function', 'Script', 'Eval']);

/** How code is called in a profile. @param {Code} code */
const shownAs = ({ kind, name }) => (scriptKinds.has(kind) ? name : name ? `${kind}: ${name}` : kind);

/** The leaf of each tick in the V8 profiles of a dump, `` where there is none. @param {Item[]} items */
export function profileLeaves(items) {
  /** @type {Map<string, string>} */
  let aliases = new Map();
  /** @type {Code[]} */
  let codes = [];
  /** @type {string[]} */
  let above = [];
  /** @type {string[]} */
  const leaves = [];
  let last = { code: 0, moved: 0 };
  const address = (/** @type {string} */ field, /** @type {'code' | 'moved'} */ role) => {
    last[role] = (/^[+-]/.test(field) ? last[role] : 0) + parseInt(field, 16);
    return last[role];
  };
  const at = (/** @type {number} */ where) =>
    codes.filter(({ begin }) => begin <= where).sort((a, b) => b.begin - a.begin)
      .slice(0, 1).find(({ begin, size }) => where < begin + size);
  const without = (/** @type {number} */ begin) => codes.filter((code) => code.begin !== begin);
  /** @type {Record<string, (fields: string[]) => void>} */
  const commands = {
    profiler: ([, what]) => {
      if (what === '"begin"') [aliases, codes, last] = [new Map(), [], { code: 0, moved: 0 }];
      if (what === '"compression"') above = [];
    },
    alias: ([, short, long]) => aliases.set(short, long),
    'code-creation': ([, kind, where, size, ...name]) => {
      const begin = address(where, 'code');
      codes = [...without(begin), { begin, size: Number(size), kind: aliases.get(kind) ?? kind,
        name: name.join(',').slice(1, -1) }];
    },
    'code-move': ([, from, to]) => {
      const source = address(from, 'code');
      const target = address(to, 'moved');
      const moved = codes.find(({ begin }) => begin === source);
      codes = without(source);
      if (moved) codes = [...without(target), { ...moved, begin: target }];
    },
    'code-delete': ([, where]) => { codes = without(address(where, 'code')); },
    tick: ([, pc, , , ...stack]) => {
      let where = address(pc, 'code');
      let leaf = at(where);
      for (const field of stack) {
        where = (/^[+-]/.test(field) ? where : 0) + parseInt(field, 16);
        leaf ??= at(where);
      }
      leaves.push(leaf ? shownAs(leaf) : '');
    },
  };
  const run = (/** @type {string} */ text) => {
    const reference = text.endsWith('"') ? null : /^(.*)#(\d+)(?::(\d+))?$/s.exec(text);
    const line = reference
      ? reference[1] + above[above.length - Number(reference[2])].slice(Number(reference[3] ?? 0)) : text;
    const fields = line.split(',');
    const isRepeat = (aliases.get(fields[0]) ?? fields[0]) === 'repeat';
    const command = isRepeat ? fields.slice(2) : fields;
    const name = aliases.get(command[0]) ?? command[0];
    if (name !== 'profiler' && name !== 'alias') above.push(command.join(','));
    for (let times = isRepeat ? Number(fields[1]) : 1; times > 0; times--) commands[name]?.(command);
  };
  for (const { data } of items)
    if (data?.format === 'v8') data.profileData.split('\n').filter(Boolean).forEach(run);
  return leaves;
}
