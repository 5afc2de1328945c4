// SPDX-License-Identifier: Apache-2.0
/**
 * Builds failing_memory.c, and says how a program is run with it.
 */
import fs from 'node:fs';
import path from 'node:path';

import { repository, runOrThrow } from './stack.mjs';

/**
 * @param {string} dir to build it in
 * @returns {Promise<NodeJS.ProcessEnv>} for the program
 */
export async function failingMemory(dir) {
  const library = path.join(dir, 'failing_memory.so');
  const suppressions = path.join(dir, 'suppressions');
  await runOrThrow(['cc', '-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror', '-shared', '-fPIC', '-o', library,
    path.join(repository, 'tests/behaviour/failing_memory.c')]);
  // Leaks of glibc and OpenSSL when they get no memory at their start.
  fs.writeFileSync(suppressions, 'leak:setlocale\nleak:OPENSSL_init_crypto\nleak:OPENSSL_init_ssl\n');
  return {
    LD_PRELOAD: library,
    // Our allocator is loaded before the sanitizer's, and calls it.
    ASAN_OPTIONS: [process.env.ASAN_OPTIONS, 'verify_asan_link_order=0', 'fast_unwind_on_malloc=0'].filter(Boolean).join(':'),
    LSAN_OPTIONS: `suppressions=${suppressions}:print_suppressions=0`,
  };
}

/** From now on, one allocation in so many fails; 0: none. @param {string} control the program's FLEETPROF_FAIL_ONE_IN @param {number} each */
export function failOneIn(control, each) {
  const file = fs.openSync(control, fs.existsSync(control) ? 'r+' : 'w');
  fs.writeSync(file, BigUint64Array.of(BigInt(each)), 0, 8, 0);
  fs.closeSync(file);
}
