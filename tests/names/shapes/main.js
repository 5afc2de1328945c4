/** Functions of every shape. Each calls the probe of its key; names.js says what people call it. */
import anonymousDefault from './anonymous_default.js';
import { Basket, Child, Named, Wide } from './classes.js';
import { array, generated, Legacy, memo, plain, store } from './functions.js';
import AnonymousClass from './anonymous_class.js';
import DefaultBase from './default_base.js';
import DefaultChild from './default_child.js';
import DefaultFields from './default_fields.js';
import { Keyed, Quoted, watched } from './keys.js';

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
  () => new DefaultBase().other(), () => new DefaultChild(), () => new DefaultFields(),
  () => watched.$route(1), () => watched['a b'](), () => watched['click->cart#add'](), () => watched["\u{1F6D2} 'x'"](), () => watched[12](), () => watched[31](), () => watched['save/all'](),
  () => watched['total price'], () => { watched['total price'] = 2; },
  () => new Keyed()['todos/add'](1), () => Keyed['todos/all'](), () => { for (const step of new Keyed()['todos/each']()) if (step < 0) return; }, () => new Keyed()['on-click'](1),
  () => Keyed.constructor(), () => new Quoted(),
];
