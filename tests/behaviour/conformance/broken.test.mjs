// SPDX-License-Identifier: Apache-2.0
/** The conformance test against servers that break the contract, each in its own way: every case fails somewhere. */
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import { after, test } from 'node:test';

import { cases, rates, respond, servers } from '../../../conformance/application.mjs';
import { results } from '../../../conformance/run.mjs';
import { fleetprof } from '../../../integrations/javascript/node.js';
import { temporaryDir } from '../stack.mjs';
import { all, conform, key, keyFile, listen } from './contract.mjs';

/** @typedef {import('node:http').ServerResponse} Response */

const yes = 'js-profiling, js-profiling-mode=lazy';
const signed = (/** @type {string} */ text, /** @type {Buffer} */ by) => `${text}.${crypto.createHmac('sha256', by).update(text).digest('base64url')}`;
const now = () => Math.floor(Date.now() / 1000);
const keyId = crypto.createHmac('sha256', key).update('fleetprof key id').digest('hex').slice(0, 8);
const nonce = () => crypto.randomBytes(12).toString('base64url');

/** Returns each part's middleware. @param {Partial<Parameters<typeof fleetprof>[0]>} [options] */
const parts = (options) => Object.fromEntries(Object.entries(servers).map(([name, setting]) => [name, setting
  ? fleetprof({ rate: parseFloat(setting.rate) / 100, site: 'shop', keyFile: setting.key ? keyFile : undefined, ...options, ...name === 'keyless' ? { keyFile: undefined } : {} }) : undefined]));

/** Replaces the token of a response, if it has one. @param {(token: string) => string} change */
const tokens = (change) => (/** @type {Response} */ response) => {
  const lines = response.getHeader('server-timing');
  if (lines) response.setHeader('server-timing', [lines].flat().map((line) => String(line).replace(/"(v1\.[^"]*)"/, (_, token) => `"${change(token)}"`)));
};

const others = (() => {
  const file = `${temporaryDir('key')}/other.key`;
  fs.writeFileSync(file, `${'ab'.repeat(32)}\n`);
  return file;
})();

const withToken = cases.filter(({ expect }) => expect.timing.some((line) => line.includes('<token>'))).map(({ name }) => name);
const sampling = rates.map(({ name }) => name);

/**
 * @typedef {object} Broken
 * @property {string} name
 * @property {Record<string, any>} [middleware] of each part: a right one
 * @property {(response: Response, status: number) => number | void} [change] what is wrong with the head, at last; and its status
 * @property {string[]} [exactly] the cases that fail
 * @property {string[]} [among] some of the cases that fail
 */

/** @type {Broken[]} */
const broken = [
  { name: 'passes everything on', middleware: {}, among: ['a_sampled_page_says_yes', 'an_unsampled_page_says_no', 'several_lines_become_one', ...sampling] },
  { name: 'says yes everywhere, in a line of its own', middleware: {}, change: (response) => {
    response.setHeader('document-policy', [response.getHeader('document-policy') ?? [], yes].flat().map(String));
    response.setHeader('server-timing', [`fleetprof;desc="${signed(`v1.${keyId}.shop.1000000.${now()}.${nonce()}`, key)}"`, response.getHeader('server-timing') ?? []].flat().map(String));
  }, among: ['shared_public', 'status_404_is_not_ours', 'off_nothing_is_said', 'unparsable_no_comma', 'the_apps_no_is_respected', 'an_ordinary_script_is_none', ...sampling] },
  { name: 'says no everywhere', middleware: {}, change: (response) => {
    response.setHeader('document-policy', 'js-profiling=?0');
    response.setHeader('server-timing', 'fleetprof;desc="0"');
  }, among: ['a_sampled_page_says_yes', 'other_type_text_plain', 'the_apps_metrics_keep_every_byte', 'upstreams_304_without_the_field_stays_without_unsampled', ...sampling] },
  { name: 'answers with another status', change: (_, status) => status + 1, among: cases.map(({ name }) => name) },
  { name: 'signs with another key', middleware: parts({ keyFile: others }), exactly: [...withToken, ...sampling] },
  { name: 'signs for another site', middleware: parts({ site: 'shop2' }), exactly: [...withToken, ...sampling] },
  { name: 'signs another rate', change: tokens((token) => signed(token.replace(/\.\d+\.(?=\d+\.[\w-]{16}\.)/, '.7.').replace(/\.[^.]*$/, ''), key)), exactly: [...withToken, ...sampling] },
  { name: 'signs another time', change: tokens(() => signed(`v1.${keyId}.shop.1000000.${now() - 3600}.${nonce()}`, key)), exactly: [...withToken, ...sampling] },
  { name: 'takes a nonce twice', change: tokens(() => signed(`v1.${keyId}.shop.1000000.${now()}.AAECAwQFBgcICQoL`, key)), exactly: [...withToken.slice(1), ...sampling] },
  { name: 'sends a token without a MAC', change: tokens((token) => token.replace(/\.[^.]*$/, '')), exactly: [...withToken, ...sampling] },
  { name: 'samples twice as many', middleware: { ...parts(), some: fleetprof({ rate: 0.2, site: 'shop', keyFile }) },
    change: tokens((token) => (token.includes('.200000.') ? signed(token.replace('.200000.', '.100000.').replace(/\.[^.]*$/, ''), key) : token)), exactly: sampling },
  { name: 'never samples but where all are', middleware: { ...parts(), some: fleetprof({ rate: 0, site: 'shop', keyFile }) }, exactly: sampling },
  { name: 'drops validators of all pages', change: (response) => { response.removeHeader('etag'); },
    among: ['an_unsampled_page_from_upstream_can_be_revalidated', 'a_page_for_shared_caches_can_be_revalidated'] },
  { name: 'keeps validators of sampled pages', change: (response) => { response.setHeader('etag', '"v1"'); }, exactly: ['a_sampled_page_from_upstream_cannot_be_revalidated'] },
  { name: 'drops other policies', change: (response) => { response.removeHeader('document-policy-report-only'); }, exactly: ['other_policies_are_left_alone'] },
];

/** @param {Broken} server */
const start = ({ middleware = parts(), change = () => {} }) => listen((request, response) => {
  const { writeHead } = response;
  response.writeHead = /** @type {any} */ ((/** @type {number} */ status) => writeHead.call(response, change(response, status) ?? status));
  middleware[String(request.url).split('/')[1]]?.(request, response);
  respond(request, response);
});

const failed = new Set();
for (const server of broken) {
  test(`a server that ${server.name} fails`, async () => {
    const { url, stop } = await start(server);
    /** @type {string[]} */
    const names = [];
    for await (const { name, problems } of results({ url, key, site: 'shop' })) if (problems.length > 0) names.push(name);
    await stop();
    for (const name of names) failed.add(name);
    if (server.exactly) assert.deepEqual(names, server.exactly);
    assert.deepEqual((server.among ?? []).filter((name) => !names.includes(name)), []);
  });
}

test('every case has failed with a server that sent the right status', async () => {
  const { url, stop } = await start(broken[0]);
  const { url: yesUrl, stop: stopYes } = await start(broken[1]);
  const { url: noUrl, stop: stopNo } = await start(broken[2]);
  const seen = new Set();
  for (const one of [url, yesUrl, noUrl]) {
    for await (const { name, problems } of results({ url: one, key, site: 'shop' })) if (problems.some((text) => !text.startsWith('status'))) seen.add(name);
  }
  await Promise.all([stop(), stopYes(), stopNo()]);
  assert.deepEqual([...cases, ...rates].map(({ name }) => name).filter((name) => !seen.has(name) || !failed.has(name)), []);
});

const right = await start({ name: 'keeps the contract' });
after(() => right.stop());

test('the runner says what it expected and got, and ends with 1', async () => {
  const { url, stop } = await start({ name: '', middleware: {} });
  const { code, stdout, stderr } = await conform(url, '--only', 'several_lines_become_one');
  await stop();
  assert.deepEqual({ code, stderr }, { code: 1, stderr: '' });
  assert.equal(stdout, `not ok several_lines_become_one
    Document-Policy: expected a, b=2, c, d;p, ${yes}, got a, b=2, c, d;p
    Server-Timing: expected fleetprof;desc="<token>", got none
0 passed, 1 failed
`);
});

test('the runner passes a right server, with and without a key', async () => {
  const { code, stdout } = await conform(right.url);
  assert.deepEqual([code, stdout.split('\n').at(-2)], [0, `${all} passed, 0 failed`]);
  const { url, stop } = await start({ name: '', middleware: parts({ keyFile: undefined }) });
  const keyless = await conform(url, '--without-key');
  const missing = await conform(url);
  await stop();
  assert.deepEqual([keyless.code, keyless.stdout.split('\n').at(-2)], [0, `${all} passed, 0 failed`]);
  assert.equal(missing.code, 1);
});

test('the runner names what it cannot do, and ends with 2', async () => {
  const silent = http.createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  /** @type {[string[], RegExp][]} */
  const mistakes = [
    [[], /usage: node conformance\/run.mjs BASE_URL/],
    [['shop.example'], /usage/],
    [['http://127.0.0.1:1'], /ECONNREFUSED/],
    [[`http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (silent.address()).port}`], /\/all\/.* has not answered for 10 s/],
    [[right.url, '--only', 'nothing'], /has no case "nothing"/],
    [[right.url, '--key', '/nowhere'], /ENOENT/],
    [[right.url, '--key', `${keyFile}/../cases.json`], /ENOTDIR|has no key/],
    [[right.url, '--rate', '1'], /Unknown option '--rate'/],
  ];
  for (const [options, message] of mistakes) {
    const { code, stderr } = await conform(...options);
    assert.equal(code, 2, String(options));
    assert.match(stderr, message);
  }
  silent.close();
});
