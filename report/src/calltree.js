/**
 * The call tree as a list that a screen reader and the keyboard can walk: all that the picture shows, without the picture.
 * Open is what leads to the selection, and the selection: so a link opens it as it was.
 */
import { h } from './h.js';
import { pathTo } from './tree.js';

/** @typedef {Pick<import('./tree.js').Tree, 'level' | 'end' | 'parent'>} Tree what a list of nodes needs */

const mostChildren = 100;

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

  /** @param {number} node */
  function childrenOf(node) {
    const nodes = [];
    for (let i = node + 1; i < tree.end[node]; i = tree.end[i]) nodes.push(i);
    return nodes;
  }

  /** Returns a node's line, and those of what is open below it. @param {number} node @param {number} place @param {number} of @returns {HTMLElement[]} */
  function lines(node, place, of) {
    const children = node + 1 < tree.end[node];
    const isOpen = children && open.has(node);
    const line = h('li', {
      role: 'treeitem', 'aria-level': tree.level[node] + 1, 'aria-setsize': of, 'aria-posinset': place + 1, 'aria-selected': String(node === current),
      ...children ? { 'aria-expanded': String(isOpen) } : {}, tabIndex: node === Math.max(current, 0) ? 0 : -1, 'data-node': node, style: { '--level': tree.level[node] },
    }, h('span', { class: 'twig', 'aria-hidden': 'true' }, children ? (isOpen ? '▾' : '▸') : ''), h('span', { class: 'name' }, name(node)), ' ', h('span', { class: 'figures' }, figures(node)));
    if (!isOpen) return [line];
    const all = childrenOf(node);
    const rest = all.length - mostChildren;
    return [line, ...all.slice(0, mostChildren).flatMap((child, i) => lines(child, i, all.length)),
      ...rest > 0 ? [h('li', { role: 'none', class: 'note' }, `${rest} ${others}`)] : []];
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
      ({ tree, name, figures, selected: current } = next);
      open = new Set([0, ...pathTo(tree, current)]);
      list.replaceChildren(...lines(0, 0, 1));
      if (hadFocus) focus();
    },
  };
}
