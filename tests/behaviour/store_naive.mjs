// SPDX-License-Identifier: Apache-2.0
/**
 * A naive store: keeps every upload as it was described and answers each question of SQL by reading all of them. It
 * knows nothing of segments, cohorts, blocks or packed rows, and shares no code with SQL's functions; docs/numbers.md
 * and docs/sql.md are its rules.
 */
import { vitals as allVitals } from '../../tools/vitals.mjs';

/**
 * A delta as writer_tool describes it.
 * @typedef {object} Description
 * @property {string} id
 * @property {string} load
 * @property {number} part
 * @property {Record<string, string> & { rate_ppm: number }} segment
 * @property {string} format
 * @property {string} coverage
 * @property {boolean} truncated
 * @property {number} major_version
 * @property {string} agent
 * @property {number} body_bytes
 * @property {number} skipped_entries
 * @property {number} records_read
 * @property {number} records_refused
 * @property {[string, number][]} refusals reason, records
 * @property {number} samples
 * @property {number} unattributed_samples
 * @property {number} profiled_us
 * @property {number} unattributed_us
 * @property {number} unseen_us
 * @property {[string, number, number, number, string, string, number, number, string][]} frames id, samples, self_us,
 *   total_us, function, resource, line, column, kind
 * @property {[string, number, number][]} stacks id, index of the parent or -1, index of the frame
 * @property {[number, string, number, number][]} stack_samples index of the stack, marker, samples, self_us
 * @property {[string, number, number, string, string, number, number, number, [number, number][], string][]} timings id, count,
 *   sum_us, name, kind, negative, min_us, max_us, bins, kind of navigation
 * @property {[string, number, number, number, number, number, [number, string, number, number, number][], number,
 *   number][]} measured timing's id, samples, profiled_us, unattributed_us, rows, unattributed samples, by frame and
 *   marker: index of the frame, marker, samples, self_us, total_us; and window_us, page loads
 *
 * @property {[string, string, string, number][]} left_out timing's id, what, source (the name of marks or measures), how many
 * @property {[string, string, number, string, string, string, string, [string, number][], string][]} vitals id, name, value_us, ids of the timings for
 *   values, good and poor ones and so on, kind of navigation
 *
 * @typedef {object} Upload a description that counts
 * @property {Description} delta
 * @property {number} receivedUs
 * @property {number} bucketUs
 * @property {number} loads 1 if its page load counts here
 * @property {Frame[]} frames
 * @property {Entry[]} entries
 * @property {Set<string>} leftOut of what its page load left out, what was not said before
 * @property {Map<string, { name: string, us: number, navigation: string }>} vitals those of its values that are the last of theirs
 *
 * @typedef {{ function: string, resource: string | null, line: number | null, column_number: number | null,
 *   kind: string, name: string }} Frame as it is shown, and its name as it is stored
 * @typedef {{ id: string, frame: Frame, above: Node | undefined, level: number }} Node of a site's stacks
 * @typedef {{ marker: string, samples: number, us: number, stack: Node, path: Node[], frames: Set<Frame> }} Entry
 *   samples of one stack and marker
 *
 * @typedef {object} Filters null filters nothing; times are microseconds since 1970
 * @property {string} site
 * @property {number | null} since
 * @property {number | null} until
 * @property {string | null} marker
 * @property {Record<string, string | null>} dimensions exclude_NAME is the filter of what is left out
 *
 * @typedef {Record<string, any>} Row
 */

export const hourUs = 3_600_000_000;
export const dayUs = 24 * hourUs;
export const markerNames = ['(none)', 'script', 'gc', 'style', 'layout', 'paint', 'other'];

export class NaiveStore {
  /** @type {Upload[]} in the order in which they were counted */
  uploads = [];
  /** Hours before this exist only as parts of days. */
  hoursFromUs = -Infinity;
  #ids = new Set();
  #loads = new Set();
  #leftOut = new Set();
  /** Where the last value of a vital is. @type {Map<string, { part: number, us: number, upload: Upload }>} */
  #lastVitals = new Map();

  /**
   * Counts an upload, unless it was counted before.
   * @param {Description} delta
   * @param {number} receivedUs
   */
  add(delta, receivedUs) {
    const { site } = delta.segment;
    if (this.#ids.has(`${site} ${delta.id}`)) return;
    this.#ids.add(`${site} ${delta.id}`);
    const isFirst = delta.load === '' || !this.#loads.has(`${site} ${delta.load}`);
    this.#loads.add(`${site} ${delta.load}`);
    const frames = delta.frames.map(shownFrame);
    const upload = {
      delta, receivedUs, frames,
      bucketUs: Math.floor(receivedUs / hourUs) * hourUs,
      loads: isFirst ? 1 : 0,
      entries: entriesOf(delta, frames),
      leftOut: new Set(delta.left_out.filter(([, what, source]) => source === '' && this.#isNewlyLeftOut(delta, what)).map(([, what]) => what)),
      vitals: new Map(),
    };
    this.uploads.push(upload);
    for (const vital of delta.vitals) this.#addVital(upload, vital);
  }

  /** @param {Description} delta @param {string} what */
  #isNewlyLeftOut({ segment: { site }, load }, what) {
    const key = `${site} ${load} ${what}`;
    const isNew = load === '' || !this.#leftOut.has(key);
    this.#leftOut.add(key);
    return isNew;
  }

  /** @param {Upload} upload @param {Description['vitals'][number]} vital */
  #addVital(upload, [id, name, us, , , , , , navigation]) {
    const { part } = upload.delta;
    const last = this.#lastVitals.get(id);
    if (last && last.part > part) return;
    if (last?.us === us) {
      last.part = part;
      return;
    }
    last?.upload.vitals.delete(id);
    upload.vitals.set(id, { name, us, navigation });
    this.#lastVitals.set(id, { part, us, upload });
  }

  /** @param {Filters} filters @returns {Upload[]} */
  select({ dimensions, ...filters }) {
    // Functions are about top pages unless asked, and take '' for these; views are about all.
    const wanted = Object.entries({ frame: 'top', ...dimensions })
      .map(([name, filter]) => [name, filter === '' && /^(exclude_)?frame$/.test(name) ? 'top' : filter]);
    return this.selectAll({ ...filters, dimensions: Object.fromEntries(wanted) }, hasValues);
  }

  /**
   * @param {Filters} filters
   * @param {typeof matches} [selectsCustom] how a filter selects custom dimensions: views match the text as a whole
   * @param {number} [hoursFromUs] before this, an interval is widened to whole days
   * @returns {Upload[]}
   */
  selectAll({ site, since, until, dimensions: wanted }, selectsCustom = matches, hoursFromUs = this.hoursFromUs) {
    return this.uploads.filter(({ delta: { segment }, bucketUs }) => matches(site, segment.site)
      && Object.entries(wanted).every(([name, filter]) => {
        const dimension = name.replace(excluding, '');
        const selects = dimension === 'custom' ? selectsCustom : matches;
        return selects(filter, segment[dimension]) !== name.startsWith(excluding);
      })
      && overlaps(bucketUs, bucketUs < hoursFromUs ? dayUs : hourUs, since ?? -Infinity, until ?? Infinity));
  }
}

/** @param {number} bucketUs @param {number} length @param {number} since @param {number} until */
function overlaps(bucketUs, length, since, until) {
  const begin = Math.floor(bucketUs / length) * length;
  return since < until && begin + length > since && begin < until;
}

/** @param {Description['frames'][number]} frame @returns {Frame} */
function shownFrame([, , , , name, resource, line, column, kind]) {
  return {
    name,
    function: name === '' ? '(anonymous)' : name,
    resource: resource || null,
    line: line < 0 ? null : line,
    column_number: column < 0 ? null : column,
    kind,
  };
}

/** @param {Description} delta @param {Frame[]} frames @returns {Entry[]} */
function entriesOf({ stacks, stack_samples: samples }, frames) {
  /** @type {Node[]} */
  const nodes = [];
  for (const [id, parent, frame] of stacks) {
    const above = nodes[parent];
    nodes.push({ id, frame: frames[frame], above, level: above ? above.level + 1 : 1 });
  }
  return samples.map(([stack, marker, count, us]) => {
    const path = [];
    for (let node = /** @type {Node | undefined} */ (nodes[stack]); node; node = node.above) path.unshift(node);
    return { marker, samples: count, us, stack: nodes[stack], path, frames: new Set(path.map(({ frame }) => frame)) };
  });
}

export const excluding = 'exclude_';

/** @param {string | null} filter @param {string} value */
function matches(filter, value) {
  if (filter === null) return true;
  const literal = (/** @type {string} */ part) => part.replace(/[^a-z0-9]/gi, '\\$&');
  // \% is a percent sign.
  const parts = filter.split(/(\\%|%)/).map((part) => (part === '%' ? '.*' : literal(part === '\\%' ? '%' : part)));
  return new RegExp(`^${parts.join('')}$`, 's').test(value);
}

/** True if all custom dimensions that the filter names are among the values. @param {string | null} filter @param {string} values */
function hasValues(filter, values) {
  if (filter === null || filter === '%' || filter === values) return true;
  return filter !== '' && filter.split(';').every((wanted) => values.split('; ').some((value) => matches(wanted.trim(), value)));
}

/** @param {string | null} filter */
const markersOf = (filter) => new Set(markerNames.filter((name) => matches(filter === '' ? '(none)' : filter, name)));

/** @template T @param {Iterable<T>} items @param {(item: T) => number} number */
function sum(items, number) {
  let total = 0;
  for (const item of items) total += number(item);
  return total;
}

/** Null where there is nothing to divide by. @param {number} part @param {number} whole */
const per = (part, whole) => (whole === 0 ? null : part / whole);

/** Compares texts and numbers; what is absent comes last. @param {any} a @param {any} b */
const ascending = (a, b) => (a === b ? 0 : a === null ? 1 : b === null ? -1 : a < b ? -1 : 1);

/** @param {Frame} a @param {Frame} b */
const asShown = (a, b) => ascending(a.function, b.function) || ascending(a.resource, b.resource)
  || ascending(a.line, b.line) || ascending(a.column_number, b.column_number);

/** @param {string | null} resource */
const isAgent = (resource) => resource?.endsWith('/fleetprof.js') ?? false;

/**
 * The sums that shares and means divide by. Weights are those of estimates.
 * @param {Upload[]} uploads @param {(upload: Upload) => number} [weight]
 */
function wholeOf(uploads, weight = () => 1) {
  const whole = (/** @type {(upload: Upload) => number} */ number) => sum(uploads, (one) => weight(one) * number(one));
  return {
    profiled: whole(({ delta }) => delta.profiled_us),
    attributed: whole(({ delta }) => delta.profiled_us - delta.unattributed_us),
    loads: whole(({ loads }) => loads),
    unseen: whole(({ delta }) => delta.unseen_us),
  };
}

/**
 * @typedef {{ frame: Frame, self: number, total: number, samples: number, uploads: number, weighted: number }} FrameSum
 * @typedef {{ profiled: number, attributed: number, loads: number }} Whole
 */

/** Sums by frames that are shown alike. */
class FrameSums {
  /** @type {Map<string, FrameSum>} */
  sums = new Map();

  /** @param {Frame} frame */
  of(frame) {
    const key = JSON.stringify(frame);
    const found = this.sums.get(key) ?? { frame, self: 0, total: 0, samples: 0, uploads: 0, weighted: 0 };
    this.sums.set(key, found);
    return found;
  }

  /** @param {Whole} whole @returns {Row[]} with the most self time first */
  rows(whole) {
    return [...this.sums.values()]
      .sort((a, b) => b.self - a.self || asShown(a.frame, b.frame))
      .map(({ frame: { name, ...frame }, self, total, samples, uploads, weighted }) => ({
        ...frame,
        self_ms: self / 1000,
        total_ms: total / 1000,
        self_share: per(self, whole.profiled),
        total_share: per(total, whole.profiled),
        samples,
        uploads,
        self_ms_per_load: per(self / 1000, whole.loads),
        total_ms_per_load: per(total / 1000, whole.loads),
        load_share: per(Math.min(weighted, whole.loads), whole.loads),
        busy_share: per(self, whole.attributed),
        is_agent: isAgent(frame.resource),
      }));
  }
}

/**
 * An upload counts once per frame or, with some of the markers, once per frame and marker.
 * @param {FrameSums} sums @param {Upload} upload @param {Set<string>} markers @param {number} weight
 */
function addFrames(sums, { entries }, markers, weight) {
  const seen = new Set();
  const every = markers.size === markerNames.length;
  for (const entry of entries.filter(({ marker }) => markers.has(marker))) {
    for (const frame of entry.frames) {
      const found = sums.of(frame);
      const key = `${every ? '' : entry.marker} ${JSON.stringify(frame)}`;
      if (frame === entry.stack.frame) found.self += weight * entry.us;
      found.total += weight * entry.us;
      found.samples += entry.samples;
      if (!seen.has(key)) {
        found.uploads++;
        found.weighted += weight;
      }
      seen.add(key);
    }
  }
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function hotspots(store, filters) {
  const uploads = store.select(filters);
  const sums = new FrameSums();
  for (const upload of uploads) addFrames(sums, upload, markersOf(filters.marker), 1);
  const whole = wholeOf(uploads);
  return sums.rows(whole).map((row) => ({ ...row, seen_share: seenShare(whole), owner: null }));
}

/** @param {Upload} upload */
const rateOf = ({ delta }) => delta.segment.rate_ppm;

/** A profile that ends early is one: its page load is among those with a profile. */
const endsEarly = 'overload';

/** How many page loads have a profile, how many say why they have none, and how often each reason comes. @param {Upload[]} uploads */
function pageLoads(uploads) {
  /** @type {Map<string, number>} */
  const reasons = new Map();
  for (const [, count, , name, kind] of uploads.flatMap(({ delta }) => delta.timings)) {
    if (kind === 'coverage') reasons.set(name, (reasons.get(name) ?? 0) + count);
  }
  const explained = sum([...reasons].filter(([name]) => name !== endsEarly), ([, count]) => count);
  return { profiled: sum(uploads, ({ loads }) => loads), explained, reasons };
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function coverage(store, filters) {
  const uploads = store.select(filters);
  if (uploads.length === 0) return [];
  const rated = uploads.filter((upload) => rateOf(upload) > 0);
  const { profiled, explained, reasons } = pageLoads(uploads);
  const { profiled: delivered, explained: missing } = pageLoads(rated);
  const count = (/** @type {string} */ reason) => (explained > 0 ? reasons.get(reason) ?? 0 : null);
  const estimated = sum([...grouped(rated, rateOf)], ([rate, group]) => {
    const loads = pageLoads(group);
    return (loads.profiled + loads.explained) * 1e6 / rate;
  });
  return [{
    loads: profiled + explained, profiled,
    no_policy: count('no-policy'), unsupported: count('unsupported'), quota: count('quota'), disabled: count('disabled'),
    not_sampled: reasons.get('not-sampled') ?? null, overload: reasons.get(endsEarly) ?? null,
    sampled: delivered + missing || null, delivered: delivered + missing > 0 ? delivered : null, estimated_loads: estimated || null,
    seen_share: seenShare(wholeOf(uploads)),
  }];
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function estimatedHotspots(store, filters) {
  const uploads = store.select(filters);
  const rated = uploads.filter(({ delta }) => delta.segment.rate_ppm > 0);
  const loads = new Map([...grouped(rated, rateOf)].map(([rate, group]) => [rate, pageLoads(group)]));
  const weight = (/** @type {Upload} */ upload) => {
    const { profiled, explained } = loads.get(rateOf(upload)) ?? pageLoads([]);
    return (1e6 / rateOf(upload)) * (profiled > 0 ? (profiled + explained) / profiled : 1);
  };
  const { profiled, explained } = pageLoads(rated);
  const sums = new FrameSums();
  for (const upload of rated) addFrames(sums, upload, markersOf(filters.marker), weight(upload));
  return sums.rows(wholeOf(rated, weight))
    .map((row) => ({
      ...row, rated_uploads: rated.length, unrated_uploads: uploads.length - rated.length,
      delivered_share: per(profiled, profiled + explained),
    }));
}

/** @param {NaiveStore} store @param {Filters} filters @param {string} name @returns {Row[]} */
export function measureHotspots(store, filters, name) {
  const markers = markersOf(filters.marker);
  const every = markers.size === markerNames.length;
  const sums = new FrameSums();
  const whole = { profiled: 0, attributed: 0, loads: 0, windows: 0 };
  for (const { delta, frames } of store.select(filters)) {
    for (const [timing, , profiled, unattributed, , , rows, length, loads] of delta.measured) {
      const found = delta.timings.find(([id]) => id === timing);
      if (found?.[3] !== name || found[9] === 'soft') continue;
      whole.profiled += profiled;
      whole.attributed += profiled - unattributed;
      whole.loads += loads;
      whole.windows += length;
      const seen = new Set();
      for (const [frame, , samples, self, total] of rows.filter((row) => markers.has(row[1]))) {
        const found = sums.of(frames[frame]);
        found.self += self;
        found.total += total;
        found.samples += samples;
        const isNew = !every || !seen.has(frame);
        found.uploads += isNew ? 1 : 0;
        found.weighted = found.uploads;
        seen.add(frame);
      }
    }
  }
  // Below zero where only a part is counted that saw what another one had not.
  const seen_share = seenShare({ profiled: whole.profiled, unseen: Math.max(0, whole.windows - whole.profiled) });
  return sums.rows(whole).map((row) => ({ ...row, seen_share, owner: null }));
}

/** @param {{ profiled: number, unseen: number }} whole */
const seenShare = ({ profiled, unseen }) => per(profiled, profiled === 0 ? 0 : profiled + unseen);

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function markers(store, filters) {
  const uploads = store.select(filters);
  const { profiled, unseen } = wholeOf(uploads);
  const wanted = markersOf(filters.marker);
  const entries = uploads.flatMap((upload) => upload.entries).filter(({ marker }) => wanted.has(marker));
  const parts = entries.map(({ marker, samples, us }) => ({ marker, samples, us }));
  if (filters.marker === null) {
    parts.push(...uploads.map(({ delta }) => (
      { marker: '(unattributed)', samples: delta.unattributed_samples, us: delta.unattributed_us })));
  }
  return [...grouped(parts, ({ marker }) => marker)]
    .map(([marker, group]) => ({ marker, samples: sum(group, (one) => one.samples), us: sum(group, (one) => one.us) }))
    .filter(({ samples, us }) => samples > 0 || us !== 0)
    .sort((a, b) => b.us - a.us || ascending(a.marker, b.marker))
    .map(({ marker, samples, us }) => ({ marker, samples, self_ms: us / 1000, share: per(us, profiled) }))
    .concat(filters.marker === null && unseen > 0
      ? [{ marker: '(unseen)', samples: 0, self_ms: unseen / 1000, share: null }] : []);
}

/** @template T @template K @param {T[]} items @param {(item: T) => K} key @returns {Map<K, T[]>} */
function grouped(items, key) {
  /** @type {Map<K, T[]>} */
  const groups = new Map();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group) group.push(item);
    else groups.set(key(item), [item]);
  }
  return groups;
}

/** Middle of a log-linear bin: 64 bins of one microsecond, then 32 per octave. @param {number} bin */
function binMiddle(bin) {
  if (bin < 64) return bin;
  const width = 2 ** (Math.floor((bin - 64) / 32) + 1);
  const lowest = (32 + (bin - 64) % 32) * width;
  return (lowest + lowest + width - 1) / 2;
}

/** @param {Upload} upload */
const userTiming = ({ delta }) => delta.timings.filter(([, , , , kind]) => kind === 'mark' || kind === 'measure');

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function timings(store, filters) {
  const uploads = store.select(filters);
  const every = uploads.flatMap(userTiming);
  const missing = uploads.flatMap(({ delta }) => delta.left_out);
  return [...grouped(every, ([, , , name, kind]) => JSON.stringify([name, kind]))].map(([key, group]) => {
    const [name, kind] = JSON.parse(key);
    const count = sum(group, (timing) => timing[1]);
    const least = Math.min(...group.map((timing) => timing[6]));
    const greatest = Math.max(...group.map((timing) => timing[7]));
    const values = group.flatMap((timing) => timing[8])
      .flatMap(([bin, times]) => Array.from({ length: times }, () => binMiddle(bin)))
      .map((value) => Math.min(Math.max(value, least), greatest))
      .sort((a, b) => a - b);
    const quantile = (/** @type {number} */ share) =>
      (values.length === 0 ? null : values[Math.max(Math.ceil(share * values.length - 1e-9), 1) - 1] / 1000);
    return {
      name, kind, count,
      p50_ms: quantile(0.5), p75_ms: quantile(0.75), p95_ms: quantile(0.95), p99_ms: quantile(0.99),
      min_ms: least / 1000, max_ms: greatest / 1000,
      mean_ms: sum(group, (timing) => timing[2]) / count / 1000,
      left_out: sum(missing.filter(([, what, source]) => what === kind && source === name), ([, , , number]) => number),
    };
  }).sort((a, b) => ascending(a.name, b.name) || ascending(a.kind, b.kind));
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function leftOut(store, filters) {
  const uploads = store.select(filters);
  const every = uploads.flatMap((upload) => upload.delta.left_out.filter(([, , source]) => source === '')
    .map(([, what, , number]) => ({ what, number, loads: upload.leftOut.has(what) ? 1 : 0 })));
  const rows = [...grouped(every, ({ what }) => what)]
    .map(([what, group]) => ({ what, loads: sum(group, ({ loads }) => loads), count: sum(group, ({ number }) => number) || null }));
  const most = Math.max(...rows.map(({ loads }) => loads));
  const { profiled, explained } = pageLoads(uploads);
  const all = Math.max(most, profiled + explained);
  return rows.map((row) => (row.what === '(any)' ? { ...row, loads: most } : row))
    .map((row) => ({ ...row, all_loads: all, share: per(row.loads, all) }))
    .sort((a, b) => Number(a.what !== '(any)') - Number(b.what !== '(any)') || b.loads - a.loads || ascending(a.what, b.what));
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function vitals(store, filters) {
  const every = store.select(filters).flatMap((upload) => [...upload.vitals.values()]).filter(({ navigation }) => navigation !== 'soft');
  return allVitals.flatMap(({ name, unit, good, poor }) => {
    const values = every.filter((one) => one.name === name).map(({ us }) => us).sort((a, b) => a - b);
    if (values.length === 0) return [];
    const quantile = (/** @type {number} */ share) => values[Math.ceil(share * values.length - 1e-9) - 1] / 1000;
    const share = (/** @type {(us: number) => boolean} */ has) => values.filter(has).length / values.length;
    const [rank, error] = [0.75 * values.length, 1.96 * Math.sqrt(0.1875 * values.length)];
    const ofRank = (/** @type {number} */ place) => (place > values.length ? null : values[Math.max(1, place) - 1] / 1000);
    return [{
      name, unit, count: values.length,
      p50: quantile(0.5), p75: quantile(0.75), p95: quantile(0.95),
      p75_low: ofRank(Math.floor(rank - error)), p75_high: ofRank(Math.ceil(rank + error) + 1),
      good_share: share((us) => us <= 1000 * good), poor_share: share((us) => us > 1000 * poor),
    }];
  });
}

/**
 * @typedef {{ path: string, frame: Frame, level: number, above: string, self: number, total: number, samples: number }} Sum of a
 *   stack: its path are the frames as they are shown, whatever their ids
 */

/** Every stack with samples and all below it. @param {Upload[]} uploads @param {string | null} marker */
function stackSums(uploads, marker) {
  const wanted = markersOf(marker);
  /** @type {Map<string, Sum>} */
  const sums = new Map();
  for (const entry of uploads.flatMap(({ entries }) => entries)) {
    if (!wanted.has(entry.marker)) continue;
    let path = '';
    for (const { id, frame, level } of entry.path) {
      const above = path;
      path += `${JSON.stringify(frame)}\n`;
      const found = sums.get(path) ?? { path, frame, level, above, self: 0, total: 0, samples: 0 };
      sums.set(path, found);
      if (id === entry.stack.id) found.self += entry.us;
      found.total += entry.us;
      found.samples += entry.samples;
    }
  }
  return sums;
}

/** @param {NaiveStore} store @param {Filters} filters @param {number} minShare @returns {Row[]} */
export function flamegraph(store, filters, minShare) {
  const uploads = store.select(filters);
  const whole = wholeOf(uploads);
  const sums = [...stackSums(uploads, filters.marker).values()];
  const roots = sums.filter(({ level }) => level === 1);
  if (roots.length === 0) return [];
  const isKept = (/** @type {Sum} */ { total }) =>
    minShare === 0 || (whole.profiled !== 0 && total >= minShare * whole.profiled);
  const all = { function: '(all)', resource: null, line: null, column_number: null };
  /** @type {Row[]} */
  const rows = [];
  const put = (/** @type {any} */ { frame: { name, kind, ...frame }, level, self, total, samples }) => rows.push({
    ordinal: rows.length + 1, level, ...frame,
    self_ms: self / 1000, total_ms: total / 1000, samples,
    self_ms_per_load: per(self / 1000, whole.loads), total_ms_per_load: per(total / 1000, whole.loads),
    busy_share: per(self, whole.attributed), is_agent: isAgent(frame.resource),
  });
  const children = grouped(sums.filter(isKept), ({ above }) => above);
  const walk = (/** @type {string} */ path) => {
    const inside = (children.get(path) ?? []).sort((a, b) => b.total - a.total || asShown(a.frame, b.frame));
    for (const node of inside) {
      put(node);
      walk(node.path);
    }
  };
  put({ frame: all, level: 0, self: 0, total: sum(roots, ({ total }) => total), samples: sum(roots, (one) => one.samples) });
  walk('');
  return rows;
}

/**
 * The greatest nodes, each with all below it.
 * @param {NaiveStore} store @param {Filters} filters @param {number} maxNodes @returns {Row[]}
 */
export function flamegraphColumns(store, filters, maxNodes) {
  const rows = flamegraph(store, filters, 0);
  const greatest = rows.slice(1).sort((a, b) => b.total_ms - a.total_ms || a.ordinal - b.ordinal).slice(0, maxNodes - 1);
  const shown = new Set([rows[0], ...greatest]);
  let cutLevel = Infinity;
  return rows.filter((row) => {
    if (row.level > cutLevel) return false;
    cutLevel = shown.has(row) ? Infinity : row.level;
    return shown.has(row);
  }).map(({ level, function: name, resource, line, column_number: column, self_ms: self, total_ms: total, samples }, i) => (
    { ordinal: i + 1, level, function: name, resource, line, column_number: column, self_ms: self, total_ms: total, samples }));
}

/**
 * Returns the callers of functions of a name, or their callees.
 * @param {NaiveStore} store @param {Filters} filters @param {string} name @param {boolean} ofCallers @returns {Row[]}
 */
export function neighbours(store, filters, name, ofCallers) {
  const wanted = markersOf(filters.marker);
  const isNamed = (/** @type {Frame | undefined} */ frame) => frame !== undefined && matches(name, frame.function);
  const root = { function: '(root)', resource: null, line: null, column_number: null };
  const own = { function: '(self)', resource: null, line: null, column_number: null };
  /** @type {Map<string, { frame: any, us: number, samples: number | null }>} */
  const sums = new Map();
  /** @param {any} frame @param {number} us @param {number | null} samples */
  const add = ({ name: _, kind: __, ...frame }, us, samples) => {
    const key = JSON.stringify(frame);
    const before = sums.get(key) ?? { us: 0, samples: null };
    sums.set(key, { frame, us: before.us + us, samples: samples === null ? null : (before.samples ?? 0) + samples });
  };
  let whole = 0;
  for (const { marker, samples, us, path, stack } of store.select(filters).flatMap(({ entries }) => entries)) {
    const frames = path.map(({ frame }) => frame);
    if (!wanted.has(marker) || !frames.some(isNamed)) continue;
    whole += us;
    const others = frames.flatMap((frame, i) => (ofCallers
      ? isNamed(frame) ? [frames[i - 1] ?? root] : []
      : isNamed(frames[i - 1]) ? [frame] : []));
    for (const other of new Set(others)) add(other, us, samples);
    if (!ofCallers && isNamed(stack.frame)) add(own, us, null);
  }
  return [...sums.values()]
    .sort((a, b) => b.us - a.us || asShown(a.frame, b.frame))
    .map(({ frame, us, samples }) => ({ ...frame, total_ms: us / 1000, share: per(us, whole), samples }));
}

/** @param {Omit<Frame, 'kind' | 'name'>} frame */
function label({ function: name, resource, line, column_number: column }) {
  if (name !== '(anonymous)' || (resource === null && line === null)) return name;
  return `${name} ${resource ?? ''}${line === null ? '' : `:${line}`}${column === null ? '' : `:${column}`}`;
}

/** @param {NaiveStore} store @param {Filters} filters @param {number} minShare @returns {Row[]} */
export function flamegraphGrafana(store, filters, minShare) {
  return flamegraph(store, filters, minShare).map((row) => (
    { level: row.level, value: row.total_ms, label: label(/** @type {any} */ (row)), self: row.self_ms }));
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function folded(store, filters) {
  const wanted = markersOf(filters.marker);
  const entries = store.select(filters).flatMap((upload) => upload.entries).filter(({ marker }) => wanted.has(marker));
  const lines = [...grouped(entries, ({ path }) => JSON.stringify(path.map(({ frame }) => frame))).values()]
    .map((group) => ({ path: pathOf(group[0]).join(';'), us: sum(group, ({ us }) => us) }))
    .filter(({ us }) => us > 0);
  return [...grouped(lines, ({ path }) => path)]
    .map(([path, group]) => ({ folded: `${path} ${sum(group, ({ us }) => us)}`, path }))
    .sort((a, b) => ascending(a.path, b.path))
    .map(({ folded: line }) => ({ folded: line }));
}

/** @param {Entry} entry */
const pathOf = ({ path }) => path.map(({ frame }) => label(frame));

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function eventBreakdown(store, filters) {
  const sums = stackSums(store.select(filters), filters.marker);
  const events = [...sums.values()].filter(({ frame }) => frame.kind === 'event');
  const inside = grouped(events, ({ above }) => above);
  const isOutermost = (/** @type {Sum} */ { frame, above }) => {
    for (let next = sums.get(above); next; next = sums.get(next.above)) {
      if (next.frame.kind === 'event' && next.frame.name === frame.name) return false;
    }
    return true;
  };
  return [...grouped(events, ({ frame }) => frame.name)].map(([name, group]) => ({
    event_type: name,
    count: sum(group, (one) => one.samples - sum(inside.get(one.path) ?? [], (child) => child.samples)),
    self_ms: sum(group, ({ self }) => self) / 1000,
    total_ms: sum(group.filter(isOutermost), ({ total }) => total) / 1000,
  })).sort((a, b) => b.self_ms - a.self_ms || b.count - a.count || ascending(a.event_type, b.event_type));
}

/**
 * Rows of the hourly views, added up.
 * @template T
 * @param {NaiveStore} store @param {Filters} filters
 * @param {(upload: Upload) => { key: Row, numbers: T }[]} read
 * @param {(numbers: T[]) => Row} add
 * @returns {Row[]}
 */
function hourly(store, filters, read, add) {
  const rows = store.selectAll(filters).flatMap((upload) => {
    const { rate_ppm: _, ...names } = upload.delta.segment;
    return read(upload).map(({ key, numbers }) => ({ key: { bucket_us: upload.bucketUs, ...names, ...key }, numbers }));
  });
  return [...grouped(rows, ({ key }) => JSON.stringify(key))]
    .map(([key, group]) => ({ ...JSON.parse(key), ...add(group.map(({ numbers }) => numbers)) }));
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function hotspotHourly(store, filters) {
  const every = new Set(markerNames);
  return hourly(store, filters, (upload) => {
    const sums = new FrameSums();
    addFrames(sums, upload, every, 1);
    return [...sums.sums.values()].map(({ frame: { name, ...frame }, ...numbers }) => ({ key: frame, numbers }));
  }, (group) => ({
    uploads: sum(group, ({ uploads }) => uploads),
    samples: sum(group, ({ samples }) => samples),
    self_ms: sum(group, ({ self }) => self) / 1000,
    total_ms: sum(group, ({ total }) => total) / 1000,
  }));
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function stackHourly(store, filters) {
  return hourly(store, filters, ({ entries }) => entries.map((entry) => {
    const { stack: { id, level, frame: { name, ...frame } }, marker, samples, us } = entry;
    return { key: { stack_id: id, path: pathOf(entry), level, ...frame, marker }, numbers: { samples, us } };
  }), (group) => ({
    uploads: group.length,
    samples: sum(group, ({ samples }) => samples),
    self_ms: sum(group, ({ us }) => us) / 1000,
  }));
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function timingHourly(store, filters) {
  return hourly(store, filters, (upload) => userTiming(upload).map(([, count, total, name, kind, negative, least, most]) => (
    { key: { name, kind, well_known: false }, numbers: { count, total, negative, least, most } })), (group) => ({
    uploads: group.length,
    count: sum(group, ({ count }) => count),
    negative: sum(group, ({ negative }) => negative),
    sum_ms: sum(group, ({ total }) => total) / 1000,
    min_ms: Math.min(...group.map(({ least }) => least)) / 1000,
    max_ms: Math.max(...group.map(({ most }) => most)) / 1000,
  }));
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function refusals(store, filters) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  for (const { delta, receivedUs } of store.select(filters)) {
    for (const [reason, records] of delta.refusals) {
      const key = `${delta.format} ${reason}`;
      const row = rows.get(key) ?? { format: delta.format, reason, records: 0, uploads: 0, latest_us: -Infinity };
      row.records += records;
      row.uploads += 1;
      row.latest_us = Math.max(row.latest_us, receivedUs);
      rows.set(key, row);
    }
  }
  const order = (/** @type {Row} */ row) => `${row.format} ${row.reason}`;
  return [...rows.values()].sort((a, b) => b.records - a.records || (order(a) < order(b) ? -1 : 1));
}

/** @param {NaiveStore} store @param {Filters} filters @returns {Row[]} */
export function uploadLog(store, filters) {
  return store.selectAll(filters, matches, -Infinity).map((upload) => {
    const { delta, receivedUs, bucketUs } = upload;
    const { rate_ppm: rate, ...names } = delta.segment;
    return {
      received_us: receivedUs,
      bucket_us: bucketUs,
      upload_id: delta.id,
      load_id: delta.load || null,
      part: delta.part,
      ...names,
      major_version: delta.major_version,
      format: delta.format,
      agent: delta.agent,
      coverage: delta.coverage,
      truncated: delta.truncated,
      body_bytes: delta.body_bytes,
      samples: delta.samples,
      unattributed_samples: delta.unattributed_samples,
      profiled_ms: delta.profiled_us / 1000,
      unattributed_ms: delta.unattributed_us / 1000,
      unseen_ms: delta.unseen_us / 1000,
      timings: sum(userTiming(upload), (timing) => timing[1]),
      skipped_entries: delta.skipped_entries,
      records_read: delta.records_read,
      records_refused: delta.records_refused,
      sample_rate: rate === 0 ? null : rate / 1e6,
    };
  });
}
