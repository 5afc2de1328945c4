// SPDX-License-Identifier: Apache-2.0
/** Reads what processes cost, from /proc. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']));

/** Processor microseconds of a process, its ended children included. @param {number} pid */
function cpuMicroseconds(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^.*\) /s, '').split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * 1e6 / ticksPerSecond;
}

/** Reads a process and all its descendants; one that has just ended counts with its parent. @param {number} pid
 * @returns {number} */
export function treeCpuMicroseconds(pid) {
  try {
    const children = fs.readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1').trim().split(' ').filter(Boolean);
    return children.reduce((sum, child) => sum + treeCpuMicroseconds(Number(child)), cpuMicroseconds(pid));
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return 0;
    throw error;
  }
}

/** Processor microseconds of a process's threads, by their names. @param {number} pid @returns {Record<string, number>} */
export function threadCpuMicroseconds(pid) {
  /** @type {Record<string, number>} */
  const byName = {};
  for (const thread of fs.readdirSync(`/proc/${pid}/task`)) {
    const dir = `/proc/${pid}/task/${thread}`;
    const name = fs.readFileSync(`${dir}/comm`, 'utf8').trim();
    byName[name] = (byName[name] ?? 0) + Number(fs.readFileSync(`${dir}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  }
  return byName;
}

/** @param {number} pid @param {'VmHWM' | 'VmRSS'} field @returns {number} */
export function memoryMiB(pid, field) {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
}
