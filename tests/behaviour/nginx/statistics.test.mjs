/** As many page loads are sampled as chance allows, by each worker; a visitor always or never. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ask } from './load.mjs';
import { long, makeFiles, startModule } from './nginx.mjs';

const requests = long ? 200_000 : 20_000;
const rates = [['percent', '1%', 1 / 100], ['fraction', '1/2000', 1 / 2000]];

/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;

before(async () => {
  const root = makeFiles();
  nginx = await startModule({
    main: 'worker_processes 2;',
    conf: ({ port }) => `keepalive_requests 100000; add_header X-Worker $pid;
      ${[...rates, ['sticky', '1/20 key=$arg_visitor']].map(([name, rate]) => `
        server { listen 127.0.0.1:${port} ${name === 'percent' ? 'reuseport' : ''}; server_name ${name}; root ${root};
          fleetprof on; fleetprof_sample ${rate}; }`).join('')}`,
  });
});
after(() => nginx?.stop());

/**
 * The sum of the binomial probabilities that are at most that of `hits`: below 0.001 the count lies outside the
 * 99.9 % interval.
 * @param {number} hits
 * @param {number} trials
 * @param {number} rate
 */
function likelihood(hits, trials, rate) {
  let log = trials * Math.log1p(-rate);
  const logs = [log];
  for (let k = 1; k <= Math.min(trials, Math.max(2 * hits, 2 * trials * rate) + 100); k++) {
    log += Math.log((trials - k + 1) / k) + Math.log(rate / (1 - rate));
    logs.push(log);
  }
  return logs.filter((other) => other <= logs[hits] + 1e-9).reduce((sum, other) => sum + Math.exp(other), 0);
}

test('the interval is that of the binomial distribution', () => {
  assert.ok(Math.abs(likelihood(0, 10, 0.5) - 2 / 1024) < 1e-12);
  assert.ok(Math.abs(likelihood(5, 10, 0.5) - 1) < 1e-12);
  assert.ok(likelihood(237, 20_000, 0.01) > 0.001 && likelihood(255, 20_000, 0.01) < 0.001);
});

/**
 * What lies outside the 99.9 % interval, of each worker's answers and of all.
 * @param {{ yes: boolean, worker: string }[]} answers
 * @param {number} rate
 */
function outliers(answers, rate) {
  const workers = [...new Set(answers.map(({ worker }) => worker))];
  assert.equal(workers.length, 2, 'both workers have answered');
  return [answers, ...workers.map((worker) => answers.filter((answer) => answer.worker === worker))]
    .map((some) => [some.filter((answer) => answer.yes).length, some.length])
    .filter(([hits, trials]) => likelihood(hits, trials, rate) < 0.001);
}

for (const [name, , rate] of rates) {
  test(`chance hits the rate: ${name}`, async () => {
    const paths = Array.from({ length: requests }, () => '/page.html');
    const measure = async () => outliers(await ask(nginx.port, String(name), paths), Number(rate));
    // One count in a thousand lies outside by chance: not twice in a row.
    const first = await measure();
    if (first.length > 0) assert.deepEqual([first, await measure()].filter(({ length }) => length > 0).length, 1, String(first));
  });
}

test('visitors are hit at the rate, and each of them always or never', async () => {
  const paths = Array.from({ length: 5000 }, (_, i) => `/page.html?visitor=${i}`);
  const [first, second] = [await ask(nginx.port, 'sticky', paths), await ask(nginx.port, 'sticky', paths)]
    .map((answers) => answers.map(({ yes }) => yes));
  // These visitors are always the same: so is their count, on every server.
  assert.equal(first.filter(Boolean).length, 263);
  assert.deepEqual(first, second);
});
