// SPDX-License-Identifier: Apache-2.0
/**
 * Google's web vitals and their causes, slow interactions, long animation frames, and resources by host. The vitals
 * build sends them beside profiles, or without any.
 */
import { onCLS, onFCP, onINP, onLCP, onTTFB } from 'web-vitals/attribution';

import { isFetched } from './decision.js';
import { jsonOf } from './json.js';
import { listen } from './leaving.js';
import { PerformanceObserver, setTimeout } from './natives.js';
import { selectorOf } from './selector.js';

const minInteractionMs = 40;
/** Per page load; a value that is sent again counts once. */
const maxVitals = 100;
const maxInteractions = 200;
const maxFrames = 200;
/** Inputs whose targets are remembered: a key has one, a click two. */
const maxInputs = 20;
const maxResponses = 1000;
const maxHosts = 100;
/** The last ones, of which a response has those that were in flight. */
const maxRequests = 50;
/** Views of a page, such as a single-page application, whose entries can still come. */
const maxViews = 100;
/** At most so much waits for the end of the page, where all requests share 65,536 bytes. */
const maxWaitingSize = 20_000;
const maxPieceSize = 30_000;
const maxSmallSize = 10_000;
/** Per frame; the longest are kept. */
const maxScripts = 8;
const maxNameLength = 256;

/**
 * Starts to observe, if this page load is picked.
 * @param {import('../fleetprof.js').Options} options
 * @param {(members: Labels & Record<string, unknown>) => void} send
 * @param {import('./load.js').Guard} guard
 * @param {LeaveOut} leaveOut
 * @returns {import('./load.js').Extra | undefined}
 */
export function startVitals({ vitalsSample, endpoint, beforeSend }, send, guard, leaveOut) {
  if (!globalThis.document || !(Math.random() < Number(vitalsSample ?? 1))) return undefined;
  const views = makeViews();
  const handOver = () => {
    for (const flush of begin()) flush();
    /** @type {object[]} */
    let joined;
    let room = 0;
    const uploads = views.take().filter((view) => {
      const size = jsonSizeOf(view);
      if ((room -= size) > 0) return !joined.push(view);
      // A page that looks at what it sends gets one view at a time.
      room = beforeSend ? 0 : maxSmallSize - size;
      return view.views = joined = [];
    });
    for (const upload of uploads) send({ start: performance.now(), duration: 0, ...upload });
  };
  const onEntries = guard((/** @type {() => void} */ see) => {
    see();
    if (views.isLarge()) handOver();
  });
  /** @type {(() => void)[] | undefined} see what is still to be delivered */
  let flushes;
  const begin = () => {
    try {
      return flushes ??= [
        observe({ type: 'soft-navigation' }, ({ startTime }) => views.enterSoft(startTime), onEntries),
        observeInteractions(views, onEntries, leaveOut),
        observeFrames(views, onEntries, leaveOut),
        // Before the results, which have requests that were in flight.
        observeResources(views, onEntries, leaveOut, endpoint), observeResults(views, onEntries, leaveOut),
        observeVitals(views, leaveOut),
      ];
    } catch {
      return flushes = []; // a browser that cannot observe
    }
  };
  // In a task of its own: together with the profiler's start it would block the page for more than 5 ms. Entries are
  // buffered.
  setTimeout(guard(begin));
  return {
    enter: views.enter,
    size: views.size,
    // web-vitals knows that the page is hidden before the load sends its values: it listens to the capture.
    take(labels, room) {
      for (const flush of begin()) flush();
      return views.take(labels, room)[0];
    },
    handOver,
  };
}

/** @typedef {import('./left_out.js').LeaveOut} LeaveOut */
/** @typedef {(see: () => void) => void} OnEntries calls what sees the entries of an observer */

/**
 * Observes entries from the page's beginning on, in browsers that know the type.
 * @param {PerformanceObserverInit} options
 * @param {(entry: any) => void} see
 * @param {OnEntries} onEntries
 * @returns {() => void} sees those that are still to be delivered
 */
function observe(options, see, onEntries) {
  if (!PerformanceObserver.supportedEntryTypes.includes(/** @type {string} */ (options.type))) return () => {};
  /** @param {PerformanceEntryList} entries */
  const seeAll = (entries) => {
    try {
      entries.forEach(see);
    } catch { // nothing may be thrown into the page
    }
  };
  const observer = new PerformanceObserver((list) => onEntries(() => seeAll(list.getEntries())));
  observer.observe({ ...options, buffered: true });
  return () => seeAll(observer.takeRecords());
}

/**
 * @typedef {import('./load.js').Labels} Labels
 *
 * Observations of one view of the page that are not sent yet.
 * @typedef {object} View
 * @property {number} start ms since timeOrigin
 * @property {Labels} labels
 * @property {string} [navigationType] of the navigation that led to it, as web-vitals says it; undefined: the page load
 * @property {number} [soft] when that began, if it was a soft one
 * @property {Record<string, object[]>} lists members of an envelope, the most valuable first
 * @property {Map<string, { host: string, kind: string, duration: number[], bytes: number, opaque: number }>} rows of `resources`, by host and kind
 */

/** Returns the length of its JSON in bytes. @param {object} element */
const jsonSizeOf = (element) => new TextEncoder().encode(jsonOf(element)).length;

/**
 * Observations by the view in which they began: entries come after the navigation that they cause.
 */
function makeViews() {
  /** The last one first. @type {View[]} */
  let views = [];
  const emptyLists = () => ({ vitals: [], interactions: [], responses: [], resources: [], frames: [] });
  /** @param {View} view */
  const hasMore = ({ lists }) => Object.values(lists).some(([first]) => first);
  const size = () => jsonSizeOf(views.filter(hasMore));

  /** @param {View} view */
  const give = (view) => {
    const { lists } = view;
    Object.assign(view, { lists: emptyLists(), rows: new Map() });
    return lists;
  };

  return {
    /** Targets of interactions, by the browser's number. @type {Map<number, string>} */
    targets: new Map(),
    /** The newest first. @type {{ host: string, start: number, duration: number }[]} */
    requests: [],
    size,
    isLarge: () => size() > maxWaitingSize,
    /** Drops a value that is not sent yet, because there is a later one. @param {string} id of its metric */
    dropVital(id) {
      for (const view of views) view.lists.vitals = view.lists.vitals.filter((vital) => /** @type {any} */ (vital).id !== id);
    },
    /**
     * Returns the view at a time; of a soft navigation, which begins in the view before, at least the one that it led to.
     * @param {number} time
     * @param {number} [softTime] when that began
     * @returns {View}
     */
    at: (time, softTime = -1) => views.find(({ start, soft }) => start <= time || soft === softTime) ?? /** @type {View} */ (views.at(-1)),
    /** Begins a view. @param {Labels} [labels] @param {string} [navigationType] by default, as the last view has it */
    enter(labels = views[0].labels, navigationType = views[0]?.navigationType) {
      views.unshift({ start: views[0] ? performance.now() : 0, labels, navigationType, lists: emptyLists(), rows: new Map() });
      // Keep the first view: the page load's vitals belong to it.
      if (views.length > maxViews) views.splice(-2, 1);
    },
    /**
     * Notes that a soft navigation led to the last view. The browser reports it once it has painted: a view with
     * another path has begun by then.
     * @param {number} soft when it began
     */
    enterSoft(soft) {
      if (views[0].start < soft) this.enter();
      views[0].soft = soft;
      views[0].navigationType = 'soft-navigation';
    },
    /**
     * Hands over members of envelopes, with labels: of all views, or only of views with these labels if they fit into the room.
     * @param {Labels} [only]
     * @param {number} [room]
     */
    take(only, room) {
      // Several views may have the same labels.
      const from = views.filter((view) => hasMore(view)
        && (!only || view.labels === only && jsonSizeOf(view.lists) <= /** @type {number} */ (room))).slice(0, only && 1);
      /** @type {(Labels & Record<string, unknown>)[]} */
      const pieces = from.flatMap((view) => {
        return (only ? [give(view)] : split(give(view)))
          .map((lists) => ({ ...view.labels, ...Object.fromEntries(Object.entries(lists).filter(([, list]) => list[0])) }));
      });
      // The most valuable data goes first, in case uploads run out.
      return pieces.sort((a, b) => +('vitals' in b) - +('vitals' in a));
    },
  };
}

/**
 * Cuts lists into pieces that a page may send at its end, and separates frames from more valuable data.
 * @param {Record<string, object[]>} lists
 */
function split(lists) {
  /** @type {Record<string, object[]>[]} */
  const pieces = [];
  let room = 0;
  for (const [name, list] of Object.entries(lists)) {
    if (name === 'frames' && jsonSizeOf(lists) > maxSmallSize) room = 0;
    for (const element of list) {
      const size = jsonSizeOf(element);
      if (size > room || !pieces[0]) {
        pieces.push({});
        room = maxPieceSize;
      }
      room -= size;
      (/** @type {Record<string, object[]>} */ (pieces.at(-1))[name] ??= []).push(element);
    }
  }
  return pieces;
}

/** @typedef {ReturnType<typeof makeViews>} Views */

/** Members of attributions that say what a value consists of. */
const partNames = /(Byte|Delay|Duration)$/;
/** How long before a shift its cause may have run, ms. */
const shiftWindow = 100;

/** Vitals that are measured from the navigation, or from the moment at which a prerendered page is first seen. */
const vitalsOfStart = /^[LFT]/;

/**
 * Returns the server's share of the time to first byte, and what its cache did, as Server-Timing says it. A page from
 * a cache, or one that a 304 confirmed, has the Server-Timing of an earlier response. Firefox does not tell a 304,
 * and a page of fewer than 300 bytes neither: the collector sees that the share is too long. An application may say less than 0.
 * @param {any} entry of the navigation, or of another vital; undefined for a page that came back
 */
const serverShare = (entry) => isFetched(entry) && {
  server: Math.max(0, entry.serverTiming?.find((/** @type {any} */ { name }) => name === 'fleetprof-server')?.duration),
  cache: entry.serverTiming?.find((/** @type {any} */ { name }) => name === 'fleetprof-cache')?.description,
};

/** @param {Views} views @param {LeaveOut} leaveOut */
function observeVitals(views, leaveOut) {
  /** The sent values, by the metric's id. A changed value is sent again. @type {Map<string, number>} */
  const reported = new Map();
  let left = maxVitals;
  const navigation = /** @type {any} */ (performance.getEntriesByType('navigation')[0]);
  /** @param {any} metric a metric with its attribution */
  const report = ({ id, name, value, navigationType, navigationStartTime, entries, attribution }) => {
    const { target, url, interactionTarget, interactionTime, largestShiftTarget, largestShiftTime } = attribution;
    views.at(0).navigationType ??= navigationType;
    if (reported.get(id) === value) return;
    if (!reported.has(id) && --left < 0) return leaveOut('vital');
    reported.set(id, value);
    views.dropVital(id);
    // Only the back/forward cache has a second time to first byte, and has it at once.
    if (name === 'TTFB' && navigationStartTime) views.enter(undefined, navigationType);
    const start = vitalsOfStart.test(name) ? navigationStartTime || navigation?.activationStart || 0 : interactionTime;
    views.at(start ?? largestShiftTime ?? navigationStartTime, navigationStartTime).lists.vitals.push({
      id, name, value, navigationType,
      // The interaction's own name first: web-vitals does not look again when the entry with the target comes late.
      target: target || largestShiftTarget || views.targets.get(entries[0]?.interactionId) || interactionTarget,
      url: url?.replace(/[?#].*/s, ''),
      attribution: Object.fromEntries(Object.entries(attribution).filter(([name]) => partNames.test(name))),
      ...serverShare(entries[0]),
      ...start >= 0 && { start, duration: value },
      ...largestShiftTime >= 0
        && { start: Math.max(0, largestShiftTime - shiftWindow), duration: Math.min(largestShiftTime, shiftWindow) },
    });
  };
  // Without our name, web-vitals would make its own.
  const options = { reportSoftNavs: true, generateTarget: (/** @type {Node | null} */ node) => selectorOf(node) ?? '' };
  onLCP(report, options);
  // When the page is hidden, web-vitals may report before it has looked at the last interaction. It never reports that
  // one.
  /** @type {any} */
  let interaction;
  onINP((metric) => {
    if (interaction && interaction !== metric) report(interaction); // of the navigation before
    interaction = metric;
  }, { ...options, reportAllChanges: true });
  onCLS(report, options);
  onFCP(report);
  onTTFB(report);
  return () => {
    if (interaction && document.hidden) {
      report(interaction);
      interaction = undefined;
    }
  };
}

/**
 * Finds the slowest frame of each interaction: a click has the events pointerdown, pointerup and click, and the last
 * two are mostly painted together.
 * @param {Views} views
 * @param {OnEntries} onEntries
 * @param {LeaveOut} leaveOut
 */
function observeInteractions(views, onEntries, leaveOut) {
  let left = maxInteractions;
  /** Recent interactions, by the browser's number. @type {Map<number, any>} */
  const recent = new Map();
  return observe({ type: 'event', durationThreshold: minInteractionMs },
    ({ interactionId, name, startTime: start, duration, processingStart, processingEnd, target, targetSelector }) => {
      if (!interactionId || duration < minInteractionMs) return;
      const known = recent.get(interactionId);
      // The browser rounds durations to 8 ms and ends them where a dialog opens. It does neither with processing times.
      const clip = (/** @type {number} */ time) => Math.max(start, Math.min(time, start + duration));
      const event = {
        type: name.startsWith('key') ? 'keyboard' : 'pointer', start, processingStart: clip(processingStart),
        processingEnd: clip(processingEnd), duration,
        // A newer browser still has a selector of an element that is gone by now; the collector reduces it.
        target: selectorOf(target) ?? known?.target ?? targetSelector,
      };
      // On a page that listens only to clicks, only the click has the target.
      if (known) known.target = event.target;
      if (event.target && views.targets.size < maxInteractions) views.targets.set(interactionId, event.target);
      if (!known) {
        recent.set(interactionId, event);
        if (recent.size > 10) recent.delete(/** @type {number} */ (recent.keys().next().value));
        if (--left < 0) leaveOut('interaction');
        else addToView(views, 'interactions', event);
      } else if (Math.abs(known.start + known.duration - start - duration) <= 8) {
        duration = Math.max(known.start + known.duration, start + duration);
        known.start = Math.min(known.start, start);
        known.duration = duration - known.start;
        known.processingStart = Math.min(known.processingStart, event.processingStart);
        known.processingEnd = Math.max(known.processingEnd, event.processingEnd);
      } else if (duration > known.duration) Object.assign(known, event);
    }, onEntries);
}

/** Adds an interaction or a response to the view in which it began. @param {Views} views @param {string} list @param {any} event */
function addToView(views, list, event) {
  const { lists, navigationType = views.at(0).navigationType } = views.at(event.start);
  event.navigationType = navigationType;
  lists[list].push(event);
}

/**
 * Finds how long visitors wait for the result of a click or a key: until the largest paint that the browser attributes
 * to it. The browser follows an interaction until the next one, so what is sent does not change any more.
 * @param {Views} views
 * @param {OnEntries} onEntries
 * @param {LeaveOut} leaveOut
 */
function observeResults(views, onEntries, leaveOut) {
  let left = maxInteractions;
  /** The newest first. Short interactions have no entry, and a result often replaces the target. @type {any[]} */
  const inputs = [];
  for (const type of ['pointerdown', 'keydown', 'click']) listen(type, ({ timeStamp, pointerType, target }) => {
    inputs.unshift({ timeStamp, type: pointerType ? 'pointer' : 'keyboard', target: selectorOf(target) });
    inputs.splice(maxInputs);
  });
  /** The last interaction's, which may still grow. @type {any} */
  let last;
  /** @type {number | undefined} */
  let lastId;
  /** Nobody waits for what is painted after the page was hidden. */
  let hiddenAt = 0;
  const end = () => {
    if (last?.duration >= minInteractionMs) {
      if (--left < 0) leaveOut('interaction');
      else {
        addToView(views, 'responses', { ...last, requests: views.requests.filter(({ start, duration }) => start - last.start < last.duration && last.start - start < duration) });
      }
    }
    last = undefined;
  };
  const flush = observe({ type: 'interaction-contentful-paint' },
    ({ interactionId, startTime, largestContentfulPaint }) => {
      if (startTime < hiddenAt) return;
      if (interactionId !== lastId) end();
      lastId = interactionId;
      const { type = 'pointer', target } = inputs.find(({ timeStamp }) => timeStamp <= startTime) ?? {};
      const start = last?.start ?? startTime;
      last = { type, start, duration: largestContentfulPaint.startTime - start, target };
    }, onEntries);
  return () => {
    flush();
    if (!document.hidden) return;
    end();
    hiddenAt = performance.now();
  };
}

/**
 * Takes query and fragment off an invoker: a script's URL, or `IMG[src="…"].onload`.
 * @param {string} invoker
 */
const withoutQuery = (invoker) => invoker.replace(/^(\w+:[^?#]*).*/s, '$1').replace(/(\[src=[^?#]*)[?#].*?("?\][^\]]*)$/s, '$1$2');

/**
 * @param {Views} views
 * @param {OnEntries} onEntries
 * @param {LeaveOut} leaveOut
 */
function observeFrames(views, onEntries, leaveOut) {
  let left = maxFrames;
  const cut = (/** @type {string | undefined} */ text) => text?.slice(0, maxNameLength);
  const isNew = PerformanceObserver.supportedEntryTypes.includes('long-animation-frame');
  return observe({ type: isNew ? 'long-animation-frame' : 'longtask' },
    ({ startTime, duration, blockingDuration, styleAndLayoutStart, styleDuration: style, layoutDuration: layout, scripts = [] }) => {
      if (--left < 0) return leaveOut('frame');
      views.at(startTime).lists.frames.push({
        start: startTime,
        duration,
        blocking: blockingDuration ?? Math.max(0, duration - 50),
        styleAndLayoutStart,
        style, // of Chrome 158 and later, as layout and the forced ones below
        layout,
        scripts: [...scripts].sort((a, b) => b.duration - a.duration).slice(0, maxScripts).map((script) => ({
          invoker: cut(withoutQuery(script.invoker)),
          url: cut(script.sourceURL.replace(/[?#].*/s, '')),
          function: cut(script.sourceFunctionName),
          start: script.startTime,
          duration: script.duration,
          forced: script.forcedStyleAndLayoutDuration,
          forcedStyle: script.forcedStyleDuration,
          forcedLayout: script.forcedLayoutDuration,
        })),
      });
    }, onEntries);
}

/**
 * Sums resources by host and kind. Without Timing-Allow-Origin the browser gives neither size nor most times.
 * @param {Views} views
 * @param {OnEntries} onEntries
 * @param {LeaveOut} leaveOut
 * @param {string} endpoint whose own traffic does not count
 */
function observeResources(views, onEntries, leaveOut, endpoint) {
  const ownUploads = new URL(endpoint, location.href).href;
  /** @type {Set<string>} */
  const known = new Set();
  let left = maxResponses;
  return observe({ type: 'resource' },
    ({ name, initiatorType: kind, startTime, duration, transferSize, requestStart }) => {
      const [url, host] = /** @type {string[]} */ (/^https?:\/\/([^/?#]+)([^?#]*js\b)?/.exec(name) ?? []);
      if (!host || name === ownUploads) return;
      const key = kind + url;
      if (--left < 0 || known.size >= maxHosts && !known.has(key)) return leaveOut('resource');
      known.add(key);
      views.requests.unshift({ host, start: startTime, duration });
      views.requests.splice(maxRequests);
      const { lists, rows } = views.at(startTime);
      let row = rows.get(key);
      if (!row) {
        rows.set(key, row = { host: url, kind, duration: [], bytes: 0, opaque: 0 });
        lists.resources.push(row);
      }
      // Without the header, the browser hides when the request started.
      if (!requestStart && host !== location.host) row.opaque++;
      else row.duration.push(+duration.toFixed(1));
      row.bytes += transferSize || 0;
    }, onEntries);
}
