// SPDX-License-Identifier: Apache-2.0
/**
 * The server's decision on this page load, from `Server-Timing: fleetprof;desc="…"`.
 */

/** Visitors' clocks are wrong by hours, some by a day: only a decision that seems even older is surely old. */
const maxDecisionAgeMs = 2 * 86_400_000;
const usedKey = 'fleetprof.used';
const maxUsed = 200;

/**
 * Returns the decision; undefined if there is none. A 304 replaces the decision of a stored page.
 */
export const serverDecision = () => /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'))[0]
  ?.serverTiming?.find(({ name }) => name === 'fleetprof')?.description;

/**
 * True for a response that came whole, or is still coming: not out of a cache, and not confirmed by a 304.
 * @param {any} entry of the navigation; undefined for a page that came back
 */
export const isFetched = (entry) => entry?.transferSize >= entry?.encodedBodySize;

/** True for a decision not to profile. @param {string | undefined} decision */
export const isNo = (decision) => /^0/.test(/** @type {string} */ (decision));

/**
 * Returns the decision's reason not to profile.
 * @param {string | undefined} decision `0`, with arms `0.TOKEN`, or a yes: `1.TIME.NONCE`, signed the token
 *   `v1.KEYID.SITE.PPM.TIME.NONCE.MAC` or `v2.KEYID.SITE.ARMS.PPM.TIME.NONCE.MAC`
 * @param {string | undefined} policy the option
 * @returns {[import('../fleetprof.js').Status, string] | undefined} undefined for a yes
 */
export function refusal(decision, policy) {
  if (decision === undefined) {
    if (policy === 'try') return undefined;
    return ['no-decision', DEBUG ? 'no Server-Timing entry fleetprof: is fleetprof on in the web server? '
      + 'Where another server sets the Document-Policy, say data-policy="try"' : ''];
  }
  if (isNo(decision)) return ['not-sampled', DEBUG ? 'the server did not pick this page load' : ''];
  const [, time, mark] = /^(?:1|v[12]\..+)\.(\d{1,11})\.([\w-]{4})[\w-]{12}(?:\.[\w-]{43})?$/.exec(decision) ?? [];
  if (!mark) return ['no-decision', DEBUG ? `the server's decision is in no known form: ${decision}` : decision];
  const age = performance.timeOrigin - Number(time) * 1000;
  if (age > maxDecisionAgeMs) {
    return ['stale', DEBUG ? `out of a cache: the decision is ${Math.round(age / 3_600_000)} h old` : ''];
  }
  if (!useUp(mark)) return ['stale', DEBUG ? 'out of a cache: this response was profiled before' : ''];
  return undefined;
}

/**
 * Marks a yes as used; false if it was used before. A service worker's cache, or the browser's, returns the same
 * response with the same yes each time: without this, a visitor picked once would be profiled forever.
 * The mark is kept for sampled page loads only, and never sent.
 * @param {string} mark four characters of the server's random number
 */
function useUp(mark) {
  let marks;
  try {
    marks = localStorage[usedKey]?.split(' ') ?? [];
    // To the front, so that a response still in use is the last to be forgotten.
    localStorage[usedKey] = [...new Set([mark, ...marks])].slice(0, maxUsed).join(' ');
  } catch { // storage is blocked or full: only the age counts
  }
  return !marks?.includes(mark);
}
