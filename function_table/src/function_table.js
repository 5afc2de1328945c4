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

import { AnyMap, isIgnored, LEAST_UPPER_BOUND, originalPositionFor, sourceContentFor, TraceMap, traceSegment } from '@jridgewell/trace-mapping';

import { rangeAt, rangesOf, ScopesError } from './scopes.js';
import { definitionsOf, enclosing, isClass, isFunction, nameOf, parse } from './syntax.js';

/** A place in an original source; line from 1, column from 0. @typedef {{ source: string, line: number, column: number }} Mapping */

/** @typedef {{ line: number, column: number, function: string | null, source: string, sourceLine: number, sourceColumn: number, package: string, isIgnored: boolean }} Row */

export const version = 1;

/** What the table of a whole build is called. */
export const tableName = 'function-table.jsonl';

const mostFunctions = 500_000;

/** A file that cannot be read, or makes no sense; the message says which and why. */
export class TableError extends Error {}

/** @param {string} file */
function read(file) {
  let bytes;
  try {
    bytes = fs.readFileSync(file);
  } catch (error) {
    throw new TableError(`${file}: ${/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT' ? 'no such file' : /** @type {Error} */ (error).message}`);
  }
  try {
    return (bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new TableError(`${file}: not gzip: ${/** @type {Error} */ (error).message}`);
  }
}

/** Returns the source map that a script names, or that lies beside it. @param {string} file @param {string} script @returns {{ name: string, text: string }} */
function mapOf(file, script) {
  const named = [...script.matchAll(/^[ \t]*\/[/*][#@][ \t]*sourceMappingURL=([^\s'"*]+)/gm)].at(-1)?.[1];
  const data = named?.match(/^data:application\/json[^,]*?(;base64)?,(.*)$/);
  if (data) return { name: `${file}: source map`, text: data[1] ? Buffer.from(data[2], 'base64').toString('utf8') : decodeURIComponent(data[2]) };
  const plain = file.replace(/\.gz$/, '');
  const candidates = [
    ...(named && !/^[a-z][a-z0-9+.-]*:/i.test(named) ? [path.resolve(path.dirname(file), decodeURIComponent(named.replace(/[?#].*$/, '')))] : []),
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

/** Returns a source's path without what only the build machine knows. @param {string} source @param {string} root @param {string} [dir] where the map lies */
export function sourcePath(source, root, dir = root) {
  let name = source.replace(/\\/g, '/').replace(/^file:\/\//, '').replace(/[?#].*$/, '');
  // webpack://name/./src/a.js, webpack:///src/a.js
  name = name.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*\//i, '');
  const modules = name.lastIndexOf('/node_modules/');
  if (modules >= 0) return name.slice(modules + 1);
  if (name.startsWith('../')) name = path.resolve(dir, name).split(path.sep).join('/');
  const base = `${root.replace(/\\/g, '/').replace(/\/$/, '')}/`;
  if (name.startsWith(base)) name = name.slice(base.length);
  return path.posix.normalize(name).replace(/^(?:\.\.\/)+|^\//, '') || '(unknown)';
}

/** Returns the npm package of a source; '' if it has none. @param {string} source */
export function packageOf(source) {
  const inside = source.split('node_modules/').at(-1) ?? '';
  if (inside !== source) return inside.match(/^(@[^/]+\/[^/]+|[^/]+)\//)?.[1] ?? '';
  return /^(webpack\/|vite\/|rolldown:|\0|\(webpack\))/.test(source) ? '(bundler)' : '';
}

/** The sources of a map, parsed when they are needed. */
class Sources {
  /** @param {import('@jridgewell/trace-mapping').TraceMap} map @param {string} dir where the map lies */
  constructor(map, dir) {
    this.map = map;
    this.dir = dir;
    /** @type {Map<string, { tree: import('@lezer/common').Tree, text: string, starts: number[] } | null>} */
    this.parsed = new Map();
  }

  /** @param {string} source as the map has it */
  get(source) {
    let known = this.parsed.get(source);
    if (known === undefined) {
      const text = sourceContentFor(this.map, source) ?? this.#fromDisk(source);
      known = text === null ? null : { tree: parse(text, source.replace(/[?#].*$/, '')), text, starts: linesOf(text) };
      this.parsed.set(source, known);
    }
    return known;
  }

  /** @param {string} source */
  #fromDisk(source) {
    const file = path.resolve(this.dir, source);
    return !/^[a-z][a-z0-9+.-]+:/i.test(source) && fs.existsSync(file) && fs.statSync(file).isFile() ? read(file) : null;
  }
}

/** Returns the name of the function around a place of an original source; null: unknown. @param {import('./syntax.js').Definition} definition @param {Sources} sources @param {Mapping} at */
function originalName(definition, sources, at) {
  const source = sources.get(at.source);
  if (!source || source.starts[at.line - 1] === undefined) return null;
  const offset = source.starts[at.line - 1] + at.column;
  // A constructor that the source does not have comes of its class.
  const isWanted = definition.kind === 'function' ? isFunction : definition.kind === 'class' ? isClass
    : (/** @type {import('@lezer/common').SyntaxNode} */ node) => isFunction(node) || isClass(node);
  const node = enclosing(source.tree, offset, isWanted);
  return node ? nameOf(node, source.text) : null;
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
 * Returns what a definition was before; null: the map does not know. The segment before the place is of the function
 * itself, unless the map leaves it out: then the next one inside of the function is.
 * @param {import('./syntax.js').Definition} definition
 * @param {{ map: import('@jridgewell/trace-mapping').TraceMap, sources: Sources, starts: number[], line: number, column: number }} place
 * @returns {{ at: Mapping, name: string | null } | null}
 */
function original(definition, { map, sources, starts, line, column }) {
  const before = originalPositionFor(map, { line: line + 1, column });
  const after = originalPositionFor(map, { line: line + 1, column, bias: LEAST_UPPER_BOUND });
  for (const { source, line: sourceLine, column: sourceColumn } of [before, after]) {
    if (source === null || (before.source === null && !sources.get(source))) continue;
    const at = { source, line: sourceLine, column: sourceColumn };
    if (!sources.get(at.source)) return { at, name: mappedName(definition, map, starts) };
    const name = originalName(definition, sources, at);
    if (name !== null) return { at, name };
  }
  return before.source === null ? null : { at: { source: before.source, line: before.line, column: before.column }, name: null };
}

/** Returns the name that the map has for the function's own identifier; null: none. @param {import('./syntax.js').Definition} definition @param {import('@jridgewell/trace-mapping').TraceMap} map @param {number[]} starts */
function mappedName(definition, map, starts) {
  if (!definition.name) return null;
  const [line, column] = placeOf(starts, definition.name.from);
  const segment = traceSegment(map, line, column);
  // A segment that begins before the identifier is of something else.
  return segment?.length === 5 && segment[0] === column ? map.names[segment[4]] : null;
}

/** @param {string} text @param {string} name for errors */
function readMap(text, name) {
  try {
    const json = JSON.parse(text.replace(/^\)\]\}'[^\n]*\n/, ''));
    return { map: new AnyMap(json), ranges: rangesOf(json, (part) => new TraceMap(/** @type {any} */ (part)).resolvedSources) };
  } catch (error) {
    throw new TableError(`${name}: ${error instanceof ScopesError ? 'broken scopes' : 'not a source map'}: ${/** @type {Error} */ (error).message}`);
  }
}

/**
 * Returns the rows of a script, by place; lines and columns from 1, as profiles have them.
 * @param {{ script: string, map: string, name: string, dir?: string, root?: string, isOwnMap?: boolean }} given texts; name: for errors;
 *   dir: where the map lies; root: paths below it lose it; isOwnMap: the map is known to be of this script, even if it knows none of its functions
 * @returns {Row[]}
 */
export function rowsOf({ script, map: mapText, name, dir = '.', root = process.cwd(), isOwnMap = false }) {
  const { map, ranges } = readMap(mapText, name);
  const definitions = definitionsOf(parse(script, 'bundle.js'));
  if (definitions.length === 0) return [];
  if (!isOwnMap && map.sources.length === 0) throw new TableError(`${name}: the source map has no sources`);
  const sources = new Sources(map, dir);
  const starts = linesOf(script);
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const definition of definitions) {
    const [line, column] = placeOf(starts, definition.offset);
    const found = scoped(definition, ranges, starts) ?? original(definition, { map, sources, starts, line, column });
    if (!found || rows.has(`${line}:${column}`)) continue;
    const { at, name: originalFunction } = found;
    const source = sourcePath(at.source, root, dir);
    const ownPackage = packageOf(source);
    rows.set(`${line}:${column}`, {
      line: line + 1, column: column + 1, function: originalFunction,
      source, sourceLine: at.line, sourceColumn: at.column + 1, package: ownPackage, isIgnored: ownPackage !== '' || isIgnored(map, at.source),
    });
  }
  if (!isOwnMap && rows.size === 0) throw new TableError(`${name}: the source map knows none of the ${definitions.length} functions: it is of another script`);
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
 * @param {string} file @param {{ base: string, root: string, isOwnMap?: boolean }} places base: the directory that URLs are relative to
 */
export function tableOfFile(file, { base, root, isOwnMap = false }) {
  const script = read(file);
  const map = mapOf(file, script);
  const rows = rowsOf({ script, map: map.text, name: map.name, dir: path.dirname(map.name.replace(/: source map$/, '')), root, isOwnMap });
  return { rows, text: tableText(path.relative(base, file).split(path.sep).join('/').replace(/\.gz$/, ''), rows) };
}
