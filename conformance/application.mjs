// SPDX-License-Identifier: Apache-2.0
/**
 * The application behind a server under test: GET /SERVER/CASE gets the answer that cases.json has for that case.
 *
 *   node conformance/application.mjs PORT
 */
import fs from 'node:fs';
import http from 'node:http';
import { pathToFileURL } from 'node:url';

/**
 * @typedef {[name: string, value: string][]} Fields
 * @typedef {object} Case
 * @property {string} name
 * @property {string} server one of `servers`
 * @property {string} [reason] why the response is as it is: a word of docs/headers.md
 * @property {{ method?: string, fields?: Fields }} [request] GET, without further fields
 * @property {{ status?: number, fields?: Fields }} answer the application's: 200
 * @property {Expected} expect
 *
 * @typedef {object} Expected each list has the field's lines, and lines may come joined by ", "
 * @property {number} [status] 200
 * @property {string[]} policy Document-Policy
 * @property {string[]} timing Server-Timing: <token> is a good token, <1> the word of a server without a key
 * @property {Record<string, string[]>} [fields] further fields
 *
 * @typedef {{ name: string, server: string, ppm: number, loads: number }} Rate as many loads as chance allows are sampled
 * @typedef {{ rate: string, key: boolean } | null} Setting of a part of the server: null is off
 */

/** @type {{ servers: Record<string, Setting>, rates: Rate[], cases: Case[] }} */
export const { servers, rates, cases } = JSON.parse(fs.readFileSync(new URL('cases.json', import.meta.url), 'utf8'));

/** @type {Case['answer']} */
const page = { fields: [['Content-Type', 'text/html']] };

/** Returns the answer for a path. @param {string} path @returns {Case['answer']} */
export function answerTo(path) {
  const name = path.split('/').at(-1);
  if (rates.some((rate) => rate.name === name)) return page;
  return cases.find((one) => one.name === name)?.answer ?? { status: 404 };
}

/** Answers a request as its case says. @param {{ url?: string }} request @param {http.ServerResponse} response */
export function respond(request, response) {
  const { status = 200, fields = [] } = answerTo(request.url ?? '');
  response.sendDate = false;
  for (const name of new Set(fields.map(([one]) => one.toLowerCase()))) {
    response.setHeader(name, fields.filter(([one]) => one.toLowerCase() === name).map(([, value]) => value));
  }
  response.writeHead(status);
  // As bytes: Node would write the head in the encoding of a text.
  response.end(Buffer.from([204, 304].includes(status) ? '' : '<!doctype html><title>a page</title>'));
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  http.createServer(respond).listen(Number(process.argv[2]), '127.0.0.1');
}
