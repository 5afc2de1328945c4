// SPDX-License-Identifier: Apache-2.0
/**
 * A row of profilers, each of which starts before the one before it stops: the browser hands over samples only when a
 * profiler has stopped, and only if the page still lives then.
 */

/**
 * The part of the JS Self-Profiling API that is used here.
 * @typedef {EventTarget & { sampleInterval: number, stop(): Promise<import('./trace.js').Trace> }} Profiler
 * @typedef {new (options: { sampleInterval: number, maxBufferSize: number }) => Profiler} ProfilerConstructor
 *
 * One profiler's recording.
 * @typedef {object} Slice
 * @property {import('./trace.js').Trace} trace
 * @property {number} begun ms since timeOrigin, after what the start itself leaves in the trace
 * @property {number} end before what the end leaves in it
 * @property {boolean} isLast whether its part ends with it
 * @property {import('./load.js').Labels} labels
 */

/**
 * Starts the first profiler; throws as its constructor does.
 * @param {{ sampleInterval: number, maxBufferSize: number }} options
 * @param {(slice: Slice) => void} take called in the order of the slices
 * @param {() => void} onFull called when a profiler's buffer is full
 * @param {(error: unknown) => void} onError
 */
export function record(options, take, onFull, onError) {
  const { Profiler } = /** @type {{ Profiler: ProfilerConstructor }} */ (/** @type {unknown} */ (globalThis));
  /** @type {Promise<void> | undefined} */
  let taken;
  /** @type {{ profiler: Profiler, begun: number } | undefined} */
  let current = open();

  function open() {
    const profiler = new Profiler(options);
    profiler.addEventListener('samplebufferfull', onFull);
    return { profiler, begun: performance.now() };
  }

  return {
    interval: current.profiler.sampleInterval,
    /** Fulfilled when each slice that has ended is taken. */
    taken: () => taken,
    /**
     * Ends the running slice, if there is one.
     * @param {Pick<Slice, 'isLast' | 'labels'>} about it
     * @param {boolean} goOn whether the next slice begins
     */
    cut(about, goOn) {
      const last = current;
      current = goOn ? open() : undefined;
      if (!last) return;
      const { profiler, begun } = last;
      const end = current?.begun ?? performance.now();
      taken = takeAfter(taken, profiler.stop(), (trace) => take({ trace, begun, end, ...about }), onError);
    },
  };
}

/**
 * Takes a trace once it and all earlier ones are there. Uses only `await`: a page may have replaced `then`.
 * @param {Promise<void> | undefined} before
 * @param {Promise<import('./trace.js').Trace>} stopped
 * @param {(trace: import('./trace.js').Trace) => void} take
 * @param {(error: unknown) => void} onError
 */
async function takeAfter(before, stopped, take, onError) {
  try {
    await before;
    take(await stopped);
  } catch (error) {
    onError(error);
  }
}
