// SPDX-License-Identifier: Apache-2.0
/** Limits of a function table: the names, sources and packages that `fleetprof sourcemap add` takes. */

const longestName = 200;
const longestSource = 1024;
const longestPackage = 214;

/** Returns a text that all readers of JSON take: without halves of surrogate pairs. @param {string} text */
const wellFormed = (text) => text.replace(/\p{Surrogate}/gu, '\uFFFD');

/** Returns a function's name, cut between two characters; U+0000, which no database takes, is U+FFFD. @param {string} name */
export function nameText(name) {
  const cut = name.length > longestName ? name.slice(0, longestName).replace(/[\uD800-\uDBFF]$/, '') : name;
  return wellFormed(cut).replaceAll('\0', '\uFFFD');
}

/** Returns a source's path: of a long one the end, which has the file's name. @param {string} source */
export function sourceText(source) {
  const bytes = Buffer.from(source.replaceAll('\0', ''));
  if (bytes.length <= longestSource) return bytes.toString() || '(unknown)';
  const mark = '…';
  let from = bytes.length - longestSource + Buffer.byteLength(mark);
  // A character goes on with bytes of these two bits.
  while ((bytes[from] & 0xc0) === 0x80) from += 1;
  return mark + bytes.toString('utf8', from);
}

/** Returns a package's name. npm's are no longer. @param {string} name */
export function packageText(name) {
  const bytes = Buffer.from(name);
  let to = Math.min(bytes.length, longestPackage);
  while ((bytes[to] & 0xc0) === 0x80) to -= 1;
  return bytes.toString('utf8', 0, to);
}
