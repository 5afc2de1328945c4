import { spin } from './spin.js';

/** In a chunk of its own. */
export const report = (amounts) => {
  spin(150);
  return amounts.length;
};
