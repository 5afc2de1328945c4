// SPDX-License-Identifier: Apache-2.0
/**
 * The manual's pages: reads them, divides long references, and leads links to where their headings are in the site.
 *
 * docs/README.md names each page in the chapter of its kind. Pages of docs/internals/ are for people who change fleetprof:
 * docs/internals/README.md names them. In a page, `<!-- search: WORDS -->` below a heading has words that people look for
 * and the text does not use; between `<!-- tabs -->` and `<!-- /tabs -->`, each heading of level 4 is a tab.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
export const contents = 'docs/README.md';
const internals = 'docs/internals/README.md';
const markdownIt = loadMarkdownIt();

function loadMarkdownIt() {
  try {
    return createRequire(import.meta.url)('/usr/share/nodejs/markdown-it');
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'MODULE_NOT_FOUND') throw error;
    console.error('tools/manual: the package node-markdown-it is missing; `tools/deps check` installs it');
    return process.exit(1);
  }
}
export const markdown = markdownIt({ html: false });

/**
 * @typedef {{ level: number, id: string, title: string, keywords: string }} Heading
 *
 * @typedef {object} Page
 * @property {string} source its path in the repository
 * @property {string} target its file in the site
 * @property {string} title
 * @property {any[]} tokens markdown-it's
 * @property {Heading[]} headings
 * @property {Page[]} parts the pages that its sections became
 * @property {Page} [whole] the page that it is a part of
 * @property {[number, number]} lines of a part in its source, from 0, and the line after it
 *
 * @typedef {{ title: string, pages: Page[] }} Chapter
 */

/** Pages whose sections become pages of their own: which of their headings, what titles they get, and what lists them. */
const divided = /** @type {Record<string, { level: number, heading: RegExp, title: (name: string) => string, list?: string }>} */ ({
  'docs/cli.md': { level: 2, heading: /^[a-z][a-z-]+$/, title: (name) => `fleetprof ${name}`, list: 'Commands' },
  'docs/sql.md': { level: 3, heading: /^[a-z][a-z_]+$/, title: (name) => name },
  // For few people: recordings of older tools.
  'docs/formats.md': { level: 2, heading: /^(Speed Tracer dumps|Opera Scope sessions)$/, title: (name) => name, list: 'Older tools' },
});

/** @param {string} name @returns {string} */
export const read = (name) => fs.readFileSync(path.join(root, name), 'utf8');

/** @param {string} source a path in the repository @returns {string} its file in the site */
export function targetOf(source) {
  if (source === contents) return 'index.html';
  if (source.startsWith('docs/images/')) return source.slice('docs/'.length);
  const name = source.replace(/^docs\//, '').replace(/\.md$/, '').replace(/\/README$/, '').replaceAll('/', '-');
  return `${name === 'README' ? 'about' : name.replace(/^[A-Z]+$/, (word) => word.toLowerCase())}.html`;
}

/** Returns what a reader sees of inline tokens. @param {any[]} tokens @returns {string} */
export function plainText(tokens) {
  return tokens.map((token) => {
    if (token.type === 'softbreak' || token.type === 'hardbreak') return ' ';
    return token.children && token.type !== 'image' ? plainText(token.children) : token.content;
  }).join('');
}

/** Returns the anchor of a heading, as GitHub makes it. @param {string} title @param {Set<string>} taken */
function anchorOf(title, taken) {
  const plain = title.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '').replaceAll(' ', '-');
  let anchor = plain;
  for (let number = 1; taken.has(anchor); number += 1) anchor = `${plain}-${number}`;
  taken.add(anchor);
  return anchor;
}

/** Comments that mean something become paragraphs of a form that no text has; others become empty lines. @param {string} text */
const withMarks = (text) => text
  .replace(/^<!-- (tabs|\/tabs|search: .*) -->$/gm, (_, mark) => `\u0001${mark}`)
  .replace(/^<!-- .* -->$/gm, '');

/** Returns the mark that a paragraph is, '' for others. @param {any[]} tokens @param {number} i of its beginning */
export function markAt(tokens, i) {
  const content = tokens[i].type === 'paragraph_open' ? tokens[i + 1].content : '';
  return content.startsWith('\u0001') ? content.slice(1) : '';
}

/** @param {string} source @returns {Page} */
function parse(source) {
  // Files that are not Markdown are shown as they are.
  const text = source.endsWith('.md') ? withMarks(read(source)) : `# ${source}\n\n\`\`\`\`\`\`\n${read(source)}\`\`\`\`\`\`\n`;
  /** @type {any[]} */
  const tokens = markdown.parse(text, {});
  /** @type {Heading[]} */
  const headings = [];
  const taken = new Set();
  for (const [i, token] of tokens.entries()) {
    const [, keywords] = markAt(tokens, i).split('search: ');
    if (keywords && headings.length) headings[headings.length - 1].keywords = keywords;
    if (token.type !== 'heading_open') continue;
    const title = plainText(tokens[i + 1].children);
    const id = anchorOf(title, taken);
    token.attrSet('id', id);
    headings.push({ level: Number(token.tag.slice(1)), id, title, keywords: '' });
  }
  if (!headings.length || headings[0].level !== 1) throw new Error(`${source}: the page begins without a title`);
  return { source, target: targetOf(source), title: headings[0].title, tokens, headings, parts: [], lines: [0, 0] };
}

/** Calls back for each link and image, with the token and the name of its address. @param {any[]} tokens @param {(token: any, attribute: string) => void} act */
function eachLink(tokens, act) {
  for (const token of tokens) {
    if (token.type === 'link_open') act(token, 'href');
    if (token.type === 'image') act(token, 'src');
    if (token.children) eachLink(token.children, act);
  }
}

/** True if the address is on another host. @param {string} address */
const isExternal = (address) => /^[a-z]+:/.test(address);

/** Returns the file in the repository that a link leads to, and the anchor there. @param {Page} page @param {string} address */
function destination(page, address) {
  const [file, anchor] = decodeURI(address).split('#');
  return { source: file === '' ? page.source : path.posix.join(path.posix.dirname(page.source), file), anchor };
}

/**
 * Parses all pages: those in docs/, and each file that a page links to.
 * @returns {Map<string, Page>} by their paths in the repository
 */
export function allPages() {
  /** @type {Map<string, Page>} */
  const pages = new Map();
  const waiting = fs.readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md')).sort().map((name) => `docs/${name}`);
  for (let source = waiting.shift(); source; source = waiting.shift()) {
    if (pages.has(source)) continue;
    const page = parse(source);
    pages.set(source, page);
    eachLink(page.tokens, (token, attribute) => {
      const address = token.attrGet(attribute);
      if (isExternal(address)) return;
      const linked = destination(page, address).source;
      if (!fs.statSync(path.join(root, linked), { throwIfNoEntry: false })?.isFile()) {
        throw new Error(`${page.source}: the link ${address} leads to no file`);
      }
      if (attribute === 'href') waiting.push(linked);
    });
  }
  return pages;
}

/** Returns the end of the section that a heading begins. @param {any[]} tokens @param {number} start of the heading */
function endOfSection(tokens, start) {
  const level = tokens[start].tag;
  const end = tokens.findIndex(({ type, tag }, i) => i > start && type === 'heading_open' && tag <= level);
  return end < 0 ? tokens.length : end;
}

/** Returns the first sentence of a section, as Markdown. @param {any[]} tokens */
function firstSentence(tokens) {
  const start = tokens.findIndex(({ type }, i) => type === 'paragraph_open' && markAt(tokens, i) === '');
  if (start < 0) return '';
  const [first, ...rest] = tokens[start + 1].children;
  // A signature, if it begins with one, says less than what is behind it.
  const isSigned = first.type === 'code_inline' && first.content.endsWith(')') && /^: /.test(rest[0]?.content);
  const text = isSigned ? plainText(rest).slice(2) : plainText([first, ...rest]);
  const [sentence] = text.split(/(?<=[.:;]) /);
  return sentence.replace(/[:.;]$/, '').replace(/[\\`*_{}[\]<>|#~]/g, '\\$&');
}

/** Makes a page of its own of a section. @param {Page} page @param {any[]} tokens @param {string} title @returns {Page} */
function part(page, tokens, title) {
  const ids = new Set(tokens.filter(({ type }) => type === 'heading_open').map((token) => token.attrGet('id')));
  const raised = Number(tokens[0].tag.slice(1)) - 1;
  for (const token of tokens.filter(({ type }) => /^heading_/.test(type))) token.tag = `h${Number(token.tag.slice(1)) - raised}`;
  const headings = page.headings.filter(({ id }) => ids.has(id)).map((heading) => ({ ...heading, level: heading.level - raised }));
  headings[0].title = title;
  return { source: page.source, target: page.target.replace('.html', `-${headings[0].id}.html`), title, tokens, headings, parts: [], whole: page, lines: [0, 0] };
}

/** Divides a long reference: a table of its sections stays where they were. @param {Page} page */
function divide(page) {
  const rule = divided[page.source];
  if (!rule) return;
  /** @type {any[]} */
  const kept = [];
  /** @type {string[]} */
  let rows = [];
  const endTable = () => {
    if (!rows.length) return;
    const list = markdown.parse(`${rule.list ? `## ${rule.list}\n\n` : ''}| | |\n|---|---|\n${rows.join('\n')}\n`, {});
    if (rule.list) list[0].attrSet('id', anchorOf(rule.list, new Set()));
    kept.push(...list);
    rows = [];
  };
  for (let i = 0; i < page.tokens.length;) {
    const { type, tag } = page.tokens[i];
    const name = type === 'heading_open' && tag === `h${rule.level}` ? plainText(page.tokens[i + 1].children) : '';
    if (rule.heading.test(name)) {
      const end = endOfSection(page.tokens, i);
      const made = part(page, page.tokens.slice(i, end), rule.title(name));
      made.lines = [page.tokens[i].map[0], page.tokens[end]?.map[0] ?? read(page.source).split('\n').length];
      page.parts.push(made);
      const label = /^[a-z][\w-]*$/.test(name) ? `\`${name}\`` : name;
      rows.push(`| [${label}](#${made.headings[0].id}) | ${firstSentence(made.tokens)} |`);
      i = end;
    } else {
      endTable();
      kept.push(page.tokens[i]);
      i += 1;
    }
  }
  endTable();
  page.tokens = kept;
  page.headings = kept.filter(({ type }) => type === 'heading_open').map((token) => {
    const id = token.attrGet('id');
    return page.headings.find((heading) => heading.id === id) ?? { level: 2, id, title: rule.list ?? '', keywords: '' };
  });
}

/** Names a page by its title where a link has the name of its file. @param {any[]} tokens @param {(address: string) => string | undefined} titleOf */
function nameLinks(tokens, titleOf) {
  for (const [i, token] of tokens.entries()) {
    if (token.children) nameLinks(token.children, titleOf);
    if (token.type !== 'link_open' || !/^[\w./-]+\.md$/.test(tokens[i + 1].content)) continue;
    tokens[i + 1].content = titleOf(token.attrGet('href')) ?? tokens[i + 1].content;
  }
}

/** Divides long pages, and makes links lead to files of the site. Fails for an anchor that is not there. @param {Map<string, Page>} pages */
export function placePages(pages) {
  for (const page of pages.values()) divide(page);
  const all = [...pages.values()].flatMap((page) => [page, ...page.parts]);
  /** @type {Map<string, string>} */
  const places = new Map();
  for (const { source, target, headings, whole } of all) {
    for (const [i, { id }] of headings.entries()) places.set(`${source}#${id}`, whole && i === 0 ? encodeURI(target) : `${encodeURI(target)}#${encodeURIComponent(id)}`);
  }
  for (const page of all) {
    nameLinks(page.tokens, (address) => (isExternal(address) ? undefined : pages.get(destination(page, address).source)?.title));
    eachLink(page.tokens, (token, attribute) => {
      const address = token.attrGet(attribute);
      if (isExternal(address)) return;
      const { source, anchor } = destination(page, address);
      const place = anchor === undefined ? encodeURI(targetOf(source)) : places.get(`${source}#${anchor}`);
      if (place === undefined) throw new Error(`${page.source}: there is no heading for the link ${address}`);
      token.attrSet(attribute, place);
    });
  }
  return all;
}

/** True if the page is for people who change fleetprof. @param {Page} page */
export const isInternal = ({ source }) => source.startsWith('docs/internals/') && source !== internals;

/** Returns the pages that tokens of a page link to, in their order. @param {Map<string, Page>} pages @param {Page} page @param {any[]} tokens */
function linkedPages(pages, page, tokens) {
  /** @type {Page[]} */
  const linked = [];
  eachLink(tokens, (token, attribute) => {
    const address = token.attrGet(attribute);
    const target = isExternal(address) ? undefined : pages.get(destination(page, address).source);
    if (target) linked.push(target);
  });
  return linked;
}

/**
 * Reads the chapters out of docs/README.md: its headings, and the pages that each is the first to name.
 * @param {Map<string, Page>} pages
 * @returns {Chapter[]}
 */
export function chaptersOf(pages) {
  const page = /** @type {Page} */ (pages.get(contents));
  /** @type {Chapter[]} */
  const chapters = [];
  const seen = new Set([page]);
  for (const [i, token] of page.tokens.entries()) {
    if (token.type === 'heading_open' && token.tag === 'h2') {
      chapters.push({ title: plainText(page.tokens[i + 1].children), pages: [] });
    }
    if (token.type !== 'inline' || !chapters.length) continue;
    const added = linkedPages(pages, page, [token]).filter((linked) => !seen.has(linked) && !isInternal(linked));
    for (const linked of added) seen.add(linked);
    chapters.at(-1)?.pages.push(...new Set(added));
  }
  return chapters.filter((chapter) => chapter.pages.length);
}

/** Fails for a page of the manual that its page of contents does not name. @param {Map<string, Page>} pages */
export function checkNamed(pages) {
  for (const source of [contents, internals]) {
    const page = pages.get(source);
    const named = new Set(page && linkedPages(pages, page, page.tokens));
    const missing = [...pages.values()].filter((other) => other !== page && /^docs\/.*\.md$/.test(other.source)
      && isInternal(other) === (source === internals) && !named.has(other));
    if (missing.length) throw new Error(`${source} does not name ${missing.map((other) => other.source).join(', ')}`);
  }
}
