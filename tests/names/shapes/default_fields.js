import * as classes from './classes.js';

const { probe } = globalThis;

export default class /* of a namespace */ extends classes.Wide {
  static list = probe.defaultStatic();

  costs = probe.defaultInitializer();
}
