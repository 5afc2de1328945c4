import { spin } from './spin.js';

export const sortCart = (amounts) => {
  spin(150);
  return [...amounts].sort();
};
