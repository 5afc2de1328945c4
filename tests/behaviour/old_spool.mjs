// SPDX-License-Identifier: Apache-2.0
/**
 * A collector on a copy of an earlier version's spool, and all its numbers in SQL that no later version may change.
 */
import fs from 'node:fs';
import path from 'node:path';

import { startCollector, temporaryDir } from './stack.mjs';

export const spoolSite = { name: 'shop', key: 'pk_shop', routes: ['/product/:id'] };

/** Whatever the date is when the test runs. */
const retention = { facts: '36500d', upload_log: '36500d', upload_ids: '3650d' };

/**
 * @param {import('./stack.mjs').Postgres} postgres
 * @param {string} spool a directory, which stays as it is
 */
export async function startOnSpool(postgres, spool) {
  const copy = path.join(temporaryDir('spool'), 'spool');
  fs.cpSync(spool, copy, { recursive: true });
  const config = {
    database: postgres.conninfo('fleetprof_writer'),
    spool: { path: copy, max_bytes: '8MiB', segment_bytes: '1MiB' },
    sites: [spoolSite],
    retention,
  };
  return startCollector({ config });
}

/** @param {import('./stack.mjs').Postgres} postgres */
export async function spoolSums(postgres) {
  const always = `'${spoolSite.name}', since => '-infinity', until => 'infinity'`;
  return {
    hotspots: await postgres.sql(`select function, resource, line, column_number, kind, self_ms, total_ms,
        samples, uploads
      from fleetprof.hotspots(${always}, top => null)
      order by function, resource, line, column_number, kind`),
    folded: await postgres.sql(`select * from fleetprof.folded(${always}) as folded order by folded::text`),
    timings: await postgres.sql(`select name, kind, count, p50_ms, p95_ms, min_ms, max_ms, mean_ms
      from fleetprof.timings(${always}) order by kind, name`),
    inside: await postgres.sql(`select function, line, kind, self_ms, total_ms, samples, uploads, self_ms_per_load, self_share
      from fleetprof.measure_hotspots('boot', ${always}, top => null) order by function, line`),
    markers: await postgres.sql(`select marker, samples, self_ms from fleetprof.markers(${always}) order by marker`),
    segments: await postgres.sql(`select route, release, environment, variant, browser, os, device, thread
      from fleetprof.segment order by release, route, thread`),
    uploads: await postgres.sql(`select upload_id, (extract(epoch from received) * 1000000)::bigint as received_us, coverage, timings,
        samples, unattributed_samples, profiled_ms, unattributed_ms, browser_version, body_bytes
      from fleetprof.upload_log order by upload_id`),
  };
}
