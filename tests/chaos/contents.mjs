// SPDX-License-Identifier: Apache-2.0
/**
 * Exports some kept sessions, as an operator would, and compares them with what was sent.
 */
import path from 'node:path';

import { sumsOf } from '../behaviour/oracle.mjs';
import { readDump, selfTime, walk } from '../behaviour/speed_tracer_oracle.mjs';
import { binDir, runOrThrow } from '../behaviour/stack.mjs';
import { keys } from './counted.mjs';

/** @typedef {import('./uploads.mjs').Upload} Upload */

const readEach = 5;

/**
 * By format: the sums of the content, and those of the upload.
 * @type {Record<string, { read: (content: string) => number[], sent: (upload: Upload) => number[] }>}
 */
const formats = {
  'self-profile': {
    read: (content) => {
      const { trace, sampleInterval } = JSON.parse(content);
      const { samples, profiled_us, unattributed_us } = sumsOf(trace, sampleInterval);
      return [samples, profiled_us, unattributed_us];
    },
    sent: ({ sums }) => [sums.samples, sums.profiled_us, sums.unattributed_us],
  },
  'speed-tracer': {
    read: (content) => {
      let [events, self_us] = [0, 0];
      walk(readDump(content), (item) => {
        events++;
        self_us += selfTime(item);
      });
      return [events, self_us];
    },
    sent: ({ listed }) => [listed.events, listed.self_us],
  },
  'opera-scope': {
    read: (content) => {
      /** @type {{ reply: any[] }[]} */
      const lists = JSON.parse(content)['opera-scope'].timelines;
      const once = new Map(lists.map((list) => [JSON.stringify(list), list.reply[1].length]));
      return [once.size, [...once.values()].reduce((sum, events) => sum + events, 0)];
    },
    sent: ({ listed }) => [listed.timelines, listed.events],
  },
};

/**
 * @param {import('./ledger.mjs').Ledger} ledger
 * @param {import('../behaviour/stack.mjs').Postgres} postgres
 * @returns {Promise<string[]>} differences in words
 */
export async function contentDifferences({ uploads }, postgres) {
  const lines = [];
  for (const [format, { read, sent }] of Object.entries(formats)) {
    const rows = await postgres.sql(`select session_id::text as id, ${keys}
      from fleetprof_data.session join fleetprof_data.segment using (segment_id)
      where format = '${format}' order by session_id limit ${readEach}`);
    for (const row of rows) {
      const upload = row.keys.map((/** @type {string} */ key) => uploads.get(key)?.upload).find(Boolean);
      const content = await runOrThrow([path.join(binDir, 'fleetprof'), 'session', 'export',
        '-d', postgres.conninfo('fleetprof_reader'), '--', row.id]);
      const [found, wanted] = [read(content), upload && sent(upload)];
      if (String(found) !== String(wanted)) lines.push(`contents: ${row.keys}: sent ${wanted}, kept ${found}`);
    }
  }
  return lines;
}
