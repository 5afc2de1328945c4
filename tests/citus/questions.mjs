// SPDX-License-Identifier: Apache-2.0
/**
 * The questions of the test: every function and view of schema fleetprof, with several filters each.
 */

/** @typedef {import('./answers.mjs').Question} Question */

/** Columns of functions that say to the second when each collector received an upload. @type {Record<string, string>} */
const columnsOf = {
  releases: "release, first_hour, last_hour, uploads, date_trunc('minute', first_upload) as first_upload",
  typical_load: "session_id, alike, loads, kept_loads, reason, date_trunc('minute', received) as received, page_url",
};

/** @param {string} text */
const literal = (text) => `'${text.replaceAll("'", "''")}'`;

/**
 * @param {string} first an hour, as ISO text: before all facts
 * @param {string} end after all facts
 * @param {string} hour one with facts
 * @returns {string[]} filters, as arguments
 */
function filters(first, end, hour) {
  const always = `since => ${literal(first)}, until => ${literal(end)}`;
  return [
    `site => '%', ${always}`,
    `site => 'shop', ${always}`,
    `site => 'news', ${always}`,
    `site => 'shop', ${always}, release => '1.1'`,
    `site => 'shop', ${always}, release => '1.%', environment => 'production'`,
    `site => 'shop', ${always}, route => '/product/:id'`,
    `site => 'shop', ${always}, browser => 'Chrome', device => 'mobile'`,
    `site => '%', ${always}, variant => ''`,
    `site => 'shop', since => ${literal(hour)}, until => ${literal(hour)}::timestamptz + interval '1 hour'`,
    `site => 'shop', since => ${literal(hour)}::timestamptz + interval '30 minutes', until => ${literal(end)}, release => '1.0'`,
    `site => 'shop', since => date_trunc('day', ${literal(hour)}::timestamptz, 'UTC'), until => ${literal(end)}`,
    // Nothing of it is sealed.
    `site => 'shop', since => ${literal(end)}::timestamptz - interval '2 hours', until => ${literal(end)}`,
    `site => 'nobody', ${always}`,
  ];
}

/** Functions over facts, and what they are asked beside the filters; FUNCTION and KEY are of the hottest one. @type {Record<string, string[]>} */
const factFunctions = {
  hotspots: ["top => null", "top => null, marker => 'layout'", "top => null, party => 'third', package => '%'"],
  estimated_hotspots: ["top => null"],
  measure_hotspots: ["measure_name => 'dom', top => null"],
  markers: ["marker => null"],
  timings: [''],
  left_out: [''],
  vitals: [''],
  vitals_by: ["dimension => 'release'"],
  vital_parts: [''],
  vital_parts_by: ["dimension => 'release'"],
  ttfb_parts: [''],
  ttfb_parts_by: ["dimension => 'release'"],
  waits: ["target => '%'"],
  vital_elements: ["vital => 'LCP', top => null"],
  vital_hotspots: ["vital => 'INP', top => null"],
  interactions: [''],
  interactions_by: ["dimension => 'release'"],
  long_frames: [''],
  what_if: ["vital => 'INP', top => null"],
  fix_first: ['top => null'],
  typical_load: ['', "measure_name => '(INP) poor'", 'key => KEY'],
  overview: [''],
  profiling_cost: [''],
  budgets: [''],
  third_parties: [''],
  chunks: ['top => null'],
  blind_time: [''],
  coverage: [''],
  rates: [''],
  hangs: [''],
  violations: [''],
  refusals: [''],
  flamegraph: ['min_share => 0', "min_share => 0.01, marker => 'script'"],
  flamegraph_grafana: ['min_share => 0.05'],
  folded: [''],
  event_breakdown: [''],
  callers: ["function_name => '%'", "function_name => null, key => KEY"],
  callees: ["function_name => '%'", "function_name => null, key => KEY"],
  cost_by: ['route', 'package', 'source', 'resource', 'host', 'browser', 'marker', 'party', 'owner', 'entity'].map((by) => `by => '${by}'`),
  change_point: ["by => 'function', key => FUNCTION"],
  trend: [
    "by => 'measure', key => 'dom', step => 'hour'",
    "by => 'function', key => FUNCTION, step => 'hour'",
    "by => 'function', key => KEY, step => 'day'",
    ...[['package', '(no package)'], ['party', 'first'], ['route', '/product/:id'], ['marker', 'script'], ['browser', 'nobody'], ['host', '(unattributed)']]
      .map(([by, key]) => `by => '${by}', key => '${key}', step => 'day'`),
  ],
  function_by: ["by => 'route', key => KEY", "by => 'measure', key => KEY"],
  histogram: ["kind => 'vital', timing_name => 'LCP'"],
  summary: [''],
  releases: [''],
  field_values: ["field => 'site'", "field => 'route'", "field => 'browser'"],
};

/** Two releases beside each other, and what changed. @type {Record<string, string>} */
const comparisons = {
  compare_releases: "before => '1.0', after => '1.1', ",
  compare_summary: "before => '1.0', after => '1.1', ",
  compare_costs: "by => 'package', before => '1.0', after => '1.1', ",
  change_parts: "before => '1.0', after => '1.1', ",
  compare_timings: "before => '1.0', after => '1.1', ",
  compare_vitals: "before => '1.0', after => '1.1', ",
  regressions: "release => '1.1', least_change => 0, ",
};

/** Functions over a kept session: what they are asked beside its id. @type {Record<string, string[]>} */
const sessionFunctions = {
  hints: [''],
  ui_thread_use: ['', ', 0, 50'],
  event_summary: ['', ', 10, 400'],
  log_messages: [''],
  page_transitions: [''],
  network_resources: [''],
  session_content: [''],
  vm_states: [''],
  server_events: [''],
  network_graph: [''],
  js_profile: [''],
  js_profile_bottom_up: [''],
};

/** Views, by what remains the same however often the facts of an hour were flushed and when an upload came. */
/** @type {Record<string, string[]>} */
const views = {
  segment: ['select * from fleetprof.segment', "select route, count(*) from fleetprof.segment where site = 'shop' group by route"],
  hotspot_hourly: [
    `select bucket, segment_id, site, route, release, function, resource, line, column_number, kind,
      sum(uploads), sum(samples), sum(self_ms), sum(total_ms)
      from fleetprof.hotspot_hourly group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10`,
    `select function, sum(self_ms) from fleetprof.hotspot_hourly where site = 'shop' and release = '1.1' group by function`,
  ],
  stack_hourly: [
    `select bucket, segment_id, stack_id, level, function, resource, marker, sum(uploads), sum(samples), sum(self_ms)
      from fleetprof.stack_hourly group by 1, 2, 3, 4, 5, 6, 7`,
    "select distinct stack_id, path from fleetprof.stack_hourly where site = 'news'",
  ],
  timing_hourly: [
    `select bucket, segment_id, site, release, name, kind, sum(uploads), sum(count), sum(negative), min(min_ms), max(max_ms)
      from fleetprof.timing_hourly group by 1, 2, 3, 4, 5, 6`,
  ],
  upload_log: [
    `select bucket, upload_id, load_id, part, segment_id, site, route, release, environment, variant, browser, browser_version,
      os, device, thread, format, coverage, truncated, agent, body_bytes, samples, unattributed_samples, profiled_ms, unattributed_ms, timings,
      skipped_entries, records_read, records_refused from fleetprof.upload_log`,
    "select site, format, count(*), sum(samples) from fleetprof.upload_log group by site, format",
  ],
  sessions: [
    `select session_id, site, route, release, environment, variant, browser, os, device, thread, format, version, page_url,
      upload_id, load_id, part, source_id, window_id, timelines, events, is_raw, content_bytes, records_read, records_refused from fleetprof.sessions`,
  ],
  timelines: ['select * from fleetprof.timelines'],
  running_sessions: ['select * from fleetprof.running_sessions'],
  storage: ['select distinct site, day from fleetprof.storage'],
  sites: ['select site, first_hour, last_hour from fleetprof.sites()'],
  overview_of_sites: ["select * from fleetprof.overview_of_sites(since => '-infinity', until => '2026-01-20Z')"],
  function_tables: ['select site, release, url, functions from fleetprof.function_tables'],
  code_owners: ['select * from fleetprof.code_owners'],
};

/**
 * @param {{ first: string, end: string, hour: string, hottest: { name: string, key: string },
 *   sessions: { id: string, timelines: string[] }[] }} given
 * @returns {Question[]}
 */
export function questions({ first, end, hour, hottest, sessions }) {
  /** @type {Question[]} */
  const list = [];
  // Squares and products are kept as sums of 32 bits, which depend on what is flushed together.
  const rounded = 1e-5;
  for (const [name, extras] of Object.entries(factFunctions)) {
    for (const filter of filters(first, end, hour)) {
      for (const extra of extras) {
        const asked = extra.replace('FUNCTION', () => literal(hottest.name)).replace('KEY', () => literal(hottest.key));
        const columns = columnsOf[name] ?? '*';
        list.push({ sql: `select ${columns} from fleetprof.${name}(${[asked, filter].filter(Boolean).join(', ')})`,
          tolerance: ['estimated_hotspots', 'trend'].includes(name) ? rounded : undefined });
      }
    }
  }
  for (const [name, sides] of Object.entries(comparisons)) {
    for (const more of ['', ", route => '/product/:id'"]) {
      list.push({ sql: `select * from fleetprof.${name}(site => 'shop', ${sides}since => ${literal(first)}, until => ${literal(end)}${more})`,
        // Changes are differences, whose error does not shrink with them.
        tolerance: rounded, least: 0.1 });
    }
  }
  // Frames are numbered in any order.
  for (const filter of filters(first, end, hour)) {
    list.push({ sql: `select tree -> 'level' as levels, tree -> 'self' as self, tree -> 'total' as total, tree -> 'samples' as samples,
      tree -> 'omitted_us' as omitted from fleetprof.flamegraph_columns(${filter}, max_nodes => 100) as tree` });
    list.push({ sql: `select tree -> 'level' as levels, tree -> 'total' as total
      from fleetprof.flamegraph_columns(${filter}, root => (select min(stack_id) from fleetprof_data.stack where level = 2)) as tree` });
  }
  for (const { id, timelines } of sessions) {
    list.push({ sql: `select part, last_part, part_id, events, is_missing, is_detached from fleetprof.session_parts(${id})` });
    for (const [name, extras] of Object.entries(sessionFunctions)) {
      for (const extra of extras) list.push({ sql: `select * from fleetprof.${name}(${id}${extra})` });
    }
    for (const timeline of timelines) {
      for (const more of ["", ", 'reduce_unique_types'", ", 'reduce_unique_events'", ", 'reduce_all'", ", types => '{LAYOUT,PAINT}'",
        ', from_ms => 10, to_ms => 200', ', max_depth => 1']) {
        list.push({ sql: `select * from fleetprof.get_events(${id}, ${timeline}${more})` });
      }
    }
  }
  for (const name of ['get_events(1, 1)', 'hints(1)', 'session_content(1)', 'ui_thread_use(1)']) {
    list.push({ sql: `select * from fleetprof.${name}` });
  }
  for (const sql of Object.values(views).flat()) list.push({ sql });
  const spots = `fleetprof.hotspots('shop', since => ${literal(first)}, until => ${literal(end)}, top => 20) as spot`;
  for (const sql of [
    `select origin.* from ${spots}, fleetprof.function_origin('shop', generated_resource, generated_line, generated_column) as origin`,
    `select fleetprof.source_link('shop', generated_resource, generated_line, generated_column) from ${spots}`,
  ]) list.push({ sql });
  list.push({ sql: "select fleetprof.timezone_of('shop'), fleetprof.timezone_of('%')" });
  list.push({ sql: "select resource, fleetprof.is_agent(resource) from fleetprof.hotspot_hourly group by resource" });
  return list;
}

/** @returns {string[]} the names of functions and views that are asked, or that the test calls by itself */
export const asked = () => [
  ...Object.keys(factFunctions), ...Object.keys(sessionFunctions), ...Object.keys(views), ...Object.keys(comparisons),
  'flamegraph_columns', 'session_parts', 'get_events', 'is_agent', 'release_session', 'function_origin', 'source_link',
  'timezone_of',
];
