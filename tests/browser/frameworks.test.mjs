// SPDX-License-Identifier: Apache-2.0
/**
 * Marks of web frameworks arrive in SQL under the names that docs/frameworks.md has, and the functions inside are found;
 * production builds that mark nothing really do so, and the lines that mark it by hand work. React and Vue are the packages; of
 * Next.js, Nuxt and Angular their marking code runs, as their packages have it.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';

import { repository, startStack, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { marks } from '../../tools/frameworks.mjs';
import { bundle } from './bundle.mjs';
import { launchChromium, openTab } from './chromium.mjs';

/** @type {import('playwright-core').Browser} */
let browser;
/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;

/** A method, whose name a minifier keeps. @param {string} name */
const work = (name) => `${name}() { const end = performance.now() + 400; while (performance.now() < end); return '${name}'; }`;
const shop = `const shop = { ${work('renderHome')}, ${work('renderList')} }; const main = document.querySelector('main');`;
/** The lines of the manual's code blocks, by what they name. @param {string} word */
const manual = (word) => /** @type {RegExpMatchArray} */ ([...fs.readFileSync(`${repository}/docs/frameworks.md`, 'utf8')
  .matchAll(/^```js\n([\s\S]*?)^```$/gm)].find(([, code]) => code.includes(word)))[1];

/** Each ends with `globalThis.done`. @type {Record<string, { source: string, development?: boolean }>} */
const pages = {
  'Next.js': { source: `
    import { Root, renderReactElement } from '../data/frameworks/next.js';
    ${shop}
    main.innerHTML = 'renderHome';
    const Home = () => shop.renderHome();
    const List = () => shop.renderList();
    renderReactElement(main, (callback) => <Root callbacks={[callback]}><Home /></Root>);
    setTimeout(() => {
      performance.mark('routeChange'); // as dist/shared/lib/router/router.js does
      renderReactElement(main, (callback) => <Root callbacks={[callback, () => { globalThis.done = true; }]}><List /></Root>);
    }, 1000);` },
  Nuxt: { source: `
    import { createHooks } from 'hookable';
    import plugin from '../data/frameworks/nuxt.js';
    ${shop}
    const hooks = createHooks();
    plugin.setup({ hooks });
    hooks.hook('app:created', () => shop.renderHome());
    hooks.hook('page:finish', () => shop.renderList());
    (async () => {
      for (const name of ['app:created', 'app:mounted', 'page:start', 'page:finish']) await hooks.callHook(name);
      globalThis.done = true;
    })();` },
  Angular: { source: `
    import { performanceMarkFeature } from '../data/frameworks/angular.js';
    performanceMarkFeature('NgHydration');
    globalThis.done = true;` },
  Vue: { development: true, source: `
    import { createApp, h, nextTick, ref } from 'vue';
    ${shop}
    const count = ref(0);
    const app = createApp({ name: 'Home', setup: () => () => h('p', count.value ? 'again' : shop.renderHome()) });
    app.config.performance = true;
    app.mount(main);
    count.value++;
    nextTick(() => { globalThis.done = true; });` },
  'React in production': { source: `
    import { hydrateRoot } from 'react-dom/client';
    ${shop}
    main.innerHTML = '<p>renderHome</p>';
    const Home = () => <p>{shop.renderHome()}</p>;
    hydrateRoot(main, <Home />);
    setTimeout(() => { globalThis.done = true; }, 600);` },
  'Vue in production': { source: `
    import { createSSRApp, h } from 'vue';
    ${shop}
    main.innerHTML = '<p>renderHome</p>';
    const app = createSSRApp({ name: 'Home', setup: () => () => h('p', shop.renderHome()) });
    app.config.performance = true;
    app.mount(main);
    globalThis.done = true;` },
  'React by hand': { source: `
    import { useEffect } from 'react';
    import { hydrateRoot } from 'react-dom/client';
    ${shop}
    const root = main;
    main.innerHTML = '<p>renderHome</p>';
    ${manual('hydrateRoot').replace(/^function App\(\) \{/m, 'function App() { useEffect(() => { setTimeout(() => { globalThis.done = true; }); }, []); shop.renderHome();')
    .replace('…', '<p>renderHome</p>')}` },
  'Vue by hand': { source: `
    import { createApp, h, nextTick } from 'vue';
    import { createMemoryHistory, createRouter, RouterView } from 'vue-router';
    ${shop}
    const router = createRouter({ history: createMemoryHistory(), routes: [
      { path: '/', component: { render: () => h('p', shop.renderHome()) } }, { path: '/list/:id', component: { render: () => h('p', shop.renderList()) } }] });
    ${manual('router.beforeEach')}
    createApp({ render: () => h(RouterView) }).use(router).mount(main);
    (async () => {
      await router.push('/');
      await nextTick();
      await router.push('/list/7');
      await nextTick();
      globalThis.done = true;
    })();` },
};

/** A page's name as a file and a release. @param {string} name */
const fileOf = (name) => name.toLowerCase().replaceAll(/[^a-z]+/g, '-');

before(async () => {
  const dir = temporaryDir('frameworks');
  fs.chmodSync(dir, 0o755);
  for (const [name, { source, development }] of Object.entries(pages)) {
    fs.writeFileSync(`${dir}/${fileOf(name)}.js`, await bundle(source, development));
    fs.writeFileSync(`${dir}/${fileOf(name)}.html`, `<!doctype html><link rel="icon" href="data:,">
      <script src="/agent/fleetprof.js" data-endpoint="/v1/ingest/pk_shop" data-release="${fileOf(name)}"></script>
      <body><main></main><script src="/${fileOf(name)}.js"></script>`);
  }
  stack = await startStack({
    config: { sites: [{ name: 'shop', key: 'pk_shop' }] },
    nginx: ({ port, ingest }) => `
      server {
        listen 127.0.0.1:${port};
        location / { fleetprof on; fleetprof_sample 100%; root ${dir}; }
        location /agent/ { alias ${repository}/agent/dist/; }
        location /v1/ { proxy_pass ${ingest}; proxy_set_header Origin ''; }
      }`,
  });
  browser = await launchChromium();
});

after(async () => {
  await browser?.close();
  await stack?.stop();
});

/** Visits a page, and returns what it marked. @param {string} name @returns {Promise<string[]>} kinds and names */
async function marksOf(name) {
  const { page, complaints } = await openTab(browser);
  await page.goto(new URL(`${fileOf(name)}.html`, /** @type {import('../behaviour/stack.mjs').Nginx} */ (stack.nginx).url).href);
  await page.waitForFunction('globalThis.done').catch((error) => { throw new Error(complaints.join() || 'not done', { cause: error }); });
  assert.equal(await page.evaluate('fleetprof.start().stop()'), true);
  assert.deepEqual(complaints.filter((text) => !/development version/.test(text)), []);
  await page.context().close();
  const release = `'shop', release => '${fileOf(name)}'`;
  await waitFor(async () => (await stack.sql(`select 1 from fleetprof.coverage(${release}) where loads > 0`)).length > 0, { what: `page load of ${name}` });
  return (await stack.sql(`select kind || ' ' || name as mark from fleetprof.timings(${release}) where kind in ('mark', 'measure') order by 1`)).map(({ mark }) => mark);
}

/** The function with the most self time inside a measure. @param {string} page @param {string} measure */
const inside = async (page, measure) => (await stack.sql(
  `select function from fleetprof.measure_hotspots('${measure}', 'shop', release => '${fileOf(page)}') where not is_agent order by self_ms desc limit 1`))[0]?.function;

for (const framework of new Set(marks.map((mark) => mark.framework))) {
  test(`each mark of ${framework} arrives, with what ran inside`, async () => {
    assert.ok(pages[framework], `no page of ${framework}`);
    const found = await marksOf(framework);
    for (const { name, kind } of marks.filter((mark) => mark.framework === framework)) assert.ok(found.includes(`${kind} ${name}`), `${name}: ${found.join(', ')}`);
  });
}

test('what runs inside hydration, hooks and components is found', async () => {
  assert.equal(await inside('Next.js', 'Next.js-hydration'), 'renderHome');
  assert.equal(await inside('Next.js', 'Next.js-render'), 'renderList');
  assert.equal(await inside('Nuxt', 'app:created'), 'renderHome');
  assert.equal(await inside('Vue', '<Home> render'), 'renderHome');
});

test('versions of the table are those that are tested', () => {
  const installed = (/** @type {string} */ name) => createRequire(import.meta.url)(`${name}/package.json`).version;
  for (const { framework, version } of marks) {
    const file = `${repository}/tests/data/frameworks/${framework.toLowerCase().replace('.js', '')}.js`;
    if (framework === 'Vue') assert.equal(version, installed('vue'));
    else assert.ok(fs.readFileSync(file, 'utf8').split('\n')[0].includes(` ${version},`), `${framework} ${version}`);
  }
});

for (const name of ['React in production', 'Vue in production']) {
  test(`${name} marks nothing`, async () => assert.deepEqual(await marksOf(name), []));
}

test("the manual's lines mark hydration of React, and routes of Vue", async () => {
  assert.deepEqual(await marksOf('React by hand'), ['mark hydrate', 'measure hydration']);
  assert.equal(await inside('React by hand', 'hydration'), 'renderHome');
  const routes = await marksOf('Vue by hand');
  assert.ok(routes.includes('measure route /list/:id'), routes.join(', '));
  assert.equal(await inside('Vue by hand', 'route /list/:id'), 'renderList');
});
