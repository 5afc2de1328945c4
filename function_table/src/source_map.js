// SPDX-License-Identifier: Apache-2.0
/** Reads source maps (ECMA-426), and finds out whether they are broken. Messages have places, never the map's text. */

/** @typedef {import('./scopes.js').MapJson} MapJson */
/** @typedef {import('./scopes.js').PlainMap & { mappings: string, sources: (string | null)[] }} PlainMap */
/** Line and column in a bundle, from 0. @typedef {import('./scopes.js').Place} Place */

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** Values of the digits by their codes; -1: not a digit. */
const digitOf = Int8Array.from({ length: 128 }, (_, code) => digits.indexOf(String.fromCharCode(code)));
const [comma, semicolon] = [...',;'].map((char) => char.charCodeAt(0));
const longestNumber = 7;
/** Lines and columns of a table are from 1 on and fit 32 bits with a sign. */
const mostPlace = 2 ** 31 - 2;

/** @param {unknown} value @returns {value is Record<string, unknown>} */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {unknown} value */
const isPlace = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= mostPlace;

/** @param {number} line @param {number} column from 0 */
const placeText = (line, column) => `${line + 1}:${column + 1}`;

/** Returns the map that a text is. Throws an Error that says what is wrong. @param {string} text @returns {MapJson} */
export function parseMap(text) {
  let json;
  try {
    json = JSON.parse(text.replace(/^\uFEFF/, '').replace(/^\)\]\}'[^\n]*\n/, ''));
  } catch (error) {
    const place = /** @type {Error} */ (error).message.match(/position (\d+)/)?.[1];
    throw new Error(`not JSON${place === undefined ? '' : `, at character ${place}`}`);
  }
  checkMap(json, '');
  return completed(json);
}

/** Returns a map with as many contents as sources, and an empty map for a section that has none. @param {any} map @returns {MapJson} */
function completed(map) {
  if (map.sections) return { ...map, sections: map.sections.map((/** @type {any} */ section) => ({ ...section, map: completed(section.map ?? emptyMap) })) };
  return { ...map, version: 3, sourcesContent: map.sources.map((/** @type {unknown} */ _, /** @type {number} */ index) => map.sourcesContent?.[index] ?? null) };
}

const emptyMap = { version: 3, sources: [], names: [], mappings: '' };

/** Throws if a map is broken. @param {unknown} map @param {string} at the section that it is of; '' for a whole map @returns {Place | null} the last place that is mapped; null: none is */
function checkMap(map, at) {
  if (!isObject(map)) throw new Error(`${at}not an object`);
  if (map.version !== 3 && map.version !== '3') throw new Error(`${at}${map.version === undefined ? 'has no version' : 'is of another version'}; version 3 is known`);
  if (map.sections !== undefined) return checkSections(map.sections, at);
  for (const [name, isRight, wanted] of members) if (!isRight(map[name])) throw new Error(`${at}${name} is not ${wanted}`);
  return checkMappings(/** @type {PlainMap} */ (/** @type {unknown} */ (map)), at);
}

/** @param {unknown} value */
const isText = (value) => typeof value === 'string';

/** Returns a check for a member that may be left out. @param {(value: unknown) => boolean} check @returns {(value: unknown) => boolean} */
const isNoneOr = (check) => (value) => value === undefined || value === null || check(value);

/** @type {[string, (value: unknown) => boolean, string][]} */
const members = [
  ['mappings', isText, 'a text'],
  ['sources', (value) => Array.isArray(value) && value.every(isNoneOr(isText)), 'an array of texts'],
  ['sourcesContent', isNoneOr(Array.isArray), 'an array'],
  ['names', isNoneOr(Array.isArray), 'an array'],
  ['ignoreList', isNoneOr(Array.isArray), 'an array'],
  ['x_google_ignoreList', isNoneOr(Array.isArray), 'an array'],
  ['sourceRoot', isNoneOr(isText), 'a text'],
];

/** @param {Place} a @param {Place} b */
const isBefore = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

/** Throws if sections of an index map are broken, not in order, or overlap. @param {unknown} sections @param {string} at @returns {Place | null} the last place that is mapped */
function checkSections(sections, at) {
  if (!Array.isArray(sections)) throw new Error(`${at}sections is not an array`);
  /** @type {Place | null} */
  let before = null;
  /** @type {Place | null} */
  let end = null;
  for (const [index, section] of sections.entries()) {
    const here = `${at}section ${index + 1}: `;
    const from = offsetOf(section, here);
    if (before && isBefore(from, before)) throw new Error(`${here}begins at ${placeText(...from)}, before the section before it`);
    // A map may end with a mapping of the place where the next one begins.
    if (end && (isBefore(from, end) || (before && !isBefore(before, from)))) throw new Error(`${here}begins at ${placeText(...from)}, but the section before it has a mapping at ${placeText(...end)}`);
    before = from;
    // Metro writes null for a script without a map; older maps name the map's URL.
    const last = section.map === null || (section.map === undefined && typeof section.url === 'string') ? null : checkMap(section.map, here);
    end = last && [from[0] + last[0], last[1] + (last[0] === 0 ? from[1] : 0)];
  }
  return end;
}

/** @param {any} section @param {string} at @returns {Place} */
function offsetOf(section, at) {
  const { line, column } = section?.offset ?? {};
  if (!isPlace(line) || !isPlace(column)) throw new Error(`${at}has no offset of a line and a column`);
  return [line, column];
}

/** Reads the numbers of mappings. */
class Numbers {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  /** True if the segment has no more numbers. */
  isEnd() {
    const code = this.text.charCodeAt(this.at);
    return this.at >= this.text.length || code === comma || code === semicolon;
  }

  /** Returns the next number, or what is wrong with it. @returns {number | string} */
  next() {
    let value = 0;
    for (let count = 0; count < longestNumber; count += 1) {
      if (this.isEnd()) return 'ends within a number';
      const digit = digitOf[this.text.charCodeAt(this.at)] ?? -1;
      if (digit < 0) return 'has a character that is not a base64 digit';
      value += (digit & 31) * 32 ** count;
      this.at += 1;
      if (digit < 32) return value % 2 ? -(value - 1) / 2 : value / 2;
    }
    return 'has a number that is too large';
  }
}

/** Throws if mappings cannot be read, or are of something that the map does not have. @param {PlainMap} map @param {string} at @returns {Place | null} the last place that is mapped */
function checkMappings({ mappings, sources, names }, at) {
  const reader = new Numbers(mappings);
  /** Column in the bundle, source, its line and column, name: each segment has what is added. */
  const state = [0, 0, 0, 0, 0];
  /** @type {Place | null} */
  let last = null;
  let line = 0;
  let number = 1;
  for (;;) {
    const count = readSegment(reader, state, number, line, at);
    const wrong = wrongPlace(state, count, sources.length, names?.length ?? 0);
    if (wrong) throw new Error(`${at}the mapping at ${placeText(line, state[0])} ${wrong}`);
    if (count > 0) last = [line, Math.max(state[0], last?.[0] === line ? last[1] : 0)];
    if (reader.at >= mappings.length) return last;
    const isNextLine = mappings.charCodeAt(reader.at) === semicolon;
    reader.at += 1;
    number = isNextLine ? 1 : number + 1;
    if (!isNextLine) continue;
    line += 1;
    state[0] = 0;
  }
}

/**
 * Reads a segment. Throws if it is broken.
 * @param {Numbers} reader @param {number[]} state @param {number} number of the segment in its line, from 1 @param {number} line @param {string} at
 * @returns {number} how many numbers it has; 0: the line has no segment
 */
function readSegment(reader, state, number, line, at) {
  let count = 0;
  const broken = (/** @type {string} */ wrong) => new Error(`${at}mapping ${number} of line ${line + 1} ${wrong}`);
  for (; !reader.isEnd(); count += 1) {
    const value = reader.next();
    if (typeof value === 'string') throw broken(value);
    if (count < state.length) state[count] += value;
  }
  const isEmptyLine = count === 0 && number === 1 && reader.text.charCodeAt(reader.at) !== comma;
  if (!isEmptyLine && count !== 1 && count !== 4 && count !== 5) throw broken(`has ${count} numbers; 1, 4 and 5 make sense`);
  return count;
}

/** Returns what is wrong with a segment's places; null: nothing. @param {number[]} state @param {number} count numbers of the segment @param {number} sources @param {number} names */
function wrongPlace([column, source, line, sourceColumn, name], count, sources, names) {
  if (!isPlace(column)) return 'begins before its line, or is too far away';
  if (count > 1 && !(source >= 0 && source < sources && isPlace(line) && isPlace(sourceColumn))) {
    return `is of line ${line + 1}, column ${sourceColumn + 1} of source ${source + 1}; ${thereAre(sources)}`;
  }
  return count > 4 && !(name >= 0 && name < names) ? `has name ${name + 1}; ${thereAre(names)}` : null;
}

/** @param {number} count */
const thereAre = (count) => (count === 1 ? 'there is 1' : `there are ${count}`);
