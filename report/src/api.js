// SPDX-License-Identifier: Apache-2.0
/** Asks the server, or the answers that a saved report carries. */
import { packed as packedAnswers } from './packer.js';
import { read, unpacked, written } from './packed.js';
import { filterSets } from './question_rows.js';
import { filters, ofOneSide, ofSamples, ofSides, ofVitals, twin } from './state.js';

/**
 * @typedef {Record<string, any>} Row
 *
 * @typedef {object} Answer
 * @property {string} sql
 * @property {string | null} command
 * @property {number} took_ms
 * @property {{ name: string, type: string }[]} columns
 * @property {Row[]} rows
 * @property {boolean} truncated
 * @property {any} [tree]
 * @property {Failure} [failure] why there is no answer; the rows are then empty
 *
 * taken: the filters that the question takes, if its function takes more.
 * @typedef {{ name: string, address: string, taken?: string[] }} Question
 */

/** An error, in words for people. */
export class Failure extends Error {
  /** @param {string} title @param {string} [detail] */
  constructor(title, detail = '') {
    super(title);
    this.detail = detail;
  }
}

/** Returns the filters that a function takes. @param {string} name */
export function filtersOf(name) {
  const [set, vitals] = (filterSets[name] ?? 'filters').split(' and ');
  const ofEach = set === 'filters of each side';
  const left = [...ofEach || set === 'filters of both sides' ? ofSides : [], ...set === 'filters of samples' ? [] : ofSamples, ...vitals ? [] : ofVitals];
  return [...filters.filter((filter) => !left.some((field) => filter === field || filter === twin(field))), ...ofEach ? ofOneSide : []];
}

/**
 * Returns a question: a function, the filters of a state that it takes, and further parameters.
 * @param {string} name
 * @param {import('./state.js').State} state
 * @param {Record<string, string | number | undefined>} [more]
 * @returns {Question}
 */
export function question(name, { site, params }, more = {}) {
  /** @type {Record<string, string>} */
  const given = { site };
  // Only vitals belong to a kind of navigation, not other kinds or groups.
  const isOfOthers = (more.by ?? more.kind ?? 'vital') !== 'vital';
  const taken = filtersOf(name).filter((filter) => !isOfOthers || !ofVitals.some((field) => filter === field || filter === twin(field)));
  for (const filter of taken) if (params[filter] !== undefined) given[filter] = params[filter];
  for (const [key, value] of Object.entries(more)) {
    if (value === undefined) delete given[key];
    else given[key] = String(value);
  }
  return { name, address: canonical(`/api/v1/${name}?${new URLSearchParams(given)}`), taken };
}

/** Returns an address with its parameters in one order. @param {string} address */
function canonical(address) {
  const [path, query = ''] = address.split('?');
  const params = new URLSearchParams(query);
  params.sort();
  return query ? `${path}?${params}` : path;
}

/** @type {Map<string, any> | null} */
let saved = null;

/** Where a saved report begins; '' if it does not say so. */
export let savedBegin = '';
/** When a saved report was saved; '' if it does not say so. */
export let savedAt = '';

const savedId = 'fleetprof-answers';

/** Reads the answers of a saved report, if the document is one: by gzip, in base 85. */
export async function openSaved() {
  const element = document.getElementById(savedId);
  if (!element) return;
  saved = new Map();
  savedBegin = element.dataset.begin ?? '';
  savedAt = element.dataset.saved ?? '';
  try {
    const packed = read(element.textContent ?? '');
    const bytes = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
    for (const [address, answer] of Object.entries(unpacked(new Uint8Array(bytes)))) saved.set(canonical(address), answer);
  } catch {
    // Each question then says that its answer is missing.
  }
}

/** @param {ArrayBuffer} bytes */
const base64 = (bytes) => btoa(Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join(''));

/**
 * Returns the page as one file that answers these questions, as fleetprof report writes it.
 * Leaves out the answer to an optional question that fails, and fails if a required one does.
 * @param {(Question & { mayFail: boolean })[]} questions @param {string} begin what it shows first
 */
export async function savedPage(questions, begin) {
  if (!crypto.subtle) throw new Failure('Saving a view needs https or localhost.', 'The command fleetprof report also writes such a file.');
  const [page, style, script] = await Promise.all(['/', '/assets/report.css', '/assets/report.js'].map(async (address) => {
    const { response, text } = await replyOf(address);
    if (!response.ok) throw new Failure(`${address} has status ${response.status}.`);
    return text;
  }));
  /** @type {Map<string, boolean>} */
  const addresses = new Map();
  for (const { address, mayFail } of questions) addresses.set(address, mayFail && (addresses.get(address) ?? true));
  const answers = await Promise.all([...addresses].map(async ([address, mayFail]) => {
    try {
      const { response, text } = await replyOf(address);
      return [[address, bodyOf(response, text)]];
    } catch (error) {
      if (mayFail) return [];
      throw error;
    }
  }));
  const packed = await new Response(packedAnswers(Object.fromEntries(answers.flat())).stream().pipeThrough(new CompressionStream('gzip'))).arrayBuffer();
  const hash = async (/** @type {string} */ content) => `'sha256-${base64(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(content)))}'`;
  const policy = `default-src 'none'; script-src ${await hash(script)}; style-src ${await hash(style)}; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
  return page
    .replace('<meta charset="utf-8">', (charset) => `${charset}\n<meta http-equiv="Content-Security-Policy" content="${policy}">\n<meta name="referrer" content="no-referrer">`)
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${style}</style>`)
    .replace(/<script type="module"[^>]*><\/script>/, () => `<script type="module">${script}</script>`)
    .concat(`<script type="application/octet-stream" id="${savedId}" data-saved="${new Date().toISOString()}" data-begin="${begin.replaceAll('&', '&amp;').replaceAll('"', '%22')}">${written(new Uint8Array(packed))}</script>\n`);
}

export const isSaved = () => saved !== null;

/** True if the question has an answer: in a saved report, only those that it was saved with. @param {Question} question */
export const isAnswered = ({ address }) => saved?.has(address) ?? true;

/** The first question that a saved report answers, to know where it begins. @param {string} name */
export const firstSaved = (name) => [...saved?.keys() ?? []].find((address) => address.startsWith(`/api/v1/${name}?`));

/** Answers by address, latest last: going back asks nothing again. @type {Map<string, Promise<Answer>>} */
const kept = new Map();
const mostKept = 24;

/** Forgets all answers. */
export const forget = () => kept.clear();

/**
 * @param {Question} question
 * @param {AbortSignal} [signal]
 * @param {boolean} [isKept] false: going back asks again
 * @returns {Promise<Answer>}
 */
export function ask(question, signal, isKept = true) {
  const { address } = question;
  if (!isKept) return saved ? fromSaved(question) : fetched(question, signal);
  const found = kept.get(address);
  if (found) {
    kept.delete(address);
    kept.set(address, found);
    return found;
  }
  const answer = saved ? fromSaved(question) : fetched(question, signal);
  kept.set(address, answer);
  const drop = () => { if (kept.get(address) === answer) kept.delete(address); };
  answer.then(() => signal?.removeEventListener('abort', drop), drop);
  signal?.addEventListener('abort', drop); // at once: the next caller must not wait for a cancelled question
  for (const oldest of kept.keys()) {
    if (kept.size <= mostKept) break;
    kept.delete(oldest);
  }
  return answer;
}

/** Asks several questions; those whose names end in ? may fail. @param {Record<string, Question>} asks @param {AbortSignal} signal @returns {Promise<Record<string, Answer>>} */
export async function askAll(asks, signal) {
  const entries = await Promise.all(Object.entries(asks).map(async ([name, wanted]) => {
    if (!name.endsWith('?')) return [name, await ask(wanted, signal)];
    return [name.slice(0, -1), await ask(wanted, signal).catch((failure) => ({ rows: [], columns: [], sql: '', command: null, took_ms: 0, failure }))];
  }));
  return Object.fromEntries(entries);
}

/** @param {Question} question */
async function fromSaved({ name, address }) {
  const answer = saved?.get(address);
  if (!answer) throw new Failure('This saved report does not contain this.', `It has no answer of ${name} for these filters. A running fleetprof serve has all.`);
  return readable(answer);
}

/** Returns a whole reply. @param {string} address @param {RequestInit} [options] */
async function replyOf(address, options) {
  try {
    const response = await fetch(address, options);
    return { response, text: await response.text() };
  } catch (error) {
    if (/** @type {Error} */ (error).name === 'AbortError') throw error;
    throw new Failure('The server did not answer in full.', 'Is fleetprof serve running, and the connection to it up? Then try again.');
  }
}

/** Returns the answer in a reply, or throws what the server says is wrong. @param {Response} response @param {string} text */
function bodyOf(response, text) {
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    throw new Failure(`The server's answer cannot be read (status ${response.status}).`, 'Something between the page and fleetprof serve changes answers, or cut this one.');
  }
  if (!response.ok) throw new Failure(sentence(body.title ?? `Status ${response.status}`), [body.detail, body.hint].filter(Boolean).map(sentence).join(' '));
  return body;
}

/** @param {Question} question @param {AbortSignal} [signal] */
async function fetched({ address }, signal) {
  const { response, text } = await replyOf(address, { headers: { accept: 'application/json' }, ...signal ? { signal } : {} });
  return readable(bodyOf(response, text));
}

/** @param {string} text */
const sentence = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

const numeric = ['bigint', 'integer', 'double precision', 'numeric', 'real', 'smallint'];

/** Returns an answer with rows as objects, and numbers as numbers unless that would lose digits. @param {any} body @returns {Answer} */
function readable(body) {
  const columns = /** @type {Answer['columns']} */ (body.columns ?? []);
  const isNumber = columns.map(({ name, type }) => numeric.includes(type) && !/_id$/.test(name));
  const rows = (body.rows ?? []).map((/** @type {any[]} */ cells) => Object.fromEntries(
    columns.map(({ name }, i) => [name, isNumber[i] && typeof cells[i] === 'string' ? Number(cells[i]) : cells[i]])));
  return { ...body, sql: body.sql ?? '', command: body.command ?? null, took_ms: body.took_ms ?? 0, columns, rows, truncated: Boolean(body.truncated) };
}
