// SPDX-License-Identifier: Apache-2.0
/** The module's complaints, at most one per second, and its messages at debug level. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { pageWith } from '../headers/cases/words.mjs';
import { withKeyFile } from '../headers/token.mjs';
import { exchange, requestBytes, startUpstream } from '../headers/wire.mjs';
import { startHttpd } from './httpd.mjs';

/** @type {Awaited<ReturnType<typeof startHttpd>>} */
let httpd;
/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let upstream;

before(async () => {
  upstream = await startUpstream(({ path }) => pageWith(path === '/bad' ? 'a,' : 'a'));
  httpd = await startHttpd({
    modules: ['filter'],
    // One child: each has a second of its own.
    conf: () => `StartServers 1
      ServerLimit 1
      ThreadsPerChild 4
      MaxRequestWorkers 4
      FleetProf on
      FleetProfSample 100%
      ProxyPass / http://127.0.0.1:${upstream.port}/
      <Location /trace>\nLogLevel fleetprof:trace1\n</Location>
      <Location /rate>\nFleetProfSample expr=%{QUERY_STRING}\n</Location>
      <Location /site>\n${withKeyFile('FleetProfTokenKey KEY_FILE')}\nHeader unset Document-Policy\n</Location>
      <Location /long>\nTimingAllowOrigin https://a.example
      Header set Timing-Allow-Origin ${'x'.repeat(4090)}\n</Location>`,
  });
});
after(async () => { upstream?.stop(); await httpd?.stop(); });

const complaints = () => httpd.errorLog().split('\n').filter((line) => line.includes('[fleetprof:error]'));
const ask = (/** @type {string} */ path) => exchange(httpd.port, requestBytes({ host: 'any', path }));

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

test('a bad rate is named', () => complaintAbout('/rate?7',
  /invalid rate "7" in "FleetProfSample", nobody is sampled: it is not a rate; write a percentage/));
test('a key without a site is named', () => complaintAbout('/site',
  /no token for a sampled page, "FleetProfTokenKey" also needs "FleetProfSite"/));
test('a list that grew too long is named', () => complaintAbout('/long',
  /response header "Timing-Allow-Origin" would have more than 32 lines or 4096 bytes, it is sent as it is/));

test('the trace has the decision and what became of it', async () => {
  await ask('/trace');
  assert.match(httpd.errorLog(), /\[fleetprof:trace1\] .* decision: sampled, rate: 1000000 ppm/);
  assert.match(httpd.errorLog(), /\[fleetprof:trace1\] .* header: sampled/);
});

test('a rate that is missing where sections are merged is named', async () => {
  const other = await startHttpd({ conf: () => 'DocumentRoot /dev\n<Location />\nFleetProf on\n</Location>' });
  await exchange(other.port, requestBytes({ host: 'any', path: '/null' }));
  await other.stop();
  assert.match(other.errorLog(), new RegExp('\\[fleetprof:error\\] .*"FleetProf" is on but there is no "FleetProfSample", '
    + 'nobody is sampled: write for example "FleetProfSample 1%"'));
});
