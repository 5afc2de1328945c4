// SPDX-License-Identifier: Apache-2.0
/** The fenced blocks of a manual page, for tests that run what the page tells its readers to type. */

/**
 * @typedef {object} Block
 * @property {string} language what stands behind the opening fence, '' when nothing does
 * @property {string} text
 * @property {number} line of its first line, from 1
 *
 * @param {string} page
 * @returns {Block[]} in the page's order
 */
export function fencedBlocks(page) {
  const lines = page.split('\n');
  /** @type {Block[]} */
  const blocks = [];
  for (let i = 0; i < lines.length; i += 1) {
    const opening = /^```(\w*)$/.exec(lines[i]);
    if (!opening) continue;
    const end = lines.indexOf('```', i + 1);
    if (end < 0) throw new Error(`line ${i + 1}: the block is not closed`);
    blocks.push({ language: opening[1], text: lines.slice(i + 1, end).join('\n'), line: i + 2 });
    i = end;
  }
  return blocks;
}

/**
 * Returns what a reader of one tab sees: without the tabs of the others.
 * @param {string} page
 * @param {string} tab such as `nginx`
 */
export function inTab(page, tab) {
  return page.replace(/^<!-- tabs -->\n([^]*?)^<!-- \/tabs -->\n/gm, (_, tabs) => (
    tabs.split(/^#### /m).slice(1).find((/** @type {string} */ one) => one.startsWith(`${tab}\n`))?.slice(tab.length + 1) ?? ''));
}

/**
 * @param {string} page
 * @param {string} heading such as '## Setting up'
 * @returns {string} from that heading to the next one of its level or a higher one
 */
export function section(page, heading) {
  const lines = page.split('\n');
  const start = lines.indexOf(heading);
  if (start < 0) throw new Error(`no section "${heading}"`);
  const sameOrHigher = new RegExp(`^#{1,${heading.indexOf(' ')}} `);
  let inBlock = false; // where # begins a comment
  const end = lines.findIndex((line, i) => {
    if (line.startsWith('```')) inBlock = !inBlock;
    return i > start && !inBlock && sameOrHigher.test(line);
  });
  return lines.slice(start, end < 0 ? undefined : end).join('\n');
}
