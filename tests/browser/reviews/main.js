// SPDX-License-Identifier: Apache-2.0
/**
 * A page of reviews. Each click shows more of them, and some sort them. What a visit does depends on its number alone,
 * which the URL has, so that builds see the same visits. The build sets SORTED_SHARE: how many of the products it
 * sorts.
 */
import { sortReviews } from './sort_reviews.js';

const parameters = new URLSearchParams(location.search);
let seed = Number(parameters.get('visit')) + 1;
/** Returns a number from 0 to 1. */
function random() {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
}
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Makes a list's HTML. @param {number} count */
function renderRows(count) {
  let rows = '';
  for (let row = 0; row < count; row += 1) {
    let sum = 0;
    for (let at = 0; at < 4000; at += 1) sum = (sum * 31 + row + at) & 0xffff;
    if (row % 200 === 0) rows += `<li>${sum}</li>`;
  }
  return rows;
}

const words = Int32Array.from({ length: 400 }, (_, at) => at * 31);
/** @param {number} count */
const productsOf = (count) => Array.from({ length: count }, (_, product) => (
  Array.from({ length: 12 }, (_, at) => ({ stars: (at * 7 + product) % 5, words }))));

/** @param {number} rows @param {number} products */
function showReviews(rows, products) {
  if (SORTED_SHARE > 0 && products > 0) sortReviews(productsOf(Math.round(SORTED_SHARE * products)));
  const list = /** @type {HTMLElement} */ (document.querySelector('ul'));
  list.innerHTML = renderRows(rows);
  list.dataset.shown = String(Number(list.dataset.shown ?? 0) + 1);
}

/** How many rows, and sorted products, take a millisecond. */
const [rowsPerMs, productsPerMs] = ['rows', 'products'].map((name) => Number(parameters.get(name)));
document.querySelector('button')?.addEventListener('click', () => {
  // All are drawn, whatever the build does with them.
  const [rows, isSorted, products] = [40 * Math.exp(0.5 * normal()), random() < 0.5, 120 * Math.exp(0.4 * normal())];
  showReviews(Math.round(rows * rowsPerMs), isSorted ? Math.round(products * productsPerMs) : 0);
});

/** Returns how many milliseconds work takes: the test asks how fast the machine is. @param {() => void} work */
function timeOf(work) {
  const start = performance.now();
  work();
  return performance.now() - start;
}
Object.assign(globalThis, { measure: () => [timeOf(() => { renderRows(4000); }), timeOf(() => { if (SORTED_SHARE > 0) sortReviews(productsOf(400)); })] });
