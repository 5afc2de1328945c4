// SPDX-License-Identifier: Apache-2.0
/**
 * Work that a profiler should recognise: each function keeps the page busy for about `ms`.
 *
 * Loops look at the clock only once in a while: `performance.now` is a frame of its own.
 */

/** @type {{ Mustache: { render(template: string, view: object): string } }} */
const { Mustache } = /** @type {any} */ (globalThis);

const piece = 20_000;

/**
 * A named function: all its time is its own.
 * @param {number} ms
 */
export function countPrimes(ms) {
  const start = performance.now();
  let primes = 0;
  for (let candidate = 3; performance.now() - start < ms;) {
    for (let i = 0; i < piece; i++, candidate += 2) {
      let divisor = 3;
      while (divisor < 50 && candidate % divisor !== 0) divisor += 2;
      if (divisor >= 50) primes++;
    }
  }
  return primes;
}

/**
 * A recursive function: it is on the stack many times, but its total time counts once.
 * @param {number} n
 * @returns {number}
 */
export function fibonacci(n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

/** @param {number} ms */
export function countRabbits(ms) {
  const start = performance.now();
  let rabbits = 0;
  while (performance.now() - start < ms) rabbits += fibonacci(25);
  return rabbits;
}

/**
 * A function without a name, like most callbacks: only its place in the source identifies it.
 * @param {number} ms
 */
export function shuffleInCallbacks(ms) {
  return [ms / 3, ms / 3, ms / 3].map((share) => {
    const start = performance.now();
    let seed = 1;
    while (performance.now() - start < share) {
      for (let i = 0; i < piece; i++) seed = (Math.imul(seed, 1664525) + 1013904223) | 0;
    }
    return seed;
  });
}

/**
 * A library: Mustache renders the same table over and over. Each time is a measure.
 * @param {number} ms
 * @returns {number[]} the measures' durations
 */
export function renderTables(ms) {
  const rows = Array.from({ length: 2000 }, (_, i) => ({ number: i, name: `<row ${i}>`, even: i % 2 === 0 }));
  const template = '<table>{{#rows}}<tr{{#even}} class="even"{{/even}}><td>{{number}}<td>{{name}}{{/rows}}</table>';
  const durations = [];
  const start = performance.now();
  while (performance.now() - start < ms) {
    const begin = performance.now();
    Mustache.render(template, { rows });
    durations.push(performance.measure('render table', { start: begin, detail: { rows: rows.length } }).duration);
  }
  return durations;
}

/**
 * Layout thrash: after each write the next read has to lay out the page again. The function that reads is charged
 * for it.
 * @param {number} ms
 */
export function thrashLayout(ms) {
  const box = document.createElement('div');
  box.className = 'thrash';
  for (let i = 0; i < 500; i++) box.insertAdjacentHTML('beforeend', `<p>paragraph ${i}</p>`);
  document.body.append(box);
  const start = performance.now();
  let height = 0;
  for (let width = 200; performance.now() - start < ms; width = 500 - width) {
    box.style.width = `${width}px`;
    height += box.offsetHeight;
  }
  box.remove();
  return height;
}
