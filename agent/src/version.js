// SPDX-License-Identifier: Apache-2.0
/** The agent's name in its uploads, and for the page. */
export const version = '0.1.0';
