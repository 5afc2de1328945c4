// SPDX-License-Identifier: Apache-2.0
/**
 * Notices signs that a page is about to end, and whether a service worker stands between it and the network.
 */

import { addEventListener } from './natives.js';

/** Listens before the page does. @param {string} type @param {(event: any) => void} listener @param {EventTarget} [target] */
export const listen = (type, listener, target = globalThis) => addEventListener.call(target, type, listener, { capture: true, passive: true });

/**
 * @param {(act: (event: any) => void) => (event: any) => void} guard
 * @param {() => void} onHint called when the pointer leaves the page, a link is pressed or a form is sent
 * @param {() => void} onLeave called when the page is about to be left
 */
export function watchLeaving(guard, onHint, onLeave) {
  /** @param {MouseEvent} event */
  const onPress = (event) => {
    if (event.composedPath().some((target) => /** @type {HTMLAnchorElement} */ (target).href)) onHint();
  };
  // A key on a link also makes a click; a finger that scrolls makes none of these events.
  listen('mousedown', guard(onPress));
  listen('click', guard(onPress));
  listen('submit', guard(onHint));
  addEventListener.call(document, 'mouseleave', guard(onHint), { passive: true });
  listen('beforeunload', guard(onLeave));
  // A page may have a variable of this name.
  const { navigation } = /** @type {{ navigation?: unknown }} */ (/** @type {unknown} */ (globalThis));
  if (!(navigation instanceof EventTarget)) return;
  listen('navigate', guard(({ destination }) => {
    if (!destination.sameDocument) onLeave();
  }), navigation);
}

/** A service worker loses requests that a page makes while it ends, because the worker's side is gone by then. */
export function isControlled() {
  try {
    return Boolean(navigator.serviceWorker?.controller);
  } catch { // in a sandboxed frame
    return false;
  }
}
