// SPDX-License-Identifier: Apache-2.0
/** Writes pages of the manual as HTML. */
import { contents, isInternal, markAt, markdown, plainText } from './pages.mjs';

/**
 * @typedef {import('./pages.mjs').Page} Page
 * @typedef {import('./pages.mjs').Chapter} Chapter
 */

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (found) => (
  /** @type {Record<string, string>} */ ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }))[found]);

/** @param {Page} page @param {Page} [current] */
const linkTo = (page, current) => (
  `<a href="${page.target}"${page === current ? ' aria-current="page"' : ''}>${escaped(page.title)}</a>`);

/** Lists a page, and its parts where one of them is read. @param {Page} entry @param {Page} page that is read */
function entryOf(entry, page) {
  const isOpen = entry.parts.length > 0 && (page === entry || page.whole === entry);
  const parts = isOpen ? `\n<ul>\n${entry.parts.map((part) => `<li>${linkTo(part, page)}</li>\n`).join('')}</ul>\n` : '';
  return `<li>${linkTo(entry, page)}${parts}</li>\n`;
}

/** @param {Page} page @param {Chapter[]} chapters */
function navigation(page, chapters) {
  return chapters.map(({ title, pages }) => (
    `<h2>${escaped(title)}</h2>\n<ul>\n${pages.map((entry) => entryOf(entry, page)).join('')}</ul>\n`)).join('');
}

/** Lists the page's sections. @param {Page} page */
function outline(page) {
  const sections = page.headings.filter(({ level }) => level === 2);
  if (sections.length < 2) return '';
  const entries = sections.map(({ id, title }) => `<li><a href="#${encodeURIComponent(id)}">${escaped(title)}</a></li>\n`).join('');
  return `<nav class="outline" aria-label="On this page">\n<h2>On this page</h2>\n<ul>\n${entries}</ul>\n</nav>\n`;
}

/** @param {Page} page @param {Chapter[]} chapters */
function neighbours(page, chapters) {
  const order = chapters.flatMap(({ pages }) => pages).flatMap((entry) => [entry, ...entry.parts]);
  const place = order.indexOf(page);
  const way = isInternal(page) ? order.find(({ target }) => target === 'internals.html') : undefined;
  const [before, after] = place < 0 ? [way, undefined] : [order[place - 1], order[place + 1]];
  return `${before ? `<span>← ${linkTo(before)}</span>` : ''}${after ? `<span class="after">${linkTo(after)} →</span>` : ''}`;
}

/** Makes sections of tabs, each with its heading: without scripts they stand one below the other. @param {string} body */
function withTabs(body) {
  return body.replace(/<p>\u0001tabs<\/p>([^]*?)<p>\u0001\/tabs<\/p>/g, (_, tabs) => {
    const sections = tabs.trim().split(/(?=<h4)/).filter(Boolean);
    return `<div class="tabs">\n${sections.map((/** @type {string} */ section) => `<section>\n${section}</section>\n`).join('')}</div>`;
  }).replace(/<p>\u0001.*<\/p>\n/g, '');
}

/** @param {Page} page */
const bodyOf = (page) => withTabs(markdown.renderer.render(page.tokens, markdown.options, {}))
  .replaceAll('<th></th>', '<td></td>')
  .replaceAll('<table>', '<div class="table" tabindex="0"><table>').replaceAll('</table>', '</table></div>')
  .replaceAll('<pre>', '<pre tabindex="0">'); // what is scrolled can be reached by keyboard

/** @param {Page} page @param {Chapter[]} chapters @param {string} version */
export function html(page, chapters, version) {
  const title = page.source === contents ? 'fleetprof: the manual' : `${page.title} – fleetprof`;
  const whole = page.whole ? `<p class="whole">${linkTo(page.whole)}</p>\n` : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="alternate" type="text/markdown" href="${page.target.replace('.html', '.md')}">
<link rel="stylesheet" href="manual.css">
<script src="page.js" defer></script>
<script src="search.js" defer></script>
</head>
<body>
<a class="skip" href="#content">To the text</a>
<header>
<a class="home" href="index.html">fleetprof ${escaped(version)}</a>
<form role="search" hidden>
<input type="search" placeholder="Search (press /)" aria-label="Search the manual" autocomplete="off" spellcheck="false">
<div class="results" aria-live="polite"></div>
</form>
</header>
<div class="columns">
<nav class="pages" aria-label="Pages">
<details open>
<summary>Pages</summary>
${navigation(page, chapters)}</details>
</nav>
<main id="content">
${whole}${bodyOf(page)}<footer>${neighbours(page, chapters)}<a class="source" href="${page.target.replace('.html', '.md')}">This page as Markdown</a></footer>
</main>
${outline(page)}</div>
</body>
</html>
`;
}

/**
 * Returns a page's sections as the search has them. Tabs belong to the section around them.
 * @param {Page} page
 * @returns {{ page: string, title: string, address: string, keywords: string, text: string, isAside: boolean }[]}
 */
export function sectionsOf(page) {
  /** @type {ReturnType<typeof sectionsOf>} */
  const sections = [];
  let heading = 0;
  let inTabs = false;
  // Pages for people who change fleetprof come after pages for people who use it.
  const isAside = !/^(docs\/(?!internals\/)|README\.md$)/.test(page.source);
  for (const [i, token] of page.tokens.entries()) {
    const mark = markAt(page.tokens, i);
    if (mark.endsWith('tabs')) inTabs = mark === 'tabs';
    if (token.type === 'heading_open') {
      const { id, title, level, keywords } = page.headings[heading];
      heading += 1;
      if (!inTabs) sections.push({ page: page.title, title, address: level === 1 ? page.target : `${page.target}#${encodeURIComponent(id)}`, keywords, text: '', isAside });
    } else if (token.type === 'fence' || (token.type === 'inline' && page.tokens[i - 1]?.type !== 'heading_open' && !token.content.startsWith('\u0001'))) {
      const text = token.type === 'fence' ? token.content : plainText(token.children);
      sections[sections.length - 1].text += `${text.replace(/\s+/g, ' ').trim()} `;
    }
  }
  return sections;
}
