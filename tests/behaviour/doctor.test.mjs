// SPDX-License-Identifier: Apache-2.0
/**
 * `fleetprof doctor URL` against real servers: each mistake, made on purpose, gives its finding and no other; a right
 * set-up gives none.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { pageMistakes, rightSetups, serverMistakes } from './doctor_setups.mjs';
import { envelope, send } from './collector_client.mjs';
import { doctor, startSite } from './doctor_site.mjs';
import { startCollector, temporaryDir, waitFor } from './stack.mjs';

/** Each server has its own mistakes; those of pages are the same behind both. */
const servers = /** @type {const} */ ([
  ['nginx', { ...rightSetups, ...serverMistakes, ...pageMistakes }],
  ['httpd', { ...rightSetups, ...serverMistakes }],
]);

/** @type {Record<string, Awaited<ReturnType<typeof startSite>>>} */
const sites = {};
before(async () => { for (const [kind, setups] of servers) sites[kind] = await startSite(kind, setups); });
after(async () => { for (const site of Object.values(sites)) await site.stop(); });

for (const [kind, setups] of servers) {
  describe(kind, { concurrency: 2 }, () => {
    for (const [name, { finds = [] }] of Object.entries(setups)) {
      test(`${name}: ${finds.join(', ') || 'nothing'}`, async () => {
        const { code, stderr, findings } = await doctor(['--repeat', '3', ...sites[kind].argumentsFor(name)]);
        assert.equal(stderr, '');
        assert.deepEqual([...new Set(findings.map(({ id }) => id))].sort(), [...finds].sort(), JSON.stringify(findings, null, 1));
        assert.equal(code, findings.some(({ severity }) => severity === 'wrong') ? 1 : 0);
      });
    }
  });
}

test('nothing that doctor sends is stored', async () => {
  for (const { collector } of Object.values(sites)) {
    const metrics = await collector.metrics();
    assert.ok(metrics['fleetprof_dry_runs_total{result="accepted"}'] > 10);
    assert.equal(metrics['fleetprof_uploads_accepted_total{site="shop"}'], 0);
    assert.equal(metrics.fleetprof_spool_backlog_records, 0);
  }
});

test('a collector that takes nothing now', async () => {
  const { file, ...full } = await startCollector({
    config: {
      database: 'host=/nonexistent', sites: [{ name: 'shop', key: 'pk_shop', origins: [`http://right.localhost:${sites.nginx.port}`] }],
      spool: { path: `${temporaryDir('full')}/spool`, max_bytes: '4MiB', segment_bytes: '1MiB' },
    },
  });
  const names = Array.from({ length: 2000 }, (_, i) => ({ name: `${i}${'x'.repeat(90)}` }));
  const body = envelope({ trace: {
    resources: [], frames: names, stacks: names.map((_, i) => ({ frameId: i })), samples: names.map((_, i) => ({ timestamp: i, stackId: i })),
  } });
  const url = `${full.url}/v1/ingest/pk_shop`;
  await waitFor(async () => (await send(url, { body })).status === 503, { what: 'full spool', intervalMs: 1 });
  const { findings } = await doctor(['--repeat', '1', '--endpoint', url, '--ignore', 'csp-connect', ...sites.nginx.argumentsFor('right')]);
  assert.deepEqual(findings.map(({ id }) => id), ['collector-busy']);
  await full.stop();
});
