// SPDX-License-Identifier: Apache-2.0
/**
 * Trees of stacks in columns, with transforms, sums and search. Nothing here uses a browser. All times are
 * microseconds; nodes are depth first, siblings by descending size.
 */

/**
 * @typedef {object} Columns what is known of frames
 * @property {string[]} function
 * @property {(string | null)[]} resource
 * @property {(number | null)[]} line
 * @property {(number | null)[]} column_number
 * @property {string[]} kind
 * @property {string[]} function_key
 *
 * @typedef {Columns & { generated_resource?: (string | null)[], generated_line?: (number | null)[], generated_column?: (number | null)[] }} Frames
 *   as flamegraph_columns sends them; the latter: where the browser saw the function
 *
 * @typedef {object} Tree
 * @property {number} count nodes
 * @property {Frames} frames
 * @property {Int32Array} group by frame: frames of one function_key have the same number
 * @property {number} groups
 * @property {Int32Array} frame by node: its place in frames; -1 for the first node, the whole
 * @property {Int32Array} level
 * @property {Int32Array} parent -1 for the first node
 * @property {Int32Array} end first node past the subtree
 * @property {Int32Array} deepest greatest level in the subtree
 * @property {Float64Array} self
 * @property {Float64Array} rest time in stacks that the answer leaves out
 * @property {number} left all of rest
 * @property {Float64Array} total
 * @property {Float64Array} samples
 * @property {Float64Array} start where the node begins: what stands to the left of it
 * @property {Float64Array} size its width: the total, or more where own times below are negative
 * @property {Float64Array} [own] of an inverted tree: time with the node's function on top, where self is what ends there
 * @property {Float64Array} [before] of a comparison: the earlier side's total
 * @property {Float64Array} [after]
 */

/** Groups of frames, which transforms leave as they are. @type {WeakMap<Frames, { group: Int32Array, groups: number }>} */
const grouped = new WeakMap();

/** @param {Frames} frames */
function groupsOf(frames) {
  const made = grouped.get(frames);
  if (made) return made;
  /** @type {Map<string, number>} */
  const known = new Map();
  const group = Int32Array.from(frames.function_key, (key) => {
    const found = known.get(key);
    if (found !== undefined) return found;
    known.set(key, known.size);
    return known.size - 1;
  });
  const groups = { group, groups: known.size };
  grouped.set(frames, groups);
  return groups;
}

/**
 * Returns a tree whose order and sums are known; fills in the rest.
 * @param {Frames} frames
 * @param {{ level: ArrayLike<number>, frame: ArrayLike<number>, self: ArrayLike<number>, total: ArrayLike<number>, samples: ArrayLike<number> }} columns
 * @returns {Tree}
 */
function grown(frames, { level: levels, frame, self, total, samples }) {
  const count = levels.length;
  const columns = {
    frame: new Int32Array(frame), level: new Int32Array(levels), self: new Float64Array(self), total: new Float64Array(total), samples: new Float64Array(samples),
  };
  const { level } = columns;
  const parent = new Int32Array(count).fill(-1);
  const path = new Int32Array(count);
  for (let i = 0; i < count; i += 1) {
    if (i === 0 ? level[i] !== 0 : level[i] < 1 || level[i] > level[i - 1] + 1) throw new Error('The tree is not in order.');
    if (i > 0) parent[i] = path[level[i] - 1];
    path[level[i]] = i;
  }
  return { count, frames, ...groupsOf(frames), ...columns, parent, ...shapeOf(parent, columns) };
}

/**
 * Returns where nodes lie, and the time that is left out above them.
 * @param {Int32Array} parent
 * @param {{ level: Int32Array, self: Float64Array, total: Float64Array }} columns
 */
function shapeOf(parent, { level, self, total }) {
  const count = parent.length;
  const end = new Int32Array(count);
  const deepest = level.slice();
  const size = new Float64Array(count);
  const rest = total.slice();
  const start = new Float64Array(count);
  const filled = new Float64Array(count);
  let left = 0;
  for (let i = count - 1; i >= 0; i -= 1) { // children are done before their parent
    if (end[i] === 0) end[i] = i + 1;
    if (size[i] < total[i]) size[i] = total[i];
    rest[i] -= self[i];
    if (rest[i] < 0) rest[i] = 0;
    left += rest[i];
    if (i === 0) break;
    const above = parent[i];
    if (end[above] === 0) end[above] = end[i];
    if (deepest[above] < deepest[i]) deepest[above] = deepest[i];
    size[above] += size[i];
    rest[above] -= total[i];
  }
  for (let i = 1; i < count; i += 1) {
    const above = parent[i];
    start[i] = start[above] + filled[above];
    filled[above] += size[i];
  }
  return { end, deepest, size, rest, left, start };
}

/**
 * Returns the tree of an answer of flamegraph_columns. Merges places of one function_key, such as those of two
 * releases.
 * @param {any} answer
 * @returns {Tree}
 */
export function treeOf(answer) {
  const names = /** @type {(keyof Columns)[]} */ (['function', 'resource', 'line', 'column_number', 'kind', 'function_key']);
  const frames = /** @type {Frames} */ ({ ...answer.frames });
  for (const name of names) /** @type {any} */ (frames)[name] = frames[name] ?? [];
  const columns = ['level', 'frame', 'self', 'total', 'samples'].map((name) => answer[name] ?? []);
  if (columns.some(({ length }) => length !== columns[0].length) || names.some((name) => frames[name].length !== frames.kind.length)
    || columns[1].some((/** @type {number} */ frame) => !(frame < frames.kind.length))) {
    throw new Error('The columns of the tree do not belong together.');
  }
  const [level, frame, self, total, samples] = columns;
  const tree = grown(frames, { level, frame, self, total, samples });
  return tree.groups === frames.kind.length ? tree : transformed(tree, {});
}

/** Collects nodes in any order, callers first; equal paths are one node. */
class Trie {
  /** @param {number} most nodes beside the whole */
  constructor(most) {
    this.count = 1;
    this.parent = new Int32Array(most + 1);
    this.frame = new Int32Array(most + 1);
    this.frame[0] = -1;
    this.self = new Float64Array(most + 1);
    this.rest = new Float64Array(most + 1);
    this.samples = new Float64Array(most + 1);
    /** Nodes by parent and frame, open addressing: a Map of numbers of this size is several times slower. */
    this.slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * most + 2)));
  }

  /** Returns the child of a node with this frame. @param {number} node @param {number} frame */
  child(node, frame) {
    const { slots, parent, frame: frames } = this;
    const last = slots.length - 1;
    const hash = Math.imul(node, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b);
    let slot = (hash ^ (hash >>> 15)) & last;
    for (let found = slots[slot]; found !== 0; found = slots[slot]) {
      if (parent[found] === node && frames[found] === frame) return found;
      slot = (slot + 1) & last;
    }
    const made = slots[slot] = this.count;
    this.count += 1;
    parent[made] = node;
    frames[made] = frame;
    return made;
  }

  /** Returns total times by node, and children as lists: the first by parent, and the next; 0: none. Sums samples. */
  summed() {
    const { count, parent, self, rest, samples } = this;
    const total = new Float64Array(count);
    const first = new Int32Array(count);
    const next = new Int32Array(count);
    const unsorted = new Set();
    for (let i = count - 1; i > 0; i -= 1) { // a child comes after its parent
      const above = parent[i];
      const following = first[above];
      total[i] += self[i] + rest[i];
      total[above] += total[i];
      samples[above] += samples[i];
      if (following !== 0 && total[following] > total[i]) unsorted.add(above);
      next[i] = following;
      first[above] = i;
    }
    total[0] += self[0] + rest[0];
    for (const node of unsorted) first[node] = sortedList(first[node], next, total);
    return { total, first, next };
  }

  /**
   * Returns the tree, and for each of its nodes the number that it had here.
   * @param {Frames} frames
   */
  tree(frames) {
    const { count, parent } = this;
    const { total, first, next } = this.summed();
    const origin = new Int32Array(count);
    const level = new Int32Array(count);
    for (let place = 1, i = 0, depth = 0; place < count; place += 1) {
      if (first[i] !== 0) {
        i = first[i];
        depth += 1;
      } else {
        for (; next[i] === 0; depth -= 1) i = parent[i];
        i = next[i];
      }
      origin[place] = i;
      level[place] = depth;
    }
    const at = (/** @type {Int32Array | Float64Array} */ column) => {
      const moved = new Float64Array(count);
      for (let i = 0; i < count; i += 1) moved[i] = column[origin[i]];
      return moved;
    };
    return {
      tree: grown(frames, { level, frame: at(this.frame), self: at(this.self), total: at(total), samples: at(this.samples) }),
      origin,
    };
  }
}

/**
 * Puts a list in order, by descending time; returns its new first one.
 * @param {number} first @param {Int32Array} next 0: none @param {Float64Array} total
 */
function sortedList(first, next, total) {
  const nodes = [];
  for (let i = first; i !== 0; i = next[i]) nodes.push(i);
  nodes.sort((a, b) => total[b] - total[a] || a - b);
  for (let i = 0; i < nodes.length; i += 1) next[nodes[i]] = i + 1 < nodes.length ? nodes[i + 1] : 0;
  return nodes[0];
}

/**
 * Returns the tree of stacks that are listed, callers first; equal stacks are one.
 * @param {Frames} frames
 * @param {ArrayLike<number>} parent by stack; the first one is the whole
 * @param {ArrayLike<number>} frame
 * @param {ArrayLike<number>} self
 * @returns {Tree}
 */
export function treeOfStacks(frames, parent, frame, self) {
  const trie = new Trie(parent.length);
  const made = new Int32Array(parent.length);
  for (let i = 0; i < parent.length; i += 1) {
    const node = made[i] = i === 0 ? 0 : trie.child(made[parent[i]], frame[i]);
    trie.self[node] += self[i];
    trie.samples[node] += Number(self[i] > 0);
  }
  return trie.tree(frames).tree;
}

/** Returns samples with exactly this stack, or one that is left out, by node. @param {Tree} tree */
function ownSamples({ count, parent, samples }) {
  const own = samples.slice();
  for (let i = 1; i < count; i += 1) own[parent[i]] -= samples[i];
  return own;
}

/** Returns the frame with the most time of each group. @param {Tree} tree */
function costliest({ count, frames, frame, group, groups, self }) {
  const sums = new Float64Array(frames.kind.length);
  for (let i = 1; i < count; i += 1) sums[frame[i]] += self[i];
  const place = new Int32Array(groups).fill(-1);
  for (let i = 0; i < sums.length; i += 1) if (place[group[i]] < 0 || sums[i] > sums[place[group[i]]]) place[group[i]] = i;
  return place;
}

/** @typedef {{ hide?: Set<number>, focus?: number, recursion?: boolean }} Transform groups to leave out and to look at */

/**
 * Returns the tree without hidden functions, whose time goes to their callers. With `focus`, returns only the subtrees
 * of that function; with `recursion`, merges a function that is already on the stack into its first call.
 * @param {Tree} tree
 * @param {Transform} transform
 */
export function transformed(tree, { hide = new Set(), focus = -1, recursion = false }) {
  const { count, frame: frames, group, level, parent, self, rest } = tree;
  const trie = new Trie(count);
  const own = ownSamples(tree);
  const made = new Int32Array(count).fill(-1);
  const place = costliest(tree);
  const isHidden = new Uint8Array(tree.groups);
  for (const each of hide) if (each >= 0) isHidden[each] = 1;
  /** How often a group is on the path to the node: most are not, and nobody needs to look for them. */
  const above = new Int32Array(tree.groups);
  const path = new Int32Array(count);
  if (focus < 0) made[0] = 0;
  for (let i = 0, depth = 0; i < count; i += 1) {
    if (i > 0) {
      const ours = group[frames[i]];
      const to = made[parent[i]];
      while (depth >= level[i]) above[path[depth -= 1]] -= 1;
      if (to < 0) made[i] = ours === focus ? trie.child(0, place[ours]) : -1;
      else if (isHidden[ours] === 1) made[i] = to;
      else made[i] = (recursion && above[ours] > 0 && onPath(trie, group, to, ours)) || trie.child(to, place[ours]);
      above[ours] += 1;
      path[depth] = ours;
      depth += 1;
    }
    const node = made[i];
    if (node < 0) continue;
    trie.self[node] += self[i];
    trie.rest[node] += rest[i];
    trie.samples[node] += own[i];
  }
  return trie.tree(tree.frames).tree;
}

/** Returns the node on the path to `node` with this group, or 0. @param {Trie} trie @param {Int32Array} group @param {number} node @param {number} wanted */
function onPath(trie, group, node, wanted) {
  let i = node;
  while (i > 0 && group[trie.frame[i]] !== wanted) i = trie.parent[i];
  return i;
}

/** An inverted tree leaves out nodes below this share of the whole. */
const leastShare = 1 / 20_000;

/** Nodes in order, depth first, whose number is not known before. */
class Rows {
  constructor() {
    this.count = 0;
    this.level = new Int32Array(1 << 14);
    this.frame = new Int32Array(1 << 14);
    this.self = new Float64Array(1 << 14);
    this.total = new Float64Array(1 << 14);
    this.samples = new Float64Array(1 << 14);
  }

  /** Adds a node; its own time is 0. @param {number} level @param {number} frame @param {number} total @param {number} samples */
  add(level, frame, total, samples) {
    const { count } = this;
    if (count === this.level.length) this.grow();
    this.level[count] = level;
    this.frame[count] = frame;
    this.total[count] = total;
    this.samples[count] = samples;
    this.count += 1;
  }

  grow() {
    for (const name of /** @type {const} */ (['level', 'frame'])) {
      const column = new Int32Array(2 * this.count);
      column.set(this[name]);
      this[name] = column;
    }
    for (const name of /** @type {const} */ (['self', 'total', 'samples'])) {
      const column = new Float64Array(2 * this.count);
      column.set(this[name]);
      this[name] = column;
    }
  }

  /** Returns the tree of these nodes. @param {Frames} frames */
  tree(frames) {
    const { count } = this;
    return grown(frames, {
      level: this.level.subarray(0, count), frame: this.frame.subarray(0, count), self: this.self.subarray(0, count),
      total: this.total.subarray(0, count), samples: this.samples.subarray(0, count),
    });
  }
}

/** Stacks on their way from the top to the first caller. They stand in lists; a list has those that went the same way so far. */
class Climbers {
  /** @param {Tree} tree @param {Int32Array} nodes where stacks begin @param {Float64Array} weight by node @param {Float64Array} own samples */
  constructor({ frame, frames, parent }, nodes, weight, own) {
    this.frame = frame;
    this.parent = parent;
    /** By stack. */
    this.at = nodes.slice();
    this.weight = new Float64Array(nodes.length);
    this.own = new Float64Array(nodes.length);
    this.next = new Int32Array(nodes.length);
    for (let k = 0; k < nodes.length; k += 1) {
      this.weight[k] = weight[nodes[k]];
      this.own[k] = own[nodes[k]];
      this.next[k] = k + 1 < nodes.length ? k + 1 : -1;
    }
    /** By frame: the list of stacks that go on there, and their sums. */
    this.first = new Int32Array(frames.kind.length).fill(-1);
    this.sums = new Float64Array(frames.kind.length);
    this.samples = new Float64Array(frames.kind.length);
    /** Time of stacks that ended in the last step. */
    this.ended = 0;
  }

  /** Takes each stack of a list one step further; returns the frames where they then are. @param {number} list */
  step(list) {
    const { at, first, frame, next, own, parent, samples, sums, weight } = this;
    const found = [];
    this.ended = 0;
    for (let k = list; k >= 0;) {
      const following = next[k];
      const to = frame[at[k]];
      if (to < 0) {
        this.ended += weight[k];
      } else {
        if (first[to] < 0) {
          found.push(to);
          sums[to] = samples[to] = 0;
        }
        sums[to] += weight[k];
        samples[to] += own[k];
        next[k] = first[to];
        first[to] = k;
        at[k] = parent[at[k]];
      }
      k = following;
    }
    return found;
  }

  /** Adds all callers of a stack that goes its way alone, and its end. @param {number} k @param {number} level @param {Rows} rows */
  climb(k, level, rows) {
    const { frame, parent, weight, own } = this;
    for (let i = this.at[k]; frame[i] >= 0; i = parent[i]) rows.add(level += 1, frame[i], weight[k], own[k]);
    rows.self[rows.count - 1] = weight[k];
  }
}

/**
 * Returns the inverted tree: the callers of `wanted`, or without it all functions by their own time. Leaves out nodes
 * that are too small to be seen.
 * @param {Tree} tree
 * @param {number} [wanted] a group
 */
export function inverted(tree, wanted = -1) {
  const own = wanted < 0 ? ownSamples(tree) : tree.samples;
  const weight = wanted < 0 ? tree.self : tree.total;
  const nodes = wanted < 0 ? nodesWithOwnTime(tree) : outermost(tree, wanted);
  const climbers = new Climbers(tree, nodes, weight, own);
  const rows = new Rows();
  const { sums, samples, first } = climbers;
  const [all, allSamples] = [climbers.weight, climbers.own].map((each) => each.reduce((sum, value) => sum + value, 0));
  const least = all * leastShare;
  const work = [{ list: nodes.length > 0 ? 0 : -1, level: 0, frame: -1, total: all + (wanted < 0 ? tree.left : 0), samples: allSamples }];
  for (let job = work.pop(); job; job = work.pop()) {
    const { list, level } = job;
    rows.add(level, job.frame, job.total, job.samples);
    if (level > 0 && climbers.next[list] < 0) {
      climbers.climb(list, level, rows);
      continue;
    }
    const found = climbers.step(list);
    rows.self[rows.count - 1] = climbers.ended;
    if (found.length > 1) found.sort((a, b) => sums[a] - sums[b]); // the costliest is done next
    for (const frame of found) {
      if (sums[frame] >= least) work.push({ list: first[frame], level: level + 1, frame, total: sums[frame], samples: samples[frame] });
      first[frame] = -1;
    }
  }
  const turned = rows.tree(tree.frames);
  return wanted < 0 ? { ...turned, own: turned.total.map((total, node) => (turned.level[node] === 1 ? total : 0)) } : turned;
}

/** @param {Tree} tree */
function nodesWithOwnTime({ count, self }) {
  const nodes = new Int32Array(count);
  let found = 0;
  for (let i = 1; i < count; i += 1) if (self[i] !== 0) nodes[found++] = i;
  return nodes.subarray(0, found);
}

/** Returns the nodes of a group that no other node of it stands below. @param {Tree} tree @param {number} wanted */
function outermost({ count, frame, group, end }, wanted) {
  const nodes = [];
  for (let i = 1; i < count; i += 1) {
    if (group[frame[i]] === wanted) {
      nodes.push(i);
      i = end[i] - 1;
    }
  }
  return Int32Array.from(nodes);
}

/** @typedef {{ group: number, frame: number, self: number, total: number, samples: number }} FunctionSum frame: its costliest place */

/**
 * Returns the cost of each function below a node; a sample counts once, however often the function is on its stack.
 * @param {Tree} tree
 * @param {number} [from]
 * @returns {FunctionSum[]} by descending own time
 */
export function functionsOf({ count, groups, group, frame, level, end, self, own = self, total, samples }, from = 0) {
  const self2 = new Float64Array(groups);
  const total2 = new Float64Array(groups);
  const samples2 = new Float64Array(groups);
  const best = new Int32Array(groups).fill(-1);
  const most = new Float64Array(groups).fill(-1);
  const calls = new Int32Array(groups);
  const path = new Int32Array(count);
  let depth = 0;
  const base = Math.max(1, level[from] ?? 0);
  for (let i = Math.max(1, from); i < Math.min(count, end[from] ?? 0); i += 1) {
    while (depth > level[i] - base) {
      depth -= 1;
      calls[path[depth]] -= 1;
    }
    const g = group[frame[i]];
    if (calls[g] === 0) {
      total2[g] += total[i];
      samples2[g] += samples[i];
    }
    self2[g] += own[i];
    if (total[i] > most[g]) { most[g] = total[i]; best[g] = frame[i]; }
    calls[g] += 1;
    path[depth] = g;
    depth += 1;
  }
  const found = [];
  for (let g = 0; g < groups; g += 1) {
    if (best[g] >= 0) found.push({ group: g, frame: best[g], self: self2[g], total: total2[g], samples: samples2[g] });
  }
  return found.sort((a, b) => b.self - a.self || b.total - a.total);
}

/**
 * Returns a test for a search: a part of a name or of a script's address, or /an expression/.
 * @param {string} text
 * @returns {((text: string) => boolean) | null} null: the expression cannot be read
 */
export function matcher(text) {
  const expression = /^\/(.+)\/(i?)$/.exec(text);
  if (expression) {
    try {
      const compiled = new RegExp(expression[1], `u${expression[2]}`);
      return (candidate) => compiled.test(candidate);
    } catch {
      return null;
    }
  }
  const wanted = text.toLowerCase();
  return (candidate) => candidate.toLowerCase().includes(wanted);
}

/**
 * Returns which frames match, where they are, and the time of stacks with one of them.
 * @param {Tree} tree
 * @param {(text: string) => boolean} matches
 */
export function search({ count, frames, frame, end, total }, matches) {
  const isFound = Uint8Array.from(frames.function, (name, i) => Number(matches(name) || matches(frames.resource[i] ?? '')));
  const nodes = [];
  let time = 0;
  let covered = 0;
  for (let i = 1; i < count; i += 1) {
    if (!isFound[frame[i]]) continue;
    nodes.push(i);
    if (i >= covered) {
      time += total[i];
      covered = end[i];
    }
  }
  return { isFound, nodes, time };
}

/**
 * Returns two trees as one, whose widths are the sum of both sides per page load.
 * @param {Tree} before
 * @param {number} beforeLoads
 * @param {Tree} after
 * @param {number} afterLoads
 * @returns {Tree}
 */
export function joined(before, beforeLoads, after, afterLoads) {
  /** @type {Map<string, number>} */
  const known = new Map();
  /** @type {Frames} */
  const frames = { function: [], resource: [], line: [], column_number: [], kind: [], function_key: [] };
  const most = before.count + after.count;
  const trie = new Trie(most);
  const sides = [new Float64Array(most + 1), new Float64Array(most + 1)];
  // The later side first: its places are the ones to open.
  for (const [side, tree, loads] of /** @type {const} */ ([[1, after, afterLoads], [0, before, beforeLoads]])) {
    const place = Int32Array.from(tree.frames.function_key, (key, i) => {
      const found = known.get(key);
      if (found !== undefined) return found;
      known.set(key, known.size);
      for (const name of /** @type {(keyof Columns)[]} */ (Object.keys(frames))) frames[name].push(/** @type {never} */ (tree.frames[name][i]));
      return known.size - 1;
    });
    const own = ownSamples(tree);
    const made = new Int32Array(tree.count);
    for (let i = 0; i < tree.count; i += 1) {
      const node = i === 0 ? 0 : trie.child(made[tree.parent[i]], place[tree.frame[i]]);
      made[i] = node;
      trie.self[node] += tree.self[i] / loads;
      trie.rest[node] += tree.rest[i] / loads;
      trie.samples[node] += own[i];
      sides[side][node] += tree.total[i] / loads;
    }
  }
  const { tree, origin } = trie.tree(frames);
  const of = (/** @type {Float64Array} */ side) => Float64Array.from(origin, (i) => side[i]);
  return { ...tree, before: of(sides[0]), after: of(sides[1]) };
}

/** Hashes of function_keys by frame, which transforms leave as they are. @type {WeakMap<Frames, { low: Int32Array, high: Int32Array }>} */
const hashed = new WeakMap();

/** @param {Frames} frames */
function hashesOf(frames) {
  const made = hashed.get(frames) ?? {
    low: Int32Array.from(frames.function_key, (key) => mixed(0x811c9dc5, key)), high: Int32Array.from(frames.function_key, (key) => mixed(0x1b873593, key)),
  };
  hashed.set(frames, made);
  return made;
}

/** @param {number} hash @param {string} text */
function mixed(hash, text) {
  let mix = hash | 0;
  for (let i = 0; i < text.length; i += 1) mix = Math.imul(mix ^ text.charCodeAt(i), 0x01000193);
  return mix ^ (mix >>> 15);
}

/**
 * Returns a name for each node, 16 hex digits from its path, so that a link also finds it in a newer tree.
 * @param {Tree} tree
 */
export function namesOf({ count, frames, frame, parent }) {
  const { low, high } = hashesOf(frames);
  const a = new Int32Array(count);
  const b = new Int32Array(count);
  for (let i = 1; i < count; i += 1) {
    a[i] = Math.imul(a[parent[i]] ^ low[frame[i]], 0x9e3779b1) + 0x7f4a7c15;
    b[i] = Math.imul(b[parent[i]] ^ high[frame[i]], 0x85ebca6b) + 0x165667b1;
    a[i] ^= a[i] >>> 13;
    b[i] ^= b[i] >>> 16;
  }
  const hex = (/** @type {number} */ value) => (value >>> 0).toString(16).padStart(8, '0');
  return {
    /** @param {number} node */
    of: (node) => hex(a[node]) + hex(b[node]),
    /** Returns the node, or -1. @param {string | undefined} name */
    find: (name) => {
      if (!name || !/^[0-9a-f]{16}$/.test(name)) return -1;
      const [first, second] = [parseInt(name.slice(0, 8), 16) | 0, parseInt(name.slice(8), 16) | 0];
      for (let i = 0; i < count; i += 1) if (a[i] === first && b[i] === second) return i;
      return -1;
    },
  };
}

/** Returns the node of the level below at this place, or -1. @param {Tree} tree @param {number} node @param {number} at as `start` */
export function childAt({ end, start, size }, node, at) {
  for (let i = node + 1; i < end[node]; i = end[i]) {
    if (at >= start[i] && at < start[i] + size[i]) return i;
  }
  return -1;
}

/** Returns the sibling before or after a node, or -1. @param {Tree} tree @param {number} node @param {number} step */
export function sibling({ parent, end }, node, step) {
  if (node <= 0) return -1;
  const above = parent[node];
  if (step > 0) return end[node] < end[above] ? end[node] : -1;
  let last = -1;
  for (let i = above + 1; i < node; i = end[i]) last = i;
  return last;
}

/** Returns the nodes from the whole to this one. @param {Pick<Tree, 'parent'>} tree @param {number} node */
export function pathTo({ parent }, node) {
  const path = [];
  for (let i = node; i >= 0; i = parent[i]) path.unshift(i);
  return path;
}
