/** Works for a while, as a slow function does. @param {number} ms */
export function spin(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}
