// SPDX-License-Identifier: Apache-2.0
/** The bill of materials has what Meson and npm bring, tells what is shipped from what builds and tests it, and is reproducible. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { repository, version } from './stack.mjs';

const print = () => execFileSync(process.execPath, [path.join(repository, 'tools/sbom.mjs')], { encoding: 'utf8', maxBuffer: 1 << 24 });
const text = print();
const bill = JSON.parse(text);

/** @typedef {{ 'bom-ref': string, name: string, version: string, scope: string, purl: string, licenses?: any[], hashes?: { alg: string, content: string }[] }} Component */
/** @type {Map<string, Component>} */
const components = new Map(bill.components.map((/** @type {Component} */ component) => [component['bom-ref'], component]));

test('is CycloneDX: every reference is of one component, and leads to one', () => {
  assert.equal(bill.bomFormat, 'CycloneDX');
  assert.equal(bill.specVersion, '1.5');
  assert.equal(bill.metadata.component.version, version);
  assert.equal(components.size, bill.components.length);
  for (const { ref, dependsOn } of bill.dependencies) {
    assert.equal(ref, bill.metadata.component['bom-ref']);
    for (const other of dependsOn) assert.ok(components.has(other), other);
  }
  for (const { name, version: of, purl, licenses = [], hashes = [] } of components.values()) {
    assert.match(of, /^\d/, name);
    assert.match(purl, /^pkg:(generic|npm)\/[\w.%-]+(\/[\w.-]+)?@[\w.+-]+$/);
    for (const entry of licenses) assert.ok(entry.expression || /^[\w.+-]+$/.test(entry.license.id), name);
    for (const { alg, content } of hashes) assert.match(`${alg} ${content}`, /^(SHA-1 [0-9a-f]{40}|SHA-512 [0-9a-f]{128})$/, name);
  }
});

test('has each dependency of each meson.build, and tells programs from tests', () => {
  const rooms = ['header_policy', 'page_token', 'collector', 'cli', 'ngx_module', 'apache_module', 'tests'];
  const files = ['meson.build', ...rooms.flatMap((room) => fs.readdirSync(path.join(repository, room), { recursive: true, encoding: 'utf8' })
    .filter((name) => path.basename(name) === 'meson.build').map((name) => path.join(room, name)))];
  let found = 0;
  for (const file of files) {
    for (const [, name] of fs.readFileSync(path.join(repository, file), 'utf8').matchAll(/\bdependency\('([\w.-]+)'/g)) {
      if (name === 'threads') continue;
      found += 1;
      assert.equal(components.get(`meson:${name}`)?.scope, file.startsWith('tests/') ? 'excluded' : 'required', `${name} of ${file}`);
    }
  }
  assert.ok(found > 15);
});

test('has each package of package-lock.json', () => {
  const { packages } = JSON.parse(fs.readFileSync(path.join(repository, 'package-lock.json'), 'utf8'));
  const places = Object.keys(packages).filter((place) => place !== '');
  assert.ok(places.length > 300);
  assert.deepEqual([...components.keys()].filter((ref) => ref.startsWith('npm:')).sort(), places.map((place) => `npm:${place}`).sort());
});

test('what is bundled and what function_table needs is shipped; what builds and tests it is not', () => {
  const shipped = (/** @type {string} */ name) => components.get(`npm:node_modules/${name}`)?.scope === 'required';
  for (const name of ['web-vitals', '@jridgewell/trace-mapping', '@jridgewell/resolve-uri', '@lezer/javascript', '@lezer/lr']) assert.ok(shipped(name), name);
  for (const name of ['esbuild', 'playwright-core', 'pg', 'typescript', 'react']) assert.ok(!shipped(name), name);
  assert.equal(components.get('vendor:mustache')?.scope, 'required');
});

test('the same tree gives the same bytes', () => assert.equal(print(), text));
