/**
 * Makes a UUID of version 7, which begins with the time: crypto.randomUUID makes version 4, and only over https.
 */
export function makeUuid() {
  const time = Date.now().toString(16).padStart(12, '0');
  const random = Array.from(crypto.getRandomValues(new Uint8Array(18)), (byte) => (byte & 15).toString(16)).join('');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-8${random.slice(3, 6)}-${random.slice(6)}`;
}
