// SPDX-License-Identifier: Apache-2.0
/**
 * Notices the navigations of a single-page application.
 */

import { setInterval } from './natives.js';

/**
 * Returns the path of the view: the page's path, or the path behind `#` or `#!`.
 * @param {unknown} inHash whether the page's router keeps it there
 */
export const pathOf = (inHash) => inHash && /^#!?(\/[^?]*)/.exec(location.hash)?.[1] || location.pathname;

/**
 * @param {() => void} onChange called after the view's path has changed
 * @param {unknown} inHash
 */
export function watchRoutes(onChange, inHash) {
  let path = pathOf(inHash);
  const check = () => {
    if (pathOf(inHash) === path) return;
    path = pathOf(inHash);
    onChange();
  };
  // A page may have a variable of this name.
  const { navigation } = /** @type {{ navigation?: Partial<EventTarget> }} */ (/** @type {unknown} */ (globalThis));
  if (navigation?.addEventListener) navigation.addEventListener('currententrychange', check);
  else if (!VITALS) setInterval(check, 100); // less code than replacing pushState
  else {
    addEventListener('popstate', check);
    const { pushState } = history;
    history.pushState = (...given) => {
      pushState.apply(history, given);
      check();
    };
  }
}
