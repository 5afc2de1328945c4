// SPDX-License-Identifier: Apache-2.0
/**
 * Drives the tool that seals and keeps house when a test says so.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import readline from 'node:readline';

import { toolsDir } from './store_tool.mjs';

/**
 * @typedef {object} Sealer
 * @property {(nowUs: number) => Promise<any>} step one step at this time
 * @property {(nowUs: number) => Promise<any>} all steps until nothing is due
 * @property {() => Promise<any>} house housekeeping, by the database's clock
 * @property {() => Promise<void>} kill at once
 * @property {() => Promise<void>} quit
 */

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
/** Stops processes that failed tests left behind; for `after`. */
export const killSealers = () => { for (const child of running) child.kill('SIGKILL'); };
process.on('exit', killSealers);

/**
 * @param {string} conninfo
 * @param {Record<string, number>} [settings]
 * @returns {Sealer}
 */
export function startSealer(conninfo, settings = {}) {
  const child = spawn(path.join(toolsDir, 'seal_tool'),
    [conninfo, ...Object.entries(settings).map(([name, value]) => `${name}=${value}`)]);
  running.add(child);
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { log += text; });
  child.stdin.on('error', () => {});
  const exited = once(child, 'exit').then(() => { running.delete(child); });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = async (/** @type {string} */ command) => {
    child.stdin.write(`${command}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`seal_tool ended at "${command}"\n${log}`);
    const answer = JSON.parse(value);
    if (answer.error !== undefined) throw new Error(`seal_tool: ${command}: ${answer.error}\n${log}`);
    return answer;
  };
  return {
    step: (nowUs) => send(`step ${nowUs}`),
    all: (nowUs) => send(`all ${nowUs}`),
    house: () => send('house'),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
    quit: async () => {
      child.stdin.write('quit\n');
      await exited;
    },
  };
}
