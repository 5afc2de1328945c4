// SPDX-License-Identifier: Apache-2.0
/** The decision in Server-Timing as the cases see it: a key file to configure, and a check that shares no code with ours. */
import crypto from 'node:crypto';
import fs from 'node:fs';

import { temporaryDir } from '../stack.mjs';

const key = Buffer.from(Array.from({ length: 32 }, (_, i) => i));
const hmac = (/** @type {string} */ text) => crypto.createHmac('sha256', key).update(text);
const keyId = hmac('fleetprof key id').digest('hex').slice(0, 8);

/** @type {string | undefined} */
let file;

/**
 * A setting with KEY_FILE in it, for the server: the path of a file that holds the key.
 * @param {string} setting
 */
export function withKeyFile(setting) {
  if (!setting.includes('KEY_FILE')) return setting;
  if (file === undefined) {
    file = `${temporaryDir('key')}/token.key`;
    fs.writeFileSync(file, `# for tests\n${key.toString('hex')}\n`, { mode: 0o600 });
  }
  return setting.replace('KEY_FILE', file);
}

/** A slow answer is at least that late. */
export const slowMs = 400;

const nonces = new Set();

/** True if the page was sent just now and no other had its nonce. */
function isFresh(/** @type {string} */ time, /** @type {string} */ nonce) {
  const fresh = Math.abs(Number(time) - Date.now() / 1000) < 60 && !nonces.has(nonce);
  nonces.add(nonce);
  return fresh;
}

/**
 * A line of Server-Timing with each good token in it written as `<SITE PPM>` or `<SITE ARMS PPM>`, and the plain word of a sampled page
 * without a key as `<1>`. One that is forged, old or has a nonce that another had is left as it is, and so is not
 * what a case expects. The server's share of a slow answer is written as `<slow>`, that of another as `<fast>`.
 * @param {string} line
 */
export function shown(line) {
  return line.replace(/(?<=fleetprof-server;dur=)\d+/g, (ms) => (Number(ms) < slowMs ? '<fast>' : '<slow>'))
    .replace(/"1\.(\d+)\.([\w-]{16})"/g, (text, time, nonce) => (isFresh(time, nonce) ? '"<1>"' : text)).replace(/"(0\.)?((?:v1|v2(?=.*=))\.([0-9a-f]{8})\.([\w.-]{1,64}?)(?:\.([\w=,-]*=[\w=,-]*))?\.(\d+)\.(\d+)\.([\w-]{16}))\.([\w-]{43})"/g,
    (text, no = '', signed, id, site, arms, ppm, time, nonce, mac) => {
      const isGood = isFresh(time, nonce) && id === keyId && mac === hmac(signed).digest('base64url');
      return isGood ? `"${no}<${[site, arms, ppm].filter(Boolean).join(' ')}>"` : text;
    });
}
