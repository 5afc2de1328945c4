// SPDX-License-Identifier: Apache-2.0
/** Writes numbers, names, times and tables for people, and for other programs. */

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const missing = '–';

/** @typedef {number | null | undefined} Maybe */

/** @param {Maybe} value */
const isMissing = (value) => value === null || value === undefined || Number.isNaN(value);

/** Returns a count with separators. @param {Maybe} value */
export const count = (value) => (isMissing(value) ? missing : whole.format(/** @type {number} */ (value)));

/** Returns a number with about three digits. @param {Maybe} value */
export function number(value) {
  if (isMissing(value)) return missing;
  const known = /** @type {number} */ (value);
  const size = Math.abs(known);
  if (size >= 99.95) return whole.format(known);
  if (size >= 9.995) return known.toFixed(1);
  if (size === 0) return '0';
  return size >= 0.01 ? known.toFixed(2) : known.toPrecision(1);
}

/** Returns a share as a percentage. @param {Maybe} share */
export function percent(share) {
  if (isMissing(share)) return missing;
  const value = /** @type {number} */ (share) * 100;
  const size = Math.abs(value);
  if (size === 0) return '0 %';
  if (size < 0.01) return '< 0.01 %';
  return `${value.toFixed(size >= 99.95 ? 0 : size >= 0.95 ? 1 : 2)} %`;
}

/** Returns a change as a percentage with a sign. @param {Maybe} ratio after / before - 1 */
export function change(ratio) {
  if (isMissing(ratio)) return missing;
  if (/** @type {number} */ (ratio) > 999) return '> 1,000 times';
  if (/** @type {number} */ (ratio) >= 8.995) return `${whole.format(1 + /** @type {number} */ (ratio))} times`;
  const value = /** @type {number} */ (ratio) * 100;
  const digits = Math.abs(value) < 9.95 ? 1 : 0;
  return `${value > 0 ? '+' : value < 0 ? '−' : '±'}${Math.abs(value).toFixed(digits)} %`;
}

/** Returns a difference with its sign. @param {Maybe} value @param {(value: Maybe) => string} [write] */
export const signed = (value, write = number) => (isMissing(value) ? missing : `${/** @type {number} */ (value) > 0 ? '+' : /** @type {number} */ (value) < 0 ? '−' : '±'}${write(Math.abs(/** @type {number} */ (value)))}`);

/** Returns a duration in the unit that fits. @param {Maybe} ms */
export function duration(ms) {
  if (isMissing(ms)) return missing;
  const value = /** @type {number} */ (ms);
  const size = Math.abs(value);
  if (size > 0 && size < 1) return `${number(value * 1000)} µs`;
  if (size < 1000) return `${number(value)} ms`;
  if (size < 120_000) return `${number(value / 1000)} s`;
  if (size < 7_200_000) return `${number(value / 60_000)} min`;
  return `${number(value / 3_600_000)} h`;
}

/** Returns a size. @param {Maybe} bytes */
export function size(bytes) {
  if (isMissing(bytes)) return missing;
  let value = /** @type {number} */ (bytes);
  let unit = 0;
  while (value >= 1000 && unit < 4) { value /= 1000; unit += 1; }
  return `${number(value)} ${['B', 'kB', 'MB', 'GB', 'TB'][unit]}`;
}

/** The time zone of times: this browser's, or UTC on demand. */
export let zone = 'UTC';

/** The zone of this browser. */
export const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** @param {boolean} isUtc */
export const setZone = (isUtc) => { zone = isUtc ? 'UTC' : ownZone; };

/** Returns a time to the minute, with its zone. @param {string | number | Date | null | undefined} when */
export const clock = (when) => `${time(when)} ${zone}`;

/** Returns a time to the minute, by the zone. @param {string | number | Date | null | undefined} time */
export function time(time) {
  if (time === null || time === undefined) return missing;
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? String(time) : localTime(date, zone);
}

/** Returns a sentence of SQL with the time at its end by the clock of all times. @param {string} sentence */
export const localised = (sentence) => visible(sentence).replace(/(.{10} \d\d:\d\d) UTC$/, (_, at) => clock(`${at.replace(' ', 'T')}Z`));

/** Returns a row of change_point as fleetprof trend says it. @param {Record<string, any>} row */
export function sinceWhen({ change, begins, begins_from: from, begins_until: until, nearest_release: release, release_began: began }) {
  const level = change === null ? 'New' : `${change > 0 ? 'Higher' : 'Lower'} by ${Math.round(100 * Math.abs(change))} %`;
  return `${level} since ${clock(begins)} (between ${time(from)} and ${time(until)})${
    release === null ? '' : `, release ${visible(release || '(none)', 80)} began ${time(began)}`}.`;
}

/** Clocks by zone. @type {Record<string, Intl.DateTimeFormat>} */
const clocks = {};

/** Returns a time to the minute by the clock of a zone, as Swedes write it. @param {string | number | Date} time @param {string} zone */
const localTime = (time, zone) => (clocks[zone] ??= new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' })).format(new Date(time));

/** Returns the time zone of an answer of timezone_of: UTC if it has none, or one that this browser does not know; undefined without an answer. @param {{ rows: Record<string, any>[] } | undefined} answer */
export function zoneOf(answer) {
  const site = answer && (answer.rows[0]?.timezone_of ?? 'UTC');
  try {
    if (site) localTime(0, site);
    return site;
  } catch {
    return 'UTC';
  }
}

/**
 * Returns when a step of a trend begins, and by which clock: of an hour the clock of all times; of a day the site's, but
 * where hours are gone a step is a UTC day.
 * @param {string | number} bucket @param {string} [days] the zone of days; undefined: steps are hours
 * @returns {[string, string]}
 */
export function stepTime(bucket, days) {
  const [local, utc] = [days ?? zone, 'UTC'].map((each) => localTime(bucket, each));
  return !days || local.endsWith(' 00:00') || !utc.endsWith(' 00:00') ? [local, days ?? zone] : [utc, 'UTC'];
}

/** Control characters, and those that turn the direction of the text after them. */
const hidden = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff]|[\ud800-\udfff](?![\udc00-\udfff])|\u{e0001}|[\u{e0020}-\u{e007f}]/gu;

/**
 * Returns a name as it can be shown: characters that are invisible or turn the text's direction as escapes, the rest as
 * it is, and at most `most` code points.
 * @param {string | null | undefined} text
 * @param {number} [most]
 */
export function visible(text, most = 1100) {
  if (text === null || text === undefined) return '';
  const shown = text.replace(hidden, (character) => `\\u{${/** @type {number} */ (character.codePointAt(0)).toString(16)}}`);
  if (shown.length <= most) return shown;
  const points = [...shown];
  return points.length <= most ? shown : `${points.slice(0, most - 1).join('')}…`;
}

/** @typedef {{ resource?: string | null, line?: number | null, column_number?: number | null }} Place */

/** @param {Place} place */
const position = ({ line, column_number: column }) => (isMissing(line) ? '' : `:${line}${isMissing(column) ? '' : `:${column}`}`);

/** Returns a place in whole. @param {Place} place */
export const place = (place) => (place.resource ? visible(place.resource) + position(place) : '');

/** Returns a place with the last part of its address. @param {Place} place */
export function shortPlace(place) {
  if (!place.resource) return '';
  const parts = place.resource.split('/').filter(Boolean);
  return visible(parts.length > 2 ? parts[parts.length - 1] : place.resource.replace(/^https?:\/\//, ''), 60) + position(place);
}

/** Returns the address of a resource if it is one that may be opened. @param {string | null | undefined} resource @param {RegExp} [schemes] */
export function webAddress(resource, schemes = /^https?:$/) {
  if (!resource) return null;
  try {
    const url = new URL(resource);
    return schemes.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Returns the host of a resource, or ''. @param {string | null | undefined} resource */
export function hostOf(resource) {
  const address = webAddress(resource);
  return address ? new URL(address).host : '';
}

/** The start of a formula, behind characters that a spreadsheet drops: blanks, controls, and characters without width. */
const formula = /^[\0-\u0008\v\f\u000e-\u0020\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{e0000}-\u{e0fff}]*[=+\-@\t\r\n＝＋－＠﹦﹢﹣﹫]/u;

/** @param {unknown} value */
function csvCell(value) {
  if (value === null || value === undefined) return '';
  let text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  // A spreadsheet would run such a text as a formula.
  if (typeof value !== 'number' && formula.test(text) && !/^-?\d+(\.\d+)?$/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * Returns a table as RFC 4180 has it; texts that a spreadsheet would run get an apostrophe.
 * @param {string[]} columns
 * @param {Record<string, unknown>[]} rows
 */
export const csv = (columns, rows) =>
  [columns, ...rows.map((row) => columns.map((column) => row[column]))].map((cells) => `${cells.map(csvCell).join(',')}\r\n`).join('');

/** Returns a cell of Markdown: a text is code, which it cannot leave. @param {unknown} value */
function markdownCell(value) {
  if (value === null || value === undefined || value === '') return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const line = [...visible(typeof value === 'string' ? value : JSON.stringify(value)).replace(/\s+/g, ' ')].slice(0, 200).join('');
  if (!/[`|\\]/.test(line)) return `\`${line}\``;
  return `<code>${line.replace(/[!-/:-@[-`{-~]/g, (mark) => `&#${mark.charCodeAt(0)};`)}</code>`;
}

/** Returns a table of Markdown. @param {string[]} columns @param {Record<string, unknown>[]} rows */
export const markdown = (columns, rows) =>
  [columns, columns.map(() => '---'), ...rows.map((row) => columns.map((column) => markdownCell(row[column])))].map((cells) => `| ${cells.join(' | ')} |\n`).join('');

/** Returns "1 upload", "2 uploads". @param {number} value @param {string} noun */
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
