// SPDX-License-Identifier: Apache-2.0
/** Counts entries past a limit, until an upload reports how many were left out. */

/**
 * @typedef {{ what: string, name?: string, count: number }} LeftOut a count of 0 is not known
 *
 * Counts omissions; name: the name that had too many entries.
 * @typedef {(what: string, count?: number, name?: string) => void} LeaveOut
 */

/** @param {Map<string, LeftOut>} rows by kind and name @returns {LeaveOut} */
export const leaveOutInto = (rows) => (what, count = 1, name) => {
  const key = `${[what, name]}`;
  rows.set(key, { what, name, count: (rows.get(key)?.count ?? 0) + count });
};
