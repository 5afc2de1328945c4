/**
 * Function table: the functions of a bundled script, each with its name, source and place before bundling.
 *
 * V8 reports where a function begins, so the places that a profile can have are known when a script is built. The name
 * is that of the function in the original source around the place that the map gives. Names in maps do not help: at the
 * start of an arrow function a map names the first parameter. Scopes do, where a map has them.
 */
import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { AnyMap, decodedMappings, isIgnored, sourceContentFor, TraceMap, traceSegment } from '@jridgewell/trace-mapping';

import { nameText, packageText, sourceText } from './limits.js';
import { parse } from './parse.js';
import { rangeAt, rangesOf, ScopesError } from './scopes.js';
import { parseMap } from './source_map.js';
import { definitionsOf, enclosing, matching, nameOf } from './syntax.js';

/** A place in an original source; line from 1, column from 0. @typedef {{ source: string, line: number, column: number }} Mapping */

/** @typedef {{ line: number, column: number, function: string | null, source: string, sourceLine: number, sourceColumn: number, package: string, isIgnored: boolean }} Row */

export const version = 1;

/** What the table of a whole build is called. */
export const tableName = 'function-table.jsonl';

const mostFunctions = 500_000;

/** A file that cannot be read, or makes no sense; the message says which and why. */
export class TableError extends Error {}

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
  // In a path, # is a character like any other; what follows a ? is the bundler's.
  else name = name.replace(/^[a-z][a-z0-9+.-]+:/i.test(name) ? /[?#].*$/ : /\?.*$/, '');
  // webpack://name/./src/a.js, webpack:///src/a.js; resolved, all are without dots, also webpack's own webpack/runtime/x
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

/** The sources of a map, parsed when they are needed. */
class Sources {
  /** @param {import('@jridgewell/trace-mapping').TraceMap} map @param {string} dir where the map lies @param {string} context where webpack's paths begin */
  constructor(map, dir, context) {
    this.map = map;
    this.dir = dir;
    this.context = context;
    /** @type {Map<string, { tree: import('@lezer/common').Tree, text: string, starts: number[] } | null>} */
    this.parsed = new Map();
  }

  /** @param {string} source as the map has it */
  get(source) {
    let known = this.parsed.get(source);
    if (known === undefined) {
      const content = /** @type {unknown} */ (sourceContentFor(this.map, source));
      const text = typeof content === 'string' ? content : this.#fromDisk(source);
      known = text === null ? null : { tree: parse(text, source.replace(/[?#].*$/, '')), text, starts: linesOf(text) };
      this.parsed.set(source, known);
    }
    return known;
  }

  /** @param {string} source */
  #fromDisk(source) {
    // With a query, webpack's path is that of code which a loader made.
    const virtual = source.match(/^webpack:\/\/[^/]*\/([^?]+)$/)?.[1];
    const file = path.resolve(virtual === undefined ? this.dir : this.context, virtual ?? source);
    return (virtual !== undefined || !/^[a-z][a-z0-9+.-]+:/i.test(source)) && fs.existsSync(file) && fs.statSync(file).isFile() ? read(file) : null;
  }
}

/**
 * Returns what the scopes of the map say that a definition was; null: nothing.
 * @param {import('./syntax.js').Definition} definition @param {import('./scopes.js').Range[]} ranges @param {number[]} starts
 * @returns {{ at: Mapping, name: string } | null}
 */
function scoped({ kind, from, body }, ranges, starts) {
  if (ranges.length === 0 || kind === 'class') return null;
  const scope = rangeAt(ranges, placeOf(starts, from), placeOf(starts, body))?.scope;
  // Where a scope has no name, or only that of all constructors, the source may say more.
  return scope?.source && scope.name && scope.name !== 'constructor' ? { at: { source: scope.source, line: scope.at[0] + 1, column: scope.at[1] }, name: scope.name } : null;
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
    if (before && before.length > 1 && starts[line] + before[0] >= from) yield { at: mapping(map, before), isHead: true };
    for (; next < segments.length && starts[line] + segments[next][0] < to; next += 1) {
      if ((looked += 1) > mostSegments) return;
      const segment = segments[next];
      if (segment.length > 1 && enclosing(tree, starts[line] + segment[0])?.from === owner) yield { at: mapping(map, segment), isHead: false };
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

/** @param {Bundle['map']} map @param {readonly number[]} segment of four or five @returns {Mapping} */
const mapping = (map, segment) => ({ source: map.resolvedSources[segment[1]], line: segment[2] + 1, column: segment[3] });

/**
 * Returns what a definition was before; null: the map does not know. Compilers insert functions: one whose beginning is
 * mapped into another function's body, or not at all, is no function of the source, unless its own code is.
 * @param {import('./syntax.js').Definition} definition @param {Bundle} bundle
 * @returns {{ at: Mapping, name: string | null } | null}
 */
function original(definition, bundle) {
  let unnamed = null;
  for (const { at, isHead } of segmentsOf(definition, bundle)) {
    const source = bundle.sources.get(at.source);
    if (!source) return { at, name: mappedName(definition, bundle.map, bundle.starts) };
    const start = source.starts[at.line - 1];
    const node = start === undefined ? null : matching(definition, source.tree, start + at.column, isHead);
    if (node && isHead) return { at, name: nameOf(node, source.text) };
    if (node) {
      const [line, column] = placeOf(source.starts, node.from);
      return { at: { source: at.source, line: line + 1, column }, name: nameOf(node, source.text) };
    }
    unnamed = { at, name: null };
    if (!isHead) break;
  }
  return unnamed;
}

/** Returns the name that the map has for the function's own identifier; null: none. @param {import('./syntax.js').Definition} definition @param {import('@jridgewell/trace-mapping').TraceMap} map @param {number[]} starts */
function mappedName(definition, map, starts) {
  if (!definition.name) return null;
  const [line, column] = placeOf(starts, definition.name.from);
  const segment = traceSegment(map, line, column);
  // A segment that begins before the identifier is of something else.
  const name = /** @type {unknown} */ (segment?.length === 5 && segment[0] === column ? map.names[segment[4]] : null);
  return typeof name === 'string' ? name : null;
}

/** @param {string} text @param {string} name for errors */
function readMap(text, name) {
  try {
    const json = parseMap(text);
    return { map: new AnyMap(/** @type {any} */ (json)), ranges: rangesOf(json, (part) => new TraceMap(/** @type {any} */ (part)).resolvedSources) };
  } catch (error) {
    throw new TableError(`${name}: ${error instanceof ScopesError ? 'broken scopes' : 'not a source map'}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Returns the rows of a script, by place; lines and columns from 1, as profiles have them.
 * @param {{ script: string, map: string, name: string, dir?: string, root?: string, context?: string, isOwnMap?: boolean }} given texts; name: for errors;
 *   dir: where the map lies; root: paths below it lose it; context: where webpack's paths begin; isOwnMap: the map is known to be of this script, even if it knows none of its functions
 * @returns {Row[]}
 */
export function rowsOf({ script, map: mapText, name, dir = '.', root = process.cwd(), context = root, isOwnMap = false }) {
  const { map, ranges } = readMap(mapText, name);
  const tree = parse(script, 'bundle.js');
  const definitions = definitionsOf(tree);
  if (definitions.length === 0) return [];
  if (!isOwnMap && map.sources.length === 0) throw new TableError(`${name}: the source map has no sources`);
  const sources = new Sources(map, dir, context);
  const starts = linesOf(script);
  /** @type {Map<string, string>} */
  const paths = new Map();
  const pathOf = (/** @type {string} */ source) => paths.get(source) ?? paths.set(source, sourcePath(source, root, dir, context)).get(source) ?? '';
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const definition of definitions) {
    const [line, column] = placeOf(starts, definition.offset);
    const found = scoped(definition, ranges, starts) ?? original(definition, { map, sources, tree, starts });
    if (!found || rows.has(`${line}:${column}`)) continue;
    const { at, name: originalFunction } = found;
    const source = pathOf(at.source);
    const ownPackage = packageText(packageOf(source));
    rows.set(`${line}:${column}`, {
      line: line + 1, column: column + 1, function: originalFunction === null ? null : nameText(originalFunction),
      source: sourceText(source), sourceLine: at.line, sourceColumn: at.column + 1, package: ownPackage, isIgnored: ownPackage !== '' || isIgnored(map, at.source),
    });
  }
  if (!isOwnMap && rows.size === 0) throw new TableError(`${name}: the source map knows none of the ${definitions.length} functions: it is of another script, or they do not come from its sources`);
  if (rows.size > mostFunctions) throw new TableError(`${name}: has ${rows.size} functions; at most ${mostFunctions} fit in a table`);
  return [...rows.values()].sort((a, b) => a.line - b.line || a.column - b.column);
}

/** Returns the table of a script as lines of JSON: one that names the script, then one per function. @param {string} script path below the URL prefix @param {Row[]} rows */
export function tableText(script, rows) {
  const head = { fleetprof_function_table: version, script, functions: rows.length };
  return `${[head, ...rows.map((row) => [row.line, row.column, row.function, row.source, row.sourceLine, row.sourceColumn, row.package, row.isIgnored])]
    .map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/**
 * Returns the table of a script file.
 * @param {string} file @param {{ base: string, root: string, map?: string, context?: string, isOwnMap?: boolean }} places base: the directory that URLs are relative to; map: path of the map, if the build says it
 */
export function tableOfFile(file, { base, root, map: built, context, isOwnMap }) {
  const script = read(file);
  const map = mapOf(file, script, built);
  const rows = rowsOf({ script, map: map.text, name: map.name, dir: path.dirname(map.name.replace(/: source map$/, '')), root, context, isOwnMap });
  return { rows, text: tableText(path.relative(base, file).split(path.sep).join('/').replace(/\.gz$/, ''), rows) };
}
