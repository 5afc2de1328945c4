// SPDX-License-Identifier: Apache-2.0
/**
 * The browser's part of fleetprof: profiles a page load with the JS Self-Profiling API, adds the page's marks and
 * measures, and uploads them in parts.
 *
 * It profiles only if the server says in `Server-Timing` that it picked this page load: a try without permission
 * writes an error to the visitor's console and sends a violation report.
 * Nothing here may throw into the page, or write to its console unless `debug` is on.
 */
import { isNo, refusal, serverDecision } from './decision.js';
import { isOn, openLoad } from './load.js';
import { outside } from './natives.js';
import { version } from './version.js';

/**
 * @typedef {import('../fleetprof.js').Options} Options
 * @typedef {import('../fleetprof.js').Handle} Handle
 * @typedef {import('../fleetprof.js').Status} Status
 */

/**
 * Defines `globalThis.fleetprof`, and starts it if the script's tag says where to send.
 * @param {import('./load.js').StartExtra} [startExtra] starts what else is to be sent
 * @returns {import('../fleetprof.js').Fleetprof}
 */
export function install(startExtra) {
  /** @type {Handle | undefined} */
  let handle;
  let debug = false;

  /**
   * Says what happens: to the page in its handle, and to people on the console.
   * @param {string} detail
   * @param {Status} [status]
   */
  function tell(detail, status = /** @type {Handle} */ (handle).status) {
    Object.assign(/** @type {Handle} */ (handle), { status }, detail && { detail });
    if (debug && (!DEBUG || detail)) console.info(DEBUG ? `fleetprof: ${detail}` : `fleetprof: ${status} ${detail}`);
  }

  /**
   * @param {Options} [options] needed by the first call
   * @returns {Handle}
   */
  function start(options = /** @type {any} */ ({})) {
    if (handle) return handle;
    const given = { ...options };
    handle = {
      status: 'failed',
      detail: '',
      load: '',
      async stop() {
        given.endpoint = '';
        return false;
      },
      setRoute(route) { given.route = route; },
      setRelease(release) { given.release = release; },
    };
    debug = isOn(given.debug);
    const tryToBegin = () => {
      try {
        if (!WORKER && document.prerendering) {
          tell(DEBUG ? 'waiting: the page is prerendered, and nobody sees it yet' : '', 'prerendering');
          document.addEventListener('prerenderingchange', tryToBegin);
        } else begin(given);
      } catch (error) { // also without a document, as on a server
        tell(`${error}`);
      }
    };
    outside(tryToBegin);
    return handle;
  }

  /** @param {Options} options */
  function begin(options) {
    const { endpoint, policy, coverage, profile } = options;
    if (!endpoint) return tell(DEBUG ? 'no endpoint (data-endpoint) to send to' : '', 'no-endpoint');
    const decision = WORKER ? undefined : serverDecision();
    const load = openLoad(options, tell, decision, startExtra);
    // Only a profiled page starts a worker.
    let reason = WORKER ? undefined : refusal(decision, policy);
    /** Whether to report it to the collector. */
    const isCovered = reason ? isNo(decision) && coverage === 'all' : coverage !== 'off';
    if (`${profile}` === 'false') reason ??= ['disabled', DEBUG ? 'the page has turned profiling off' : ''];
    try {
      if (!reason) load.begin();
    } catch (error) {
      const text = `${error}`;
      if (!/** @type {any} */ (globalThis).Profiler) reason = ['unsupported', DEBUG ? 'this browser has no Profiler' : ''];
      else if (!/Allowed|maximum/.test(text)) throw error;
      else reason = [/Allowed/.test(text) ? 'forbidden' : 'quota', DEBUG ? `the browser refused to profile: ${text}` : text];
    }
    if (reason) {
      const [status, detail] = reason;
      tell(detail, status);
      if (isCovered) load.cover(status === 'forbidden' ? 'no-policy' : status);
    }
    if (!reason || VITALS && load.isObserving) Object.assign(/** @type {Handle} */ (handle), load.handle);
  }

  /** @type {typeof globalThis & { fleetprof?: import('../fleetprof.js').Fleetprof }} */
  const scope = globalThis;
  // A page may load two builds, or have a variable of this name, perhaps one that cannot be replaced.
  const agent = scope.fleetprof?.start ? scope.fleetprof : { version, start };
  Reflect.set(scope, 'fleetprof', agent);

  const tag = /** @type {HTMLScriptElement | null | undefined} */ (scope.document?.currentScript);
  if (tag?.dataset.endpoint) agent.start(/** @type {any} */ (tag.dataset));
  else if (DEBUG && tag && isOn(tag.dataset.debug)) {
    console.info(`fleetprof: no data-endpoint among ${Object.keys(tag.dataset)}: waiting for fleetprof.start({ endpoint: … })`);
  }
  return agent;
}
