// SPDX-License-Identifier: Apache-2.0
/**
 * Scopes of source maps: which function of the sources a stretch of a bundle is. They name functions without the
 * sources. Read in both forms of the ECMA-426 proposal: `scopes`, as Chrome DevTools reads it, and before it
 * `originalScopes` with `generatedRanges`.
 */
import { decodeGeneratedRanges, decodeOriginalScopes } from '@jridgewell/sourcemap-codec';

/** Line and column, from 0. @typedef {[line: number, column: number]} Place */
/** A function of a source. source: its index in the whole map; name: null if it has none. @typedef {{ source: number, at: Place, name: string | null }} Scope */
/** A function of the bundle. scope: null where the map has none. @typedef {{ from: Place, to: Place, scope: Scope | null }} Range */

/**
 * A scope before its function is looked for.
 * @typedef {{ source: number, at: Place, name: string | null, isFunction: boolean, around: Item | null }} Item
 */

/** @typedef {{ sources?: (string | null)[], names?: string[], sourceRoot?: string, scopes?: string, originalScopes?: string[], generatedRanges?: string }} PlainMap */
/** @typedef {PlainMap & { sections?: { offset: { line: number, column: number }, map: MapJson }[] }} MapJson */

/** Scopes that cannot be read; the message says where. */
export class ScopesError extends Error {}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const most = 2 ** 31 - 1;
const tag = { empty: 0, scopeStart: 1, scopeEnd: 2, rangeStart: 4, rangeEnd: 5 };
const flag = { name: 1, kind: 2, scopeIsFunction: 4, line: 1, definition: 2, rangeIsFunction: 4 };

/** @param {Place} a @param {Place} b */
export const compare = (a, b) => a[0] - b[0] || a[1] - b[1];

/** Returns the numbers of an item. @param {string} item @param {number} number */
function numbersOf(item, number) {
  const found = [];
  let value = 0;
  let unit = 1;
  for (const char of item) {
    const digit = digits.indexOf(char);
    value += (digit & 31) * unit;
    if (digit < 0 || value > 2 * most + 1) throw new ScopesError(`item ${number} ("${item.slice(0, 40)}") is not a list of numbers`);
    unit *= 32;
    if (digit < 32) {
      found.push(value);
      value = 0;
      unit = 1;
    }
  }
  if (unit > 1) throw new ScopesError(`item ${number} ("${item.slice(0, 40)}") ends within a number`);
  return found;
}

/** @param {number} value */
const signed = (value) => (value % 2 ? -(value - 1) / 2 : value / 2);

/** Returns the innermost function around a scope. @param {Item | null} item */
function functionOf(item) {
  let around = item;
  while (around && !around.isFunction) around = around.around;
  return around;
}

/** Reads the field `scopes`. */
class Reader {
  /** @param {string[]} names */
  constructor(names) {
    this.names = names;
    this.source = 0;
    /** @type {Item[]} */
    this.items = [];
    /** @type {Item | null} */
    this.open = null;
    this.state = { line: 0, column: 0, name: 0, kind: 0 };
    /** @type {{ from: Place, isFunction: boolean, item: Item | null }[]} */
    this.openRanges = [];
    this.range = { line: 0, column: 0, definition: 0 };
    /** @type {{ from: Place, to: Place, item: Item | null }[]} */
    this.ranges = [];
  }

  /** @param {{ line: number, column: number }} state @param {number} lines @param {number} columns @returns {Place} */
  static move(state, lines, columns) {
    state.column = lines === 0 ? state.column + columns : columns;
    state.line += lines;
    return [state.line, state.column];
  }

  /** @param {string} text */
  read(text) {
    let number = 0;
    for (const item of text.split(',')) {
      number += 1;
      const numbers = numbersOf(item, number);
      const next = () => {
        const value = numbers.shift();
        if (value === undefined) throw new ScopesError(`item ${number} ("${item.slice(0, 40)}") is too short`);
        return value;
      };
      const kind = next();
      if (kind === tag.empty) this.source += 1;
      else if (kind === tag.scopeStart) this.startScope(next);
      else if (kind === tag.scopeEnd) this.endScope(next, number);
      else if (kind === tag.rangeStart) this.startRange(next, number);
      else if (kind === tag.rangeEnd) this.endRange(numbers, next, number);
      // Variables, bindings and call sites name no function; so does what later versions add.
    }
    if (this.open || this.openRanges.length > 0) throw new ScopesError(`after item ${number}, a scope or a range is not ended`);
  }

  /** @param {() => number} next */
  startScope(next) {
    const flags = next();
    const at = Reader.move(this.state, next(), next());
    let name = null;
    if (flags & flag.name) {
      this.state.name += signed(next());
      name = this.names[this.state.name] ?? null;
    }
    if (flags & flag.kind) next();
    this.open = { source: this.source, at, name, isFunction: (flags & flag.scopeIsFunction) !== 0, around: this.open };
    this.items.push(this.open);
  }

  /** @param {() => number} next @param {number} number */
  endScope(next, number) {
    if (!this.open) throw new ScopesError(`item ${number} ends a scope, but none is open`);
    Reader.move(this.state, next(), next());
    this.open = this.open.around;
    if (this.open) return;
    this.source += 1;
    this.state.line = this.state.column = 0;
  }

  /** @param {() => number} next @param {number} number */
  startRange(next, number) {
    const flags = next();
    const from = Reader.move(this.range, flags & flag.line ? next() : 0, next());
    let item = null;
    if (flags & flag.definition) {
      this.range.definition += signed(next());
      item = this.items[this.range.definition] ?? null;
      if (!item) throw new ScopesError(`item ${number} is of scope ${this.range.definition}; there are ${this.items.length}`);
    }
    this.openRanges.push({ from, isFunction: (flags & flag.rangeIsFunction) !== 0, item });
  }

  /** @param {number[]} numbers @param {() => number} next @param {number} number */
  endRange(numbers, next, number) {
    const open = this.openRanges.pop();
    if (!open) throw new ScopesError(`item ${number} ends a range, but none is open`);
    const to = Reader.move(this.range, numbers.length > 1 ? next() : 0, next());
    if (open.isFunction) this.ranges.push({ from: open.from, to, item: open.item });
  }
}

/** Returns the functions of the older form, in the order of Reader's. @param {PlainMap} map @param {string[]} names */
function olderRanges({ originalScopes = [], generatedRanges = '' }, names) {
  const items = originalScopes.map((text, source) => {
    /** @type {{ item: Item, to: Place }[]} */
    const open = [];
    return decodeOriginalScopes(text ?? '').map((scope) => {
      const at = /** @type {Place} */ ([scope[0], scope[1]]);
      while (open.length > 0 && compare(open[open.length - 1].to, at) <= 0) open.pop();
      /** @type {Item} */
      const item = {
        source, at, name: scope.length === 6 ? names[scope[5]] ?? null : null, isFunction: names[scope[4]] === 'function', around: open.at(-1)?.item ?? null,
      };
      open.push({ item, to: [scope[2], scope[3]] });
      return item;
    });
  });
  return decodeGeneratedRanges(generatedRanges).filter(({ isScope }) => isScope).map((range) => ({
    from: /** @type {Place} */ ([range[0], range[1]]), to: /** @type {Place} */ ([range[2], range[3]]),
    item: range.length === 6 ? items[range[4]]?.[range[5]] ?? null : null,
  }));
}

/** @param {PlainMap} map @param {string[]} names */
function rangesOfMap(map, names) {
  if (typeof map.scopes === 'string') {
    const reader = new Reader(names);
    reader.read(map.scopes);
    return reader.ranges;
  }
  try {
    return olderRanges(map, names);
  } catch (error) {
    throw new ScopesError(`originalScopes and generatedRanges: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Returns the functions of a bundle, by place; none if the map has no scopes.
 * @param {MapJson} map
 * @returns {Range[]}
 */
export function rangesOf(map) {
  let sources = 0;
  /** @param {MapJson} part @param {Place} offset of a section @returns {Range[]} */
  const rangesOfPart = (part, offset) => {
    if (part.sections) {
      return part.sections.flatMap(({ map: inner, offset: { line, column } }) => rangesOfPart(inner, [offset[0] + line, column + (line === 0 ? offset[1] : 0)]));
    }
    const first = sources;
    sources += part.sources?.length ?? 0;
    return movedRanges(part, offset, first);
  };
  return rangesOfPart(map, [0, 0]).sort((a, b) => compare(a.from, b.from));
}

/** @param {PlainMap} map @param {Place} offset of a section @param {number} firstSource index of its first source in the whole map @returns {Range[]} */
function movedRanges(map, offset, firstSource) {
  if (map.scopes === undefined && map.generatedRanges === undefined) return [];
  const moved = (/** @type {Place} */ [line, column]) => /** @type {Place} */ ([line + offset[0], line === 0 ? column + offset[1] : column]);
  return rangesOfMap(map, map.names ?? []).map(({ from, to, item }) => {
    const around = functionOf(item);
    const scope = around && around.source < (map.sources?.length ?? 0) ? { source: firstSource + around.source, at: around.at, name: around.name } : null;
    return { from: moved(from), to: moved(to), scope };
  });
}

/**
 * Returns the range of a function: the first one that begins in it, at the latest with its body, and has the body in it.
 * @param {Range[]} ranges by place @param {Place} from where the function begins @param {Place} body just inside of its body
 */
export function rangeAt(ranges, from, body) {
  let low = 0;
  for (let high = ranges.length; low < high;) {
    const middle = (low + high) >> 1;
    if (compare(ranges[middle].from, from) < 0) low = middle + 1;
    else high = middle;
  }
  for (; low < ranges.length && compare(ranges[low].from, body) <= 0; low += 1) {
    if (compare(ranges[low].to, body) > 0) return ranges[low];
  }
  return null;
}
