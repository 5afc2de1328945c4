// SPDX-License-Identifier: Apache-2.0
/** Writes packed rows into PostgreSQL as a collector does: COPY, binary. */
import { once } from 'node:events';
import { spawn } from 'node:child_process';

import { binSpace } from './site.mjs';

/**
 * @typedef {import('./facts.mjs').Run} Run
 * @typedef {import('./facts.mjs').Kind} Kind
 * @typedef {import('./facts.mjs').Fold} Fold
 * @typedef {'int2' | 'int4' | 'int8' | 'real' | 'float8'} Type
 *
 * An array of a packed row: made from the entry's key, or the next column of the run.
 * @typedef {object} Column
 * @property {string} name
 * @property {Type} type
 * @property {(key: number) => number} [of] the key's number, or the place of its id in `ids`
 * @property {Ids} [ids]
 * @property {Fold} [fold] sum, unless it says otherwise
 */

const types = { int2: { oid: 21, len: 2 }, int4: { oid: 23, len: 4 }, int8: { oid: 20, len: 8 }, real: { oid: 700, len: 4 }, float8: { oid: 701, len: 8 } };
const chunkBytes = 1 << 22;
const epoch2000Us = 946_684_800_000_000n;
export const hourUs = 3_600_000_000;

/** 64-bit ids by number, as the two halves that COPY sends. */
export class Ids {
  /** @param {bigint[]} ids */
  constructor(ids) {
    const halves = new Int32Array(BigInt64Array.from(ids).buffer); // little-endian, as all machines we build for
    this.low = Int32Array.from(ids.keys(), (number) => halves[2 * number]);
    this.high = Int32Array.from(ids.keys(), (number) => halves[2 * number + 1]);
  }
}

/** The columns of each kind in the tables' order. @param {import('./site.mjs').Site} site @returns {Record<Kind, Column[]>} */
export function columnsOf(site) {
  const { functions, stacks, timings, measures } = site;
  const [frameIds, stackIds, timingIds] = [functions, stacks, timings].map((list) => new Ids(list.map(({ id }) => id)));
  const measureIds = new Ids(measures.map((number) => timings[number].id));
  /** @param {Type} type @param {string[]} names @returns {Column[]} */
  const values = (type, ...names) => names.map((name) => ({ name, type }));
  const count = functions.length;
  return {
    total: [{ name: 'marker', type: 'int2', of: (key) => key - 1 }, ...values('int4', 'uploads', 'loads'), ...values('int8', 'samples', 'self_us'),
      ...values('float8', 'profiled_us2'), ...values('int8', 'unseen_us')],
    frame: [{ name: 'frame_id', type: 'int8', of: (key) => key, ids: frameIds }, ...values('int4', 'uploads', 'unmarked_uploads'),
      ...values('int8', 'samples', 'self_us', 'total_us'), ...values('real', 'self_us2', 'total_us2', 'self_profiled', 'total_profiled')],
    frame_marker: [{ name: 'frame_id', type: 'int8', of: (key) => key, ids: frameIds }, { name: 'marker', type: 'int2', of: (key) => site.marker(key) },
      ...values('int4', 'uploads'), ...values('int8', 'samples', 'self_us', 'total_us')],
    stack: [{ name: 'stack_id', type: 'int8', of: (key) => key >> 1, ids: stackIds },
      { name: 'marker', type: 'int2', of: (key) => (key % 2 === 1 ? site.marker(key >> 1) : 0) }, ...values('int4', 'uploads'), ...values('int8', 'samples', 'self_us')],
    timing: [{ name: 'timing_id', type: 'int8', of: (key) => key, ids: timingIds }, ...values('int4', 'uploads', 'count', 'negative'), ...values('float8', 'sum_us'),
      { name: 'min_us', type: 'int8', fold: 'min' }, { name: 'max_us', type: 'int8', fold: 'max' }],
    timing_bin: [{ name: 'timing_id', type: 'int8', of: (key) => Math.floor(key / binSpace), ids: timingIds }, { name: 'bin', type: 'int2', of: (key) => key % binSpace },
      ...values('int4', 'count')],
    measure: [{ name: 'timing_id', type: 'int8', of: (key) => key, ids: measureIds }, ...values('int4', 'uploads'),
      ...values('int8', 'samples', 'unattributed_samples', 'profiled_us', 'unattributed_us'), ...values('int4', 'loads'),
      ...values('int8', 'window_us')],
    measure_frame: [{ name: 'timing_id', type: 'int8', of: (key) => Math.floor(key / count), ids: measureIds }, { name: 'marker', type: 'int2', of: () => 0 },
      { name: 'frame_id', type: 'int8', of: (key) => key % count, ids: frameIds }, ...values('int4', 'uploads', 'first_uploads'),
      ...values('int8', 'samples', 'self_us', 'total_us')],
  };
}

/** Writes the elements of an array, each behind its length; a loop of its own for each type is several times as fast as one for all.
 * @type {Record<Type, (view: DataView, at: number, values: Float64Array, size: number) => void>} */
const writeValues = {
  int2: (view, at, values, size) => {
    for (let entry = 0; entry < size; entry += 1, at += 6) {
      view.setInt32(at, 2);
      view.setInt16(at + 4, values[entry]);
    }
  },
  int4: (view, at, values, size) => {
    for (let entry = 0; entry < size; entry += 1, at += 8) {
      view.setInt32(at, 4);
      view.setInt32(at + 4, values[entry]);
    }
  },
  int8: (view, at, values, size) => { // counts and times: never negative
    for (let entry = 0; entry < size; entry += 1, at += 12) {
      view.setInt32(at, 8);
      view.setInt32(at + 4, Math.floor(values[entry] / 2 ** 32));
      view.setUint32(at + 8, values[entry] % 2 ** 32);
    }
  },
  real: (view, at, values, size) => {
    for (let entry = 0; entry < size; entry += 1, at += 8) {
      view.setInt32(at, 4);
      view.setFloat32(at + 4, values[entry]);
    }
  },
  float8: (view, at, values, size) => {
    for (let entry = 0; entry < size; entry += 1, at += 12) {
      view.setInt32(at, 8);
      view.setFloat64(at + 4, values[entry]);
    }
  },
};

/** @param {DataView} view @param {number} at @param {Float64Array} numbers @param {number} size @param {Ids} ids */
function writeIds(view, at, numbers, size, { high, low }) {
  for (let entry = 0; entry < size; entry += 1, at += 12) {
    view.setInt32(at, 8);
    view.setInt32(at + 4, high[numbers[entry]]);
    view.setInt32(at + 8, low[numbers[entry]]);
  }
}

/** Room for a chunk: its bytes, a view of them, and where to write. @param {number} length @returns {[Buffer, DataView, number]} */
function reserve(length) {
  const buffer = Buffer.allocUnsafeSlow(length);
  return [buffer, new DataView(buffer.buffer, buffer.byteOffset, length), 0];
}

/** One COPY into one table: rows are sent in chunks, and count when it is closed. */
export class PackedWriter {
  /** @param {import('../../behaviour/stack.mjs').Postgres} postgres @param {string} table @param {string[]} heads the columns before the arrays @param {Column[]} columns */
  constructor(postgres, table, heads, columns) {
    const list = [...heads, ...columns.map(({ name }) => name)].join();
    this.psql = spawn('psql', ['-XqAt', '-v', 'ON_ERROR_STOP=1', '-d', postgres.conninfo(), '-c', `copy fleetprof_data.${table} (${list}) from stdin (format binary)`],
      { stdio: ['pipe', 'ignore', 'inherit'] });
    this.ended = once(this.psql, 'exit');
    this.table = table;
    this.buffer = Buffer.alloc(0);
    this.view = new DataView(new ArrayBuffer(0));
    this.at = 0;
    this.columns = columns;
    this.numbers = new Float64Array(0);
    this.fields = heads.length + columns.length;
    [this.buffer, this.view, this.at] = reserve(chunkBytes);
    this.buffer.fill(0, 0, 19);
    this.buffer.write('PGCOPY\n\xff\r\n\0', 0, 'latin1');
    this.at = 19; // flags and extension: zero
  }

  /**
   * Writes one row, unless the run is empty.
   * @param {Run} run
   * @param {bigint} group
   * @param {bigint} hour since 1970: the block's first
   * @param {{ span: number } | { spool: Buffer, position: bigint }} last
   */
  async row(run, group, hour, last) {
    if (run.size === 0) return;
    const length = 128 + this.columns.reduce((sum, { type }) => sum + 24 + run.size * (4 + types[type].len), 0);
    if (this.at + length > this.buffer.length) await this.#send(Math.max(chunkBytes, length));
    this.at = this.#head(group, hour, last);
    let next = 0;
    for (const column of this.columns) this.#array(column, run, column.of ? undefined : run.columns[next++]);
  }

  /** @param {bigint} group @param {bigint} hour @param {{ span: number } | { spool: Buffer, position: bigint }} last */
  #head(group, hour, last) {
    const { buffer } = this;
    let at = buffer.writeInt16BE(this.fields, this.at);
    at = buffer.writeBigInt64BE(group, buffer.writeInt32BE(8, at));
    at = buffer.writeBigInt64BE(hour * BigInt(hourUs) - epoch2000Us, buffer.writeInt32BE(8, at));
    if ('span' in last) return buffer.writeInt16BE(last.span, buffer.writeInt32BE(2, at));
    at = buffer.writeInt32BE(16, at);
    at += last.spool.copy(buffer, at);
    return buffer.writeBigInt64BE(last.position, buffer.writeInt32BE(8, at));
  }

  /** @param {Column} column @param {Run} run @param {Float64Array | undefined} values */
  #array({ type, of, ids }, { size, keys }, values) {
    const { view } = this;
    const { oid, len } = types[type];
    for (const word of [20 + size * (4 + len), 1, 0, oid, size, 1]) {
      view.setInt32(this.at, word);
      this.at += 4;
    }
    const elements = values ?? this.#numbers(keys, size, /** @type {(key: number) => number} */ (of));
    if (ids) writeIds(view, this.at, elements, size, ids);
    else writeValues[type](view, this.at, elements, size);
    this.at += size * (4 + len);
  }

  /** @param {Int32Array} keys @param {number} size @param {(key: number) => number} of */
  #numbers(keys, size, of) {
    if (this.numbers.length < size) this.numbers = new Float64Array(2 * size);
    for (let entry = 0; entry < size; entry += 1) this.numbers[entry] = of(keys[entry]);
    return this.numbers;
  }

  /** @param {number} next length of the next chunk */
  async #send(next) {
    const chunk = this.buffer.subarray(0, this.at);
    [this.buffer, this.view, this.at] = reserve(next);
    if (!this.psql.stdin.write(chunk)) await Promise.race([once(this.psql.stdin, 'drain'), this.ended]);
  }

  async close() {
    if (this.at + 2 > this.buffer.length) await this.#send(chunkBytes);
    this.at = this.buffer.writeInt16BE(-1, this.at);
    this.psql.stdin.end(this.buffer.subarray(0, this.at));
    const [code] = await this.ended;
    if (code !== 0) throw new Error(`COPY into ${this.table} ended with ${code}`);
  }
}
