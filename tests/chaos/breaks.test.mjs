/**
 * The conservation test turns red for a collector that breaks a promise: each patch in breaks/ is built
 * from a copy of the tree and tested. Takes minutes: only with FLEETPROF_LONG.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { binDir, repository, run, runOrThrow, temporaryDir } from '../behaviour/stack.mjs';

const breaksDir = path.join(repository, 'tests/chaos/breaks');
const leftOut = new Set(['.git', 'build', 'node_modules', 'var'].map((name) => path.join(repository, name)));
const skip = process.env.FLEETPROF_LONG === '1' ? false : 'a long test';

/** Builds a collector with the patch in it; the folder to take for build/. @param {string} patch */
async function buildBroken(patch) {
  const dir = temporaryDir('broken');
  const [source, tree, bin] = ['source', 'tree', 'bin'].map((name) => path.join(dir, name));
  fs.cpSync(repository, source, { recursive: true, filter: (file) => !leftOut.has(path.resolve(file)) });
  await runOrThrow(['patch', '-p1', '-d', source, '-i', patch]);
  await runOrThrow(['meson', 'setup', tree, source, '--buildtype', 'debugoptimized']);
  await runOrThrow(['ninja', '-C', tree, '-j', '2', 'collector/fleetprofd']);
  fs.mkdirSync(bin);
  fs.symlinkSync(path.join(tree, 'collector/fleetprofd'), path.join(bin, 'fleetprofd'));
  fs.symlinkSync(path.join(binDir, 'fleetprof'), path.join(bin, 'fleetprof'));
  return dir;
}

for (const name of fs.readdirSync(breaksDir)) {
  test(`the conservation test is red: ${path.basename(name, '.patch').replaceAll('_', ' ')}`, { skip }, async (t) => {
    const { code, stdout } = await run(
      [process.execPath, '--test', '--test-reporter=tap', path.join(repository, 'tests/chaos/conservation.test.mjs')],
      { env: {
        FLEETPROF_BUILD: await buildBroken(path.join(breaksDir, name)),
        FLEETPROF_CHAOS_SEED: '1',
        FLEETPROF_CHAOS_FAULTS: '60',
        NODE_TEST_CONTEXT: undefined,
      } });
    t.diagnostic(/\d+ differences/.exec(stdout)?.[0] ?? 'no differences');
    assert.notEqual(code, 0);
    assert.match(stdout, /uploads: .*promised.*in SQL/);
  });
}
