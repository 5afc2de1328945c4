const { probe } = globalThis;

export class Basket {
  #size;

  constructor(size) { probe.constructor1(); this.#size = size; }

  static parse(text) { probe.staticMethod(); return text; }

  refresh() { probe.classMethod(); }

  get price() { probe.classGetter(); return this.#size; }

  field = (value) => { probe.fieldArrow(); return value; };

  #hidden() { probe.privateMethod(); }

  reveal() { this.#hidden(); }

  async load() { probe.asyncMethod(); await null; }
}

export class Wide {
  prices = probe.initializer();
}

export class Child extends Wide {
  constructor() { super(); probe.childConstructor(); }
}

export const Named = class {
  named() { probe.classExpression(); }
};
