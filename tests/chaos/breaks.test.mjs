// SPDX-License-Identifier: Apache-2.0
/**
 * The conservation test turns red for a collector that breaks a promise: each patch in breaks/ is built
 * and tested. Takes minutes: only with FLEETPROF_LONG.
 */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { binDir, repository, run, runOrThrow, temporaryDir } from '../behaviour/stack.mjs';

const breaksDir = path.join(repository, 'tests/chaos/breaks');
const leftOut = new Set(['.git', 'build', 'node_modules', 'var'].map((name) => path.join(repository, name)));
const skip = process.env.FLEETPROF_LONG === '1' ? false : 'a long test';

/**
 * A copy of the tree and a build of it, which all patches share: each compiles only what it touches.
 * @type {Promise<{ source: string, tree: string }> | undefined}
 */
let copied;

/** @param {string} tree */
const buildCollector = (tree) => runOrThrow(['ninja', '-C', tree, '-j', '2', 'collector/fleetprofd']);

async function copyTree() {
  const [source, tree] = ['source', 'tree'].map((name) => path.join(temporaryDir(`broken-${name}`), name));
  fs.cpSync(repository, source, { recursive: true, filter: (file) => !leftOut.has(path.resolve(file)) });
  await runOrThrow(['meson', 'setup', tree, source, '--buildtype', 'debugoptimized']);
  await buildCollector(tree);
  return { source, tree };
}

/** Builds a collector with the patch in it; the folder to take for build/. @param {string} patch */
async function buildBroken(patch) {
  copied ??= copyTree();
  const { source, tree } = await copied;
  const collector = path.join(tree, 'collector/fleetprofd');
  const dir = temporaryDir('broken');
  const bin = path.join(dir, 'bin');
  fs.mkdirSync(bin);
  const whole = fs.readFileSync(collector);
  await runOrThrow(['patch', '-p1', '-d', source, '-i', patch]);
  try {
    await buildCollector(tree);
    fs.copyFileSync(collector, path.join(bin, 'fleetprofd'));
  } finally {
    await runOrThrow(['patch', '-R', '-p1', '-d', source, '-i', patch]);
  }
  assert.ok(!whole.equals(fs.readFileSync(collector)), 'the patch is not in the program');
  fs.symlinkSync(path.join(binDir, 'fleetprof'), path.join(bin, 'fleetprof'));
  return dir;
}

/** Whether a kill falls into the gap that a break opens is also chance: these are tried until one shows it. */
const seeds = [1, 2, 3];

/** Runs the conservation test with a collector. @param {string} build @param {number} seed */
const conserve = (build, seed) => run(
  [process.execPath, '--test', '--test-reporter=tap', path.join(repository, 'tests/chaos/conservation.test.mjs')],
  { env: {
    FLEETPROF_BUILD: build,
    FLEETPROF_CHAOS_SEED: String(seed),
    FLEETPROF_CHAOS_FAULTS: '60',
    NODE_TEST_CONTEXT: undefined,
  } });

test('each broken build is a patch that still applies', async () => {
  for (const name of fs.readdirSync(breaksDir))
    await runOrThrow(['patch', '--dry-run', '-p1', '-d', repository, '-i', path.join(breaksDir, name)]);
});

for (const name of fs.readdirSync(breaksDir)) {
  test(`the conservation test is red: ${path.basename(name, '.patch').replaceAll('_', ' ')}`, { skip }, async (t) => {
    const build = await buildBroken(path.join(breaksDir, name));
    let outcome = await conserve(build, seeds[0]);
    for (const seed of seeds.slice(1)) if (outcome.code === 0) outcome = await conserve(build, seed);
    t.diagnostic(/\d+ differences/.exec(outcome.stdout)?.[0] ?? 'no differences');
    assert.notEqual(outcome.code, 0);
    assert.match(outcome.stdout, /^\s*([a-z ]+: .*promised.*in SQL|snapshot: |hours: )/m);
  });
}
