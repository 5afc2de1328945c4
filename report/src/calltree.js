// SPDX-License-Identifier: Apache-2.0
/**
 * The call tree as a list that a screen reader and the keyboard can walk: all that the picture shows, without the
 * picture. The selection and its ancestors are open, so that a link opens the list as it was.
 */
import { h } from './h.js';
import { pathTo } from './tree.js';

/** @typedef {Pick<import('./tree.js').Tree, 'level' | 'end' | 'parent'>} Tree what a list of nodes needs */

/**
 * A node with its place among its siblings, or how many siblings are not listed before or after those that are.
 * @typedef {{ node: number, place: number, of: number } | { before: number } | { after: number }} Line
 */

const mostChildren = 100;

/**
 * Returns the lines of the list in order. Where there are too many siblings, those around the selection are listed.
 * @param {Tree} tree @param {Set<number>} open nodes whose children are listed @param {number} current the selection; -1: none
 */
export function linesOf(tree, open, current) {
  /** @type {Line[]} */
  const lines = [];
  /** The lines still to be listed, last first. @type {Line[]} */
  const left = [{ node: 0, place: 0, of: 1 }];
  for (let line = left.pop(); line; line = left.pop()) {
    lines.push(line);
    if (!('node' in line) || !open.has(line.node)) continue;
    const all = [];
    for (let i = line.node + 1; i < tree.end[line.node]; i = tree.end[i]) all.push(i);
    const on = all.findIndex((child) => current >= child && current < tree.end[child]);
    const first = Math.max(0, Math.min(on - mostChildren / 2, all.length - mostChildren));
    const last = Math.min(all.length, first + mostChildren);
    if (last < all.length) left.push({ after: all.length - last });
    for (let place = last - 1; place >= first; place -= 1) left.push({ node: all[place], place, of: all.length });
    if (first > 0) left.push({ before: first });
  }
  return lines;
}

/**
 * @param {string} label
 * @param {{ select: (node: number) => void, zoom: (node: number) => void }} actions
 * @param {string} [others] what more children are than are listed
 */
export function callTree(label, { select, zoom }, others = 'smaller ones are not listed: zoom in or search.') {
  const list = h('ul', { role: 'tree', 'aria-label': label, class: 'calltree' });
  /** @type {Tree} */
  let tree;
  /** @type {(node: number) => string} */
  let name = () => '';
  /** @type {(node: number) => string} */
  let figures = () => '';
  /** Nodes whose children are listed. @type {Set<number>} */
  let open = new Set([0]);
  let current = -1;
  /** Elements in the list, by node. @type {Map<number, HTMLLIElement>} */
  let listed = new Map();

  /** Returns the element of a line; updates it if it is in the list already. @param {Line} line */
  function element(line) {
    const found = 'node' in line ? listed.get(line.node) : undefined;
    if (!found || !('node' in line)) return made(line);
    const { node } = line;
    const is = { 'aria-selected': String(node === current), ...node + 1 < tree.end[node] ? { 'aria-expanded': String(open.has(node)) } : {} };
    for (const [name, value] of Object.entries(is)) if (found.getAttribute(name) !== value) found.setAttribute(name, value);
    const twig = twigOf(node);
    if (found.firstChild && found.firstChild.textContent !== twig) found.firstChild.textContent = twig;
    const tab = node === Math.max(current, 0) ? 0 : -1;
    if (found.tabIndex !== tab) found.tabIndex = tab;
    return found;
  }

  const twigOf = (/** @type {number} */ node) => (node + 1 >= tree.end[node] ? '' : open.has(node) ? '▾' : '▸');

  /** @param {Line} line */
  function made(line) {
    if ('before' in line) return h('li', { role: 'none', class: 'note' }, `${line.before} before these are not listed.`);
    if ('after' in line) return h('li', { role: 'none', class: 'note' }, `${line.after} ${others}`);
    const { node, place, of } = line;
    const children = node + 1 < tree.end[node];
    const isOpen = children && open.has(node);
    return h('li', {
      role: 'treeitem', 'aria-level': tree.level[node] + 1, 'aria-setsize': of, 'aria-posinset': place + 1, 'aria-selected': String(node === current),
      ...children ? { 'aria-expanded': String(isOpen) } : {}, tabIndex: node === Math.max(current, 0) ? 0 : -1, 'data-node': node, style: { '--level': tree.level[node] },
    }, h('span', { class: 'twig', 'aria-hidden': 'true' }, twigOf(node)), h('span', { class: 'name' }, name(node)), ' ', h('span', { class: 'figures' }, figures(node)));
  }

  const focus = () => /** @type {HTMLElement | null} */ (list.querySelector(`[data-node="${Math.max(current, 0)}"]`))?.focus();

  /** @param {number} node */
  function go(node) {
    select(node);
    focus();
  }

  list.addEventListener('keydown', (event) => {
    const node = Math.max(current, 0);
    const all = /** @type {HTMLElement[]} */ ([...list.querySelectorAll('[role=treeitem]')]);
    const place = all.findIndex((element) => Number(element.dataset.node) === node);
    const step = (/** @type {number} */ to) => { if (all[to]) go(Number(all[to].dataset.node)); };
    const done = /** @type {Record<string, () => void>} */ ({
      ArrowDown: () => step(place + 1),
      ArrowUp: () => step(place - 1),
      ArrowRight: () => { if (node + 1 < tree.end[node]) go(node + 1); },
      ArrowLeft: () => { if (tree.parent[node] >= 0) go(tree.parent[node]); },
      Home: () => step(0),
      End: () => step(all.length - 1),
      Enter: () => zoom(node),
    })[event.key];
    if (!done || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    done();
  });
  list.addEventListener('click', (event) => {
    const element = /** @type {HTMLElement | null} */ (/** @type {HTMLElement} */ (event.target).closest('[role=treeitem]'));
    if (element) go(Number(element.dataset.node));
  });

  return {
    element: list,
    /** @param {{ tree: Tree, selected: number, name: typeof name, figures: typeof figures }} next */
    show(next) {
      const hadFocus = list.contains(document.activeElement);
      if (next.tree !== tree || next.name !== name || next.figures !== figures) listed = new Map();
      ({ tree, name, figures, selected: current } = next);
      open = new Set([0, ...pathTo(tree, current)]);
      const lines = linesOf(tree, open, current);
      const elements = lines.map(element);
      const staying = new Set(elements);
      for (const old of [...list.children]) if (!staying.has(/** @type {HTMLLIElement} */ (old))) old.remove();
      let place = list.firstChild;
      for (const each of elements) {
        if (each === place) place = place.nextSibling;
        else list.insertBefore(each, place);
      }
      listed = new Map(lines.flatMap((line, i) => ('node' in line ? [[line.node, elements[i]]] : [])));
      if (hadFocus) focus();
    },
  };
}
