// SPDX-License-Identifier: Apache-2.0
/** The manual as a site: every link leads somewhere, and Chromium opens and searches it from disk and over http. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { binDir, repository, run, runOrThrow, temporaryDir } from '../behaviour/stack.mjs';
import { launchChromium, openTab } from './chromium.mjs';
import { questions } from './manual_questions.mjs';

/** @param {string} out @param {string} [root] of the source */
const build = (out, root = repository) => run([process.execPath, path.join(root, 'tools/manual/build.mjs'), out]);

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const site = temporaryDir('manual');
/** Texts of the pages by file name. @type {Map<string, string>} */
let pages;

before(async () => {
  const { code, stderr } = await build(site);
  assert.equal(code, 0, stderr);
  pages = new Map(fs.readdirSync(site).filter((name) => name.endsWith('.html'))
    .map((name) => [name, fs.readFileSync(path.join(site, name), 'utf8')]));
});

/** @param {string} html @returns {Set<string>} */
const idsOf = (html) => new Set([...html.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id));

test('every page of the manual is a page of the site', () => {
  const sources = fs.readdirSync(path.join(repository, 'docs')).filter((name) => name.endsWith('.md'));
  assert.ok(sources.length > 25);
  for (const name of sources) assert.ok(pages.has(name === 'README.md' ? 'index.html' : name.replace(/md$/, 'html')), name);
});

test('a page of the internals is not in the navigation, and leads back to the page that names it', () => {
  const navigation = /<nav class="pages"[^]*?<\/nav>/;
  for (const html of pages.values()) {
    const [entries] = navigation.exec(html) ?? [''];
    assert.ok(entries.includes('href="internals.html"'));
    assert.doesNotMatch(entries, /href="internals-/);
  }
  assert.match(pages.get('internals.html') ?? '', /<main[^]* href="internals-debugging\.html"/);
  assert.match(pages.get('internals-debugging.html') ?? '', /<footer><span>← <a href="internals\.html">/);
});

test('each command and each function of SQL has a page, which the reference lists', () => {
  for (const [reference, source, heading] of /** @type {[string, string, RegExp][]} */ ([
    ['cli', 'docs/cli.md', /^## ([a-z][a-z-]+)$/gm], ['sql', 'docs/sql.md', /^### `([a-z_]+)`$/gm],
  ])) {
    const names = [...fs.readFileSync(path.join(repository, source), 'utf8').matchAll(heading)].map(([, name]) => name);
    assert.ok(names.length > 20);
    for (const name of names) {
      const own = pages.get(`${reference}-${name}.html`) ?? '';
      assert.match(own, new RegExp(`<p class="whole"><a href="${reference}\\.html">[^]*<h1 id="${name}">`), name);
      assert.match(pages.get(`${reference}.html`) ?? '', new RegExp(`<td><a href="${reference}-${name}\\.html"><code>${name}<`), name);
    }
  }
  assert.match(pages.get('cli.html') ?? '', /<h2 id="commands">Commands<\/h2>\n<div class="table"[^]*<a href="cli-migrate\.html">/);
  assert.match(pages.get('formats.html') ?? '', /<h2 id="older-tools">[^]*<a href="formats-opera-scope-sessions\.html">/);
  assert.match(pages.get('sql.html') ?? '', /<code>hotspots<\/code><\/a><\/td>\n<td>the functions that cost the most self time</);
  assert.match(pages.get('cli-compare.html') ?? '', /<footer><span>← <a href="cli-trend\.html">[^]*<span class="after"><a href="cli-regressions\.html">/);
});

test('each page has its Markdown, whose links lead to Markdown; llms.txt names those of the manual', () => {
  for (const [name, html] of pages) {
    const own = name.replace('.html', '.md');
    assert.ok(html.includes(`<link rel="alternate" type="text/markdown" href="${own}">`), name);
    const text = fs.readFileSync(path.join(site, own), 'utf8').replace(/^(`{3,})[^]*?^\1$/gm, '').replace(/`[^`\n]*`/g, '');
    for (const [, address] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^([a-z]+:|#)/.test(address)) continue;
      assert.match(address, /^(?:[\w.-]+\.md|images\/[\w-]+\.png)(#|$)/, own);
      assert.ok(fs.existsSync(path.join(site, address.split('#')[0])), `${own}: ${address}`);
    }
  }
  const top = fs.readFileSync(path.join(site, 'cli-top.md'), 'utf8');
  assert.match(top, /^## top\n\n/);
  assert.doesNotMatch(top, /^## (?!top$)/m);
  const named = [...fs.readFileSync(path.join(site, 'llms.txt'), 'utf8').matchAll(/^- \[[^\]]+\]\(([\w-]+\.md)\): \S/gm)].map(([, name]) => name);
  assert.ok(named.length > 25 && named.includes('sql.md') && named.every((name) => fs.existsSync(path.join(site, name))));
});

test('every link and anchor leads somewhere', () => {
  let links = 0;
  for (const [name, html] of pages) {
    for (const [, address] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      if (/^(https?|data):/.test(address)) continue;
      const [file, anchor] = decodeURIComponent(address.replaceAll('&amp;', '&')).split('#');
      const target = file || name;
      assert.ok(fs.existsSync(path.join(site, target)), `${name}: ${address}`);
      if (anchor !== undefined) assert.ok(idsOf(pages.get(target) ?? '').has(anchor), `${name}: ${address}`);
      links += 1;
    }
  }
  assert.ok(links > 1000);
});

test('every finding of doctor leads to its section', async () => {
  const findings = JSON.parse(await runOrThrow([path.join(binDir, 'fleetprof'), 'doctor', '--list', '--json']));
  assert.ok(findings.length > 60);
  for (const { id, page } of findings) {
    assert.match(page, new RegExp(`^docs/troubleshooting\\.md#${id}$`));
    assert.ok(idsOf(pages.get('troubleshooting.html') ?? '').has(id), id);
  }
});

test('the same source gives the same site', async () => {
  const again = temporaryDir('manual');
  assert.equal((await build(again)).code, 0);
  assert.equal((await run(['diff', '-r', site, again])).stdout, '');
});

for (const [what, files, message] of /** @type {[string, Record<string, string>, RegExp][]} */ ([
  ['a link to a file that is not there', { 'README.md': '[gone](gone.md)' }, /docs\/README\.md: the link gone\.md leads to no file/],
  ['a link to a heading that is not there', { 'README.md': '[gone](#gone)' }, /docs\/README\.md: there is no heading for the link #gone/],
  ['a page that the contents do not name', { 'README.md': '', 'lost.md': '# Lost' }, /docs\/README\.md does not name docs\/lost\.md/],
  ['a page of the internals that their page does not name',
    { 'README.md': '[Internals](internals/README.md) [lost](internals/deep/lost.md)', 'internals/README.md': '# Internals', 'internals/deep/lost.md': '# Lost' },
    /docs\/internals\/README\.md does not name docs\/internals\/deep\/lost\.md/],
])) {
  test(`refuses ${what}`, async () => {
    const root = temporaryDir('manual');
    fs.cpSync(path.join(repository, 'tools/manual'), path.join(root, 'tools/manual'), { recursive: true });
    fs.cpSync(path.join(repository, 'VERSION'), path.join(root, 'VERSION'));
    fs.mkdirSync(path.join(root, 'docs/images'), { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      fs.mkdirSync(path.dirname(path.join(root, 'docs', name)), { recursive: true });
      fs.writeFileSync(path.join(root, 'docs', name), name === 'README.md' ? `# Manual\n\n## Chapter\n\n${text}\n` : text);
    }
    const { code, stderr } = await build(path.join(root, 'out'), root);
    assert.equal(code, 1);
    assert.match(stderr, message);
  });
}

test('without markdown-it it says what is missing, and writes nothing', async () => {
  const root = temporaryDir('manual');
  fs.cpSync(path.join(repository, 'tools/manual'), path.join(root, 'tools/manual'), { recursive: true });
  const pagesFile = path.join(root, 'tools/manual/pages.mjs');
  fs.writeFileSync(pagesFile, fs.readFileSync(pagesFile, 'utf8').replace("'/usr/share/nodejs/markdown-it'", "'/nonexistent/markdown-it'"));
  const { code, stderr } = await build(path.join(root, 'out'), root);
  assert.deepEqual([code, stderr], [1, 'tools/manual: the package node-markdown-it is missing; `tools/deps check` installs it\n']);
  assert.equal(fs.existsSync(path.join(root, 'out')), false);
});

const types = /** @type {Record<string, string>} */ ({ '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' });

describe('in Chromium', () => {
  /** @type {import('playwright-core').Browser} */
  let browser;
  const server = http.createServer((request, response) => {
    const name = new URL(request.url ?? '/', 'http://localhost').pathname.slice(1) || 'index.html';
    response.setHeader('content-type', types[path.extname(name)] ?? 'image/png');
    fs.createReadStream(path.join(site, name)).on('error', () => { response.statusCode = 404; response.end(); }).pipe(response);
  });

  before(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    server.close();
  });

  for (const [where, base] of /** @type {[string, () => string][]} */ ([
    ['from disk', () => `${pathToFileURL(site)}/`],
    ['over http', () => `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}/`],
  ])) {
    test(`${where}: opens, searches and follows a result, and asks no other host`, async () => {
      const { page, complaints } = await openTab(browser);
      /** @type {string[]} */
      const elsewhere = [];
      page.on('request', (request) => {
        if (!request.url().startsWith(base())) elsewhere.push(request.url());
      });
      await page.goto(`${base()}index.html`);
      await page.keyboard.press('/');
      await page.keyboard.type('fleetprof_sam');
      const first = page.locator('.results a').first();
      await first.waitFor();
      assert.equal(await first.locator('strong').innerText(), 'The server modules › fleetprof_sample');
      await page.keyboard.press('ArrowDown');
      await Promise.all([page.waitForURL(/\/headers\.html#fleetprof_sample$/), page.keyboard.press('Enter')]);
      assert.ok(await page.locator('#fleetprof_sample').isVisible());
      await page.locator('input').fill('zzqx');
      await page.getByText('Nothing found.').waitFor();
      await page.keyboard.press('Escape');
      assert.equal(await page.locator('.results').isVisible(), false);
      assert.deepEqual(elsewhere, []);
      assert.deepEqual(complaints, []);
      await page.context().close();
    });
  }

  test('what people ask is among the first three results', async () => {
    const { page, complaints } = await openTab(browser);
    await page.goto(`${pathToFileURL(site)}/index.html`);
    await page.locator('input').fill('profile');
    await page.locator('.results a').first().waitFor();
    assert.ok(questions.length >= 39);
    for (const [question, addresses] of questions) {
      await page.locator('input').fill(question);
      await page.waitForFunction((asked) => document.querySelector('.results')?.getAttribute('data-query') === asked, question);
      const found = await page.locator('.results a').evaluateAll((links) => links.slice(0, 3).map((link) => link.getAttribute('href') ?? ''));
      assert.ok(found.some((address) => addresses.test(address)), `${question}: ${found.join(', ')}`);
    }
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('copies what is to type, and nothing of what a program answers', async () => {
    const { page, complaints } = await openTab(browser);
    await page.goto(`${pathToFileURL(site)}/headers.html`);
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: async (/** @type {string} */ text) => { document.body.dataset.copied = text; } },
    }));
    const copied = async (/** @type {string} */ part) => {
      const block = page.locator('.code', { hasText: part });
      await block.hover();
      await block.getByRole('button', { name: 'Copy' }).click();
      await block.getByRole('button', { name: 'Copied' }).waitFor();
      return page.evaluate(() => document.body.dataset.copied);
    };
    assert.equal(await copied('curl -sI https://shop.example/ |'), 'curl -sI https://shop.example/ | grep -i -e document-policy -e server-timing\n');
    assert.match(await copied('load_module') ?? '', /^load_module [^]*\n}\n$/);
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  test('shows one tab of several, the same on every page', async () => {
    const { page, complaints } = await openTab(browser);
    await page.goto(`${pathToFileURL(site)}/getting-started.html`);
    assert.ok(await page.getByText('fleetprof-agent libnginx-mod-http-fleetprof').isVisible());
    assert.equal(await page.getByText('fleetprof-agent libapache2-mod-fleetprof').isVisible(), false);
    await page.getByRole('tab', { name: 'nginx' }).first().focus();
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.getByText('fleetprof-agent libnginx-mod-http-fleetprof').isVisible(), false);
    assert.ok(await page.getByText('fleetprof-agent libapache2-mod-fleetprof').isVisible());
    assert.ok(await page.getByText('a2ensite shop').isVisible());
    await page.goto(`${pathToFileURL(site)}/headers.html`);
    assert.ok(await page.getByText('LoadModule fleetprof_module').isVisible());
    assert.deepEqual(complaints, []);
    await page.context().close();
  });

  for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
    test(`axe finds nothing, ${colorScheme}`, async () => {
      const { page } = await openTab(browser);
      await page.emulateMedia({ colorScheme });
      await page.goto(`${pathToFileURL(site)}/headers.html`);
      await page.locator('input').fill('sample rate');
      await page.locator('.results a').first().waitFor();
      await page.evaluate(axe);
      const violations = await page.evaluate(async () => (await /** @type {any} */ (globalThis).axe.run()).violations
        .map((/** @type {any} */ { id, nodes }) => `${id}: ${nodes[0].html}`));
      assert.deepEqual(violations, []);
      await page.context().close();
    });
  }

  test('no page is wider than a phone, except what can be scrolled', async () => {
    const { page, complaints } = await openTab(browser);
    await page.setViewportSize({ width: 360, height: 700 });
    for (const name of pages.keys()) {
      await page.goto(`${pathToFileURL(site)}/${name}`);
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 360, `${name}: ${width}`);
    }
    assert.deepEqual(complaints, []);
    await page.context().close();
  });
});
