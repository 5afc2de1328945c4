/**
 * The browser's part of fleetprof: profiles one page load with the JS Self-Profiling API, adds the
 * page's marks and measures, and uploads them once.
 *
 * A classic script that defines `globalThis.fleetprof`; fleetprof.mjs is the same as an ES module.
 * Where the browser has no Profiler, or the document's policy does not allow one, nothing happens.
 * Nothing here may ever throw into the page.
 */

/**
 * @typedef {object} Options numbers may be given as text, as data attributes are
 * @property {string} endpoint the collector's ingest URL, with the site's key: `/v1/ingest/pk_shop`
 * @property {string} [release]
 * @property {string} [environment]
 * @property {string} [variant] one dimension of few values, such as an experiment's arm
 * @property {string} [route] the page's template; without it the collector derives one from the URL
 * @property {number | string} [sampleInterval] ms between samples to ask for; 10
 * @property {number | string} [maxBufferSize] samples after which profiling ends; 10,000
 * @property {number | string} [afterLoad] ms that profiling goes on after the load event; 5,000
 */

/**
 * @typedef {object} Handle
 * @property {() => Promise<boolean>} stop ends profiling now and uploads; true when the upload was
 *   accepted (or, for a hidden page, queued by the browser). Never rejects; every call gives the same answer.
 */

/**
 * @typedef {object} Fleetprof
 * @property {string} version
 * @property {(options: Options) => Handle} start starts once per page; later calls give the first handle
 */

/**
 * The part of the JS Self-Profiling API that is used here.
 * @typedef {EventTarget & { sampleInterval: number, stop(): Promise<object> }} Profiler
 * @typedef {new (options: { sampleInterval: number, maxBufferSize: number }) => Profiler} ProfilerConstructor
 */

(() => {
  const version = '0.1.0';

  const maxEntries = 5000;
  const maxNameLength = 1024;
  const maxDetailLength = 4096;
  const maxDetailsLength = 65_536;
  const maxDetailDepth = 32; // the collector refuses an upload that is nested too deep

  /** What sendBeacon and a keepalive fetch may have in flight. */
  const maxKeepaliveBytes = 65_536;
  const maxAttempts = 4;
  const firstRetryMs = 2000;
  const maxRetryMs = 300_000;

  /** @type {Handle | undefined} */
  let handle;

  /**
   * @param {Options} options
   * @returns {Handle}
   */
  function start(options) {
    if (!handle) {
      try {
        handle = profilePage(options);
      } catch { // no Profiler here, or NotAllowedError without the document's policy
        handle = { stop: async () => false };
      }
    }
    return handle;
  }

  /**
   * @param {Options} options
   * @returns {Handle}
   */
  function profilePage({ endpoint, route, release, environment, variant, ...numbers }) {
    if (!endpoint || !globalThis.document) throw new TypeError('not a page, or nowhere to send to');
    const requestedInterval = Number(numbers.sampleInterval) || 10;
    const maxBufferSize = Number(numbers.maxBufferSize) || 10_000;
    const { Profiler } = /** @type {{ Profiler: ProfilerConstructor }} */ (/** @type {unknown} */ (globalThis));
    const profiler = new Profiler({ sampleInterval: requestedInterval, maxBufferSize });
    const startTime = performance.now();
    const timings = collectTimings();
    const page = { url: location.origin + location.pathname, route };
    let truncated = false;
    profiler.addEventListener('samplebufferfull', () => { truncated = true; });

    /** @type {Promise<boolean> | undefined} */
    let outcome;
    const stop = () => outcome ??= finish().catch(() => false);
    const stopWhenHidden = () => { if (document.visibilityState === 'hidden') stop(); };

    async function finish() {
      document.removeEventListener('visibilitychange', stopWhenHidden);
      const duration = performance.now() - startTime;
      const { marks, measures, full } = timings.take();
      const trace = await profiler.stop();
      return upload(endpoint, JSON.stringify({
        version: 1,
        id: randomUuid(),
        load: randomUuid(),
        part: 0,
        agent: { name: 'fleetprof-agent', version },
        page,
        release,
        environment,
        variant,
        thread: 'window',
        sampleInterval: profiler.sampleInterval,
        requestedInterval,
        maxBufferSize,
        truncated: truncated || full || undefined,
        timeOrigin: performance.timeOrigin,
        duration,
        token: pageToken(),
        trace,
        marks,
        measures,
      }));
    }

    document.addEventListener('visibilitychange', stopWhenHidden);
    const stopLater = () => setTimeout(stop, Number(numbers.afterLoad ?? 5000));
    if (document.readyState === 'complete') stopLater();
    else addEventListener('load', stopLater, { once: true });
    return { stop };
  }

  /**
   * Copies marks and measures as they come, those from before this script too: a page may clear them
   * at any time, and their JSON lacks `detail`.
   */
  function collectTimings() {
    /** @type {Record<string, object[]>} */
    const found = { mark: [], measure: [] };
    let entriesLeft = maxEntries;
    let detailsLeft = maxDetailsLength;
    let full = false;

    /** @param {PerformanceEntryList} entries */
    const copy = (entries) => {
      for (const { name, entryType, startTime, duration, detail } of /** @type {PerformanceMeasure[]} */ (entries)) {
        if (entriesLeft-- <= 0) { full = true; break; }
        const text = boundedJson(detail, Math.min(maxDetailLength, detailsLeft));
        detailsLeft -= text?.length ?? 0;
        found[entryType].push({
          name: name.slice(0, maxNameLength), entryType, startTime, duration, detail: text && JSON.parse(text),
        });
      }
    };

    const observer = new PerformanceObserver((list) => copy(list.getEntries()));
    for (const type of Object.keys(found)) observer.observe({ type, buffered: true });
    return {
      take: () => {
        copy(observer.takeRecords());
        observer.disconnect();
        return { marks: found.mark, measures: found.measure, full };
      },
    };
  }

  /**
   * A value's JSON; undefined for null, for what JSON cannot say, and for what would be longer or deeper than
   * the limits, which is found out without building it.
   * @param {unknown} value
   * @param {number} maxLength
   * @returns {string | undefined}
   */
  function boundedJson(value, maxLength) {
    if (value === null) return undefined;
    let left = maxLength;
    /** @type {Map<unknown, number>} */
    const depths = new Map();
    try {
      const text = JSON.stringify(value, /** @this {unknown} */ function bound(key, member) {
        left -= key.length + (typeof member === 'string' ? member.length : 1);
        const depth = (depths.get(this) ?? 0) + 1;
        if (left < 0 || depth > maxDetailDepth || ArrayBuffer.isView(member)) throw new RangeError();
        if (typeof member === 'object') depths.set(member, depth);
        return member;
      });
      return text?.length <= maxLength ? text : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * The server's signature that it sampled this page load; a 304 takes a stored page's away with "0".
   * @returns {string | undefined}
   */
  function pageToken() {
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
    const token = navigation?.serverTiming?.find(({ name }) => name === 'fleetprof')?.description;
    return token && token !== '0' ? token : undefined;
  }

  /**
   * A page that is being hidden may be about to end: only what is sent right now will arrive.
   * @param {string} endpoint
   * @param {string} envelope
   * @returns {Promise<boolean>}
   */
  async function upload(endpoint, envelope) {
    const plain = new Blob([envelope]);
    if (document.visibilityState === 'hidden' && navigator.sendBeacon(endpoint, plain)) return true;
    const body = await compress(plain);
    for (let attempt = 1; ; attempt++) {
      const { accepted, retryAfterMs = firstRetryMs * 2 ** (attempt - 1) } = await post(endpoint, body);
      if (accepted !== undefined) return accepted;
      if (attempt === maxAttempts || retryAfterMs > maxRetryMs) return false;
      // Spread, so that all the tabs that were turned away together do not come back together.
      await new Promise((resolve) => { setTimeout(resolve, retryAfterMs * (1 + Math.random() / 2)); });
    }
  }

  /**
   * The collector knows gzip by its first bytes: a Content-Encoding header would cost a preflight.
   * @param {Blob} plain
   */
  async function compress(plain) {
    if (!globalThis.CompressionStream) return plain;
    return new Response(plain.stream().pipeThrough(new CompressionStream('gzip'))).blob();
  }

  /**
   * @param {string} endpoint
   * @param {Blob} body untyped: without a content type there is no preflight
   * @returns {Promise<{ accepted?: boolean, retryAfterMs?: number }>} accepted is absent when it may be tried again
   */
  async function post(endpoint, body) {
    try {
      const keepalive = body.size <= maxKeepaliveBytes;
      const reply = await fetch(endpoint, {
        method: 'POST', body, keepalive, credentials: 'omit', referrerPolicy: 'no-referrer',
      });
      if (reply.status !== 429 && reply.status !== 503) return { accepted: reply.ok };
      return { retryAfterMs: retryAfter(reply.headers.get('Retry-After')) };
    } catch { // the network, or too much in flight for keepalive
      return {};
    }
  }

  /**
   * @param {string | null} header seconds or a date (RFC 9110, 10.2.3)
   * @returns {number | undefined} ms; undefined when it says nothing
   */
  function retryAfter(header) {
    if (!header) return undefined;
    const seconds = Number(header);
    const ms = Number.isNaN(seconds) ? Date.parse(header) - Date.now() : seconds * 1000;
    return ms >= 0 ? ms : undefined;
  }

  /** crypto.randomUUID exists in secure contexts only. */
  function randomUuid() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  /** @type {typeof globalThis & { fleetprof?: Fleetprof }} */
  const scope = globalThis;
  // Once, should a page load both builds; and an element's id may have taken the name.
  if (!scope.fleetprof?.start) scope.fleetprof = { version, start };

  const tag = /** @type {HTMLScriptElement | null | undefined} */ (globalThis.document?.currentScript);
  if (tag?.dataset.endpoint) scope.fleetprof.start(/** @type {any} */ ({ ...tag.dataset }));
})();
