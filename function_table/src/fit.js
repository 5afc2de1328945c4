// SPDX-License-Identifier: Apache-2.0
/**
 * Fit: whether a source map belongs to a script. A map connects places of the script and its sources. Words that people
 * wrote are the same in script and source: strings, names of properties, and names too long for a minifier. In maps that
 * bundlers wrote themselves, nearly all words agree; if the script or a source was changed after the map was made,
 * nearly none do.
 */
import { decodedMappings } from '@jridgewell/trace-mapping';

/** @typedef {{ kind: 'string' | 'property' | 'name' | 'keyword' | 'middle', text: string }} Word */
/** Words compared, and how many of them are the same on both sides. @typedef {{ compared: number, agreeing: number }} Count */

/** Below this share of agreeing words, a map is of another script. Measured: 0.87 and more in maps that fit, 0.1 and less in others. */
const leastShare = 0.8;
/** A few words may differ by chance: a compiler may replace a string. */
const leastWords = 5;
/** In a script of fewer words, names must at least be where words begin: 0.28 and more are in maps that fit, and none is inside of a word. */
const leastNameShare = 0.25;
/** Around one function, where a map fits, fewer words may agree. */
const leastLocalShare = 0.5;
const wordsAround = 16;
const shortestWord = { string: 2, property: 4, name: 4 };

const keywords = new Set(`async await break case catch class const continue debugger default delete do else enum export extends false finally for
  from function get if import in instanceof let new null of return set static super switch this throw true try typeof undefined var void while with yield`.split(/\s+/));
const isWordPart = /[\p{ID_Continue}$\u200c\u200d]/u;
const wordOrString = /[\p{ID_Start}$_#][\p{ID_Continue}$\u200c\u200d]*|(["'`])((?:\\[^]|(?!\1)[^\\])*)\1/uy;
const access = /\s{0,40}(?:\?\.|\.(?!\.))\s{0,40}/y;

/** Returns the word that begins at an offset; null: none does. @param {string} text @param {number} offset @returns {Word | null} */
function wordAt(text, offset) {
  if (isWordPart.test(text[offset - 1] ?? '') && isWordPart.test(text[offset] ?? '')) return { kind: 'middle', text: '' };
  // Some compilers map a property where its dot is.
  access.lastIndex = offset;
  const start = access.test(text) ? access.lastIndex : offset;
  const isProperty = start > offset || (text[offset - 1] === '.' && text[offset - 2] !== '.');
  wordOrString.lastIndex = start;
  const found = wordOrString.exec(text);
  if (!found) return null;
  if (found[1]) return { kind: 'string', text: found[2].replace(/\\(.)/g, '$1') };
  if (isProperty) return { kind: 'property', text: found[0] };
  return { kind: keywords.has(found[0]) ? 'keyword' : 'name', text: found[0] };
}

/** True for a word that people wrote. @param {Word} word */
const isTelling = ({ kind, text }) => kind !== 'keyword' && kind !== 'middle' && text.length >= shortestWord[kind];

/** @param {Word | null} word */
const isName = (word) => word?.kind === 'name' || word?.kind === 'property';

/**
 * Returns whether the words of two connected places agree; null: they say nothing. Compilers rename variables, and
 * replace code of one kind by that of another; so words of different kinds, and different variables, say nothing.
 * @param {Word | null} written @param {Word | null} built
 */
function agreement(written, built) {
  if (!written || !built || (!isTelling(written) && !isTelling(built))) return null;
  if (written.kind === 'middle' || built.kind === 'middle') return false;
  if (written.text === built.text) return true;
  if (written.kind !== built.kind || written.kind === 'name' || !isTelling(built)) return null;
  // Bundlers complete names of modules, and join texts.
  return written.kind === 'string' && (built.text.includes(written.text) || written.text.includes(built.text)) ? null : false;
}

/**
 * True if the counted words suffice to say that the map belongs to another script. @param {Count} count @param
 * {number} share
 */
const isMisfit = ({ compared, agreeing }, share) => (compared >= leastWords ? agreeing < compared * share : compared > 1 && agreeing === 0);

/** Evidence from the words of a script and its sources. */
export class Fit {
  /** @param {string} script @param {number[]} starts of its lines @param {import('@jridgewell/trace-mapping').TraceMap} map @param {{ get: (index: number) => { text: string, starts: number[] } | null }} sources */
  constructor(script, starts, map, sources) {
    /** @type {Count} */
    this.all = { compared: 0, agreeing: 0 };
    /** Names of any length, and how many of them are where a word begins. @type {Count} */
    this.names = { compared: 0, agreeing: 0 };
    /** How many of them are inside of a word. */
    this.inside = 0;
    /** @type {Map<number, Count>} */
    this.bySource = new Map();
    /** Compared words in the order of the script. @type {{ offset: number, source: number, agrees: boolean }[]} */
    this.words = [];
    for (const [line, segments] of decodedMappings(map).entries()) {
      for (const segment of segments) {
        const source = segment.length > 1 ? sources.get(/** @type {number} */ (segment[1])) : null;
        if (source) this.#compare(script, (starts[line] ?? script.length) + segment[0], source, /** @type {number[]} */ (/** @type {unknown} */ (segment)));
      }
    }
    // A changed source is not evidence about the script around it.
    this.words = this.words.filter(({ source }) => !this.isSourceMisfit(source));
  }

  /** @param {string} script @param {number} offset @param {{ text: string, starts: number[] }} source @param {readonly number[]} segment */
  #compare(script, offset, source, [, index, line, column]) {
    const start = source.starts[line];
    // A place that the source does not have belongs to another version of it.
    const [written, built] = [start === undefined ? null : wordAt(source.text, start + column), wordAt(script, offset)];
    if (isName(written)) {
      this.names.compared += 1;
      if (built?.kind === 'middle') this.inside += 1;
      if (isName(built) || built?.kind === 'keyword') this.names.agreeing += 1;
    }
    const agrees = start === undefined ? false : agreement(written, built);
    if (agrees === null) return;
    const own = this.bySource.get(index) ?? { compared: 0, agreeing: 0 };
    this.bySource.set(index, own);
    for (const count of [this.all, own]) {
      count.compared += 1;
      if (agrees) count.agreeing += 1;
    }
    this.words.push({ offset, source: index, agrees });
  }

  /** True if the map is of another script, or the script was changed after the map was made. */
  isMisfit() {
    if (!this.#hasFewWords()) return isMisfit(this.all, leastShare);
    const { agreeing, compared } = this.names;
    return isMisfit(this.all, leastShare) || isMisfit({ agreeing, compared: compared + 2 * this.inside }, leastNameShare);
  }

  #hasFewWords() {
    return this.all.compared < leastWords;
  }

  /** True if the map is of another text of this source. @param {number} index */
  isSourceMisfit(index) {
    const count = this.bySource.get(index);
    return count !== undefined && isMisfit(count, leastLocalShare);
  }

  /** True if the script was changed around this place. @param {number} offset */
  isMisfitAt(offset) {
    let low = 0;
    for (let high = this.words.length; low < high;) {
      const middle = (low + high) >> 1;
      if (this.words[middle].offset < offset) low = middle + 1;
      else high = middle;
    }
    const from = Math.max(0, Math.min(low - wordsAround / 2, this.words.length - wordsAround));
    const around = this.words.slice(from, from + wordsAround);
    return isMisfit({ compared: around.length, agreeing: around.filter(({ agrees }) => agrees).length }, leastLocalShare);
  }

  /** Says how many words agree. */
  toString() {
    const { agreeing, compared } = this.#hasFewWords() ? this.names : this.all;
    return `${agreeing} of ${compared} mapped words agree`;
  }
}
