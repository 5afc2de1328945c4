// SPDX-License-Identifier: Apache-2.0
/**
 * A client hides a second request behind one that two HTTP servers read in two ways (request smuggling). Each row is
 * such a request, with a whole second one behind it in the same bytes: the first gets 400, the connection ends, and the
 * second is neither answered nor counted.
 */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';

import { connect, envelope } from '../behaviour/collector_client.mjs';
import { startReport } from '../behaviour/serve_tool.mjs';
import { startStack, waitFor } from '../behaviour/stack.mjs';

/** @type {import('../behaviour/stack.mjs').Stack} */
let stack;
/** @type {import('../behaviour/serve_tool.mjs').Report} */
let report;
before(async () => {
  stack = await startStack({ config: { sites: [{ name: 'demo', key: 'pk_demo' }] } });
  report = await startReport(stack.postgres.conninfo('fleetprof_reader'));
});
after(async () => {
  await report?.server.stop();
  await stack?.stop();
});

const host = 'Host: fleetprof.example\r\n';
const length = 'Content-Length: LENGTH\r\n';
const chunked = 'Transfer-Encoding: chunked\r\n';
const chunks = 'CHUNKS';
/**
 * The rows: the request line without its CR LF, if another than usual; the lines of the header, each with its end; the
 * body. BODY stands for the body of a valid upload, LENGTH for its length, CHUNKS for it in one chunk.
 * @typedef {{ name: string, line?: string, head: string, body?: string, status?: number }} Row
 */

/** @type {Row[]} */
const framings = [
  { name: 'Content-Length with Transfer-Encoding', head: `${host}${length}${chunked}`, body: chunks },
  { name: 'Transfer-Encoding with Content-Length', head: `${host}${chunked}Content-Length: 3\r\n`, body: chunks },
  { name: 'two Content-Lengths, the first right', head: `${host}${length}Content-Length: 3\r\n` },
  { name: 'two Content-Lengths, the second right', head: `${host}Content-Length: 0\r\n${length}` },
  { name: 'two Content-Lengths that agree', head: `${host}${length}${length}` },
  { name: 'two Content-Lengths, one in another case', head: `${host}${length}content-length: 0\r\n` },
  { name: 'a list of lengths that agree', head: `${host}Content-Length: LENGTH, LENGTH\r\n` },
  { name: 'a length with a sign', head: `${host}Content-Length: +LENGTH\r\n` },
  { name: 'a negative length', head: `${host}Content-Length: -1\r\n` },
  { name: 'an empty length', head: `${host}Content-Length: \r\n` },
  { name: 'a length in hexadecimal', head: `${host}Content-Length: 0x10\r\n` },
  { name: 'a length with a fraction', head: `${host}Content-Length: LENGTH.0\r\n` },
  { name: 'a length with a space inside', head: `${host}Content-Length: 1 0\r\n` },
  { name: 'a length with a control character', head: `${host}Content-Length: LENGTH\x0b\r\n` },
  { name: 'an unknown coding', head: `${host}Transfer-Encoding: xchunked\r\n`, body: chunks },
  { name: 'a coding before chunked', head: `${host}Transfer-Encoding: gzip, chunked\r\n`, body: chunks },
  { name: 'chunked before another coding', head: `${host}Transfer-Encoding: chunked, identity\r\n`, body: chunks },
  { name: 'identity', head: `${host}Transfer-Encoding: identity\r\n${length}` },
  { name: 'no coding at all', head: `${host}Transfer-Encoding:\r\n${length}` },
  { name: 'quoted chunked', head: `${host}Transfer-Encoding: "chunked"\r\n`, body: chunks },
  { name: 'a control character before chunked', head: `${host}Transfer-Encoding: \x0bchunked\r\n`, body: chunks },
  { name: 'chunked twice', head: `${host}${chunked}${chunked}`, body: chunks },
  { name: 'chunked, then another coding', head: `${host}${chunked}Transfer-Encoding: x\r\n`, body: chunks },
  { name: 'Transfer-Encoding in HTTP/1.0', line: 'POST PATH HTTP/1.0', head: `${host}${chunked}`, body: chunks },
  { name: 'a space before the colon', head: `${host}Content-Length : LENGTH\r\n` },
  { name: 'a tab before the colon', head: `${host}Transfer-Encoding\t: chunked\r\n${length}` },
  { name: 'a line without a colon', head: `${host}X-Nothing\r\n${length}` },
  { name: 'a name without letters', head: `${host}: value\r\n${length}` },
  { name: 'a name with a slash', head: `${host}X/Y: value\r\n${length}` },
  { name: 'a first line that is folded', head: ` X: value\r\n${host}${length}` },
  { name: 'a folded value', head: `${host}X: value\r\n continued\r\n${length}` },
  { name: 'a folded value, with a tab', head: `${host}X: value\r\n\tcontinued\r\n${length}` },
  { name: 'a folded Transfer-Encoding', head: `${host}Transfer-Encoding:\r\n chunked\r\n`, body: chunks },
  { name: 'a field that ends in a bare LF', head: `${host}X: value\n${length}` },
  { name: 'a Host that ends in a bare LF', head: `Host: fleetprof.example\n${length}` },
  { name: 'a last field that ends in a bare LF', head: `${host}Content-Length: LENGTH\n` },
  { name: 'a field in a bare LF', head: `${host}X: value\nTransfer-Encoding: chunked\r\n${length}` },
  { name: 'a bare CR in a value', head: `${host}X: value\rTransfer-Encoding: chunked\r\n${length}` },
  { name: 'a bare CR at the end of a value', head: `${host}X: value\r\r\n${length}` },
  { name: 'a NUL in a value', head: `${host}X: va\0lue\r\n${length}` },
  { name: 'a NUL at the end of a value', head: `${host}X: value\0\r\n${length}` },
  { name: 'a NUL in a name', head: `${host}X\0Y: value\r\n${length}` },
  { name: 'a NUL before a name', head: `${host}\0X: value\r\n${length}` },
  { name: 'a NUL and a line of its own', head: `${host}X: a\0b: c\r\n${length}` },
  { name: 'a DEL in a value', head: `${host}X: val\x7fue\r\n${length}` },
  { name: 'no Host', head: length },
  { name: 'two Hosts', head: `${host}${host}${length}` },
  { name: 'a Host with a path', head: `Host: fleetprof.example/x\r\n${length}` },
  { name: 'a Host with a user', head: `Host: a@fleetprof.example\r\n${length}` },
  { name: 'a Host with a port that is not a number', head: `Host: fleetprof.example:8o\r\n${length}` },
  { name: 'a Host with a quote', head: `Host: "fleetprof.example"\r\n${length}` },
  { name: 'a Host with a bracket', head: `Host: [::1\r\n${length}` },
  { name: 'a bare CR before the method', line: '\rPOST PATH HTTP/1.1', head: `${host}${length}` },
  { name: 'a method with a control character', line: 'PO\x01ST PATH HTTP/1.1', head: `${host}${length}` },
  { name: 'a method with a colon', line: 'X:POST PATH HTTP/1.1', head: `${host}${length}` },
  { name: 'a Host with a space', head: `Host: fleetprof example\r\n${length}` },
  { name: 'a NUL in the path', line: 'POST PATH\0x HTTP/1.1', head: `${host}${length}` },
  { name: 'a NUL and a version in the path', line: 'POST PATH\0HTTP/1.1 HTTP/1.1', head: `${host}${length}` },
  { name: 'an encoded NUL in the path', line: 'POST PATH%00x HTTP/1.1', head: `${host}${length}` },
  { name: 'a bare CR in the path', line: 'POST PATH\rx HTTP/1.1', head: `${host}${length}` },
  { name: 'a tab in the path', line: 'POST PATH\tx HTTP/1.1', head: `${host}${length}` },
  { name: 'a space in the path', line: 'POST PATH x HTTP/1.1', head: `${host}${length}` },
  { name: 'two spaces before the path', line: 'POST  PATH HTTP/1.1', head: `${host}${length}` },
  { name: 'two spaces before the version', line: 'POST PATH  HTTP/1.1', head: `${host}${length}` },
  { name: 'a space behind the version', line: 'POST PATH HTTP/1.1 ', head: `${host}${length}` },
  { name: 'a request line that ends in a bare LF', line: 'POST PATH HTTP/1.1\n', head: `${host}${length}` },
];

/** Mistakes in a chunked body, which are found while it is read.
 * @type {Row[]} */
const garbage = [
  { name: 'a chunk size without digits', body: 'xyz\r\nBODY\r\n0\r\n\r\n' },
  { name: 'a chunk size with 0x', body: '0xSIZE\r\nBODY\r\n0\r\n\r\n' },
  { name: 'a chunk size with a sign', body: '+SIZE\r\nBODY\r\n0\r\n\r\n' },
  { name: 'a negative chunk size', body: '-1\r\nBODY\r\n0\r\n\r\n' },
  { name: 'a chunk size with a space before it', body: ' SIZE\r\nBODY\r\n0\r\n\r\n' },
  { name: 'a chunk size with an underscore', body: 'SIZE_0\r\nBODY\r\n0\r\n\r\n' },
  { name: 'a chunk size that is too large for 64 bits', body: 'fffffffffffffffff\r\nBODY\r\n0\r\n\r\n', status: 413 },
  { name: 'a chunk that is longer than its size', body: 'SIZE\r\nBODYX\r\n0\r\n\r\n' },
  { name: 'an empty chunk size', body: '\r\nBODY\r\n0\r\n\r\n' },
].map((row) => ({ ...row, head: `${host}${chunked}` }));

/** An upload's body, and its id. */
const upload = () => {
  const id = randomUUID();
  return { id, body: envelope({ id }) };
};

/** @param {{ line?: string, head: string, body?: string }} row @param {string} path @param {string} body */
function bytes({ line = 'POST PATH HTTP/1.1', head, body: shape = 'BODY' }, path, body) {
  const size = body.length.toString(16);
  const end = line.endsWith('\n') ? '' : '\r\n';
  return `${line.replace('PATH', path)}${end}${head.replaceAll('LENGTH', String(body.length))}\r\n`
    + shape.replace('CHUNKS', 'SIZE\r\nBODY\r\n0\r\n\r\n').replace('SIZE', size).replace('BODY', body);
}

/** Sends bytes in one piece; what comes back until the server closes the connection.
 * @param {string} url @param {string} text */
async function exchange(url, text) {
  const { socket, text: reply, closed } = await connect(url);
  socket.write(text, 'latin1');
  const timer = setTimeout(() => socket.destroy(new Error('the connection stays open')), 5000);
  const error = await new Promise((resolve) => {
    socket.once('error', resolve);
    void closed.then(() => resolve(undefined));
  });
  clearTimeout(timer);
  assert.ok(!/stays open/.test(String(error)), `the connection stays open after: ${JSON.stringify(reply())}`);
  return [...reply().matchAll(/^HTTP\/1\.[01] (\d{3})/gm)].map(([, status]) => Number(status));
}

/** Checks that a status is the only one that comes back. libmicrohttpd before 1.0 writes the head of some of its own
 * replies twice; 1.0 closes the connection without a reply to a NUL in the path and to a CR before the method.
 * @param {string} url @param {string} text @param {{ name: string, status?: number }} row */
async function refused(url, text, { name, status = 400 }) {
  const statuses = [...new Set(await exchange(url, text))];
  assert.ok(statuses.length === 0 ? /^a (NUL.* in the path|bare CR before the method)$/.test(name) : statuses.length === 1 && statuses[0] === status,
    `${statuses} for ${status}`);
}

const counted = async (/** @type {string[]} */ ids) =>
  (await stack.sql('select upload_id::text as id from fleetprof.upload_log')).filter(({ id }) => ids.includes(id)).length;

/** Sends one more upload and waits until it is counted: all that was accepted before it is then counted. */
async function flush() {
  const { id, body } = upload();
  const statuses = await exchange(stack.collector.url,
    bytes({ head: `${host}${length}Connection: close\r\n` }, '/v1/ingest/pk_demo', body));
  assert.deepEqual(statuses, [204]);
  await waitFor(async () => await counted([id]) === 1, { what: 'upload in SQL' });
}

const second = (/** @type {string} */ path, /** @type {string} */ body) =>
  bytes({ head: `${host}${length}Connection: close\r\n` }, path, body);

test('two good requests in one piece are both served', async () => {
  const [first, hidden] = [upload(), upload()];
  assert.deepEqual(await exchange(stack.collector.url,
    bytes({ head: `${host}${length}` }, '/v1/ingest/pk_demo', first.body) + second('/v1/ingest/pk_demo', hidden.body)), [204, 204]);
});

test('the public listener refuses what two servers read in two ways, and serves nothing after it', async (context) => {
  /** @type {string[]} */
  const ids = [];
  for (const row of [...framings, ...garbage]) {
    await context.test(row.name, async () => {
      const [first, hidden] = [upload(), upload()];
      ids.push(first.id, hidden.id);
      const sent = bytes(row, '/v1/ingest/pk_demo', first.body) + second('/v1/ingest/pk_demo', hidden.body);
      await refused(stack.collector.url, sent, row);
    });
  }
  await flush();
  assert.equal(await counted(ids), 0);
});

test('a connection ends with the reply to a body in chunks, however its lines end', async (context) => {
  const bodies = { 'CR LF': chunks, 'bare LF after the size': 'SIZE\nBODY\r\n0\r\n\r\n', 'bare LF after the chunk': 'SIZE\r\nBODY\n0\n\r\n',
    'with an extension': 'SIZE;x="\n"\r\nBODY\r\n0\r\n\r\n' };
  for (const [name, body] of Object.entries(bodies)) {
    await context.test(name, async () => {
      const [first, hidden] = [upload(), upload()];
      const sent = bytes({ head: `${host}${chunked}`, body }, '/v1/ingest/pk_demo', first.body);
      const statuses = await exchange(stack.collector.url, sent + second('/v1/ingest/pk_demo', hidden.body));
      assert.equal(statuses.length, 1);
      assert.ok(name === 'CR LF' ? statuses[0] === 204 : [204, 400].includes(statuses[0]), String(statuses));
      await flush();
      assert.equal(await counted([hidden.id]), 0);
    });
  }
});

for (const [name, url, path] of /** @type {[string, () => string, string][]} */ ([
  ['admin listener', () => stack.collector.adminUrl, '/healthz'], ['report', () => report.url, '/api/v1/version'],
])) {
  test(`the ${name} also refuses them`, async (context) => {
    for (const row of [...framings, { name: 'a body in chunks', head: `${host}${chunked}`, body: chunks }]) {
      await context.test(row.name, async () => {
        const local = { ...row, line: (row.line ?? 'POST PATH HTTP/1.1').replace('POST', 'GET'), head: row.head.replace('fleetprof.example', 'localhost') };
        const next = `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`;
        await refused(url(), bytes(local, path, 'body') + next, row);
      });
    }
    const good = `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    assert.deepEqual(await exchange(url(), good + good.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')), [200, 200]);
  });
}
