// SPDX-License-Identifier: Apache-2.0
/**
 * fleetprof for programs that own their HTTP server: `next start`, the server that Nuxt builds, `vite preview`.
 * The contract: docs/decision.md. Node loads this before the program:
 *
 *   NODE_OPTIONS='--import @fleetprof/express/register' FLEETPROF_RATE=0.001 next start
 *
 *   FLEETPROF_RATE       the share of page loads that are sampled, from 0 to 1
 *   FLEETPROF_SITE       the site's name in the collector's configuration: with a key
 *   FLEETPROF_TOKEN_KEY  a file, whose first key signs tokens; without, pages carry none
 *
 * Pages that Next.js renders at the build say `Cache-Control: s-maxage=31536000`, so none is sampled: in next.config.js, `headers` sets
 * another Cache-Control.
 */
import { subscribe } from 'node:diagnostics_channel';

import { fleetprof } from './node.js';

const { FLEETPROF_RATE: rate = '', FLEETPROF_SITE: site, FLEETPROF_TOKEN_KEY: keyFile } = process.env;
if (rate.trim() === '' || Number.isNaN(Number(rate))) throw new Error(`fleetprof: FLEETPROF_RATE "${rate}" is not a number from 0 to 1`);
const decide = fleetprof({ rate: Number(rate), site, keyFile });

// Node says so before the program knows of the request.
subscribe('http.server.request.start', (message) => {
  const { request, response } = /** @type {{ request: import('./node.js').Request, response: import('./node.js').Response }} */ (message);
  decide(request, response);
});
