// SPDX-License-Identifier: Apache-2.0
/** tools/spdx finds sources without their licence's line, and adds it where nothing else moves. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { repository, run, temporaryDir } from './stack.mjs';

const tag = 'SPDX-License-Identifier: Apache-2.0';

/** Sources, and what they are with the line. @type {Record<string, [string, string]>} */
const sources = {
  'collector/sum.c': ['/*\n * Adds.\n */\nint x;\n', `/* ${tag} */\n/*\n * Adds.\n */\nint x;\n`],
  'collector/sum.h': ['', `/* ${tag} */\n`],
  'report/src/page.css': ['a { }\n', `/* ${tag} */\na { }\n`],
  'agent/src/agent.js': ['/** Profiles. */\n', `// ${tag}\n/** Profiles. */\n`],
  'tests/behaviour/a.test.mjs': ['x;\n', `// ${tag}\nx;\n`],
  'tests/site/app/a.jsx': ['x;\n', `// ${tag}\nx;\n`],
  'agent/fleetprof.d.ts': ['x;\n', `// ${tag}\nx;\n`],
  'function_table/src/cli.js': ['#!/usr/bin/env node\nx;\n', `#!/usr/bin/env node\n// ${tag}\nx;\n`],
  'schema/functions/sum.sql': ['select 1;\n', `-- ${tag}\nselect 1;\n`],
  'tests/schema/facts.inc': ['select 1;\n', `-- ${tag}\nselect 1;\n`],
  'meson.build': ["project('p')\n", `# ${tag}\nproject('p')\n`],
  'meson_options.txt': ['option()\n', `# ${tag}\noption()\n`],
  'tools/add': ['#!/bin/sh\n# Adds.\n#   add A B\nsed -n 2,3p "$0"\n', `#!/bin/sh\n# Adds.\n#   add A B\n# ${tag}\nsed -n 2,3p "$0"\n`],
  'tests/lines.sh': ['x\n', `# ${tag}\nx\n`],
  'docker/a.Dockerfile': ['FROM debian\n', `# ${tag}\nFROM debian\n`],
  '.clusterfuzzlite/Dockerfile': ['# Builds.\nFROM debian\n', `# Builds.\n# ${tag}\nFROM debian\n`],
};

/** Files without a line of their own. */
const others = ['schema/tables/0001_storage.sql', 'agent/dist/fleetprof.js', 'demo/vendor/mustache.js', 'tests/data/a.js',
  'tests/names/shapes/a.js', 'tests/fuzz/http/http_seeds/a.c', 'README.md', 'config/fleetprof.yaml', 'package.json'];

/** @param {string} folder @param {string[]} options */
const spdx = (folder, ...options) => run(['bash', '-c', `cd ${folder} && find . -type f | sort | ${repository}/tools/spdx "$@"`, 'spdx', ...options]);

test('names each kind of source without the line, and nothing else; --add gives it to them', async () => {
  const folder = temporaryDir('spdx');
  for (const name of [...Object.keys(sources), ...others]) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), sources[name]?.[0] ?? 'x\n');
  }
  const { code, stdout, stderr } = await spdx(folder);
  assert.equal(code, 1);
  assert.equal(stderr, '');
  assert.deepEqual(stdout.trim().split('\n').map((line) => line.split(':')[0]).sort(), Object.keys(sources).sort());

  assert.deepEqual(await spdx(folder, '--add'), { code: 0, stdout: '', stderr: '' });
  for (const [name, [, expected]] of Object.entries(sources)) assert.equal(fs.readFileSync(path.join(folder, name), 'utf8'), expected, name);
  for (const name of others) assert.equal(fs.readFileSync(path.join(folder, name), 'utf8'), 'x\n', name);
  assert.deepEqual(await spdx(folder), { code: 0, stdout: '', stderr: '' });
  await spdx(folder, '--add');
  assert.equal(fs.readFileSync(path.join(folder, 'meson.build'), 'utf8'), sources['meson.build'][1], 'once is enough');
});

test('fails where it finds no sources at all', async () => {
  const { code, stderr } = await spdx(temporaryDir('spdx'));
  assert.notEqual(code, 0);
  assert.match(stderr, /no sources/);
});
