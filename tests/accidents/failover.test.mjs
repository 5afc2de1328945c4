// SPDX-License-Identifier: Apache-2.0
/**
 * The database goes away, and another server of the connection string goes on: silent hosts, promoted standbys, and
 * primaries that come back read-only.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';

import { doctor } from '../behaviour/doctor_site.mjs';
import { startReport } from '../behaviour/serve_tool.mjs';
import { binDir, collectorConfig, repository, run, startCollector, startProcess, temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { openLedger } from './ledger.mjs';
import { startPgBouncer } from './pgbouncer.mjs';
import { counted, list, primaryOf, startPrimary, startStandby, untilCounted, uploads } from './standby.mjs';

const fleetprof = path.join(binDir, 'fleetprof');

/**
 * A frozen primary: the kernel accepts connections, and nobody answers. With a full queue the kernel drops what is sent.
 * @param {{ full: boolean }} how
 */
async function startFrozen({ full }) {
  const postgres = await startPrimary({ max_connections: 10 });
  process.kill(postgres.server.pid, 'SIGSTOP');
  /** @type {net.Socket[]} */
  const queue = [];
  while (full) {
    const socket = net.connect(postgres.port, '127.0.0.1').on('error', () => {});
    queue.push(socket);
    const isIn = await new Promise((resolve) => {
      socket.once('connect', () => resolve(true));
      setTimeout(() => resolve(false), 700).unref();
    });
    if (!isIn) break;
  }
  return { port: postgres.port, stop: async () => {
    for (const socket of queue) socket.destroy();
    process.kill(postgres.server.pid, 'SIGCONT');
    await postgres.stop('SIGQUIT');
  } };
}

for (const full of [false, true]) {
  const how = full ? 'drops what it is sent (a full queue)' : 'accepts and says nothing';
  test(`the first host ${how}: it costs each program one deadline`, async () => {
    const frozen = await startFrozen({ full });
    const postgres = await startPrimary();
    const conninfo = primaryOf(frozen, postgres);
    const ledger = openLedger();
    const collector = await startCollector({ config: { database: conninfo } });
    const beganMs = performance.now();
    await uploads(ledger, collector, 10);
    await untilCounted(postgres.sql, 10);
    assert.ok(performance.now() - beganMs < 12_000, 'the collector goes on to the second host');
    await ledger.settle(`the first host ${how}`, postgres.sql);

    const readers = conninfo.replace('fleetprof_writer', 'fleetprof_reader');
    const report = await startReport(readers);
    assert.equal((await report.json('/api/v1/version')).schema, 'ok');
    await report.server.stop();
    for (const args of [['top'], ['status', '--over=0'], ['migrate']]) {
      const asWhom = args[0] === 'migrate' ? conninfo.replace('fleetprof_writer', 'postgres') : readers;
      const startMs = performance.now();
      const { code, stdout, stderr } = await run([fleetprof, ...args, '-d', asWhom]);
      assert.equal(code, 0, `${args}: ${stdout}${stderr}`);
      assert.ok(performance.now() - startMs < 9000, `${args} took ${performance.now() - startMs} ms`);
    }
    const examined = await doctor(['-c', collector.file]);
    assert.deepEqual(examined.findings, [], JSON.stringify(examined.findings));
    const { code, stdout } = await run([fleetprof, 'status', '--over=0', '-c', collector.file]);
    assert.equal(code, 0, stdout);
    await collector.stop();
    await Promise.all([frozen.stop(), postgres.stop()]);
  });
}

test('all hosts are silent: each program says so in time, and a stop is not held up', async () => {
  const frozen = await startFrozen({ full: false });
  const conninfo = list([frozen, frozen]).replace('connect_timeout=1', '');
  const collector = await startCollector({ config: { database: conninfo } });
  await waitFor(() => collector.server.output().includes('flush failed'), { what: 'line about the flush' });
  assert.match(collector.server.output(), new RegExp(`state=unreachable .*port ${frozen.port} failed: no answer in 3 s`));
  const stopMs = performance.now();
  await collector.stop();
  assert.ok(performance.now() - stopMs < 12_000, 'the search does not hold a stop up');
  const beganMs = performance.now();
  const { code, stderr } = await run([fleetprof, 'top', '-d', conninfo]);
  const tookMs = performance.now() - beganMs;
  assert.equal(code, 2, stderr);
  assert.match(stderr, /could not connect to the database\n.*no answer in 3 s/s);
  assert.ok(tookMs > 5500 && tookMs < 9000, `${tookMs} ms`);
  const report = await startReport(conninfo);
  assert.match((await report.problem('/api/v1/sites')).detail, /does not answer/);
  await report.server.stop();
  await frozen.stop();
});

test('a name has two addresses, and the first is silent', { skip: await canMount() ? false : 'no mount namespace' }, async () => {
  // The resolver puts 127.0.0.1 first, whatever the order of the lines.
  const postgres = await startPrimary({ listen_addresses: '127.0.0.9' });
  const silent = net.createServer(() => {}).listen(postgres.port, '127.0.0.1');
  const hosts = path.join(temporaryDir('hosts'), 'hosts');
  fs.writeFileSync(hosts, '127.0.0.9 fleetprof-database\n127.0.0.1 fleetprof-database\n');
  const conninfo = `host=fleetprof-database port=${postgres.port} dbname=fleetprof user=fleetprof_writer connect_timeout=1`;
  const within = ['unshare', '--mount', 'sh', '-c', `mount --bind ${hosts} /etc/hosts && exec "$@"`, 'sh'];
  const beganMs = performance.now();
  const { code, stderr } = await run([...within, fleetprof, 'top', '-d', conninfo.replace('_writer', '_reader')]);
  const tookMs = performance.now() - beganMs;
  assert.equal(code, 0, stderr);
  assert.ok(tookMs > 1000 && tookMs < 8000, `${tookMs} ms`);
  const { file, config } = await collectorConfig({ database: conninfo });
  const server = startProcess('fleetprofd', [...within, path.join(binDir, 'fleetprofd'), '-c', file]);
  const ledger = openLedger();
  await waitFor(async () => (await fetch(`http://${config.admin}/readyz`)).ok);
  await uploads(ledger, { url: `http://${config.listen}` }, 5);
  await ledger.settle('a name with two addresses, the first of which is silent', postgres.sql);
  await server.stop();
  silent.close();
  await postgres.stop();
});

async function canMount() {
  return (await run(['unshare', '--mount', 'mount', '--bind', '/etc/hosts', '/etc/hosts'])).code === 0;
}

test('the primary is lost and its synchronous standby promoted: nothing is lost', async () => {
  const primary = await startPrimary();
  const standby = await startStandby(primary, 'twin');
  await primary.execute('alter system set synchronous_standby_names = \'twin\'; select pg_reload_conf()');
  const ledger = openLedger();
  // The standby comes first: before the promotion it is read-only, and the collector goes on.
  const collector = await startCollector({ config: { database: primaryOf(standby, primary) } });
  await uploads(ledger, collector, 20);
  await untilCounted(primary.sql, 20);
  for (let i = 0; i < 30; i++) {
    if (i === 10) process.kill(primary.server.pid, 'SIGQUIT');
    if (i === 20) await standby.promote();
    await uploads(ledger, collector, 1);
  }
  await ledger.settle('a synchronous standby is promoted', standby.sql);
  assert.equal((await collector.metrics()).fleetprof_uploads_recounted_total, 0);
  await collector.stop();
  await standby.stop();
});

/**
 * Takes the primary away with uploads that its asynchronous standby does not have.
 * @param {{ restart: boolean, keep?: string }} how restart: the collector, while no database is there
 */
async function loseCommits({ restart, keep = '1h' }) {
  const primary = await startPrimary();
  const standby = await startStandby(primary, 'late');
  const ledger = openLedger();
  const config = { database: primaryOf(primary, standby) };
  let collector = await startCollector({ config });
  await uploads(ledger, collector, 20);
  await untilCounted(primary.sql, 20);
  await untilCounted(standby.sql, 20);
  const [{ pid }] = await primary.sql('select pid from pg_stat_replication');
  process.kill(pid, 'SIGSTOP');
  await uploads(ledger, collector, 25);
  await untilCounted(primary.sql, 45);
  if (keep !== '1h') {
    // A start gives up the segment that it finds full of counted records.
    await collector.stop();
    collector = await startCollector({ config: { ...collector.config, spool: { ...collector.config.spool, keep } } });
    await waitFor(() => fs.readdirSync(collector.config.spool.path).filter((name) => name.endsWith('.seg')).length === 1,
      { what: 'deletion of the segment' });
  }
  process.kill(pid, 'SIGKILL');
  await primary.stop('SIGQUIT');
  if (restart) {
    await collector.stop();
    collector = await startCollector({ config: collector.config });
  }
  await uploads(ledger, collector, 5);
  await standby.promote();
  return { ledger, collector, standby };
}

for (const restart of [false, true]) {
  const name = `the promoted standby lacks commits${restart ? ', and the collector was restarted meanwhile' : ''}`;
  test(`${name}: they are counted again from the spool`, async () => {
    const { ledger, collector, standby } = await loseCommits({ restart });
    await ledger.settle(name, standby.sql);
    assert.equal(await counted(standby.sql), 50);
    const metrics = await collector.metrics();
    assert.equal(metrics.fleetprof_uploads_recounted_total, 25);
    assert.equal(metrics.fleetprof_spool_records_out_of_reach_total, 0);
    assert.match(collector.server.output(), /database has lost uploads.*position=20 counted=45 out_of_reach=0/);
    await collector.stop();
    await standby.stop();
  });
}

test('a pooler leads an open connection to the promoted standby, which lacks commits: they and their names are counted again', async () => {
  const primary = await startPrimary();
  const standby = await startStandby(primary, 'late');
  const pooler = await startPgBouncer(primary, { mode: 'transaction' });
  const ledger = openLedger();
  const collector = await startCollector({ config: { database: pooler.conninfo() } });
  const upload = async (/** @type {number} */ count) => {
    for (let i = 0; i < count; i++) {
      const body = { marks: [{ name: 'seen late', entryType: 'mark', startTime: 1 }] };
      assert.equal(await ledger.upload(collector.url, { site: 'demo', key: 'pk_demo', body }), 204);
    }
  };
  await uploads(ledger, collector, 20);
  await untilCounted(primary.sql, 20);
  await untilCounted(standby.sql, 20);
  const [{ pid }] = await primary.sql('select pid from pg_stat_replication');
  process.kill(pid, 'SIGSTOP');
  await upload(25);
  await untilCounted(primary.sql, 45);
  process.kill(pid, 'SIGKILL');
  await primary.stop('SIGQUIT');
  await standby.promote();
  pooler.lead({ host: '127.0.0.1', port: standby.port });
  await upload(5);
  await ledger.settle('a pooler leads an open connection to the promoted standby', standby.sql);
  assert.equal(await counted(standby.sql), 50);
  assert.equal(collector.server.output().match(/connected to the database/g)?.length, 1, 'the connection stayed open');
  assert.deepEqual(await standby.sql(`select count::int as count from fleetprof.timings('demo') where name = 'seen late'`), [{ count: 30 }]);
  await collector.stop();
  await pooler.stop();
  await standby.stop();
});

test('the promoted standby lacks commits that the spool has given up: they are named', async () => {
  const { collector, standby } = await loseCommits({ restart: false, keep: '0s' });
  await untilCounted(standby.sql, 25);
  const metrics = await collector.metrics();
  assert.equal(metrics.fleetprof_spool_records_out_of_reach_total, 25);
  assert.equal(metrics.fleetprof_uploads_recounted_total, 0);
  assert.match(collector.server.output(), /level=error msg="database has lost uploads.*position=20 counted=45 out_of_reach=25/);
  const { stdout } = await run([fleetprof, 'status', '--over=0', '-c', collector.file]);
  assert.match(stdout, /note: uploads-lost: .*\n.*\n *seen: +at most 25 requests/);
  await collector.stop();
  await standby.stop();
});

test('the promoted standby has nothing of a new collector, and the spool has given it up: it is named', async () => {
  const primary = await startPrimary();
  const standby = await startStandby(primary, 'late');
  const [{ pid }] = await primary.sql('select pid from pg_stat_replication');
  process.kill(pid, 'SIGSTOP');
  const ledger = openLedger();
  const first = await startCollector({ config: { database: primaryOf(primary, standby) } });
  await uploads(ledger, first, 15);
  await untilCounted(primary.sql, 15);
  await first.stop();
  const collector = await startCollector({ config: { ...first.config, spool: { ...first.config.spool, keep: '0s' } } });
  await waitFor(() => fs.readdirSync(collector.config.spool.path).filter((name) => name.endsWith('.seg')).length === 1,
    { what: 'deletion of the segment' });
  process.kill(pid, 'SIGKILL');
  await primary.stop('SIGQUIT');
  await standby.promote();
  await uploads(ledger, collector, 5);
  await untilCounted(standby.sql, 5);
  assert.equal((await collector.metrics()).fleetprof_spool_records_out_of_reach_total, 15);
  assert.match(collector.server.output(), /level=error msg="database has nothing of this spool.*counted=15 out_of_reach=15/);
  const { stdout } = await run([fleetprof, 'status', '--over=0', '-c', collector.file]);
  assert.match(stdout, /note: uploads-lost: .*\n.*\n *seen: +at most 15 requests/);
  await collector.stop();
  await standby.stop();
});

test('three collectors, one of which the promoted standby has never seen: each counts its own again', async () => {
  const primary = await startPrimary();
  const standby = await startStandby(primary, 'late');
  const ledger = openLedger();
  const config = { database: primaryOf(primary, standby) };
  const collectors = [await startCollector({ config }), await startCollector({ config })];
  for (const collector of collectors) await uploads(ledger, collector, 10);
  await untilCounted(standby.sql, 20);
  const [{ pid }] = await primary.sql('select pid from pg_stat_replication');
  process.kill(pid, 'SIGSTOP');
  collectors.push(await startCollector({ config }));
  for (const collector of collectors) await uploads(ledger, collector, 15);
  await untilCounted(primary.sql, 65);
  process.kill(pid, 'SIGKILL');
  await primary.stop('SIGQUIT');
  for (const collector of collectors) await uploads(ledger, collector, 5);
  await standby.promote();
  await ledger.settle('three collectors fail over to a standby that lacks commits', standby.sql);
  for (const collector of collectors) {
    const metrics = await collector.metrics();
    assert.equal(metrics.fleetprof_uploads_recounted_total, 15);
    assert.equal(metrics.fleetprof_spool_records_out_of_reach_total, 0);
    await collector.stop();
  }
  await standby.stop();
});

test('the primary becomes read-only under the collector, and stays so: the other host goes on', async () => {
  const primary = await startPrimary();
  const standby = await startStandby(primary, 'twin');
  const ledger = openLedger();
  const collector = await startCollector({ config: { database: primaryOf(primary, standby) } });
  await uploads(ledger, collector, 10);
  await untilCounted(standby.sql, 10);
  await standby.promote();
  await primary.execute('alter system set default_transaction_read_only = on; select pg_reload_conf()');
  await uploads(ledger, collector, 10);
  await ledger.settle('the primary becomes read-only under the collector', standby.sql);
  // It comes back, still read-only, to a collector that starts again.
  await collector.stop();
  await primary.stop();
  await primary.start();
  const again = await startCollector({ config: collector.config });
  await uploads(ledger, again, 10);
  await ledger.settle('a former primary comes back read-only', standby.sql);
  await again.stop();

  // Without target_session_attrs nothing tells the collector to search: it says what to write.
  const lost = await startCollector({ config: { database: list([primary]) } });
  await waitFor(() => /state=read_only .*hint=.*target_session_attrs=read-write/.test(lost.server.output()), { what: 'hint' });
  await lost.stop();
  const alone = await startCollector({ config: { database: primaryOf(primary) } });
  await waitFor(() => /state=read_only .*session is read-only.*hint=.*accepts writes/.test(alone.server.output()), { what: 'hint' });
  const { findings } = await doctor(['-c', lost.file]);
  assert.ok(findings.some(({ id, seen }) => id === 'database-rights' && seen.includes('read-only')), JSON.stringify(findings));
  await alone.stop();
  await Promise.all([primary.stop(), standby.stop()]);
});

test('a server goes silent under an open connection: the collector goes on to the other host',
  { skip: process.env.FLEETPROF_LONG === '1' ? false : 'takes two minutes; FLEETPROF_LONG=1' }, async () => {
    const primary = await startPrimary();
    const standby = await startStandby(primary, 'twin');
    const ledger = openLedger();
    const collector = await startCollector({ config: { database: primaryOf(primary, standby) } });
    await uploads(ledger, collector, 10);
    await untilCounted(standby.sql, 10);
    const backends = await primary.sql('select pid from pg_stat_activity where usename = \'fleetprof_writer\'');
    for (const { pid } of [...backends, { pid: primary.server.pid }]) process.kill(pid, 'SIGSTOP');
    await standby.promote();
    await uploads(ledger, collector, 10);
    await ledger.settle('a server goes silent under an open connection', standby.sql, { timeoutMs: 150_000 });
    await collector.stop();
    for (const { pid } of [...backends, { pid: primary.server.pid }]) process.kill(pid, 'SIGKILL');
    await standby.stop();
  });

/** Gives the loopback of a new network one more address: ioctls, as iproute2 is not on every machine. */
const secondAddress = `
use Socket;
socket(S, PF_INET, SOCK_DGRAM, 0);
my $up = pack('a16s', 'lo', 1);
ioctl(S, 0x8914, $up) or die "up: $!";
my $set = pack('a16', 'lo:1') . pack_sockaddr_in(0, inet_aton('10.9.8.7'));
ioctl(S, 0x8916, $set) or die "address: $!";
`;
const noNetwork = await run(['unshare', '--net', '--', 'true']).then(({ code, stderr }) => (code === 0 ? false : `needs namespaces: ${stderr}`));

for (const { name, limit, withinMs, skip } of [
  { name: "tcp_user_timeout of the connection string", limit: 'tcp_user_timeout=3000', withinMs: 25_000, skip: noNetwork },
  { name: 'the default', limit: '', withinMs: 80_000, skip: process.env.FLEETPROF_LONG === '1' ? noNetwork : 'takes 40 seconds; FLEETPROF_LONG=1' },
]) {
  test(`the network is cut under an open connection: the collector gives it up after ${name}`, { skip }, async () => {
    const inside = path.join(repository, 'tests/accidents/network_cut_inside.mjs');
    const { code, stdout, stderr } = await run(['unshare', '--net', '--', 'bash', '-ec', `perl -e "$0"; exec '${process.execPath}' '${inside}' '${limit}' ${withinMs}`,
      secondAddress]);
    assert.equal(code, 0, stdout + stderr);
  });
}
