// SPDX-License-Identifier: Apache-2.0
/** The rows of schema/vitals. Made by report/build.mjs. @type {{ name: string, unit: string, good: number, poor: number }[]} */
export const rows = [
  { name: 'LCP', unit: 'ms', good: 2500, poor: 4000 },
  { name: 'INP', unit: 'ms', good: 200, poor: 500 },
  { name: 'CLS', unit: 'score x 1000', good: 100, poor: 250 },
  { name: 'FCP', unit: 'ms', good: 1800, poor: 3000 },
  { name: 'TTFB', unit: 'ms', good: 800, poor: 1800 },
];
