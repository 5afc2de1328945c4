// SPDX-License-Identifier: Apache-2.0
/** The label and the form that the name of a column implies; build.mjs copies only others from the catalogue. */

/** Returns the label that follows from a column's name. @param {string} name */
export const labelOf = (name) => name.replace(/_share$/, '').replace('ms_per_load', 'ms/load').replaceAll('_', ' ').replace(/^[a-z](?!\d)/, (letter) => letter.toUpperCase());

/** Returns how cells of a column of this name are written: as a share, as milliseconds, as a count, or undefined: as a text. @param {string} name */
export const kindOf = (name) => (/share$|change|_low$|visible$/.test(name) ? '%' : /^p\d\d|_value$|(^|_)ms(_|$)/.test(name) ? '#' : /count$|loads|[^o]s$|flagged/.test(name) ? '+' : undefined);
