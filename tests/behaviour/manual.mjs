// SPDX-License-Identifier: Apache-2.0
/** Blocks of code out of the manual, for tests that run them as they stand. */
import fs from 'node:fs';
import path from 'node:path';

import { repository } from './stack.mjs';

/**
 * @param {string} page such as `nginx.md`
 * @param {string} language as it stands behind the fence
 * @returns {string[]} the blocks in order
 */
export function blocksOf(page, language) {
  const text = fs.readFileSync(path.join(repository, 'docs', page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].filter(([, given]) => given === language).map(([, , block]) => block);
}
