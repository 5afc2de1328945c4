// SPDX-License-Identifier: Apache-2.0
/** Builds elements. Text is always text: nothing here parses markup. */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Returns an element. Properties that begin with `on` are listeners, `class` and those with a dash are attributes, `style`
 * is an object of custom properties, the others are set on the element.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, any> | null} [properties]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, properties, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else if (key === 'style') for (const [rule, text] of Object.entries(value)) element.style.setProperty(rule, String(text));
    else if (key === 'class' || key === 'role' || key === 'for' || key.includes('-')) element.setAttribute(key, value === true ? '' : String(value));
    else /** @type {any} */ (element)[key] = value;
  }
  append(element, children);
  return element;
}

/** Appends children, leaving out what is absent. @param {Element} element @param {(Child | Child[])[]} children */
export function append(element, children) {
  for (const child of children.flat()) {
    if (child === null || child === undefined || child === false) continue;
    element.append(typeof child === 'number' ? String(child) : child);
  }
}

/** Returns a button. @param {string} label @param {() => void} onclick @param {Record<string, any>} [more] */
export const button = (label, onclick, more) => h('button', { type: 'button', onclick, ...more }, label);
