#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
/**
 * Asks a web server every case of cases.json, and prints where its responses break the contract.
 *
 *   node conformance/run.mjs BASE_URL [--key FILE] [--site NAME] [--without-key] [--only CASE]
 *
 *   --key FILE      the key that signs tokens (conformance/token.key)
 *   --site NAME     the site of the tokens (shop)
 *   --without-key   the server cannot sign: its sampled pages say 1.TIME.NONCE
 *   --only CASE     asks this case alone
 *
 * The server is set up as docs/decision.md says. Exit status: 0 if it keeps the contract, 1 if not, 2 if it could not be asked.
 */
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

import { cases, rates } from './application.mjs';
import { likelihood } from './chance.mjs';

/**
 * @typedef {{ status: number, fields: [name: string, value: string][] }} Response names in lower case
 * @typedef {{ name: string, problems: string[] }} Result no problem: the case is kept
 * @typedef {{ url: string, key: Buffer, site: string, withoutKey?: boolean, only?: string }} Asked
 */

/** Returns the signing key of a file. @param {string} file */
export function readKey(file) {
  const line = fs.readFileSync(file, 'utf8').split('\n').find((one) => /^[0-9a-f]{64,}$/i.test(one));
  if (!line) throw new Error(`${file} has no key: a line of 64 or more hexadecimal digits`);
  return Buffer.from(line, 'hex');
}

/**
 * @param {string} url
 * @param {{ method?: string, fields?: [string, string][] }} [request]
 * @param {http.Agent} [agent]
 * @returns {Promise<Response>}
 */
async function ask(url, { method = 'GET', fields = [] } = {}, agent) {
  const { request } = url.startsWith('https:') ? https : http;
  const asked = request(url, { method, headers: Object.fromEntries(fields), agent }).end();
  asked.setTimeout(10_000, () => asked.destroy(new Error(`${url} has not answered for 10 s`)));
  const [answer] = /** @type {[http.IncomingMessage]} */ (await once(asked, 'response'));
  answer.resume();
  await once(answer, 'end');
  const raw = answer.rawHeaders;
  const pairs = Array.from({ length: raw.length / 2 }, (_, i) => /** @type {[string, string]} */ ([raw[2 * i].toLowerCase(), raw[2 * i + 1]]));
  return { status: answer.statusCode ?? 0, fields: pairs };
}

/** The lines of a field as one value, as RFC 9110 allows. @param {Response} response @param {string} name */
const valueOf = (response, name) => response.fields.filter(([one]) => one === name).map(([, value]) => value).join(', ').trim();

/** Makes what reads decisions: no nonce may come twice in its life. @param {Asked} asked */
function makeReader({ key, site }) {
  const nonces = new Set();
  const hmac = (/** @type {string} */ text) => crypto.createHmac('sha256', key).update(text);
  const keyId = hmac('fleetprof key id').digest('hex').slice(0, 8);
  const isFresh = (/** @type {string} */ time, /** @type {string} */ nonce) => {
    const fresh = Math.abs(Number(time) - Date.now() / 1000) < 60 && !nonces.has(nonce);
    nonces.add(nonce);
    return fresh;
  };

  /** Returns a value with good decisions as <token> and <1>; a bad one stays. @param {string} value @param {number} ppm */
  return (value, ppm) => value
    .replace(/"1\.(\d+)\.([\w-]{16})"/g, (text, time, nonce) => (isFresh(time, nonce) ? '"<1>"' : text))
    .replace(/"(v1\.([0-9a-f]{8})\.([^"]+)\.(\d+)\.(\d+)\.([\w-]{16}))\.([\w-]{43})"/g,
      (text, signed, id, name, rate, time, nonce, mac) => (isFresh(time, nonce) && id === keyId && name === site && Number(rate) === ppm
        && mac === hmac(signed).digest('base64url') ? '"<token>"' : text));
}

/** Returns the beginning of a long value, for messages. @param {string} value */
const short = (value) => (value.length > 300 ? `${value.slice(0, 300)}… (${value.length} bytes)` : value);

/**
 * @param {import('./application.mjs').Case} one
 * @param {Response} response
 * @param {(value: string, ppm: number) => string} read
 * @param {Asked} asked
 */
function problemsOf({ expect }, response, read, { withoutKey }) {
  /** @type {[what: string, got: string, expected: string][]} */
  const pairs = [
    ['status', String(response.status), String(expect.status ?? 200)],
    ['Document-Policy', valueOf(response, 'document-policy'), expect.policy.join(', ').trim()],
    ['Server-Timing', read(valueOf(response, 'server-timing'), 1_000_000), expect.timing.join(', ').replace('<token>', withoutKey ? '<1>' : '<token>')],
    ...Object.entries(expect.fields ?? {}).map(([name, lines]) => /** @type {[string, string, string]} */ ([name, valueOf(response, name), lines.join(', ')])),
  ];
  return pairs.filter(([, got, expected]) => got !== expected)
    .map(([what, got, expected]) => `${what}: expected ${short(expected) || 'none'}, got ${short(got) || 'none'}`);
}

/**
 * Counts the sampled among many loads. One count in a thousand lies outside the interval by chance, but not two in a row.
 * @param {import('./application.mjs').Rate} rate
 * @param {(value: string, ppm: number) => string} read
 * @param {Asked} asked
 */
async function problemsOfRate({ name, server, ppm, loads }, read, { url, withoutKey }) {
  const word = `fleetprof;desc="${withoutKey ? '<1>' : '<token>'}"`;
  const agent = new (url.startsWith('https:') ? https : http).Agent({ keepAlive: true, maxSockets: 8 });
  const counts = [];
  try {
    for (let i = 0; i < 2; i++) {
      const said = await Promise.all(Array.from({ length: loads }, async () => {
        const answer = await ask(`${url}/${server}/${name}`, {}, agent);
        return `${valueOf(answer, 'document-policy')} | ${read(valueOf(answer, 'server-timing'), ppm)}`;
      }));
      const yes = said.filter((one) => one === `js-profiling, js-profiling-mode=lazy | ${word}`).length;
      const strange = said.find((one) => ![`js-profiling, js-profiling-mode=lazy | ${word}`, 'js-profiling=?0 | fleetprof;desc="0"'].includes(one));
      if (strange !== undefined) return [`neither a yes nor a no: ${short(strange)}`];
      if (likelihood(yes, loads, ppm / 1_000_000) > 0.001) return [];
      counts.push(yes);
    }
  } finally {
    agent.destroy();
  }
  return [`expected ${(loads * ppm) / 1_000_000} sampled of ${loads} loads or nearly, got ${counts.join(', then ')}`];
}

/** Asks all cases. @param {Asked} asked @returns {AsyncGenerator<Result>} */
export async function* results(asked) {
  const read = makeReader(asked);
  const isAsked = (/** @type {{ name: string }} */ { name }) => asked.only === undefined || name === asked.only;
  for (const one of cases.filter(isAsked)) {
    const response = await ask(`${asked.url}/${one.server}/${one.name}`, one.request);
    yield { name: one.name, problems: problemsOf(one, response, read, asked) };
  }
  for (const rate of rates.filter(isAsked)) yield { name: rate.name, problems: await problemsOfRate(rate, read, asked) };
}

/** Reads the command line. @returns {Asked} */
function readArguments() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: {
    key: { type: 'string', default: fileURLToPath(new URL('token.key', import.meta.url)) }, site: { type: 'string', default: 'shop' },
    'without-key': { type: 'boolean' }, only: { type: 'string' } } });
  if (positionals.length !== 1 || !/^https?:\/\//.test(positionals[0])) throw new Error('usage: node conformance/run.mjs BASE_URL [--key FILE] [--site NAME] [--without-key] [--only CASE]');
  if (values.only && ![...cases, ...rates].some(({ name }) => name === values.only)) throw new Error(`cases.json has no case "${values.only}"`);
  return { url: positionals[0].replace(/\/$/, ''), key: readKey(String(values.key)), site: String(values.site), withoutKey: values['without-key'], only: values.only };
}

async function main() {
  const counts = { kept: 0, broken: 0 };
  for await (const { name, problems } of results(readArguments())) {
    counts[problems.length > 0 ? 'broken' : 'kept'] += 1;
    console.log([`${problems.length > 0 ? 'not ok' : 'ok'} ${name}`, ...problems].join('\n    '));
  }
  console.log(`${counts.kept} passed, ${counts.broken} failed`);
  process.exitCode = counts.broken > 0 ? 1 : 0;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await main().catch((error) => {
    console.error(`conformance: ${error.message || error.code}`);
    process.exitCode = 2;
  });
}
