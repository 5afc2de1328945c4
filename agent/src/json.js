/**
 * Returns a value's JSON, whatever `toJSON` the page has put on a prototype: older libraries turn arrays into strings so.
 * @param {unknown} value
 */
export const jsonOf = (value) => JSON.stringify(value, /** @this {any} */ function own(key) { return this[key]; });
