// SPDX-License-Identifier: Apache-2.0
/** Debian's own apt with sources, lists and a list of what is installed in folders of its own: the machine's stay as they are. */
import fs from 'node:fs';
import path from 'node:path';

import { temporaryDir } from './stack.mjs';

/**
 * @param {(dir: string) => string} sources the text of sources.list, for the folder that has everything
 * @param {string[]} [installed] entries of dpkg's list
 * @returns {{ dir: string, env: Record<string, string> }} the environment is that of apt-get
 */
export function aptFolders(sources, installed = []) {
  const dir = temporaryDir('apt');
  for (const name of ['lists/partial', 'cache/archives/partial', 'log', 'parts', 'dpkg/updates', 'dpkg/info']) fs.mkdirSync(path.join(dir, name), { recursive: true });
  fs.chmodSync(dir, 0o755);
  fs.writeFileSync(path.join(dir, 'dpkg/status'), installed.join('\n'));
  fs.writeFileSync(path.join(dir, 'sources.list'), sources(dir));
  fs.writeFileSync(path.join(dir, 'apt.conf'), `
    Dir::State "${dir}"; Dir::State::lists "${dir}/lists"; Dir::State::status "${dir}/dpkg/status"; Dir::Cache "${dir}/cache"; Dir::Log "${dir}/log";
    Dir::Etc::sourcelist "${dir}/sources.list"; Dir::Etc::sourceparts "${dir}/parts"; Dir::Etc::preferencesparts "${dir}/parts"; APT::Sandbox::User "root";
    Acquire::Languages "none"; Acquire::http::Proxy::127.0.0.1 "DIRECT";\n`);
  return { dir, env: { APT_CONFIG: path.join(dir, 'apt.conf'), DPKG_ADMINDIR: path.join(dir, 'dpkg'), LC_ALL: 'C' } };
}
