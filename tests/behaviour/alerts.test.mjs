// SPDX-License-Identifier: Apache-2.0
/**
 * The rules for Prometheus and the dashboard for Grafana: every expression is parsed, every metric, label and value in
 * it is one that a real collector exposes, and every alert leads to a section of the manual. With FLEETPROF_LONG,
 * promtool runs the rules over series that were scraped from collectors in trouble: exactly the expected alerts fire.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { parser } from '@prometheus-io/lezer-promql';
import { parse } from 'yaml';

import { files as dashboards } from '../../tools/dashboards.mjs';
import { envelope, send } from './collector_client.mjs';
import { startReport } from './serve_tool.mjs';
import { binDir, repository, run, startCollector, startStack, temporaryDir, waitFor } from './stack.mjs';

const read = (/** @type {string} */ file) => fs.readFileSync(path.join(repository, file), 'utf8');
const rulesOf = (/** @type {string} */ file) => parse(read(`config/prometheus/${file}`)).groups.flatMap((/** @type {any} */ group) => group.rules);
const alerts = rulesOf('fleetprof_alerts.yml');
const records = rulesOf('fleetprof_recording.yml');
const recorded = new Set(records.map((/** @type {any} */ rule) => rule.record));
const dashboard = JSON.parse(read('config/grafana/collector.json'));

const nowhere = 'host=/nonexistent dbname=fleetprof';
const origin = 'http://shop.example';

/** @type {import('./stack.mjs').Collector} */
let collector;
/** Labels and their values, by metric. @type {Map<string, Map<string, Set<string>>>} */
const metrics = new Map();
/** The metrics of a collector's and of the report's address. */
const served = { collector: new Set(), report: new Set() };
before(async () => {
  const dir = temporaryDir('alerts');
  fs.writeFileSync(path.join(dir, 'key'), `${'01'.repeat(32)}\n`);
  // Metrics of rooms that are not used are not there. The database is away: that costs nothing here.
  collector = await startCollector({ config: {
    database: nowhere, flush: { min_window: '10ms', max_window: '50ms' }, dead_letters: { path: path.join(dir, 'letters') },
    spool: { path: path.join(dir, 'spool'), max_bytes: '4MiB', segment_bytes: '1MiB' },
    sites: [{ name: 'shop', key: 'pk_demo', origins: [origin], token_keys: [path.join(dir, 'key')] }],
  } });
  for (const name of Object.keys(await collector.metrics())) served.collector.add(add(name));
  await addReport();
  metrics.set('up', new Map([['instance', new Set()], ['job', new Set()]]));
});
after(() => collector.stop());

/** Adds what `fleetprof serve` exposes of budgets. */
async function addReport() {
  const stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_shop', performance_budgets: ['INP p75 <= 200ms'] }] } });
  await waitFor(async () => (await stack.sql('select from fleetprof_data.performance_budget')).length === 1, { what: 'the budget' });
  const report = await startReport(stack.postgres.conninfo('fleetprof_reader'));
  for (const [, name] of (await (await report.get('/metrics')).text()).matchAll(/^(fleetprof_budget_.*) \S+$/gm)) served.report.add(add(name));
  await report.server.stop();
  await stack.stop();
}

/** Adds a series of a metric, and returns the metric. @param {string} name with labels */
function add(name) {
  const { metric, labels } = split(name);
  const known = metrics.get(metric) ?? new Map([['instance', new Set()], ['job', new Set()]]); // Prometheus adds these
  for (const [label, value] of labels) known.set(label, (known.get(label) ?? new Set()).add(value));
  metrics.set(metric, known);
  return metric;
}

/** @param {string} name with labels */
function split(name) {
  const [, metric, inside = ''] = /** @type {RegExpExecArray} */ (/^([^{]+)(?:\{(.*)\})?$/.exec(name));
  return { metric, labels: [...inside.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, label, value]) => [label, value]) };
}

/** Returns the faults of an expression: syntax, or a metric, label or value that no collector has. @param {string} expression */
function faults(expression) {
  /** @type {string[]} */
  const found = [];
  const text = (/** @type {import('@lezer/common').SyntaxNode} */ node) => expression.slice(node.from, node.to);
  const check = (/** @type {import('@lezer/common').SyntaxNode} */ selector) => {
    const metric = text(/** @type {any} */ (selector.getChild('Identifier')));
    if (recorded.has(metric)) return;
    const known = metrics.get(metric);
    if (!known) found.push(`no metric ${metric}`);
    for (const matcher of selector.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? []) {
      const label = text(/** @type {any} */ (matcher.getChild('LabelName')));
      const values = known?.get(label);
      if (known && !values) found.push(`${metric} has no label ${label}`);
      const wanted = text(/** @type {any} */ (matcher.getChild('StringLiteral'))).slice(1, -1);
      if (!values?.size || label === 'site' || wanted.startsWith('$')) continue;
      for (const value of wanted.split('|')) if (!values.has(value)) found.push(`${metric} has no ${label} ${value}`);
    }
  };
  /** All selectors below a node must have the labels that it groups by. @param {import('@lezer/common').SyntaxNode} aggregate */
  const checkGroups = (aggregate) => {
    const labels = (aggregate.getChild('AggregateModifier')?.getChild('GroupingLabels')?.getChildren('LabelName') ?? []).map(text);
    aggregate.cursor().iterate((node) => {
      const metric = node.name === 'VectorSelector' ? text(/** @type {any} */ (node.node.getChild('Identifier'))) : '';
      const known = metrics.get(metric);
      for (const label of known ? labels : []) if (!known?.has(label)) found.push(`${metric} has no label ${label}`);
    });
  };
  parser.parse(expression).iterate({ enter: (node) => {
    if (node.name === 'AggregateExpr') checkGroups(node.node);
    if (node.type.isError) found.push(`syntax at ${node.from}: ${expression.slice(Math.max(0, node.from - 20), node.from + 20)}`);
    if (node.name === 'VectorSelector') check(node.node);
  } });
  return found;
}

test('the judge finds mistakes', () => {
  for (const [expression, fault] of [
    ['sum by (', /syntax/], ['rate(fleetprof_nothing_total[5m])', /no metric/], ['fleetprof_connections{site="shop"}', /no label site/],
    ['fleetprof_uploads_refused_total{reason=~"origin|nothing"}', /no reason nothing/], ['sum by (reason) (fleetprof_connections)', /no label reason/],
    ['sum by (reason) (fleetprof_uploads_refused_total)', undefined],
  ]) assert.match(faults(/** @type {string} */ (expression)).join(), /** @type {RegExp} */ (fault ?? /^$/));
});

for (const rule of [...records, ...alerts]) {
  test(`${rule.record ?? rule.alert}: its expression is one, about metrics that are there`, () => {
    assert.deepEqual(faults(rule.expr), []);
  });
}

test('Prometheus scrapes each metric of a rule where the sample says so, often enough to have its latest value', async () => {
  const { stdout } = await run([path.join(binDir, 'fleetprof'), 'serve', '--help']);
  const addresses = new Map([
    [/^admin: "?([^"\s]+)/m.exec(read('config/fleetprof.yaml'))?.[1], served.collector],
    [/\(default:\s+([\d.:]+)\)/.exec(stdout)?.[1], served.report],
  ]);
  const { scrape_configs: jobs } = parse(read('config/prometheus/prometheus.yml.example'));
  const scraped = new Set(['up']);
  for (const { job_name: job, scrape_interval: interval, scrape_timeout: timeout = '10s', static_configs: groups } of jobs) {
    // Prometheus forgets a value after five minutes.
    assert.ok(seconds(timeout) <= seconds(interval) && 2 * seconds(interval) <= 300, job);
    for (const address of groups.flatMap((/** @type {any} */ group) => group.targets)) {
      for (const metric of addresses.get(address) ?? assert.fail(`nothing listens on ${address}`)) scraped.add(metric);
    }
  }
  for (const { alert, record, expr } of [...records, ...alerts]) {
    parser.parse(expr).iterate({ enter: (node) => {
      if (node.name !== 'VectorSelector') return;
      const metric = expr.slice(node.from, node.to).replace(/\{.*/s, '');
      assert.ok(scraped.has(metric) || recorded.has(metric), `${alert ?? record}: nobody scrapes ${metric}`);
    } });
  }
});

/** @param {string} duration as Prometheus writes it */
const seconds = (duration) => Number.parseInt(duration, 10) * ({ s: 1, m: 60 }[duration.slice(-1)] ?? assert.fail(duration));

/** GitHub's name of a heading. @param {string} heading */
const anchor = (heading) => heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');

test('each alert has a severity, a summary, and a section of the manual that is there', () => {
  assert.ok(alerts.length > 20);
  for (const { alert, labels, annotations } of alerts) {
    assert.match(alert, /^Fleetprof[A-Z]\w+$/);
    assert.ok(['critical', 'warning', 'info'].includes(labels.severity), alert);
    assert.ok(annotations.summary && annotations.description, alert);
    const [, file, section] = /^(docs\/(?:troubleshooting|operations)\.md)#([\w-]+)$/.exec(annotations.manual) ?? assert.fail(alert);
    const sections = [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading]) => anchor(heading));
    assert.ok(sections.includes(section), `${alert}: ${annotations.manual}`);
  }
});

test('the manual lists every alert with its severity and section, and every recorded series', () => {
  const page = read('docs/metrics.md');
  const listed = [...page.matchAll(/^\| `(Fleetprof\w+)` \| (\w+) \| .* \| \[[^\]]*\]\(([^)]*)\) \|$/gm)].map(([, ...cells]) => cells.join(' '));
  assert.deepEqual(listed.sort(), alerts.map((/** @type {any} */ { alert, labels, annotations }) => (
    `${alert} ${labels.severity} ${annotations.manual.replace('docs/', '')}`)).sort());
  assert.deepEqual([...page.matchAll(/^\| `(\w+:\w+:\w+)` \|/gm)].map(([, name]) => name).sort(), [...recorded].sort());
});

test('each panel of the dashboard asks what can be answered, and has a place of its own', () => {
  const ids = dashboard.panels.map((/** @type {any} */ { id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  const taken = new Set();
  let expressions = 0;
  for (const { title, type, gridPos: { x, y, w, h }, targets = [], datasource } of dashboard.panels) {
    assert.equal(type === 'row', targets.length === 0, title);
    assert.ok(x + w <= 24, title);
    for (let row = y; row < y + h; row++) for (let column = x; column < x + w; column++) {
      assert.ok(!taken.has(`${row} ${column}`), `${title} lies on another panel`);
      taken.add(`${row} ${column}`);
    }
    if (type !== 'row') assert.equal(datasource.uid, '${datasource}', title);
    for (const { expr, refId } of targets) {
      expressions++;
      assert.match(refId, /^[A-F]$/);
      assert.deepEqual(faults(expr.replaceAll('$__rate_interval', '5m')), [], title);
      for (const [, name] of expr.matchAll(/\$(\w+)/g)) {
        assert.ok(name.startsWith('__') || dashboard.templating.list.some((/** @type {any} */ variable) => variable.name === name), `${title}: $${name}`);
      }
    }
  }
  assert.ok(expressions > 30);
  for (const { expr } of dashboard.annotations.list) assert.deepEqual(faults(expr.replaceAll('$__rate_interval', '5m')), []);
  for (const { type, query } of dashboard.templating.list.filter((/** @type {any} */ variable) => variable.type === 'query')) {
    const [, metric, label] = /^label_values\((\w+), (\w+)\)$/.exec(query.query) ?? assert.fail(type);
    assert.ok(metrics.get(metric)?.has(label), query.query);
  }
});

test('the numbers at the top follow the site and collector, and say when no collector answers', () => {
  for (const { title, options, targets: [{ expr }] } of dashboard.panels.filter((/** @type {any} */ { type }) => type === 'stat')) {
    for (const [, metric, labels = ''] of expr.matchAll(/(fleetprof_\w+)(?:\{([^}]*)\})?/g)) {
      if (metrics.get(metric)?.has('site')) assert.match(labels, /site=~"\$site\|?"/, `${title}: ${metric}`);
    }
    // The last value that there was stays on screen when the series ends: a count must not end.
    if (options.reduceOptions.calcs.includes('lastNotNull') && /^count\(/.test(expr)) assert.match(expr, / or vector\(0\)$/, title);
  }
});

test('the dashboard leads to the others, as they lead to it', () => {
  assert.deepEqual(dashboard.links, JSON.parse(dashboards.get('overview.json') ?? '').links);
});

test('a rate has the unit of a rate, also beside a duration', () => {
  for (const { title, type, fieldConfig, targets = [] } of dashboard.panels.filter((/** @type {any} */ panel) => panel.type === 'timeseries')) {
    for (const { refId, expr } of targets) {
      if (!/^sum[^/]*\(rate\(fleetprof_\w+_total\b[^/]*$/.test(expr)) continue;
      const own = fieldConfig.overrides.find((/** @type {any} */ { matcher }) => matcher.id === 'byFrameRefID' && matcher.options === refId);
      const unit = own?.properties.find((/** @type {any} */ { id }) => id === 'unit')?.value ?? fieldConfig.defaults.unit;
      assert.ok(['reqps', 'cps'].includes(unit), `${type} ${title} ${refId}: ${unit}`);
    }
  }
});

// ---- alerts fire --------------------------------------------------------------------------------------------------

const skip = process.env.FLEETPROF_LONG === '1' ? false : 'promtool is needed with FLEETPROF_LONG only';

/**
 * Series for promtool from two pages of one collector: `quiet` holds for an hour, then what rose from `quiet` to `bad`
 * rises each minute, ages grow, and other values are those of `bad`. Times are moved: promtool begins at 0.
 * @param {string} instance
 * @param {Record<string, number>} quiet
 * @param {Record<string, number>} bad
 */
function seriesOf(instance, quiet, bad) {
  const scraped = Date.now() / 1000;
  /** @param {string} name @param {number} value @param {number} atS */
  const moved = (name, value, atS) => (value > 0 && /timestamp_seconds|start_time_seconds/.test(name) ? value - scraped + atS : value);
  return Object.entries(bad).map(([name, value]) => {
    const before = quiet[name] ?? 0;
    const end = moved(name, value, 3600);
    const step = /_total(\{|$)|_(bucket|sum|count)(\{|$)/.test(name) ? value - before : /age_seconds/.test(name) && value > 0 ? 60 : 0;
    const { metric, labels } = split(name);
    const inside = [...labels, ['instance', instance], ['job', 'fleetprof']].map(([label, text]) => `${label}="${text}"`).join(',');
    return { series: `${metric}{${inside}}`, values: `${moved(name, before, 3600)}+0x60 ${end}+${step}x240` };
  });
}

/**
 * Runs the rules over series, and returns which alerts fire at a minute.
 * @param {{ series: string, values: string }[]} series
 * @param {number} minute
 * @param {string[]} expected
 */
async function fires(series, minute, expected) {
  const dir = temporaryDir('promtool');
  const file = path.join(dir, 'test.yml');
  fs.writeFileSync(file, JSON.stringify({
    rule_files: ['fleetprof_recording.yml', 'fleetprof_alerts.yml'].map((name) => path.join(repository, 'config/prometheus', name)),
    evaluation_interval: '1m',
    tests: [{ interval: '1m', input_series: series, promql_expr_test: [{
      expr: 'group by (alertname) (ALERTS{alertstate="firing"})', eval_time: `${minute}m`,
      exp_samples: expected.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
    }] }],
  }));
  const { code, stdout, stderr } = await run(['promtool', 'test', 'rules', file]);
  assert.equal(code, 0, `${stdout}${stderr}`);
}

/**
 * Expects these alerts at a minute, of one collector whose pages change from `quiet` to `bad` after an hour.
 * @param {number} minute @param {string[]} expected @param {Record<string, number>} bad @param {Record<string, number>} [quiet]
 */
const check = (minute, expected, bad, quiet = bad) => fires(seriesOf('c1', { up: 1, ...quiet }, { up: 1, ...bad }), minute, expected);

test('promtool reads the rules', { skip }, async () => {
  const files = ['fleetprof_recording.yml', 'fleetprof_alerts.yml'].map((name) => path.join(repository, 'config/prometheus', name));
  const { code, stdout, stderr } = await run(['promtool', 'check', 'rules', '--lint-fatal', ...files]);
  assert.equal(code, 0, `${stdout}${stderr}`);
});

test('a collector whose database is away, whose spool fills, and whose pages have wrong tokens and origins', { skip }, async () => {
  const upload = (/** @type {Record<string, string>} */ headers, body = envelope({})) => send(`${collector.url}/v1/ingest/pk_demo`, { headers, body });
  const quiet = { ...await collector.metrics(), fleetprof_database_up: 1, 'fleetprof_database_state{state="reachable"}': 1 };
  for (let i = 0; i < 20; i++) {
    assert.equal((await upload({ origin: 'http://elsewhere.example' })).status, 403);
    assert.equal((await upload({ origin, 'fleetprof-token': 'v1.1.shop.1000.1.1.forged' })).status, 204);
  }
  const names = Array.from({ length: 2000 }, (_, i) => ({ name: `${i}${'x'.repeat(90)}` }));
  const body = envelope({ trace: {
    resources: [], frames: names, stacks: names.map((_, i) => ({ frameId: i })), samples: names.map((_, i) => ({ timestamp: i, stackId: i })),
  } });
  await waitFor(async () => (await upload({ origin }, body)).status === 503, { what: 'full spool', intervalMs: 1 });
  await waitFor(async () => (await collector.metrics()).fleetprof_spool_backlog_age_seconds > 0, { what: 'backlog' });
  const bad = await collector.metrics();
  assert.equal(bad.fleetprof_database_up, 0);
  await check(55, [], quiet);
  await check(110, ['FleetprofBacklogOld', 'FleetprofDatabaseDown', 'FleetprofSpoolFilling', 'FleetprofTokensRefused', 'FleetprofUploadsRefused', 'FleetprofUploadsTurnedAway'], bad, quiet);
});

test('each other alert fires when its own numbers change, and alone', { skip }, async (t) => {
  const stack = await startStack({ config: { sites: [{ name: 'shop', key: 'pk_demo', origins: [origin] }] } });
  assert.equal((await send(`${stack.collector.url}/v1/ingest/pk_demo`, { headers: { origin }, body: envelope({}) })).status, 204);
  const page = await waitFor(async () => {
    const now = await stack.collector.metrics();
    return now.fleetprof_uploads_flushed_total === 1 && now.fleetprof_last_housekeeping_timestamp_seconds > 0 && now.fleetprof_spool_backlog_records === 0 && now;
  }, { what: 'an upload in the database' });
  await stack.stop();
  /** @type {Record<string, number>} */
  const healthy = { ...page, fleetprof_unsealed_age_seconds: 0, fleetprof_spool_backlog_age_seconds: 0 };

  await t.test('none while all is well', () => check(100, [], healthy));
  await t.test('nobody comes for an hour', () => check(150, ['FleetprofSiteSilent'], healthy));
  await t.test('nobody comes, and there is no housekeeping', () => check(290, ['FleetprofHousekeepingLate', 'FleetprofSiteSilent'], healthy));
  await t.test('a collector goes away', () => check(100, ['FleetprofCollectorDown'], { ...healthy, up: 0 }, healthy));
  await t.test('two versions', () => {
    const other = seriesOf('c2', { up: 1, ...healthy }, { up: 1, ...healthy }).map(({ series, values }) => ({ series: series.replace(/version="[^"]*"/, 'version="0.0.9"'), values }));
    return fires([...seriesOf('c1', { up: 1, ...healthy }, { up: 1, ...healthy }), ...other], 100, ['FleetprofVersionsDiffer']);
  });
  await t.test('restarts', () => {
    const series = seriesOf('c1', { up: 1, ...healthy }, { up: 1, ...healthy });
    const start = series.find(({ series: name }) => name.startsWith('process_start_time_seconds'));
    if (start) start.values = '3500+0x60 4000+0x9 4600+0x9 5200+0x9 5800+0x60';
    return fires(series, 100, ['FleetprofCollectorRestarts']);
  });

  // These would take hours, a broken disk or a wrong clock: the values are changed on the page.
  const site = 'site="shop"';
  for (const [alert, change] of /** @type {[string, Record<string, number>][]} */ ([
    ['FleetprofConnectionsEnded', { 'fleetprof_connections_ended_total{reason="slow"}': 1 }],
    ['FleetprofDescriptorsLow', { process_open_fds: 0.9 * healthy.process_max_fds }],
    ['FleetprofUploadsQuarantined', { fleetprof_uploads_quarantined_total: 1 }],
    ['FleetprofDatabaseRefuses', { 'fleetprof_database_state{state="refusing"}': 1 }],
    ['FleetprofRetentionRefused', { 'fleetprof_retention_refused{reason="clocks_differ"}': 1 }],
    ['FleetprofSealingLate', { fleetprof_unsealed_age_seconds: 7000 }],
    ['FleetprofSpoolDiskFull', { fleetprof_spool_disk_free_bytes: 1000 }],
    ['FleetprofSpoolErrors', { fleetprof_spool_errors_total: 1 }],
    ['FleetprofSpoolErrors', { fleetprof_spool_damaged_bytes_total: 1 }],
    ['FleetprofCollectorClockWrong', { fleetprof_uploads_misdated_total: 1 }],
    ['FleetprofNamesOverflow', { 'fleetprof_names_overflowed_total{kind="frame"}': 1 }],
    ['FleetprofWebServerClockWrong', { 'fleetprof_page_tokens_total{verdict="early"}': 1 }],
    ['FleetprofBudgetSpent', { [`fleetprof_uploads_accepted_total{${site}}`]: 101, [`fleetprof_uploads_refused_total{${site},reason="budget_bytes"}`]: 1 }],
    ['FleetprofRepliesSlow', { 'fleetprof_ack_seconds_bucket{le="10"}': 10, 'fleetprof_ack_seconds_bucket{le="+Inf"}': 10 }],
  ])) {
    await t.test(`${alert}: ${Object.keys(change).join(', ')}`, () => {
      for (const name of Object.keys(change)) assert.ok(name in healthy, name);
      return check(100, [alert], { ...healthy, ...change }, healthy);
    });
  }
  await t.test('FleetprofSpoolFullSoon', () => {
    const series = seriesOf('c1', { up: 1, ...healthy }, { up: 1, ...healthy, fleetprof_spool_backlog_age_seconds: 1 });
    const bytes = series.find(({ series: name }) => name.startsWith('fleetprof_spool_bytes{'));
    const max = healthy.fleetprof_spool_max_bytes;
    if (bytes) bytes.values = `0+0x60 0+${max / 100}x240`;
    return fires(series, 95, ['FleetprofBacklogOld', 'FleetprofSpoolFullSoon']);
  });

  await t.test('every alert fires somewhere', () => {
    const source = read('tests/behaviour/alerts.test.mjs');
    assert.deepEqual(alerts.map((/** @type {any} */ { alert }) => alert).filter((/** @type {string} */ alert) => !source.includes(`'${alert}'`)), []);
  });
});
