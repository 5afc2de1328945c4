// SPDX-License-Identifier: Apache-2.0
/** fleetprof rates: what it writes is a configuration of real nginx and httpd, whose pages are drawn at the written rates. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { shown, withKeyFile } from './headers/token.mjs';
import { startHttpd } from './httpd/httpd.mjs';
import { binDir, run, startNginx, startPostgres, temporaryDir, freePort } from './stack.mjs';

/** @type {import('./stack.mjs').Postgres} */
let postgres;
const dir = temporaryDir('rates');
fs.chmodSync(dir, 0o755);

/** Routes and their page loads a day, of which 200 are to be profiled: page loads that are half as many have twice the rate. @type {[string, number][]} */
const routes = [
  ['/', 1000],
  ['/product/:id', 2000],
  ['/product/new', 4000],
  ['/help/*', 8000],
  ['/a.b/c+d', 16000],
  ['/caf%C3%A9', 5000],
  ['/cart', 500],
  ['/cart/', 250],
  ['checkout', 2500],
  ['/p/shoes-:id.html', 1600],
  ['/p/red-shoes-:id.html', 3200],
  ['/p/:id.html', 12800],
  ['/u/:mail/:token', 6400],
  ['/say "hello"; }\n\\', 800],
  ['/${x}$uri%{HTTP_HOST}', 10000],
];
/** Addresses and the rate at which they are drawn; the default rate is 1 %. @type {[string, string][]} */
const pages = [
  ['/', '20%'], ['/?a=/cart', '20%'], ['/product/7', '10%'], ['/product/7/?x', '10%'], ['/product/new', '5%'], ['/product/7/more', '1%'], ['/product/', '1%'],
  ['/help', '2.5%'], ['/help/a/b?c', '2.5%'], ['/helpless', '1%'], ['/a.b/c+d', '1.25%'], ['/aXb/c+d', '1%'], ['/caf%C3%A9', '4%'], ['/cart', '40%'],
  ['/cart/', '40%'], ['/Cart', '1%'], ['/cart;jsessionid=0F0F?a', '40%'], ['/cart.html', '1%'], ['/x/cart', '1%'], ['/unseen', '1%'], ['/product/a%2Fb', '10%'],
  ['/p/shoes-2023117.html?x', '12.5%'], ['/p/red-shoes-2023117.html', '6.25%'], ['/p/12345.html', '1.5625%'], ['/p/new', '1%'], ['/p/shoes-.html', '1.5625%'],
  ['/u/ann@shop.example/0f0f', '3.125%'],
];

before(async () => {
  postgres = await startPostgres({ migrated: true });
  // Hour 0 to 23 of yesterday, each page load sampled at 1 % and delivered.
  await postgres.execute(`
    select fleetprof_data.make_partitions(array[current_date - 1]);
    ${[...routes.map((row) => ['shop', ...row]), ['blog.example', '/', 800]].map(([site, route, loads], number) => `
      insert into fleetprof_data.segment (segment_id, site, route, release, environment, variant, browser, os, device, thread, rate_ppm, last_seen)
      values (${number + 1}, '${site}', '${String(route).replaceAll("'", "''")}', '', '', '', '', '', 'desktop', 'window', 10000, current_date);
      insert into fleetprof_data.total_recent (group_id, bucket, spool_id, position, marker, uploads, loads, samples, self_us, profiled_us2, unseen_us)
      select ${number + 1}, date_bin('1 day', now(), 'epoch') - interval '1 day' + hour * interval '1 hour', gen_random_uuid(), hour, '{-1}', array[n], array[n], array[n], array[n * 10000], array[n * 1e8], '{0}'
      from generate_series(0, 23) as hour
      cross join lateral (select ${loads} / 100 / 24 + case when hour < ${loads} / 100 % 24 then 1 else 0 end) as part (n);`).join('')}`);
});
after(() => postgres?.stop());

/** @param {string[]} options */
const rates = (...options) => run([path.join(binDir, 'fleetprof'), 'rates', '-d', postgres.conninfo('fleetprof_reader'), ...options]);
const day = (/** @type {number} */ ago) => `${new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)}T00:00Z`;
const given = ['--site', 'shop', '--since', day(1), '--until', day(0), '--most-rate', '0.5', '--least-rate', '0.0001'];

test('the table has a row for each route, and one for all others', async () => {
  const { stdout, code } = await rates(...given);
  assert.equal(code, 0);
  assert.match(stdout, /\/product\/:id\t2000\t20\t1%\t10%\t200\t\tfew profiles/);
  assert.match(stdout, /\(all others\)/);
});

for (const server of ['nginx', 'httpd']) {
  test(`${server} draws pages at the written rates, and says them in tokens`, async () => {
    const file = path.join(dir, `${server}.conf`);
    const written = await rates(...given, '--server', server, '--write', file);
    assert.deepEqual([written.code, written.stderr], [0, '']);
    const text = fs.readFileSync(file, 'utf8');
    assert.match(text, /checkout": not a whole path/);
    assert.match(text, /cart\/": the same addresses as another one/);
    const port = await freePort();
    const started = server === 'nginx'
      ? await startNginx({
        port, conf: `include ${file}; server { listen 127.0.0.1:${port}; fleetprof on; fleetprof_types *; fleetprof_sample $fleetprof_route_rate_shop; fleetprof_site shop; ${withKeyFile('fleetprof_token_key KEY_FILE;')}
          location / { rewrite ^ /inner.html last; }
          location = /inner.html { add_header X-Rate $fleetprof_rate; return 200 "page"; } }`,
      })
      : await startHttpd({ modules: ['rewrite'], conf: ({ dir: root }) => `
          ${withKeyFile('FleetProfTokenKey KEY_FILE')}
          Include ${file}
          FleetProf on
          FleetProfTypes *
          AllowEncodedSlashes NoDecode
          FleetProfSample "expr=%{reqenv:FLEETPROF_ROUTE_RATE_shop}"
          FleetProfSite shop
          DocumentRoot ${root}
          RewriteEngine on
          RewriteRule ^ ${(fs.mkdirSync(`${root}/htdocs`), fs.writeFileSync(`${root}/htdocs/page.html`, 'page'), `${root}/htdocs/page.html`)} [L]
          <Directory ${root}/htdocs>
            Require all granted
          </Directory>
          Header always set X-Rate %{FLEETPROF_RATE}e` });
    try {
      const url = `http://127.0.0.1:${'port' in started ? started.port : port}`;
      for (const [page, rate] of pages) {
        const { headers, status } = await fetch(url + page);
        assert.equal(status, 200, page);
        assert.equal(Number(headers.get('x-rate')), Math.round(Number.parseFloat(rate) * 1e4) / 1e6, page);
      }
      const cart = new Set();
      for (let load = 0; load < 60; load += 1) cart.add(shown((await fetch(`${url}/cart`)).headers.get('server-timing') ?? ''));
      assert.deepEqual([...cart].sort(), ['fleetprof;desc="0"', 'fleetprof;desc="<shop 400000>"']);
    } finally {
      await started.stop();
    }
  });
}

test('files of two sites stand beside each other in nginx', async () => {
  const files = ['shop', 'blog.example'].map((site) => path.join(dir, `${site}.rates`));
  for (const [i, site] of ['shop', 'blog.example'].entries()) {
    assert.equal((await rates('--site', site, ...given.slice(2), '--write', files[i])).code, 0);
  }
  const ports = [await freePort(), await freePort()];
  const nginx = await startNginx({ port: ports[0], conf: files.map((file, i) => `include ${file};
    server { listen 127.0.0.1:${ports[i]}; fleetprof on; fleetprof_types *; fleetprof_sample $fleetprof_route_rate_${['shop', 'blog_example'][i]};
      fleetprof_site any; location / { add_header X-Rate $fleetprof_rate; return 200 "page"; } }`).join('\n') });
  try {
    const drawn = await Promise.all(ports.map(async (port) => Number((await fetch(`http://127.0.0.1:${port}/`)).headers.get('x-rate'))));
    assert.deepEqual(drawn, [0.2, 0.25]);
  } finally {
    await nginx.stop();
  }
});

test('a file of this hour stays as it is, one of an earlier hour is replaced whole', async () => {
  const file = path.join(dir, 'twice.conf');
  assert.equal((await rates(...given, '--write', file)).code, 0);
  const first = fs.readFileSync(file, 'utf8');
  assert.match(first, /^# Sample rates of the site shop for nginx, by fleetprof rates in the hour from [-\d]{10} \d\d:00 UTC\. They apply from the next reload on\.\n/);
  const again = await rates(...given, '--most-rate', '0.01', '--write', file);
  assert.equal(again.code, 0);
  assert.match(again.stderr, /stays as it is/);
  assert.equal(fs.readFileSync(file, 'utf8'), first);
  fs.writeFileSync(file, first.replace(/from \d{4}/, 'from 2020'));
  assert.equal((await rates(...given, '--most-rate', '0.01', '--write', file)).code, 0);
  assert.doesNotMatch(fs.readFileSync(file, 'utf8'), /20%/);
  assert.deepEqual(fs.readdirSync(dir).filter((name) => name.includes('part')), []);
});

test('without data the file stays, and the error says why', async () => {
  const file = path.join(dir, 'nothing.conf');
  fs.writeFileSync(file, 'as before\n');
  const { code, stderr } = await rates('--site', 'shop', '--route', '/nowhere', '--write', file);
  assert.equal(code, 2);
  assert.match(stderr, /nothing\.conf is not written: there is nothing to draw rates from/);
  assert.equal(fs.readFileSync(file, 'utf8'), 'as before\n');
});

test('bad numbers and servers are named', async () => {
  assert.match((await rates('--most-rate', 'much')).stderr, /--most-rate takes a number, not "much"/);
  assert.match((await rates('--server', 'apache')).stderr, /--server is nginx or httpd, not "apache"/);
  assert.match((await rates(...given, '--target', '2')).stderr, /target is 2/);
});
