// SPDX-License-Identifier: Apache-2.0
/**
 * Prints the ledger of all accidents of a run, one line each, then their sum; fails if an upload is missing, counted twice
 * or under another site, or if there is no line.
 */
import fs from 'node:fs';

import { resultsFile } from './ledger.mjs';

const results = fs.readFileSync(resultsFile, 'utf8').trim().split('\n').filter(Boolean)
  .map((line) => /** @type {import('./ledger.mjs').Result} */ (JSON.parse(line)));

/** @param {'acknowledged' | 'counted' | 'missing' | 'twice' | 'misplaced'} column */
const sum = (column) => results.reduce((total, result) => total + result[column], 0);

for (const result of results) {
  console.log(`ledger: ${result.acknowledged} acknowledged, ${result.counted} counted: ${result.accident}`);
}
console.log(`ledger: ${results.length} accidents, ${sum('acknowledged')} acknowledged, ${sum('counted')} counted, `
  + `${sum('missing')} missing, ${sum('twice')} twice, ${sum('misplaced')} charged to another site`);
const isRight = results.length > 0 && sum('acknowledged') > 0 && sum('acknowledged') === sum('counted')
  && sum('missing') + sum('twice') + sum('misplaced') === 0;
process.exitCode = isRight ? 0 : 1;
