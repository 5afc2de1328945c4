import { sortCart } from './cart.js';

class Shop {
  #button = document.body.appendChild(document.createElement('button'));

  constructor() {
    this.#button.textContent = 'Sort';
    this.#button.onclick = async () => {
      const { report } = await import('./late.js');
      report(sortCart([3, 1, 2]));
      document.body.append(document.createElement('b'));
    };
  }
}

new Shop();
