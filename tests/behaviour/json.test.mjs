// SPDX-License-Identifier: Apache-2.0
/**
 * The collector's JSON reader compared with V8's: both accept the same documents and read the same values.
 * $FLEETPROF_JSON_SEED repeats a run.
 *
 * What differs, on purpose (docs/formats.md): a leading byte order mark is skipped; a number beyond
 * what a double can hold is refused; deeper than limits.json_depth is refused; -0 may be read as 0; an
 * unpaired surrogate, which only an escape can make, and in texts U+0000 become U+FFFD.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { seededRandom } from '../chaos/random.mjs';
import { buildDir, repository } from './stack.mjs';

const variant = path.resolve(buildDir) === path.join(repository, 'build') ? 'plain' : path.basename(buildDir);
const tool = process.env.FLEETPROF_JSON_VERDICT ?? path.join(repository, 'build/trees', variant, 'tests/tools/json_verdict');
const seed = Number(process.env.FLEETPROF_JSON_SEED ?? Date.now() % 2 ** 32);
const generated = process.env.FLEETPROF_LONG ? 1_000_000 : 20_000;
const batchSize = 20_000;
const depthMax = 64;

/** @typedef {import('../chaos/random.mjs').Random} Random */

// ---- our reader ----

/**
 * One line for each document.
 * @param {Buffer[]} documents
 * @returns {Promise<string[]>}
 */
async function ours(documents) {
  const child = spawn(tool, [], { stdio: ['pipe', 'pipe', 'inherit'] });
  /** @type {Buffer[]} */
  const output = [];
  child.stdout.on('data', (bytes) => output.push(bytes));
  const ended = new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  for (const document of documents) {
    const prefix = Buffer.alloc(4);
    prefix.writeUInt32LE(document.length);
    child.stdin.write(prefix);
    child.stdin.write(document);
  }
  child.stdin.end();
  assert.equal(await ended, 0, 'json_verdict');
  return Buffer.concat(output).toString('latin1').split('\n').slice(0, -1);
}

// ---- the other one ----

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const double = Buffer.alloc(8);

class Unreadable extends Error {}

/** @param {string} text with U+FFFD for unpaired surrogates */
const hex = (text) => Buffer.from(text, 'utf8').toString('hex');

/** @param {number} number */
function dumpNumber(number) {
  double.writeDoubleBE(number === 0 ? 0 : number);
  return `d${double.toString('hex')}`;
}

/** @param {Record<string, unknown>} object */
function dumpObject(object) {
  const members = Object.keys(object).map((name) => [hex(name), dump(object[name])]);
  members.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  // Names that differ only in unpaired surrogates are one name to us, and here their order is lost.
  if (members.some(([name], i) => i > 0 && name === members[i - 1][0])) throw new Unreadable('ambiguous');
  return `{${members.map((member) => member.join(':')).join(',')}}`;
}

/**
 * @param {unknown} value
 * @returns {string}
 */
function dump(value) {
  if (value === null) return 'n';
  if (typeof value === 'boolean') return value ? 't' : 'f';
  if (typeof value === 'number') return dumpNumber(value);
  if (typeof value === 'string') return `s${hex(value.replaceAll('\0', '\ufffd'))}`;
  if (Array.isArray(value)) return `[${value.map(dump).join(',')}]`;
  return dumpObject(/** @type {Record<string, unknown>} */ (value));
}

/**
 * Says why we refuse a JSON document. Searches the text, which still has repeated members.
 * @param {string} text that was parsed
 */
function checkLimits(text) {
  const bare = text.replace(/"(?:[^"\\]|\\.)*"/gs, '');
  const numbers = bare.match(/-?\d[\d.eE+-]*/g) ?? [];
  if (!numbers.every((number) => Number.isFinite(Number(number)))) throw new Unreadable('reject');
  let depth = 0;
  for (const bracket of bare.match(/[[\]{}]/g) ?? []) {
    depth += /[[{]/.test(bracket) ? 1 : -1;
    if (depth > depthMax) throw new Unreadable('deep');
  }
}

/** @param {Buffer} document */
function theirs(document) {
  try {
    const decoded = decoder.decode(document);
    const text = decoded.startsWith('\ufeff') ? decoded.slice(1) : decoded;
    const value = JSON.parse(text);
    checkLimits(text);
    return dump(value);
  } catch (error) {
    if (error instanceof Unreadable) return error.message;
    if (error instanceof SyntaxError || error instanceof TypeError) return 'reject';
    throw error;
  }
}

// ---- comparing ----

/** @param {string} verdict */
const plainZero = (verdict) => verdict.replaceAll('d8000000000000000', 'd0000000000000000');

/**
 * @param {string} our
 * @param {string} their
 */
function agree(our, their) {
  return their === 'ambiguous' ? /^[{[]/.test(our) : plainZero(our) === their;
}

/**
 * @param {Buffer[]} documents
 * @returns {Promise<{ taken: number, refused: number }>}
 */
async function compare(documents) {
  const verdicts = await ours(documents);
  assert.equal(verdicts.length, documents.length);
  let refused = 0;
  for (const [i, document] of documents.entries()) {
    const their = theirs(document);
    refused += Number(/^(deep|reject)$/.test(their));
    if (!agree(verdicts[i], their)) {
      assert.fail(`seed ${seed}: we say ${verdicts[i].slice(0, 500)}, the other reader ${their.slice(0, 500)} of ` +
        JSON.stringify(document.toString('latin1').slice(0, 2000)));
    }
  }
  return { taken: documents.length - refused, refused };
}

// ---- documents that are there ----

/** @param {string} directory @returns {Buffer[]} */
function filesIn(directory) {
  return fs.readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fs.readFileSync(path.join(entry.parentPath ?? entry.path, entry.name)));
}

/** Whole files, and each of their lines. */
function knownDocuments() {
  const files = ['tests/data', 'tests/fuzz', 'tests/unit/allocation/bodies']
    .flatMap((directory) => filesIn(path.join(repository, directory)));
  const lines = files.filter((file) => file.length < 65536)
    .flatMap((file) => file.toString('latin1').split('\n').map((line) => Buffer.from(line, 'latin1')));
  return [...files, ...lines];
}

// ---- documents that are made ----

/** @param {Random} random */
const digits = (random) => Array.from({ length: 1 + random.below(random.chance(0.1) ? 40 : 4) },
  () => random.below(10)).join('');

/** @param {Random} random */
function number(random) {
  const whole = random.pick(['0', '1', '-1', '-0', '9007199254740993', '18446744073709551615', '18446744073709551616',
    '-9223372036854775808', '-9223372036854775809', digits(random), `-${digits(random)}`]);
  const fraction = random.chance(0.4) ? `.${digits(random)}` : '';
  const exponent = random.chance(0.4)
    ? `${random.pick(['e', 'E'])}${random.pick(['', '+', '-'])}${random.pick([digits(random), '308', '309', '324', '400', '22', '00'])}`
    : '';
  return whole + fraction + exponent;
}

const unicode = ['\u0000', '\u001f', '\u007f', 'é', '中', '\u2028', '\ufeff', '\uffff', '😀', '\u{10ffff}'];
const escapes = ['\\"', '\\\\', '\\/', '\\b', '\\f', '\\n', '\\r', '\\t', '\\u0000', '\\u00e9', '\\ud83d\\ude00', '\\uD800',
  '\\udfff', '\\ud800\\ud800\\udc00', '\\\\ud800', '\\ud800\\u0041', '\\ud800\\', '\\u12g4', '\\x41', '\\', '\\u'];

/** @param {Random} random */
function string(random) {
  let text = '';
  for (let length = random.below(6); length > 0; length--) {
    const kind = random.below(10);
    if (kind < 4) text += String.fromCharCode(0x20 + random.below(0x5f)).replace(/["\\]/, 'x');
    else if (kind < 6) text += random.pick(unicode.slice(2));
    else if (kind < 9) text += random.pick(escapes.slice(0, 16));
    else text += random.pick([...unicode, ...escapes]);
  }
  return `"${text}"`;
}

const names = ['"a"', '"b"', '"a"', '""', '"__proto__"', '"1"', '"constructor"', '"\\u0061"', '"\\ud800"'];
const oddities = ['True', 'nul', 'NaN', 'Infinity', '-Infinity', '01', '-', '+1', '.5', '1.', '1e', '0x10', "'a'", '', 'undefined',
  '/* */1', '//\n1', '1_000', '"\n"', '﻿1', '-01', '1.e5', '00', '-a', '2.', '[,]', '{,}', '[1,]', '{"a":1,}', '{"a"}', '{a:1}', '[1 2]', '{"a" 1}', '"', '\u00a01',
  '\f1', '\v1'];

/** @param {Random} random */
const space = (random) => random.chance(0.85) ? '' : random.pick([' ', '\t', '\n', '\r', '  \n']);

/**
 * @param {Random} random
 * @param {number} depth that is left
 * @returns {string}
 */
function value(random, depth) {
  const kind = random.below(depth > 0 ? 10 : 6);
  if (kind < 2) return number(random);
  if (kind < 4) return string(random);
  if (kind === 4) return random.pick(['null', 'true', 'false']);
  if (kind === 5) return random.chance(0.1) ? random.pick(oddities) : number(random);
  const count = random.below(5);
  const element = () => `${space(random)}${value(random, depth - 1)}${space(random)}`;
  if (kind < 8) return `[${Array.from({ length: count }, element).join(',')}]`;
  const member = () => `${space(random)}${random.chance(0.7) ? random.pick(names) : string(random)}${space(random)}:${element()}`;
  return `{${Array.from({ length: count }, member).join(',')}}`;
}

/** @param {Random} random */
function nested(random) {
  const depth = depthMax - 3 + random.below(6);
  const [open, close] = random.pick([['[', ']'], ['{"a":', '}'], ['[[],', ']']]);
  return open.repeat(depth) + random.pick(['1', '[]', '{}', '']) + close.repeat(depth);
}

const brokenBytes = [[0x80], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xef, 0xbb, 0xbf], [0xff], [0xe4, 0xb8],
  [0x00], [0x1f], [0x7f], [0x22], [0x5c], [0x2c], [0x3a], [0x5b], [0x7d]];

/**
 * Changes, removes, doubles or inserts a few bytes.
 * @param {Random} random
 * @param {Buffer} document
 */
function mutated(random, document) {
  let bytes = document;
  for (let count = 1 + random.below(3); count > 0; count--) {
    const at = random.below(bytes.length + 1);
    const to = Math.min(bytes.length, at + 1 + random.below(random.chance(0.2) ? 40 : 3));
    const put = random.pick([brokenBytes[random.below(brokenBytes.length)], [random.below(256)],
      [...bytes.subarray(at, to), ...bytes.subarray(at, to)], []]);
    bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(put), bytes.subarray(random.chance(0.5) ? at : to)]);
  }
  return bytes;
}

/**
 * @param {Random} random
 * @param {Buffer[]} known
 */
function makeDocument(random, known) {
  const kind = random.below(20);
  if (kind === 0) return Buffer.from(nested(random));
  if (kind < 4) return mutated(random, random.pick(known));
  const bom = random.chance(0.02) ? '\ufeff' : '';
  const document = Buffer.from(`${bom}${space(random)}${value(random, 4)}${space(random)}`);
  return kind < 12 ? mutated(random, document) : document;
}

// ---- tests ----

test('each file and line of the test data is read as another reader reads it', async () => {
  const { taken, refused } = await compare(knownDocuments());
  assert.ok(taken > 100 && refused > 100, `taken ${taken}, refused ${refused}`);
});

test('made and damaged documents are taken, refused and read alike', async (t) => {
  const random = seededRandom(seed);
  const known = knownDocuments().filter((document) => document.length > 0 && document.length < 8192);
  const sum = { taken: 0, refused: 0 };
  for (let left = generated; left > 0; left -= batchSize) {
    const documents = Array.from({ length: Math.min(left, batchSize) }, () => makeDocument(random, known));
    const { taken, refused } = await compare(documents);
    sum.taken += taken;
    sum.refused += refused;
  }
  t.diagnostic(`seed ${seed}: taken ${sum.taken}, refused ${sum.refused}`);
  // Neither verdict is the exception.
  assert.ok(sum.taken > generated / 5 && sum.refused > generated / 5, `taken ${sum.taken}, refused ${sum.refused}`);
});
