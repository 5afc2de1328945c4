/**
 * One page load: its profile, marks and measures, cut into parts that are sent as soon as they are ready.
 *
 * What a profiler has not handed over when the page ends is lost. So slices are short, they get shorter when the page
 * may be about to end, and what has been handed over but not sent fits into one beacon.
 */
import { jsonOf } from './json.js';
import { record } from './recorder.js';
import { watchRoutes } from './routes.js';
import { makeSender } from './sender.js';
import { collectTimings } from './timings.js';
import { makeTrace } from './trace.js';
import { makeUuid } from './uuid.js';
import { version } from './version.js';

/**
 * What else is sent, beside profiles.
 * @typedef {object} Extra
 * @property {(labels: Labels) => void} enter begins a view of the page
 * @property {() => number} size length of the JSON of what is here
 * @property {(labels: Labels, room: number) => object | undefined} take gives away members of an envelope: those of a view
 *   if they fit into the room
 * @property {() => void} handOver sends the others
 *
 * Starts it; what it has too much of, it sends itself.
 * @typedef {(options: import('../fleetprof.js').Options, send: (labels: Labels, members: object) => void) => Extra | undefined} StartExtra
 *
 * Where a part belongs.
 * @typedef {{ url?: string, route?: string, release?: string }} Labels
 *
 * @typedef {object} Part
 * @property {number} start ms since timeOrigin
 * @property {number} end
 * @property {Labels} labels
 * @property {ReturnType<typeof makeTrace>} trace
 */

/** Length of a part's JSON. What is in flight when a page ends shares 65,536 bytes. */
const maxPartSize = 40_000;
/** A slice should have about this length: the page waits while the browser makes a slice of it. */
const sliceSize = 8000;
const minSliceMs = 50;
const maxSliceMs = 100;
/** After a page seemed to end, and did not, slices get longer again by this factor. */
const sliceGrowth = 1.02;
const workerPartMs = 2000;
/** Profiling ends then: as many more may be left as marks and measures can fill. */
const maxParts = 24;
/** The collector's budget for one token. */
const maxUploads = 32;
/** Those of them that only vitals may use: they come last. */
const vitalsUploads = 4;

/** What timers and profilers take is a little more. */
const maxNumber = 1e9;

/** @param {import('./timings.js').Entry} entry */
const isMark = ({ entryType }) => entryType === 'mark';

const optionNames = ['endpoint', 'release', 'environment', 'variant', 'route', 'sampleInterval', 'partLength', 'maxDuration',
  'maxBufferSize', 'afterLoad', 'beforeSend', 'policy', 'profile', 'coverage', 'vitalsSample', 'debug', 'load', 'url'];

/** @param {string} name of an option */
const attributeOf = (name) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/**
 * Returns a label as the collector takes it: at most 200 characters, each of them whole.
 * @param {unknown} label
 */
const text = (label) => /** @type {any} */ (label)?.toString().match(/.{0,200}/su)[0];

/**
 * Returns an option's number if that makes sense.
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
    endpoint, release, environment, variant, route, sampleInterval, partLength, maxDuration, maxBufferSize, afterLoad,
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
  const load = WORKER && options.load || makeUuid();
  // The collector takes no longer interval.
  const requestedInterval = within(sampleInterval, 10, 10_000);
  const samplesMax = within(maxBufferSize, 10_000, maxNumber);
  // What becomes of a report of no profile must not hide its reason.
  const sender = makeSender(endpoint, DEBUG ? (text) => { if (!coverage) tell(text); } : tell, finish);

  /** @type {Extra | undefined} */
  let extra;
  if (VITALS) extra = startExtra?.(options, emit);
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
  let truncated = false;
  /** Whether all that was recorded is sent. */
  let isWhole = true;
  let recordedMs = 0;
  let samplesLeft = samplesMax;
  let sliceMs = maxSliceMs;
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
    return { url: WORKER ? options.url : location.origin + location.pathname, route, release };
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
    if (goOn) wind();
  }

  function wind() {
    timer = setTimeout(guard(() => cut(false, true)), sliceMs);
  }

  /** @param {import('./recorder.js').Slice} slice */
  function take({ trace, start, end, labels: own, isLast }) {
    let into = part ??= openPart(start, own);
    let copy = into.trace.copier(trace);
    for (const sample of trace.samples) {
      const { timestamp } = sample;
      if (!(timestamp >= start && timestamp < end)) continue;
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
    recordedMs += end - start;
    const size = trace.samples.length * 45 + trace.stacks.length * 30 + trace.frames.length * 90;
    sliceMs = Math.max(minSliceMs, Math.min(maxSliceMs, sliceMs * sliceGrowth, (end - start) * sliceSize / size));
    // The event of a full buffer may come too late.
    truncated ||= samplesLeft <= 0 || parts >= maxParts || trace.samples.length >= samplesMax;
    if (isLast || isLarge() || end - into.start >= within(partLength, 10_000)) close(end);
    // Where the page is too busy for timers, the next slice is long enough already.
    if (performance.now() - end > sliceMs) cut(false, true);
    if (truncated || recordedMs >= within(maxDuration, 60_000)) finish();
  }

  // ---- Parts ----

  /** Whether what is here still fits into a beacon, but not much more. */
  function isLarge() {
    let size = (part?.trace.jsonSize() ?? 0) + (timings?.jsonSize() ?? 0);
    if (VITALS) size += extra?.size() ?? 0;
    return size > maxPartSize;
  }

  /** @param {number} start @param {Labels} own @returns {Part} */
  function openPart(start, own) {
    return { start, end: start, labels: own, trace: makeTrace() };
  }

  /**
   * Sends what is here, with the marks and measures that began before a time.
   * @param {number} time
   */
  function close(time) {
    const { start, end, labels: own, trace: { trace, jsonSize } } = part ?? openPart(lastEnd, labels);
    part = undefined;
    lastEnd = end;
    const entries = timings?.take(time) ?? [];
    /** @type {object | undefined} */
    let more;
    let room = maxPartSize - jsonSize();
    // At the end of a page, what is long must not keep vitals.
    if (VITALS) more = extra?.take(own, time === Infinity ? room - maxPartSize / 2 : room);
    /** @type {object | undefined} */
    let first = { trace: recorder && trace, ...VITALS && more };
    if (VITALS && more) room -= jsonOf(more).length;
    if (!parts && recorder || VITALS && more || entries.length || trace.samples.length) do {
      /** @type {import('./timings.js').Entry[]} */
      const some = [];
      while (entries[0] && (room -= entries[0][1]) > 0) some.push(/** @type {any} */ (entries.shift())[0]);
      emit(own, {
        start,
        duration: end - start,
        ...first,
        ...timings && { marks: some.filter(isMark), measures: some.filter((entry) => !isMark(entry)) },
      });
      first = undefined;
      room = maxPartSize;
    } while (entries[0]);
    if (VITALS && time === Infinity) extra?.handOver();
  }

  /** @param {Labels} own @param {object} [members] */
  function emit(own, members) {
    if (parts >= maxUploads) return;
    if (VITALS && extra && parts >= maxUploads - vitalsUploads && !(members && 'vitals' in members)) return;
    const envelope = {
      version: 1,
      id: makeUuid(),
      load,
      part: parts++,
      agent: { name: 'fleetprof-agent', version },
      page: { url: own.url, route: text(own.route) },
      release: text(own.release),
      environment: text(environment),
      variant: text(variant),
      thread: WORKER ? 'worker' : 'window',
      ...recorder && {
        sampleInterval: recorder.sampleInterval, requestedInterval, maxBufferSize: samplesMax,
      },
      truncated: truncated || timings?.isFull() || undefined,
      timeOrigin: performance.timeOrigin,
      token: decision?.startsWith('v1.') ? decision : undefined,
      coverage,
      ...members,
    };
    const wanted = beforeSend ? beforeSend(envelope) : envelope;
    if (wanted) sender.send(jsonOf(wanted));
  }

  // ---- The page's life ----

  /**
   * Makes a function that reports its errors instead of throwing them into the page.
   * @template {unknown[]} Given
   * @param {(...given: Given) => void} act
   */
  function guard(act) {
    return (/** @type {Given} */ ...given) => {
      try {
        act(...given);
      } catch (error) {
        fail(error);
      }
    };
  }

  /** @param {unknown} error */
  function fail(error) {
    tell(DEBUG ? `nothing sent: ${error}` : `${error}`, 'failed');
    return isWhole = false;
  }

  /** The page may be about to end: what is handed over now can still be sent. */
  function hurry() {
    sliceMs = minSliceMs;
    cut(false, true);
  }

  function onVisibility() {
    const isHidden = document.hidden;
    // With vitals, all is flushed together: what is worth most goes first.
    sender.isAway = !VITALS && isHidden;
    cut(isHidden, !isHidden);
    if (isHidden) {
      close(Infinity);
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
    }));
  }

  /** @returns {Promise<boolean>} whether all was sent; never rejects */
  function finish() {
    return outcome ??= conclude().catch(fail);
  }

  async function conclude() {
    tell(DEBUG && !sender.problem ? 'profiling has ended' : '', 'sending');
    cut(true, false);
    await recorder?.taken();
    close(Infinity);
    timings?.stop();
    await sender.done();
    isWhole &&= !sender.problem;
    tell('', isWhole ? 'sent' : 'failed');
    return isWhole;
  }

  if (!WORKER) {
    addEventListener('visibilitychange', guard(onVisibility));
    // The last event of a page that nobody sees.
    if (VITALS) addEventListener('pagehide', guard(() => { if (document.hidden) onVisibility(); }));
  }
  return {
    ...VITALS ? { isObserving: Boolean(extra) } : {},
    /** Starts profiling; throws as the constructor of Profiler does. */
    profile() {
      if (WORKER && !('Profiler' in globalThis)) {
        // Nothing says when a worker ends.
        timings = collectTimings(guard(() => { if (isLarge()) close(Infinity); }));
        setInterval(guard(() => close(Infinity)), within(partLength, workerPartMs));
        tell(DEBUG ? 'marks and measures only: no browser has Profiler in workers' : '', 'profiling');
        return;
      }
      recorder = record(
        { sampleInterval: requestedInterval, maxBufferSize: samplesMax }, take, () => { truncated = true; finish(); }, fail);
      timings = collectTimings(guard(() => { if (isLarge()) cut(true, true); }));
      tell(DEBUG ? 'profiling' : '', 'profiling');
      if (!WORKER && document.hidden) onVisibility();
      else wind();
      if (!WORKER) addEventListener('beforeunload', guard(hurry));
      if (!WORKER && !(VITALS && extra)) watch();
      if (WORKER || !(/** @type {number} */ (afterLoad ?? NaN) < maxNumber)) return;
      const endLater = () => setTimeout(finish, /** @type {number} */ (afterLoad));
      if (document.readyState === 'complete') endLater();
      addEventListener('load', endLater);
    },
    /** @param {string} reason why there is no profile */
    cover(reason) {
      coverage = reason;
      if (!VITALS || !extra) emit(labels);
    },
    handle: {
      load,
      stop: () => {
        const sent = finish();
        if (VITALS) sent.then(() => { extra = undefined; });
        return sent;
      },
      setRoute: guard((/** @type {string} */ name) => {
        const isFirst = route === undefined; // of this view
        if (name === route) return;
        route = name;
        if (isFirst) labels.route = name;
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
