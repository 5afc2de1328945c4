// SPDX-License-Identifier: Apache-2.0
/** The lines that a newcomer pastes from the manual's page on the server modules. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { html, no, yes } from '../headers/cases/words.mjs';
import { exchange, linesOf, requestBytes, startUpstream } from '../headers/wire.mjs';
import { blocksOf } from '../manual.mjs';
import { startHttpd } from './httpd.mjs';

/** @type {Awaited<ReturnType<typeof startHttpd>>} */
let httpd;
/** @type {Awaited<ReturnType<typeof startUpstream>>} */
let application;
/** @type {(string | undefined)[]} */
const uploads = [];
const collector = http.createServer((request, response) => {
  request.resume().on('end', () => {
    uploads.push(request.url);
    response.writeHead(204).end();
  });
}).listen(0, '127.0.0.1');

before(async () => {
  await once(collector, 'listening');
  application = await startUpstream(() => ({ fields: [html] }));
  const { port: ingest } = /** @type {import('node:net').AddressInfo} */ (collector.address());
  const [setUp, assets] = blocksOf('headers.md', 'apache');
  const lines = `${setUp}${assets}`.replace(/^LoadModule .*$/m, '')
    .replace('127.0.0.1:3000', `127.0.0.1:${application.port}`).replace('127.0.0.1:8600', `127.0.0.1:${ingest}`);
  httpd = await startHttpd({ conf: ({ port }) => lines.replaceAll('<VirtualHost *:80>', `<VirtualHost 127.0.0.1:${port}>`) });
});
after(async () => {
  await httpd?.stop();
  application?.stop();
  collector.close();
});

test('the least set-up samples pages', async () => {
  const response = await exchange(httpd.port, requestBytes({ host: 'shop.example' }));
  assert.equal(response.status, 200);
  const [policy] = linesOf(response, 'document-policy');
  assert.ok(policy === no || policy === yes, policy);
  assert.equal(linesOf(response, 'server-timing').length, 1);
});

test('the least set-up passes uploads on, under their whole path', async () => {
  const { status } = await fetch(`http://127.0.0.1:${httpd.port}/v1/ingest/pk_shop?format=x`,
    { method: 'POST', body: 'x'.repeat(8 * 1024 * 1024) });
  assert.equal(status, 204);
  assert.deepEqual(uploads, ['/v1/ingest/pk_shop?format=x']);
});

test('assets on another host can be timed', async () => {
  const response = await exchange(httpd.port, requestBytes({ host: 'cdn.example', path: '/', method: 'OPTIONS' }));
  assert.deepEqual(linesOf(response, 'timing-allow-origin'), response.status < 400 ? ['https://shop.example'] : []);
});
