// SPDX-License-Identifier: Apache-2.0
/** A fleet with known costs in a database: drives tests/stats/fleet_tool.c, and asks how the sides compare. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import readline from 'node:readline';

import pg from 'pg';

import { buildDir, repository, startPostgres } from '../behaviour/stack.mjs';

const variant = path.resolve(buildDir) === path.join(repository, 'build') ? 'plain' : path.basename(buildDir);
const tool = path.join(repository, 'build/trees', variant, 'tests/stats/fleet_tool');
const today = Math.floor(Date.now() / 86_400_000);
const firstDay = today - 6; // sides lie behind today, and in the retention of hours
const sitesBetweenClearing = 20;

/**
 * @typedef {Record<string, number>} Side what differs from an ordinary day, as fleet_tool.c names it
 *
 * @typedef {object} Compared a row of compare_releases
 * @property {number} number of the function; -1: what calls all others
 * @property {string} [function] its name, of a look
 * @property {number | null} change
 * @property {number | null} change_low
 * @property {number | null} change_high
 * @property {number | null} smallest_visible
 * @property {number | null} p
 * @property {string} verdict
 * @property {number | null} own_low
 * @property {number | null} [decidable_in] hours, of a summary
 * @property {number | null} own_high
 * @property {number} before_uploads
 * @property {number} after_uploads
 */

/** As fleet_tool takes them. @param {Side} given */
const optionsOf = (given) => Object.entries(given).map(([name, value]) => `${name}=${value}`).join(' ');

export class Fleet {
  static async start() {
    const postgres = await startPostgres({ migrated: true, settings: { fsync: 'off', full_page_writes: 'off', shared_buffers: '256MB', autovacuum: 'off' } });
    return new Fleet(postgres);
  }

  /** @param {import('../behaviour/stack.mjs').Postgres} postgres */
  constructor(postgres) {
    this.postgres = postgres;
    this.process = spawn(tool, [postgres.conninfo('fleetprof_writer')], { stdio: ['pipe', 'pipe', 'inherit'] });
    this.exited = once(this.process, 'exit');
    this.lines = readline.createInterface({ input: this.process.stdout })[Symbol.asyncIterator]();
    this.client = new pg.Client({ host: postgres.socketDir, user: 'fleetprof_reader', database: 'fleetprof' });
    this.connected = this.client.connect();
    this.sites = 0;
    this.release = 0;
  }

  /** @param {string} command @returns {Promise<any>} */
  async #send(command) {
    this.process.stdin.write(`${command}\n`);
    const { value, done } = await this.lines.next();
    if (done) throw new Error(`fleet_tool ended at "${command}"`);
    return JSON.parse(value);
  }

  /** Begins another site. @param {number} seed @param {number} [functions] */
  async site(seed, functions = 200) {
    await this.#begin(`site ${seed} ${functions}`);
  }

  /** Begins another shop. @param {number} seed @param {number} [functions] */
  async shop(seed, functions = 60) {
    await this.#begin(`shop ${seed} ${functions}`);
  }

  /** In the place of those before. @param {string} command */
  async #begin(command) {
    if (this.sites % sitesBetweenClearing === 0) await this.#clear();
    this.sites += 1;
    this.release = 0;
    await this.#send(command);
  }

  async #clear() {
    await this.postgres.execute(`
      do $$
      declare name text;
      begin
        for name in
          select relname from pg_class where relnamespace = 'fleetprof_data'::regnamespace and relkind = 'r'
            and (relname ~ '_recent$' or relname in ('frame', 'resource', 'stack', 'segment', 'unsealed', 'upload_id', 'load_id', 'vital'))
        loop
          execute format('truncate fleetprof_data.%I', name);
        end loop;
        truncate fleetprof_data.upload;
      end $$;`);
  }

  /** A function that costs the same on all routes. @param {number} number @param {number} presence @param {number} meanMs @param {number} sigma */
  define(number, presence, meanMs, sigma) {
    return this.#send(`function ${number} ${presence} ${meanMs} ${sigma}`);
  }

  /** Multiplies a function's cost from the next side on. @param {number} number @param {number} factor */
  effect(number, factor) {
    return this.#send(`effect ${number} ${factor}`);
  }

  /** Draws page loads of a world into the database, of which the first are profiled. @param {number} loads @param {number} profiled @param {Side} world */
  async visits(loads, profiled, world) {
    await this.#send(`visits site${this.sites} ${firstDay} ${loads} ${profiled} ${optionsOf(world)}`);
  }

  /** Returns the 75th percentile of a world as it is, without the function `target`, and with half of its time. @param {number} loads @param {Side} world @returns {Promise<number[]>} */
  gains(loads, world) {
    return this.#send(`gains ${loads} ${optionsOf(world)}`);
  }

  /** Returns the rows of what_if. @param {string} vital @returns {Promise<any[]>} */
  async whatIf(vital) {
    await this.connected;
    return (await this.client.query("select * from fleetprof.what_if($1, $2, now() - interval '10 days', top => null)", [vital, `site${this.sites}`])).rows;
  }

  /** Returns the rows of fix_first. @returns {Promise<any[]>} */
  async fixFirst() {
    await this.connected;
    return (await this.client.query("select * from fleetprof.fix_first($1, now() - interval '10 days', top => null)", [`site${this.sites}`])).rows;
  }

  /** From the next side on, only some page loads are profiled. @param {number[]} even by route, in even hours @param {number[]} [odd] @returns {Promise<void>} */
  async rates(even, odd = even) {
    await this.#send(`rates ${[...even, ...odd].map((rate) => Math.round(rate * 1e6)).join(' ')}`);
  }

  /** All page loads since then, profiled or not, by route. @returns {Promise<{ loads: number, profiled: number, self_us: number[] }[]>} */
  truth() {
    return this.#send('truth');
  }

  /** Asks about days of this site, from the first on. @param {string} sql with $1 for the site, $2 and $3 for the days' bounds @param {number} from @param {number} to @returns {Promise<any[]>} */
  async ask(sql, from, to) {
    await this.connected;
    const [since, until] = [from, to].map((day) => new Date((firstDay + 1 + day) * 86_400_000));
    return (await this.client.query(sql, [`site${this.sites}`, since, until])).rows;
  }

  /** A random number from 0 to 1. */
  uniform() {
    return this.#send('uniform');
  }

  /** Draws a side; returns its release. @param {Side} side */
  async side(side) {
    this.release += 1;
    await this.draw(firstDay + this.release, this.release, side);
    return this.release;
  }

  /** Draws uploads of a release. @param {number} day since 1970 @param {number} release @param {Side} side */
  async draw(day, release, side) {
    const options = Object.entries(side).map(([name, value]) => `${name}=${value}`).join(' ');
    await this.#send(`side site${this.sites} ${day} ${release} ${options}`);
  }

  /** Draws a side of a world. @param {Side & { day?: number }} side @param {number} release @param {number} [firstWeekday] of the day 0 */
  async drawOn({ day = 0, ...side }, release, firstWeekday) {
    // The first of 1970 was a Thursday.
    const first = firstWeekday === undefined ? today - 3 : today - 10 - ((today - 10 + 4 - firstWeekday) % 7 + 7) % 7;
    await this.draw(first + day, release, side);
  }

  /** Draws a side of some days, each after what was drawn before. @param {Side} side of a day @param {number} days */
  async sideOfDays(side, days) {
    const release = await this.side(side);
    for (let day = 1; day < days; day += 1) {
      this.release += 1;
      await this.draw(firstDay + this.release, release, side);
    }
    return release;
  }

  /**
   * Compares as somebody does who looks after some hours of a release: the same hours of whole days before are the earlier side.
   * @param {number} before @param {number} after releases @param {number} hours @param {'releases' | 'timings' | 'vitals' | 'summary'} [what]
   * @returns {Promise<Compared[]>}
   */
  async look(before, after, hours, what = 'releases') {
    await this.connected;
    const start = (firstDay + after) * 24;
    const earlier = start - 24 * Math.ceil(hours / 24);
    const times = [start, start + hours, earlier, earlier + hours].map((hour) => new Date(hour * 3_600_000));
    const { rows } = await this.client.query(
      `select * from fleetprof.compare_${what}($1, $2, $3, since => $4, until => $5, before_since => $6, before_until => $7)`,
      [`site${this.sites}`, String(before), String(after), ...times]);
    return rows;
  }

  /** @param {number} before @param {number} after releases @returns {Promise<Compared[]>} */
  async compare(before, after) {
    await this.connected;
    const { rows } = await this.client.query(
      `select coalesce(substring(function from '^function([0-9]+)$')::integer, -1) as number, change, change_low, change_high,
        smallest_visible, own_low, own_high, p, verdict, before_uploads::integer, after_uploads::integer
       from fleetprof.compare_releases($1, $2, $3)`, [`site${this.sites}`, String(before), String(after)]);
    return rows;
  }

  /** Arms of the same hours; functions without what calls them all. @param {'releases' | 'timings' | 'vitals'} kind @returns {Promise<Compared[]>} */
  async compareArms(kind) {
    await this.connected;
    const { rows } = await this.client.query(
      `select * from fleetprof.compare_${kind}($1, before_variant => 'tag=off%', after_variant => 'tag=on%')`, [`site${this.sites}`]);
    return rows.filter((row) => kind !== 'releases' || /^function[0-9]+$/.test(row.function));
  }

  /** Measures, or vitals. @param {'timings' | 'vitals'} kind @param {number} before @param {number} after releases @returns {Promise<(Compared & { name: string, percentile: number, fleet_change: number | null })[]>} */
  async compareKind(kind, before, after) {
    await this.connected;
    const { rows } = await this.client.query(`select * from fleetprof.compare_${kind}($1, $2, $3)`, [`site${this.sites}`, String(before), String(after)]);
    return rows;
  }

  /** Measures and vitals. @param {number} before @param {number} after releases @returns {Promise<Compared[]>} */
  async compareTimings(before, after) {
    await this.connected;
    const { rows } = await this.client.query(
      `select substring(name from '[0-9]+$')::integer as number, change, change_low, change_high, smallest_visible, p, verdict
       from fleetprof.compare_timings($1, $2, $3)
       union all
       select 20, change, change_low, change_high, smallest_visible, p, verdict from fleetprof.compare_vitals($1, $2, $3)`,
      [`site${this.sites}`, String(before), String(after)]);
    return rows;
  }

  /** @param {number} before @param {number} after releases */
  async summary(before, after) {
    await this.connected;
    const { rows } = await this.client.query('select * from fleetprof.compare_summary($1, $2, $3)', [`site${this.sites}`, String(before), String(after)]);
    return rows[0];
  }

  async stop() {
    this.process.stdin.end();
    await this.exited;
    await this.connected;
    await this.client.end();
    await this.postgres.stop();
  }
}
