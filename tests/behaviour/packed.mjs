// SPDX-License-Identifier: Apache-2.0
/** Our npm packages as a registry would hand them out: packed, and unpacked where an application looks for packages. */
import fs from 'node:fs';
import path from 'node:path';

import { repository, runOrThrow, temporaryDir } from './stack.mjs';

/** The folders that are published, by the names of their packages. */
export const folders = Object.fromEntries(['agent', 'function_table', ...fs.readdirSync(path.join(repository, 'integrations')).map((name) => `integrations/${name}`)]
  .filter((folder) => fs.existsSync(path.join(repository, folder, 'package.json')))
  .map((folder) => [JSON.parse(fs.readFileSync(path.join(repository, folder, 'package.json'), 'utf8')).name, folder]));

/** Returns a command that runs in a directory. @param {string} dir @param {string[]} command */
export const inside = (dir, ...command) => ['sh', '-c', 'cd "$0" && exec "$@"', dir, ...command];

/** @param {string} dir @param {string} name of a package @param {string} target */
function link(dir, name, target) {
  const place = path.join(dir, 'node_modules', name);
  fs.mkdirSync(path.dirname(place), { recursive: true });
  if (!fs.existsSync(place)) fs.symlinkSync(target, place);
}

/** The packages that a folder has, such as the repository for its tests. @param {string} [from] @returns {string[]} */
const installed = (from = repository) => fs.readdirSync(path.join(from, 'node_modules')).filter((name) => !name.startsWith('.'))
  .flatMap((name) => (name.startsWith('@') ? fs.readdirSync(path.join(from, 'node_modules', name)).map((one) => `${name}/${one}`) : [name]));

/** Makes a copy of what is published, so that packing writes nothing here. */
function copy() {
  const dir = temporaryDir('packages');
  for (const folder of Object.values(folders)) fs.cpSync(path.join(repository, folder), path.join(dir, folder), { recursive: true });
  fs.copyFileSync(path.join(repository, 'LICENSE'), path.join(dir, 'LICENSE'));
  for (const name of installed()) link(dir, name, path.join(repository, 'node_modules', name));
  return dir;
}

/** Packs a package; returns what npm says of it. @param {string} name @param {string} [from] a copy @returns {Promise<{ file: string, files: string[], size: number }>} */
export async function pack(name, from = copy()) {
  const env = { PATH: `${repository}/node_modules/.bin:${process.env.PATH}`, npm_config_update_notifier: 'false' };
  const text = await runOrThrow(inside(path.join(from, folders[name]), 'npm', 'pack', '--json', '--silent', '--offline'), { env });
  const said = JSON.parse(text.slice(text.search(/^[[{]/m)));
  const { filename, files, size } = [said].flat()[0];
  return { file: path.join(from, folders[name], filename), files: files.map((/** @type {{ path: string }} */ one) => one.path).sort(), size };
}

/**
 * Installs packages of ours into an application, and links those that the repository has.
 * @param {string} dir @param {string[]} names @param {string} [other] a folder whose packages take the place of the repository's
 */
export async function install(dir, names, other) {
  const packed = copy();
  for (const name of names) {
    const target = path.join(dir, 'node_modules', name);
    fs.mkdirSync(target, { recursive: true });
    await runOrThrow(['tar', '-xzf', (await pack(name, packed)).file, '--strip-components=1', '-C', target]);
  }
  for (const from of [...other ? [other] : [], repository]) for (const name of installed(from)) link(dir, name, path.join(from, 'node_modules', name));
}
