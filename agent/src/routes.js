/**
 * Notices the navigations of a single-page application.
 */

/**
 * @param {() => void} onChange called after the page's path has changed
 */
export function watchRoutes(onChange) {
  let path = location.pathname;
  const check = () => {
    if (location.pathname === path) return;
    path = location.pathname;
    onChange();
  };
  // A page may have a variable of this name.
  const { navigation } = /** @type {{ navigation?: Partial<EventTarget> }} */ (/** @type {unknown} */ (globalThis));
  if (navigation?.addEventListener) navigation.addEventListener('currententrychange', check);
  else if (!VITALS) setInterval(check, 100); // shorter than to replace pushState
  else {
    addEventListener('popstate', check);
    const { pushState } = history;
    history.pushState = (...given) => {
      pushState.apply(history, given);
      check();
    };
  }
}
