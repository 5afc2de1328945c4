const { probe } = globalThis;

export default class {
  inside() { probe.anonymousClass(); }
}
