// SPDX-License-Identifier: Apache-2.0
/**
 * Grafana's dashboards about pages: panels of fleetprof's SQL functions.
 *
 *     node tools/dashboards.mjs DIR      writes overview.json, function.json, releases.json and vitals.json there
 *
 * They are in the classic model, which Grafana 11 and later read.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { dimensions } from './filters.mjs';
import { vitals as vitalRows } from './vitals.mjs';

/** @import { Dashboard, Panel, VariableModel, FieldConfigSource } from '@grafana/schema' */
/** @typedef {{ width: number, height?: number }} Size of 24 columns; rows of 30 pixels */
/** @typedef {Size & { title: string, description: string, sql: string, unit?: string }} Question */
/** @typedef {FieldConfigSource['overrides'][number]} Override */

const datasource = { type: 'grafana-postgresql-datasource', uid: '${datasource}' };

// ---- Variables

/** Quotes a variable's value as SQL does. @param {string} name */
const value = (name) => `\${${name}:sqlstring}`;
/** The same for texts from pages: Grafana writes \" for the " in them, which SQL does not read back. @param {string} name */
const textValue = (name) => `replace(${value(name)}, '\\"', '"')`;

/**
 * A variable whose values the database lists. Its value for "All" goes into the SQL as it is.
 * @param {string} name @param {string} label @param {string} sql @param {string} [all]
 * @returns {VariableModel}
 */
const listed = (name, label, sql, all) => ({
  name, label, type: 'query', datasource, query: sql, refresh: 2, includeAll: all !== undefined,
  ...(all !== undefined && { allValue: all, current: { text: 'All', value: '$__all' } }),
});

/** A variable with given values, the first by default. @param {string} name @param {string} label @param {string[]} values
 * @returns {VariableModel} */
const chosen = (name, label, values) => ({
  name, label, type: 'custom', query: values.join(','), current: { text: values[0] ?? '', value: values[0] ?? '' },
  options: values.map((one, place) => ({ text: one, value: one, selected: place === 0 })),
});

const period = `${value('site')}, $__timeFrom(), $__timeTo()`;
/** '' is the value of uploads without the dimension. @param {string} column */
const shown = (column) => `replace(${column}, '%', '\\%') as __value, coalesce(nullif(${column}, ''), '(none)') as __text`;
/** @param {string} field @param {string} label */
const dimension = (field, label) => listed(field, label,
  `select ${shown('value')} from fleetprof.field_values('${field}', ${period}) limit 500`, 'null');

/** @type {VariableModel[]} */
const site = [
  { name: 'datasource', label: 'Data source', type: 'datasource', query: datasource.type },
  listed('site', 'Site', 'select site from fleetprof.sites()'),
];
const mix = [dimension('route', 'Route'), dimension('device', 'Device'), dimension('browser', 'Browser')];
const release = dimension('release', 'Release');
const step = chosen('step', 'Step', ['hour', 'day']);

const mixFilters = `route => ${textValue('route')}, device => ${value('device')}, browser => ${value('browser')}`;
const filters = `${period}, ${mixFilters}, release => ${textValue('release')}`;

// ---- Panels

/** @param {string} pattern @param {Record<string, unknown>} properties @returns {Override} */
const column = (pattern, properties) => ({
  matcher: { id: 'byRegexp', options: pattern },
  properties: Object.entries(properties).map(([id, setting]) => ({ id, value: setting })),
});

/** Units by what a column's name says, as in docs/sql.md. */
const units = [
  column('/_ms(_|$)/', { unit: 'ms', decimals: 1 }),
  column('/_share$/', { unit: 'percentunit', decimals: 1, min: 0, max: 1 }),
  column('/^(change|smallest_visible)/', { unit: 'percentunit', decimals: 0 }),
  column('/^bytes$/', { unit: 'bytes' }),
  column('/_key$/', { 'custom.hidden': true }),
  // "short" would make 48.2 K of column 48213.
  column('/^(generated_)?(line|column|column_number)$/', { unit: 'none' }),
  column('/^(p[0-9]+|(before|after)_value)$/', { unit: 'none', decimals: 1 }),
];

/** @param {string} sql @param {string} format */
const query = (sql, format) => ({ refId: 'A', datasource, format, rawQuery: true, editorMode: 'code', rawSql: sql });

/** @param {string} type @param {Question} question @param {string} format @param {Partial<Panel>} [more] @returns {Panel} */
const panel = (type, { title, description, sql, unit, width, height = 8 }, format, more) => /** @type {Panel} */ ({
  type, title, description, datasource, gridPos: { x: 0, y: 0, w: width, h: height },
  fieldConfig: { defaults: { unit: unit ?? 'short' }, overrides: [] },
  targets: [query(sql, format)],
  ...more,
});

/** @param {Question} question */
const stat = (question) => panel('stat', { height: 4, ...question }, 'table', {
  options: { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, graphMode: 'none', colorMode: 'none' },
});

/** @param {Question} question @param {Override[]} [overrides] */
const table = (question, overrides = []) => panel('table', question, 'table', {
  fieldConfig: { defaults: { unit: 'short' }, overrides: [...units, ...overrides] },
  options: { showHeader: true, cellHeight: 'sm' },
});

/** Draws one line per column but `time`. @param {Question} question @param {Override[]} [overrides] */
const lines = (question, overrides = []) => panel('timeseries', question, 'time_series', {
  fieldConfig: { defaults: { unit: question.unit ?? 'short', min: 0, custom: { showPoints: 'auto', spanNulls: false } }, overrides },
  options: { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi', sort: 'none' } },
});

/** The first column names the bars. @param {Question} question @param {string} [orientation] */
const bars = (question, orientation = 'horizontal') => panel('barchart', question, 'table', {
  options: { orientation, legend: { showLegend: false, displayMode: 'hidden', placement: 'bottom' } },
});

/** @param {Question} question */
const flamegraph = (question) => panel('flamegraph', { unit: 'ms', height: 16, ...question }, 'table');

/** A link from a function's name to its dashboard. @param {VariableModel[]} kept filters that it takes along */
const toFunction = (kept) => column('/^function$/', {
  links: [{
    title: 'Callers, callees and trend',
    url: `/d/fleetprof-function?\${__url_time_range}&${['datasource', 'site', ...kept.map(({ name }) => name)]
      .map((name) => `\${${name}:queryparam}`).join('&')}&var-function=\${__data.fields.function_key}`,
  }],
});

const verdicts = column('/^(verdict|rating)$/', {
  'custom.cellOptions': { type: 'color-text' },
  mappings: [{
    type: 'value',
    options: {
      // The report's hues, by names that fit both themes of Grafana: those of a change are none of a rating.
      slower: { color: 'orange', index: 0 }, new: { color: 'light-orange', index: 1 },
      faster: { color: 'blue', index: 2 }, gone: { color: 'light-blue', index: 3 },
      poor: { color: 'red', index: 4 }, wrong: { color: 'red', index: 5 }, 'needs improvement': { color: 'yellow', index: 6 },
      good: { color: 'green', index: 7 }, fine: { color: 'green', index: 8 },
      over: { color: 'red', index: 9 }, within: { color: 'green', index: 10 },
    },
  }],
});

/** Fills rows from the left, in order; a panel that does not fit begins the next row. @param {Panel[]} panels */
function placed(panels) {
  let x = 0, y = 0, deepest = 0;
  return panels.map((one, place) => {
    const { w, h } = /** @type {{ w: number, h: number }} */ (one.gridPos);
    if (x + w > 24) [x, y, deepest] = [0, y + deepest, 0];
    const gridPos = { x, y, w, h };
    [x, deepest] = [x + w, Math.max(deepest, h)];
    return { ...one, id: place + 1, gridPos };
  });
}

/** @param {string} name @param {string} title @param {string} description @param {VariableModel[]} variables
 * @param {Panel[]} panels @param {string} [from] @returns {Dashboard} */
const dashboard = (name, title, description, variables, panels, from = 'now-24h') => ({
  title: `fleetprof: ${title}`, uid: `fleetprof-${name}`, description, tags: ['fleetprof'], schemaVersion: 39, version: 1,
  editable: true, timezone: 'browser', time: { from, to: 'now' },
  templating: { list: [...site, ...variables] },
  annotations: {
    list: [{
      name: 'Releases', datasource, enable: true, iconColor: 'blue',
      target: query(`select first_hour as time, 'release ' || release as text from fleetprof.releases(${period})`
        + ' where first_hour >= $__timeFrom()', 'table'),
    }],
  },
  links: [{
    type: 'dashboards', tags: ['fleetprof'], title: 'fleetprof', asDropdown: true, includeVars: true, keepTime: true,
    icon: 'external link', targetBlank: false, tooltip: '', url: '',
  }],
  panels: placed(panels),
});

// ---- Dashboards

/** A tile of a vital, with its thresholds. @param {import('./vitals.mjs').Vital} vital */
const vitalTile = ({ name, unit, good, poor }) => {
  const scale = unit === 'ms' ? 1 : 1000;
  const steps = [{ color: 'green', value: null }, { color: 'yellow', value: good / scale }, { color: 'red', value: poor / scale }];
  const tile = stat({ title: name, description: 'The 75th percentile.', width: 4, unit: scale === 1 ? 'ms' : 'none',
    sql: `select p75${scale === 1 ? '' : ` / ${scale}`} as value from fleetprof.vitals(${filters}) where name = '${name}'` });
  /** @type {FieldConfigSource} */ (tile.fieldConfig).defaults.thresholds = { mode: /** @type {import('@grafana/schema').ThresholdsMode} */ ('absolute'), steps };
  return { ...tile, options: { ...tile.options, colorMode: 'value' } };
};

const overview = dashboard('overview', 'overview', 'What JavaScript costs real users, and which.',
  [release, ...mix, chosen('by', 'Cost by', ['package', 'owner', 'party', 'entity', 'host', 'resource', 'source', 'marker', ...dimensions])], [
    stat({ title: 'Page loads', description: 'Profiled page loads.', width: 6,
      sql: `select sum(loads) as loads from fleetprof.summary(${filters})` }),
    stat({ title: 'JavaScript per page load', description: 'Time of scripts per profiled page load.', width: 6, unit: 'ms',
      sql: `select sum(script_ms) / nullif(sum(loads), 0) as ms from fleetprof.summary(${filters})` }),
    stat({ title: 'Attributed', description: 'Attributed time as a share of profiled time; the rest is idle or not visible.',
      width: 6, unit: 'percentunit',
      sql: `select 1 - sum(unattributed_ms) / nullif(sum(profiled_ms), 0) as share from fleetprof.summary(${filters})` }),
    stat({ title: 'Sampled page loads that arrived', width: 6, unit: 'percentunit',
      description: 'Of the page loads that the server sampled, those with a profile. Empty where no token proves a rate.',
      sql: `select delivered::double precision / nullif(sampled, 0) as share from fleetprof.coverage(${filters})` }),
    ...vitalRows.map(vitalTile),
    stat({ title: 'Slower functions', description: 'Those that the latest release made slower.', width: 4,
      sql: `select nullif(count(*), 0) as slower\nfrom fleetprof.regressions(${value('site')}, ${mixFilters})\nwhere verdict = 'slower' and not is_agent` }),
    table({ title: 'At a glance', width: 24, height: 14,
      description: 'The latest release, what visitors felt of it, vitals, what to fix first, third parties and what needs you, in the words of the report.',
      sql: `select part, verdict, sentence, change\nfrom fleetprof.overview(${filters})` }, [verdicts,
      column('/^(part|verdict|change)$/', { 'custom.width': 150 })]),
    table({ title: 'Budgets', width: 24, height: 7,
      description: 'What visitors may wait at most, against what they wait. A burn rate of 1 uses up exactly the budget.',
      sql: `select name, verdict, value, limit_value, unit, burn_1h, burn_24h, over_since\nfrom fleetprof.budgets(${filters})` }, [verdicts, column('/value$/', { unit: 'none' })]),
    lines({ title: 'JavaScript per page load', description: 'Time of scripts per profiled page load, by hour.', width: 12, unit: 'ms',
      sql: `select bucket as time, script_ms / nullif(loads, 0) as "per page load"\nfrom fleetprof.summary(${filters})\norder by bucket` }),
    lines({ title: 'Page loads per hour', description: 'Profiled page loads; of a day whose hours are gone their mean.', width: 12,
      sql: `select bucket as time, loads::double precision / hours as "per hour"\nfrom fleetprof.summary(${filters})\norder by bucket` }),
    table({ title: 'Functions', description: 'The functions with the most self time. A name leads to its callers.', width: 24, height: 11,
      sql: `select function, resource, line, self_ms_per_load, total_ms_per_load, busy_share, load_share, samples, uploads, function_key
from fleetprof.hotspots(${filters}, top => 50)
where not is_agent` }, [toFunction([release, ...mix])]),
    flamegraph({ title: 'Flame graph', description: 'Attributed time by stack. Stacks below 0.1 % of the profiled time are left out.',
      width: 24, sql: `select level, value, label, self from fleetprof.flamegraph_grafana(${filters})` }),
    bars({ title: 'Cost by ${by}', description: 'Attributed time by what scripts or uploads have in common.', width: 12, height: 11, unit: 'ms',
      sql: `select coalesce(nullif(name, ''), '(none)') as name, self_ms
from fleetprof.cost_by(${value('by')}, ${filters})
where name <> '(unattributed)'
order by self_ms desc
limit 20` }),
    table({ title: 'Hosts', description: 'The hosts that pages load from, with the time of their scripts.', width: 12, height: 11,
      sql: `select host, party, self_ms, self_share, requests, p75_ms, bytes, opaque_share\nfrom fleetprof.third_parties(${filters})\nlimit 100` }),
  ]);

const oneFunction = dashboard('function', 'one function', 'One function: its cost over time, where it runs, who calls it.', [
  release, ...mix,
  listed('function', 'Function', `select function_key as __value, concat_ws(':', concat_ws(' ', function, resource), line, column_number) as __text
from fleetprof.hotspots(${period}, top => 1000)`),
  step, chosen('by', 'Runs by', dimensions),
], [
  table({ title: 'Function', description: 'Where it stands and what it costs.', width: 24, height: 4,
    sql: `select function, resource, line, column_number, self_ms, total_ms, self_ms_per_load, total_ms_per_load, load_share, samples,
    generated_resource, generated_line, generated_column
from fleetprof.hotspots(${filters}, top => null)
where function_key = ${value('function')}` }),
  lines({ title: 'Self time per page load', width: 12, unit: 'ms',
    description: 'With the range in which it lies with a probability of 95 %.',
    sql: `select bucket as time, value_ms as "self time", low_ms as "low", high_ms as "high"
from fleetprof.trend('function', ${value('function')}, ${value('step')}, ${filters})
order by bucket` }),
  table({ title: 'Runs by ${by}', description: 'Where the function runs, costliest first.', width: 12,
    sql: `select coalesce(nullif(value, ''), '(none)') as value, self_ms_per_load, total_ms_per_load, self_ms, samples, uploads, loads
from fleetprof.function_by(${value('by')}, ${value('function')}, ${filters})` }),
  table({ title: 'Callers', description: 'The frames right below the function; (root) where nothing called it.', width: 8,
    sql: `select function, resource, line, total_ms, share as total_share, samples, coalesce(function_key, ${value('function')}) as function_key
from fleetprof.callers(null, ${filters}, key => ${value('function')})` }, [toFunction([release, ...mix])]),
  table({ title: 'Callees', description: 'The frames right on top of the function; (self) is its own time.', width: 8,
    sql: `select function, resource, line, total_ms, share as total_share, samples, coalesce(function_key, ${value('function')}) as function_key
from fleetprof.callees(null, ${filters}, key => ${value('function')})` }, [toFunction([release, ...mix])]),
  table({ title: 'Inside', description: 'The measures and windows that the function runs inside.', width: 8,
    sql: `select value as measure, self_ms, total_ms, samples, uploads
from fleetprof.function_by('measure', ${value('function')}, ${filters})` }),
]);

const sides = `${value('site')}, ${textValue('before')}, ${textValue('after')}, ${mixFilters}`;
const releasesByAge = `select ${shown('release')} from fleetprof.releases(${period}) order by release = '', rollout_began desc`;
const changes = 'change, change_low, change_high, smallest_visible';
const releases = dashboard('releases', 'two releases', 'What a release made slower or faster, and what is only noise.', [
  listed('after', 'Release', releasesByAge),
  listed('before', 'Against', `${releasesByAge} offset 1`), ...mix,
], [
  table({ title: 'Summary', description: 'How many functions changed. A placebo compares two halves of the earlier release.', width: 24, height: 4,
    sql: `select obstacle, slower, faster, new, gone, unchanged, too_few, unmatched, common_change, comparable_share,
    placebo_flags, placebo_tested, before_uploads, after_uploads
from fleetprof.compare_summary(${sides})` }, [column('/^common_change$/', { unit: 'percentunit', decimals: 1 })]),
  table({ title: 'Functions', description: 'Self time per page load; the change is for the same mix of pages and devices.', width: 24, height: 14,
    sql: `select verdict, function, resource, line, before_self_ms, after_self_ms, own_change, own_low, own_high, smallest_visible, before_uploads, after_uploads, function_key
from fleetprof.compare_releases(${sides}, top => 200)
where not is_agent` }, [verdicts, toFunction(mix)]),
  table({ title: 'Timings', description: 'Medians and 75th percentiles of marks and measures.', width: 12, height: 11,
    sql: `select verdict, name, kind, percentile, before_ms, after_ms, ${changes}, before_count, after_count
from fleetprof.compare_timings(${sides})` }, [verdicts]),
  table({ title: 'Vitals', description: 'Medians and 75th percentiles; CLS as the score × 1000.', width: 12, height: 11,
    sql: `select verdict, name, unit, percentile, before_value, after_value, ${changes}, before_count, after_count
from fleetprof.compare_vitals(${sides})` }, [verdicts]),
], 'now-30d');

const navigation = listed('navigation', 'Navigation', `select distinct value as __value, coalesce(nullif(value, ''), '(none)') as __text
from fleetprof.vitals_by('navigation', ${period})
order by value`, 'null');
const vitalFilters = `${filters}, navigation => ${value('navigation')}`;

/** The one that most pages have to work on is shown first. */
const vitalNames = vitalRows.map(({ name }) => name).sort((a, b) => Number(b === 'INP') - Number(a === 'INP'));

/** A vital's threshold, for a line of a trend. @param {'good' | 'poor'} which */
const threshold = (which) => `case ${value('vital')} ${vitalRows.map((vital) => `when '${vital.name}' then ${vital[which]}`).join(' ')} end`;
/** @param {string} name @param {string} color */
const dashed = (name, color) => column(`/^${name}$/`, {
  color: { mode: 'fixed', fixedColor: color }, 'custom.lineStyle': { fill: 'dash', dash: [8, 8] }, 'custom.showPoints': 'never',
});
/** How the 75th percentile of each vital is rated. */
const rating = `case name ${vitalRows.map(({ name, good, poor }) => (
  `when '${name}' then case when p75 <= ${good} then 'good' when p75 <= ${poor} then 'needs improvement' else 'poor' end`)).join('\n    ')} end`;

const vitals = dashboard('vitals', 'web vitals', 'What real users noticed, and the functions behind it.',
  [chosen('vital', 'Vital', vitalNames), release, ...mix, navigation, step, chosen('by', 'By', dimensions)], [
    table({ title: 'Vitals', description: 'Percentiles and ratings; CLS as the score × 1000.', width: 12,
      sql: `select name, unit, count, p75, ${rating} as rating, p50, p95, good_share, needs_improvement_share, poor_share\nfrom fleetprof.vitals(${vitalFilters})` }, [verdicts]),
    lines({ title: '${vital}, 75th percentile', unit: 'none', width: 12,
      description: 'Milliseconds; of CLS the score × 1000. With the range in which it lies with a probability of 95 %, and what is good and poor.',
      sql: `select bucket as time, value_ms as "p75", low_ms as "low", high_ms as "high", ${threshold('good')} as "good up to", ${threshold('poor')} as "poor above"
from fleetprof.trend('vital', ${value('vital')}, ${value('step')}, ${vitalFilters})
order by bucket` }, [dashed('good up to', 'green'), dashed('poor above', 'red')]),
    bars({ title: '${vital}, distribution', description: 'How many values are how large: eight bins an octave.', width: 12, height: 10,
      sql: `with bins as (
    select floor(8 * log(2, greatest(from_ms, 1)::numeric))::integer as octave, sum(count) as count
    from fleetprof.histogram('vital', ${value('vital')}, ${vitalFilters})
    group by octave
)
select to_char(power(2, octave / 8.0), 'FM999999990.0') as value, coalesce(count, 0) as count
from (select generate_series(min(octave), max(octave)) as octave from bins) as every
left join bins using (octave)
order by octave` }, 'vertical'),
    table({ title: '${vital} by ${by}', description: 'The values with the most page loads first.', width: 12, height: 10,
      sql: `select coalesce(nullif(value, ''), '(none)') as value, unit, count, p75, good_share, poor_share
from fleetprof.vitals_by(${value('by')}, ${vitalFilters})
where name = ${value('vital')}` }),
    table({ title: 'Parts', description: 'What values consist of, in the order of time.', width: 12, height: 10,
      sql: `select name, part, count, mean_ms, share as part_share\nfrom fleetprof.vital_parts(${vitalFilters})` }),
    table({ title: 'Parts of ${vital} by ${by}', description: 'The same for each value, the most page loads first.', width: 24, height: 10,
      sql: `select coalesce(nullif(value, ''), '(none)') as value, part, count, mean_ms, share as part_share
from fleetprof.vital_parts_by(${value('by')}, ${vitalFilters})
where name = ${value('vital')}` }),
    table({ title: 'Elements of ${vital}', description: 'The elements that values are of, the most frequent first; FCP and TTFB have none.', width: 12, height: 10,
      sql: `select element, url, unit, count, share as element_share, p50, p75, p95\nfrom fleetprof.vital_elements(${value('vital')}, ${vitalFilters})` }),
    table({ title: 'Functions behind a poor ${vital}', width: 24, height: 10,
      description: 'Functions that ran where the vital was poor, and what each cost where it was good.',
      sql: `select function, resource, line, self_ms_per_load, good_self_ms_per_load, uploads, good_uploads, samples, function_key
from fleetprof.vital_hotspots(${value('vital')}, ${vitalFilters})
where not is_agent` }, [toFunction([release, ...mix])]),
    table({ title: 'Interactions', description: 'Clicks, taps and keys by target, the most time first.', width: 12, height: 10,
      sql: `select target, type, count, p75_ms, p98_ms, input_delay_share, processing_share, presentation_share, responses, response_p75_ms, response_p98_ms
from fleetprof.interactions(${vitalFilters})
limit 100` }),
    table({ title: 'Interactions by ${by}', description: 'The same for each value, the most time first.', width: 12, height: 10,
      sql: `select coalesce(nullif(value, ''), '(none)') as value, target, type, count, p75_ms, p98_ms, input_delay_share, processing_share, presentation_share, responses, response_p75_ms
from fleetprof.interactions_by(${value('by')}, ${vitalFilters})
limit 200` }),
    table({ title: 'Waits', description: 'Where the time goes until the results of interactions show, of profiled page loads.', width: 24, height: 8,
      sql: `select kind, name, ms, share, responses
from fleetprof.waits('%', ${filters})` }),
    table({ title: 'Long frames', description: 'What blocked the page, by the browser\'s own account.', width: 12, height: 10,
      sql: `select invoker, function, script, count, p75_ms, blocking_ms, forced_layout_ms, forced_style_ms, forced_reflow_ms, style_ms, layout_ms\nfrom fleetprof.long_frames(${filters})\nlimit 100` }),
    table({ title: 'Server and network', description: 'How much of the time to first byte is the server, by what its cache did.', width: 12, height: 10,
      sql: `select cache, count, p75_ms, mean_ms, server_ms, network_ms, server_share\nfrom fleetprof.ttfb_parts(${filters})` }),
    table({ title: 'Hangs and crashes', description: 'Documents that hung or crashed, as browsers report; such page loads send nothing else.', width: 12, height: 10,
      sql: `select reason, function, resource, line, callers, count, per_100k_loads, hidden, in_frames\nfrom fleetprof.hangs(${filters})\nlimit 100` }),
    table({ title: 'Broken policies', description: 'Document policies that documents broke, as browsers report; js-profiling: a page tried to profile without its policy.', width: 12, height: 10,
      sql: `select policy, count\nfrom fleetprof.violations(${filters})\nlimit 100` }),
  ]);
vitals.annotations?.list?.push({
  name: 'Changed definitions', datasource, enable: true, iconColor: 'orange',
  target: query(`select bucket as time, definition_change as text
from fleetprof.trend('vital', ${value('vital')}, ${value('step')}, ${filters})
where definition_change is not null`, 'table'),
});

/** File names and texts of the dashboards. */
export const files = new Map(Object.entries({ overview, function: oneFunction, releases, vitals })
  .map(([name, model]) => [`${name}.json`, `${JSON.stringify(model, null, 2)}\n`]));

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const [, , folder] = process.argv;
  if (folder === undefined) throw new Error('usage: node tools/dashboards.mjs DIR');
  fs.mkdirSync(folder, { recursive: true });
  for (const [name, text] of files) fs.writeFileSync(path.join(folder, name), text);
}
