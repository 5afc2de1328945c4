// SPDX-License-Identifier: Apache-2.0
/**
 * Questions to SQL's functions and views: random ones, the answer of a naive store, and what differs.
 */
import { dimensions } from '../../tools/filters.mjs';
import * as naive from './store_naive.mjs';

/** @typedef {import('../chaos/random.mjs').Random} Random */
/** @typedef {import('./store_naive.mjs').Filters} Filters */
/** @typedef {import('./store_naive.mjs').NaiveStore} NaiveStore */
/** @typedef {import('./store_naive.mjs').Row} Row */
/**
 * @typedef {object} Subject a function or a view
 * @property {(store: NaiveStore, question: Question) => Row[]} answer
 * @property {(question: Question) => string} from what stands in SQL's FROM, perhaps with WHERE
 * @property {string} [columns] what is selected; without it everything
 * @property {string[]} [order] columns by which rows are ordered, as documented; without it in any order
 * @property {string[]} key columns that identify a row
 * @property {string[]} exact columns in milliseconds that are right to the microsecond
 * @property {string[]} [binned] columns that are right to 1.6 %
 *
 * @typedef {object} Question
 * @property {string} subject
 * @property {Filters} filters
 * @property {number | null} top
 * @property {number} minShare
 * @property {string} measure
 * @property {string} called a function's name, or a pattern
 * @property {number} maxNodes
 *
 * @typedef {{ question: Question, lines: string[] }} Difference
 */

const frame = ['function', 'resource', 'line', 'column_number', 'kind'];

/** @param {string | null} text */
const literal = (text) => (text === null ? 'null' : `'${text.replaceAll("'", "''")}'`);

/** To the microsecond, which the text of a Date is not. @param {number | null} us */
function time(us) {
  if (us === null) return 'null';
  const second = Math.floor(us / 1e6);
  const fraction = String(us - second * 1e6).padStart(6, '0');
  return `'${new Date(second * 1000).toISOString().slice(0, 19)}.${fraction}+00'`;
}

/** @param {Filters} filters @param {string[]} [more] */
function argumentsOf({ site, since, until, marker, dimensions }, more = []) {
  const named = Object.entries(dimensions).filter(([, filter]) => filter !== null)
    .map(([name, filter]) => `${name} => ${literal(filter)}`);
  if (marker !== null) named.push(`marker => ${literal(marker)}`);
  return [...more, `site => ${literal(site)}`, `since => ${time(since)}`, `until => ${time(until)}`, ...named].join(', ');
}

/**
 * A condition on a view. Only whole hours, site and dimensions: a view has no interval that is widened.
 * @param {Filters} filters
 */
function conditions({ site, since, until, dimensions }) {
  const like = Object.entries({ site, ...dimensions }).filter(([, filter]) => filter !== null)
    .map(([name, filter]) => {
      const [column, operator] = name.startsWith(naive.excluding) ? [name.slice(naive.excluding.length), 'not like'] : [name, 'like'];
      return `${column} ${operator} ${literal(filter).replaceAll(/\\(?!%)|_/g, (sign) => `\\${sign}`)}`;
    });
  if (since !== null) like.push(`bucket + interval '1 hour' > ${time(since)}`);
  if (until !== null) like.push(`bucket < ${time(until)}`);
  if (since !== null && since === until) like.push('false');
  return like.join(' and ');
}

/** @param {Question} question */
const topOf = ({ top }) => `top => ${top ?? 'null'}`;

const names = ['site', ...dimensions];
const bucket = '(extract(epoch from bucket) * 1000000)::bigint as bucket_us';

/** @param {string} view @param {string[]} key @param {string} sums @param {string[]} exact */
const hourly = (view, key, sums, exact) => ({
  from: (/** @type {Question} */ { filters }) => `fleetprof.${view} where ${conditions(filters)}
    group by bucket, ${[...names, ...key].join(', ')}`,
  columns: `${bucket}, ${[...names, ...key.map((name) => (name === 'stack_id' ? 'stack_id::text' : name))].join(', ')},
    ${sums}`,
  key: ['bucket_us', ...names, ...key],
  exact,
});

/**
 * Rows that are shown alike are of frames of several kinds.
 * @param {string} name @param {boolean} ofCallers @returns {Subject}
 */
const edges = (name, ofCallers) => ({
  answer: (store, { filters, called }) => naive.neighbours(store, filters, called, ofCallers),
  from: ({ filters, called }) => `fleetprof.${name}(${argumentsOf(filters, [`function_name => ${literal(called)}`])})
    group by function, resource, line, column_number`,
  columns: `function, resource, line, column_number, sum(total_ms) as total_ms, sum(share) as share, sum(samples) as samples`,
  key: frame.slice(0, 4),
  exact: ['total_ms'],
});

/** @type {Record<string, Subject>} */
const subjects = {
  hotspots: {
    answer: (store, { filters }) => naive.hotspots(store, filters),
    from: (question) => `fleetprof.hotspots(${argumentsOf(question.filters, [topOf(question)])})`,
    order: ['self_ms', ...frame.slice(0, 4)],
    key: frame,
    exact: ['self_ms', 'total_ms'],
  },
  estimated_hotspots: {
    answer: (store, { filters }) => naive.estimatedHotspots(store, filters),
    from: (question) => `fleetprof.estimated_hotspots(${argumentsOf(question.filters, [topOf(question)])})`,
    order: ['self_ms'],
    key: frame,
    exact: [],
  },
  measure_hotspots: {
    answer: (store, { filters, measure }) => naive.measureHotspots(store, filters, measure),
    from: (question) => `fleetprof.measure_hotspots(${
      argumentsOf(question.filters, [`measure_name => ${literal(question.measure)}`, topOf(question)])})`,
    order: ['self_ms', ...frame.slice(0, 4)],
    key: frame,
    exact: ['self_ms', 'total_ms'],
  },
  markers: {
    answer: (store, { filters }) => naive.markers(store, filters),
    from: ({ filters }) => `fleetprof.markers(${argumentsOf(filters)})`,
    order: ['self_ms', 'marker'],
    key: ['marker'],
    exact: ['self_ms'],
  },
  coverage: {
    answer: (store, { filters }) => naive.coverage(store, filters),
    from: ({ filters }) => `fleetprof.coverage(${argumentsOf({ ...filters, marker: null })})`,
    key: [],
    exact: [],
  },
  timings: {
    answer: (store, { filters }) => naive.timings(store, filters),
    from: ({ filters }) => `fleetprof.timings(${argumentsOf({ ...filters, marker: null })})`,
    order: ['name', 'kind'],
    key: ['name', 'kind'],
    exact: ['min_ms', 'max_ms'],
  },
  left_out: {
    answer: (store, { filters }) => naive.leftOut(store, filters),
    from: ({ filters }) => `fleetprof.left_out(${argumentsOf({ ...filters, marker: null })})`,
    order: ['what'],
    key: ['what'],
    exact: [],
  },
  vitals: {
    answer: (store, { filters }) => naive.vitals(store, filters),
    from: ({ filters }) => `fleetprof.vitals(${argumentsOf({ ...filters, marker: null })})`,
    columns: 'name, unit, count, p50, p75, p75_low, p75_high, p95, good_share, poor_share',
    order: ['name'],
    key: ['name'],
    exact: [],
    binned: ['p50', 'p75', 'p75_low', 'p75_high', 'p95'],
  },
  flamegraph: {
    answer: (store, { filters, minShare }) => naive.flamegraph(store, filters, minShare),
    from: ({ filters, minShare }) => `fleetprof.flamegraph(${argumentsOf(filters, [`min_share => ${minShare}`])})`,
    order: ['ordinal'],
    key: ['ordinal'],
    exact: ['self_ms', 'total_ms'],
  },
  flamegraph_grafana: {
    answer: (store, { filters, minShare }) => numbered(naive.flamegraphGrafana(store, filters, minShare)),
    from: ({ filters, minShare }) => `fleetprof.flamegraph_grafana(${argumentsOf(filters, [`min_share => ${minShare}`])})
      with ordinality as row (level, value, label, self, ordinal)`,
    order: ['ordinal'],
    key: ['ordinal'],
    exact: ['value', 'self'],
  },
  flamegraph_columns: {
    answer: (store, { filters, maxNodes }) => naive.flamegraphColumns(store, filters, maxNodes),
    from: ({ filters, maxNodes }) => `fleetprof.flamegraph_columns(${argumentsOf(filters, [`max_nodes => ${maxNodes}`])}) as tree
      cross join lateral rows from (
        json_array_elements_text(tree -> 'level'), json_array_elements_text(tree -> 'frame'), json_array_elements_text(tree -> 'self'),
        json_array_elements_text(tree -> 'total'), json_array_elements_text(tree -> 'samples')
      ) with ordinality as node (level, frame, self, total, samples, ordinal)
      cross join lateral (select tree -> 'frames' as list, frame::integer as at) as frames`,
    columns: `ordinal, level::integer, case at when -1 then '(all)' else list -> 'function' ->> at end as function,
      list -> 'resource' ->> nullif(at, -1) as resource, (list -> 'line' ->> nullif(at, -1))::integer as line,
      (list -> 'column_number' ->> nullif(at, -1))::integer as column_number,
      self::float8 / 1000 as self_ms, total::float8 / 1000 as total_ms, samples::bigint`,
    order: ['ordinal'],
    key: ['ordinal'],
    exact: ['self_ms', 'total_ms'],
  },
  callers: edges('callers', true),
  callees: edges('callees', false),
  folded: {
    answer: (store, { filters }) => naive.folded(store, filters),
    from: ({ filters }) => `fleetprof.folded(${argumentsOf(filters)})`,
    order: ['folded'],
    key: ['folded'],
    exact: [],
  },
  event_breakdown: {
    answer: (store, { filters }) => naive.eventBreakdown(store, filters),
    from: ({ filters }) => `fleetprof.event_breakdown(${argumentsOf(filters)})`,
    order: ['self_ms', 'count', 'event_type'],
    key: ['event_type'],
    exact: ['self_ms', 'total_ms'],
  },
  refusals: {
    answer: (store, { filters }) => naive.refusals(store, filters),
    from: ({ filters }) => `fleetprof.refusals(${argumentsOf({ ...filters, marker: null })})`,
    columns: `format, reason, records, uploads, (extract(epoch from latest) * 1000000)::bigint as latest_us`,
    order: ['records', 'format', 'reason'],
    key: ['format', 'reason'],
    exact: [],
  },
  hotspot_hourly: {
    answer: (store, { filters }) => naive.hotspotHourly(store, filters),
    ...hourly('hotspot_hourly', frame,
      'sum(uploads) as uploads, sum(samples) as samples, sum(self_ms) as self_ms, sum(total_ms) as total_ms',
      ['self_ms', 'total_ms']),
  },
  stack_hourly: {
    answer: (store, { filters }) => naive.stackHourly(store, filters),
    ...hourly('stack_hourly', ['stack_id', 'path', 'level', ...frame, 'marker'],
      'sum(uploads) as uploads, sum(samples) as samples, sum(self_ms) as self_ms', ['self_ms']),
  },
  timing_hourly: {
    answer: (store, { filters }) => naive.timingHourly(store, filters),
    ...hourly('timing_hourly', ['name', 'kind', 'well_known'],
      `sum(uploads) as uploads, sum(count) as count, sum(negative) as negative, sum(sum_ms) as sum_ms,
        min(min_ms) as min_ms, max(max_ms) as max_ms`, ['sum_ms', 'min_ms', 'max_ms']),
  },
  upload_log: {
    answer: (store, { filters }) => naive.uploadLog(store, filters),
    // The version of the upload itself is a number.
    from: ({ filters }) => `(select l.*, sample_rate, segment.browser_version as version from fleetprof.upload_log as l
      left join fleetprof.segment using (segment_id)) as l where ${conditions(filters).replaceAll('browser_version', 'version')}`,
    columns: `(extract(epoch from received) * 1000000)::bigint as received_us, ${bucket}, upload_id, load_id, part,
      ${names.join(', ').replace('browser_version', 'version as browser_version')}, browser_version as major_version, format, agent, coverage, truncated, body_bytes, samples,
      unattributed_samples, profiled_ms, unattributed_ms, timings, skipped_entries, records_read,
      records_refused, unseen_ms, sample_rate`,
    key: ['site', 'upload_id'],
    exact: ['profiled_ms', 'unattributed_ms', 'unseen_ms'],
  },
};

/** @param {Row[]} rows */
const numbered = (rows) => rows.map((row, i) => ({ ...row, ordinal: i + 1 }));

export const subjectNames = Object.keys(subjects);
const views = ['hotspot_hourly', 'stack_hourly', 'timing_hourly', 'upload_log'];

/**
 * A filter that is the value, or a pattern for it, or nearly.
 * @param {Random} random @param {string} value
 */
function pattern(random, value) {
  const at = random.below(value.length + 1);
  return random.pick([
    value, value, value, `${value.slice(0, at)}%`, `%${value.slice(at)}`, '%', '',
    `${value.slice(0, at)}%${value.slice(at + 1)}`, `${value.slice(0, at)}_${value.slice(at + 1)}`, `${value}\\`, value.replaceAll('%', () => '\\%'), `${value.slice(0, at)}\\%${value.slice(at)}`,
  ]);
}

/**
 * A time near those of the uploads, often where something begins or ends.
 * @param {Random} random @param {number} us
 */
function edge(random, us) {
  const unit = random.pick([naive.hourUs, 4 * naive.hourUs, naive.dayUs, 8 * naive.dayUs]);
  const at = (Math.floor(us / unit) + random.below(2)) * unit;
  return random.pick([at, at, at - 1, at + 1, us, us + random.below(unit)]);
}

/** @param {Random} random @param {NaiveStore} store @returns {Question} */
export function randomQuestion(random, store) {
  const subject = random.pick(subjectNames);
  const { delta: { segment }, receivedUs, frames } = random.pick(store.uploads);
  const [a, b] = [edge(random, receivedUs), edge(random, random.pick(store.uploads).receivedUs)].sort((x, y) => x - y);
  const wanted = random.shuffled([...dimensions]).slice(0, random.pick([0, 0, 0, 1, 1, 2, 3]));
  // Often what a cohort is made of.
  if (random.chance(0.4)) wanted.splice(0, Infinity, ...random.pick([['environment'], ['environment', 'release'], ['release']]));
  const excluded = random.shuffled([...dimensions]).slice(0, random.pick([0, 0, 0, 0, 1, 2]));
  return {
    subject,
    filters: {
      site: random.chance(0.6) ? segment.site : pattern(random, segment.site),
      since: random.chance(0.15) ? null : a,
      until: random.chance(0.15) ? null : b,
      marker: random.chance(0.6) || views.includes(subject) ? null
        : random.pick(['', '%', '(%', 's%', '%t%', '%e', ...naive.markerNames]),
      dimensions: Object.fromEntries([
        ...wanted.map((name) => [name, pattern(random, segment[name])]),
        // The values of another upload.
        ...excluded.map((name) => [`${naive.excluding}${name}`, pattern(random, random.pick(store.uploads).delta.segment[name])]),
      ]),
    },
    top: random.pick([null, null, 1, 3, 20]),
    minShare: random.pick([0, 0, 0.001, 0.02, 0.2, 1]),
    measure: `timing-${random.below(5)}`,
    called: frames.length > 0 ? pattern(random, random.pick(frames).function) : '%',
    maxNodes: random.pick([1, 2, 5, 20, 100, 50000]),
  };
}

/** @param {string} subject @returns {Question} about everything */
export function wholeQuestion(subject) {
  return {
    subject, top: null, minShare: 0, measure: 'timing-1', called: '%', maxNodes: 50000,
    filters: { site: '%', since: null, until: null, marker: null, dimensions: {} },
  };
}

/** A query whose answer is one line. @param {Question} question */
export function toSql(question) {
  const { from, columns = '*' } = subjects[question.subject];
  return `select replace(coalesce(json_agg(row_), '[]')::text, e'\\n', '') from (select ${columns} from ${from(question)}) as row_`;
}

/**
 * Views have hours only as far back as these are kept.
 * @param {Question} question @param {NaiveStore} store @returns {Question}
 */
export function within(question, { hoursFromUs }) {
  const { subject, filters } = question;
  if (!views.includes(subject) || subject === 'upload_log' || hoursFromUs === -Infinity) return question;
  const since = Math.max(filters.since ?? hoursFromUs, hoursFromUs);
  return { ...question, filters: { ...filters, since, until: filters.until === null ? null : Math.max(since, filters.until) } };
}

/** @param {Subject} subject @param {string} column @param {any} found @param {any} wanted */
function equal({ exact, binned }, column, found, wanted) {
  if (typeof found !== 'number' || typeof wanted !== 'number') return JSON.stringify(found) === JSON.stringify(wanted);
  if (binned?.includes(column)) return Math.abs(found - wanted) <= 0.0161 * wanted + 0.001;
  if (exact.includes(column)) return Math.abs(found - wanted) < 0.0001;
  if (Number.isInteger(found) && Number.isInteger(wanted) && !column.endsWith('_ms')) return found === wanted;
  return Math.abs(found - wanted) <= 1e-6 * Math.max(Math.abs(found), Math.abs(wanted));
}

/** @param {Subject} subject @param {Row} found @param {Row} wanted */
function rowDifference(subject, found, wanted) {
  const columns = Object.keys({ ...wanted, ...found })
    .filter((column) => !equal(subject, column, found[column], wanted[column]));
  return columns.map((column) => `${column} ${found[column]}, not ${wanted[column]}`).join('; ');
}

/**
 * Takes what follows from the other columns off a row. There are no function tables: every place is the generated one.
 * @param {Row} row @returns {boolean} whether it does follow
 */
function takeGeneratedPlace(row) {
  const places = [[row.generated_resource, row.resource], [row.generated_line, row.line], [row.generated_column, row.column_number]];
  const isSame = !('generated_resource' in row) || places.every(([generated, shown]) => generated === shown);
  for (const name of ['function_key', 'generated_resource', 'generated_line', 'generated_column']) delete row[name];
  return isSame;
}

/**
 * Returns the differences between SQL's rows and the naive store's, in words.
 * @param {Question} question @param {Row[]} found @param {NaiveStore} store @returns {string[]}
 */
export function differences(question, found, store) {
  const subject = subjects[question.subject];
  const { order, key } = subject;
  const wanted = subject.answer(store, question);
  const limit = subject.from(question).includes('top =>') ? question.top ?? Infinity : Infinity;
  const keyOf = (/** @type {Row} */ row) => key.map((column) => JSON.stringify(row[column])).join(' ');
  const byKey = new Map(wanted.map((row) => [keyOf(row), row]));
  const lines = [];
  const misplaced = [];
  if (byKey.size !== wanted.length) throw new Error(`${question.subject}: key does not identify a row`);
  const count = Math.min(wanted.length, limit);
  if (found.length !== count) lines.push(`${found.length} rows, not ${count}`);
  const seen = new Set();
  for (const [i, row] of found.entries()) {
    if (!takeGeneratedPlace(row)) lines.push(`${keyOf(row)}: was generated in another place`);
    const same = byKey.get(keyOf(row));
    const difference = same ? rowDifference(subject, row, same) : 'is in no upload';
    if (difference) lines.push(`${keyOf(row)}: ${difference}`);
    if (seen.has(keyOf(row))) lines.push(`${keyOf(row)}: twice`);
    seen.add(keyOf(row));
    if (wanted[i] && order?.some((column) => !equal(subject, column, row[column], wanted[i][column]))) {
      misplaced.push(`row ${i + 1} is ${keyOf(row)}, not ${keyOf(wanted[i])}`);
    }
  }
  if (count === wanted.length) {
    lines.push(...wanted.filter((row) => !seen.has(keyOf(row))).map((row) => `${keyOf(row)}: missing`));
  }
  return lines.length > 0 ? lines : misplaced;
}

/**
 * Questions that select less, each of the same subject.
 * @param {Question} question @param {NaiveStore} store @returns {Question[]}
 */
export function narrower(question, store) {
  const { filters } = question;
  const uploads = store.select(filters);
  const buckets = [...new Set(uploads.map(({ bucketUs }) => bucketUs))].sort((a, b) => a - b);
  const middle = buckets[Math.floor(buckets.length / 2)];
  const sites = [...new Set(uploads.map(({ delta }) => delta.segment.site))];
  /** @type {Partial<Filters>[]} */
  const changes = [];
  if (buckets.length > 1) changes.push({ until: middle }, { since: middle });
  if (sites.length > 1) changes.push(...sites.map((site) => ({ site })));
  for (const name of dimensions) {
    const values = [...new Set(uploads.map(({ delta }) => delta.segment[name]))];
    if (values.length > 1 && (filters.dimensions[name] ?? null) === null) {
      changes.push(...values.map((value) => ({ dimensions: { ...filters.dimensions, [name]: value } })));
    }
  }
  return changes.map((change) => ({ ...question, filters: { ...filters, ...change } }))
    .filter((one) => store.select(one.filters).length < uploads.length);
}
