// SPDX-License-Identifier: Apache-2.0
/**
 * How long slices are: long while nothing suggests that the page ends, short when something does, and long on a device
 * whose main thread the agent itself keeps busy.
 */

const minSliceMs = 50;
const firstSliceMs = 100;
/** Longer slices save nothing, because only the profiler's own work is left. */
const maxSliceMs = 500;
/** So a page of 2 s has slices of 200 ms: an end without a sign loses a small share of it. */
const sliceGrowth = 1.05;
/** A slice should have about this length: the page waits while the browser makes a slice of it. */
const sliceSize = 8000;
/** The agent's steps may take this share of the time. */
const maxShare = 0.03;
/** Time over which the share is judged. */
const evidenceMs = 4000;

export function makePace() {
  let leastMs = minSliceMs;
  let ownMs = 0;
  let watchedMs = 0;
  let busyInARow = 0;

  const pace = {
    sliceMs: firstSliceMs,
    hurry() {
      pace.sliceMs = leastMs;
    },
    /** Counts the time of a step of the agent. @param {number} ms */
    spend(ms) {
      ownMs += ms;
    },
    /**
     * Learns from a slice. Returns true if the agent takes too much time even with the longest slices.
     * @param {number} ms its length
     * @param {number} size of its JSON, roughly
     */
    took(ms, size) {
      watchedMs += ms;
      if (watchedMs >= evidenceMs) {
        busyInARow = ownMs > watchedMs * maxShare ? busyInARow + 1 : 0;
        if (busyInARow) leastMs = maxSliceMs;
        ownMs = watchedMs = 0;
      }
      pace.sliceMs = Math.max(leastMs, Math.min(maxSliceMs, pace.sliceMs * sliceGrowth, ms * sliceSize / size));
      return busyInARow > 1;
    },
  };
  return pace;
}
