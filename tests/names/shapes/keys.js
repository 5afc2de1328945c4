/** Functions whose keys are strings and numbers. */
const { probe } = globalThis;

export const watched = {
  '$route'(to) { probe.stringMethod(); return to; },
  'a b': function (value) { probe.spaceKey(); return value; },
  'click->cart#add'() { probe.arrowKey(); },
  '\u{1F6D2} \'x\''() { probe.escapedKey(); },
  12() { probe.numberMethod(); },
  0x1f() { probe.hexMethod(); },
  async 'save/all'() { probe.asyncKey(); await null; },
  get 'total price'() { probe.getterKey(); return 1; },
  set 'total price'(value) { probe.setterKey(); },
};

export class Keyed {
  'todos/add'(state) { probe.classStringMethod(); return state; }

  static 'todos/all'() { probe.staticStringMethod(); }

  * 'todos/each'() { probe.generatorKey(); yield 1; }

  'on-click' = (event) => { probe.stringField(); return event; };

  static constructor() { probe.staticConstructor(); }
}

export class Quoted {
  'constructor'() { probe.stringConstructor(); }
}
