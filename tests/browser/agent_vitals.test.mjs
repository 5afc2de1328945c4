// SPDX-License-Identifier: Apache-2.0
/**
 * The vitals build in real Chromium: what it sends of a page load, with the profiler and without.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as settle } from 'node:timers/promises';

import { startStack, waitFor } from '../behaviour/stack.mjs';
import { busy, isGzip, startSite, tag } from './agent_site.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('./agent_site.mjs').Site} */
let site;

before(async () => {
  browser = await launchChromium();
  site = await startSite();
});

after(async () => {
  await browser?.close();
  site?.close();
});

beforeEach(() => site.reset());

const html = `
  <style>button { width: 200px; height: 80px; }</style>
  <h1 id="title-4711">A heading that is the largest thing to paint here</h1>
  <button id="buy" class="btn btn-3f9a2c add-to-cart secret@example.com">Buy</button>
  <script src="http://localhost:PORT/third.js"></script>
  <script>
    function work(ms) {
      const start = performance.now();
      while (performance.now() < start + ms);
    }
    work(60);
  </script>
  <img src="/pixel.svg?token=secret#secret" onload="work(60)">
  <script>
    globalThis.seen = []; // what the browser itself says of the handler
    new PerformanceObserver((list) => {
      for (const { scripts } of list.getEntries()) seen.push(...scripts.filter((script) => script.sourceFunctionName === 'addToCart'));
    }).observe({ type: 'long-animation-frame' });
    new PerformanceObserver((list) => {
      globalThis.isPainted ||= list.getEntries().some(({ name, duration }) => name === 'click' && duration >= 100);
    }).observe({ type: 'event', durationThreshold: 40 });
    document.querySelector('button').addEventListener('click', function addToCart() {
      const start = performance.now();
      while (performance.now() < start + 250); // a starved browser takes no sample in less
      globalThis.handlerMs = performance.now() - start;
      document.querySelector('h1').style.marginTop = '300px';
    });
  </script>`;

/**
 * Loads the page, clicks, waits for the paint after it, and leaves.
 * @param {Record<string, string | number>} data
 * @param {string} [init]
 */
async function visit(data, init) {
  const { port } = new URL(site.origin);
  site.files['/third.js'] = () => ({ type: 'text/javascript', body: '/* third */' });
  site.files['/pixel.svg'] = () => ({ type: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>' });
  site.pages['/page'] = tag(data, 'fleetprof.vitals.js').replace(' data-after-load="0"', '') + html.replace('PORT', port);
  site.pages['/next'] = 'next';
  const { page, complaints } = await openTab(browser);
  if (init) await page.addInitScript(init);
  await page.goto(`${site.origin}/page?token=secret`);
  await page.click('#buy');
  await page.waitForFunction('globalThis.isPainted && seen.length > 0');
  const handlerMs = /** @type {number} */ (await page.evaluate('handlerMs'));
  const scriptMs = await page.evaluate('seen[0].duration');
  // Where the page's timers come late, its last slice is longer than 100 ms.
  await page.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 300); }));
  await page.goto(`${site.origin}/next`);
  await waitFor(() => all('vitals').some(({ name }) => name === 'INP'), { what: 'INP' });
  await page.context().close();
  return { handlerMs, scriptMs, complaints };
}

/** @param {string} member @returns {any[]} of all parts */
const all = (member) => site.uploads.flatMap(({ envelope }) => [envelope, ...envelope.views ?? []]).flatMap((view) => view[member] ?? []);

test('sends vitals, interactions, long frames and resources beside the profile', async () => {
  const { handlerMs, scriptMs, complaints } = await visit({});
  assert.deepEqual(complaints, []);
  const vitals = Object.fromEntries(all('vitals').map((vital) => [vital.name, vital]));
  assert.deepEqual(Object.keys(vitals).sort(), ['CLS', 'FCP', 'INP', 'LCP', 'TTFB']);
  assert.equal(all('vitals').length, 5, 'each once');
  assert.equal(vitals.INP.target, 'button#buy.btn.btn-*');
  assert.ok(vitals.INP.value >= handlerMs && vitals.INP.duration === vitals.INP.value);
  assert.match(vitals.LCP.target, /^h1#title-\*$/);

  const [interaction] = all('interactions');
  assert.equal(interaction.type, 'pointer');
  assert.equal(interaction.target, vitals.INP.target);
  assert.ok(interaction.processingEnd - interaction.processingStart >= handlerMs - 1);
  assert.ok(interaction.processingEnd <= interaction.start + interaction.duration);

  const frame = all('frames').find(({ scripts }) => scripts.some((/** @type {any} */ script) => script.function === 'addToCart'));
  const script = frame.scripts.find((/** @type {any} */ one) => one.function === 'addToCart');
  assert.equal(script.url, `${site.origin}/page`);
  assert.equal(script.duration, scriptMs);
  assert.ok(scriptMs >= handlerMs - 1);
  assert.ok(frame.blocking > 0, JSON.stringify(frame));

  const hosts = Object.fromEntries(all('resources').map((row) => [`${row.kind} ${row.host}`, row]));
  const third = hosts[`script http://localhost:${new URL(site.origin).port}/third.js`];
  assert.deepEqual([third.opaque, third.duration.length], [1, 0]);
  const own = hosts[`script ${site.origin}/agent/fleetprof.vitals.js`] ?? assert.fail(Object.keys(hosts).join());
  assert.ok(own.bytes > 0 && own.opaque === 0 && own.duration.length === 1, JSON.stringify(own));
  assert.ok(all('resources').every(({ kind }) => !['beacon'].includes(kind)), 'not its own uploads');

  // The profile may come in an upload of its own.
  await waitFor(() => site.uploads.some(({ envelope }) => envelope.trace?.frames.some((/** @type {any} */ { name }) => name === 'addToCart')),
    { what: 'addToCart in the profile' });
  // The trace has the page's URL as the browser gives it; the collector scrubs that.
  const members = site.uploads.map(({ envelope: { trace, ...rest } }) => rest);
  assert.ok(!JSON.stringify(members).includes('secret'), JSON.stringify(members));
  const invokers = all('frames').flatMap(({ scripts }) => scripts.map((/** @type {any} */ { invoker }) => invoker));
  assert.ok(invokers.includes(`${site.origin}/page`), invokers.join(' '));
  assert.ok(invokers.includes('IMG[src="/pixel.svg"].onload'), invokers.join(' '));
});

test('tells style from layout where the browser does, as Chrome 158', async () => {
  await visit({}, `for (const [type, members] of [['PerformanceLongAnimationFrameTiming', { styleDuration: 3, layoutDuration: 4 }],
      ['PerformanceScriptTiming', { forcedStyleDuration: 1, forcedLayoutDuration: 2 }]])
    for (const [name, value] of Object.entries(members)) Object.defineProperty(globalThis[type].prototype, name, { get: () => value });`);
  const frames = all('frames').filter(({ scripts }) => scripts.length > 0);
  assert.ok(frames.length > 0);
  for (const { style, layout, scripts } of frames) {
    assert.deepEqual([style, layout], [3, 4]);
    for (const { forcedStyle, forcedLayout } of scripts) assert.deepEqual([forcedStyle, forcedLayout], [1, 2]);
  }
});

test('says of which image the LCP is, what it consists of, and when the page shifted most', async () => {
  site.files['/hero.svg'] = () => ({ type: 'image/svg+xml', body: '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><rect width="600" height="400" fill="teal"/><circle cx="300" cy="200" r="150" fill="gold"/></svg>'.padEnd(5000, ' ') }); // Chromium skips images of few bytes
  site.delays['/hero.svg'] = 300;
  site.pages['/page'] = `${tag({}, 'fleetprof.vitals.js')}<div id="room"></div><main id="below">A text below.
    <script>${busy} busy(50)</script><img id="hero" src="/hero.svg?token=secret" width="600" height="400"></main>
    <script>
      addEventListener('load', () => setTimeout(() => { globalThis.shiftedAt = performance.now(); room.style.height = '200px'; }, 600));
      new PerformanceObserver((list) => { globalThis.shift = list.getEntries().at(-1).startTime; }).observe({ type: 'layout-shift' });
    </script>`;
  const { page } = await openTab(browser);
  await page.goto(`${site.origin}/page`);
  await page.waitForFunction('globalThis.shift');
  const shiftedAt = /** @type {number} */ (await page.evaluate('shiftedAt'));
  const image = /** @type {any} */ (await page.evaluate("performance.getEntriesByType('resource').find(({ name }) => name.includes('hero')).toJSON()"));
  const firstByte = /** @type {number} */ (await page.evaluate("performance.getEntriesByType('navigation')[0].responseStart"));
  await page.goto('about:blank');
  await waitFor(() => all('vitals').some(({ name }) => name === 'CLS') && all('vitals').some(({ name }) => name === 'LCP'), { what: 'LCP and CLS' });
  const { LCP, CLS } = Object.fromEntries(all('vitals').map((vital) => [vital.name, vital]));
  assert.deepEqual([LCP.target, LCP.url], ['img#hero', `${site.origin}/hero.svg`]);
  const { timeToFirstByte, resourceLoadDelay, resourceLoadDuration } = LCP.attribution;
  for (const [part, expected] of [[timeToFirstByte, firstByte], [resourceLoadDelay, image.requestStart - firstByte], [resourceLoadDuration, image.responseEnd - image.requestStart]])
    assert.ok(Math.abs(part - expected) <= Math.max(1, expected / 20), `${part} for ${expected}`);
  assert.ok(resourceLoadDuration >= 290 && timeToFirstByte + resourceLoadDelay + resourceLoadDuration <= LCP.value + 1, JSON.stringify(LCP));
  assert.equal(CLS.target, 'main#below');
  assert.equal(CLS.duration, 100);
  assert.ok(CLS.start <= shiftedAt && shiftedAt <= CLS.start + CLS.duration + 50, `${shiftedAt} in ${JSON.stringify(CLS)}`);
  await page.context().close();
});

test('sends them where there is no profiler, and where the page load was not picked', async () => {
  await visit({}, 'delete globalThis.Profiler');
  assert.ok(site.uploads.every(({ envelope }) => envelope.coverage === 'unsupported' && !envelope.trace));
  site.uploads = [];
  site.sampled = false;
  await visit({});
  assert.ok(site.uploads.every(({ envelope }) => !('coverage' in envelope) && !envelope.trace && !envelope.marks));
});

test('leaves out page loads by vitals-sample', async () => {
  site.sampled = false;
  site.pages['/page'] = tag({ 'vitals-sample': 0 }, 'fleetprof.vitals.js');
  const { page } = await openTab(browser);
  await page.goto(`${site.origin}/page`);
  await page.goto('about:blank');
  assert.deepEqual(site.uploads, []);
  await page.context().close();
});

// ---- Hard pages ----

/**
 * Opens a page with the vitals build, in a tab of its own.
 * @param {string} own
 * @param {Record<string, string | number>} [data]
 * @param {boolean} [sampled]
 */
async function openPage(own, data = {}, sampled = false) {
  site.sampled = sampled;
  site.pages['/page'] = `${tag(data, 'fleetprof.vitals.js').replace(' data-after-load="0"', '')}
    <style>button { display: block; width: 200px; height: 60px; }</style><script>${busy}
    globalThis.painted = [];
    new PerformanceObserver((list) => painted.push(...list.getEntries().map(({ name }) => name)))
      .observe({ type: 'event', durationThreshold: 40 });
    function show(state) { // as the browser does, which keeps the tabs of a debugger visible
      Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
      Object.defineProperty(document, 'hidden', { value: state === 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }
  </script>${own}`;
  const { page, complaints } = await openTab(browser);
  // Two frames: web-vitals has begun, and the page is painted.
  const settled = () => page.evaluate(() => new Promise((resolve) => {
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve)));
  }));
  await page.goto(`${site.origin}/page`);
  await settled();
  // The screen tells the browser when it has painted. If somebody clicks before, there is no LCP.
  await page.evaluate(() => new Promise((resolve) => {
    new PerformanceObserver(resolve).observe({ type: 'largest-contentful-paint', buffered: true });
  }));
  return {
    page, complaints, settled,
    /** Clicks as a visitor does, without listeners of playwright, and waits for the browser's entry. */
    click: async (/** @type {string} */ selector, event = 'click') => {
      const count = `painted.filter((name) => name === '${event}').length`;
      const before = await page.evaluate(count);
      const { x, y } = await page.evaluate((name) => Element.prototype.getBoundingClientRect.call(document.querySelector(name)), selector);
      await page.mouse.move(x + 20, y + 20);
      await page.mouse.down();
      await page.mouse.up();
      await page.waitForFunction(`${count} > ${before}`);
    },
    show: (/** @type {'visible' | 'hidden'} */ state) => page.evaluate(`show('${state}')`),
    close: () => page.context().close(),
  };
}

test('a click has its target on a page that listens to nothing but clicks', async () => {
  const { click, show, close } = await openPage('<button id="buy" onclick="busy(120)">Buy</button>');
  await click('#buy');
  await show('hidden');
  await waitFor(() => all('interactions').length > 0, { what: 'interaction' });
  assert.deepEqual(all('interactions').map(({ target }) => target), ['button#buy']);
  assert.equal(all('vitals').find(({ name }) => name === 'INP').target, 'button#buy');
  await close();
});

test('a key keeps the target that only its first event has, because its last one removes it', async () => {
  const { page, show, close } = await openPage('<div id="list"><input class="gone" onkeydown="busy(60)" onkeyup="busy(120); requestAnimationFrame(() => this.remove())"> text</div>');
  await page.focus('.gone');
  await page.keyboard.down('a');
  await page.waitForFunction("painted.includes('keydown')");
  await page.keyboard.up('a');
  await page.waitForFunction("painted.includes('keyup')");
  await show('hidden');
  await waitFor(() => all('vitals').some(({ name }) => name === 'INP'), { what: 'INP' });
  const [{ duration, target }, ...others] = all('interactions');
  assert.deepEqual([others, duration >= 120, target], [[], true, 'div#list>input.gone']);
  assert.equal(all('vitals').find(({ name }) => name === 'INP').target, 'div#list>input.gone');
  await close();
});

for (const [what, selector] of [['without targetSelector', undefined], ['with targetSelector', 'button.gone[src="/u/7"]']]) {
  test(`a click whose target is gone before any of its entries has what the browser still says: ${what}`, async () => {
    const { page, click, show, close } = await openPage('<button class="gone" onpointerdown="this.remove(); busy(120)">Gone</button>');
    // No browser here has it yet.
    await page.evaluate((value) => value && Object.defineProperty(PerformanceEventTiming.prototype, 'targetSelector', { get: () => value }), selector);
    await click('.gone', 'pointerdown');
    await show('hidden');
    await waitFor(() => all('interactions').length > 0, { what: 'interaction' });
    assert.deepEqual(all('interactions').map(({ target }) => target), [selector]);
    await close();
  });
}

test('no interaction is processed outside of itself, although a dialog holds its handler up', async () => {
  const { page, settled, show, close } = await openPage('<input onkeydown="busy(60); confirm()"><p onmouseup="busy(60); alert()">text</p>');
  page.on('dialog', async (dialog) => {
    await settle(300);
    await dialog.accept();
  });
  await page.focus('input');
  await page.keyboard.press('Enter');
  const box = /** @type {any} */ (await page.locator('p').boundingBox());
  await page.mouse.move(box.x + 5, box.y + 5);
  await page.mouse.down();
  await page.mouse.up();
  await settled();
  await page.waitForFunction("painted.includes('keydown')");
  await show('hidden');
  await waitFor(() => all('interactions').length > 0, { what: 'interactions' });
  for (const { start, processingStart, processingEnd, duration } of all('interactions')) {
    assert.ok(start <= processingStart && processingStart <= processingEnd && processingEnd <= start + duration,
      JSON.stringify(all('interactions')));
  }
  await close();
});

test('a response is sent once, with a target that its result replaced, and not what was painted after the page was hidden', async () => {
  const { page, show, complaints, close } = await openPage(`
    <div id="list"><button class="more" onclick="result('more')">More</button></div>
    <input id="query" oninput="result('query')"><button id="late" onclick="result('late', 400)">Late</button>
    <script>
      globalThis.shown = [];
      new PerformanceObserver((entries) => {
        for (const { interactionId } of entries.getEntries()) shown.push(interactionId);
      }).observe({ type: 'interaction-contentful-paint' });
      function result(name, ms = 120) {
        setTimeout(() => { list.innerHTML = '<p>' + (name + ' ').repeat(99) + '</p>'; }, ms);
        if (name === 'more') list.textContent = 'Loading';
      }
    </script>`);
  const shows = (/** @type {string} */ name) => page.waitForFunction((text) => document.querySelector('#list')?.textContent?.startsWith(text), name);
  /** @param {number} count */
  const painted = (count) => page.waitForFunction((least) => /** @type {any} */ (globalThis).shown.length >= least, count);
  await page.click('.more');
  await shows('more');
  await painted(2);
  await page.focus('#query');
  await page.keyboard.press('a');
  await shows('query');
  await page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => setTimeout(resolve, 100)); }));
  await show('hidden');
  await waitFor(() => all('responses').length > 1, { what: 'responses' });
  await show('visible');
  const before = /** @type {number} */ (await page.evaluate('shown.length'));
  await page.click('#late');
  await show('hidden');
  await show('visible');
  await shows('late');
  await painted(before + 1);
  await show('hidden');
  await page.goto('about:blank');
  const responses = all('responses').filter(({ target }) => target !== 'button#late');
  assert.deepEqual(responses.map(({ type, target }) => [type, target]), [['pointer', 'div#list>button.more'], ['keyboard', 'input#query']]);
  for (const { start, duration } of responses) assert.ok(start > 0 && duration >= 120, JSON.stringify(responses));
  assert.ok(all('responses').every(({ target, duration }) => target !== 'button#late' || duration < 400), JSON.stringify(all('responses')));
  assert.deepEqual(complaints, []);
  await close();
});

test('responses past the limit are counted', { timeout: 300_000 }, async () => {
  const { page, show, close } = await openPage(`<button id="more" onclick="setTimeout(show1, 60)">More</button><div id="list"></div>
    <script>
      globalThis.waits = new Map(); // by interaction, as the browser says it
      new PerformanceObserver((entries) => {
        for (const { interactionId, startTime, largestContentfulPaint } of entries.getEntries()) waits.set(interactionId, largestContentfulPaint.startTime - startTime);
      }).observe({ type: 'interaction-contentful-paint' });
      function show1() { list.innerHTML = '<p>' + ('result ' + waits.size + ' ').repeat(99) + '</p>'; }
    </script>`);
  const { x, y } = /** @type {{ x: number, y: number }} */ (await page.locator('#more').boundingBox());
  for (let i = 0; i < 206; i++) {
    await page.mouse.click(x + 20, y + 20);
    await page.waitForFunction((least) => /** @type {any} */ (globalThis).waits.size > least, i);
  }
  await show('hidden');
  const seen = /** @type {number} */ (await page.evaluate('[...waits.values()].filter((wait) => wait >= 40).length'));
  assert.ok(seen > 200, `${seen}`);
  await page.goto('about:blank');
  const count = () => all('responses').length;
  await waitFor(() => count() >= 200 && all('leftOut').length > 0, { what: 'responses' });
  const missing = all('leftOut').filter(({ what }) => what === 'interaction').reduce((sum, one) => sum + one.count, 0);
  assert.deepEqual([count(), missing], [200, seen - 200]);
  await close();
});

test('a form whose inputs have the names of properties is named like any other', async () => {
  const names = ['getAttribute', 'localName', 'parentElement', 'nodeType'];
  const { click, show, complaints, close } = await openPage(`<form id="order" onsubmit="return false">
    <button type="button" class="pay" onclick="busy(120)">Pay</button>${names.map((name) => `<input name="${name}">`).join('')}</form>`);
  await click('.pay');
  await show('hidden');
  await waitFor(() => all('vitals').some(({ name }) => name === 'INP'), { what: 'INP' });
  assert.deepEqual(all('interactions').map(({ target }) => target), ['form#order>button.pay']);
  assert.deepEqual(complaints, []);
  await close();
});

test('a vital that has grown is sent again when the page is hidden, and no other', async () => {
  const { page, click, show, close } = await openPage(
    '<div id="gap"></div><p>text</p><button id="a" onclick="busy(globalThis.ms ??= 100); ms += 200">A</button>');
  const visit = async (/** @type {number} */ height) => {
    await show('visible');
    await click('#a');
    await page.evaluate((px) => new Promise((resolve) => {
      new PerformanceObserver(resolve).observe({ type: 'layout-shift' });
      setTimeout(() => { /** @type {any} */ (document.querySelector('#gap')).style.height = `${px}px`; }, 600); // not by the click
    }), height);
    await show('hidden');
  };
  await visit(100);
  await waitFor(() => all('vitals').some(({ name }) => name === 'INP'), { what: 'first INP' });
  await visit(300);
  await waitFor(() => all('interactions').length > 1, { what: 'second interaction' });
  await visit(600);
  await waitFor(() => all('interactions').length > 2, { what: 'third interaction' });
  await show('visible');
  await show('hidden');
  const valuesOf = (/** @type {string} */ name) => all('vitals').filter((vital) => vital.name === name).map(({ value }) => value);
  for (const name of ['INP', 'CLS']) {
    const values = valuesOf(name);
    assert.ok(values.length >= (name === 'INP' ? 2 : 1), `${name} ${values.join()}`);
    assert.deepEqual(values, [...new Set(values)].sort((a, b) => a - b), name);
  }
  for (const name of ['FCP', 'LCP', 'TTFB']) assert.equal(valuesOf(name).length, 1, name);
  const ids = all('vitals').map(({ id }) => id);
  assert.equal(new Set(ids).size, 5, ids.join());
  await close();
});

/**
 * A button whose every click takes longer than all before it, on a busy machine too.
 * @param {number} worst ms @param {number} more ms
 */
const growing = (worst, more) => `<button id="a" onclick="busy(worst + ${more})">A</button>
  <script>
    globalThis.worst = ${worst};
    globalThis.clicks = 0;
    new PerformanceObserver((list) => {
      for (const { name, duration } of list.getEntries()) {
        worst = Math.max(worst, duration);
        if (name === 'click') clicks++;
      }
    }).observe({ type: 'event', durationThreshold: 40 });
  </script>`;

test('the INP and CLS of a visit are those of its end, in whatever order its parts arrive', async (t) => {
  const hides = 6;
  const { page, click, show, close } = await openPage(`<div id="gap"></div><p>text</p>${growing(170, 80)}`, {}, true);
  for (let visit = 1; visit <= hides; visit++) {
    await show('visible');
    await click('#a');
    await page.waitForFunction((count) => /** @type {any} */ (globalThis).clicks >= count, visit);
    await page.evaluate((px) => new Promise((resolve) => {
      new PerformanceObserver(resolve).observe({ type: 'layout-shift' });
      setTimeout(() => { /** @type {any} */ (document.querySelector('#gap')).style.height = `${px}px`; }, 600);
    }), visit * 60);
    await show('hidden');
    await waitFor(() => all('vitals').filter(({ name }) => name === 'INP').length >= visit, { what: `INP ${visit}` });
  }
  await page.goto('about:blank');
  await close();
  const last = Object.fromEntries([...site.uploads].sort((a, b) => a.envelope.part - b.envelope.part)
    .flatMap(({ envelope }) => envelope.vitals ?? []).map(({ name, value }) => [name, value]));
  const stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }] } });
  try {
    for (const { envelope } of site.uploads.reverse()) {
      const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, { method: 'POST', body: JSON.stringify(envelope) });
      assert.equal(reply.status, 204, await reply.text());
    }
    await waitFor(async () => (await stack.sql('select 1 from fleetprof.upload_log')).length === site.uploads.length, { what: 'uploads in SQL' });
    const rows = await stack.sql(`select name, count::int, p75 from fleetprof.vitals('shop')`);
    assert.deepEqual(rows.map(({ name, count }) => [name, count]), [['LCP', 1], ['INP', 1], ['CLS', 1], ['FCP', 1], ['TTFB', 1]]);
    for (const [name, unit] of /** @type {[string, number][]} */ ([['INP', 1], ['CLS', 1000]])) {
      const { p75 } = rows.find((row) => row.name === name);
      assert.ok(Math.abs(p75 - last[name] * unit) <= 0.0161 * last[name] * unit, `${name} ${p75}, not ${last[name] * unit}`);
    }
    t.diagnostic(`INP ${all('vitals').filter(({ name }) => name === 'INP').map(({ value }) => value).reverse().join(', ')} ms: ${
      rows.find(({ name }) => name === 'INP').p75} ms, once; ${site.uploads.length} uploads for ${hides} hides`);
    assert.ok(site.uploads.length <= 3 * hides + 2, `${site.uploads.length} uploads`);
  } finally {
    await stack.stop();
  }
});

for (const sampled of [false, true]) {
  test(`the INP of a page that was hidden 40 times is that of its end, once: ${sampled ? '' : 'not '}sampled`, { timeout: 240_000 }, async (t) => {
    const hides = 40;
    const { page, click, show, close } = await openPage(growing(40, 16), {}, sampled);
    const inps = () => [...site.uploads].sort((a, b) => a.envelope.part - b.envelope.part)
      .flatMap(({ envelope }) => envelope.vitals ?? []).filter(({ name }) => name === 'INP').map(({ value }) => value);
    for (let hide = 1; hide <= hides; hide++) {
      await show('visible');
      await click('#a');
      await page.waitForFunction((count) => /** @type {any} */ (globalThis).clicks >= count, hide);
      await show('hidden');
      if (hide === 10) await waitFor(() => inps().length >= 8, { what: 'the first values, at once' });
    }
    const before = site.uploads.length;
    const last = /** @type {number} */ (await page.evaluate('worst'));
    await page.goto('about:blank');
    await close();
    await waitFor(() => inps().at(-1) >= last, { what: 'the last value' });
    assert.deepEqual(inps(), [...new Set(inps())].sort((a, b) => a - b), 'each value once, and growing');
    assert.ok(before >= 20 && site.uploads.length <= 32, `${before} uploads, then ${site.uploads.length}`);
    assert.equal(new Set(site.uploads.map(({ envelope: { part } }) => part)).size, site.uploads.length);
    assert.deepEqual(site.uploads.flatMap(({ envelope: { leftOut = [] } }) => leftOut).filter(({ what }) => what !== 'profile'), []);

    const stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop' }] } });
    try {
      for (const { envelope } of site.uploads.reverse()) {
        const reply = await fetch(`${stack.collector.url}/v1/ingest/pk_shop`, { method: 'POST', body: JSON.stringify(envelope) });
        assert.equal(reply.status, 204, await reply.text());
      }
      await waitFor(async () => (await stack.sql('select 1 from fleetprof.upload_log')).length === site.uploads.length, { what: 'uploads in SQL' });
      const [{ count, p75 }] = await stack.sql(`select count::int, p75 from fleetprof.vitals('shop') where name = 'INP'`);
      assert.equal(count, 1);
      assert.ok(Math.abs(p75 - inps()[inps().length - 1]) <= 0.0161 * p75, `${p75}, not ${inps().at(-1)}`);
      t.diagnostic(`${hides} hides, ${site.uploads.length} uploads, INP ${inps()[0]} to ${inps().at(-1)} ms: ${p75} ms, once`);
    } finally {
      await stack.stop();
    }
  });
}

test('resources past the limit are counted', async () => {
  const { page, show, close } = await openPage(`<p>text</p><script>
    globalThis.seen = 0;
    new PerformanceObserver((list) => { seen += list.getEntries().filter(({ name }) => !name.includes('/v1/ingest/')).length; })
      .observe({ type: 'resource', buffered: true });
    async function load(count) {
      for (let i = 0; i < count; i += 50) await Promise.all(Array.from({ length: 50 }, () => fetch('/small').then((reply) => reply.text())));
    }
  </script>`);
  site.files['/small'] = () => ({ type: 'text/plain', body: 'x' });
  await page.evaluate('load(1100)');
  await page.waitForFunction('seen > 1100');
  await show('hidden');
  const sum = (/** @type {any[]} */ rows) => rows.reduce((all, { count, duration, opaque }) => all + (count ?? duration.length + opaque), 0);
  const missing = () => all('leftOut').filter(({ what }) => what === 'resource');
  await waitFor(() => sum(missing()) > 0, { what: 'what was left out' });
  assert.equal(sum(all('resources')), 1000);
  assert.equal(sum(missing()), await page.evaluate('seen') - 1000);
  assert.ok(site.uploads.every(({ envelope: { truncated, leftOut } }) => truncated === (leftOut ? true : undefined)));
  await close();
});

test('the vitals of a long and busy visit arrive when the visitor leaves', async () => {
  for (const sampled of [false, true]) {
    site.uploads = [];
    const { page, click, close } = await openPage(`<button id="a" onclick="busy(60)">A</button>
      <script>
        // A frame of these has 5 KB.
        const steps = Array.from({ length: 8 }, (_, i) => (0, eval)('(function ' + 'f'.repeat(240) + i + '() { busy(8); }) '
          + '//# sourceURL=https://static.example/' + 'x'.repeat(200) + i + '.js'));
        globalThis.left = 40;
        function frame() {
          for (const step of steps) requestAnimationFrame(step);
          if (left--) requestAnimationFrame(frame);
        }
      </script>`, {}, sampled);
    await click('#a');
    await page.evaluate('frame()');
    await page.waitForFunction('left < 0', undefined, { timeout: 60_000 });
    await page.goto('about:blank');
    await waitFor(() => all('vitals').some(({ name }) => name === 'INP'), { what: 'INP' });
    await waitFor(() => all('frames').length >= 20, { what: 'frames' });
    assert.deepEqual(all('vitals').map(({ name }) => name).sort(), ['CLS', 'FCP', 'INP', 'LCP', 'TTFB']);
    if (sampled) await waitFor(() => site.uploads.some(({ envelope }) => envelope.trace?.samples.length), { what: 'profile' });
    const beacons = site.uploads.filter(({ body }) => !isGzip(body));
    assert.ok(beacons.reduce((sum, { body }) => sum + body.length, 0) <= 65_536);
    await close();
  }
});

/** Each element's route or path, of all parts. @param {string} member @param {string} name */
const routesOf = (member, name) => site.uploads.flatMap(({ envelope }) => [envelope, ...envelope.views ?? []]).flatMap(({ page, [member]: list = [] }) => list
  .map((/** @type {any} */ one) => `${one[name]} ${page.route ?? new URL(page.url).pathname}`));

for (const sampled of [false, true]) {
  test(`vitals and interactions have the route of their view: a page load that is ${sampled ? '' : 'not '}sampled`, async () => {
    const { click, show, close } = await openPage(`
      <button id="open" onclick="history.pushState({}, '', '/product/7'); busy(80)">Open</button>
      <button id="add" onclick="busy(300)">Add</button>
      <button id="pay" onclick="history.pushState({}, '', '/cart/3'); fleetprof.start().setRoute('/cart'); busy(80)">Pay</button>`,
    {}, sampled);
    await click('#open');
    await click('#add');
    await click('#pay');
    await show('hidden');
    await waitFor(() => all('vitals').some(({ name }) => name === 'INP') && all('interactions').length > 2, { what: 'interactions' });
    const expected = ['button#add /product/7', 'button#open /page', 'button#pay /product/7'];
    assert.deepEqual(routesOf('interactions', 'target').sort(), expected);
    // The slowest one is add, unless another one waited for the processor.
    const { target } = all('vitals').find(({ name }) => name === 'INP');
    const slowest = expected.find((one) => one.startsWith(`${target} `))?.replace(target, 'INP');
    assert.deepEqual(routesOf('vitals', 'name').filter((one) => !one.startsWith('CLS')).sort(),
      ['FCP /page', slowest, 'LCP /page', 'TTFB /page']);
    await close();
  });
}

test('interactions have the route of their view after the end of profiling', async () => {
  const { page, click, show, close } = await openPage(`
    <button id="open" onclick="history.pushState({}, '', '/product/7'); busy(80)">Open</button>
    <button id="add" onclick="busy(80)">Add</button>`, { 'max-duration': 100 }, true);
  await page.waitForFunction("fleetprof.start().status === 'sent'");
  await click('#open');
  await click('#add');
  await show('hidden');
  await waitFor(() => all('interactions').length > 1, { what: 'interactions' });
  assert.deepEqual(routesOf('interactions', 'target').sort(), ['button#add /product/7', 'button#open /page']);
  await close();
});
