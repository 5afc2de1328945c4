/**
 * Trees of stacks in columns, and what is done to them: transforms, sums, search. Nothing here knows a browser. All times
 * are microseconds; nodes are depth first, siblings by descending size.
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
 * @property {Float64Array} total
 * @property {Float64Array} samples
 * @property {Float64Array} start where the node begins: what stands to the left of it
 * @property {Float64Array} size its width: the total, or more where own times below are negative
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
  const level = Int32Array.from(levels);
  const parent = new Int32Array(count).fill(-1);
  const end = new Int32Array(count);
  const rest = Float64Array.from(total);
  const size = new Float64Array(count);
  const start = new Float64Array(count);
  const deepest = Int32Array.from(level);
  /** @type {number[]} */
  const path = [];
  for (let i = 0; i < count; i += 1) {
    if (level[i] > path.length || (i > 0 && level[i] < 1)) throw new Error('The tree is not in order.');
    while (path.length > level[i]) end[/** @type {number} */ (path.pop())] = i;
    if (i > 0) {
      parent[i] = path[path.length - 1];
      rest[parent[i]] -= total[i];
    }
    rest[i] -= self[i];
    path.push(i);
  }
  while (path.length > 0) end[/** @type {number} */ (path.pop())] = count;
  for (let i = count - 1; i >= 0; i -= 1) {
    size[i] = Math.max(size[i], total[i], 0);
    if (i > 0) {
      size[parent[i]] += size[i];
      deepest[parent[i]] = Math.max(deepest[parent[i]], deepest[i]);
    }
  }
  const filled = new Float64Array(count);
  for (let i = 1; i < count; i += 1) {
    start[i] = start[parent[i]] + filled[parent[i]];
    filled[parent[i]] += size[i];
  }
  return {
    count, frames, ...groupsOf(frames), frame: Int32Array.from(frame), level, parent, end, deepest, self: Float64Array.from(self),
    rest: rest.map((us) => Math.max(0, us)), total: Float64Array.from(total), samples: Float64Array.from(samples), start, size,
  };
}

/**
 * Returns the tree of an answer of flamegraph_columns. Places of one function_key, such as those of two releases, are one.
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

/** Collects nodes in any order, equal paths once. */
class Trie {
  constructor() {
    this.parent = [-1];
    this.frame = [-1];
    this.self = [0];
    this.rest = [0];
    this.samples = [0];
    /** Nodes by parent and frame, open addressing: a Map of numbers of this size is several times slower. */
    this.slots = new Int32Array(1 << 12);
  }

  /** Returns where a node with this parent and frame is, or a free place for it. @param {number} node @param {number} frame */
  slot(node, frame) {
    const { slots, parent, frame: frames } = this;
    const last = slots.length - 1;
    let hash = Math.imul(node, 0x9e3779b1) ^ Math.imul(frame, 0x85ebca6b);
    for (let i = (hash ^= hash >>> 15) & last; ; i = (i + 1) & last) {
      const found = slots[i];
      if (found === 0 || (parent[found] === node && frames[found] === frame)) return i;
    }
  }

  /** Returns the child of a node with this frame. @param {number} node @param {number} frame */
  child(node, frame) {
    const slot = this.slot(node, frame);
    if (this.slots[slot] !== 0) return this.slots[slot];
    const made = this.parent.length;
    this.slots[slot] = made;
    this.parent.push(node);
    this.frame.push(frame);
    this.self.push(0);
    this.rest.push(0);
    this.samples.push(0);
    if (made * 2 > this.slots.length) {
      this.slots = new Int32Array(this.slots.length * 4);
      for (let i = 1; i <= made; i += 1) this.slots[this.slot(this.parent[i], this.frame[i])] = i;
    }
    return made;
  }

  /**
   * Returns the tree, and for each of its nodes the number that it had here.
   * @param {Frames} frames
   */
  tree(frames) {
    const count = this.parent.length;
    const total = Float64Array.from(this.self, (self, i) => self + this.rest[i]);
    const samples = Float64Array.from(this.samples);
    for (let i = count - 1; i > 0; i -= 1) { // a child comes after its parent
      total[this.parent[i]] += total[i];
      samples[this.parent[i]] += samples[i];
    }
    const first = new Int32Array(count).fill(-1);
    const next = new Int32Array(count).fill(-1);
    for (let i = count - 1; i > 0; i -= 1) {
      next[i] = first[this.parent[i]];
      first[this.parent[i]] = i;
    }
    for (let i = 0; i < count; i += 1) {
      if (first[i] < 0 || next[first[i]] < 0) continue; // most have one child
      const children = [];
      for (let child = first[i]; child >= 0; child = next[child]) children.push(child);
      children.sort((a, b) => total[b] - total[a] || a - b);
      first[i] = children[0];
      for (const [place, child] of children.entries()) next[child] = children[place + 1] ?? -1;
    }
    const origin = new Int32Array(count);
    const level = new Int32Array(count);
    let place = 0;
    for (let i = 0, depth = 0; i >= 0;) {
      origin[place] = i;
      level[place] = depth;
      place += 1;
      if (first[i] >= 0) { i = first[i]; depth += 1; continue; }
      while (i >= 0 && next[i] < 0) { i = this.parent[i]; depth -= 1; }
      if (i >= 0) i = next[i];
    }
    const at = (/** @type {ArrayLike<number>} */ column) => {
      const moved = new Float64Array(count);
      for (let i = 0; i < count; i += 1) moved[i] = column[origin[i]];
      return moved;
    };
    return {
      tree: grown(frames, { level, frame: at(this.frame), self: at(this.self), total: at(total), samples: at(samples) }),
      origin,
    };
  }
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
  const trie = new Trie();
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
  const own = Float64Array.from(samples);
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
 * Returns the tree without hidden functions, whose time goes to their callers; with `focus`, only what that function
 * calls; with `recursion`, a function that is on the stack already goes on where it began.
 * @param {Tree} tree
 * @param {Transform} transform
 */
export function transformed(tree, { hide = new Set(), focus = -1, recursion = false }) {
  const trie = new Trie();
  const own = ownSamples(tree);
  const made = new Int32Array(tree.count).fill(-1);
  const { group } = tree;
  const place = costliest(tree);
  /** How often a group is on the path to the node: most are not, and nobody needs to look for them. */
  const above = new Uint32Array(tree.groups);
  /** @type {number[]} */
  const path = [];
  if (focus < 0) made[0] = 0;
  for (let i = 0; i < tree.count; i += 1) {
    if (i > 0) {
      const frame = place[group[tree.frame[i]]];
      const parent = made[tree.parent[i]];
      while (path.length >= tree.level[i]) above[/** @type {number} */ (path.pop())] -= 1;
      const isAbove = above[group[frame]] > 0;
      above[group[frame]] += 1;
      path.push(group[frame]);
      if (parent < 0) made[i] = group[frame] === focus ? trie.child(0, frame) : -1;
      else if (hide.has(group[frame])) made[i] = parent;
      else made[i] = (recursion && isAbove && onPath(trie, group, parent, group[frame])) || trie.child(parent, frame);
    }
    const node = made[i];
    if (node < 0) continue;
    trie.self[node] += tree.self[i];
    trie.rest[node] += tree.rest[i];
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

/** Of an inverted tree, what is less than this share of it is left out. */
const leastShare = 1 / 20_000;

/**
 * Returns the tree upside down: who calls `wanted`, or without it the functions by their own time. What is too small to be
 * seen is left out.
 * @param {Tree} tree
 * @param {number} [wanted] a group
 */
export function inverted(tree, wanted = -1) {
  const own = wanted < 0 ? ownSamples(tree) : tree.samples;
  const weight = wanted < 0 ? tree.self : tree.total;
  const nodes = wanted < 0 ? nodesWithOwnTime(tree) : outermost(tree, wanted);
  const trie = new Trie();
  let sum = 0;
  for (const i of nodes) sum += weight[i];
  if (wanted < 0) trie.rest[0] += tree.rest.reduce((all, us) => all + us, 0);
  const least = sum * leastShare;
  /** Where stacks begin, and how far each has gone to its callers; a job is a range of them. */
  const starts = Int32Array.from(nodes);
  const at = Int32Array.from(nodes);
  const [startsNext, atNext] = [new Int32Array(nodes.length), new Int32Array(nodes.length)];
  /** By frame, of the job: time, how many, and where the next one goes; -1: too little time. */
  const sums = new Float64Array(tree.frames.kind.length);
  const counts = new Int32Array(sums.length);
  const places = new Int32Array(sums.length);
  const work = [{ node: 0, from: 0, to: nodes.length }];
  for (let job = work.pop(); job; job = work.pop()) {
    const { node, from, to } = job;
    const found = [];
    for (let k = from; k < to; k += 1) {
      const frame = tree.frame[at[k]];
      if (frame < 0) continue;
      if (counts[frame] === 0) found.push(frame);
      counts[frame] += 1;
      sums[frame] += weight[starts[k]];
    }
    let free = from;
    for (const frame of found) {
      if (sums[frame] < least) {
        trie.rest[node] += sums[frame];
        places[frame] = -1;
      } else {
        places[frame] = free;
        work.push({ node: trie.child(node, frame), from: free, to: free + counts[frame] });
        free += counts[frame];
      }
      counts[frame] = sums[frame] = 0;
    }
    for (let k = from; k < to; k += 1) {
      const start = starts[k];
      const frame = tree.frame[at[k]];
      if (frame < 0) {
        trie.self[node] += weight[start];
        trie.samples[node] += own[start];
      } else if (places[frame] < 0) {
        trie.samples[node] += own[start];
      } else {
        startsNext[places[frame]] = start;
        atNext[places[frame]] = tree.parent[at[k]];
        places[frame] += 1;
      }
    }
    starts.set(startsNext.subarray(from, free), from);
    at.set(atNext.subarray(from, free), from);
  }
  return trie.tree(tree.frames).tree;
}

/** @param {Tree} tree */
function nodesWithOwnTime({ count, self }) {
  const nodes = [];
  for (let i = 1; i < count; i += 1) if (self[i] !== 0) nodes.push(i);
  return nodes;
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
  return nodes;
}

/** @typedef {{ group: number, frame: number, self: number, total: number, samples: number }} FunctionSum frame: its costliest place */

/**
 * Returns what each function costs below a node; a sample counts once, however often the function is on its stack.
 * @param {Tree} tree
 * @param {number} [from]
 * @returns {FunctionSum[]} by descending own time
 */
export function functionsOf({ count, groups, group, frame, level, end, self, total, samples }, from = 0) {
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
    self2[g] += self[i];
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
  const trie = new Trie();
  /** @type {[number[], number[]]} */
  const sides = [[], []];
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
      sides[side][node] = (sides[side][node] ?? 0) + tree.total[i] / loads;
    }
  }
  const { tree, origin } = trie.tree(frames);
  const of = (/** @type {number[]} */ side) => Float64Array.from(origin, (i) => side[i] ?? 0);
  return { ...tree, before: of(sides[0]), after: of(sides[1]) };
}

/** @param {number} hash @param {string} text */
function mixed(hash, text) {
  let mix = hash | 0;
  for (let i = 0; i < text.length; i += 1) mix = Math.imul(mix ^ text.charCodeAt(i), 0x01000193);
  return mix ^ (mix >>> 15);
}

/**
 * Returns a name for each node that says how it is reached, so that a link finds it in a newer tree, too: 16 hex digits.
 * @param {Tree} tree
 */
export function namesOf({ count, frames, frame, parent }) {
  const low = frames.function_key.map((key) => mixed(0x811c9dc5, key));
  const high = frames.function_key.map((key) => mixed(0x1b873593, key));
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
