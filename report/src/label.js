// SPDX-License-Identifier: Apache-2.0
/** Returns the label that a column's name gives; the catalogue's copy has only the others. @param {string} name */
export const labelOf = (name) => name.replace(/_(ms|share)$/, '').replaceAll('_', ' ').replace(/^[a-z](?!\d)/, (letter) => letter.toUpperCase());
