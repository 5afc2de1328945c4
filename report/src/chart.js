/** Charts over time: the strip of page loads with its releases, and a trend with its interval. */
import uPlot from 'uplot';

import { count, number, time, visible } from './format.js';
import { h } from './h.js';

/** @param {HTMLElement} element @param {string} name */
const token = (element, name) => getComputedStyle(element).getPropertyValue(name).trim();

/** Charts in the page, to be drawn again when colours change. @type {Set<{ plot: uPlot, box: HTMLElement, make: () => void }>} */
const live = new Set();

/** Draws all charts again. */
export function recolour() {
  for (const chart of [...live]) {
    if (chart.box.isConnected) chart.make();
    else { chart.plot.destroy(); live.delete(chart); }
  }
}

/** @param {HTMLElement} box @param {(width: number) => uPlot} make */
function keep(box, make) {
  for (const chart of live) if (!chart.box.isConnected) { chart.plot.destroy(); live.delete(chart); }
  const chart = { plot: make(box.clientWidth || 600), box, make: () => {
    chart.plot.destroy();
    chart.plot = make(box.clientWidth || 600);
  } };
  live.add(chart);
  new ResizeObserver(() => {
    if (box.clientWidth > 0 && Math.abs(box.clientWidth - chart.plot.width) > 1) chart.plot.setSize({ width: box.clientWidth, height: chart.plot.height });
  }).observe(box);
}

/** Writes times as UTC, as everything else does. @param {number} seconds */
const utc = (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC');

/** Writes hours by the clock, and a day's first one as the day. @param {number} at seconds @param {number} step */
const tick = (at, step) => {
  const text = new Date(at * 1000).toISOString();
  return step >= 86_400 || at % 86_400 === 0 ? text.slice(5, 10) : text.slice(11, 16);
};

/** @param {HTMLElement} box @param {number} size @returns {uPlot.Axis[]} */
const axes = (box, size) => [
  { stroke: token(box, '--quiet'), grid: { stroke: token(box, '--hair'), width: 1 }, ticks: { show: false }, font: '11px system-ui', size: 22, space: 60,
    values: (_, splits, __, ___, step) => splits.map((at) => tick(at, step)) },
  { stroke: token(box, '--quiet'), grid: { stroke: token(box, '--hair'), width: 1 }, ticks: { show: false }, font: '11px system-ui', size,
    values: (_, splits) => splits.map((value) => number(value)), space: 26 },
];

/**
 * Draws releases as dashed lines with their names.
 * @param {{ at: number, name: string }[]} marks seconds
 * @param {HTMLElement} box
 */
const drawMarks = (marks, box) => (/** @type {uPlot} */ plot) => {
  const { ctx: context, bbox } = plot;
  const ratio = window.devicePixelRatio || 1;
  context.save();
  context.strokeStyle = context.fillStyle = token(box, '--accent');
  context.setLineDash([3 * ratio, 3 * ratio]);
  context.font = `${10 * ratio}px system-ui`;
  context.textBaseline = 'top';
  context.textAlign = 'left';
  let free = -Infinity;
  for (const { at, name } of marks) {
    const x = Math.round(plot.valToPos(at, 'x', true));
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    context.beginPath();
    context.moveTo(x, bbox.top);
    context.lineTo(x, bbox.top + bbox.height);
    context.stroke();
    const label = visible(name, 24);
    if (x > free) {
      context.fillText(label, x + 3 * ratio, bbox.top);
      free = x + context.measureText(label).width + 8 * ratio;
    }
  }
  context.restore();
};

/**
 * Returns the strip of page loads by hour; dragging over it chooses a period.
 * @param {import('./api.js').Row[]} hours rows of summary
 * @param {import('./api.js').Row[]} releases
 * @param {(since: Date, until: Date) => void} choose
 */
export function strip(hours, releases, choose) {
  const box = h('div', { class: 'strip', role: 'img' });
  const hour = 3600;
  const by = new Map(hours.map((row) => [Date.parse(row.bucket) / 1000, row]));
  const first = Math.min(...by.keys());
  const last = Math.max(...by.keys());
  /** @type {[number[], number[]]} */
  const data = [[], []];
  // Hours without page loads are drawn as such, unless there are too many of them to see.
  const step = Math.max(1, Math.ceil((last - first) / hour / 1500)) * hour;
  for (let at = first; at <= last; at += step) {
    let sum = 0;
    for (let part = at; part < at + step; part += hour) sum += by.get(part)?.loads ?? 0;
    data[0].push(at);
    data[1].push(sum);
  }
  const marks = releases.map(({ release, first_hour: at }) => ({ at: Date.parse(at) / 1000, name: release || '(none)' })).sort((a, b) => a.at - b.at);
  const all = data[1].reduce((sum, value) => sum + value, 0);
  box.setAttribute('aria-label', `Page loads by hour: ${count(all)} from ${time(first * 1000)} to ${time((last + hour) * 1000)} UTC, at most ${count(Math.max(...data[1]))} in an hour. Releases: ${
    marks.map(({ name, at }) => `${visible(name, 40)} from ${time(at * 1000)}`).join('; ') || 'none'}.`);
  queueMicrotask(() => keep(box, (width) => new uPlot({
    width, height: 74, tzDate: utc, legend: { show: false }, padding: [2, 8, 0, 0],
    cursor: { y: false, drag: { x: true, y: false, setScale: false } },
    scales: { x: { range: () => [first - hour / 2, last + hour * 1.5] }, y: { range: (_, __, most) => [0, Math.max(1, most * 1.15)] } },
    axes: axes(box, 46),
    series: [{}, { fill: token(box, '--strip'), stroke: token(box, '--strip'), paths: /** @type {any} */ (uPlot.paths).bars({ size: [0.86, 40], align: 1 }), points: { show: false } }],
    hooks: {
      draw: [drawMarks(marks, box)],
      setSelect: [(plot) => {
        if (plot.select.width < 4) return;
        const at = (/** @type {number} */ x) => new Date(Math.floor(plot.posToVal(x, 'x') / hour) * hour * 1000);
        choose(at(plot.select.left), new Date(at(plot.select.left + plot.select.width).getTime() + hour * 1000));
      }],
    },
  }, /** @type {any} */ (data), box)));
  return box;
}

/**
 * Returns a trend: values, the interval in which they lie, releases.
 * @param {import('./api.js').Row[]} rows of trend
 * @param {import('./api.js').Row[]} releases
 * @param {string} label
 */
export function trend(rows, releases, label) {
  const box = h('div', { class: 'trend', role: 'img', 'aria-label': `${label}, from ${time(rows[0]?.bucket)} to ${time(rows[rows.length - 1]?.bucket)} UTC. The table below has the values.` });
  const at = rows.map(({ bucket }) => Date.parse(bucket) / 1000);
  const column = (/** @type {string} */ name) => rows.map((row) => row[name] ?? null);
  const marks = releases.map(({ release, first_hour: from }) => ({ at: Date.parse(from) / 1000, name: release || '(none)' })).sort((a, b) => a.at - b.at);
  queueMicrotask(() => keep(box, (width) => new uPlot({
    width, height: 210, tzDate: utc, legend: { show: false }, padding: [8, 8, 0, 0], cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, most) => [0, Math.max(0.001, most * 1.12)] } },
    axes: axes(box, 54),
    series: [{},
      { stroke: token(box, '--bar'), width: 2, points: { show: rows.length < 60, size: 5 } },
      { stroke: 'transparent', points: { show: false } }, { stroke: 'transparent', points: { show: false } }],
    bands: [{ series: [3, 2], fill: token(box, '--band') }],
    hooks: { draw: [drawMarks(marks, box)] },
  }, /** @type {any} */ ([at, column('value_ms'), column('low_ms'), column('high_ms')]), box)));
  return box;
}
