// SPDX-License-Identifier: Apache-2.0
/**
 * The web report in real Chromium, on what a real collector, PostgreSQL and `fleetprof serve` give: numbers on screen are
 * SQL's, the keyboard reaches everything, addresses restore what was seen, hostile names do nothing, trouble is said in words.
 * FLEETPROF_SCREENSHOTS names a folder for the manual's pictures, FLEETPROF_NARROW one for those of a narrow screen.
 */
import path from 'node:path';
import { test } from 'node:test';

import { open, page, press } from './report/page.mjs';
import './report/overview.mjs';
import './report/numbers.mjs';
import './report/sessions.mjs';
import './report/tables.mjs';
import './report/comparisons.mjs';
import './report/keyboard.mjs';
import './report/reading.mjs';
import './report/addresses.mjs';
import './report/files.mjs';
import './report/every_view.mjs';
import './report/trouble.mjs';

test('the pictures of the manual', { skip: !process.env.FLEETPROF_SCREENSHOTS && 'FLEETPROF_SCREENSHOTS is not set' }, async () => {
  const folder = path.resolve(process.env.FLEETPROF_SCREENSHOTS ?? '');
  await page.setViewportSize({ width: 1180, height: 720 });
  await open('/shop/flame?since=2d');
  await page.focus('.icicle canvas');
  for (let i = 0; i < 8; i += 1) await press('ArrowDown');
  await page.screenshot({ path: path.join(folder, 'report-flame.png') });
  await open('/shop/compare?before=2.2.9&after=2.3.0');
  await page.screenshot({ path: path.join(folder, 'report-compare.png') });
});
