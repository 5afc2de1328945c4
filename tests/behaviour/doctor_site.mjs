// SPDX-License-Identifier: Apache-2.0
/**
 * A site for doctor's tests: an Express application with helmet behind nginx or httpd, and a collector. Each set-up,
 * right or wrong, is a host NAME.localhost of the same servers.
 */
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

import express from 'express';
import helmet from 'helmet';

import { startHttpd } from './httpd/httpd.mjs';
import { startModule } from './nginx/nginx.mjs';
import { binDir, freePort, repository, run, runOrThrow, startCollector, temporaryDir } from './stack.mjs';

/**
 * The differences of a set-up from the right one.
 * @typedef {object} Setup
 * @property {string[]} [finds] the findings that doctor must make, and no others; none: it is a right set-up
 * @property {string[]} [options] of doctor
 * @property {string} [address] of the page, `/` by default
 * @property {Record<string, string | string[]>} [fields] of the application's page
 * @property {Record<string, string[] | null>} [csp] directives that differ from helmet's
 * @property {string} [tag] instead of the agent's tag
 * @property {string} [head] at the end of <head>
 * @property {string} [before] in <head>, before the agent's tag
 * @property {string} [body]
 * @property {boolean} [fallback] the application answers every path with the page
 * @property {number} [status] of the application's page
 * @property {'fields' | 'status'} [sometimes] every second page is without these, the first one first
 * @property {boolean} [bare304] the application answers a revalidation with 304 and no other field
 * @property {boolean} [tls] over https
 * @property {string} [key] of the site; `pk_shop` by default
 * @property {string} [nginx] lines of the server
 * @property {string} [httpd] lines of the virtual host
 * @property {boolean} [off] without `fleetprof on` and a rate
 * @property {string} [rate] 100 % by default
 * @property {string} [signed] with a token key, for this site
 * @property {'none' | 'cut' | 'down' | 'small' | 'https' | 'noQuery'} [ingest] what is wrong with the way to the collector
 * @property {{ of: string, hides: string[] }} [outer] a proxy without the module in front of another host
 */

const agent = fs.readFileSync(path.join(repository, 'agent/dist/fleetprof.js'), 'utf8');

/** @param {Setup} setup */
const rightTag = ({ key = 'pk_shop' }) => `<script src="/fleetprof-0.1.0.js" data-endpoint="/v1/ingest/${key}"></script>`;

/** @param {Setup} setup @param {string} otherOrigin */
function renderPage(setup, otherOrigin) {
  const { before = '', tag = rightTag(setup), head = '', body = '' } = setup;
  // Pages name the other origins by these words.
  const html = `<!doctype html><html><head><meta charset="utf-8"><title>Shop</title>
${before}${tag}<script src="/app.js"></script>${head}</head><body><p>Shop</p>${body}</body></html>`;
  return html.replaceAll('OTHER', otherOrigin);
}

/**
 * Starts the application. Its second listener is another origin, for scripts.
 * @param {Record<string, Setup>} setups
 */
export async function startApp(setups, ingest = '', port = () => 0) {
  const app = express();
  app.disable('x-powered-by');
  app.set('etag', false);
  /** @type {Map<string, number>} */
  const pages = new Map();
  let otherOrigin = '';
  const setupOf = (/** @type {express.Request} */ request) => setups[request.hostname.split('.')[0]] ?? {};

  app.get('/fleetprof-0.1.0.js', (request, response) => { response.type('js').send(agent); });
  app.get('/app-agent.js', (request, response) => { response.type('js').send(agent); });
  app.get('/app.js', (request, response) => { response.type('js').send('function shop() {}\n'); });
  app.get('/minified.js', (request, response) => { response.type('js').send(`x=${'1+'.repeat(2000)}1`); });
  app.get('/mapped.js', (request, response) => { response.type('js').send('let a;\n//# sourceMappingURL=none.map\n'); });
  app.get('/text.js', (request, response) => { response.type('text').send('let a;\n'); });
  app.get('/open.js', (request, response) => {
    response.set({ 'Access-Control-Allow-Origin': '*', 'Timing-Allow-Origin': '*' }).type('js').send('let a;\n');
  });
  app.get('/hidden.js', (request, response) => {
    response.set('Access-Control-Allow-Origin', '*').type('js').send('let a;\n');
  });
  app.get('/moved.js', (request, response) => { response.redirect(`${otherOrigin}/open.js`); });
  app.get('/to-page', (request, response) => { response.redirect('/'); });
  app.get('/to-right', (request, response) => { response.redirect(`http://right.localhost:${port()}/`); });
  app.get('/loop', (request, response) => { response.redirect('/loop'); });
  app.get('/data.json', (request, response) => { response.json({}); });

  app.use((request, response, next) => {
    const setup = setupOf(request);
    helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null, ...setup.csp } } })(request, response, next);
  });
  /** @type {express.RequestHandler} */
  const sendPage = (request, response) => {
    const setup = setupOf(request);
    if (setup.bare304 && request.headers['if-none-match']) {
      response.status(304).end();
      return;
    }
    const count = (pages.get(request.hostname) ?? 0) + 1;
    pages.set(request.hostname, count);
    const without = count % 2 ? setup.sometimes : undefined;
    for (const [name, value] of Object.entries(without === 'fields' ? {} : setup.fields ?? {})) response.set(name, value);
    response.status(without === 'status' ? 200 : setup.status ?? 200).type('html').send(renderPage(setup, otherOrigin).replaceAll('INGEST', ingest).replaceAll('PORT', String(port())));
  };
  app.get('/', sendPage);
  app.use((request, response, next) => {
    if (setupOf(request).fallback) sendPage(request, response, next);
    else response.status(404).type('html').send('<!doctype html><title>Not found</title>');
  });
  const servers = [app.listen(0, '127.0.0.1'), app.listen(0, '127.0.0.1')];
  await Promise.all(servers.map((server) => once(server, 'listening')));
  for (const server of servers) server.unref();
  const [url, other] = servers.map((server) => (
    `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`));
  otherOrigin = other;
  return { url, other, stop: () => { for (const server of servers) { server.close(); server.closeAllConnections(); } } };
}

/**
 * @typedef {object} Given
 * @property {Record<string, Setup>} setups
 * @property {string} app
 * @property {string} ingest
 * @property {string} tokenKey a file
 */

const nobody = 'http://127.0.0.1:1';

/** Makes a certificate for the hosts, in two files. */
async function makeCertificate() {
  const dir = temporaryDir('tls');
  const [certificate, key] = [`${dir}/certificate.pem`, `${dir}/key.pem`];
  await runOrThrow(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:tls.localhost,DNS:tls-mixed.localhost', '-keyout', key, '-out', certificate]);
  return { certificate, key };
}

/**
 * A page that the web server sends from a file, with ETag and Last-Modified.
 * @param {Record<string, Setup>} setups
 */
function writePages(setups) {
  const dir = temporaryDir('pages');
  fs.chmodSync(dir, 0o755);
  fs.writeFileSync(path.join(dir, 'page.html'), renderPage(setups.right, ''));
  return dir;
}

/** @param {Given} given @param {number} port @param {number} tlsPort */
export async function startNginxSite({ setups, app, ingest, tokenKey }, port, tlsPort) {
  const { certificate, key } = await makeCertificate();
  const pages = writePages(setups);
  /** @param {Setup} setup */
  const ingestLines = ({ ingest: wrong }) => (wrong === 'none' ? '' : `
    location /v1/ingest/ {
      fleetprof off;
      client_max_body_size ${wrong === 'small' ? '1m' : '8m'};
      client_body_buffer_size 256k;
      ${wrong === 'noQuery' ? 'rewrite ^(.*)$ $1? break;' : ''}
      proxy_pass ${wrong === 'down' ? nobody : ingest}${wrong === 'cut' ? '/' : ''};
    }`);
  const server = await startModule({
    port,
    conf: () => Object.entries(setups).map(([name, setup]) => `
  server {
    ${setup.tls ? `listen 127.0.0.1:${tlsPort} ssl http2; ssl_certificate ${certificate}; ssl_certificate_key ${key};` : `listen 127.0.0.1:${port};`}
    server_name ${name}.localhost;
    location = /page.html { root ${pages}; }
    ${setup.off || setup.outer ? '' : `fleetprof on; fleetprof_sample ${setup.rate ?? '100%'};`}
    ${setup.signed ? `fleetprof_site ${setup.signed}; fleetprof_token_key ${tokenKey};` : ''}
    ${setup.nginx ?? ''}
    location / {
      ${setup.outer ? `proxy_pass http://127.0.0.1:${port}; proxy_set_header Host ${setup.outer.of}.localhost;
      ${setup.outer.hides.map((field) => `proxy_hide_header ${field};`).join(' ')}`
    : `proxy_pass ${app}; proxy_set_header Host $host;`}
    }
    ${ingestLines(setup)}
  }`).join(''),
  });
  return { name: 'nginx', stop: server.stop, certificate };
}

/** @param {Given} given */
export async function startHttpdSite({ setups, app, ingest, tokenKey }) {
  /** @param {Setup} setup */
  const ingestLines = ({ ingest: wrong }) => (wrong === 'none' ? '' : `
  ProxyPass /v1/ingest/ ${wrong === 'down' ? nobody : ingest}${wrong === 'cut' ? '/' : '/v1/ingest/'} retry=0
  <Location /v1/ingest/>
    FleetProf off
  </Location>`);
  const pages = writePages(setups);
  const server = await startHttpd({
    conf: ({ port }) => Object.entries(setups).map(([name, setup]) => `
<VirtualHost 127.0.0.1:${port}>
  ServerName ${name}.localhost
  DocumentRoot ${pages}
  ProxyPass /page.html !
  ProxyPreserveHost ${setup.outer ? 'Off' : 'On'}
  ${setup.off || setup.outer ? '' : `FleetProf on\n  FleetProfSample ${setup.rate ?? '100%'}`}
  ${setup.signed ? `FleetProfSite ${setup.signed}\n  FleetProfTokenKey ${tokenKey}` : ''}
  ${setup.httpd ?? ''}
  ${ingestLines(setup)}
  ${setup.outer ? `ProxyPass / http://127.0.0.1:${port}/
  RequestHeader set Host ${setup.outer.of}.localhost
  ${setup.outer.hides.map((field) => `Header unset ${field}`).join('\n  ')}` : `ProxyPass / ${app}/`}
</VirtualHost>`).join(''),
  });
  return { name: 'httpd', port: server.port, stop: server.stop, certificate: '' };
}

/**
 * Starts application, collector and one web server for the set-ups.
 * @param {'nginx' | 'httpd'} kind
 * @param {Record<string, Setup>} setups
 */
export async function startSite(kind, setups) {
  const dir = temporaryDir('doctor');
  const tokenKey = path.join(dir, 'token.key'), otherKey = path.join(dir, 'other.key');
  fs.writeFileSync(tokenKey, `${'01'.repeat(32)}\n`);
  fs.writeFileSync(otherKey, `${'02'.repeat(32)}\n`);
  const ingestPort = await freePort();
  let publicPort = 0;
  const app = await startApp(setups, `http://127.0.0.1:${ingestPort}`, () => publicPort);
  // httpd's helper chooses its port; both servers get all origins of theirs.
  const port = await freePort();
  const tlsPort = await freePort();
  /** @param {number} at */
  const startTheCollector = (at) => {
    const origins = Object.keys(setups).filter((name) => name !== 'origin-refused').map((name) => (
      setups[name].tls ? `https://${name}.localhost:${tlsPort}` : `http://${name}.localhost:${at}`));
    return startCollector({
      config: {
        database: 'host=/nonexistent dbname=fleetprof',
        listen: `127.0.0.1:${ingestPort}`,
        sites: [
          { name: 'shop', key: 'pk_shop', origins },
          { name: 'strict', key: 'pk_strict', origins, require_token: true, token_keys: [tokenKey] },
          { name: 'shop2', key: 'pk_shop2', origins, token_keys: [tokenKey] },
          { name: 'poor', key: 'pk_poor', origins, budgets: { requests_per_second: 1, bytes_per_second: '1KiB', burst: '1s' } },
        ],
      },
    });
  };
  const given = { setups, app: app.url, ingest: `http://127.0.0.1:${ingestPort}`, tokenKey };
  const server = kind === 'nginx' ? { port, ...await startNginxSite(given, port, tlsPort) } : await startHttpdSite(given);
  publicPort = server.port;
  const collector = await startTheCollector(server.port);
  return {
    app,
    collector,
    port: server.port,
    /** Doctor's arguments for a host. @param {string} name */
    argumentsFor: (name) => {
      const { options = [], address = '/', tls } = setups[name];
      const words = options.map((option) => option.replace('APP', new URL(app.url).host).replace('INGEST', given.ingest).replace('PORT', String(server.port)));
      return tls ? [...words, '--ca', server.certificate, `https://${name}.localhost:${tlsPort}${address}`]
        : [...words, `http://${name}.localhost:${server.port}${address}`];
    },
    stop: async () => {
      await server.stop();
      await collector.stop();
      app.stop();
    },
  };
}

/**
 * Runs doctor.
 * @param {string[]} args
 * @returns {Promise<{ code: number | null, stderr: string, findings: any[] }>}
 */
export async function doctor(args, env = {}) {
  const { code, stdout, stderr } = await run([path.join(binDir, 'fleetprof'), 'doctor', '--json', ...args], { env });
  return { code, stderr, findings: stdout ? JSON.parse(stdout) : [] };
}
