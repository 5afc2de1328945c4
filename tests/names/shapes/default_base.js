const { probe } = globalThis;

export default class {
  constructor() { probe.defaultBase(); }

  other() { probe.defaultMethod(); }
}
