/**
 * Builds the manual as a site: one HTML page per Markdown page, with navigation and a search that needs no server.
 * Pages work from disk and request nothing from other hosts.
 *
 *     node tools/manual/build.mjs OUT     writes into the folder OUT, which is made
 *
 * docs/README.md gives the order of the pages. A link that leads nowhere, and a page that docs/README.md does not name,
 * end the build. The libraries are Debian's: node-markdown-it and libjs-lunr.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const load = createRequire(import.meta.url);
const markdownIt = load('/usr/share/nodejs/markdown-it');

/**
 * @typedef {object} Page
 * @property {string} source its path in the repository
 * @property {string} target its file in the site
 * @property {string} title
 * @property {any[]} tokens markdown-it's
 * @property {{ level: number, id: string, title: string }[]} headings
 *
 * @typedef {{ title: string, pages: Page[] }} Chapter
 */

/** @param {string} name @returns {string} */
const read = (name) => fs.readFileSync(path.join(root, name), 'utf8');

/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (found) => (
  /** @type {Record<string, string>} */ ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }))[found]);

const markdown = markdownIt({ html: false });

/** @param {string} source a path in the repository @returns {string} its file in the site */
function targetOf(source) {
  if (source === 'docs/README.md') return 'index.html';
  if (source.startsWith('docs/images/')) return source.slice('docs/'.length);
  const name = source.replace(/^docs\//, '').replace(/\.md$/, '').replace(/\/README$/, '').replaceAll('/', '-');
  return `${name === 'README' ? 'about' : name.replace(/^[A-Z]+$/, (word) => word.toLowerCase())}.html`;
}

/** Returns what a reader sees of inline tokens. @param {any[]} tokens @returns {string} */
function plainText(tokens) {
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

/** @param {string} source @returns {Page} */
function parse(source) {
  // Files that are not Markdown are shown as they are.
  const text = source.endsWith('.md') ? read(source) : `# ${source}\n\n\`\`\`\`\`\`\n${read(source)}\`\`\`\`\`\`\n`;
  const tokens = markdown.parse(text, {});
  /** @type {Page['headings']} */
  const headings = [];
  const taken = new Set();
  for (const [i, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue;
    const title = plainText(tokens[i + 1].children);
    const id = anchorOf(title, taken);
    token.attrSet('id', id);
    headings.push({ level: Number(token.tag.slice(1)), id, title });
  }
  if (!headings.length || headings[0].level !== 1) throw new Error(`${source}: the page begins without a title`);
  return { source, target: targetOf(source), title: headings[0].title, tokens, headings };
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
function allPages() {
  /** @type {Map<string, Page>} */
  const pages = new Map();
  const waiting = fs.readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md')).sort().map((name) => `docs/${name}`);
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

/** Makes links lead to pages of the site. Fails for an anchor that is not there. @param {Map<string, Page>} pages */
function rewriteLinks(pages) {
  for (const page of pages.values()) {
    eachLink(page.tokens, (token, attribute) => {
      const address = token.attrGet(attribute);
      if (isExternal(address)) return;
      const { source, anchor } = destination(page, address);
      if (anchor !== undefined && !pages.get(source)?.headings.some(({ id }) => id === anchor)) {
        throw new Error(`${page.source}: there is no heading for the link ${address}`);
      }
      token.attrSet(attribute, `${encodeURI(targetOf(source))}${anchor === undefined ? '' : `#${encodeURIComponent(anchor)}`}`);
    });
  }
}

/**
 * Reads the chapters out of docs/README.md: its headings, and the pages that each is the first to name.
 * @param {Map<string, Page>} pages
 * @returns {Chapter[]}
 */
function chaptersOf(pages) {
  const contents = /** @type {Page} */ (pages.get('docs/README.md'));
  /** @type {Chapter[]} */
  const chapters = [];
  const seen = new Set([contents]);
  for (const [i, token] of contents.tokens.entries()) {
    if (token.type === 'heading_open' && token.tag === 'h2') {
      chapters.push({ title: plainText(contents.tokens[i + 1].children), pages: [] });
    }
    if (token.type !== 'inline') continue;
    eachLink([token], (link) => {
      const page = pages.get(destination(contents, link.attrGet('href')).source);
      if (!page || seen.has(page)) return;
      seen.add(page);
      chapters.at(-1)?.pages.push(page);
    });
  }
  const missing = [...pages.values()].filter((page) => /^docs\/.*\.md$/.test(page.source) && !seen.has(page));
  if (missing.length) throw new Error(`docs/README.md does not name ${missing.map(({ source }) => source).join(', ')}`);
  return chapters.filter((chapter) => chapter.pages.length);
}

/** @param {Page} page @param {Page} [current] */
const linkTo = (page, current) => (
  `<a href="${page.target}"${page === current ? ' aria-current="page"' : ''}>${escaped(page.title)}</a>`);

/** @param {Page} page @param {Chapter[]} chapters */
function navigation(page, chapters) {
  return chapters.map(({ title, pages }) => (
    `<h2>${escaped(title)}</h2>\n<ul>\n${pages.map((entry) => `<li>${linkTo(entry, page)}</li>\n`).join('')}</ul>\n`)).join('');
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
  const order = chapters.flatMap(({ pages }) => pages);
  const place = order.indexOf(page);
  const [before, after] = place < 0 ? [undefined, undefined] : [order[place - 1], order[place + 1]];
  return `${before ? `<span>← ${linkTo(before)}</span>` : ''}${after ? `<span class="after">${linkTo(after)} →</span>` : ''}`;
}

/** @param {Page} page @param {Chapter[]} chapters @param {string} version */
function html(page, chapters, version) {
  const body = markdown.renderer.render(page.tokens, markdown.options, {})
    .replaceAll('<th></th>', '<td></td>')
    .replaceAll('<table>', '<div class="table" tabindex="0"><table>').replaceAll('</table>', '</table></div>')
    .replaceAll('<pre>', '<pre tabindex="0">'); // what is scrolled can be reached by keyboard
  const title = page.target === 'index.html' ? 'fleetprof: the manual' : `${page.title} – fleetprof`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="manual.css">
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
${body}<footer>${neighbours(page, chapters)}</footer>
</main>
${outline(page)}</div>
</body>
</html>
`;
}

/** Returns the text between a heading and the next one. @param {Page} page @returns {{ page: string, title: string, address: string, text: string }[]} */
function sectionsOf(page) {
  /** @type {{ page: string, title: string, address: string, text: string }[]} */
  const sections = [];
  let heading = 0;
  for (const [i, token] of page.tokens.entries()) {
    if (token.type === 'heading_open') {
      const { id, title, level } = page.headings[heading];
      heading += 1;
      sections.push({ page: page.title, title, address: level === 1 ? page.target : `${page.target}#${encodeURIComponent(id)}`, text: '' });
    } else if (token.type === 'fence' || (token.type === 'inline' && page.tokens[i - 1]?.type !== 'heading_open')) {
      const text = token.type === 'fence' ? token.content : plainText(token.children);
      /** @type {{ text: string }} */ (sections.at(-1)).text += `${text.replace(/\s+/g, ' ').trim()} `;
    }
  }
  return sections;
}

/** Writes the site. @param {string} out */
function build(out) {
  const version = /^ {2}version: '(.*)',$/m.exec(read('meson.build'))?.[1] ?? '';
  const pages = allPages();
  const chapters = chaptersOf(pages);
  rewriteLinks(pages);
  fs.mkdirSync(path.join(out, 'images'), { recursive: true });
  const write = (/** @type {string} */ name, /** @type {string} */ text) => fs.writeFileSync(path.join(out, name), text);
  for (const page of pages.values()) write(page.target, html(page, chapters, version));
  for (const image of fs.readdirSync(path.join(root, 'docs/images'))) {
    fs.copyFileSync(path.join(root, 'docs/images', image), path.join(out, 'images', image));
  }
  const sections = [...pages.values()].flatMap(sectionsOf);
  write('sections.js', `globalThis.manualSections = ${JSON.stringify(sections).replaceAll('},{', '},\n{')};\n`);
  for (const name of ['manual.css', 'search.js']) write(name, read(`tools/manual/${name}`));
  fs.copyFileSync('/usr/share/javascript/lunr/lunr.js', path.join(out, 'lunr.js'));
}

const [out] = process.argv.slice(2);
if (out === undefined) {
  console.error('usage: node tools/manual/build.mjs OUT');
  process.exit(2);
}
try {
  build(out);
} catch (error) {
  console.error(`tools/manual: ${/** @type {Error} */ (error).message}`);
  process.exit(1);
}
