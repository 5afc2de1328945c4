// SPDX-License-Identifier: Apache-2.0
/** Entries that web frameworks write into User Timing, for docs/frameworks.md; tests/browser/frameworks.test.mjs runs each. */

/**
 * @typedef {object} Mark
 * @property {string} framework
 * @property {string} version tested
 * @property {'mark' | 'measure'} kind
 * @property {string} name as `timings` has it
 * @property {string} covers in Markdown
 * @property {string} when it is written
 */

/** Frameworks whose production builds mark nothing: versions whose sources were read, and why. @type {[framework: string, why: string][]} */
export const silent = [
  ['React 18.3, 19.3', 'builds for profiling (19.3) write components into tracks of DevTools by `console.timeStamp`, which no script can read'],
  ['Next.js 16.4, App Router', ''],
  ['Vue 3.5', '`app.config.performance` has no effect'],
  ['Nuxt 4.5', 'without the setting above'],
  ['Angular 22.2', 'features excepted; `enableProfiling()` writes for DevTools alone, as React does'],
  ['SvelteKit 3.2, Svelte 5.57', 'nor does a development build'],
];

/** Where routes begin and end. @type {[framework: string, begins: string, ends: string][]} */
export const routes = [
  ['Next.js, App Router', '`onRouterTransitionStart` of `instrumentation-client.js`', '`useEffect` that depends on `usePathname()`'],
  ['Nuxt', '`page:start`', '`page:finish`'],
  ['SvelteKit', '`beforeNavigate`', '`afterNavigate`'],
  ['Angular', '`NavigationStart` of `Router.events`', '`NavigationEnd`'],
];

/** @type {Mark[]} */
export const marks = [
  ...[
    ['Next.js-before-hydration', 'from the start of the page load to hydration'],
    ['Next.js-hydration', 'hydration'],
    ['Next.js-route-change-to-render', 'from a route change until its rendering begins'],
    ['Next.js-render', 'rendering of the new route'],
  ].map(([name, covers]) => ({ framework: 'Next.js', version: '16.4.6', kind: /** @type {'measure'} */ ('measure'), name, covers, when: 'production, Pages Router' })),
  ...[
    ['app:created', 'the hook `app:created`; so each of the [hooks](https://nuxt.com/docs/4.x/api/advanced/hooks) of the application in the browser'],
    ['app:mounted', 'the hook when the page is hydrated'],
    ['page:start', 'the hook when a route change begins'],
    ['page:finish', 'the hook when it is shown'],
  ].map(([name, covers]) => ({ framework: 'Nuxt', version: '4.5.2', kind: /** @type {'measure'} */ ('measure'), name, covers, when: '`experimental: { browserDevtoolsTiming: true }` in `nuxt.config`' })),
  { framework: 'Angular', version: '22.2.6', kind: 'mark', name: 'mark_feature_usage', covers: 'the first use of a feature, which `detail.feature` names, such as `NgHydration`', when: 'production' },
  ...['init', 'render', 'mount', 'patch'].map((type) => ({ framework: 'Vue', version: '3.5.45', kind: /** @type {'measure'} */ ('measure'), name: `<Home> ${type}`,
    covers: `\`${type}\` of the component \`Home\``, when: 'development, `app.config.performance = true`' })),
];
