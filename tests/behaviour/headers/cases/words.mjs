// SPDX-License-Identifier: Apache-2.0
/** Words that the cases share. */

export const yes = 'js-profiling, js-profiling-mode=lazy';
export const no = 'js-profiling=?0';

/** Server-Timing of a sampled page without a key, as `shown` of token.mjs has it, and of any other page. */
export const sampledTiming = 'fleetprof;desc="<1>"';
export const unsampledTiming = 'fleetprof;desc="0"';

export const sampled = ['fleetprof on', 'fleetprof_sample 100%'];
export const unsampled = ['fleetprof on', 'fleetprof_sample 0%'];

/** When the files were last modified. */
export const fileTime = 'Thu, 01 Jan 2026 00:00:00 GMT';

/** @type {[string, string]} */
export const html = ['Content-Type', 'text/html'];

/**
 * An HTML page with these lines of Document-Policy.
 * @param {...string} lines
 * @returns {import('../cases.mjs').Answer}
 */
export const pageWith = (...lines) => ({ fields: [html, ...policyLines(lines)] });

/**
 * @param {string[]} lines
 * @returns {[string, string][]}
 */
export const policyLines = (lines) => lines.map((line) => ['Document-Policy', line]);
