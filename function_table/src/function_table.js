// SPDX-License-Identifier: Apache-2.0
/**
 * Function table: the functions of a bundled script, each with its name, source and place before bundling.
 *
 * V8 reports where a function begins, so the places in profiles are known when a script is built. A function's name is
 * the name of the original function around the place that the map gives. Names in maps do not help: at the start of an
 * arrow function a map names the first parameter. Scopes help, where a map has them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { AnyMap, decodedMappings, traceSegment } from '@jridgewell/trace-mapping';

import { Fit } from './fit.js';
import { helperName, helperSource } from './helpers.js';
import { nameText, packageText, sourceText } from './limits.js';
import { parse } from './parse.js';
import { rangeAt, rangesOf, ScopesError } from './scopes.js';
import { parseMap } from './source_map.js';
import { classOfField, definitionsOf, enclosing, isClass, matching, nameOf } from './syntax.js';

/** A place in an original source: its index in the map, which may have several sources of one name; line from 1, column from 0. @typedef {{ source: number, line: number, column: number }} Mapping */

/** @typedef {{ line: number, column: number, function: string | null, source: string, sourceLine: number, sourceColumn: number, package: string, isIgnored: boolean }} Row */

export const version = 1;

/** The file name of a whole build's table. */
export const tableName = 'function-table.jsonl';

const mostFunctions = 500_000;

/** A file that cannot be read, or makes no sense; the message says which and why. */
export class TableError extends Error {}

/** A map without sources, of a script that has more than known helpers. */
export class EmptyMapError extends TableError {}

/** Returns the text of a file, without a byte order mark: browsers do not count it. @param {string} file */
function read(file) {
  let bytes;
  try {
    bytes = fs.readFileSync(file);
  } catch (error) {
    throw new TableError(`${file}: ${/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT' ? 'no such file' : /** @type {Error} */ (error).message}`);
  }
  try {
    return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw new TableError(`${file}: not gzip: ${/** @type {Error} */ (error).message}`);
  }
}

/** Returns the text that a URL has in percent encoding; the text itself if its encoding is broken. @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the source map that a script has, that the build wrote for it, or that lies beside it. @param {string} file @param {string} script @param {string} [built] path @returns {{ name: string, text: string }} */
function mapOf(file, script, built) {
  const named = [...script.matchAll(/^[ \t]*\/[/*][#@][ \t]*sourceMappingURL=([^\s'"*]+)/gm)].at(-1)?.[1];
  const data = named?.match(/^data:application\/json[^,]*?(;base64)?,(.*)$/);
  if (data) return { name: `${file}: source map`, text: data[1] ? Buffer.from(data[2], 'base64').toString('utf8') : decoded(data[2]) };
  const plain = file.replace(/\.gz$/, '');
  const candidates = [
    ...(built ? [built] : []),
    ...(named && !/^[a-z][a-z0-9+.-]*:/i.test(named) ? [path.resolve(path.dirname(file), decoded(named.replace(/[?#].*$/, '')))] : []),
    `${plain}.map`,
  ].flatMap((name) => [name, `${name}.gz`]);
  const found = candidates.find((name) => fs.existsSync(name));
  if (!found) throw new TableError(`${file}: has no source map: it names none, and there is no ${path.basename(plain)}.map beside it. Build with source maps (esbuild --sourcemap, Vite build.sourcemap, webpack devtool); hidden ones do.`);
  return { name: found, text: read(found) };
}

/** Offsets at which lines begin, as V8 counts them. @param {string} text */
function linesOf(text) {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|[\n\r\u2028\u2029]/g)) starts.push(index + end.length);
  return starts;
}

/** @param {number[]} starts @param {number} offset @returns {[number, number]} line and column, from 0 */
function placeOf(starts, offset) {
  let low = 0;
  for (let high = starts.length; high - low > 1;) {
    const middle = (low + high) >> 1;
    if (starts[middle] <= offset) low = middle;
    else high = middle;
  }
  return [low, offset - starts[low]];
}

/** A source of a bundler's own scheme; Turbopack calls the directory of the project `[project]`. */
const virtualPath = /^[a-z][a-z0-9+.-]*:\/\/[^/]*\/(?:\[project\]\/)?(.*)$/i;

/** Returns a source's path without what only the build machine knows. @param {string} source @param {string} root @param {string} [dir] where the map lies @param {string} [context] where webpack's paths begin */
export function sourcePath(source, root, dir = root, context = root) {
  const code = source.match(/^(?:dataurl:|webpack:\/\/[^/]*\/)?(data:[^,;]*)/i);
  if (code) return code[1].toLowerCase();
  const base = `${root.replace(/\\/g, '/').replace(/\/$/, '')}/`;
  const made = source.match(/(?:^|\/)(virtual:[^?]*)/);
  if (made) return decoded(made[1]).replaceAll(base, '');
  // Rollup marks a module without a file with U+0000.
  const mark = source.includes('\0') ? '\0' : '';
  let name = source.replaceAll('\0', '').replace(/\\/g, '/');
  if (/^file:/i.test(name)) name = decoded(name.replace(/^file:(?:\/\/[^/]*)?/i, '').replace(/[?#].*$/, '')).replace(/^\/(?=[a-z]:\/)/i, '');
  // In a path, # is an ordinary character; text after a ? is the bundler's.
  else name = name.replace(/^[a-z][a-z0-9+.-]+:/i.test(name) ? /[?#].*$/ : /\?.*$/, '');
  // webpack://name/./src/a.js, webpack:///src/a.js; resolved, all are without dots, also webpack's own
  // webpack/runtime/x
  const virtual = name.match(virtualPath)?.[1];
  if (virtual !== undefined) {
    const file = path.resolve(context, virtual);
    name = fs.existsSync(file) ? file.split(path.sep).join('/') : virtual;
  }
  const modules = name.lastIndexOf('/node_modules/');
  if (modules >= 0) return name.slice(modules + 1);
  if (name.startsWith('../')) name = path.resolve(dir, name).split(path.sep).join('/');
  if (name.startsWith(base)) name = name.slice(base.length);
  const left = path.posix.normalize(name).replace(/^(?:\.\.\/)+|^\//, '');
  return mark + (/^\.{0,2}\/?$/.test(left) ? '(unknown)' : left);
}

/** Sources of the bundlers' own code. A site may have a folder of the same name, so files are named where they are few. */
const bundlerCode = [
  /^(?:\0|virtual:|rolldown:|\(webpack\)|\[turbopack\]\/)/,
  /^webpack\/(?:(?:runtime|container|sharing|scc)\/|(?:bootstrap|(?:before-|after-)?startup|universalModuleDefinition)$)/,
  /^vite\/(?:(?:preload|dynamic-import|wasm)-helper|modulepreload-polyfill|legacy-polyfills)\b/,
];

/** Returns the npm package of a source; '' if it has none. @param {string} source */
export function packageOf(source) {
  const inside = source.split('node_modules/').at(-1) ?? '';
  if (inside !== source) return inside.match(/^(@[^/]+\/[^/]+|[^/]+)\//)?.[1] ?? '';
  return bundlerCode.some((start) => start.test(source)) ? '(bundler)' : '';
}

/** The sources of a map by their indexes, parsed when they are needed. */
class Sources {
  /** @param {import('@jridgewell/trace-mapping').TraceMap} map @param {string} dir where the map lies @param {string} context where webpack's paths begin */
  constructor(map, dir, context) {
    this.map = map;
    this.dir = dir;
    this.context = context;
    /** @type {Map<number, { text: string, starts: number[] } | null>} */
    this.read = new Map();
    /** @type {Map<number, import('@lezer/common').Tree>} */
    this.trees = new Map();
  }

  /** Returns the text of a source and where its lines begin; null: nobody has it. @param {number} index */
  get(index) {
    let known = this.read.get(index);
    if (known === undefined) {
      const content = /** @type {unknown} */ (this.map.sourcesContent?.[index]);
      const text = typeof content === 'string' ? content : this.#fromDisk(this.nameOf(index));
      known = text === null ? null : { text, starts: linesOf(text) };
      this.read.set(index, known);
    }
    return known;
  }

  /** Returns the syntax tree of a source that get() has. @param {number} index @param {string} text */
  treeOf(index, text) {
    const tree = this.trees.get(index) ?? parse(text, this.nameOf(index).replace(/[?#].*$/, ''));
    this.trees.set(index, tree);
    return tree;
  }

  /** Returns a source's name as the map has it; '' if it has none. @param {number} index */
  nameOf(index) {
    return this.map.resolvedSources[index] ?? '';
  }

  /** @param {string} source */
  #fromDisk(source) {
    // With a query, webpack's path names code that a loader made.
    const virtual = source.match(/^webpack:\/\/[^/]*\/([^?]+)$/)?.[1];
    const file = path.resolve(virtual === undefined ? this.dir : this.context, virtual ?? source);
    return (virtual !== undefined || !/^[a-z][a-z0-9+.-]+:/i.test(source)) && fs.existsSync(file) && fs.statSync(file).isFile() ? read(file) : null;
  }
}

/**
 * Returns a definition's original function by the scopes of the map; null: they have none.
 * @param {import('./syntax.js').Definition} definition @param {Bundle & { ranges: import('./scopes.js').Range[] }} bundle
 * @returns {{ at: Mapping, name: string } | null}
 */
function scoped({ kind, from, body }, { ranges, starts, sources }) {
  if (ranges.length === 0 || kind === 'class') return null;
  const scope = rangeAt(ranges, placeOf(starts, from), placeOf(starts, body))?.scope;
  // Where a scope has no name, or only that of all constructors, the source may say more.
  if (!scope || !scope.name || scope.name === 'constructor') return null;
  return { at: { source: scope.source, line: scope.at[0] + 1, column: scope.at[1] }, name: qualified(scope.name, scope, sources) };
}

/** Returns a scope's name with its class, where the source says it. @param {string} name @param {import('./scopes.js').Scope} scope @param {Sources} sources */
function qualified(name, { source: index, at: [line, column] }, sources) {
  const source = sources.get(index);
  const node = source && source.starts[line] !== undefined ? enclosing(sources.treeOf(index, source.text), source.starts[line] + column) : null;
  const written = node && source ? nameOf(node, source.text) : '';
  return written.endsWith(`.${name}`) ? written : name;
}

/**
 * A bundle and its map.
 * @typedef {{ map: import('@jridgewell/trace-mapping').TraceMap, sources: Sources, tree: import('@lezer/common').Tree, starts: number[] }} Bundle
 */

const mostSegments = 1000;

/**
 * Returns the segments that are of a definition alone, by place: the last one before its beginning, then those in its
 * body that no function inside of it has.
 * @param {import('./syntax.js').Definition} definition @param {Bundle} bundle
 * @returns {Generator<{ at: Mapping, isHead: boolean }>}
 */
function* segmentsOf({ offset, from, to, owner }, { map, tree, starts }) {
  const lines = decodedMappings(map);
  const [firstLine, column] = placeOf(starts, offset);
  let looked = 0;
  for (let line = firstLine; line < lines.length && starts[line] < to; line += 1) {
    const segments = lines[line];
    let next = line === firstLine ? upperBound(segments, column) : 0;
    const before = line === firstLine ? segments[next - 1] : undefined;
    if (before && before.length > 1 && starts[line] + before[0] >= from) yield { at: mapping(before), isHead: true };
    for (; next < segments.length && starts[line] + segments[next][0] < to; next += 1) {
      if ((looked += 1) > mostSegments) return;
      const segment = segments[next];
      if (segment.length > 1 && enclosing(tree, starts[line] + segment[0])?.from === owner) yield { at: mapping(segment), isHead: false };
    }
  }
}

/** Returns how many segments begin at a column or before it. @param {readonly import('@jridgewell/trace-mapping').SourceMapSegment[]} segments @param {number} column */
function upperBound(segments, column) {
  let low = 0;
  for (let high = segments.length; low < high;) {
    const middle = (low + high) >> 1;
    if (segments[middle][0] <= column) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {readonly number[]} segment of four or five @returns {Mapping} */
const mapping = (segment) => ({ source: segment[1], line: segment[2] + 1, column: segment[3] });

/**
 * Returns a definition's original function; null: the map does not know.
 * @param {import('./syntax.js').Definition} definition @param {Bundle} bundle
 * @returns {{ at: Mapping, name: string | null } | null}
 */
function original(definition, bundle) {
  const known = mapped(definition, bundle);
  return known && known.name === null && definition.kind === 'function' ? constructed(definition, bundle) ?? known : known;
}

/**
 * Returns the class that a compiler has made this function, because it initializes fields of instances; null: none.
 * @param {import('./syntax.js').Definition} definition @param {Bundle} bundle
 * @returns {{ at: Mapping, name: string } | null}
 */
function constructed(definition, bundle) {
  for (const { at } of segmentsOf(definition, bundle)) {
    const source = bundle.sources.get(at.source);
    const start = source?.starts[at.line - 1];
    const node = source && start !== undefined ? classOfField(bundle.sources.treeOf(at.source, source.text), start + at.column) : null;
    if (source && node) return { at: placeIn(source, at.source, node), name: nameOf(node, source.text) };
  }
  return null;
}

/** @param {{ starts: number[] }} source @param {number} index of it @param {import('@lezer/common').SyntaxNode} node @returns {Mapping} where a node begins */
function placeIn({ starts }, index, node) {
  const [line, column] = placeOf(starts, node.from);
  return { source: index, line: line + 1, column };
}

/**
 * Returns the function that the map names; null: it names none. Compilers insert functions: one whose beginning is
 * mapped into another function's body, or not at all, is not a function of the source, unless its own code is.
 * @param {import('./syntax.js').Definition} definition @param {Bundle} bundle
 * @returns {{ at: Mapping, name: string | null } | null}
 */
function mapped(definition, bundle) {
  let unnamed = null;
  for (const { at, isHead } of segmentsOf(definition, bundle)) {
    const source = bundle.sources.get(at.source);
    if (!source) return { at, name: mappedName(definition, bundle.map, bundle.starts) };
    const start = source.starts[at.line - 1];
    const tree = bundle.sources.treeOf(at.source, source.text);
    const node = start === undefined ? null : matching(definition, tree, start + at.column, isHead);
    if (node && !isHead && isClass(node) && definition.kind === 'function' && !isAllOf(node, at.source, definition, bundle)) return { at, name: null };
    if (node && isHead) return { at, name: nameOf(node, source.text) };
    if (node) return { at: placeIn(source, at.source, node), name: nameOf(node, source.text) };
    unnamed = { at, name: null };
    if (!isHead) break;
  }
  return unnamed;
}

/**
 * True if all code of a function comes from this class, which a compiler has made a function: a bundler's wrapper has
 * more in it.
 * @param {import('@lezer/common').SyntaxNode} node @param {number} index of its source @param {import('./syntax.js').Definition} definition @param {Bundle} bundle
 */
function isAllOf(node, index, definition, bundle) {
  const starts = bundle.sources.get(index)?.starts ?? [];
  for (const { at } of segmentsOf(definition, bundle)) {
    const offset = (starts[at.line - 1] ?? -1) + at.column;
    if (at.source !== index || offset < node.from || offset > node.to) return false;
  }
  return true;
}

/** Returns the name that the map has for the function's own identifier; null: none. @param {import('./syntax.js').Definition} definition @param {import('@jridgewell/trace-mapping').TraceMap} map @param {number[]} starts */
function mappedName(definition, map, starts) {
  if (!definition.name) return null;
  const [line, column] = placeOf(starts, definition.name.from);
  const segment = traceSegment(map, line, column);
  // A segment that begins before the identifier belongs to other code.
  const name = /** @type {unknown} */ (segment?.length === 5 && segment[0] === column ? map.names[segment[4]] : null);
  return typeof name === 'string' ? name : null;
}

/** @param {string} text @param {string} name for errors */
function readMap(text, name) {
  try {
    const json = parseMap(text);
    return { map: new AnyMap(/** @type {any} */ (json)), ranges: rangesOf(json) };
  } catch (error) {
    throw new TableError(`${name}: ${error instanceof ScopesError ? 'broken scopes' : 'not a source map'}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * True if no code of a definition comes from a source.
 * @param {import('./syntax.js').Definition} definition @param {Bundle} bundle
 */
function isUnmapped({ from, to }, { map, starts }) {
  const lines = decodedMappings(map);
  const [firstLine, column] = placeOf(starts, from);
  for (let line = firstLine; line < lines.length && starts[line] < to; line += 1) {
    const segments = lines[line];
    for (let next = line === firstLine ? upperBound(segments, column - 1) : 0; next < segments.length && starts[line] + segments[next][0] < to; next += 1) {
      if (segments[next].length > 1) return false;
    }
  }
  return true;
}

/** Finds helpers in definitions that come in order: definitions inside a helper belong to it. */
class Helpers {
  /** @param {Bundle} bundle @param {string} script */
  constructor(bundle, script) {
    this.bundle = bundle;
    this.script = script;
    this.end = 0;
    this.name = '';
    this.count = 0;
  }

  /** Returns the row of a helper; null: the definition is none. @param {import('./syntax.js').Definition} definition @returns {Omit<Row, 'line' | 'column'> | null} */
  rowOf(definition) {
    if (definition.from >= this.end) {
      const node = isUnmapped(definition, this.bundle) ? enclosing(this.bundle.tree, definition.owner) : null;
      const name = node && helperName(node, this.script);
      if (!name) return null;
      this.end = definition.to;
      this.name = name;
    }
    this.count += 1;
    const [line, column] = placeOf(this.bundle.starts, definition.offset);
    return { function: nameText(this.name), source: helperSource, sourceLine: line + 1, sourceColumn: column + 1, package: helperSource, isIgnored: true };
  }
}

/**
 * Returns what a definition was before; null: the map does not know. A name is null where the map does not fit its
 * source.
 * @param {import('./syntax.js').Definition} definition @param {Bundle & { ranges: import('./scopes.js').Range[] }} bundle @param {Fit} fit
 * @returns {{ at: Mapping, name: string | null } | null}
 */
function found(definition, bundle, fit) {
  if (fit.isMisfitAt(definition.offset)) return null;
  const known = scoped(definition, bundle) ?? original(definition, bundle);
  return known && fit.isSourceMisfit(known.at.source) ? { at: known.at, name: null } : known;
}

/** Places of functions by source, made once for each source. */
class Origins {
  /** @param {Bundle['map']} map @param {Sources} sources @param {string} root @param {string} dir @param {string} context */
  constructor(map, sources, root, dir, context) {
    this.ignored = new Set(map.ignoreList ?? []);
    /** @type {Map<number, { source: string, package: string, isIgnored: boolean }>} */
    this.known = new Map();
    this.make = (/** @type {number} */ index) => {
      const path = sourcePath(sources.nameOf(index), root, dir, context);
      const ownPackage = packageText(packageOf(path));
      return { source: sourceText(path), package: ownPackage, isIgnored: ownPackage !== '' || this.ignored.has(index) };
    };
  }

  /** @param {number} index */
  of(index) {
    const known = this.known.get(index) ?? this.make(index);
    this.known.set(index, known);
    return known;
  }
}

/**
 * Returns the rows of a script, by place; lines and columns from 1, as profiles have them.
 * @param {{ script: string, map: string, name: string, dir?: string, root?: string, context?: string, isOwnMap?: boolean, warn?: (text: string) => void }} given texts; name: for messages;
 *   dir: where the map lies; root: paths below it lose it; context: where webpack's paths begin; isOwnMap: the bundler
 * itself says that the map is of this script: what does not fit is a warning;
 *   warn: takes what is odd, but does not make a table impossible
 * @returns {Row[]}
 */
export function rowsOf({ script, map: mapText, name, dir = '.', root = process.cwd(), context = root, isOwnMap = false, warn = () => {} }) {
  const { map, ranges } = readMap(mapText, name);
  const tree = parse(script, 'bundle.js');
  const definitions = definitionsOf(tree);
  if (definitions.length === 0) return [];
  const sources = new Sources(map, dir, context);
  const starts = linesOf(script);
  const bundle = { map, sources, tree, starts, ranges };
  const fit = new Fit(script, starts, map, sources);
  if (fit.isMisfit() && !isOwnMap) throw new TableError(misfitText(name, fit));
  const origins = new Origins(map, sources, root, dir, context);
  const helpers = new Helpers(bundle, script);
  /** @type {Map<number, Row>} */
  const rows = new Map();
  let mapped = 0;
  for (const definition of definitions) {
    if (rows.has(definition.offset)) continue;
    const row = helpers.rowOf(definition) ?? mappedRow(found(definition, bundle, fit), origins);
    if (!row) continue;
    if (row.source !== helperSource) mapped += 1;
    const [line, column] = placeOf(starts, definition.offset);
    rows.set(definition.offset, { ...row, line: line + 1, column: column + 1 });
  }
  // A bundler writes an empty map for a script of its helpers alone.
  const isExpected = isOwnMap || mapped > 0 || (map.sources.length === 0 && helpers.count === definitions.length);
  if (!isExpected && map.sources.length === 0) throw new EmptyMapError(`${name}: the source map has no sources`);
  if (!isExpected) throw new TableError(`${name}: the source map knows none of the ${definitions.length} functions: it is of another script, or they do not come from its sources`);
  if (rows.size > mostFunctions) throw new TableError(`${name}: has ${rows.size} functions; at most ${mostFunctions} fit in a table`);
  warnOfMisfits(name, fit, bundle, definitions, warn);
  return [...rows.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** @param {string} name @param {Fit} fit */
const misfitText = (name, fit) => `${name}: the source map does not fit the script: ${fit}. Was the script changed after the map was made, or is the map of another build?`;

/** Says which functions have no names because the map does not fit. @param {string} name @param {Fit} fit @param {Bundle} bundle @param {import('./syntax.js').Definition[]} definitions @param {(text: string) => void} warn */
function warnOfMisfits(name, fit, { sources, starts }, definitions, warn) {
  if (fit.isMisfit()) return warn(misfitText(name, fit));
  const [first, ...others] = [...fit.bySource.keys()].filter((index) => fit.isSourceMisfit(index));
  if (first !== undefined) {
    warn(`${name}: the source map does not fit ${sources.nameOf(first) || '(unknown)'}${others.length > 0 ? ` and ${others.length} more sources` : ''}: functions there stay without original names. Was it made for another text of the source?`);
  }
  const lost = definitions.filter(({ offset }) => fit.isMisfitAt(offset));
  if (lost.length === 0) return;
  const [line, column] = placeOf(starts, lost[0].offset);
  warn(`${name}: the source map does not fit the script around ${line + 1}:${column + 1}: ${lost.length} of ${definitions.length} functions stay without original names. Was the script changed after the map was made?`);
}

/** @param {{ at: Mapping, name: string | null } | null} known @param {Origins} origins */
function mappedRow(known, origins) {
  if (!known) return null;
  const { at, name } = known;
  return { function: name === null ? null : nameText(name), sourceLine: at.line, sourceColumn: at.column + 1, ...origins.of(at.source) };
}

/** Returns the table of a script as lines of JSON: one that names the script, then one per function. @param {string} script path below the URL prefix @param {Row[]} rows */
export function tableText(script, rows) {
  const head = { fleetprof_function_table: version, script, functions: rows.length };
  return `${[head, ...rows.map((row) => [row.line, row.column, row.function, row.source, row.sourceLine, row.sourceColumn, row.package, row.isIgnored])]
    .map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/**
 * Returns the table of a script file.
 * @param {string} file @param {{ base: string, root: string, map?: string, context?: string, isOwnMap?: boolean, warn?: (text: string) => void }} places base: the directory that URLs are relative to; map: path of the map, if the build says it
 */
export function tableOfFile(file, { base, root, map: built, context, isOwnMap, warn }) {
  const script = read(file);
  const map = mapOf(file, script, built);
  const rows = rowsOf({ script, map: map.text, name: map.name, dir: path.dirname(map.name.replace(/: source map$/, '')), root, context, isOwnMap, warn });
  return { rows, text: tableText(path.relative(base, file).split(path.sep).join('/').replace(/\.gz$/, ''), rows) };
}
