// SPDX-License-Identifier: Apache-2.0
/** The shop's pages, rendered on the server and hydrated in the browser. */
import React, { useMemo, useState } from 'react';
import { products, rank } from './catalogue.js';

const Price = ({ amount }) => <span className="price">{amount.toFixed(2)} EUR</span>;

function Card({ product }) {
  return (
    <li>
      <a href={`/product/${product.id}/`}>{product.name}</a> <Price amount={product.price} />
    </li>
  );
}

function Home() {
  const [query, setQuery] = useState('');
  const found = useMemo(() => rank(query || 'amber lamp').slice(0, 120), [query]);
  return (
    <main>
      <h1>Shop</h1>
      <input id="search" placeholder="search" value={query} onChange={({ target }) => setQuery(target.value)} />
      <ul>{found.map((product) => <Card key={product.id} product={product} />)}</ul>
    </main>
  );
}

function Product({ id }) {
  const product = products.find((one) => one.id === id) ?? products[0];
  const near = useMemo(() => rank(product.name).slice(1, 30), [product]);
  const [amount, setAmount] = useState(1);
  return (
    <main>
      <h1>{product.name}</h1>
      <Price amount={product.price * amount} />
      <button onClick={() => setAmount(amount + 1)}>more</button>
      <a id="home" href="/">all goods</a>
      <ul>{near.map((one) => <Card key={one.id} product={one} />)}</ul>
    </main>
  );
}

/** The page at a path: `/` or `/product/ID/`. */
export function Page({ path }) {
  const id = /^\/product\/(\d+)/.exec(path)?.[1];
  return id ? <Product id={Number(id)} /> : <Home />;
}
