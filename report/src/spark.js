// SPDX-License-Identifier: Apache-2.0
/** Small trends in the rows of a table: each loads when its row scrolls into view, a few at a time. */
import { ask, isSaved, question } from './api.js';
import { keepDrawn } from './chart.js';
import { counted, number } from './format.js';
import { h } from './h.js';
import { moment } from './state.js';

/** @typedef {import('./state.js').State} State */

const mostAtOnce = 2;
const daysFrom = 3 * 86_400_000;

/** Returns hours for a short period, else days. @param {State} state */
function stepOf({ params }) {
  const now = Date.now();
  const [from, to] = [moment(params.since ?? '1d', now), moment(params.until ?? '0s', now)];
  return from === null || to === null || to - from > daysFrom ? 'day' : 'hour';
}

/**
 * Returns the picture of a trend from 0, with a line where each release begins.
 * @param {[number, number][]} points times and values @param {import('./api.js').Row[]} releases @param {(value: number) => string} write @param {string} step
 */
export function miniature(points, releases, write, step) {
  const [first, last] = [points[0], points[points.length - 1]];
  if (!first) return '';
  const most = Math.max(...points.map(([, value]) => value), Number.MIN_VALUE);
  const begun = releases.map(({ rollout_began: at }) => Date.parse(at)).filter((at) => at > first[0] && at < last[0]);
  const canvas = h('canvas', { role: 'img', 'aria-label': `From ${write(first[1])} to ${write(last[1])}, at most ${write(most)}${begun.length > 0 ? `; ${counted(begun.length, 'release')} began` : ''}, in ${counted(points.length, step)}` });
  const draw = () => {
    const [wide, tall] = [canvas.clientWidth, canvas.clientHeight];
    const ratio = window.devicePixelRatio || 1;
    canvas.width = wide * ratio;
    canvas.height = tall * ratio;
    const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const colour = (/** @type {string} */ name) => getComputedStyle(canvas).getPropertyValue(name).trim();
    const x = (/** @type {number} */ at) => 2 + ((at - first[0]) / (last[0] - first[0] || 1)) * (wide - 5);
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
  /** Cells with their answer. @type {WeakSet<HTMLElement>} */
  const drawn = new WeakSet();

  /** @param {HTMLElement} cell */
  async function fill(cell) {
    const abort = new AbortController();
    running.set(cell, abort);
    try {
      const { rows } = await ask(question('trend', state, { by, key: cell.dataset.key ?? '', step }), abort.signal, false);
      drawn.add(cell);
      cell.replaceChildren(miniature(rows.map(({ bucket, value_ms: value }) => [Date.parse(bucket), value ?? 0]), [], (value) => `${number(value)} ms per page load`, step));
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
      if (isIntersecting && !drawn.has(cell) && !running.has(cell)) waiting.add(cell);
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
