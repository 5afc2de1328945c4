// SPDX-License-Identifier: Apache-2.0
/** Tables of the server modules, the manual's page on them, and the cases that run against them: each has what the others have. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { httpdCases } from '../httpd/httpd_cases.mjs';
import { names } from '../httpd/directives.mjs';
import { nginxCases } from '../nginx/nginx_cases.mjs';
import { repository } from '../stack.mjs';
import { cases } from './cases.mjs';

const read = (/** @type {string} */ name) => fs.readFileSync(path.join(repository, name), 'utf8');

/** Returns the texts in the braces that follow a beginning. @param {string} file @param {string} beginning */
function textsOf(file, beginning) {
  const [, list] = read(file).split(`${beginning} = {`);
  return [...list.slice(0, list.indexOf('};')).matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, text]) => text);
}

const page = 'docs/headers.md';
const manual = read(page);

/** Returns the cells of the rows below a row of headings. @param {string} head its beginning */
const rowsOf = (head) => manual.split(`\n| ${head} |`)[1].split('\n\n')[0].split('\n').slice(2)
  .map((row) => row.split(' | ').map((cell) => cell.replace(/^\| /, '').replaceAll('`', '')));

/** Each server, as its module, the manual's column and its cases have it. */
const servers = [
  {
    server: 'nginx', column: 0, cases: [...cases, ...nginxCases],
    reasons: textsOf('ngx_module/ngx_http_fleetprof_decision.c', 'ngx_http_fleetprof_reasons[]'),
    variables: [...textsOf('ngx_module/ngx_http_fleetprof_decision.c', 'ngx_http_fleetprof_vars[]'), 'fleetprof_arm_NAME'].map((name) => `$${name}`),
    directives: textsOf('ngx_module/ngx_http_fleetprof_module.c', 'ngx_http_fleetprof_commands[]'),
    known: Object.keys(names),
  },
  {
    // Where it is off, httpd has no reason, and the cases have nginx's word for it.
    server: 'httpd', column: 1, cases: [...cases.map((c) => ({ ...c, ...c.httpd })), ...httpdCases].map(({ log }) => ({ log: log?.at(-1) === 'off' ? undefined : log })),
    reasons: textsOf('apache_module/fleetprof_decision.c', 'reasons[]'),
    variables: [...read('apache_module/fleetprof_decision.c').matchAll(/"(FLEETPROF_[A-Z_]+)(%[^"]+)?"/g)].map(([, name, rest]) => (rest ? `${name}NAME` : name)),
    directives: [...read('apache_module/fleetprof_conf.c').matchAll(/AP_INIT_\w+\("(\w+)"/g)].map(([, name]) => name),
    known: Object.values(names),
  },
];

/**
 * Returns a cell of a directive's section, which is headed by its name on nginx.
 * @param {string} name @param {string} row @param {number} column of the server
 */
function cellOf(name, row, column) {
  const [heading] = Object.entries(names).find((both) => both[column] === name) ?? [];
  const section = manual.split(`\n### ${heading}\n`)[1].split('\n##')[0];
  return new RegExp(`^\\| ${row} \\| (.*) \\|$`, 'm').exec(section)?.[1].split(/(?<!\\) \| /)[column] ?? '';
}

for (const { server, column, cases: own, reasons, variables, directives, known } of servers) {
  test(`${server}: each reason is in the module, in the manual and in a case`, () => {
    assert.ok(reasons.length >= 10);
    const rows = rowsOf('reason').filter(([name]) => server === 'nginx' || name !== 'off');
    assert.deepEqual(rows.map(([name]) => name), reasons);
    assert.deepEqual(new Set(own.flatMap(({ log }) => log?.[2] ?? [])), new Set(reasons));
    // The cases expect the decision that the manual gives.
    for (const [reason, sampled] of rows) {
      const expected = /^\d$/.test(sampled) ? sampled : '';
      for (const { log } of own) if (log?.[2] === reason) assert.equal(log[0], expected, reason);
    }
  });

  test(`${server}: each variable and each directive is in the module and in the manual`, () => {
    assert.deepEqual(rowsOf('nginx variable').map((cells) => cells[column]).sort(), variables.sort());
    assert.deepEqual(rowsOf('nginx').map((cells) => cells[column].replace(/^\[(\w+)\].*/, '$1')).sort(), [...directives].sort());
    assert.deepEqual([...known].sort(), [...directives].sort());
    for (const name of directives) {
      assert.ok(cellOf(name, 'Syntax', column).startsWith(`\`${name} `), name);
      assert.match(cellOf(name, 'Default', column), new RegExp(`^(?:none|\`${name} )`), name);
    }
  });
}

/** Returns the words of a directive's syntax. @param {string} name @param {number} column */
const syntaxOf = (name, column) => cellOf(name, 'Syntax', column).match(/^`\w+ ([^`;]+);?`$/)?.[1].split(/ ?\\\| ?/) ?? [];

test('each word that a directive chooses from is in both modules, in the manual and in a case', () => {
  const ofNginx = read('ngx_module/ngx_http_fleetprof_module.c');
  const settings = cases.flatMap(({ server = [], place = [] }) => [...server, ...place]);
  const chosen = [...ofNginx.matchAll(/ngx_string\("(\w+)"\),\n[^{}]*ngx_http_fleetprof_choice,[^{}]*&(\w+) \}/g)];
  assert.equal(chosen.length, 6);
  for (const [, name, table] of chosen) {
    const words = textsOf('ngx_module/ngx_http_fleetprof_module.c', `${table}[]`);
    const own = names[name].replace('FleetProf', '').replace(/(?<=[a-z])[A-Z]/g, '_$&').toLowerCase();
    const ofHttpd = read('apache_module/fleetprof_conf.c').match(new RegExp(`CHOICE\\(${own}, (.*)\\);`))?.[1].match(/\w+/g) ?? [];
    assert.deepEqual([syntaxOf(name, 0), syntaxOf(names[name], 1), ofHttpd], [words, words, words], name);
    // A case sets each word but the default.
    const initial = /`\w+ (\w+);`/.exec(cellOf(name, 'Default', 0))?.[1];
    for (const word of words.filter((one) => one !== initial)) assert.ok(settings.includes(`${name} ${word}`), `${name} ${word}`);
  }
});
