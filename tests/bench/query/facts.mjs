// SPDX-License-Identifier: Apache-2.0
/** Facts of a group in a block of time: entries by key, as they are drawn, added up and packed. */

/** @typedef {'total' | 'frame' | 'frame_marker' | 'stack' | 'timing' | 'timing_bin' | 'measure' | 'measure_frame'} Kind */

/** How a column is added up over entries of the same key. @typedef {'sum' | 'min' | 'max'} Fold */

/** Entries of one kind, ascending by key; keys are numbers of the site's functions, stacks and the like. */
export class Run {
  /** @param {number} columns */
  constructor(columns) {
    this.size = 0;
    this.keys = new Int32Array(1024);
    this.columns = Array.from({ length: columns }, () => new Float64Array(1024));
  }

  clear() {
    this.size = 0;
  }

  /** Appends an entry; its key is greater than the last one's. @param {number} key @param {...number} values */
  add(key, ...values) {
    const place = this.place(key);
    for (let column = 0; column < this.columns.length; column += 1) this.columns[column][place] = values[column];
  }

  /** Appends an entry whose columns are still to be set; returns its place. @param {number} key */
  place(key) {
    if (this.size === this.keys.length) this.#grow();
    this.keys[this.size] = key;
    return this.size++;
  }

  /** A run of its own with the same entries. */
  copy() {
    const made = new Run(0);
    made.size = this.size;
    made.keys = this.keys.slice(0, this.size);
    made.columns = this.columns.map((column) => column.slice(0, this.size));
    return made;
  }

  #grow() {
    const keys = new Int32Array(2 * this.size);
    keys.set(this.keys);
    this.keys = keys;
    this.columns = this.columns.map((column) => {
      const longer = new Float64Array(2 * this.size);
      longer.set(column);
      return longer;
    });
  }
}

/** Adds runs of one kind up. */
export class Sums {
  /** @param {number} space keys are below it @param {Fold[]} folds of the columns */
  constructor(space, folds) {
    this.folds = folds;
    this.present = new Uint8Array(space);
    this.columns = folds.map(() => new Float64Array(space));
    this.run = new Run(folds.length);
    this.empty = true;
  }

  /** @param {Run} run */
  add({ size, keys, columns }) {
    this.empty &&= size === 0;
    for (const [place, fold] of this.folds.entries()) {
      const [into, from] = [this.columns[place], columns[place]];
      if (fold === 'sum') {
        for (let entry = 0; entry < size; entry += 1) into[keys[entry]] += from[entry];
      } else {
        const pick = Math[fold];
        for (let entry = 0; entry < size; entry += 1) {
          const key = keys[entry];
          into[key] = this.present[key] ? pick(into[key], from[entry]) : from[entry];
        }
      }
    }
    for (let entry = 0; entry < size; entry += 1) this.present[keys[entry]] = 1;
  }

  /** The sums so far; good until the next call. */
  take() {
    const { run, present, columns } = this;
    run.clear();
    for (let key = 0; key < present.length; key += 1) {
      if (present[key] === 0) continue;
      const place = run.place(key);
      for (let column = 0; column < columns.length; column += 1) {
        run.columns[column][place] = columns[column][key];
        columns[column][key] = 0;
      }
      present[key] = 0;
    }
    this.empty = true;
    return run;
  }
}
