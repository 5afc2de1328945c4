// SPDX-License-Identifier: Apache-2.0
/** Every fuzzer is built, by Meson and for ClusterFuzzLite. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { repository, runOrThrow, temporaryDir } from './stack.mjs';

/** The fuzzers by their sources, as paths without the ending. */
const fuzzers = fs.readdirSync(path.join(repository, 'tests/fuzz'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('_fuzz.c')).map((name) => `tests/fuzz/${name.slice(0, -2)}`).sort();

test('Meson knows each fuzzer, and each has seeds', () => {
  const read = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, name), 'utf8');
  assert.ok(fuzzers.length >= 16);
  for (const fuzzer of fuzzers) {
    const [, room, name] = /([^/]+)\/([^/]+)_fuzz$/.exec(fuzzer) ?? [];
    assert.ok(read('tests/fuzz/meson.build').includes(`subdir('${room}')`), fuzzer);
    assert.match(read(`tests/fuzz/${room}/meson.build`), new RegExp(`'${name}(_fuzz)?'`), fuzzer);
    assert.ok(fs.readdirSync(path.join(repository, `tests/fuzz/${room}/${name}_seeds`)).length > 0, fuzzer);
  }
});

test('ClusterFuzzLite gets each fuzzer, and they run with what lies beside them', { skip: process.env.FLEETPROF_LONG !== '1' && 'FLEETPROF_LONG=1' }, async () => {
  const out = temporaryDir('fuzz');
  fs.symlinkSync(repository, path.join(out, 'fleetprof'));
  const flags = '-O1 -gline-tables-only -fsanitize=address -fsanitize-address-use-after-scope -fsanitize=fuzzer-no-link';
  await runOrThrow([path.join(repository, '.clusterfuzzlite/build.sh')], { env: {
    SRC: out, WORK: `${out}/work`, OUT: `${out}/out`, SANITIZER: 'address', LIB_FUZZING_ENGINE: '-fsanitize=fuzzer', CC: 'clang-19', CFLAGS: flags,
  } });
  const files = new Set(fs.readdirSync(path.join(out, 'out')));
  for (const fuzzer of fuzzers) {
    const name = path.basename(fuzzer);
    assert.ok(files.has(name) && files.has(`${name}_seed_corpus.zip`), name);
    for (const kind of ['dict', 'options']) assert.equal(files.has(`${name}.${kind}`), fs.existsSync(path.join(repository, `${fuzzer.replace(/_fuzz$/, '')}.${kind}`)), `${name}.${kind}`);
    await runOrThrow([path.join(out, 'out', name), '-runs=100']);
    const libraries = await runOrThrow(['ldd', path.join(out, 'out', name)]);
    assert.doesNotMatch(libraries, /not found|=> \/(usr\/)?lib.*\/lib(yyjson|xxhash|zstd|deflate)/);
  }
});
