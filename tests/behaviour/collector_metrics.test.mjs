/**
 * /metrics as Prometheus reads it, while uploads arrive: each page is consistent, and no counter decreases.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { envelope, send } from './collector_client.mjs';
import { startStack, waitFor } from './stack.mjs';

/** @type {import('./stack.mjs').Stack} */
let stack;
before(async () => { stack = await startStack(); });
after(() => stack.stop());

const upload = () => send(`${stack.collector.url}/v1/ingest/pk_demo`, {
  body: envelope({ entries: [{ name: 'r', entryType: 'resource', startTime: 1, duration: 1 }] }),
});

/**
 * Parses a page by the rules of the text format 0.0.4 into series and values, in their order.
 * @param {string} page
 */
function read(page) {
  assert.ok(page.endsWith('\n'));
  /** @type {Map<string, number>} */
  const series = new Map();
  /** @type {Map<string, string>} */
  const types = new Map();
  let helped = '';
  let current = '';
  for (const line of page.slice(0, -1).split('\n')) {
    const help = /^# HELP (fleetprof_[a-z0-9_]+) \S.*$/.exec(line);
    const type = /^# TYPE (fleetprof_[a-z0-9_]+) (counter|gauge|histogram)$/.exec(line);
    if (help) {
      helped = help[1];
    } else if (type) {
      current = type[1];
      assert.equal(current, helped, 'help comes first');
      assert.ok(!types.has(current), `${current} once`);
      assert.equal(type[2] === 'counter', current.endsWith('_total'), line);
      types.set(current, type[2]);
    } else {
      const [, all, name, value] = /** @type {RegExpExecArray} */ (
        /^((fleetprof_[a-z0-9_]+)(?:\{[a-z]+="[^"\\\n]*"\})?) (-?\d+(?:\.\d+)?)$/.exec(line) ?? assert.fail(line));
      assert.equal(types.get(current) === 'histogram' ? name.replace(/_(bucket|sum|count)$/, '') : name, current, line);
      assert.ok(!series.has(all), `${all} once`);
      assert.ok(Number(value) >= 0, line);
      series.set(all, Number(value));
    }
  }
  return { series, types };
}

/** @param {ReturnType<typeof read>} page */
function checkHistograms({ series, types }) {
  for (const [name, type] of types) {
    if (type !== 'histogram') continue;
    const buckets = [...series].filter(([key]) => key.startsWith(`${name}_bucket{`)).map(([, count]) => count);
    assert.deepEqual(buckets, [...buckets].sort((a, b) => a - b), name);
    assert.equal(series.get(`${name}_bucket{le="+Inf"}`), series.get(`${name}_count`), name);
  }
}

async function scrape() {
  const reply = await send(`${stack.collector.adminUrl}/metrics`, { method: 'GET' });
  assert.equal(reply.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const page = read(reply.body);
  checkHistograms(page);
  return page;
}

test('each page holds together while uploads come, and no counter goes back', async () => {
  const uploads = 200;
  let sent = 0;
  let last = (await scrape()).series;
  const clients = Array.from({ length: 8 }, async () => {
    while (sent++ < uploads) assert.equal((await upload()).status, 204);
  });
  const all = Promise.all(clients).then(() => true);
  let scrapes = 0;
  for (let done = false; !done; scrapes++) {
    const { series } = await scrape();
    assert.deepEqual([...series.keys()], [...last.keys()]);
    for (const [name, value] of series) {
      if (/_total(\{|$)|_(bucket|sum|count)(\{|$)/.test(name)) assert.ok(value >= (last.get(name) ?? 0), name);
    }
    last = series;
    done = await Promise.race([all, Promise.resolve(false)]);
  }
  await all;
  assert.ok(scrapes >= 3, `${scrapes} scrapes`);

  const series = await waitFor(async () => {
    const now = (await scrape()).series;
    const atRest = now.get('fleetprof_uploads_flushed_total') === uploads && now.get('fleetprof_spool_backlog_records') === 0 &&
      now.get('fleetprof_spool_backlog_age_seconds') === 0;
    return atRest && now;
  }, { what: 'end of the backlog' });
  const expected = { 'uploads_total{status="accepted"}': uploads, ack_seconds_count: uploads, entries_skipped_total: uploads,
    spool_backlog_records: 0, spool_backlog_age_seconds: 0, database_up: 1 };
  for (const [name, value] of Object.entries(expected)) assert.equal(series.get(`fleetprof_${name}`), value, name);
  for (const [count, total] of [['spool_commit_seconds_count', 'spool_commits_total'], ['flush_seconds_count', 'flushes_total']]) {
    assert.equal(series.get(`fleetprof_${count}`), series.get(`fleetprof_${total}`), count);
    assert.ok(Number(series.get(`fleetprof_${count}`)) > 0, count);
  }
  for (const name of ['flush_rows_total', 'body_bytes_total', 'spool_bytes']) assert.ok(Number(series.get(`fleetprof_${name}`)) > 0, name);
});
