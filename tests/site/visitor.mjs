// SPDX-License-Identifier: Apache-2.0
/**
 * A visitor of the shop: a tab that notes what becomes of the profiler, all lines on its console, and reports
 * of policy violations.
 */
import assert from 'node:assert/strict';

/**
 * @typedef {object} Load what became of one page load
 * @property {string} type of the navigation: navigate, reload, back_forward
 * @property {number} profilers 1 if any was constructed, else 0
 * @property {number} violations of its document policy that ReportingObserver told
 * @property {string[]} lines on the console, of any level, and uncaught errors
 * @property {string | undefined} decision what the page sees as Server-Timing's `fleetprof`
 * @property {string[]} timing the names of all its Server-Timing entries
 * @property {{ url: string, status: number, fields: Record<string, string> } | undefined} response of the document
 *
 * @typedef {object} Visitor
 * @property {import('playwright-core').Page} page
 * @property {(leave: (page: import('playwright-core').Page) => Promise<unknown>) => Promise<Load>} load
 *   goes to a page (by link, reload, history …) and waits until it is hydrated
 * @property {() => string[]} lines on the console since the last load began
 * @property {() => number[]} uploads the statuses of the uploads answered so far
 * @property {() => Promise<void>} close
 */

/** Chromium's message about a header that is for newer ones; only sampled pages carry it. */
const modeUnknown = /Unrecognized document policy feature name js-profiling-mode/;

/** Runs in each document before anything else. */
function watch() {
  const { Profiler } = /** @type {any} */ (globalThis);
  const seen = { profilers: 0, violations: 0, Profiler };
  Object.defineProperty(globalThis, 'seen', { value: seen });
  const observe = () => new /** @type {any} */ (globalThis).ReportingObserver(
    (/** @type {unknown[]} */ reports) => { seen.violations += reports.length; },
    { types: ['document-policy-violation'], buffered: true },
  ).observe();
  observe();
  if (!Profiler) return;
  Object.defineProperty(globalThis, 'Profiler', {
    value: new Proxy(Profiler, {
      construct(target, given) {
        seen.profilers = 1; // the agent constructs one after the other
        return Reflect.construct(target, given);
      },
    }),
  });
}

/** In a page: what it has seen of itself. */
function report() {
  const { seen } = /** @type {any} */ (globalThis);
  const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
  const timing = navigation.serverTiming ?? [];
  return {
    type: navigation.type,
    profilers: seen.profilers,
    violations: seen.violations,
    decision: timing.find(({ name }) => name === 'fleetprof')?.description,
    timing: timing.map(({ name }) => name),
  };
}

/**
 * Opens a tab in a context of its own: nothing cached, no cookies.
 * @param {import('playwright-core').Browser} browser
 * @param {{ cookie?: { name: string, value: string, url: string } }} [options]
 * @returns {Promise<Visitor>}
 */
export async function openVisitor(browser, { cookie } = {}) {
  const context = await browser.newContext();
  if (cookie) await context.addCookies([cookie]);
  const page = await context.newPage();
  page.setDefaultTimeout(90_000);
  await page.addInitScript(watch);
  /** @type {string[]} */
  let lines = [];
  /** @type {number[]} */
  const uploads = [];
  /** @type {Load['response']} */
  let response;
  page.on('pageerror', (error) => lines.push(String(error)));
  page.on('console', (message) => {
    if (!modeUnknown.test(message.text())) lines.push(`${message.type()}: ${message.text()}`);
  });
  page.on('response', (answer) => {
    const request = answer.request();
    if (request.method() === 'POST' && answer.url().includes('/ingest/')) uploads.push(answer.status());
    if (request.isNavigationRequest()) {
      response = { url: answer.url(), status: answer.status(), fields: answer.headers() };
    }
  });
  return {
    page,
    load: async (leave) => {
      lines = [];
      response = undefined;
      await leave(page);
      const { url, status = 200 } = /** @type {Partial<NonNullable<Load['response']>>} */ (response ?? {});
      assert.ok(status < 400, `${url} is answered with ${status}`);
      await page.waitForFunction(() => document.documentElement.dataset.suggestions === '10').catch((error) => {
        throw new Error(`${page.url()} is not hydrated; on its console: ${lines.join('; ')}`, { cause: error });
      });
      const seen = await page.evaluate(report);
      return { ...seen, lines, response };
    },
    lines: () => lines,
    uploads: () => uploads,
    close: () => context.close(),
  };
}

/**
 * Whether the browser itself would let the page profile. A refusal is an error on the console.
 * @param {import('playwright-core').Page} page
 * @returns {Promise<boolean>}
 */
export const mayProfile = (page) => page.evaluate(async () => {
  try {
    await new /** @type {any} */ (globalThis).seen.Profiler({ sampleInterval: 10, maxBufferSize: 10 }).stop();
    return true;
  } catch {
    return false;
  }
});
