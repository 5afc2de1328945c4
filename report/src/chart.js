// SPDX-License-Identifier: Apache-2.0
/** Charts on a canvas: the strip of page loads with its releases, a trend with its interval, a histogram. */
import { change as signed, clock, count, counted, duration, number, sinceWhen, stepTime, time, visible, zone } from './format.js';
import { h } from './h.js';

/**
 * @typedef {import('./api.js').Row} Row
 *
 * @typedef {object} Chart
 * @property {number} height
 * @property {[number, number]} x
 * @property {number} most of what is drawn upwards from 0
 * @property {(wide: number) => [number, string][]} ticks at most `wide` ticks, and their labels
 * @property {string} [zone] the time zone of the ticks, where they are times
 * @property {(pen: Pen) => void} draw
 * @property {(value: number) => string} [write] values at the left
 * @property {(x: number) => string} [at] what is at a place, in words
 * @property {(from: number, to: number) => void} [choose] by dragging
 *
 * @typedef {object} Pen
 * @property {CanvasRenderingContext2D} context
 * @property {(x: number) => number} x
 * @property {(y: number) => number} y
 * @property {(name: string) => string} colour
 */

const [gutter, below, above] = [50, 18, 6];

/** Charts in the page, to be drawn again when colours change. @type {Map<HTMLElement, () => void>} */
const live = new Map();

/** Draws all charts again. */
export function recolour() {
  for (const [box, draw] of live) {
    if (box.isConnected) draw();
    else live.delete(box);
  }
}

/** Draws the chart of an element, now and when colours change. @param {HTMLElement} box @param {() => void} draw */
export function keepDrawn(box, draw) {
  live.set(box, draw);
  draw();
}

/** Returns a round step of which at most n are in a width. @param {number} wide @param {number} n */
export function stepOf(wide, n) {
  const size = 10 ** Math.floor(Math.log10(wide / n));
  return /** @type {number} */ ([1, 2, 5, 10].find((times) => size * times * n >= wide)) * size;
}

/** @param {Record<string, string>} attributes @param {Chart} chart */
function plot(attributes, { height, x: [first, last], most, ticks, zone: clockZone, draw, at, choose, write = number }) {
  const canvas = h('canvas', null);
  const box = h('div', { role: 'img', ...attributes }, canvas);
  let width = 0;
  /** @type {[number, number] | null} */
  let drag = null;
  const x = (/** @type {number} */ value) => gutter + ((value - first) / (last - first || 1)) * (width - gutter - 8);
  const y = (/** @type {number} */ value) => height - below - (value / most) * (height - below - above);
  const value = (/** @type {number} */ px) => first + ((Math.min(width - 8, Math.max(gutter, px)) - gutter) / (width - gutter - 8)) * (last - first);
  function show() {
    width = box.clientWidth;
    if (width === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const style = getComputedStyle(box);
    const colour = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    context.font = '11px system-ui, sans-serif';
    context.textBaseline = 'middle';
    const line = (/** @type {number} */ left, /** @type {number} */ from, /** @type {number} */ wide, /** @type {number} */ tall) => {
      context.fillStyle = colour('--hair');
      context.fillRect(Math.round(left), Math.round(from), wide, tall);
      context.fillStyle = colour('--quiet');
    };
    context.textAlign = 'right';
    const step = stepOf(most, Math.max(2, (height - below) / 28));
    for (let i = 0; i * step <= most; i += 1) {
      line(gutter, y(i * step), width - gutter - 8, 1);
      // Where the zone is written, there is no room for 0.
      if (i > 0 || !clockZone) context.fillText(write === number && step % 1 === 0 ? count(i * step) : write(i * step), gutter - 6, y(i * step));
    }
    if (clockZone) context.fillText(clockZone.replace(/.*\//, '').slice(0, 8), gutter - 6, height - below / 2, gutter - 6);
    context.textAlign = 'center';
    for (const [place, label] of ticks((width - gutter) / 70)) {
      line(x(place), above, 1, height - below - above);
      context.fillText(label, Math.min(x(place), width - context.measureText(label).width / 2), height - below / 2);
    }
    draw({ context, x, y, colour });
    if (!drag) return;
    context.fillStyle = colour('--band');
    context.fillRect(Math.min(...drag), 0, Math.abs(drag[0] - drag[1]), height - below);
  }
  canvas.style.setProperty('height', `${height}px`);
  canvas.addEventListener('pointerdown', ({ button, offsetX }) => { if (choose && button === 0) drag = [offsetX, offsetX]; });
  canvas.addEventListener('pointermove', ({ offsetX, pointerId }) => {
    if (at) canvas.title = at(value(offsetX));
    if (!drag) return;
    canvas.setPointerCapture(pointerId);
    drag[1] = offsetX;
    show();
  });
  const drop = () => {
    const [from, to] = drag ?? [0, 0];
    drag = null;
    show();
    if (Math.abs(from - to) >= 4) choose?.(value(Math.min(from, to)), value(Math.max(from, to)));
  };
  canvas.addEventListener('pointerup', drop);
  canvas.addEventListener('pointercancel', () => { drag = null; show(); });
  new ResizeObserver(() => { if (box.clientWidth !== width) show(); }).observe(box);
  for (const other of live.keys()) if (other !== box && !other.isConnected) live.delete(other);
  live.set(box, show);
  return box;
}

const hour = 3600;
const steps = [hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, ...[1, 2, 7, 14, 28, 91, 182, 364].map((days) => days * 24 * hour)];

/** Returns how many seconds the clock is ahead of UTC. @param {number} at seconds */
const ahead = (at) => Date.parse(`${time(at * 1000)}Z`) / 1000 - Math.floor(at / 60) * 60;

/** Writes hours by the clock, and a day's first one as the day. @param {number} first seconds @param {number} last @returns {Chart['ticks']} */
export const ticksOf = (first, last) => (most) => {
  const shift = ahead(first);
  const step = steps.find((each) => (last - first) / each <= most) ?? 728 * 24 * hour;
  /** @type {[number, string][]} */
  const ticks = [];
  let before = first - 1;
  // In steps of the clock, which may jump in between: where it leaves out a time, the tick is at the jump.
  for (let wall = Math.ceil((first + shift) / step) * step; wall - shift <= last + hour; wall += step) {
    const guess = wall - shift, near = wall - ahead(guess);
    const at = ahead(near) === ahead(guess) ? near : Math.max(near, guess);
    const text = time(at * 1000);
    if (at <= before || at > last) continue;
    ticks.push([before = at, step % (24 * hour) === 0 || text.endsWith('00:00') ? text.slice(5, 10) : text.slice(11)]);
  }
  return ticks;
};

/** Writes days of a zone at the steps that begin them. @param {number[]} places seconds @param {string} zone @returns {Chart['ticks']} */
export const dayTicks = (places, zone) => (most) => places.filter((_, i) => i % Math.ceil(places.length / most) === 0)
  .map((at) => [at, stepTime(at * 1000, zone)[0].slice(5, 10)]);

/** @param {Row[]} releases */
const marksOf = (releases) => releases.map(({ release, rollout_began: at }) => ({ at: Date.parse(at) / 1000, name: release || '(none)' })).sort((a, b) => a.at - b.at);

/** Returns a mark at each step from which on browsers measure a vital otherwise. @param {Row[]} rows of trend @param {number[]} places seconds */
const changesOf = (rows, places) => rows.flatMap((row, i) => (row.definition_change ? [{ at: places[i], name: row.definition_change.split(':')[0] }] : []));

/** Draws releases as dashed lines with their names. @param {{ at: number, name: string }[]} marks seconds @param {Pen} pen @param {[number, number]} shown */
function drawMarks(marks, { context, x, y, colour }, [first, last]) {
  context.strokeStyle = context.fillStyle = colour('--accent');
  context.setLineDash([3, 3]);
  context.textAlign = 'left';
  let free = -Infinity;
  for (const { at, name } of marks) {
    if (at < first || at > last) continue;
    const left = Math.round(x(at)) + 0.5;
    context.beginPath();
    context.moveTo(left, above);
    context.lineTo(left, y(0));
    context.stroke();
    if (left < free) continue;
    const label = visible(name, 24);
    context.fillText(label, left + 3, above + 6);
    free = left + context.measureText(label).width + 8;
  }
  context.setLineDash([]);
}

/**
 * Returns the strip of page loads by hour; dragging over it chooses a period.
 * @param {Row[]} hours rows of summary
 * @param {Row[]} releases
 * @param {((since: Date, until: Date) => void) | undefined} choose
 * @param {[string, string][]} [sides] hours that are compared
 */
export function strip(hours, releases, choose, sides = []) {
  /** By hour; where only the day's sum is stored, its hours share the page loads. @type {Map<number, { loads: number, row: Row }>} */
  const by = new Map();
  for (const row of hours) {
    const parts = row.hours ?? 1;
    for (let i = 0; i < parts; i += 1) by.set(Date.parse(row.bucket) / 1000 + i * hour, { loads: (row.loads ?? 0) / parts, row });
  }
  let [first, last] = [Infinity, -Infinity];
  for (const at of by.keys()) [first, last] = [Math.min(first, at), Math.max(last, at)];
  // Hours without page loads are drawn as such, unless there are too many of them to see.
  const step = Math.max(1, Math.ceil((last - first) / hour / 1500)) * hour;
  /** @type {[number, number][]} */
  const bars = [];
  for (let at = first; at <= last; at += step) {
    let sum = 0;
    for (let part = at; part < at + step; part += hour) sum += by.get(part)?.loads ?? 0;
    bars.push([at, sum]);
  }
  const most = Math.max(1, ...bars.map(([, sum]) => sum));
  const marks = marksOf(releases);
  const shown = /** @type {[number, number]} */ ([first - hour / 2, last + hour * 1.5]);
  const whole = (/** @type {number} */ at) => Math.floor(at / hour) * hour * 1000;
  return plot({ class: 'strip', 'aria-label': `Page loads by hour: ${count(hours.reduce((sum, { loads }) => sum + (loads ?? 0), 0))} from ${time(first * 1000)} to ${clock((last + hour) * 1000)}, at most ${count(most)} in ${step > hour ? `${step / hour} hours` : 'an hour'}. Releases: ${
    marks.map(({ name, at }) => `${visible(name, 40)} from ${time(at * 1000)}`).join('; ') || 'none'}.${
    sides.length > 0 ? ` Compared: ${sides.map((side) => side.map(time).join(' – ')).join(' and ')}.` : ''}` }, {
    height: 52, x: shown, most: most * 1.15, ticks: ticksOf(...shown), zone, ...choose ? { choose: (from, to) => choose(new Date(whole(from)), new Date(whole(to) + hour * 1000)) } : {},
    at(at) {
      const { row } = by.get(whole(at) / 1000) ?? {};
      return row?.hours > 1 ? `${new Date(row?.bucket).toISOString().slice(0, 10)} UTC: ${counted(row?.loads, 'page load')} in the day` : `${clock(whole(at))}: ${counted(row?.loads ?? 0, 'page load')}`;
    },
    draw(pen) {
      pen.context.fillStyle = pen.colour('--band');
      for (const [from, to] of sides.map((side) => side.map((text) => pen.x(Date.parse(text) / 1000)))) pen.context.fillRect(from, above, to - from, pen.y(0) - above);
      pen.context.fillStyle = pen.colour('--strip');
      for (const [at, sum] of bars) pen.context.fillRect(pen.x(at), pen.y(sum), Math.max(1, (pen.x(at + step) - pen.x(at)) * 0.86), pen.y(0) - pen.y(sum));
      drawMarks(marks, pen, shown);
    },
  });
}

/**
 * Draws a change point: a line at the first hour of the new level, its label, and a band where that hour may lie.
 * @param {Row} change a row of change_point @param {Pen} pen
 */
function drawChange({ change, begins, begins_from: from, begins_until: until }, { context, x, y, colour }) {
  const [at, low, high] = [begins, from, until].map((time) => Math.round(x(Date.parse(time) / 1000)));
  const label = `${change === null ? 'new' : signed(change)} from here`;
  context.fillStyle = colour('--faded');
  context.fillRect(low, above, Math.max(1, high - low), y(0) - above);
  context.fillStyle = colour('--text');
  context.fillRect(at - 1, above, 2, y(0) - above);
  const isLeft = at - gutter > context.measureText(label).width + 8;
  context.textAlign = isLeft ? 'right' : 'left';
  context.fillText(label, at + (isLeft ? -5 : 5), above + 22); // below the names of releases
}

/**
 * Returns a trend: values, the interval in which they lie, releases, changed definitions, the change point.
 * @param {Row[]} rows of trend
 * @param {Row[]} releases
 * @param {string} label
 * @param {(value: number) => string} [write] where values are not ms
 * @param {string} [days] the zone whose days the steps are; undefined: hours
 * @param {Row} [change] a row of change_point
 */
export function trend(rows, releases, label, write, days, change) {
  const places = rows.map(({ bucket }) => Date.parse(bucket) / 1000);
  const shown = /** @type {[number, number]} */ ([places[0] - hour / 2, places[places.length - 1] + hour / 2]);
  const known = rows.flatMap((row, i) => (row.value_ms === null || row.value_ms === undefined ? [] : [{ at: places[i], value: row.value_ms, low: row.low_ms ?? row.value_ms, high: row.high_ms ?? row.value_ms, isOpen: row.high_ms === null }]));
  const most = Math.max(0.001, ...known.flatMap(({ value, high }) => [value, high])) * 1.12;
  return plot({ class: 'trend', 'aria-label': `${label}, from ${stepTime(rows[0]?.bucket, days).join(' ')} to ${stepTime(rows[rows.length - 1]?.bucket, days).join(' ')}.${change ? ` ${sinceWhen(change)}` : ''} The table below has the values.` }, {
    height: 210, x: shown, most, ticks: days ? dayTicks(places, days) : ticksOf(...shown), zone: days ?? zone, ...write ? { write } : {},
    at: (x) => {
      const [near] = [...known].sort((a, b) => Math.abs(a.at - x) - Math.abs(b.at - x));
      return near ? `${stepTime(near.at * 1000, days).join(' ')}: ${(write ?? number)(near.value)}${write ? '' : ' ms'}, between ${(write ?? number)(near.low)} and ${near.isOpen ? '?' : (write ?? number)(near.high)}` : '';
    },
    draw(pen) {
      const { context, x, y, colour } = pen;
      if (change) drawChange(change, pen);
      context.fillStyle = colour('--band');
      context.beginPath();
      for (const { at, high } of known) context.lineTo(x(at), y(high));
      for (const { at, low } of [...known].reverse()) context.lineTo(x(at), y(low));
      context.fill();
      context.strokeStyle = context.fillStyle = colour('--accent');
      context.lineWidth = 2;
      context.beginPath();
      for (const { at, value } of known) context.lineTo(x(at), y(value));
      context.stroke();
      context.lineWidth = 1;
      if (known.length < 60) for (const { at, value } of known) context.fillRect(x(at) - 2.5, y(value) - 2.5, 5, 5);
      drawMarks([...marksOf(releases), ...changesOf(rows, places)].sort((a, b) => a.at - b.at), pen, shown);
    },
  });
}

/**
 * Returns a histogram of values, on a logarithmic axis.
 * @param {Row[]} rows of histogram: from, to, count
 * @param {string} label
 * @param {(value: number) => string} write
 * @param {[number, string][]} [marks] values that are worth a line
 */
export function histogram(rows, label, write = duration, marks = []) {
  const log = (/** @type {number} */ value) => Math.log10(Math.max(value, 0.001));
  const [first, last] = [log(rows[0].from), log(rows[rows.length - 1].to)];
  const all = rows.reduce((sum, row) => sum + row.count, 0);
  const most = Math.max(...rows.map((row) => row.count));
  return plot({ class: 'trend', 'aria-label': `${label}: ${count(all)} values, most of them about ${write(rows.find((row) => row.count === most)?.from)}. The table below has the numbers.` }, {
    height: 170, x: [first, Math.max(last, first + 0.1)], most: most * 1.1,
    ticks: (wide) => {
      const some = wide > (last - first) * 3 ? [1, 2, 5] : [1];
      return Array.from({ length: Math.ceil(last) - Math.floor(first) + 1 }, (_, i) => 10 ** (Math.floor(first) + i)).flatMap((size) => some.map((times) => times * size))
        .filter((value) => log(value) >= first && log(value) <= last).map((value) => [log(value), write(value)]);
    },
    at: (x) => {
      const row = rows.find((each) => log(each.to) > x);
      return row ? `${write(row.from)} – ${write(row.to)}: ${count(row.count)}` : '';
    },
    draw({ context, x, y, colour }) {
      context.fillStyle = colour('--strip');
      for (const row of rows) context.fillRect(x(log(row.from)), y(row.count), Math.max(1, x(log(row.to)) - x(log(row.from)) - 0.5), y(0) - y(row.count));
      context.fillStyle = colour('--accent');
      context.textAlign = 'left';
      for (const [i, [value, name]] of marks.filter((mark) => log(mark[0]) >= first && log(mark[0]) <= last).entries()) {
        context.fillRect(x(log(value)), above, 1.5, y(0) - above);
        context.fillText(name, x(log(value)) + 4, above + 6 + 12 * i);
      }
    },
  });
}
