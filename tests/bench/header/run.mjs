#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// The cost of the header module per request: instructions that nginx executes, counted by callgrind.
//
// The same page, as a file and from an upstream server, with nothing, with add_header, with headers-more and with
// the module setting the same three fields. Each number is the difference of two runs of unlike length, so that start and
// stop are not in it. wrk's requests a second for the file stand beside them; they tell little, since a machine's
// noise is larger than what they differ by.
//
//   node tests/bench/header/run.mjs [--requests 2000] [--seconds 5] [--only REGEXP] [--functions]
//
// --functions prints where the instructions of our own functions go. Needs valgrind, wrk and headers-more.
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import { parseArgs } from 'node:util';

import { withKeyFile } from '../../behaviour/headers/token.mjs';
import { headersMore, moduleFile } from '../../behaviour/nginx/nginx.mjs';
import { freePort, startProcess, temporaryDir, waitFor } from '../../behaviour/stack.mjs';

const { values: options } = parseArgs({
  options: {
    requests: { type: 'string', default: '2000' },
    seconds: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    functions: { type: 'boolean', default: false },
  },
});
const requests = Number(options.requests);
const warmUp = 100;
const yes = 'js-profiling, js-profiling-mode=lazy';
const origin = 'https://a.example';
const timing = 'fleetprof;desc="0"';
const ours = `fleetprof on; timing_allow_origin ${origin};`;

/**
 * @typedef {object} Setup
 * @property {string} name
 * @property {string} [module] the file to load
 * @property {string} directives
 */

/** @type {Setup[]} */
const setups = [
  { name: 'nothing', directives: '' },
  { name: 'add_header', directives: `add_header Document-Policy "${yes}"; add_header Timing-Allow-Origin ${origin};
      add_header Server-Timing '${timing}';` },
  { name: 'headers-more', module: headersMore,
    directives: `more_set_headers "Document-Policy: ${yes}" "Timing-Allow-Origin: ${origin}" 'Server-Timing: ${timing}';` },
  { name: 'headers-more, also clearing validators', module: headersMore,
    directives: `more_set_headers "Document-Policy: ${yes}" "Timing-Allow-Origin: ${origin}" 'Server-Timing: ${timing}';
      more_clear_headers ETag Last-Modified;` },
  { name: 'fleetprof, off', module: moduleFile, directives: '' },
  { name: 'fleetprof, unsampled', module: moduleFile, directives: `${ours} fleetprof_sample 0%;` },
  { name: 'fleetprof, sampled', module: moduleFile, directives: `${ours} fleetprof_sample 100%;` },
  { name: 'fleetprof, sampled, with a token', module: moduleFile,
    directives: `${ours} fleetprof_sample 100%; ${withKeyFile('fleetprof_site shop; fleetprof_token_key KEY_FILE;')}` },
];

const dir = temporaryDir('bench');
fs.chmodSync(dir, 0o755);
const html = `<!doctype html><title>page</title>${'<p>text</p>'.repeat(100)}`;
fs.writeFileSync(`${dir}/page.html`, html);

/** Returns Chromium's request for a page. */
const request = (/** @type {number} */ port) => [
  'GET /page.html HTTP/1.1', `Host: 127.0.0.1:${port}`, 'Connection: keep-alive', 'Upgrade-Insecure-Requests: 1',
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8',
  'Sec-Fetch-Site: none', 'Sec-Fetch-Mode: navigate', 'Sec-Fetch-User: ?1', 'Sec-Fetch-Dest: document',
  'Accept-Language: en-GB,en;q=0.9', 'Cookie: session=0123456789abcdef0123456789abcdef', '', ''].join('\r\n');

/** Sends requests one after the other on one connection. */
async function load(/** @type {number} */ port, /** @type {number} */ count) {
  const socket = net.connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const bytes = request(port);
  let text = '';
  for (let i = 0; i < count; i++) {
    socket.write(bytes);
    for (text = ''; !text.endsWith('</p>');) {
      const [chunk] = await once(socket, 'data');
      text += chunk.toString('latin1');
    }
  }
  socket.destroy();
  return text;
}

/** An upstream like many: its page is private and can be revalidated. */
async function startUpstream() {
  const answer = `HTTP/1.1 200 OK\r\nServer: app\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: ${html.length
  }\r\nETag: "v1"\r\nCache-Control: private, no-cache\r\nVary: Accept-Encoding\r\nX-Request-Id: 1\r\n\r\n${html}`;
  const server = net.createServer((socket) => {
    let text = '';
    socket.on('error', () => {}).on('data', (chunk) => {
      text += chunk.toString('latin1');
      for (let end; (end = text.indexOf('\r\n\r\n')) >= 0; text = text.slice(end + 4)) socket.write(answer);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: /** @type {net.AddressInfo} */ (server.address()).port, close: () => server.close() };
}

const upstream = await startUpstream();
const sources = /** @type {const} */ ({
  file: `root ${dir};`,
  proxied: 'proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection "";',
});

/**
 * Starts nginx as one process, under the given command.
 * @param {Setup} setup
 * @param {keyof typeof sources} source
 * @param {string[]} [command]
 */
async function start(setup, source, command = []) {
  const port = await freePort();
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${dir}/${kind};`);
  fs.writeFileSync(`${dir}/nginx.conf`, `${setup.module ? `load_module ${setup.module};` : ''}
master_process off; daemon off; user root; pid ${dir}/nginx.pid; error_log stderr notice; events {}
http { include /etc/nginx/mime.types; access_log off; keepalive_requests 1000000; ${temporary.join(' ')}
  upstream app { server 127.0.0.1:${upstream.port}; keepalive 16; keepalive_requests 1000000; }
  server { listen 127.0.0.1:${port}; ${setup.directives} location / { ${sources[source]} } } }`);
  const server = startProcess('nginx', [...command, '/usr/sbin/nginx', '-e', 'stderr', '-p', dir, '-c', `${dir}/nginx.conf`]);
  await waitFor(() => load(port, 1), { what: 'answer' });
  return {
    port,
    stop: async () => {
      const stopping = server.stop('SIGTERM', 60_000);
      // A single process may take the signal just before it waits, and then needs a connection to notice.
      const knocking = setInterval(() => net.connect(port, '127.0.0.1').on('error', () => {}).end(), 100);
      await stopping;
      clearInterval(knocking);
    },
  };
}

/** Instructions of a process that answers so many requests. */
async function instructions(/** @type {Setup} */ setup, /** @type {keyof typeof sources} */ source, /** @type {number} */ count) {
  const out = `${dir}/callgrind.out`;
  const nginx = await start(setup, source, ['valgrind', '--tool=callgrind', '-q', `--callgrind-out-file=${out}`]);
  const text = await load(nginx.port, count);
  await nginx.stop();
  const total = /^(?:totals|summary): (\d+)/m.exec(fs.readFileSync(out, 'utf8'))?.[1];
  if (options.functions && count > warmUp) {
    console.log(execFileSync('callgrind_annotate', ['--threshold=100', out], { encoding: 'utf8' })
      .split('\n').filter((line) => /fleetprof|headers_more|http_headers_filter|more_/.test(line)).slice(0, 40).join('\n'));
  }
  return { total: Number(total), fields: [...text.matchAll(/^(document-policy|timing-allow-origin|server-timing):/gim)].length };
}

/** Requests a second for the file. */
async function speed(/** @type {Setup} */ setup) {
  const nginx = await start(setup, 'file');
  const said = execFileSync('wrk', ['-t1', '-c16', `-d${options.seconds}s`, `http://127.0.0.1:${nginx.port}/page.html`],
    { encoding: 'utf8' });
  await nginx.stop();
  return Number(/^Requests\/sec:\s+([\d.]+)/m.exec(said)?.[1]);
}

const rows = [];
for (const setup of setups.filter(({ name }) => new RegExp(options.only).test(name))) {
  const row = /** @type {Record<string, number>} */ ({});
  for (const source of /** @type {(keyof typeof sources)[]} */ (Object.keys(sources))) {
    const short = await instructions(setup, source, warmUp);
    const whole = await instructions(setup, source, warmUp + requests);
    row[source] = Math.round((whole.total - short.total) / requests);
    row.fields = whole.fields;
  }
  if (Number(options.seconds) > 0) row.speed = Math.round(await speed(setup));
  rows.push({ name: setup.name, ...row });
  console.error(setup.name, row);
}

const [base] = rows;
const number = (/** @type {number} */ n) => n.toLocaleString('en');
const more = (/** @type {number} */ n) => (n >= 0 ? `+${number(n)}` : `−${number(-n)}`);
console.log('| | fields | file: instructions | more | proxied: instructions | more | file: requests/s |');
console.log('|---|---|---|---|---|---|---|');
for (const row of rows) {
  const r = /** @type {any} */ (row);
  const b = /** @type {any} */ (base);
  console.log(`| ${r.name} | ${r.fields} | ${number(r.file)} | ${r === b ? '' : more(r.file - b.file)} | ${
    number(r.proxied)} | ${r === b ? '' : more(r.proxied - b.proxied)} | ${r.speed ? number(r.speed) : ''} |`);
}
upstream.close();
process.exit(0);
