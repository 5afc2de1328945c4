// SPDX-License-Identifier: Apache-2.0
/**
 * The shop behind nginx and behind httpd: TLS, HTTP/2, one virtual host for each way to serve pages, and a rate
 * that changes by a reload.
 */
import fs from 'node:fs';
import path from 'node:path';

import { directives } from '../behaviour/httpd/directives.mjs';
import { moduleFile as httpdModule, startHttpd } from '../behaviour/httpd/httpd.mjs';
import { moduleFile as nginxModule, startModule } from '../behaviour/nginx/nginx.mjs';
import { temporaryDir, waitFor } from '../behaviour/stack.mjs';
import { renderPage } from './app.mjs';

/**
 * @typedef {object} Host
 * @property {string} name of `NAME.SERVER.shop.example`
 * @property {'proxied' | 'cached' | 'files'} [pages] cached: out of proxy_cache or mod_cache; proxied by default
 * @property {string[]} [settings] as nginx's directives, without the semicolon, beside `fleetprof on`; a rate
 *   may be `$arg_rate`, a key `$cookie_visitor`
 * @property {boolean} [off] without `fleetprof on`
 * @property {boolean} [unsigned] without a token key
 * @property {string | null} [ingest] where uploads go to, if not to the collector of all; null: no such location
 * @property {number} [bodyLimit] bytes of a body that nginx takes; 8 MiB by default
 * @property {boolean} [cut] the proxy cuts the path of uploads
 * @property {{ host: string, hides: string }} [outer] an outer proxy without the module in front of another host,
 *   which hides one response field
 * @property {string} [cacheControl] of pages that are files
 * @property {import('./app.mjs').Options} [app]
 *
 * @typedef {object} Given
 * @property {Host[]} hosts
 * @property {string} app the application's URL
 * @property {string} ingest the collector's URL
 * @property {import('./build.mjs').Build} build
 * @property {{ certificate: string, key: string }} tls
 * @property {string} tokenKey a file
 * @property {string} rate of all hosts that say nothing else
 *
 * @typedef {object} SiteServer
 * @property {string} name nginx or httpd
 * @property {number} port
 * @property {(host: string) => string} origin
 * @property {(rate: string) => Promise<void>} reload changes the rate, and waits until no process has the old one
 * @property {() => string} errorLog at the server's default level
 * @property {(host: string) => string[]} accessLog a host's lines, in the format of the annotated configuration
 * @property {() => Promise<void>} stop
 */

/** @type {{ name: string, missing: string | false, start: (given: Given) => Promise<SiteServer> }[]} */
export const siteServers = [
  { name: 'nginx', missing: absent(nginxModule), start: startNginxSite },
  { name: 'httpd', missing: absent(httpdModule), start: startHttpdSite },
];

/** @param {string} file */
function absent(file) {
  return !fs.existsSync(file) && `${path.basename(file)} is not built`;
}

/** @param {string} file */
const readIfThere = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '');

/**
 * Writes the pages of the hosts that serve files.
 * @param {Given} given
 * @param {string} server
 * @returns {string} a folder with one folder for each host
 */
function writePages({ hosts, build }, server) {
  const root = temporaryDir('pages');
  fs.chmodSync(root, 0o755);
  for (const { name, pages, app: options = {} } of hosts) {
    const dir = path.join(root, name);
    fs.mkdirSync(dir);
    if (options.serviceWorker) fs.copyFileSync(`${build.dir}/sw/${options.serviceWorker}.js`, `${dir}/sw.js`);
    if (pages !== 'files') continue;
    for (const address of ['/', '/product/1/', '/product/73/']) {
      fs.mkdirSync(dir + address, { recursive: true });
      fs.writeFileSync(`${dir}${address}index.html`, renderPage(build, { name, server, path: address, options }));
    }
  }
  return root;
}

/**
 * @param {string} server
 * @param {number} port
 */
const originOf = (server, port) => (/** @type {string} */ host) => `https://${host}.${server}.shop.example:${port}`;

/** @param {number} parent @returns {string[]} its children's ids */
const children = (parent) => fs.readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').split(' ').filter(Boolean);

/**
 * Reloads, and waits until there are new processes, and none of the old ones is left.
 * @param {number} parent
 * @param {NodeJS.Signals} signal
 */
async function replaceChildren(parent, signal) {
  const old = children(parent);
  process.kill(parent, signal);
  await waitFor(() => {
    const now = children(parent);
    return now.length > 0 && !now.some((pid) => old.includes(pid));
  }, { what: 'new processes after a reload', timeoutMs: 90_000 });
}

/** @param {Given} given @returns {Promise<SiteServer>} */
async function startNginxSite(given) {
  const { tls, app, ingest, build, tokenKey } = given;
  const pages = writePages(given, 'nginx');
  const rateFile = `${temporaryDir('rate')}/rate.conf`;
  const writeRate = (/** @type {string} */ rate) => fs.writeFileSync(rateFile, `fleetprof_sample ${rate};\n`);

  /** @param {Host} host @param {number} port */
  const pageLines = ({ name, pages: from, outer, cacheControl }, port) => {
    if (outer) {
      return `proxy_pass https://127.0.0.1:${port}; proxy_set_header Host ${outer.host}.nginx.shop.example;
        proxy_hide_header ${outer.hides};`;
    }
    if (from === 'files') return `root ${pages}/${name}; ${cacheControl ? `add_header Cache-Control "${cacheControl}";` : ''}`;
    const proxied = `proxy_pass ${app}; proxy_set_header Host $host:$server_port;`;
    return from === 'cached' ? `${proxied} proxy_cache pages; proxy_cache_key $scheme$host$uri;` : proxied;
  };
  /** @param {Host} host */
  const ingestLines = ({ ingest: own, cut, bodyLimit = 2 ** 23 }) => (own === null ? '' : `
    location /v1/ingest/ {
      fleetprof off;
      proxy_pass ${own ?? ingest}${cut ? '/' : ''};
      proxy_set_header Host $host;
      client_max_body_size ${bodyLimit};
      client_body_buffer_size 256k;
    }`);
  /** @param {Host} host @param {number} port @param {string} dir */
  const serverBlock = (host, port, dir) => `
  server {
    listen 127.0.0.1:${port} ssl http2;
    server_name ${host.name}.nginx.shop.example;
    access_log ${dir}/access.log site;
    error_log ${dir}/operator.log; # the default level, as Debian's nginx.conf has it
    ${host.off || host.outer ? '' : 'fleetprof on;'}
    ${host.unsigned ? '' : `fleetprof_token_key ${tokenKey};`}
    ${(host.settings ?? []).map((setting) => `${setting};`).join(' ')}
    location /assets/ {
      fleetprof off;
      root ${build.dir};
      add_header Cache-Control "public, max-age=31536000, immutable";
    }
    location = /sw.js { fleetprof off; root ${pages}/${host.name}; add_header Cache-Control no-cache; }
    location / { ${pageLines(host, port)} }
    ${ingestLines(host)}
  }`;

  writeRate(given.rate);
  const server = await startModule({
    conf: ({ port, dir }) => `
log_format site '$host "$request" $status sampled=$fleetprof_sampled rate=$fleetprof_rate reason=$fleetprof_reason cache=$upstream_cache_status';
include ${rateFile};
fleetprof_site shop;
ssl_certificate ${tls.certificate};
ssl_certificate_key ${tls.key};
proxy_cache_path ${dir}/cache keys_zone=pages:1m;
proxy_cache_valid 200 10m;
${given.hosts.map((host) => serverBlock(host, port, dir)).join('')}`,
  });
  return {
    name: 'nginx',
    port: server.port,
    origin: originOf('nginx', server.port),
    reload: async (rate) => {
      writeRate(rate);
      await replaceChildren(server.pid, 'SIGHUP');
    },
    errorLog: () => readIfThere(`${server.dir}/operator.log`),
    accessLog: (host) => linesOfHost(`${server.dir}/access.log`, `${host}.nginx.`),
    stop: server.stop,
  };
}

/** @param {string} file @param {string} start */
const linesOfHost = (file, start) => readIfThere(file).split('\n').filter((line) => line.startsWith(start));

/** A neutral setting in httpd's words. @param {string[]} settings */
const httpdLines = (settings) => directives(settings.map((setting) => (
  setting.replace('$arg_rate', 'expr=%{reqenv:ARG_RATE}').replace('$cookie_visitor', '%{reqenv:VISITOR}'))));

/** @param {Given} given @returns {Promise<SiteServer>} */
async function startHttpdSite(given) {
  const { tls, app, ingest, build, tokenKey } = given;
  const pages = writePages(given, 'httpd');
  const rateFile = `${temporaryDir('rate')}/rate.conf`;
  const writeRate = (/** @type {string} */ rate) => fs.writeFileSync(rateFile, `FleetProfSample ${rate}\n`);

  /** @param {Host} host @param {number} port */
  const pageLines = ({ name, pages: from, outer, cacheControl }, port) => {
    if (outer) {
      return `SSLProxyEngine on
  SSLProxyCheckPeerName off
  SSLProxyCheckPeerExpire off
  RequestHeader set Host ${outer.host}.httpd.shop.example
  Header unset ${outer.hides}
  ProxyPass / https://127.0.0.1:${port}/`;
    }
    if (from === 'files') return cacheControl ? `Header set Cache-Control "${cacheControl}" "expr=%{CONTENT_TYPE} =~ /html/"` : '';
    return `${from === 'cached' ? `CacheEnable disk /
  CacheDisable /v1/
  CacheQuickHandler off` : ''}
  ProxyPass /sw.js !
  ProxyPass / ${app}/`;
  };
  /** @param {Host} host */
  const ingestLines = ({ ingest: own, cut }) => (own === null ? '' : `
  ProxyPass /v1/ingest/ ${own ?? ingest}${cut ? '/' : '/v1/ingest/'} retry=1
  <Location /v1/ingest/>
    FleetProf off
  </Location>`);
  /** @param {Host} host @param {number} port @param {string} dir */
  const virtualHost = (host, port, dir) => `
<VirtualHost 127.0.0.1:${port}>
  ServerName ${host.name}.httpd.shop.example
  DocumentRoot ${pages}/${host.name}
  CustomLog ${dir}/access.log site
  Protocols h2 http/1.1
  SSLEngine on
  SSLCertificateFile ${tls.certificate}
  SSLCertificateKeyFile ${tls.key}
  ProxyPreserveHost On
  ${host.off || host.outer ? '' : 'FleetProf on'}
  ${host.unsigned ? '' : `FleetProfTokenKey ${tokenKey}`}
  ${httpdLines(host.settings ?? [])}
  Alias /assets/ ${build.dir}/assets/
  ProxyPass /assets/ !
  <Location /assets/>
    FleetProf off
    Header set Cache-Control "public, max-age=31536000, immutable"
  </Location>
  <Location /sw.js>
    FleetProf off
    Header set Cache-Control no-cache
  </Location>
  ${ingestLines(host)}
  ${pageLines(host, port)}
</VirtualHost>`;

  writeRate(given.rate);
  const server = await startHttpd({
    modules: ['alias', 'cache', 'cache_disk', 'http2', 'socache_shmcb', 'ssl'],
    conf: ({ port, dir }) => {
      fs.mkdirSync(`${dir}/cache`);
      fs.chmodSync(`${dir}/cache`, 0o777);
      return `
LogFormat "%v \\"%r\\" %>s sampled=%{FLEETPROF_SAMPLED}e rate=%{FLEETPROF_RATE}e reason=%{FLEETPROF_REASON}e cache=%{cache-status}e" site
Include ${rateFile}
SetEnvIf Cookie "visitor=([^;]+)" VISITOR=$1
SetEnvIfExpr "%{QUERY_STRING} =~ /rate=([^&]+)/" ARG_RATE=$1
FleetProfSite shop
CacheRoot ${dir}/cache
CacheDefaultExpire 600
CacheIgnoreNoLastMod On
${given.hosts.map((host) => virtualHost(host, port, dir)).join('')}`;
    },
  });
  return {
    name: 'httpd',
    port: server.port,
    origin: originOf('httpd', server.port),
    reload: async (rate) => {
      writeRate(rate);
      await replaceChildren(server.server.pid, 'SIGUSR1');
    },
    errorLog: server.errorLog,
    accessLog: (host) => linesOfHost(`${server.dir}/access.log`, `${host}.httpd.`),
    stop: server.stop,
  };
}
