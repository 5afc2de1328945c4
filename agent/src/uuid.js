// SPDX-License-Identifier: Apache-2.0
/**
 * Makes a UUID of version 7, which begins with the time: crypto.randomUUID makes version 4, and only over https.
 */
export function makeUuid() {
  // One digit more than the time has, even if the page's own Date returns a negative number or a fraction.
  const time = (2 ** 49 + Date.now()).toString(16);
  return `${time.slice(1, 9)}-${time.slice(9, 13)}-7xxx-8xxx-xxxxxxxxxxxx`
    .replace(/x/g, () => (crypto.getRandomValues(new Uint8Array(1))[0] & 15).toString(16));
}
