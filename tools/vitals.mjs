// SPDX-License-Identifier: Apache-2.0
/** The tables of web vitals and of their changes, schema/vitals and schema/vital_changes, for programs in JavaScript. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A row; schema/vitals explains the columns.
 * @typedef {{ name: string, unit: string, good: number, poor: number, parts: { name: string, member: string }[], element: string, meaning: string }} Vital
 */

const repository = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/** Returns the cells of a table. @param {string} file */
const rowsOf = (file) => fs.readFileSync(path.join(repository, 'schema', file), 'utf8').split('\n')
  .filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.split('|').map((cell) => cell.trim()));

/** @type {Vital[]} */
export const vitals = rowsOf('vitals').map(([name, unit, good, poor, list, element, meaning]) => {
  const parts = list.split(', ').filter(Boolean).map((part) => part.split(' ')).map(([part, member]) => ({ name: part, member }));
  return { name, unit, good: Number(good), poor: Number(poor), parts, element, meaning };
});

/** Where a source of the table stands. @type {Record<string, string>} */
const addresses = { 'browser-compat-data': 'https://github.com/mdn/browser-compat-data' };
const changelog = 'https://chromium.googlesource.com/chromium/src/+/refs/heads/main/docs/speed/metrics_changelog';

/** @type {{ names: string[], browsers: string[], version: number, since: string, source: string, meaning: string }[]} */
export const vitalChanges = rowsOf('vital_changes').map(([names, browsers, version, since, source, meaning]) => ({
  names: names.split(', '), browsers: browsers.split(', '), version: Number(version), since, source: addresses[source] ?? `${changelog}/${source}`, meaning,
}));
