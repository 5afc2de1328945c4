// SPDX-License-Identifier: Apache-2.0
/**
 * A vital that is sent again replaces its earlier value: in one upload or many, in any order, by one collector or two,
 * across restarts, and for senders of plain web-vitals metrics. Nothing that a page makes up takes back more than it
 * has brought.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';

import { seededRandom } from '../chaos/random.mjs';
import { startCollector, startStack, waitFor } from './stack.mjs';

const ceiling = 300;

/** @type {import('./stack.mjs').Stack} */
let stack;
/** @type {import('./stack.mjs').Collector} */
let second;
before(async () => {
  const config = {
    sites: ['shop', 'flooded'].map((name) => ({ name, key: `pk_${name}`, routes: ['/product/:id'] })),
    ceilings: { vitals: ceiling },
  };
  stack = await startStack({ config });
  second = await startCollector({ config: { database: stack.collector.config.database, ...config } });
});
after(async () => {
  await second?.stop();
  await stack?.stop();
});

/** @type {Map<string, number>} uploads by release */
const sent = new Map();

/** @param {any} envelope @param {string} [url] @param {string} [site] */
async function post(envelope, url = stack.collector.url, site = 'shop') {
  const body = JSON.stringify({ version: 1, id: randomUUID(), page: { url: 'https://shop.example/' }, ...envelope });
  const reply = await fetch(`${url}/v1/ingest/pk_${site}`, { method: 'POST', body });
  assert.equal(reply.status, 204, await reply.text());
  sent.set(envelope.release, (sent.get(envelope.release) ?? 0) + 1);
}

/** Waits until all uploads of a release are in SQL. @param {string} release @param {string} [site] */
const counted = (release, site = 'shop') => waitFor(async () => {
  const [{ count }] = await stack.sql(
    `select count(*)::int as count from fleetprof.upload_log where release = '${release}' and site = '${site}'`);
  return count === sent.get(release);
}, { what: `uploads of ${release}` });

/** @param {string} release @param {string} [by] a dimension */
const vitals = async (release, by = 'release') => (await stack.sql(`select value, name, count::int, p75, good_share, poor_share
  from fleetprof.vitals_by('${by}', 'shop', release => '${release}', since => now() - interval '3 hours')`));

/** A vital that counts once, with this value. @param {string} release @param {string} name @param {number} value */
async function assertCountsOnce(release, name, value) {
  await counted(release);
  const found = (await vitals(release)).filter((row) => row.name === name);
  assert.equal(found.length, 1, `${name} of ${release}`);
  assert.equal(found[0].count, 1, `${name} of ${release}`);
  assert.ok(Math.abs(found[0].p75 - value) <= 0.016 * value, `${name} of ${release}: ${found[0].p75}, not ${value}`);
  return found[0];
}

async function assertNothingBelowZero() {
  assert.deepEqual(await stack.sql(`
    select segment_id, bucket, timing_id from fleetprof_data.timing_fact
    group by segment_id, bucket, timing_id having sum(count) < 0 or sum(uploads) < 0
    union all
    select segment_id, bucket, timing_id from fleetprof_data.timing_bin_fact
    group by segment_id, bucket, timing_id, bin having sum(count) < 0`), []);
}

const inp = (/** @type {number} */ value, more = {}) => ({ name: 'INP', value, id: 'v5-1-2', ...more });

test('two beacons of a plain web-vitals sender are one value, the last', async () => {
  const same = { release: 'beacons', load: randomUUID() };
  await post({ ...same, vitals: [inp(900)] });
  await counted('beacons');
  assert.equal((await assertCountsOnce('beacons', 'INP', 900)).poor_share, 1);
  await post({ ...same, vitals: [inp(120)] });
  const row = await assertCountsOnce('beacons', 'INP', 120);
  assert.deepEqual([row.good_share, row.poor_share], [1, 0]);
});

test('a metric that grew and one that shrank in one upload count with their last values', async () => {
  await post({ release: 'one', load: randomUUID(), vitals: [
    { name: 'LCP', value: 500, id: 'v5-1-1' }, { name: 'LCP', value: 2600, id: 'v5-1-1' }, inp(900), inp(120),
    { name: 'CLS', value: 0, id: 'v5-1-3' }] });
  await assertCountsOnce('one', 'LCP', 2600);
  await assertCountsOnce('one', 'INP', 120);
  await assertCountsOnce('one', 'CLS', 0);
});

test('of the parts of a page load the last has the value, whichever comes first', async () => {
  for (const [i, order] of [[0, 1, 2], [2, 1, 0], [1, 2, 0]].entries()) {
    const release = `order${i}`;
    const load = randomUUID();
    for (const part of order) {
      await post({ release, load, part, vitals: [inp([100, 900, 336][part])] });
      await counted(release);
    }
    const row = await assertCountsOnce(release, 'INP', 336);
    assert.deepEqual([row.good_share, row.poor_share], [0, 0]);
  }
});

test('another collector, and one that was restarted, also replace the value', async () => {
  const same = { release: 'elsewhere', load: randomUUID() };
  await post({ ...same, part: 0, vitals: [inp(120)] });
  await counted('elsewhere');
  await post({ ...same, part: 1, vitals: [inp(336)] }, second.url);
  await assertCountsOnce('elsewhere', 'INP', 336);
  await stack.collector.stop();
  stack.collector = await startCollector({ config: stack.collector.config });
  await post({ ...same, part: 3, vitals: [inp(689)] });
  await assertCountsOnce('elsewhere', 'INP', 689);
});

test('a value has the route of the part that brought it', async () => {
  const same = { release: 'moved', load: randomUUID() };
  await post({ ...same, part: 0, vitals: [inp(120)] });
  await counted('moved');
  await post({ ...same, part: 1, page: { url: 'https://shop.example/product/7' }, vitals: [inp(689)] });
  await counted('moved');
  const rows = await vitals('moved', 'route');
  assert.deepEqual(rows.map(({ value, name, count }) => [value, name, count]), [['/product/:id', 'INP', 1]]);
  // Where it was, nothing is left, and whoever divides by that has nothing to divide.
  const left = "'shop', release => 'moved', route => '/'";
  assert.deepEqual(await stack.sql(`select 1 from fleetprof.histogram('vital', 'INP', ${left})
    union all select 1 from fleetprof.trend('vital', 'INP', 'hour', ${left})
    union all select 1 from fleetprof.vitals(${left})`), []);
  const compared = await stack.sql(`select name, verdict from fleetprof.compare_vitals(
    'shop', before => 'elsewhere', after => 'moved', since => now() - interval '1 day')`);
  assert.ok(compared.every(({ verdict }) => ['too few', 'early'].includes(verdict)), JSON.stringify(compared));
  // The same value again stays where it is.
  await post({ ...same, part: 2, vitals: [inp(689)] });
  await counted('moved');
  assert.deepEqual(await vitals('moved', 'route'), rows);
});

test('without a load or an id, with another id or of another load, each counts', async () => {
  const load = randomUUID();
  await post({ release: 'apart', vitals: [inp(120)] });
  await post({ release: 'apart', vitals: [inp(120)] });
  await post({ release: 'apart', load, vitals: [{ name: 'INP', value: 120 }] });
  await post({ release: 'apart', load, vitals: [{ name: 'INP', value: 120 }] });
  await post({ release: 'apart', load, vitals: [inp(120)] });
  await post({ release: 'apart', load, vitals: [inp(120, { id: 'v5-1-9' })] });
  await post({ release: 'apart', load: randomUUID(), vitals: [inp(120)] });
  await counted('apart');
  assert.equal((await vitals('apart'))[0].count, 7);
});

test('an INP of a machine that slept takes the place of the earlier one, and counts apart, once', async () => {
  const load = randomUUID();
  const flagged = async () => (await stack.sql("select name, count::int, flagged::int as times from fleetprof.vitals('shop', release => 'slept')"))
    .map(({ name, count, times }) => [name, count, times]);
  for (const [part, ms, expected] of /** @type {[number, number, any[]][]} */ ([
    [0, 120, ['INP', 1, 0]], [1, 3_600_000, ['INP', 0, 1]], [2, 3_700_000, ['INP', 0, 1]], [3, 900, ['INP', 1, 0]]])) {
    await post({ release: 'slept', load, part, vitals: [inp(ms)] }, part % 2 ? second.url : stack.collector.url);
    await counted('slept');
    assert.deepEqual(await flagged(), [expected]);
  }
  await assertCountsOnce('slept', 'INP', 900);
  await assertNothingBelowZero();
});

test('a retried upload takes nothing back', async () => {
  const same = { release: 'retried', load: randomUUID(), part: 0, id: randomUUID() };
  const later = { release: 'retried', load: same.load, part: 1, vitals: [inp(689)] };
  await post({ ...same, vitals: [inp(120)] });
  await post(later);
  await counted('retried');
  const body = JSON.stringify({ version: 1, page: { url: 'https://shop.example/' }, ...same, vitals: [inp(120)] });
  for (const { url } of [stack.collector, second]) {
    assert.equal((await fetch(`${url}/v1/ingest/pk_shop`, { method: 'POST', body })).status, 204);
  }
  await post({ release: 'after', load: randomUUID(), vitals: [inp(1)] });
  await post({ release: 'after', load: randomUUID(), vitals: [inp(1)] }, second.url);
  await counted('after');
  await assertCountsOnce('retried', 'INP', 689);
});

test('two collectors that get the parts of many page loads at once agree on each value', async (t) => {
  const random = seededRandom(Date.now() % 1_000_000);
  const loads = Array.from({ length: 40 }, () => ({ load: randomUUID(), values: [0, 1, 2, 3].map(() => 1 + random.below(2000)) }));
  const parts = random.shuffled(loads.flatMap(({ load, values }) => values.map((value, part) => ({ load, part, value }))));
  await Promise.all(Array.from({ length: 8 }, async (_, i) => {
    for (let next = parts.pop(); next; next = parts.pop()) {
      const { load, part, value } = next;
      await post({ release: 'many', load, part, vitals: [inp(value), { name: 'CLS', value: value / 1e4, id: 'v5-1-3' }] },
        i % 2 ? second.url : stack.collector.url);
    }
  }));
  await counted('many');
  const last = loads.map(({ values }) => values[3]);
  const [{ good, poor, sum }] = await stack.sql(`select
      sum(count) filter (where kind = 'vital_good')::int as good, sum(count) filter (where kind = 'vital_poor')::int as poor,
      sum(sum_us) filter (where kind = 'vital') as sum
    from fleetprof_data.timing_fact join fleetprof_data.timing using (timing_id) join fleetprof_data.segment using (segment_id)
    where release = 'many' and name = 'INP'`);
  assert.deepEqual({ good, poor, sum }, {
    good: last.filter((value) => value <= 200).length,
    poor: last.filter((value) => value > 500).length,
    sum: last.reduce((all, value) => all + value * 1000, 0),
  });
  const rows = await vitals('many');
  assert.deepEqual(rows.map(({ name, count }) => [name, count]), [['INP', 40], ['CLS', 40]]);
  await assertNothingBelowZero();
  t.diagnostic(`${(await stack.sql('select count(*)::int as count from fleetprof_data.vital'))[0].count} rows of vital`);
});

test('whatever a page makes up, no count falls below zero, and a ceiling bounds what is remembered', async () => {
  const random = seededRandom(7);
  const loads = [randomUUID(), randomUUID()];
  const release = 'forged';
  for (let i = 0; i < 40; i++) {
    const vitals = Array.from({ length: 1 + random.below(100) }, () => ({
      name: random.pick(['INP', 'CLS', 'LCP']), value: random.pick([0, 1, 700, 9e9, 1e6]) % (1e6 + 1), id: `${random.below(40)}` }));
    await post({ release, load: random.pick(loads), part: random.pick([0, 1, 7, 2147483647]), vitals },
      random.pick([stack.collector.url, second.url]), 'flooded');
  }
  await counted(release, 'flooded');
  await assertNothingBelowZero();
  const [{ rows }] = await stack.sql(`select count(*)::int as rows from fleetprof_data.vital
    where segment_id in (select segment_id from fleetprof.segment where site = 'flooded')`);
  assert.ok(rows > 0 && rows <= 2 * 2 * ceiling, `${rows} rows`);
  const metrics = await stack.collector.metrics();
  assert.ok(metrics['fleetprof_names_overflowed_total{kind="vital"}'] > 0);
  assert.match(stack.collector.server.output(), /vitals are not replaced when sent again.*site=flooded kind=vital setting=ceilings.vitals/);
});
