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
  const { navigation } = /** @type {{ navigation?: EventTarget }} */ (/** @type {unknown} */ (globalThis));
  if (navigation) navigation.addEventListener('currententrychange', check);
  else {
    addEventListener('popstate', check);
    const { pushState } = history;
    history.pushState = (...given) => {
      pushState.apply(history, given);
      check();
    };
  }
}
