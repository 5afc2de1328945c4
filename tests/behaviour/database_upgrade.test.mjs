// SPDX-License-Identifier: Apache-2.0
/**
 * A database of an earlier version with data in it, upgraded behind a pooler of one connection: every number stays, and it
 * becomes what an empty database becomes, down to each right.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import zlib from 'node:zlib';

import { startPgBouncer } from '../accidents/pgbouncer.mjs';
import { envelope, send } from './collector_client.mjs';
import { spoolSite, spoolSums } from './old_spool.mjs';
import { binDir, postgresBinDir, repository, run, runOrThrow, startCollector, startPostgres, waitFor } from './stack.mjs';

const fleetprof = path.join(binDir, 'fleetprof');
const data = path.join(repository, 'tests/data');

/** @param {string} version */
async function startOld(version) {
  const postgres = await startPostgres();
  await postgres.execute(`create role fleetprof_owner; create role fleetprof_writer login; create role fleetprof_reader login;
    grant fleetprof_reader to fleetprof_writer`);
  await postgres.execute(zlib.gunzipSync(fs.readFileSync(path.join(data, version, 'dump.sql.gz'))).toString());
  return postgres;
}

/** Returns what pg_dump writes about each object, without partitions, which have a day of their own. @param {import('./stack.mjs').Postgres} postgres */
async function schemaOf(postgres) {
  const dump = await runOrThrow([`${postgresBinDir()}/pg_dump`, '--schema-only', postgres.conninfo()]);
  const statements = dump.replace(/^(--|\\).*\n/gm, '').split(/\n\n+/).map((statement) => statement.trim());
  return new Set(statements.filter((statement) => statement && !/_20\d{6}(?!\d)/.test(statement)));
}

/** @param {Set<string>} one @param {Set<string>} other */
const lacking = (one, other) => [...one].filter((statement) => !other.has(statement));

for (const version of fs.readdirSync(data).filter((name) => /^database-v\d+$/.test(name))) {
  test(`${version} keeps its numbers, and gets the schema that an empty database gets`, async () => {
    const [old, fresh] = await Promise.all([startOld(version), startPostgres({ migrated: true })]);
    const pooler = await startPgBouncer(old, { mode: 'transaction', size: 1, settings: { server_reset_query_always: 1 } });
    const before = await run([fleetprof, 'status', '--collector', '127.0.0.1:1', '--database', old.conninfo()]);
    assert.match(before.stdout, /database-outdated/);
    await runOrThrow([fleetprof, 'migrate', '--database', pooler.conninfo('postgres')]);
    const expected = JSON.parse(fs.readFileSync(path.join(data, version, 'sums.json'), 'utf8'));
    const sums = Object.entries(await spoolSums(old)).filter(([name]) => name in expected);
    assert.deepEqual(Object.fromEntries(sums), expected);
    const [was, is] = [await schemaOf(fresh), await schemaOf(old)];
    assert.deepEqual({ missing: lacking(was, is), extra: lacking(is, was) }, { missing: [], extra: [] });

    const collector = await startCollector({ config: { database: pooler.conninfo(), sites: [spoolSite] } });
    assert.equal((await send(`${collector.url}/v1/ingest/${spoolSite.key}`, { body: envelope({ release: 'upgraded' }) })).status, 204);
    await waitFor(async () => (await old.sql("select from fleetprof.upload_log where release = 'upgraded'")).length,
      { what: 'upload after the upgrade' });
    await collector.stop();
    await pooler.stop();
    await Promise.all([old.stop(), fresh.stop()]);
  });
}
