/** 20,000 page loads at 1/20: as many are sampled as chance allows. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { after, before, test } from 'node:test';

import { no, yes } from '../headers/cases/words.mjs';
import { makeFiles, startModule } from './nginx.mjs';

const requests = 20_000;
const connections = 4;
const rate = 1 / 20;

/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;

before(async () => {
  nginx = await startModule({
    conf: ({ port }) => `keepalive_requests 100000;
      server { listen 127.0.0.1:${port}; root ${makeFiles()}; fleetprof on; fleetprof_sample 1/20; }
      server { listen 127.0.0.1:${port}; server_name sticky; root ${makeFiles()};
        fleetprof on; fleetprof_sample 1/20 key=$arg_visitor; }`,
  });
});
after(() => nginx?.stop());

/** HEAD requests in one go on one connection; how many answers said yes, in order. */
async function saysYes(/** @type {string} */ host, /** @type {string[]} */ paths) {
  const socket = net.connect(nginx.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => { text += chunk; });
  socket.write(paths.map((path, i) => `HEAD ${path} HTTP/1.1\r\nHost: ${host}\r\n${
    i === paths.length - 1 ? 'Connection: close\r\n' : ''}\r\n`).join(''));
  await once(socket, 'close');
  const said = [...text.matchAll(/^document-policy: (.*)\r$/gim)].map(([, value]) => value);
  assert.equal(said.length, paths.length);
  assert.ok(said.every((value) => value === yes || value === no));
  return said.map((value) => value === yes);
}

/** 99.9 % of a binomial distribution lie within 3.29 standard deviations of its mean. */
function assertBinomial(/** @type {number} */ hits, /** @type {number} */ trials) {
  const distance = Math.abs(hits - trials * rate) / Math.sqrt(trials * rate * (1 - rate));
  assert.ok(distance <= 3.29, `${hits} of ${trials} are ${distance.toFixed(2)} standard deviations off`);
}

const count = (/** @type {boolean[]} */ answers) => answers.filter(Boolean).length;

test('chance hits the rate', async () => {
  const paths = Array.from({ length: requests / connections }, () => '/page.html');
  const answers = await Promise.all(Array.from({ length: connections }, () => saysYes('any', paths)));
  assertBinomial(count(answers.flat()), requests);
});

test('visitors are hit at the rate, and each of them always or never', async () => {
  const paths = Array.from({ length: 5000 }, (_, i) => `/page.html?visitor=${i}`);
  const [first, second] = await Promise.all([saysYes('sticky', paths), saysYes('sticky', paths)]);
  assertBinomial(count(first), paths.length);
  assert.deepEqual(first, second);
});
