// SPDX-License-Identifier: Apache-2.0
/** The integrations for Varnish, Rack, Python, Go and Caddy keep the contract. */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { servers } from '../../../conformance/application.mjs';
import { freePort, repository, run, runOrThrow, startProcess, temporaryDir, untilReady } from '../stack.mjs';
import { keyFile, listen, startApplication, testServers } from './contract.mjs';

const here = path.join(repository, 'tests/behaviour/conformance');
const integrations = path.join(repository, 'integrations');

/** @param {string} program @param {string} [name] */
const absent = (program, name = program) => !fs.existsSync(`/usr/bin/${program}`) && !fs.existsSync(`/usr/sbin/${program}`) && `${name} is not installed`;

/** Starts a program that serves a port. @param {string} name @param {(port: number) => string[]} command @param {Record<string, string>} [env] */
async function serve(name, command, env) {
  const port = await freePort();
  const server = startProcess(name, command(port), { deathSignal: 'SIGTERM', env });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, () => fetch(`${url}/off/`).then(() => true, () => false));
  return { url, stop: () => server.stop('SIGTERM') };
}

// In VCL, a text ends at a byte 00, so the key of the conformance test would not do.
const varnishKeys = `${temporaryDir('varnish-key')}/token.key`;
fs.writeFileSync(varnishKeys, `# the first key signs\n\n${crypto.randomBytes(32).toString('hex').replaceAll('00', '01')}\n${'ab'.repeat(32)}\n`);

/** @param {string} application @param {string} [keys] */
async function startVarnish(application, keys = varnishKeys) {
  const dir = temporaryDir('varnish');
  const file = `${dir}/site.vcl`;
  const rules = Object.entries(servers).flatMap(([name, setting]) => (setting ? [`if (req.url ~ "^/${name}/") {
    set req.http.fleetprof-rate = "${parseFloat(setting.rate) / 100}";
    ${setting.key ? `set req.http.fleetprof-site = "shop"; set req.http.fleetprof-key = "${keys}";` : ''}
  }`] : []));
  // Pages are stored, and decided with each delivery. An answer of upstream to a condition passes through.
  fs.writeFileSync(file, `vcl 4.1;
include "${integrations}/varnish/fleetprof.vcl";
backend default { .host = "127.0.0.1"; .port = "${new URL(application).port}"; }
sub vcl_recv { if (req.http.If-None-Match && !req.http.From-Cache) { return (pass); } }
sub vcl_deliver {
  ${rules.join('\n  ')}
  call fleetprof;
  set resp.http.Hits = obj.hits;
}
`);
  return serve('varnish', (port) => ['/usr/sbin/varnishd', '-j', 'none', '-F', '-f', file, '-a', `127.0.0.1:${port}`, '-n', `${dir}/work`, '-T', 'none', '-p', 'http_max_hdr=256']);
}

const startRack = () => serve('puma', (port) => ['/usr/bin/puma', '-b', `tcp://127.0.0.1:${port}`, '-e', 'production', `${here}/application.ru`]);

const python = { PYTHONDONTWRITEBYTECODE: '1' };
const startWsgi = () => serve('wsgiref', (port) => ['/usr/bin/python3', `${here}/application.py`, String(port)], python);
const startAsgi = () => serve('uvicorn', (port) => ['/usr/bin/uvicorn', '--app-dir', here, 'application:asgi', '--port', String(port), '--log-level', 'warning', '--lifespan', 'off'], python);

async function startGo() {
  const dir = temporaryDir('go');
  fs.copyFileSync(`${here}/application.go`, `${dir}/application.go`);
  fs.writeFileSync(`${dir}/go.mod`, `module application\n\ngo 1.19\n\nrequire fleetprof v0.0.0\n\nreplace fleetprof => ${integrations}/go\n`);
  await runOrThrow(['env', '-C', dir, 'go', 'vet', 'fleetprof', '.']);
  await runOrThrow(['env', '-C', dir, 'go', 'build', '-o', 'application', '.']);
  return serve('go', (port) => [`${dir}/application`, `127.0.0.1:${port}`, path.join(repository, 'conformance/cases.json'), keyFile]);
}

/** Caddy with the module takes a hundred packages of Go to build: it runs where CADDY names its program. */
const { CADDY: caddy } = process.env;

/** @param {string} application */
async function startCaddy(application) {
  const dir = temporaryDir('caddy');
  const port = await freePort();
  const routes = Object.entries(servers).map(([name, setting]) => `route /${name}/* {
  ${setting ? `fleetprof ${parseFloat(setting.rate) / 100} ${setting.key ? `shop ${keyFile}` : ''}` : ''}
  reverse_proxy ${new URL(application).host}
}`);
  fs.writeFileSync(`${dir}/Caddyfile`, `{
  admin off
  auto_https off
}
http://127.0.0.1:${port} {
${routes.join('\n')}
route /failed/* {
  fleetprof 1
  error 404
}
}
`);
  const server = startProcess('caddy', [String(caddy), 'run', '--config', `${dir}/Caddyfile`, '--adapter', 'caddyfile'],
    { deathSignal: 'SIGTERM', env: { XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir } });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, () => fetch(`${url}/off/`).then(() => true, () => false));
  const failed = await fetch(`${url}/failed/page`);
  assert.deepEqual([failed.status, failed.headers.get('server-timing')], [404, null]);
  return { url, stop: () => server.stop('SIGTERM') };
}

const isRack2 = !absent('puma') && (await runOrThrow(['ruby', '-rrack', '-e', 'print Rack.release'])) < '3';

testServers([
  { name: 'Varnish', skip: absent('varnishd', 'Varnish') || (!fs.existsSync('/usr/share/doc/varnish-vmod-digest') && "Varnish's digest module is not installed"),
    start: startVarnish, keys: varnishKeys },
  { name: 'Rack', skip: absent('puma'), start: startRack,
    cannot: isRack2 ? { an_empty_line_among_others_is_unparsable: 'Rack 2 joins lines by line feeds, and Puma 5 drops an empty last one' } : {} },
  { name: 'WSGI', skip: absent('python3', 'Python'), start: startWsgi },
  { name: 'ASGI', skip: absent('uvicorn'), start: startAsgi },
  { name: 'Go', skip: absent('go', 'Go: tools/deps long installs it; it'), start: startGo },
  { name: 'Caddy', skip: !caddy && 'CADDY names no program', start: startCaddy },
]);

test('Varnish decides on a stored page with each delivery', { skip: absent('varnishd', 'Varnish') }, async () => {
  let asked = 0;
  const application = await listen((request, response) => {
    asked += request.url === '/all/page' ? 1 : 0;
    response.writeHead(200, { 'Content-Type': 'text/html', ETag: '"v1"' }).end('<!doctype html>');
  });
  const server = await startVarnish(application.url);
  try {
    /** @param {string} part @param {Record<string, string>} [headers] */
    const load = async (part, headers) => {
      const response = await fetch(`${server.url}/${part}/page`, { headers });
      await response.arrayBuffer();
      const [policy, timing, etag, hits] = ['document-policy', 'server-timing', 'etag', 'hits'].map((name) => response.headers.get(name));
      return { status: response.status, policy, timing, etag, hits };
    };
    const [first, second] = [await load('all'), await load('all')];
    assert.match(String(first.timing), /^fleetprof;desc="v1\./);
    assert.match(String(second.timing), /^fleetprof;desc="v1\./);
    assert.notEqual(first.timing, second.timing);
    assert.deepEqual([first.hits, second.hits, first.etag, second.etag, asked], ['0', '1', null, null, 1]);
    const condition = { 'If-None-Match': '"v1"', 'From-Cache': 'yes' };
    assert.equal((await load('all', condition)).status, 200, 'a page with a yes is never revalidated');
    await load('none');
    const { status, policy } = await load('none', condition);
    assert.deepEqual([status, policy], [304, 'js-profiling=?0']);
  } finally {
    await server.stop();
    await application.stop();
  }
});

test('Varnish samples nothing with a key that it cannot use', { skip: absent('varnishd', 'Varnish') }, async () => {
  const application = await startApplication();
  try {
    for (const keys of [keyFile, '/there/is/none.key']) {
      const server = await startVarnish(application.url, keys);
      try {
        const { status, headers } = await fetch(`${server.url}/all/a_sampled_page_says_yes`);
        assert.deepEqual([status, headers.get('document-policy'), headers.get('server-timing')], [200, 'js-profiling=?0', 'fleetprof;desc="0"'], keys);
      } finally {
        await server.stop();
      }
    }
  } finally {
    await application.stop();
  }
});

test('a mistake in the options is named before the first request', async () => {
  const mistakes = [['2', 'shop', keyFile, /fleetprof: rate 2(\.0)? is not 0, and not from 0.000001 to 1/],
    ['1', 'a shop', keyFile, /site ["']a shop["'] is not 1 to 64/], ['1', 'shop', `${repository}/VERSION`, /VERSION: the first key is not 32 to 128 bytes/]];
  for (const [rate, site, keys, message] of /** @type {[string, string, string, RegExp][]} */ (mistakes)) {
    /** @type {string[][]} */
    const programs = [];
    if (!absent('puma')) programs.push(['ruby', '-r', `${integrations}/ruby/fleetprof.rb`, '-e', `Fleetprof.new(nil, rate: ${rate}, site: '${site}', key_file: '${keys}')`]);
    if (!absent('python3')) {
      programs.push(['/usr/bin/python3', '-B', '-c', `import sys; sys.path.insert(0, '${integrations}/python'); import fleetprof
fleetprof.Wsgi(None, rate=${rate}, site='${site}', key_file='${keys}')`]);
    }
    for (const program of programs) {
      const { code, stderr } = await run(program);
      assert.notEqual(code, 0);
      assert.match(stderr, message, program[0]);
    }
  }
});
