// SPDX-License-Identifier: Apache-2.0
/** sites[].timezone from the configuration file to the table that people read. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { binDir, run, startStack, temporaryDir, waitFor } from './stack.mjs';

const dir = temporaryDir('timezone');
const program = path.join(binDir, 'fleetprof');
/** @type {import('./stack.mjs').Stack} */
let stack;

before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', timezone: 'Australia/Sydney' }, { name: 'blog', key: 'pk_blog' }] } });
  const file = path.join(dir, 'upload.json');
  fs.writeFileSync(file, JSON.stringify({
    resources: ['https://shop.example/app.js'], frames: [{ name: 'render', resourceId: 0, line: 1, column: 1 }], stacks: [{ frameId: 0 }],
    samples: [0, 10, 20].map((timestamp) => ({ timestamp, stackId: 0 })),
  }));
  for (const site of ['shop', 'blog']) {
    const { code, stderr } = await run([program, 'import', '-c', stack.collector.file, '--site', site, file]);
    assert.equal(code, 0, stderr);
  }
  await waitFor(async () => (await stack.sql('select site from fleetprof.sites() where uploads > 0')).length === 2, { what: 'the uploads' });
});
after(async () => { await stack?.stop(); });

/** @param {string} site */
const kept = async (site) => (await stack.sql(`select fleetprof.timezone_of('${site}') as zone`))[0].zone;

/** @param {string} zone */
function reload(zone) {
  fs.writeFileSync(stack.collector.file, JSON.stringify({ ...stack.collector.config, sites: [{ name: 'shop', key: 'pk_shop', timezone: zone }, { name: 'blog', key: 'pk_blog' }] }));
  process.kill(stack.collector.server.pid, 'SIGHUP');
}

/** @param {string} site @param {string} step */
async function trend(site, step) {
  const { code, stdout, stderr } = await run([program, 'trend', 'render', '--site', site, '--since', '2d', '--step', step], { env: { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') } });
  assert.equal(code, 0, stderr);
  return stdout;
}

/** The day now by the clock of a zone. @param {string} zone @param {number} at */
const today = (zone, at) => new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(at);

test('a trend by day has days of the zone, also after a reload', async () => {
  await waitFor(async () => (await kept('shop')) === 'Australia/Sydney', { what: 'the zone' });
  const [{ hour }] = await stack.sql("select extract(epoch from last_hour)::float8 * 1000 as hour from fleetprof.sites() where site = 'shop'");
  const shows = async (/** @type {string} */ site, /** @type {string} */ zone) => {
    assert.match(await trend(site, 'day'), new RegExp(`^FROM \\(${zone}\\)\t.*\n${today(zone, hour)} 00:00\t`));
    assert.match(await trend(site, 'hour'), /^FROM \(UTC\)\t/);
  };
  await shows('shop', 'Australia/Sydney');
  await shows('blog', 'UTC');
  await shows('%', 'UTC');
  reload('Asia/Kolkata');
  await waitFor(async () => (await kept('shop')) === 'Asia/Kolkata', { what: 'the new zone' });
  await shows('shop', 'Asia/Kolkata');
  reload('UTC');
  await waitFor(async () => (await kept('shop')) === 'UTC', { what: 'UTC' });
  await shows('shop', 'UTC');
});

test("dates on the command line are the site's days, whatever the client's time zone", async () => {
  reload('Australia/Sydney');
  await waitFor(async () => (await kept('shop')) === 'Australia/Sydney', { what: 'the zone' });
  const env = { FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader'), PGTZ: 'America/Havana' };
  const day = today('Australia/Sydney', Date.now() - 86_400_000);
  for (const [site, zone] of [['shop', 'Australia/Sydney'], ['blog', 'UTC']]) {
    const [{ utc }] = await stack.sql(`select to_char('${day}'::timestamp at time zone '${zone}' at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as utc`);
    const { code, stdout, stderr } = await run([program, 'top', '--site', site, '--since', day], { env });
    assert.equal(code, 0, stderr);
    assert.match(stdout, /render/);
    assert.match(stderr, new RegExp(`in the hours from ${utc} to `), site);
  }
});

test('a UTC day, where hours are gone, says so', async () => {
  reload('Asia/Kolkata');
  await waitFor(async () => (await kept('shop')) === 'Asia/Kolkata', { what: 'the zone' });
  // As sealing and retention leave it: sums by the day, and no hours.
  await stack.execute(`
    do $$
    declare
        kind text;
        columns text;
    begin
        foreach kind in array '{total,frame}'::text[] loop
            select string_agg(attname, ', ' order by attnum) into columns
            from pg_attribute where attrelid = format('fleetprof_data.%s_columns', kind)::regclass and attnum > 0;
            execute format(
                'insert into fleetprof_data.%1$s_days (group_id, bucket, span, %2$s)
                select group_id, date_trunc(''day'', bucket, ''UTC''), 2, %2$s from fleetprof_data.%1$s_recent', kind, columns);
            execute format('delete from fleetprof_data.%s_recent', kind);
        end loop;
        insert into fleetprof_data.sealed
        select distinct site, date_trunc('day', bucket, 'UTC'), 2 from fleetprof_data.unsealed;
        delete from fleetprof_data.unsealed;
        -- Only segments have sums.
        update fleetprof_data.cohort_level set since = now();
        update fleetprof_data.horizon set hours_from = date_trunc('day', now() + interval '1 day', 'UTC');
    end
    $$`);
  const day = (await stack.sql("select to_char(bucket at time zone 'UTC', 'YYYY-MM-DD') as day from fleetprof_data.sealed where site = 'shop'"))[0].day;
  assert.match(await trend('shop', 'day'), new RegExp(`^FROM \\(Asia/Kolkata\\)\t.*\n${day} 00:00 UTC\t`));
  assert.match(await trend('blog', 'day'), new RegExp(`^FROM \\(UTC\\)\t.*\n${day} 00:00\t[0-9]`));
});

/** Returns the findings of status and doctor on unknown zones. @param {string[]} whose options that name a configuration, or a collector and a database */
async function unknownZones(whose) {
  const tools = whose[0] === '-c' ? [['status', '--over=0'], ['doctor']] : [['status', '--over=0']];
  return Promise.all(tools.map(async ([tool, ...more]) => {
    const { stdout, stderr } = await run([program, tool, '--json', ...more, ...whose], { env: { FLEETPROF_DATABASE: '' } });
    assert.equal(stderr, '');
    const all = JSON.parse(stdout);
    return (tool === 'status' ? all.findings : all).filter((/** @type {any} */ { id }) => id === 'timezone-unknown').map((/** @type {any} */ { seen }) => seen);
  }));
}

test('a zone that the server does not know is logged and found, and the one before stays', async () => {
  const configured = ['-c', stack.collector.file];
  reload('Asia/Kolkata');
  await waitFor(async () => (await kept('shop')) === 'Asia/Kolkata', { what: 'the zone' });
  assert.deepEqual(await unknownZones(configured), [[], []]);
  // A server whose list is older than the collector's machine.
  await stack.execute(`create schema older;
    create view older.pg_timezone_names as select * from pg_catalog.pg_timezone_names where name <> 'Australia/Sydney';
    grant usage on schema older to public; grant select on older.pg_timezone_names to public;
    alter role fleetprof_reader set search_path = older, pg_catalog;
    alter function fleetprof_data.keep_timezones set search_path = older, pg_catalog, fleetprof_data, pg_temp`);
  reload('Australia/Sydney');
  await waitFor(() => /level=error msg="time zone unknown" sites="?shop=Australia\/Sydney"?/.test(stack.collector.server.output()), { what: 'the log line' });
  assert.equal(await kept('shop'), 'Asia/Kolkata');
  const seen = ['site shop: "Australia/Sydney" is not in pg_timezone_names'];
  assert.deepEqual(await unknownZones(configured), [seen, seen]);

  // The remedies: a name that the server knows, or its list brought up to date.
  reload('Asia/Tokyo');
  await waitFor(async () => (await kept('shop')) === 'Asia/Tokyo', { what: 'a name that it knows' });
  assert.deepEqual(await unknownZones(configured), [[], []]);
  await stack.execute('create or replace view older.pg_timezone_names as select * from pg_catalog.pg_timezone_names');
  reload('Australia/Sydney');
  await waitFor(async () => (await kept('shop')) === 'Australia/Sydney', { what: 'the zone that it has now' });
  assert.deepEqual(await unknownZones(configured), [[], []]);
});

test('a zone that the database keeps, and a server does not know any more, is found without a configuration', async () => {
  reload('Asia/Kolkata');
  await waitFor(async () => (await kept('shop')) === 'Asia/Kolkata', { what: 'the zone' });
  await stack.execute("create or replace view older.pg_timezone_names as select * from pg_catalog.pg_timezone_names where name <> 'Asia/Kolkata'");
  const named = ['--collector', stack.collector.config.admin, '-d', stack.postgres.conninfo('fleetprof_reader')];
  assert.deepEqual(await unknownZones(named), [['site shop: "Asia/Kolkata" is not in pg_timezone_names']]);
  await stack.execute('alter role fleetprof_reader reset search_path; alter function fleetprof_data.keep_timezones set search_path = fleetprof_data, pg_temp');
});

test('a name that this machine does not know is refused with its place', async () => {
  const file = path.join(dir, 'wrong.yaml');
  fs.writeFileSync(file, 'database: "host=/x"\nspool:\n  path: /x\nlisten: "127.0.0.1:1"\nsites:\n  - {name: a, key: k, timezone: Australia/Sidney}\n');
  const { code, stderr } = await run([path.join(binDir, 'fleetprofd'), '--check-config', '-c', file]);
  assert.equal(code, 1);
  assert.match(stderr, /wrong\.yaml:6:33: sites\[\]\.timezone: "Australia\/Sidney" is not a time zone that \/usr\/share\/zoneinfo has; write a name such as Australia\/Sydney\n/);
});
