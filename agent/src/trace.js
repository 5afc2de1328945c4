// SPDX-License-Identifier: Apache-2.0
/**
 * A trace composed from pieces of several profilers' traces. It contains each resource, frame and stack once, and only
 * if a sample needs it.
 */
import { jsonOf } from './json.js';

/**
 * @typedef {{ name: string, resourceId?: number, line?: number, column?: number }} Frame
 * @typedef {{ timestamp: number, stackId?: number, marker?: string }} Sample
 * @typedef {object} Trace
 * @property {string[]} resources
 * @property {Frame[]} frames
 * @property {{ frameId: number, parentId?: number }[]} stacks
 * @property {Sample[]} samples
 */

const sampleSize = 45;

export function makeTrace() {
  /** @type {Trace} */
  const trace = { resources: [], frames: [], stacks: [], samples: [] };
  /** The index of each value, by its JSON. The JSON of resources, frames and stacks differs in form. @type {Map<string, number>} */
  const places = new Map();
  let size = 0;

  /** Returns a value's index; undefined for undefined. @param {unknown[]} list @param {unknown} value */
  const place = (list, value) => {
    const key = jsonOf(value);
    if (key && !places.has(key)) {
      places.set(key, list.push(value) - 1);
      size += key.length + 1;
    }
    return places.get(key);
  };

  return {
    trace,
    /** Returns the length of its JSON, roughly. */
    jsonSize: () => size + trace.samples.length * sampleSize,
    /**
     * Returns a function that copies samples of another trace.
     * @param {Trace} from
     */
    copier(from) {
      /** @type {(number | undefined)[]} */
      const stacks = [];
      /** @param {Frame} frame */
      const placeFrame = ({ resourceId, ...rest }) => place(trace.frames,
        { ...rest, resourceId: place(trace.resources, from.resources[/** @type {number} */ (resourceId)]) });
      /** @param {number | undefined} id @returns {number | undefined} */
      const stack = (id) => {
        if (id === undefined) return id;
        const { frameId, parentId } = from.stacks[id];
        return stacks[id] ??= place(trace.stacks, { frameId: placeFrame(from.frames[frameId]), parentId: stack(parentId) });
      };
      return (/** @type {Sample} */ { stackId, ...rest }) => {
        trace.samples.push({ ...rest, stackId: stack(stackId) });
      };
    },
  };
}
