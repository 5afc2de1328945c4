// SPDX-License-Identifier: Apache-2.0
/** HTTP/2: the same fields, in lower case, once for each stream. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http2 from 'node:http2';
import { after, before, test } from 'node:test';

import { sampledTiming, yes } from '../headers/cases/words.mjs';
import { shown } from '../headers/token.mjs';
import { makeFiles, startModule } from './nginx.mjs';

/** @type {Awaited<ReturnType<typeof startModule>>} */
let nginx;

before(async () => {
  nginx = await startModule({
    conf: ({ port }) => `server { listen 127.0.0.1:${port} http2; root ${makeFiles()}; fleetprof on; fleetprof_sample 100%;
      timing_allow_origin *; }`,
  });
});
after(() => nginx?.stop());

test('two streams of one connection', async () => {
  const client = http2.connect(`http://127.0.0.1:${nginx.port}`);
  for (const path of ['/page.html', '/index.html']) {
    const stream = client.request({ ':path': path });
    const [headers] = await once(stream, 'response');
    assert.equal(headers['document-policy'], yes);
    assert.equal(headers['timing-allow-origin'], '*');
    assert.equal(shown(String(headers['server-timing'])), sampledTiming);
    stream.resume();
    await once(stream, 'end');
  }
  client.close();
});
