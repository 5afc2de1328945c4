// SPDX-License-Identifier: Apache-2.0
/** As many page loads are sampled as chance allows, by each child; a visitor as his key says, as on nginx. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { assertArms, assertChance, armOf, isSampled } from '../headers/chance.mjs';
import { ask } from '../headers/load.mjs';
import { withKeyFile } from '../headers/token.mjs';
import { long, makeFiles } from '../nginx/nginx.mjs';
import { waitFor } from '../stack.mjs';
import { startHttpd } from './httpd.mjs';

const requests = long ? 200_000 : 20_000;
const rates = [['percent', '1%', 1 / 100], ['fraction', '1/2000', 1 / 2000]];

const arms = withKeyFile('\nFleetProfSite shop\nFleetProfTokenKey KEY_FILE\nFleetProfArms chat=on:9,off:1');

const twoChildren = {
  event: 'ServerLimit 2\nThreadsPerChild 8\nMaxRequestWorkers 16\nMinSpareThreads 1\nMaxSpareThreads 16',
  prefork: 'ServerLimit 2\nMaxRequestWorkers 2\nMinSpareServers 1\nMaxSpareServers 2',
};

for (const [mpm, children] of Object.entries(twoChildren)) {
  describe(mpm, () => {
    /** @type {Awaited<ReturnType<typeof startHttpd>>} */
    let httpd;

    before(async () => {
      const root = makeFiles();
      httpd = await startHttpd({
        mpm,
        conf: ({ port, dir }) => `${children}
          MaxKeepAliveRequests 0
          LogFormat "%P %{FLEETPROF_SAMPLED}e" lots
          SetEnvIfExpr "%{QUERY_STRING} =~ /visitor=(.*)/" VISITOR=$1
          ${[...rates, ['half', '50%'], ['sticky', '1/20 key=%{reqenv:VISITOR}'],
            ['arms', `1/20${arms}`], ['sticky-arms', `1/20${arms} key=%{reqenv:VISITOR}`]].map(([name, rate]) => `<VirtualHost 127.0.0.1:${port}>
            ServerName ${name}\nDocumentRoot ${root}\nFleetProf on\nFleetProfSample ${rate}
            CustomLog ${dir}/${name}.log lots\n</VirtualHost>`).join('\n')}`,
      });
    });
    after(() => httpd?.stop());

    /** Asks, and reads from the log which child drew what. */
    async function draw(/** @type {string} */ host, count = requests) {
      const log = `${httpd.dir}/${host}.log`;
      fs.writeFileSync(log, '');
      await ask(httpd.port, host, Array.from({ length: count }, () => '/page.html'));
      const lines = await waitFor(() => {
        const read = fs.readFileSync(log, 'utf8').split('\n').slice(0, -1);
        return read.length === count && read;
      }, { what: 'log of every request' });
      return lines.map((line) => ({ worker: line.split(' ')[0], yes: line.endsWith(' 1') }));
    }

    // Before anything else: children that shared a seed would now be at the same place.
    test('the children do not draw the same numbers', async () => {
      /** @type {Map<string, string>} what each drew */
      const children = new Map();
      const enough = () => [...children.values()].filter((lots) => lots.length >= 500);
      // A child may take nearly all requests of a draw.
      for (let i = 0; i < 10 && enough().length < 2; i++) {
        for (const { worker, yes } of await draw('half', 8000)) children.set(worker, (children.get(worker) ?? '') + Number(yes));
      }
      assert.ok(enough().length >= 2);
      const [one, other] = enough().map((lots) => lots.slice(0, 500));
      assert.notEqual(one, other);
    });

    for (const [name, , rate] of rates) {
      test(`chance hits the rate: ${name}`, () => assertChance(() => draw(String(name)), Number(rate)));
    }

    test('visitors are hit as their keys say, each of them always or never', async () => {
      const visitors = Array.from({ length: 5000 }, (_, i) => String(i));
      const lots = await ask(httpd.port, 'sticky', visitors.map((visitor) => `/page.html?visitor=${visitor}`));
      assert.deepEqual(lots.map(({ yes }) => yes), visitors.map((visitor) => isSampled(visitor, 50_000)));
    });

    test('arms are drawn by weight, whoever is sampled', async () => {
      const paths = Array.from({ length: long ? 100_000 : 20_000 }, () => '/page.html');
      await assertArms(() => ask(httpd.port, 'arms', paths), 1 / 20);
    });

    test('visitors get the arms that their keys say, as on nginx', async () => {
      const visitors = Array.from({ length: 2000 }, (_, i) => String(i));
      const lots = await ask(httpd.port, 'sticky-arms', visitors.map((visitor) => `/page.html?visitor=${visitor}`));
      assert.deepEqual(lots.map(({ arm }) => arm), visitors.map((visitor) => ['on', 'off'][armOf('chat', [9, 1], visitor)]));
    });
  });
}
