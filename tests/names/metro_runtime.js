// SPDX-License-Identifier: Apache-2.0
/** Runs the modules of a bundle of Metro, as far as these need it. */
const modules = new Map();

const metroRequire = (id) => {
  const { factory, dependencies, module } = modules.get(id);
  if (!module.isLoaded) {
    module.isLoaded = true;
    factory(globalThis, metroRequire, (from) => (metroRequire(from).__esModule ? metroRequire(from).default : metroRequire(from)), metroRequire, module, module.exports, dependencies);
  }
  return module.exports;
};

globalThis.__d = (factory, id, dependencies) => modules.set(id, { factory, dependencies, module: { exports: {} } });
globalThis.__r = metroRequire;
