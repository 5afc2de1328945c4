// SPDX-License-Identifier: Apache-2.0
/**
 * An updated collector continues with the spool of the earlier version: all of it counts, to the microsecond as that
 * version would have counted it.
 *
 * tests/tools/make_old_spool.mjs made the spools, and says when another one is due.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { spoolSite, spoolSums, startOnSpool } from './old_spool.mjs';
import { repository, startPostgres, waitFor } from './stack.mjs';

const data = path.join(repository, 'tests/data');

for (const version of fs.readdirSync(data).filter((name) => /^spool-v\d+$/.test(name))) {
  test(`what ${version} holds counts as it did then, except its torn end`, async () => {
    const postgres = await startPostgres({ migrated: true });
    const collector = await startOnSpool(postgres, path.join(data, version, 'spool'));
    try {
      await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_records === 0, { what: 'empty spool' });
      const expected = JSON.parse(fs.readFileSync(path.join(data, version, 'sums.json'), 'utf8'));
      const sums = Object.entries(await spoolSums(postgres)).filter(([name]) => name in expected);
      assert.deepEqual(Object.fromEntries(sums), expected);

      // Behind the torn end it goes on.
      const reply = await send(`${collector.url}/v1/ingest/${spoolSite.key}`, { body: envelope({ release: 'torn' }) });
      assert.equal(reply.status, 204);
      await waitFor(async () => (await postgres.sql(`select 1 from fleetprof.upload_log where release = 'torn'`)).length,
        { what: 'upload after the upgrade' });
    } finally {
      await collector.stop();
      await postgres.stop();
    }
  });
}
