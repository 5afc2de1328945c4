/** Functions of every shape. Each calls the probe of its key; names.js says what people call it. */
import anonymousDefault from './anonymous_default.js';
import { Basket, Child, Named, Wide } from './classes.js';
import { array, generated, Legacy, memo, plain, store } from './functions.js';
import AnonymousClass from './anonymous_class.js';

const { probe } = globalThis;

const wrapped = memo(() => { probe.wrapped(); });
const twice = memo(memo((value) => { probe.twice(); return value; }));

// As values, no minifier puts them into their callers.
globalThis.shapes = [
  ...array, wrapped, twice, anonymousDefault,
  () => { for (const step of generated(2)) if (step < 0) return; },
  () => plain.method(), () => plain.clicked(1), () => plain.expressed(), () => plain.total, () => { plain.total = 2; }, () => plain['on-click'](),
  () => store.assignedLater(1), () => new Legacy().protoMethod(), () => new Legacy(),
  () => new Basket(1).refresh(), () => new Basket(2).price, () => Basket.parse(''), () => new Basket(3).field(4), () => new Basket(5).reveal(), () => new Basket(6).load(),
  () => new Wide(), () => new Child(), () => new Named().named(), () => new AnonymousClass().inside(),
];
