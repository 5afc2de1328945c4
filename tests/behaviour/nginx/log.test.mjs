// SPDX-License-Identifier: Apache-2.0
/** The module's complaints, at most one per second, and its messages at debug level. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, test } from 'node:test';

import { pageWith } from '../headers/cases/words.mjs';
import { exchange, requestBytes, startUpstream } from '../headers/wire.mjs';
import { startModule } from './nginx.mjs';

/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;
/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let upstream;

before(async () => {
  upstream = await startUpstream(({ path }) => (path === '/good' ? pageWith('a') : pageWith('a,')));
  nginx = await startModule({
    conf: ({ port, dir }) => `map $arg_v $switch { default $arg_v; }
      server { listen 127.0.0.1:${port}; fleetprof on; fleetprof_sample 100%;
        location / { proxy_pass http://127.0.0.1:${upstream.port}; }
        location /rate { fleetprof_sample $switch; default_type text/html; return 200 x; }
        location /switch { fleetprof $switch; default_type text/html; return 200 x; }
        location /long { timing_allow_origin https://a.example; add_header Timing-Allow-Origin ${'x'.repeat(4090)};
          return 200 x; }
        location /debug { error_log ${dir}/debug.log debug; default_type text/html; return 200 x; } }`,
  });
});
after(async () => { upstream?.stop(); await nginx?.stop(); });

const complaints = () => nginx.errorLog().split('\n').filter((line) => line.includes('[error]'));
const ask = (/** @type {string} */ path) => exchange(nginx.port, requestBytes({ host: 'any', path }));

test('a hundred unparsable answers are one line a second', async () => {
  const started = Math.floor(Date.now() / 1000);
  for (let i = 0; i < 100; i++) await ask('/bad');
  const seconds = Math.floor(Date.now() / 1000) - started + 1;
  assert.ok(complaints().length >= 1 && complaints().length <= seconds + 1, complaints().join('\n'));
  assert.match(complaints()[0], /response header "Document-Policy" is not a structured-field dictionary, it is sent as it is/);
});

test('what is fine is not logged', async () => {
  const before_ = complaints().length;
  await ask('/good');
  assert.equal(complaints().length, before_);
});

/** Repeats the request until a complaint is logged: the second of the last one may not have passed. */
async function complaintAbout(/** @type {string} */ path, /** @type {RegExp} */ pattern) {
  const deadline = Date.now() + 5000;
  while (Date.now() < deadline) {
    await ask(path);
    if (complaints().some((line) => pattern.test(line))) return;
  }
  assert.fail(`${pattern} not in\n${complaints().join('\n')}`);
}

test('a bad rate is named', () => complaintAbout('/rate?v=7',
  /invalid rate "7" in "fleetprof_sample", nobody is sampled: it is not a rate; write a percentage/));
test('a bad switch is named', () => complaintAbout('/switch?v=maybe',
  /invalid value "maybe" of the variable in "fleetprof" taken as "off": it is neither "on" nor "off"/));
test('a list that grew too long is named', () => complaintAbout('/long',
  /response header "Timing-Allow-Origin" would have more than 32 lines or 4096 bytes, it is sent as it is/));

test('the debug log has the decision and what became of it', async () => {
  await ask('/debug');
  const log = fs.readFileSync(`${nginx.dir}/debug.log`, 'utf8');
  assert.match(log, /\[debug\] .* fleetprof decision: sampled, rate: 1000000ppm/);
  assert.match(log, /\[debug\] .* fleetprof header: sampled/);
});
