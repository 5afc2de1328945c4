// SPDX-License-Identifier: Apache-2.0
/** The endpoint of crash reports: which documents name it, and what happens to the application's own endpoints. */
import { fileTime, html, no, pageWith, sampled, sampledTiming, unsampled, unsampledTiming, yes } from './words.mjs';

/** @typedef {import('../cases.mjs').Case} Case */

const reports = 'fleetprof_reports /v1/reports/pk';
const ours = 'crash-reporting="/v1/reports/pk"';
const stacks = `${yes}, include-js-call-stacks-in-crash-reports`;
/** @type {(...lines: string[]) => import('../cases.mjs').Answer} */
const naming = (...lines) => ({ fields: [html, ...lines.map((line) => /** @type {[string, string]} */ (['Reporting-Endpoints', line]))] });
/** @type {(...lines: string[]) => Pick<Case, 'fields' | 'serverTiming'>} */
const endpoints = (...lines) => ({ fields: { 'reporting-endpoints': lines }, serverTiming: [sampledTiming] });
/** @type {(...lines: string[]) => Pick<Case, 'fields' | 'serverTiming'>} */
const untouched = (...lines) => ({ fields: { 'reporting-endpoints': lines }, serverTiming: [unsampledTiming] });
const local = 'fleetprof_conflict local';
/** @type {[string, string][]} */
const changedSince = [['If-Modified-Since', fileTime], ['Accept', 'text/html']];
/** @type {[string, string][]} */
const revalidating = [['If-None-Match', '"v1"'], ['Sec-Fetch-Dest', 'document']];

/** @type {Case[]} */
export const reporting = [
  { name: 'reports: a_sampled_page_names_the_endpoint', place: [...sampled, reports], answer: pageWith(), policy: [stacks],
    log: ['1', '1', 'sampled'], ...endpoints(ours) },
  { name: 'reports: a_url_of_another_host', place: [...sampled, 'fleetprof_reports https://collect.example/v1/reports/pk'],
    answer: pageWith(), policy: [stacks], ...endpoints('crash-reporting="https://collect.example/v1/reports/pk"') },
  { name: 'reports: an_unsampled_page_stays_untouched', place: [...unsampled, reports], answer: naming('csp="/csp"'),
    policy: [no], ...untouched('csp="/csp"') },
  { name: 'reports: off', place: [...sampled, 'fleetprof_reports off'], answer: pageWith(), policy: [yes], ...endpoints() },
  { name: 'reports: what_is_not_a_document_stays_untouched', place: [...sampled, reports], log: ['', '', 'type'],
    answer: { fields: [['Content-Type', 'text/css']] }, fields: { 'reporting-endpoints': [] } },
  { name: 'reports: the_apps_endpoints_survive', place: [...sampled, reports], answer: naming('a="/a" ', 'b="/b";x'),
    policy: [stacks], ...endpoints(`a="/a", b="/b";x, ${ours}`) },
  { name: 'reports: the_apps_own_endpoint_of_crashes_wins', place: [...sampled, reports], policy: [stacks],
    answer: naming('crash-reporting="/own"'), ...endpoints('crash-reporting="/own"') },
  { name: 'reports: the_apps_default_endpoint_keeps_its_crashes', place: [...sampled, reports], policy: [stacks],
    answer: naming('default="/own"'), ...endpoints('default="/own"') },
  { name: 'reports: local_replaces_the_apps_endpoint_of_crashes', place: [...sampled, reports, local], policy: [stacks],
    answer: naming('crash-reporting="/own", default="/d"'), ...endpoints(`default="/d", ${ours}`) },
  { name: 'reports: an_unparsable_value_is_left_alone', place: [...sampled, reports], policy: [stacks],
    answer: naming('https://own.example'), ...endpoints('https://own.example') },
  { name: 'reports: the_apps_no_to_profiling_is_no_to_reports', place: [...sampled, reports], answer: pageWith(no),
    policy: [`${no}, include-js-call-stacks-in-crash-reports`], log: ['', '1', 'upstream'],
    fields: { 'reporting-endpoints': [] } },
  { name: 'reports: a_configured_no_to_stacks_stays', answer: pageWith(),
    place: [...sampled, reports, 'fleetprof_policy js-profiling include-js-call-stacks-in-crash-reports=?0'],
    policy: ['js-profiling, include-js-call-stacks-in-crash-reports=?0'], ...endpoints(ours) },
  { name: 'reports: a_files_304_names_the_endpoint', place: [...sampled, reports], ask: changedSince, status: 304,
    policy: [stacks], ...endpoints(ours) },
  { name: 'reports: a_files_304_stays_untouched', place: [...unsampled, reports], ask: changedSince, status: 304,
    policy: [no], ...untouched() },
  { name: 'reports: upstreams_304_without_the_policy_stays_untouched', place: [...sampled, reports], ask: revalidating,
    status: 304, answer: pageWith(), revalidated: { status: 304, fields: [['ETag', '"v1"']] },
    log: ['', '1', 'not_modified'], fields: { 'reporting-endpoints': [] } },
  { name: 'reports: upstreams_304_without_the_field_keeps_the_stored_one', place: [...sampled, reports], ask: revalidating,
    status: 304, answer: pageWith(), policy: [`a, ${stacks}`],
    revalidated: { status: 304, fields: [['ETag', '"v1"'], ['Document-Policy', 'a']] }, ...endpoints() },
  { name: 'inherited: reports', server: [reports], place: sampled, answer: pageWith(), policy: [stacks], ...endpoints(ours) },
  { name: 'overridden: reports', server: [reports], place: [...sampled, 'fleetprof_reports off'], answer: pageWith(),
    policy: [yes], ...endpoints() },
];
