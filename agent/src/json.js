// SPDX-License-Identifier: Apache-2.0
/**
 * Returns a value's JSON. Ignores a `toJSON` on a prototype: with theirs, older libraries turn arrays into strings.
 * @param {unknown} value
 */
export const jsonOf = (value) => JSON.stringify(value, /** @this {any} */ function own(key) { return this[key]; });
