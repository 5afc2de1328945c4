// SPDX-License-Identifier: Apache-2.0
/** HTTP/2: the same fields, in lower case, once for each stream. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import { after, before, test } from 'node:test';

import { sampledTiming, yes } from '../headers/cases/words.mjs';
import { shown } from '../headers/token.mjs';
import { makeFiles } from '../nginx/nginx.mjs';
import { startHttpd } from './httpd.mjs';

/** @type {Awaited<ReturnType<typeof startHttpd>>} */
let httpd;

before(async () => {
  httpd = await startHttpd({
    modules: ['http2'],
    conf: () => `Protocols h2c http/1.1\nDocumentRoot ${makeFiles()}\nFleetProf on\nFleetProfSample 100%\nTimingAllowOrigin *`,
  });
});
after(() => httpd?.stop());

test('streams of one connection', async () => {
  const client = http2.connect(`http://127.0.0.1:${httpd.port}`);
  for (const [path, status, policy] of [['/page.html', 200, yes], ['/', 200, yes], ['/nowhere', 404, undefined]]) {
    const stream = client.request({ ':path': String(path) });
    const [headers] = await once(stream, 'response');
    assert.equal(headers[':status'], status);
    assert.equal(headers['document-policy'], policy);
    assert.equal(shown(String(headers['server-timing'])), status === 200 ? sampledTiming : 'undefined');
    assert.equal(headers['timing-allow-origin'], status === 200 ? '*' : undefined);
    stream.resume();
    await once(stream, 'end');
  }
  client.close();
});
