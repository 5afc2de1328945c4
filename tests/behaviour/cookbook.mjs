// SPDX-License-Identifier: Apache-2.0
/**
 * The questions of docs/cookbook.md and docs/vitals.md, the commands of docs/cli.md and docs/vitals.md, and the answers to
 * them.
 *
 *     node tests/behaviour/cookbook.mjs      writes the answers into the pages
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { startFleet } from '../browser/report_fleet.mjs';
import { blocksOf } from './manual.mjs';
import { binDir, postgresBinDir, repository, run, runOrThrow } from './stack.mjs';

const fileOf = (/** @type {string} */ page) => path.join(repository, 'docs', page);
const page = fileOf('cookbook.md');

/** A question on the page: its heading, its query and, below it, the answer. */
const pattern = /^### (?<heading>.*)\n[^#`]*(?:`[^`\n]+`[^#`]*)*```sql\n(?<query>[^`]*)```\n(?:```\n(?<answer>[^`]*)```\n)?/gm;

/** @typedef {{ heading: string, query: string, answer: string | undefined }} Question */

/** @returns {Question[]} */
export function questions() {
  return [...fs.readFileSync(page, 'utf8').matchAll(pattern)].map(({ groups }) => /** @type {Question} */ ({ ...groups }));
}

/** @returns {Promise<Map<string, string>>} the answers by heading, as psql prints them to a reader */
export async function ask() {
  for (;;) {
    const hour = currentHour();
    const answers = await askOnce();
    // Two answers count hours up to now. Data that were made in two hours give others.
    if (currentHour() === hour) return answers;
  }
}

const currentHour = () => Math.floor(Date.now() / 3_600_000);

/**
 * Pages, and what is asked on them: a command, or a query whose answer stands in the next block. A last line of … stands
 * for further rows. Commands that ask no database have tests of their own.
 */
const examplePattern = /^```console\n\$ (?<command>fleetprof (?!doctor|status|validate|session)[^\n]*)\n(?<said>[^`]*)```$|^```sql\n(?<query>select[^`]*)```\n```\n(?<rows>[^`]*)```$/gm;
const examplePages = ['cli.md', 'vitals.md'];

/** @typedef {{ page: string, command?: string, query?: string, answer: string }} Example */

/** @returns {Example[]} */
export function examples() {
  return examplePages.flatMap((name) => [...fs.readFileSync(fileOf(name), 'utf8').matchAll(examplePattern)].map(({ groups = {} }) => (
    { page: name, command: groups.command, query: groups.query, answer: groups.said ?? groups.rows })));
}

/** Returns the part that each run prints alike, without times and drawn intervals, and only the rows that the page shows. @param {string} answer @param {string} [shown] */
export function lasting(answer, shown = answer) {
  const lines = shown.split('\n');
  const cut = lines.at(-2) === '…' ? `${answer.split('\n').slice(0, lines.length - 2).join('\n')}\n…\n` : answer;
  return cut.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'YYYY-MM-DD HH:MM').replace(/[+-]\d+ %/g, '±N %').replace(/ {2,}/g, ' ');
}

async function askOnce() {
  const stack = await startFleet({ perHour: 16, hostile: false });
  const psql = [`${postgresBinDir()}/psql`, '-Xq', '-P', 'footer=off', '-v', 'ON_ERROR_STOP=1',
    '-d', stack.postgres.conninfo('fleetprof_reader')];
  const answers = new Map();
  for (const { heading, query } of questions()) {
    const printed = await runOrThrow([...psql, '-c', query]);
    answers.set(heading, `${printed.replace(/ +$/gm, '').trimEnd()}\n`);
  }
  const env = { TERM: 'dumb', PATH: `${binDir}:${process.env.PATH}`, FLEETPROF_DATABASE: stack.postgres.conninfo('fleetprof_reader') };
  for (const { command, query } of examples()) {
    const printed = command ? (await run(['script', '-qec', `stty cols 118; ${command}`, '/dev/null'], { env })).stdout.replaceAll('\r', '') : await runOrThrow([...psql, '-c', query ?? '']);
    answers.set(command ?? query, `${printed.replace(/ +$/gm, '').trimEnd()}\n`);
  }
  for (const query of blocksOf('capacity.md', 'sql')) await runOrThrow([...psql, '-c', query]);
  await stack.stop();
  return answers;
}

async function writeAnswers() {
  const answers = await ask();
  const text = fs.readFileSync(page, 'utf8').replace(pattern, (found, ...rest) => {
    const { heading, answer } = rest.at(-1);
    const asked = answer === undefined ? found : found.slice(0, -`\`\`\`\n${answer}\`\`\`\n`.length);
    return `${asked}\`\`\`\n${answers.get(heading)}\`\`\`\n`;
  });
  fs.writeFileSync(page, text);
  for (const name of examplePages) {
    const written = fs.readFileSync(fileOf(name), 'utf8').replace(examplePattern, (found, ...rest) => {
      const { command, said, query, rows } = rest.at(-1);
      const shown = said ?? rows;
      const answer = answers.get(command ?? query) ?? '';
      if (lasting(answer, shown) === lasting(shown)) return found;
      const lines = shown.split('\n').length - 2;
      return found.replace(`\n${shown}\`\`\``, () => `\n${shown.endsWith('\n…\n') ? `${answer.split('\n').slice(0, lines).join('\n')}\n…\n` : answer}\`\`\``);
    });
    fs.writeFileSync(fileOf(name), written);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await writeAnswers();
