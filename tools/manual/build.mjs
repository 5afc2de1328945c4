// SPDX-License-Identifier: Apache-2.0
/**
 * Builds the manual as a site: an HTML page and a Markdown file per page, with navigation and a search that needs no server.
 * Each command of cli.md and each function of sql.md has a page of its own. Pages work from disk and request nothing from
 * other hosts. llms.txt names the Markdown files, for programs.
 *
 *     node tools/manual/build.mjs OUT     writes into the folder OUT, which is made
 *
 * A link that leads nowhere, and a page that is not named, end the build. It needs Debian's node-markdown-it.
 */
import fs from 'node:fs';
import path from 'node:path';

import { html, sectionsOf } from './html.mjs';
import { markdownOf, summary } from './markdown.mjs';
import { allPages, chaptersOf, checkNamed, placePages, read } from './pages.mjs';

/** Writes the site. @param {string} out */
function build(out) {
  const version = read('VERSION').trim();
  const pages = allPages();
  checkNamed(pages);
  const chapters = chaptersOf(pages);
  const all = placePages(pages);
  fs.mkdirSync(path.join(out, 'images'), { recursive: true });
  const write = (/** @type {string} */ name, /** @type {string} */ text) => fs.writeFileSync(path.join(out, name), text);
  for (const page of all) {
    write(page.target, html(page, chapters, version));
    write(page.target.replace('.html', '.md'), markdownOf(page));
  }
  for (const name of fs.readdirSync(new URL('../../docs/images', import.meta.url))) {
    fs.copyFileSync(new URL(`../../docs/images/${name}`, import.meta.url), path.join(out, 'images', name));
  }
  write('sections.js', `globalThis.manualSections = ${JSON.stringify(all.flatMap(sectionsOf)).replaceAll('},{', '},\n{')};\n`);
  write('llms.txt', summary(chapters));
  for (const name of ['manual.css', 'page.js', 'rank.js', 'search.js']) write(name, read(`tools/manual/${name}`));
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
