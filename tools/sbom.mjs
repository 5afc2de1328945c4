// SPDX-License-Identifier: Apache-2.0
/**
 * Prints what fleetprof consists of as a software bill of materials, CycloneDX 1.5 in JSON.
 *
 *     node tools/sbom.mjs >fleetprof.cdx.json     needs build/trees/plain: tools/build plain
 *
 * C libraries are Meson's dependencies, in the versions of the machine that configured the build. JavaScript packages are
 * those of package-lock.json. Scope "required" is what programs link, what bundles contain, and what the package
 * function_table brings along; scope "excluded" is for building and testing alone. The same tree and build give the same
 * bytes, so there is no time and no serial number.
 */
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/**
 * @typedef {object} Component
 * @property {'library' | 'application'} type
 * @property {string} bom-ref
 * @property {string} name
 * @property {string} version
 * @property {'required' | 'excluded'} [scope]
 * @property {string} purl
 * @property {object[]} [licenses]
 * @property {object[]} [hashes]
 */

/** @param {string} name */
const read = (name) => fs.readFileSync(path.join(root, name), 'utf8');

/** Lists files below a folder of the tree. @param {string} folder @param {RegExp} pattern @returns {string[]} */
const filesIn = (folder, pattern) => fs.readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
  .filter((name) => pattern.test(name)).map((name) => path.posix.join(folder, name));

/** Returns a licence as CycloneDX has it: one identifier, or an expression. @param {string} [license] */
function licensesOf(license) {
  if (!license) return {};
  return { licenses: [/ (AND|OR|WITH) /.test(license) ? { expression: license } : { license: { id: license } }] };
}

/** Returns the names that the programs' own meson.build files ask for, without those of the tests. */
function programDependencies() {
  const rooms = ['header_policy', 'page_token', 'collector', 'cli', 'ngx_module', 'apache_module'];
  const files = ['meson.build', ...rooms.flatMap((room) => filesIn(room, /(^|\/)meson\.build$/))];
  return new Set(files.flatMap((file) => [...read(file).matchAll(/\bdependency\('([^']+)'/g)].map(([, name]) => name)));
}

/** @returns {Component[]} */
function cLibraries() {
  const linked = programDependencies();
  /** @type {{ name: string, version: string }[]} */
  const found = JSON.parse(read('build/trees/plain/meson-info/intro-dependencies.json'));
  return found.filter(({ name }) => name !== 'threads').map(({ name, version }) => ({
    type: 'library',
    'bom-ref': `meson:${name}`,
    name,
    version,
    scope: linked.has(name) ? 'required' : 'excluded',
    purl: `pkg:generic/${name}@${version}`,
  }));
}

/** Returns the npm packages that the agent's and the report's sources import, and those that function_table needs. */
function shippedPackages() {
  const sources = ['agent/src', 'report/src'].flatMap((folder) => filesIn(folder, /\.js$/)).map(read);
  const imported = sources.flatMap((text) => [...text.matchAll(/^(?:import|export|\}).* from '(@[^/']+\/[^/']+|[^./@'][^/']*)/gm)].map(([, name]) => name));
  return [...imported, ...Object.keys(JSON.parse(read('function_table/package.json')).dependencies)];
}

/** Returns the places in the lock file of packages and of all that they need. @param {Record<string, any>} packages @param {string[]} names */
function closure(packages, names) {
  /** @type {Set<string>} */
  const places = new Set();
  const waiting = names.map((name) => ({ name, from: '' }));
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { name, from } = next;
    // As node looks for a package: beside the one that needs it, then further up.
    let folder = from;
    while (folder && !packages[`${folder}/node_modules/${name}`]) folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')));
    const place = folder ? `${folder}/node_modules/${name}` : `node_modules/${name}`;
    if (!packages[place]) throw new Error(`package-lock.json has no ${name}, which ${from || 'a source'} needs`);
    if (places.has(place)) continue;
    places.add(place);
    waiting.push(...Object.keys(packages[place].dependencies ?? {}).map((needed) => ({ name: needed, from: place })));
  }
  return places;
}

/** @returns {Component[]} */
function npmPackages() {
  const { packages } = JSON.parse(read('package-lock.json'));
  const shipped = closure(packages, shippedPackages());
  return Object.entries(packages).filter(([place]) => place !== '').map(([place, { version, license, integrity }]) => {
    const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const [algorithm, digest] = integrity?.split('-') ?? [];
    return {
      type: 'library',
      'bom-ref': `npm:${place}`,
      name,
      version,
      scope: shipped.has(place) ? 'required' : 'excluded',
      purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
      ...licensesOf(license),
      ...digest && { hashes: [{ alg: algorithm.replace('sha', 'SHA-'), content: Buffer.from(digest, 'base64').toString('hex') }] },
    };
  });
}

/** The components that are copies in the tree. @returns {Component[]} */
function vendored() {
  const version = /is version ([\d.]+) of the npm package `mustache`/.exec(read('demo/vendor/README.md'))?.[1];
  if (!version) throw new Error('demo/vendor/README.md does not say the version of mustache');
  return [{ type: 'library', 'bom-ref': 'vendor:mustache', name: 'mustache', version, scope: 'required', purl: `pkg:npm/mustache@${version}`, ...licensesOf('MIT') }];
}

function bill() {
  const version = read('VERSION').trim();
  /** @type {Component} */
  const component = { type: 'application', 'bom-ref': 'fleetprof', name: 'fleetprof', version, purl: `pkg:generic/fleetprof@${version}`, ...licensesOf('Apache-2.0') };
  const components = [...cLibraries(), ...npmPackages(), ...vendored()];
  const required = components.filter(({ scope }) => scope === 'required').map((part) => part['bom-ref']);
  return {
    bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component }, components,
    dependencies: [{ ref: component['bom-ref'], dependsOn: required }],
  };
}

try {
  console.log(JSON.stringify(bill(), undefined, 2));
} catch (error) {
  console.error(`tools/sbom: ${/** @type {Error} */ (error).message}`);
  process.exitCode = 1;
}
