// SPDX-License-Identifier: Apache-2.0
/** The site's pages as Markdown, and llms.txt, which names them. */
import path from 'node:path';

import { contents, read, targetOf } from './pages.mjs';

/**
 * @typedef {import('./pages.mjs').Page} Page
 * @typedef {import('./pages.mjs').Chapter} Chapter
 */

/** @param {string} target */
const asMarkdown = (target) => target.replace(/\.html$/, '.md');

/**
 * Returns a page's Markdown, with links that lead on in the site. A divided page is whole here.
 * @param {Page} page
 */
export function markdownOf(page) {
  if (!page.source.endsWith('.md')) return `# ${page.source}\n\n\`\`\`\`\`\`\n${read(page.source)}\`\`\`\`\`\`\n`;
  const lines = read(page.source).split('\n');
  const [start, end] = page.whole ? page.lines : [0, lines.length];
  return lines.slice(start, end).filter((line) => !/^<!-- (reference|\/reference|search)\b.*-->$/.test(line)).join('\n')
    .replace(/(\]\()([^)\s#]+)/g, (link, begin, address) => (
      /^[a-z]+:/.test(address) ? link : begin + asMarkdown(targetOf(path.posix.join(path.posix.dirname(page.source), address)))));
}

/** Returns llms.txt (https://llmstxt.org). @param {Chapter[]} chapters */
export function summary(chapters) {
  const rows = read(contents).split('\n').filter((line) => line.startsWith('| ['));
  const about = (/** @type {Page} */ { source }) => {
    const link = `](${path.posix.relative('docs', source)})`;
    return rows.find((row) => row.includes(link))?.split(' | ').at(-1)?.replace(/ \|$/, '').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1') ?? '';
  };
  const [, what] = /^# .*\n\n([^#]*?)\n\n/.exec(read(contents)) ?? [];
  return `# fleetprof\n\n> ${(what ?? '').replaceAll('\n', ' ')}\n${chapters.map(({ title, pages }) => (
    `\n## ${title}\n\n${pages.map((page) => `- [${page.title}](${asMarkdown(page.target)}): ${about(page)}\n`).join('')}`)).join('')}`;
}
