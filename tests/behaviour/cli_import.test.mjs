// SPDX-License-Identifier: Apache-2.0
/** fleetprof import, as the server on the other side sees it. The server here is the test's own: it must misbehave on demand. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { after, test } from 'node:test';
import zlib from 'node:zlib';
import { binDir, freePort, repository, run, temporaryDir } from './stack.mjs';

const dir = temporaryDir('cli-import');
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const trace = {
  frames: [{ name: 'f', resourceId: 0, line: 1, column: 2 }],
  resources: ['https://shop.example/app.js'],
  stacks: [{ frameId: 0 }],
  samples: [{ timestamp: 0, stackId: 0 }, { timestamp: 10 }],
};
const mark = { name: 'hero', entryType: 'mark', startTime: 12.5, duration: 0 };

/** @param {string} name @param {unknown} content text and bytes as they are, anything else as JSON */
function file(name, content) {
  const full = path.join(dir, name);
  fs.writeFileSync(full, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return full;
}

/** @param {string[]} args @param {Parameters<typeof run>[1]} [options] */
function importFiles(args, options) {
  return run([path.join(binDir, 'fleetprof'), 'import', ...args], options);
}

/**
 * @typedef {{ method: string, url: string, headers: http.IncomingHttpHeaders, body: Buffer }} Request
 * @typedef {{ status: number, headers?: Record<string, string>, body?: string }} Reply
 */

/** @type {http.Server[]} */
const servers = [];
after(() => { for (const server of servers) server.close(); });

/**
 * A server that records requests and sends the given replies in order, then 204.
 * @param {Reply[]} replies
 * @param {string | number} [address] a port or a path
 */
async function startServer(replies = [], address = 0) {
  /** @type {Request[]} */
  const requests = [];
  const server = http.createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    requests.push({
      method: request.method ?? '', url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks),
    });
    const { status, headers, body } = replies.shift() ?? { status: 204 };
    response.writeHead(status, headers).end(body);
  });
  servers.push(server);
  if (typeof address === 'number') server.listen(address, '127.0.0.1');
  else server.listen(address);
  await once(server, 'listening');
  const bound = server.address();
  const url = typeof bound === 'object' && bound ? `http://127.0.0.1:${bound.port}/v1/ingest/pk_shop` : '';
  return { requests, url };
}

/** @param {Request} request the content */
const text = ({ headers, body }) => (headers['content-encoding'] === 'gzip' ? zlib.gunzipSync(body) : body).toString();

/** @param {Request} request */
const key = ({ headers }) => headers['idempotency-key'];

/** @param {number} status @param {object} problem @returns {Reply} */
function refusal(status, problem) {
  return { status, headers: { 'content-type': 'application/problem+json' }, body: JSON.stringify({ status, ...problem }) };
}

/** @param {string} name */
const data = (name) => fs.readFileSync(path.join(repository, 'tests/data', name));

for (const [what, content] of /** @type {[string, unknown][]} */ ([
  ['a bare trace', trace],
  ['an envelope', { release: 'r1', trace }],
  ["the specification's {duration, trace}", { duration: 20, trace }],
  ['a bare array of entries', [mark]],
  ['a map of marks', { hero: [1, 2] }],
  ['an envelope after a byte order mark and blanks', `\ufeff \n${JSON.stringify({ trace })}`],
  ['a dump of Speed Tracer', data('speed-tracer/stream.ndjson')],
  ['a saved page of Speed Tracer', data('speed-tracer/saved-page.html')],
  ['a session of Opera Scope', JSON.stringify(JSON.parse(data('opera-scope/page-load.json').toString()), (name, value) => (name === 'id' ? undefined : value))],
  ['a recording of Opera Scope', data('opera-scope/recording.jsonl')],
  ['what does not decode', '{"frames":['],
])) {
  test(`${what} is sent unchanged, under a key that is made from its content`, async () => {
    const { requests, url } = await startServer();
    const given = file('given', content);
    const bytes = fs.readFileSync(given);
    const copies = [given, given, file('given.gz', zlib.gzipSync(bytes)), file('given.br', zlib.brotliCompressSync(bytes)), file('given.deflated', zlib.deflateSync(bytes))];
    const { code, stdout } = await importFiles(['--url', url, ...copies]);
    assert.equal(code, 0);
    assert.match(stdout, /imported 5 of 5 files\n$/);
    assert.match(String(key(requests[0])), uuid);
    assert.deepEqual(requests.map(key), Array(5).fill(key(requests[0])));
    for (const request of requests.slice(0, 3)) assert.equal(text(request), bytes.toString());
  });
}

test('other content gets another key', async () => {
  const { requests, url } = await startServer();
  const cut = zlib.gzipSync(JSON.stringify(trace)).subarray(0, -9);
  await importFiles(['--url', url, file('a.json', trace), file('b.json', { ...trace, note: 1 }),
    file('cut.gz', cut), file('shorter.gz', cut.subarray(0, -1))]);
  assert.equal(new Set(requests.map(key)).size, 4);
});

test('what is compressed is sent byte for byte, what is not is compressed', async () => {
  const { requests, url } = await startServer();
  const own = `{ "id": "123e4567-e89b-42d3-a456-426614174000",\n "trace": ${JSON.stringify(trace)} }\n`;
  const zipped = zlib.brotliCompressSync(own);
  const { code } = await importFiles(['--url', url, file('own.json', own), file('own.json.br', zipped)]);
  assert.equal(code, 0);
  assert.equal(requests[0].headers['content-encoding'], 'gzip');
  assert.equal(zlib.gunzipSync(requests[0].body).toString(), own);
  assert.deepEqual(requests[1].body, zipped);
  assert.equal(requests[1].headers['content-encoding'], 'br');
  assert.deepEqual(requests.map(key), Array(2).fill('123e4567-e89b-42d3-a456-426614174000'));
});

test('an upload is a plain POST that names only the page and browser it was given', async () => {
  const { requests, url } = await startServer();
  await importFiles(['--url', url, '-'], { input: JSON.stringify(trace) });
  await importFiles(['--url', url, '--page', 'https://shop.example/cart', '--user-agent', 'Firefox/140.0', '-'],
    { input: JSON.stringify(trace) });
  const [plain, told] = requests;
  assert.equal(plain.method, 'POST');
  assert.equal(plain.url, '/v1/ingest/pk_shop');
  assert.equal(plain.headers['content-type'], 'application/json');
  assert.equal(plain.headers.expect, undefined);
  assert.equal(plain.headers['user-agent'], undefined);
  assert.equal(plain.headers.referer, undefined);
  assert.equal(told.headers.referer, 'https://shop.example/cart');
  assert.equal(told.headers['user-agent'], 'Firefox/140.0');
});

test('a page or browser with a line break makes no header of its own', async () => {
  const { requests, url } = await startServer();
  for (const option of ['--page', '--user-agent']) {
    const { code, stderr } = await importFiles(['--url', url, option, 'a\r\nX-Own: b', '-'], { input: JSON.stringify(trace) });
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`${option} has control characters`));
  }
  assert.deepEqual(requests, []);
});

test('no proxy is asked', async () => {
  const { requests, url } = await startServer();
  const { code } = await importFiles(['--url', url, file('trace.json', trace)],
    { env: { http_proxy: 'http://127.0.0.1:1', all_proxy: 'http://127.0.0.1:1' } });
  assert.equal(code, 0);
  assert.equal(requests.length, 1);
});

test('what the collector refuses is named with its reason, the next file follows, exit 1', async () => {
  const { requests, url } = await startServer([refusal(422, { detail: 'stackId is 7, but there are 2 stacks', pointer: '/samples/0/stackId' }),
    refusal(400, { detail: 'not JSON', offset: 12 })]);
  const [bad, cut] = [file('bad.json', { ...trace, samples: [{ timestamp: 0, stackId: 7 }] }), file('cut.json', '{"frames":[')];
  const { code, stdout, stderr } = await importFiles(['--url', url, bad, cut, file('trace.json', trace)]);
  assert.equal(stderr, `${bad}: /samples/0/stackId: stackId is 7, but there are 2 stacks\n${cut}: byte 12: not JSON\n`);
  assert.equal(stdout, 'imported 1 of 3 files\n');
  assert.equal(code, 1);
  assert.equal(text(requests[1]), '{"frames":[');
});

test('--json holds every answer', async () => {
  const { url } = await startServer([refusal(422, { detail: 'no', pointer: '/x' })]);
  const bad = file('bad.json', '{}');
  const good = file('trace.json', trace);
  const { code, stdout, stderr } = await importFiles(['--json', '--url', url, bad, good]);
  assert.equal(code, 1);
  assert.equal(stderr, '');
  const [{ id: idOfBad, ...first }, { id, ...second }] = JSON.parse(stdout);
  const nothing = { session: null, truncated: null, records_read: null, records_kept: null, records_refused: null, notes: null };
  assert.deepEqual(first, { file: bad, accepted: false, status: 422, ...nothing, pointer: '/x', offset: null, detail: 'no' });
  assert.match(idOfBad, uuid);
  assert.match(id, uuid);
  assert.deepEqual(second, { file: good, accepted: true, status: 204, ...nothing, truncated: false, notes: [], pointer: null, offset: null, detail: null });
});

test('reports what was kept of a file as validate does, under its name and in JSON', async () => {
  const { url } = await startServer([{ status: 204 }, { status: 204 }, refusal(422, { detail: 'no' })]);
  const dump = file('dump.ndjson', '{"type":12,"time":1}\n{"type":12,"time":"x"}\n');
  const said = await importFiles(['--url', url, dump]);
  assert.equal(said.stdout, `${dump}: 1 of 2 records kept\n`
    + '  refused: a time that is not a number, or beyond 2^53 microseconds (1, the first at byte 21)\nimported 1 of 1 files\n');
  const [row] = JSON.parse((await importFiles(['--json', '--url', url, dump])).stdout);
  assert.equal(row.records_read, 2);
  assert.equal(row.records_kept, 1);
  assert.deepEqual(row.notes, [{ text: 'a time that is not a number, or beyond 2^53 microseconds', refused: true, count: 1, first: 21, unit: 'byte' }]);
  assert.equal((await importFiles(['--url', url, dump])).stdout, 'imported 0 of 1 files\n', 'nothing of a refused file was taken');
});

test('reports each session of a recording under its own id', async () => {
  const { requests, url } = await startServer();
  const recording = path.join(repository, 'tests/data/opera-scope/recording-two.txt');
  const said = await importFiles(['--url', url, recording]);
  assert.equal(said.stdout, `${recording}: 2 sessions, each an upload\n`
    + `${recording}, session 5: 2 of 2 records kept\n  refused: a frame of another service (2, the first at byte 0)\n`
    + `${recording}, session 6: 2 of 2 records kept\nimported 1 of 1 files\n`);
  const rows = JSON.parse((await importFiles(['--json', '--url', url, recording])).stdout);
  assert.deepEqual(rows.map((/** @type {any} */ row) => [row.file, row.accepted, row.session, row.records_kept]),
    [[recording, true, 5, 2], [recording, true, 6, 2]]);
  assert.equal(requests.length, 2, 'one request each time');
  assert.equal(new Set([key(requests[0]), ...rows.map((/** @type {any} */ row) => row.id)]).size, 3);
  for (const row of rows) assert.match(row.id, uuid);
});

test('a file that only the collector can decode is accepted without a report, which is said', async () => {
  const { url } = await startServer();
  const { code, stderr, stdout } = await importFiles(['--url', url, file('future.json', '{"future":1}')]);
  assert.deepEqual([code, stdout], [0, 'imported 1 of 1 files\n']);
  assert.match(stderr, /future\.json was accepted, but cannot be reported on: /);
});

test('a wrong key ends the import: the other files would fare no better', async () => {
  const { requests, url } = await startServer([refusal(403, { detail: 'unknown key' })]);
  const { code, stdout, stderr } = await importFiles(['--url', url, file('a.json', trace), file('b.json', trace)]);
  assert.equal(code, 2);
  assert.equal(requests.length, 1);
  assert.equal(stdout, 'imported 0 of 2 files; 1 was not tried\n');
  assert.match(stderr, /a\.json was not accepted \(HTTP status 403\)\n.*detail: unknown key\n/);
});

test('a file that cannot be read keeps none of the others back: exit 2', async () => {
  const { requests, url } = await startServer();
  const { code, stdout, stderr } = await importFiles(['--url', url, path.join(dir, 'gone.json'), dir, file('a.json', trace)]);
  assert.deepEqual([code, stdout], [2, 'imported 1 of 3 files\n']);
  assert.equal(requests.length, 1);
  assert.match(stderr, /could not read .*gone\.json: No such file.*\n.*could not read .*: Is a directory\n$/);
});

test('a log lists the results of files in their order', async () => {
  const { url } = await startServer([{ status: 204 }, refusal(422, { detail: 'not that' })]);
  const [first, second, third] = ['first', 'second', 'third'].map((name) => file(`${name}.ndjson`, data('speed-tracer/stream.ndjson')));
  const { stdout } = await run(['sh', '-c', `'${path.join(binDir, 'fleetprof')}' import --url ${url} ${first} ${second} ${third} 2>&1`]);
  assert.equal(stdout, `${first}: 24 of 24 records kept\n${second}: not that\n${third}: 24 of 24 records kept\nimported 2 of 3 files\n`);
});

test('JSON is JSON whatever the name of a file', async () => {
  const { url } = await startServer();
  const name = Buffer.concat([Buffer.from(`${dir}/é\u{1f600}\x01"`), Buffer.from([0xe9, 0xf0, 0x9f]), Buffer.from('.json')]);
  fs.writeFileSync(name, JSON.stringify(trace));
  const script = `for command in "import --url ${url}" validate; do '${path.join(binDir, 'fleetprof')}' $command --json '${dir}'/*'"'*; done`;
  const { code, stdout, stderr } = await run(['sh', '-c', script]);
  assert.deepEqual([code, stderr], [0, '']);
  const rows = stdout.split(/^(?=\[)/m).flatMap((text) => JSON.parse(text));
  assert.deepEqual(rows.map(({ file: said }) => path.basename(said)), Array(2).fill('é\u{1f600}\x01"\ufffd\ufffd\ufffd.json'));
});

test('reports an answer that is not a problem document by its status', async () => {
  const { url } = await startServer([{ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>\u001b[2J' }]);
  const { code, stderr } = await importFiles(['--url', url, file('a.json', trace)]);
  assert.equal(code, 2);
  assert.match(stderr, /HTTP status 502/);
  assert.ok(!stderr.includes('\u001b'));
});

test('reports that a web server in front of the collector refused, and goes on with the next file', async () => {
  const html = { 'content-type': 'text/html' };
  const { requests, url } = await startServer([{ status: 413, headers: html, body: '<h1>413</h1>' }, { status: 400 }]);
  const { code, stdout, stderr } = await importFiles(['--url', url, file('a.json', trace), file('b.json', trace), file('c.json', trace)]);
  assert.deepEqual([code, stdout, requests.length], [1, 'imported 1 of 3 files\n', 3]);
  assert.match(stderr, /a\.json: HTTP status 413 without a reason, .* a web server .*client_max_body_size\)\n.*b\.json: HTTP status 400 .*of it\n$/);
});

test('nobody listening is said', async () => {
  const { code, stderr } = await importFiles(['--url', `http://127.0.0.1:${await freePort()}/v1/ingest/k`, file('a.json', trace)]);
  assert.equal(code, 2);
  assert.match(stderr, /could not upload .*a\.json\n.*detail: .*connect/i);
  const socket = await importFiles(['--url', 'http://localhost/v1/ingest/k', '--unix-socket', '/nowhere.sock', file('a.json', trace)]);
  assert.match(socket.stderr, /detail: nobody listens on the socket \/nowhere\.sock\n/);
});

test('TLS to a server without TLS fails with the reason', async () => {
  const { url } = await startServer();
  const { code, stderr } = await importFiles(['--url', url.replace('http:', 'https:'), file('a.json', trace)]);
  assert.equal(code, 2);
  assert.match(stderr, /detail: .*SSL.*\n.*hint: The collector itself speaks plain HTTP/);
});

test('an address that is not an ingest URL fails with an example of one', async () => {
  for (const status of [404, 405]) {
    const { url } = await startServer([refusal(status, { detail: 'there is nothing here' })]);
    const { code, stderr } = await importFiles(['--url', url, file('a.json', trace)]);
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`HTTP status ${status}\\)\\n.*detail: there is nothing here\\n.*hint: The URL must end in /v1/ingest/KEY`));
  }
});

test('a URL of another kind is refused', async () => {
  const { code, stderr } = await importFiles(['--url', 'file:///etc/passwd', file('a.json', trace)]);
  assert.equal(code, 2);
  assert.match(stderr, /detail: .*file.*(not supported|disabled)/);
});

test('a unix socket instead of a host', async () => {
  const socket = path.join(dir, 'ingest.sock');
  const { requests } = await startServer([], socket);
  const { code } = await importFiles(['--unix-socket', socket, '--url', 'http://localhost/v1/ingest/pk_x', file('a.json', trace)]);
  assert.equal(code, 0);
  assert.equal(requests[0].url, '/v1/ingest/pk_x');
});

test('address and key come from the configuration', async () => {
  const port = await freePort();
  const socket = path.join(dir, 'configured.sock');
  const [tcp, unix] = await Promise.all([startServer([], port), startServer([], socket)]);
  /** @param {string} listen @param {object[]} sites */
  const config = (listen, sites) => file('config.yaml', {
    listen, database: 'dbname=x', spool: { path: path.join(dir, 'spool'), max_bytes: '1GiB' }, sites,
  });
  const shop = { name: 'shop', key: 'pk_shop' };
  const blog = { name: 'blog', key: 'pk_blog' };
  const upload = file('a.json', trace);

  assert.equal((await importFiles(['-c', config(`0.0.0.0:${port}`, [shop]), upload])).code, 0);
  assert.equal((await importFiles(['-c', config(`127.0.0.1:${port}`, [shop, blog]), '--site', 'blog', upload])).code, 0);
  assert.equal((await importFiles(['-c', config(`unix:${socket}`, [shop]), upload])).code, 0);
  assert.deepEqual(tcp.requests.map(({ url }) => url), ['/v1/ingest/pk_shop', '/v1/ingest/pk_blog']);
  assert.deepEqual(unix.requests.map(({ url }) => url), ['/v1/ingest/pk_shop']);

  const several = await importFiles(['-c', config(`127.0.0.1:${port}`, [shop, blog]), upload]);
  assert.equal(several.code, 2);
  assert.match(several.stderr, /no site was named.*\n.*hint: Give --site NAME: shop, blog\./);
  const unknown = await importFiles(['-c', config(`127.0.0.1:${port}`, [shop, blog]), '--site', 'x', upload]);
  assert.equal(unknown.code, 2);
  assert.match(unknown.stderr, /no site named "x"/);
});

test('a collector must be named', { skip: fs.existsSync('/etc/fleetprof/fleetprof.yaml') }, async () => {
  const { code, stderr } = await importFiles([file('a.json', trace)]);
  assert.equal(code, 2);
  assert.match(stderr, /no collector was named\n.*hint: Give --url/);
});

test('a busy collector is asked again after the time it names', async () => {
  const { requests, url } = await startServer([
    { ...refusal(503, { detail: 'the spool is full' }), headers: { 'retry-after': '1' } },
  ]);
  const began = performance.now();
  const { code, stderr } = await importFiles(['--url', url, file('a.json', trace)]);
  assert.equal(code, 0);
  assert.match(stderr, /the collector is busy \(the spool is full\); trying again in 1 s\n$/);
  assert.ok(performance.now() - began > 900);
  assert.equal(requests.length, 2);
  assert.deepEqual(requests[1].body, requests[0].body);
});

test('a collector that stays busy is asked five times', async () => {
  const busy = { ...refusal(429, { detail: 'the budget is spent' }), headers: { 'retry-after': '1' } };
  const { requests, url } = await startServer(Array(9).fill(busy));
  const { code, stderr } = await importFiles(['--url', url, file('a.json', trace), file('b.json', trace)]);
  assert.equal(requests.length, 5);
  assert.match(stderr, /not accepted \(HTTP status 429\)\n.*detail: the budget is spent/);
  assert.equal(code, 2);
});
