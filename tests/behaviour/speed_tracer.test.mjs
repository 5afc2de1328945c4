// SPDX-License-Identifier: Apache-2.0
/**
 * Speed Tracer dumps, including real ones where available: the decoder's result equals an independent reading.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { isEarly, profileLeaves, readDump, selfTime, toMicroseconds, typeNumber, walk } from './speed_tracer_oracle.mjs';
import { repository } from './stack.mjs';

const variant = process.env.FLEETPROF_BUILD ? path.basename(process.env.FLEETPROF_BUILD) : 'plain';
const tool = path.join(repository, 'build/trees', variant, 'tests/tools/profile_tool');
/** Other people's dumps, which are not part of this repository. */
const realDumps = path.join(repository, '../shared/lab/speedtracer');
const ownDumps = path.join(repository, 'tests/data/speed-tracer');

/** @param {string} file */
function decode(file) {
  const { status, stdout, stderr } = spawnSync(tool, [file], { encoding: 'utf8', maxBuffer: 256 << 20 });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

/** @param {Map<any, number>} sums @param {any} key @param {number} value */
const add = (sums, key, value) => sums.set(key, (sums.get(key) ?? 0) + value);

/** The level of each event, 1 for one without a parent. @param {{ parent: number }[]} events */
function levelsOf(events) {
  /** @type {number[]} */
  const levels = [];
  for (const { parent } of events) levels.push(parent < 0 ? 1 : levels[parent] + 1);
  return levels;
}

/** @param {any} profile @param {import('./speed_tracer_oracle.mjs').Item[]} items */
function checkEvents(profile, items) {
  const early = isEarly(items);
  const expected = { levels: new Map(), self: new Map(), counts: new Map(), durations: 0, events: 0 };
  walk(items, (item, level) => {
    add(expected.levels, level, 1);
    const type = (item.type ?? -1) > -2 ? typeNumber(item, early) : item.typeName; // other numbers mean nothing
    add(expected.self, type, selfTime(item));
    add(expected.counts, type, 1);
    expected.durations += toMicroseconds(item.duration ?? 0);
    expected.events++;
  });
  const actual = { levels: new Map(), self: new Map(), counts: new Map(), durations: 0, events: 0 };
  const levels = levelsOf(profile.events);
  profile.events.forEach((/** @type {any} */ event, /** @type {number} */ index) => {
    add(actual.levels, levels[index], 1);
    const type = event.number > -2 ? event.number : event.type;
    add(actual.self, type, event.self);
    add(actual.counts, type, 1);
    actual.durations += Math.max(event.duration, 0);
    actual.events++;
  });
  assert.deepEqual(actual, expected);
  assert.equal(profile.session.read, expected.events);
  assert.equal(profile.session.kept, expected.events);
}

/** @param {any} profile @param {import('./speed_tracer_oracle.mjs').Item[]} items */
function checkSamples(profile, items) {
  const named = (/** @type {any} */ { stack }) => {
    if (stack < 0) return '';
    const { function: name, resource, line } = profile.frames[profile.stacks[stack].frame];
    if (resource < 0) return name;
    return line < 0 ? profile.resources[resource] : `${name} ${profile.resources[resource]}:${line}`;
  };
  assert.deepEqual(profile.samples.map(named), profileLeaves(items));
}

/** @param {string} file */
function check(file) {
  const items = readDump(fs.readFileSync(file, 'latin1'));
  const profile = decode(file);
  assert.equal(profile.format, 'speed-tracer');
  checkEvents(profile, items);
  checkSamples(profile, items);
}

for (const name of fs.readdirSync(ownDumps).filter((one) => one !== 'raw-page.html'))
  test(`${name} is read as an independent reading has it`, () => check(path.join(ownDumps, name)));

const names = fs.existsSync(realDumps) ? fs.readdirSync(realDumps).sort() : [];
if (names.length === 0) test('real dumps', { skip: 'they are not at hand' }, () => {});
for (const name of names)
  test(`the real ${name} is read as an independent reading has it`, () => check(path.join(realDumps, name)));
