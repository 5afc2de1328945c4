// SPDX-License-Identifier: Apache-2.0
/** The integrations for lighttpd and Traefik keep the contract, and what streams through them keeps streaming. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';

import { servers } from '../../../conformance/application.mjs';
import { freePort, repository, run, startProcess, temporaryDir, untilReady, waitFor } from '../stack.mjs';
import { keyFile, listen, startApplication, testServers } from './contract.mjs';

const integrations = path.join(repository, 'integrations');

const hasLighttpd = fs.existsSync('/usr/lib/lighttpd/mod_magnet.so');
const hasYaegi = fs.existsSync('/usr/bin/yaegi');
const noLighttpd = !hasLighttpd && 'lighttpd and its Lua modules are not installed';
const noYaegi = !hasYaegi && 'yaegi, the interpreter of plugins in Traefik, is not installed: tools/deps ci installs it';

/** Each part with the three options. @type {[string, Record<string, string | number> | null][]} */
const parts = Object.entries(servers).map(([name, setting]) => [name, setting
  ? { rate: parseFloat(setting.rate) / 100, ...setting.key ? { site: 'shop', keyFile } : {} } : null]);

/** @param {string} application @param {typeof parts} [settings] */
async function startLighttpd(application, settings = parts) {
  const dir = temporaryDir('lighttpd');
  const port = await freePort();
  const folder = `${dir}/lua`;
  fs.mkdirSync(folder);
  for (const from of ['lighttpd', 'lua']) fs.cpSync(`${integrations}/${from}`, folder, { recursive: true });
  const names = /** @type {const} */ ([['FLEETPROF_RATE', 'rate'], ['FLEETPROF_SITE', 'site'], ['FLEETPROF_TOKEN_KEY', 'keyFile']]);
  const rules = settings.flatMap(([name, setting]) => (setting ? [`$HTTP["url"] =~ "^/${name}/" { setenv.set-environment = (
    ${names.filter(([, option]) => option in setting).map(([variable, option]) => `"${variable}" => "${setting[option]}"`).join(', ')} ) }`] : []));
  const log = `${dir}/error.log`;
  fs.writeFileSync(`${dir}/lighttpd.conf`, `server.document-root = "${dir}"
server.bind = "127.0.0.1"
server.port = ${port}
server.errorlog = "${log}"
server.stream-response-body = 1
proxy.header = ( "upgrade" => "enable" )
mimetype.assign = ( ".html" => "text/html" )
server.modules = ( "mod_setenv", "mod_magnet", "mod_proxy" )
${rules.join('\n')}
magnet.attract-response-start-to = ( "${folder}/fleetprof.lua" )
$HTTP["url"] !~ "^/none/files/" { proxy.server = ( "" => (( "host" => "127.0.0.1", "port" => ${new URL(application).port} )) ) }
`);
  const server = startProcess('lighttpd', ['/usr/sbin/lighttpd', '-D', '-f', `${dir}/lighttpd.conf`], { deathSignal: 'SIGTERM' });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, () => fetch(`${url}/off/`).then(() => true, () => false));
  return { url, dir, log: () => fs.readFileSync(log, 'utf8'), stop: () => server.stop('SIGTERM') };
}

/** Lays the plugin out as Traefik wants it. @returns {string} the folder of the sources */
function layPlugin() {
  const dir = temporaryDir('traefik');
  fs.cpSync(`${integrations}/go`, `${dir}/src/fleetprof`, { recursive: true });
  fs.cpSync(`${integrations}/traefik`, `${dir}/src/fleetprof/traefik`, { recursive: true });
  return dir;
}

/** The command of a proxy with the plugin. @param {string} application @param {number} port @param {typeof parts} settings */
const proxy = (application, port, settings) => ['/usr/bin/yaegi', 'run', path.join(repository, 'tests/behaviour/conformance/traefik.go'),
  `127.0.0.1:${port}`, application, JSON.stringify(Object.fromEntries(settings.filter(([, setting]) => setting)))];

/** @param {string} application */
async function startTraefik(application) {
  const port = await freePort();
  const server = startProcess('yaegi', proxy(application, port, parts), { deathSignal: 'SIGTERM', env: { GOPATH: layPlugin() } });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, () => fetch(`${url}/off/`).then(() => true, () => false));
  return { url, stop: () => server.stop('SIGTERM') };
}

testServers([
  { name: 'lighttpd', skip: noLighttpd, start: startLighttpd,
    cannot: { an_empty_line_among_others_is_unparsable: 'lighttpd drops a field that is empty' } },
  { name: "Traefik's plugin", skip: noYaegi, start: startTraefik },
]);

for (const { name, skip, start } of [{ name: 'lighttpd', skip: noLighttpd, start: startLighttpd }, { name: "Traefik's plugin", skip: noYaegi, start: startTraefik }]) {
  test(`${name} sends the first part of a page before the second is made, and lets a connection be taken over`, { skip }, async () => {
    /** @type {import('node:http').ServerResponse[]} */
    const open = [];
    const application = await listen((request, response) => {
      if (!request.url?.endsWith('/streamed')) return void response.end();
      open.push(response.writeHead(200, { 'Content-Type': 'text/html' }));
      response.write('first');
    }, (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n'));
    const server = await start(application.url);
    try {
      const response = await fetch(`${server.url}/all/streamed`);
      assert.equal(response.headers.get('document-policy'), 'js-profiling, js-profiling-mode=lazy');
      const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
      const { value } = await reader.read();
      assert.equal(new TextDecoder().decode(value), 'first');
      open[0].end();
      assert.equal((await reader.read()).done, true);
      const socket = net.connect(Number(new URL(server.url).port), '127.0.0.1');
      socket.write('GET /all/socket HTTP/1.1\r\nHost: shop.test\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n');
      const [head] = await once(socket, 'data');
      assert.match(String(head), /^HTTP\/1\.1 101 /);
      socket.destroy();
    } finally {
      await server.stop();
      await application.stop();
    }
  });
}

test('lighttpd revalidates an unsampled file of its own, and never a sampled one', { skip: noLighttpd }, async () => {
  const server = await startLighttpd('http://127.0.0.1:1', [['none', { rate: 0 }], ['none/files/all', { rate: 1 }]]);
  try {
    fs.mkdirSync(`${server.dir}/none/files/all`, { recursive: true });
    for (const file of ['page.html', 'all/page.html']) fs.writeFileSync(`${server.dir}/none/files/${file}`, '<!doctype html>');
    const page = await fetch(`${server.url}/none/files/page.html`);
    const etag = String(page.headers.get('etag'));
    assert.deepEqual([page.headers.get('document-policy'), page.headers.get('server-timing')], ['js-profiling=?0', 'fleetprof;desc="0"']);
    assert.equal((await fetch(`${server.url}/none/files/page.html`, { headers: { 'If-None-Match': etag, 'Sec-Fetch-Dest': 'document' } })).status, 304);
    const { headers } = await fetch(`${server.url}/none/files/all/page.html`);
    assert.match(String(headers.get('server-timing')), /^fleetprof;desc="1\./);
    assert.deepEqual([headers.get('etag'), headers.get('last-modified')], [null, null]);
  } finally {
    await server.stop();
  }
});

test('a mistake in the options is named in the log of lighttpd, which then samples nothing', { skip: noLighttpd }, async () => {
  const application = await startApplication();
  const mistakes = /** @type {[Record<string, string | number>, RegExp][]} */ ([[{ rate: 2 }, /rate 2 is not 0, and not from 0.000001 to 1/],
    [{ rate: 1, site: 'a shop', keyFile }, /site "a shop" is not 1 to 64/], [{ rate: 1, site: 'shop', keyFile: '/there/is/none.key' }, /\/there\/is\/none\.key: No such file/],
    [{ rate: 1, site: 'shop', keyFile: `${repository}/VERSION` }, /VERSION: the first key is not 32 to 128 bytes/]]);
  try {
    for (const [options, message] of mistakes) {
      const server = await startLighttpd(application.url, [['all', options]]);
      try {
        const { status, headers } = await fetch(`${server.url}/all/a_sampled_page_says_yes`);
        assert.deepEqual([status, headers.get('document-policy'), headers.get('server-timing')], [200, 'js-profiling=?0', 'fleetprof;desc="0"'], String(message));
        await waitFor(() => message.test(server.log()), { what: String(message) });
      } finally {
        await server.stop();
      }
    }
  } finally {
    await application.stop();
  }
});

test("a mistake in the options is named before Traefik's plugin takes a request", { skip: noYaegi }, async () => {
  const mistakes = /** @type {[Record<string, string | number>, RegExp][]} */ ([[{ rate: 2 }, /middleware all: fleetprof: rate 2 is not 0, and not from 0.000001 to 1/],
    [{ rate: 1, site: 'a shop', keyFile }, /middleware all: fleetprof: site "a shop" is not 1 to 64/]]);
  for (const [options, message] of mistakes) {
    const { code, stderr } = await run(proxy('http://127.0.0.1:1', await freePort(), [['all', options]]), { env: { GOPATH: layPlugin() } });
    assert.notEqual(code, 0);
    assert.match(stderr, message);
  }
});
