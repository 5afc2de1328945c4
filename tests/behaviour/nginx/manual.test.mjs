// SPDX-License-Identifier: Apache-2.0
/** The lines that a newcomer pastes from the manual's pages on the server modules and on tokens. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { fileTime, html, no, yes } from '../headers/cases/words.mjs';
import { exchange, linesOf, requestBytes, startUpstream } from '../headers/wire.mjs';
import { blocksOf } from '../manual.mjs';
import { temporaryDir } from '../stack.mjs';
import { startModule } from './nginx.mjs';

/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;
/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let application;
/** @type {[url: string | undefined, bytes: number][]} */
const uploads = [];
const collector = http.createServer((request, response) => {
  let bytes = 0;
  request.on('data', (chunk) => { bytes += chunk.length; }).on('end', () => {
    uploads.push([request.url, bytes]);
    response.writeHead(204).end();
  });
}).listen(0, '127.0.0.1');

before(async () => {
  await once(collector, 'listening');
  application = await startUpstream(() => ({ fields: [html, ['Last-Modified', fileTime]] }));
  const { port: ingest } = /** @type {import('node:net').AddressInfo} */ (collector.address());
  const [setUp, assets] = blocksOf('headers.md', 'nginx');
  const inHttp = setUp.slice(setUp.indexOf('http {') + 'http {'.length, setUp.lastIndexOf('}'))
    .replace('127.0.0.1:3000', `127.0.0.1:${application.port}`).replace('127.0.0.1:8600', `127.0.0.1:${ingest}`);
  nginx = await startModule({
    conf: ({ port }) => (inHttp + assets).replaceAll(/^( *)server \{$/gm, `$1server { listen 127.0.0.1:${port};`),
  });
});
after(async () => {
  await nginx?.stop();
  application?.stop();
  collector.close();
});

/** @param {number} bytes */
const upload = (bytes) => fetch(`http://127.0.0.1:${nginx.port}/v1/ingest/pk_shop?format=user-timing`,
  { method: 'POST', body: 'x'.repeat(bytes) });

test('the least set-up samples pages', async () => {
  const response = await exchange(nginx.port, requestBytes({ host: 'shop.example' }));
  assert.equal(response.status, 200);
  const [policy] = linesOf(response, 'document-policy');
  assert.ok(policy === no || policy === yes, policy);
  assert.equal(linesOf(response, 'server-timing').length, 1);
});

test('the least set-up passes uploads on, under their whole path, up to 8 MiB', async () => {
  assert.equal((await upload(8 * 1024 * 1024)).status, 204);
  assert.deepEqual(uploads.at(-1), ['/v1/ingest/pk_shop?format=user-timing', 8 * 1024 * 1024]);
  assert.equal((await upload(8 * 1024 * 1024 + 1)).status, 413);
});

test('an upload of a page that is left needs no temporary file', async () => {
  assert.equal((await upload(200_000)).status, 204);
  const buffered = nginx.errorLog().split('\n').filter((line) => line.includes('client request body is buffered'));
  assert.equal(buffered.length, 1, 'only the 8 MiB of the test before');
});

test('the least set-up limits what one address uploads, and says: later', async () => {
  const statuses = (await Promise.all(Array.from({ length: 60 }, () => upload(10)))).map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)].sort(), [204, 429]);
});

test('assets on another host can be timed', async () => {
  const response = await exchange(nginx.port, requestBytes({ host: 'cdn.example', path: '/' }));
  assert.deepEqual(linesOf(response, 'timing-allow-origin'), response.status < 400 ? ['https://shop.example'] : []);
});

test("the token key's recipe makes a file that nginx and the collector's group can read, and nobody else",
  { skip: process.getuid?.() !== 0 && 'needs root, as the recipe does' }, () => {
    const dir = temporaryDir('recipe');
    const group = 'nogroup';
    const recipe = blocksOf('page_token.md', 'console').find((block) => block.includes('install -m'));
    assert.ok(recipe);
    const lines = recipe.replaceAll(/^\$ /gm, '').replaceAll('/etc/fleetprof', `${dir}/fleetprof`)
      .replace('-g fleetprof ', `-g ${group} `);
    execFileSync('sh', ['-e', '-c', lines]);
    const file = `${dir}/fleetprof/token.key`;
    assert.match(fs.readFileSync(file, 'utf8'), /^[0-9a-f]{64}\n$/);
    assert.equal(fs.statSync(file).mode & 0o777, 0o640);
    fs.chmodSync(dir, 0o755);
    const read = (/** @type {string} */ as) => execFileSync('setpriv',
      ['--reuid=nobody', `--regid=${as}`, '--clear-groups', 'cat', file], { encoding: 'utf8', stdio: 'pipe' });
    assert.equal(read(group).length, 65);
    assert.throws(() => read('www-data'), /Permission denied/);
  });
