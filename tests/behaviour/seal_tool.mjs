// SPDX-License-Identifier: Apache-2.0
/**
 * Helpers that tests of sealing share: random flushes written by SQL, the tool that seals at a given time, and a naive
 * computation of what sealed rows must hold.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import readline from 'node:readline';
import { waitFor } from './stack.mjs';
import { toolsDir } from './store_tool.mjs';

export const hourUs = 3_600_000_000;
export const dayUs = 24 * hourUs;
/** A block of eight days begins here. */
export const startUs = Math.floor(Date.UTC(2026, 0, 20) * 1000 / (8 * dayUs)) * 8 * dayUs;
/** From an hour's end to its seal. */
export const delayUs = 120_000_000;

/** The columns of each kind: key columns, then the others with what merging does to them. */
export const kinds = {
  total: { keys: { marker: 'marker' }, values: { uploads: 'count', loads: 'count', samples: 'sum', self_us: 'sum', profiled_us2: 'float8', unseen_us: 'sum' } },
  frame: {
    keys: { frame_id: 'id' },
    values: {
      uploads: 'count', unmarked_uploads: 'count', samples: 'sum', self_us: 'sum', total_us: 'sum',
      self_us2: 'real', total_us2: 'real', self_profiled: 'real', total_profiled: 'real',
    },
  },
  frame_marker: { keys: { frame_id: 'id', marker: 'marker' }, values: { uploads: 'count', samples: 'sum', self_us: 'sum', total_us: 'sum' } },
  stack: { keys: { stack_id: 'id', marker: 'marker' }, values: { uploads: 'count', samples: 'sum', self_us: 'sum' } },
  timing: {
    keys: { timing_id: 'id' },
    values: { uploads: 'count', count: 'count', negative: 'count', sum_us: 'float8', min_us: 'least', max_us: 'greatest' },
  },
  timing_bin: { keys: { timing_id: 'id', bin: 'marker' }, values: { count: 'count' } },
  measure: {
    keys: { timing_id: 'id' },
    values: {
      uploads: 'count', samples: 'sum', unattributed_samples: 'sum', profiled_us: 'sum', unattributed_us: 'sum', loads: 'count',
      window_us: 'sum',
    },
  },
  measure_frame: {
    keys: { timing_id: 'id', marker: 'marker', frame_id: 'id' },
    values: { uploads: 'count', first_uploads: 'count', samples: 'sum', self_us: 'sum', total_us: 'sum' },
  },
};

/** @typedef {keyof typeof kinds} Kind */
const kindNames = /** @type {Kind[]} */ (Object.keys(kinds));

/**
 * Returns whole numbers below a limit, the same for the same seed.
 * @param {number} seed
 */
export function random(seed) {
  let state = seed;
  /** @param {number} limit */
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word = (word + Math.imul(word ^ (word >>> 7), 61 | word)) ^ word;
    return ((word ^ (word >>> 14)) >>> 0) % limit;
  };
}

/** @param {string} type @param {(limit: number) => number} draw */
function drawKey(type, draw) {
  return type === 'id' ? BigInt.asIntN(64, BigInt(draw(12) + 1) * 0x9e3779b97f4a7c15n) : BigInt(draw(7) - 1);
}

/** @param {bigint[]} one @param {bigint[]} other */
function compareKeys(one, other) {
  const at = one.findIndex((part, i) => part !== other[i]);
  if (at < 0) return 0;
  return one[at] < other[at] ? -1 : 1;
}

/**
 * Draws the arrays of a packed row, as array literals by column.
 * @param {Kind} kind @param {(limit: number) => number} draw @param {number} most entries
 */
function drawRow(kind, draw, most) {
  const { keys, values } = kinds[kind];
  /** @type {Map<string, bigint[]>} */
  const drawn = new Map();
  for (let i = 1 + draw(most); i > 0; i--) {
    const key = Object.values(keys).map((type) => drawKey(type, draw));
    drawn.set(key.join(), key);
  }
  const sorted = [...drawn.values()].sort(compareKeys);
  const arrays = Object.keys(keys).map((_, column) => sorted.map((key) => key[column]));
  for (const type of Object.values(values)) arrays.push(sorted.map(() => BigInt(draw(type === 'real' ? 100 : 100_000))));
  return { entries: sorted.length, arrays: arrays.map((array) => `'{${array.join()}}'`) };
}

/**
 * @typedef {object} Flushes
 * @property {(site: string, hours: number[], options?: { segments?: number[], entries?: number }) => Promise<void>} flush
 *   appends a flush of these hours (µs): the site's segments of these numbers, up to so many entries a row
 *
 * Prepares a database for flushes of random facts. Tables public.KIND_log keep what every flush appended.
 * @param {import('./store_tool.mjs').Database} database
 * @param {{ seed: number }} options
 * @returns {Promise<Flushes>}
 */
export async function startFlushes(database, { seed }) {
  const draw = random(seed);
  const spools = [1, 2].map((n) => `00000000-0000-4000-8000-${String(seed * 10 + n).padStart(12, '0')}`);
  let position = 0;
  /** @type {Set<string>} */
  const known = new Set();
  await database.execute(kindNames.map((kind) => `
    create table if not exists public.${kind}_log as select * from fleetprof_data.${kind}_recent with no data;`).join('')
    + checkSql());

  /** @param {string} site @param {number} segment */
  const nameSegment = (site, segment) => {
    const id = segmentId(site, segment);
    if (known.has(id)) return '';
    known.add(id);
    return `insert into fleetprof_data.segment values (${id}, '${site}', '/r${segment % 7}', 'v${segment % 3}',
      '${segment % 2 ? 'production' : ''}', '', 'browser "${segment}\\', 'linux', 'desktop', 'window', 0, current_date)
      on conflict do nothing;`;
  };

  return {
    flush: async (site, hours, { segments = [1, 2, 3], entries = 8 } = {}) => {
      const spool = spools[draw(2)];
      position++;
      const days = hours.map((hour) => `'${new Date(hour / 1000).toISOString().slice(0, 10)}'`);
      const script = [`begin; select fleetprof_data.make_partitions(array[${days}]::date[]);`,
        ...segments.map((segment) => nameSegment(site, segment))];
      for (const hour of hours) {
        const bucket = `'${new Date(hour / 1000).toISOString()}'`;
        let appended = 0;
        for (const kind of kindNames) {
          for (const segment of segments) {
            // Not every segment has every kind.
            if (kind !== 'total' && draw(4) === 0) continue;
            const row = drawRow(kind, draw, entries);
            appended += row.entries;
            for (const table of [`fleetprof_data.${kind}_recent`, `public.${kind}_log`]) {
              script.push(`insert into ${table} values (${segmentId(site, segment)}, ${bucket}, '${spool}', ${position}, ${row.arrays});`);
            }
          }
        }
        script.push(`insert into fleetprof_data.unsealed values ('${site}', ${bucket}, '${spool}', ${position}, ${appended});`);
      }
      await database.execute(`${script.join('\n')} commit;`);
    },
  };
}

/** @param {string} site @param {number} segment */
function segmentId(site, segment) {
  let hash = 7n;
  for (const letter of `${site} ${segment}`) hash = BigInt.asIntN(64, hash * 6364136223846793005n + BigInt(letter.codePointAt(0) ?? 0));
  return String(hash);
}

/**
 * The functions public.differences() and public.uploads_seen(). The first compares sealed and recent rows with the log.
 * A flush is sealed for a site and hour when its row of `unsealed` is gone. Its entries must then be in each span that
 * exists for the hour, once, for the segment and for its cohort of each level.
 */
function checkSql() {
  const lengths = "(array['1 hour', '4 hours', '24 hours', '192 hours']::interval[])";
  const parts = kindNames.map((kind) => {
    const { keys, values } = kinds[kind];
    const unnested = [...Object.keys(keys), ...Object.keys(values)].map((column) => `unnest(${column}) as ${column}`).join(', ');
    const keyList = Object.keys(keys).join(', ');
    const sums = Object.entries(values).map(([column, type]) => {
      const [before, after] = { least: ['min', ''], greatest: ['max', ''], real: ['sum', '::float8'] }[type] ?? ['sum', ''];
      return `${before}(${column}${after}) as ${column}`;
    }).join(', ');
    return `
      -- The blocks that exist for an hour of a site, looked up once for all of its rows.
      with block as materialized (
        select p.site, p.bucket as hour, n::smallint as span, date_bin(${lengths}[n + 1], p.bucket, '1970-01-01 00:00:00+00') as bucket
        from (select distinct s.site, l.bucket from public.${kind}_log l join fleetprof_data.segment s on s.segment_id = l.group_id) p
        cross join generate_series(0, 3) n
        where public.exists_block(p.site, p.bucket, n)
      ), wanted as materialized (
        select span, group_id, bucket, ${keyList}, ${sums} from (
          select b.span, g.group_id, b.bucket, ${unnested}
          from public.${kind}_log l
          join public.group_of g on g.segment_id = l.group_id
          join block b on b.site = g.site and b.hour = l.bucket
          where (g.is_cohort or b.span in (0, 2))
            and not exists (select from fleetprof_data.unsealed u where (u.site, u.bucket, u.spool_id, u.position) = (g.site, l.bucket, l.spool_id, l.position))
        ) e group by 1, 2, 3, ${keyList}
      ), found as materialized (
        select span, group_id, bucket, ${keyList}, ${sums} from (
          select r.span, r.group_id, r.bucket, ${unnested}
          from (table fleetprof_data.${kind}_hours union all table fleetprof_data.${kind}_days) r
          join (select distinct group_id, site from public.group_of) g on g.group_id = r.group_id
          where public.exists_block(g.site, r.bucket, r.span)
        ) e group by 1, 2, 3, ${keyList}
      )
      select (select count(*) from ((table wanted except table found) union all (table found except table wanted)) d),
        (select count(*) from wanted), (select count(*) from found) into different, wanted_rows, found_rows;
      if different > 0 then
        said := said || format('%s: %s differences; wanted %s rows, found %s; ', '${kind}', different, wanted_rows, found_rows);
      end if;
      -- Rows that are not sealed are recent, row by row.
      select count(*) into different from (
        select l.group_id, l.bucket, l.spool_id, l.position from public.${kind}_log l join fleetprof_data.segment s on s.segment_id = l.group_id
          where exists (select from fleetprof_data.unsealed u where (u.site, u.bucket, u.spool_id, u.position) = (s.site, l.bucket, l.spool_id, l.position))
      ) w full join fleetprof_data.${kind}_recent r using (group_id, bucket, spool_id, position)
      where w.group_id is null or r.group_id is null;
      if different > 0 then
        said := said || format('%s: %s rows are neither sealed nor recent, or both; ', '${kind}', different);
      end if;
      select count(*) into different from (table fleetprof_data.${kind}_hours union all table fleetprof_data.${kind}_days) r
      where (r.${Object.keys(keys)[0]})::text <> (select array_agg(x order by x) from unnest(r.${Object.keys(keys)[0]}) x)::text;
      if different > 0 then
        said := said || format('%s: %s rows are not sorted; ', '${kind}', different);
      end if;`;
  });
  return `
    -- A segment is its own group, and belongs to a cohort of each level.
    create or replace view public.group_of as
      select segment_id, segment_id as group_id, site, false as is_cohort from fleetprof_data.segment
      union all
      select s.segment_id, c.group_id, s.site, true
      from fleetprof_data.segment s cross join fleetprof_data.cohort_level l
      left join fleetprof_data.cohort c on c.level = l.level and c.site = s.site
        and ${['route', 'release', 'environment', 'variant', 'browser', 'os', 'device', 'thread']
    .map((d) => `c.${d} is not distinct from case when '${d}' = any (l.dimensions) then s.${d} end`).join(' and ')} and c.frame = s.frame;
    create or replace function public.exists_block(the_site text, moment timestamptz, the_span integer) returns boolean language sql stable set jit = off as $$
      select exists (select from fleetprof_data.sealed t where t.site = the_site and t.span >= the_span
        and t.bucket <= moment and t.bucket + ${lengths}[t.span + 1] > moment)
        and (the_span >= 2 or moment >= (select hours_from from fleetprof_data.horizon)) $$;
    create or replace function public.differences() returns text language plpgsql set jit = off as $$
    declare different bigint; wanted_rows bigint; found_rows bigint; said text := '';
    begin
      ${parts.join('\n')}
      select count(*) into different from fleetprof_data.sealed one join fleetprof_data.sealed other
        on one.site = other.site and one.bucket < other.bucket and one.bucket + ${lengths}[one.span + 1] > other.bucket;
      if different > 0 then
        said := said || different || ' blocks overlap; ';
      end if;
      return said;
    end $$;
    -- Uploads by segments and by cohorts, in one snapshot: recent ones, and those of the longest blocks.
    create or replace function public.uploads_seen() returns table (by_segment bigint, by_cohort bigint) language sql stable set jit = off as $$
      with recent as (select coalesce(sum(u), 0) as uploads from (select unnest(uploads) u from fleetprof_data.total_recent) e),
      rows as (select * from fleetprof_data.total_hours union all select * from fleetprof_data.total_days),
      segments as (select coalesce(sum(u), 0) as uploads from (
        select unnest(r.uploads) u from rows r join fleetprof_data.segment s on s.segment_id = r.group_id
        join fleetprof_data.sealed t on t.site = s.site and r.bucket >= t.bucket and r.bucket < t.bucket + ${lengths}[t.span + 1]
        where r.span = case when t.span < 2 then 0 else 2 end) e),
      cohorts as (select coalesce(sum(u), 0) as uploads from (
        select unnest(r.uploads) u from rows r join fleetprof_data.cohort c on c.group_id = r.group_id and c.level = 1
        join fleetprof_data.sealed t on t.site = c.site and t.bucket = r.bucket and t.span = r.span) e)
      select (recent.uploads + segments.uploads)::bigint, (recent.uploads + cohorts.uploads)::bigint from recent, segments, cohorts $$;`;
}

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set();
/** Stops processes that failed tests left behind; for `after`. */
export const killSealers = () => { for (const child of running) child.kill('SIGKILL'); };
process.on('exit', killSealers);

/**
 * @typedef {object} Sealer
 * @property {number} pid
 * @property {(nowUs: number) => Promise<any>} step
 * @property {(nowUs: number) => Promise<any>} all
 * @property {() => Promise<any>} house
 * @property {() => Promise<number>} peakKiB
 * @property {() => Promise<void>} quit
 * @property {() => Promise<void>} kill
 *
 * @param {string} conninfo
 * @param {Record<string, number>} [settings]
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Sealer}
 */
export function startSealTool(conninfo, settings = {}, env = {}) {
  const args = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const child = spawn(path.join(toolsDir, 'seal_tool'), [conninfo, ...args], { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  running.add(child);
  child.stdin.on('error', () => {});
  const exited = once(child, 'exit').then(() => { running.delete(child); });
  const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  /** @param {string} command */
  const send = async (command) => {
    child.stdin.write(`${command}\n`);
    const { value, done } = await lines.next();
    if (done) throw new Error(`seal_tool ended at "${command}"`);
    return JSON.parse(value);
  };
  return {
    pid: child.pid ?? 0,
    step: (nowUs) => send(`step ${nowUs}`),
    all: (nowUs) => send(`all ${nowUs}`),
    house: () => send('house'),
    peakKiB: async () => (await send('memory')).peak_kib,
    quit: async () => { child.stdin.write('quit\n'); await exited; },
    kill: async () => { child.kill('SIGKILL'); await exited; },
  };
}

/** @param {import('./store_tool.mjs').Database} database */
export async function assertNoDifference(database) {
  const [{ differences }] = await database.sql('select public.differences()');
  assert.equal(differences, '');
}

/** @param {import('./store_tool.mjs').Database} database */
export const tiles = (database) => database.sql(`select site, span, ((extract(epoch from bucket) * 1000000 - ${startUs}) / ${hourUs})::int as hour
  from fleetprof_data.sealed order by site, bucket`);

/**
 * Runs a script whose last statement takes long, and ends its connection later.
 * @param {import('./store_tool.mjs').Database} database @param {string} script
 */
export function hold(database, script) {
  const held = database.execute(`${script}; select pg_sleep(600)`).catch(() => {});
  return async () => {
    await end(database, 'pg_sleep');
    await held;
  };
}

/** @param {import('./store_tool.mjs').Database} database @param {string} query a pattern */
export const end = (database, query) => database.sql(`select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and pid <> pg_backend_pid() and query ~ '${query}'`);

/** @param {import('./store_tool.mjs').Database} database @param {string} query a pattern */
export const waits = async (database, query) => (await database.sql(`select from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock' and query ~ '${query}'`)).length > 0;

/**
 * Makes the seals of a site wait. Returns what ends that.
 * @param {import('./store_tool.mjs').Database} database @param {string} site
 */
export async function holdSite(database, site) {
  const release = hold(database, `begin; select from fleetprof_data.unsealed where site = '${site}' for update`);
  await waitFor(async () => (await database.sql("select from pg_locks where mode = 'RowShareLock' and relation = 'fleetprof_data.unsealed'::regclass")).length > 0);
  return release;
}
