// SPDX-License-Identifier: Apache-2.0
/** As many page loads are sampled as chance allows, by each worker; a visitor always or never. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { assertArms, assertChance, armOf, isSampled } from '../headers/chance.mjs';
import { withKeyFile } from '../headers/token.mjs';
import { ask } from '../headers/load.mjs';
import { long, makeFiles, startModule } from './nginx.mjs';

const requests = long ? 200_000 : 20_000;
const arms = withKeyFile('fleetprof_site shop; fleetprof_token_key KEY_FILE; fleetprof_arms chat=on:9,off:1');
const rates = [['percent', '1%', 1 / 100], ['fraction', '1/2000', 1 / 2000]];

/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;

before(async () => {
  const root = makeFiles();
  nginx = await startModule({
    main: 'worker_processes 2;',
    conf: ({ port }) => `keepalive_requests 100000; add_header X-Worker $pid;
      ${[...rates, ['sticky', '1/20 key=$arg_visitor'],
        ['arms', `1/20; ${arms}`], ['sticky-arms', `1/20; ${arms} key=$arg_visitor`]].map(([name, rate]) => `
        server { listen 127.0.0.1:${port} ${name === 'percent' ? 'reuseport' : ''}; server_name ${name}; root ${root};
          fleetprof on; fleetprof_sample ${rate}; }`).join('')}`,
  });
});
after(() => nginx?.stop());

for (const [name, , rate] of rates) {
  test(`chance hits the rate: ${name}`, async () => {
    const paths = Array.from({ length: requests }, () => '/page.html');
    await assertChance(() => ask(nginx.port, String(name), paths), Number(rate));
  });
}

test('visitors are hit as their keys say, each of them always or never', async () => {
  const visitors = Array.from({ length: 5000 }, (_, i) => String(i));
  const lots = await ask(nginx.port, 'sticky', visitors.map((visitor) => `/page.html?visitor=${visitor}`));
  assert.deepEqual(lots.map(({ yes }) => yes), visitors.map((visitor) => isSampled(visitor, 50_000)));
});

test('arms are drawn by weight, whoever is sampled', async () => {
  const paths = Array.from({ length: long ? 100_000 : 20_000 }, () => '/page.html');
  await assertArms(() => ask(nginx.port, 'arms', paths), 1 / 20);
});

test('visitors get the arms that their keys say', async () => {
  const visitors = Array.from({ length: 2000 }, (_, i) => String(i));
  const lots = await ask(nginx.port, 'sticky-arms', visitors.map((visitor) => `/page.html?visitor=${visitor}`));
  assert.deepEqual(lots.map(({ arm }) => arm), visitors.map((visitor) => ['on', 'off'][armOf('chat', [9, 1], visitor)]));
});
