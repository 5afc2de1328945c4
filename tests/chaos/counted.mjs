// SPDX-License-Identifier: Apache-2.0
/**
 * Reads the counted numbers from SQL.
 */
import { frameKey } from '../behaviour/oracle.mjs';

/** @typedef {(text: string) => Promise<any[]>} Sql */
/** @typedef {Record<string, Map<string, number[]>>} Tables by table and key in words */
/** @typedef {{ keys: string[], numbers: any[] }} Row keys: what the upload may be known by in the ledger */
/**
 * @typedef {object} Counted
 * @property {Row[]} log a row for each upload: site, release, route, samples, profiled and unattributed time, timings
 * @property {Row[]} sessions a row for each one: timelines, events in these, events, their own time
 * @property {Tables} tables
 * @property {number} ids that are known as counted
 * @property {any[]} wrongHours
 * @property {any[]} unequal segments and hours whose tables do not agree
 */

const frame = 'function, resource, line, column_number, kind::text';
const frameKeyOf = (/** @type {any[]} */ [name, resource, line, column, kind]) =>
  frameKey({ function: name === '(anonymous)' ? '' : name, resource: resource ?? '', line, column, kind });
const inWords = (/** @type {any[]} */ key) => key.join('\t');
const segment = 'join fleetprof_data.segment using (segment_id)';
const us = (/** @type {string} */ ms) => `round(${ms} * 1000)`;

/**
 * The columns that identify a table's rows, besides site, release and route, and those that are summed.
 * @type {Record<string, { from: string, key?: string, words?: (key: any[]) => string, numbers: string }>}
 */
const perSegment = {
  frames: {
    from: 'fleetprof.hotspot_hourly', key: frame, words: frameKeyOf,
    numbers: `${us('sum(self_ms)')}, ${us('sum(total_ms)')}, sum(samples)`,
  },
  markers: {
    from: `fleetprof_data.marker_fact ${segment}`, key: 'marker::text', numbers: 'sum(self_us), sum(samples)',
  },
  stacks: { from: `fleetprof_data.stack_fact ${segment}`, numbers: 'sum(self_us), sum(samples)' },
  timings: { from: 'fleetprof.timing_hourly', key: 'kind, name', numbers: `sum(count), ${us('sum(sum_ms)')}` },
  'left out': {
    from: `(select site, release, route, name, source, sum_us from fleetprof_data.timing_fact
      join fleetprof_data.timing using (timing_id) ${segment} where kind = 'left_out') as left_out`,
    key: 'name, source', numbers: 'sum(sum_us)',
  },
  measures: {
    from: `fleetprof_data.measure_fact join fleetprof_data.timing using (timing_id) ${segment}`, key: 'name',
    numbers: 'sum(samples), sum(profiled_us), sum(unattributed_us), sum(window_us)',
  },
  'frames in measures': {
    from: `fleetprof_data.measure_frame_fact join fleetprof_data.timing using (timing_id)
      join (select frame_id, ${frame} as kind from fleetprof_data.named_frame) as named using (frame_id) ${segment}`,
    key: 'name, named.function, resource, line, column_number, named.kind',
    words: ([name, ...key]) => `${name}\t${frameKeyOf(key)}`,
    numbers: 'sum(self_us), sum(total_us), sum(samples)',
  },
};

/**
 * @param {Sql} sql
 * @param {string} from
 * @param {string} key
 * @param {string} numbers
 * @param {(key: any[]) => string} words
 */
async function readTable(sql, from, key, numbers, words) {
  const rows = await sql(`select json_build_array(${key}) as key, json_build_array(${numbers}) as numbers
    from ${from} group by ${key}`);
  return new Map(rows.map((row) => [words(row.key), row.numbers]));
}

/**
 * Reads what functions for users answer about sites, releases and routes: from sums of several levels, over all time.
 * @param {Sql} sql
 */
async function readHotspots(sql) {
  const hotspots = async (/** @type {string[]} */ dimensions) => {
    const filters = dimensions.map((dimension) => `${dimension} => part.${dimension}, `).join('');
    const columns = dimensions.map((dimension) => `part.${dimension}`).join(', ');
    const kept = dimensions.includes('route') ? `where route not like '/once/%'` : '';
    return readTable(sql, `(select distinct ${dimensions.join(', ')} from fleetprof_data.segment ${kept}) as part,
      fleetprof.hotspots(${filters}since => null, until => null, top => null) as hotspot`,
    `${columns}, function, resource, line, column_number, kind`,
    `${us('sum(self_ms)')}, ${us('sum(total_ms)')}, sum(samples)`,
    (key) => inWords([...key.slice(0, dimensions.length), frameKeyOf(key.slice(dimensions.length))]));
  };
  return {
    'hotspots of sites': await hotspots(['site']),
    'hotspots of releases': await hotspots(['site', 'release']),
    'hotspots of routes': await hotspots(['site', 'route']),
  };
}

/** Page loads and events of sessions by site, from the functions for users. @param {Sql} sql */
async function readSites(sql) {
  const sites = `(select distinct site from fleetprof_data.segment) as sites`;
  return {
    loads: await readTable(sql, `fleetprof_data.segment_fact ${segment}`, 'site', 'sum(loads)', inWords),
    'loads that left out': await readTable(sql, `(select site, name, count from fleetprof_data.timing_fact
      join fleetprof_data.timing using (timing_id) ${segment} where kind = 'left_out' and source = '') as left_out`,
    'site, name', 'sum(count)', inWords),
    events: await readTable(sql, `${sites}, fleetprof.event_breakdown(sites.site,
      since => now() - interval '100 days', until => now() + interval '2 hours')`,
    'site, event_type', `sum(count), ${us('sum(self_ms)')}`, inWords),
  };
}

/** An upload is identified by its id, its session and part, or its page. */
export const keys = `json_build_array(upload_id, concat_ws(' ', load_id, part), concat_ws(' ', site, route)) as keys`;
const times = `${us('profiled_ms')}, ${us('unattributed_ms')}`;

const readSessions = `
  select ${keys}, json_build_array(timelines, listed, coalesce(events, 0), coalesce(self_us, 0)) as numbers
  from (
    select session_id, upload_id, load_id, part, segment_id,
      coalesce(timelines, 0) as timelines, coalesce(listed, 0) as listed
    from fleetprof_data.session
    left join (select session_id, count(*) as timelines, sum(events) as listed
      from fleetprof_data.timeline group by session_id) as timeline using (session_id)
  ) as session
  left join (select session_id, count(*) as events, sum(self_us) as self_us
    from fleetprof_data.event group by session_id) as event using (session_id)
  ${segment}`;

/**
 * Finds rows whose hour is not as docs/internals/schema.md promises: the hour of receipt by the collector's clock or, if that
 * clock is implausible, by the database's.
 */
const wrongHours = `
  select upload_id, received, bucket from fleetprof.upload_log
  where bucket > now() + interval '1 hour'
     or bucket < now() - interval '90 days'
     or bucket <> date_trunc('hour', received, 'UTC')
        and received between now() - interval '89 days' and now() + interval '50 minutes'`;

/** In each segment and hour, the log and the facts of the segment, its stacks and its frames agree. */
const unequal = `
  with
    logged as (select segment_id, bucket,
        count(*) filter (where samples > 0 or format <> 'user-timing' and coverage = '') as uploads, sum(samples) as samples,
        sum(profiled_us) as profiled_us, sum(unattributed_us) as unattributed_us
      from fleetprof_data.upload group by segment_id, bucket),
    stacks as (select segment_id, bucket, sum(self_us) as self_us
      from fleetprof_data.stack_fact group by segment_id, bucket),
    frames as (select segment_id, bucket, sum(self_us) as self_us
      from fleetprof_data.frame_fact group by segment_id, bucket)
  select bucket, fact.uploads, fact.samples, fact.profiled_us, fact.unattributed_us, to_json(logged) as logged,
    stacks.self_us as of_stacks, frames.self_us as of_frames
  from fleetprof_data.segment_fact as fact
  full join logged using (segment_id, bucket)
  full join stacks using (segment_id, bucket)
  full join frames using (segment_id, bucket)
  where (fact.uploads, fact.samples, fact.profiled_us, fact.unattributed_us) is distinct from
      (logged.uploads, logged.samples, logged.profiled_us, logged.unattributed_us)
    or fact.profiled_us - fact.unattributed_us <> coalesce(stacks.self_us, 0)
    or fact.profiled_us - fact.unattributed_us <> coalesce(frames.self_us, 0)`;

/** Recent rows that wait for no seal. */
const unqueued = `select 'unqueued' as kind, bucket, spool_id, position from fleetprof_data.total_recent
  where not exists (select from fleetprof_data.unsealed as queue where queue.bucket = total_recent.bucket
    and queue.spool_id = total_recent.spool_id and queue.position = total_recent.position)`;

/** The columns that are summed of each kind of packed rows. */
const packedSums = {
  total: 'self_us', frame: 'total_us', frame_marker: 'self_us', stack: 'self_us', timing: 'count', timing_bin: 'count',
  measure: 'profiled_us', measure_frame: 'total_us',
};

/** Each block that a site has, of segments and of each level, adds up to its hours. @param {string} kind @param {string} column */
const unequalBlocks = (kind, column) => `
  with packed as (
    select site, level, bucket, span, (select sum(value) from unnest(${column}) as value) as sum
    from fleetprof_data.${kind}_sum
    join (select group_id, site, level from fleetprof_data.cohort
      union all select segment_id, site, 0 from fleetprof_data.segment) as one using (group_id)
  ),
  lengths (span, length) as (values (0, interval '1 hour'), (1, '4 hours'), (2, '1 day'), (3, '8 days'))
  select '${kind}' as kind, site, level, tile.bucket, block.span,
    (select sum(sum) from packed where packed.site = tile.site and packed.level = block.level and packed.span = block.span
      and packed.bucket >= tile.bucket and packed.bucket < tile.bucket + tile_length.length) as sum,
    (select sum(sum) from packed where packed.site = tile.site and packed.level = 0 and packed.span = 0
      and packed.bucket >= tile.bucket and packed.bucket < tile.bucket + tile_length.length) as of_hours
  from fleetprof_data.sealed as tile
  join lengths as tile_length using (span)
  join (values (0, 0), (0, 2), (1, 0), (1, 1), (1, 2), (1, 3), (2, 0), (2, 1), (2, 2), (2, 3)) as block (level, span)
    on block.span <= tile.span`;

/** @param {Sql} sql */
async function unequalBlocksIn(sql) {
  const rows = [];
  for (const [kind, column] of Object.entries(packedSums)) {
    rows.push(...await sql(`select * from (${unequalBlocks(kind, column)}) as block where sum is distinct from of_hours`));
  }
  return rows;
}

/** @param {Sql} sql @returns {Promise<Counted>} */
export async function countedIn(sql) {
  /** @type {Tables} */
  const tables = { ...await readSites(sql), ...await readHotspots(sql) };
  for (const [name, { from, key = '', words = inWords, numbers }] of Object.entries(perSegment)) {
    tables[name] = await readTable(sql, from, `site, release, route${key && `, ${key}`}`, numbers,
      ([site, release, route, ...rest]) => inWords([site, release, route, ...(rest.length > 0 ? [words(rest)] : [])]));
  }
  return {
    log: await sql(`select ${keys},
      json_build_array(site, release, route, samples, ${times}, timings) as numbers from fleetprof.upload_log`),
    sessions: await sql(readSessions),
    tables,
    ids: (await sql('select from fleetprof_data.upload_id')).length,
    wrongHours: await sql(wrongHours),
    unequal: [...await sql(unequal), ...await unequalBlocksIn(sql), ...await sql(unqueued)],
  };
}
