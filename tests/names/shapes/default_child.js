import { Wide } from './classes.js';

const { probe } = globalThis;

export default class extends Wide {
  constructor() { super(); probe.defaultConstructor(); }
}
