// SPDX-License-Identifier: Apache-2.0
/**
 * A flame graph on a canvas as large as what is in view: rows grow downwards, subtrees that are out of view or narrower
 * than a pixel cost nothing. It draws a picture and reports what the user does to it.
 */
import { button, h } from './h.js';
import { childAt, sibling } from './tree.js';

/** @typedef {import('./tree.js').Tree} Tree */

/**
 * @typedef {object} Picture
 * @property {Tree} tree
 * @property {number} root node to begin with
 * @property {number} selected -1: none
 * @property {Uint8Array | null} found by frame, of a search
 * @property {(frame: number, node: number) => { fill: string, hatched?: boolean, outlined?: boolean, label: string }} look
 * @property {string} whole label of the first node
 *
 * @typedef {object} Actions
 * @property {(node: number) => void} select
 * @property {(node: number) => void} zoom
 * @property {(node: number) => string} hover what a box at the pointer says of a node, in parts between ' · '
 * @property {(node: number) => [string, () => void][]} [menu] what can be done with a node
 * @property {(key: string, node: number) => boolean} [key] true if it did something
 */

/** The least and the greatest height of a row, in pixels: where there is room, rows and their text are taller. */
const [leastRow, mostRow] = [19, 25];
/** How long a finger rests before it opens a menu, in ms. */
const longPress = 500;

/**
 * @param {string} label for those who do not see it
 * @param {Actions} actions
 * @param {number} [height] the most, in pixels
 */
export function icicle(label, actions, height = 620) {
  const canvas = h('canvas', { tabIndex: 0, role: 'application', 'aria-roledescription': 'flame graph', 'aria-label': label });
  /** The marks of the selected and of the hovered node lie over the picture, which then need not be drawn again. */
  const marks = { selected: h('div', { class: 'mark selected', hidden: true }), hovered: h('div', { class: 'mark', hidden: true }) };
  const box = h('div', { class: 'icicle' }, canvas, marks.hovered, marks.selected);
  /** Beside the pointer. The details and the announcements have the same. */
  const tip = h('div', { class: 'tip', hidden: true, 'aria-hidden': 'true' });
  const graph = h('div', { class: 'graph' }, box, tip);
  /** @type {Picture | null} */
  let picture = null;
  let rowHeight = leastRow;
  let top = 0; // first row in view
  let hovered = -1;
  let width = 0;
  let rows = 0;
  let isDrawn = false;
  /** @type {CanvasPattern | null} */
  let hatch = null;
  let hatchOfDark = false;

  const shownHeight = () => {
    if (!picture) return rowHeight;
    const { tree, root } = picture;
    return Math.min(height, (tree.deepest[root] - Math.max(0, tree.level[root] - 3) + 1 + Number(tree.left > 0)) * rowHeight);
  };

  /** @param {CanvasRenderingContext2D} context @param {boolean} isDark */
  function hatching(context, isDark) {
    if (hatch && hatchOfDark === isDark) return hatch;
    const tile = document.createElement('canvas');
    tile.width = tile.height = 8;
    const pen = /** @type {CanvasRenderingContext2D} */ (tile.getContext('2d'));
    pen.strokeStyle = isDark ? 'rgb(255 255 255 / .28)' : 'rgb(0 0 0 / .26)';
    pen.lineWidth = 1.2;
    pen.beginPath();
    for (const x of [-8, 0, 8]) { pen.moveTo(x, 8); pen.lineTo(x + 8, 0); }
    pen.stroke();
    hatchOfDark = isDark;
    hatch = /** @type {CanvasPattern} */ (context.createPattern(tile, 'repeat'));
    return hatch;
  }

  function draw() {
    isDrawn = false;
    if (!picture || !box.isConnected) return;
    const { tree, root, found, look, whole } = picture;
    const ratio = window.devicePixelRatio || 1;
    width = box.clientWidth;
    const tall = shownHeight();
    rows = Math.floor(tall / rowHeight);
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(tall * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(tall * ratio);
      canvas.style.setProperty('height', `${tall}px`);
    }
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext('2d'));
    const style = getComputedStyle(box);
    const isDark = style.getPropertyValue('--is-dark').trim() === '1';
    const [text, paper, faded, line] = ['--text', '--paper', '--faded', '--line'].map((name) => style.getPropertyValue(name).trim());
    const hit = isDark ? '#a3186f' : '#ff9bd8';
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = paper;
    context.fillRect(0, 0, width, tall);
    context.font = `${rowHeight > leastRow + 3 ? 12 : 11}px ui-monospace, "DejaVu Sans Mono", Menlo, monospace`;
    context.textBaseline = 'middle';
    const letter = context.measureText('0').width;
    const base = tree.start[root];
    const scale = width / (tree.size[root] || 1);

    /** @param {number} i @param {number} x @param {number} w @param {number} y */
    const box1 = (i, x, w, y) => {
      const frame = tree.frame[i];
      const { fill, hatched, outlined, label } = frame < 0 ? { fill: faded, label: whole, hatched: false, outlined: false } : look(frame, i);
      const isHit = found !== null && frame >= 0 && found[frame] === 1;
      context.fillStyle = isHit ? hit : found !== null && frame >= 0 ? faded : fill;
      const inner = Math.max(0.5, w - 1);
      context.fillRect(x, y, inner, rowHeight - 1);
      if (hatched && w > 6) {
        context.fillStyle = hatching(context, isDark);
        context.fillRect(x, y, Math.min(7, inner), rowHeight - 1);
      }
      if (outlined) {
        context.strokeStyle = text;
        context.setLineDash([3, 2]);
        context.strokeRect(x + 0.5, y + 0.5, Math.max(0, inner - 1), rowHeight - 2);
        context.setLineDash([]);
      }
      const indent = hatched && w > 6 ? 10 : 5;
      const letters = Math.floor((w - indent - 3) / letter);
      if (letters >= 3) {
        context.fillStyle = text;
        context.fillText(label.length > letters ? `${label.slice(0, letters - 1)}…` : label, x + indent, y + rowHeight / 2);
      }
    };

    // The root's callers, as whole rows.
    for (let i = root; i >= 0; i = tree.parent[i]) {
      const row = tree.level[i] - top;
      if (row >= 0 && row < rows) box1(i, 0, width, row * rowHeight);
    }
    /** By row, where the last speck ended: specks that touch are drawn once. */
    const specks = new Float64Array(rows + 1).fill(-1);
    for (let i = root + 1; i < tree.end[root];) {
      const row = tree.level[i] - top;
      const x = (tree.start[i] - base) * scale;
      const w = tree.size[i] * scale;
      if (row >= rows || w <= 0) { i = tree.end[i]; continue; }
      if (w < 1) {
        const first = Math.max(0, row);
        const last = Math.min(rows, tree.deepest[i] - top + 1);
        const at = Math.floor(x);
        if (last > first && specks[first] < at) {
          specks[first] = at;
          context.fillStyle = line;
          context.fillRect(at, first * rowHeight, 1, (last - first) * rowHeight - 1);
        }
        i = tree.end[i];
        continue;
      }
      if (row >= 0) box1(i, x, w, row * rowHeight);
      if (tree.rest[i] * scale >= 2) remainder(i, x);
      i += 1;
    }
    if (tree.rest[root] * scale >= 2) remainder(root, 0);
    isDrawn = true;
    mark('selected', picture.selected);
    mark('hovered', hovered);

    /** Time of stacks that the answer leaves out: at the end of a node's children, and never a function. @param {number} i @param {number} x */
    function remainder(i, x) {
      const row = tree.level[i] + 1 - top;
      if (row < 0 || row >= rows) return;
      let children = 0;
      for (let child = i + 1; child < tree.end[i]; child = tree.end[child]) children += tree.size[child];
      const from = x + children * scale;
      const w = Math.min(tree.rest[i] * scale, width - from);
      context.fillStyle = hatching(context, isDark);
      context.fillRect(from, row * rowHeight, w - 1, rowHeight - 1);
      if (w > 80) {
        context.fillStyle = text;
        context.fillText('(left out)', from + 5, (row + 0.5) * rowHeight);
      }
    }
  }

  /** Lays a mark over a node, if it is in view. @param {'selected' | 'hovered'} name @param {number} node -1: none */
  function mark(name, node) {
    const { tree, root } = /** @type {Picture} */ (picture);
    const row = node < 0 ? -1 : tree.level[node] - top;
    const isAbove = node >= 0 && node <= root && tree.end[node] >= tree.end[root];
    const isIn = isAbove || (node > root && node < tree.end[root]);
    const element = marks[name];
    element.hidden = !isIn || row < 0 || row >= rows;
    if (element.hidden) return;
    const scale = width / (tree.size[root] || 1);
    const [x, w] = isAbove ? [0, width] : [(tree.start[node] - tree.start[root]) * scale, tree.size[node] * scale];
    element.style.setProperty('transform', `translate(${x}px, ${row * rowHeight}px)`);
    element.style.setProperty('width', `${Math.max(3, w - 1)}px`);
    element.style.setProperty('height', `${rowHeight - 1}px`);
  }

  /** @param {number} node @param {MouseEvent} [event] */
  function point(node, event) {
    if (event) place(tip, event.offsetX + 14, event.offsetY + 20);
    if (node === hovered) return;
    hovered = node;
    tip.hidden = node < 0;
    tip.replaceChildren(...node < 0 ? [] : actions.hover(node).split(' · ').map((part) => h('div', null, part)));
    if (picture) mark('hovered', node);
  }

  /** @param {HTMLElement} element @param {number} x @param {number} y */
  function place(element, x, y) {
    element.style.setProperty('--x', `${x}px`);
    element.style.setProperty('--y', `${y}px`);
  }

  /** Opens a menu of what can be done with a node; false if nothing can. @param {number} node @param {number} x @param {number} y */
  function openMenu(node, x, y) {
    if (graph.querySelector('dialog')) return true; // a finger that rests is also a context menu of the browser
    const items = node > 0 ? actions.menu?.(node) ?? [] : [];
    if (items.length === 0) return false;
    actions.select(node);
    point(-1);
    const { left, top: above } = canvas.getBoundingClientRect();
    const menu = h('dialog', { class: 'menu', 'aria-label': 'Selected function', onclose: () => menu.remove(), onclick: () => menu.close() },
      items.map(([text, act]) => button(text, () => { menu.close(); act(); })));
    place(menu, left + x, above + y);
    graph.append(menu);
    menu.showModal();
    return true;
  }

  /** @param {number} x @param {number} y */
  function nodeAt(x, y) {
    if (!picture) return -1;
    const { tree, root } = picture;
    const level = Math.floor(y / rowHeight) + top;
    if (level <= tree.level[root]) {
      let i = root;
      while (i >= 0 && tree.level[i] > level) i = tree.parent[i];
      return i;
    }
    const at = tree.start[root] + (x / width) * (tree.size[root] || 1);
    let i = root;
    while (i >= 0 && tree.level[i] < level) i = childAt(tree, i, at);
    return i;
  }

  /** Scrolls until a node's row is in view. @param {number} node */
  function reveal(node) {
    if (!picture || node < 0) return;
    const row = picture.tree.level[node];
    if (row < top) top = row;
    else if (row >= top + rows) top = row - rows + 1;
  }

  const scrollTo = (/** @type {number} */ row) => {
    if (!picture) return false;
    const next = Math.max(0, Math.min(row, picture.tree.deepest[picture.root] + 2 - rows));
    if (next === top) return false;
    top = next;
    draw();
    return true;
  };

  /** @param {KeyboardEvent} event */
  function onkeydown(event) {
    if (!picture || event.ctrlKey || event.metaKey || event.altKey) return;
    const { tree, root, selected } = picture;
    const node = selected < 0 ? root : selected;
    const next = {
      ArrowUp: () => tree.parent[node],
      ArrowDown: () => (node + 1 < tree.end[node] ? node + 1 : -1),
      ArrowLeft: () => sibling(tree, node, -1),
      ArrowRight: () => sibling(tree, node, 1),
      Home: () => root,
    }[event.key];
    if (next) {
      event.preventDefault();
      const to = next();
      if (to >= 0) {
        if (tree.end[root] <= to || to < root) actions.zoom(tree.parent[to] < 0 ? 0 : to);
        actions.select(to);
      }
      return;
    }
    if (event.key === 'Enter') { event.preventDefault(); actions.zoom(node); return; }
    if (event.key === 'Backspace' || event.key === 'Escape') {
      if (root > 0) { event.preventDefault(); event.stopPropagation(); actions.zoom(tree.parent[root]); }
      return;
    }
    if (event.key === 'PageDown' || event.key === 'PageUp') {
      if (scrollTo(top + (event.key === 'PageDown' ? 1 : -1) * Math.max(1, rows - 2))) event.preventDefault();
      return;
    }
    if (actions.key?.(event.key, node)) { event.preventDefault(); event.stopPropagation(); }
  }

  canvas.addEventListener('keydown', onkeydown);
  canvas.addEventListener('click', (event) => {
    const node = nodeAt(event.offsetX, event.offsetY);
    if (node >= 0) actions.select(node);
    point(node, event); // after a tap no pointer hovers
  });
  canvas.addEventListener('dblclick', (event) => {
    const node = nodeAt(event.offsetX, event.offsetY);
    if (node >= 0) actions.zoom(node);
  });
  canvas.addEventListener('mousemove', (event) => point(nodeAt(event.offsetX, event.offsetY), event));
  canvas.addEventListener('contextmenu', (event) => {
    const isKey = /** @type {PointerEvent} */ (event).pointerType === '' && picture !== null && picture.selected > 0;
    if (isKey ? openMenu(/** @type {Picture} */ (picture).selected, 20, 20) : openMenu(nodeAt(event.offsetX, event.offsetY), event.offsetX, event.offsetY)) event.preventDefault();
  });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let resting;
  let isOpened = false;
  canvas.addEventListener('touchstart', ({ touches }) => {
    clearTimeout(resting);
    isOpened = false;
    const { left, top: above } = canvas.getBoundingClientRect();
    const [x, y] = [touches[0].clientX - left, touches[0].clientY - above];
    if (touches.length === 1) resting = setTimeout(() => { isOpened = openMenu(nodeAt(x, y), x, y); }, longPress);
  }, { passive: true });
  canvas.addEventListener('touchmove', () => clearTimeout(resting), { passive: true });
  canvas.addEventListener('touchend', (event) => {
    clearTimeout(resting);
    if (isOpened) event.preventDefault(); // or else the click takes the focus from the menu
  });
  canvas.addEventListener('pointerleave', ({ pointerType }) => { if (pointerType === 'mouse') point(-1); });
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && scrollTo(top + Math.sign(event.deltaY) * 2)) event.preventDefault();
  }, { passive: false });
  new ResizeObserver(() => { if (box.clientWidth !== width) draw(); }).observe(box);

  return {
    element: graph,
    canvas,
    redraw: draw,
    /** @param {Picture} next */
    show(next) {
      const last = picture;
      const lastTop = top;
      if (last?.tree !== next.tree || last.root !== next.root) { top = Math.max(0, next.tree.level[next.root] - 3); point(-1); }
      picture = next;
      rowHeight = Math.max(leastRow, Math.min(mostRow, Math.floor(height / (next.tree.deepest[0] + 2))));
      rows = Math.floor(shownHeight() / rowHeight);
      reveal(next.selected);
      const isSame = isDrawn && last !== null && top === lastTop
        && /** @type {const} */ (['tree', 'root', 'found', 'look', 'whole']).every((name) => last[name] === next[name]);
      if (isSame) mark('selected', next.selected);
      else draw();
    },
  };
}
