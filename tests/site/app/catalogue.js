// SPDX-License-Identifier: Apache-2.0
/** The shop's goods, made up by arithmetic: the same for server, browser and worker. */

const kinds = ['lamp', 'chair', 'table', 'shelf', 'clock', 'vase', 'rug', 'mirror'];
const colours = ['amber', 'black', 'blue', 'copper', 'green', 'grey', 'ivory', 'red', 'white'];

export const products = Array.from({ length: 240 }, (_, i) => ({
  id: i + 1,
  name: `${colours[i % colours.length]} ${kinds[(i * 7) % kinds.length]} ${i + 1}`,
  price: 5 + ((i * 37) % 400),
}));

/** How many letters differ (Levenshtein). */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      next[j] = Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
    }
    row = next;
  }
  return row[b.length];
}

/** The products nearest to a query first. */
export function rank(query) {
  return products
    .map((product) => ({ product, score: distance(query, product.name) }))
    .sort((a, b) => a.score - b.score)
    .map(({ product }) => product);
}
