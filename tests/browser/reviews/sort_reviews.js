// SPDX-License-Identifier: Apache-2.0
/**
 * @typedef {object} Review
 * @property {number} stars
 * @property {Int32Array} words the number of each word
 */

/** @param {Review} review */
function scoreOf({ stars, words }) {
  let score = stars * 1000;
  for (let at = 0; at < words.length; at += 1) score = (score + words[at] % 7) | 0;
  return score;
}

/** Sorts the reviews of each product as nobody should. @param {Review[][]} products */
export function sortReviews(products) {
  for (const reviews of products) {
    for (let end = reviews.length - 1; end > 0; end -= 1) {
      for (let at = 0; at < end; at += 1) {
        const [left, right] = [reviews[at], reviews[at + 1]];
        if (scoreOf(left) > scoreOf(right)) {
          reviews[at] = right;
          reviews[at + 1] = left;
        }
      }
    }
  }
}
