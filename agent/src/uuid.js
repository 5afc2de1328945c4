/**
 * Makes a UUID of version 7, which begins with the time: crypto.randomUUID makes version 4, and only over https.
 */
export function makeUuid() {
  const time = Date.now().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7xxx-8xxx-xxxxxxxxxxxx`
    .replace(/x/g, () => (crypto.getRandomValues(new Uint8Array(1))[0] & 15).toString(16));
}
