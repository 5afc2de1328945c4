// SPDX-License-Identifier: Apache-2.0
/**
 * A timeline on a canvas: tracks below each other, of which only the part in view is drawn. It draws a picture and reports
 * what the user does to it.
 */
import { stepOf } from './chart.js';
import { colour, hashed } from './colours.js';
import { duration, visible } from './format.js';
import { h } from './h.js';
import { ticksIn } from './spans.js';

/**
 * @typedef {import('./spans.js').Spans} Spans
 * @typedef {{ key: string, name: string, area: [number, number][], most: number }} Area moments and the value from then on
 * @typedef {Spans | Area} Track
 * @typedef {{ track: string, span: number }} Place
 *
 * @typedef {object} Picture
 * @property {Track[]} tracks
 * @property {number} from what is in view, ms
 * @property {number} to
 * @property {number} begin of all
 * @property {number} end
 * @property {Place | null} selected
 *
 * @typedef {object} Actions
 * @property {(place: Place) => void} select
 * @property {(from: number, to: number) => void} zoom
 * @property {(place: Place | null) => void} hover
 */

const [ruler, title, rowHeight, areaHeight] = [20, 17, 17, 40];

/** @param {Track} track */
const heightOf = (track) => title + ('area' in track ? areaHeight : track.rows * rowHeight) + 5;

/** Returns a span's colour. @param {import('./spans.js').Item} item @param {string} track @param {boolean} isDark */
export function fillOf(item, track, isDark) {
  if (track === 'stack') return colour(item.third ? 'third' : item.resource ? 'own' : 'builtin', item.label, isDark);
  return `hsl(${Math.round(360 * hashed(item.label))} ${isDark ? '30% 32%' : '55% 80%'})`;
}

/** @param {string} label @param {Actions} actions */
export function timeline(label, actions) {
  const canvas = h('canvas', { tabIndex: 0, role: 'application', 'aria-roledescription': 'timeline', 'aria-label': label, id: 'timeline' });
  const box = h('div', { class: 'icicle' }, canvas);
  /** @type {Picture | null} */
  let picture = null;
  let width = 0;
  let top = 0;
  let tall = 0;
  /** @type {Place | null} */
  let hovered = null;
  /** @type {{ x: number, to: number } | null} */
  let drag = null;

  const time = (/** @type {number} */ x) => (picture ? picture.from + (x / width) * (picture.to - picture.from) : 0);
  const spansIn = (/** @type {string} */ key) => /** @type {Spans | undefined} */ (picture?.tracks.find((track) => track.key === key && !('area' in track)));

  function draw() {
    if (!picture || !box.isConnected) return;
    const { tracks, from, to, selected } = picture;
    const ratio = window.devicePixelRatio || 1;
    width = box.clientWidth;
    const whole = ruler + tracks.reduce((sum, track) => sum + heightOf(track), 0);
    tall = Math.min(whole, 560);
    top = Math.max(0, Math.min(top, whole - tall));
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
    canvas.style.setProperty('height', `${tall}px`);
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const style = getComputedStyle(box);
    const token = (/** @type {string} */ name) => style.getPropertyValue(name).trim();
    const [text, paper, quiet, hair, accent] = ['--text', '--paper', '--quiet', '--hair', '--accent'].map(token);
    const isDark = token('--is-dark') === '1';
    const scale = width / (to - from);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = paper;
    context.fillRect(0, 0, width, tall);
    context.textBaseline = 'middle';
    const step = stepOf(to - from, width / 90);
    const ticks = ticksIn(from, to, step);
    for (const at of ticks) {
      context.fillStyle = hair;
      context.fillRect((at - from) * scale, ruler, 1, tall);
    }
    context.font = '11px ui-monospace, "DejaVu Sans Mono", Menlo, monospace';
    const letter = context.measureText('0').width;
    let y = ruler - top;
    for (const track of tracks) {
      const next = y + heightOf(track);
      if (next > 0 && y < tall) {
        context.fillStyle = quiet;
        context.fillText(track.name, 2, y + title / 2);
        if ('area' in track) {
          context.fillStyle = token('--strip');
          for (const [i, [at, value]] of track.area.entries()) {
            const until = track.area[i + 1]?.[0] ?? at;
            if (until < from || at > to || value <= 0) continue;
            const high = (value / track.most) * areaHeight;
            context.fillRect((at - from) * scale, y + title + areaHeight - high, Math.max(0.5, (until - at) * scale), high);
          }
        } else {
          spans(track, y + title);
        }
      }
      y = next;
    }
    context.fillStyle = paper;
    context.fillRect(0, 0, width, ruler - 2);
    context.fillStyle = quiet;
    for (const at of ticks) context.fillText(duration(at).replace('0 µs', '0'), (at - from) * scale + 3, ruler / 2);
    if (drag) {
      context.fillStyle = token('--band');
      context.fillRect(Math.min(drag.x, drag.to), 0, Math.abs(drag.to - drag.x), tall);
    }

    /** @param {Spans} track @param {number} begin */
    function spans(track, begin) {
      const last = new Float64Array(track.rows).fill(-1);
      for (let i = 1; i < track.count; i += 1) {
        if (track.finish[i] < from || track.start[i] > to) continue;
        const row = track.row[i];
        const line = begin + row * rowHeight;
        if (line < ruler - rowHeight || line > tall) continue;
        const x = Math.max(-1, (track.start[i] - from) * scale);
        const w = Math.min(width + 1, (track.finish[i] - from) * scale) - x;
        const isChosen = selected?.track === track.key && selected.span === i;
        const isPoint = w < 2;
        if (isPoint && Math.floor(x) === last[row] && !isChosen) continue;
        last[row] = Math.floor(x);
        const item = track.items[i];
        context.fillStyle = isPoint ? text : fillOf(item, track.key, isDark);
        context.fillRect(x, line, isPoint ? 1.5 : w - 0.5, rowHeight - 2);
        if (isChosen || (hovered?.track === track.key && hovered.span === i)) {
          context.strokeStyle = isChosen ? accent : text;
          context.lineWidth = isChosen ? 2 : 1;
          context.strokeRect(x + 0.5, line + 0.5, Math.max(2, w - 1.5), rowHeight - 3);
          context.lineWidth = 1;
        }
        const letters = Math.floor((w - 8) / letter);
        if (letters < 3) continue;
        const name = visible(item.label, 200);
        context.fillStyle = text;
        context.fillText(name.length > letters ? `${name.slice(0, letters - 1)}…` : name, x + 4, line + rowHeight / 2);
      }
    }
  }

  /** @param {number} x @param {number} y @returns {Place | null} */
  function placeAt(x, y) {
    if (!picture || y < ruler) return null;
    let begin = ruler - top;
    for (const track of picture.tracks) {
      const next = begin + heightOf(track);
      if (y < next && !('area' in track)) {
        const row = Math.floor((y - begin - title) / rowHeight);
        const slack = (3 / width) * (picture.to - picture.from);
        let best = 0;
        let least = slack;
        for (let i = 1; i < track.count; i += 1) {
          if (track.row[i] !== row) continue;
          const off = Math.max(track.start[i] - time(x), time(x) - track.finish[i], 0);
          if (off < least || (off === 0 && best === 0)) { best = i; least = off; }
        }
        return best > 0 ? { track: track.key, span: best } : null;
      }
      if (y < next) return null;
      begin = next;
    }
    return null;
  }

  /** Returns the next span in the same row, or where another track begins. @param {string} key @returns {Place | null} */
  function neighbour(key) {
    const tracks = /** @type {Spans[]} */ (picture?.tracks.filter((track) => !('area' in track)) ?? []);
    const current = picture?.selected;
    const at = tracks.findIndex((track) => track.key === current?.track);
    const first = (/** @type {Spans | undefined} */ track) => (track ? { track: track.key, span: 1 } : null);
    if (!current || at < 0) return first(tracks[0]);
    const track = tracks[at];
    const { span } = current;
    const to = (/** @type {number} */ i) => ({ track: track.key, span: i });
    if (key === 'ArrowDown') return span + 1 < track.end[span] ? to(span + 1) : first(tracks[at + 1]);
    if (key === 'ArrowUp') return track.parent[span] > 0 ? to(track.parent[span]) : first(tracks[at - 1]);
    const step = key === 'ArrowRight' ? 1 : -1;
    for (let i = span + step; i > 0 && i < track.count; i += step) if (track.row[i] === track.row[span]) return to(i);
    return null;
  }

  /** @param {Place} place */
  function zoomTo({ track, span }) {
    const spans = spansIn(track);
    if (spans && spans.finish[span] > spans.start[span]) actions.zoom(spans.start[span], spans.finish[span]);
  }

  canvas.addEventListener('keydown', (event) => {
    if (!picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const { from, to, begin, end, selected } = picture;
    const wide = to - from;
    const spans = selected ? spansIn(selected.track) : undefined;
    const middle = selected && spans ? Math.min(to, Math.max(from, spans.start[selected.span])) : (from + to) / 2;
    const around = (/** @type {number} */ next) => actions.zoom(Math.max(begin, middle - ((middle - from) / wide) * next), Math.min(end, middle + ((to - middle) / wide) * next));
    const shift = (/** @type {number} */ by) => {
      const next = Math.min(end - wide, Math.max(begin, from + by * wide));
      actions.zoom(next, next + wide);
    };
    const done = /** @type {Record<string, () => void>} */ ({
      Enter: () => { if (selected) zoomTo(selected); },
      Backspace: () => actions.zoom(begin, end), Escape: () => actions.zoom(begin, end),
      '+': () => around(wide / 2), '-': () => around(wide * 2), PageDown: () => shift(0.8), PageUp: () => shift(-0.8),
    })[event.key] ?? (event.key.startsWith('Arrow') ? () => {
      const next = neighbour(event.key);
      if (next) actions.select(next);
    } : null);
    if (!done) return;
    event.preventDefault();
    event.stopPropagation();
    done();
  });
  canvas.addEventListener('pointerdown', (event) => { if (event.button === 0) drag = { x: event.offsetX, to: event.offsetX }; });
  canvas.addEventListener('pointermove', (event) => {
    if (drag) {
      drag.to = event.offsetX;
      canvas.setPointerCapture(event.pointerId);
      draw();
      return;
    }
    const place = placeAt(event.offsetX, event.offsetY);
    if (place?.track === hovered?.track && place?.span === hovered?.span) return;
    hovered = place;
    actions.hover(place);
    draw();
  });
  canvas.addEventListener('pointerup', (event) => {
    const over = drag;
    drag = null;
    if (!over) return;
    const [from, to] = [over.x, event.offsetX].sort((a, b) => a - b).map(time);
    if (picture && Math.abs(over.x - event.offsetX) > 4) {
      actions.zoom(Math.max(picture.begin, from), Math.min(picture.end, to));
      return;
    }
    const place = placeAt(event.offsetX, event.offsetY);
    if (place) actions.select(place);
    else draw();
  });
  canvas.addEventListener('pointerleave', () => { hovered = null; drag = null; actions.hover(null); draw(); });
  canvas.addEventListener('dblclick', (event) => {
    const place = placeAt(event.offsetX, event.offsetY);
    if (place) zoomTo(place);
  });
  canvas.addEventListener('wheel', (event) => {
    const before = top;
    top += Math.sign(event.deltaY) * 2 * rowHeight;
    draw();
    if (top !== before) event.preventDefault();
  }, { passive: false });
  new ResizeObserver(() => { if (box.clientWidth !== width) draw(); }).observe(box);

  /** Scrolls until the selection is in view. */
  function reveal() {
    let y = ruler;
    for (const track of picture?.tracks ?? []) {
      if (!('area' in track) && track.key === picture?.selected?.track) {
        const line = y + title + track.row[picture.selected.span] * rowHeight;
        if (line - top < ruler || line - top > tall - rowHeight) top = line - tall / 2;
      }
      y += heightOf(track);
    }
  }

  return {
    element: box,
    /** @param {Picture} next */
    show(next) {
      const isMoved = picture?.selected?.span !== next.selected?.span || picture?.selected?.track !== next.selected?.track;
      picture = next;
      if (isMoved && next.selected) {
        if (tall === 0) draw();
        reveal();
      }
      draw();
    },
  };
}
