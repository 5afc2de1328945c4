// SPDX-License-Identifier: Apache-2.0
/** Small trends in the rows of a table: each loads when its row scrolls into view, a few at a time. */
import { ask, isSaved, question } from './api.js';
import { keepDrawn } from './chart.js';
import { counted, number } from './format.js';
import { h } from './h.js';
import { moment } from './state.js';

/** @typedef {import('./state.js').State} State */

const mostAtOnce = 2;
const [width, height] = [96, 20];
const daysFrom = 3 * 86_400_000;

/** Returns hours for a short period, else days. @param {State} state */
function stepOf({ params }) {
  const now = Date.now();
  const [from, to] = [moment(params.since ?? '1d', now), moment(params.until ?? '0s', now)];
  return from === null || to === null || to - from > daysFrom ? 'day' : 'hour';
}

/**
 * Returns the picture of a trend from 0, with a line where each release begins.
 * @param {[number, number][]} points times and values @param {import('./api.js').Row[]} releases @param {(value: number) => string} write
 */
export function miniature(points, releases, write) {
  const [first, last] = [points[0], points[points.length - 1]];
  if (!first || first === last) return '';
  const most = Math.max(...points.map(([, value]) => value), Number.MIN_VALUE);
  const begun = releases.map(({ rollout_began: at }) => Date.parse(at)).filter((at) => at > first[0] && at < last[0]);
  const canvas = h('canvas', { role: 'img', 'aria-label': `From ${write(first[1])} to ${write(last[1])}, at most ${write(most)}${begun.length > 0 ? `; ${counted(begun.length, 'release')} began` : ''}` });
  const draw = () => {
    const [wide, tall] = [canvas.clientWidth, canvas.clientHeight];
    const ratio = window.devicePixelRatio || 1;
    canvas.width = wide * ratio;
    canvas.height = tall * ratio;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const colour = (/** @type {string} */ name) => getComputedStyle(canvas).getPropertyValue(name).trim();
    const x = (/** @type {number} */ at) => 2 + ((at - first[0]) / (last[0] - first[0])) * (wide - 5);
    const y = (/** @type {number} */ value) => tall - 2 - (value / most) * (tall - 4);
    pen.scale(ratio, ratio);
    pen.fillStyle = colour('--quiet');
    for (const at of begun) pen.fillRect(x(at), 0, 1, tall);
    pen.strokeStyle = pen.fillStyle = colour('--accent');
    pen.lineWidth = 1.5;
    for (const [at, value] of points) pen.lineTo(x(at), y(value));
    pen.stroke();
    pen.fillRect(x(last[0]) - 2, y(last[1]) - 2, 4, 4);
  };
  new ResizeObserver(() => keepDrawn(canvas, draw)).observe(canvas);
  return canvas;
}

/**
 * Puts the picture of a trend into a cell; returns what draws it.
 * @param {HTMLElement} cell @param {import('./api.js').Row[]} rows of trend @param {string} step
 */
function picture(cell, rows, step) {
  const points = rows.map(({ bucket, value_ms: value }) => ({ at: Date.parse(bucket), value: value ?? 0 }));
  const [first, last] = [points[0], points[points.length - 1]];
  const most = Math.max(...points.map(({ value }) => value), Number.MIN_VALUE);
  const x = (/** @type {number} */ at) => 2 + ((at - first.at) / (last.at - first.at || 1)) * (width - 5);
  const y = (/** @type {number} */ value) => height - 2 - (value / most) * (height - 4);
  const canvas = h('canvas', { role: 'img', 'aria-label': `From ${number(first.value)} to ${number(last.value)} ms per page load, at most ${number(most)}, in ${counted(rows.length, step)}` });
  cell.replaceChildren(canvas);
  return () => {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    pen.scale(ratio, ratio);
    pen.strokeStyle = pen.fillStyle = getComputedStyle(cell).getPropertyValue('--accent').trim();
    pen.lineWidth = 1.5;
    for (const { at, value } of points) pen.lineTo(x(at), y(value));
    pen.stroke();
    pen.fillRect(x(last.at) - 2, y(last.value) - 2, 4, 4);
  };
}

/**
 * Returns a column of trends; none where a filter does not apply to them, and in a saved file.
 * @param {State} state @param {string} by as trend takes it
 * @param {(row: import('./api.js').Row) => string | null | undefined} keyOf
 * @returns {import('./table.js').Column[]}
 */
export function sparkColumn(state, by, keyOf) {
  if (isSaved() || state.params.marker !== undefined || state.params.exclude_marker !== undefined) return [];
  const step = stepOf(state);
  /** Cells by key: sorting and searching ask nothing again. @type {Map<string, HTMLElement>} */
  const cells = new Map();
  /** @type {Set<HTMLElement>} */
  const waiting = new Set();
  /** @type {Map<HTMLElement, AbortController>} */
  const running = new Map();
  /** The function that draws a cell, once its answer is there. @type {WeakMap<HTMLElement, () => void>} */
  const drawn = new WeakMap();

  /** @param {HTMLElement} cell */
  async function fill(cell) {
    const abort = new AbortController();
    running.set(cell, abort);
    try {
      const { rows } = await ask(question('trend', state, { by, key: cell.dataset.key ?? '', step }), abort.signal, false);
      drawn.set(cell, rows.length > 0 ? picture(cell, rows, step) : () => {});
      keepDrawn(cell, /** @type {() => void} */ (drawn.get(cell)));
    } catch {
      if (!abort.signal.aborted) inView.unobserve(cell); // the table is right without it
    }
    running.delete(cell);
    next();
  }
  function next() {
    for (const cell of waiting) {
      if (running.size >= mostAtOnce) return;
      waiting.delete(cell);
      void fill(cell);
    }
  }
  const inView = new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) {
      const cell = /** @type {HTMLElement} */ (target);
      const draw = drawn.get(cell);
      if (draw && isIntersecting) keepDrawn(cell, draw); // colours may have changed
      else if (isIntersecting && !running.has(cell)) waiting.add(cell);
      if (isIntersecting) continue;
      waiting.delete(cell);
      running.get(cell)?.abort();
    }
    next();
  });

  return [{
    name: 'trend', label: 'Trend', kind: 'picture', title: `Self time per page load by ${step}, from 0`,
    cell(row) {
      const key = keyOf(row);
      if (key === null || key === undefined) return null;
      const found = cells.get(key);
      if (found) return found;
      const made = h('span', { class: 'spark', 'data-key': key });
      cells.set(key, made);
      inView.observe(made);
      return made;
    },
  }];
}
