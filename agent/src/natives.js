// SPDX-License-Identifier: Apache-2.0
/**
 * The browser's own functions, as they are when the agent starts. Pages replace them: zone.js runs Angular's change
 * detection after each timer and promise, and tracing libraries add headers to each fetch.
 */
const scope = /** @type {any} */ (globalThis);
const { Zone } = scope;

/**
 * Returns the browser's own function: libraries that replace one keep it in a property. @param {string} name @returns {any}
 */
function native(name) {
  let found = Zone && scope[Zone.__symbol__(name)] || scope[name];
  for (let inner = found; inner; inner = inner.__sentry_original__ ?? inner.__original) found = inner;
  return found;
}

/** @template {keyof typeof globalThis} Name @param {Name} name @returns {(typeof globalThis)[Name]} */
const bound = (name) => native(/** @type {string} */ (name))?.bind(scope);

export const setTimeout = bound('setTimeout');
export const clearTimeout = bound('clearTimeout');
export const setInterval = bound('setInterval');
export const fetch = bound('fetch');
/** A worker has none. */
export const sendBeacon = /** @type {Navigator['sendBeacon']} */ (scope.navigator?.sendBeacon?.bind(navigator));
/** Called on the object whose events are wanted. */
export const addEventListener = /** @type {EventTarget['addEventListener']} */ (native('addEventListener'));
export const Promise = /** @type {PromiseConstructor} */ (native('Promise'));
export const PerformanceObserver = /** @type {typeof globalThis.PerformanceObserver} */ (native('PerformanceObserver'));

/** Runs a function outside of all zones, so that its listeners run outside of them as well. @param {() => void} act */
export const outside = (act) => (Zone ? Zone.root.run(act) : act());
