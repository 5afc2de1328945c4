// SPDX-License-Identifier: Apache-2.0
/**
 * Ranks the manual's sections by a question. Its words need not all be there; a word may be the beginning of one, misspelt,
 * or said otherwise. No DOM: search.js shows what this finds.
 */
'use strict';

(() => {
  /** @typedef {{ page: string, title: string, address: string, keywords: string, text: string, isAside: boolean }} Section */

  /** Words of questions that say nothing about their subject. */
  const empty = new Set(('a an and are at be by can could do does for from get has have how i if in into is it its me my not of on or '
    + 'our so that the their then there this to use using was we what when where which who why will with without you your').split(' '));

  /** Words that people use, and the manual's words for them. */
  const synonyms = /** @type {Record<string, string[]>} */ ({
    alert: ['alerts'],
    apache: ['httpd'],
    apache2: ['httpd'],
    ci: ['pipeline'],
    delete: ['remove', 'deletion'],
    docker: ['containers', 'container'],
    erase: ['remove', 'delete'],
    error: ['refused', 'wrong'],
    fast: ['speed', 'cost'],
    gdpr: ['privacy', 'consent'],
    install: ['getting', 'set-up', 'packages'],
    installation: ['getting', 'packages'],
    k8s: ['containers', 'kubernetes'],
    login: ['password', 'authentication'],
    minified: ['names', 'source'],
    missing: ['no', 'without'],
    overhead: ['cost', 'costs'],
    performance: ['cost', 'capacity'],
    postgres: ['postgresql'],
    ram: ['memory'],
    scale: ['capacity', 'several'],
    sourcemap: ['source', 'maps'],
    sourcemaps: ['source', 'maps'],
    spa: ['single', 'route'],
    speed: ['cost', 'fast'],
    start: ['getting', 'started'],
    uninstall: ['remove', 'purge'],
    update: ['upgrade', 'upgrading'],
  });

  const weights = { title: 6, page: 3, keywords: 8, text: 1 };

  /** Splits at everything that separates words, also inside of names such as limits.max_body. @param {string} text */
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];

  /** True if at most `most` letters were added, left out, changed or exchanged. @param {string} a @param {string} b @param {number} most */
  function isNear(a, b, most) {
    if (Math.abs(a.length - b.length) > most) return false;
    let older = /** @type {number[]} */ ([]);
    let old = Array.from({ length: b.length + 1 }, (_, i) => i);
    for (let i = 1; i <= a.length; i += 1) {
      const row = [i];
      for (let j = 1; j <= b.length; j += 1) {
        row[j] = Math.min(old[j] + 1, row[j - 1] + 1, old[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
        if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) row[j] = Math.min(row[j], older[j - 2] + 1);
      }
      if (Math.min(...row) > most) return false;
      [older, old] = [old, row];
    }
    return old[b.length] <= most;
  }

  /** @param {Section[]} sections */
  function indexOf(sections) {
    /** Weight of each word in each section that has it. @type {Map<string, Map<number, number>>} */
    const index = new Map();
    for (const [place, section] of sections.entries()) {
      /** @type {Map<string, number>} */
      const counts = new Map();
      for (const [field, weight] of /** @type {[keyof typeof weights, number][]} */ (Object.entries(weights))) {
        const all = words(section[field]);
        // A word of a short title says more than one of many. A word that is often in a text says little more than once.
        for (const word of new Set(all)) {
          const share = field === 'text' ? Math.min(3, 1 + Math.log2(all.filter((one) => one === word).length)) / (1 + all.length / 400) : 2 / (1 + all.length / 3);
          counts.set(word, (counts.get(word) ?? 0) + weight * (field === 'keywords' ? 1 : share));
        }
      }
      for (const [word, weight] of counts) {
        let places = index.get(word);
        if (!places) index.set(word, places = new Map());
        places.set(place, weight);
      }
    }
    return index;
  }

  /**
   * Returns the words of the manual that a word of a question may mean, and how well they fit.
   * @param {Map<string, unknown>} index @param {string} asked @param {boolean} isLast and perhaps not typed to its end
   * @returns {Map<string, number>}
   */
  function meanings(index, asked, isLast) {
    /** @type {Map<string, number>} */
    const found = new Map();
    const add = (/** @type {string} */ word, /** @type {number} */ fit) => {
      if (index.has(word)) found.set(word, Math.max(found.get(word) ?? 0, fit));
    };
    add(asked, 1);
    for (const other of synonyms[asked] ?? []) for (const word of words(other)) add(word, 0.7);
    const stem = asked.replace(/(?:ing|ed|es|s)$/, '');
    if (stem.length > 2) for (const end of ['', 's', 'es', 'ed', 'ing']) add(stem + end, 0.8);
    if (isLast || !found.size) for (const word of index.keys()) if (word.startsWith(asked) && asked.length > 1) add(word, 0.6);
    if (!found.size && asked.length > 3) {
      for (const word of index.keys()) if (isNear(asked, word, asked.length > 7 ? 2 : 1)) add(word, 0.4);
    }
    return found;
  }

  /** @param {Section[]} sections @returns {(query: string) => { section: Section, found: string[] }[]} the best first */
  function ranker(sections) {
    const index = indexOf(sections);
    return (query) => {
      const all = words(query);
      const telling = all.filter((word) => !empty.has(word));
      const asked = telling.length ? telling : all;
      /** @type {Map<number, { score: number, words: number, found: Set<string> }>} */
      const scores = new Map();
      for (const [i, word] of asked.entries()) {
        /** @type {Map<number, { score: number, word: string }>} */
        const best = new Map();
        for (const [meaning, fit] of meanings(index, word, i === asked.length - 1)) {
          const places = /** @type {Map<number, number>} */ (index.get(meaning));
          const rarity = Math.log(1 + sections.length / places.size);
          for (const [place, weight] of places) {
            const score = fit * weight * rarity;
            if (score > (best.get(place)?.score ?? 0)) best.set(place, { score, word: meaning });
          }
        }
        for (const [place, { score, word: meaning }] of best) {
          const sum = scores.get(place) ?? { score: 0, words: 0, found: new Set() };
          scores.set(place, { score: sum.score + score, words: sum.words + 1, found: sum.found.add(meaning) });
        }
      }
      // A section with two of three words is worth more than one with one of them, however often.
      return [...scores].map(([place, { score, words: count, found }]) => ({ place, score: score * (count / asked.length) ** 2 * (sections[place].isAside ? 0.4 : 1), found: [...found] }))
        .sort((a, b) => b.score - a.score || a.place - b.place)
        .map(({ place, found }) => ({ section: sections[place], found }));
    };
  }

  /** @type {any} */ (globalThis).manualRanker = ranker;
})();
