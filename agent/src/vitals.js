/**
 * Google's web vitals with what caused them, slow interactions, long animation frames, and resources by host: what the
 * vitals build sends beside profiles, or without any.
 */
import { onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals/attribution';

import { selectorOf } from './selector.js';

const minInteractionMs = 40;
/** Of one page load. */
const maxInteractions = 200;
const maxFrames = 200;
const maxResponses = 1000;
const maxHosts = 50;
/** Of one frame; the longest are kept. */
const maxScripts = 8;
const maxNameLength = 256;

/**
 * Starts to observe, if this page load is picked.
 * @param {import('../fleetprof.js').Options} options
 * @returns {import('./load.js').Extra | undefined}
 */
export function startVitals({ vitalsSample, endpoint }) {
  if (!globalThis.document || !(Math.random() < Number(vitalsSample ?? 1))) return undefined;
  /** @type {List[] | undefined} */
  let lists;
  const begin = () => {
    try {
      return lists ??= [observeVitals(), observeInteractions(), observeFrames(), observeResources(endpoint)];
    } catch {
      return lists = []; // a browser that cannot observe
    }
  };
  // In a task of its own: with the start of the profiler it would hold up the page for more than 5 ms. Entries are buffered.
  setTimeout(begin);
  return {
    // web-vitals knows that the page is hidden before the load sends its values: it listens to the capture.
    take() {
      const entries = begin().map(([name, take]) => [name, take()]).filter(([, list]) => list.length > 0);
      return entries.length > 0 ? Object.fromEntries(entries) : undefined;
    },
  };
}

/** @typedef {[name: string, take: () => object[]]} List a member of the envelope, and what gives away its elements */

/**
 * Observes entries from the page's beginning on, in browsers that know the type.
 * @param {PerformanceObserverInit} options
 * @param {(entry: any) => void} see
 * @returns {() => void} sees those that are still to be delivered
 */
function observe(options, see) {
  if (!PerformanceObserver.supportedEntryTypes.includes(/** @type {string} */ (options.type))) return () => {};
  const observer = new PerformanceObserver((list) => list.getEntries().forEach(see));
  observer.observe({ ...options, buffered: true });
  return () => observer.takeRecords().forEach(see);
}

/**
 * A list of at most so many elements in all, that is given away piece by piece.
 * @param {number} max
 */
function bounded(max) {
  /** @type {object[]} */
  let list = [];
  return {
    /** @param {object} element */
    add: (element) => { if (max-- > 0) list.push(element); },
    take: () => list.splice(0),
  };
}

/** Those that are measured from the moment at which a prerendered page is first seen. */
const vitalsOfStart = ['LCP', 'FCP', 'TTFB'];

/** @returns {List} */
function observeVitals() {
  const { add, take } = bounded(50);
  /** The ids of metrics that are sent: of one view of the page, each once. @type {Set<string>} */
  const reported = new Set();
  const [navigation] = /** @type {any[]} */ (performance.getEntriesByType('navigation'));
  /** @param {any} metric a metric with its attribution */
  const report = ({ id, name, value, rating, navigationType, attribution: { target, url, interactionTarget,
    interactionTime, largestShiftTarget } }) => {
    if (reported.has(id)) return;
    reported.add(id);
    add({
      name, value, rating, navigationType,
      target: (target ?? interactionTarget ?? largestShiftTarget) || undefined,
      url: url?.split(/[?#]/)[0],
      ...interactionTime !== undefined && { start: interactionTime, duration: value },
      ...navigationType === 'prerender' && vitalsOfStart.includes(name)
        && { start: navigation.activationStart, duration: value },
    });
  };
  // Without a name of ours, web-vitals would make one of its own.
  const options = { generateTarget: (/** @type {Node | null} */ node) => selectorOf(node) ?? '' };
  onLCP(report, options);
  // When the page is hidden, web-vitals may report before it has looked at the last interaction. It never reports that one.
  /** @type {any} */
  let interaction;
  onINP((metric) => { interaction = metric; }, { ...options, reportAllChanges: true });
  onCLS(report, options);
  onFCP(report);
  onTTFB(report);
  return ['vitals', () => {
    if (interaction && document.visibilityState === 'hidden') {
      report(interaction);
      interaction = undefined;
    }
    return take();
  }];
}

/**
 * Sees the slowest frame of each interaction: a click is a pointerdown, a pointerup and a click, and the last two are
 * mostly painted together.
 * @returns {List}
 */
function observeInteractions() {
  const { add, take } = bounded(maxInteractions);
  /** Those of the last moments, by the browser's number. @type {Map<number, any>} */
  const recent = new Map();
  const flush = observe({ type: 'event', durationThreshold: minInteractionMs },
    ({ interactionId, name, startTime: start, duration, processingStart, processingEnd, target }) => {
      if (!interactionId || duration < minInteractionMs) return;
      const known = recent.get(interactionId);
      // Durations are rounded to 8 ms, and end where a dialog opens; the processing is neither.
      const clip = (/** @type {number} */ time) => Math.max(start, Math.min(time, start + duration));
      const event = {
        type: name.startsWith('key') ? 'keyboard' : 'pointer', start, processingStart: clip(processingStart),
        processingEnd: clip(processingEnd), duration, target: selectorOf(target) ?? known?.target,
      };
      // A page that listens to nothing but clicks gets its target with the click only.
      if (known) known.target = event.target;
      if (!known) {
        recent.set(interactionId, event);
        if (recent.size > 10) recent.delete(/** @type {number} */ (recent.keys().next().value));
        add(event);
      } else if (Math.abs(known.start + known.duration - start - duration) <= 8) {
        const end = Math.max(known.start + known.duration, start + duration);
        known.start = Math.min(known.start, start);
        known.duration = end - known.start;
        known.processingStart = Math.min(known.processingStart, event.processingStart);
        known.processingEnd = Math.max(known.processingEnd, event.processingEnd);
      } else if (duration > known.duration) Object.assign(known, event);
    });
  return ['interactions', () => {
    flush();
    return take();
  }];
}

/**
 * Takes query and fragment off an invoker: a script's URL, or `IMG[src="…"].onload`.
 * @param {string} invoker
 */
const withoutQuery = (invoker) => invoker.replace(/^(\w+:[^?#]*).*/s, '$1').replace(/(\[src=[^?#]*)[?#].*?("?\][^\]]*)$/s, '$1$2');

/** @returns {List} */
function observeFrames() {
  const { add, take } = bounded(maxFrames);
  const cut = (/** @type {string | undefined} */ text) => text?.slice(0, maxNameLength);
  const isNew = PerformanceObserver.supportedEntryTypes.includes('long-animation-frame');
  const flush = observe({ type: isNew ? 'long-animation-frame' : 'longtask' },
    ({ startTime, duration, blockingDuration, renderStart, styleAndLayoutStart, scripts = [] }) => add({
      start: startTime,
      duration,
      blocking: blockingDuration ?? Math.max(0, duration - 50),
      renderStart: renderStart || undefined,
      styleAndLayoutStart: styleAndLayoutStart || undefined,
      scripts: [...scripts].sort((a, b) => b.duration - a.duration).slice(0, maxScripts).map((script) => ({
        invoker: cut(withoutQuery(script.invoker)),
        invokerType: script.invokerType,
        url: cut(script.sourceURL.split(/[?#]/)[0]),
        function: cut(script.sourceFunctionName),
        position: script.sourceCharPosition >= 0 ? script.sourceCharPosition : undefined,
        start: script.startTime,
        duration: script.duration,
        forced: script.forcedStyleAndLayoutDuration,
      })),
    }));
  return ['frames', () => {
    flush();
    return take();
  }];
}

/**
 * Sums resources by host and kind. Without Timing-Allow-Origin the browser gives neither size nor most times.
 * @param {string} endpoint whose own traffic does not count
 * @returns {List}
 */
function observeResources(endpoint) {
  const ownUploads = new URL(endpoint, location.href).href;
  /** @type {Map<string, { host: string, kind: string, count: number, duration: number[], bytes: number, opaque: number }>} */
  let hosts = new Map();
  let left = maxResponses;
  const flush = observe({ type: 'resource' },
    ({ name, initiatorType: kind, duration, transferSize, encodedBodySize, responseStatus, requestStart }) => {
      const [, host] = /^https?:\/\/([^/?#]+)/.exec(name) ?? [];
      if (!host || name === ownUploads || --left < 0) return;
      const key = `${kind} ${host}`;
      let row = hosts.get(key);
      if (!row && hosts.size >= maxHosts) return;
      if (!row) hosts.set(key, row = { host, kind, count: 0, duration: [], bytes: 0, opaque: 0 });
      row.count++;
      // Without the header, the browser hides when the request started.
      if (!requestStart && host !== location.host) row.opaque++;
      else row.duration.push(Math.round(duration * 10) / 10);
      row.bytes += transferSize || 0;
    });
  return ['resources', () => {
    flush();
    const rows = [...hosts.values()];
    hosts = new Map();
    return rows;
  }];
}
