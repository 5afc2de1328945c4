// SPDX-License-Identifier: Apache-2.0
/** The decision in programs that own their HTTP server, and know nothing of it: Node loads it before them. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { servers } from '../../../conformance/application.mjs';
import { freePort, repository, run, startProcess, temporaryDir, untilReady } from '../stack.mjs';
import { keyFile, listen, testServers } from './contract.mjs';

const register = pathToFileURL(path.join(repository, 'integrations/javascript/register.js')).href;
const yes = 'js-profiling, js-profiling-mode=lazy';

/** Starts a program of Node with the decision. @param {(port: number) => string[]} command @param {Record<string, string>} env */
async function startProgram(command, env) {
  const port = await freePort();
  const server = startProcess('node', [process.execPath, ...command(port)], { deathSignal: 'SIGTERM', env: { NODE_OPTIONS: `--import ${register}`, ...env } });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(server, () => fetch(url).then(() => true, () => false));
  return { url, stop: () => server.stop('SIGTERM') };
}

/** Starts the application of the conformance test, unchanged, once for each part, and what leads to them. */
async function start() {
  /** @type {Record<string, Awaited<ReturnType<typeof startProgram>>>} */
  const programs = {};
  for (const [name, setting] of Object.entries(servers)) {
    /** @type {Record<string, string>} */
    const signing = setting?.key ? { FLEETPROF_SITE: 'shop', FLEETPROF_TOKEN_KEY: keyFile } : {};
    /** @type {Record<string, string>} */
    const env = setting ? { FLEETPROF_RATE: String(parseFloat(setting.rate) / 100), ...signing } : { NODE_OPTIONS: '' };
    programs[name] = await startProgram((port) => [path.join(repository, 'conformance/application.mjs'), String(port)], env);
  }
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  const front = await listen((request, response) => {
    const { url } = programs[String(request.url).split('/')[1]] ?? programs.off;
    http.get(`${url}${request.url}`, { headers: request.headers, method: request.method, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
      answer.pipe(response);
    });
  });
  return { url: front.url, stop: async () => {
    await front.stop();
    agent.destroy();
    for (const program of Object.values(programs)) await program.stop();
  } };
}

testServers([{ name: 'a program of Node', start }]);

/** The fields of a page, without the token. @param {string} url */
async function decisionOf(url) {
  const { status, headers } = await fetch(url);
  return [status, headers.get('document-policy'), headers.get('server-timing')?.replace(/"1\..*"/, '"1"') ?? null];
}

test('Vite serves a build whose pages are sampled, and whose scripts are not touched', async () => {
  const dir = temporaryDir('vite');
  fs.writeFileSync(`${dir}/index.html`, '<!doctype html><script type="module" src="/main.js"></script>');
  fs.writeFileSync(`${dir}/main.js`, 'document.title = "a page";');
  fs.writeFileSync(`${dir}/vite.config.mjs`, 'export default { build: { rollupOptions: { output: { entryFileNames: "[name].js" } } } };');
  const vite = path.join(repository, 'node_modules/vite/bin/vite.js');
  assert.equal((await run([process.execPath, vite, 'build', dir])).code, 0);
  const server = await startProgram((port) => [vite, 'preview', dir, '--host', '127.0.0.1', '--port', String(port), '--strictPort'], { FLEETPROF_RATE: '1' });
  try {
    assert.deepEqual(await decisionOf(`${server.url}/`), [200, yes, 'fleetprof;desc="1"']);
    assert.deepEqual(await decisionOf(`${server.url}/index.js`), [200, null, null]);
  } finally {
    await server.stop();
  }
});

/** Next.js takes 400 MB: this runs where NEXT names a folder that has it and React in node_modules. */
const { NEXT: next } = process.env;

test('Next.js serves sampled pages, except those that shared caches may store', { skip: !next && 'NEXT names no folder' }, async () => {
  const dir = String(next);
  const page = (/** @type {string} */ name, /** @type {string} */ text) => {
    fs.mkdirSync(`${dir}/app/${name}`, { recursive: true });
    fs.writeFileSync(`${dir}/app/${name}/page.js`, text);
  };
  page('static', 'export default function Page() { return <p>a page</p>; }');
  page('fixed', 'export default function Page() { return <p>a page</p>; }');
  page('dynamic', "export const dynamic = 'force-dynamic';\nexport default function Page() { return <p>{Date.now()}</p>; }");
  fs.writeFileSync(`${dir}/app/layout.js`, 'export default function Layout({ children }) { return <html><body>{children}</body></html>; }');
  fs.writeFileSync(`${dir}/next.config.mjs`, `export default { async headers() {
  return [{ source: '/fixed', headers: [{ key: 'Cache-Control', value: 'private, no-cache' }] }];
} };`);
  const program = `${dir}/node_modules/next/dist/bin/next`;
  const built = await run([process.execPath, program, 'build', dir]);
  assert.equal(built.code, 0, built.stderr);
  const server = await startProgram((port) => [program, 'start', dir, '--hostname', '127.0.0.1', '--port', String(port)], { FLEETPROF_RATE: '1' });
  try {
    assert.deepEqual(await decisionOf(`${server.url}/dynamic`), [200, yes, 'fleetprof;desc="1"']);
    assert.deepEqual(await decisionOf(`${server.url}/fixed`), [200, yes, 'fleetprof;desc="1"']);
    assert.deepEqual(await decisionOf(`${server.url}/static`), [200, 'js-profiling=?0', 'fleetprof;desc="0"']);
  } finally {
    await server.stop();
  }
});

test('a mistake in the environment is named before the program starts', async () => {
  const mistakes = /** @type {[Record<string, string>, RegExp][]} */ ([[{ FLEETPROF_RATE: '' }, /fleetprof: FLEETPROF_RATE "" is not a number from 0 to 1/],
    [{ FLEETPROF_RATE: '1%' }, /fleetprof: FLEETPROF_RATE "1%" is not a number/], [{ FLEETPROF_RATE: '2' }, /fleetprof: rate 2 is not 0/],
    [{ FLEETPROF_RATE: '1', FLEETPROF_SITE: 'a shop', FLEETPROF_TOKEN_KEY: keyFile }, /site "a shop" is not 1 to 64/]]);
  for (const [env, message] of mistakes) {
    const { code, stderr, stdout } = await run([process.execPath, '--import', register, '-e', 'console.log("started")'], { env });
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, message);
  }
});
