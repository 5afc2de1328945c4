// SPDX-License-Identifier: Apache-2.0
/**
 * Compares what SQL says with what the clients were promised, number by number.
 */
import { countedIn } from './counted.mjs';

/** @typedef {import('./counted.mjs').Counted} Counted */
/** @typedef {import('./counted.mjs').Tables} Tables */
/** @typedef {import('./ledger.mjs').Ledger} Ledger */
/** @typedef {import('./uploads.mjs').Upload} Upload */
/** @typedef {import('./uploads.mjs').Sums} Sums */

/** @param {Sums} sums */
const attributed = (sums) => [sums.profiled_us - sums.unattributed_us, sums.samples - sums.unattributed_samples];

/** @param {Tables} tables @param {string} table @param {string[]} key @param {number[]} more @param {number} times */
function add(tables, table, key, more, times) {
  const numbers = (tables[table] ??= new Map());
  const words = key.join('\t');
  const sum = numbers.get(words);
  numbers.set(words, more.map((value, i) => value * times + (sum?.[i] ?? 0)));
}

/** How many were left out, by kind and name; of all kinds together that is not known. @param {Upload} upload */
function leftOutOf({ leftOut }) {
  /** @type {Map<string, number>} */
  const sums = new Map();
  const more = (/** @type {string} */ what, /** @type {string} */ name, /** @type {number} */ count) =>
    sums.set(`${what}\t${name}`, (sums.get(`${what}\t${name}`) ?? 0) + count);
  for (const { what, name, count = 0 } of leftOut) {
    more('(any)', '', 0);
    more(what, '', count);
    if (name) more(what, name, count);
  }
  return sums;
}

/**
 * Adds what an upload that counts so often brings.
 * @param {Tables} tables
 * @param {Upload} upload
 * @param {number} times
 */
function addUpload(tables, upload, times) {
  const { site, release, route, sums } = upload;
  const put = (/** @type {string} */ table, /** @type {string[]} */ key, /** @type {number[]} */ numbers) =>
    add(tables, table, [site, release, route, ...key], numbers, times);
  for (const [key, { self_us, total_us, samples }] of sums.frames) {
    const numbers = [self_us, total_us, samples];
    put('frames', [key], numbers);
    add(tables, 'hotspots of sites', [site, key], numbers, times);
    add(tables, 'hotspots of releases', [site, release, key], numbers, times);
    if (!route.startsWith('/once/')) add(tables, 'hotspots of routes', [site, route, key], numbers, times);
  }
  for (const [marker, { self_us, samples }] of sums.markers) put('markers', [marker], [self_us, samples]);
  if (sums.profiled_us > sums.unattributed_us || sums.samples > sums.unattributed_samples) put('stacks', [], attributed(sums));
  for (const { kind, name, us } of upload.timings) put('timings', [kind, name], [1, us]);
  for (const [key, count] of leftOutOf(upload)) put('left out', [key], [count]);
  for (const [name, inside] of upload.measures) {
    put('measures', [name], [inside.samples, inside.profiled_us, inside.unattributed_us,
      inside.profiled_us + inside.unseen_us]);
    for (const [key, { self_us, total_us, samples }] of inside.frames) {
      put('frames in measures', [name, key], [self_us, total_us, samples]);
    }
  }
  for (const [type, { count, self_us }] of upload.types) add(tables, 'events', [site, type], [count, self_us], times);
}

/**
 * Returns what the counted uploads must have added.
 * @param {{ upload: Upload, times: number }[]} uploads
 */
function expected(uploads) {
  /** @type {Tables} */
  const tables = {};
  /** @type {Set<string>} */
  const loads = new Set();
  for (const { upload, times } of uploads) {
    addUpload(tables, upload, times);
    const load = `${upload.site} ${upload.load}`;
    for (const what of new Set(upload.leftOut.flatMap((row) => ['(any)', row.what]))) {
      const known = `${load} ${what}`;
      if (upload.load === undefined) add(tables, 'loads that left out', [upload.site, what], [1], times);
      else if (!loads.has(known)) add(tables, 'loads that left out', [upload.site, what], [1], 1);
      loads.add(known);
    }
    // Uploads of one page load are one load.
    if (upload.load === undefined) add(tables, 'loads', [upload.site], [1], times);
    else if (!loads.has(load)) add(tables, 'loads', [upload.site], [1], 1);
    loads.add(load);
  }
  return tables;
}

/** @param {Tables} wanted @param {Tables} found */
function* tableDifferences(wanted, found) {
  for (const table of new Set([...Object.keys(wanted), ...Object.keys(found)])) {
    for (const [key, numbers] of wanted[table] ?? []) {
      const have = found[table]?.get(key);
      if (String(have) !== String(numbers)) {
        yield `${table}: ${key}: promised ${numbers}, in SQL ${have ?? 'not at all'}`;
      }
    }
    for (const [key, numbers] of found[table] ?? []) {
      if (!wanted[table]?.has(key)) yield `${table}: ${key}: not promised, in SQL ${numbers}`;
    }
  }
}

/**
 * By the key of each upload, how often it is in the log.
 * @param {Ledger} ledger
 * @param {Counted} counted
 */
function timesLogged({ uploads }, { log }) {
  /** @type {Map<string, number>} */
  const times = new Map();
  /** @type {string[]} */
  const lines = [];
  for (const { keys, numbers } of log) {
    const key = keys.find((one) => uploads.has(one));
    if (key === undefined) {
      lines.push(`uploads: ${keys[0]}: not promised, in SQL ${numbers}`);
      continue;
    }
    times.set(key, (times.get(key) ?? 0) + 1);
    const { upload: { sums, timings, site, release, route } } = /** @type {any} */ (uploads.get(key));
    const wanted = [site, release, route, sums.samples, sums.profiled_us, sums.unattributed_us, timings.length];
    if (String(numbers) !== String(wanted)) lines.push(`uploads: ${key}: promised ${wanted}, in SQL ${numbers}`);
  }
  return { times, lines };
}

/** @param {Ledger} ledger @param {Map<string, number>} times */
function* uploadDifferences({ uploads, forms }, times) {
  for (const [key, { least, most }] of uploads) {
    const found = times.get(key) ?? 0;
    if (found < least || found > most) {
      yield `uploads: ${key}: promised ${least} to ${most} times, in SQL ${found || 'not at all'}`;
    }
  }
  for (const form of forms) {
    const found = form.map(({ key }) => Math.min(times.get(key) ?? 0, 1));
    if (new Set(found).size > 1) yield `forms: ${form.map(({ key }) => key)}: in SQL ${found}`;
  }
}

/** Yields the differences in sessions that are kept whole. @param {Ledger} ledger @param {Counted} counted @param {Map<string, number>} times */
function* keptDifferences({ uploads }, { sessions }, times) {
  /** @type {Map<string, number>} */
  const kept = new Map();
  for (const { keys, numbers } of sessions) {
    const key = keys.find((one) => uploads.has(one)) ?? keys[0];
    kept.set(key, (kept.get(key) ?? 0) + 1);
    const { timelines, events, self_us } = uploads.get(key)?.upload.listed ?? {};
    const wanted = [timelines, events, events, self_us];
    if (String(numbers) !== String(wanted)) yield `sessions: ${key}: promised ${wanted}, in SQL ${numbers}`;
  }
  for (const [key, { upload }] of uploads) {
    const have = kept.get(key) ?? 0;
    const counted = times.get(key) ?? 0;
    const least = upload.kept === 'always' ? counted : 0;
    const most = upload.kept === 'never' ? 0 : counted;
    if (have < least || have > most) yield `sessions: ${key}: counted ${counted} times, kept ${have} times`;
  }
}

/**
 * Every difference in words; none when each acknowledged upload is counted exactly once and nothing else is.
 * @param {Ledger} ledger
 * @param {import('./counted.mjs').Sql} sql
 * @returns {Promise<string[]>}
 */
export async function differences(ledger, sql) {
  const counted = await countedIn(sql);
  const { times, lines } = timesLogged(ledger, counted);
  const uploads = [...times].map(([key, count]) => (
    { upload: /** @type {any} */ (ledger.uploads.get(key)).upload, times: count }));
  lines.push(...ledger.surprises, ...uploadDifferences(ledger, times), ...keptDifferences(ledger, counted, times),
    ...tableDifferences(expected(uploads), counted.tables));
  if (counted.ids !== counted.log.length) {
    lines.push(`${counted.ids} ids are known as counted, ${counted.log.length} uploads are in the log`);
  }
  for (const row of counted.wrongHours) {
    lines.push(`hours: ${row.upload_id}: received ${row.received}, counted in ${row.bucket}`);
  }
  lines.push(...counted.unequal.map((row) => `hours: tables do not agree: ${JSON.stringify(row)}`));
  return lines;
}
