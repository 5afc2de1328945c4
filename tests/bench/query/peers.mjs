// SPDX-License-Identifier: Apache-2.0
/** The stores to compare with: jsonb in PostgreSQL, and DuckDB over Parquet. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { repository, runOrThrow } from '../../behaviour/stack.mjs';
import { readBodies, writeBodies } from '../ingest/bodies.mjs';

/**
 * @typedef {import('./site.mjs').Site} Site
 * @typedef {import('../../behaviour/stack.mjs').Postgres} Postgres
 */

const program = path.join(repository, 'tests/bench/query/duckdb.mjs');

/** Why there is no DuckDB here; false if there is. */
export const duckdbMissing = !fs.existsSync(path.join(path.dirname(program), 'node_modules/@duckdb/node-api'))
  && 'DuckDB is not installed: npm install --prefix tests/bench/query --ignore-scripts';

/** Keeps sums per segment, hour and key as text, from which DuckDB makes its rows. */
export class KeyFiles {
  /** @param {string} dir @param {Site} site @param {number} from hour @param {number} to hour */
  constructor(dir, site, from, to) {
    this.dir = dir;
    this.site = site;
    /** @type {Map<string, number>} */
    this.files = new Map();
    fs.mkdirSync(path.join(dir, 'keys'), { recursive: true });
    const csv = (/** @type {string} */ name, /** @type {string} */ head, /** @type {(string | number)[][]} */ rows) =>
      fs.writeFileSync(path.join(dir, name), [head, ...rows.map((row) => row.join()), ''].join('\n'));
    csv('segment.csv', 'segment,route,release,browser', site.segments.map(({ number, dimensions }) => [number, dimensions[1], dimensions[2], dimensions[5]]));
    csv('frame.csv', 'frame,function,resource,line,column_number', site.functions.map(({ name, url, line, column }, number) => [number, name, url, line, column]));
    csv('stack.csv', 'stack,parent,frame,level', site.stacks.map(({ parent, frame, level }, number) => [number, parent, frame, level]));
    this.rows = { frames: 0, stacks: 0 };
    this.from = from;
    this.to = to;
  }

  /** @param {import('./site.mjs').Segment} segment @param {number} hour @param {import('./site.mjs').Hour} facts */
  add(segment, hour, { uploads, frame, stack }) {
    if (hour < this.from || hour >= this.to) return;
    const head = `${segment.number},${hour},${uploads}`;
    const [frameUploads, , frameSamples, self, total] = frame.columns;
    const frames = Array.from({ length: frame.size }, (_, entry) => {
      this.rows.frames += frameUploads[entry];
      return `${head},${frame.keys[entry]},${frameUploads[entry]},${frameSamples[entry]},${self[entry]},${total[entry]}\n`;
    });
    const [stackUploads, stackSamples, time] = stack.columns;
    const stacks = Array.from({ length: stack.size }, (_, entry) => {
      this.rows.stacks += stackUploads[entry];
      return `${head},${stack.keys[entry] >> 1},${stackUploads[entry]},${stackSamples[entry]},${time[entry]}\n`;
    });
    fs.writeSync(this.#file(`frames-${hour}`, 'segment,hour,whole,frame,uploads,samples,self_us,total_us'), frames.join(''));
    fs.writeSync(this.#file(`stacks-${hour}`, 'segment,hour,whole,stack,uploads,samples,self_us'), stacks.join(''));
  }

  /** @param {string} name @param {string} head */
  #file(name, head) {
    const known = this.files.get(name);
    if (known !== undefined) return known;
    const file = fs.openSync(path.join(this.dir, 'keys', `${name}.csv`), 'w');
    fs.writeSync(file, `${head}\n`);
    this.files.set(name, file);
    return file;
  }

  async load() {
    for (const file of this.files.values()) fs.closeSync(file);
    await runOrThrow(['node', program, 'load', this.dir]);
    fs.rmSync(path.join(this.dir, 'keys'), { recursive: true });
  }

  parquetBytes() {
    const bytes = ['frames', 'stacks'].map((table) => [table, fs.readdirSync(path.join(this.dir, table))
      .reduce((sum, file) => sum + fs.statSync(path.join(this.dir, table, file)).size, 0)]);
    return Object.fromEntries(bytes);
  }

  /**
   * @param {string} threads a number or `default`
   * @param {{ sql: string, repeats: number }[]} statements
   * @returns {Promise<{ times: number[], rows: any[][] }[]>} milliseconds of the process
   */
  query(threads, statements) {
    return new Promise((resolve, reject) => {
      const child = spawn('node', [program, 'query', this.dir, threads], { stdio: ['pipe', 'pipe', 'inherit'] });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text) => { output += text; });
      child.on('close', (code) => (code === 0 ? resolve(JSON.parse(output)) : reject(new Error(`DuckDB ended with ${code}`))));
      child.stdin.end(JSON.stringify(statements));
    });
  }
}

/** @param {number} from hour @param {number} to hour @param {Record<string, string>} filters */
const where = (from, to, filters) => [`received >= to_timestamp(${from * 3600}) and received < to_timestamp(${to * 3600})`,
  ...Object.entries(filters).map(([name, value]) => `${name} = '${value}'`)].join(' and ');

/** The top functions in DuckDB. @param {number} from hour @param {number} to hour @param {Record<string, string>} [filters] */
export const duckdbHotspots = (from, to, filters = {}) => `
  select function, resource, line, column_number, self_us, total_us, samples, uploads
  from (
    select frame, sum(self_us)::double as self_us, sum(total_us)::double as total_us, sum(samples)::double as samples, count(*)::double as uploads
    from read_parquet('frames/*.parquet') where ${where(from, to, filters)}
    group by frame order by self_us desc, frame limit 20)
  join read_parquet('frame.parquet') using (frame)
  order by self_us desc, frame`;

/** Every node of the flame graph with its total; summed up, so that rows don't count. @param {number} from hour @param {number} to hour */
export const duckdbFlamegraph = (from, to) => `
  select count(*)::double, sum(total_us)::double, sum(length(function))::double
  from (
    select ancestor as stack, sum(self_us) as total_us
    from (select stack, sum(self_us) as self_us from read_parquet('stacks/*.parquet') where ${where(from, to, {})} group by stack)
    join read_parquet('ancestor.parquet') using (stack)
    group by ancestor)
  join read_parquet('stack.parquet') using (stack)
  join read_parquet('frame.parquet') using (frame)`;

/** Fills a table of raw traces with medium bodies. @param {Postgres} postgres @param {string} dir @param {number} count */
export async function loadTraces(postgres, dir, count) {
  const file = path.join(dir, 'bodies');
  writeBodies(file, 'medium');
  const text = path.join(dir, 'traces.txt');
  const output = fs.openSync(text, 'w');
  for (const body of readBodies(file).slice(0, count)) fs.writeSync(output, `${gunzipSync(body).toString().replaceAll('\\', '\\\\')}\n`);
  fs.closeSync(output);
  await postgres.execute(`create table trace (received timestamptz default now(), body jsonb compression lz4);
\\copy trace (body) from '${text}'
vacuum analyze trace;`);
  fs.rmSync(file);
  fs.rmSync(text);
}

const weights = `coalesce(lead((sample->'timestamp')::float8) over (order by place) - (sample->'timestamp')::float8, 10) as ms`;

/** Self times only: total times would need the stacks' walk. */
export const jsonbHotspots = `
  with part as materialized (
    select body->'trace'->'samples' as samples, body->'trace'->'stacks' as stacks, body->'trace'->'frames' as frames, body->'trace'->'resources' as resources
    from trace)
  select frame->>'name', resources->((frame->>'resourceId')::int)->>0, frame->>'line', frame->>'column', sum(ms) as ms, sum(samples)
  from (
    select resources, frames->((stacks->stack->>'frameId')::int) as frame, ms, sampled.samples
    from part, lateral (
      select stack, sum(ms) as ms, count(*) as samples
      from (select (sample->>'stackId')::int as stack, ${weights} from jsonb_array_elements(samples) with ordinality as e (sample, place)) x
      where stack is not null group by stack) as sampled) y
  group by 1, 2, 3, 4 order by ms desc limit 20`;

/** Own time by path: what a flame graph is drawn from. */
export const jsonbFlamegraph = `
  select path, sum(ms)
  from trace, lateral (
    with recursive node as materialized (
      select id, parent, hashtextextended(name || ':' || coalesce(line, 0) || ':' || coalesce(col, 0), resource) as hash
      from (select row_number() over () - 1 as id, "frameId", "parentId" as parent
            from jsonb_to_recordset(body->'trace'->'stacks') as s ("frameId" int, "parentId" int)) as stack
      join (select row_number() over () - 1 as frame, name, line, "column" as col, coalesce("resourceId", -1) as resource
            from jsonb_to_recordset(body->'trace'->'frames') as f (name text, line int, "column" int, "resourceId" int)) as f on frame = "frameId"),
    walk (id, path) as (
      select id, hash from node where parent is null
      union all
      select node.id, hashint8extended(hash, path) from walk join node on parent = walk.id)
    select path, ms
    from walk
    join (select stack, sum(ms) as ms
          from (select (sample->>'stackId')::int as stack, ${weights} from jsonb_array_elements(body->'trace'->'samples') with ordinality as e (sample, place)) x
          where stack is not null group by stack) as sampled on stack = walk.id) as own
  group by path order by 2 desc`;
