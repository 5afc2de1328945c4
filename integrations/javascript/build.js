// SPDX-License-Identifier: Apache-2.0
/** Shared by the packages for frameworks: their options, the release of a build, and the line that brings a function table in. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/**
 * @typedef {object} Options
 * @property {string} site the site's name in the collector's configuration
 * @property {string} endpoint the collector's ingest URL: `/v1/ingest/<site-key>`, or with its host
 * @property {string} [release] the build's name (git's commit, 12 digits; else the version in `package.json`; else none)
 * @property {number} [rate] share of page loads that the framework's own server samples, from 0 to 1 (`1`)
 * @property {string} [keyFile] its first key signs the tokens of these page loads (no tokens)
 * @property {boolean} [vitals] the agent with web vitals (`false`)
 * @property {Record<string, string | number | boolean>} [agent] further [options of the agent](agent.md#options)
 * @property {{ file?: string, root?: string }} [table] [where the function table is](source-maps.md#in-the-build) (beside the published folder)
 */

/** The rule of each option, in words and as a test. @type {Record<keyof Options, [text: string, test: (value: any) => boolean]>} */
const rules = {
  site: ['1 to 64 of A-Z a-z 0-9 . _ -', (value) => typeof value === 'string' && /^[\w.-]{1,64}$/.test(value)],
  endpoint: ['a path that begins with "/", or an http(s) URL: the collector\'s ingest URL, such as "/v1/ingest/pk_shop"', (value) => typeof value === 'string' && /^(https?:\/\/[^/\s]+)?\/[^/\s]\S*$/.test(value)],
  release: ['a text of 1 to 200 characters', (value) => typeof value === 'string' && value.length > 0 && value.length <= 200],
  rate: ['0, or a number from 0.000001 to 1', (value) => value === 0 || (typeof value === 'number' && value >= 0.000001 && value <= 1)],
  keyFile: ['the path of a file', (value) => typeof value === 'string' && value !== ''],
  vitals: ['true or false', (value) => typeof value === 'boolean'],
  agent: ['an object of texts, numbers, true and false, without endpoint and release', (value) => isObject(value) && Object.entries(value).every(([name, one]) =>
    /^[a-z]+$/i.test(name) && !['endpoint', 'release'].includes(name) && ['string', 'number', 'boolean'].includes(typeof one))],
  table: ['an object: { file, root }', (value) => isObject(value)],
};

/** @param {unknown} value */
const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws an error that says which option is wrong, and what would be right. @param {Options} options */
export function checkOptions(options) {
  if (!isObject(options)) throw new TypeError('fleetprof: give options: { site, endpoint }');
  const known = Object.keys(rules);
  for (const name of Object.keys(options)) if (!known.includes(name)) throw new TypeError(`fleetprof: there is no option "${name}"; there are ${known.join(', ')}`);
  for (const [name, [text, isRight]] of Object.entries(rules)) {
    const value = options[/** @type {keyof Options} */ (name)];
    if (value === undefined && !['site', 'endpoint'].includes(name)) continue;
    if (!isRight(value)) throw new TypeError(`fleetprof: ${name} ${JSON.stringify(value) ?? 'is missing: it'} is ${value === undefined ? '' : 'not '}${text}`);
  }
}

/** @param {string} dir @param {string[]} args of git */
function git(dir, ...args) {
  try {
    return execFileSync('git', args, { cwd: dir, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return '';
  }
}

/** @param {string} dir @returns {unknown} */
function versionOf(dir) {
  try {
    return JSON.parse(fs.readFileSync(path.join(dir, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

/** Returns the name of a build: the one given, git's commit, or the version in package.json. @param {string} dir of the application @param {string} [given] */
export function releaseOf(dir, given) {
  const found = given ?? (git(dir, 'rev-parse', '--short=12', 'HEAD') || versionOf(dir));
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/**
 * Returns what to run, after a build, to bring its function table into the database.
 * @param {string} site @param {string | undefined} release @param {string} base what stands before the names of scripts: a URL, or a path of it @param {string} file
 */
export function uploadLine(site, release, base, file) {
  const prefix = /^https?:/.test(base) ? base : `https://YOUR-HOST${base.startsWith('/') ? base : '/'}`;
  const words = ['fleetprof', 'sourcemap', 'add', '--site', site, ...release ? ['--release', release] : [], '--url-prefix', prefix, file];
  return words.map((word) => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`)).join(' ');
}
