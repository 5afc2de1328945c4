const { probe } = globalThis;

function declared() { probe.declared(); }
async function asyncDeclared() { probe.asyncDeclared(); await null; }
export function* generated(most) { for (let step = 0; step < most; step += 1) { probe.generated(); yield step; } }
const arrow = () => { probe.arrow(); };
const arrowParameter = (first, second) => { probe.arrowParameter(); return [first, second]; };
const destructured = ({ a, b } = { a: 1, b: 2 }) => { probe.destructured(); return a + b; };
const listed = ([first, second] = [1, 2], { third } = {}) => { probe.listed(); return first + second + third; };
const curried = ({ a } = {}) => ({ b } = {}) => { probe.curried(); return [a, b]; };
const asyncArrow = async (value) => { probe.asyncArrow(); return value; };
const expression = (value) => probe.expression(value);
const expressed = function (value) { probe.expressed(); return value; };
const other = function inner(value) { probe.inner(); return value; };
let later;
later = (value) => { probe.later(); return value; };
const outer = (values = [1, 2]) => {
  function nested(value) { probe.nested(); return value; }
  return values.map(nested);
};
const callback = (values = [1, 2]) => values.map((value) => { probe.callback(); return value; });

/** @template T @param {T} f @returns {T} */
export const memo = (f) => (globalThis.neverSet ? null : f);

export const array = [
  declared, asyncDeclared, arrow, arrowParameter, destructured, listed, curried(), asyncArrow, expression, expressed, other, later, outer, callback,
];

export const plain = {
  value: 1,
  method() { probe.method(); },
  clicked: (event) => { probe.clicked(); return event; },
  expressed: function (event) { probe.propertyExpressed(); return event; },
  get total() { probe.getter(); return this.value; },
  set total(value) { probe.setter(); this.value = value; },
  'on-click': () => { probe.stringKey(); },
};

export const store = {};
store.assignedLater = (value) => { probe.assignedLater(); return value; };

export function Legacy() { probe.Legacy(); }
Legacy.prototype.protoMethod = function () { probe.protoMethod(); };
