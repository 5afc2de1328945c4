// SPDX-License-Identifier: Apache-2.0
/**
 * In a network of its own, whose loopback has the address 10.9.8.7: cuts a collector from its primary, which listens there,
 * and promotes the standby.
 *
 *     network_cut_inside.mjs OPTION-OF-THE-CONNECTION-STRING LIMIT-MS
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { runOrThrow, startCollector, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { openLedger } from './ledger.mjs';
import { primaryOf, startPrimary, startStandby, untilCounted, uploads } from './standby.mjs';

const [, , option, limit] = process.argv;

/** Takes the address away: what is sent to it has no route. */
const cut = () => runOrThrow(['perl', '-e', `use Socket; socket(S, PF_INET, SOCK_DGRAM, 0);
  my $down = pack('a16s', 'lo:1', 0); ioctl(S, 0x8914, $down) or die "down: $!"`]);

const dir = temporaryDir('hba');
fs.writeFileSync(path.join(dir, 'pg_hba.conf'), 'local all all trust\nlocal replication all trust\nhost all all 10.9.8.7/32 trust\n');
await runOrThrow(['chown', '-R', 'postgres:postgres', dir]);
const primary = await startPrimary({ listen_addresses: '127.0.0.1,10.9.8.7', hba_file: path.join(dir, 'pg_hba.conf') });
const standby = await startStandby(primary, 'twin');
const ledger = openLedger();
const conninfo = `${primaryOf(primary, standby).replace('127.0.0.1', '10.9.8.7')} ${option}`;
const collector = await startCollector({ config: { database: conninfo } });
await uploads(ledger, collector, 10);
await untilCounted(standby.sql, 10);
await cut();
await standby.promote();
await uploads(ledger, collector, 10);
await waitFor(() => /msg="flush failed.*(timed out|unreachable|No route)/.test(collector.server.output()), { what: 'end of the connection', timeoutMs: Number(limit) });
await ledger.settle(`the network is cut under an open connection ${option}`, standby.sql, { timeoutMs: 120_000 });
assert.doesNotMatch(collector.server.output(), /no answer from the server/);
await collector.stop();
await standby.stop();
await primary.stop('SIGQUIT');
