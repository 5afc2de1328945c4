// SPDX-License-Identifier: Apache-2.0
/** One visit of the page that agents are measured on. */

/**
 * Visits a page, and leaves it.
 * @param {import('playwright-core').Browser} browser
 * @param {string} url
 * @param {{ stayMs: number, rate?: number }} how rate: how many times slower the processor seems
 * @returns {Promise<{ cpuMs: number, loadMs: number, longTasks: number, startMs: number | null }>} cpuMs: processor time of
 *   the main thread, so that a busy machine changes it little; startMs: what the first profiler took to start, if there is one
 */
export async function visit(browser, url, { stayMs, rate = 1 }) {
  const context = await browser.newContext();
  const tab = await context.newPage();
  const session = await context.newCDPSession(tab);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  await tab.goto(url);
  const seen = await tab.evaluate((ms) => new Promise((/** @type {(seen: any) => void} */ resolve) => {
    const [{ loadEventEnd }] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
    setTimeout(() => resolve({ loadMs: loadEventEnd, startMs: /** @type {any} */ (globalThis).startMs ?? null }), ms);
  }), stayMs);
  seen.longTasks = await tab.evaluate('longTasks');
  const { metrics } = await session.send('Performance.getMetrics');
  const cpuMs = (metrics.find((metric) => metric.name === 'TaskDuration')?.value ?? 0) * 1000;
  await tab.goto(`${url}next`);
  await tab.evaluate(() => new Promise((resolve) => { setTimeout(resolve, 500); }));
  await context.close();
  return { ...seen, cpuMs };
}

/** @param {number[]} values */
export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];
