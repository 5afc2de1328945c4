// SPDX-License-Identifier: Apache-2.0
/**
 * Compares vitals of real applications with web-vitals' own attribution and the page's clock: single-page
 * applications of React and of Vue, with its router in the path and behind `#`, a frame, a page that comes back alive, one
 * that was rendered in advance, and one whose tab was discarded. nginx, a real collector and PostgreSQL; each figure is
 * within 5 %, and SQL names the application's own functions.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { repository, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { vitals as catalogue } from '../../tools/vitals.mjs';
import { bundle } from './bundle.mjs';
import { launchChromium, openHideableTab, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** Answers late, and keeps what pages note. @type {http.Server} */
let server;
/** @type {string} */
let origin;

/**
 * The state of a page when it is hidden.
 * @typedef {object} Note
 * @property {string} visit
 * @property {string} path
 * @property {number} number of notes of the page
 * @property {{ name: string, value: number, type: string, attribution: Record<string, any> }[]} seen the values of web-vitals
 * @property {Record<string, number>} clicked time of the last click on a target's class, ms
 * @property {Record<string, number>} painted when the browser painted what has this name, ms
 * @property {number} sent uploads
 */

/** The last of each page, by visit and path. @type {Map<string, Note>} */
const notes = new Map();
/** Tells the page in front to prerender the next one, then to go there. */
let order = '';

/** Beside the agent: web-vitals itself, and the browser's element timing, which the agent does not use. */
const start = (hashRoutes = false) => `<!doctype html><link rel="icon" href="data:,">
  <style>button, a { display: block; width: 200px; height: 40px; } h1 { font-size: 48px; } .large { font-size: 30px; }</style>
  <script src="/agent/fleetprof.vitals.js"></script><script src="/witness.js"></script>
  <script>
    const note = { visit: new URLSearchParams(location.search).get('visit'), path: location.pathname, number: 0, clicked: {}, painted: {}, sent: 0 };
    globalThis.note = note;
    globalThis.entries = [];
    const seen = new Map();
    fleetprof.start({ endpoint: '/v1/ingest/pk_shop', partLength: 300, release: note.visit, hashRoutes: ${hashRoutes},
      beforeSend(envelope) { note.sent++; return envelope; } });
    for (const name of ['LCP', 'INP', 'CLS', 'FCP', 'TTFB']) webVitals['on' + name](
      ({ id, value, navigationType: type, attribution }) => {
        seen.set(id, { name, value, type,
          attribution: Object.fromEntries(Object.entries(attribution).filter(([, each]) => typeof each !== 'object')) });
        if (/prerender|restore/.test(note.visit)) tell(); // nobody else sees when it is painted
      },
      { reportAllChanges: true, reportSoftNavs: !/FCP|TTFB/.test(name) });
    for (const type of ['layout-shift', 'soft-navigation', 'event', 'element', 'largest-contentful-paint', 'interaction-contentful-paint'])
      new PerformanceObserver((list) => {
        for (const { entryType, name, identifier, renderTime } of list.getEntries()) {
          entries.push(entryType === 'event' ? name : entryType);
          if (identifier) note.painted[identifier] = renderTime;
        }
      }).observe({ type, buffered: true, durationThreshold: 16 });
    addEventListener('click', ({ target, timeStamp }) => { note.clicked[target.className] = timeStamp; }, true);
    addEventListener('pageshow', ({ persisted }) => { globalThis.persisted = persisted; });
    if (document.prerendering) tell();
    // After the agent has sent what it has.
    function tell() {
      navigator.sendBeacon('/late/note', JSON.stringify({ ...note, number: note.number++, seen: [...seen.values()] }));
    }
    addEventListener('visibilitychange', () => { if (document.hidden) tell(); });
    addEventListener('pagehide', () => tell());
  </script><body>`;

/** Methods, whose names a minifier keeps; each works long enough for samples on a machine with much other work. */
const work = (/** @type {string} */ name, /** @type {number} */ ms) =>
  `${name}() { const end = performance.now() + ${ms}; while (performance.now() < end); return '${name} '; }`;
const shop = `
  const shop = { ${[work('renderHome', 400), work('showBanner', 80), work('renderResults', 400), work('openProduct', 200), work('sortReviews', 700)]} };
  const text = (words, count) => (words + ' ').repeat(count);
  const search = async () => (await fetch('/late/search')).text();
  /** Once the hero image is painted, and later than what follows an input. */
  const later = (show) => new PerformanceObserver((list, observer) => {
    observer.disconnect();
    setTimeout(() => { shop.showBanner(); show(); }, 700);
  }).observe({ type: 'element', buffered: true });
`;

/** Two views: a home with a late image, a banner that shifts it and a slow search; and a product. */
const react = `
  import { useEffect, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  ${shop}
  function Home({ open }) {
    const [hasBanner, setBanner] = useState(false);
    const [results, setResults] = useState('');
    useState(() => shop.renderHome());
    useEffect(() => later(() => setBanner(true)), []);
    const find = async () => {
      setResults('Searching');
      const found = await search();
      setResults(shop.renderResults() + text(found, 60));
    };
    return <>
      {hasBanner && <div className="banner" style={{ height: 90 }} />}
      <button className="search" onClick={find}>Search</button>
      <a className="product" onClick={open}>Product</a>
      <img className="hero" elementtiming="hero" src="/late/hero.svg" width="600" height="300" />
      {results.length > 9 ? <p key="results" className="large" elementtiming="results">{results}</p> : <p>{results}</p>}
    </>;
  }
  const Product = () => {
    const [text, setText] = useState('The view of a product. '.repeat(20));
    return <><h1>{text}</h1><button className="sort" onClick={() => setText(shop.sortReviews())}>Sort</button></>;
  };
  function Application() {
    const [path, setPath] = useState(location.pathname);
    const open = () => setTimeout(() => {
      shop.openProduct();
      history.pushState(null, '', '/react/product/7');
      setPath(location.pathname);
    }, 100);
    return path.includes('product') ? <Product /> : <Home open={open} />;
  }
  createRoot(document.body.appendChild(document.createElement('main'))).render(<Application />);`;

/** The same, by its router. @param {string} history */
const vue = (history) => `
  import { createApp, h, onMounted, ref } from 'vue';
  import { createRouter, createWebHashHistory, createWebHistory, RouterView } from 'vue-router';
  ${shop}
  const Home = { setup() {
    const hasBanner = ref(false);
    const results = ref('');
    shop.renderHome();
    onMounted(() => later(() => { hasBanner.value = true; }));
    const find = async () => {
      results.value = 'Searching';
      const found = await search();
      results.value = shop.renderResults() + text(found, 60);
    };
    const open = () => setTimeout(() => { shop.openProduct(); router.push('/product/7'); }, 100);
    return () => [
      hasBanner.value && h('div', { class: 'banner', style: { height: '90px' } }),
      h('button', { class: 'search', onClick: find }, 'Search'),
      h('a', { class: 'product', onClick: open }, 'Product'),
      h('img', { class: 'hero', elementtiming: 'hero', src: '/late/hero.svg', width: 600, height: 300 }),
      results.value.length > 9 ? h('p', { key: 'results', class: 'large', elementtiming: 'results' }, results.value) : h('p', results.value),
    ];
  } };
  const Product = { setup() {
    const text = ref('The view of a product. '.repeat(20));
    return () => [h('h1', text.value), h('button', { class: 'sort', onClick: () => { text.value = shop.sortReviews(); } }, 'Sort')];
  } };
  const router = createRouter({ history: ${history}, routes: [{ path: '/', component: Home }, { path: '/product/:id', component: Product }] });
  createApp({ render: () => h(RouterView) }).use(router).mount(document.body.appendChild(document.createElement('main')));`;

/** A page whose button works. */
const plain = `<h1>${'A text of a page. '.repeat(6)}</h1><button class="sort">Sort</button>
  <script>const shop = { ${work('sortReviews', 700)} }; document.querySelector('.sort').addEventListener('click', ({ target }) => { target.textContent = shop.sortReviews(); });</script>`;

/** Rendered in advance by the page before it, which goes there on an order. */
const first = `<!doctype html><link rel="icon" href="data:,">first <script>
  (async () => {
    for (let last = ''; ;) {
      const order = await (await fetch('/late/order')).text();
      if (order !== last && order === 'prerender') {
        const rules = document.createElement('script');
        rules.type = 'speculationrules';
        rules.textContent = JSON.stringify({ prerender: [{ urls: ['/plain/?visit=prerender-1'], eagerness: 'immediate' }] });
        document.head.append(rules);
      }
      if (order === 'go') location.href = '/plain/?visit=prerender-1';
      last = order;
      await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
  })();
</script>`;

before(async () => {
  const dir = temporaryDir('applications');
  fs.chmodSync(dir, 0o755);
  const files = {
    'witness.js': fs.readFileSync(`${repository}/node_modules/web-vitals/dist/web-vitals.attribution.iife.js`),
    'react.js': await bundle(react),
    'vue.js': await bundle(vue("createWebHistory('/vue/')")),
    'hash.js': await bundle(vue('createWebHashHistory()')),
    'react/index.html': `${start()}<script src="/react.js"></script>`,
    'vue/index.html': `${start()}<script src="/vue.js"></script>`,
    'hash/index.html': `${start(true)}<script src="/hash.js"></script>`,
    'plain/index.html': start() + plain,
    'outer/index.html': `${start()}<h1>${'A text around a frame. '.repeat(3)}</h1>
      <iframe width="900" height="500" src="/plain/?visit=frame-1"></iframe>`,
    'first.html': first,
    'next.html': '<link rel="icon" href="data:,">next',
  };
  for (const [name, body] of Object.entries(files)) {
    fs.mkdirSync(`${dir}/${name}`.replace(/[^/]*$/, ''), { recursive: true });
    fs.writeFileSync(`${dir}/${name}`, body);
  }
  server = http.createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: latePort } = /** @type {import('node:net').AddressInfo} */ (server.address());
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop', routes: ['/react/product/:id', '/vue/product/:id', '/product/:id'] }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        root ${dir};
        location ~ ^/(react|vue|hash|plain|outer)/ { fleetprof on; fleetprof_sample 100%; try_files /$1/index.html =404; }
        location /agent/ { alias ${repository}/agent/dist/; }
        location /late/ { proxy_pass http://127.0.0.1:${latePort}; }
        location /v1/ { proxy_pass ${ingest}; proxy_set_header Origin ''; }
      }`,
  });
  origin = /** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx).url;
  browser = await launchChromium([], { whole: true, ignoreDefaultArgs: ['--disable-back-forward-cache'] });
});

after(async () => {
  await browser?.close();
  await stack?.stop();
  server?.closeAllConnections();
  server?.close();
});

/** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
async function answer(request, response) {
  if (request.url === '/late/order') {
    response.end(order);
  } else if (request.url === '/late/hero.svg') {
    response.setHeader('Content-Type', 'image/svg+xml');
    // Chromium skips images of few bytes.
    setTimeout(() => response.end('<svg xmlns="http://www.w3.org/2000/svg" width="600" height="300"><rect width="600" height="300" fill="teal"/></svg>'.padEnd(9000)), 600);
  } else if (request.url === '/late/search') {
    setTimeout(() => response.end('found'), 600);
  } else {
    await keepNote(request, response);
  }
}

/** @param {http.IncomingMessage} request @param {http.ServerResponse} response */
async function keepNote(request, response) {
  let body = '';
  for await (const piece of request) body += piece;
  response.writeHead(204).end();
  const note = JSON.parse(body);
  const key = `${note.visit} ${note.path}`;
  if (!(Number(notes.get(key)?.number) > note.number)) notes.set(key, note);
}

// ---- What SQL says, against what the page knows ----

const kinds = { navigate: 'hard', 'soft-navigation': 'soft', 'back-forward-cache': 'back-forward-cache', prerender: 'prerender', restore: 'restore' };

/**
 * Paints of a return are not entries of the browser: each copy of web-vitals reads the clock in a callback of its own, in the same frame.
 * @param {string} what
 */
const roundingOf = (what) => (/^back-forward-cache .* (FCP|LCP)\b/.test(what) ? 1000 / 60 : 1);

/** True if it is within 5 %, or within what the browser rounds to. @param {number} value @param {number} expected @param {number} rounding */
const isNear = (value, expected, rounding = 1) => Math.abs(value - expected) <= Math.max(expected / 20, rounding);

/**
 * Compares each value of a page, and what it consists of, with SQL, once they are there.
 * @param {Note} note
 * @param {Record<string, string>} routes by the kind of navigation; of others nothing may be there
 * @param {string} [frame] of pages in frames or not
 * @returns {Promise<string[]>} names of the vitals, with their kinds
 */
async function assertVitals({ visit, seen }, routes, frame = 'top') {
  const expected = seen.flatMap(({ name, value, type, attribution }) => {
    const vital = /** @type {import('../../tools/vitals.mjs').Vital} */ (catalogue.find((each) => each.name === name));
    const kind = /** @type {Record<string, string>} */ (kinds)[type];
    assert.ok(routes[kind], `a vital of another navigation: ${name}, ${type}`);
    return [
      { what: `${kind} ${routes[kind]} ${name}`, value: vital.unit === 'ms' ? value : value * 1000 },
      ...vital.parts.map(({ name: part, member }) => ({ what: `${kind} ${routes[kind]} ${name} ${part}`, value: attribution[member] ?? 0 })),
    ];
  });
  assert.equal(new Set(expected.map(({ what }) => what)).size, expected.length, `each once: ${JSON.stringify(seen)}`);
  /** @type {Map<string, number>} */
  let found = new Map();
  const wrong = () => expected.filter(({ what, value }) => !isNear(found.get(what) ?? (value ? NaN : 0), value, roundingOf(what)))
    .map(({ what, value }) => `${what}: ${found.get(what)}, by the page ${value}`);
  await waitFor(async () => {
    found = new Map();
    for (const [kind, route] of Object.entries(routes)) {
      const filters = /** @type {string} */ (`'shop', release => '${visit}', navigation => '${kind}', route => '${route}', frame => '${frame}'`);
      const rows = /** @type {any[]} */ (await stack.sql(`select name, count::integer, p75 from fleetprof.vitals(${filters})`));
      for (const { name, count, p75 } of rows) {
        if (count) assert.equal(count, 1, `${name} of ${visit} ${kind}`);
        if (count) found.set(`${kind} ${route} ${name}`, p75);
      }
      for (const { name, part, mean_ms: mean } of await stack.sql(`select name, part, mean_ms from fleetprof.vital_parts(${filters})`))
        found.set(`${kind} ${route} ${name} ${part}`, mean);
    }
    return wrong().length === 0;
  }, { what: 'vitals as the page has them', timeoutMs: 20_000 }).catch((error) => assert.deepEqual(wrong(), [], String(error.cause ?? error)));
  return expected.map(({ what }) => what).filter((what) => /^\S+ \S+ [A-Z]+$/.test(what)).map((what) => what.replace(/ \S+ /, ' ')).sort();
}

/** Uploads of all visits. */
let sent = 0;

/**
 * Waits for what a page noted when it was hidden, and until all it sent is in SQL.
 * @param {string} visit @param {string} path @param {number} [from] the number of the note @returns {Promise<Note>}
 */
async function noted(visit, path, from = 0) {
  const note = await waitFor(() => {
    const last = notes.get(`${visit} ${path}`);
    return Number(last?.number) >= from && last;
  }, { what: `note of ${visit}` });
  sent += note.sent;
  await waitFor(async () => (await stack.sql("select count(*)::integer as count from fleetprof.upload_log where site = 'shop'"))[0].count >= sent,
    { what: `${sent} uploads in SQL` });
  return note;
}

/** Returns the function with the most self time. @param {string} question @returns {Promise<string | undefined>} */
const costliest = async (question) => (await stack.sql(`select function from fleetprof.${question} order by self_ms desc limit 1`))[0]?.function;

/** Waits for entries of a kind beyond those that were there. @param {import('playwright-core').Page | import('playwright-core').Frame} page @param {string} kind */
const entry = (page, kind, more = 1) => page.waitForFunction(([name, least]) => /** @type {any} */ (globalThis).entries.filter(
  (/** @type {string} */ each) => each === name).length >= least, /** @type {[string, number]} */ ([kind, more]));

/** Clicks, and waits until it is painted. @param {import('playwright-core').Page | import('playwright-core').Frame} page @param {string} target */
async function click(page, target) {
  const before = /** @type {number} */ (await page.evaluate("entries.filter((name) => name === 'click').length"));
  await page.click(target);
  await entry(page, 'click', before + 1);
}

/** Two frames, after which observers have seen what was painted. @param {import('playwright-core').Page} page */
const settled = (page) => page.evaluate(() => new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 300)));
}));

// ---- Single-page applications ----

const applications = [
  { name: 'react', title: 'React', home: '/react/', product: '/react/product/:id' },
  { name: 'vue', title: 'Vue', home: '/vue/', product: '/vue/product/:id' },
  { name: 'hash', title: 'Vue with its router behind #', home: '/', product: '/product/:id' },
];

/** Looks at the home, searches, opens a product, sorts, and leaves. @param {string} name @param {number} number */
async function tour(name, number) {
  const { page, complaints } = await openTab(browser);
  await page.goto(new URL(`/${name}/?visit=${name}-${number}${name === 'hash' ? '#/' : ''}`, origin).href);
  await page.waitForFunction("'hero' in note.painted");
  await entry(page, 'layout-shift');
  await page.click('.search');
  await page.waitForFunction("'results' in note.painted");
  await settled(page);
  await page.click('.product');
  await entry(page, 'soft-navigation');
  await settled(page);
  await click(page, '.sort');
  await settled(page);
  await page.goto(new URL('/next.html', origin).href);
  assert.deepEqual(complaints, []);
  const note = await noted(`${name}-${number}`, `/${name}/`);
  await page.context().close();
  return note;
}

for (const { name, title, home, product } of applications) {
  test(`an application of ${title}: vitals of both views, the wait for a search, and the functions in them`, { timeout: 300_000 }, async (t) => {
    const site = `'shop', release => '${name}-%'`;
    const prefix = 'html>body>main>';
    const questions = {
      renderHome: `measure_hotspots('(lcp)', ${site})`,
      showBanner: `measure_hotspots('(CLS) good', ${site})`,
      renderResults: `measure_hotspots('(response) ${prefix}button.search', ${site})`,
      openProduct: `measure_hotspots('(response) ${prefix}a.product', ${site})`,
      sortReviews: `vital_hotspots('INP', ${site}, navigation => 'soft')`,
    };
    /** @type {[string, string | undefined][]} */
    let functions = [];
    // Without a processor of its own a browser takes few samples: then a visit more has some.
    for (let number = 1; number === 1 || number < 5 && functions.some(([, found]) => !found); number++) {
      const note = await tour(name, number);
      assert.deepEqual(await assertVitals(note, { hard: home, soft: product }),
        ['hard CLS', 'hard FCP', 'hard INP', 'hard LCP', 'hard TTFB', 'soft CLS', 'soft INP', 'soft LCP']);
      const filters = `'shop', release => '${note.visit}'`;
      for (const [vital, element] of [['LCP', 'img.hero'], ['CLS', 'button.search']]) {
        const [row] = await stack.sql(`select element, url from fleetprof.vital_elements('${vital}', ${filters}, navigation => 'hard')`);
        assert.ok(row.element.startsWith(prefix), JSON.stringify(row));
        if (vital === 'LCP') assert.deepEqual(row, { element: prefix + element, url: `${origin}/late/hero.svg` });
      }
      const waitedMs = note.painted.results - note.clicked.search;
      const [search] = await stack.sql(`select response_p75_ms as ms from fleetprof.interactions(${filters}, route => '${home}') where target = '${prefix}button.search' and responses = 1`);
      assert.ok(isNear(search?.ms, waitedMs), `search: ${search?.ms} ms, by the page's clock ${waitedMs} ms`);
      t.diagnostic(`${note.visit}: search ${search.ms.toFixed(0)} ms, by the page ${waitedMs.toFixed(0)}; ${note.seen.map((vital) => `${vital.type} ${vital.name} ${vital.value.toFixed(3)}`).join(', ')}`);
      functions = [];
      for (const [own, question] of Object.entries(questions)) functions.push([own, await costliest(question)]);
    }
    assert.deepEqual(functions, functions.map(([own]) => [own, own]));
  });
}

// ---- Frames, and pages that return ----

test('a frame has vitals of its own, beside those of the page around it', async () => {
  const { page, complaints } = await openTab(browser);
  await page.goto(`${origin}/outer/?visit=frame-1`);
  const frame = await waitFor(() => page.frame({ url: /\/plain\// }), { what: 'frame' });
  await entry(frame, 'largest-contentful-paint');
  await entry(page, 'largest-contentful-paint');
  await click(frame, '.sort');
  await settled(page);
  await page.goto(`${origin}/next.html`);
  assert.deepEqual(complaints, []);
  await page.context().close();
  const [outer, inner] = [await noted('frame-1', '/outer/'), await noted('frame-1', '/plain/')];
  assert.deepEqual(await assertVitals(outer, { hard: '/outer/' }), ['hard CLS', 'hard FCP', 'hard LCP', 'hard TTFB']);
  assert.deepEqual(await assertVitals(inner, { hard: '/plain/' }, 'same-origin'), ['hard CLS', 'hard FCP', 'hard INP', 'hard LCP', 'hard TTFB']);
  assert.equal(await costliest("vital_hotspots('INP', 'shop', release => 'frame-1', frame => 'same-origin')"), 'sortReviews');
});

test('a page that comes back alive has vitals of its return', async () => {
  const { page, complaints } = await openTab(browser);
  await page.goto(`${origin}/plain/?visit=back-1`);
  await entry(page, 'largest-contentful-paint');
  await click(page, '.sort');
  await settled(page);
  await page.goto(`${origin}/next.html`);
  await page.goBack({ waitUntil: 'commit' });
  await page.waitForFunction('globalThis.persisted');
  await settled(page);
  await click(page, '.sort');
  await settled(page);
  const from = /** @type {number} */ (await page.evaluate('note.number'));
  await page.goto(`${origin}/next.html`);
  assert.deepEqual(complaints, []);
  const note = await noted('back-1', '/plain/', from);
  await page.context().close();
  const own = ['CLS', 'FCP', 'INP', 'LCP', 'TTFB'];
  assert.deepEqual(await assertVitals(note, { hard: '/plain/', 'back-forward-cache': '/plain/' }),
    ['back-forward-cache', 'hard'].flatMap((kind) => own.map((name) => `${kind} ${name}`)));
  assert.equal(await costliest("vital_hotspots('INP', 'shop', release => 'back-1', navigation => 'back-forward-cache')"), 'sortReviews');
});

/** Waits until the page has painted, which it tells itself. @param {string} visit */
const painted = (visit) => waitFor(() => {
  const last = notes.get(`${visit} /plain/`);
  return ['LCP', 'FCP', 'TTFB'].every((name) => last?.seen.some((vital) => vital.name === name)) && last;
}, { what: `paint of ${visit}` });

test('a page that was rendered in advance has vitals from the moment at which it is seen', async () => {
  order = 'wait';
  const tab = await openHideableTab(browser, `${origin}/first.html`);
  order = 'prerender';
  await waitFor(() => notes.has('prerender-1 /plain/'), { what: 'page that is rendered in advance' });
  order = 'go';
  const { number } = await painted('prerender-1');
  await tab.switchAway();
  const note = await noted('prerender-1', '/plain/', number + 1);
  assert.deepEqual(await assertVitals(note, { prerender: '/plain/' }), ['prerender CLS', 'prerender FCP', 'prerender LCP', 'prerender TTFB']);
  await tab.close();
});

/**
 * Discards the tab that shows a page, as the browser does when memory is short.
 * @param {import('playwright-core').CDPSession} session @param {string} path
 */
async function discard(session, path) {
  // Playwright would look at the tab that takes the place of the discarded one, which then would not load its page.
  const { targetId } = await session.send('Target.createTarget', { url: 'chrome://chrome-urls/?host=chrome://discards/#internal-debug-pages' });
  const { sessionId } = await session.send('Target.attachToTarget', { targetId });
  let last = 0;
  /** @param {string} method @param {object} params @returns {Promise<any>} */
  const send = (method, params) => new Promise((resolve) => {
    const id = ++last;
    session.on('Target.receivedMessageFromTarget', ({ message }) => {
      const reply = JSON.parse(message);
      if (reply.id === id) resolve(reply.result);
    });
    session.send('Target.sendMessageToTarget', { sessionId, message: JSON.stringify({ id, method, params }) });
  });
  const evaluate = async (/** @type {string} */ expression) => (await send('Runtime.evaluate', { expression, returnByValue: true })).result.value;
  // The browser keeps its pages for developers shut until somebody opens them.
  await waitFor(() => evaluate("{ const button = document.querySelector('chrome-urls-app').shadowRoot.querySelector('button, cr-button'); button?.click(); !!button; }"),
    { what: 'button that opens them' });
  await send('Page.navigate', { url: 'chrome://discards/' });
  const row = `[...document.querySelector('discards-main').shadowRoot.querySelector('discards-tab').shadowRoot.querySelectorAll('tbody tr')]
    .find(({ innerText }) => innerText.includes('${path}'))`;
  await waitFor(() => evaluate(`{ const link = [...${row}.querySelectorAll('div')].find(({ textContent }) => textContent.trim() === '[Urgent Discard]'); link?.click(); !!link; }`),
    { what: 'row of the tab' });
  await waitFor(() => evaluate(`${row}.innerText.includes('discarded')`), { what: 'tab that is discarded' });
}

test('a page whose tab was discarded has vitals of its restoration', async () => {
  const own = await launchChromium([], { whole: true });
  try {
    const session = await own.newBrowserCDPSession();
    const url = `${origin}/plain/?visit=restore-1`;
    await session.send('Target.createTarget', { url });
    const { number: first } = await painted('restore-1');
    await session.send('Target.createTarget', { url: 'about:blank' });
    await noted('restore-1', '/plain/', first + 1);
    notes.clear();
    await discard(session, 'visit=restore-1');
    const { targetInfos } = await session.send('Target.getTargets');
    for (const { targetId } of targetInfos.filter((info) => info.url === url)) await session.send('Target.activateTarget', { targetId });
    const { number } = await painted('restore-1');
    await session.send('Target.createTarget', { url: 'about:blank' });
    const note = await noted('restore-1', '/plain/', number + 1);
    assert.deepEqual(await assertVitals(note, { restore: '/plain/' }), ['restore CLS', 'restore FCP', 'restore LCP', 'restore TTFB']);
  } finally {
    await own.close();
  }
});
