// SPDX-License-Identifier: Apache-2.0
/** `fleetprof doctor` finds two mistakes that were made at once: each pair of those that do not hide each other. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { both, independent, pageMistakes } from './doctor_setups.mjs';
import { doctor, startSite } from './doctor_site.mjs';
import { long } from './nginx/nginx.mjs';

const pairs = independent.flatMap((one, i) => independent.slice(i + 1).map((other) => (
  /** @type {const} */ ([`${one}-${other}`, both(pageMistakes[one], pageMistakes[other])]))));

describe('pairs of mistakes', { skip: !long && 'set FLEETPROF_LONG=1', concurrency: 2 }, () => {
  /** @type {Awaited<ReturnType<typeof startSite>>} */
  let site;
  before(async () => { site = await startSite('nginx', { right: {}, ...Object.fromEntries(pairs) }); });
  after(() => site.stop());

  for (const [name, { finds = [] }] of pairs) {
    test(`${name}: ${finds.join(', ')}`, async () => {
      const { findings } = await doctor(['--repeat', '2', ...site.argumentsFor(name)]);
      assert.deepEqual([...new Set(findings.map(({ id }) => id))].sort(), [...finds].sort(), JSON.stringify(findings, null, 1));
    });
  }
});
