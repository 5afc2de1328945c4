// SPDX-License-Identifier: Apache-2.0
/**
 * One page load: its profile, marks and measures, cut into parts that are sent as soon as they are ready.
 *
 * Samples that a profiler has not handed over when the page ends are lost. So slices are short, and shorter still when
 * the page may be about to end. Samples that were handed over but not sent fit into one beacon.
 */
import { isFetched, isNo } from './decision.js';
import { jsonOf } from './json.js';
import { isControlled, watchLeaving } from './leaving.js';
import { leaveOutInto } from './left_out.js';
import { clearTimeout, setInterval, setTimeout } from './natives.js';
import { makePace } from './pace.js';
import { record } from './recorder.js';
import { pathOf, watchRoutes } from './routes.js';
import { makeSender } from './sender.js';
import { collectTimings } from './timings.js';
import { makeTrace } from './trace.js';
import { makeUuid } from './uuid.js';
import { version } from './version.js';

/**
 * Data that is sent beside profiles.
 * @typedef {object} Extra
 * @property {(labels: Labels) => void} enter begins a view of the page
 * @property {() => number} size length of the JSON of what is here
 * @property {(labels: Labels, room: number) => object | undefined} take gives away members of an envelope: those of a view
 *   if they fit into the room
 * @property {() => void} handOver sends the others
 *
 * Starts to collect it; the collector of extra data sends surplus data itself.
 * @typedef {(options: import('../fleetprof.js').Options, send: (members: Labels & Record<string, unknown>) => void, guard: Guard,
 *   leaveOut: import('./left_out.js').LeaveOut) => Extra | undefined} StartExtra
 *
 * Makes a function that reports its errors instead of throwing them into the page, and the time that it takes.
 * @typedef {<Given extends unknown[]>(act: (...given: Given) => void) => (...given: Given) => void} Guard
 *
 * The view that a part belongs to, as members of an envelope.
 * @typedef {{ page: { url?: string, route?: string }, release?: string }} Labels
 *
 * @typedef {object} Part
 * @property {number} begun ms since timeOrigin
 * @property {number} end
 * @property {Labels} labels
 * @property {ReturnType<typeof makeTrace>} trace
 */

/** Length of a part's JSON. All requests in flight when a page ends share 65,536 bytes. */
const maxPartSize = 40_000;
/** Lengths of the first parts of a page whose last one a service worker may lose. */
const firstPartsMs = [2000, 3000, 5000];
const workerPartMs = 2000;
/** The number of parts after which profiling ends; marks and measures may fill as many more. */
const maxParts = 24;
/** The collector's budget for one token. */
const maxUploads = 32;
/** Uploads of the budget that only vitals may use: vitals come last. */
const vitalsUploads = 4;
/** Uploads of the budget that are kept for the page's end. */
const endUploads = 2;
/** A page that was hidden more often than this sends less and less often. */
const frequentUploads = 20;

/** Timers and profilers accept slightly larger numbers. */
const maxNumber = 1e9;

/** How the page is embedded in another one; undefined at the top. */
function frameOf() {
  if (top === self) return undefined;
  try {
    // Throws if the page at the top is of another origin.
    if (/** @type {Window} */ (top).origin === origin) return 'same-origin';
  } catch {}
  return 'cross-origin';
}

const optionNames = ['endpoint', 'release', 'environment', 'variant', 'custom', 'route', 'sampleInterval', 'partLength', 'maxDuration',
  'maxBufferSize', 'afterLoad', 'beforeSend', 'policy', 'profile', 'coverage', 'vitalsSample', 'debug', 'load', 'url', 'hashRoutes'];

/** @param {unknown} option `data-debug` alone is on @returns {boolean} */
export const isOn = (option) => `${option ?? false}` !== 'false';

/** @param {string} name of an option */
const attributeOf = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * Returns a label as the collector takes it: at most 200 characters, each of them whole.
 * @param {unknown} label
 */
const text = (label) => /** @type {any} */ (label)?.toString().match(/.{0,200}/su)[0];

/**
 * Returns an option's number if it is valid.
 * @param {any} option
 * @param {number} fallback
 * @param {any} [most]
 * @returns {number}
 */
const within = (option, fallback, most) => (option >= 1 && !(option > most) ? +option : fallback);

/**
 * @param {import('../fleetprof.js').Options} options
 * @param {(detail: string, status?: import('../fleetprof.js').Status) => void} tell
 * @param {string | undefined} decision
 * @param {StartExtra} [startExtra]
 */
export function openLoad(options, tell, decision, startExtra) {
  let {
    endpoint, release, environment, variant, custom, route, sampleInterval, partLength, maxDuration, maxBufferSize, afterLoad,
    beforeSend,
  } = options;
  if (DEBUG) {
    const unknown = Object.keys(options).filter((name) => !optionNames.includes(name));
    for (const name of unknown) tell(`unknown option ${name} (data-${attributeOf(name)})`);
    const { vitalsSample = 1 } = options;
    if (VITALS && !(vitalsSample !== '' && Number(vitalsSample) >= 0 && Number(vitalsSample) <= 1)) {
      tell(`vitalsSample (data-vitals-sample) is not a number from 0 to 1: ${vitalsSample}`);
    }
  }
  const inHash = isOn(options.hashRoutes);
  const frame = WORKER ? undefined : frameOf();
  const load = WORKER && options.load || makeUuid();
  // The collector takes no longer interval.
  const requestedInterval = within(sampleInterval, 10, 10_000);
  const samplesMax = within(maxBufferSize, 10_000, maxNumber);
  // An error while reporting a missing profile must not hide the reason.
  const sender = makeSender(endpoint, DEBUG ? (text) => { if (!coverage) tell(text); } : tell, finish);

  /** @type {Extra | undefined} */
  let extra;
  /** Omissions that no upload has reported yet. @type {Map<string, import('./left_out.js').LeftOut>} */
  const leftOut = new Map();
  const leaveOut = leaveOutInto(leftOut);
  if (VITALS) extra = startExtra?.(options, emit, guard, leaveOut);
  /** @type {ReturnType<typeof record> | undefined} */
  let recorder;
  /** @type {import('./timings.js').Timings | undefined} */
  let timings;
  /** Collects what profilers hand over. @type {Part | undefined} */
  let part;
  let parts = 0;
  let lastEnd = performance.now();
  /** @type {string | undefined} */
  let coverage;
  /** Whether profiling had to end before its time. */
  let isCutShort = false;
  /** Whether this is the end of the page, as far as one can know. */
  let isEnding = false;
  /** How often the page was hidden since it last sent what it has. */
  let hides = 0;
  /** Whether profiling has ended. Marks and measures still come, until `stop`. */
  let hasEnded = false;
  /** Whether everything recorded is sent. */
  let isWhole = true;
  let recordedMs = 0;
  let samplesLeft = samplesMax;
  /** Whether the agent took too much of the main thread; false again once it is reported. */
  let isOverloaded = false;
  const pace = makePace();
  /** @type {ReturnType<typeof setTimeout>} */
  let timer;
  /** @type {Promise<boolean> | undefined} */
  let outcome;
  let labels = makeLabels();
  if (VITALS && extra) {
    extra.enter(labels);
    watch();
  }

  /** @returns {Labels} */
  function makeLabels() {
    return { page: { url: WORKER ? options.url : location.origin + pathOf(inHash), route: text(route) }, release: text(release) };
  }

  // ---- Slices ----

  /**
   * Ends a slice.
   * @param {boolean} isLast of its part
   * @param {boolean} goOn whether the next slice begins
   */
  function cut(isLast, goOn) {
    if (!recorder || goOn && (outcome || sender.isAway)) return;
    clearTimeout(timer);
    recorder.cut({ isLast, labels }, goOn);
    if (goOn) wind(pace.sliceMs);
  }

  /** Lets the slice end after a time. @param {number} [ms] */
  function wind(ms) {
    clearTimeout(timer);
    timer = setTimeout(guard(() => cut(false, true)), ms);
  }

  /** Returns how long a part may be. */
  function partMs() {
    const most = within(partLength, 10_000);
    return !WORKER && isControlled() ? Math.min(most, firstPartsMs[parts] ?? most) : most;
  }

  /** @param {import('./recorder.js').Slice} slice */
  function take({ trace, begun, end, labels: own, isLast }) {
    let into = part ??= openPart(begun, own);
    let copy = into.trace.copier(trace);
    for (const sample of trace.samples) {
      const { timestamp } = sample;
      if (!(timestamp >= begun && timestamp < end)) continue;
      if (--samplesLeft < 0) break;
      if (into.trace.jsonSize() > maxPartSize) {
        into.end = timestamp;
        close(timestamp);
        into = part = openPart(timestamp, own);
        copy = into.trace.copier(trace);
      }
      copy(sample);
    }
    into.end = end;
    recordedMs += end - begun;
    const size = trace.samples.length * 45 + trace.stacks.length * 30 + trace.frames.length * 90;
    if (pace.took(end - begun, size) && !outcome) {
      isOverloaded = true;
      cutShort('overload');
    }
    // The event of a full buffer may come too late.
    if (samplesLeft <= 0 || parts >= maxParts || trace.samples.length >= samplesMax) cutShort('profile');
    if (isLast || isLarge() || end - into.begun >= partMs()) close(end);
    // Where the page is too busy for timers, the next slice is long enough already.
    if (performance.now() - end > pace.sliceMs) cut(false, true);
    if (isCutShort || recordedMs >= within(maxDuration, 60_000)) finish();
  }

  /** Notes that profiling has to end, and why. @param {string} what is left out then */
  function cutShort(what) {
    if (!isCutShort) leaveOut(what, 0);
    isCutShort = true;
  }

  // ---- Parts ----

  /** Whether the collected part still fits into a beacon, but not much more. */
  function isLarge() {
    let size = (part?.trace.jsonSize() ?? 0) + (timings?.jsonSize() ?? 0);
    if (VITALS) size += extra?.size() ?? 0;
    return size > maxPartSize;
  }

  /** @param {number} begun @param {Labels} own @returns {Part} */
  function openPart(begun, own) {
    return { begun, end: begun, labels: own, trace: makeTrace() };
  }

  /**
   * Sends the collected part, with the marks and measures that began before a time.
   * @param {number} time
   */
  function close(time) {
    // The last uploads are for vitals, of any view.
    if (VITALS && time === Infinity && parts >= maxUploads - vitalsUploads) extra?.handOver();
    const { begun, end, labels: own, trace: { trace, jsonSize } } = part ?? openPart(lastEnd, labels);
    part = undefined;
    lastEnd = end;
    const entries = timings?.take(time) ?? [];
    /** @type {object | undefined} */
    let more;
    let room = maxPartSize - jsonSize();
    // At the end of a page, a long part must not hold up vitals.
    if (VITALS) more = extra?.take(own, time === Infinity ? room - maxPartSize / 2 : room);
    /** @type {object | undefined} */
    let first = {
      trace: recorder && !hasEnded ? trace : undefined, ...isOverloaded && { coverage: 'overload' }, ...VITALS && more,
    };
    if (VITALS && more) room -= jsonOf(more).length;
    if (!parts && recorder || isOverloaded || VITALS && more || entries.length || trace.samples.length
      || isEnding && timings && leftOut.size) do {
      /** @type {import('./timings.js').Entry[]} */
      const some = [];
      while (entries[0] && (room -= entries[0][1]) > 0) some.push(/** @type {any} */ (entries.shift())[0]);
      emit({
        ...own,
        start: begun,
        duration: end - begun,
        ...first,
        ...timings && {
          marks: some.filter(({ entryType }) => entryType === 'mark'), measures: some.filter(({ entryType }) => entryType !== 'mark'),
        },
      });
      first = undefined;
      isOverloaded = false;
      room = maxPartSize;
    } while (entries[0]);
    if (VITALS && time === Infinity) extra?.handOver();
  }

  /** @param {Labels & Record<string, unknown>} members */
  function emit(members) {
    const isForOthers = VITALS && extra && !('vitals' in members);
    if (parts >= maxUploads - (isEnding ? 0 : isForOthers ? vitalsUploads : endUploads)) return leaveOut('upload');
    const envelope = {
      version: 1,
      id: makeUuid(),
      load,
      part: parts++,
      agent: { name: 'fleetprof-agent', version },
      environment: text(environment),
      variant: text(variant),
      custom,
      thread: WORKER ? 'worker' : 'window',
      ...!WORKER && { frame },
      // The class is all that leaves the device. Of cores and GB the scarcer one counts: cheap phones have eight cores.
      machine: [, 'low', 'mid', 'mid', 'high'][/** @type {any} */ (navigator).cpuPerformance || (VITALS || WORKER)
        && Math.ceil(Math.min(8, /** @type {any} */ (navigator).deviceMemory, navigator.hardwareConcurrency) / 2)],
      ...recorder && {
        sampleInterval: recorder.interval, requestedInterval, maxBufferSize: samplesMax,
      },
      ...leftOut.size && { truncated: true, leftOut: [...leftOut.values()] },
      ...VITALS && {
        // Whoever saves data is a class of its own, however fast the network.
        network: /** @type {any} */ (navigator).connection?.saveData ? 'save-data' : /** @type {any} */ (navigator).connection?.effectiveType,
        // The server drew a lot for this page load only if it sent the document. Where nothing profiles, a draw costs
        // nothing; and Firefox does not tell a document that a 304 confirmed.
        drawn: /** @type {any} */ (globalThis).Profiler && decision && isFetched(performance.getEntriesByType('navigation')[0]) ? !isNo(decision) : undefined,
      },
      timeOrigin: performance.timeOrigin,
      coverage,
      token: /v\d\..+/.exec(/** @type {string} */ (decision))?.[0],
      ...members,
      page: { ...members.page }, // beforeSend may change it
    };
    leftOut.clear();
    const wanted = beforeSend ? beforeSend(envelope) : envelope;
    if (wanted) sender.send(jsonOf(wanted));
  }

  // ---- The page's life ----

  /**
   * @template {unknown[]} Given
   * @param {(...given: Given) => void} act
   */
  function guard(act) {
    return (/** @type {Given} */ ...given) => {
      const start = performance.now();
      try {
        act(...given);
      } catch (error) {
        fail(error);
      }
      pace.spend(performance.now() - start);
    };
  }

  /** @param {unknown} error */
  function fail(error) {
    tell(DEBUG ? `nothing sent: ${error}` : `${error}`, 'failed');
    return isWhole = false;
  }

  /** The page may be about to end. Hands the slice over soon, but not at once, so that the visitor's action is not held up. */
  function onHint() {
    pace.hurry();
    wind();
  }

  /** The page is about to end: samples that are handed over now can still be sent. */
  function onLeave() {
    pace.hurry();
    cut(isControlled(), true);
  }

  /** Sends the collected part, unless uploads would run out before the page ends. */
  function closeInTurn() {
    if (!isEnding && (!recorder || hasEnded) && !isLarge() && ++hides <= 2 ** (parts - frequentUploads)) return;
    hides = 0;
    close(Infinity);
  }

  function onVisibility() {
    const isHidden = document.hidden;
    isEnding &&= isHidden; // a page that was kept alive may come back
    // With vitals, everything is flushed together, the most valuable data first.
    sender.isAway = !VITALS && isHidden;
    cut(isHidden, !isHidden);
    if (isHidden) {
      closeInTurn();
      if (VITALS) sender.isAway = true;
      sender.flush();
    }
  }

  /** Begins a part for another view of the page. */
  function relabel() {
    cut(true, true);
    labels = makeLabels();
    if (VITALS) extra?.enter(labels);
  }

  function watch() {
    watchRoutes(guard(() => {
      route = undefined;
      relabel();
    }), inHash);
  }

  /** @returns {Promise<boolean>} whether all was sent; never rejects */
  function finish() {
    return outcome ??= conclude();
  }

  async function conclude() {
    try {
      tell(DEBUG && !sender.problem ? `profiling has ended${isOverloaded ? ': the agent took too much of a busy device' : ''}` : '', 'sending');
      cut(true, false);
      await recorder?.taken();
      close(Infinity);
      hasEnded = true;
      await sender.done();
      isWhole &&= !sender.problem;
      tell('', isWhole ? 'sent' : 'failed');
    } catch (error) {
      fail(error);
    }
    return isWhole;
  }

  if (!WORKER) {
    addEventListener('visibilitychange', guard(onVisibility));
    addEventListener('pagehide', guard(() => {
      isEnding = true;
      // The last event of a page that nobody sees.
      if (document.hidden) onVisibility();
    }));
  }
  return {
    ...VITALS ? { isObserving: Boolean(extra) } : {},
    /** Starts profiling; throws as the constructor of Profiler does. */
    begin() {
      if (WORKER && !('Profiler' in globalThis)) {
        // Nothing says when a worker ends.
        timings = collectTimings(() => { if (isLarge()) close(Infinity); }, guard, leaveOut);
        setInterval(guard(closeInTurn), within(partLength, workerPartMs));
        tell(DEBUG ? 'marks and measures only: no browser has Profiler in workers' : '', 'profiling');
        return;
      }
      recorder = record(
        { sampleInterval: requestedInterval, maxBufferSize: samplesMax }, guard(take), () => { cutShort('profile'); finish(); }, fail);
      timings = collectTimings(() => {
        if (!isLarge()) return;
        if (hasEnded) close(Infinity);
        else cut(true, true);
      }, guard, leaveOut);
      tell(DEBUG ? 'profiling' : '', 'profiling');
      if (!WORKER && document.hidden) onVisibility();
      else wind(pace.sliceMs);
      if (WORKER) return;
      watchLeaving(guard, onHint, onLeave);
      if (!(VITALS && extra)) watch();
      if (!(/** @type {number} */ (afterLoad ?? NaN) < maxNumber)) {
        addEventListener('load', guard(() => { if (!parts && isControlled()) cut(true, true); }));
        return;
      }
      const endLater = () => setTimeout(finish, /** @type {number} */ (afterLoad));
      addEventListener('load', endLater);
      if (document.readyState === 'complete') endLater();
    },
    /** @param {string} reason why there is no profile */
    cover(reason) {
      coverage = reason;
      if (!VITALS || !extra) emit(labels);
    },
    handle: {
      load,
      stop: async () => {
        isEnding = true;
        const isSent = await finish();
        timings?.halt();
        if (VITALS) extra = undefined;
        return isSent;
      },
      setRoute: guard((/** @type {string} */ name) => {
        const isFirst = route === undefined; // of this view
        if (name === route) return;
        route = name;
        if (isFirst) labels.page.route = text(name);
        else relabel();
      }),
      setRelease: guard((/** @type {string} */ name) => {
        if (name === release) return;
        release = name;
        relabel();
      }),
    },
  };
}
