// SPDX-License-Identifier: Apache-2.0
/** The manual's search: rank.js makes an index of all sections when somebody begins to search. */
'use strict';

(() => {
  const mostResults = 12;
  const form = /** @type {HTMLFormElement} */ (document.querySelector('form[role=search]'));
  const input = /** @type {HTMLInputElement} */ (form.querySelector('input'));
  const results = /** @type {HTMLElement} */ (form.querySelector('.results'));

  /** @typedef {{ page: string, title: string, address: string, text: string }} Section */
  /** @typedef {{ section: Section, found: string[] }} Result */

  /** Settles when the index is there. @type {Promise<(query: string) => Result[]> | undefined} */
  let index;

  /** @param {string} name */
  const load = (name) => new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = name;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });

  async function makeIndex() {
    await Promise.all([load('rank.js'), load('sections.js')]);
    const { manualRanker, manualSections } = /** @type {any} */ (globalThis);
    return manualRanker(manualSections);
  }

  /** Matches whole words; they have nothing that means more in an expression. @param {string[]} found */
  const wordsIn = (found) => new RegExp(`(?<![\\p{L}\\p{N}_])(${found.join('|')})(?![\\p{L}\\p{N}_])`, 'iu');

  /** Appends a text, its found words marked. @param {HTMLElement} element @param {string} text @param {string[]} found */
  function appendMarked(element, text, found) {
    const parts = found.length ? text.split(wordsIn(found)) : [text];
    parts.forEach((part, i) => {
      if (i % 2 === 0) return element.append(part);
      const mark = document.createElement('mark');
      mark.textContent = part;
      element.append(mark);
    });
  }

  /** Returns the part of a text around the first found word. @param {string} text @param {string[]} found */
  function excerpt(text, found) {
    const first = found.length ? text.search(wordsIn(found)) : -1;
    const start = Math.max(0, first - 60);
    const begin = start === 0 ? 0 : text.indexOf(' ', start) + 1;
    return `${begin > 0 ? '… ' : ''}${text.slice(begin, begin + 160)}${text.length > begin + 160 ? ' …' : ''}`;
  }

  /** @param {Result} result */
  function resultOf({ section, found }) {
    const link = document.createElement('a');
    link.href = section.address;
    const title = document.createElement('strong');
    appendMarked(title, section.title === section.page ? section.title : `${section.page} › ${section.title}`, found);
    const text = document.createElement('span');
    appendMarked(text, excerpt(section.text, found), found);
    link.append(title, text);
    return link;
  }

  async function search() {
    const query = input.value;
    const find = await (index ??= makeIndex());
    if (query !== input.value) return; // a later key is already searched for
    const best = find(query).slice(0, mostResults);
    results.replaceChildren(...best.map(resultOf));
    if (query.trim() !== '' && !best.length) results.textContent = 'Nothing found.';
    results.dataset.query = query;
  }

  /** Moves the focus among input and results. @param {number} step */
  function move(step) {
    const places = [input, ...results.querySelectorAll('a')];
    const place = places.indexOf(/** @type {any} */ (document.activeElement));
    places[Math.min(places.length - 1, Math.max(0, place + step))].focus();
  }

  input.addEventListener('focus', () => { index ??= makeIndex(); }, { once: true });
  input.addEventListener('input', search);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    results.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      move(event.key === 'ArrowDown' ? 1 : -1);
    } else if (event.key === 'Escape') {
      input.value = '';
      results.replaceChildren();
      input.blur();
    }
  });
  // A result on this very page leaves no page behind, and with it the list.
  results.addEventListener('click', () => results.replaceChildren());
  addEventListener('keydown', (event) => {
    if (event.key !== '/' || document.activeElement === input) return;
    event.preventDefault();
    input.focus();
  });
  form.hidden = false;

  // On narrow screens the list of pages would fill the first screen.
  if (matchMedia('(max-width: 50rem)').matches) document.querySelector('nav.pages details')?.removeAttribute('open');
})();
