// SPDX-License-Identifier: Apache-2.0
/**
 * Doctor's requests have the fields that a browser sends for the same: servers decide by these fields.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';

import { doctor } from './doctor_site.mjs';

/** @typedef {{ host: string, method: string, path: string, fields: http.IncomingHttpHeaders }} Asked */

/** @type {Asked[]} */
const asked = [];

/** @param {string} host @param {http.RequestListener} answer */
async function listen(host, answer) {
  const server = http.createServer((request, response) => {
    asked.push({ host, method: request.method ?? '', path: request.url ?? '', fields: request.headers });
    request.resume();
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  server.unref();
  return { server, url: `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}` };
}

/** @type {http.RequestListener} */
const sendScript = (request, response) => { response.setHeader('content-type', 'text/javascript').end('let a;\n'); };

/** The fields that tell what a request is for. @param {http.IncomingHttpHeaders} fields */
const purposeOf = (fields) => Object.fromEntries(Object.entries(fields)
  .filter(([name]) => /^(accept|origin|referer|if-|access-control|sec-)/.test(name) && name !== 'accept-encoding'));

const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

test('each request of doctor has the fields of its kind', async () => {
  const other = await listen('other', (request, response) => {
    if (request.method === 'GET') return sendScript(request, response);
    response.writeHead(204, { 'fleetprof-dry-run': 'accepted', 'access-control-allow-origin': request.headers.origin }).end();
  });
  const page = await listen('page', (request, response) => {
    if (request.url !== '/') return sendScript(request, response);
    response.writeHead(request.headers['if-none-match'] ? 304 : 200, { 'content-type': 'text/html', 'etag': '"x"', 'document-policy': 'js-profiling', 'server-timing': `fleetprof;desc="1.${Math.floor(Date.now() / 1000)}.0123456789abcdef"` });
    response.end(`<!doctype html><head><script src="/fleetprof-0.1.0.js" data-endpoint="/v1/ingest/pk"></script><script src="/app.js"></script>
      <script src="/own.js" crossorigin></script><script src="${other.url}/plain.js"></script><script src="${other.url}/open.js" crossorigin></script></head>`);
  });
  const direct = await listen('direct', (request, response) => { response.setHeader('content-type', 'text/html').end('<!doctype html>'); });
  await doctor(['--repeat', '1', '--direct', new URL(direct.url).host, `${page.url}/`]);
  await doctor(['--repeat', '1', '--endpoint', `${other.url}/v1/ingest/pk`, `${page.url}/`]);

  const origin = page.url;
  const navigation = { accept: html, 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'none' };
  const script = { accept: '*/*', 'sec-fetch-dest': 'script', referer: `${origin}/` };
  const upload = { accept: '*/*', origin, 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'cors' };
  /** @type {[string, string, string, object][]} */
  const expected = [
    ['page', 'GET', '/', navigation],
    ['direct', 'GET', '/', navigation],
    ['page', 'GET', '/', { accept: html, 'if-none-match': '"x"', 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }],
    ['page', 'GET', '/', { accept: html, 'if-none-match': '"x"', 'sec-fetch-dest': 'empty', 'sec-fetch-mode': 'navigate' }],
    ['page', 'GET', '/app.js', { ...script, 'sec-fetch-mode': 'no-cors' }],
    ['page', 'GET', '/own.js', { ...script, 'sec-fetch-mode': 'cors' }],
    ['other', 'GET', '/plain.js', { ...script, 'sec-fetch-mode': 'no-cors' }],
    ['other', 'GET', '/open.js', { ...script, 'sec-fetch-mode': 'cors', origin }],
    ['page', 'POST', '/v1/ingest/pk?dry_run', upload],
    ['other', 'POST', '/v1/ingest/pk?dry_run', upload],
    ['other', 'OPTIONS', '/v1/ingest/pk', { accept: '*/*', origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' }],
  ];
  const seen = asked.map(({ host, method, path, fields }) => /** @type {const} */ ([host, method, path, purposeOf(fields)]));
  const missing = expected.filter(([host, method, path, fields]) =>
    !seen.some(([h, m, p, f]) => h === host && m === method && p.startsWith(path) && isDeepStrictEqual(f, fields)));
  assert.deepEqual(missing, [], seen.map((one) => JSON.stringify(one)).join('\n'));
  for (const { path, fields } of asked.filter(({ path }) => path === '/'))
    assert.match(fields['user-agent'] ?? '', /^Mozilla\/5\.0 .* Chrome\/\d+\.0\.0\.0 Safari\/537\.36 fleetprof-doctor\/\d/, path);
  for (const { server } of [page, other, direct]) server.close();
});
