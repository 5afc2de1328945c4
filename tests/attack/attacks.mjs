// SPDX-License-Identifier: Apache-2.0
/**
 * The attacks. Each runs in its own thread, so that its work does not add to the latencies that are measured
 * meanwhile.
 */
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import zlib from 'node:zlib';

/**
 * @typedef {object} Options
 * @property {string} url of the attacked site
 * @property {number} clients how many at once
 * @property {string} [from] the address that connections come from
 * @property {number} [forMs] how long
 * @property {number} [requests] how many in all, instead
 * @property {number} [first] the number of the first request: bodies are made from their numbers
 * @property {boolean} [fresh] a new connection for each request
 *
 * @typedef {Record<string, number>} Outcome how often each thing happened
 * @typedef {{ body: Buffer, headers?: Record<string, string> }} Request
 */

const mib = 1024 * 1024;
const giveUpMs = 60_000;
const quietMs = 500;

/** @param {Outcome} outcome @param {string | number} what */
const count = (outcome, what) => { outcome[what] = (outcome[what] ?? 0) + 1; };

// ---- connections

/**
 * Opens a connection and writes a byte now and then, until the collector closes it.
 * @param {Options} options
 * @param {string} head
 * @param {string} drop
 * @returns {Promise<Outcome>}
 */
async function drip({ url, clients }, head, drop) {
  /** @type {Outcome} */
  const outcome = {};
  await Promise.all(Array.from({ length: clients }, () => new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    /** @type {NodeJS.Timeout | undefined} */
    let dripping;
    const socket = net.connect(Number(port), hostname, () => {
      socket.write(head);
      dripping = setInterval(() => socket.write(drop), 100);
    });
    const givingUp = setTimeout(() => { count(outcome, 'never ended'); socket.destroy(); }, giveUpMs);
    socket.on('error', () => {});
    socket.on('data', () => count(outcome, 'answered'));
    socket.on('end', () => count(outcome, 'ended'));
    socket.on('close', () => {
      clearInterval(dripping);
      clearTimeout(givingUp);
      resolve(undefined);
    });
  })));
  return outcome;
}

/** @param {string} url */
const start = (url) => `POST ${new URL(url).pathname} HTTP/1.1\r\nHost: x\r\n`;

/** @param {Options} options */
const slowHeaders = (options) => drip(options, `${start(options.url)}X-Slow: `, 'x');
/** @param {Options} options */
const slowBodies = (options) => drip(options, `${start(options.url)}Content-Length: 1000000\r\n\r\n{`, ' ');
/** @param {Options} options */
const slowChunks = (options) => drip(options, `${start(options.url)}Transfer-Encoding: chunked\r\n\r\n`, '1\r\n \r\n');

/** Sends most of a large body on each connection, and holds them. @param {Options} options @returns {Promise<Outcome>} */
async function halfBodies({ url, clients, forMs = 0 }) {
  const { hostname, port } = new URL(url);
  const sockets = Array.from({ length: clients }, () => {
    const socket = net.connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write(`${start(url)}Content-Length: ${7 * mib}\r\n\r\n`);
    socket.write(Buffer.alloc(6 * mib, '['));
    return socket;
  });
  await delay(forMs);
  for (const socket of sockets) socket.destroy();
  return { opened: clients };
}

/**
 * Opens that many connections, sends nothing on them, and after a while opens a new one for each that was closed.
 * Those left when no more are closed are `held`.
 * @param {Options} options
 * @returns {Promise<Outcome>}
 */
async function idle({ url, clients, from, forMs = 0 }) {
  const { hostname, port } = new URL(url);
  /** @type {Set<net.Socket>} */
  const sockets = new Set();
  let opened = 0;
  let ended = 0;
  let lastEnd = 0;
  let going = true;
  const open = () => {
    const socket = net.connect({ port: Number(port), host: hostname, localAddress: from }, () => { opened++; });
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      ended++;
      lastEnd = performance.now();
      if (going) setTimeout(() => going && open(), 8000 * Math.random());
    });
  };
  for (let i = 0; i < clients; i++) {
    open();
    if (i % 100 === 99) await delay(25);
  }
  await delay(forMs);
  going = false;
  // The last clients get their answers before the rest is counted.
  await delay(quietMs);
  while (performance.now() - lastEnd < quietMs) await delay(100);
  const held = [...sockets].filter((socket) => socket.readyState === 'open').length;
  for (const socket of sockets) socket.destroy();
  return { opened, ended, held };
}

// ---- requests

/**
 * Sends requests from many clients at once, each as fast as it gets its replies.
 * @param {Options} options
 * @param {(n: number) => Request} make
 * @returns {Promise<Outcome>} by status
 */
async function flood({ url, clients, forMs = Infinity, requests = Infinity, first = 0, fresh = false }, make) {
  /** @type {Outcome} */
  const outcome = {};
  const agent = new http.Agent({ keepAlive: !fresh, maxSockets: clients });
  const until = performance.now() + forMs;
  let next = 0;
  await Promise.all(Array.from({ length: clients }, async () => {
    while (next < requests && performance.now() < until) count(outcome, await post(url, agent, make(first + next++)));
  }));
  agent.destroy();
  return outcome;
}

/**
 * @param {string} url
 * @param {http.Agent} agent
 * @param {Request} given
 * @returns {Promise<number | string>} the status, or why there is none
 */
function post(url, agent, { body, headers = {} }) {
  return new Promise((resolve) => {
    const request = http.request(url, {
      method: 'POST', agent, signal: AbortSignal.timeout(giveUpMs), maxHeaderSize: 1 << 20,
      headers: { 'content-length': String(body.length), ...headers },
    });
    request.on('error', (error) => resolve(/** @type {NodeJS.ErrnoException} */ (error).code ?? error.name));
    request.on('response', (response) => {
      response.on('error', () => {}).on('end', () => resolve(response.statusCode ?? 0)).resume();
    });
    request.end(body);
  });
}


/** Zstandard by hand: a frame of one byte repeated, 128 KiB for each 4 bytes. @param {number} length */
function zstdOf(length) {
  const block = 128 * 1024;
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38]); // window of 128 KiB, nothing else
  const blocks = Array.from({ length: Math.ceil(length / block) }, (_, i) => {
    const left = length - i * block;
    const bits = (Math.min(left, block) << 3) | (1 << 1) | (left <= block ? 1 : 0);
    return Buffer.from([bits & 255, (bits >> 8) & 255, bits >> 16, 0x20]);
  });
  return Buffer.concat([header, ...blocks]);
}

/**
 * Bodies of a few kilobytes that inflate to blanks: past the limit, to just below it, and in layers.
 * @returns {Request[]}
 */
function makeBombs() {
  const { constants } = zlib;
  const brotli = (/** @type {Buffer} */ text) =>
    zlib.brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  const over = Buffer.alloc(100 * mib, ' ');
  const below = Buffer.alloc(63 * mib, ' ');
  const layered = zlib.gzipSync(zlib.gzipSync(zlib.gzipSync(over)));
  /** @type {[string, Buffer][]} */
  const bodies = [
    ['gzip', zlib.gzipSync(over)], ['deflate', zlib.deflateSync(over)], ['br', brotli(over)], ['zstd', zstdOf(100 * mib)],
    ['gzip', zlib.gzipSync(below)], ['deflate', zlib.deflateSync(below)], ['br', brotli(below)], ['zstd', zstdOf(63 * mib)],
    ['gzip', layered], ['gzip, gzip, gzip', layered], ['', layered],
  ];
  return bodies.map(([encoding, body]) => ({ body, ...encoding && { headers: { 'content-encoding': encoding } } }));
}

/** @param {Options} options */
function bombs(options) {
  const all = makeBombs();
  return flood(options, (n) => all[n % all.length]);
}

/** Parts of a form, as they are. @param {Buffer[]} parts @returns {Request} */
const formOf = (parts) => ({
  body: Buffer.concat([...parts.map((part) => Buffer.concat([Buffer.from('--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n'), part, Buffer.from('\r\n')])),
    Buffer.from('--b--\r\n')]),
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
});

/** Compressed parts of one form; each inflates to a large share of the limit for all. @param {Options} options */
function forms(options) {
  const small = Buffer.from('{"marks":[{"name":"a","entryType":"mark","startTime":1,"duration":0}]}');
  const padded = zlib.gzipSync(Buffer.concat([small, Buffer.alloc(2 * mib, ' ')]));
  const all = [
    formOf(Array(64).fill(padded)), formOf(Array(32).fill(padded)), formOf(Array(64).fill(small)),
    formOf(Array(65).fill(small)), formOf(Array(50_000).fill(small)), formOf(Array(64).fill(Buffer.from('{'))),
  ];
  return flood(options, (n) => all[n % all.length]);
}

/** Headers beyond the limit of a connection. @param {Options} options */
function hugeHeaders(options) {
  const body = Buffer.from('{}');
  const all = [
    { 'x-long': 'x'.repeat(60_000) },
    { 'x-long': 'x'.repeat(900_000) },
    Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`x-${i}`, 'y'])),
    { referer: `https://x.example/${'p'.repeat(30_000)}` },
  ];
  return flood(options, (n) => ({ body, headers: all[n % all.length] }));
}

/** A trace as large as the limits allow, without its resources: stacks of every depth, no two alike. */
function giantWithoutResources() {
  const frames = Array.from({ length: 100_000 }, (_, i) => `{"name":"f${i}","resourceId":${i % 100},"line":${i}}`);
  const stacks = Array.from({ length: 400_000 }, (_, i) =>
    (i % 2000 === 0 ? `{"frameId":${i % 100_000}}` : `{"frameId":${i % 100_000},"parentId":${i - 1}}`));
  const samples = Array.from({ length: 200_000 }, (_, i) => `{"timestamp":${i},"stackId":${2 * i}}`);
  return Buffer.from(`],"frames":[${frames}],"stacks":[${stacks}],"samples":[${samples}]}`);
}

/** @param {Buffer} rest as giantWithoutResources makes it @param {number} n */
function giant(rest, n) {
  const resources = Array.from({ length: 100 }, (_, i) => `"https://cdn.example/${n}/${i}.js"`);
  return zlib.gzipSync(Buffer.concat([Buffer.from(`{"resources":[${resources}`), rest]), { level: 1 });
}

/** Giant traces, all different. @param {Options} options */
function giants(options) {
  const rest = giantWithoutResources();
  return flood(options, (n) => ({ body: giant(rest, n) }));
}

/** Uploads of a few megabytes or less that take long to decode: one per format, as many events as the limits allow. */
export function heavyUploads() {
  const dump = Array.from({ length: 49_000 }, (_, n) => `{"type":3,"time":${n},"duration":0.5}`).join('\n');
  const { id, ...session } = JSON.parse(fs.readFileSync(new URL('../data/opera-scope/page-load.json', import.meta.url), 'utf8'));
  const scope = session['opera-scope'];
  const long = JSON.stringify({ ...session, 'opera-scope': { ...scope, timelines: Array(1500).fill(scope.timelines).flat() } });
  return {
    trace: { body: giant(giantWithoutResources(), 0) },
    dumps: formOf(Array(6).fill(zlib.gzipSync(dump))),
    sessions: formOf(Array(6).fill(zlib.gzipSync(long))),
  };
}

/** All of these, in turn. On new connections, which any thread takes that is free. @param {Options} options */
function slowToDecode(options) {
  const uploads = Object.values(heavyUploads());
  return flood({ ...options, fresh: true }, (n) => uploads[n % uploads.length]);
}

/** Small traces with new names only. @param {Options} options */
function randomNames(options) {
  return flood(options, (n) => {
    const names = Array.from({ length: 50 }, (_, i) => `f${n}_${i}_${Math.random()}`);
    return { body: Buffer.from(JSON.stringify({
      page: { url: `https://attacked.example/p/${n}` },
      release: `r${n}`,
      trace: {
        resources: [`https://cdn.example/${n}.js`],
        frames: names.map((name, line) => ({ name, resourceId: 0, line })),
        stacks: names.map((_, i) => (i === 0 ? { frameId: 0 } : { frameId: i, parentId: i - 1 })),
        samples: names.map((_, i) => ({ timestamp: 10 * i, stackId: i })),
      },
      marks: [{ name: `m${n}`, entryType: 'mark', startTime: 1, duration: 0 }],
    })) };
  });
}

export const attacks = {
  slowHeaders, slowBodies, slowChunks, halfBodies, idle, bombs, forms, hugeHeaders, giants, slowToDecode, randomNames,
};

if (!isMainThread) {
  const { attack, options } = workerData;
  parentPort?.postMessage(await attacks[/** @type {keyof typeof attacks} */ (attack)](options));
}
