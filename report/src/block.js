// SPDX-License-Identifier: Apache-2.0
/** A part of a view that asks by itself: a skeleton until its answers come, and its own error. */
import { askAll, forget } from './api.js';
import { visible } from './format.js';
import { button, h } from './h.js';

/**
 * @typedef {import('./api.js').Answer} Answer
 * @typedef {import('./main.js').Shown} Shown
 * @typedef {import('./state.js').State} State
 */

/**
 * Returns a section that draws its answers when they come, and what updates it.
 * @param {import('./main.js').Page} page @param {State} first @param {string} name
 * @param {string | null} title
 * @param {Record<string, import('./api.js').Question>} asks names that end in ? may fail
 * @param {(box: HTMLElement, answers: Record<string, Answer>) => Shown | null} draw
 * @param {(answers: Record<string, Answer>) => void} [heard] gets the answers, for the page's SQL
 */
export function block(page, first, name, title, asks, draw, heard) {
  const box = h('div', null);
  const element = h('section', { id: `block-${name}`, class: 'block' }, title ? h('h2', { class: 'part' }, title) : null, box);
  const { signal } = page;
  /** @type {Shown | null} */
  let shown = null;
  let state = first;

  async function load() {
    element.setAttribute('aria-busy', 'true');
    box.replaceChildren(h('p', { class: 'skeleton note' }, 'Asking the database …'));
    try {
      const answers = await askAll(asks, signal);
      if (signal.aborted) return;
      heard?.(answers);
      box.replaceChildren();
      shown = draw(box, answers);
      shown?.update(state);
    } catch (error) {
      if (signal.aborted) return;
      const { message, detail = '' } = /** @type {import('./api.js').Failure} */ (error);
      box.replaceChildren(h('p', { class: 'warning', role: 'alert' }, `This part is missing: ${visible(message)} ${visible(detail)} `,
        button('Try again', () => { forget(); void load(); })));
    } finally {
      element.removeAttribute('aria-busy');
    }
  }
  void load();
  return {
    element,
    /** @param {State} next */
    update(next) { state = next; shown?.update(next); },
    exported: () => shown?.exported?.() ?? null,
  };
}
