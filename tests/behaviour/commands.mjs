// SPDX-License-Identifier: Apache-2.0
/**
 * The commands of fleetprof, as it lists them itself.
 */
import path from 'node:path';

import { binDir, runOrThrow } from './stack.mjs';

const program = path.join(binDir, 'fleetprof');

/** @param {string} help @returns {string[]} the lines of its list of commands */
const listOf = (help) => help.split('\nCommands:\n')[1]?.split('\n\n')[0].split('\n').filter((line) => line.startsWith('  ')) ?? [];

/** @param {string} name */
const helpOf = (name) => runOrThrow([program, ...name.split(' ').filter(Boolean), '--help']);

/**
 * Each command that can be run, such as `top` and `session list`, with its --help; not `help`, and not what only has commands.
 * @returns {Promise<{ name: string, help: string }[]>}
 */
export async function everyCommand() {
  const names = listOf(await helpOf('')).map((line) => line.trim().split(' ')[0]).filter((name) => name !== 'help');
  const all = await Promise.all(names.map(async (name) => {
    const help = await helpOf(name);
    const members = listOf(help).map((line) => `${name} ${line.trim().split('  ')[0]}`);
    return members.length > 0 ? Promise.all(members.map(async (member) => ({ name: member, help: await helpOf(member) }))) : [{ name, help }];
  }));
  return all.flat();
}
