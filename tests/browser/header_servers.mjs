// SPDX-License-Identifier: Apache-2.0
/**
 * nginx and httpd with the module, set up alike: each place of the table is a location of its own, proxied
 * to one upstream or served from files.
 */
import fs from 'node:fs';
import path from 'node:path';

import { directives as httpdLines } from '../behaviour/httpd/directives.mjs';
import { moduleFile as httpdModule, openDir, startHttpd } from '../behaviour/httpd/httpd.mjs';
import { moduleFile as nginxModule, startModule } from '../behaviour/nginx/nginx.mjs';

/**
 * @typedef {object} Place
 * @property {string} name its pages are below /NAME/
 * @property {string[]} settings as nginx's directives, without the semicolon
 * @property {boolean} [files] served from files, not by upstream
 * @property {boolean} [cookie] the rate is that of the cookie `rate`
 * @property {boolean} [cached] upstream's answers are stored by the server, for an hour
 *
 * @typedef {object} Given
 * @property {Place[]} places
 * @property {string} upstream its URL
 * @property {string} files the folder of files
 *
 * @typedef {object} HeaderServer
 * @property {string} url
 * @property {() => [path: string, sampled: string, status: string][]} log what $fleetprof_sampled was for each request so far
 * @property {() => Promise<void>} stop fails when the log has anything in it that says the server was unwell
 */

/** @type {{ name: string, missing: string | false, start: (given: Given) => Promise<HeaderServer> }[]} */
export const headerServers = [
  { name: 'nginx', missing: absent(nginxModule), start: startNginx },
  { name: 'httpd', missing: absent(httpdModule), start: startApache },
];

/** @param {string} file */
function absent(file) {
  return !fs.existsSync(file) && `${path.basename(file)} is not built`;
}

/** @param {Given} given */
async function startNginx({ places, upstream, files }) {
  const location = (/** @type {Place} */ place) => `location /${place.name}/ {
    ${place.settings.map((setting) => `${setting};`).join(' ')}
    ${place.cookie ? 'fleetprof_sample $cookie_rate;' : ''}
    ${place.cached ? 'proxy_cache pages; proxy_cache_key $uri; proxy_cache_valid 200 1h;' : ''}
    ${place.files ? `root ${files};` : `proxy_pass ${upstream};`}
  }`;
  return asHeaderServer(await startModule({
    conf: ({ port, dir }) => `
proxy_cache_path ${dir}/cache keys_zone=pages:1m;
log_format sampled '$uri $fleetprof_sampled $status';
server {
  listen 127.0.0.1:${port};
  access_log ${dir}/sampled.log sampled;
  ${places.map(location).join('\n  ')}
}`,
  }));
}

/** @param {Given} given */
async function startApache({ places, upstream, files }) {
  const location = (/** @type {Place} */ place) => `
${place.files ? '' : `ProxyPass /${place.name}/ ${upstream}/${place.name}/`}
${place.cached ? `CacheEnable disk /${place.name}/` : ''}
<Location /${place.name}/>
${httpdLines(place.settings)}
${place.cookie ? 'FleetProfSample expr=%{reqenv:RATE}' : ''}
</Location>`;
  return asHeaderServer(await startHttpd({
    modules: ['cache', 'cache_disk'],
    conf: ({ dir }) => `
CustomLog ${dir}/sampled.log "%U %{FLEETPROF_SAMPLED}e %>s"
CacheRoot ${openDir('cache')}
CacheQuickHandler off
CacheIgnoreCacheControl on
CacheDefaultExpire 3600
DocumentRoot ${files}
SetEnvIf Cookie "rate=([0-9]+%)" RATE=$1
${places.map(location).join('')}`,
  }));
}

/** @param {{ port: number, dir: string, stop: () => Promise<void> }} server */
function asHeaderServer({ port, dir, stop }) {
  return {
    url: `http://127.0.0.1:${port}`,
    log: () => fs.readFileSync(`${dir}/sampled.log`, 'utf8').trim().split('\n')
      .map((line) => /** @type {[string, string, string]} */ (line.split(' '))),
    stop,
  };
}
