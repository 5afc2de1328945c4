// SPDX-License-Identifier: Apache-2.0
/** Questions of schema/questions that the page asks, and the filters that they take, if not filters of page loads alone. Made by report/build.mjs. @type {Record<string, string>} */
export const filterSets = {
  hotspots: 'filters of samples',
  measure_hotspots: 'filters of samples',
  callers: 'filters of samples',
  callees: 'filters of samples',
  trend: 'filters and vitals',
  change_point: 'filters and vitals',
  histogram: 'filters and vitals',
  cost_by: 'filters of samples',
  flamegraph_columns: 'filters of samples',
  compare_releases: 'filters of each side',
  compare_summary: 'filters of each side',
  compare_costs: 'filters of each side',
  change_parts: 'filters of each side',
  compare_timings: 'filters of each side',
  compare_vitals: 'filters of each side and vitals',
  vitals: 'filters and vitals',
  vitals_by: 'filters and vitals',
  vital_parts: 'filters and vitals',
  vital_elements: 'filters and vitals',
  vital_hotspots: 'filters of samples and vitals',
  interactions: 'filters and vitals',
  interactions_by: 'filters and vitals',
  budgets: 'filters and vitals',
  profiling_cost: 'filters and vitals',
  releases: 'filters of both sides',
};

/** Columns of the questions that views show as tables, as columns.js reads them: what their names say is in the type only. Made by report/build.mjs. */
export const columns = /** @type {{
 * sites: Record<'site' | 'last_hour' | 'loads' | 'uploads' | 'profiled_ms', string | undefined>,
 * hotspots: Record<'function' | 'resource' | 'line' | 'column_number' | 'kind' | 'self_ms' | 'total_ms' | 'samples' | 'uploads' | 'self_ms_per_load' | 'total_ms_per_load' | 'load_share' | 'busy_share', string | undefined>,
 * timings: Record<'name' | 'kind' | 'count' | 'p50_ms' | 'p75_ms' | 'p95_ms' | 'p99_ms' | 'min_ms' | 'max_ms' | 'mean_ms' | 'left_out', string | undefined>,
 * callers: Record<'function' | 'resource' | 'line' | 'column_number' | 'total_ms' | 'share' | 'samples', string | undefined>,
 * function_by: Record<'value' | 'self_ms' | 'total_ms' | 'samples' | 'loads' | 'self_ms_per_load', string | undefined>,
 * cost_by: Record<'name' | 'self_ms' | 'share' | 'samples' | 'uploads', string | undefined>,
 * vitals: Record<'name' | 'unit' | 'count' | 'p50' | 'p75' | 'p95' | 'good_share' | 'needs_improvement_share' | 'poor_share' | 'flagged', string | undefined>,
 * budgets: Record<'name' | 'unit' | 'limit_value' | 'value' | 'verdict' | 'count', string | undefined>,
 * vital_parts: Record<'name' | 'part' | 'count' | 'mean_ms' | 'share', string | undefined>,
 * vital_elements: Record<'element' | 'url' | 'unit' | 'count' | 'share' | 'p50' | 'p75' | 'p95', string | undefined>,
 * ttfb_parts: Record<'cache' | 'count' | 'p75_ms' | 'mean_ms' | 'server_ms' | 'network_ms' | 'server_share', string | undefined>,
 * profiling_cost: Record<'name' | 'other_value' | 'drawn_value' | 'change' | 'change_low' | 'verdict' | 'other_count' | 'drawn_count' | 'loads_for_1_percent', string | undefined>,
 * interactions: Record<'target' | 'type' | 'count' | 'p75_ms' | 'p98_ms' | 'max_ms' | 'total_ms' | 'input_delay_share' | 'processing_share' | 'presentation_share' | 'flagged' | 'responses' | 'response_p75_ms' | 'response_p98_ms', string | undefined>,
 * waits: Record<'kind' | 'name' | 'ms' | 'share', string | undefined>,
 * long_frames: Record<'invoker' | 'function' | 'count' | 'total_ms' | 'p75_ms' | 'blocking_ms' | 'forced_layout_ms' | 'forced_style_ms' | 'forced_reflow_ms' | 'style_ms' | 'layout_ms', string | undefined>,
 * third_parties: Record<'host' | 'party' | 'self_ms' | 'requests' | 'p75_ms' | 'bytes' | 'opaque_share', string | undefined>,
 * compare_releases: Record<'function' | 'resource' | 'before_self_ms' | 'after_self_ms' | 'change' | 'own_change' | 'at_least' | 'smallest_visible' | 'verdict' | 'before_uploads' | 'after_uploads' | 'samples', string | undefined>,
 * compare_costs: Record<'name' | 'before_self_ms' | 'after_self_ms' | 'change' | 'change_low' | 'own_change' | 'own_low' | 'smallest_visible' | 'verdict' | 'before_uploads' | 'after_uploads', string | undefined>,
 * change_parts: Record<'part' | 'ms' | 'share', string | undefined>,
 * compare_timings: Record<'name' | 'kind' | 'percentile' | 'before_ms' | 'after_ms' | 'change' | 'change_low' | 'own_low' | 'smallest_visible' | 'verdict' | 'before_count' | 'after_count' | 'common_change', string | undefined>,
 * compare_vitals: Record<'name' | 'unit' | 'percentile' | 'before_value' | 'after_value' | 'change' | 'change_low' | 'own_low' | 'smallest_visible' | 'verdict' | 'before_count' | 'after_count' | 'common_change', string | undefined>,
 * coverage: Record<'loads' | 'profiled' | 'no_policy' | 'unsupported' | 'quota' | 'disabled' | 'not_sampled', string | undefined>,
 * sessions: Record<'site' | 'route' | 'release' | 'browser' | 'os' | 'device' | 'frame' | 'session_id' | 'format' | 'page_url' | 'received' | 'part' | 'timelines' | 'events' | 'content_bytes', string | undefined>,
 * }} */ ({
  sites: {
    last_hour: 'Newest hour (UTC)',
    loads: 'Page loads',
    profiled_ms: 'Profiled time',
  },
  hotspots: {
    line: '+',
    column_number: '+Column',
    load_share: 'Loads',
  },
  timings: {
    left_out: '+',
  },
  callers: {
    line: '+',
    column_number: '+Column',
  },
  vitals: {
    name: 'Vital',
  },
  budgets: {
    name: 'Budget',
    limit_value: 'Limit',
    value: '#',
  },
  vital_parts: {
    name: 'Vital',
  },
  vital_elements: {
    url: 'URL',
  },
  ttfb_parts: {
    count: 'Loads',
  },
  profiling_cost: {
    other_value: 'Not drawn',
    drawn_value: 'Drawn',
    other_count: 'Loads not drawn',
    drawn_count: 'Loads drawn',
    loads_for_1_percent: 'Loads needed',
  },
  interactions: {
    input_delay_share: 'Delay',
  },
  compare_releases: {
    before_self_ms: 'Before ms/load',
    after_self_ms: 'After ms/load',
    at_least: '%',
    before_uploads: 'Uploads before',
    after_uploads: 'Uploads after',
  },
  compare_costs: {
    before_self_ms: 'Before ms/load',
    after_self_ms: 'After ms/load',
  },
  compare_timings: {
    percentile: '+',
    before_count: 'Values before',
    after_count: 'Values after',
  },
  compare_vitals: {
    percentile: '+',
    before_value: 'Before',
    after_value: 'After',
    before_count: 'Values before',
    after_count: 'Values after',
  },
  coverage: {
    profiled: '+',
    no_policy: '+',
    unsupported: '+',
    quota: '+',
    disabled: '+',
    not_sampled: '+',
  },
  sessions: {
    session_id: 'Session',
    page_url: 'Page',
    received: 'Received (UTC)',
    part: '+',
    content_bytes: 'Bytes',
  },
});

/** The meanings of columns, where views say them. Made by report/build.mjs. */
export const meanings = {
  coverage: {
    loads: 'profiled, and page loads that give a reason',
    profiled: 'page loads with a trace',
    no_policy: 'the server sampled the page load, but the browser got no Document-Policy',
    unsupported: 'the browser has no profiler',
    quota: 'the browser or the agent\'s own limit refused another profile',
    disabled: 'the page turned profiling off',
    not_sampled: 'the server did not sample the page load; agents say so only if asked',
  },
};
