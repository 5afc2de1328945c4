// SPDX-License-Identifier: Apache-2.0
/**
 * A short name for an element, the same on each page load: tags, ids and classes, never text.
 */

const maxLength = 128;
const maxClasses = 2;

/**
 * Replaces text that differs from load to load: numbers, hashes, and everything that is not a plain word.
 * @param {string} name an id or a class
 */
export function templateName(name) {
  if (!/^[\w-]+$/.test(name) || name.length > 40) return '*';
  const words = name.split(/([-_]+)/).map((word) => {
    if (/^\d+$/.test(word)) return '*';
    // A hash of a bundler or a framework: long, and with digits among its letters.
    return word.length > 4 && /\d/.test(word) && !/^[A-Za-z]+\d$/.test(word) ? '*' : word.replace(/\d+/g, '*');
  });
  return words.join('');
}

/**
 * Reads a property of the browser's own: an input of this name hides the property of its form.
 * @param {object} prototype @param {string} name
 */
const getterOf = (prototype, name) => {
  const get = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  return (/** @type {Node} */ node) => get?.call(node);
};

/**
 * Returns an element's name.
 * @param {Node | null | undefined} node
 * @returns {string | undefined} at most 128 characters; undefined for no element, and for one that cannot be read
 */
export function selectorOf(node) {
  try {
    return node ? pathTo(node) : undefined;
  } catch {
    return undefined;
  }
}

/** @param {Node} node */
function pathTo(node) {
  const parentOf = getterOf(Node.prototype, 'parentElement');
  const nameOf = getterOf(Element.prototype, 'localName');
  let path = '';
  for (let element = node instanceof Element ? node : parentOf(node); element; element = parentOf(element)) {
    const attribute = (/** @type {string} */ name) => Element.prototype.getAttribute.call(element, name) ?? '';
    const id = attribute('id');
    const classes = attribute('class').split(/\s+/).filter(Boolean).slice(0, maxClasses);
    const step = nameOf(element).slice(0, 40) + (id ? `#${templateName(id)}` : '')
      + classes.map((name) => `.${templateName(name)}`).join('');
    if (path.length + step.length >= maxLength) break;
    path = path ? `${step}>${path}` : step;
    if (id) break;
  }
  return path || undefined;
}
