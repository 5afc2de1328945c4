import { memo, useState } from 'react';
import { createRoot } from 'react-dom/client';

import { sortCart } from './cart.js';
import { spin } from './spin.js';

const Price = memo(({ amount = 1 } = {}) => {
  spin(150);
  return <b>{amount}</b>;
});

function Cart() {
  const [amounts, setAmounts] = useState([3, 1, 2]);
  return <main>
    <button onClick={() => setAmounts(sortCart(amounts))}>Sort</button>
    <Price amount={amounts[0]} />
  </main>;
}

createRoot(document.body.appendChild(document.createElement('div'))).render(<Cart />);
