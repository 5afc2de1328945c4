/**
 * A trace that is put together from pieces of several profilers' traces: each resource, frame and stack is in it once,
 * and only if a sample needs it.
 */

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

/** @param {number | undefined} id @param {(id: number) => number} map */
const mapped = (id, map) => (id === undefined ? id : map(id));

export function makeTrace() {
  /** @type {Trace} */
  const trace = { resources: [], frames: [], stacks: [], samples: [] };
  /** Where each value is, by its JSON: that of a resource, a frame and a stack look different. @type {Map<string, number>} */
  const places = new Map();
  let size = 0;

  /** @param {unknown[]} list @param {unknown} value */
  const place = (list, value) => {
    const key = JSON.stringify(value);
    let at = places.get(key);
    if (at === undefined) {
      at = list.push(value) - 1;
      places.set(key, at);
      size += key.length + 1;
    }
    return at;
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
      /** @type {number[]} */
      const stacks = [];
      /** @param {number} id */
      const frame = (id) => {
        const { resourceId, ...rest } = from.frames[id];
        return place(trace.frames,
          { ...rest, resourceId: mapped(resourceId, (at) => place(trace.resources, from.resources[at])) });
      };
      /** @param {number} id @returns {number} */
      const stack = (id) => {
        const { frameId, parentId } = from.stacks[id];
        return stacks[id] ??= place(trace.stacks, { frameId: frame(frameId), parentId: mapped(parentId, stack) });
      };
      return (/** @type {Sample} */ { stackId, ...rest }) => {
        trace.samples.push({ ...rest, stackId: mapped(stackId, stack) });
      };
    },
  };
}
