// SPDX-License-Identifier: Apache-2.0
/**
 * Fills a migrated, empty database with a site's facts as collectors leave them: dictionaries, and the packed rows of
 * segments and cohorts in all spans that the sealer would have made by the site's last hour. Hours are there for the
 * last days only, as retention.hours would have it; before them there are days and blocks of eight days. Few of those
 * days are drawn; the others repeat them.
 */
import { columnsOf, PackedWriter } from './packed.mjs';
import { Run, Sums } from './facts.mjs';
import { binSpace, segmentColumns, siteName } from './site.mjs';

/**
 * @typedef {import('./facts.mjs').Kind} Kind
 * @typedef {import('./site.mjs').Site} Site
 * @typedef {import('../../behaviour/stack.mjs').Postgres} Postgres
 *
 * @typedef {object} Period
 * @property {number} firstDay since 1970
 * @property {number} days the last one is the current day
 * @property {number} lastHours how many hours of the last day there are, 1 to 24; the last one is still open
 * @property {number} hourDays of how many days there are hours
 * @property {number} drawnDays of the days without hours: how many are drawn; the others repeat these in turn
 * @property {boolean} fresh the last hour is not sealed: it waits as its flushes left it
 *
 * @typedef {{ kinds: Record<Kind, Sums> }} Group sums of one group over a block
 * @typedef {(segment: import('./site.mjs').Segment, hour: number, facts: import('./site.mjs').Hour) => void} Watch
 */

const flushesPerHour = 10;
const flushesSoFar = 4; // of the hour that is still open
const spool = Buffer.from('00000000000070008000000000000001', 'hex');
const levels = [{ level: 1, id: -1n, keeps: ['site', 'environment'] }, { level: 2, id: -100n, keeps: ['site', 'environment', 'release'] }];
const hoursPer = [1, 4, 24, 192];

/** How much room the keys of each kind take. @param {Site} site @returns {Record<Kind, number>} */
const spacesOf = ({ functions, stacks, timings, measures }) => ({
  total: 8, frame: functions.length, frame_marker: functions.length, stack: 2 * stacks.length, timing: timings.length,
  timing_bin: timings.length * binSpace, measure: measures.length, measure_frame: measures.length * functions.length,
});

class Generator {
  /** @param {Postgres} postgres @param {Site} site @param {Period} period @param {Watch} watch */
  constructor(postgres, site, period, watch) {
    this.site = site;
    this.period = period;
    this.watch = watch;
    this.columns = columnsOf(site);
    this.kinds = /** @type {Kind[]} */ (Object.keys(this.columns));
    this.writers = new Map(this.kinds.flatMap((kind) => [
      ...['hours', 'days'].map((place) => this.#writer(postgres, kind, place, ['group_id', 'bucket', 'span'])),
      this.#writer(postgres, kind, 'recent', ['group_id', 'bucket', 'spool_id', 'position']),
    ]));
    this.releases = [...new Set(site.segments.map(({ dimensions }) => dimensions[2]))].sort();
    /** Cohorts by span. @type {Group[][]} */
    this.cohorts = hoursPer.map(() => Array.from({ length: 1 + this.releases.length }, () => this.#group()));
    this.segmentDay = this.#group();
    /** Cohorts' sums of the days that others repeat. @type {Map<number, Record<Kind, Run>[]>} */
    this.kept = new Map();
    /** @type {[bigint, number][]} */
    this.tiles = [];
    this.freshEntries = Array(flushesSoFar).fill(0);
  }

  /** @param {Postgres} postgres @param {Kind} kind @param {string} place @param {string[]} heads @returns {[string, PackedWriter]} */
  #writer(postgres, kind, place, heads) {
    return [`${kind}_${place}`, new PackedWriter(postgres, `${kind}_${place}`, heads, this.columns[kind])];
  }

  /** @returns {Group} */
  #group() {
    const spaces = spacesOf(this.site);
    const kinds = this.kinds.map((kind) => {
      const folds = this.columns[kind].filter(({ of }) => !of).map(({ fold }) => fold ?? 'sum');
      return [kind, new Sums(spaces[kind], folds)];
    });
    return { kinds: Object.fromEntries(kinds) };
  }

  /** Ids of the cohorts in the order of `cohorts`: the site, then its releases. @param {number} place */
  cohortId(place) {
    return place === 0 ? levels[0].id : levels[1].id - BigInt(place);
  }

  /** @param {Group} group @param {Record<Kind, Run>} facts */
  #add(group, facts) {
    for (const kind of this.kinds) group.kinds[kind].add(facts[kind]);
  }

  /** Adds facts to the cohorts of a segment. @param {number} span @param {import('./site.mjs').Segment} segment @param {Record<Kind, Run>} facts */
  #addToCohorts(span, segment, facts) {
    this.#add(this.cohorts[span][0], facts);
    this.#add(this.cohorts[span][1 + this.releases.indexOf(segment.dimensions[2])], facts);
  }

  /** @param {bigint} group @param {bigint} hour @param {number} span @param {Record<Kind, Run>} facts */
  async #write(group, hour, span, facts) {
    for (const kind of this.kinds) await this.#writerOf(kind, span < 2 ? 'hours' : 'days').row(facts[kind], group, hour, { span });
  }

  /** @param {Kind} kind @param {string} place */
  #writerOf(kind, place) {
    return /** @type {PackedWriter} */ (this.writers.get(`${kind}_${place}`));
  }

  /** @param {Group} group @returns {Record<Kind, Run>} */
  #take(group) {
    return /** @type {any} */ (Object.fromEntries(this.kinds.map((kind) => [kind, group.kinds[kind].take()])));
  }

  /** Writes the cohorts' rows of a block and adds them to the next longer block's. @param {number} span @param {bigint} hour @param {number} [keptAs] day to keep them for */
  async #endBlock(span, hour, keptAs = -1) {
    for (const [place, group] of this.cohorts[span].entries()) {
      const facts = this.#take(group);
      await this.#write(this.cohortId(place), hour, span, facts);
      if (span < 3) this.#add(this.cohorts[span + 1][place], facts);
      if (keptAs >= 0 && !hasHours(this.period, keptAs)) this.#keep(keptAs, facts);
    }
  }

  /** Keeps a cohort's day for the days that repeat it. @param {number} day @param {Record<Kind, Run>} facts */
  #keep(day, facts) {
    const copies = this.kinds.map((kind) => [kind, facts[kind].copy()]);
    this.kept.set(day, [...this.kept.get(day) ?? [], Object.fromEntries(copies)]);
  }

  /** Forgets what cohorts hold of a block that is not over. @param {number} span */
  #dropBlock(span) {
    for (const group of this.cohorts[span]) this.#take(group);
  }

  /** The hours of one day. @param {number} day @param {number} hours */
  async #hoursOf(day, hours) {
    const { period, site } = this;
    const current = day === period.firstDay + period.days - 1;
    for (let hour = 0; hour < hours; hour += 1) {
      const at = BigInt(day * 24 + hour);
      if (current && hour === hours - 1 && period.fresh) {
        await this.#freshHour(day, hour);
        continue;
      }
      for (const segment of site.segments) {
        const facts = this.#factsOf(segment, day, hour);
        await this.#write(segment.id, at, 0, facts);
        this.#addToCohorts(0, segment, facts);
      }
      await this.#endBlock(0, at);
      if (hour % 4 === 3) await this.#endBlock(1, at - 3n);
      if (hours < 24) this.#tileHour(at, hour, hours - Number(period.fresh));
    }
    if (hours % 4 !== 0) this.#dropBlock(1);
    if (hours < 24) this.#dropBlock(2);
  }

  /** @param {import('./site.mjs').Segment} segment @param {number} day @param {number} hour */
  #factsOf(segment, day, hour) {
    const facts = this.site.hour(segment, day, hour);
    this.watch(segment, day * 24 + hour, facts);
    return facts;
  }

  /** Notes the tile of an hour of the current day, or of the four hours that it ends. @param {bigint} at @param {number} hour @param {number} hours that are sealed */
  #tileHour(at, hour, hours) {
    if (hour - hour % 4 + 4 > hours) this.tiles.push([at, 0]);
    else if (hour % 4 === 3) this.tiles.push([at - 3n, 1]);
  }

  /** Writes the hour that is still open: a row for each segment and flush. @param {number} day @param {number} hour */
  async #freshHour(day, hour) {
    const at = BigInt(day * 24 + hour);
    for (let part = 0; part < flushesSoFar; part += 1) {
      for (const segment of this.site.segments) {
        const facts = this.site.hour(segment, day, hour, part, flushesPerHour);
        this.watch(segment, day * 24 + hour, facts);
        for (const kind of this.kinds) {
          await this.#writerOf(kind, 'recent').row(facts[kind], segment.id, at, { spool, position: BigInt(part + 1) });
          this.freshEntries[part] += facts[kind].size;
        }
      }
    }
  }

  /** A day that is over: segments' days, and what follows for cohorts. @param {number} day */
  async #endDay(day) {
    const at = BigInt(day * 24);
    const hadHours = hasHours(this.period, day);
    for (const segment of this.site.segments) {
      for (let hour = 0; hour < 24; hour += 1) {
        this.#add(this.segmentDay, hadHours ? this.site.hour(segment, day, hour) : this.#factsOf(segment, day, hour));
      }
      const facts = this.#take(this.segmentDay);
      await this.#write(segment.id, at, 2, facts);
      if (!hadHours) this.#addToCohorts(2, segment, facts);
    }
    await this.#endBlock(2, at, day);
    await this.#endDays(day);
  }

  /** Repeats a day for the cohorts; its rows are copied in the end. @param {number} day @param {number} source */
  async #repeatDay(day, source) {
    for (const [place, group] of this.cohorts[3].entries()) this.#add(group, /** @type {any} */ (this.kept.get(source))[place]);
    await this.#endDays(day);
  }

  /** Writes the block of eight days that a day ends, and notes the tile. @param {number} day */
  async #endDays(day) {
    const { firstDay, days, lastHours } = this.period;
    const begin = day - day % 8;
    const over = firstDay + days - Number(lastHours < 24); // days before this one are over
    const whole = begin >= firstDay && begin + 8 <= over;
    if (!whole) this.tiles.push([BigInt(day * 24), 2]);
    if (day % 8 < 7) return;
    if (whole) {
      await this.#endBlock(3, BigInt(begin * 24));
      this.tiles.push([BigInt(begin * 24), 3]);
    } else {
      this.#dropBlock(3);
    }
  }

  /** @param {(day: number) => void} progress */
  async run(progress) {
    const { firstDay, days, lastHours } = this.period;
    for (let day = firstDay; day < firstDay + days; day += 1) {
      const hours = day === firstDay + days - 1 ? lastHours : 24;
      const source = sourceDay(this.period, day);
      if (hasHours(this.period, day)) await this.#hoursOf(day, hours);
      if (source !== day) await this.#repeatDay(day, source);
      else if (hours === 24) await this.#endDay(day);
      progress(day);
    }
    for (const writer of this.writers.values()) await writer.close();
  }
}

/** @param {Period} period @param {number} day */
const hasHours = ({ firstDay, days, hourDays }, day) => day >= firstDay + days - hourDays;

/** The day that a day repeats, or itself. @param {Period} period @param {number} day */
export function sourceDay(period, day) {
  const { firstDay, drawnDays } = period;
  return hasHours(period, day) ? day : firstDay + (day - firstDay) % drawnDays;
}

/** Copies the rows of days that others repeat. @param {Record<Kind, import('./packed.mjs').Column[]>} columns @param {Period} period */
function copyDays(columns, period) {
  const { firstDay, days } = period;
  const all = Array.from({ length: days }, (_, place) => firstDay + place);
  return all.filter((day) => sourceDay(period, day) !== day).flatMap((day) => Object.entries(columns).map(([kind, arrays]) => `
    insert into fleetprof_data.${kind}_days
    select group_id, '${timeOf(day * 24)}', span, ${arrays.map(({ name }) => name).join()} from fleetprof_data.${kind}_days
    where bucket = '${timeOf(sourceDay(period, day) * 24)}' and span = 2;`)).join('');
}

/** @param {string | number | bigint | null} value */
const literal = (value) => (value === null ? 'null' : typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value));

/** @param {string} table @param {string[]} columns @param {(string | number | bigint | null)[][]} rows */
const insert = (table, columns, rows) => (rows.length === 0 ? '' : `
insert into fleetprof_data.${table} (${columns.join()}) values ${rows.map((row) => `(${row.map(literal).join()})`).join(',\n')};`);

/** The names of what facts refer to. @param {Site} site @param {string} day last seen */
function dictionaries({ segments, functions, stacks, timings }, day) {
  const resources = new Map(functions.map(({ resourceId, url }) => [resourceId, url]));
  return [
    insert('segment', ['segment_id', ...segmentColumns, 'rate_ppm', 'last_seen'], segments.map(({ id, dimensions }) => [id, ...dimensions, 0, day])),
    insert('resource', ['resource_id', 'site', 'url', 'last_seen'], [...resources].map(([id, url]) => [id, siteName, url, day])),
    insert('frame', ['frame_id', 'function', 'resource_id', 'line', 'column_number', 'kind', 'last_seen'],
      functions.map(({ id, name, resourceId, line, column }) => [id, name, resourceId, line, column, 'function', day])),
    insert('stack', ['stack_id', 'parent_id', 'frame_id', 'level', 'last_seen'],
      stacks.map(({ id, parent, frame, level }) => [id, parent < 0 ? null : stacks[parent].id, functions[frame].id, level, day])),
    insert('timing', ['timing_id', 'name', 'kind', 'last_seen'], timings.map(({ id, name, kind }) => [id, name, kind, day])),
  ].join('');
}

/** @param {number} day since 1970 */
const dateOf = (day) => new Date(day * 86_400_000).toISOString().slice(0, 10);

/** @param {number | bigint} hour since 1970 */
export const timeOf = (hour) => new Date(Number(hour) * 3_600_000).toISOString();

/** Lets the planner know the tables. Statistics of the arrays would take minutes of processor time, and nothing uses them. @param {Record<Kind, import('./packed.mjs').Column[]>} columns */
const planned = (columns) => `
vacuum;
analyze fleetprof_data.segment, fleetprof_data.resource, fleetprof_data.frame, fleetprof_data.stack, fleetprof_data.timing;
${Object.keys(columns).flatMap((kind) => ['hours', 'days'].map((place) => `analyze fleetprof_data.${kind}_${place} (group_id, bucket, span);`)).join('\n')}
${Object.keys(columns).map((kind) => `analyze fleetprof_data.${kind}_recent (group_id, bucket);`).join('\n')}`;

/** Returns the rows that say which blocks exist. @param {Generator} generator @param {string} day */
function books({ releases, tiles, period, freshEntries, cohortId }, day) {
  const { firstDay, days, lastHours, hourDays, fresh } = period;
  const openHour = timeOf((firstDay + days - 1) * 24 + lastHours - 1);
  return [
    insert('cohort', ['group_id', 'level', 'site', 'environment', 'release', 'last_seen'],
      ['', ...releases].map((release, place) => [cohortId(place), place === 0 ? 1 : 2, siteName, 'production', place === 0 ? null : release, day])),
    insert('sealed', ['site', 'bucket', 'span'], tiles.map(([hour, span]) => [siteName, timeOf(hour), span])),
    insert('unsealed', ['site', 'bucket', 'spool_id', 'position', 'entries'],
      fresh ? freshEntries.map((/** @type {number} */ entries, /** @type {number} */ part) => [siteName, openHour, spool.toString('hex'), part + 1, entries]) : []),
    `update fleetprof_data.horizon set hours_from = '${timeOf((firstDay + days - hourDays) * 24)}';`,
  ].join('');
}

/**
 * @param {Postgres} postgres migrated
 * @param {Site} site
 * @param {Period} period
 * @param {{ watch?: Watch, progress?: (day: number) => void }} [options] watch sees the facts of each segment and hour (of each
 *   segment and flush, in an hour that is fresh) once; they are good until it returns
 */
export async function generate(postgres, site, period, { watch = () => {}, progress = () => {} } = {}) {
  const { firstDay, days } = period;
  const last = dateOf(firstDay + days - 1);
  await postgres.execute(`select fleetprof_data.make_partitions(array(select generate_series('${dateOf(firstDay)}', '${last}', interval '1 day')::date));
    ${dictionaries(site, last)}`);
  const generator = new Generator(postgres, site, period, watch);
  await generator.run(progress);
  await postgres.execute(`${copyDays(generator.columns, period)}${books(generator, last)}${planned(generator.columns)}`);
  return { freshEntries: generator.freshEntries.reduce((sum, entries) => sum + entries, 0), tiles: generator.tiles.length };
}
