/** The manual's search: an index of all sections, made in the browser when somebody begins to search. */
'use strict';

(() => {
  const mostResults = 12;
  const form = /** @type {HTMLFormElement} */ (document.querySelector('form[role=search]'));
  const input = /** @type {HTMLInputElement} */ (form.querySelector('input'));
  const results = /** @type {HTMLElement} */ (form.querySelector('.results'));

  /** @typedef {{ page: string, title: string, address: string, text: string }} Section */

  /** Settles when the index is there. @type {Promise<(query: string) => Section[]> | undefined} */
  let index;

  /** @param {string} name */
  const load = (name) => new Promise((resolve, reject) => {
    const script = document.createElement('script');
    script.src = name;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });

  /** Splits at everything that separates words, also inside of names such as limits.max_body. @param {string} text */
  const words = (text) => text.toLowerCase().split(/[^\p{L}\p{N}_]+/u).filter((word) => word !== '');

  async function makeIndex() {
    await Promise.all([load('lunr.js'), load('sections.js')]);
    const { lunr, manualSections } = /** @type {any} */ (globalThis);
    const made = lunr((/** @type {any} */ builder) => {
      builder.tokenizer = (/** @type {unknown} */ text) => words(String(text ?? '')).map((word) => new lunr.Token(word, {}));
      builder.pipeline.reset();
      builder.searchPipeline.reset();
      builder.ref('place');
      builder.field('title', { boost: 8 });
      builder.field('page', { boost: 4 });
      builder.field('text');
      manualSections.forEach((/** @type {Section} */ section, /** @type {number} */ place) => builder.add({ ...section, place }));
    });
    /** Finds sections with all words, or with words that begin so. @param {string} query @returns {Section[]} */
    return (query) => made.query((/** @type {any} */ asked) => {
      for (const word of words(query)) {
        asked.term(word, { boost: 10 });
        asked.term(word.replace(/(?<=...)s$/, ''), {
          wildcard: lunr.Query.wildcard.TRAILING, presence: lunr.Query.presence.REQUIRED,
        });
      }
    }).slice(0, mostResults).map((/** @type {{ ref: number }} */ { ref }) => manualSections[ref]);
  }

  /** Appends a text, its found words marked. @param {HTMLElement} element @param {string} text @param {string[]} found */
  function appendMarked(element, text, found) {
    const escaped = found.map((word) => word.replace(/s$/, '')).filter((word) => word !== '');
    const parts = escaped.length ? text.split(new RegExp(`(${escaped.join('|')})`, 'iu')) : [text];
    parts.forEach((part, i) => {
      if (i % 2 === 0) return element.append(part);
      const mark = document.createElement('mark');
      mark.textContent = part;
      element.append(mark);
    });
  }

  /** Returns the part of a text around the first found word. @param {string} text @param {string[]} found */
  function excerpt(text, found) {
    const places = found.map((word) => text.toLowerCase().indexOf(word)).filter((place) => place >= 0);
    const start = places.length ? Math.max(0, Math.min(...places) - 60) : 0;
    const begin = start === 0 ? 0 : text.indexOf(' ', start) + 1;
    return `${begin > 0 ? '… ' : ''}${text.slice(begin, begin + 160)}${text.length > begin + 160 ? ' …' : ''}`;
  }

  /** @param {Section} section @param {string[]} found */
  function resultOf(section, found) {
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
    const found = words(query);
    const sections = found.length ? find(query) : [];
    results.replaceChildren(...sections.map((section) => resultOf(section, found)));
    if (found.length && !sections.length) results.textContent = 'Nothing found.';
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
