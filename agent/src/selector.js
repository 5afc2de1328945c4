/**
 * A short name for an element, the same on each page load: tags, ids and classes, never text.
 */

const maxLength = 128;
const maxClasses = 2;

/**
 * Replaces what differs from load to load: numbers, hashes, and everything that is not a plain word.
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
 * Returns an element's name.
 * @param {Node | null | undefined} node
 * @returns {string | undefined} at most 128 characters; undefined for no element
 */
export function selectorOf(node) {
  let path = '';
  for (let element = /** @type {Element | null} */ (node?.nodeType === 1 ? node : node?.parentElement ?? null); element;
    element = element.parentElement) {
    const id = element.getAttribute('id');
    const classes = (element.getAttribute('class') ?? '').split(/\s+/).filter(Boolean).slice(0, maxClasses);
    const step = element.localName.slice(0, 40) + (id ? `#${templateName(id)}` : '')
      + classes.map((name) => `.${templateName(name)}`).join('');
    if (path.length + step.length >= maxLength) break;
    path = path ? `${step}>${path}` : step;
    if (id) break;
  }
  return path || undefined;
}
