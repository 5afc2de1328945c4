// SPDX-License-Identifier: Apache-2.0
/**
 * Reads a file as the viewers of other tools do: by their own importers, from npm. Each gives the sum of a profile, its
 * stacks, and its marks, all in whole microseconds.
 */
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import vm from 'node:vm';
import zlib from 'node:zlib';

import { Profile } from 'pprof-format';

import { run, waitFor } from './stack.mjs';

const { resolve } = createRequire(import.meta.url);

/** @typedef {Map<string, number>} Stacks microseconds by "root;child;leaf" */

/** @param {Stacks} stacks @param {string[]} names @param {number} us */
function add(stacks, names, us) {
  const stack = names.join(';');
  stacks.set(stack, (stacks.get(stack) ?? 0) + us);
}

/** @param {Iterable<number>} numbers */
export const sum = (numbers) => [...numbers].reduce((all, one) => all + one, 0);

/** Anything: a function, a constructor and an object of such. @type {any} */
const anything = new Proxy(function anything() {}, {
  // The page's address has no hash, and libraries for numbers are its own.
  get: (_, name) => (name === 'hash' ? '' : name === 'dcodeIO' || name === 'Long' ? undefined : name === Symbol.toPrimitive ? () => '' : anything),
  set: () => true, apply: () => anything, construct: () => anything,
});

/** @type {Promise<(name: string, bytes: ArrayBuffer) => Promise<any>> | undefined} */
let speedscopeImporter;

/** Runs speedscope's page without a browser, as far as it goes, and takes its importer. */
async function loadSpeedscope() {
  const release = path.dirname(resolve('speedscope/dist/release/index.html'));
  const name = fs.readdirSync(release).find((file) => /^speedscope-.*\.js$/.test(file)) ?? '';
  /** @type {any} */
  let importer;
  const context = vm.createContext({
    window: anything, self: anything, document: anything, navigator: anything, location: anything, localStorage: anything, performance,
    requestAnimationFrame() {}, setTimeout() {}, console: { ...console, log() {}, warn() {} }, TextDecoder, TextEncoder, URL,
    took: (/** @type {any} */ given) => { importer = given; },
  });
  vm.runInContext(`const define = Object.defineProperty;
    Object.defineProperty = (target, name, how) => {
      if (name === 'importProfilesFromArrayBuffer') took(how.get);
      return define(target, name, how);
    };`, context);
  try {
    vm.runInContext(fs.readFileSync(path.join(release, name), 'utf8'), context);
  } catch (error) {
    if (!importer) throw error;
  }
  const empty = new TextEncoder().encode('a 1').buffer;
  await waitFor(() => importer()('empty.txt', empty).then(() => true, () => false), { what: 'speedscope to be ready' });
  return importer();
}

/**
 * Imports a file into speedscope.
 * @param {string} name @param {Uint8Array} bytes @param {number} loads that its times are means of
 */
export async function speedscope(name, bytes, loads = 1) {
  speedscopeImporter ??= loadSpeedscope();
  const group = await (await speedscopeImporter)(name, Uint8Array.from(bytes).buffer);
  return {
    name: group.name,
    shown: group.indexToView,
    profiles: Array.from(group.profiles, (/** @type {any} */ profile) => {
      /** @type {Stacks} */
      const stacks = new Map();
      /** @type {{ name: string, at: number, frame: any }[]} */
      const open = [];
      /** @type {[string, number][]} */
      const order = [];
      const unit = loads * ({ microseconds: 1, milliseconds: 1000, nanoseconds: 0.001 }[/** @type {string} */ (profile.getWeightUnit())] ?? NaN);
      let last = 0;
      const until = (/** @type {number} */ value) => {
        const us = Math.round((value - last) * unit);
        const names = open.map((each) => each.name);
        if (us > 0 && names.length > 0) {
          add(stacks, names, us);
          order.push([names.join(';'), Math.round(last * unit)]);
        }
        last = value;
      };
      profile.forEachCall(
        (/** @type {any} */ node, /** @type {number} */ value) => { until(value); open.push({ name: node.frame.name, at: value, frame: node.frame }); },
        (/** @type {any} */ _, /** @type {number} */ value) => { until(value); open.pop(); });
      /** @type {any[]} */
      const frames = [];
      profile.forEachFrame((/** @type {any} */ { name: function_, file, line, col }) => frames.push({ function: function_, file, line, col }));
      return { name: profile.getName(), total: Math.round(profile.getTotalNonIdleWeight() * unit), stacks, order, frames };
    }),
  };
}

/** pprof-format reads an int64 without its sign. @param {number | bigint} value */
const signed = (value) => Number(BigInt.asIntN(64, BigInt(value)));

/** Decodes a file of pprof. @param {Uint8Array} bytes */
export function pprof(bytes) {
  const profile = Profile.decode(zlib.gunzipSync(bytes));
  const text = (/** @type {any} */ index) => profile.stringTable.strings[Number(index)];
  const functions = new Map(profile.function.map((each) => [Number(each.id), {
    name: text(each.name), file: text(each.filename), line: Number(each.startLine) }]));
  const locations = new Map(profile.location.map((each) => [Number(each.id), {
    ...functions.get(Number(each.line[0].functionId)), at: Number(each.line[0].line) }]));
  const samples = profile.sample.map((sample) => ({
    stack: sample.locationId.map((id) => locations.get(Number(id))?.name ?? '').reverse(),
    count: signed(sample.value[0]), us: signed(sample.value[1]),
    labels: Object.fromEntries(sample.label.map((label) => [text(label.key), text(label.str)])),
  }));
  /** @type {Stacks} */
  const stacks = new Map();
  for (const { stack, us } of samples) add(stacks, stack, us);
  return {
    types: profile.sampleType.map(({ type, unit }) => `${text(type)}/${text(unit)}`), shown: text(profile.defaultSampleType),
    comments: profile.comment.map(text), total: sum(samples.map(({ us }) => us)), samples, stacks, functions: [...functions.values()],
  };
}

/** @type {Promise<any> | undefined} */
let traceEngine;

/**
 * Imports a trace into the engine of DevTools' Performance panel. Times of calls and marks are in milliseconds since the
 * trace began.
 * @param {string} json
 */
export async function devtools(json) {
  // It needs these of a browser, and of a later Node.js.
  /** @type {any} */ (globalThis).DOMRect ??= class { };
  /** @type {any} */ (URL).parse ??= (/** @type {string} */ url, /** @type {string} */ base) => { try { return new URL(url, base); } catch { return null; } };
  traceEngine ??= import('@paulirish/trace_engine');
  const model = (await traceEngine).TraceModel.Model.createWithAllHandlers();
  await model.parse(JSON.parse(json).traceEvents);
  const { Renderer, UserTimings } = model.parsedTrace().data;
  const ms = (/** @type {number} */ ts) => (ts - 1_000_000) / 1000;
  /** @type {any[]} */
  const threads = [...Renderer.processes.values()].flatMap((process) => [...process.threads.values()]);
  return {
    threads: threads.map(({ name, profileCalls }) => {
      /** @type {Map<string, number>} */
      const own = new Map();
      for (const call of profileCalls) add(own, [call.callFrame.functionName], Renderer.entryToNode.get(call)?.selfTime ?? NaN);
      return { name, own, calls: profileCalls.map((/** @type {any} */ { callFrame, ts, dur }) => [callFrame.functionName, ms(ts), dur / 1000]) };
    }),
    marks: UserTimings.performanceMarks.map((/** @type {any} */ { name, ts }) => [name, ms(ts)]),
    measures: UserTimings.performanceMeasures.map((/** @type {any} */ { name, ts, dur }) => [name, ms(ts), dur / 1000]),
  };
}

/** Names of events that the engine of the Performance panel knows. @returns {Promise<string[]>} */
export async function devtoolsNames() {
  traceEngine ??= import('@paulirish/trace_engine');
  return Object.values((await traceEngine).Types.Events.Name);
}

/** Firefox Profiler's importer, which answers from a process of its own. */
export class Firefox {
  /** @param {string} dir a folder for its sessions */
  constructor(dir) {
    this.program = resolve('@firefox-devtools/profiler-cli/dist/profiler-cli.js');
    this.env = { PROFILER_CLI_SESSION_DIR: dir };
  }

  /** @param {string[]} args */
  #ask(...args) {
    return run([process.execPath, this.program, ...args, '--json'], { env: this.env });
  }

  /** @param {string[]} args @returns {Promise<any>} */
  async #answer(...args) {
    const { code, stdout, stderr } = await this.#ask(...args);
    if (code !== 0) throw new Error(`${stdout}${stderr}`);
    return JSON.parse(stdout);
  }

  /** Own times by function in microseconds, and marks in milliseconds, of a file with one thread. @param {string} file */
  async read(file) {
    // It gives up waiting for its own process after half a second.
    await this.#ask('load', file);
    await waitFor(async () => (await this.#ask('status')).code === 0, { what: 'Firefox Profiler to load' });
    try {
      const { functions, weightType } = await this.#answer('thread', 'functions', '--include-idle', '--limit', '0');
      const { flatMarkers } = await this.#answer('thread', 'markers', '--list');
      if (weightType !== 'tracing-ms') throw new Error(`weights are ${weightType}`);
      /** @type {Stacks} */
      const own = new Map();
      for (const { name, selfSamples } of functions) add(own, [name], Math.round(selfSamples * 1000));
      return { own, marks: flatMarkers.map((/** @type {any} */ { label, start, duration }) => [label, start, duration ?? null]) };
    } finally {
      await this.#ask('stop');
    }
  }
}
