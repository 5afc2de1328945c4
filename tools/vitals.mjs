// SPDX-License-Identifier: Apache-2.0
/** The table of web vitals, schema/vitals, for programs in JavaScript. */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A row; schema/vitals explains the columns.
 * @typedef {{ name: string, unit: string, good: number, poor: number, parts: { name: string, member: string }[], element: string, meaning: string }} Vital
 */

const repository = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

/** @type {Vital[]} */
export const vitals = fs.readFileSync(path.join(repository, 'schema/vitals'), 'utf8').split('\n')
  .filter((line) => line !== '' && !line.startsWith('#')).map((line) => {
    const [name, unit, good, poor, list, element, meaning] = line.split('|').map((cell) => cell.trim());
    const parts = list.split(', ').filter(Boolean).map((part) => part.split(' ')).map(([part, member]) => ({ name: part, member }));
    return { name, unit, good: Number(good), poor: Number(poor), parts, element, meaning };
  });
