// SPDX-License-Identifier: Apache-2.0
/** npm packs of the packages for servers and frameworks only the files that they need, with types that an application can use. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { inside, install, pack } from './packed.mjs';
import { repository, run, temporaryDir } from './stack.mjs';

/** @type {Record<string, string[]>} */
const needed = {
  '@fleetprof/express': ['LICENSE', 'build.js', 'decision.js', 'fetch.js', 'node.js', 'package.json', 'register.js', ...['build', 'decision', 'fetch', 'node'].map((name) => `types/${name}.d.ts`)],
  '@fleetprof/vite': ['LICENSE', 'package.json', 'plugin.d.ts', 'plugin.js'],
};

for (const [name, files] of Object.entries(needed)) {
  test(`${name} has what it needs, and nothing else`, async () => assert.deepEqual((await pack(name)).files, files));
}

test('the types of @fleetprof/vite take right options, and refuse wrong ones', async () => {
  const dir = temporaryDir('types');
  await install(dir, ['fleetprof-agent', '@fleetprof/function-table', '@fleetprof/express', '@fleetprof/vite']);
  fs.writeFileSync(path.join(dir, 'package.json'), '{ "type": "module" }');
  const check = (/** @type {string} */ options) => {
    fs.writeFileSync(path.join(dir, 'vite.config.ts'), `import { defineConfig } from 'vite';
import fleetprof from '@fleetprof/vite';
export default defineConfig({ plugins: [fleetprof(${options})] });\n`);
    return run(inside(dir, process.execPath, path.join(repository, 'node_modules/typescript/bin/tsc'), 'vite.config.ts', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2022'));
  };
  const right = await check("{ site: 'shop', endpoint: '/v1/ingest/pk_shop', agent: { sampleInterval: 20 } }");
  assert.equal(right.code, 0, right.stdout);
  const wrong = await check("{ site: 'shop', rate: '1%' }");
  assert.match(wrong.stdout, /vite\.config\.ts\(3,.*error/);
});
