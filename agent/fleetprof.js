/**
 * The browser's part of fleetprof: profiles one page load with the JS Self-Profiling API, adds the
 * page's marks and measures, and uploads them once.
 *
 * A classic script that defines `globalThis.fleetprof`; fleetprof.mjs is the same as an ES module.
 * It profiles only if the server says in `Server-Timing` that it picked this page load: a try without permission
 * writes an error to the visitor's console and sends a violation report.
 * Nothing here may throw into the page, or write to its console unless `debug` is on.
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
 * @property {string} [policy] `try`: profile also where no decision of fleetprof's modules is seen, because another
 *   server sets the Document-Policy; a page load without that policy then gets the browser's error on its console
 * @property {boolean | string} [debug] says on the console what happens and why not; `data-debug` alone is enough
 */

/**
 * What became of this page load. The first six are final and mean that nothing is profiled.
 * @typedef {'unsupported' | 'no-endpoint' | 'no-decision' | 'not-sampled' | 'stale' | 'forbidden'
 *   | 'profiling' | 'sending' | 'sent' | 'failed'} Status
 */

/**
 * @typedef {object} Handle
 * @property {Status} status changes as things happen
 * @property {string} detail the same for people: the latest line that `debug` writes
 * @property {() => Promise<boolean>} stop ends profiling now and uploads; true when the upload was
 *   accepted (or, for a hidden page, queued by the browser). Never rejects; every call gives the same answer.
 */

/**
 * @typedef {object} Fleetprof
 * @property {string} version
 * @property {(options?: Options) => Handle} start starts once per page; later calls give the first handle
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
  const maxProblemLength = 500;

  /** What sendBeacon and a keepalive fetch may have in flight. */
  const maxKeepaliveBytes = 65_536;

  /** Waits of 2, 4, 8, 16 and 32 s: a collector that restarts within a minute loses nothing. */
  const maxAttempts = 6;
  const firstRetryMs = 2000;
  const maxUploadMs = 300_000;
  /** As long as proxies wait for a hanging collector by default. */
  const attemptTimeoutMs = 60_000;
  /** A proxy says 502 or 504 when the collector is down; the others are the collector's own "later". */
  const laterStatuses = [408, 429, 502, 503, 504];

  /** Visitors' clocks are wrong by hours, some by a day: only a decision that seems older still is surely old. */
  const maxDecisionAgeMs = 2 * 86_400_000;
  const usedKey = 'fleetprof.used';
  const maxUsed = 200;

  const optionNames = ['endpoint', 'release', 'environment', 'variant', 'route', 'sampleInterval', 'maxBufferSize',
    'afterLoad', 'policy', 'debug'];

  /** @type {Handle | undefined} */
  let handle;
  let debug = false;

  /**
   * @param {Options} [options] needed by the first call
   * @returns {Handle}
   */
  function start(options = /** @type {any} */ ({})) {
    if (handle) return handle;
    handle = { status: 'failed', detail: '', stop: async () => false };
    try {
      setDebug(options);
      const decision = serverDecision();
      const reason = reasonNotToProfile(options, decision);
      if (reason) tell(...reason);
      else handle.stop = profilePage(options, decision);
    } catch (error) { // NotAllowedError without the document's policy
      tell('forbidden', `the browser refused to profile: ${error}`);
    }
    return handle;
  }

  /**
   * Turns debug on if requested, and reports unknown members: a misspelt one would be silent otherwise.
   * @param {object} options
   */
  function setDebug(options) {
    debug = `${/** @type {Options} */ (options).debug ?? false}` !== 'false';
    for (const name of Object.keys(options)) {
      const attribute = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      if (!optionNames.includes(name)) log(`unknown option ${name} (data-${attribute})`);
    }
  }

  /** @param {string} text */
  function log(text) {
    if (debug) console.info(`fleetprof: ${text}`);
  }

  /**
   * Says what happens: to the page in its handle, and to people on the console.
   * @param {Status} status
   * @param {string} detail
   */
  function tell(status, detail) {
    Object.assign(/** @type {Handle} */ (handle), { status, detail });
    log(detail);
  }

  /**
   * Returns the server's decision on this page load; undefined if there is none. A 304 replaces the one that a
   * stored page has.
   */
  function serverDecision() {
    const [navigation] = /** @type {PerformanceNavigationTiming[]} */ (performance.getEntriesByType('navigation'));
    return navigation?.serverTiming?.find(({ name }) => name === 'fleetprof')?.description;
  }

  /**
   * Returns the reason not to profile, before anything is tried.
   * @param {Options} options
   * @param {string | undefined} decision `0`, or a yes: `1.TIME.NONCE`, signed `v1.KEYID.SITE.PPM.TIME.NONCE.MAC`
   * @returns {[Status, string] | undefined} undefined if there is none
   */
  function reasonNotToProfile({ endpoint, policy }, decision) {
    if (!globalThis.document) return ['unsupported', 'not a page: workers are not profiled'];
    if (!('Profiler' in globalThis)) return ['unsupported', 'this browser has no Profiler'];
    if (!endpoint) return ['no-endpoint', 'no endpoint (data-endpoint) to send to'];
    if (decision === undefined) {
      if (policy === 'try') return undefined;
      return ['no-decision', 'no Server-Timing entry fleetprof: is fleetprof on in the web server? '
        + 'Where another server sets the Document-Policy, say data-policy="try"'];
    }
    if (decision === '0') return ['not-sampled', 'the server did not pick this page load'];
    const [, time, nonce] = /^(?:1|v1\..+)\.(\d{1,11})\.([\w-]{16})(?:\.[\w-]{43})?$/.exec(decision) ?? [];
    if (!nonce) return ['no-decision', `the server's decision is in no known form: ${decision}`];
    const age = performance.timeOrigin - Number(time) * 1000;
    const hours = Math.round(age / 3_600_000);
    if (age > maxDecisionAgeMs) return ['stale', `out of a cache: the decision is ${hours} h old`];
    if (!useUp(nonce)) return ['stale', 'out of a cache: this response was profiled before'];
    return undefined;
  }

  /**
   * Marks a yes as used; false if it was used before. A service worker's cache, or the browser's, returns the same
   * response with the same yes each time: without this, a visitor picked once would be profiled forever.
   * It keeps four characters of the server's random number, for sampled page loads only, and never sends them.
   * @param {string} nonce
   */
  function useUp(nonce) {
    const mark = nonce.slice(0, 4);
    let isNew = true;
    try {
      const marks = (localStorage.getItem(usedKey) ?? '').split(' ');
      isNew = !marks.includes(mark);
      // To the front, so that a response still in use is the last to be forgotten.
      const latest = [mark, ...marks.filter((other) => other && other !== mark)].slice(0, maxUsed);
      localStorage.setItem(usedKey, latest.join(' '));
    } catch { // storage is blocked or full: only the age counts
    }
    return isNew;
  }

  /**
   * @param {Options} options
   * @param {string | undefined} decision
   * @returns {Handle['stop']}
   */
  function profilePage({ endpoint, route, release, environment, variant, ...numbers }, decision) {
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
    const stop = () => outcome ??= finish().catch((error) => {
      tell('failed', `nothing sent: ${error}`);
      return false;
    });
    const stopWhenHidden = () => { if (document.visibilityState === 'hidden') stop(); };

    async function finish() {
      document.removeEventListener('visibilitychange', stopWhenHidden);
      tell('sending', 'profiling has ended');
      const duration = performance.now() - startTime;
      const { marks, measures, full } = timings.take();
      const trace = await profiler.stop();
      return upload(endpoint, JSON.stringify({
        version: 1,
        id: makeUuid(),
        load: makeUuid(),
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
        token: decision?.startsWith('v1.') ? decision : undefined,
        trace,
        marks,
        measures,
      }));
    }

    document.addEventListener('visibilitychange', stopWhenHidden);
    const afterLoad = Number(numbers.afterLoad ?? 5000);
    const stopLater = () => setTimeout(stop, afterLoad);
    if (document.readyState === 'complete') stopLater();
    else addEventListener('load', stopLater, { once: true });
    tell('profiling', `profiling until ${afterLoad} ms after the load event`);
    return stop;
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
   * Returns a value's JSON; undefined for null, for values that JSON cannot express, and for JSON that would be longer
   * or deeper than the limits.
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
   * Uploads an envelope. A page that is being hidden may be about to end: only what is sent right now will arrive.
   * @param {string} endpoint
   * @param {string} envelope
   * @returns {Promise<boolean>}
   */
  async function upload(endpoint, envelope) {
    const plain = new Blob([envelope]);
    if (document.visibilityState === 'hidden' && navigator.sendBeacon(endpoint, plain)) {
      tell('sent', `left to the browser to send (${kilobytes(plain)})`);
      return true;
    }
    const body = await compress(plain);
    const deadline = performance.now() + maxUploadMs;
    for (let attempt = 1; ; attempt++) {
      const { status, detail, retryAfterMs = 0 } = await post(endpoint, body);
      if (status === 204) {
        tell('sent', `sent (${kilobytes(body)}, 204)`);
        return true;
      }
      // Random, so that tabs that were refused together do not retry together.
      const pause = Math.max(retryAfterMs, firstRetryMs * 2 ** (attempt - 1)) * (1 + Math.random() / 2);
      const isLater = !status || laterStatuses.includes(status);
      if (!isLater || attempt === maxAttempts || performance.now() + pause > deadline) {
        tell('failed', `not accepted after ${attempt} of ${maxAttempts} attempts: ${detail}`);
        return false;
      }
      tell('sending', `${detail}; again in ${Math.round(pause / 1000)} s`);
      await new Promise((resolve) => { setTimeout(resolve, pause); });
    }
  }

  /** @param {Blob} body */
  const kilobytes = (body) => `${(body.size / 1024).toFixed(1)} KB`;

  /**
   * Compresses a body. The collector knows gzip by its first bytes: a Content-Encoding header would cost a preflight.
   * @param {Blob} plain
   */
  async function compress(plain) {
    if (!globalThis.CompressionStream) return plain;
    return new Response(plain.stream().pipeThrough(new CompressionStream('gzip'))).blob();
  }

  /**
   * @param {string} endpoint
   * @param {Blob} body untyped: without a content type there is no preflight
   * @returns {Promise<{ status?: number, detail: string, retryAfterMs?: number }>} no status without an answer
   */
  async function post(endpoint, body) {
    try {
      const keepalive = body.size <= maxKeepaliveBytes;
      const reply = await fetch(endpoint, {
        method: 'POST',
        body,
        keepalive,
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.timeout?.(attemptTimeoutMs), // newer than Profiler
      });
      const retryAfterMs = retryAfter(reply.headers.get('Retry-After'));
      return { status: reply.status, detail: await describe(reply), retryAfterMs };
    } catch (error) { // or too much is in flight for keepalive
      return { detail: `no answer from ${endpoint} (network, CORS or Content-Security-Policy): ${error}` };
    }
  }

  /**
   * Describes a reply. A success other than 204 is a page of the application.
   * @param {Response} reply
   */
  async function describe(reply) {
    const { status, headers, redirected, url } = reply;
    const from = redirected ? ` after a redirect to ${url}` : '';
    if (reply.ok) return `${status}${from}, but a collector answers 204`;
    const isProblem = headers.get('Content-Type')?.startsWith('application/problem+json');
    const problem = isProblem ? await reply.json().catch(() => null) : null;
    return `${status}${from} ${problem?.detail ?? ''}`.trim().slice(0, maxProblemLength);
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

  /** Makes a UUID of version 7, which begins with the time: crypto.randomUUID makes version 4. */
  function makeUuid() {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    let time = Date.now();
    for (let i = 5; i >= 0; i--, time = Math.floor(time / 256)) bytes[i] = time % 256;
    bytes[6] = bytes[6] & 0x0f | 0x70;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }

  /** @type {typeof globalThis & { fleetprof?: Fleetprof }} */
  const scope = globalThis;
  // A page may load both builds, or have an element of this id.
  if (!scope.fleetprof?.start) scope.fleetprof = { version, start };

  const tag = /** @type {HTMLScriptElement | null | undefined} */ (globalThis.document?.currentScript);
  if (tag?.dataset.endpoint) scope.fleetprof.start(/** @type {any} */ ({ ...tag.dataset }));
  else if (tag) {
    setDebug({ ...tag.dataset });
    log('no data-endpoint: waiting for the page to call fleetprof.start({ endpoint: … })');
  }
})();
